//! Division of the nodes among threads.
//!
//! Partitions are contiguous ranges, as neighbours have adjacent indices. Nodes are weighed by their number of wires
//! until their recent work is measured ([`crate::Node::work`]).

use crate::barrier::Barrier;
use crate::exchange::Exchange;
use crate::mail::{Slot, Wire};
use crate::node::Message;
use std::collections::VecDeque;

/// Accepted relative excess of the heaviest partition's weight over the minimum, in exchange for fewer cut wires.
const IMBALANCE_TOLERANCE: f64 = 0.01;

/// A new division is adopted if its heaviest partition weighs at most this fraction of the present heaviest
/// partition.
const REBALANCE_GAIN: f64 = 0.95;

/// The nodes in contiguous partitions, one per thread, and the shared state of their threads.
#[derive(Debug)]
pub(crate) struct Partitioning<M> {
    /// The first node of each partition, followed by the number of nodes.
    pub(crate) nodes: Vec<u32>,
    /// The first ring of each partition, followed by the number of rings.
    pub(crate) rings: Vec<u32>,
    /// The partition of each node.
    pub(crate) part_of: Vec<u16>,
    pub(crate) barrier: Barrier,
    pub(crate) exchange: Exchange<M>,
}

impl<M: Message> Partitioning<M> {
    /// Creates the partitions that begin at these `nodes`. `first_rings` is the first ring of each node, followed by
    /// the number of rings.
    pub(crate) fn new(nodes: Vec<u32>, first_rings: &[u32]) -> Self {
        let rings = nodes.iter().map(|&node| first_rings[node as usize]).collect();
        let (part_of, count) = (parts_of(&nodes), nodes.len() - 1);
        Partitioning { nodes, rings, part_of, barrier: Barrier::new(count), exchange: Exchange::new(count) }
    }

    pub(crate) fn parts(&self) -> usize {
        self.nodes.len() - 1
    }
}

/// Returns the partition of each node; `firsts` is the first node of each partition, followed by the number of nodes.
pub(crate) fn parts_of(firsts: &[u32]) -> Vec<u16> {
    let nodes_of = |(part, pair): (u16, &[u32])| std::iter::repeat_n(part, (pair[1] - pair[0]) as usize);
    (0..).zip(firsts.windows(2)).flat_map(nodes_of).collect()
}

/// Returns the weight of a node with this many wires: one per wire, and one for the node.
pub(crate) fn weight(wires: usize) -> u32 {
    wires as u32 + 1
}

/// Weights of nodes and numbers of wires across boundaries, which determine the division.
#[derive(Debug)]
pub(crate) struct LoadModel {
    /// Weight of each node.
    pub(crate) weights: Vec<u64>,
    /// Number of wires between nodes of this process across the boundary before each node.
    crossings: Vec<u32>,
    /// Number of wires between nodes of this process.
    wires: u32,
    /// Work of each node at the last measurement; empty before the first one.
    work_before: Vec<u64>,
}

impl LoadModel {
    /// Creates the model; the initial weight of a node follows from its number of wires (see [`weight`]).
    pub(crate) fn new(slots: &[Slot], wires: &[Wire]) -> Self {
        let wires_of = |slot: &Slot| &wires[slot.wires.0 as usize..slot.wires.1 as usize];
        let (mut crossings, mut count) = (vec![0u32; slots.len() + 2], 0);
        // Counts the wires across each boundary, first as differences between adjacent boundaries, then as prefix
        // sums.
        for (node, slot) in slots.iter().enumerate() {
            for end in wires_of(slot).iter().map(|wire| wire.slot as usize).filter(|&end| end < slots.len()) {
                for (boundary, change) in [(node.min(end) + 1, 1u32), (node.max(end) + 1, u32::MAX)] {
                    crossings[boundary] = crossings[boundary].wrapping_add(change);
                }
                count += 1;
            }
        }
        for node in 1..crossings.len() {
            crossings[node] = crossings[node].wrapping_add(crossings[node - 1]);
        }
        let weights = slots.iter().map(|slot| u64::from(weight(wires_of(slot).len()))).collect();
        LoadModel { weights, crossings, wires: count, work_before: Vec::new() }
    }

