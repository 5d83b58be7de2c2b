//! Telemetry that frames collect on their way (in-band network telemetry, INT).
//!
//! A sender that wants it sets [`crate::frame::flags::COLLECTS`] on a segment. Each egress port of a switch then adds a
//! [`Hop`] as the frame starts to leave; the receiver finds all of them in [`crate::endpoint::Ctx::telemetry`], and a
//! reply with [`crate::frame::flags::TELEMETRY`] brings them back to the sender. The driver keeps the hops apart from
//! the frame, which carries no more than where they are: [`RecordId`].

use units::{Rate, Time};

/// What an egress port says of itself as a frame starts to leave by it (HPCC, section 3.1: B, qLen, txBytes, ts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// When the first bit left, on the switch's clock, which is exact.
    pub at: Time,
    /// The rate of the link.
    pub rate: Rate,
    /// Bytes of all frames that wait for the port, without the one that leaves.
    pub queue_bytes: u64,
    /// Bytes of all frames that have started to leave since the beginning, without this one.
    pub sent_bytes: u64,
}

/// Where the driver keeps what a frame has collected. It belongs to that frame alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordId {
    /// The host that opened it.
    pub host: u32,
    /// Its place among those of that host.
    pub place: u32,
}

units::pack_fields!(Hop { at, rate, queue_bytes, sent_bytes });
