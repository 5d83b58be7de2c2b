//! Updates of the port mechanisms that block classes.

use super::{Egress, PortState};
use protocols::port::Hooks;
use units::Time;

impl PortState {
    /// Updates the mechanisms that block classes to `now`, with `waiting` classes since the last update.
    pub(super) fn settle_mechanisms(&mut self, now: Time, waiting: u8) {
        let PortState { mechanisms, gates, preemption, .. } = self;
        let gates = gates.as_deref();
        let interrupted = || preemption.as_ref().and_then(|preemption| preemption.interrupted_class());
        for mechanism in mechanisms.with_mut(Hooks::BLOCK) {
            let waiting = waiting | interrupted().map_or(0, |class| 1 << class);
            mechanism.settle(now, waiting, |class, from, to| match gates {
                Some(gates) => gates.open_between(from, to, class),
                None => to - from,
            });
        }
    }
}

impl Egress {
    /// Updates the mechanisms of `port` that block classes to `now`. Required before and after each change of the
    /// waiting classes. At a switch a frame waits from its arrival on; at a host, from the service of its port on.
    #[cold]
    pub(super) fn settle_mechanisms(&mut self, now: Time, port: u16) {
        let waiting = self.cell(port).waiting;
        self.state_mut(port).settle_mechanisms(now, waiting);
    }

    /// Charges a frame of `class` that starts at `port` to the mechanisms that block classes.
    #[cold]
    pub fn charge_mechanisms(&mut self, now: Time, port: u16, class: u8, size_bytes: u16) {
        let state = self.state_mut(port);
        let busy = state.link.wire_time(size_bytes).0;
        state.mechanisms.start(now, class, busy);
    }
}