    /// Returns the first node of each of `parts` partitions, followed by the number of nodes. Partitions have about
    /// equal weight and at least one node each, unless there are no nodes.
    pub(crate) fn firsts(&self, parts: usize) -> Vec<u32> {
        self.divide(&self.weights, parts)
    }

    /// Returns the work of each node since the last call; `work` has the total work of each node.
    pub(crate) fn work_since_last(&mut self, work: impl Iterator<Item = u64>) -> Vec<u64> {
        self.work_before.resize(self.weights.len(), 0);
        work.zip(&mut self.work_before).map(|(work, done)| work.saturating_sub(std::mem::replace(done, work))).collect()
    }

    /// Adopts the weights if their division is better than `in_force` by at least [`REBALANCE_GAIN`]. Returns whether
    /// it is.
    pub(crate) fn adopt_if_better(&mut self, weights: Vec<u64>, in_force: &[u32]) -> bool {
        let wanted = self.divide(&weights, in_force.len() - 1);
        let better = heaviest(&weights, &wanted) as f64 <= heaviest(&weights, in_force) as f64 * REBALANCE_GAIN;
        if better {
            self.weights = weights;
        }
        better
    }

    /// Implements [`LoadModel::firsts`] for the given weights.
    fn divide(&self, weights: &[u64], parts: usize) -> Vec<u32> {
        let parts = parts.clamp(1, weights.len().max(1));
        let mut before = vec![0u64];
        for weight in weights {
            before.push(before[before.len() - 1] + weight);
        }
        let least = min_heaviest_weight(&before, parts);
        self.divide_within(&before, parts, least + (least as f64 * IMBALANCE_TOLERANCE) as u64)
    }

    /// Of all divisions into partitions of weight at most `most`, returns the one with the least cost: number of cut
    /// wires, plus distance of the boundaries from equal shares. `before` has the prefix sums of the weights, and the
    /// total.
    fn divide_within(&self, before: &[u64], parts: usize, most: u64) -> Vec<u32> {
        let nodes = before.len() - 1;
        let share = before[nodes] as f64 / parts as f64;
        // The cost has two terms, relative to the weight and to the number of wires of a partition: a frame across a
        // boundary costs about twice a frame within a partition.
        let wires = f64::from(self.wires.max(1)) / parts as f64;
        let cut_cost = |part: usize, cut: usize| {
            let ideal = share * part as f64;
            (before[cut] as f64 - ideal).abs() / share.max(1.0) + f64::from(self.crossings[cut]) / wires
        };
        // `last`: the last position of each boundary at which no partition before it weighs more than `most`.
        // `first`: the first position at which no partition after it weighs more than `most`.
        let mut last = vec![0];
        for part in 1..=parts {
            let up_to = before.partition_point(|&weight| weight <= before[last[part - 1]] + most) - 1;
            last.push(up_to.min(nodes - (parts - part)));
        }
        let mut first = vec![nodes; parts + 1];
        for part in (0..parts).rev() {
            let from = before.partition_point(|&weight| weight + most < before[first[part + 1]]);
            first[part] = from.max(part);
        }
        // Dynamic programming over boundaries: for each position, the least cost and the position of the preceding
        // boundary. A monotonic queue holds the candidates: the cheapest in front, later ones costlier.
        let mut best_paths: Vec<Vec<(f64, usize)>> = vec![vec![(0.0, 0)]];
        for part in 1..parts {
            let (start, paths_before) = (first[part - 1], &best_paths[part - 1]);
            let (mut queue, mut next) = (VecDeque::new(), 0);
            let best_path = |cut: usize| {
                while next < paths_before.len() && start + next < cut {
                    while queue.back().is_some_and(|&back: &usize| paths_before[back].0 >= paths_before[next].0) {
                        queue.pop_back();
                    }
                    queue.push_back(next);
                    next += 1;
                }
                while queue.front().is_some_and(|&front| before[start + front] + most < before[cut]) {
                    queue.pop_front();
                }
                let from = queue.front().map(|&front| (paths_before[front].0, start + front));
                from.map_or((f64::INFINITY, 0), |(cost, from)| (cost + cut_cost(part, cut), from))
            };
            best_paths.push((first[part]..=last[part]).map(best_path).collect());
        }
        let fits = |&at: &usize| before[nodes] <= before[first[parts - 1] + at] + most && first[parts - 1] + at < nodes;
        let ends = best_paths[parts - 1].iter().map(|&(cost, _)| cost);
        let end = ends.enumerate().filter(|(at, _)| fits(at)).min_by(|a, b| a.1.total_cmp(&b.1));
        let mut cut = first[parts - 1] + end.map_or(0, |(at, _)| at);
        let mut firsts = vec![nodes as u32];
        for part in (1..parts).rev() {
            firsts.push(cut as u32);
            cut = best_paths[part][cut - first[part]].1;
        }
        firsts.push(0);
        firsts.reverse();
        firsts
    }
}

