//! Lowest-port shortest-path trees towards 64 roots at a time (multi-source BFS).
//!
//! A 64-bit word per node has one bit per root, which records whether the search from that root has reached the node.
//! One visit of a link therefore serves all roots. Neighbours share a step towards many roots, and distances are
//! propagated for all these roots at once.
//!
//! ```text
//!   grow, from the roots:     a slot chooses its steps   ──>  `comers` of the slots at their other ends
//!   climb, from the leaves:   a slot reads its comers    ──>  turns, all in the rows of that slot's ports
//! ```
//!
//! The second pass iterates over receiving slots rather than sending slots, so that writes are local: a whole
//! `PortBitmaps` is larger than the L1 and L2 caches, but the part of one slot is not.

use super::{Climb, Tree};
use crate::graph::TaggedGraph;
use crate::ports::{Ports, put};
use crate::threads::on_threads;
use fabric::tags::ones;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Root of a tree (a slot), and the ports by which packets leave it.
pub(super) type Root = (u32, Vec<u32>);

/// Roots per batch: one bit each.
const ROOTS: usize = 64;
/// Maximum tree depth; deeper trees are grown one by one.
const DEEPEST: usize = 14;

/// The fields of a [`Tree::steps`] element that a batch needs.
#[derive(Clone, Copy)]
struct BatchStep {
    /// Slot of the node to which the step leads.
    peer: u32,
    /// Index of the step in the reverse direction.
    back: u32,
}

/// BFS level: the slots at a given distance from some of the roots.
struct Level {
    /// Slots at this distance, ascending.
    slots: Vec<u32>,
    /// Bitmap of the roots at this distance from each slot.
    roots: Vec<u64>,
}

/// State and results of one thread.
pub(super) struct Batches<'p, 'f> {
    pub graph: TaggedGraph<'p, 'f>,
    pub climb: Climb,
    tree: Tree<'p, 'f>,
    /// Peer slot of each step and index of its reverse step, by step index.
    steps: Vec<BatchStep>,
    /// Per step: the roots towards which packets arrive at this slot through the step's port.
    comers: Vec<u64>,
    /// Per step: whether it has been selected towards any root so far.
    used: Vec<bool>,
    /// BFS levels, by distance from the roots.
    levels: Vec<Level>,
    /// Per slot: bitmap of the roots whose search has reached it.
    seen: Vec<u64>,
    /// Per slot and root: the egress port of the slot's selected step.
    out: Vec<u16>,
    /// Per slot and hop: bitmap of the roots towards which packets make their turn at the slot on that hop.
    below: Vec<u64>,
}

/// Grows a tree towards each root and records its turns, on up to `threads` threads. The union of the results does not
/// depend on the number of threads or their timing.
pub(super) fn record<'p, 'f>(
    ports: &'p Ports<'f>,
    climb: &Climb,
    roots: &[Root],
    threads: usize,
) -> Vec<Batches<'p, 'f>> {
    let batches: Vec<&[Root]> = roots.chunks(ROOTS).collect();
    let taken = AtomicUsize::new(0);
    let work = || {
        let mut own = Batches::new(ports, climb.clone());
        while let Some(batch) = batches.get(taken.fetch_add(1, Ordering::Relaxed)) {
            own.record(batch);
        }
        own.finish();
        own
    };
    on_threads(threads.min(batches.len()), work)
}

impl<'p, 'f> Batches<'p, 'f> {
    fn new(ports: &'p Ports<'f>, climb: Climb) -> Batches<'p, 'f> {
        let tree = Tree::new(ports);
        let count = tree.nodes.len();
        let mut step_by = vec![0; ports.len()];
        tree.steps.iter().zip(0..).for_each(|(step, number)| step_by[step.port as usize] = number);
        let batch_step =
            |step: &super::Step| BatchStep { peer: step.peer, back: step_by[ports.peer[step.port as usize] as usize] };
        Batches {
            graph: TaggedGraph::new(ports),
            climb,
            steps: tree.steps.iter().map(batch_step).collect(),
            comers: vec![0; tree.steps.len()],
            used: vec![false; tree.steps.len()],
            levels: Vec::new(),
            seen: vec![0; count],
            out: vec![0; count * ROOTS],
            below: Vec::new(),
            tree,
        }
    }

