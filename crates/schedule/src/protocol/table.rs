//! RTab, the slots that a node has given away, and the search for another.

use super::config::Config;
use super::node::StreamId;
use crate::slot::{Blocked, Slot};
use units::Time;
use wire::OccupiedShifts;

/// A slot at one port, by the node's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub stream: StreamId,
    pub sequence: u32,
    /// Addresses of the stream's ends.
    pub source: u32,
    pub destination: u32,
    /// Where the request came from; `None` for the node's own streams.
    pub ingress: Option<u16>,
    pub egress: u16,
    pub slot: Slot,
    /// The sum of all ΔTs that is in the slot.
    pub shift: Time,
    pub ready: bool,
    /// When the request arrived: the place of the slot is as old as this.
    pub measured: Time,
}

impl Entry {
    /// When a node forgets it.
    pub fn until(&self, config: &Config) -> Time {
        self.measured + if self.ready { config.lifetime } else { config.pending_lifetime }
    }
    /// The slot by another sum of ΔTs, not less than its own.
    pub fn moved(&self, shift: Time) -> Slot {
        Slot::new(self.slot.start() + (shift - self.shift), self.slot.length(), self.slot.period())
    }
}

/// Intervals of a message, from those of a node. Windows over 65535 of their divisor, and times of 281 s, have no
/// place in a message and are left out: they are hints.
pub fn to_wire(blocked: &[Blocked], window: Time) -> Vec<OccupiedShifts> {
    let one = |interval: &Blocked| {
        let divisor = u16::try_from(window.as_ps() / interval.modulus_ps).ok()?;
        Some(OccupiedShifts { first_ps: interval.first_ps, length_ps: interval.length_ps, divisor })
    };
    blocked.iter().filter_map(one).collect()
}

/// Intervals of a node, from those of a message.
pub fn from_wire(occupied: &[OccupiedShifts], window: Time) -> Vec<Blocked> {
    let one = |interval: &OccupiedShifts| {
        let modulus_ps = window.as_ps() / u64::from(interval.divisor);
        let first_ps = interval.first_ps % modulus_ps;
        Blocked { first_ps, length_ps: interval.length_ps.min(modulus_ps), modulus_ps }
    };
    occupied.iter().map(one).collect()
}

/// The registrations of a node.
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

    /// Whether a request waits for an answer at this port.
    pub fn is_unsettled(&self, egress: u16, but: StreamId) -> bool {
        self.entries.iter().any(|entry| entry.egress == egress && entry.stream != but && !entry.ready)
    }

    /// Shifts of a stream's slot that others have no room for.
    pub fn blocked(&self, stream: StreamId, egress: u16, slot: Slot, guard: Time) -> Vec<Blocked> {
        let others = self.entries.iter().filter(|entry| entry.egress == egress && entry.stream != stream);
        let own = slot.guarded(guard);
        let mut all: Vec<Blocked> = others.map(|entry| Blocked::by(&own, &entry.slot.guarded(guard))).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Moves an entry to the sum `shift` of ΔTs, if its slot is free there.
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
