//! Gates (IEEE 802.1Qbv), by the clock of the node: a class sends while its gate is open. No frame starts that would
//! not end, gap included, before its gate closes: the guard band of 802.1Q-2022, 8.6.8.4. At a port with preemption,
//! list states can hold preemptable frames; a frame that does not fit may start if the hold will interrupt it in time.

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
    /// Clock of the node; `None` for an exact one.
    clock: Option<NodeClock>,
    /// Gates with hold states, if the list has any.
    held: Option<HeldGates>,
}

impl PortGates {
    /// Creates the gates of a port with a link of `rate` and this preemption.
    pub fn new(
        (list, clock): (Arc<GateList>, Option<NodeClock>),
        preemption: Option<PreemptionParameters>,
        rate: Rate,
    ) -> PortGates {
        let held = preemption.and_then(|preemption| {
            let advance = preemption.hold_advance(rate);
            // A drifting clock rounds to whole picoseconds, so it may show an interval 2 ps longer than it is.
            let advance = clock.map_or(advance, |it| it.local(advance) - it.local(Time::ZERO) + Time::from_ps(2));
            HeldGates::new(&list, preemption.express, advance)
        });
        PortGates { list, clock, held }
    }

    /// Returns the local duration of a busy time. A drifting clock rounds to whole picoseconds and may be off by 2 ps,
    /// which are subtracted: a frame that exactly fits its slot must fit on such a clock too.
    fn span(&self, now: Time, busy: Time) -> Time {
        match &self.clock {
            None => busy,
            Some(clock) => (clock.local(now + busy) - clock.local(now)).saturating_sub(Time::from_ps(2)),
        }
    }

    /// Returns whether a frame of `class` that occupies the wire for `busy` may start now.
    pub(super) fn allows(&self, now: Time, class: u8, busy: Time) -> bool {
        let (at, busy) = (local(self.clock.as_ref(), now), self.span(now, busy));
        if let Some(held) = &self.held {
            return held.lets_pass(at, class, busy);
        }
        let open = self.list.open_for(at, class);
        open > Time::ZERO && open >= busy
    }

    /// Returns the time of the next hold of preemptable frames; `now` during a hold.
    pub(super) fn holds_at(&self, now: Time) -> Time {
        let clock = self.clock.as_ref();
        self.held.as_ref().map_or(Time::MAX, |held| global(clock, held.holds_at(local(clock, now))).max(now))
    }

    /// Returns the time in which `class` was available between two instants: gate open and no hold.
    pub(super) fn available_between(&self, from: Time, to: Time, class: u8) -> Time {
        let clock = self.clock.as_ref();
        match &self.held {
            Some(held) => held.available_between(local(clock, from), local(clock, to), class),
            None => self.open_between(from, to, class),
        }
    }

    /// Returns the time in which the gate of `class` was open between two instants.
    pub(super) fn open_between(&self, from: Time, to: Time, class: u8) -> Time {
        let clock = self.clock.as_ref();
        self.list.open_between(local(clock, from), local(clock, to), class)
    }

    /// Returns the earliest start of a frame that may not start at `now`.
    pub(super) fn opens_at(&self, now: Time, class: u8, busy: Time) -> Time {
        let clock = self.clock.as_ref();
        // On a drifting clock, the first picosecond at or after an opening may show 1 ps more.
        let slack = if clock.is_some() { Time::from_ps(1) } else { Time::ZERO };
        let (at, span) = (local(clock, now), self.span(now, busy));
        let opens = match &self.held {
            Some(held) => held.opens_at(at, class, span, slack),
            None => self.list.opens_for(at, class, span + slack),
        };
        global(clock, opens).max(now + Time::from_ps(1))
    }

    /// Returns the first time from `from` on at which a frame of `class` that occupies the wire for `busy` may start.
    pub(super) fn passes_at(&self, from: Time, class: u8, busy: Time) -> Time {
        if self.allows(from, class, busy) { from } else { self.opens_at(from, class, busy) }
    }
}

impl Egress {
    /// Returns whether gates and shaper of `port` allow a frame to start now. False for frames that can be interrupted,
    /// because these must be kept at the port.
    #[cold]
    pub(super) fn gate_allows(&self, now: Time, port: u16, (class, size_bytes): (u8, u16)) -> bool {
        let state = self.state(port);
        if self.is_preemptable(port, class, size_bytes) || !state.mechanisms.may_start(class) {
            return false;
        }
        state.gates.as_ref().is_none_or(|gates| gates.allows(now, class, state.link.wire_time(size_bytes).0))
    }

    /// Returns the bitmask of waiting classes, among `classes`, blocked by a gate or negative shaper credit, and the
    /// earliest time at which one of them may start.
    #[cold]
    pub(super) fn closed(&self, now: Time, port: u16, classes: u8, head: impl Fn(u8) -> Option<Head>) -> (u8, Time) {
        let (mut shut, mut opens) = (0, Time::MAX);
        let state = self.state(port);
        let waiting = self.cell(port).waiting & classes;
        for class in (0..8u8).filter(|class| waiting & 1 << class != 0) {
            let Some(Head { size_bytes, .. }) = head(class) else { continue };
            let mut at = state.mechanisms.starts_at(class).max(now);
            if let Some(gates) = &state.gates {
                let busy = state.link.wire_time(size_bytes).0;
                if !gates.allows(now, class, busy) {
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
