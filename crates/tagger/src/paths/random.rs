//! Random loop-free paths.

use super::error::PathError;
use super::expand::destinations;
use super::path::{Path, Visitor};
use super::trees::Tree;
use crate::ports::Ports;
use fabric::{Fabric, NodeId};
use units::random::{Stream, purpose};

/// Maximum number of failed random walks, after which the shortest path is used.
const ATTEMPTS: u32 = 32;

/// Visits paths between random pairs of hosts. Each step of the random walk selects a random neighbour that is not yet
/// on the path and from which the destination is reachable within the limit.
pub(crate) fn visit(
    fabric: &Fabric,
    count: u32,
    max_switches: u32,
    seed: u64,
    visitor: &mut Visitor,
) -> Result<(), PathError> {
    let hosts = fabric.hosts();
    if hosts.len() < 2 {
        let expected = "random paths need at least two hosts".to_owned();
        return Err(PathError::Parameter { parameter: "hosts", value: hosts.len() as u64, expected });
    }
    let ports = Ports::new(fabric);
    let mut tree = Tree::new(&ports);
    debug_assert!(!destinations(&tree).is_empty());
    let mut stream = Stream::new(seed, 0, purpose("tagger random paths"));
    let mut on_path = vec![false; tree.nodes.len()];
    for _ in 0..count {
        let from = hosts[stream.below(hosts.len() as u64) as usize];
        let mut to = hosts[stream.below(hosts.len() as u64 - 1) as usize];
        if to == from {
            to = hosts[hosts.len() - 1];
        }
        let first = ports.first[from.index()] + stream.below(u64::from(ports.of(from).len() as u32)) as u32;
        let relayed = fabric.node(to).forwards();
        let last = ports.peer[ports.first[to.index()] as usize];
        let root = if relayed { tree.slots[to.index()] } else { tree.slots[ports.node[last as usize] as usize] };
        tree.grow(root);
        let start = tree.slots[ports.node[ports.peer[first as usize] as usize] as usize];
        if !tree.reaches(start) {
            return Err(PathError::NoPath { from: fabric.name(from).to_owned(), to: fabric.name(to).to_owned() });
        }
        let shortest = u32::from(tree.distance[start as usize]) + 1;
        if shortest > max_switches {
            let expected = format!("`{}` and `{}` are {shortest} switches apart", fabric.name(from), fabric.name(to));
            return Err(PathError::Parameter { parameter: "max_switches", value: max_switches.into(), expected });
        }
        let own = tree.slots[from.index()];
        let mut walk = None;
        for attempt in 0..=ATTEMPTS {
            let budget = if attempt == ATTEMPTS { shortest } else { max_switches };
            walk = step_by_step(&tree, start, own, budget - 1, &mut on_path, &mut stream);
            if walk.is_some() {
                break;
            }
        }
        let Some(walk) = walk else { continue };
        let mut out_ports = vec![ports.local(first) as u16];
        out_ports.extend(walk.iter().map(|&port| ports.local(port) as u16));
        if !relayed {
            out_ports.push(ports.local(last) as u16);
        }
        if visitor(Path { source: from, out_ports: &out_ports }).is_break() {
            break;
        }
    }
    Ok(())
}

fn step_by_step(
    tree: &Tree,
    start: u32,
    own: u32,
    mut budget: u32,
    on_path: &mut [bool],
    stream: &mut Stream,
) -> Option<Vec<u32>> {
    on_path.fill(false);
    if let Some(own) = on_path.get_mut(own as usize) {
        *own = true;
    }
    let (mut at, mut walk) = (start, Vec::new());
    while tree.distance[at as usize] != 0 {
        on_path[at as usize] = true;
        let usable = |peer: u32| u32::from(tree.distance[peer as usize]) < budget && !on_path[peer as usize];
        let choices: Vec<_> = tree.steps(at).iter().filter(|step| usable(step.peer)).collect();
        if choices.is_empty() {
            return None;
        }
        let step = choices[stream.below(choices.len() as u64) as usize];
        walk.push(step.port);
        at = step.peer;
        budget -= 1;
    }
    // Every port of the walk belongs to a node that has a slot.
    debug_assert!(walk.iter().all(|&port| {
        tree.ports.forwards(port) && NodeId(tree.ports.node[port as usize]).index() < tree.slots.len()
    }));
    Some(walk)
}
