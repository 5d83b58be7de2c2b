//! Frames that switches bounced (PABO) or detoured (DIBS). Counts of delivered frames cover the measured window, all
//! other counts the whole run.

use serde::{Deserialize, Serialize};

/// Bounces and detours of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BounceSummary {
    /// Data frames that arrived in the window.
    pub delivered: u64,
    /// Share of the delivered frames that bounced at least once, 0..=1.
    #[serde(alias = "turned_share")]
    pub bounced_share: f64,
    /// Mean number of switches that the delivered frames crossed, in either direction (PABO's totalHop).
    pub mean_total_hops: f64,
    /// Number of delivered frames by the number of switches that they crossed: 0, 1, 2, ...; the last of the 256
    /// entries counts all larger numbers.
    pub by_total_hops: Vec<u64>,
    /// Number of delivered frames by maximum distance: 0, 1, 2, ... hops between the frame and the farthest switch that
    /// it had reached (PABO's maxBouncedDistance).
    pub by_max_distance: Vec<u64>,
    /// Number of delivered frames by number of bounces: 0, 1, 2, ...
    #[serde(alias = "by_turns")]
    pub by_bounces: Vec<u64>,
    /// Number of acknowledgements and notifications by number of bounces: 0, 1, 2, ...
    #[serde(alias = "replies_by_turns")]
    pub replies_by_bounces: Vec<u64>,
    /// Number of times that a frame was returned to its sending host.
    pub returned_to_source: u64,
    /// Number of times that a sender halved its window or rate because of a returned frame.
    #[serde(alias = "slowed_down")]
    pub rate_reductions: u64,
    /// Bytes sent on links because of bounces: each bounce adds the hop backwards and the repeated hop forwards.
    #[serde(alias = "spent_bytes")]
    pub overhead_bytes: u64,
    /// Hops because of bounces, as a share of all packet-hops, 0..=1.
    #[serde(alias = "spent_share_of_hops")]
    pub overhead_share_of_hops: f64,
    /// Switches with bounces, in the order of the fabric.
    pub switches: Vec<SwitchBounces>,
    /// Ports whose full queues caused bounces, by descending number of bounces.
    pub ports: Vec<PortBounces>,
    /// The longest time span in which switches bounced more frames than hosts received, or null.
    pub storm: Option<BounceStorm>,
}

/// Bounces at one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchBounces {
    /// Name of the switch.
    pub node: String,
    /// Number of bounces.
    #[serde(alias = "turns")]
    pub bounces: u64,
}

/// Bounces because of the full queue of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortBounces {
    /// The switch's name.
    pub node: String,
    /// Full egress port of the frames.
    pub port: u32,
    /// The node at the other end of the port's link.
    pub peer: String,
    /// Number of bounces.
    #[serde(alias = "turns")]
    pub bounces: u64,
}

/// A time span in which switches bounced more frames than hosts received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BounceStorm {
    /// Start of the span, in ps.
    pub start_ps: u64,
    /// End of the span, in ps.
    pub end_ps: u64,
    /// Bounces in the span.
    #[serde(alias = "turned")]
    pub bounced: u64,
    /// Frames that reached their hosts in the span.
    pub received: u64,
}

units::pack_fields!(PortBounces { node, port, peer, bounces });
