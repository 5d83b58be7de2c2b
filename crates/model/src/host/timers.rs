//! What a host does at times of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// What a host does at a time of its own, beside departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A planned flow starts.
    Start(u32),
    /// What a host waited for together has come, and the time of it has passed: the number of the join.
    Joined(u32),
    /// The next flow of a source of arrivals starts.
    Arrival(u32),
    /// A sender's timer: slot and generation.
    Sender(u32, u32),
    /// A receiver's timer: slot.
    Receiver(u32),
    /// Some flow's turn to ask for more: port.
    Pull(u16),
    /// A link fails or comes back: port, and whether it fails.
    Change(u16, bool),
    /// All ports repeat their credits.
    Regrant,
    /// A flow that is held may send, or is held no more.
    Held,
    /// The pause-storm fault: the network card tells its switch to stop once more.
    Storm,
}

/// When it does what.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Time, u64, Event)>>,
    /// Orders events of one instant by their creation.
    created: u64,
}

impl Timers {
    /// `event` happens at `at`; [`Time::MAX`] is never.
    pub fn schedule(&mut self, at: Time, event: Event) {
        if at < Time::MAX {
            self.heap.push(Reverse((at, self.created, event)));
            self.created += 1;
        }
    }

    /// When the next event happens.
    #[inline]
    pub fn next(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |Reverse((at, ..))| *at)
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Time, Event)> {
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}
