//! Test bench: one flow between a sender and a receiver over a bottleneck with loss, duplication, reordering and ECN
//! marks. It checks the rules of [`crate::endpoint`] during the run.

use crate::bounce_reaction::BouncedFlow;
use crate::endpoint::{Ctx, Offer, Receiver, Reply, Sender, SenderStatistics};
use crate::frame::{CongestionMessage, Detail, Frame, Kind, flags};
use crate::ndp::PullPacer;
use crate::transport::{FlowStart, ReceiverState, SenderState, TransportParameters};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::random::Stream;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Network between sender and receiver, with its random disturbances.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    /// Rate of the sender's port.
    pub(crate) line: Rate,
    /// Rate of the bottleneck link. Frames queue before it.
    pub(crate) bottleneck: Rate,
    /// Capacity of the bottleneck queue in bytes, and whether frames that do not fit are trimmed instead of dropped.
    pub(crate) buffer_bytes: u64,
    pub(crate) trims: bool,
    /// Share of the trimmed headers that are returned to the sender.
    pub(crate) headers_returned: f64,
    /// ECN marking threshold of the bottleneck queue in bytes.
    pub(crate) mark_above_bytes: u64,
    /// Propagation delay in each direction.
    pub(crate) delay: Time,
    /// Upper bound of a random additional delay per frame.
    pub(crate) jitter: Time,
    /// Probabilities: loss of a data frame, loss of a reply frame, duplication of a frame, ECN mark on a data frame.
    pub(crate) loss: f64,
    pub(crate) reply_loss: f64,
    pub(crate) duplication: f64,
    pub(crate) marks: f64,
    /// Every `lose_every`-th new data frame is lost.
    pub(crate) lose_every: Option<u64>,
    /// Probability per step that a stale or invalid frame or a spurious timer call is injected.
    pub(crate) nonsense: f64,
    /// Probability per step that a data frame is bounced back to the sender, and minimum number of bounced frames per
    /// halving.
    pub(crate) returned: f64,
    pub(crate) halve_every: u32,
    /// Time after which there are no random disturbances.
    pub(crate) heals_at: Time,
    /// End of the run.
    pub(crate) until: Time,
    pub(crate) seed: u64,
}

impl Default for Pipe {
    fn default() -> Self {
        Pipe {
            line: Rate::from_gbps(10),
            bottleneck: Rate::from_gbps(10),
            buffer_bytes: u64::MAX,
            trims: false,
            headers_returned: 0.0,
            mark_above_bytes: u64::MAX,
            delay: Time::from_us(10),
            jitter: Time::ZERO,
            loss: 0.0,
            reply_loss: 0.0,
            duplication: 0.0,
            marks: 0.0,
            lose_every: None,
            nonsense: 0.0,
            returned: 0.0,
            halve_every: 1,
            heals_at: Time::MAX,
            until: Time::from_s(10),
            seed: 1,
        }
    }
}

/// Result of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) delivered_bytes: u64,
    pub(crate) completions: u32,
    pub(crate) completed_at: Option<Time>,
    pub(crate) done: bool,
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    pub(crate) cut: u64,
    pub(crate) pulls: u64,
    pub(crate) replies: u64,
    pub(crate) cnps: u64,
    pub(crate) marked: u64,
    pub(crate) timer_calls: u64,
    pub(crate) returned: u64,
    pub(crate) halvings: u64,
    pub(crate) most_queued_bytes: u64,
    pub(crate) ended: Time,
    pub(crate) statistics: SenderStatistics,
}

/// Event: arrival time, index of the frame, and direction (true: to the receiver).
type Event = Reverse<(Time, u64, bool)>;

struct Run<'a> {
    pipe: &'a Pipe,
    random: Stream,
    endpoint_random: Stream,
    events: BinaryHeap<Event>,
    frames: Vec<Frame>,
    bottleneck_free: Time,
    new_frames: u64,
    /// Highest `seq` of an acknowledgement.
    expected: u64,
    outcome: Outcome,
}

