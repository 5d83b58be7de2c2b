//! Frames trimmed by switches, over the whole run.

use serde::{Deserialize, Serialize};

/// Trimmed frames of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrimSummary {
    /// Number of trimmed frames.
    pub trims: u64,
    /// Bytes cut from the trimmed frames.
    #[serde(alias = "cut_bytes")]
    pub trimmed_bytes: u64,
    /// Trimmed headers whose payload had already arrived in another copy, so that a retransmission is spurious.
    pub spurious: u64,
    /// Bytes of headers that reached their destination.
    pub header_bytes: u64,
    /// Bytes of payload that arrived for the first time.
    pub payload_bytes: u64,
    /// Payload rate over the run in bit/s: goodput without headers and retransmissions.
    pub payload_bps: f64,
    /// Headers dropped for lack of buffer.
    pub lost_headers: u64,
    /// First loss of a trimmed header; null without one.
    pub first_header_loss: Option<HeaderLoss>,
    /// Switches that trimmed, in the order of the fabric.
    pub switches: Vec<SwitchTrims>,
    /// Ports with the most trimmed frames, most first.
    pub ports: Vec<PortTrims>,
}

/// Place and time of the first lost header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderLoss {
    /// Time in ps.
    pub at_ps: u64,
    /// The switch.
    pub node: String,
}

/// Frames trimmed at one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchTrims {
    /// Name of the switch.
    pub node: String,
    /// Number of trimmed frames.
    pub trims: u64,
}

/// Frames trimmed because of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTrims {
    /// The switch's name.
    pub node: String,
    /// Egress port of the frames.
    pub port: u32,
    /// The node at the other end.
    pub peer: String,
    /// Frames that lost their payload.
    pub trims: u64,
    /// Bytes cut.
    #[serde(alias = "cut_bytes")]
    pub trimmed_bytes: u64,
    /// Headers returned to their source instead.
    pub returned: u64,
}

units::pack_fields!(PortTrims { node, port, peer, trims, trimmed_bytes, returned });
