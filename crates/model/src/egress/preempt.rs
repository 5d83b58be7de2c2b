//! Frame preemption (IEEE 802.1Qbu). The port keeps a preemptable frame in transmission until it can no longer be
//! preempted. Only then is its arrival time final, and the port passes it to the link.

use super::{Egress, Eligibility, Head, block};
use crate::node_stats::NodeStats;
use protocols::frame::Frame;
use protocols::preemption::{PreemptionParameters, Rest};
use units::Time;

/// A preemptable frame in transmission.
#[derive(Clone, Copy, Debug)]
struct PendingFrame {
    frame: Frame,
    rest: Rest,
    /// Start of the current fragment on the wire; `None` while the frame is preempted.
    since: Option<Time>,
}

/// Preemption state of one port.
#[derive(Clone, Debug)]
pub(crate) struct Preemption {
    parameters: PreemptionParameters,
    pending: Option<PendingFrame>,
    /// The preemptable frame that was passed to the link last, for [`Egress::check_interruption`].
    last_passed: Option<PendingFrame>,
    /// Wire time that preemption removed from frames (`cut`), and wire time of resumed fragments.
    cut: Time,
    resumed: Time,
}

impl Preemption {
    pub fn new(parameters: PreemptionParameters) -> Preemption {
        Preemption { parameters, pending: None, last_passed: None, cut: Time::ZERO, resumed: Time::ZERO }
    }

    /// Returns the bitmask of blocked classes: all classes except the express classes while a frame is preempted.
    pub(super) fn blocked(&self) -> u8 {
        if self.is_interrupted() { !self.parameters.express } else { 0 }
    }

    /// Returns the class of the preempted frame.
    pub(super) fn interrupted_class(&self) -> Option<u8> {
        self.pending.filter(|kept| kept.since.is_none()).map(|kept| kept.frame.class)
    }

    fn is_interrupted(&self) -> bool {
        self.pending.is_some_and(|kept| kept.since.is_none())
    }

    /// Returns whether a frame is preemptable, so that the port must keep it when it starts.
    pub(super) fn is_preemptable(&self, class: u8, size_bytes: u16) -> bool {
        self.parameters.cuts(class, size_bytes)
    }

    /// Returns the wire time that preemption removed from frames, and the wire time of resumed fragments.
    pub(super) fn cut_and_resumed(&self) -> (Time, Time) {
        (self.cut, self.resumed)
    }

    /// Returns the preemptable frame in transmission, including a preempted frame.
    pub fn kept(&self) -> Option<&Frame> {
        self.pending.as_ref().map(|kept| &kept.frame)
    }
}

/// The next step of a port with a busy wire.
pub(crate) enum Busy {
    /// No step before this time.
    Until(Time),
    /// The frame can no longer be preempted: pass it to the link.
    Commit(Frame),
}

impl Egress {
    fn preemption(&mut self, port: u16) -> Option<&mut Preemption> {
        self.state_mut(port).preemption.as_deref_mut()
    }

    /// Returns the preemptable frame in transmission at `port`, including a preempted frame.
    pub fn pending(&self, port: u16) -> Option<&Frame> {
        self.state(port).preemption.as_ref()?.kept()
    }

    /// Returns whether a frame at `port` is preemptable.
    pub fn is_preemptable(&self, port: u16, class: u8, size_bytes: u16) -> bool {
        self.state(port).preemption.as_ref().is_some_and(|preemption| preemption.is_preemptable(class, size_bytes))
    }

    /// Returns the bitmask of express classes at `port`.
    pub fn express(&self, port: u16) -> u8 {
        self.state(port).preemption.as_ref().map_or(0, |preemption| preemption.parameters.express)
    }

    /// Returns the express classes that may preempt the frame on the wire of `port` now, or the earliest time at which
    /// one of them may.
    pub fn eligible_express(
        &mut self,
        now: Time,
        port: u16,
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) -> Eligibility {
        let express = self.express(port);
        match self.eligible(now, port, &head, stats) {
            Eligibility::Now(ready) if ready & express != 0 => Eligibility::Now(ready & express),
            _ => Eligibility::At(self.opens_at(now, port, express, head)),
        }
    }

    /// Keeps `frame`, which has just started by `port`. Returns the time at which it can no longer be preempted, or at
    /// which a hold request preempts it, whichever is earlier.
    pub fn set_pending(&mut self, now: Time, port: u16, frame: Frame) -> Time {
        let rate = self.state(port).link.rate;
        if let Some(preemption) = self.preemption(port) {
            let rest = Rest::whole(preemption.parameters.fragments, frame.size_bytes, rate);
            preemption.pending = Some(PendingFrame { frame, rest, since: Some(now) });
        }
        self.certain_at(port).min(self.holds_at(now, port))
    }

    /// Returns the start of the next hold of preemptable frames (802.1Qbu) at `port`; `now` during a hold.
    pub fn holds_at(&self, now: Time, port: u16) -> Time {
        self.state(port).mechanisms.holds_at(now)
    }

