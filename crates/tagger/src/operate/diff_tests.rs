use super::*;
use crate::rules::{Class, GeneratedBy, SwitchRules};
use fabric::generate::{TierLinks, leaf_spine, ring};
use fabric::tags::PortSet;
use fabric::{LinkSpec, NodeId};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

fn table(fabric: &Fabric, tags: &[Tag], rules: impl Fn(NodeId) -> Vec<Single>) -> RuleTable {
    let set = |port: PortIndex| [port].into_iter().collect::<PortSet>();
    let rule = |(tag, i, o, to): Single| Rule { tag, in_ports: set(i), out_ports: set(o), new_tag: to };
    let switches =
        fabric.switches().map(|node| SwitchRules { node, rules: rules(node).into_iter().map(rule).collect() });
    let classes = vec![Class { name: "default".to_owned(), first_tag: 1 }];
    RuleTable::new(fabric, GeneratedBy::default(), tags.to_vec(), classes, switches.collect())
}

/// Rules for a leaf-spine fabric with `hosts` hosts per leaf: the tag increases by 1 if a packet arrives from above and
/// leaves upwards.
fn clos(fabric: &Fabric, hosts: u16) -> RuleTable {
    table(fabric, &[1, 2], |node| {
        let ports = fabric.ports(node).len() as u16;
        let leaf = fabric.node(node).tier == 1;
        let up = |port: u16| leaf && port >= hosts;
        let mut rules = Vec::new();
        for tag in [1, 2] {
            for (i, o) in (0..ports).flat_map(|i| (0..ports).map(move |o| (i, o))) {
                let to = if up(i) && up(o) { tag + 1 } else { tag };
                if to <= 2 {
                    rules.push((tag, i, o, to));
                }
            }
        }
        rules
    })
}

fn fabric(leaves: u32) -> Fabric {
    leaf_spine(leaves, 2, 2, 1, TierLinks::uniform(LINK)).unwrap()
}

#[test]
fn equal_tables_need_nothing() {
    let fabric = fabric(2);
    let rules = clos(&fabric, 2);
    let side = Side { fabric: &fabric, table: &rules };
    let found = diff(side, side);
    assert!(found.is_empty() && !found.new_is_unsafe && !found.needs_a_pause());
    assert_eq!(found.switches.len(), 4);
}

#[test]
fn a_leaf_more_adds_rules_and_takes_none_out() {
    let (before, after) = (fabric(2), fabric(3));
    let (old, new) = (clos(&before, 2), clos(&after, 2));
    let found = diff(Side { fabric: &before, table: &old }, Side { fabric: &after, table: &new });
    assert!(!found.needs_a_pause() && !found.new_is_unsafe && !found.is_empty());
    let of = |name: &str| found.switches.iter().find(|switch| switch.name == name).unwrap();
    assert_eq!((of("L3").presence, of("L1").is_empty()), (Presence::New, true));
    // At the spine, rules between ports 0 and 1 are unchanged (4 port pairs x 2 tags). Rules with the third port are
    // new: (9 - 4) port pairs x 2 tags = 10.
    assert_eq!((of("S1").added.len(), of("S1").removed.len(), of("S1").unchanged), (10, 0, 8));
}

#[test]
fn turning_a_ring_round_takes_the_old_direction_out_first() {
    let fabric = ring(4, 1, LINK, LINK).unwrap();
    // Every switch forwards in one direction of the ring, except one switch that makes packets lossy (the gap), so
    // there is no cycle. The new table has the gap at another switch.
    let around = |gap: &'static str| {
        let fabric = fabric.clone();
        move |node: NodeId| {
            let to_host = |port: u16| !fabric.node(fabric.ports(node)[usize::from(port)].peer).forwards();
            let ports: Vec<u16> = (0..3).filter(|&port| !to_host(port)).collect();
            let next = |port: &u16| {
                let number = |node: NodeId| fabric.name(node)[1..].parse::<u32>().unwrap();
                number(fabric.ports(node)[usize::from(*port)].peer) == number(node) % 4 + 1
            };
            let out = *ports.iter().find(|port| next(port)).unwrap();
            let back = *ports.iter().find(|port| !next(port)).unwrap();
            if fabric.name(node) == gap { vec![] } else { vec![(1, back, out, 1)] }
        }
    };
    let names: Vec<String> = fabric.switches().map(|node| fabric.name(node).to_owned()).collect();
    let (one, other) = (names[0].clone().leak() as &'static str, names[2].clone().leak() as &'static str);
    let (old, new) = (table(&fabric, &[1], around(one)), table(&fabric, &[1], around(other)));
    let found = diff(Side { fabric: &fabric, table: &old }, Side { fabric: &fabric, table: &new });
    assert!(found.needs_a_pause() && !found.new_is_unsafe);
    let of = |name: &str| found.switches.iter().find(|switch| switch.name == name).unwrap();
    assert_eq!((of(other).first.len(), of(other).removed.len(), of(one).added.len()), (1, 0, 1));
    // Without a gap the new rules contain a cycle.
    let closed = table(&fabric, &[1], around("nobody"));
    let side = Side { fabric: &fabric, table: &closed };
    assert!(diff(Side { fabric: &fabric, table: &old }, side).new_is_unsafe);
}

