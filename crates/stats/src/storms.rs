//! Pause storms detected by watchdogs, over the whole run.

use serde::{Deserialize, Serialize};

/// Pause storms of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseStorms {
    /// Number of storms.
    pub storms: u64,
    /// Number of storms that had ended by the end of the run.
    #[serde(alias = "over")]
    pub restored: u64,
    /// Number of packets dropped by watchdogs.
    pub dropped_packets: u64,
    /// Duration of the storms, summed over ports and classes, in ps.
    pub total_ps: u64,
    /// Port classes with storms, by descending storm time, at most
    /// [`MAX_LOSS_PLACES`](crate::summary::MAX_LOSS_PLACES).
    pub ports: Vec<PortPauseStorms>,
}

/// Storms of one class at one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortPauseStorms {
    /// Name of the switch.
    pub node: String,
    /// Port of the switch.
    pub port: u32,
    /// The node at the other end of the port's link, which sends the pauses.
    pub peer: String,
    /// The class, 0..=7.
    pub class: u8,
    /// Number of storms.
    pub storms: u64,
    /// Number of storms that had ended by the end of the run.
    #[serde(alias = "over")]
    pub restored: u64,
    /// Total duration of the storms, in ps.
    pub storm_ps: u64,
}

units::pack_fields!(PortPauseStorms { node, port, peer, class, storms, restored, storm_ps });
