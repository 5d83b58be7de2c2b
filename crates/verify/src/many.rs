//! Trees of lowest ports towards 64 switches at a time, judged on all threads.
//!
//! A word per node says to which of the 64 roots the search has found its way. Where neighbours step alike
//! towards many roots, the rules for that step are looked up side by side, while they lie in the nearest cache. What
//! is found lossless here is counted; any other tree is judged again by itself, to say which path is lost and where.

use crate::grow::{Root, Trees};
use crate::paths::Hop;
use crate::proof::{Edge, LOST, host_ports};
use crate::table::Table;
use fabric::{Fabric, PortIndex};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Roots of one batch: a bit each.
const ROOTS: usize = 64;

/// One way that a slot takes towards some of the roots.
#[derive(Clone, Copy)]
struct Shared {
    slot: u32,
    way: u32,
    roots: u64,
}

/// Per root, how many paths its tree has if all of them are lossless. `each` is told how many roots are done.
///
/// Nothing if hosts forward or there are more lossless tags than bits to hold them.
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

/// What one thread uses again for each batch.
struct Judge<'a, 'f> {
    fabric: &'a Fabric,
    table: &'a Table,
    trees: &'a Trees<'f>,
    edge: Edge,
    /// Per slot: whether hosts are at it.
    sources: Vec<bool>,
    /// Per slot, the roots to which it has found its way, those as far as this level, and those one link further.
    seen: Vec<u64>,
    level: Vec<u64>,
    next: Vec<u64>,
    /// By distance from the roots.
    shared: Vec<Shared>,
    /// Per slot and root: the port towards it.
    port: Vec<PortIndex>,
    /// Per slot and root: the queues that frames come to there, as bits of their slots.
    queues: Vec<u16>,
}

impl<'a, 'f> Judge<'a, 'f> {
    fn new(fabric: &'a Fabric, table: &'a Table, trees: &'a Trees<'f>) -> Judge<'a, 'f> {
        let count = trees.nodes.len();
        let words = || vec![0; count];
        Judge {
            fabric,
            table,
            trees,
            edge: Edge::new(fabric, table),
            sources: trees.nodes.iter().map(|&node| host_ports(fabric, node).next().is_some()).collect(),
            seen: words(),
            level: words(),
            next: words(),
            shared: Vec::new(),
            port: vec![0; count * ROOTS],
            queues: vec![0; count * ROOTS],
        }
    }

    fn judge(&mut self, roots: &[Root]) -> Vec<Option<u64>> {
        self.grow(roots);
        let mut paths = vec![0; roots.len()];
        for one in self.shared.iter().filter(|one| self.sources[one.slot as usize]) {
            bits(one.roots).for_each(|root| paths[root] += 1);
        }
        let mut lost = 0;
        for class in 0..self.table.classes.len() {
            lost |= self.follow(roots, class);
        }
        paths.into_iter().enumerate().map(|(root, paths)| (lost >> root & 1 == 0).then_some(paths)).collect()
    }

    /// Finds the ways to all roots, level by level.
    fn grow(&mut self, roots: &[Root]) {
        self.seen.fill(0);
        self.level.fill(0);
        self.shared.clear();
        let mut slots = Vec::new();
        for (index, root) in roots.iter().enumerate() {
            let slot = self.trees.slots[root.node.index()];
            self.seen[slot as usize] |= 1 << index;
            self.level[slot as usize] |= 1 << index;
            slots.push(slot);
        }
        while !slots.is_empty() {
            let mut reached = Vec::new();
            for &slot in &slots {
                for way in self.trees.ways(slot) {
                    let peer = self.trees.peers[way] as usize;
                    let new = self.level[slot as usize] & !self.seen[peer];
                    if new != 0 && self.next[peer] == 0 {
                        reached.push(peer as u32);
                    }
                    self.next[peer] |= new;
                }
            }
            for &slot in &reached {
                let mut open = self.next[slot as usize];
                for way in self.trees.ways(slot) {
                    let found = open & self.level[self.trees.peers[way] as usize];
                    if found == 0 {
                        continue;
                    }
                    self.shared.push(Shared { slot, way: way as u32, roots: found });
                    let port = self.trees.ports[way];
                    bits(found).for_each(|root| self.port[slot as usize * ROOTS + root] = port);
                    open &= !found;
                    if open == 0 {
                        break;
                    }
                }
            }
            slots.iter().for_each(|&slot| self.level[slot as usize] = 0);
            for &slot in &reached {
                let new = std::mem::take(&mut self.next[slot as usize]);
                self.seen[slot as usize] |= new;
                self.level[slot as usize] = new;
            }
            slots = reached;
        }
    }

    /// The roots, as bits, to which frames of a class lose their tag on some path.
    fn follow(&mut self, roots: &[Root], class: usize) -> u64 {
        let (fabric, table, trees) = (self.fabric, self.table, self.trees);
        let graph = &table.graph;
        self.queues.fill(0);
        let mut lost = 0;
        for &Shared { slot, way, roots: sharing } in self.shared.iter().rev() {
            let (node, port) = (trees.nodes[slot as usize], trees.ports[way as usize]);
            let egress = graph.ports.base(node) + u32::from(port);
            let (ingress, peer) = (graph.ports.peer(egress), trees.peers[way as usize] as usize);
            let entering = self.edge.entrance_bits(fabric, table, Hop { node, port }, egress, class);
            if entering & LOST != 0 {
                lost |= sharing;
            }
            let entering = (entering & !LOST) as u16;
            for root in bits(sharing) {
                let mut queues = self.queues[slot as usize * ROOTS + root] | entering;
                let target = &roots[root];
                let arrives = graph.ports.node(ingress) == target.node;
                while queues != 0 {
                    let vertex = graph.vertex(ingress, queues.trailing_zeros() as u16);
                    queues &= queues - 1;
                    let kept = if arrives {
                        target.exits.iter().all(|&exit| graph.onward_slot(vertex, exit).is_some())
                    } else {
                        let onward = graph.onward_slot(vertex, self.port[peer * ROOTS + root]);
                        onward.is_some_and(|slot| {
                            self.queues[peer * ROOTS + root] |= 1 << slot;
                            true
                        })
                    };
                    if !kept {
                        lost |= 1 << root;
                    }
                }
            }
        }
        lost
    }
}

/// The positions of set bits.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}
