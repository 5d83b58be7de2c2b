//! Receiver of NDP and EQDS: acknowledges each packet and computes the number of pulls.

use super::announcement::Announcement;
use super::arrivals::{Arrival, Arrivals};
use super::bits::span;
use super::parameters::{EarlyPulls, NdpParameters, Pulls};
use crate::endpoint::{Ctx, Receipt, Receiver, Reply};
use crate::frame::{Detail, Frame, Kind, flags};
use std::sync::Arc;
use units::Time;

/// Receiver state of one flow.
#[derive(Clone, Debug)]
pub struct NdpReceiver {
    parameters: Arc<NdpParameters>,
    seen: Arrivals,
    /// Number of packets of the flow; `u64::MAX` until it is announced or the last packet has arrived.
    total: u64,
    /// Number of packets that arrived, complete or trimmed; duplicates of complete packets do not count.
    arrivals: u64,
    /// Number of packets that arrived trimmed and need a retransmission.
    cut: u64,
    /// Total number of packets pulled.
    pulled: u64,
    /// Time of the next timer tick; [`Time::MAX`] before the first packet and after completion.
    next_tick: Time,
    /// Arrival time of the last byte of the flow; [`Time::MAX`] before.
    completed: Time,
    window: u16,
    /// Whether a packet arrived or a pull was sent since the last timer tick.
    busy: bool,
}

impl NdpReceiver {
    /// Creates the receiver of one flow.
    pub fn new(parameters: &Arc<NdpParameters>) -> Self {
        NdpReceiver {
            parameters: Arc::clone(parameters),
            seen: Arrivals::default(),
            total: u64::MAX,
            arrivals: 0,
            cut: 0,
            pulled: 0,
            next_tick: Time::MAX,
            completed: Time::MAX,
            window: 0,
            busy: false,
        }
    }

    /// Creates the receiver of a complete flow of `size_bytes`, whose last byte arrived at `completed`.
    pub fn complete(parameters: &Arc<NdpParameters>, size_bytes: u64, completed: Time) -> Self {
        let total = size_bytes.div_ceil(u64::from(parameters.payload_bytes));
        NdpReceiver { seen: Arrivals::of_all(total), total, completed, ..NdpReceiver::new(parameters) }
    }

    #[cold]
    fn open(&mut self, now: Time, frame: &Frame) {
        let Announcement { window, packets } = frame.announcement();
        self.window = window.max(1);
        if packets > 0 {
            self.total = packets;
        }
        self.seen = Arrivals::new(span(self.window));
        self.next_tick = self.parameters.timeout.map_or(Time::MAX, |timeout| now.saturating_add(timeout));
    }

    /// Acknowledges `frame`; `nak` is [`flags::NAK`] if the acknowledgement is negative, else 0.
    fn answer(&self, ctx: &mut Ctx<'_>, frame: &Frame, nak: u8) {
        let complete = self.completed < Time::MAX;
        ctx.replies.push(Reply {
            kind: Kind::Ack,
            seq: frame.seq,
            stamp: frame.stamp,
            detail: match self.parameters.pulls {
                _ if complete => Detail::arrival(self.completed),
                Pulls::Apart => Detail::pulls(0),
                Pulls::Acks => Detail::pulls(self.pulled),
            },
            flags: if complete { flags::COMPLETE } else { nak },
            size_bytes: self.parameters.control_bytes,
            ..Reply::default()
        });
    }

    /// Sends a pull with the total number of pulled packets and the first missing byte. With [`Pulls::Acks`], an
    /// acknowledgement that is about to be sent carries the number instead.
    fn send_pull(&mut self, ctx: &mut Ctx<'_>) {
        self.busy = true;
        if self.parameters.pulls == Pulls::Acks
            && let Some(answer) = ctx.replies.last_mut().filter(|reply| reply.kind == Kind::Ack)
        {
            answer.detail = Detail::pulls(self.pulled);
            return;
        }
        ctx.replies.push(Reply {
            kind: Kind::Pull,
            seq: self.pulled,
            stamp: ctx.now,
            detail: Detail::next_expected(self.seen.base() * u64::from(self.parameters.payload_bytes)),
            flags: 0,
            size_bytes: self.parameters.control_bytes,
            ..Reply::default()
        });
    }

    fn packet_of(&self, frame: &Frame) -> u64 {
        frame.seq / u64::from(self.parameters.payload_bytes)
    }
}

impl Receiver for NdpReceiver {
    #[inline]
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        if self.seen.is_unset() {
            self.open(ctx.now, frame);
        }
        let packet = self.packet_of(frame);
        if frame.has(flags::LAST) {
            self.total = packet + 1;
        }
        self.busy = true;
        if frame.kind == Kind::Trimmed {
            // A trimmed packet that has already arrived complete needs no retransmission.
            let spurious = self.seen.contains(packet);
            self.arrivals += 1;
            self.cut += u64::from(!spurious);
            self.answer(ctx, frame, if spurious { 0 } else { flags::NAK });
            return Receipt::default();
        }
        match self.seen.insert(packet) {
            Arrival::Impossible => return Receipt::default(),
            Arrival::Copy => {
                self.answer(ctx, frame, 0);
                return Receipt::default();
            }
            Arrival::New => self.arrivals += 1,
        }
        let completed = self.seen.base() == self.total;
        if completed {
            (self.completed, self.next_tick) = (ctx.now, Time::MAX);
        }
        self.answer(ctx, frame, 0);
        Receipt { new_bytes: u32::from(frame.payload_bytes), completed }
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.next_tick {
            return;
        }
        if !self.busy && self.pulled > 0 && self.wants() == 0 {
            self.send_pull(ctx);
        }
        self.busy = false;
        self.next_tick = self.parameters.timeout.map_or(Time::MAX, |timeout| ctx.now.saturating_add(timeout));
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.next_tick
    }

    fn holds(&self, frame: &Frame) -> bool {
        !self.seen.is_unset() && self.seen.contains(self.packet_of(frame))
    }

    fn next_expected(&self) -> u64 {
        self.seen.base() * u64::from(self.parameters.payload_bytes)
    }

    #[inline]
    fn wants(&self) -> u32 {
        if self.completed < Time::MAX {
            return 0;
        }
        // `allowed` is the number of packets that the sender may send: the initial window plus pulls. The receiver
        // pulls no more packets than the flow still needs (unknown if early pulls lapse), and no more than arrivals,
        // initial window and `ahead` permit.
        let allowed = u64::from(self.window) + self.pulled;
        let needed = match self.parameters.early_pulls {
            EarlyPulls::Count => self.total.saturating_add(self.cut).saturating_sub(allowed),
            EarlyPulls::Lapse => u64::MAX,
        };
        let limit = self.arrivals + u64::from(self.window) + self.parameters.ahead(self.window);
        u32::try_from(needed.min(limit.saturating_sub(allowed))).unwrap_or(u32::MAX)
    }

    fn pull(&mut self, ctx: &mut Ctx<'_>) -> u32 {
        let packets = self.wants().min(self.parameters.eqds.map_or(1, |eqds| eqds.quantum));
        if packets > 0 {
            self.pulled += u64::from(packets);
            self.send_pull(ctx);
        }
        packets
    }
}
