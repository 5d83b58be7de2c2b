//! One clock for all that a port asks for (NDP, sec. 3.2: the pull queue).

use std::collections::VecDeque;
use units::Time;

/// The pull queue of one receiving port: flows that want to ask for more take its slots in a round, and a slot comes
/// once in the time that what was asked for occupies the link. A flow is a number of the driver's choice.
#[derive(Clone, Debug)]
pub struct PullPacer {
    round: VecDeque<u32>,
    /// The next slot comes no earlier.
    next: Time,
    /// What one pulled packet occupies the link for.
    packet: Time,
}

impl PullPacer {
    /// For a port on which a full packet takes `packet`, preamble and gap included.
    pub fn new(packet: Time) -> Self {
        PullPacer { round: VecDeque::new(), next: Time::ZERO, packet }
    }

    /// `flow` wants to ask for a packet or more; it must not be in the round.
    pub fn enter(&mut self, flow: u32) {
        self.round.push_back(flow);
    }

    /// `flow`, which is in the round, asks for nothing more.
    pub fn leave(&mut self, flow: u32) {
        self.round.retain(|&other| other != flow);
    }

    /// The flows in the round, the next one first.
    pub fn flows(&self) -> impl Iterator<Item = u32> {
        self.round.iter().copied()
    }

    /// When the next slot comes; [`Time::MAX`] if no flow is in the round.
    pub fn next_slot(&self) -> Time {
        if self.round.is_empty() { Time::MAX } else { self.next }
    }

    /// The flow whose slot it is at `now`, which leaves the round.
    pub fn take_slot(&mut self, now: Time) -> Option<u32> {
        if now >= self.next { self.round.pop_front() } else { None }
    }

    /// Whether `flow`, in the round or about to enter it, has its slot at `now`.
    pub fn is_slot_of(&self, now: Time, flow: u32) -> bool {
        now >= self.next && self.round.front().is_none_or(|&first| first == flow)
    }

    /// The flow whose slot it was has asked for so many packets.
    pub fn asked(&mut self, now: Time, packets: u32) {
        self.next = now.saturating_add(self.packet * u64::from(packets));
    }
}
