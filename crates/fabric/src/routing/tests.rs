//! Tests of routes against brute force and against routes stated in papers.

use super::*;
use crate::generate::*;
use crate::{Fabric, FabricBuilder, LinkId, LinkSpec, NodeId};
use units::random::Stream;
use units::{Rate, Time};

const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(500));
const LINKS: TierLinks = TierLinks::uniform(LINK);

/// Returns the distance in links from every node to `target` by Bellman-Ford, through forwarding nodes only.
fn brute_distances(fabric: &Fabric, target: NodeId) -> Vec<u32> {
    let mut links = vec![u32::MAX; fabric.nodes().len()];
    links[target.index()] = 0;
    loop {
        let mut changed = false;
        for node in fabric.node_ids() {
            for port in fabric.ports(node) {
                let through = port.peer == target || fabric.node(port.peer).forwards();
                let via = links[port.peer.index()].saturating_add(1);
                if through && via < links[node.index()] {
                    links[node.index()] = via;
                    changed = true;
                }
            }
        }
        if !changed {
            return links;
        }
    }
}

fn random_fabric(stream: &mut Stream) -> Fabric {
    let mut builder = FabricBuilder::new("random");
    let switches = 2 + stream.below(12);
    let nodes: Vec<NodeId> =
        (0..switches).map(|s| builder.add_switch(format!("s{s}"), 1 + stream.below(3) as u8)).collect();
    let pick = |stream: &mut Stream| nodes[stream.below(switches) as usize];
    for index in 1..nodes.len() {
        builder.connect(nodes[index], nodes[stream.below(index as u64) as usize], LINK);
    }
    for _ in 0..stream.below(20) {
        let (a, b) = (pick(stream), pick(stream));
        if a != b {
            builder.connect(a, b, LINK); // Parallel links are permitted.
        }
    }
    for host in 0..2 + stream.below(12) {
        let name = format!("h{host}");
        let node = if stream.below(5) == 0 { builder.add_relay_host(name) } else { builder.add_host(name) };
        for _ in 0..1 + stream.below(6) / 4 {
            builder.connect(node, pick(stream), LINK);
        }
    }
    let fabric = builder.build().unwrap();
    fabric.check().unwrap();
    fabric
}

#[test]
fn shortest_path_groups_equal_brute_force_on_random_graphs() {
    let mut stream = Stream::new(11, 0, 0);
    for _ in 0..300 {
        let fabric = random_fabric(&mut stream);
        let forwarding = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
        for (host, &target) in fabric.hosts().iter().enumerate() {
            let links = brute_distances(&fabric, target);
            for node in fabric.node_ids().filter(|&node| node != target) {
                let nearer = |port: &crate::PortPeer| {
                    (port.peer == target || fabric.node(port.peer).forwards())
                        && links[port.peer.index()].saturating_add(1) == links[node.index()]
                };
                let all = fabric.ports(node).iter().enumerate();
                let expected: Vec<u16> = all.filter(|(_, p)| nearer(p)).map(|(port, _)| port as u16).collect();
                assert_eq!(forwarding.lookup(node, host as u32), expected, "{} to h{host}", fabric.name(node));
            }
        }
    }
}

#[test]
fn up_down_never_climbs_again_and_is_shortest_among_such_paths() {
    let mut stream = Stream::new(12, 0, 0);
    for round in 0..300 {
        let fabric = random_fabric(&mut stream);
        let root = fabric.switches().next();
        let forwarding = Forwarding::build(&fabric, Mode::UpDown { root }).unwrap();
        // The up/down order of two nodes is determined by their distances from the root.
        let links = brute_distances(&fabric, root.unwrap());
        let above = |a: NodeId, b: NodeId| {
            let height = |n: NodeId| if fabric.node(n).forwards() { u32::MAX - links[n.index()] } else { 0 };
            (height(a), std::cmp::Reverse(a)) > (height(b), std::cmp::Reverse(b))
        };
        for src in 0..fabric.hosts().len() as u32 {
            for dst in (0..fabric.hosts().len() as u32).filter(|&dst| dst != src) {
                let hops = forwarding.path(&fabric, src, dst, stream.next_u32()).unwrap();
                let mut falling = false;
                for hop in &hops {
                    let peer = fabric.ports(hop.node)[usize::from(hop.port)].peer;
                    let up = above(peer, hop.node);
                    assert!(!(falling && up), "round {round}: {src} to {dst} climbs after falling: {hops:?}");
                    falling |= !up;
                }
                assert_eq!(hops.len(), brute_valley_free(&fabric, src, dst, &above), "round {round}");
            }
        }
    }
}

