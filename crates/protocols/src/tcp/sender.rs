//! TCP sender: segments, timers and the processing of acknowledgements.

use crate::bounce_reaction::BouncedFlow;
use crate::control_state::ControlState;
use crate::dctcp::Alpha;
use crate::endpoint::FlowStart;
use crate::endpoint::{Ctx, Offer, Segment, Sender, SenderStatistics};
use crate::frame::{Frame, Kind, MIN_FRAME_BYTES, flags};
use crate::tcp::blocks::SackBlocks;
use crate::tcp::flags::CWR;
use crate::tcp::parameters::{EcnMode, TcpParameters};
use crate::tcp::scoreboard::{NextSegment, Scoreboard};
use crate::tcp::timeout::Timeout;
use crate::tcp::window::{AckAction, Window};
use std::sync::Arc;
use units::Time;

/// Sender of one TCP flow.
#[derive(Clone, Debug)]
pub struct TcpSender {
    parameters: Arc<TcpParameters>,
    window: Window,
    timeout: Timeout,
    /// DCTCP's estimate of the fraction of marked bytes (alpha); `None` without DCTCP.
    alpha: Option<Alpha>,
    start: Time,
    size_bytes: u64,
    /// First unacknowledged byte (SND.UNA).
    snd_una: u64,
    /// Next byte to send (SND.NXT). After a timeout it is below `snd_max`.
    snd_nxt: u64,
    /// Right edge of the receiver's window, if out-of-order bytes reduce this window; else `u64::MAX`.
    edge: u64,
    /// End of the bytes that have been sent at least once (SND.MAX).
    snd_max: u64,
    /// Scoreboard of selective acknowledgements; `None` without SACK.
    scoreboard: Option<Box<Scoreboard>>,
    /// Whether the first unacknowledged segment must be retransmitted at the next poll.
    retransmit: bool,
    /// Whether the next new segment carries CWR.
    announce_reduction: bool,
    /// End sequence number and departure time of the segment whose RTT is being measured.
    timed: Option<(u64, Time)>,
    /// Expiry of the retransmission timeout.
    deadline: Time,
    /// Expiry to which the host's timer is set. The timer is moved to a later `deadline` only when it expires, so
    /// that acknowledgements cause no timer updates.
    armed: Time,
    retransmitted_bytes: u64,
    timeouts: u32,
    delivered: Option<Time>,
}

impl TcpSender {
    /// Creates the sender of `flow`.
    pub fn new(parameters: &Arc<TcpParameters>, flow: &FlowStart) -> Self {
        let alpha = match &parameters.ecn {
            EcnMode::Dctcp(dctcp) => Some(Alpha::new(dctcp)),
            EcnMode::Off | EcnMode::Classic => None,
        };
        TcpSender {
            parameters: Arc::clone(parameters),
            window: Window::new(parameters),
            timeout: Timeout::new(),
            alpha,
            start: flow.start,
            size_bytes: flow.size_bytes.max(1),
            snd_una: 0,
            snd_nxt: 0,
            edge: if parameters.out_of_order_takes_window { parameters.advertised_window_bytes } else { u64::MAX },
            snd_max: 0,
            scoreboard: parameters.sack.then(|| {
                Box::new(Scoreboard::new(u64::from(parameters.mss_bytes.max(1)), parameters.dupack_threshold))
            }),
            retransmit: false,
            announce_reduction: false,
            timed: None,
            deadline: Time::MAX,
            armed: Time::MAX,
            retransmitted_bytes: 0,
            timeouts: 0,
            delivered: None,
        }
    }

    /// Returns the congestion window in bytes.
    pub fn congestion_window_bytes(&self) -> u64 {
        self.window.cwnd
    }

    /// Returns the bytes in flight: sent, but not acknowledged (FlightSize of RFC 5681, 2).
    fn flight(&self) -> u64 {
        self.snd_max - self.snd_una
    }

    fn restart_timer(&mut self, now: Time) {
        self.deadline = if self.parameters.retransmissions && self.flight() > 0 {
            // RFC 6298, 5.1 and 5.3: the timer runs while data is in flight.
            now.saturating_add(self.timeout.rto(&self.parameters))
        } else {
            // RFC 6298, 5.2: without data in flight the timer is off.
            Time::MAX
        };
        self.armed = self.armed.min(self.deadline);
    }

