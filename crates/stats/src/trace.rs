//! Events of single frames, and pauses between ports. Rows are in order of time. Simultaneous rows are in order of
//! nodes and, at one node, causes precede effects.

use std::borrow::Cow;
use units::Time;

/// Kind of a frame, in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketKind {
    /// Payload of a flow.
    Data,
    /// An acknowledgement.
    Ack,
    /// A negative acknowledgement.
    Nak,
    /// A congestion notification.
    Cnp,
    /// A control frame of another kind.
    Control,
}

impl PacketKind {
    /// All kinds.
    pub const ALL: [PacketKind; 5] =
        [PacketKind::Data, PacketKind::Ack, PacketKind::Nak, PacketKind::Cnp, PacketKind::Control];

    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            PacketKind::Data => "data",
            PacketKind::Ack => "ack",
            PacketKind::Nak => "nak",
            PacketKind::Cnp => "cnp",
            PacketKind::Control => "control",
        }
    }
}

/// One packet of a trace, from its creation to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedPacket {
    /// Number in the order of the trace, from 0.
    pub number: u64,
    /// Flow of the packet, as in `flows.parquet`.
    pub flow: u64,
    /// Kind of the packet.
    pub kind: PacketKind,
    /// Data: the offset of its first payload byte in the flow; else the next expected byte.
    pub seq: u64,
    /// Payload in bytes.
    pub payload_bytes: u16,
    /// Size in bytes, from destination address to FCS.
    pub size_bytes: u16,
    /// Traffic class of the packet at the event.
    pub class: u8,
    /// Whether the packet's payload was sent before.
    pub retransmission: bool,
}

/// Frames and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of frames.
    pub frames: u64,
    /// Bytes of these frames, without preamble and gap.
    pub bytes: u64,
}

/// Frames from one host to another, by node; `None` for every host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrafficSelector {
    /// Source.
    pub src: Option<u32>,
    /// Destination.
    pub dst: Option<u32>,
}

