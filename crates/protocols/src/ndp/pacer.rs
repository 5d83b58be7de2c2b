//! The pull pacer of a port (NDP, sec. 3.2: the pull queue).

use std::collections::VecDeque;
use units::Time;

/// Pull queue of one receiving port. Flows with pending pulls use its pull slots in round-robin order. The time
/// between two slots is the serialisation delay of the packets pulled in the first one. The driver assigns the flow
/// numbers.
#[derive(Clone, Debug)]
pub struct PullPacer {
    round: VecDeque<u32>,
    /// Earliest time of the next pull slot.
    next: Time,
    /// Serialisation delay of one full packet.
    packet: Time,
}

impl PullPacer {
    /// Creates the pacer of a port; `packet` is the serialisation delay of a full packet, preamble and inter-frame
    /// gap included.
    pub fn new(packet: Time) -> Self {
        PullPacer { round: VecDeque::new(), next: Time::ZERO, packet }
    }

    /// Appends `flow`, which has pending pulls, to the round-robin queue; it must not be in the queue already.
    pub fn enter(&mut self, flow: u32) {
        self.round.push_back(flow);
    }

    /// Removes `flow` from the round-robin queue.
    pub fn leave(&mut self, flow: u32) {
        self.round.retain(|&other| other != flow);
    }

    /// Returns the flows in the round-robin queue, the next one first.
    pub fn flows(&self) -> impl Iterator<Item = u32> {
        self.round.iter().copied()
    }

    /// Returns the earliest time of the next pull slot; [`Time::MAX`] if the queue is empty.
    pub fn next_slot(&self) -> Time {
        if self.round.is_empty() { Time::MAX } else { self.next }
    }

    /// If a pull slot is due at `now`, removes and returns the first flow of the queue.
    pub fn take_slot(&mut self, now: Time) -> Option<u32> {
        if now >= self.next { self.round.pop_front() } else { None }
    }

    /// Returns whether a pull slot at `now` would be used by `flow`, which is in the queue or about to be appended.
    pub fn is_slot_of(&self, now: Time, flow: u32) -> bool {
        now >= self.next && self.round.front().is_none_or(|&first| first == flow)
    }

    /// Records that `packets` packets were pulled at `now`: the next pull follows after their serialisation delay.
    pub fn note_pull(&mut self, now: Time, packets: u32) {
        self.next = now.saturating_add(self.packet * u64::from(packets));
    }
}
