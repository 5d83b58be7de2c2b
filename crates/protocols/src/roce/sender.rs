//! Sender (requester) with go-back-N: paces packets, and after a loss retransmits from the first missing packet on.

use crate::bounce_reaction::BouncedFlow;
use crate::control_state::ControlState;
use crate::endpoint::FlowStart;
use crate::endpoint::{Ctx, Offer, Segment, Sender, SenderStatistics};
use crate::frame::{Frame, Kind, MIN_FRAME_BYTES, flags};
use crate::rate_control::{AckInfo, FlowLimits, RateObservation};
use crate::roce::control::RateControl;
use crate::roce::parameters::RoceParameters;
use crate::roce::payload_length;
use crate::roce::probing::Paced;
use std::num::NonZeroU32;
use std::sync::Arc;
use units::{Rate, Time, WIRE_OVERHEAD_BYTES};

/// Sender of one RoCE flow.
#[derive(Clone, Debug)]
pub struct RoceSender {
    pub(super) parameters: Arc<RoceParameters>,
    pub(super) size_bytes: u64,
    /// First unacknowledged byte.
    pub(super) snd_una: u64,
    /// Next byte to send.
    pub(super) snd_nxt: u64,
    /// End of the bytes that have been sent at least once (SND.MAX).
    pub(super) snd_max: u64,
    /// Wire bytes of the last packet. Its transmission started at `ready` minus the serialisation delay of these
    /// bytes at the rate `paced_at`.
    last_wire_bytes: u32,
    pub(super) timeouts: u32,
    /// Header bytes of a data frame, and the flags of every data frame.
    header_bytes: u16,
    data_flags: u8,
    /// Whether the window varies over time, so that it is computed for every packet.
    pub(super) moves_window: bool,
    /// Earliest start of the next packet, and the pacing rate from which it was computed.
    ready: Time,
    paced_at: Rate,
    pub(super) control: RateControl,
    /// Expiry of the retransmission timeout.
    pub(super) deadline: Time,
    /// Expiry to which the host's timer is set. The timer is moved to a later `deadline` only when it expires,
    /// because acknowledgements may arrive every few nanoseconds and a timer update for each of them would be too
    /// expensive.
    pub(super) armed: Time,
    retransmitted_bytes: u64,
    pub(super) delivered: Time,
    /// Random number from which the payloads of the flow's packets are drawn; `None` before the first packet, and if
    /// payloads are constant.
    payload_seed: Option<NonZeroU32>,
}

impl RoceSender {
    /// Creates the sender of `flow`.
    pub fn new(parameters: &Arc<RoceParameters>, flow: &FlowStart) -> Self {
        let limit = parameters.rate.unwrap_or(flow.line_rate).min(flow.line_rate);
        RoceSender {
            parameters: Arc::clone(parameters),
            size_bytes: flow.size_bytes.max(1),
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            last_wire_bytes: 0,
            timeouts: 0,
            header_bytes: parameters.data_header_bytes(),
            data_flags: if parameters.ecn { flags::ECT } else { 0 }
                | if parameters.control.telemetry_bytes().is_some() { flags::COLLECTS } else { 0 },
            moves_window: parameters.moves_window(),
            ready: flow.start,
            paced_at: limit,
            control: RateControl::new(
                &parameters.control,
                FlowLimits {
                    most: limit,
                    line: flow.line_rate,
                    start: flow.start,
                    round_trip: flow.round_trip,
                    payload_bytes: parameters.payload_bytes,
                },
            ),
            deadline: Time::MAX,
            armed: Time::MAX,
            retransmitted_bytes: 0,
            delivered: Time::MAX,
            payload_seed: None,
        }
    }

    /// Returns the sending rate at `now`, which counts wire bytes (with preamble and inter-frame gap).
    pub fn rate(&mut self, now: Time) -> Rate {
        self.control.rate(&self.parameters.control, now)
    }

    /// Restarts the timeout because of progress at `now`, or stops it if nothing is in flight.
    fn restart_timeout(&mut self, now: Time) {
        self.deadline = match self.parameters.timeout {
            Some(timeout) if self.snd_max > self.snd_una => now.saturating_add(timeout),
            _ => Time::MAX,
        };
        self.armed = self.armed.min(self.deadline);
    }

