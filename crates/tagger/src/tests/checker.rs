//! Checker of rules and lossless paths that uses only the definitions, independent of the algorithms.

use crate::paths::ExpectedPaths;
use crate::rules::{RuleTable, Tag};
use fabric::{Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

type Vertex = (NodeId, u16, Tag);

/// Checks that tags never decrease and that the edges between (ingress port, tag) pairs, for any forwarding, form no
/// cycle.
pub fn safe(fabric: &Fabric, table: &RuleTable) -> Result<(), String> {
    let lookup = table.lookup(fabric);
    let mut edges: BTreeMap<Vertex, BTreeSet<Vertex>> = BTreeMap::new();
    for node in fabric.node_ids().filter(|&node| fabric.node(node).forwards()) {
        let ports = fabric.ports(node);
        for &tag in &table.lossless_tags {
            for in_port in 0..ports.len() as u16 {
                for (out_port, out) in (0..).zip(ports) {
                    let Some(new_tag) = lookup.new_tag(node, tag, in_port, out_port) else { continue };
                    if new_tag < tag {
                        return Err(format!("{}: tag {tag} falls to {new_tag}", fabric.name(node)));
                    }
                    edges.entry((node, in_port, tag)).or_default().insert((out.peer, out.peer_port, new_tag));
                }
            }
        }
    }
    // Removes vertices without incoming edges until none remains; the remaining vertices contain a cycle.
    let mut incoming: BTreeMap<Vertex, usize> = edges.keys().map(|&vertex| (vertex, 0)).collect();
    edges.values().flatten().for_each(|&to| *incoming.entry(to).or_default() += 1);
    let mut open: Vec<Vertex> = incoming.iter().filter(|(_, count)| **count == 0).map(|(&vertex, _)| vertex).collect();
    while let Some(vertex) = open.pop() {
        incoming.remove(&vertex);
        for to in edges.get(&vertex).into_iter().flatten() {
            let count = incoming.get_mut(to).expect("a vertex leaves after all that lead to it");
            *count -= 1;
            if *count == 0 {
                open.push(*to);
            }
        }
    }
    match incoming.into_keys().next() {
        None => Ok(()),
        Some((node, port, tag)) => Err(format!("a cycle through or after {}:{port} with tag {tag}", fabric.name(node))),
    }
}

/// Follows every path hop by hop and checks that it is lossless for every class. Returns the number of paths.
pub fn lossless(fabric: &Fabric, table: &RuleTable, paths: &ExpectedPaths) -> Result<usize, String> {
    let lookup = table.lookup(fabric);
    let (mut count, mut failure) = (0, None);
    let visited = paths.visit(fabric, &mut |path| {
        count += 1;
        let nodes = path.nodes(fabric);
        let names = || nodes.iter().map(|&node| fabric.name(node)).collect::<Vec<_>>().join(" ");
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            failure = Some(format!("{} has a loop", names()));
        }
        let ends = [nodes[0], nodes[nodes.len() - 1]];
        if ends.iter().any(|&end| fabric.host_index(end).is_none()) {
            failure = Some(format!("{} does not lead from host to host", names()));
        }
        for class in &table.classes {
            let mut tag = class.first_tag;
            for (hop, pair) in path.out_ports.windows(2).enumerate() {
                let in_port = fabric.ports(nodes[hop])[usize::from(pair[0])].peer_port;
                match lookup.new_tag(nodes[hop + 1], tag, in_port, pair[1]) {
                    Some(new_tag) => tag = new_tag,
                    None => {
                        failure = Some(format!("{} turns lossy at {}", names(), fabric.name(nodes[hop + 1])));
                        return ControlFlow::Break(());
                    }
                }
            }
        }
        if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    visited.map_err(|error| error.to_string())?;
    failure.map_or(Ok(count), Err)
}

/// Runs both checks.
pub fn check(fabric: &Fabric, table: &RuleTable, paths: &ExpectedPaths) -> Result<usize, String> {
    safe(fabric, table)?;
    lossless(fabric, table, paths)
}

#[test]
fn unsafe_rules_and_lossy_paths_are_found() {
    use crate::paths::PathSource;
    use crate::{PortSet, Request, clos_rule, generate};
    use fabric::generate::{TierLinks, clos};
    let fabric = clos(2, 2, 2, 2, 1, TierLinks::uniform(super::golden::LINK)).unwrap();
    let bounce = ExpectedPaths::from(PathSource::UpDown { bounces: 1 });
    let good = clos_rule(&fabric, 1, &["default".to_owned()]).unwrap();
    assert!(check(&fabric, &good, &bounce).unwrap() > 100);
    let two = ExpectedPaths::from(PathSource::UpDown { bounces: 2 });
    assert!(lossless(&fabric, &good, &two).unwrap_err().contains("turns lossy"));
    // If every rule keeps the tag, the rules contain the cycle of the paper's Fig. 3.
    let mut switches = good.switches().to_vec();
    switches.iter_mut().flat_map(|switch| &mut switch.rules).for_each(|rule| rule.new_tag = rule.tag);
    let rebuild = |switches| {
        crate::rules::RuleTable::new(&fabric, good.generated_by.clone(), vec![1, 2], good.classes.clone(), switches)
    };
    assert!(safe(&fabric, &rebuild(switches)).unwrap_err().contains("cycle"));
    // A rule that decreases the tag is unsafe.
    let mut switches = good.switches().to_vec();
    let spine = switches.iter_mut().find(|switch| fabric.name(switch.node) == "S1").unwrap();
    spine.rules.iter_mut().filter(|rule| rule.tag == 2).for_each(|rule| rule.new_tag = 1);
    assert!(safe(&fabric, &rebuild(switches)).unwrap_err().contains("falls"));
    // If a required rule is missing, an expected path is lossy.
    let generated = generate(&fabric, &Request::new(bounce.clone())).unwrap().table;
    let mut switches = generated.switches().to_vec();
    let last = switches.last_mut().unwrap();
    last.rules.retain(|rule| rule.in_ports != PortSet::default() && rule.tag != 1);
    assert!(lossless(&fabric, &rebuild(switches), &bounce).is_err());
}
