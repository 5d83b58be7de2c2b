//! The check [`check::work`] at the ports of a node: when could a frame that waits have started?
//!
//! ```text
//!   at the latest of
//!     its arrival                                 Head::since
//!     the end of the frame before it              Cell::busy_until, as late as the repair of its link
//!     the end of the last pause of its class      PauseState::free_at
//!     the arrival of credits for it               CreditPort::has_credits_at
//!     the end of negative credit of its class     CreditShaper::sufficient_at
//!   and from then on when its gate is open long enough, or until a hold interrupts it
//! ```
//!
//! None of this depends on [`Egress::due`], the schedule that is checked. A frame that starts as its wire becomes free
//! is on time, so only wires that were free for a while are judged: the common case costs one comparison.

use super::{Cell, Egress, Head, Rules};
use crate::books::Books;
use units::Time;

impl Rules {
    /// The earliest instant from `from` on at which a frame of `class` could start on a free wire, as of the time up to
    /// which pauses and the shaper are settled; [`Time::MAX`] for never.
    pub(super) fn could_start_at(&self, from: Time, class: u8, size_bytes: u16, obeys_credits: bool) -> Time {
        let mut at = from;
        loop {
            // Each reason may last into the time of another.
            let next = self.unblocked_at(at, class, size_bytes, obeys_credits);
            if next == at || next == Time::MAX {
                return next;
            }
            at = next;
        }
    }

    /// The end of the reasons that keep a frame of `class` from starting at `from`, one after the other.
    fn unblocked_at(&self, from: Time, class: u8, size_bytes: u16, obeys_credits: bool) -> Time {
        // A watchdog that forwards disregards the pause.
        let stormed_at = self.watchdog.stormed_since(class).map_or(Time::MAX, |at| from.max(at));
        let mut at = self.pause.free_at(class, from).min(stormed_at);
        if let Some(credit) = self.credit.as_ref().filter(|_| obeys_credits) {
            at = credit.has_credits_at(class, at);
        }
        if let Some(shaper) = &self.shaper {
            at = at.max(shaper.sufficient_at(class));
        }
        match &self.gates {
            Some(gates) if at < Time::MAX => gates.passes_at(at, class, self.link.occupy(size_bytes).0),
            _ => at,
        }
    }
}

impl Egress {
    /// Judges the frames that wait for `port`, whose wire is free at `now`: none could have started before. `head`
    /// gives the first frame of a class. Pauses and the shaper are settled up to `now`.
    #[cold]
    #[inline(never)]
    pub fn judge_waiting(&self, now: Time, port: u16, head: impl Fn(u8) -> Option<Head>, books: &mut Books) {
        self.judge_by(now, port, self.rules(port), head, books);
    }

    /// Judges what waits for `port` before it sends a MAC control frame at once: the wire is not free afterwards.
    #[inline]
    pub fn judge_before_control(&mut self, now: Time, port: u16, head: impl Fn(u8) -> Option<Head>, books: &mut Books) {
        let cell = self.cell(port);
        if cell.waiting != 0 && cell.busy_until < now {
            self.settle(now, port);
            self.rules_mut(port).pause.settle(now);
            self.judge_waiting(now, port, head, books);
        }
    }

    /// As [`judge_waiting`](Self::judge_waiting), of a port with these `rules`.
    fn judge_by(&self, now: Time, port: u16, rules: &Rules, head: impl Fn(u8) -> Option<Head>, books: &mut Books) {
        let &Cell { waiting, busy_until, .. } = self.cell(port);
        let interrupted = rules.preemption.as_ref().map_or(0, |preemption| preemption.blocked());
        let judged = if rules.link.down { 0 } else { waiting & !interrupted & !self.dropped_classes(port) };
        for class in (0..8u8).filter(|class| judged & 1 << class != 0) {
            if let Some(Head { size_bytes, since }) = head(class) {
                let eligible_at = rules.could_start_at(since.max(busy_until), class, size_bytes, self.obeys_credits);
                books.note_start(eligible_at, now, port, Some(class));
            }
        }
    }

    /// Judges one frame of `class` that waits for `port` at `now`.
    pub fn judge_frame(&mut self, now: Time, port: u16, class: u8, head: Head, books: &mut Books) {
        let obeys_credits = self.obeys_credits;
        let busy_until = self.cell(port).busy_until;
        let rules = self.rules_mut(port);
        if busy_until < now && !rules.link.down {
            rules.pause.settle(now);
            let from = head.since.max(busy_until);
            books.note_start(rules.could_start_at(from, class, head.size_bytes, obeys_credits), now, port, Some(class));
        }
    }

    /// Judges all that waits for `port` as the run ends at `now`.
    pub fn judge_at_end(&self, now: Time, port: u16, head: impl Fn(u8) -> Option<Head>, books: &mut Books) {
        let &Cell { waiting, busy_until, .. } = self.cell(port);
        if busy_until >= now {
            return;
        }
        let mut rules = self.rules(port).clone();
        rules.pause.settle(now);
        rules.settle_shaper(now, waiting);
        self.judge_by(now, port, &rules, head, books);
        if let Some(frame) = rules.control.first() {
            self.judge_control(now, port, frame.at, books);
        } else if self.owes(port) {
            self.judge_control(now, port, busy_until, books);
        }
        self.judge_resumption(now, port, books);
    }

    /// The frame `head` of `class` is the next at `port`, which sends others: since when, from `from` on, neither a
    /// pause, credits nor a shaper kept it back, and for how long of the time up to `now` it was available. The former
    /// is [`Time::MAX`] if its gate never is for as long as it takes.
    pub fn blocked_since(&self, now: Time, port: u16, (class, head): (u8, Head), from: Time) -> (Time, Time) {
        let mut rules = self.rules(port).clone();
        rules.pause.settle(now);
        rules.settle_shaper(now, self.cell(port).waiting);
        let credited = rules.credit.as_ref().map_or(Time::ZERO, |credit| credit.ended_at(class));
        let from = from.max(head.since).max(rules.pause.ended_at(class)).max(credited);
        let since = rules.could_start_at(from, class, head.size_bytes, self.obeys_credits);
        let open = match &rules.gates {
            Some(gates) if since < now => gates.available_between(since, now, class),
            _ => now.saturating_sub(since),
        };
        (since, open)
    }

    /// Judges a MAC control frame that waits since `since`, at `now`.
    #[inline]
    pub(super) fn judge_control(&self, now: Time, port: u16, since: Time, books: &mut Books) {
        let busy_until = self.cell(port).busy_until;
        if busy_until < now && !self.rules(port).link.down {
            books.note_start(since.max(busy_until), now, port, None);
        }
    }
}
