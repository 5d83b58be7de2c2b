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
mod tests {
    use super::*;
    use crate::frame::Detail;
    use crate::tcp::{CongestionControl, InitialWindow};
    use units::Rate;
    use units::random::Stream;

    /// A sender with an MSS of 1000 bytes, after it has sent its initial window at time zero.
    struct Bench {
        sender: TcpSender,
        random: Stream,
        replies: Vec<crate::endpoint::Reply>,
    }

    impl Bench {
        fn new(parameters: TcpParameters) -> Self {
            let parameters = TcpParameters { mss_bytes: 1000, min_rto: Time::from_ms(1), ..parameters };
            let flow = FlowStart {
                size_bytes: u64::MAX,
                start: Time::ZERO,
                stop: Time::MAX,
                line_rate: Rate::from_gbps(10),
                round_trip: Time::ZERO,
            };
            let sender = TcpSender::new(&Arc::new(parameters), &flow);
            let mut bench = Bench { sender, random: Stream::new(1, 1, 1), replies: Vec::new() };
            bench.send(0);
            bench
        }

        /// Sends as many segments as the window permits, at time `ms`. Returns their numbers and flags.
        fn send(&mut self, ms: u64) -> Vec<(u64, u8)> {
            let mut sent = Vec::new();
            let mut ctx = Ctx::new(Time::from_ms(ms), &mut self.random, &mut self.replies);
            while let Offer::Send(segment) = self.sender.poll(&mut ctx) {
                sent.push((segment.seq / 1000, segment.flags));
            }
            sent
        }

        fn ack(&mut self, ms: u64, packet: u64, flags: u8) {
            let frame = Frame { kind: Kind::Ack, seq: packet * 1000, flags, ..Frame::default() };
            let mut ctx = Ctx::new(Time::from_ms(ms), &mut self.random, &mut self.replies);
            self.sender.on_frame(&mut ctx, &frame);
        }

        fn timer(&mut self, ms: u64) {
            let mut ctx = Ctx::new(Time::from_ms(ms), &mut self.random, &mut self.replies);
            self.sender.on_timer(&mut ctx);
        }
    }

    /// The sender sends no byte beyond the highest advertised edge, even if the congestion window permits it. An
    /// acknowledgement with a lower edge does not move the edge back.
    #[test]
    fn what_waits_at_the_receiver_holds_the_sender_back() {
        let sent = |takes: bool| {
            let mut bench = Bench::new(TcpParameters {
                initial_window: InitialWindow::Bytes(10_000),
                advertised_window_bytes: 10_000,
                congestion_control: CongestionControl::Fixed,
                out_of_order_takes_window: takes,
                ..TcpParameters::default()
            });
            let mut ack = |packet: u64, edge: u64| {
                let frame = Frame {
                    kind: Kind::Ack,
                    seq: packet * 1000,
                    detail: Detail::window_edge(edge * 1000),
                    ..Frame::default()
                };
                let mut ctx = Ctx {
                    now: Time::from_ms(1),
                    random: &mut bench.random,
                    replies: &mut bench.replies,
                    telemetry: &[],
                };
                bench.sender.on_frame(&mut ctx, &frame);
                bench.send(1).len()
            };
            [ack(3, 12), ack(3, 11), ack(5, 15)]
        };
        assert_eq!(sent(true), [2, 0, 3]);
        assert_eq!(sent(false), [3, 0, 2]);
    }

