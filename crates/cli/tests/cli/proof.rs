//! Generated rules must be proved by the verifier, which shares no code with the rule generator.

use fabric::generate::{TierLinks, bcube, clos, f10, fat_tree, jellyfish, leaf_spine};
use fabric::{Fabric, FabricBuilder, LinkSpec, NodeId, NodeKind, PortIndex};
use std::collections::HashMap;
use std::ops::ControlFlow;
use tagger::paths::{ExpectedPaths, PathSource, TreeRoots};
use tagger::{Algorithm, Compression, Request, clos_rule, generate};
use units::random::Stream;
use units::{Rate, Time};
use verify::{Hop, RuleFile, Verdict, Verifier};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

/// Random generator of test cases.
struct Dice(Stream);

impl Dice {
    fn new(case: u64) -> Dice {
        Dice(Stream::new(case, 0, 4))
    }
    /// Draws a number from `low` to `high`, inclusive.
    fn throw(&mut self, low: u32, high: u32) -> u32 {
        low + self.0.below(u64::from(high - low) + 1) as u32
    }

    /// Draws a random fabric with tiers.
    fn tiered(&mut self) -> Fabric {
        let links = TierLinks::uniform(LINK);
        let (a, b, c) = (self.throw(2, 3), self.throw(1, 2), self.throw(1, 2));
        let fabric = match self.throw(0, 3) {
            0 => fat_tree(4, links),
            1 => f10(4, links),
            2 => leaf_spine(a, b, 2, c, links),
            _ => clos(2, a, 2, b, c, links),
        };
        fabric.unwrap()
    }

    fn regular(&mut self) -> Fabric {
        match self.throw(0, 3) {
            0 => jellyfish(2 * self.throw(3, 7), 4, self.throw(1, 2), 7, LINK, LINK).unwrap(),
            1 => bcube(3, 1, LINK).unwrap(),
            _ => self.tiered(),
        }
    }

    /// Draws a random tree of switches with additional links, some of them parallel. Some switches have hosts with one
    /// or two links.
    fn irregular(&mut self) -> Fabric {
        let count = self.throw(2, 12);
        let mut builder = FabricBuilder::new("random");
        let switches: Vec<NodeId> = (0..count).map(|n| builder.add_switch(format!("s{n}"), 1)).collect();
        for n in 1..count {
            builder.connect(switches[n as usize], switches[self.throw(0, n - 1) as usize], LINK);
        }
        for n in 0..count.div_ceil(2).max(2) {
            let host = builder.add_host(format!("h{n}"));
            for _ in 0..self.throw(1, 2) {
                builder.connect(host, switches[self.throw(0, count - 1) as usize], LINK);
            }
        }
        for _ in 0..self.throw(0, 15) {
            let (a, b) = (self.throw(0, count - 1) as usize, self.throw(0, count - 1) as usize);
            if a != b {
                builder.connect(switches[a], switches[b], LINK);
            }
        }
        builder.build().unwrap()
    }

    /// Removes up to four random links of a fabric; skips a link whose removal would disconnect the fabric.
    fn with_failures(&mut self, whole: Fabric) -> Fabric {
        let mut fabric = whole;
        for _ in 0..self.throw(1, 4) {
            let without = self.throw(0, fabric.links().len() as u32 - 1) as usize;
            let mut builder = FabricBuilder::new("random");
            fabric.nodes().iter().for_each(|node| {
                builder.add(node.clone());
            });
            for (_, link) in fabric.links().iter().enumerate().filter(|(index, _)| *index != without) {
                builder.connect(link.a.node, link.b.node, LINK);
            }
            let Ok(left) = builder.build() else { continue };
            if left.check().is_ok() {
                fabric = left;
            }
        }
        fabric
    }

    fn any_fabric(&mut self) -> Fabric {
        let whole = if self.throw(0, 1) == 0 { self.regular() } else { self.irregular() };
        if self.throw(0, 1) == 0 { self.with_failures(whole) } else { whole }
    }