    fn obey(&mut self, verdict: AckAction, now: Time) {
        if verdict.retransmit && self.parameters.retransmissions {
            self.retransmit = true;
        }
        if !verdict.keep_timer {
            self.restart_timer(now);
        }
    }

    fn on_new_ack(&mut self, now: Time, acknowledged: u64, echo: bool) {
        let acked = acknowledged - self.snd_una;
        self.snd_una = acknowledged;
        self.snd_nxt = self.snd_nxt.max(acknowledged);
        self.retransmit = false;
        if let Some((_, left)) = self.timed.filter(|&(end, _)| acknowledged >= end) {
            self.timed = None;
            let rtt = now.saturating_sub(left);
            self.timeout.sample(rtt);
            self.window.on_round_trip(rtt);
        }
        self.window.at(now, self.timeout.smoothed());
        if let (Some(alpha), EcnMode::Dctcp(dctcp)) = (&mut self.alpha, &self.parameters.ecn) {
            alpha.on_ack(dctcp.gain, acked, echo, acknowledged, self.snd_nxt);
        }
        let flight = self.flight();
        let verdict = self.window.on_new_ack(acked, acknowledged, flight, !echo);
        if echo {
            self.on_echo();
        }
        self.obey(verdict, now);
    }

    /// Handles a duplicate acknowledgement. With `cut`, it reports that a switch trimmed the first unacknowledged
    /// segment.
    fn on_duplicate(&mut self, now: Time, cut: bool) {
        let (acknowledged, flight) = (self.snd_una, self.flight());
        let recovering = self.window.is_recovering();
        let verdict = if cut {
            self.window.on_cut(acknowledged, flight, self.snd_max)
        } else if let Some(scoreboard) = &self.scoreboard {
            // RFC 5681, 3.2: FlightSize excludes the segments that limited transmit has sent beyond the congestion
            // window.
            let flight = flight.min(self.window.cwnd);
            if !recovering && scoreboard.first_is_lost() {
                self.window.on_lost(acknowledged, flight, self.snd_max)
            } else {
                self.window.on_duplicate_ack(acknowledged, flight, self.snd_max)
            }
        } else {
            self.window.on_duplicate_ack(acknowledged, flight, self.snd_max)
        };
        if let Some(scoreboard) = &mut self.scoreboard
            && self.window.is_recovering()
            && !recovering
        {
            scoreboard.begin(acknowledged);
        }
        if verdict.retransmit {
            self.obey(verdict, now);
        }
    }

    /// Adds the SACK blocks of `frame` to the scoreboard. Returns the number of bytes that they report for the first
    /// time.
    #[cold]
    fn enter_blocks(&mut self, frame: &Frame) -> u64 {
        let Some(scoreboard) = &mut self.scoreboard else { return 0 };
        // With COMPLETE the detail word is an arrival time, not SACK blocks.
        let reported = if frame.has(flags::COMPLETE) { SackBlocks::default() } else { frame.sack_blocks() };
        let blocks = reported.iter(frame.seq, u64::from(self.parameters.mss_bytes.max(1)));
        scoreboard.update(frame.seq.max(self.snd_una), blocks, self.snd_max)
    }

    /// With a scoreboard: returns the next byte range to send (exclusive end), within the receiver's window.
    #[cold]
    fn next_piece(&mut self) -> Option<(u64, u64)> {
        let mss = u64::from(self.parameters.mss_bytes.max(1));
        let (sent, cwnd) = (self.snd_max, self.window.cwnd);
        let scoreboard = self.scoreboard.as_mut()?;
        if std::mem::take(&mut self.retransmit) {
            return Some(scoreboard.first(sent));
        }
        let new_end = self.size_bytes.min(sent.saturating_add(mss));
        let has_room = new_end > sent && new_end - self.snd_una <= self.parameters.advertised_window_bytes;
        if self.window.is_recovering() {
            // RFC 6675, 5, step C: send only if the pipe permits another segment.
            if scoreboard.pipe(sent) + mss > cwnd {
                return None;
            }
            return match scoreboard.next(sent, has_room)? {
                NextSegment::Again(piece) => Some(piece),
                NextSegment::New => Some((sent, new_end)),
            };
        }
        // Not in loss recovery: send in order. After a timeout, this starts at the first missing byte and skips the
        // bytes that have been reported since the timeout.
        let (start, end) = if self.snd_nxt < sent { scoreboard.missing(self.snd_nxt, sent) } else { (sent, sent) };
        let (start, end) = if start < sent { (start, end) } else { (sent, new_end) };
        let room = start < sent || has_room;
        let outstanding = start - self.snd_una - scoreboard.reported_bytes(start);
        (room && end > start && outstanding + (end - start) <= cwnd.max(end - start)).then_some((start, end))
    }

