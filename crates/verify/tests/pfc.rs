//! Deadlock checks without tags: verdicts are compared with published results and with brute force.

mod common;

use common::LINK;
use fabric::generate::{TierLinks, clos, fat_tree, jellyfish, ring};
use fabric::routing::{FailedPorts, Forwarding, Mode};
use fabric::{Fabric, LinkId, NodeId};
use std::collections::BTreeSet;
use units::random::{Stream, purpose};
use verify::{PfcVerdict, Traffic, check_pfc};

fn routed(fabric: &Fabric, mode: Mode, bounces: u8) -> PfcVerdict {
    let routes = Forwarding::build(fabric, mode).expect("routes");
    check_pfc(fabric, Traffic::Routes { routes: &routes, failed: &[], bounces }).expect("a fabric")
}

#[test]
fn rings_deadlock_from_five_switches_on_and_trees_never() {
    // In a ring of four switches, traffic uses both shortest paths to the opposite switch. In a ring of three, no frame
    // passes two links between switches, so that there is no cyclic dependency.
    for (switches, length) in [(3, 0), (4, 4), (5, 5), (8, 8)] {
        let verdict = routed(&ring(switches, 1, LINK, LINK).unwrap(), Mode::ShortestPath, 0);
        assert_eq!((verdict.deadlock_free, verdict.cycle.len()), (length == 0, length), "{switches}");
        assert!(routed(&ring(switches, 1, LINK, LINK).unwrap(), Mode::UpDown { root: None }, 0).deadlock_free);
    }
    let links = TierLinks::uniform(LINK);
    let tree = fat_tree(4, links).unwrap();
    for mode in [Mode::ShortestPath, Mode::TwoLevel, Mode::UpDown { root: None }] {
        assert!(routed(&tree, mode, 0).deadlock_free);
        assert!(!routed(&tree, mode, 1).deadlock_free, "one bounce is enough");
    }
    let random = jellyfish(20, 4, 2, 1, LINK, LINK).unwrap();
    assert!(!routed(&random, Mode::ShortestPath, 0).deadlock_free);
    assert!(routed(&random, Mode::UpDown { root: None }, 0).deadlock_free);
}

#[test]
fn destinations_of_a_ring_are_those_two_links_on() {
    let fabric = ring(6, 2, LINK, LINK).unwrap();
    let verdict = routed(&fabric, Mode::ShortestPath, 0);
    assert_eq!(verdict.cycle.len(), 6);
    for dependency in &verdict.cycle {
        // The shortest paths over this link and the next lead to the next two switches, with two hosts each: 4
        // destinations.
        assert_eq!(dependency.destinations.len(), 4, "{dependency:?}");
    }
}

/// Pairs of ingress and egress port of a node that frames use, with the destination of these frames, found by brute
/// force.
type Turns = BTreeSet<(NodeId, u16, u16, NodeId)>;

fn turns(fabric: &Fabric, routes: &Forwarding, failed: &[LinkId], bounces: u8) -> Turns {
    let mut turns = Turns::new();
    for (host, &target) in fabric.hosts().iter().enumerate() {
        let host = host as u32;
        let mut seen = BTreeSet::new();
        let mut open: Vec<(NodeId, u16, u8)> = Vec::new();
        for &source in fabric.hosts().iter().filter(|&&source| source != target) {
            for &port in routes.lookup(source, host) {
                let peer = fabric.ports(source)[usize::from(port)];
                open.push((peer.peer, peer.peer_port, 0));
            }
        }
        while let Some(state) = open.pop() {
            let (node, ingress, bounced) = state;
            if node == target || !fabric.node(node).forwards() || !seen.insert(state) {
                continue;
            }
            let group = routes.lookup_from(node, host, ingress);
            let mut choices: Vec<(u16, u8)> = group.iter().map(|&port| (port, bounced)).collect();
            let local = group
                .iter()
                .any(|&port| fabric.ports(node)[usize::from(port)].peer == target && fabric.ports(target).len() == 1);
            if bounced < bounces && !local {
                let mut dead: FailedPorts = group.iter().copied().chain([ingress]).collect();
                for (port, peer) in fabric.ports(node).iter().enumerate() {
                    if failed.contains(&peer.link) {
                        dead.insert(port as u16);
                    }
                }
                choices.extend(routes.fallback(fabric, node, host, &dead).into_iter().map(|port| (port, bounced + 1)));
            }
            for (port, bounced) in choices {
                turns.insert((node, ingress, port, target));
                let peer = fabric.ports(node)[usize::from(port)];
                open.push((peer.peer, peer.peer_port, bounced));
            }
        }
    }
    turns
}

/// Whether there is a cyclic dependency among queues, computed by the transitive closure of the dependency matrix.
fn circle(fabric: &Fabric, turns: &Turns) -> bool {
    let count = fabric.port_count();
    let mut reach = vec![false; count * count];
    for &(node, ingress, egress, _) in turns {
        let peer = fabric.ports(node)[usize::from(egress)];
        if fabric.node(peer.peer).forwards() {
            reach[fabric.port_number(node, ingress) * count + fabric.port_number(peer.peer, peer.peer_port)] = true;
        }
    }
    for via in 0..count {
        for from in 0..count {
            for to in 0..count {
                reach[from * count + to] |= reach[from * count + via] && reach[via * count + to];
            }
        }
    }
    (0..count).any(|port| reach[port * count + port])
}