    fn record(&mut self, roots: &[Root]) {
        match self.grow(roots) {
            Some(depth) => self.climb(roots, depth),
            None => {
                for (root, exits) in roots {
                    self.tree.grow(*root);
                    self.tree.choose(None);
                    self.climb.record(&mut self.graph, &self.tree, exits);
                }
            }
        }
    }

    /// Adds the counters and first turns that are shared by all batches.
    fn finish(&mut self) {
        self.graph.edge_visits += self.tree.edge_visits;
        for slot in (0..self.tree.nodes.len()).filter(|&slot| self.climb.sends[slot]) {
            for (number, step) in self.numbers(slot as u32).zip(self.tree.steps(slot as u32)) {
                self.climb.taken[step.port as usize] |= self.used[number];
            }
        }
    }

    /// Returns the indices of a slot's steps.
    fn numbers(&self, slot: u32) -> std::ops::Range<usize> {
        self.tree.steps_of[slot as usize] as usize..self.tree.steps_of[slot as usize + 1] as usize
    }

    /// Clears the BFS level at distance `depth` from the roots, and allocates it if needed.
    fn begin_level(&mut self, depth: usize) -> &mut Level {
        if depth == self.levels.len() {
            self.levels.push(Level { slots: Vec::new(), roots: vec![0; self.tree.nodes.len()] });
        }
        let level = &mut self.levels[depth];
        level.slots.clear();
        level.roots.fill(0);
        level
    }

    /// Selects the steps, level by level. Returns the depth of the deepest tree, or `None` if the trees are too deep
    /// for a batch.
    fn grow(&mut self, roots: &[Root]) -> Option<usize> {
        self.seen.fill(0);
        self.comers.fill(0);
        let level = self.begin_level(0);
        for (index, &(root, _)) in roots.iter().enumerate() {
            level.roots[root as usize] |= 1 << index;
            level.slots.push(root);
        }
        for depth in 0.. {
            for &slot in &self.levels[depth].slots {
                self.seen[slot as usize] |= self.levels[depth].roots[slot as usize];
            }
            self.expand(depth);
            if self.levels[depth + 1].slots.is_empty() {
                return Some(depth);
            }
            if depth == DEEPEST {
                return None;
            }
            for at in 0..self.levels[depth + 1].slots.len() {
                self.choose(self.levels[depth + 1].slots[at], depth);
            }
        }
        None
    }

    /// Computes BFS level `depth + 1` from level `depth`.
    fn expand(&mut self, depth: usize) {
        self.begin_level(depth + 1);
        let [.., level, next] = &mut self.levels[..depth + 2] else { return };
        for &slot in &level.slots {
            let here = level.roots[slot as usize];
            let steps = self.tree.steps_of[slot as usize] as usize..self.tree.steps_of[slot as usize + 1] as usize;
            self.graph.edge_visits += steps.len() as u64;
            for step in &self.steps[steps] {
                next.roots[step.peer as usize] |= here;
            }
        }
        for (slot, (roots, seen)) in next.roots.iter_mut().zip(&self.seen).enumerate() {
            *roots &= !seen;
            if *roots != 0 {
                next.slots.push(slot as u32);
            }
        }
    }

    /// Selects the step of a slot for each root at distance `depth + 1`: to the first neighbour at distance `depth`.
    fn choose(&mut self, slot: u32, depth: usize) {
        let [level, next] = &self.levels[depth..depth + 2] else { return };
        let mut open = next.roots[slot as usize];
        for number in self.numbers(slot) {
            self.graph.edge_visits += 1;
            let step = self.steps[number];
            let roots = open & level.roots[step.peer as usize];
            if roots != 0 {
                self.comers[step.back as usize] |= roots;
                self.used[number] = true;
                let port = self.tree.steps[number].local;
                let out = &mut self.out[slot as usize * ROOTS..][..ROOTS];
                ones(&[roots]).for_each(|root| out[root] = port);
                open &= !roots;
                if open == 0 {
                    break;
                }
            }
        }
    }