/// Returns the minimum number of links from host to host over valley-free paths, by a search over states (node, already
/// descending).
fn brute_valley_free(fabric: &Fabric, src: u32, dst: u32, above: &dyn Fn(NodeId, NodeId) -> bool) -> usize {
    let (src, dst) = (fabric.host_node(src), fabric.host_node(dst));
    let mut seen = vec![[false; 2]; fabric.nodes().len()];
    let mut frontier = vec![(src, false)];
    for links in 0.. {
        assert!(!frontier.is_empty(), "no valley-free path");
        let mut next = Vec::new();
        for (node, falling) in frontier {
            if node == dst {
                return links;
            }
            if node != src && !fabric.node(node).forwards() {
                continue;
            }
            for port in fabric.ports(node) {
                let up = above(port.peer, node);
                if falling && up {
                    continue;
                }
                let phase = usize::from(!up);
                if !std::mem::replace(&mut seen[port.peer.index()][phase], true) {
                    next.push((port.peer, !up));
                }
            }
        }
        frontier = next;
    }
    unreachable!()
}

fn names(fabric: &Fabric, forwarding: &Forwarding, src: &str, dst: &str) -> Vec<String> {
    let host = |name| fabric.host_index(fabric.find(name).unwrap()).unwrap();
    let hops = forwarding.path(fabric, host(src), host(dst), 99).unwrap();
    hops.iter().map(|hop| fabric.name(hop.node).to_owned()).collect()
}

/// The routes in PABO's text and figures for k = 4.
#[test]
fn two_level_routes_are_pabos() {
    let fabric = fat_tree(4, LINKS).unwrap();
    let forwarding = Forwarding::build(&fabric, Mode::TwoLevel).unwrap();
    assert_eq!(names(&fabric, &forwarding, "H2", "H10"), ["H2", "S1", "S4", "C3", "S12", "S9"]);
    let via = |src: u32, dst: &str, switch: &str| {
        let route = names(&fabric, &forwarding, &format!("H{src}"), dst);
        assert!(route.iter().any(|name| name == switch), "H{src} to {dst}: {route:?} misses {switch}");
    };
    [1, 2, 5, 6, 13, 14].iter().for_each(|&src| via(src, "H9", "C1"));
    [3, 4, 7, 8, 15].iter().for_each(|&src| via(src, "H9", "C4"));
    [4, 8, 16].iter().for_each(|&src| via(src, "H10", "C2"));
    via(11, "H9", "S12");
    // Egress ports in PABO's text: port 3 of S1, then port 2 of S4.
    let h10 = fabric.host_index(fabric.find("H10").unwrap()).unwrap();
    assert_eq!(forwarding.lookup(fabric.find("S1").unwrap(), h10), [3]);
    assert_eq!(forwarding.lookup(fabric.find("S4").unwrap(), h10), [2]);
}

/// The destinations are spread over the core switches: frames from one edge switch to the k/2 hosts of another edge
/// switch use k/2 different core switches, and each path is a shortest path.
#[test]
fn two_level_generalises_to_every_even_k() {
    for k in [2, 4, 6, 8, 12] {
        let fabric = fat_tree(k, LINKS).unwrap();
        let two_level = Forwarding::build(&fabric, Mode::TwoLevel).unwrap();
        let shortest = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
        let hosts = fabric.hosts().len() as u32;
        let mut cores = std::collections::BTreeSet::new();
        for dst in hosts - k / 2..hosts {
            let hops = two_level.path(&fabric, 0, dst, 0).unwrap();
            assert_eq!(hops.len(), shortest.path(&fabric, 0, dst, 0).unwrap().len());
            cores.insert(hops[3].node);
        }
        assert_eq!(cores.len() as u32, k / 2, "k = {k}");
        for src in (0..hosts).step_by(7) {
            for dst in (0..hosts).filter(|&dst| dst != src) {
                let length = |f: &Forwarding| f.path(&fabric, src, dst, 5).unwrap().len();
                assert_eq!(length(&two_level), length(&shortest));
            }
        }
    }
    let ring = ring(4, 1, LINK, LINK).unwrap();
    let error = Forwarding::build(&ring, Mode::TwoLevel).unwrap_err();
    assert!(error.to_string().contains("`S1` and `S2` are linked but on the same tier"), "{error}");
}

