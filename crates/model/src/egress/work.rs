//! Work conservation check ([`check::work`]) at ports: the earliest start of each waiting frame.
//!
//! ```text
//!   the latest of
//!     the arrival of the frame                    Head::since
//!     the end of the previous frame               Cell::busy_until, at least the repair of the link
//!     the end of the last pause of the class      PauseState::free_at
//!     the arrival of sufficient credits           CreditPort::has_credits_at
//!   and then the first time at which the mechanisms of the port permit it     PortMechanism::starts_at
//! ```
//!
//! The computation does not use [`Egress::due`], because the check tests that schedule. A frame that starts at the
//! instant at which its wire becomes free is on time, so only ports whose wire was idle are checked: the common case
//! costs one comparison.

use super::{Cell, Egress, Head, PortState};
use crate::node_stats::NodeStats;
use units::Time;

impl PortState {
    /// Returns the earliest time from `from` on at which a frame of `class` could start on a free wire; [`Time::MAX`]
    /// if it never could. Pauses and the shaper must be up to date.
    pub(super) fn could_start_at(&self, from: Time, class: u8, size_bytes: u16, obeys_credits: bool) -> Time {
        let mut at = from;
        loop {
            // Blocking periods can overlap, so repeat until no reason delays the frame further.
            let next = self.unblocked_at(at, class, size_bytes, obeys_credits);
            if next == at || next == Time::MAX {
                return next;
            }
            at = next;
        }
    }

    /// Returns the time at which the last of the reasons to block a frame of `class` ends, each evaluated from the end
    /// of the previous one.
    fn unblocked_at(&self, from: Time, class: u8, size_bytes: u16, obeys_credits: bool) -> Time {
        // During a pause storm, a watchdog with the action "forward" ignores the pause.
        let stormed_at = self.watchdog.stormed_since(class).map_or(Time::MAX, |at| from.max(at));
        let mut at = self.pause.free_at(class, from).min(stormed_at);
        if let Some(credit) = self.credit.as_ref().filter(|_| obeys_credits) {
            at = credit.has_credits_at(class, at);
        }
        self.mechanisms.could_start_at(at, class, self.link.wire_time(size_bytes).0)
    }
}

impl Egress {
    /// Checks that the frames waiting for `port` could not have started before `now`. Its wire must be free, and pauses
    /// and the shaper must be up to date. `head` returns the first frame of a class.
    #[cold]
    #[inline(never)]
    pub fn check_waiting(&self, now: Time, port: u16, head: impl Fn(u8) -> Option<Head>, stats: &mut NodeStats) {
        self.check_with(now, port, self.state(port), head, stats);
    }

    /// Checks work conservation of the waiting frames before `port` occupies its wire with a MAC control frame.
    #[inline]
    pub fn check_before_control(
        &mut self,
        now: Time,
        port: u16,
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) {
        let cell = self.cell(port);
        if cell.waiting != 0 && cell.busy_until < now {
            self.settle_mechanisms(now, port);
            self.state_mut(port).pause.settle(now);
            self.check_waiting(now, port, head, stats);
        }
    }

    /// Like [`check_waiting`](Self::check_waiting), for a port with this `state`.
    fn check_with(
        &self,
        now: Time,
        port: u16,
        state: &PortState,
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) {
        let &Cell { waiting, busy_until, .. } = self.cell(port);
        let interrupted = state.preemption.as_ref().map_or(0, |preemption| preemption.blocked());
        let judged = if state.link.down { 0 } else { waiting & !interrupted & !self.dropped_classes(port) };
        for class in (0..8u8).filter(|class| judged & 1 << class != 0) {
            if let Some(Head { size_bytes, since }) = head(class) {
                let eligible_at = state.could_start_at(since.max(busy_until), class, size_bytes, self.obeys_credits);
                stats.note_start(eligible_at, now, port, Some(class));
            }
        }
    }

    /// Checks work conservation of one frame of `class` that waits for `port` at `now`.
    pub fn check_frame(&mut self, now: Time, port: u16, class: u8, head: Head, stats: &mut NodeStats) {
        let obeys_credits = self.obeys_credits;
        let busy_until = self.cell(port).busy_until;
        let state = self.state_mut(port);
        if busy_until < now && !state.link.down {
            state.pause.settle(now);
            let from = head.since.max(busy_until);
            stats.note_start(state.could_start_at(from, class, head.size_bytes, obeys_credits), now, port, Some(class));
        }
    }

    /// Checks work conservation of all frames that wait for `port` when the run ends at `now`.
    pub fn check_at_end(&self, now: Time, port: u16, head: impl Fn(u8) -> Option<Head>, stats: &mut NodeStats) {
        let &Cell { waiting, busy_until, .. } = self.cell(port);
        if busy_until >= now {
            return;
        }
        let mut state = self.state(port).clone();
        state.pause.settle(now);
        state.settle_mechanisms(now, waiting);
        self.check_with(now, port, &state, head, stats);
        if let Some(frame) = state.control.first() {
            self.check_control(now, port, frame.at, stats);
        } else if self.has_pending_grant(port) {
            self.check_control(now, port, busy_until, stats);
        }
        self.check_resumption(now, port, stats);
    }

    /// Returns the earliest time from `from` on at which no pause, credit stall or mechanism blocks `head`, the next
    /// frame of `class` at `port`; [`Time::MAX`] if no gate opening is long enough. Also returns how long the class was
    /// available (gate open and no hold) between this time and `now`.
    pub fn blocked_since(&self, now: Time, port: u16, (class, head): (u8, Head), from: Time) -> (Time, Time) {
        let mut state = self.state(port).clone();
        state.pause.settle(now);
        state.settle_mechanisms(now, self.cell(port).waiting);
        let credited = state.credit.as_ref().map_or(Time::ZERO, |credit| credit.ended_at(class));
        let from = from.max(head.since).max(state.pause.ended_at(class)).max(credited);
        let since = state.could_start_at(from, class, head.size_bytes, self.obeys_credits);
        (since, state.mechanisms.available_between(since.min(now), now, class))
    }

    /// Checks work conservation at `now` of a MAC control frame that has waited since `since`.
    #[inline]
    pub(super) fn check_control(&self, now: Time, port: u16, since: Time, stats: &mut NodeStats) {
        let busy_until = self.cell(port).busy_until;
        if busy_until < now && !self.state(port).link.down {
            stats.note_start(since.max(busy_until), now, port, None);
        }
    }
}
