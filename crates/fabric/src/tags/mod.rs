//! What switches do with the tag of a packet: forwarding state beside the routes, by (tag, ingress port, egress port).
//!
//! [`SwitchRules`] are the rules of one switch as they are written into its TCAM, [`Lookup`] all of them unfolded for
//! one look-up per packet. Which rules keep a fabric from deadlock is not known here.

mod lookup;
mod port_set;

pub use lookup::Lookup;
pub use port_set::{PortSet, ones};

use crate::NodeId;

/// What a packet carries: 0 is lossy, above it are the lossless tags.
pub type Tag = u8;

/// The tag of packets that may be dropped and pause nobody; every switch's last rule gives it.
pub const LOSSY_TAG: Tag = 0;

/// Packets with this tag that come in by any of `in_ports` and leave by any of `out_ports` get `new_tag`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rule {
    /// The arriving tag.
    pub tag: Tag,
    /// Ingress ports.
    pub in_ports: PortSet,
    /// Egress ports.
    pub out_ports: PortSet,
    /// The tag it leaves with, and whose queue it waits in.
    pub new_tag: Tag,
}

/// The rules of one node that forwards: a switch, or a host that relays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchRules {
    /// The node.
    pub node: NodeId,
    /// Sorted by (tag, in, out); none overlaps another with a different new tag.
    pub rules: Vec<Rule>,
}
