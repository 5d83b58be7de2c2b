//! Tests of the fewest tags: never more than Algorithm 2 needs, and a correct lower bound.

use super::checker::check;
use super::golden::LINK;
use super::random::{irregular, sources};
use crate::paths::{ExpectedPaths, PathList, PathSource};
use crate::{Algorithm, Report, Request, generate};
use fabric::generate::{TierLinks, leaf_spine};
use fabric::{Fabric, NodeId};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn report(fabric: &Fabric, paths: &ExpectedPaths) -> Result<Report, String> {
    let request = Request { algorithm: Algorithm::Fewest, ..Request::new(paths.clone()) };
    let generated = generate(fabric, &request).map_err(|error| error.to_string())?;
    check(fabric, &generated.table, paths)?;
    Ok(generated.report)
}

type Port = (NodeId, u16);

/// Returns whether two tags suffice, by trying every set of turns that keep tag 1; `None` if there are too many sets.
fn two_suffice(fabric: &Fabric, paths: &ExpectedPaths) -> Option<bool> {
    // Each path as a list of turns between forwarding nodes; a turn is a pair of ingress ports.
    let mut all: BTreeSet<Vec<(Port, Port)>> = BTreeSet::new();
    let mut visit = |path: crate::paths::Path| {
        let nodes = path.nodes(fabric);
        let arrive = |hop: usize| {
            let peer = fabric.ports(nodes[hop])[usize::from(path.out_ports[hop])];
            (peer.peer, peer.peer_port)
        };
        let last = if fabric.node(nodes[nodes.len() - 1]).forwards() { nodes.len() - 1 } else { nodes.len() - 2 };
        all.insert((1..last).map(|hop| (arrive(hop - 1), arrive(hop))).collect());
        ControlFlow::Continue(())
    };
    paths.visit(fabric, &mut visit).unwrap();
    let turns: Vec<(Port, Port)> = all.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
    if turns.len() > 12 {
        return None;
    }
    Some((0u32..1 << turns.len()).any(|kept| {
        let keeps = |turn| kept >> turns.binary_search(turn).unwrap() & 1 == 1;
        let mut same = [BTreeSet::new(), BTreeSet::new()];
        for path in &all {
            let mut lifted = 0;
            for turn in path {
                if lifted == 1 {
                    same[1].insert(*turn);
                } else if keeps(turn) {
                    same[0].insert(*turn);
                } else {
                    lifted = 1;
                }
            }
        }
        same.iter().all(acyclic)
    }))
}

fn acyclic(edges: &BTreeSet<(Port, Port)>) -> bool {
    let mut edges = edges.clone();
    loop {
        let heads: BTreeSet<Port> = edges.iter().map(|edge| edge.1).collect();
        let before = edges.len();
        edges.retain(|edge| heads.contains(&edge.0));
        if edges.len() == before {
            return edges.is_empty();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn never_more_than_merging(seed: u64, switches in 2u32..9, more in 0u32..8, paths in sources()) {
        let fabric = irregular(seed, switches, more);
        let merged = generate(&fabric, &Request::new(paths.clone())).unwrap().report;
        let fewest = report(&fabric, &paths).map_err(TestCaseError::fail)?;
        prop_assert!(fewest.lower_bound <= fewest.tags && fewest.tags <= merged.tags);
        prop_assert!(merged.lower_bound <= fewest.lower_bound);
    }

    #[test]
    fn as_few_as_brute_force_finds(seed: u64, switches in 3u32..6, more in 1u32..4, count in 1u32..12) {
        let fabric = irregular(seed, switches, more);
        let paths = ExpectedPaths::from(PathSource::Random { count, max_switches: 40, seed });
        let fewest = report(&fabric, &paths).map_err(TestCaseError::fail)?;
        if let Some(two) = two_suffice(&fabric, &paths) {
            prop_assert_eq!(fewest.tags <= 2, two);
            prop_assert_eq!(fewest.tags, fewest.lower_bound);
        }
    }
}

/// The paths lead around a ring of switches in both directions and are as long as possible without visiting a switch
/// twice.
#[test]
fn a_ring_takes_two() {
    let mut builder = fabric::FabricBuilder::new("ring");
    let switches: Vec<NodeId> = (0..6).map(|n| builder.add_switch(format!("s{n}"), 1)).collect();
    for n in 0..6 {
        let host = builder.add_host(format!("h{n}"));
        builder.connect(host, switches[n], LINK);
        builder.connect(switches[n], switches[(n + 1) % 6], LINK);
    }
    let fabric = builder.build().unwrap();
    let mut list = PathList::default();
    for from in 0..6usize {
        for step in [1, 5] {
            let round = (0..6).map(|hop| format!("s{}", (from + hop * step) % 6));
            let names: Vec<String> = std::iter::once(format!("h{from}")).chain(round).collect();
            let last = format!("h{}", (from + 5 * step) % 6);
            list.push(&fabric, &[names, vec![last]].concat()).unwrap();
        }
    }
    let found = report(&fabric, &PathSource::List(list).into()).unwrap();
    assert_eq!((found.tags, found.lower_bound), (2, 2));
}

#[test]
fn two_bounces_take_three() {
    let fabric = leaf_spine(4, 3, 1, 1, TierLinks::uniform(LINK)).unwrap();
    let paths = ExpectedPaths::from(PathSource::UpDown { bounces: 2 });
    let found = report(&fabric, &paths).unwrap();
    assert_eq!(found.tags, 3);
}
