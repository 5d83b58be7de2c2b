//! Trees of lowest ports towards 64 roots at a time.
//!
//! A word per node says for which of the roots the search has reached it, so that one look along a link serves all
//! of them. Neighbours share a step towards many roots; what climbs a tree then climbs all that take that step.

use super::{Climb, Tree};
use crate::graph::TaggedGraph;
use crate::ports::{Ports, put};
use crate::threads::on_threads;
use fabric::tags::ones;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A tree's root, a slot, and the ports by which packets leave it.
pub(super) type Root = (u32, Vec<u32>);

/// Roots of one batch: a bit each.
const ROOTS: usize = 64;
/// Deeper trees are grown one by one: what climbs them fills no 16 bits.
const DEEPEST: usize = u16::BITS as usize - 2;
/// The egress port that the root does not have.
const ROOT: u16 = u16::MAX;

/// A step that a slot takes towards some of the roots.
#[derive(Clone, Copy)]
struct Shared {
    slot: u32,
    step: u32,
    roots: u64,
}

/// What one thread fills.
pub(super) struct Batches<'p, 'f> {
    pub graph: TaggedGraph<'p, 'f>,
    pub climb: Climb,
    tree: Tree<'p, 'f>,
    /// Per slot, the roots that it is known to reach, that it reaches by as many links as the level at hand has, and by
    /// one more.
    seen: Vec<u64>,
    level: Vec<u64>,
    next: Vec<u64>,
    /// By distance from the roots.
    shared: Vec<Shared>,
    /// Per slot and root: the egress port of its step.
    out: Vec<u16>,
    /// Per slot and root: as [`Climb::below`].
    below: Vec<u16>,
}

/// Grows a tree towards each root and records their turns, on up to so many threads. What they find is united, so
/// that their number and pace change nothing.
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
        own.graph.edge_visits += own.tree.edge_visits;
        own
    };
    on_threads(threads.min(batches.len()), work)
}

impl<'p, 'f> Batches<'p, 'f> {
    fn new(ports: &'p Ports<'f>, climb: Climb) -> Batches<'p, 'f> {
        let tree = Tree::new(ports);
        let count = tree.nodes.len();
        let words = || vec![0; count];
        let graph = TaggedGraph::new(ports);
        let (out, below) = (vec![ROOT; count * ROOTS], vec![0; count * ROOTS]);
        Batches { graph, climb, tree, seen: words(), level: words(), next: words(), shared: Vec::new(), out, below }
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

    /// Finds the steps, level by level; `None` if the trees are too deep. Else the depth of the deepest.
    fn grow(&mut self, roots: &[Root]) -> Option<usize> {
        self.seen.fill(0);
        self.level.fill(0);
        self.next.fill(0);
        self.shared.clear();
        let mut slots = Vec::new();
        for (index, &(root, _)) in roots.iter().enumerate() {
            self.seen[root as usize] |= 1 << index;
            self.level[root as usize] |= 1 << index;
            self.out[root as usize * ROOTS + index] = ROOT;
            slots.push(root);
        }
        for depth in 0.. {
            let mut reached = Vec::new();
            for &slot in &slots {
                let here = self.level[slot as usize];
                let steps = self.tree.steps(slot);
                self.graph.edge_visits += steps.len() as u64;
                for step in steps {
                    let peer = step.peer as usize;
                    let new = here & !self.seen[peer];
                    if new != 0 {
                        if self.next[peer] == 0 {
                            reached.push(step.peer);
                        }
                        self.next[peer] |= new;
                    }
                }
            }
            if reached.is_empty() {
                return Some(depth);
            }
            if depth == DEEPEST {
                return None;
            }
            reached.iter().for_each(|&slot| self.choose(slot));
            slots.iter().for_each(|&slot| self.level[slot as usize] = 0);
            for &slot in &reached {
                let new = std::mem::take(&mut self.next[slot as usize]);
                self.seen[slot as usize] |= new;
                self.level[slot as usize] = new;
            }
            slots = reached;
        }
        None
    }

    /// The first of a slot's neighbours in the level at hand, for each root that is as far.
    fn choose(&mut self, slot: u32) {
        let mut open = self.next[slot as usize];
        let begin = self.tree.steps_of[slot as usize];
        for (index, step) in (begin..).zip(self.tree.steps(slot)) {
            self.graph.edge_visits += 1;
            let roots = open & self.level[step.peer as usize];
            if roots != 0 {
                self.shared.push(Shared { slot, step: index, roots });
                let out = &mut self.out[slot as usize * ROOTS..][..ROOTS];
                ones(&[roots]).for_each(|root| out[root] = step.local);
                open &= !roots;
                if open == 0 {
                    break;
                }
            }
        }
    }

    /// As [`Climb::record`], for all trees of the batch.
    fn climb(&mut self, roots: &[Root], depth: usize) {
        self.graph.reserve_hops(depth + 2);
        self.below.fill(0);
        let mut recorded = 0;
        for &Shared { slot, step, roots: sharing } in self.shared.iter().rev() {
            let step = self.tree.steps[step as usize];
            let sends = self.climb.sends[slot as usize];
            let relays = u16::from(self.climb.relays[slot as usize]);
            self.climb.taken[step.port as usize] |= sends;
            let (own, peer) = (slot as usize * ROOTS, step.peer as usize * ROOTS);
            for root in ones(&[sharing]) {
                let here = self.below[own + root] | u16::from(sends);
                let mut hops = here << 1 | relays;
                self.below[peer + root] |= hops;
                recorded += u64::from(hops.count_ones());
                let out = self.out[peer + root];
                while hops != 0 {
                    let plane = &mut self.graph.hops[hops.trailing_zeros() as usize][step.row as usize..];
                    hops &= hops - 1;
                    match out {
                        ROOT => {
                            roots[root].1.iter().for_each(|&exit| put(plane, self.graph.ports.local(exit)));
                        }
                        out => put(plane, usize::from(out)),
                    }
                }
            }
        }
        self.graph.recorded += recorded;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Senders, TreeRoots, joined, roots};
    use super::*;
    use fabric::generate::{TierLinks, bcube, fat_tree, jellyfish, line, ring};
    use fabric::{Fabric, LinkSpec};
    use units::{Rate, Time};

    /// Each tree by itself.
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
            // The deepest that a batch holds, one more, and many more.
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
