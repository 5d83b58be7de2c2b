//! Division of a network among ranks, and the wires between ranks. Wires are visited one node at a time, so that a
//! rank never stores the wires of other ranks.

use crate::division::weight;
use crate::error::EngineError;
use crate::execution::WireSpec;
use std::ops::Range;
use units::Time;

/// The wires of a network: the egress wires of each node in order of port.
pub trait Wires {
    /// Returns the number of nodes.
    fn nodes(&self) -> usize;

    /// Calls `visit` with each wire of `node`, which is below the number of nodes, in order of port.
    fn for_each(&self, node: u32, visit: impl FnMut(WireSpec));

    /// Returns the number of wires of a node.
    fn count(&self, node: u32) -> usize {
        let mut count = 0;
        self.for_each(node, |_| count += 1);
        count
    }
}

impl<T: AsRef<[Vec<WireSpec>]> + ?Sized> Wires for T {
    fn nodes(&self) -> usize {
        self.as_ref().len()
    }

    fn for_each(&self, node: u32, visit: impl FnMut(WireSpec)) {
        self.as_ref()[node as usize].iter().copied().for_each(visit);
    }
}

/// The nodes of each rank, and the wires between ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPartition {
    /// The first node of each rank, followed by the number of nodes.
    firsts: Vec<u32>,
    /// Whether a wire leads from rank a to rank b, at a * ranks + b.
    reaches: Vec<bool>,
    cut_wires: u64,
    cut_lookahead: Time,
}

impl RankPartition {
    /// Computes the wires between ranks whose nodes begin at `firsts`, which ends with the number of nodes: see
    /// [`divide_ranks`].
    pub fn new(wires: &(impl Wires + ?Sized), firsts: Vec<u32>) -> RankPartition {
        let count = firsts.len() - 1;
        let mut borders =
            RankPartition { firsts, reaches: vec![false; count * count], cut_wires: 0, cut_lookahead: Time::MAX };
        for from in 0..count {
            for node in borders.nodes_of(from) {
                wires.for_each(node, |wire| {
                    if !borders.nodes_of(from).contains(&wire.node) {
                        let to = borders.rank_of(wire.node);
                        borders.reaches[from * count + to] = true;
                        borders.cut_wires += 1;
                        borders.cut_lookahead = borders.cut_lookahead.min(wire.lookahead);
                    }
                });
            }
        }
        borders
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Returns the nodes of a rank.
    pub fn nodes_of(&self, rank: usize) -> Range<u32> {
        self.firsts[rank]..self.firsts[rank + 1]
    }

    /// Returns the rank of a node.
    pub fn rank_of(&self, node: u32) -> usize {
        self.firsts.partition_point(|&first| first <= node) - 1
    }

    /// Returns whether a wire leads from rank `from` to rank `to`.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        self.reaches[from * self.ranks() + to]
    }

    /// Returns the number of wires between ranks.
    pub fn cut_wires(&self) -> u64 {
        self.cut_wires
    }

    /// Returns the least lookahead of the wires between ranks; [`Time::MAX`] without any.
    pub fn cut_lookahead(&self) -> Time {
        self.cut_lookahead
    }
}

/// Maximum shift of a boundary from equal weights for a better cut, as a fraction of the mean weight of a rank.
const CUT_TOLERANCE: f64 = 0.1;

/// Divides the nodes among ranks in contiguous ranges with about equal numbers of wires. Returns the first node of
/// each rank, followed by the number of nodes. Within a tenth of the mean weight of a rank, each boundary is moved to
/// maximise the least lookahead of the cut wires, then to minimise their number.
///
/// # Errors
/// If there are more ranks than nodes.
pub fn divide_ranks(wires: &(impl Wires + ?Sized), ranks: usize) -> Result<Vec<u32>, EngineError> {
    let nodes = wires.nodes();
    if ranks > nodes {
        return Err(EngineError::TooManyRanks { ranks, nodes });
    }
    let mut before = vec![0u64];
    for node in 0..nodes as u32 {
        before.push(before[before.len() - 1] + u64::from(weight(wires.count(node))));
    }
    let (shortest, crossings) = cuts(wires);
    let total = before[nodes] as f64;
    let mut firsts = vec![0u32];
    for rank in 1..ranks {
        let share = total / ranks as f64;
        let ideal = share * rank as f64;
        let at = |weight: f64| before.partition_point(|&before| (before as f64) < weight);
        // Every rank has at least one node.
        let (least, most) = (firsts[rank - 1] as usize + 1, nodes - (ranks - rank));
        let boundary = at(ideal).clamp(least, most);
        let low = at(ideal - share * CUT_TOLERANCE).clamp(least, boundary);
        let high = at(ideal + share * CUT_TOLERANCE).clamp(boundary, most);
        let best = (low..=high)
            .min_by_key(|&cut| (std::cmp::Reverse(shortest[cut]), crossings[cut], cut.abs_diff(boundary)))
            .unwrap_or(boundary);
        firsts.push(best as u32);
    }
    firsts.push(nodes as u32);
    Ok(firsts)
}