#[test]
fn tagger_fabric_up_down_has_two_leaves_and_two_spines_to_choose() {
    let fabric = clos(2, 2, 2, 2, 4, LINKS).unwrap();
    let up_down = Forwarding::build(&fabric, Mode::UpDown { root: None }).unwrap();
    let ecmp = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
    for node in fabric.switches() {
        for host in 0..16 {
            assert_eq!(up_down.lookup(node, host), ecmp.lookup(node, host));
        }
    }
    let (t1, l1) = (fabric.find("T1").unwrap(), fabric.find("L1").unwrap());
    assert_eq!(up_down.lookup(t1, 15), [4, 5]);
    assert_eq!(up_down.lookup(l1, 15), [2, 3]);
    // For frames from a spine, L1 has no downward path to the other pod.
    assert_eq!(up_down.lookup_from(l1, 15, 2), [0u16; 0]);
    assert_eq!(up_down.lookup_from(l1, 0, 2), [0]);
    assert_eq!(up_down.lookup_from(t1, 3, 4), [3]);
    // A frame that originates at a switch has no ingress port, so it may go up.
    for node in fabric.node_ids() {
        let nowhere = [fabric.ports(node).len() as u16, u16::MAX];
        assert!(
            (0..16).all(
                |host| nowhere.map(|port| up_down.lookup_from(node, host, port)) == [up_down.lookup(node, host); 2]
            )
        );
    }
}

#[test]
fn local_rerouting_bounces_where_nothing_nearer_is_left() {
    let fabric = clos(2, 2, 2, 2, 4, LINKS).unwrap();
    let forwarding = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
    let find = |name| fabric.find(name).unwrap();
    let (l1, t1, t2) = (find("L1"), find("T1"), find("T2"));
    // The link between L1 and T1 is dead: the other ToR and the spines all have distance two from T1 in the fabric
    // without failures.
    let dead: FailedPorts = [fabric.port_towards(l1, t1).unwrap()].into_iter().collect();
    assert_eq!(forwarding.fallback(&fabric, l1, 0, &dead), [1, 2, 3]);
    assert_eq!(fabric.ports(l1)[1].peer, t2);
    // T1 towards the other pod with the link to L1 dead: only L2 remains; another host is never a next hop.
    let dead: FailedPorts = [4].into_iter().collect();
    assert_eq!(forwarding.fallback(&fabric, t1, 15, &dead), [5]);
    // If both uplinks are dead, no port remains; the same holds for a dead access link.
    assert!(forwarding.fallback(&fabric, t1, 15, &[4, 5].into_iter().collect()).is_empty());
    assert!(forwarding.fallback(&fabric, t1, 0, &[0].into_iter().collect()).is_empty());
    assert_eq!(forwarding.fallback(&fabric, t1, 1, &[0].into_iter().collect()), [1]);
    assert_eq!(forwarding.distance(&fabric, t1, 15), Some(4));
    assert_eq!(forwarding.distance(&fabric, fabric.host_node(3), 15), None);
}

