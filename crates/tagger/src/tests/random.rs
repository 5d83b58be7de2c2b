//! Random fabrics and path sets: every generated table is safe and keeps every path lossless.

use super::checker::check;
use super::golden::LINK;
use crate::paths::{ExpectedPaths, PathSource, TreeRoots};
use crate::{Algorithm, Compression, Request, clos_rule, generate};
use fabric::generate::{TierLinks, bcube, clos, f10, fat_tree, jellyfish, leaf_spine};
use fabric::{Fabric, FabricBuilder, NodeId};
use proptest::prelude::*;
use units::random::Stream;

/// Builds a connected graph of switches: a random tree and extra links, some parallel, with hosts on some switches.
pub(super) fn irregular(seed: u64, switches: u32, more: u32) -> Fabric {
    let mut stream = Stream::new(seed, 0, 1);
    let mut builder = FabricBuilder::new("random");
    let nodes: Vec<NodeId> = (0..switches).map(|n| builder.add_switch(format!("s{n}"), 1)).collect();
    let hosts: Vec<NodeId> = (0..switches.div_ceil(2).max(2)).map(|n| builder.add_host(format!("h{n}"))).collect();
    let mut any = |bound: u32| stream.below(u64::from(bound)) as u32;
    for n in 1..switches {
        let other = any(n);
        builder.connect(nodes[n as usize], nodes[other as usize], LINK);
    }
    for &host in &hosts {
        builder.connect(nodes[any(switches) as usize], host, LINK);
    }
    for _ in 0..more {
        let (a, b) = (any(switches), any(switches));
        if a != b {
            builder.connect(nodes[a as usize], nodes[b as usize], LINK);
        }
    }
    builder.build().unwrap()
}

pub(super) fn sources() -> impl Strategy<Value = ExpectedPaths> {
    let one = prop_oneof![
        Just(PathSource::AllShortest { limit: None }),
        (1u32..4).prop_map(|limit| PathSource::AllShortest { limit: Some(limit) }),
        (1u32..6).prop_map(|paths| PathSource::NShortest { paths }),
        any::<Option<u64>>().prop_map(|seed| PathSource::Trees { roots: TreeRoots::Switches, seed }),
        any::<Option<u64>>().prop_map(|seed| PathSource::Trees { roots: TreeRoots::Servers, seed }),
        (1u32..60, any::<u64>()).prop_map(|(count, seed)| PathSource::Random { count, max_switches: 40, seed }),
    ];
    prop::collection::vec(one, 1..3).prop_map(|sources| ExpectedPaths { sources })
}

fn holds(fabric: &Fabric, paths: &ExpectedPaths, algorithm: Algorithm, classes: usize) -> Result<(), TestCaseError> {
    let classes: Vec<String> = (1..=classes).map(|class| format!("class {class}")).collect();
    let mut tables = Vec::new();
    for compression in [Compression::None, Compression::InPorts, Compression::Joint] {
        let threads = 1 + classes.len() % 2;
        let request = Request { paths: paths.clone(), algorithm, classes: classes.clone(), compression, threads };
        let generated = generate(fabric, &request).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(
            usize::from(generated.report.tags) < generated.report.longest_path_switches as usize + classes.len()
        );
        check(fabric, &generated.table, paths).map_err(TestCaseError::fail)?;
        tables.push(generated.table);
    }
    let [single, in_ports, joint] = &tables[..] else { unreachable!("three were made") };
    prop_assert!(joint.len() <= in_ports.len() && in_ports.len() <= single.len());
    // The expansion of any compressed table gives the same single-port rules.
    prop_assert_eq!(&joint.compressed(fabric, Compression::None), single);
    let total = |count: fn(&crate::RuleCount) -> u32| joint.counts(fabric).iter().map(count).sum::<u32>() as usize;
    prop_assert_eq!(total(|count| count.single), single.len());
    prop_assert_eq!(total(|count| count.in_ports_merged), in_ports.len());
    prop_assert_eq!(total(|count| count.joint), joint.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn irregular_fabrics(seed: u64, switches in 2u32..14, more in 0u32..20, paths in sources(), classes in 1usize..4) {
        holds(&irregular(seed, switches, more), &paths, Algorithm::Merge, classes)?;
    }

    #[test]
    fn one_tag_a_hop(seed: u64, switches in 2u32..10, more in 0u32..10, paths in sources()) {
        let fabric = irregular(seed, switches, more);
        let request = Request { algorithm: Algorithm::OnePerHop, ..Request::new(paths.clone()) };
        let table = generate(&fabric, &request).unwrap().table;
        check(&fabric, &table, &paths).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn regular_fabrics(which in 0usize..6, seed: u64, paths in sources(), classes in 1usize..3) {
        let links = TierLinks::uniform(LINK);
        let fabric = match which {
            0 => jellyfish(12, 4, 1, seed, LINK, LINK),
            1 => bcube(3, 1, LINK),
            2 => fat_tree(4, links),
            3 => f10(4, links),
            4 => leaf_spine(3, 2, 2, 2, links),
            _ => clos(2, 2, 2, 2, 1, links),
        };
        holds(&fabric.unwrap(), &paths, Algorithm::Merge, classes)?;
    }

    #[test]
    fn bounces_in_a_clos(pods in 1u32..3, tors in 1u32..3, spines in 1u32..3, bounces in 0u8..2, classes in 1usize..4) {
        let fabric = clos(pods, tors, 2, spines, 1, TierLinks::uniform(LINK)).unwrap();
        if fabric.hosts().len() < 2 {
            return Ok(());
        }
        let paths = ExpectedPaths::from(PathSource::UpDown { bounces });
        holds(&fabric, &paths, Algorithm::Merge, classes)?;
        let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
        let table = clos_rule(&fabric, bounces, &names).unwrap();
        // M bounces and N classes need M + N tags.
        prop_assert_eq!(table.lossless_tags.len(), usize::from(bounces) + classes);
        check(&fabric, &table, &paths).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn threads_change_neither_rules_nor_counts() {
    let fabric = jellyfish(120, 10, 2, 3, LINK, LINK).unwrap();
    let paths = PathSource::Trees { roots: TreeRoots::Switches, seed: None };
    let by = |threads| generate(&fabric, &Request { threads, ..Request::new(paths.clone()) }).unwrap();
    let one = by(1);
    assert!(one.report.merging.refused > 100, "{:?}", one.report.merging);
    assert_eq!(by(3), one);
}
