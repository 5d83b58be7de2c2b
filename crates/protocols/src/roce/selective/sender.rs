//! Sender (requester) that retransmits only missing packets.

use crate::bounce_reaction::BouncedFlow;
use crate::control_state::ControlState;
use crate::endpoint::{Ctx, FlowStart, Offer, Sender, SenderStatistics};
use crate::frame::{Frame, Kind, flags};
use crate::ranges::Ranges;
use crate::rate_control::{AckInfo, RateObservation};
use crate::roce::connection::ConnectionParameters;
use crate::roce::parameters::RoceParameters;
use crate::roce::probing::Paced;
use crate::roce::sender::RoceSender;
use std::sync::Arc;
use units::{Rate, Time};

/// Sender of one flow under selective repeat.
#[derive(Clone, Debug)]
pub struct SelectiveSender {
    /// State common with go-back-N: rate, pacing and counters. `snd_nxt` always equals `snd_max`.
    roce: RoceSender,
    /// Byte ranges reported by the receiver (the bitmap of IRN, sec. 3.1), and their total length.
    arrived: Ranges,
    arrived_bytes: u64,
    /// First byte that has not been checked for retransmission: all missing bytes below it have been retransmitted
    /// since the last timeout.
    repaired: u64,
    /// Start of packets known to be lost although no later packet has arrived: the first missing packet after a
    /// timeout, and trimmed packets. Sorted.
    lost: Vec<u64>,
    /// Byte ranges at or above `repaired` that were retransmitted as entries of `lost`.
    resent: Ranges,
    /// `snd_max` at the start of loss recovery, which lasts until all bytes below it are acknowledged.
    recovery: u64,
    /// Maximum bytes in flight.
    cap_bytes: u64,
    /// Start of the current timeout interval.
    started: Time,
    /// Acknowledged bytes not yet passed to the rate control, which needs whole segments; and whether one of their
    /// packets was ECN-marked.
    unreported_bytes: u64,
    unreported_mark: bool,
}

impl SelectiveSender {
    /// Creates the sender of `flow`.
    pub fn new(parameters: &Arc<RoceParameters>, flow: &FlowStart) -> Self {
        SelectiveSender {
            roce: RoceSender::new(parameters, flow),
            arrived: Ranges::default(),
            arrived_bytes: 0,
            repaired: 0,
            lost: Vec::new(),
            resent: Ranges::default(),
            recovery: 0,
            cap_bytes: parameters.cap_bytes(flow, parameters.full_wire_bytes()),
            started: Time::ZERO,
            unreported_bytes: 0,
            unreported_mark: false,
        }
    }

    /// Restarts the timeout at `now`, or stops it if nothing is in flight. The timer is first set to `rto_low`. When
    /// it expires, the number of packets in flight determines whether `rto_low` or `rto_high` applies (IRN, sec. 5).
    fn restart_timeout(&mut self, now: Time) {
        self.started = now;
        let runs = self.roce.snd_max > self.roce.snd_una;
        let low = self.roce.parameters.rto_low;
        self.roce.deadline = if runs { now.saturating_add(low) } else { Time::MAX };
        self.roce.armed = self.roce.armed.min(self.roce.deadline);
    }

    /// Returns the timeout for the current number of packets in flight.
    fn rto(&self) -> Time {
        let ConnectionParameters { payload_bytes, rto_low, rto_high, rto_low_packets, .. } =
            self.roce.parameters.connection;
        let packets = (self.roce.snd_max - self.roce.snd_una).div_ceil(u64::from(payload_bytes));
        if packets < u64::from(rto_low_packets) { rto_low } else { rto_high }
    }

    /// Records the packet that starts at byte `seq` as lost.
    fn note_lost(&mut self, seq: u64) {
        if seq >= self.arrived.expected()
            && seq < self.roce.snd_max
            && let Err(at) = self.lost.binary_search(&seq)
        {
            self.lost.insert(at, seq);
        }
    }