impl Run<'_> {
    fn chance(&mut self, now: Time, share: f64) -> bool {
        share > 0.0 && now < self.pipe.heals_at && self.random.unit() < share
    }

    fn post(&mut self, at: Time, forwards: bool, frame: Frame) {
        let jitter = self.pipe.jitter.as_ps();
        let late = if jitter > 0 && at < self.pipe.heals_at { self.random.below(jitter) } else { 0 };
        self.frames.push(frame);
        let number = self.frames.len() as u64 - 1;
        self.events.push(Reverse((at.saturating_add(Time::from_ps(late)), number, forwards)));
    }

    /// Sends a data frame whose transmission on the sender's link ends at `left`, through the bottleneck to the
    /// receiver.
    fn forward(&mut self, left: Time, mut frame: Frame) {
        self.outcome.sent += 1;
        let fresh = !frame.has(flags::RETRANSMISSION);
        self.new_frames += u64::from(fresh);
        let periodic = self.pipe.lose_every.is_some_and(|every| fresh && self.new_frames.is_multiple_of(every));
        let at = left + self.pipe.delay / 2;
        let queued = self.pipe.bottleneck.bytes_in(self.bottleneck_free.saturating_sub(at));
        self.outcome.most_queued_bytes = self.outcome.most_queued_bytes.max(queued);
        let lost = periodic || self.chance(left, self.pipe.loss);
        if !lost && queued > self.pipe.buffer_bytes && self.pipe.trims {
            return self.cut(at, frame);
        }
        if lost || queued > self.pipe.buffer_bytes {
            self.outcome.lost += 1;
            return;
        }
        if frame.has(flags::ECT) && (queued > self.pipe.mark_above_bytes || self.chance(left, self.pipe.marks)) {
            frame.flags |= flags::CE;
            self.outcome.marked += 1;
        }
        let wire = u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES;
        self.bottleneck_free = self.bottleneck_free.max(at) + self.pipe.bottleneck.serialise(wire);
        let arrival = self.bottleneck_free + self.pipe.delay / 2;
        self.post(arrival, true, frame);
        if self.chance(left, self.pipe.duplication) {
            self.post(arrival, true, frame);
        }
    }

    /// Trims a data frame that does not fit the queue at `at`. Its header overtakes the queue, or is returned to the
    /// sender.
    fn cut(&mut self, at: Time, mut frame: Frame) {
        self.outcome.cut += 1;
        let back = self.chance(at, self.pipe.headers_returned);
        frame.kind = if back { Kind::Returned } else { Kind::Trimmed };
        frame.size_bytes = 64;
        self.post(at + self.pipe.delay / 2, !back, frame);
    }

    /// Sends the replies of the receiver to the sender.
    fn backward(&mut self, now: Time, replies: &mut Vec<Reply>) {
        for reply in replies.drain(..) {
            assert!(reply.size_bytes >= 64);
            self.outcome.replies += u64::from(reply.kind == Kind::Ack);
            if reply.kind == Kind::Ack {
                self.expected = self.expected.max(reply.seq);
            }
            self.outcome.pulls += u64::from(reply.kind == Kind::Pull);
            self.outcome.cnps += u64::from(reply.kind == Kind::Cnp);
            if self.chance(now, self.pipe.reply_loss) {
                continue;
            }
            let frame = Frame {
                kind: reply.kind,
                seq: reply.seq,
                stamp: reply.stamp,
                detail: reply.detail,
                flags: reply.flags,
                size_bytes: reply.size_bytes,
                ..Frame::default()
            };
            self.post(now + self.pipe.delay, false, frame);
            if self.chance(now, self.pipe.duplication) {
                self.post(now + self.pipe.delay, false, frame);
            }
        }
    }

    /// Bounces a data frame back to the sender. The sender may halve its window or rate at most once per
    /// `halve_every` bounced frames, and must change nothing else.
    fn come_back(&mut self, now: Time, sender: &mut SenderState, returns: &mut BouncedFlow) {
        let pace = |sender: &mut SenderState| match sender {
            SenderState::Tcp(tcp) => tcp.congestion_window_bytes(),
            SenderState::Roce(_) | SenderState::Custom(_) => {
                // A control with a window and without a target rate halves the window; its rate is derived from the
                // window.
                let state = sender.control_state(now);
                let rate = state.rate.map_or(0, Rate::as_bps);
                state.window_bytes.filter(|_| state.target.is_none()).unwrap_or(rate)
            }
            SenderState::Datagram(_) | SenderState::Ndp(_) => 0,
        };
        let before = pace(sender);
        let mut replies = Vec::new();
        let mut ctx = Ctx::new(now, &mut self.endpoint_random, &mut replies);
        let halved = sender.on_returned(&mut ctx, returns, self.pipe.halve_every);
        let after = pace(sender);
        assert!(replies.is_empty(), "no reply is sent");
        assert!(if halved { after < before && after >= before / 2 } else { after == before }, "{before}, {after}");
        self.outcome.returned += 1;
        self.outcome.halvings += u64::from(halved);
        assert!(self.outcome.halvings * u64::from(self.pipe.halve_every) <= self.outcome.returned);
    }

    /// Returns a stale or invalid acknowledgement or notification.
    fn nonsense(&mut self, now: Time, sender: &SenderState) -> Frame {
        // For NDP it repeats an earlier frame, because NDP relies on correct acknowledgements of single packets.
        if matches!(sender, SenderState::Ndp(_)) && !self.frames.is_empty() {
            return self.frames[self.random.below(self.frames.len() as u64) as usize];
        }
        let kind =
            [Kind::Ack, Kind::Ack, Kind::Cnp, Kind::Cnm, Kind::Data, Kind::Trigger][self.random.below(6) as usize];
        let seq = match self.random.below(3) {
            0 => u64::MAX - self.random.below(5),
            1 => 0,
            _ => self.random.below(self.expected + 1),
        };
        let flags = self.random.next_u32() as u8 & (flags::ECE | flags::NAK);
        let stamp = Time::from_ps(self.random.below(2 * now.as_ps() + 1));
        let message = CongestionMessage { feedback: self.random.next_u32() as u8, ..CongestionMessage::default() };
        let detail = if kind == Kind::Cnm { Detail::congestion_message(message) } else { Detail::NONE };
        Frame { kind, seq, flags, stamp, detail, ..Frame::default() }
    }
}

