//! Cyclic queuing and forwarding (IEEE 802.1Qch), by the clock of the node: each cycle sends the frames that arrived in
//! the previous one. The gates time the transmissions. This module selects the queue of a frame, and tests whether it
//! left in its cycle.

use crate::clock::{NodeClock, local};
use protocols::cyclic::Cycles;
use units::Time;

/// The cycles of one port.
#[derive(Clone, Debug)]
pub(crate) struct PortCycles {
    cycles: Cycles,
    /// Clock of the node; `None` for an exact one.
    clock: Option<NodeClock>,
}

impl PortCycles {
    pub fn new((cycles, clock): (Cycles, Option<NodeClock>)) -> PortCycles {
        PortCycles { cycles, clock }
    }

    /// Returns the class of the queue for a frame of `class` that arrived `at`.
    pub fn class_at(&self, at: Time, class: u8) -> u8 {
        if self.carries(class) { self.cycles.class_at(local(self.clock.as_ref(), at)) } else { class }
    }

    /// Returns whether frames of `class` use these cycles.
    pub fn carries(&self, class: u8) -> bool {
        self.cycles.mask() & 1 << class != 0
    }

    /// Returns whether a frame missed its cycle, from its arrival and departure times.
    pub fn misses(&self, came: Time, leaves: Time) -> bool {
        let clock = self.clock.as_ref();
        self.cycles.misses(local(clock, came), local(clock, leaves))
    }
}
