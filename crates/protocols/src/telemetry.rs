//! In-band network telemetry (INT).
//!
//! A sender requests telemetry by setting [`crate::frame::flags::COLLECTS`] on a segment. Each egress port of a
//! switch then adds a [`Hop`] when the transmission of the frame starts. The receiver reads all hops from
//! [`crate::endpoint::Ctx::telemetry`], and a reply with [`crate::frame::flags::TELEMETRY`] returns them to the
//! sender. The driver stores the hops outside the frame, which carries only their [`RecordId`].

use units::{Rate, Time};

/// Telemetry of an egress port at the start of a frame's transmission (HPCC, section 3.1: B, qLen, txBytes, ts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Departure of the first bit, on a clock of the switch without error.
    pub at: Time,
    /// Rate of the link at the egress port.
    pub rate: Rate,
    /// Bytes in all queues of the port, without the departing frame.
    pub queue_bytes: u64,
    /// Bytes of all frames whose transmission has started since the start of the run, without the departing frame.
    pub sent_bytes: u64,
    /// Those of `sent_bytes` that belong to probes.
    pub probe_bytes: u64,
}

/// Index of the telemetry record of a frame in the driver. Each record is used by one frame only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordId {
    /// Source host of the frame.
    pub host: u32,
    /// Index among the records of that host.
    pub slot: u32,
}

units::pack_fields!(Hop { at, rate, queue_bytes, sent_bytes, probe_bytes });