    /// Goes back to the packet at `seq`, whose trimmed header was returned by a switch, so that no acknowledgement
    /// will arrive.
    #[cold]
    fn miss(&mut self, now: Time, seq: u64) {
        if seq >= self.snd_una && seq < self.snd_nxt {
            self.snd_nxt = seq;
            self.restart_timeout(now);
        }
    }

    /// Returns the window at `now`, if the window varies over time.
    #[inline(never)] // keeps `poll` small: only variable windows need this call
    pub(super) fn moving_window_bytes(&mut self, now: Time) -> u64 {
        let parameters = &*self.parameters;
        let mut window_bytes = parameters.window_bytes.unwrap_or(u64::MAX);
        if parameters.variable_window {
            let rate = self.control.rate(&parameters.control, now);
            let scaled =
                u128::from(window_bytes) * u128::from(rate.as_bps()) / u128::from(self.control.most().as_bps());
            window_bytes = u64::try_from(scaled).unwrap_or(u64::MAX).max(1);
        }
        window_bytes.min(self.control.window_bytes())
    }

    /// Returns the rate of a packet if it may start at `now`, else the earliest time at which it may start.
    #[inline(always)] // saves a call per packet
    pub(super) fn pace(&mut self, now: Time) -> Result<Rate, Time> {
        let rate = self.control.rate(&self.parameters.control, now);
        if rate != self.paced_at {
            // The time between the last packet and the next is computed with the current rate, not with the rate when
            // the last packet started.
            let wire_bytes = u64::from(self.last_wire_bytes);
            let last_start = self.ready.saturating_sub(self.paced_at.serialise(wire_bytes));
            self.ready = last_start.saturating_add(rate.serialise(wire_bytes));
            self.paced_at = rate;
        }
        if now < self.ready {
            // The rate may increase before `ready`, which makes the start earlier.
            return Err(self.ready.min(self.control.next_change()));
        }
        Ok(rate)
    }

    /// Returns the packet that starts at byte `seq` and is sent at `now` with the rate `rate`, and records it as
    /// sent.
    #[inline(always)] // saves a call per packet
    pub(super) fn packet(&mut self, now: Time, rate: Rate, seq: u64, payload_bytes: u16) -> Segment {
        let size_bytes = payload_bytes.saturating_add(self.header_bytes).max(MIN_FRAME_BYTES);
        let end = seq + u64::from(payload_bytes);
        let mut flags = self.data_flags;
        if end == self.size_bytes {
            flags |= flags::LAST;
        }
        if seq < self.snd_max {
            flags |= flags::RETRANSMISSION;
            self.retransmitted_bytes += end.min(self.snd_max) - seq;
        }
        self.snd_nxt = end;
        self.snd_max = self.snd_max.max(end);
        let wire_bytes = u64::from(size_bytes) + WIRE_OVERHEAD_BYTES;
        self.last_wire_bytes = wire_bytes as u32;
        self.ready = now.saturating_add(rate.serialise(wire_bytes));
        let changes = self.control.on_sent(&self.parameters.control, now, u64::from(size_bytes));
        if self.deadline == Time::MAX {
            self.restart_timeout(now);
        }
        let next = self.ready.min(changes);
        Segment { seq, payload_bytes, size_bytes, flags, stamp: now, next, ..Segment::default() }
    }

    /// Returns the random payload of the next packet in bytes, without regard to the end of the flow.
    #[cold]
    fn draw_payload_bytes(&mut self, ctx: &mut Ctx<'_>) -> u16 {
        let seed = *self.payload_seed.get_or_insert_with(|| NonZeroU32::MIN | ctx.random.next_u64() as u32);
        payload_length::payload_bytes(&self.parameters.connection, seed.get().into(), self.snd_nxt)
    }

    /// Go-back-N: continues at the first unacknowledged byte.
    fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
    }
}

impl Paced for RoceSender {
    fn has_more(&self) -> bool {
        self.snd_nxt < self.size_bytes && self.snd_una < self.size_bytes
    }