    /// Returns the next missing byte range to retransmit (end exclusive), and whether it is the first entry of
    /// `lost`.
    fn missing(&mut self) -> Option<(u64, u64, bool)> {
        let payload_bytes = u64::from(self.roce.parameters.payload_bytes);
        while let Some(&seq) = self.lost.first() {
            if self.arrived.holds(seq, seq + 1) {
                self.lost.remove(0);
                continue;
            }
            let gap_end = self.arrived.gap(seq).map_or(self.roce.snd_max, |gap| gap.1);
            return Some((seq, gap_end.min(seq + payload_bytes), true));
        }
        // A missing packet is lost if a later packet has arrived.
        while let Some((start, gap_end)) = self.arrived.gap(self.repaired) {
            let end = gap_end.min(start + payload_bytes);
            if !self.resent.holds(start, end) {
                return Some((start, end, false));
            }
            self.repaired = end;
        }
        None
    }

    /// Returns whether a new packet may start at `now`, within the flight cap and the window.
    fn may_send_new(&mut self, now: Time) -> bool {
        let RoceSender { snd_una, snd_max, size_bytes, .. } = self.roce;
        if snd_max >= size_bytes || snd_max - snd_una >= self.cap_bytes {
            return false;
        }
        let window_bytes = if self.roce.moves_window {
            self.roce.moving_window_bytes(now)
        } else {
            self.roce.parameters.window_bytes.unwrap_or(u64::MAX)
        };
        // Bytes reported as arrived are no longer in flight.
        snd_max - self.arrived_bytes.min(snd_max) < window_bytes
    }

    /// Passes `new_bytes`, which the acknowledgement `frame` reports for the first time, to the rate control.
    fn report_to_control(&mut self, ctx: &Ctx<'_>, frame: &Frame, new_bytes: u64) {
        self.unreported_bytes += new_bytes;
        self.unreported_mark |= frame.has(flags::ECE);
        let RoceSender { snd_una, snd_max, size_bytes, .. } = self.roce;
        let parameters = &*self.roce.parameters;
        let whole = parameters.control.acknowledged_bytes().unwrap_or(0);
        if self.unreported_bytes == 0 || self.unreported_bytes < whole && snd_una < size_bytes {
            return;
        }
        let ack = AckInfo {
            rtt: ctx.now.saturating_sub(frame.stamp),
            wire_bytes: parameters.full_wire_bytes(),
            ece: std::mem::take(&mut self.unreported_mark),
            seq: snd_una,
            new_bytes: std::mem::take(&mut self.unreported_bytes),
            next: snd_max,
            switches: frame.hops,
            hops: ctx.telemetry,
        };
        self.roce.control.on_ack(&parameters.control, ctx.now, ack);
    }
}

impl Paced for SelectiveSender {
    fn has_more(&self) -> bool {
        self.roce.snd_una < self.roce.size_bytes
            && (self.roce.snd_max < self.roce.size_bytes
                || !self.lost.is_empty()
                || self.arrived.gap(self.repaired).is_some())
    }

    fn pace_rate(&mut self, now: Time) -> Rate {
        self.roce.rate(now)
    }
}

