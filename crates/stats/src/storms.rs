//! Pause storms detected by watchdogs, over the whole run.

use serde::{Deserialize, Serialize};

/// Pause storms of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseStorms {
    /// Number of storms.
    pub storms: u64,
    /// Storms that were over at the end of the run.
    #[serde(alias = "over")]
    pub restored: u64,
    /// Packets dropped by watchdogs.
    pub dropped_packets: u64,
    /// Time in storms over all ports and classes, in ps.
    pub total_ps: u64,
    /// Ports by time in storms, longest first, at most [`MAX_LOSS_PLACES`](crate::summary::MAX_LOSS_PLACES).
    pub ports: Vec<PortPauseStorms>,
}

/// Storms of one class of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortPauseStorms {
    /// The switch.
    pub node: String,
    /// Port of the switch.
    pub port: u32,
    /// The node at the other end, which pauses it.
    pub peer: String,
    /// The class, 0..=7.
    pub class: u8,
    /// Number of storms.
    pub storms: u64,
    /// Storms that were over at the end of the run.
    #[serde(alias = "over")]
    pub restored: u64,
    /// Time in storms, in ps.
    pub storm_ps: u64,
}

units::pack_fields!(PortPauseStorms { node, port, peer, class, storms, restored, storm_ps });
