//! Paths that go up and down the tiers of a Clos, with a few bounces.

use super::expand::{SwitchPath, destinations, record, show};
use super::trees::{Senders, Step, Tree};
use super::{PathError, Visitor};
use crate::graph::TaggedGraph;
use crate::ports::{Ports, has, put};
use fabric::{Fabric, NodeId};

/// Up to so many switches every path is followed one by one. Beyond, paths are too many, and turns are recorded
/// by height and bounces alone: then a path that visits a switch twice is kept lossless as well.
const MOST_SWITCHES_ONE_BY_ONE: usize = 24;

struct Search<'t, 'p, 'f> {
    tree: &'t Tree<'p, 'f>,
    exits: Vec<Vec<u32>>,
    source: u32,
    on_path: Vec<bool>,
    out: Vec<u32>,
}

/// An error if some link joins nodes of one tier.
pub(crate) fn check_tiers(fabric: &Fabric) -> Result<(), PathError> {
    for link in fabric.links() {
        let (a, b) = (fabric.node(link.a.node), fabric.node(link.b.node));
        if a.tier == b.tier {
            return Err(PathError::NoTiers { a: a.name.clone(), b: b.name.clone(), tier: a.tier });
        }
    }
    Ok(())
}

fn climbs(tree: &Tree, slot: u32, step: &Step) -> bool {
    let tier = |slot: u32| tree.ports.fabric.node(NodeId(tree.nodes[slot as usize])).tier;
    tier(step.peer) > tier(slot)
}

impl Search<'_, '_, '_> {
    /// Shows all paths that go on from `at`; `descending` if the last step went down.
    fn extend(&mut self, at: u32, descending: bool, bounces: u8, each: &mut dyn FnMut(&SwitchPath) -> bool) -> bool {
        let tree = self.tree;
        if !self.exits[at as usize].is_empty() {
            let path = SwitchPath { source: self.source, out: &self.out, exits: &self.exits[at as usize] };
            if !each(&path) {
                return false;
            }
        }
        self.on_path[at as usize] = true;
        let mut go_on = true;
        for step in tree.steps(at) {
            let up = climbs(tree, at, step);
            let bounce = up && descending;
            if self.on_path[step.peer as usize] || (bounce && bounces == 0) {
                continue;
            }
            self.out.push(step.port);
            go_on = self.extend(step.peer, !up, bounces - u8::from(bounce), each);
            self.out.pop();
            if !go_on {
                break;
            }
        }
        self.on_path[at as usize] = false;
        go_on
    }
}

fn for_each(ports: &Ports, bounces: u8, each: &mut dyn FnMut(&SwitchPath) -> bool) -> Result<(), PathError> {
    check_tiers(ports.fabric)?;
    let tree = Tree::new(ports);
    let ends = destinations(&tree);
    let mut exits = vec![Vec::new(); tree.nodes.len()];
    for (slot, ports) in &ends {
        exits[*slot as usize] = ports.clone();
    }
    let on_path = vec![false; tree.nodes.len()];
    let mut search = Search { tree: &tree, exits, source: 0, on_path, out: Vec::new() };
    for (from, _) in &ends {
        search.source = tree.nodes[*from as usize];
        if !search.extend(*from, false, bounces, each) {
            break;
        }
    }
    Ok(())
}

/// Shows every path.
pub(crate) fn visit(fabric: &Fabric, bounces: u8, visitor: &mut Visitor) -> Result<(), PathError> {
    let ports = Ports::new(fabric);
    let mut out_ports = Vec::new();
    for_each(&ports, bounces, &mut |path| show(&ports, path, &mut out_ports, visitor))
}

/// Records every path, in large fabrics without following them one by one.
pub(crate) fn record_turns(graph: &mut TaggedGraph, bounces: u8) -> Result<(), PathError> {
    let mut senders = Senders::new(graph.ports);
    if graph.ports.fabric.switches().count() <= MOST_SWITCHES_ONE_BY_ONE {
        for_each(graph.ports, bounces, &mut |path| {
            record(graph, &mut senders, path);
            true
        })?;
    } else {
        check_tiers(graph.ports.fabric)?;
        by_height(graph, &mut senders, bounces);
    }
    senders.finish(graph);
    Ok(())
}

/// Per hop and number of bounces, the ingress ports that a packet may have reached.
fn by_height(graph: &mut TaggedGraph, senders: &mut Senders, bounces: u8) {
    let ports = graph.ports;
    let fabric = ports.fabric;
    let tier = |port: u32| fabric.node(NodeId(ports.node[port as usize])).tier;
    let levels = usize::from(bounces) + 1;
    let mut now = vec![vec![0u64; ports.len().div_ceil(64)]; levels];
    for node in fabric.node_ids() {
        if !senders.at(ports, node.0) {
            continue;
        }
        for out in ports.of(node) {
            senders.take(ports, out);
            if !ports.faces_host(out) {
                put(&mut now[0], ports.peer[out as usize] as usize);
            }
        }
    }
    let mut hop = 1;
    while now.iter().flatten().any(|&word| word != 0) {
        graph.reserve_hops(hop + 1);
        let mut next = vec![vec![0u64; ports.len().div_ceil(64)]; levels];
        for at in 0..ports.len() as u32 {
            for used in (0..levels).filter(|&used| has(&now[used], at as usize)) {
                let descending = tier(ports.peer[at as usize]) > tier(at);
                for out in ports.of(NodeId(ports.node[at as usize])).filter(|&out| out != at) {
                    let peer = ports.peer[out as usize];
                    let used = used + usize::from(descending && tier(peer) > tier(out));
                    if used < levels {
                        put(&mut graph.hops[hop][ports.row(at)], ports.local(out));
                        if ports.forwards(peer) {
                            put(&mut next[used], peer as usize);
                        }
                    }
                }
            }
        }
        (now, hop) = (next, hop + 1);
    }
}
