//! Pause storms, as watchdogs find them; over the whole run.

use serde::{Deserialize, Serialize};

/// Pause storms of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseStorms {
    /// How many began.
    pub storms: u64,
    /// How many of them were over at the end.
    pub over: u64,
    /// Packets that watchdogs dropped.
    pub dropped_packets: u64,
    /// Time in storms over all ports and classes, in ps.
    pub total_ps: u64,
    /// Where: the longest in storms first, as many as [`MAX_LOSS_PLACES`](crate::summary::MAX_LOSS_PLACES).
    pub ports: Vec<StormAt>,
}

/// The storms of a class of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StormAt {
    /// The switch.
    pub node: String,
    /// Its port.
    pub port: u32,
    /// The node at the other end, which stops it.
    pub peer: String,
    /// The class, 0..=7.
    pub class: u8,
    /// How many began.
    pub storms: u64,
    /// How many of them were over at the end.
    pub over: u64,
    /// Time in them, in ps.
    pub storm_ps: u64,
}

units::pack_fields!(StormAt { node, port, peer, class, storms, over, storm_ps });
