//! Tag rewriting in switches: a match-action table by (tag, ingress port, egress port), in addition to the routes.
//!
//! [`SwitchRules`] are the rules of one switch as they are written to its TCAM; [`Lookup`] expands all rules for one
//! lookup per packet. This module does not verify that the rules prevent deadlock.

mod lookup;
mod maps;
mod port_set;

pub use lookup::Lookup;
pub use maps::{MapsFile, NodeMaps, QosMaps, Stop, Treatment};
pub use port_set::{PortSet, ones};

use crate::NodeId;

/// Tag of a packet: 0 means lossy, higher values are lossless tags.
pub type Tag = u8;

/// Tag of packets that may be dropped and trigger no PAUSE frames; the last rule of every switch assigns it.
pub const LOSSY_TAG: Tag = 0;

/// Rule: packets with this tag that arrive at any port of `in_ports` and leave by any port of `out_ports` get
/// `new_tag`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rule {
    /// Tag on arrival.
    pub tag: Tag,
    /// Ingress ports.
    pub in_ports: PortSet,
    /// Egress ports.
    pub out_ports: PortSet,
    /// Tag on departure, which also selects the egress queue.
    pub new_tag: Tag,
}

/// Rules of one forwarding node: a switch, or a host that relays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchRules {
    /// The node.
    pub node: NodeId,
    /// Rules sorted by (tag, in_ports, out_ports); overlapping rules have the same new tag.
    pub rules: Vec<Rule>,
}