    fn pace_rate(&mut self, now: Time) -> Rate {
        self.rate(now)
    }
}

impl Sender for RoceSender {
    #[inline]
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        match frame.kind {
            Kind::Ack => {}
            Kind::Cnp => return self.control.on_cnp(&self.parameters.control, ctx.now, frame),
            Kind::Cnm => return self.control.on_cnm(&self.parameters.control, ctx.now, frame.congestion_message()),
            Kind::Returned => return self.miss(ctx.now, frame.seq),
            _ => return,
        }
        // COMPLETE is handled before the check of `seq`, because the host ends the flow on COMPLETE, even if it is on
        // the reply to a late duplicate that arrives before the last acknowledgement.
        if frame.has(flags::COMPLETE) && self.delivered == Time::MAX {
            self.delivered = frame.arrival();
        }
        // Ignores acknowledgements of bytes that were never sent, and those that arrive after a higher
        // acknowledgement.
        if frame.seq > self.snd_max || frame.seq < self.snd_una {
            return;
        }
        if frame.seq > self.snd_una {
            let new_bytes = frame.seq - self.snd_una;
            self.snd_una = frame.seq;
            self.snd_nxt = self.snd_nxt.max(self.snd_una);
            self.restart_timeout(ctx.now);
            let ack = AckInfo {
                rtt: ctx.now.saturating_sub(frame.stamp),
                wire_bytes: self.parameters.full_wire_bytes(),
                ece: frame.has(flags::ECE),
                seq: frame.seq,
                new_bytes,
                next: self.snd_nxt,
                switches: frame.hops,
                hops: ctx.telemetry,
            };
            self.control.on_ack(&self.parameters.control, ctx.now, ack);
        }
        if frame.has(flags::NAK) {
            self.go_back();
            self.restart_timeout(ctx.now);
            self.control.on_loss(&self.parameters.control, ctx.now, false);
        }
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.armed {
            return;
        }
        if ctx.now >= self.deadline {
            self.timeouts += 1;
            self.go_back();
            self.restart_timeout(ctx.now);
            self.control.on_loss(&self.parameters.control, ctx.now, true);
        }
        self.armed = self.deadline;
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.armed
    }

    #[inline]
    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer {
        if self.snd_una >= self.size_bytes {
            return Offer::Done;
        }
        let window_bytes = if self.moves_window {
            self.moving_window_bytes(ctx.now)
        } else {
            self.parameters.window_bytes.unwrap_or(u64::MAX)
        };
        let parameters = &*self.parameters;
        if self.snd_nxt >= self.size_bytes || self.snd_nxt - self.snd_una >= window_bytes {
            return Offer::Blocked;
        }
        let (mut full_bytes, random) = (parameters.payload_bytes, parameters.has_random_payloads());
        match self.pace(ctx.now) {
            Ok(rate) => {
                if random {
                    full_bytes = self.draw_payload_bytes(ctx);
                }
                let payload_bytes = (self.size_bytes - self.snd_nxt).min(u64::from(full_bytes)) as u16;
                Offer::Send(self.packet(ctx.now, rate, self.snd_nxt, payload_bytes))
            }
            Err(at) => Offer::At(at),
        }
    }

    fn on_returned(&mut self, ctx: &mut Ctx<'_>, returns: &mut BouncedFlow, every: u32) -> bool {
        let due = returns.is_due(every, self.snd_una);
        let halved = due && self.control.halve(&self.parameters.control, ctx.now);
        if halved {
            returns.halved(self.snd_max);
        }
        halved
    }

    fn extend(&mut self, _now: Time, bytes: u64) -> bool {
        self.size_bytes = self.size_bytes.saturating_add(bytes);
        true
    }

    #[inline]
    fn acknowledged(&self) -> u64 {
        self.snd_una
    }

    fn control_state(&self, now: Time) -> ControlState {
        let state = self.control.control_state(&self.parameters.control, now);
        ControlState { flight_bytes: Some(self.snd_max - self.snd_una), ..state }
    }

    fn set_share(&mut self, share: f64) -> bool {
        self.control.set_share(&self.parameters.control, share)
    }

    fn take_observation(&mut self) -> Option<RateObservation> {
        self.control.take_observation()
    }

    fn statistics(&self) -> SenderStatistics {
        SenderStatistics {
            retransmitted_bytes: self.retransmitted_bytes,
            timeouts: self.timeouts,
            delivered: (self.delivered != Time::MAX).then_some(self.delivered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    fn flow() -> FlowStart {
        FlowStart {
            size_bytes: u64::MAX,
            start: Time::ZERO,
            stop: Time::MAX,
            line_rate: Rate::from_gbps(10),
            round_trip: Time::ZERO,
        }
    }

    fn ask(sender: &mut RoceSender, now: Time) -> Offer {
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        sender.poll(&mut Ctx::new(now, &mut random, &mut replies))
    }

    fn report(sender: &mut RoceSender, now: Time, kind: Kind, packet: u64, flags: u8) {
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        let frame = Frame { kind, seq: packet * 1000, flags, ..Frame::default() };
        sender.on_frame(&mut Ctx::new(now, &mut random, &mut replies), &frame);
    }

    #[test]
    fn a_negative_acknowledgement_goes_back_and_an_overtaken_one_does_not() {
        let mut sender = RoceSender::new(&Arc::new(RoceParameters::default()), &flow());
        for packet in 0..10 {
            assert!(matches!(ask(&mut sender, Time::from_us(packet)), Offer::Send(s) if s.seq == packet * 1000));
        }
        let now = Time::from_us(20);
        report(&mut sender, now, Kind::Ack, 6, 0);
        report(&mut sender, now, Kind::Ack, 4, flags::NAK);
        assert!(matches!(ask(&mut sender, now), Offer::Send(s) if s.seq == 10_000 && s.flags == 0));
        report(&mut sender, now, Kind::Ack, 7, flags::NAK);
        let Offer::Send(again) = ask(&mut sender, Time::from_us(21)) else { panic!("packet 7 is missing") };
        assert_eq!((again.seq, again.flags), (7000, flags::RETRANSMISSION));
        assert_eq!(sender.statistics().retransmitted_bytes, 1000);
    }

    /// A packet that waits for its pacing slot at a low rate is sent earlier if the rate rises while it waits.
    #[test]
    fn pacing_follows_a_rising_rate() {
        let mut parameters = RoceParameters::dcqcn();
        parameters.set("min_rate", "10Mbps").unwrap();
        parameters.set("decrease_interval", "0us").unwrap();
        let mut sender = RoceSender::new(&Arc::new(parameters), &flow());
        (0..20).for_each(|_| report(&mut sender, Time::ZERO, Kind::Cnp, 0, 0));
        assert_eq!(sender.rate(Time::ZERO), Rate::from_mbps(10));
        assert!(matches!(ask(&mut sender, Time::ZERO), Offer::Send(_)));
        // At 10 Mbps the serialisation delay of 1082 wire bytes is 865.6 us, but the rate rises every 55 us.
        let mut now = Time::ZERO;
        let mut waits = 0;
        while let Offer::At(at) = ask(&mut sender, now) {
            assert!(at - now <= Time::from_us(55));
            (now, waits) = (at, waits + 1);
        }
        assert!(waits > 5 && now < Time::from_us(500), "{waits} {now}");
    }

    #[test]
    fn an_idle_flow_has_no_timer() {
        let mut sender = RoceSender::new(&Arc::new(RoceParameters::dcqcn()), &flow());
        assert!(matches!(ask(&mut sender, Time::ZERO), Offer::Send(_)));
        report(&mut sender, Time::from_us(1), Kind::Cnp, 0, 0);
        report(&mut sender, Time::from_us(1), Kind::Ack, 1, 0);
        let armed = sender.next_timer();
        let (mut random, mut replies) = (Stream::new(1, 1, 1), Vec::new());
        sender.on_timer(&mut Ctx::new(armed, &mut random, &mut replies));
        assert_eq!((sender.next_timer(), sender.statistics().timeouts), (Time::MAX, 0));
    }
}
