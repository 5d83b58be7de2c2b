//! Frames that switches turned around (PABO) or sent another way than their route's
//! (DIBS). Counts of delivered frames cover the measured window, all others the whole run.

use serde::{Deserialize, Serialize};

/// Frames that turned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnSummary {
    /// Data frames that arrived in the window.
    pub delivered: u64,
    /// The share of them that turned at least once, 0..=1.
    pub turned_share: f64,
    /// Mean number of switches that they crossed, in either direction (PABO's totalHop).
    pub mean_total_hops: f64,
    /// How many of them crossed 0, 1, 2, ... switches; the last of 256 counts all beyond.
    pub by_total_hops: Vec<u64>,
    /// How many of them were at most 0, 1, 2, ... hops from the furthest switch that they had reached (PABO's
    /// maxBouncedDistance).
    pub by_max_distance: Vec<u64>,
    /// How many of them turned 0, 1, 2, ... times.
    pub by_turns: Vec<u64>,
    /// The same of acknowledgements and notifications.
    pub replies_by_turns: Vec<u64>,
    /// How often a frame came back to the host that had sent it.
    pub returned_to_source: u64,
    /// How often a sender halved its window or rate because frames came back to it.
    pub slowed_down: u64,
    /// What turns cost links, in bytes of frames: each one the hop away, and the hop again.
    pub spent_bytes: u64,
    /// The same in packet-hops, as a share of all, 0..=1.
    pub spent_share_of_hops: f64,
    /// Switches where frames turned, in the order of the fabric.
    pub switches: Vec<SwitchTurns>,
    /// Ports whose queues made the most frames turn, most first.
    pub ports: Vec<PortTurns>,
    /// The longest span in which switches turned more frames than hosts received, or null.
    pub storm: Option<Storm>,
}

/// Turns at one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchTurns {
    /// Its name.
    pub node: String,
    /// How often a frame turned there.
    pub turns: u64,
}

/// Turns because of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTurns {
    /// The switch's name.
    pub node: String,
    /// Its port, towards which the frames were going.
    pub port: u32,
    /// The node at the other end.
    pub peer: String,
    /// How often a frame turned.
    pub turns: u64,
}

/// A span in which more frames turned than arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storm {
    /// Its start, in ps.
    pub start_ps: u64,
    /// Its end, in ps.
    pub end_ps: u64,
    /// Turns within it.
    pub turned: u64,
    /// Frames that reached their hosts within it.
    pub received: u64,
}

units::pack_fields!(PortTurns { node, port, peer, turns });
