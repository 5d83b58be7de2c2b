//! Sender of NDP and EQDS: credit for new and retransmitted packets, and the order of transmission.

use super::announcement::Announcement;
use super::bits::span;
use super::flight::Flight;
use super::parameters::{EarlyPulls, NdpParameters};
use crate::control_state::ControlState;
use crate::endpoint::FlowStart;
use crate::endpoint::{Ctx, Offer, Segment, Sender, SenderStatistics};
use crate::frame::{Detail, Frame, Kind, flags};
use std::sync::Arc;
use units::Time;

/// Sender state of one flow.
#[derive(Clone, Debug)]
pub struct NdpSender {
    parameters: Arc<NdpParameters>,
    size_bytes: u64,
    /// Number of packets of the flow.
    packets: u64,
    flight: Flight,
    /// Total number of packets pulled, as reported by the receiver.
    pulled: u64,
    /// Number of packets that the receiver reported as arrived, complete or trimmed.
    answers: u64,
    /// Number of these packets that arrived trimmed.
    nacks: u64,
    retransmitted_bytes: u64,
    /// Arrival time of the last byte, as reported by the receiver.
    delivered: Time,
    /// Time of the next timer tick.
    next_tick: Time,
    /// Number of packets that may be sent because of pulls.
    credit: u32,
    /// Number of packets returned by switches since the last packet sent without a pull; the receiver sends no pull
    /// for them.
    returns: u32,
    timeouts: u32,
    window: u16,
    /// Number of packets of the initial window that have not been sent.
    unsent_initial: u16,
}

impl NdpSender {
    /// Creates the sender of `flow`.
    pub fn new(parameters: &Arc<NdpParameters>, flow: &FlowStart) -> Self {
        let size_bytes = flow.size_bytes.max(1);
        let packets = size_bytes.div_ceil(u64::from(parameters.payload_bytes));
        // The initial window is at most the flow size, so that a short flow cannot use the rest of the window for
        // retransmissions: many short flows to one receiver would overload its port repeatedly.
        let window = parameters.initial_window.packets(flow.line_rate, flow.round_trip, parameters.wire_bytes());
        let window = u64::from(window).min(packets) as u16;
        NdpSender {
            parameters: Arc::clone(parameters),
            size_bytes,
            packets,
            flight: Flight::new(span(window)),
            pulled: 0,
            answers: 0,
            nacks: 0,
            retransmitted_bytes: 0,
            delivered: Time::MAX,
            next_tick: parameters.timeout.map_or(Time::MAX, |timeout| flow.start.saturating_add(timeout)),
            credit: 0,
            returns: 0,
            timeouts: 0,
            window,
            unsent_initial: window,
        }
    }

    /// Returns the initial window: the number of packets that the flow sends without a pull, at most its size.
    pub fn window(&self) -> u16 {
        self.window
    }

    /// Returns the number of packets in flight.
    pub fn under_way(&self) -> u32 {
        self.flight.under_way()
    }

    fn packet_at(&self, seq: u64) -> Option<u64> {
        let payload = u64::from(self.parameters.payload_bytes);
        seq.is_multiple_of(payload).then_some(seq / payload)
    }

    fn on_acknowledgement(&mut self, frame: &Frame) {
        if frame.has(flags::COMPLETE) {
            self.flight.settle_below(u64::MAX);
            self.delivered = self.delivered.min(frame.arrival());
            return;
        }
        let pulls = frame.pulls();
        if pulls > 0 {
            self.on_pulls(pulls);
        }
        let Some(packet) = self.packet_at(frame.seq) else { return };
        let cut = frame.has(flags::NAK);
        let news = if cut { self.flight.queue(packet) } else { self.flight.settle(packet) };
        self.answers += u64::from(news);
        self.nacks += u64::from(news && cut);
    }

    /// Handles a pull. A pull carries the receiver's total count, so that it replaces lost earlier pulls, and the
    /// first missing byte, which replaces lost acknowledgements. If early pulls lapse, a pull that arrives before the
    /// initial window has been sent has no effect.
    fn on_pull(&mut self, frame: &Frame) {
        self.on_pulls(frame.seq);
        if let Some(packet) = self.packet_at(frame.next_expected()) {
            self.answers += self.flight.settle_below(packet);
        }
    }

    /// Increases the total number of pulls to `pulled`, as reported by a pull frame or an acknowledgement.
    fn on_pulls(&mut self, pulled: u64) {
        let more = pulled.saturating_sub(self.pulled);
        self.pulled += more;
        if self.unsent_initial == 0 || self.parameters.early_pulls == EarlyPulls::Count {
            self.credit = self.credit.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        }
    }

