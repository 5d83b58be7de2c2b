//! Tests of the numbers of nodes and links, and of wirings that papers state.

use super::*;
use crate::{Fabric, LinkSpec, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(500));
const LINKS: TierLinks = TierLinks::uniform(LINK);

/// Checks the fabric and returns its numbers of hosts, switches and links.
fn counts(fabric: &Fabric) -> (usize, usize, usize) {
    fabric.check().unwrap();
    let hosts = fabric.hosts();
    assert!(hosts.iter().enumerate().all(|(index, node)| node.index() == index), "hosts come first");
    assert_eq!(hosts[0], fabric.find("H1").unwrap());
    (hosts.len(), fabric.switches().count(), fabric.links().len())
}

/// Returns, for one tier, the number of switches with each number of ports.
fn degrees(fabric: &Fabric, tier: u8) -> BTreeMap<usize, usize> {
    let mut count = BTreeMap::new();
    for node in fabric.switches().filter(|&node| fabric.node(node).tier == tier) {
        *count.entry(fabric.ports(node).len()).or_default() += 1;
    }
    count
}

fn peers(fabric: &Fabric, name: &str) -> Vec<String> {
    let node = fabric.find(name).unwrap();
    fabric.ports(node).iter().map(|port| fabric.name(port.peer).to_owned()).collect()
}

/// Returns the distance in links of every node from `from`, by breadth-first search through forwarding nodes.
fn distances(fabric: &Fabric, from: NodeId) -> Vec<usize> {
    let mut links = vec![usize::MAX; fabric.nodes().len()];
    let mut queue = std::collections::VecDeque::from([from]);
    links[from.index()] = 0;
    while let Some(node) = queue.pop_front() {
        for port in fabric.ports(node) {
            if links[port.peer.index()] == usize::MAX {
                links[port.peer.index()] = links[node.index()] + 1;
                queue.push_back(port.peer);
            }
        }
    }
    links
}

#[test]
fn fat_tree_counts_and_degrees() {
    for k in (2..=16).step_by(2) {
        for fabric in [fat_tree(k, LINKS).unwrap(), f10(k, LINKS).unwrap()] {
            let k = k as usize;
            assert_eq!(counts(&fabric), (k * k * k / 4, 5 * k * k / 4, 3 * k * k * k / 4));
            assert_eq!(degrees(&fabric, 1), BTreeMap::from([(k, k * k / 2)]));
            assert_eq!(degrees(&fabric, 2), BTreeMap::from([(k, k * k / 2)]));
            assert_eq!(degrees(&fabric, 3), BTreeMap::from([(k, k * k / 4)]));
            // Every core switch has pod p on port p, and hosts are at most 6 links apart.
            for core in fabric.switches().filter(|&node| fabric.node(node).tier == 3) {
                for (pod, port) in fabric.ports(core).iter().enumerate() {
                    let number: usize = fabric.name(port.peer)[1..].parse().unwrap();
                    assert_eq!((number - 1) / k, pod);
                }
            }
            assert!(fabric.hosts().iter().all(|host| distances(&fabric, NodeId(0))[host.index()] <= 6));
        }
    }
    assert_eq!(counts(&fat_tree_oversubscribed(8, 8, LINKS).unwrap()), (256, 80, 512));
    for k in [0, 1, 3, 130] {
        let error = fat_tree(k, LINKS).unwrap_err().to_string();
        assert_eq!(error, format!("fat-tree: k = {k} does not work: it must be even, between 2 and 128"));
    }
}

#[test]
fn fat_tree_4_is_pabos_figure_10() {
    let fabric = fat_tree(4, LINKS).unwrap();
    assert_eq!(peers(&fabric, "S1"), ["H1", "H2", "S3", "S4"]);
    assert_eq!(peers(&fabric, "S2"), ["H3", "H4", "S3", "S4"]);
    assert_eq!(peers(&fabric, "S3"), ["S1", "S2", "C1", "C2"]);
    assert_eq!(peers(&fabric, "S4"), ["S1", "S2", "C3", "C4"]);
    assert_eq!(peers(&fabric, "S9"), ["H9", "H10", "S11", "S12"]);
    assert_eq!(peers(&fabric, "C1"), ["S3", "S7", "S11", "S15"]);
    assert_eq!(peers(&fabric, "C4"), ["S4", "S8", "S12", "S16"]);
}

