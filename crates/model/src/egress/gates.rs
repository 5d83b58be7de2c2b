//! Ports with gates (IEEE 802.1Qbv): a class sends while its gate is open, by the clock of its node. No frame starts
//! that would not end, gap included, before its gate shuts: that is the guard band of 802.1Q-2022, 8.6.8.4. At a port
//! that preempts, states of the list hold preemptable frames; one that a hold will cut in time may start though it
//! does not fit.

use super::{Egress, Head};
use crate::clock::{NodeClock, global, local};
use protocols::gates::GateList;
use protocols::hold::HeldGates;
use protocols::preemption::PreemptionParameters;
use std::sync::Arc;
use units::{Rate, Time};

/// The gates of one port.
#[derive(Clone, Debug)]
pub(crate) struct PortGates {
    list: Arc<GateList>,
    /// That of the node; `None` is exact.
    clock: Option<NodeClock>,
    /// Where the list holds preemptable frames.
    held: Option<HeldGates>,
}

impl PortGates {
    /// Of a port whose link has this `rate`, and who interrupts whom there.
    pub fn new(
        (list, clock): (Arc<GateList>, Option<NodeClock>),
        preemption: Option<PreemptionParameters>,
        rate: Rate,
    ) -> PortGates {
        let held = preemption.and_then(|preemption| {
            let advance = preemption.hold_advance(rate);
            // What lasts that long by true time may seem to last two picoseconds more on a clock that drifts.
            let advance = clock.map_or(advance, |it| it.local(advance) - it.local(Time::ZERO) + Time::from_ps(2));
            HeldGates::new(&list, preemption.express, advance)
        });
        PortGates { list, clock, held }
    }

    /// How long a wire that is busy from `now` for `busy` is so by the clock. One that drifts shows whole picoseconds,
    /// so that it may show two more or less: a frame that just fits its slot fits it on such a clock too.
    fn span(&self, now: Time, busy: Time) -> Time {
        match &self.clock {
            None => busy,
            Some(clock) => (clock.local(now + busy) - clock.local(now)).saturating_sub(Time::from_ps(2)),
        }
    }

    /// Whether a frame of `class` that keeps the wire busy for `busy` may start now.
    pub(super) fn lets_pass(&self, now: Time, class: u8, busy: Time) -> bool {
        let (at, busy) = (local(self.clock.as_ref(), now), self.span(now, busy));
        if let Some(held) = &self.held {
            return held.lets_pass(at, class, busy);
        }
        let open = self.list.open_for(at, class);
        open > Time::ZERO && open >= busy
    }

    /// When a hold of preemptable frames is requested next: `now` if it is.
    pub(super) fn holds_at(&self, now: Time) -> Time {
        let clock = self.clock.as_ref();
        self.held.as_ref().map_or(Time::MAX, |held| global(clock, held.holds_at(local(clock, now))).max(now))
    }

    /// How long frames of `class` were available between two times: its gate open, and no hold in the way.
    pub(super) fn available_between(&self, from: Time, to: Time, class: u8) -> Time {
        let clock = self.clock.as_ref();
        match &self.held {
            Some(held) => held.available_between(local(clock, from), local(clock, to), class),
            None => self.open_between(from, to, class),
        }
    }

    /// How long the gate of `class` was open between two times.
    pub(super) fn open_between(&self, from: Time, to: Time, class: u8) -> Time {
        let clock = self.clock.as_ref();
        self.list.open_between(local(clock, from), local(clock, to), class)
    }

    /// When it may, where it may not now.
    pub(super) fn opens_at(&self, now: Time, class: u8, busy: Time) -> Time {
        let clock = self.clock.as_ref();
        let slack = if clock.is_some() { Time::from_ps(1) } else { Time::ZERO };
        let (at, span) = (local(clock, now), self.span(now, busy));
        let opens = match &self.held {
            Some(held) => held.opens_at(at, class, span, slack),
            None => self.list.opens_for(at, class, span + slack),
        };
        global(clock, opens).max(now + Time::from_ps(1))
    }

    /// The first time from `from` on at which a frame of `class` that keeps the wire busy for `busy` may start.
    pub(super) fn passes_at(&self, from: Time, class: u8, busy: Time) -> Time {
        if self.lets_pass(from, class, busy) { from } else { self.opens_at(from, class, busy) }
    }
}

impl Egress {
    /// Whether gates and credit of `port`, if it has any, let a frame pass that starts now, and none could interrupt
    /// it: one that can be is to be kept.
    #[cold]
    pub(super) fn lets_pass(&self, now: Time, port: u16, (class, size_bytes): (u8, u16)) -> bool {
        let rules = self.rules(port);
        if self.keeps(port, class, size_bytes) || !rules.has_shaping_credit(class) {
            return false;
        }
        rules.gates.as_ref().is_none_or(|gates| gates.lets_pass(now, class, rules.link.occupy(size_bytes).0))
    }

    /// Which of `classes`, if they wait for `port`, their gate or negative credit keeps from starting their next frame
    /// now, and when the first of them may.
    #[cold]
    pub(super) fn shut(&self, now: Time, port: u16, classes: u8, head: impl Fn(u8) -> Option<Head>) -> (u8, Time) {
        let (mut shut, mut opens) = (0, Time::MAX);
        let rules = self.rules(port);
        let waiting = self.cell(port).waiting & classes;
        for class in (0..8u8).filter(|class| waiting & 1 << class != 0) {
            let Some(Head { size_bytes, .. }) = head(class) else { continue };
            let mut at = rules.shaping_credit_at(class).max(now);
            if let Some(gates) = &rules.gates {
                let busy = rules.link.occupy(size_bytes).0;
                if !gates.lets_pass(now, class, busy) {
                    at = at.max(gates.opens_at(now, class, busy));
                }
            }
            if at > now {
                shut |= 1 << class;
                opens = opens.min(at);
            }
        }
        (shut, opens)
    }
}