#[test]
fn recomputing_goes_around_and_names_what_is_cut_off() {
    for mode in [Mode::ShortestPath, Mode::UpDown { root: None }, Mode::UpDown { root: Some(NodeId(20)) }] {
        let fabric = leaf_spine(4, 2, 4, 1, LINKS).unwrap();
        let forwarding = Forwarding::build(&fabric, mode).unwrap();
        let find = |name| fabric.find(name).unwrap();
        let dead = fabric.link_between(find("L1"), find("S1")).unwrap();
        let around = forwarding.recompute_without(&fabric, &[dead]).unwrap();
        around.verify(&fabric).unwrap();
        for entropy in 0..32 {
            assert!(!around.lone_path(&fabric, 0, 15, entropy).unwrap().contains(&dead));
            assert!(!around.lone_path(&fabric, 15, 0, entropy).unwrap().contains(&dead));
        }
        assert_eq!(around.lookup(find("L1"), 15), [5]);
        let both = [dead, fabric.link_between(find("L1"), find("S2")).unwrap()];
        let cut = forwarding.recompute_without(&fabric, &both).unwrap();
        let error = cut.verify(&fabric).unwrap_err().to_string();
        assert_eq!(error, "no route leads from host `H5` to host `H1`", "{mode:?}");
        // A host loses its only link.
        let alone = forwarding.recompute_without(&fabric, &[LinkId(3)]).unwrap();
        assert!(alone.lookup(find("L1"), 3).is_empty());
        assert!(alone.verify(&fabric).unwrap_err().to_string().contains("to host `H4`"));
    }
}

#[test]
fn a_failed_link_makes_new_ways_only_where_it_was_the_only_next_hop() {
    let mut stream = Stream::new(19, 0, 0);
    let (mut moved, mut kept) = (0, 0);
    for _ in 0..100 {
        let fabric = random_fabric(&mut stream);
        let before = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
        for id in (0..fabric.links().len() as u32).map(LinkId) {
            let link = fabric.link(id);
            let all = before.recompute_without(&fabric, &[id]).unwrap();
            let asked = stream.below(fabric.hosts().len() as u64) as u32;
            let towards = before.recompute_towards(&fabric, &[id], &[asked]).unwrap();
            for host in 0..fabric.hosts().len() as u32 {
                let only = [link.a, link.b].iter().any(|end| before.lookup(end.node, host) == [end.port]);
                for node in fabric.node_ids().filter(|&node| fabric.node(node).forwards()) {
                    let (was, is) = (before.lookup(node, host), all.lookup(node, host));
                    if host == asked {
                        assert_eq!(towards.lookup(node, host), is);
                    }
                    let new = is.is_empty() != was.is_empty() || is.iter().any(|port| !was.contains(port));
                    assert!(only || !new, "{id:?}, towards host {host} at {node:?}: {was:?}, then {is:?}");
                    if new { moved += 1 } else { kept += usize::from(only) }
                }
            }
        }
    }
    // The comparison is meaningful only if both cases (changed and unchanged paths) occur.
    assert!(moved > 1_000 && kept > 1_000, "{moved} {kept}");
}

#[test]
fn two_level_reports_a_black_hole_after_a_failure() {
    let fabric = fat_tree(4, LINKS).unwrap();
    let forwarding = Forwarding::build(&fabric, Mode::TwoLevel).unwrap();
    let find = |name| fabric.find(name).unwrap();
    let dead = fabric.link_between(find("C1"), find("S3")).unwrap();
    let cut = forwarding.recompute_without(&fabric, &[dead]).unwrap();
    assert!(matches!(cut.verify(&fabric), Err(RoutingError::Unreachable { .. })));
}