/// Returns, for the boundary before each node, the least lookahead and the number of the wires across it.
fn cuts(wires: &(impl Wires + ?Sized)) -> (Vec<Time>, Vec<i64>) {
    let nodes = wires.nodes();
    let mut crossings = vec![0i64; nodes + 2];
    // A segment tree over the boundaries: the value of an inner node applies to all leaves below. A wire crosses a
    // range of boundaries, which a few nodes of the tree cover.
    let leaves = nodes + 1;
    let mut least = vec![Time::MAX; 2 * leaves];
    for node in 0..nodes as u32 {
        wires.for_each(node, |wire| {
            let [first, last] = [wire.node.min(node) + 1, wire.node.max(node)].map(|cut| cut as usize);
            crossings[first] += 1;
            crossings[last + 1] -= 1;
            let (mut from, mut to) = (first + leaves, last + 1 + leaves);
            while from < to {
                if from % 2 == 1 {
                    least[from] = least[from].min(wire.lookahead);
                    from += 1;
                }
                if to % 2 == 1 {
                    to -= 1;
                    least[to] = least[to].min(wire.lookahead);
                }
                (from, to) = (from / 2, to / 2);
            }
        });
    }
    for cut in 1..crossings.len() {
        crossings[cut] += crossings[cut - 1];
    }
    for boundary in 2..least.len() {
        least[boundary] = least[boundary].min(least[boundary / 2]);
    }
    (least.split_off(leaves), crossings)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn wire(node: u32, lookahead: u64) -> WireSpec {
        WireSpec { node, port: 0, lookahead: Time::from_ns(lookahead) }
    }

    /// A row of nodes, each with a wire to the next.
    pub(crate) fn row(lookaheads: &[u64]) -> Vec<Vec<WireSpec>> {
        let mut wires: Vec<_> = (1..).zip(lookaheads).map(|(to, &lookahead)| vec![wire(to, lookahead)]).collect();
        wires.push(Vec::new());
        wires
    }

    #[test]
    fn boundaries_stand_where_wires_are_long() {
        let mut lookaheads = [10; 39];
        assert_eq!(divide_ranks(&row(&lookaheads), 2), Ok(vec![0, 20, 40]));
        lookaheads[20] = 500;
        assert_eq!(divide_ranks(&row(&lookaheads), 2), Ok(vec![0, 21, 40]));
        // A boundary at the longest wire is outside the tolerance: the two ranks would differ too much in weight.
        lookaheads[30] = 900;
        assert_eq!(divide_ranks(&row(&lookaheads), 2), Ok(vec![0, 21, 40]));
        // Among equally long wires, the boundary that cuts the fewest wires is chosen.
        let mut wires = row(&[10; 39]);
        (0..39).filter(|node| *node != 17).for_each(|node| wires[node].push(wire(node as u32 + 1, 10)));
        assert_eq!(divide_ranks(&wires, 2), Ok(vec![0, 18, 40]));
    }

    #[test]
    fn every_rank_has_a_node_and_no_more_ranks_than_nodes() {
        for ranks in 1..=40 {
            let firsts = divide_ranks(&row(&[10; 39]), ranks).unwrap();
            assert_eq!(firsts.len(), ranks + 1);
            assert!(firsts.windows(2).all(|pair| pair[0] < pair[1]), "{firsts:?}");
        }
        assert_eq!(divide_ranks(&row(&[10; 39]), 41), Err(EngineError::TooManyRanks { ranks: 41, nodes: 40 }));
    }

    /// Compares `cuts` with a scan of all wires for every boundary.
    #[test]
    fn cuts_are_those_of_brute_force() {
        let mut random = units::random::Stream::new(1, 0, 0);
        for _ in 0..200 {
            let nodes = 2 + random.below(20) as usize;
            let mut wires = vec![Vec::new(); nodes];
            for _ in 0..random.below(40) {
                let (from, to) = (random.below(nodes as u64) as usize, random.below(nodes as u64) as u32);
                if from != to as usize {
                    wires[from].push(wire(to, 1 + random.below(9)));
                }
            }
            let (shortest, crossings) = cuts(&wires);
            for cut in 1..nodes {
                let across = |from: usize, to: usize| (from < cut) != (to < cut);
                let found: Vec<Time> = (0..nodes)
                    .flat_map(|from| wires[from].iter().map(move |wire| (from, wire)))
                    .filter(|&(from, wire)| across(from, wire.node as usize))
                    .map(|(_, wire)| wire.lookahead)
                    .collect();
                assert_eq!(crossings[cut], found.len() as i64);
                assert_eq!(shortest[cut], found.into_iter().min().unwrap_or(Time::MAX));
            }
        }
    }
}