    fn source(&mut self) -> PathSource {
        let seed = (self.throw(0, 1) == 0).then(|| u64::from(self.throw(0, 1000)));
        match self.throw(0, 5) {
            0 => PathSource::AllShortest { limit: None },
            1 => PathSource::AllShortest { limit: Some(self.throw(1, 3)) },
            2 => PathSource::NShortest { paths: self.throw(1, 5) },
            3 => PathSource::Trees { roots: TreeRoots::Switches, seed },
            4 => PathSource::Trees { roots: TreeRoots::Servers, seed },
            _ => {
                PathSource::Random { count: self.throw(1, 60), max_switches: 40, seed: u64::from(self.throw(0, 1000)) }
            }
        }
    }

    fn paths(&mut self) -> ExpectedPaths {
        ExpectedPaths { sources: (0..self.throw(1, 2)).map(|_| self.source()).collect() }
    }
}

/// Returns the expected paths in the verifier's representation: hops, and the destination.
fn listed(fabric: &Fabric, paths: &ExpectedPaths) -> Vec<(Vec<Hop>, NodeId)> {
    let mut all = Vec::new();
    let shown = paths.visit(fabric, &mut |path| {
        let nodes = path.nodes(fabric);
        let hops = nodes.iter().zip(path.out_ports).map(|(&node, &port)| Hop { node, port }).collect();
        all.push((hops, nodes[nodes.len() - 1]));
        ControlFlow::Continue(())
    });
    shown.unwrap();
    all
}

/// Verifies a rule file with the path sets that the verifier can generate itself, and with the paths in `list`.
fn prove(fabric: &Fabric, rules: &RuleFile, paths: &ExpectedPaths, list: &[(Vec<Hop>, NodeId)]) -> Verdict {
    let mut verifier = Verifier::new(fabric, rules).unwrap();
    for source in &paths.sources {
        match source {
            PathSource::AllShortest { limit: None } => {
                let routes = fabric::routing::Forwarding::build(fabric, fabric::routing::Mode::ShortestPath).unwrap();
                verifier.expect_routes(&routes);
            }
            PathSource::Trees { roots, seed: None } => {
                let roots = match roots {
                    TreeRoots::Switches => verify::TreeRoots::Switches,
                    TreeRoots::Servers => verify::TreeRoots::Servers,
                };
                verifier.expect_trees(roots, |_, _| ()).unwrap();
            }
            PathSource::UpDown { bounces } => verifier.expect_bounces(*bounces).unwrap(),
            _ => {}
        }
    }
    for (hops, last) in list {
        verifier.expect_path(None, hops, *last).unwrap();
    }
    verifier.finish()
}

fn names(classes: u32) -> Vec<String> {
    (1..=classes).map(|class| format!("class {class}")).collect()
}

fn parsed(fabric: &Fabric, table: &tagger::rules::RuleTable) -> RuleFile {
    RuleFile::parse(table.write(fabric).as_bytes()).unwrap()
}

#[test]
fn all_generated_rules_are_proved() {
    for case in 0..44 {
        let mut dice = Dice::new(case);
        let (fabric, paths, classes) = (dice.any_fabric(), dice.paths(), dice.throw(1, 3));
        let list = listed(&fabric, &paths);
        for algorithm in [Algorithm::OnePerHop, Algorithm::Merge, Algorithm::Fewest] {
            for compression in [Compression::None, Compression::InPorts, Compression::Joint] {
                let classes = names(classes);
                let request = Request { paths: paths.clone(), algorithm, classes, compression, threads: 2 };
                let generated = generate(&fabric, &request).unwrap();
                let verdict = prove(&fabric, &parsed(&fabric, &generated.table), &paths, &list);
                assert!(verdict.pass(), "case {case}, {algorithm:?}, {compression:?}, {paths:?}: {verdict:#?}");
                assert!(verdict.counts.paths >= list.len() as u64);
            }
        }
    }
}

