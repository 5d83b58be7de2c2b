//! Compares verdicts with a brute-force search over all sequences of queues that frames can pass.

mod common;

use common::{LINK, Of, Transition, rules};
use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, FabricBuilder, NodeId, NodeKind};
use units::random::{Stream, purpose};
use verify::{Rule, RuleFile, Verifier};

/// A queue: node, ingress port, tag.
type Queue = (NodeId, u16, u16);

/// Makes a fabric of two to four switches, some with hosts, with random links; it may have parallel links and a host
/// that forwards.
fn random_fabric(stream: &mut Stream) -> Fabric {
    let mut builder = FabricBuilder::new("random");
    let switches: Vec<NodeId> =
        (0..2 + stream.below(3)).map(|number| builder.add_switch(format!("S{number}"), 1)).collect();
    for (index, &switch) in switches.iter().enumerate() {
        if index == 0 || stream.below(2) == 0 {
            let host = builder.add_host(format!("H{index}"));
            builder.connect(host, switch, LINK);
        }
        if index > 0 {
            builder.connect(switch, switches[stream.below(index as u64) as usize], LINK);
        }
    }
    for _ in 0..stream.below(3) {
        let (a, b) = (stream.below(switches.len() as u64) as usize, stream.below(switches.len() as u64) as usize);
        if a != b {
            builder.connect(switches[a], switches[b], LINK);
        }
    }
    if stream.below(4) == 0 {
        let relay = builder.add_relay_host("R");
        builder.connect(relay, switches[0], LINK);
        builder.connect(switches[1], relay, LINK);
    }
    builder.build().expect("a fabric")
}

/// Makes rules that allow each transition (tag, ingress port, egress port) of a node with a probability of `percent` %.
fn random_rules(fabric: &Fabric, tags: u16, percent: u64, stream: &mut Stream) -> RuleFile {
    let mut table: Vec<(String, Vec<Transition>)> = Vec::new();
    for node in fabric.node_ids().filter(|&node| fabric.node(node).forwards()) {
        let count = fabric.ports(node).len() as u16;
        let mut own = Vec::new();
        for tag in 1..=tags {
            for (ingress, egress) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                if stream.below(100) < percent {
                    // The new tag is mostly equal or higher, sometimes the lossy tag or a lower tag.
                    let new_tag = match stream.below(12) {
                        0 => 0,
                        1 => 1 + stream.below(tags.into()) as u16,
                        _ => tag + stream.below(u64::from(tags - tag) + 1) as u16,
                    };
                    own.push((tag, ingress, egress, new_tag));
                }
            }
        }
        table.push((fabric.name(node).to_owned(), own));
    }
    let switches: Vec<Of> = table.iter().map(|(name, rules)| (name.as_str(), rules.as_slice())).collect();
    let mut file = rules(fabric, tags, &switches);
    for switch in &mut file.switches {
        compress(&mut switch.rules, stream);
    }
    file
}

/// Merges, in half of the cases, rules that differ only in the egress port.
fn compress(rules: &mut Vec<Rule>, stream: &mut Stream) {
    let mut merged: Vec<Rule> = Vec::new();
    for rule in rules.drain(..) {
        let alike = |r: &&mut Rule| (r.tag, r.new_tag, &r.ingress) == (rule.tag, rule.new_tag, &rule.ingress);
        match merged.iter_mut().find(alike).filter(|_| stream.below(2) == 0) {
            Some(other) => other.egress.extend(&rule.egress),
            None => merged.push(rule),
        }
    }
    stream.shuffle(&mut merged);
    *rules = merged;
}