    /// RFC 6298, 3: a retransmitted segment yields no RTT sample, neither after a fast retransmit nor after a
    /// timeout.
    #[test]
    fn karn() {
        let mut fast = Bench::new(TcpParameters::default());
        (0..3).for_each(|_| fast.ack(10, 0, 0));
        assert_eq!(fast.send(10)[0], (0, flags::RETRANSMISSION));
        fast.ack(20, 10, 0);
        fast.send(20);
        assert_eq!(fast.sender.deadline, Time::from_ms(1020), "still the initial timeout");

        let mut late = Bench::new(TcpParameters::default());
        late.timer(1000);
        assert_eq!(late.send(1000), [(0, flags::RETRANSMISSION)]);
        assert_eq!(late.sender.deadline, Time::from_ms(3000));
        late.ack(1001, 1, 0);
        assert_eq!(late.sender.deadline, Time::from_ms(3001), "the back-off stays without a sample");
        // The window has grown to two segments: 1 and 2 are retransmitted. After all old segments have been
        // acknowledged, a new segment is timed. Its RTT R = 5 ms gives RTO = SRTT + 4 RTTVAR = R + 4 R / 2 = 15 ms.
        late.ack(1002, 10, 0);
        late.send(1002);
        late.ack(1007, 11, 0);
        assert_eq!(late.sender.deadline, Time::from_ms(1007 + 15));
    }

    #[test]
    fn an_earlier_deadline_moves_the_timer_and_a_later_one_waits() {
        let mut bench = Bench::new(TcpParameters::default());
        assert_eq!(bench.sender.next_timer(), Time::from_s(1));
        bench.ack(10, 1, 0);
        assert_eq!(bench.sender.next_timer(), Time::from_ms(40));
        bench.ack(20, 2, 0);
        assert_eq!(bench.sender.next_timer(), Time::from_ms(40));
        bench.timer(40);
        assert_eq!(bench.sender.next_timer(), Time::from_ms(50));
        assert_eq!(bench.sender.statistics().timeouts, 0);
        bench.timer(50);
        assert_eq!(bench.sender.statistics().timeouts, 1);
    }

    /// RFC 3168, 6.1.2: one reduction per window of data for any number of ECN-Echoes, announced by one CWR.
    /// Retransmissions are not ECN-capable.
    #[test]
    fn classic_ecn_halves_once_a_window() {
        let mut bench = Bench::new(TcpParameters { ecn: EcnMode::Classic, ..TcpParameters::default() });
        for packet in 1..=6 {
            bench.ack(10, packet, flags::ECE);
        }
        assert_eq!(bench.sender.congestion_window_bytes(), 5000);
        let sent = bench.send(10);
        assert_eq!(sent, [(10, flags::ECT | CWR)]);
        for packet in 7..=10 {
            bench.ack(11, packet, flags::ECE);
        }
        assert_eq!(bench.sender.congestion_window_bytes(), 2500);
        (0..3).for_each(|_| bench.ack(12, 10, 0));
        assert_eq!(bench.send(12)[0], (10, flags::RETRANSMISSION));
    }

    /// RFC 5681, 4.1: after an idle time longer than the RTO, a connection restarts from the initial window and keeps
    /// ssthresh. After a shorter idle time it keeps its window. Sequence numbers continue.
    #[test]
    fn a_connection_goes_on_with_what_it_has_learnt() {
        let after = |ms: u64| {
            let mut bench = Bench::new(TcpParameters::default());
            bench.sender.size_bytes = 10_000;
            (1..=6).for_each(|packet| bench.ack(10, packet, 0));
            (0..3).for_each(|_| bench.ack(10, 6, 0));
            let (threshold, initial) = (bench.sender.window.ssthresh, TcpParameters::default().initial_window);
            bench.ack(10, 10, 0);
            assert_eq!(bench.sender.acknowledged(), 10_000);
            let before = bench.sender.congestion_window_bytes();
            assert!(bench.sender.extend(Time::from_ms(ms), 50_000));
            assert_eq!(bench.sender.window.ssthresh, threshold);
            assert_eq!(bench.send(ms)[0], (10, 0), "the bytes of the next message follow");
            (bench.sender.congestion_window_bytes(), before, initial.bytes(1000))
        };
        let (soon, before, _) = after(11);
        assert_eq!(soon, before);
        let (late, before, initial) = after(10_000);
        assert_eq!(late, initial.min(before));
    }

