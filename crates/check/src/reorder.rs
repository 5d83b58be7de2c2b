//! Reordering of packets: displacement, reorder density and reorder entropy (RFC 5236; PABO, eq. 5 to 7).
//!
//! A packet that is the `s`-th sent and the `r`-th received of its flow has the displacement `d = r - s`: it is late if
//! `d` is positive, early if `d` is negative. The reorder density `RD[d]` is the share of packets at each displacement
//! with `|d| <= D_T`, the threshold; a packet that is later than `D_T` counts as lost. Duplicates get no receive index,
//! and a lost packet leaves its receive index unused, so that one loss does not make all later packets early.
//!
//! ```text
//!  arrivals --> [ window: up to D_T + 1 pending packets ] --> RD[d]
//!                  if the packet with the current receive index is in the window, or arrived early, then the
//!                  oldest packet of the window gets this receive index; else, if the window is full, the missing
//!                  packet is counted as lost
//! ```

use crate::verdict::Verdict;
use std::collections::VecDeque;

/// Largest threshold `D_T`, in packets.
pub const MAX_THRESHOLD: u32 = 1 << 20;

/// State of the measurement for one flow, at its receiver: at most `2 * D_T + 1` packet numbers, and no heap memory
/// while packets arrive in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReorderWatch {
    /// Next receive index (RFC 5236) to assign.
    next_index: u64,
    /// Numbers of received packets without a receive index, in the order of arrival.
    window: VecDeque<u64>,
    /// Numbers of early packets that have no receive index yet, ascending.
    early: Vec<u64>,
}

impl ReorderWatch {
    /// Records an arriving packet. `index` is the packet's number in its flow, from 0; a retransmission has the same
    /// number.
    #[inline]
    pub fn observe(&mut self, index: u64, density: &mut ReorderDensity) {
        if index == self.next_index && self.window.is_empty() && self.early.is_empty() {
            self.next_index += 1;
            density.count(0);
        } else {
            self.observe_unordered(index, density);
        }
    }

    fn observe_unordered(&mut self, index: u64, density: &mut ReorderDensity) {
        // A packet below the current receive index was received already, or was counted as lost because it is later
        // than the threshold.
        if index < self.next_index || self.window.contains(&index) || self.early.binary_search(&index).is_ok() {
            density.ignored += 1;
            return;
        }
        self.window.push_back(index);
        if index == self.next_index || self.early.first() == Some(&self.next_index) {
            self.judge(density);
        }
        while self.window.len() > density.threshold as usize {
            self.give_up(density);
        }
    }

    /// Returns the number of received packets without a receive index.
    pub fn pending(&self) -> u64 {
        self.window.len() as u64
    }

    /// Assigns receive indices to the oldest packets of the window, as long as the packet with the current receive
    /// index has arrived.
    fn judge(&mut self, density: &mut ReorderDensity) {
        while let Some(&oldest) = self.window.front() {
            let held = self.early.binary_search(&self.next_index);
            if held.is_err() && !self.window.contains(&self.next_index) {
                return;
            }
            self.window.pop_front();
            let displacement = self.next_index.wrapping_sub(oldest) as i64;
            if displacement.unsigned_abs() > u64::from(density.threshold) {
                // The packet is early by more than the threshold: it is discarded, and the receive index remains to be
                // assigned.
                density.beyond += 1;
                continue;
            }
            density.count(displacement);
            // The packet with this number was received early: its entry in `early` is no longer needed.
            if let Ok(at) = held {
                self.early.remove(at);
            }
            // Remember an early packet until the receive index reaches its number.
            if displacement < 0 {
                let at = self.early.binary_search(&oldest).unwrap_or_else(|at| at);
                self.early.insert(at, oldest);
            }
            self.next_index += 1;
        }
    }

    /// Counts the missing packet with the current receive index as lost.
    fn give_up(&mut self, density: &mut ReorderDensity) {
        density.lost += 1;
        self.next_index += 1;
        self.judge(density);
    }