#[test]
fn bounces_are_proved_by_either_rule() {
    for case in 0..24 {
        let mut dice = Dice::new(case);
        let (whole, bounces, classes) = (dice.tiered(), dice.throw(0, 1) as u8, dice.throw(1, 3));
        let fabric = if dice.throw(0, 1) == 0 { dice.with_failures(whole) } else { whole };
        if fabric.switches().count() > 12 && bounces > 0 {
            // A fat-tree has too many paths with a bounce to enumerate them. The next test covers larger fabrics
            // without enumeration.
            continue;
        }
        let paths = ExpectedPaths::from(PathSource::UpDown { bounces });
        let list = listed(&fabric, &paths);
        let by_clos = clos_rule(&fabric, bounces, &names(classes)).unwrap();
        let request = Request { classes: names(classes), ..Request::new(paths.clone()) };
        for table in [by_clos, generate(&fabric, &request).unwrap().table] {
            let verdict = prove(&fabric, &parsed(&fabric, &table), &paths, &list);
            assert!(verdict.pass(), "case {case}: {verdict:#?}");
        }
        // The proof for paths with one bounce more than the Clos rule covers must fail, if the fabric has such paths.
        let more = ExpectedPaths::from(PathSource::UpDown { bounces: bounces + 1 });
        let rules = parsed(&fabric, &clos_rule(&fabric, bounces, &names(1)).unwrap());
        let there_are = fabric.switches().count() <= 8 && listed(&fabric, &more).len() > list.len();
        assert!(!there_are || !prove(&fabric, &rules, &more, &[]).pass(), "case {case}");
    }
}

#[test]
fn in_larger_fabrics_bounces_are_followed_by_height() {
    let fabric = clos(4, 3, 3, 4, 2, TierLinks::uniform(LINK)).unwrap();
    assert!(fabric.switches().count() > 24);
    let paths = ExpectedPaths::from(PathSource::UpDown { bounces: 1 });
    let by_clos = clos_rule(&fabric, 1, &names(2)).unwrap();
    for table in [by_clos, generate(&fabric, &Request::new(paths.clone())).unwrap().table] {
        let verdict = prove(&fabric, &parsed(&fabric, &table), &paths, &[]);
        assert!(verdict.pass() && verdict.counts.routed_queues > 0, "{verdict:#?}");
    }
    let none = parsed(&fabric, &clos_rule(&fabric, 0, &names(1)).unwrap());
    let verdict = prove(&fabric, &none, &paths, &[]);
    let lost = &verdict.lost[0];
    // The first lossy path goes up from a ToR, down at a leaf or spine, and up again: this bounce makes it lossy.
    assert!(verdict.cycle.is_none() && lost.links.len() >= 4 && lost.links.last().unwrap().tag.is_none(), "{lost:?}");
}

/// Adds random links between neighbouring switches of the same tier, like peer links between leaves, and dual-homed
/// hosts.
fn with_links_across(fabric: &Fabric, dice: &mut Dice, share: u32) -> Fabric {
    let mut builder = FabricBuilder::new("across");
    fabric.nodes().iter().for_each(|node| {
        builder.add(node.clone());
    });
    for link in fabric.links() {
        builder.connect(link.a.node, link.b.node, LINK);
    }
    let switches: Vec<NodeId> = fabric.switches().collect();
    for pair in switches.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        if fabric.node(a).tier == fabric.node(b).tier && dice.throw(1, share) == 1 {
            builder.connect(a, b, LINK);
        }
    }
    // Hosts with links to two leaves: paths must not lead through them.
    for pair in switches.windows(2).filter(|pair| pair.iter().all(|&node| fabric.node(node).tier == 1)).take(2) {
        let host = builder.add_host(format!("dual-{}", fabric.name(pair[0])));
        pair.iter().for_each(|&leaf| {
            builder.connect(host, leaf, LINK);
        });
    }
    builder.build().unwrap()
}