    /// RFC 8257, 3.3: one update of alpha per window of data, for both messages of a connection.
    #[test]
    fn alpha_is_updated_each_window_in_every_message() {
        let mut parameters = TcpParameters::dctcp();
        parameters.initial_window = InitialWindow::Bytes(10_000);
        parameters.ecn = EcnMode::Dctcp(crate::dctcp::DctcpParameters { gain: 0.0625, initial_alpha: 0.0 });
        let mut bench = Bench::new(parameters);
        bench.sender.size_bytes = 100_000;
        let (mut acked, mut updates, mut rounds) = (0, [0, 0], [0, 0]);
        for message in 0..2 {
            while bench.sender.acknowledged() < bench.sender.size_bytes {
                let alpha = bench.sender.control_state(Time::ZERO).alpha;
                let sent = bench.sender.snd_max / 1000;
                (acked + 1..=sent).for_each(|packet| bench.ack(10, packet, flags::ECE));
                acked = sent;
                rounds[message] += 1;
                updates[message] += u32::from(bench.sender.control_state(Time::ZERO).alpha != alpha);
                bench.send(10);
            }
            bench.sender.extend(Time::from_ms(10), 100_000);
            bench.send(10);
        }
        assert_eq!(updates, rounds);
        assert!(rounds[1] > 20, "{rounds:?}");
    }

    /// After a timeout the sender discards the SACK information. Blocks reported after the timeout are not
    /// retransmitted.
    #[test]
    fn after_a_timeout_only_what_is_missing_goes_again() {
        let sack = TcpParameters { sack: true, initial_window: InitialWindow::Bytes(10_000), ..Default::default() };
        let mut bench = Bench::new(sack);
        let report = |bench: &mut Bench, ms: u64, packet: u64, blocks: &[(u64, u64)]| {
            let blocks: Vec<(u64, u64)> = blocks.iter().map(|&(start, end)| (start * 1000, end * 1000)).collect();
            let blocks = crate::tcp::SackBlocks::new(&blocks, packet * 1000, 1000, u64::MAX);
            let detail = Detail::sack_blocks(blocks);
            let frame = Frame { kind: Kind::Ack, seq: packet * 1000, detail, ..Frame::default() };
            let mut ctx = Ctx::new(Time::from_ms(ms), &mut bench.random, &mut bench.replies);
            bench.sender.on_frame(&mut ctx, &frame);
        };
        // With SACK, an acknowledgement without newly reported bytes is no duplicate acknowledgement.
        (0..5).for_each(|_| report(&mut bench, 10, 0, &[]));
        assert_eq!(bench.send(10), []);
        report(&mut bench, 20, 0, &[(2, 4)]);
        assert_eq!(bench.send(20), [(10, 0), (11, 0)], "two have left the network (limited transmit)");
        bench.timer(2000);
        assert_eq!(bench.send(2000), [(0, flags::RETRANSMISSION)]);
        report(&mut bench, 2010, 1, &[(4, 6), (2, 4)]);
        // The window is two segments: 1 and 6 are retransmitted, since 2 to 5 have been reported as arrived.
        let again = flags::RETRANSMISSION;
        assert_eq!(bench.send(2010), [(1, again), (6, again)]);
        assert_eq!(bench.sender.statistics().timeouts, 1);
    }

    /// An ECN mark reduces the window by the fraction alpha / 2.
    #[test]
    fn dctcp_cuts_by_half_of_alpha() {
        let mut parameters = TcpParameters::dctcp();
        parameters.ecn = EcnMode::Dctcp(crate::dctcp::DctcpParameters { gain: 0.5, initial_alpha: 0.4 });
        let mut bench = Bench::new(parameters);
        // The first acknowledgement ends DCTCP's first observation window: alpha = 0.4 / 2 + 1 / 2 = 0.7. The
        // congestion window becomes 10,000 (1 - 0.7 / 2) = 6500.
        bench.ack(10, 1, flags::ECE);
        assert_eq!(bench.sender.congestion_window_bytes(), 6500);
    }
}
