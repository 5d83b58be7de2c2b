//! RTab: the reserved slots of a node.

use super::config::Config;
use super::node::StreamId;
use crate::slot::{ConflictInterval, Slot};
use units::Time;
use wire::OccupiedShifts;

/// Slot at one port, by the node's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub stream: StreamId,
    pub sequence: u32,
    /// Addresses of the stream's source and destination.
    pub source: u32,
    pub destination: u32,
    /// Ingress port of the request; `None` for the node's own streams.
    pub ingress: Option<u16>,
    pub egress: u16,
    pub slot: Slot,
    /// Sum of all ΔTs included in the slot.
    pub shift: Time,
    pub ready: bool,
    /// Arrival time of the request: the age of the slot's position.
    pub measured: Time,
}

impl Entry {
    /// Returns the expiry time.
    pub fn until(&self, config: &Config) -> Time {
        self.measured + if self.ready { config.lifetime } else { config.pending_lifetime }
    }
    /// Returns the slot shifted to another sum of ΔTs, which must not be less than that of the entry.
    pub fn moved(&self, shift: Time) -> Slot {
        Slot::new(self.slot.start() + (shift - self.shift), self.slot.length(), self.slot.period())
    }
}

/// Converts a node's conflict intervals to those of a message. Intervals are merged, and sorted in descending order of
/// the share of the window that they block, because the message omits the last intervals if they do not fit. Intervals
/// whose divisor (`window` / modulus) exceeds 65535 are omitted too. Omission is safe because intervals are only hints.
pub fn to_wire(blocked: &[ConflictInterval], window: Time) -> Vec<OccupiedShifts> {
    let mut blocked = joined(blocked);
    let share = |one: &ConflictInterval| u128::from(one.length_ps) * u128::from(window.as_ps() / one.modulus_ps);
    blocked.sort_by_key(|one| (std::cmp::Reverse(share(one)), *one));
    let one = |interval: &ConflictInterval| {
        let divisor = u16::try_from(window.as_ps() / interval.modulus_ps).ok()?;
        Some(OccupiedShifts { first_ps: interval.first_ps, length_ps: interval.length_ps, divisor })
    };
    blocked.iter().filter_map(one).collect()
}

/// Merges overlapping or adjacent intervals of one modulus.
fn joined(blocked: &[ConflictInterval]) -> Vec<ConflictInterval> {
    let mut all: Vec<ConflictInterval> = blocked.iter().copied().filter(|one| one.length_ps > 0).collect();
    all.sort_unstable_by_key(|one| (one.modulus_ps, one.first_ps, one.length_ps));
    let mut joined: Vec<ConflictInterval> = Vec::with_capacity(all.len());
    for group in all.chunk_by(|a, b| a.modulus_ps == b.modulus_ps) {
        let from = joined.len();
        for one in group {
            match joined[from..].last_mut().filter(|last| one.first_ps <= last.first_ps + last.length_ps) {
                Some(last) => last.length_ps = last.length_ps.max(one.first_ps - last.first_ps + one.length_ps),
                None => joined.push(*one),
            }
        }
        // The last interval may extend across the end of the modulus: the first intervals that it overlaps are merged
        // with it.
        while joined.len() > from + 1 {
            let (first, last) = (joined[from], joined[joined.len() - 1]);
            let reach = (last.first_ps + last.length_ps).saturating_sub(last.modulus_ps);
            if last.first_ps + last.length_ps < last.modulus_ps + first.first_ps {
                break;
            }
            let longer = last.length_ps + (first.first_ps + first.length_ps).saturating_sub(reach);
            joined.remove(from);
            if let Some(last) = joined.last_mut() {
                last.length_ps = longer;
            }
        }
        joined[from..].iter_mut().for_each(|one| one.length_ps = one.length_ps.min(one.modulus_ps));
    }
    joined
}

/// Converts intervals of a message to those of a node.
pub fn from_wire(occupied: &[OccupiedShifts], window: Time) -> Vec<ConflictInterval> {
    let one = |interval: &OccupiedShifts| {
        let modulus_ps = window.as_ps() / u64::from(interval.divisor);
        let first_ps = interval.first_ps % modulus_ps;
        ConflictInterval { first_ps, length_ps: interval.length_ps.min(modulus_ps), modulus_ps }
    };
    occupied.iter().map(one).collect()
}

/// Registrations of a node.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<Entry>,
}

impl Table {
    pub fn all(&self) -> &[Entry] {
        &self.entries
    }
    pub fn find(&self, stream: StreamId, sequence: u32) -> Option<&Entry> {
        self.entries.iter().find(|entry| (entry.stream, entry.sequence) == (stream, sequence))
    }
    pub fn insert(&mut self, entry: Entry) {
        self.entries.push(entry);
    }
    pub fn remove(&mut self, stream: StreamId, sequence: u32) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| (entry.stream, entry.sequence) == (stream, sequence))?;
        Some(self.entries.remove(at))
    }
    pub fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.entries.retain(keep);
    }

    /// Returns `true` if another stream has a pending request at this port.
    pub fn is_unsettled(&self, egress: u16, but: StreamId) -> bool {
        self.entries.iter().any(|entry| entry.egress == egress && entry.stream != but && !entry.ready)
    }

    /// Returns the shifts of a stream's slot that slots of other streams block.
    pub fn blocked(&self, stream: StreamId, egress: u16, slot: Slot, guard: Time) -> Vec<ConflictInterval> {
        let others = self.entries.iter().filter(|entry| entry.egress == egress && entry.stream != stream);
        let own = slot.guarded(guard);
        let mut all: Vec<ConflictInterval> =
            others.map(|entry| ConflictInterval::by(&own, &entry.slot.guarded(guard))).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Moves an entry to the sum `shift` of ΔTs. Returns `false` if a slot of another stream blocks the new position.
    pub fn move_to(&mut self, stream: StreamId, sequence: u32, shift: Time, guard: Time) -> bool {
        let Some(&entry) = self.find(stream, sequence) else { return false };
        let slot = entry.moved(shift);
        if self.blocked(stream, entry.egress, slot, guard).iter().any(|interval| interval.contains(0)) {
            return false;
        }
        for own in self.entries.iter_mut().filter(|own| (own.stream, own.sequence) == (stream, sequence)) {
            (own.slot, own.shift) = (slot, shift);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn intervals() -> impl Strategy<Value = Vec<ConflictInterval>> {
        let one = prop::sample::select(vec![12u64, 24]).prop_flat_map(|modulus_ps| {
            let interval = |(first_ps, length_ps, modulus_ps)| ConflictInterval { first_ps, length_ps, modulus_ps };
            (0..modulus_ps, 0..=modulus_ps, Just(modulus_ps)).prop_map(interval)
        });
        prop::collection::vec(one, 0..8)
    }

    proptest! {
        #[test]
        fn joined_intervals_block_what_they_did_and_do_not_touch(blocked in intervals()) {
            let joined = joined(&blocked);
            let at = |all: &[ConflictInterval], shift| all.iter().any(|one| one.contains(shift));
            for shift in 0..24 {
                prop_assert_eq!(at(&joined, shift), at(&blocked, shift), "{} of {:?}", shift, joined);
            }
            for one in &joined {
                let end = one.first_ps + one.length_ps;
                let touches = |other: &&ConflictInterval| other.modulus_ps == one.modulus_ps && other.contains(end);
                let alone = one.length_ps == one.modulus_ps || !joined.iter().any(|other| touches(&other));
                prop_assert!(alone, "{:?}", joined);
            }
        }
    }
}