/// The core switches linked to one aggregation switch of an A pod lead to a single aggregation switch of another A pod,
/// but to all k/2 aggregation switches of a B pod. This is the purpose of F10's wiring.
#[test]
fn f10_pods_alternate() {
    for k in [4u32, 6, 8] {
        let fabric = f10(k, LINKS).unwrap();
        let aggs_of_pod = |pod: u32| (1..=k / 2).map(move |a| format!("S{}", k * pod + k / 2 + a));
        let reached = |from: &str, pod: u32| {
            let wanted: BTreeSet<String> = aggs_of_pod(pod).collect();
            let cores = peers(&fabric, from).into_iter().filter(|name| name.starts_with('C'));
            cores.flat_map(|core| peers(&fabric, &core)).filter(|name| wanted.contains(name)).collect::<BTreeSet<_>>()
        };
        for agg in aggs_of_pod(0) {
            assert_eq!(reached(&agg, 1).len() as u32, k / 2);
            assert_eq!(reached(&agg, 2).len(), 1);
        }
    }
}

#[test]
fn tree_is_pabos_figure_4() {
    let fabric = tree(&[3, 1], 1, 1, LINKS).unwrap();
    assert_eq!(counts(&fabric), (4, 7, 10));
    assert_eq!(peers(&fabric, "S7"), ["S4", "S5", "S6", "H4"]);
    for (host, leaf, middle) in [("H1", "S1", "S4"), ("H2", "S2", "S5"), ("H3", "S3", "S6")] {
        assert_eq!(peers(&fabric, host), [leaf]);
        assert_eq!(peers(&fabric, leaf), [host, middle]);
        assert_eq!(peers(&fabric, middle), [leaf, "S7"]);
    }
    assert_eq!(counts(&tree(&[2, 3, 4], 5, 0, LINKS).unwrap()), (120, 33, 152));
    assert!(tree(&[0], 1, 1, LINKS).unwrap_err().to_string().contains("arity = 0"));
    assert!(tree(&[60_000, 60_000], 1, 1, LINKS).is_err());
}