/// Asserts that every reported dependency exists, and that its destinations are exactly those found by brute force.
fn holds(fabric: &Fabric, turns: &Turns, verdict: &PfcVerdict) {
    for (index, dependency) in verdict.cycle.iter().enumerate() {
        let next = &verdict.cycle[(index + 1) % verdict.cycle.len()].link;
        assert_eq!(dependency.link.to, next.from);
        let node = fabric.find(&next.from).expect("a node");
        let by =
            turns.iter().filter(|turn| (turn.0, turn.1, turn.2) == (node, dependency.link.to_port, next.from_port));
        let mut nodes: Vec<NodeId> = by.map(|turn| turn.3).collect();
        nodes.sort_unstable();
        let names: Vec<&str> = nodes.iter().map(|&node| fabric.name(node)).collect();
        assert!(!names.is_empty());
        assert_eq!(dependency.destinations, names);
    }
}

#[test]
fn routings_with_failures_bounces_and_wrong_entries_agree_with_brute_force() {
    let (mut free, mut circles) = (0, 0);
    for seed in 0..300 {
        let mut stream = Stream::new(seed, 0, purpose("pfc oracle"));
        let fabric = match stream.below(4) {
            0 => jellyfish(4 + stream.below(4) as u32, 3, 1, seed, LINK, LINK)
                .or_else(|_| jellyfish(6, 3, 1, seed, LINK, LINK)),
            1 => ring(3 + stream.below(4) as u32, 1 + stream.below(2) as u32, LINK, LINK),
            2 => clos(2, 2, 2, 2, 1, TierLinks::uniform(LINK)),
            _ => fabric::generate::bcube(2 + stream.below(2) as u32, 1, LINK),
        }
        .expect("a fabric");
        let mode = if stream.below(2) == 0 { Mode::ShortestPath } else { Mode::UpDown { root: None } };
        let mut routes = Forwarding::build(&fabric, mode).expect("routes");
        let failed: Vec<LinkId> =
            (0..stream.below(3)).map(|_| LinkId(stream.below(fabric.links().len() as u64) as u32)).collect();
        routes = routes.recompute_without(&fabric, &failed).expect("routes");
        let switches: Vec<NodeId> = fabric.switches().collect();
        for _ in 0..stream.below(3) {
            let node = switches[stream.below(switches.len() as u64) as usize];
            let host = stream.below(fabric.hosts().len() as u64) as u32;
            let port = stream.below(fabric.ports(node).len() as u64) as u16;
            let forwards = fabric.node(fabric.ports(node)[usize::from(port)].peer).forwards();
            let local = fabric.ports(node).iter().any(|peer| peer.peer == fabric.host_node(host));
            if forwards && !local {
                routes.set_ports(&fabric, node, host, &[port]).expect("a port");
            }
        }
        let bounces = stream.below(3) as u8;
        let verdict =
            check_pfc(&fabric, Traffic::Routes { routes: &routes, failed: &failed, bounces }).expect("a fabric");
        let turns = turns(&fabric, &routes, &failed, bounces);
        assert_eq!(verdict.deadlock_free, !circle(&fabric, &turns), "seed {seed}");
        assert!(verdict.shortest);
        holds(&fabric, &turns, &verdict);
        if verdict.deadlock_free { free += 1 } else { circles += 1 }
    }
    assert!(free > 50 && circles > 50, "{free} {circles}");
}

#[test]
fn lists_of_paths_agree_with_brute_force() {
    let (mut free, mut circles) = (0, 0);
    for seed in 0..300 {
        let mut stream = Stream::new(seed, 1, purpose("pfc oracle"));
        let fabric = jellyfish(6, 3, 1, seed, LINK, LINK).expect("a fabric");
        let mut list = String::from("# random walks without loops\n");
        let mut turns = Turns::new();
        for _ in 0..2 + stream.below(12) {
            let mut walk = vec![fabric.host_node(stream.below(6) as u32)];
            loop {
                let at = walk[walk.len() - 1];
                let ports: Vec<_> = fabric.ports(at).iter().filter(|peer| !walk.contains(&peer.peer)).collect();
                let Some(next) = ports.get(stream.below(ports.len().max(1) as u64) as usize) else { break };
                walk.push(next.peer);
                if fabric.host_index(next.peer).is_some() {
                    break;
                }
            }
            let port = |from: NodeId, to: NodeId| fabric.port_towards(from, to).expect("a link");
            for three in walk.windows(3) {
                turns.insert((three[1], port(three[1], three[0]), port(three[1], three[2]), walk[walk.len() - 1]));
            }
            let names: Vec<&str> = walk.iter().map(|&node| fabric.name(node)).collect();
            list += &format!("{}\n", names.join(" "));
        }
        let verdict = check_pfc(&fabric, Traffic::Paths(list.as_bytes())).expect("paths");
        assert_eq!(verdict.deadlock_free, !circle(&fabric, &turns), "seed {seed}\n{list}");
        holds(&fabric, &turns, &verdict);
        if verdict.deadlock_free { free += 1 } else { circles += 1 }
    }
    assert!(free > 50 && circles > 50, "{free} {circles}");
}
