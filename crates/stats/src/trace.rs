//! Events of single frames, and pauses between ports. Rows are in order of time. Simultaneous rows are in order of
//! nodes; those of one node are in the order of cause and effect.

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

/// One packet of a trace; it exists from its creation to its delivery, consumption or loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedPacket {
    /// Number in the order of the trace, from 0.
    pub number: u64,
    /// Flow of the packet, as in `flows.parquet`.
    pub flow: u64,
    /// Kind of the packet.
    pub kind: PacketKind,
    /// For data: offset in the flow of the packet's first payload byte; otherwise the next expected byte.
    pub seq: u64,
    /// Payload in bytes.
    pub payload_bytes: u16,
    /// Size in bytes, from destination address to FCS.
    pub size_bytes: u16,
    /// Traffic class of the packet at the event.
    pub class: u8,
    /// Whether this payload was sent before.
    pub retransmission: bool,
}

/// Number of frames, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of frames.
    pub frames: u64,
    /// Bytes of these frames, without preamble and interpacket gap.
    pub bytes: u64,
}

/// Selects frames by source and destination node; `None` selects every host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrafficSelector {
    /// Index of the source node.
    pub src: Option<u32>,
    /// Index of the destination node.
    pub dst: Option<u32>,
}

/// An event at a node; port numbers are those of this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A host created the packet. Its payload was available from `since` on and waited for transmission until the
    /// event.
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
        /// Frames of the packet's class that are queued ahead of the packet.
        ahead: Load,
        /// End of the port's transmission in progress.
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
    /// The packet was marked with ECN congestion experienced.
    Marked {
        /// Port of the queue that marked the packet.
        port: u16,
    },
    /// The transmission of the packet started.
    Started {
        /// Egress port.
        port: u16,
        /// Arrival time of the packet at this node.
        since: Time,
        /// Arrival time of the packet's last bit at the other end of the link.
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
        /// Load of the packet's class at the egress port.
        queue: Load,
        /// Bytes in the packet's ingress account; only for lossless classes.
        account_bytes: Option<u64>,
    },
    /// The packet reached its destination host.
    Delivered,
    /// The packet was consumed: an acknowledgement or notification took effect.
    Consumed,
    /// The egress queue had no room: the packet was bounced.
    Bounced {
        /// Port through which the packet leaves.
        port: u16,
        /// Port of the full queue.
        full_port: u16,
        /// Bounces of the packet so far.
        bounces: u8,
    },
    /// The egress queue had no room: the packet was detoured by another port.
    Detoured {
        /// Port through which the packet leaves.
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
        /// Trimmed payload, in bytes.
        trimmed_bytes: u16,
    },
    /// The egress queue had no room for the packet's header, which was returned to its source.
    Returned {
        /// Port through which the header leaves.
        port: u16,
        /// Port of the full queue.
        full_port: u16,
    },
    /// A pipeline of the switch decided to trim the packet at ingress.
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
        /// Egress port of the deflected frames.
        port: u16,
        /// Pipeline that sent the notification.
        pipeline: u16,
    },
    /// An ingress account paused the neighbour. With credit-based flow control: the neighbour's remaining credits fell
    /// below the bandwidth-delay product.
    PauseSent {
        /// The account's port.
        port: u16,
        /// Class of the account; `None` pauses the whole link.
        class: Option<u8>,
        /// Bytes in the account.
        account_bytes: u64,
        /// The XOFF threshold that was exceeded, in bytes; with credits: the size of the account.
        limit_bytes: u64,
        /// Whether this renews an existing pause.
        renewal: bool,
    },
    /// An egress queue that contains bytes of the account that just paused its neighbour; the event repeats per queue,
    /// the largest first.
    AccountQueue {
        /// The account's port.
        port: u16,
        /// The account's class.
        class: Option<u8>,
        /// Egress port of the queue.
        egress: u16,
        /// Class of the queue.
        egress_class: u8,
        /// Load of the account in this queue.
        load: Load,
    },
    /// An ingress account resumed the neighbour. With credit-based flow control: the credits cover the bandwidth-delay
    /// product again.
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
        /// Time at which the pause takes effect.
        from: Time,
        /// Expiry of the pause, unless it is renewed.
        until: Time,
    },
    /// The node received a resume.
    Resumed {
        /// Resumed port.
        port: u16,
        /// Resumed class; `None` for all.
        class: Option<u8>,
        /// Time at which the resume takes effect.
        from: Time,
    },
    /// An output port sent XOFF to a neighbour, which must slow down or pause frames of one flow, of one destination,
    /// or all.
    Xoff {
        /// The port towards that neighbour.
        port: u16,
        /// The output port with the full buffer.
        egress: u16,
        /// Frames that the XOFF applies to.
        of: TrafficSelector,
        /// Permitted rate in bit/s; 0 pauses the frames.
        rate_bps: u64,
        /// Load of the output, in packets or bytes, in the unit of its limit.
        waiting: u64,
    },
    /// An output port sent XON to a neighbour, which releases the frames.
    Xon {
        /// The port towards that neighbour.
        port: u16,
        /// The output port that sent XOFF before.
        egress: u16,
        /// Frames that the XON applies to.
        of: TrafficSelector,
        /// Remaining load of the output port, in packets or bytes.
        waiting: u64,
    },
    /// The node received an XOFF: it must hold (pause or slow down) frames of one flow or destination.
    Held {
        /// Egress port of these frames.
        port: u16,
        /// Frames that are held.
        of: TrafficSelector,
        /// Permitted rate in bit/s.
        rate_bps: u64,
        /// Expiry of the hold.
        until: Time,
    },
    /// The node received an XON: it releases held frames.
    Released {
        /// Egress port of these frames.
        port: u16,
        /// Frames that are released.
        of: TrafficSelector,
    },
    /// A watchdog detected a pause storm: a class of a port was paused for too long.
    StormBegun {
        /// The port.
        port: u16,
        /// The class.
        class: u8,
    },
    /// A watchdog ended a pause storm, because the class had been unpaused for long enough.
    StormOver {
        /// The port.
        port: u16,
        /// The class.
        class: u8,
    },
    /// The link failed.
    LinkDown {
        /// Port of the failed link.
        port: u16,
    },
    /// The link was repaired.
    LinkUp {
        /// Port of the repaired link.
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
    /// Packet of the event; `None` for an event of a port.
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