/// An event; its ports are ports of the row's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A host created the packet. Its payload was available at `since` and waited for transmission until now.
    Created {
        /// Time at which the payload became available.
        since: Time,
    },
    /// The last bit of the packet was received.
    Arrived {
        /// Ingress port.
        in_port: u16,
    },
    /// The packet was enqueued.
    Queued {
        /// Egress port.
        port: u16,
        /// Frames of its class that are queued ahead of the packet.
        ahead: Load,
        /// End of the transmission in progress.
        wire_free: Time,
    },
    /// Frames of one flow among the frames ahead of the packet in the queue.
    Ahead {
        /// The egress port.
        port: u16,
        /// Flow of these frames.
        flow: u64,
        /// Load of these frames.
        load: Load,
    },
    /// The packet was marked (congestion experienced).
    Marked {
        /// Port of the marking queue.
        port: u16,
    },
    /// The transmission of the packet started.
    Started {
        /// Egress port.
        port: u16,
        /// Arrival time of the packet at this node.
        since: Time,
        /// Arrival of its last bit at the other end.
        until: Time,
    },
    /// The packet was lost.
    Dropped {
        /// Cause, as in `summary.json`.
        cause: Cow<'static, str>,
        /// Egress port of the packet.
        port: Option<u16>,
        /// Ingress port of the packet.
        in_port: Option<u16>,
        /// Load of its class at the egress port.
        queue: Load,
        /// Lossless classes: bytes in its ingress account.
        account_bytes: Option<u64>,
    },
    /// The packet reached its destination host.
    Delivered,
    /// The packet was processed: an acknowledgement or notification took effect.
    Consumed,
    /// The egress queue had no room: the packet was bounced.
    Bounced {
        /// Port by which it leaves.
        port: u16,
        /// Port of the full queue.
        full_port: u16,
        /// Bounces of the packet so far.
        bounces: u8,
    },
    /// The egress queue had no room: the packet was detoured by another port.
    Detoured {
        /// Port by which it leaves.
        port: u16,
        /// Port of the full queue.
        full_port: u16,
        /// Detours of the packet so far.
        bounces: u8,
    },
    /// The egress queue had no room: the packet's payload was trimmed.
    Trimmed {
        /// Port of the full queue.
        port: u16,
        /// Payload cut, in bytes.
        trimmed_bytes: u16,
    },
    /// The egress queue had no room for the packet's header, which was returned to its source.
    Returned {
        /// Port by which it leaves.
        port: u16,
        /// Port of the full queue.
        full_port: u16,
    },
    /// A pipeline of the switch will trim the packet at ingress.
    Metered {
        /// Egress port of the packet.
        port: u16,
        /// The pipeline.
        pipeline: u16,
    },
    /// The egress queue had no room: the packet was sent to a recirculation port.
    Deflected {
        /// Port of the full queue.
        port: u16,
        /// Pipeline of the recirculation port.
        pipeline: u16,
        /// Load waiting at the recirculation port, including this frame.
        waiting: Load,
        /// Whether only the packet's header is sent to the recirculation port.
        mirrored: bool,
    },
    /// Pipelines were notified of deflected frames for a port.
    Signalled {
        /// The port.
        port: u16,
        /// The pipeline that notified them.
        pipeline: u16,
    },
    /// An ingress account paused the neighbour. With credit-based flow control: the neighbour's remaining credits are
    /// less than the bandwidth-delay product.
    PauseSent {
        /// The account's port.
        port: u16,
        /// Class of the account; `None` pauses the whole link.
        class: Option<u8>,
        /// Bytes in the account.
        account_bytes: u64,
        /// The exceeded threshold in bytes; with credits: the size of the buffer.
        limit_bytes: u64,
        /// Whether this renews a pause.
        renewal: bool,
    },
    /// A queue that contains bytes of the account that just paused its neighbour; the largest queue first.
    AccountQueue {
        /// The account's port.
        port: u16,
        /// The account's class.
        class: Option<u8>,
        /// The egress port.
        egress: u16,
        /// The class of its queue.
        egress_class: u8,
        /// Load of the account in that queue.
        load: Load,
    },
    /// An ingress account resumed the neighbour. With credit-based flow control: the credits suffice again.
    ResumeSent {
        /// The account's port.
        port: u16,
        /// Class of the account.
        class: Option<u8>,
        /// Bytes in the account.
        account_bytes: u64,
    },
    /// The node received a pause.
    Paused {
        /// Paused port.
        port: u16,
        /// Paused class; `None` for all.
        class: Option<u8>,
        /// Time at which it takes effect.
        from: Time,
        /// Expiry unless renewed.
        until: Time,
    },
    /// The node received a resume.
    Resumed {
        /// Resumed port.
        port: u16,
        /// Resumed class; `None` for all.
        class: Option<u8>,
        /// Time at which it takes effect.
        from: Time,
    },
    /// An output port sent XOFF to a neighbour, which must slow or pause frames of one flow, one destination, or all.
    Xoff {
        /// The port towards that neighbour.
        port: u16,
        /// The output with the full buffer.
        egress: u16,
        /// The frames concerned.
        of: TrafficSelector,
        /// Permitted rate in bit/s; 0 pauses.
        rate_bps: u64,
        /// Load of the output, in packets or bytes, in the unit of its limit.
        waiting: u64,
    },
    /// An output released frames at a neighbour.
    Xon {
        /// The port towards that neighbour.
        port: u16,
        /// The output.
        egress: u16,
        /// The frames concerned.
        of: TrafficSelector,
        /// Remaining load of the output, in packets or bytes.
        waiting: u64,
    },
    /// The node received a request to hold frames of one flow or destination.
    Held {
        /// Egress port of these frames.
        port: u16,
        /// The frames concerned.
        of: TrafficSelector,
        /// Permitted rate in bit/s.
        rate_bps: u64,
        /// Expiry.
        until: Time,
    },
    /// The node received a request to release held frames.
    Released {
        /// Egress port of these frames.
        port: u16,
        /// The frames concerned.
        of: TrafficSelector,
    },
    /// A watchdog detected a pause storm: a class of a port was paused for too long.
    StormBegun {
        /// The port.
        port: u16,
        /// The class.
        class: u8,
    },
    /// A watchdog ended a storm after long enough without a pause.
    StormOver {
        /// The port.
        port: u16,
        /// The class.
        class: u8,
    },
    /// The link failed.
    LinkDown {
        /// At this port.
        port: u16,
    },
    /// The link was repaired.
    LinkUp {
        /// At this port.
        port: u16,
    },
}

