//! Timers of a host.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// A timer event of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A planned flow starts: number of the flow.
    Start(u32),
    /// All events of a join have occurred, and the delay of the join has passed: number of the join.
    Joined(u32),
    /// The next flow of a source of random arrivals starts: index of the source.
    Arrival(u32),
    /// A sender's timer: slot and generation.
    Sender(u32, u32),
    /// A receiver's timer: slot.
    Receiver(u32),
    /// A pull slot is due: port.
    Pull(u16),
    /// A link fails (`true`) or is repaired: port.
    LinkChange(u16, bool),
    /// All ports repeat their grants.
    Regrant,
    /// A held flow is due, or its hold ends.
    Held,
    /// Pause-storm fault: the network card renews its pause.
    Storm,
}

/// Time, creation number and event. The creation number orders the events of one instant.
type Entry = (Time, u64, Event);

/// The timer queue.
///
/// One event is kept outside the heap (`first`). An earlier event replaces it, so it is usually the earliest. Pull
/// slots mostly use `first`, while the heap contains distant events such as timeouts.
#[derive(Debug)]
pub(super) struct Timers {
    /// Time of the next event.
    next: Time,
    first: Option<Entry>,
    heap: BinaryHeap<Reverse<Entry>>,
    created: u64,
}

impl Default for Timers {
    fn default() -> Self {
        Timers { next: Time::MAX, first: None, heap: BinaryHeap::new(), created: 0 }
    }
}

impl Timers {
    /// Schedules `event` at `at`; [`Time::MAX`] for never.
    pub fn schedule(&mut self, at: Time, event: Event) {
        if at == Time::MAX {
            return;
        }
        let entry = (at, self.created, event);
        self.created += 1;
        self.next = self.next.min(at);
        match &mut self.first {
            None => self.first = Some(entry),
            Some(apart) if at < apart.0 => self.heap.push(Reverse(std::mem::replace(apart, entry))),
            Some(_) => self.heap.push(Reverse(entry)),
        }
    }

    /// Returns the time of the next event.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Removes and returns the next event.
    pub fn pop(&mut self) -> Option<(Time, Event)> {
        let waiting = self.heap.peek().map(|Reverse(entry)| *entry);
        let first = match (self.first, waiting) {
            (Some(apart), waiting) if waiting.is_none_or(|waiting| apart < waiting) => self.first.take(),
            _ => self.heap.pop().map(|Reverse(entry)| entry),
        };
        let of_heap = self.heap.peek().map_or(Time::MAX, |Reverse(entry)| entry.0);
        self.next = self.first.map_or(Time::MAX, |apart| apart.0).min(of_heap);
        first.map(|(at, _, event)| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Compares random operations with a list that is sorted by time, then by creation.
    // [M25]
    #[test]
    fn events_come_by_time_and_then_as_they_were_created() {
        let mut random = Stream::new(11, 0, 0);
        let (mut timers, mut known) = (Timers::default(), Vec::<(Time, Event)>::new());
        for number in 0..20_000 {
            if random.below(2) == 0 {
                // Few distinct instants, so that many events are simultaneous. Some events are scheduled for
                // `Time::MAX` (never).
                let at = if random.below(20) == 0 { Time::MAX } else { Time::from_ps(random.below(30)) };
                timers.schedule(at, Event::Start(number));
                if at < Time::MAX {
                    known.push((at, Event::Start(number)));
                    known.sort_by_key(|event| event.0);
                }
            } else {
                let expected = (!known.is_empty()).then(|| known.remove(0));
                assert_eq!(timers.pop(), expected);
            }
            assert_eq!(timers.next(), known.first().map_or(Time::MAX, |event| event.0));
        }
    }
}