impl Pipe {
    /// Runs one flow until it is complete and the sender is done, or until the time `until`. Calls `watch` with time
    /// and sender after every step.
    pub(crate) fn run(
        &self,
        transport: &TransportParameters,
        size_bytes: u64,
        mut watch: impl FnMut(Time, &mut SenderState),
    ) -> Outcome {
        let full_bytes = u64::from(transport.payload_bytes() + transport.header_bytes()) + WIRE_OVERHEAD_BYTES;
        // RTT of this network, where replies have no serialisation delay.
        let round_trip = self.line.serialise(full_bytes) + self.bottleneck.serialise(full_bytes) + self.delay * 2;
        let flow = FlowStart { size_bytes, start: Time::from_us(1), stop: Time::MAX, line_rate: self.line, round_trip };
        let mut pacer = PullPacer::new(self.bottleneck.serialise(full_bytes));
        let mut in_round = false;
        let (mut sender, mut receiver) = (transport.sender(&flow), transport.receiver());
        let mut run = Run {
            pipe: self,
            random: Stream::new(self.seed, 0, 1),
            endpoint_random: Stream::new(self.seed, 0, 2),
            events: BinaryHeap::new(),
            frames: Vec::new(),
            bottleneck_free: Time::ZERO,
            new_frames: 0,
            expected: 0,
            outcome: Outcome::default(),
        };
        let mut replies = Vec::new();
        let mut returns = BouncedFlow::default();
        let (mut now, mut wire_free, mut wake) = (Time::ZERO, Time::ZERO, Time::ZERO);
        loop {
            let next = run.events.peek().map_or(Time::MAX, |Reverse(event)| event.0);
            let timers = sender.next_timer().min(receiver.next_timer()).min(pacer.next_slot());
            now = next.min(timers).min(wake).max(now);
            if now >= self.until {
                break;
            }
            let nonsense = run.chance(now, self.nonsense).then(|| run.nonsense(now, &sender));
            let mut ctx = Ctx::new(now, &mut run.endpoint_random, &mut replies);
            if let Some(frame) = nonsense {
                sender.on_frame(&mut ctx, &frame);
                sender.on_timer(&mut ctx);
                receiver.on_timer(&mut ctx);
            }
            if run.chance(now, self.returned) {
                run.come_back(now, &mut sender, &mut returns);
            }
            run_due(&mut run, now, &mut sender, &mut receiver, &mut replies);
            let mut ctx = Ctx::new(now, &mut run.endpoint_random, &mut replies);
            take_pull_slot(&mut ctx, &mut pacer, &mut in_round, &mut receiver);
            run.backward(now, &mut replies);
            wake = Time::MAX;
            if now < wire_free {
                wake = wire_free;
            } else {
                let mut ctx = Ctx::new(now, &mut run.endpoint_random, &mut replies);
                let waiting = sender.waits().then(|| format!("{sender:?}"));
                let offer = sender.poll(&mut ctx);
                if let Some(before) = waiting {
                    let after = (offer, format!("{sender:?}"));
                    assert_eq!(after, (Offer::Blocked, before), "a sender that waits has nothing to send");
                }
                match offer {
                    Offer::Send(segment) => {
                        assert!(!run.outcome.done, "done is for ever");
                        assert_eq!(segment.waits, sender.waits(), "a segment tells whether its sender waits");
                        assert!(
                            (segment.payload_bytes > 0) == (segment.kind == Kind::Data) && segment.size_bytes >= 64
                        );
                        assert!(segment.stamp <= now);
                        let wire = u64::from(segment.size_bytes) + WIRE_OVERHEAD_BYTES;
                        wire_free = now + self.line.serialise(wire);
                        wake = wire_free;
                        let frame = Frame {
                            kind: segment.kind,
                            seq: segment.seq,
                            payload_bytes: segment.payload_bytes,
                            size_bytes: segment.size_bytes,
                            flags: segment.flags,
                            stamp: segment.stamp,
                            detail: segment.detail,
                            ..Frame::default()
                        };
                        run.forward(wire_free, frame);
                    }
                    Offer::At(at) => {
                        assert!(at > now, "an offer is for later");
                        wake = at;
                    }
                    Offer::Blocked => {}
                    Offer::Done => run.outcome.done = true,
                }
            }
            watch(now, &mut sender);
            if run.outcome.done && run.events.is_empty() {
                break;
            }
            let idle = run.events.is_empty() && wake == Time::MAX && pacer.next_slot() == Time::MAX;
            if idle && sender.next_timer().min(receiver.next_timer()) == Time::MAX {
                break;
            }
        }
        run.outcome.ended = now;
        run.outcome.statistics = sender.statistics();
        run.outcome
    }
}