    /// Returns whether the receiver still has to send pulls: one per arrival, until it has pulled enough for the
    /// whole flow.
    fn expects_pulls(&self) -> bool {
        let counts = self.parameters.eqds.is_some() || self.flight.next() == self.packets;
        let counts = counts && self.parameters.early_pulls == EarlyPulls::Count;
        let enough = if counts { (self.packets + self.nacks).saturating_sub(u64::from(self.window)) } else { u64::MAX };
        self.pulled < enough.min(self.answers + self.parameters.ahead(self.window))
    }

    /// A returned packet is retransmitted on a pull, like any other packet. If no pull is due and no packet is in
    /// flight, the receiver may have received no packet of the flow. Therefore one packet is sent without a pull
    /// (NDP, sec. 3.2.4).
    fn go_on_alone(&mut self) {
        let may_send = self.credit > 0 || self.unsent_initial > 0;
        if self.returns > 0 && !may_send && self.flight.under_way() == 0 && !self.expects_pulls() {
            self.returns -= 1;
            self.credit = 1;
        }
    }
}

impl Sender for NdpSender {
    #[inline]
    fn on_frame(&mut self, _ctx: &mut Ctx<'_>, frame: &Frame) {
        match frame.kind {
            Kind::Ack => self.on_acknowledgement(frame),
            Kind::Pull => self.on_pull(frame),
            Kind::Returned => {
                if let Some(packet) = self.packet_at(frame.seq)
                    && self.flight.queue(packet)
                {
                    self.returns += 1;
                }
            }
            _ => return,
        }
        if self.returns > 0 {
            self.go_on_alone();
        }
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.next_tick {
            return;
        }
        let lost = self.flight.tick();
        self.credit = self.credit.saturating_add(lost);
        self.timeouts += u32::from(lost > 0);
        let done = self.flight.base() == self.packets;
        let timeout = self.parameters.timeout.filter(|_| !done);
        self.next_tick = timeout.map_or(Time::MAX, |timeout| ctx.now.saturating_add(timeout));
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.next_tick
    }

    #[inline]
    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer {
        if self.flight.base() == self.packets {
            return Offer::Done;
        }
        if self.credit == 0 && self.unsent_initial == 0 {
            return Offer::Blocked;
        }
        let (packet, again) = match self.flight.send_queued() {
            Some(packet) => (packet, true),
            None if self.flight.next() < self.packets && self.flight.has_room() => (self.flight.send_fresh(), false),
            None => return Offer::Blocked,
        };
        if self.unsent_initial > 0 {
            self.unsent_initial -= 1;
        } else {
            self.credit -= 1;
        }
        let parameters = &*self.parameters;
        let seq = packet * u64::from(parameters.payload_bytes);
        let payload_bytes = (self.size_bytes - seq).min(u64::from(parameters.payload_bytes)) as u16;
        let mut flags = if packet + 1 == self.packets { flags::LAST } else { 0 };
        if again {
            flags |= flags::RETRANSMISSION;
            self.retransmitted_bytes += u64::from(payload_bytes);
        }
        let packets = if parameters.eqds.is_some() { self.packets.min((1 << 48) - 1) } else { 0 };
        Offer::Send(Segment {
            seq,
            payload_bytes,
            size_bytes: parameters.frame_bytes(payload_bytes),
            flags,
            stamp: ctx.now,
            waits: self.waits(),
            detail: Detail::announcement(Announcement { window: self.window, packets }),
            ..Segment::default()
        })
    }

    #[inline]
    fn waits(&self) -> bool {
        self.credit == 0 && self.unsent_initial == 0 && self.flight.base() != self.packets
    }

    /// Returns only the bytes in flight. A receiver-driven sender has neither a rate nor a congestion window: after
    /// the initial window, the pulls of the receiver clock it.
    fn control_state(&self, _now: Time) -> ControlState {
        let flight_bytes = u64::from(self.flight.under_way()) * u64::from(self.parameters.payload_bytes);
        ControlState { flight_bytes: Some(flight_bytes), ..ControlState::default() }
    }

    fn statistics(&self) -> SenderStatistics {
        SenderStatistics {
            retransmitted_bytes: self.retransmitted_bytes,
            timeouts: self.timeouts,
            delivered: (self.delivered != Time::MAX).then_some(self.delivered),
        }
    }
}