/// With links within a tier, a hop within a tier counts as a bounce. For `K` bounces and one class, the Clos rule needs
/// `K + 1` tags. The verifier proves the rules with paths that it generates itself; rules for one bounce less make
/// paths over the links within a tier lossy.
#[test]
fn links_inside_a_tier_work_with_bounces() {
    let mut with_bounces = 0;
    for case in 0..24 {
        let mut dice = Dice::new(1_000 + case);
        let links = TierLinks::uniform(LINK);
        let plain = match dice.throw(0, 2) {
            0 => leaf_spine(2, dice.throw(1, 2), 1, 1, links),
            1 => leaf_spine(4, 1, 1, 1, links),
            _ => clos(2, 2, 1, 1, 1, links),
        };
        let fabric = with_links_across(&plain.unwrap(), &mut dice, 1 + case as u32 % 2);
        let (bounces, classes) = (dice.throw(0, 2) as u8, dice.throw(1, 2));
        let paths = ExpectedPaths::from(PathSource::UpDown { bounces });
        let list = listed(&fabric, &paths);
        let across = |path: &[Hop]| {
            let tier = |hop: &Hop| fabric.node(hop.node).tier;
            path.windows(2).any(|pair| tier(&pair[0]) == tier(&pair[1]))
        };
        with_bounces += usize::from(list.iter().any(|(path, _)| across(path)));
        assert!(bounces > 0 || !list.iter().any(|(path, _)| across(path)), "case {case}: a way across is a bounce");
        let by_clos = clos_rule(&fabric, bounces, &names(classes)).unwrap();
        assert_eq!(by_clos.lossless_tags.len(), usize::from(bounces) + classes as usize);
        let request = Request { classes: names(classes), ..Request::new(paths.clone()) };
        for table in [by_clos, generate(&fabric, &request).unwrap().table] {
            let verdict = prove(&fabric, &parsed(&fabric, &table), &paths, &list);
            assert!(verdict.pass(), "case {case}: {verdict:#?}");
        }
        let less = |bounces| ExpectedPaths::from(PathSource::UpDown { bounces });
        if bounces > 0 && listed(&fabric, &less(bounces - 1)).len() < list.len() {
            let fewer = parsed(&fabric, &clos_rule(&fabric, bounces - 1, &names(1)).unwrap());
            assert!(!prove(&fabric, &fewer, &paths, &[]).pass(), "case {case}");
        }
    }
    assert!(with_bounces > 8);
}

#[test]
fn links_inside_a_tier_are_followed_by_height_in_larger_fabrics() {
    let plain = clos(4, 3, 3, 4, 2, TierLinks::uniform(LINK)).unwrap();
    let fabric = with_links_across(&plain, &mut Dice::new(1), 1);
    let paths = ExpectedPaths::from(PathSource::UpDown { bounces: 1 });
    for table in
        [clos_rule(&fabric, 1, &names(2)).unwrap(), generate(&fabric, &Request::new(paths.clone())).unwrap().table]
    {
        let verdict = prove(&fabric, &parsed(&fabric, &table), &paths, &[]);
        assert!(verdict.pass() && verdict.counts.routed_queues > 0, "{verdict:#?}");
    }
    let none = parsed(&fabric, &clos_rule(&fabric, 0, &names(1)).unwrap());
    assert!(!prove(&fabric, &none, &paths, &[]).pass());
}

/// In a line of four switches on tier 1, the path from H1 to H4 has three hops within the tier, so at least three
/// bounces must be permitted; with two, both the generator and the verifier report an error.
#[test]
fn too_few_bounces_for_links_inside_a_tier_are_reported() {
    let fabric = fabric::generate::line(4, 1, LINK, LINK).unwrap();
    let enough = ExpectedPaths::from(PathSource::UpDown { bounces: 3 });
    let table = clos_rule(&fabric, 3, &names(1)).unwrap();
    assert!(prove(&fabric, &parsed(&fabric, &table), &enough, &listed(&fabric, &enough)).pass());
    let error = clos_rule(&fabric, 2, &names(1)).unwrap_err().to_string();
    let rules = parsed(&fabric, &table);
    let fault = Verifier::new(&fabric, &rules).unwrap().expect_bounces(2).unwrap_err().to_string();
    for said in [error, fault] {
        assert!(said.contains("no path with 2 bounces or fewer leads from `H1` to `H4`"), "{said}");
        assert!(said.contains("both on tier 1, counts as one"), "{said}");
    }
}

/// Match key of a rule: (switch, tag, ingress port, egress port).
type Key = (NodeId, u16, PortIndex, PortIndex);

fn used(fabric: &Fabric, new_tags: &HashMap<Key, u16>, hops: &[Hop], first_tag: u16) -> Vec<Key> {
    let mut tag = first_tag;
    let mut keys = Vec::new();
    for pair in hops.windows(2) {
        let ingress = fabric.ports(pair[0].node)[usize::from(pair[0].port)].peer_port;
        let key = (pair[1].node, tag, ingress, pair[1].port);
        tag = new_tags[&key];
        keys.push(key);
    }
    keys
}

