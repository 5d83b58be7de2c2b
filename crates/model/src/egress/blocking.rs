//! Port mechanisms that block classes: gates (IEEE 802.1Qbv), shapers.

use super::{Egress, Head, PortState};
use units::Time;

impl PortState {
    /// Updates to `now` the mechanisms that charge transmissions (shapers), with `waiting` classes since the last
    /// update.
    pub(super) fn settle_mechanisms(&mut self, now: Time, waiting: u8) {
        let interrupted = self.preemption.as_ref().and_then(|preemption| preemption.interrupted_class());
        self.mechanisms.settle(now, waiting | interrupted.map_or(0, |class| 1 << class));
    }
}

impl Egress {
    /// Updates to `now` the mechanisms of `port` that charge transmissions (shapers). Required before and after each
    /// change of the waiting classes. At a switch a frame counts as waiting from its arrival on; at a host, from the
    /// service of its port on.
    #[cold]
    pub(super) fn settle_mechanisms(&mut self, now: Time, port: u16) {
        let waiting = self.cell(port).waiting;
        self.state_mut(port).settle_mechanisms(now, waiting);
    }

    /// Charges a frame of `class` that starts at `port` to the mechanisms of the port.
    #[cold]
    pub fn charge_mechanisms(&mut self, now: Time, port: u16, class: u8, size_bytes: u16) {
        let state = self.state_mut(port);
        let busy = state.link.wire_time(size_bytes).0;
        state.mechanisms.start(now, class, busy);
    }

    /// Returns whether the mechanisms of `port` allow a frame to start now. False for preemptable frames, because the
    /// port must keep these.
    #[cold]
    pub(super) fn mechanisms_allow(&self, now: Time, port: u16, (class, size_bytes): (u8, u16)) -> bool {
        let state = self.state(port);
        !self.is_preemptable(port, class, size_bytes)
            && state.mechanisms.starts_at(now, class, state.link.wire_time(size_bytes).0) == now
    }

    /// Returns the bitmask of waiting classes, among `classes`, that a mechanism blocks, and the earliest time at which
    /// one of them may start.
    #[cold]
    pub(super) fn blocked_by_mechanisms(
        &self,
        now: Time,
        port: u16,
        classes: u8,
        head: impl Fn(u8) -> Option<Head>,
    ) -> (u8, Time) {
        let (mut shut, mut opens) = (0, Time::MAX);
        let state = self.state(port);
        let waiting = self.cell(port).waiting & classes;
        for class in (0..8u8).filter(|class| waiting & 1 << class != 0) {
            let Some(Head { size_bytes, .. }) = head(class) else { continue };
            let at = state.mechanisms.starts_at(now, class, state.link.wire_time(size_bytes).0);
            if at > now {
                shut |= 1 << class;
                opens = opens.min(at);
            }
        }
        (shut, opens)
    }
}
