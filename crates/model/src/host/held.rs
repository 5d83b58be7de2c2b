//! Flows that the switch at a host's port told it to hold (FLORAX, backpressure by destination): its senders wait, and
//! what is made already waits in a queue of its own.

use crate::holds::Held;
use protocols::florax::Pair;
use std::collections::BTreeMap;
use units::Time;

/// What a host needs that is told to hold flows.
#[derive(Debug)]
pub(crate) struct HostHolds {
    pub held: Held,
    /// The earliest entry among the timers for it.
    pub due: Time,
    /// Slots of the flows that wait for the end of a hold, ascending, by port and hold: one XON must not look at every
    /// flow of its host. Some may have gone on by themselves.
    pub waiting: BTreeMap<(u16, Pair), Vec<u32>>,
}

impl HostHolds {
    pub fn new(ports: usize) -> HostHolds {
        HostHolds { held: Held::new(ports), due: Time::MAX, waiting: BTreeMap::new() }
    }

    /// Ports and holds under which nothing may pass, since when, and the slot of a flow that waits for it.
    pub fn stopped(&self) -> impl Iterator<Item = (u16, Pair, Time, Option<u32>)> {
        let slot = |port, pair| self.waiting.get(&(port, pair)).and_then(|slots| slots.first().copied());
        self.held.stopped().map(move |(port, pair, since, _)| (port, pair, since, slot(port, pair)))
    }

    /// The flow in `slot` waits for the hold that a frame from `src` to `dst` falls under.
    pub fn wait(&mut self, port: u16, (src, dst): (u32, u32), slot: u32) {
        let Some(pair) = self.held.pair_of(port, src, dst) else { return };
        let waiting = self.waiting.entry((port, pair)).or_default();
        if let Err(place) = waiting.binary_search(&slot) {
            waiting.insert(place, slot);
        }
    }
}