    /// Handles ECN-Echo in an acknowledgement.
    fn on_echo(&mut self) {
        if !self.window.may_reduce(self.snd_una) {
            return;
        }
        let cwnd = match (&self.parameters.ecn, &self.alpha) {
            (EcnMode::Dctcp(_), Some(alpha)) => alpha.cut(self.window.cwnd),
            // RFC 3168, 6.1.2: the reaction is the same as for a loss.
            (EcnMode::Classic, _) => self.window.after_mark(),
            _ => return,
        };
        self.window.reduce(cwnd, self.snd_max);
        self.announce_reduction = matches!(self.parameters.ecn, EcnMode::Classic);
    }

    /// Returns the segment of `payload_bytes` bytes that starts at byte `seq`, and records it as sent.
    fn segment(&mut self, now: Time, seq: u64, payload_bytes: u16) -> Segment {
        let end = seq + u64::from(payload_bytes);
        let again = seq < self.snd_max;
        let mut flags = 0;
        if end == self.size_bytes {
            flags |= flags::LAST;
        }
        if again {
            flags |= flags::RETRANSMISSION;
            self.retransmitted_bytes += end.min(self.snd_max) - seq;
            // RFC 6298, 3 (Karn's algorithm): no RTT sample, because the acknowledgement may be caused by either
            // transmission.
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        match self.parameters.ecn {
            EcnMode::Off => {}
            // RFC 3168, 6.1.5: retransmitted segments are not ECN-capable. RFC 3168, 6.1.2: the first new segment
            // after a window reduction carries CWR.
            EcnMode::Classic if again => {}
            EcnMode::Classic => {
                flags |= flags::ECT;
                if std::mem::take(&mut self.announce_reduction) {
                    flags |= CWR;
                }
            }
            // DCTCP sets ECT on retransmissions too, because a queue with a low marking threshold would otherwise
            // drop them.
            EcnMode::Dctcp(_) => flags |= flags::ECT,
        }
        self.snd_max = self.snd_max.max(end);
        self.snd_nxt = self.snd_nxt.max(end);
        if self.deadline == Time::MAX {
            self.restart_timer(now);
        }
        let size_bytes = payload_bytes.saturating_add(self.parameters.header_bytes).max(MIN_FRAME_BYTES);
        Segment { seq, payload_bytes, size_bytes, flags, stamp: now, ..Segment::default() }
    }
}

impl Sender for TcpSender {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        if frame.kind == Kind::Returned && frame.seq >= self.snd_una && self.flight() > 0 {
            // The returned header replaces the duplicate acknowledgement that the receiver would send if the segment
            // were lost.
            return self.on_duplicate(ctx.now, frame.seq == self.snd_una);
        }
        // RFC 9293, 3.10.7.4: an acknowledgement of bytes that were never sent is ignored.
        if frame.kind != Kind::Ack || frame.seq > self.snd_max {
            return;
        }
        if frame.has(flags::COMPLETE) && self.delivered.is_none() {
            self.delivered = Some(frame.arrival());
        }
        if self.edge != u64::MAX && !frame.has(flags::COMPLETE) {
            self.edge = self.edge.max(frame.window_edge());
        }
        let echo = frame.has(flags::ECE) && self.parameters.ecn != EcnMode::Off;
        // Without SACK, every acknowledgement of the same byte is a duplicate acknowledgement.
        let news = if self.scoreboard.is_some() { self.enter_blocks(frame) } else { 1 };
        if frame.seq > self.snd_una {
            self.on_new_ack(ctx.now, frame.seq, echo);
            if frame.has(flags::NAK) && self.flight() > 0 {
                self.on_duplicate(ctx.now, true);
            }
        } else if news == 0 && !frame.has(flags::NAK) {
            // RFC 6675, 2: with SACK, only an acknowledgement that reports bytes for the first time is a duplicate
            // acknowledgement.
            if frame.seq == self.snd_una && echo {
                self.on_echo();
            }
        } else if frame.seq == self.snd_una && self.flight() > 0 {
            // RFC 5681, 2: this is a duplicate acknowledgement.
            if echo {
                self.on_echo();
            }
            self.on_duplicate(ctx.now, frame.has(flags::NAK));
        }
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.armed {
            return;
        }
        if ctx.now >= self.deadline {
            self.timeouts += 1;
            self.window.on_timeout(self.flight(), self.snd_max);
            // RFC 6298, 5.4 to 5.6. The segments after the first one are retransmitted when the window permits it.
            self.timeout.back_off();
            self.snd_nxt = self.snd_una;
            self.retransmit = false;
            self.timed = None;
            if let Some(scoreboard) = &mut self.scoreboard {
                scoreboard.forget(self.snd_una);
            }
            self.restart_timer(ctx.now);
        }
        self.armed = self.deadline;
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.armed
    }

    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer {
        if self.snd_una >= self.size_bytes {
            return Offer::Done;
        }
        if ctx.now < self.start {
            return Offer::At(self.start);
        }
        if self.scoreboard.is_some() {
            let Some((start, end)) = self.next_piece() else { return Offer::Blocked };
            return Offer::Send(self.segment(ctx.now, start, (end - start) as u16));
        }
        let mss = u64::from(self.parameters.mss_bytes.max(1));
        if std::mem::take(&mut self.retransmit) {
            let payload_bytes = (self.snd_max - self.snd_una).min(mss) as u16;
            return Offer::Send(self.segment(ctx.now, self.snd_una, payload_bytes));
        }
        let payload_bytes = (self.size_bytes - self.snd_nxt).min(mss);
        if payload_bytes == 0 {
            return Offer::Blocked;
        }
        // Only full segments are sent, except for the last one (RFC 9293, 3.8.6.2.1: silly window syndrome).
        let window = self.window.cwnd.min(self.parameters.advertised_window_bytes).max(payload_bytes);
        if self.snd_nxt - self.snd_una + payload_bytes > window || self.snd_nxt + payload_bytes > self.edge {
            return Offer::Blocked;
        }
        Offer::Send(self.segment(ctx.now, self.snd_nxt, payload_bytes as u16))
    }