    /// Returns the time from which the frame on the wire of `port` can no longer be preempted; [`Time::MAX`] without a
    /// preemptable frame.
    fn certain_at(&self, port: u16) -> Time {
        let state = self.state(port);
        let Some(preemption) = &state.preemption else { return Time::MAX };
        match preemption.pending {
            Some(PendingFrame { frame, since: Some(_), .. }) => {
                frame.at.saturating_sub(preemption.parameters.lookahead(state.link.rate, state.link.delay))
            }
            _ => Time::MAX,
        }
    }

    /// Serves `port` while its wire is busy: preempts the frame on the wire if an express frame waits or a hold is
    /// requested (`wants_to_cut`), or commits the frame if it can no longer be preempted.
    pub fn serve_busy(&mut self, now: Time, port: u16, wants_to_cut: bool) -> Busy {
        let certain = self.certain_at(port);
        let busy_until = self.cell(port).busy_until;
        let rate = self.state(port).link.rate;
        let Some(preemption) = self.preemption(port) else { return Busy::Until(busy_until) };
        let Some(PendingFrame { rest, since: Some(since), frame }) = preemption.pending else {
            return Busy::Until(busy_until);
        };
        if now >= certain {
            preemption.last_passed = preemption.pending.take();
            return Busy::Commit(frame);
        }
        if wants_to_cut && let Some((free, rest)) = rest.cut(now - since, rate) {
            preemption.pending = Some(PendingFrame { frame, rest, since: None });
            preemption.cut += busy_until.saturating_sub(since + free);
            self.state_mut(port).mechanisms.interrupt(frame.class, since + free);
            self.cell_mut(port).busy_until = since + free;
            return Busy::Until(since + free);
        }
        Busy::Until(certain)
    }

    /// Resumes the preempted frame of `port`. The wire must be free, and no express frame may start. Returns the time
    /// of the next step: the frame can no longer be preempted, a hold preempts it again, or its gate opens. `None`
    /// without a preempted frame.
    pub fn resume(&mut self, now: Time, port: u16, stats: &mut NodeStats) -> Option<Time> {
        self.check_resumption(now, port, stats);
        let link = &self.state(port).link;
        let (rate, delay) = (link.rate, link.delay);
        let PendingFrame { frame, rest, .. } = self.preemption(port)?.pending?;
        let (busy, sent) = rest.busy(rate);
        let resumes_at = self.state(port).mechanisms.resumes_at(now, frame.class, busy);
        if resumes_at > now {
            return Some(resumes_at);
        }
        self.settle_mechanisms(now, port);
        self.state_mut(port).mechanisms.start(now, frame.class, busy);
        self.cell_mut(port).busy_until = now + busy;
        let frame = Frame { at: now + sent + delay, ..frame };
        let preemption = self.preemption(port)?;
        preemption.pending = Some(PendingFrame { frame, rest, since: Some(now) });
        preemption.resumed += busy;
        Some(self.certain_at(port).min(self.holds_at(now, port)))
    }

    /// Checks that the preempted frame of `port`, if any, could not have resumed before `now`.
    pub(super) fn check_resumption(&self, now: Time, port: u16, stats: &mut NodeStats) {
        let state = self.state(port);
        let Some(PendingFrame { frame, rest, since: None }) = state.preemption.as_ref().and_then(|it| it.pending)
        else {
            return;
        };
        let busy_until = self.cell(port).busy_until;
        let busy = rest.busy(state.link.rate).0;
        let eligible_at = state.mechanisms.resumes_at(busy_until, frame.class, busy);
        stats.note_start(eligible_at, now, port, Some(frame.class));
    }

    /// Checks that an express frame of `class` that starts at `now`, directly after a preemptable frame, could not have
    /// preempted that frame.
    pub fn check_interruption(&mut self, now: Time, port: u16, class: u8, head: Head, stats: &mut NodeStats) {
        let rate = self.state(port).link.rate;
        let Some(preemption) = self.preemption(port) else { return };
        let is_express = preemption.parameters.express & 1 << class != 0;
        let Some(PendingFrame { rest, since: Some(since), .. }) = preemption.last_passed.take().filter(|_| is_express)
        else {
            return;
        };
        if since + rest.busy(rate).0 != now {
            return;
        }
        let from = head.since.max(since);
        let eligible_at = self.state(port).could_start_at(from, class, head.size_bytes, self.obeys_credits);
        if let Some((free, _)) = rest.cut(eligible_at.saturating_sub(since), rate) {
            stats.note_start(eligible_at.max(since + free), now, port, Some(class));
        }
    }

    /// Removes the preemptable frame in transmission of a port with a failed link.
    pub fn lose_pending(&mut self, port: u16) -> Option<Frame> {
        self.preemption(port)?.pending.take().map(|kept| kept.frame)
    }

    /// Schedules `port` for a possible preemption if `class` is express.
    #[cold]
    pub(super) fn schedule_preemption(&mut self, now: Time, port: u16, class: u8) {
        if self.cell(port).block_reasons & block::PREEMPTS != 0 && self.express(port) & 1 << class != 0 {
            self.schedule(port, now);
        }
    }
}
