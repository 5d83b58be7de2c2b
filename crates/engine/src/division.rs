//! Which part of the nodes each thread runs.

use crate::barrier::Barrier;
use crate::exchange::Exchange;
use crate::node::Message;

/// The nodes in contiguous parts, one a thread, and where their threads meet.
#[derive(Debug)]
pub(crate) struct Division<M> {
    /// The first node of each part, and the number of nodes.
    pub(crate) nodes: Vec<u32>,
    /// The first ring of each part, and the number of rings.
    pub(crate) rings: Vec<u32>,
    /// The part of each node.
    pub(crate) part_of: Vec<u16>,
    pub(crate) barrier: Barrier,
    pub(crate) exchange: Exchange<M>,
}

impl<M: Message> Division<M> {
    /// At most `parts` parts with about equally many wires each, of which `weights` tells how many each node has;
    /// `first_rings` tells where each node's rings begin, and then how many there are.
    pub(crate) fn new(weights: &[u32], first_rings: &[u32], parts: usize) -> Self {
        let part_of = divide(weights, parts.clamp(1, weights.len().max(1)));
        let count = part_of.last().map_or(1, |&part| usize::from(part) + 1);
        let mut nodes: Vec<u32> =
            (0..count).map(|part| part_of.partition_point(|&other| usize::from(other) < part) as u32).collect();
        nodes.push(weights.len() as u32);
        let rings = nodes.iter().map(|&node| first_rings[node as usize]).collect();
        Division { nodes, rings, part_of, barrier: Barrier::new(count), exchange: Exchange::new(count) }
    }

    pub(crate) fn parts(&self) -> usize {
        self.nodes.len() - 1
    }
}

/// How much a node with this many wires weighs: them, and a little for itself.
pub(crate) fn weight(wires: usize) -> u32 {
    wires as u32 + 1
}

/// Contiguous ranges of about equal weight.
fn divide(weights: &[u32], parts: usize) -> Vec<u16> {
    let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
    let (mut before, mut previous) = (0u64, 0u16);
    let place = |&weight: &u32| {
        let wanted = (before * parts as u64 / total.max(1)) as u16;
        // Never skip a part: every thread has at least one node.
        previous = if wanted > previous { previous + 1 } else { previous };
        before += u64::from(weight);
        previous
    };
    weights.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_node_and_about_its_share() {
        for parts in 1..9 {
            let places = divide(&[3; 40], parts);
            let share = |part| places.iter().filter(|&&place| usize::from(place) == part).count();
            assert!((0..parts).all(|part| share(part).abs_diff(40 / parts) <= 1), "{places:?}");
            // One node outweighs all others.
            let heavy = divide(&[1, 90, 1, 1, 1, 1], parts);
            assert!(heavy.windows(2).all(|pair| pair[1] - pair[0] <= 1), "{heavy:?}");
        }
        assert!(divide(&[], 3).is_empty());
    }
}