#[test]
fn small_fabrics() {
    assert_eq!(counts(&single_switch(5, LINK).unwrap()), (5, 1, 5));
    assert_eq!(counts(&dumbbell(3, 4, LINK, LINK).unwrap()), (7, 2, 8));
    assert_eq!(counts(&line(4, 2, LINK, LINK).unwrap()), (8, 4, 11));
    assert_eq!(counts(&ring(4, 2, LINK, LINK).unwrap()), (8, 4, 12));
    assert_eq!(counts(&star(3, 4, 2, LINKS).unwrap()), (14, 4, 17));
    assert_eq!(peers(&star(2, 1, 1, LINKS).unwrap(), "S3"), ["S1", "S2", "H3"]);
    let slow = LinkSpec::new(Rate::from_gbps(1), Time::from_us(9));
    let fabric = dumbbell(2, 2, LINK, slow).unwrap();
    let middle = fabric.link_between(fabric.find("S1").unwrap(), fabric.find("S2").unwrap()).unwrap();
    assert_eq!(fabric.link(middle).spec(), slow);
    for (error, expected) in [
        (single_switch(4_000_000_000, LINK).unwrap_err(), "hosts = 4000000000"),
        (ring(2, 1, LINK, LINK).unwrap_err(), "between 3 and 30000"),
        (line(30_000, 60_000, LINK, LINK).unwrap_err(), "more than 4194304 nodes"),
    ] {
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn clos_is_taggers_figure_2() {
    let fabric = clos(2, 2, 2, 2, 4, LINKS).unwrap();
    assert_eq!(counts(&fabric), (16, 10, 16 + 8 + 8));
    assert_eq!(peers(&fabric, "T2"), ["H5", "H6", "H7", "H8", "L1", "L2"]);
    assert_eq!(peers(&fabric, "T3"), ["H9", "H10", "H11", "H12", "L3", "L4"]);
    assert_eq!(peers(&fabric, "L4"), ["T3", "T4", "S1", "S2"]);
    assert_eq!(peers(&fabric, "S1"), ["L1", "L2", "L3", "L4"]);
    for (leaves, spines, hosts, links) in [(4, 2, 8, 1), (9, 8, 16, 1), (3, 3, 1, 4)] {
        let fabric = leaf_spine(leaves, spines, hosts, links, LINKS).unwrap();
        let all = (leaves * hosts, leaves + spines, leaves * (hosts + spines * links));
        assert_eq!(counts(&fabric), (all.0 as usize, all.1 as usize, all.2 as usize));
        assert_eq!(degrees(&fabric, 1), BTreeMap::from([((hosts + spines * links) as usize, leaves as usize)]));
        assert_eq!(degrees(&fabric, 2), BTreeMap::from([((leaves * links) as usize, spines as usize)]));
    }
}

#[test]
fn jellyfish_is_regular_simple_connected_and_pinned_by_its_seed() {
    let wiring = |fabric: &Fabric| fabric.links().iter().map(|link| (link.a.node, link.b.node)).collect::<Vec<_>>();
    for (switches, degree) in [(2, 1), (7, 6), (9, 2), (10, 3), (20, 4), (33, 8), (50, 49), (100, 16)] {
        for seed in 0..12 {
            let fabric = jellyfish(switches, degree, 1, seed, LINK, LINK).unwrap();
            counts(&fabric);
            assert_eq!(degrees(&fabric, 1), BTreeMap::from([(degree as usize + 1, switches as usize)]));
            for switch in fabric.switches() {
                let numbers: Vec<NodeId> = fabric.ports(switch)[1..].iter().map(|port| port.peer).collect();
                assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "simple, and ports by number");
            }
            let again = jellyfish(switches, degree, 1, seed, LINK, LINK).unwrap();
            assert_eq!(wiring(&fabric), wiring(&again));
        }
    }
    let seeds = [1, 2].map(|seed| wiring(&jellyfish(40, 5, 1, seed, LINK, LINK).unwrap()));
    assert_ne!(seeds[0], seeds[1]);
    for (switches, degree) in [(5, 3), (4, 4), (6, 1), (6, 0)] {
        assert!(jellyfish(switches, degree, 1, 1, LINK, LINK).unwrap_err().to_string().contains("degree"));
    }
}

/// A random 16-regular graph of 100 switches has diameter 3, and of 500 switches diameter 4. The longest path lengths
/// of 5 and 6 in Tagger's Table 5 depend on these diameters.
#[test]
fn jellyfish_has_the_diameter_of_a_random_graph() {
    for (switches, degree, diameter) in [(100, 16, 3), (500, 16, 4), (500, 32, 3)] {
        let fabric = jellyfish(switches, degree, 1, 5, LINK, LINK).unwrap();
        let farthest = fabric.switches().map(|switch| {
            let links = distances(&fabric, switch);
            fabric.switches().map(|other| links[other.index()]).max().unwrap()
        });
        assert_eq!(farthest.max(), Some(diameter), "{switches} switches, degree {degree}");
    }
}

#[test]
fn bcube_structure() {
    for (n, k) in [(2, 0), (2, 1), (4, 1), (3, 2), (8, 1), (2, 4), (8, 3)] {
        let fabric = bcube(n, k, LINK).unwrap();
        let (servers, per_level, levels) = (n.pow(k + 1) as usize, n.pow(k) as usize, k as usize + 1);
        assert_eq!(counts(&fabric), (servers, per_level * levels, servers * levels));
        assert_eq!(degrees(&fabric, 1), BTreeMap::from([(n as usize, per_level * levels)]));
        for (server, &host) in fabric.hosts().iter().enumerate() {
            assert!(fabric.node(host).relay);
            assert_eq!(fabric.ports(host).len(), levels);
            for (level, port) in fabric.ports(host).iter().enumerate() {
                assert!(fabric.name(port.peer).starts_with(&format!("S{level}-")));
                let unit = (n as usize).pow(level as u32);
                assert_eq!(usize::from(port.peer_port), server / unit % n as usize);
                for (digit, other) in fabric.ports(port.peer).iter().enumerate() {
                    let expected = server - server / unit % n as usize * unit + digit * unit;
                    assert_eq!(other.peer.index(), expected, "only digit {level} differs");
                }
            }
        }
        assert!(
            fabric.switches().all(|node| fabric.ports(node).iter().all(|p| fabric.node(p.peer).kind == NodeKind::Host))
        );
    }
    assert!(bcube(1024, 15, LINK).is_err());
}
