//! Shortest-path trees towards 64 roots at a time, checked on all threads.
//!
//! Each node has a word with one bit per root whose breadth-first search has reached the node. Queues are then followed
//! from the leaves of the trees to the roots, node by node: the rules of a node are looked up together, while they are
//! in the L1 cache, and once for all roots whose frames arrive by one port with one tag. This module only counts the
//! paths of lossless trees. The caller checks every other tree again separately, to report the lossy path.

use crate::grow::{Root, Trees};
use crate::paths::Hop;
use crate::proof::{Edge, LOST, host_ports};
use crate::table::Table;
use fabric::{Fabric, PortIndex};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of roots in a batch: the number of bits in a word.
const ROOTS: usize = 64;

/// A level of the breadth-first searches: the nodes at one distance from at least one root. A *slot* is the index of a
/// node in [`Trees::nodes`].
struct Level {
    /// Slots in ascending order.
    slots: Vec<u32>,
    /// Per slot: bit mask of the roots at this distance.
    roots: Vec<u64>,
}

/// Returns, per root, the number of paths of its tree, or `None` if a path is lossy. `each` receives the number of
/// finished roots.
///
/// All are `None` if hosts forward, or if there are more than 16 lossless tags.
pub(crate) fn lossless_trees(
    fabric: &Fabric,
    table: &Table,
    trees: &Trees<'_>,
    roots: &[Root],
    mut each: impl FnMut(u64),
) -> Vec<Option<u64>> {
    let mut found = vec![None; roots.len()];
    if fabric.has_relays() || table.tags.len() > u16::BITS as usize {
        return found;
    }
    let batches: Vec<&[Root]> = roots.chunks(ROOTS).collect();
    let next = AtomicUsize::new(0);
    let work = |each: &mut dyn FnMut(u64)| {
        let mut judge = Judge::new(fabric, table, trees);
        let mut judged = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = batches.get(at) else { break judged };
            each((at * ROOTS) as u64);
            judged.push((at, judge.judge(batch)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(batches.len());
    let judged = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| work(&mut |_| {}))).collect();
        let mut all = work(&mut each);
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    for (at, batch) in judged {
        found[at * ROOTS..][..batch.len()].copy_from_slice(&batch);
    }
    found
}

/// State of one thread, reused for each batch.
struct Judge<'a, 'f> {
    fabric: &'a Fabric,
    table: &'a Table,
    trees: &'a Trees<'f>,
    edge: Edge,
    /// Per class and edge: [`Edge::entrance_bits`] for the hosts of the node to which the edge leads; `NOT_COMPUTED` if
    /// not computed.
    entering: Vec<Vec<u64>>,
    /// Per slot: whether the node has hosts.
    sources: Vec<bool>,
    /// Per edge: the reverse edge.
    back: Vec<u32>,
    /// Per edge: bit mask of the roots whose frames arrive by the port of the edge.
    arriving: Vec<u64>,
    /// Levels of the searches, by distance from the roots. Only the first `depth` levels are in use.
    levels: Vec<Level>,
    depth: usize,
    /// Per slot: bit mask of the roots whose search has reached the node.
    seen: Vec<u64>,
    /// Per slot and root: the port towards the root.
    port: Vec<PortIndex>,
    /// Per slot and lossless tag: bit mask of the roots towards which frames leave the node with this tag.
    queues: Vec<u64>,
}

/// Differs from every value of [`Edge::entrance_bits`].
const NOT_COMPUTED: u64 = u64::MAX;

impl<'a, 'f> Judge<'a, 'f> {
    fn new(fabric: &'a Fabric, table: &'a Table, trees: &'a Trees<'f>) -> Judge<'a, 'f> {
        let (count, edges) = (trees.nodes.len(), trees.peers.len());
        let number = |slot: usize, port| fabric.port_number(trees.nodes[slot], port);
        let mut way_of = vec![0; fabric.port_count()];
        for slot in 0..count {
            trees.edges(slot as u32).for_each(|edge| way_of[number(slot, trees.ports[edge])] = edge as u32);
        }
        let peers = trees.nodes.iter().zip(0..).flat_map(|(&node, slot)| {
            trees.edges(slot).map(move |edge| fabric.ports(node)[usize::from(trees.ports[edge])])
        });
        Judge {
            fabric,
            table,
            trees,
            edge: Edge::new(fabric, table),
            entering: vec![vec![NOT_COMPUTED; edges]; table.classes.len()],
            sources: trees.nodes.iter().map(|&node| host_ports(fabric, node).next().is_some()).collect(),
            back: peers.map(|peer| way_of[fabric.port_number(peer.peer, peer.peer_port)]).collect(),
            arriving: vec![0; edges],
            levels: Vec::new(),
            depth: 0,
            seen: vec![0; count],
            port: vec![0; count * ROOTS],
            queues: vec![0; count * table.tags.len()],
        }
    }

    fn judge(&mut self, roots: &[Root]) -> Vec<Option<u64>> {
        self.grow(roots);
        let mut paths = vec![0; roots.len()];
        for level in &self.levels[1..self.depth] {
            for &slot in level.slots.iter().filter(|&&slot| self.sources[slot as usize]) {
                bits(level.roots[slot as usize]).for_each(|root| paths[root] += 1);
            }
        }
        let mut lost = 0;
        for class in 0..self.table.classes.len() {
            lost |= self.follow(roots, class);
        }
        paths.into_iter().enumerate().map(|(root, paths)| (lost >> root & 1 == 0).then_some(paths)).collect()
    }

    /// Finds shortest paths to all roots, level by level.
    fn grow(&mut self, roots: &[Root]) {
        self.seen.fill(0);
        self.arriving.fill(0);
        self.depth = 0;
        let trees = self.trees;
        let first = self.next_level();
        for (index, root) in roots.iter().enumerate() {
            first.roots[trees.slots[root.node.index()] as usize] |= 1 << index;
        }
        while self.close_level() {
            self.next_level();
            let [.., here, beyond] = &mut self.levels[..self.depth] else { return };
            for &slot in &here.slots {
                let roots = here.roots[slot as usize];
                trees.peers[trees.edges(slot)].iter().for_each(|&peer| beyond.roots[peer as usize] |= roots);
            }
            for slot in 0..beyond.roots.len() {
                beyond.roots[slot] &= !self.seen[slot];
                let mut open = beyond.roots[slot];
                // Select the lowest port to a neighbour that is closer to the root.
                for edge in trees.edges(slot as u32) {
                    if open == 0 {
                        break;
                    }
                    let found = open & here.roots[trees.peers[edge] as usize];
                    if found != 0 {
                        self.arriving[self.back[edge] as usize] |= found;
                        let ports = &mut self.port[slot * ROOTS..][..ROOTS];
                        bits(found).for_each(|root| ports[root] = trees.ports[edge]);
                        open &= !found;
                    }
                }
            }
        }
    }

    /// Adds an empty level.
    fn next_level(&mut self) -> &mut Level {
        if self.depth == self.levels.len() {
            self.levels.push(Level { slots: Vec::new(), roots: vec![0; self.seen.len()] });
        }
        self.depth += 1;
        let level = &mut self.levels[self.depth - 1];
        level.roots.fill(0);
        level
    }

    /// Lists the slots of the last level. If there are none, removes this level and returns false.
    fn close_level(&mut self) -> bool {
        let level = &mut self.levels[self.depth - 1];
        level.slots.clear();
        for (slot, &roots) in level.roots.iter().enumerate().filter(|(_, roots)| **roots != 0) {
            level.slots.push(slot as u32);
            self.seen[slot] |= roots;
        }
        let any = !level.slots.is_empty();
        self.depth -= usize::from(!any);
        any
    }

    /// Returns a bit mask of the roots for which frames of a class become lossy on some path.
    fn follow(&mut self, roots: &[Root], class: usize) -> u64 {
        let (table, trees) = (self.table, self.trees);
        let (graph, tags) = (&table.graph, table.tags.len());
        self.queues.fill(0);
        let mut lost = 0;
        // From the farthest level to the roots, so that the queues of a node are complete before they are forwarded.
        for depth in (0..self.depth - 1).rev() {
            for at in 0..self.levels[depth].slots.len() {
                let slot = self.levels[depth].slots[at] as usize;
                let here = self.levels[depth].roots[slot];
                for edge in trees.edges(slot as u32) {
                    let arriving = self.arriving[edge] & here;
                    if arriving == 0 {
                        continue;
                    }
                    let ingress = graph.ports.base(trees.nodes[slot]) + u32::from(trees.ports[edge]);
                    let entering = self.entering(class, edge, ingress);
                    if entering & LOST != 0 {
                        lost |= arriving;
                    }
                    let peer = trees.peers[edge] as usize * tags;
                    for tag in 0..tags {
                        let joining = if entering >> tag & 1 == 1 { u64::MAX } else { 0 };
                        let coming = arriving & (self.queues[peer + tag] | joining);
                        if coming == 0 {
                            continue;
                        }
                        let vertex = graph.vertex(ingress, tag as u16);
                        lost |= match depth {
                            0 => self.withheld(roots, vertex, coming),
                            _ => self.pass(slot, vertex, coming),
                        };
                    }
                }
            }
        }
        lost
    }

    /// Returns a bit mask of the lossless tags with which frames from the hosts of an edge's peer arrive over the edge.
    fn entering(&mut self, class: usize, edge: usize, ingress: u32) -> u64 {
        if self.entering[class][edge] == NOT_COMPUTED {
            let ports = &self.table.graph.ports;
            let egress = ports.peer(ingress);
            let node = ports.node(egress);
            let hop = Hop { node, port: (egress - ports.base(node)) as PortIndex };
            self.entering[class][edge] = self.edge.entrance_bits(self.fabric, self.table, hop, egress, class);
        }
        self.entering[class][edge]
    }

    /// Forwards the frames of a queue towards the roots in the bit mask `coming`. Returns a bit mask of the roots for
    /// which these frames become lossy.
    fn pass(&mut self, slot: usize, vertex: u32, mut coming: u64) -> u64 {
        let ports = &self.port[slot * ROOTS..][..ROOTS];
        for (tag, egress) in self.table.graph.leaving(vertex) {
            let kept = |&root: &usize| egress[usize::from(ports[root] / 64)] >> (ports[root] % 64) & 1 == 1;
            let leaving = bits(coming).filter(kept).fold(0, |leaving, root| leaving | 1 << root);
            self.queues[slot * self.table.tags.len() + usize::from(tag)] |= leaving;
            coming &= !leaving;
        }
        coming
    }

    /// Returns the roots in the bit mask `coming` whose hosts the frames of a queue do not all reach losslessly.
    fn withheld(&self, roots: &[Root], vertex: u32, coming: u64) -> u64 {
        let delivers = |exit: &PortIndex| self.table.graph.onward_slot(vertex, *exit).is_some();
        bits(coming).filter(|&root| !roots[root].exits.iter().all(delivers)).fold(0, |all, root| all | 1 << root)
    }
}

/// Returns the positions of the set bits of `word`.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}
