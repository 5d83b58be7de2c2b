//! The pull pacer of a port (NDP, sec. 3.2: the pull queue).

use std::collections::VecDeque;
use units::Time;

/// The pull queue of one receiving port. Flows with pending pulls use its slots in round-robin order. The gap after a
/// slot is the serialisation delay of the pulled packets. The driver assigns the flow numbers.
#[derive(Clone, Debug)]
pub struct PullPacer {
    round: VecDeque<u32>,
    /// Earliest time of the next slot.
    next: Time,
    /// Serialisation delay of one pulled packet.
    packet: Time,
}

impl PullPacer {
    /// Creates the pacer of a port; `packet` is the serialisation delay of a full packet, preamble and gap included.
    pub fn new(packet: Time) -> Self {
        PullPacer { round: VecDeque::new(), next: Time::ZERO, packet }
    }

    /// Appends `flow`, which has pending pulls, to the round; it must not be in the round already.
    pub fn enter(&mut self, flow: u32) {
        self.round.push_back(flow);
    }

    /// Removes `flow` from the round.
    pub fn leave(&mut self, flow: u32) {
        self.round.retain(|&other| other != flow);
    }

    /// Returns the flows in the round, the next one first.
    pub fn flows(&self) -> impl Iterator<Item = u32> {
        self.round.iter().copied()
    }

    /// Returns the time of the next slot; [`Time::MAX`] if no flow is in the round.
    pub fn next_slot(&self) -> Time {
        if self.round.is_empty() { Time::MAX } else { self.next }
    }

    /// Removes and returns the flow of the slot at `now`.
    pub fn take_slot(&mut self, now: Time) -> Option<u32> {
        if now >= self.next { self.round.pop_front() } else { None }
    }

    /// Returns whether `flow`, in the round or about to enter it, has the slot at `now`.
    pub fn is_slot_of(&self, now: Time, flow: u32) -> bool {
        now >= self.next && self.round.front().is_none_or(|&first| first == flow)
    }

    /// Records that the flow of the slot has pulled `packets` packets.
    pub fn note_pull(&mut self, now: Time, packets: u32) {
        self.next = now.saturating_add(self.packet * u64::from(packets));
    }
}
