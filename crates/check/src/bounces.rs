//! Checks bounced (PABO) and detoured (DIBS) frames: counts of switches equal the counters in frames, and no such frame
//! is lost uncounted.
//!
//! ```text
//! turns made by switches = turns of frames that ended + turns of frames in flight
//! distance <= greatest distance <= turns
//! ```

use crate::verdict::Verdict;

/// Bounces and detours, as counted by switches and as stored in frames. One per node; [`TurnLedger::merge`] combines
/// them, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnLedger {
    /// Bounces and detours that raised a frame's counter, counted at the switch.
    pub made: u64,
    /// Counters of frames that ended: delivered, consumed or lost.
    pub ended: u64,
    /// Counters of frames in flight, counted at the end.
    pub in_flight: u64,
    /// Frames with inconsistent counters.
    pub impossible: u64,
}

impl TurnLedger {
    /// Records the end of a frame with `turns`, its greatest and its current distance.
    #[inline]
    pub fn end(&mut self, turns: u8, max_distance: u8, distance: u8) {
        self.ended += u64::from(turns);
        self.impossible += u64::from(distance > max_distance || max_distance > turns);
    }

    /// Records a frame in flight.
    #[inline]
    pub fn under_way(&mut self, turns: u8, max_distance: u8, distance: u8) {
        self.in_flight += u64::from(turns);
        self.impossible += u64::from(distance > max_distance || max_distance > turns);
    }

    /// Adds the counts of another part of the network.
    pub fn merge(&mut self, other: &TurnLedger) {
        self.made += other.made;
        self.ended += other.ended;
        self.in_flight += other.in_flight;
        self.impossible += other.impossible;
    }

    /// Returns the verdict "turns". `tail_drops` are frames lost to a full queue in classes that must bounce instead.
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
            return Verdict::not_applicable("turns", "no frame was bounced");
        }
        let detail = if faults.is_empty() {
            format!("{} bounces, {} of frames in flight", self.made, self.in_flight)
        } else {
            faults.join("; ")
        };
        Verdict::new("turns", faults.is_empty(), detail)
    }
}

units::pack_fields!(TurnLedger { made, ended, in_flight, impossible });

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::{Stream, purpose};

    #[test]
    fn an_honest_account_passes_and_a_corrupt_one_does_not() {
        let mut random = Stream::new(1, 0, purpose("turns"));
        for _ in 0..200 {
            let mut honest = TurnLedger::default();
            for _ in 0..random.below(300) {
                let turns = random.below(9) as u8;
                let most = random.below(u64::from(turns) + 1) as u8;
                let distance = random.below(u64::from(most) + 1) as u8;
                honest.made += u64::from(turns);
                let part = &mut honest;
                if random.below(3) == 0 {
                    part.under_way(turns, most, distance);
                } else {
                    part.end(turns, most, distance);
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