#[test]
fn explicit_paths_and_overrides() {
    let fabric = clos(2, 2, 2, 2, 4, LINKS).unwrap();
    let mut paths = PathTable::new();
    let green = ["H9", "T3", "L3", "S2", "L2", "S1", "L1", "T1", "H1"];
    let id = paths.push_names(&fabric, &green).unwrap();
    let looped = paths.push_names(&fabric, &["H1", "T1", "L1", "T1", "L1", "T1"]).unwrap();
    assert_eq!((paths.len(), paths.port(id, 8), paths.port(looped, 2)), (2, None, Some(0)));
    let links = paths.links(&fabric, fabric.find("H9").unwrap(), id);
    assert_eq!(fabric.link(links[7]).b.node, fabric.find("T1").unwrap());
    let error = |names: &[&str]| PathTable::new().push_names(&fabric, names).unwrap_err().to_string();
    assert!(error(&["H1", "T9"]).contains("node 2 of the path is `T9`"));
    assert!(error(&["H1", "T1", "S1"]).contains("no link joins `T1` and `S1`, node 2"));
    assert!(error(&["T1", "H1", "T1"]).contains("host `H1`, does not forward"));
    assert!(error(&["T1"]).contains("at least two"));

    // Tagger, Fig. 11: the route to H15 is misconfigured so that L1 sends frames back.
    for mode in [Mode::ShortestPath, Mode::UpDown { root: None }] {
        let mut forwarding = Forwarding::build(&fabric, mode).unwrap();
        let before: Vec<_> = fabric.switches().map(|s| forwarding.lookup(s, 15).to_vec()).collect();
        let (t1, l1) = (fabric.find("T1").unwrap(), fabric.find("L1").unwrap());
        forwarding.set_ports(&fabric, t1, 14, &[4]).unwrap();
        forwarding.set_ports(&fabric, l1, 14, &[0]).unwrap();
        assert_eq!(forwarding.lookup(l1, 14), [0]);
        assert!(matches!(forwarding.path(&fabric, 0, 14, 1), Err(RoutingError::Loop { .. })));
        let after: Vec<_> = fabric.switches().map(|s| forwarding.lookup(s, 15).to_vec()).collect();
        assert_eq!(before, after, "H16 keeps its routes");
        forwarding.verify(&fabric).unwrap();
        assert_eq!(forwarding.row_count(), 5, "four ToRs and H15 by itself");
        let error = forwarding.set_ports(&fabric, t1, 14, &[6]).unwrap_err();
        assert!(error.to_string().contains("`T1` has no port 6: it has 6"), "{error}");
    }
}

#[test]
fn every_generated_fabric_routes_in_every_mode_that_fits() {
    let fabrics = [
        single_switch(3, LINK).unwrap(),
        dumbbell(3, 2, LINK, LINK).unwrap(),
        tree(&[3, 1], 1, 1, LINKS).unwrap(),
        star(3, 2, 1, LINKS).unwrap(),
        line(5, 1, LINK, LINK).unwrap(),
        ring(5, 2, LINK, LINK).unwrap(),
        leaf_spine(3, 2, 2, 2, LINKS).unwrap(),
        clos(2, 2, 2, 3, 2, LINKS).unwrap(),
        fat_tree(4, LINKS).unwrap(),
        f10(6, LINKS).unwrap(),
        jellyfish(12, 3, 2, 1, LINK, LINK).unwrap(),
        bcube(3, 2, LINK).unwrap(),
    ];
    for fabric in &fabrics {
        for mode in [Mode::ShortestPath, Mode::UpDown { root: None }] {
            let forwarding = Forwarding::build(fabric, mode).unwrap();
            let hosts = fabric.hosts().len() as u32;
            for pair in 0..hosts * hosts {
                forwarding.path(fabric, pair / hosts, pair % hosts, pair).unwrap();
            }
        }
    }
    for tiered in [&fabrics[6], &fabrics[7], &fabrics[8], &fabrics[9]] {
        Forwarding::build(tiered, Mode::TwoLevel).unwrap();
    }
}

#[test]
fn bcube_servers_relay_and_have_a_path_per_differing_digit() {
    let fabric = bcube(4, 2, LINK).unwrap();
    let forwarding = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
    // From server 000 to 321 (base 4), any of the three digits may be corrected first; from 000 to 001 only digit 0.
    assert_eq!(forwarding.lookup(fabric.host_node(0), 3 * 16 + 2 * 4 + 1), [0, 1, 2]);
    assert_eq!(forwarding.lookup(fabric.host_node(0), 1), [0]);
    assert_eq!(forwarding.path(&fabric, 0, 57, 4).unwrap().len(), 6);
}

#[test]
fn port_sets_hold_what_was_put_in() {
    let mut stream = Stream::new(5, 0, 0);
    let (mut set, mut model) = (FailedPorts::new(), std::collections::BTreeSet::new());
    for _ in 0..5_000 {
        let port = stream.below(300) as u16;
        if stream.below(3) > 0 {
            set.insert(port);
            model.insert(port);
        } else {
            set.remove(port);
            model.remove(&port);
        }
        let asked = stream.below(400) as u16;
        assert_eq!(set.contains(asked), model.contains(&asked));
    }
    model.iter().for_each(|&port| set.remove(port));
    assert!(set.is_empty() && !set.contains(u16::MAX));
}

