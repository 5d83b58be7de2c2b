//! Held flows at a host (FLORAX, backpressure by destination): senders wait, and queued frames move to a separate
//! queue.

use crate::holds::HeldFlows;
use protocols::florax::HostPair;
use std::collections::BTreeMap;
use units::Time;

/// Holds at a host.
#[derive(Debug)]
pub(crate) struct HostHolds {
    pub held: HeldFlows,
    /// Time of the earliest entry for held flows in the timers of the host.
    pub due: Time,
    /// Slots of the flows that wait for a hold, ascending, by port and hold, so that an XON need not scan all flows.
    /// Listed flows may have become ready for another reason.
    pub waiting: BTreeMap<(u16, HostPair), Vec<u32>>,
}

impl HostHolds {
    pub fn new(ports: usize) -> HostHolds {
        HostHolds { held: HeldFlows::new(ports), due: Time::MAX, waiting: BTreeMap::new() }
    }

    /// Returns the holds with rate 0: port, host pair, start of the hold, and slot of the first waiting flow, if any.
    pub fn stopped(&self) -> impl Iterator<Item = (u16, HostPair, Time, Option<u32>)> {
        let slot = |port, pair| self.waiting.get(&(port, pair)).and_then(|slots| slots.first().copied());
        self.held.stopped().map(move |(port, pair, since, _)| (port, pair, since, slot(port, pair)))
    }

    /// Adds the flow in `slot` to the flows that wait for the hold that covers frames from `src` to `dst`.
    pub fn wait(&mut self, port: u16, (src, dst): (u32, u32), slot: u32) {
        let Some(pair) = self.held.pair_of(port, src, dst) else { return };
        let waiting = self.waiting.entry((port, pair)).or_default();
        if let Err(location) = waiting.binary_search(&slot) {
            waiting.insert(location, slot);
        }
    }
}