/// Returns the least possible weight of the heaviest of `parts` partitions, by binary search. `before` has the prefix
/// sums of the weights, and the total.
fn min_heaviest_weight(before: &[u64], parts: usize) -> u64 {
    let fits = |most: u64| {
        let mut at = 0;
        for _ in 0..parts {
            at = before.partition_point(|&weight| weight <= before[at] + most) - 1;
        }
        at + 1 == before.len()
    };
    let (mut low, mut high) = (0, before[before.len() - 1]);
    while low < high {
        let middle = low + (high - low) / 2;
        if fits(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// Returns the weight of the heaviest partition.
fn heaviest(weights: &[u64], firsts: &[u32]) -> u64 {
    let weight_of = |pair: &[u32]| weights[pair[0] as usize..pair[1] as usize].iter().sum();
    firsts.windows(2).map(weight_of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;
    use units::random::Stream;

    /// Creates nodes; node i has wires to the nodes `ends[i]`.
    fn load_model(ends: &[Vec<u32>]) -> LoadModel {
        let (mut slots, mut flat) = (Vec::new(), Vec::new());
        for ends in ends {
            let first = flat.len() as u32;
            flat.extend(ends.iter().map(|&slot| Wire::new(0, slot, 0)));
            slots.push(Slot {
                next: Time::ZERO,
                timer: Time::MAX,
                lookahead: Time::MAX,
                first_ring: 0,
                wires: (first, flat.len() as u32),
                side: 0,
                in_pool: false,
                active: false,
                ports: 0,
                nonempty_ports: 0,
            });
        }
        LoadModel::new(&slots, &flat)
    }

    /// A row of nodes, each with a wire to the next.
    fn row(nodes: u32) -> LoadModel {
        load_model(&(1..=nodes).map(|next| Vec::from_iter((next < nodes).then_some(next))).collect::<Vec<_>>())
    }

    #[test]
    fn every_part_has_a_node_and_about_its_share() {
        let mut random = Stream::new(4, 0, 0);
        for nodes in [1, 2, 7, 40, 300] {
            let model = row(nodes as u32);
            for parts in 1..=nodes.min(9) {
                let firsts = model.firsts(parts);
                assert_eq!((firsts.len(), firsts[0], firsts[parts]), (parts + 1, 0, nodes as u32));
                assert!(firsts.windows(2).all(|pair| pair[0] < pair[1]), "{firsts:?}");
                assert!(firsts.windows(2).all(|pair| (pair[1] - pair[0]) as usize <= nodes.div_ceil(parts) + 1));
                // With random weights, some of them zero, a partition exceeds its share by at most the weight of two
                // nodes.
                let weights: Vec<u64> = (0..nodes).map(|_| random.below(5) * random.below(40)).collect();
                let firsts = model.divide(&weights, parts);
                assert!(firsts.windows(2).all(|pair| pair[0] < pair[1]), "{firsts:?}");
                let share = weights.iter().sum::<u64>() as f64 / parts as f64;
                let most = weights.iter().max().unwrap() * 2;
                assert!(heaviest(&weights, &firsts) as f64 <= share * (1.0 + IMBALANCE_TOLERANCE) + most as f64);
                assert_eq!(parts_of(&firsts).len(), nodes);
            }
        }
        assert_eq!(LoadModel::new(&[], &[]).firsts(1), [0, 0]);
    }

    #[test]
    fn boundaries_stand_where_few_wires_cross() {
        // Two complete graphs, joined by one wire.
        let crowds = |first: u32, second: u32| {
            let all = first + second;
            let crowd = |node| if node < first { 0..first } else { first..all };
            let mut ends: Vec<Vec<u32>> =
                (0..all).map(|node| crowd(node).filter(|&end| end != node).collect()).collect();
            ends[first as usize].push(0);
            load_model(&ends)
        };
        assert_eq!(crowds(11, 10).crossings[..3], [0, 2 * 10 + 1, 2 * 18 + 1]);
        assert_eq!(crowds(101, 100).firsts(2), [0, 101, 201]);
        // A boundary at the joining wire would exceed `IMBALANCE_TOLERANCE`, so the boundary halves the weight instead.
        assert_eq!(crowds(14, 10).firsts(2)[1], 11);
    }

    /// Compares `divide` with an exhaustive search over all divisions of a few nodes.
    #[test]
    fn the_heaviest_part_is_as_light_as_it_can_be_and_boundaries_are_cheap() {
        fn all(nodes: usize, parts: usize) -> Vec<Vec<u32>> {
            if parts == 1 {
                return vec![vec![0, nodes as u32]];
            }
            let longer = |last: usize| all(last, parts - 1).into_iter().map(move |firsts| (firsts, nodes as u32));
            let ends = (parts - 1..nodes).flat_map(longer);
            ends.map(|(mut firsts, nodes)| {
                firsts.push(nodes);
                firsts
            })
            .collect()
        }
        let mut random = Stream::new(5, 0, 0);
        for _ in 0..300 {
            let nodes = 2 + random.below(8) as usize;
            let ends = |_| (0..random.below(4)).map(|_| random.below(nodes as u64) as u32).collect();
            let model = load_model(&(0..nodes).map(ends).collect::<Vec<Vec<u32>>>());
            let weights: Vec<u64> = (0..nodes).map(|_| 1 + random.below(9)).collect();
            let mut before = vec![0];
            weights.iter().for_each(|weight| before.push(before[before.len() - 1] + weight));
            for parts in 1..=nodes.min(5) {
                let every = all(nodes, parts);
                let least = every.iter().map(|firsts| heaviest(&weights, firsts)).min().unwrap();
                assert_eq!(min_heaviest_weight(&before, parts), least);
                let share = before[nodes] as f64 / parts as f64;
                let total_cost = |firsts: &Vec<u32>| -> f64 {
                    let of = |(part, &cut): (usize, &u32)| {
                        let off = (before[cut as usize] as f64 - share * part as f64).abs() / share.max(1.0);
                        off + f64::from(model.crossings[cut as usize] * parts as u32) / f64::from(model.wires.max(1))
                    };
                    firsts.iter().enumerate().take(parts).skip(1).map(of).sum()
                };
                for most in [least, least + 2, least * 2] {
                    let fitting = every.iter().filter(|firsts| heaviest(&weights, firsts) <= most);
                    let cheapest = fitting.map(total_cost).min_by(f64::total_cmp).unwrap();
                    let found = model.divide_within(&before, parts, most);
                    assert!(every.contains(&found) && heaviest(&weights, &found) <= most, "{found:?}");
                    assert!((total_cost(&found) - cheapest).abs() < 1e-9, "{found:?} {weights:?}");
                }
            }
        }
    }

    #[test]
    fn nodes_are_weighed_by_recent_work() {
        let mut load_model = row(40);
        let mut done = [0; 40];
        assert_eq!(load_model.work_since_last(done.into_iter()), [0; 40]);
        done[..10].fill(900);
        let recent_work = load_model.work_since_last(done.into_iter());
        assert_eq!(recent_work, done);
        // The first ten nodes did all the work.
        let before = load_model.firsts(2);
        assert!(load_model.adopt_if_better(recent_work.clone(), &before));
        let first_half = load_model.firsts(2);
        assert_eq!(first_half, [0, 5, 40]);
        assert!(!load_model.adopt_if_better(recent_work, &first_half), "it is no better than it was");
        done[10..].fill(900);
        assert_eq!(load_model.work_since_last(done.into_iter()).iter().sum::<u64>(), 27_000);
    }
}
