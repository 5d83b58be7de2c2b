//! Shortest paths: all of them, a limited number, or the n shortest paths.

use super::expand::{SwitchPath, destinations, record, show};
use super::path::Visitor;
use super::trees::{Senders, Tree};
use crate::graph::TaggedGraph;
use crate::ports::{Ports, put};
use fabric::{Fabric, NodeId};

/// Maximum additional length of the n shortest paths compared with the shortest path, in hops.
const MOST_EXTRA_HOPS: u16 = 4;

/// Enumeration of paths between slots, one destination at a time.
struct ShortestPathSearch<'t, 'p, 'f> {
    tree: &'t Tree<'p, 'f>,
    limit: u32,
    on_path: Vec<bool>,
    out: Vec<u32>,
}

impl ShortestPathSearch<'_, '_, '_> {
    /// Visits up to `limit` paths from a slot to the root, shorter paths first. Returns false if `show` stops.
    fn paths(&mut self, from: u32, longer: bool, show: &mut dyn FnMut(&[u32]) -> bool) -> bool {
        let shortest = self.tree.distance[from as usize];
        let most = if longer { shortest.saturating_add(MOST_EXTRA_HOPS) } else { shortest };
        let mut left = self.limit;
        for length in shortest..=most {
            if !self.extend(from, length, &mut left, show) {
                return false;
            }
            if left == 0 || shortest == 0 {
                break;
            }
        }
        true
    }

    /// Visits the continuations with exactly `length` further hops.
    fn extend(&mut self, at: u32, length: u16, left: &mut u32, show: &mut dyn FnMut(&[u32]) -> bool) -> bool {
        if length == 0 {
            *left -= 1;
            return show(&self.out);
        }
        if self.tree.distance[at as usize] == 0 {
            return true;
        }
        self.on_path[at as usize] = true;
        let tree = self.tree;
        let mut go_on = true;
        for step in tree.steps(at) {
            let usable = tree.distance[step.peer as usize] < length && !self.on_path[step.peer as usize];
            if usable && *left > 0 {
                self.out.push(step.port);
                go_on = self.extend(step.peer, length - 1, left, show);
                self.out.pop();
                if !go_on {
                    break;
                }
            }
        }
        self.on_path[at as usize] = false;
        go_on
    }
}

/// Visits each path between switches with hosts (or relaying hosts) until `each` returns false.
fn for_each(ports: &Ports, limit: u32, longer: bool, each: &mut dyn FnMut(&SwitchPath) -> bool) -> u64 {
    let mut tree = Tree::new(ports);
    let ends = destinations(&tree);
    if limit == 0 {
        return 0;
    }
    for (root, exits) in &ends {
        tree.grow(*root);
        let mut search =
            ShortestPathSearch { tree: &tree, limit, on_path: vec![false; tree.nodes.len()], out: Vec::new() };
        for (from, _) in ends.iter().filter(|(from, _)| tree.reaches(*from)) {
            // A relaying host has no path to itself.
            if from == root && exits.is_empty() {
                continue;
            }
            let source = tree.nodes[*from as usize];
            if !search.paths(*from, longer, &mut |out| each(&SwitchPath { source, out, exits })) {
                return tree.edge_visits;
            }
        }
    }
    tree.edge_visits
}

/// Visits shortest paths and, if `longer` is set, longer paths up to `limit` paths per pair.
pub(crate) fn visit(fabric: &Fabric, limit: u32, longer: bool, visitor: &mut Visitor) {
    let ports = Ports::new(fabric);
    let mut out_ports = Vec::new();
    for_each(&ports, limit, longer, &mut |path| show(&ports, path, &mut out_ports, visitor));
}

/// Records the paths that [`visit`] enumerates.
pub(crate) fn record_some(graph: &mut TaggedGraph, limit: u32, longer: bool) {
    let mut senders = Senders::new(graph.ports);
    let visits = for_each(graph.ports, limit, longer, &mut |path| {
        record(graph, &mut senders, path);
        true
    });
    senders.finish(graph);
    graph.edge_visits += visits;
}

/// Records the turns of all shortest paths without enumerating the paths. Per destination, the turns follow from the
/// directed acyclic graph of all hops that reduce the distance. Each turn is recorded at every hop number at which a
/// path from some source makes it.
pub(crate) fn record_all(graph: &mut TaggedGraph) {
    let ports = graph.ports;
    let mut senders = Senders::new(ports);
    let mut tree = Tree::new(ports);
    let mut below: Vec<u64> = Vec::new();
    let mut closer = ports.node_sets();
    for (root, exits) in destinations(&tree) {
        tree.grow(root);
        closer.fill(0);
        let depth = tree.order.last().map_or(0, |&slot| usize::from(tree.distance[slot as usize]));
        let words = (depth + 2).div_ceil(64);
        graph.reserve_hops(depth + 2);
        below.clear();
        below.resize(tree.nodes.len() * words, 0);
        for &slot in &tree.order {
            let node = tree.nodes[slot as usize];
            let set = ports.set(node);
            for step in tree.steps(slot).iter().filter(|step| is_closer(&tree, slot, step.peer)) {
                put(&mut closer[set.clone()], ports.local(step.port));
            }
        }
        exits.iter().for_each(|&exit| put(&mut closer[ports.set(tree.nodes[root as usize])], ports.local(exit)));
        for &slot in tree.order.iter().rev() {
            let node = tree.nodes[slot as usize];
            let relay = ports.fabric.host_index(NodeId(node)).is_some();
            if senders.at(ports, node) {
                below[slot as usize * words] |= 1;
                fabric::tags::ones(&closer[ports.set(node)])
                    .for_each(|out| senders.take(ports, ports.first[node as usize] + out as u32));
            }
            graph.edge_visits += tree.steps(slot).len() as u64;
            for step in tree.steps(slot).iter().filter(|step| is_closer(&tree, slot, step.peer)) {
                let row = ports.row(ports.peer[step.port as usize]);
                let onward = &closer[ports.set(tree.nodes[step.peer as usize])];
                let mut carried = u64::from(relay);
                for word in 0..words {
                    let here = below[slot as usize * words + word];
                    let mut hops = here << 1 | carried;
                    carried = here >> 63;
                    below[step.peer as usize * words + word] |= hops;
                    graph.recorded += u64::from(hops.count_ones());
                    while hops != 0 {
                        let plane = &mut graph.hops[word * 64 + hops.trailing_zeros() as usize];
                        hops &= hops - 1;
                        plane[row.clone()].iter_mut().zip(onward).for_each(|(turns, onward)| *turns |= onward);
                    }
                }
            }
        }
    }
    senders.finish(graph);
    graph.edge_visits += tree.edge_visits;
}

fn is_closer(tree: &Tree, slot: u32, peer: u32) -> bool {
    tree.reaches(slot) && u32::from(tree.distance[peer as usize]) + 1 == u32::from(tree.distance[slot as usize])
}
