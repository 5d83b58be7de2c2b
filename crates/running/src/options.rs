//! Options of the check: queue lookup of the ASIC, set of paths, headroom formula.

use fabric::sonic::AsicTables;
use serde::Serialize;
use std::fmt;
use text::numbers::counted;
use units::{Rate, Time};

/// Port at which an ASIC looks up the queue of a traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueBinding {
    /// The map of the egress port.
    Egress,
    /// The map of the ingress port.
    Ingress,
}

/// The paths that frames may take. Tunnels between the ToRs of a pair always follow shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSet {
    /// All shortest paths without failures.
    Shortest,
    /// Up-down paths with at most this number of bounces. A bounce is a hop within a tier, or a hop up after a hop
    /// down.
    Bounces(u8),
    /// Any path, except that no frame leaves by its ingress port.
    Any,
}

impl fmt::Display for PathSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathSet::Shortest => f.write_str("all shortest paths without failures"),
            PathSet::Bounces(bounces) => {
                write!(f, "all paths up and down the tiers with at most {}", counted((*bounces).into(), "bounce"))
            }
            PathSet::Any => f.write_str("any path that does not return by the port that it came by"),
        }
    }
}

/// Attributes of a cable and its port that determine the headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Rate of the receiving port; if its row has no speed, that of the peer port or of the topology's link.
    pub rate: Rate,
    /// One-way propagation delay, at 5 ns per metre of the longer length that the two ends state.
    pub delay: Time,
    /// Larger of the MTUs at the two ends, in bytes.
    pub mtu: u64,
    /// Number of lossless priorities of the port.
    pub priorities: u8,
}

/// Options of the check.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// Port at which the queue of a class is looked up.
    pub binding: QueueBinding,
    /// Paths that frames may take.
    pub paths: PathSet,
    /// Function for the headroom that a lossless account needs, in bytes.
    pub headroom: &'o dyn Fn(&Conditions) -> u64,
    /// ASIC of the switches with the dynamic buffer model whose files have no `ASIC_TABLE`.
    pub asic: Option<&'o AsicTables>,
    /// Bitmask of the queues whose strict priority above lossless queues is accepted: an assumption, not a finding.
    pub accepted_strict: u32,
}
