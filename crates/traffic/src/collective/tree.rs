//! Double binary trees over the hosts: two trees, each for half of the data (Sanders, Speck and Träff, 2009), as in
//! NCCL.
//!
//! In the first tree, the height of rank r is the position of its lowest set bit. The second tree shifts or mirrors
//! the ranks, so that an inner node of one tree is a leaf of the other, with the exception of the last rank.

use super::schedule::{Schedule, share};

/// One of the two binary trees.
struct Tree {
    root: u32,
    /// Parent of each rank.
    parent: Vec<Option<u32>>,
    /// Children of each rank.
    children: Vec<Vec<u32>>,
}

/// Returns the parent of `rank` among `ranks` in the first tree; `None` for the root. The bit above the lowest set
/// bit of `rank` determines whether its parent has a lower or a higher number.
fn parent_of(rank: u32, ranks: u32) -> Option<u32> {
    if rank == 0 {
        return None;
    }
    let bit = rank & rank.wrapping_neg();
    let (up, down) = ((rank ^ bit) | (bit << 1), rank ^ bit);
    Some(if up < ranks { up } else { down })
}

impl Tree {
    /// Returns both trees over `ranks`, at least one rank.
    fn pair(ranks: u32) -> [Tree; 2] {
        let even = ranks.is_multiple_of(2);
        // The second tree is the first one with renumbered ranks: mirrored if the number of ranks is even, else
        // shifted by one.
        let there = move |rank: u32| if even { ranks - 1 - rank } else { (rank + ranks - 1) % ranks };
        let back = move |rank: u32| if even { ranks - 1 - rank } else { (rank + 1) % ranks };
        let first = (0..ranks).map(|rank| parent_of(rank, ranks)).collect();
        let second = (0..ranks).map(|rank| parent_of(there(rank), ranks).map(back)).collect();
        [first, second].map(Tree::of)
    }

    fn of(parent: Vec<Option<u32>>) -> Tree {
        let mut children = vec![Vec::new(); parent.len()];
        let mut root = 0;
        for (rank, parent) in (0..).zip(&parent) {
            match parent {
                Some(parent) => children[*parent as usize].push(rank),
                None => root = rank,
            }
        }
        Tree { root, parent, children }
    }

    /// Returns all ranks, parents before children.
    fn downwards(&self) -> Vec<u32> {
        let mut order = vec![self.root];
        let mut at = 0;
        while let Some(&rank) = order.get(at) {
            order.extend(&self.children[rank as usize]);
            at += 1;
        }
        order
    }

    /// Appends the reduction of `bytes` to the root; `name` maps ranks of the tree to ranks of the operation. Returns
    /// the messages that arrive at the root.
    fn up(&self, to: &mut Schedule, bytes: u64, name: impl Fn(u32) -> u32) -> Vec<u32> {
        let mut arrived = vec![Vec::new(); self.parent.len()];
        for rank in self.downwards().into_iter().rev() {
            if let Some(parent) = self.parent[rank as usize] {
                let sent = to.send(name(rank), name(parent), bytes, &arrived[rank as usize]);
                arrived[parent as usize].push(sent);
            }
        }
        std::mem::take(&mut arrived[self.root as usize])
    }

    /// Appends the broadcast of `bytes` from the root, which starts when the messages `ready` have arrived at the
    /// root.
    fn down(&self, to: &mut Schedule, bytes: u64, ready: Vec<u32>, name: impl Fn(u32) -> u32) {
        let mut arrived = vec![Vec::new(); self.parent.len()];
        arrived[self.root as usize] = ready;
        for rank in self.downwards() {
            if let Some(parent) = self.parent[rank as usize] {
                let sent = to.send(name(parent), name(rank), bytes, &arrived[parent as usize]);
                arrived[rank as usize].push(sent);
            }
        }
    }
}

/// Appends an all-reduce: reduction and broadcast in both trees concurrently.
pub(super) fn all_reduce(to: &mut Schedule, ranks: u32, bytes: u64) {
    for (tree, half) in Tree::pair(ranks).iter().zip(share(bytes, 2)) {
        let summed = tree.up(to, half, |rank| rank);
        tree.down(to, half, summed, |rank| rank);
    }
}

/// Appends a broadcast: the other ranks form both trees, and the root sends half of the data to the root of each
/// tree.
pub(super) fn broadcast(to: &mut Schedule, ranks: u32, root: u32, bytes: u64) {
    let name = |rank: u32| (root + 1 + rank) % ranks;
    for (tree, half) in Tree::pair(ranks - 1).iter().zip(share(bytes, 2)) {
        let there = to.send(root, name(tree.root), half, &[]);
        tree.down(to, half, vec![there], name);
    }
}

/// Appends a reduction, the reverse of [`broadcast`].
pub(super) fn reduce(to: &mut Schedule, ranks: u32, root: u32, bytes: u64) {
    let name = |rank: u32| (root + 1 + rank) % ranks;
    for (tree, half) in Tree::pair(ranks - 1).iter().zip(share(bytes, 2)) {
        let summed = tree.up(to, half, name);
        to.send(name(tree.root), root, half, &summed);
    }
}