/// Returns the queues that a frame of a queue can enter next, by evaluating every rule for every port.
fn next(fabric: &Fabric, file: &RuleFile, (node, ingress, tag): Queue) -> Vec<Queue> {
    let name = fabric.name(node);
    let own = file.switches.iter().filter(|switch| switch.name == name).flat_map(|switch| &switch.rules);
    let matching = own.filter(|rule| rule.tag == tag && rule.ingress.contains(&ingress) && rule.new_tag != 0);
    let mut found = Vec::new();
    for (rule, &egress) in matching.flat_map(|rule| rule.egress.iter().map(move |egress| (rule, egress))) {
        let peer = fabric.ports(node)[usize::from(egress)];
        if fabric.node(peer.peer).forwards() {
            found.push((peer.peer, peer.peer_port, rule.new_tag));
        }
    }
    found
}

/// Whether some continuation of the walk reaches a queue of the walk again; `None` if the search exceeds `budget`
/// steps.
fn comes_back(fabric: &Fabric, file: &RuleFile, walk: &mut Vec<Queue>, budget: &mut u64) -> Option<bool> {
    for queue in next(fabric, file, walk[walk.len() - 1]) {
        *budget = budget.checked_sub(1)?;
        if walk.contains(&queue) {
            return Some(true);
        }
        walk.push(queue);
        let found = comes_back(fabric, file, walk, budget)?;
        walk.pop();
        if found {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether some walk from any of these queues reaches a queue twice; `None` if the search exceeds its budget.
fn any_comes_back(fabric: &Fabric, file: &RuleFile, starts: &[Queue]) -> Option<bool> {
    let mut budget = 200_000;
    for &start in starts {
        if comes_back(fabric, file, &mut vec![start], &mut budget)? {
            return Some(true);
        }
    }
    Some(false)
}

fn starts(fabric: &Fabric, tags: impl Fn(bool) -> Vec<u16>) -> Vec<Queue> {
    let mut found = Vec::new();
    for node in fabric.node_ids().filter(|&node| fabric.node(node).forwards()) {
        for (port, peer) in fabric.ports(node).iter().enumerate() {
            let from_host = fabric.node(peer.peer).kind == NodeKind::Host;
            found.extend(tags(from_host).into_iter().map(|tag| (node, port as u16, tag)));
        }
    }
    found
}

/// Returns all loop-free paths between hosts.
fn simple_paths(fabric: &Fabric) -> Vec<Vec<(NodeId, u16)>> {
    fn extend(fabric: &Fabric, path: &mut Vec<(NodeId, u16)>, at: NodeId, found: &mut Vec<Vec<(NodeId, u16)>>) {
        for (port, peer) in fabric.ports(at).iter().enumerate() {
            if peer.peer == at || path.iter().any(|(node, _)| *node == peer.peer) {
                continue;
            }
            path.push((at, port as u16));
            if fabric.node(peer.peer).kind == NodeKind::Host {
                let mut whole = path.clone();
                whole.push((peer.peer, 0));
                found.push(whole);
            }
            if fabric.node(peer.peer).forwards() {
                extend(fabric, path, peer.peer, found);
            }
            path.pop();
        }
    }
    let mut found = Vec::new();
    for &host in fabric.hosts() {
        extend(fabric, &mut Vec::new(), host, &mut found);
    }
    found
}

/// Whether a frame on this path keeps a lossless tag up to its destination.
fn stays_lossless(fabric: &Fabric, file: &RuleFile, path: &[(NodeId, u16)]) -> bool {
    let mut tag = 1;
    for pair in path.windows(2).take(path.len() - 2) {
        let (node, egress) = pair[1];
        let ingress = fabric.ports(pair[0].0)[usize::from(pair[0].1)].peer_port;
        let own =
            file.switches.iter().filter(|switch| switch.name == fabric.name(node)).flat_map(|switch| &switch.rules);
        let rule = own.into_iter().find(|r| r.tag == tag && r.ingress.contains(&ingress) && r.egress.contains(&egress));
        tag = rule.map_or(0, |rule| rule.new_tag);
        if tag == 0 {
            return false;
        }
    }
    true
}

#[test]
fn cycles_are_those_of_brute_force_over_all_walks() {
    let (mut compared, mut unsafe_ones, mut only_unreachable) = (0, 0, 0);
    for seed in 0..6_000 {
        let mut stream = Stream::new(seed, 0, purpose("verify oracle"));
        let fabric = random_fabric(&mut stream);
        let tags = 1 + stream.below(3) as u16;
        let percent = 5 + stream.below(45);
        let file = random_rules(&fabric, tags, percent, &mut stream);
        let verdict = Verifier::new(&fabric, &file).expect("rules of this fabric").finish();

        let lowers =
            file.switches.iter().flat_map(|s| &s.rules).any(|rule| rule.new_tag != 0 && rule.new_tag < rule.tag);
        assert_eq!(verdict.decrease.is_some(), lowers, "seed {seed}");
        let from_hosts = starts(&fabric, |host| if host { vec![1] } else { Vec::new() });
        let from_everywhere = starts(&fabric, |_| (1..=tags).collect());
        let (Some(reachable), Some(any)) =
            (any_comes_back(&fabric, &file, &from_hosts), any_comes_back(&fabric, &file, &from_everywhere))
        else {
            continue;
        };
        assert_eq!(verdict.reachable_cycle.is_some(), reachable, "seed {seed}");
        assert_eq!(verdict.cycle.is_some(), any, "seed {seed}");
        compared += 1;
        unsafe_ones += u32::from(any);
        only_unreachable += u32::from(any && !reachable);
        for cycle in [&verdict.cycle, &verdict.reachable_cycle].into_iter().flatten() {
            // The reported cycle must exist: a frame of each queue can enter the next queue.
            let queue = |at: usize| {
                let link = &cycle.links[at % cycle.links.len()];
                (fabric.find(&link.to).expect("a node"), link.to_port, link.tag.expect("a tag"))
            };
            for at in 0..cycle.links.len() {
                assert!(next(&fabric, &file, queue(at)).contains(&queue(at + 1)), "seed {seed}: {cycle}");
            }
        }
    }
    // The comparison is meaningful only if the generator produces both safe and unsafe rules.
    assert!(compared > 5_500 && unsafe_ones > 1_000 && compared - unsafe_ones > 1_000, "{compared} {unsafe_ones}");
    assert!(only_unreachable > 50, "{only_unreachable}");
}

#[test]
fn expected_paths_are_lossless_as_by_brute_force() {
    let (mut lossless, mut lossy) = (0, 0);
    for seed in 0..1_000 {
        let mut stream = Stream::new(seed, 1, purpose("verify oracle"));
        let fabric = random_fabric(&mut stream);
        let file = random_rules(&fabric, 2, 40 + stream.below(60), &mut stream);
        let paths = simple_paths(&fabric);
        let text = |path: &[(NodeId, u16)]| {
            let last = path.len() - 1;
            let inner = path[..last].iter().map(|(node, port)| format!("{}:{port} ", fabric.name(*node)));
            inner.collect::<String>() + fabric.name(path[last].0) + "\n"
        };
        let list: String = paths.iter().map(|path| text(path)).collect();
        let mut verifier = Verifier::new(&fabric, &file).expect("rules");
        verifier.expect_list(list.as_bytes()).expect("paths");
        let verdict = verifier.finish();
        let expected: Vec<u64> = paths
            .iter()
            .enumerate()
            .filter(|(_, path)| !stays_lossless(&fabric, &file, path))
            .map(|(index, _)| index as u64 + 1)
            .collect();
        assert_eq!(
            (verdict.counts.paths, verdict.counts.lost),
            (paths.len() as u64, expected.len() as u64),
            "seed {seed}"
        );
        let named: Vec<u64> = verdict.lost.iter().filter_map(|lost| lost.line).collect();
        assert_eq!(named, expected[..expected.len().min(10)], "seed {seed}");
        lossless += paths.len() - expected.len();
        lossy += expected.len();
    }
    assert!(lossless > 1_000 && lossy > 1_000, "{lossless} {lossy}");
}

#[test]
fn deleting_any_rule_that_a_path_uses_fails_and_names_the_path() {
    let mut deleted = 0;
    for seed in 0..300 {
        let mut stream = Stream::new(seed, 2, purpose("verify oracle"));
        let fabric = random_fabric(&mut stream);
        let file = random_rules(&fabric, 2, 70, &mut stream);
        let paths: Vec<_> =
            simple_paths(&fabric).into_iter().filter(|path| stays_lossless(&fabric, &file, path)).collect();
        let Some(path) = paths.get(stream.below(paths.len().max(1) as u64) as usize) else { continue };
        if path.len() < 3 {
            continue;
        }
        let last = path.len() - 1;
        let list: String = path[..last].iter().map(|(node, port)| format!("{}:{port} ", fabric.name(*node))).collect();
        let list = list + fabric.name(path[last].0);
        for index in 1..last {
            let (node, egress) = path[index];
            let mut cut = file.clone();
            let ingress = fabric.ports(path[index - 1].0)[usize::from(path[index - 1].1)].peer_port;
            for switch in cut.switches.iter_mut().filter(|switch| switch.name == fabric.name(node)) {
                for rule in switch.rules.iter_mut().filter(|rule| rule.ingress == [ingress]) {
                    rule.egress.retain(|&port| port != egress);
                }
                switch.rules.retain(|rule| !rule.egress.is_empty());
            }
            let mut verifier = Verifier::new(&fabric, &cut).expect("rules");
            verifier.expect_list(list.as_bytes()).expect("a path");
            let verdict = verifier.finish();
            assert_eq!((verdict.counts.lost, verdict.lost[0].line), (1, Some(1)), "seed {seed}");
            assert_eq!(verdict.lost[0].links.len(), index + 1, "up to where it is lost");
            let reason = format!("`{}` has no rule that keeps tag", fabric.name(node));
            assert!(verdict.lost[0].reason.starts_with(&reason), "{}", verdict.lost[0]);
            deleted += 1;
        }
    }
    // The test is meaningful only if the random rules have enough lossless paths whose rules can be deleted.
    assert!(deleted > 300, "{deleted}");
}

#[test]
fn routing_tables_agree_with_the_list_of_all_their_paths() {
    let (mut lossless, mut lossy) = (0, 0);
    for seed in 0..600 {
        let mut stream = Stream::new(seed, 3, purpose("verify oracle"));
        let fabric = random_fabric(&mut stream);
        let mode = if stream.below(2) == 0 { Mode::ShortestPath } else { Mode::UpDown { root: None } };
        let Ok(routes) = Forwarding::build(&fabric, mode) else { continue };
        let mut file = random_rules(&fabric, 2, 100, &mut stream);
        // Keep 0, 40 or 100 % of the transitions to the lossy tag and make the others lossless, so that the verdicts
        // differ.
        let keep = [0, 40, 100][stream.below(3) as usize];
        for rule in file.switches.iter_mut().flat_map(|switch| &mut switch.rules) {
            if rule.new_tag == 0 && stream.below(100) >= keep {
                rule.new_tag = rule.tag;
            }
        }
        let list: String = simple_paths(&fabric)
            .iter()
            .filter(|path| is_routed(&fabric, &routes, path))
            .map(|path| {
                let last = path.len() - 1;
                let inner = path[..last].iter().map(|(node, port)| format!("{}:{port} ", fabric.name(*node)));
                inner.collect::<String>() + fabric.name(path[last].0) + "\n"
            })
            .collect();
        // A transition that was made lossless may contradict another rule: skip this case.
        let Ok(mut by_list) = Verifier::new(&fabric, &file) else { continue };
        by_list.expect_list(list.as_bytes()).expect("paths");
        let mut by_routes = Verifier::new(&fabric, &file).expect("rules");
        by_routes.expect_routes(&routes);
        let (by_list, by_routes) = (by_list.finish(), by_routes.finish());
        assert_eq!(by_list.counts.lost > 0, by_routes.counts.lost > 0, "seed {seed}\n{list}");
        assert_eq!(by_list.lost.is_empty(), by_routes.lost.is_empty());
        if by_list.lost.is_empty() { lossless += 1 } else { lossy += 1 }
    }
    assert!(lossless > 50 && lossy > 50, "{lossless} {lossy}");
}

/// Whether the routing tables allow every hop of a path.
fn is_routed(fabric: &Fabric, routes: &Forwarding, path: &[(NodeId, u16)]) -> bool {
    let target = path[path.len() - 1].0;
    let host = fabric.host_index(target).expect("a host");
    let mut ingress = None;
    path[..path.len() - 1].iter().all(|&(node, port)| {
        let group = match ingress {
            None => routes.lookup(node, host),
            Some(ingress) => routes.lookup_from(node, host, ingress),
        };
        ingress = Some(fabric.ports(node)[usize::from(port)].peer_port);
        group.contains(&port)
    })
}

#[test]
fn trees_agree_with_the_list_of_their_paths() {
    let (mut lossless, mut lossy) = (0, 0);
    for seed in 0..600 {
        let mut stream = Stream::new(seed, 4, purpose("verify oracle"));
        let fabric = random_fabric(&mut stream);
        let file = random_rules(&fabric, 2, [60, 90, 100][stream.below(3) as usize], &mut stream);
        let has_host =
            |node: NodeId| fabric.ports(node).iter().any(|peer| fabric.node(peer.peer).kind == NodeKind::Host);
        let targets: Vec<NodeId> = fabric.switches().filter(|&node| has_host(node)).collect();
        let target = targets[stream.below(targets.len() as u64) as usize];
        let mut towards = vec![None; fabric.nodes().len()];
        let mut open = vec![target];
        while let Some(node) = open.pop() {
            for peer in fabric.ports(node) {
                let new = peer.peer != target && towards[peer.peer.index()].is_none();
                if new && fabric.node(peer.peer).forwards() {
                    towards[peer.peer.index()] = Some(peer.peer_port);
                    open.push(peer.peer);
                }
            }
            stream.shuffle(&mut open);
        }
        let mut list = String::new();
        for source in fabric.switches().filter(|&node| node != target && has_host(node)) {
            let mut at = source;
            while at != target {
                let port = towards[at.index()].expect("a tree");
                list += &format!("{}:{port} ", fabric.name(at));
                at = fabric.ports(at)[usize::from(port)].peer;
            }
            list += &format!("{}\n", fabric.name(target));
        }
        let mut by_list = Verifier::new(&fabric, &file).expect("rules");
        by_list.expect_list(list.as_bytes()).expect("paths");
        let mut by_tree = Verifier::new(&fabric, &file).expect("rules");
        by_tree.expect_tree(target, &towards).expect("a tree");
        let (by_list, by_tree) = (by_list.finish(), by_tree.finish());
        assert_eq!((by_list.counts, by_list.lost.len()), (by_tree.counts, by_tree.lost.len()), "seed {seed}\n{list}");
        if by_list.lost.is_empty() {
            lossless += 1
        } else {
            lossy += 1
        }
        // Make the peer of a node send back to this node: the forwarding loop must be reported.
        let looped = fabric.switches().find(|&node| {
            let peer = |node: NodeId| towards[node.index()].map(|port| fabric.ports(node)[usize::from(port)]);
            node != target && peer(node).is_some_and(|peer| peer.peer != target)
        });
        if let Some(node) = looped {
            let peer = fabric.ports(node)[usize::from(towards[node.index()].expect("a port"))];
            towards[peer.peer.index()] = Some(peer.peer_port);
            let error = Verifier::new(&fabric, &file).expect("rules").expect_tree(target, &towards).unwrap_err();
            assert!(error.to_string().contains("an expected path has no loop"), "{error}");
        }
    }
    assert!(lossless > 50 && lossy > 50, "{lossless} {lossy}");
}