/// Lets the receiver use a pull slot if one is due.
fn take_pull_slot(ctx: &mut Ctx<'_>, pacer: &mut PullPacer, in_round: &mut bool, receiver: &mut ReceiverState) {
    for _ in 0..2 {
        if !*in_round && receiver.wants() > 0 {
            pacer.enter(0);
            *in_round = true;
        }
        if pacer.take_slot(ctx.now).is_some() {
            *in_round = false;
            let (wanted, pulled) = (receiver.wants(), receiver.pull(ctx));
            assert!(pulled <= wanted && (pulled > 0) == (wanted > 0));
            pacer.note_pull(ctx.now, pulled);
        }
    }
}

/// Handles all events due at `now`: first the arrivals of frames, then the timers.
fn run_due(
    run: &mut Run<'_>,
    now: Time,
    sender: &mut SenderState,
    receiver: &mut ReceiverState,
    replies: &mut Vec<Reply>,
) {
    while let Some(&Reverse((_, number, forwards))) = run.events.peek().filter(|Reverse(event)| event.0 <= now) {
        run.events.pop();
        let frame = run.frames[number as usize];
        let mut ctx = Ctx::new(now, &mut run.endpoint_random, replies);
        if forwards {
            let receipt = receiver.on_frame(&mut ctx, &frame);
            run.outcome.delivered_bytes += u64::from(receipt.new_bytes);
            if receipt.completed {
                run.outcome.completions += 1;
                run.outcome.completed_at = Some(now);
            }
        } else {
            sender.on_frame(&mut ctx, &frame);
            assert!(ctx.replies.is_empty());
        }
        run.backward(now, replies);
    }
    let mut ctx = Ctx::new(now, &mut run.endpoint_random, replies);
    if sender.next_timer() <= now {
        run.outcome.timer_calls += 1;
        sender.on_timer(&mut ctx);
        assert!(sender.next_timer() > now, "a timer that fired is in the future");
    }
    if receiver.next_timer() <= now {
        run.outcome.timer_calls += 1;
        receiver.on_timer(&mut ctx);
        assert!(receiver.next_timer() > now, "a timer that fired is in the future");
    }
    run.backward(now, replies);
}
