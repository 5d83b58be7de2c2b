//! A test transport that uses all optional features of flow endpoints: probes in a separate class, paths selected by
//! the sender, control frames of the sender, telemetry in both directions. It never retransmits. Both endpoints log the
//! frames that they receive.

use protocols::custom::{AnyReceiver, AnySender, CustomTransport, Transport};
use protocols::endpoint::{Ctx, Offer, Receipt, Receiver, Reply, Segment, Sender, SenderStatistics};
use protocols::frame::{Detail, Frame, Kind, flags};
use protocols::telemetry::Hop;
use protocols::transport::{FlowStart, TransportParameters};
use std::sync::{Arc, Mutex};
use units::Time;

pub const PROBE_CLASS: u8 = 1;
pub const PAYLOAD: u16 = 1000;
pub const HEADER: u16 = 78;

/// A frame as received by an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Source host and number of the flow; and `true` if the sender of the flow received the frame.
    pub flow: (u32, u32),
    pub by_sender: bool,
    pub kind: Kind,
    pub seq: u64,
    pub class: u8,
    pub entropy: u32,
    /// Number in a control frame.
    pub number: u64,
    pub stamp: Time,
    /// Arrival time on the clock of the receiving host.
    pub at: Time,
    pub hops: Vec<Hop>,
}

pub type Log = Arc<Mutex<Vec<Seen>>>;

/// Parameters of the transport.
#[derive(Clone, Debug, Default)]
pub struct Toy {
    /// Number of probes before the data, each with a different entropy value.
    pub probes: u32,
    /// Number of entropy values that data frames use in rotation; 0 for the entropy of the flow.
    pub entropies: u32,
    /// Interval between data frames on the sender's clock.
    pub gap: Time,
    pub collects: bool,
    /// Whether the sender omits control frames.
    pub silent: bool,
    pub log: Log,
}

impl Toy {
    pub fn parameters(&self) -> TransportParameters {
        TransportParameters::Custom(CustomTransport::new(self.clone()))
    }

    /// Returns the logged frames in an order that does not depend on threads.
    pub fn seen(&self) -> Vec<Seen> {
        let mut seen = self.log.lock().unwrap().clone();
        seen.sort_by_key(|it| (it.flow, it.by_sender, it.at, it.kind as u8, it.seq));
        seen
    }

    fn note(&self, ctx: &Ctx<'_>, frame: &Frame, by_sender: bool) {
        assert_eq!(frame.at, ctx.now, "a frame arrives when the host's own clock says so");
        let host = if by_sender { frame.dst } else { frame.src };
        self.log.lock().unwrap().push(Seen {
            flow: (host, frame.flow),
            by_sender,
            kind: frame.kind,
            seq: frame.seq,
            class: frame.class,
            entropy: frame.entropy,
            number: if frame.kind == Kind::Control { frame.number() } else { 0 },
            stamp: frame.stamp,
            at: ctx.now,
            hops: ctx.telemetry.to_vec(),
        });
    }
}

impl Transport for Toy {
    fn sender(&self, flow: &FlowStart) -> Box<dyn AnySender> {
        Box::new(ToySender {
            toy: self.clone(),
            size_bytes: flow.size_bytes,
            results: false,
            probes: 0,
            frames: 0,
            sent_bytes: 0,
            next: flow.start,
            delivered: None,
        })
    }
    fn receiver(&self) -> Box<dyn AnyReceiver> {
        Box::new(ToyReceiver { toy: self.clone(), total_bytes: u64::MAX, came_bytes: 0 })
    }
    fn payload_bytes(&self) -> u16 {
        PAYLOAD
    }
    fn header_bytes(&self) -> u16 {
        HEADER
    }
    fn classes(&self) -> u8 {
        1 << PROBE_CLASS
    }
    fn chooses_paths(&self) -> bool {
        self.entropies > 0
    }
    fn collects(&self) -> bool {
        self.collects
    }
}

#[derive(Clone, Debug)]
struct ToySender {
    toy: Toy,
    size_bytes: u64,
    results: bool,
    probes: u32,
    frames: u32,
    sent_bytes: u64,
    next: Time,
    delivered: Option<Time>,
}

impl Sender for ToySender {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) {
        self.toy.note(ctx, frame, true);
        if frame.has(flags::COMPLETE) {
            self.delivered = Some(frame.arrival());
        }
    }
    fn on_timer(&mut self, _ctx: &mut Ctx<'_>) {}
    fn next_timer(&self) -> Time {
        Time::MAX
    }
    fn poll(&mut self, ctx: &mut Ctx<'_>) -> Offer {
        if !self.toy.silent && !std::mem::replace(&mut self.results, true) {
            let detail = Detail::number(self.size_bytes);
            ctx.replies.push(Reply { kind: Kind::Control, stamp: ctx.now, detail, size_bytes: 64, ..Reply::default() });
        }
        let collects = if self.toy.collects { flags::COLLECTS } else { 0 };
        if self.probes < self.toy.probes {
            self.probes += 1;
            return Offer::Send(Segment {
                kind: Kind::Probe,
                seq: u64::from(self.probes),
                size_bytes: 64,
                flags: collects,
                stamp: ctx.now,
                class: Some(PROBE_CLASS),
                entropy: Some(self.probes),
                ..Segment::default()
            });
        }
        if self.sent_bytes == self.size_bytes {
            return Offer::Blocked;
        }
        if ctx.now < self.next {
            return Offer::At(self.next);
        }
        self.next = ctx.now + self.toy.gap;
        let seq = self.sent_bytes;
        let payload_bytes = (self.size_bytes - seq).min(u64::from(PAYLOAD)) as u16;
        self.sent_bytes += u64::from(payload_bytes);
        self.frames += 1;
        let last = if self.sent_bytes == self.size_bytes { flags::LAST } else { 0 };
        Offer::Send(Segment {
            seq,
            payload_bytes,
            size_bytes: payload_bytes + HEADER,
            flags: collects | last,
            stamp: ctx.now,
            entropy: self.frames.checked_rem(self.toy.entropies),
            ..Segment::default()
        })
    }
    fn statistics(&self) -> SenderStatistics {
        SenderStatistics { delivered: self.delivered, ..SenderStatistics::default() }
    }
}

#[derive(Clone, Debug)]
struct ToyReceiver {
    toy: Toy,
    total_bytes: u64,
    came_bytes: u64,
}

impl Receiver for ToyReceiver {
    fn on_frame(&mut self, ctx: &mut Ctx<'_>, frame: &Frame) -> Receipt {
        self.toy.note(ctx, frame, false);
        if frame.kind == Kind::Control {
            return Receipt::default();
        }
        let new_bytes = u32::from(frame.payload_bytes);
        self.came_bytes += u64::from(new_bytes);
        if frame.has(flags::LAST) {
            self.total_bytes = frame.seq + u64::from(new_bytes);
        }
        let completed = frame.kind == Kind::Data && self.came_bytes == self.total_bytes;
        ctx.replies.push(Reply {
            kind: Kind::Ack,
            seq: frame.seq,
            stamp: frame.stamp,
            detail: Detail::arrival(ctx.now),
            flags: flags::TELEMETRY | if completed { flags::COMPLETE } else { 0 },
            size_bytes: 64,
            class: None,
            entropy: Some(frame.entropy),
        });
        Receipt { new_bytes, completed }
    }
    fn on_timer(&mut self, _ctx: &mut Ctx<'_>) {}
    fn next_timer(&self) -> Time {
        Time::MAX
    }
}