/// A chain so long that distances exceed one byte.
#[test]
fn distances_beyond_255_links() {
    let fabric = line(700, 1, LINK, LINK).unwrap();
    let forwarding = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
    assert_eq!(forwarding.distance(&fabric, fabric.find("S1").unwrap(), 699), Some(699));
    assert_eq!(forwarding.path(&fabric, 0, 699, 0).unwrap().len(), 701);
}

/// Hosts linked only to each other, and hosts with two links.
#[test]
fn hosts_without_a_switch_of_their_own() {
    let mut builder = FabricBuilder::new("pair");
    let (a, b) = (builder.add_host("a"), builder.add_host("b"));
    builder.connect(a, b, LINK);
    let pair = builder.build().unwrap();
    let forwarding = Forwarding::build(&pair, Mode::ShortestPath).unwrap();
    assert_eq!(forwarding.path(&pair, 0, 1, 0).unwrap(), [Hop { node: a, port: 0 }]);
    assert!(forwarding.path(&pair, 1, 1, 0).unwrap().is_empty());

    // A host with a link to each of two switches that have no other connection. The host does not relay.
    let mut builder = FabricBuilder::new("cut");
    let (a, b, middle) = (builder.add_host("a"), builder.add_host("b"), builder.add_host("middle"));
    let (s, t) = (builder.add_switch("s", 1), builder.add_switch("t", 1));
    for (x, y) in [(a, s), (b, t), (middle, s), (middle, t)] {
        builder.connect(x, y, LINK);
    }
    let fabric = builder.build().unwrap();
    fabric.check().unwrap();
    let error = Forwarding::build(&fabric, Mode::ShortestPath).unwrap_err().to_string();
    assert_eq!(error, "no route leads from host `b` to host `a`");
}

/// Frames with many entropy values use all 16 shortest paths between two pods of a k = 8 fat-tree evenly.
#[test]
fn paths_spread_over_all_equal_ones() {
    let fabric = fat_tree(8, LINKS).unwrap();
    let forwarding = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
    let mut uses = std::collections::BTreeMap::new();
    for flow in 0..16_000 {
        let path = forwarding.path(&fabric, 0, 127, flow_hash(0, 127, flow)).unwrap();
        *uses.entry(path[3].node).or_insert(0u32) += 1;
    }
    // Chi-square with 15 degrees of freedom is below 37.7 in 99.9 % of cases.
    let chi: f64 = uses.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
    assert!(uses.len() == 16 && chi < 37.7, "{chi}: {uses:?}");
}

#[test]
fn fallbacks_are_the_nearest_live_neighbours_on_random_graphs() {
    let mut stream = Stream::new(13, 0, 0);
    for _ in 0..200 {
        let fabric = random_fabric(&mut stream);
        let forwarding = Forwarding::build(&fabric, Mode::ShortestPath).unwrap();
        for (host, &target) in fabric.hosts().iter().enumerate() {
            let links = brute_distances(&fabric, target);
            for node in fabric.switches() {
                let ports = fabric.ports(node);
                let dead: FailedPorts = (0..ports.len() as u16).filter(|_| stream.below(2) == 0).collect();
                let found = forwarding.fallback(&fabric, node, host as u32, &dead);
                // At the switch of a single-homed host, only the host's link is possible.
                let hangs_here = fabric.ports(target).len() == 1
                    && !fabric.node(target).relay
                    && fabric.ports(target)[0].peer == node;
                let usable = |port: &u16| {
                    let peer = ports[usize::from(*port)].peer;
                    let leads =
                        if hangs_here { peer == target } else { peer == target || fabric.node(peer).forwards() };
                    leads && !dead.contains(*port)
                };
                let distance = |port: &u16| links[ports[usize::from(*port)].peer.index()];
                let live: Vec<u16> = (0..ports.len() as u16).filter(usable).collect();
                let nearest = live.iter().map(distance).min();
                let expected: Vec<u16> = live.into_iter().filter(|port| Some(distance(port)) == nearest).collect();
                assert_eq!(found, expected, "{} to {}", fabric.name(node), fabric.name(target));
            }
        }
    }
}
