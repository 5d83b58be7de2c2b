//! Credit-based shaper (IEEE 802.1Qav): transmission costs credit, waiting earns it. At a switch a frame waits from its
//! arrival on; at a host, from the service of its port on.

use super::{Egress, PortState};
use units::Time;

impl PortState {
    /// Returns whether `class` has enough credit to start a frame.
    pub(super) fn has_shaping_credit(&self, class: u8) -> bool {
        self.shaper.as_ref().is_none_or(|shaper| shaper.may_start(class))
    }

    /// Updates the credit to `now`, with `waiting` classes since the last update.
    pub(super) fn settle_shaper(&mut self, now: Time, waiting: u8) {
        let Some(shaper) = &mut self.shaper else { return };
        let interrupted = self.preemption.as_ref().and_then(|preemption| preemption.interrupted_class());
        let waiting = waiting | interrupted.map_or(0, |class| 1 << class);
        shaper.settle(now, waiting, |class, from, to| match &self.gates {
            Some(gates) => gates.open_between(from, to, class),
            None => to - from,
        });
    }

    /// Returns the time at which `class` has enough credit, if its gate stays open.
    pub(super) fn shaping_credit_at(&self, class: u8) -> Time {
        self.shaper.as_ref().map_or(Time::ZERO, |shaper| shaper.starts_at(class))
    }
}

impl Egress {
    /// Updates the credit of `port` to `now`. Required before and after each change of the waiting classes.
    #[cold]
    pub(super) fn update_shaper(&mut self, now: Time, port: u16) {
        let waiting = self.cell(port).waiting;
        self.state_mut(port).settle_shaper(now, waiting);
    }

    /// Charges the shaper for a frame of `class` that starts at `port`.
    #[cold]
    pub fn shape(&mut self, now: Time, port: u16, class: u8, size_bytes: u16) {
        let state = self.state_mut(port);
        if let Some(shaper) = &mut state.shaper {
            shaper.start(now, class, state.link.wire_time(size_bytes).0);
        }
    }
}