    /// Assigns the pending packets at the end of the run. Packets numbered above the last received packet do not count
    /// as lost.
    pub fn finish(&mut self, density: &mut ReorderDensity) {
        while !self.window.is_empty() {
            self.give_up(density);
        }
    }
}

/// Number of packets at each displacement, over any number of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReorderDensity {
    threshold: u32,
    /// Number of packets at each displacement, from `-threshold`.
    counts: Vec<u64>,
    lost: u64,
    beyond: u64,
    ignored: u64,
}

impl ReorderDensity {
    /// Makes an empty density with the threshold `D_T` in packets, clamped to 1..=[`MAX_THRESHOLD`].
    pub fn new(threshold: u32) -> Self {
        let threshold = threshold.clamp(1, MAX_THRESHOLD);
        ReorderDensity { threshold, counts: vec![0; 2 * threshold as usize + 1], lost: 0, beyond: 0, ignored: 0 }
    }

    #[inline]
    fn count(&mut self, displacement: i64) {
        self.counts[(displacement + i64::from(self.threshold)) as usize] += 1;
    }

    /// Adds the counts of a density with an equal threshold.
    ///
    /// # Panics
    /// If the thresholds differ: densities over different ranges have no sum.
    pub fn merge(&mut self, other: &ReorderDensity) {
        assert_eq!(self.threshold, other.threshold, "densities with different thresholds");
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.lost += other.lost;
        self.beyond += other.beyond;
        self.ignored += other.ignored;
    }

    /// Returns the displacement threshold `D_T` (RFC 5236), in packets: the density contains displacements from `-D_T`
    /// to `D_T`.
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Returns the number of packets with a displacement (PABO, eq. 6: N).
    pub fn packets(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of lost packets: missing, or late by more than the threshold, while later packets of the flow
    /// arrived.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the number of packets that were early by more than the threshold.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Returns the number of arrivals that were duplicates, or late by more than the threshold.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Returns the displacements in packets that have a non-zero count, with this count.
    pub fn iter(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let least = -i64::from(self.threshold);
        self.counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(move |(at, &count)| (least + at as i64, count))
    }

    /// Returns the verdict "reorder": each of the `arrivals` packets that arrived was counted once.
    pub fn verdict(&self, arrivals: u64) -> Verdict {
        let judged = self.packets() + self.beyond + self.ignored;
        if judged != arrivals {
            let detail = format!("{arrivals} data frames arrived, but {judged} were evaluated");
            return Verdict::new("reorder", false, detail);
        }
        if arrivals == 0 {
            return Verdict::not_applicable("reorder", "no data frame arrived");
        }
        Verdict::new("reorder", true, format!("{arrivals} frames evaluated, each once"))
    }

    /// Returns the number of packets with a displacement other than 0.
    pub fn displaced(&self) -> u64 {
        self.iter().filter(|(displacement, _)| *displacement != 0).map(|(_, count)| count).sum()
    }

    /// Returns the smallest and the largest displacement; the range includes 0.
    pub fn extent(&self) -> (i64, i64) {
        self.iter().fold((0, 0), |(least, most), (displacement, _)| (least.min(displacement), most.max(displacement)))
    }

    /// Returns the mean of the absolute displacement in packets; 0 without packets.
    pub fn mean_displacement(&self) -> f64 {
        let sum: u128 = self.iter().map(|(d, count)| u128::from(d.unsigned_abs()) * u128::from(count)).sum();
        sum as f64 / (self.packets().max(1)) as f64
    }

    /// Returns the reorder entropy in nats, `-sum RD[k] ln RD[k]` (PABO, eq. 7): 0 if all packets are in order.
    pub fn entropy(&self) -> f64 {
        let packets = self.packets() as f64;
        let term = |(_, count): (i64, u64)| {
            let share = count as f64 / packets;
            share * libm::log(share)
        };
        let sum: f64 = self.iter().map(term).sum();
        if sum < 0.0 { -sum } else { 0.0 }
    }
}

units::pack_fields!(ReorderDensity { threshold, counts, lost, beyond, ignored });

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use units::random::{Stream, purpose};