#[test]
fn a_rule_deleted_is_missed_by_exactly_the_paths_that_use_it() {
    let mut deleted = 0;
    for case in 0..40 {
        let mut dice = Dice::new(1000 + case);
        let (fabric, paths) = (dice.any_fabric(), dice.paths());
        let list = listed(&fabric, &paths);
        let algorithm = [Algorithm::OnePerHop, Algorithm::Merge, Algorithm::Fewest][dice.throw(0, 2) as usize];
        let request = Request { algorithm, compression: Compression::None, ..Request::new(paths.clone()) };
        let rules = parsed(&fabric, &generate(&fabric, &request).unwrap().table);
        let mut new_tags = HashMap::new();
        for switch in &rules.switches {
            let node = fabric.find(&switch.name).unwrap();
            for rule in &switch.rules {
                new_tags.insert((node, rule.tag, rule.ingress[0], rule.egress[0]), rule.new_tag);
            }
        }
        let all: Vec<Vec<Key>> = list.iter().map(|(hops, _)| used(&fabric, &new_tags, hops, 1)).collect();
        for _ in 0..4 {
            let of = &all[dice.throw(0, all.len() as u32 - 1) as usize];
            let Some(&key) = of.get(dice.throw(0, of.len().max(1) as u32 - 1) as usize) else { continue };
            let mut fewer = rules.clone();
            let name = fabric.name(key.0);
            let switch = fewer.switches.iter_mut().find(|switch| switch.name == name).unwrap();
            switch.rules.retain(|rule| (key.0, rule.tag, rule.ingress[0], rule.egress[0]) != key);
            let verdict = prove(&fabric, &fewer, &ExpectedPaths::default(), &list);
            let missing = all.iter().filter(|keys| keys.contains(&key)).count() as u64;
            assert!(verdict.cycle.is_none() && !verdict.pass(), "case {case}");
            assert_eq!(verdict.counts.lost, missing, "case {case}");
            // The first lossy path is reported link by link, up to the link that leaves the switch whose rule was
            // deleted.
            let first = all.iter().position(|keys| keys.contains(&key)).unwrap();
            let lost = &verdict.lost[0];
            let said: Vec<(&str, PortIndex)> =
                lost.links.iter().map(|link| (link.from.as_str(), link.from_port)).collect();
            let path: Vec<(&str, PortIndex)> =
                list[first].0.iter().map(|hop| (fabric.name(hop.node), hop.port)).collect();
            assert_eq!(said, path[..said.len()], "case {case}");
            assert_eq!(said[said.len() - 1], (name, key.3), "case {case}");
            assert!(
                lost.reason.starts_with(&format!("`{name}` has no rule that keeps tag {} lossless", key.1)),
                "{lost}"
            );
            // The verifier also finds a lossy path among the paths that it generates itself.
            let own = ExpectedPaths { sources: vec![PathSource::Trees { roots: TreeRoots::Switches, seed: None }] };
            if paths.sources.len() == 1 && paths == own {
                assert!(!prove(&fabric, &fewer, &own, &[]).pass(), "case {case}");
            }
            deleted += 1;
        }
    }
    assert!(deleted > 100, "{deleted}");
}

#[test]
fn without_the_rules_of_any_one_switch_the_verifiers_own_paths_are_lost() {
    let fabrics =
        [jellyfish(10, 3, 1, 5, LINK, LINK), leaf_spine(3, 2, 2, 1, TierLinks::uniform(LINK)), bcube(2, 1, LINK)];
    for fabric in fabrics {
        let fabric = fabric.unwrap();
        for roots in [TreeRoots::Switches, TreeRoots::Servers] {
            let paths = ExpectedPaths::from(PathSource::Trees { roots, seed: None });
            let rules = parsed(&fabric, &generate(&fabric, &Request::new(paths.clone())).unwrap().table);
            for gone in 0..rules.switches.len() {
                let mut fewer = rules.clone();
                let name = fewer.switches.remove(gone).name;
                let verdict = prove(&fabric, &fewer, &paths, &[]);
                assert!(
                    verdict.lost.iter().any(|lost| lost.reason.contains(&format!("`{name}`"))),
                    "{name}: {verdict:?}"
                );
            }
        }
        assert!(fabric.nodes().iter().any(|node| node.kind == NodeKind::Host));
    }
}
