//! What happened to single frames, and who stopped whom. Rows stand in the order of time; what happens at one instant,
//! in the order of nodes and of cause and effect at each.

use std::borrow::Cow;
use units::Time;

/// What a frame is, in results.
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

    /// The name in results.
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

/// One packet of a trace, from its making to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedPacket {
    /// Counted from 0 in the order of the trace.
    pub number: u64,
    /// Its flow, as in `flows.parquet`.
    pub flow: u64,
    /// What it is.
    pub kind: PacketKind,
    /// Data: the offset of its first payload byte in the flow; else the next byte expected.
    pub seq: u64,
    /// Payload.
    pub payload_bytes: u16,
    /// From destination address to FCS.
    pub size_bytes: u16,
    /// Its traffic class where the event happened.
    pub class: u8,
    /// Whether its payload was sent before.
    pub retransmission: bool,
}

/// Frames and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Frames.
    pub frames: u64,
    /// Their bytes, without preamble and gap.
    pub bytes: u64,
}

/// Frames from one host to another, by node; `None` for every host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Traffic {
    /// From.
    pub src: Option<u32>,
    /// To.
    pub dst: Option<u32>,
}

/// What happened. Ports are those of the row's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A host made the packet, whose payload was there `since`: the rest it waited for its turn.
    Created {
        /// When the payload came into being.
        since: Time,
    },
    /// Its last bit came in.
    Arrived {
        /// By this port.
        in_port: u16,
    },
    /// It joined a queue.
    Queued {
        /// Of this egress port.
        port: u16,
        /// What waits there in its class already.
        ahead: Load,
        /// When the frame on the wire will have left.
        wire_free: Time,
    },
    /// Part of what it found ahead of it in the queue.
    Ahead {
        /// The egress port.
        port: u16,
        /// Whose frames they are.
        flow: u64,
        /// How much.
        load: Load,
    },
    /// It was marked with congestion experienced.
    Marked {
        /// At the queue of this port.
        port: u16,
    },
    /// Its first bit went out.
    Started {
        /// By this port.
        port: u16,
        /// Since when it was at this node.
        since: Time,
        /// When its last bit arrives at the other end.
        until: Time,
    },
    /// It was lost.
    Dropped {
        /// Why, as in `summary.json`.
        cause: Cow<'static, str>,
        /// The egress port that it wanted.
        port: Option<u16>,
        /// The port by which it came.
        in_port: Option<u16>,
        /// What waited at the egress port in its class.
        queue: Load,
        /// Lossless classes: bytes that its ingress account held.
        account_bytes: Option<u64>,
    },
    /// It reached its host.
    Delivered,
    /// It came to its end as meant: an acknowledgement or notification that was acted upon.
    Consumed,
    /// It found no room and was sent back.
    Bounced {
        /// By this port.
        port: u16,
        /// The port whose queue was full.
        full_port: u16,
        /// How often it was sent back so far.
        bounces: u8,
    },
    /// It found no room and was sent another way.
    Detoured {
        /// By this port.
        port: u16,
        /// The port whose queue was full.
        full_port: u16,
        /// How often it was sent another way so far.
        bounces: u8,
    },
    /// It found no room and lost its payload.
    Trimmed {
        /// The port whose queue was full.
        port: u16,
        /// Payload that it lost.
        cut_bytes: u16,
    },
    /// Its header found no room and was sent back to its source.
    Returned {
        /// By this port.
        port: u16,
        /// The port whose queue was full.
        full_port: u16,
    },
    /// A pipeline of the switch is about to trim it at its ingress.
    Metered {
        /// The port that it goes to.
        port: u16,
        /// The pipeline.
        pipeline: u16,
    },
    /// It found no room, and goes round a recirculation port.
    Deflected {
        /// The port whose queue was full.
        port: u16,
        /// The pipeline whose recirculation port it is.
        pipeline: u16,
        /// What waits there now, this frame included.
        waiting: Load,
        /// Only its header goes.
        mirrored: bool,
    },
    /// Pipelines heard that frames for a port were deflected.
    Signalled {
        /// The port.
        port: u16,
        /// The pipeline that told them.
        pipeline: u16,
    },
    /// An ingress account told the neighbour to stop; under credits: holds so much that those left to the
    /// neighbour do not cover rate x round trip.
    Stop {
        /// The account's port.
        port: u16,
        /// Its class; `None` stops the whole link.
        class: Option<u8>,
        /// Bytes that it held.
        account_bytes: u64,
        /// The threshold that they exceed; under credits: the room that there is.
        limit_bytes: u64,
        /// The neighbour was stopped already.
        renewal: bool,
    },
    /// Where bytes of the account that just told to stop wait: the most first.
    Behind {
        /// The account's port.
        port: u16,
        /// The account's class.
        class: Option<u8>,
        /// The egress port.
        egress: u16,
        /// The class of its queue.
        egress_class: u8,
        /// How much.
        load: Load,
    },
    /// An ingress account told the neighbour to go on; under credits: they do again.
    Go {
        /// The account's port.
        port: u16,
        /// Its class.
        class: Option<u8>,
        /// Bytes that it held.
        account_bytes: u64,
    },
    /// The node was told to stop.
    Paused {
        /// At this port.
        port: u16,
        /// This class; `None` for all.
        class: Option<u8>,
        /// When it takes effect.
        from: Time,
        /// When it expires unless renewed.
        until: Time,
    },
    /// The node was told to go on.
    Resumed {
        /// At this port.
        port: u16,
        /// This class; `None` for all.
        class: Option<u8>,
        /// When it takes effect.
        from: Time,
    },
    /// An output told a neighbour to slow or stop frames of one flow, one destination, or all.
    Xoff {
        /// The port towards that neighbour.
        port: u16,
        /// The output whose buffer is too full.
        egress: u16,
        /// Whose frames.
        of: Traffic,
        /// What may still come, in bits a second; 0 for nothing.
        rate_bps: u64,
        /// What waits there, in packets or bytes, as its limit counts.
        waiting: u64,
    },
    /// The output told a neighbour that they may go on.
    Xon {
        /// The port towards that neighbour.
        port: u16,
        /// The output.
        egress: u16,
        /// Whose frames.
        of: Traffic,
        /// What waits there still.
        waiting: u64,
    },
    /// The node was told to hold frames of one flow or destination.
    Held {
        /// Those that leave by this port.
        port: u16,
        /// Whose frames.
        of: Traffic,
        /// What may pass, in bits a second.
        rate_bps: u64,
        /// When it expires.
        until: Time,
    },
    /// The node was told to let them go.
    Freed {
        /// Those that leave by this port.
        port: u16,
        /// Whose frames.
        of: Traffic,
    },
    /// A watchdog found a class of a port stopped for too long.
    StormBegun {
        /// The port.
        port: u16,
        /// The class.
        class: u8,
    },
    /// A watchdog saw no pause of it for long enough.
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
    /// The link works again.
    LinkUp {
        /// At this port.
        port: u16,
    },
}

