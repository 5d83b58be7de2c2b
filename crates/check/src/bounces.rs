//! Checks bounced (PABO) and detoured (DIBS) frames: the bounces counted by switches equal the sum of the frames'
//! bounce counters, the counters are consistent, and no frame is tail-dropped where it must bounce instead.
//!
//! ```text
//! bounces made by switches = bounces of frames that ended + bounces of frames in flight
//! distance <= greatest distance <= bounces
//! ```

use crate::verdict::Verdict;

/// Numbers of bounces and detours, as counted by switches and as stored in frames. Each node has a ledger;
/// [`BounceLedger::merge`] combines the ledgers, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BounceLedger {
    /// Bounces and detours that incremented a frame's bounce counter, counted at the switch.
    pub made: u64,
    /// Sum of the bounce counters of frames that were delivered, consumed or lost.
    pub ended: u64,
    /// Sum of the bounce counters of frames in flight at the end of the run.
    pub in_flight: u64,
    /// Frames with inconsistent counters: the current distance exceeds the greatest one, or the greatest one exceeds
    /// the number of bounces.
    pub impossible: u64,
}

impl BounceLedger {
    /// Records a frame that was delivered, consumed or lost, with its number of bounces and its greatest and current
    /// distance.
    #[inline]
    pub fn end(&mut self, bounces: u8, max_distance: u8, distance: u8) {
        self.ended += u64::from(bounces);
        self.impossible += u64::from(distance > max_distance || max_distance > bounces);
    }

    /// Records a frame that is in flight at the end of the run, with the same values as [`BounceLedger::end`].
    #[inline]
    pub fn under_way(&mut self, bounces: u8, max_distance: u8, distance: u8) {
        self.in_flight += u64::from(bounces);
        self.impossible += u64::from(distance > max_distance || max_distance > bounces);
    }

    /// Adds the counts of another part of the network.
    pub fn merge(&mut self, other: &BounceLedger) {
        self.made += other.made;
        self.ended += other.ended;
        self.in_flight += other.in_flight;
        self.impossible += other.impossible;
    }

    /// Returns the verdict "bounces". `tail_drops` are frames lost to a full queue in classes that must bounce instead.
    pub fn verdict(&self, tail_drops: u64) -> Verdict {
        let mut faults = Vec::new();
        let carried = self.ended + self.in_flight;
        if self.made != carried {
            faults.push(format!("switches bounced frames {} times, frame counters sum to {carried}", self.made));
        }
        if self.impossible > 0 {
            faults.push(format!("{} frames have impossible counters", self.impossible));
        }
        if tail_drops > 0 {
            faults.push(format!("{tail_drops} frames were dropped instead of bounced"));
        }
        if faults.is_empty() && self.made == 0 {
            return Verdict::not_applicable("bounces", "no frame was bounced");
        }
        let detail = if faults.is_empty() {
            format!("{} bounces, {} of frames in flight", self.made, self.in_flight)
        } else {
            faults.join("; ")
        };
        Verdict::new("bounces", faults.is_empty(), detail)
    }
}

units::pack_fields!(BounceLedger { made, ended, in_flight, impossible });

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::{Stream, purpose};

    #[test]
    fn an_honest_account_passes_and_a_corrupt_one_does_not() {
        let mut random = Stream::new(1, 0, purpose("turns"));
        for _ in 0..200 {
            let mut honest = BounceLedger::default();
            for _ in 0..random.below(300) {
                let bounces = random.below(9) as u8;
                let most = random.below(u64::from(bounces) + 1) as u8;
                let distance = random.below(u64::from(most) + 1) as u8;
                honest.made += u64::from(bounces);
                let part = &mut honest;
                if random.below(3) == 0 {
                    part.under_way(bounces, most, distance);
                } else {
                    part.end(bounces, most, distance);
                }
            }
            assert!(honest.verdict(0).pass, "{}", honest.verdict(0));
            assert!(!honest.verdict(1).pass);
            for fault in 0..3 {
                let mut corrupt = honest;
                match fault {
                    0 => corrupt.made += 1,
                    1 => corrupt.end(1, 1, 0),
                    _ => corrupt.end(0, 1, 0),
                }
                assert!(!corrupt.verdict(0).pass, "{corrupt:?}");
            }
        }
    }
}