impl Sender for SelectiveSender {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        match frame.kind {
            Kind::Ack => {}
            Kind::Returned => return self.note_lost(frame.seq),
            _ => return self.roce.on_frame(ctx, frame),
        }
        // An acknowledgement of bytes that were never sent is invalid, and is ignored.
        if frame.seq > self.roce.snd_max {
            return;
        }
        let before = self.arrived.expected();
        let mut new_bytes = self.arrived.insert(before, frame.seq.max(before));
        if frame.has(flags::NAK) {
            let (seq, bytes) = frame.packet();
            let end = seq.saturating_add(u64::from(bytes));
            if bytes == 0 {
                self.note_lost(seq);
            } else if end <= self.roce.snd_max {
                new_bytes += self.arrived.insert(seq, end);
            }
        }
        self.arrived_bytes += new_bytes;
        self.roce.snd_una = self.arrived.expected();
        if self.roce.snd_una > before {
            self.resent.insert(self.resent.expected(), self.roce.snd_una);
            self.restart_timeout(ctx.now);
        }
        self.report_to_control(ctx, frame, new_bytes);
        if frame.has(flags::COMPLETE) && self.roce.delivered == Time::MAX {
            self.roce.delivered = frame.arrival();
        }
        // Losses of packets sent before the start of a loss recovery belong to this recovery, so that an old NAK
        // reports no new loss.
        let missing = !self.lost.is_empty() || self.arrived.highest() > self.roce.snd_una;
        if frame.has(flags::NAK) && missing && self.roce.snd_una >= self.recovery {
            self.recovery = self.roce.snd_max;
            self.roce.control.on_loss(&self.roce.parameters.control, ctx.now, false);
        }
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.roce.armed {
            return;
        }
        if ctx.now >= self.roce.deadline {
            let due = self.started.saturating_add(self.rto());
            if ctx.now < due {
                self.roce.deadline = due;
            } else if self.missing().is_some() {
                // A retransmission is due, but waits for its pacing slot: this is not a timeout.
                self.restart_timeout(ctx.now);
            } else {
                self.roce.timeouts += 1;
                // Only the first missing packet is retransmitted, because no later packet has been reported as
                // arrived.
                self.repaired = self.arrived.expected();
                self.resent = Ranges::default();
                self.note_lost(self.repaired);
                self.recovery = self.roce.snd_max;
                self.restart_timeout(ctx.now);
                self.roce.control.on_loss(&self.roce.parameters.control, ctx.now, true);
            }
        }
        self.roce.armed = self.roce.deadline;
    }

    fn next_timer(&self) -> Time {
        self.roce.armed
    }

    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer {
        if self.roce.snd_una >= self.roce.size_bytes {
            return Offer::Done;
        }
        let missing = self.missing();
        if missing.is_none() && !self.may_send_new(ctx.now) {
            return Offer::Blocked;
        }
        let rate = match self.roce.pace(ctx.now) {
            Ok(rate) => rate,
            Err(at) => return Offer::At(at),
        };
        let snd_max = self.roce.snd_max;
        let payload_bytes = u64::from(self.roce.parameters.payload_bytes);
        let (start, end, named) =
            missing.unwrap_or((snd_max, self.roce.size_bytes.min(snd_max.saturating_add(payload_bytes)), false));
        // Must be read before `packet` is called, which sets `deadline` to the timeout of go-back-N.
        let idle = self.roce.deadline == Time::MAX;
        let segment = self.roce.packet(ctx.now, rate, start, (end - start) as u16);
        self.roce.snd_nxt = self.roce.snd_max;
        if named {
            self.lost.remove(0);
            self.resent.insert(start, end);
        } else if start < snd_max {
            self.repaired = end;
        }
        if idle || start == self.roce.snd_una {
            self.restart_timeout(ctx.now);
        }
        Offer::Send(segment)
    }

    fn on_returned(&mut self, ctx: &mut Ctx<'_>, returns: &mut BouncedFlow, every: u32) -> bool {
        self.roce.on_returned(ctx, returns, every)
    }

    fn extend(&mut self, now: Time, bytes: u64) -> bool {
        self.roce.extend(now, bytes)
    }

    fn acknowledged(&self) -> u64 {
        self.roce.acknowledged()
    }

    fn control_state(&self, now: Time) -> ControlState {
        let flight_bytes = self.roce.snd_max - self.arrived_bytes.min(self.roce.snd_max);
        ControlState { flight_bytes: Some(flight_bytes), ..self.roce.control_state(now) }
    }

    fn set_share(&mut self, share: f64) -> bool {
        self.roce.set_share(share)
    }

    fn take_observation(&mut self) -> Option<RateObservation> {
        self.roce.take_observation()
    }

    fn statistics(&self) -> SenderStatistics {
        self.roce.statistics()
    }

    #[cfg(test)]
    fn pace_bps(&mut self, now: Time) -> u64 {
        self.roce.rate(now).as_bps()
    }
}