impl TraceEvent {
    /// The name in results.
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
            TraceEvent::Stop { renewal: false, .. } => "stop",
            TraceEvent::Stop { renewal: true, .. } => "renew",
            TraceEvent::Behind { .. } => "behind",
            TraceEvent::Go { .. } => "go",
            TraceEvent::Paused { .. } => "paused",
            TraceEvent::Resumed { .. } => "resumed",
            TraceEvent::Xoff { .. } => "xoff",
            TraceEvent::Xon { .. } => "xon",
            TraceEvent::Held { .. } => "held",
            TraceEvent::Freed { .. } => "freed",
            TraceEvent::StormBegun { .. } => "storm",
            TraceEvent::StormOver { .. } => "storm over",
            TraceEvent::LinkDown { .. } => "link down",
            TraceEvent::LinkUp { .. } => "link up",
        }
    }

    /// Whether nothing more happens to the packet.
    pub const fn is_end(&self) -> bool {
        matches!(self, TraceEvent::Delivered | TraceEvent::Consumed | TraceEvent::Dropped { .. })
    }
}

/// One row of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// When.
    pub at: Time,
    /// At which node.
    pub node: u32,
    /// To which packet; `None` for what happens to ports.
    pub packet: Option<TracedPacket>,
    /// What.
    pub event: TraceEvent,
}

units::pack_fields!(Load { frames, bytes });
units::pack_fields!(Traffic { src, dst });
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
    11 Trimmed { port, cut_bytes },
    12 Returned { port, full_port },
    13 Metered { port, pipeline },
    14 Deflected { port, pipeline, waiting, mirrored },
    15 Signalled { port, pipeline },
    16 Stop { port, class, account_bytes, limit_bytes, renewal },
    17 Behind { port, class, egress, egress_class, load },
    18 Go { port, class, account_bytes },
    19 Paused { port, class, from, until },
    20 Resumed { port, class, from },
    21 Xoff { port, egress, of, rate_bps, waiting },
    22 Xon { port, egress, of, waiting },
    23 Held { port, of, rate_bps, until },
    24 Freed { port, of },
    25 StormBegun { port, class },
    26 StormOver { port, class },
    27 LinkDown { port },
    28 LinkUp { port },
});
