//! When ports may send what: gates, by the clocks of their nodes.

use crate::clock::NodeClocks;
use fabric::{NodeId, PortIndex};
use protocols::gates::GateList;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What makes ports wait by the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// The gates of ports, of hosts and switches. A list begins when the clock of its node shows zero.
    pub gates: BTreeMap<(NodeId, PortIndex), Arc<GateList>>,
    /// What switches take for the time, by node number.
    pub clocks: NodeClocks,
}
