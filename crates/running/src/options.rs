//! How to judge: the device, the paths, and the headroom that a cable needs.

use serde::Serialize;
use std::fmt;
use text::numbers::counted;
use units::{Rate, Time};

/// At which port an ASIC looks the queue of a traffic class up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueBinding {
    /// The map of the port that the frame leaves by.
    Egress,
    /// The map of the port that it came by.
    Ingress,
}

/// The paths that frames may take. Tunnels between the ToRs of a pair always follow shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSet {
    /// All shortest paths without failures.
    Shortest,
    /// Up the tiers and down again, with so many turns from down to up, or hops inside a tier.
    Bounces(u8),
    /// Any, but not back by the port that the frame came by.
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

/// A cable and what it is used for: what headroom depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Of the port that receives; of the other end or the cable where its row states no speed.
    pub rate: Rate,
    /// One way, at 5 ns a metre of the longer length that its ends state.
    pub delay: Time,
    /// The larger MTU of the ends, in bytes.
    pub mtu: u64,
    /// Lossless priorities of the port.
    pub priorities: u8,
}

/// How to judge.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// Where the queue of a class is looked up.
    pub binding: QueueBinding,
    /// Paths that frames may take.
    pub paths: PathSet,
    /// The headroom that a lossless account needs, in bytes.
    pub headroom: &'o dyn Fn(&Conditions) -> u64,
}
