//! Frames that switches trimmed, over the whole run.

use serde::{Deserialize, Serialize};

/// Frames that lost their payload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrimSummary {
    /// How many.
    pub trims: u64,
    /// Bytes cut from them.
    pub cut_bytes: u64,
    /// Headers that told of payload which had already arrived in another copy: to send it again is needless.
    pub spurious: u64,
    /// Bytes of headers that reached their destination.
    pub header_bytes: u64,
    /// Payload that arrived for the first time.
    pub payload_bytes: u64,
    /// The same per second of the run, in bits: goodput without headers and without what was sent again.
    pub payload_bps: f64,
    /// Headers that found no room.
    pub lost_headers: u64,
    /// The first of them, or null.
    pub first_header_loss: Option<HeaderLoss>,
    /// Switches that trimmed, in the order of the fabric.
    pub switches: Vec<SwitchTrims>,
    /// Ports for which the most frames were trimmed, most first.
    pub ports: Vec<PortTrims>,
}

/// Where and when headers began to be lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderLoss {
    /// When, in ps.
    pub at_ps: u64,
    /// The switch.
    pub node: String,
}

/// Frames trimmed at one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchTrims {
    /// Its name.
    pub node: String,
    /// How many.
    pub trims: u64,
}

/// Frames trimmed because of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTrims {
    /// The switch's name.
    pub node: String,
    /// Its port, towards which the frames were going.
    pub port: u32,
    /// The node at the other end.
    pub peer: String,
    /// How many lost their payload.
    pub trims: u64,
    /// Bytes cut.
    pub cut_bytes: u64,
    /// Headers that were sent back to their source instead.
    pub returned: u64,
}

units::pack_fields!(PortTrims { node, port, peer, trims, cut_bytes, returned });