    use super::*;

    fn density(threshold: u32, arrivals: &[u64]) -> ReorderDensity {
        let (mut watch, mut density) = (ReorderWatch::default(), ReorderDensity::new(threshold));
        arrivals.iter().for_each(|&index| watch.observe(index, &mut density));
        watch.finish(&mut density);
        density
    }

    fn counts(density: &ReorderDensity) -> Vec<(i64, u64)> {
        density.iter().collect()
    }

    /// Reference implementation: the procedure of RFC 5236, with the complete list of arrivals as input. Packets that
    /// arrive after they were counted as lost do not enter the window.
    fn oracle(threshold: u64, arrivals: &[u64]) -> Vec<(i64, u64)> {
        let mut seen = BTreeSet::new();
        let unique: Vec<u64> = arrivals.iter().copied().filter(|&index| seen.insert(index)).collect();
        let (mut coming, mut window) = (VecDeque::from(unique), VecDeque::new());
        let (mut buffer, mut lost) = (BTreeSet::new(), BTreeSet::new());
        let mut density = std::collections::BTreeMap::new();
        let mut receive_index = 0u64;
        loop {
            while window.len() <= threshold as usize && !coming.is_empty() {
                window.extend(coming.pop_front().filter(|index| !lost.contains(index)));
            }
            if window.is_empty() {
                return density.into_iter().collect();
            }
            if !window.contains(&receive_index) && !buffer.contains(&receive_index) {
                lost.insert(receive_index);
                receive_index += 1;
                continue;
            }
            let oldest = window.pop_front().unwrap();
            let displacement = receive_index as i64 - oldest as i64;
            if displacement.unsigned_abs() <= threshold {
                *density.entry(displacement).or_insert(0) += 1;
                buffer.remove(&receive_index);
                if displacement < 0 {
                    buffer.insert(oldest);
                }
                receive_index += 1;
            }
        }
    }

    #[test]
    fn agrees_with_the_procedure_of_the_rfc_on_random_channels() {
        let mut random = Stream::new(1, 0, purpose("reorder"));
        for round in 0..2_000 {
            let threshold = 1 + random.below(12);
            let (lose, double, delay) = (random.below(3), random.below(3), 1 + random.below(30));
            let mut sent: Vec<(u64, u64)> = Vec::new();
            for index in 0..random.below(80) {
                // The RFC detects duplicates of packets that were discarded as too early; this implementation does not.
                // So the test duplicates packets only if the channel's maximum delay is within the threshold.
                for _ in 0..1 + u64::from(delay <= threshold && random.below(10) < double) {
                    if random.below(10) >= lose {
                        sent.push((index + random.below(delay), index));
                    }
                }
            }
            sent.sort_by_key(|&(at, _)| at);
            let arrivals: Vec<u64> = sent.iter().map(|&(_, index)| index).collect();
            let found = density(threshold as u32, &arrivals);
            assert_eq!(counts(&found), oracle(threshold, &arrivals), "round {round}: D_T {threshold}, {arrivals:?}");
            let distinct = arrivals.iter().collect::<BTreeSet<_>>().len() as u64;
            assert!(found.packets() + found.beyond() <= distinct);
            assert!(found.verdict(arrivals.len() as u64).pass);
            assert!(!found.verdict(arrivals.len() as u64 + 1).pass);
        }
    }

    /// If no packet is lost or displaced beyond the threshold, the displacement is the receive index minus the send
    /// index.
    #[test]
    fn a_permutation_is_judged_by_its_definition() {
        let mut random = Stream::new(2, 0, purpose("permutation"));
        for _ in 0..200 {
            let count = 1 + random.below(60);
            let mut arrivals: Vec<u64> = (0..count).collect();
            random.shuffle(&mut arrivals);
            let mut expected = std::collections::BTreeMap::new();
            for (received, &sent) in arrivals.iter().enumerate() {
                *expected.entry(received as i64 - sent as i64).or_insert(0u64) += 1;
            }
            let found = density(100, &arrivals);
            assert_eq!(counts(&found), expected.into_iter().collect::<Vec<_>>());
            assert_eq!((found.packets(), found.lost(), found.ignored()), (count, 0, 0));
        }
    }