    /// Like [`Climb::record`], for all trees of the batch at once.
    fn climb(&mut self, roots: &[Root], depth: usize) {
        let hops = depth + 2;
        self.graph.reserve_hops(hops);
        self.below.clear();
        self.below.resize(self.tree.nodes.len() * hops, 0);
        for (below, &sends) in self.below.chunks_mut(hops).zip(&self.climb.sends) {
            below[0] = if sends { u64::MAX } else { 0 };
        }
        for level in (0..depth).rev() {
            for &slot in &self.levels[level].slots {
                let here = self.levels[level].roots[slot as usize];
                let out = &self.out[slot as usize * ROOTS..][..ROOTS];
                for number in self.numbers(slot) {
                    let comers = self.comers[number] & here;
                    if comers == 0 {
                        continue;
                    }
                    let peer = self.steps[number].peer as usize;
                    let row = self.graph.ports.row(self.tree.steps[number].port).start;
                    // Packets sent by a relaying host make their first turn at the next node.
                    let mut turning = if self.climb.relays[peer] { comers } else { 0 };
                    // `depth - level` is an upper bound of the number of tree levels below the peer.
                    for hop in 0..=depth - level {
                        self.below[slot as usize * hops + hop] |= turning;
                        self.graph.recorded += u64::from(turning.count_ones());
                        let plane = &mut self.graph.hops[hop][row..];
                        for root in ones(&[turning]) {
                            match level {
                                0 => roots[root].1.iter().for_each(|&exit| put(plane, self.graph.ports.local(exit))),
                                _ => put(plane, usize::from(out[root])),
                            }
                        }
                        // A packet that makes a turn at the peer on hop `hop` makes its turn at this slot on the next
                        // hop.
                        turning = self.below[peer * hops + hop] & comers;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Senders, TreeRoots, joined, roots};
    use super::*;
    use fabric::generate::{TierLinks, bcube, fat_tree, jellyfish, line, ring};
    use fabric::{Fabric, LinkSpec};
    use units::{Rate, Time};

    /// Records the trees one by one.
    fn one_by_one<'p, 'f>(ports: &'p Ports<'f>, mut climb: Climb, roots: &[Root]) -> (TaggedGraph<'p, 'f>, Vec<bool>) {
        let (mut graph, mut tree) = (TaggedGraph::new(ports), Tree::new(ports));
        for (root, exits) in roots {
            tree.grow(*root);
            tree.choose(None);
            climb.record(&mut graph, &tree, exits);
        }
        (graph, climb.taken)
    }

    #[test]
    fn batches_record_what_single_trees_do_on_any_number_of_threads() {
        const LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));
        let deep = DEEPEST as u32;
        let fabrics: Vec<Fabric> = vec![
            jellyfish(150, 4, 2, 1, LINK, LINK).unwrap(),
            jellyfish(100, 70, 1, 2, LINK, LINK).unwrap(),
            fat_tree(8, TierLinks::uniform(LINK)).unwrap(),
            bcube(4, 1, LINK).unwrap(),
            // Tree depths: the maximum of a batch, one more, and far more.
            line(deep + 1, 2, LINK, LINK).unwrap(),
            line(deep + 2, 2, LINK, LINK).unwrap(),
            ring(140, 1, LINK, LINK).unwrap(),
        ];
        for fabric in &fabrics {
            let ports = Ports::new(fabric);
            let climb = Climb::new(&ports, &Senders::new(&ports));
            for kind in [TreeRoots::Switches, TreeRoots::Servers] {
                let roots = joined(roots(&Tree::new(&ports), kind));
                let (mut expected, taken) = one_by_one(&ports, climb.clone(), &roots);
                expected.trim();
                for threads in [1, 3] {
                    let (mut graph, mut own) = (TaggedGraph::new(&ports), vec![false; ports.len()]);
                    for part in record(&ports, &climb, &roots, threads) {
                        graph.unite(&part.graph);
                        own.iter_mut().zip(&part.climb.taken).for_each(|(all, own)| *all |= own);
                    }
                    graph.trim();
                    let what = format!("{} of {} nodes, {kind:?}", fabric.kind(), fabric.nodes().len());
                    assert!(graph.hops == expected.hops && own == taken, "{what}, {threads} threads");
                    assert_eq!(graph.recorded, expected.recorded, "{what}, {threads} threads");
                }
            }
        }
    }
}