#[test]
fn a_port_that_leads_elsewhere_loses_its_rules_first() {
    let mut builder = fabric::FabricBuilder::new("file");
    let nodes = |builder: &mut fabric::FabricBuilder, order: [usize; 2]| {
        let hosts = [builder.add_host("h0"), builder.add_host("h1")];
        let leaves = [builder.add_switch("a", 1), builder.add_switch("b", 1)];
        let spine = builder.add_switch("s", 2);
        for at in 0..2 {
            builder.connect(hosts[at], leaves[at], LINK);
        }
        for at in order {
            builder.connect(leaves[at], spine, LINK);
        }
    };
    nodes(&mut builder, [0, 1]);
    let before = builder.build().unwrap();
    let mut builder = fabric::FabricBuilder::new("file");
    nodes(&mut builder, [1, 0]);
    let after = builder.build().unwrap();
    let rules = |fabric: &Fabric| table(fabric, &[1], |_| vec![(1, 0, 1, 1), (1, 1, 0, 1)]);
    let (old, new) = (rules(&before), rules(&after));
    let found = diff(Side { fabric: &before, table: &old }, Side { fabric: &after, table: &new });
    let spine = found.switches.iter().find(|switch| switch.name == "s").unwrap();
    assert_eq!(spine.recabled, [(0, "a".to_owned(), "b".to_owned()), (1, "b".to_owned(), "a".to_owned())]);
    assert_eq!((spine.first.len(), spine.added.len(), spine.unchanged), (2, 2, 0));
}

mod at_every_moment {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// (switch, ingress port) -> (next switch, its ingress port), for the only tag.
    type Edge = ((NodeId, PortIndex), (NodeId, PortIndex));

    fn edge(fabric: &Fabric, node: NodeId, (_, i, o, _): Single) -> Option<Edge> {
        let peer = fabric.ports(node)[usize::from(o)];
        fabric.node(peer.peer).forwards().then_some(((node, i), (peer.peer, peer.peer_port)))
    }

    /// Returns whether repeated removal of vertices without incoming edges removes all edges.
    fn acyclic(mut edges: BTreeSet<Edge>) -> bool {
        loop {
            let heads: BTreeSet<_> = edges.iter().map(|&(_, head)| head).collect();
            let before = edges.len();
            edges.retain(|(tail, _)| heads.contains(tail));
            if edges.is_empty() || edges.len() == before {
                return edges.is_empty();
            }
        }
    }

    /// Adds rules in random order, skipping each rule that would close a cycle.
    fn random_rules(fabric: &Fabric, order: &[(usize, u16, u16)]) -> BTreeSet<(NodeId, Single)> {
        let switches: Vec<NodeId> = fabric.switches().collect();
        let (mut rules, mut edges) = (BTreeSet::new(), BTreeSet::new());
        for &(switch, i, o) in order {
            let node = switches[switch % switches.len()];
            let ports = fabric.ports(node).len() as u16;
            let rule = (1, i % ports, o % ports, 1);
            let mut more = edges.clone();
            more.extend(edge(fabric, node, rule));
            if acyclic(more.clone()) {
                edges = more;
                rules.insert((node, rule));
            }
        }
        rules
    }

    proptest! {
        #[test]
        fn no_mixture_of_old_and_new_has_a_cycle(
            olds in prop::collection::vec((0..6usize, 0..4u16, 0..4u16), 0..60),
            news in prop::collection::vec((0..6usize, 0..4u16, 0..4u16), 0..60),
            round: bool,
        ) {
            let fabric = if round { ring(5, 1, LINK, LINK).unwrap() } else { fabric(3) };
            let (olds, news) = (random_rules(&fabric, &olds), random_rules(&fabric, &news));
            let of = |rules: &BTreeSet<(NodeId, Single)>| {
                table(&fabric, &[1], |node| rules.iter().filter(|(at, _)| *at == node).map(|&(_, rule)| rule).collect())
            };
            let (old, new) = (of(&olds), of(&news));
            let found = diff(Side { fabric: &fabric, table: &old }, Side { fabric: &fabric, table: &new });
            prop_assert!(!found.new_is_unsafe);
            let node = |switch: &SwitchDiff| fabric.find(&switch.name).unwrap();
            let first: BTreeSet<(NodeId, Single)> =
                found
                .switches
                .iter()
                .flat_map(|switch| switch.first.iter().map(|&rule| (node(switch), rule)))
                .collect();
            prop_assert!(first.iter().all(|rule| olds.contains(rule) && !news.contains(rule)));
            let together: BTreeSet<(NodeId, Single)> = olds.difference(&first).chain(&news).copied().collect();
            let edges = |rules: &BTreeSet<(NodeId, Single)>| -> BTreeSet<Edge> {
                rules.iter().filter_map(|&(node, rule)| edge(&fabric, node, rule)).collect()
            };
            prop_assert!(acyclic(edges(&together)));
            // If the union of both tables is free of cycles, no rule must be removed first.
            let all: BTreeSet<(NodeId, Single)> = olds.union(&news).copied().collect();
            prop_assert_eq!(acyclic(edges(&all)), first.is_empty());
            // Unchanged plus added rules are the new table.
            let added: usize = found.switches.iter().map(|switch| switch.added.len() + switch.unchanged).sum();
            prop_assert_eq!(added, news.len());
        }
    }
}
