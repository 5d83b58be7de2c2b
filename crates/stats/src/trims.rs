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
    /// Trimmed headers that arrived although another copy of their payload had arrived before: the retransmission is
    /// spurious.
    pub spurious: u64,
    /// Bytes of trimmed headers that reached their destination.
    pub header_bytes: u64,
    /// Bytes of payload that arrived for the first time (without retransmitted copies).
    pub payload_bytes: u64,
    /// Rate of `payload_bytes` over the whole run, in bit/s: goodput without headers and retransmissions.
    pub payload_bps: f64,
    /// Number of trimmed headers dropped because their queue was full.
    pub lost_headers: u64,
    /// First loss of a trimmed header; null without one.
    pub first_header_loss: Option<HeaderLoss>,
    /// Switches that trimmed, in the order of the fabric.
    pub switches: Vec<SwitchTrims>,
    /// Ports by descending number of trimmed frames.
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

/// Frames trimmed because the queue of one port was full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTrims {
    /// The switch's name.
    pub node: String,
    /// Port of the full queue.
    pub port: u32,
    /// The node at the other end of the port's link.
    pub peer: String,
    /// Number of trimmed frames.
    pub trims: u64,
    /// Bytes cut from these frames.
    #[serde(alias = "cut_bytes")]
    pub trimmed_bytes: u64,
    /// Number of headers returned to their source because the header queue was full, too.
    pub returned: u64,
}

units::pack_fields!(PortTrims { node, port, peer, trims, trimmed_bytes, returned });
