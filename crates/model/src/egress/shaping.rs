//! Ports whose classes need credit to send (IEEE 802.1Qav): what is on the wire costs it, what waits earns it. At a
//! switch a frame begins to wait as it comes; at a host, as its port looks at it.

use super::{Egress, Rules};
use units::Time;

impl Rules {
    /// Whether `class` has the credit to start a frame.
    pub(super) fn has_shaping_credit(&self, class: u8) -> bool {
        self.shaper.as_ref().is_none_or(|shaper| shaper.may_start(class))
    }

    /// Brings the credit up to `now`, where something of the classes `waiting` waits.
    pub(super) fn settle_shaper(&mut self, now: Time, waiting: u8) {
        let Some(shaper) = &mut self.shaper else { return };
        let interrupted = self.preemption.as_ref().and_then(|preemption| preemption.interrupted_class());
        let waiting = waiting | interrupted.map_or(0, |class| 1 << class);
        shaper.settle(now, waiting, |class, from, to| match &self.gates {
            Some(gates) => gates.open_between(from, to, class),
            None => to - from,
        });
    }

    /// When it has, if its gate stays open.
    pub(super) fn shaping_credit_at(&self, class: u8) -> Time {
        self.shaper.as_ref().map_or(Time::ZERO, |shaper| shaper.starts_at(class))
    }
}

impl Egress {
    /// Brings the credit of `port` up to `now`. Whenever a class begins to wait, before and after.
    #[cold]
    pub(super) fn settle(&mut self, now: Time, port: u16) {
        let waiting = self.cell(port).waiting;
        self.rules_mut(port).settle_shaper(now, waiting);
    }

    /// A frame of `class` starts by `port`.
    #[cold]
    pub fn shape(&mut self, now: Time, port: u16, class: u8, size_bytes: u16) {
        let rules = self.rules_mut(port);
        if let Some(shaper) = &mut rules.shaper {
            shaper.start(now, class, rules.link.occupy(size_bytes).0);
        }
    }
}