    fn on_returned(&mut self, _ctx: &mut Ctx<'_>, returns: &mut BouncedFlow, every: u32) -> bool {
        // At most one reduction per window of data, whether the cause is a loss, an ECN mark or a bounce.
        if !returns.is_due(every, self.snd_una) || !self.window.may_reduce(self.snd_una) {
            return false;
        }
        let halved = self.window.halve(self.snd_max);
        if halved {
            returns.halved(self.snd_max);
        }
        halved
    }

    fn extend(&mut self, now: Time, bytes: u64) -> bool {
        if self.snd_una >= self.size_bytes {
            self.window.on_idle_end(now, self.timeout.rto(&self.parameters), &self.parameters);
        }
        self.size_bytes = self.size_bytes.saturating_add(bytes);
        true
    }

    fn acknowledged(&self) -> u64 {
        self.snd_una
    }

    fn control_state(&self, _now: Time) -> ControlState {
        ControlState {
            window_bytes: Some(self.window.cwnd),
            flight_bytes: Some(self.flight()),
            rtt: self.timeout.smoothed(),
            alpha: self.alpha.as_ref().map(Alpha::value),
            ..ControlState::default()
        }
    }

    fn statistics(&self) -> SenderStatistics {
        SenderStatistics {
            retransmitted_bytes: self.retransmitted_bytes,
            timeouts: self.timeouts,
            delivered: self.delivered,
        }
    }
}

#[cfg(test)]
mod tests;