impl TraceEvent {
    /// Returns the name in results.
    pub const fn name(&self) -> &'static str {
        match self {
            TraceEvent::Created { .. } => "created",
            TraceEvent::Arrived { .. } => "arrived",
            TraceEvent::Queued { .. } => "queued",
            TraceEvent::Ahead { .. } => "ahead",
            TraceEvent::Marked { .. } => "marked",
            TraceEvent::Started { .. } => "started",
            TraceEvent::Dropped { .. } => "dropped",
            TraceEvent::Delivered => "delivered",
            TraceEvent::Consumed => "consumed",
            TraceEvent::Bounced { .. } => "bounced",
            TraceEvent::Detoured { .. } => "detoured",
            TraceEvent::Trimmed { .. } => "trimmed",
            TraceEvent::Returned { .. } => "returned",
            TraceEvent::Metered { .. } => "metered",
            TraceEvent::Deflected { mirrored: false, .. } => "deflected",
            TraceEvent::Deflected { mirrored: true, .. } => "mirrored",
            TraceEvent::Signalled { .. } => "signalled",
            TraceEvent::PauseSent { renewal: false, .. } => "pause sent",
            TraceEvent::PauseSent { renewal: true, .. } => "pause renewed",
            TraceEvent::AccountQueue { .. } => "account queue",
            TraceEvent::ResumeSent { .. } => "resume sent",
            TraceEvent::Paused { .. } => "paused",
            TraceEvent::Resumed { .. } => "resumed",
            TraceEvent::Xoff { .. } => "xoff",
            TraceEvent::Xon { .. } => "xon",
            TraceEvent::Held { .. } => "held",
            TraceEvent::Released { .. } => "released",
            TraceEvent::StormBegun { .. } => "pause storm",
            TraceEvent::StormOver { .. } => "pause storm over",
            TraceEvent::LinkDown { .. } => "link down",
            TraceEvent::LinkUp { .. } => "link up",
        }
    }

    /// Returns whether this is the packet's last event.
    pub const fn is_end(&self) -> bool {
        matches!(self, TraceEvent::Delivered | TraceEvent::Consumed | TraceEvent::Dropped { .. })
    }
}

/// One row of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// Time of the event.
    pub at: Time,
    /// Node of the event.
    pub node: u32,
    /// Packet of the event; `None` for events of ports.
    pub packet: Option<TracedPacket>,
    /// The event.
    pub event: TraceEvent,
}

units::pack_fields!(Load { frames, bytes });
units::pack_fields!(TrafficSelector { src, dst });
units::pack_variants!(TraceEvent {
    0 Created { since },
    1 Arrived { in_port },
    2 Queued { port, ahead, wire_free },
    3 Ahead { port, flow, load },
    4 Marked { port },
    5 Started { port, since, until },
    6 Dropped { cause, port, in_port, queue, account_bytes },
    7 Delivered,
    8 Consumed,
    9 Bounced { port, full_port, bounces },
    10 Detoured { port, full_port, bounces },
    11 Trimmed { port, trimmed_bytes },
    12 Returned { port, full_port },
    13 Metered { port, pipeline },
    14 Deflected { port, pipeline, waiting, mirrored },
    15 Signalled { port, pipeline },
    16 PauseSent { port, class, account_bytes, limit_bytes, renewal },
    17 AccountQueue { port, class, egress, egress_class, load },
    18 ResumeSent { port, class, account_bytes },
    19 Paused { port, class, from, until },
    20 Resumed { port, class, from },
    21 Xoff { port, egress, of, rate_bps, waiting },
    22 Xon { port, egress, of, waiting },
    23 Held { port, of, rate_bps, until },
    24 Released { port, of },
    25 StormBegun { port, class },
    26 StormOver { port, class },
    27 LinkDown { port },
    28 LinkUp { port },
});
