//! Ports that send in each cycle what came in the one before (IEEE 802.1Qch), by the clock of their node. When they
//! send is their gates' business; here is into which queue a frame goes, and whether it left in time.

use crate::clock::{NodeClock, local};
use protocols::cyclic::Cycles;
use units::Time;

/// The cycles of one port.
#[derive(Clone, Debug)]
pub(crate) struct PortCycles {
    cycles: Cycles,
    /// That of the node; `None` is exact.
    clock: Option<NodeClock>,
}

impl PortCycles {
    pub fn new((cycles, clock): (Cycles, Option<NodeClock>)) -> PortCycles {
        PortCycles { cycles, clock }
    }

    /// The class in whose queue a frame of `class` waits that came `at`.
    pub fn class_at(&self, at: Time, class: u8) -> u8 {
        if self.carries(class) { self.cycles.class_at(local(self.clock.as_ref(), at)) } else { class }
    }

    /// Whether frames of `class` go by these cycles.
    pub fn carries(&self, class: u8) -> bool {
        self.cycles.mask() & 1 << class != 0
    }

    /// Whether a frame that came at one time and leaves at another missed its cycle.
    pub fn misses(&self, came: Time, leaves: Time) -> bool {
        let clock = self.clock.as_ref();
        self.cycles.misses(local(clock, came), local(clock, leaves))
    }
}