    #[test]
    fn closed_forms() {
        let ordered = density(100, &(0..1000).collect::<Vec<_>>());
        assert_eq!((counts(&ordered), ordered.entropy()), (vec![(0, 1000)], 0.0));
        // Adjacent packets are swapped: half have displacement -1, half +1, so the entropy is ln 2.
        let swapped: Vec<u64> = (0..1000).map(|index| index ^ 1).collect();
        let swapped = density(100, &swapped);
        assert_eq!(counts(&swapped), [(-1, 500), (1, 500)]);
        assert!((swapped.entropy() - std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!((swapped.displaced(), swapped.extent(), swapped.mean_displacement()), (1000, (-1, 1), 1.0));
        // Packet 0 of 10 packets is 4 positions late, so packets 1 to 4 are each one position early.
        let late = density(100, &[1, 2, 3, 4, 0, 5, 6, 7, 8, 9]);
        assert_eq!(counts(&late), [(-1, 4), (0, 5), (4, 1)]);
        let nats = -(0.4 * f64::ln(0.4) + 0.5 * f64::ln(0.5) + 0.1 * f64::ln(0.1));
        assert!((late.entropy() - nats).abs() < 1e-15);
        let none = density(100, &[]);
        assert_eq!((none.packets(), none.entropy(), none.mean_displacement()), (0, 0.0, 0.0));
    }

    #[test]
    fn a_lost_packet_leaves_its_place_and_a_duplicate_has_none() {
        let lost = density(3, &[0, 1, 3, 4, 5, 6, 7]);
        assert_eq!((counts(&lost), lost.lost()), (vec![(0, 7)], 1));
        // Packet 1 is retransmitted within the threshold: it is 2 positions late, and packets 2 and 3 are one position
        // early.
        let again = density(5, &[0, 2, 3, 1, 4, 5]);
        assert_eq!(counts(&again), [(-1, 2), (0, 3), (2, 1)]);
        // Packet 1 is retransmitted beyond the threshold of 2: it was already counted as lost, so its arrival is
        // ignored.
        let late = density(2, &[0, 2, 3, 4, 5, 1, 6]);
        assert_eq!((counts(&late), late.lost(), late.ignored()), (vec![(0, 6)], 1, 1));
        let doubled = density(3, &[0, 1, 1, 2, 2, 0, 3]);
        assert_eq!((counts(&doubled), doubled.ignored()), (vec![(0, 4)], 3));
    }

    #[test]
    fn memory_is_bounded_by_the_threshold_and_returns_to_nothing() {
        let (mut watch, mut density) = (ReorderWatch::default(), ReorderDensity::new(16));
        let mut random = Stream::new(3, 0, purpose("bound"));
        for round in 0..20_000u64 {
            watch.observe(round / 2 + random.below(64), &mut density);
            assert!(watch.window.len() <= 16 && watch.early.len() <= 17);
        }
        let mut watch = ReorderWatch::default();
        for index in [1, 0, 3, 2, 4] {
            watch.observe(index, &mut density);
        }
        assert!(watch.window.is_empty() && watch.early.is_empty());
    }

    #[test]
    fn merging_sums_and_does_not_depend_on_order() {
        let parts = [density(9, &[1, 0, 2]), density(9, &[0, 2, 1, 1]), density(9, &[5])];
        let mut one = ReorderDensity::new(9);
        parts.iter().for_each(|part| one.merge(part));
        let mut other = ReorderDensity::new(9);
        parts.iter().rev().for_each(|part| other.merge(part));
        assert_eq!(one, other);
        assert_eq!((one.packets(), one.ignored(), one.lost()), (7, 1, 5));
    }
}
