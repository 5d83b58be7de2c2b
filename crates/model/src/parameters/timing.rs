//! When ports may send what: gates, by the clocks of their nodes, credit, and frames that interrupt others.

use crate::clock::NodeClocks;
use fabric::{NodeId, PortIndex};
use protocols::cyclic::Cycles;
use protocols::gates::GateList;
use protocols::preemption::PreemptionParameters;
use protocols::shaping::IdleSlopes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What makes ports wait by the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// The gates of ports, of hosts and switches. A list begins when the clock of its node shows zero.
    pub gates: BTreeMap<(NodeId, PortIndex), Arc<GateList>>,
    /// Ports of switches that send in each cycle what came in the one before. They have no other gates.
    pub cycles: BTreeMap<(NodeId, PortIndex), Cycles>,
    /// Classes of ports, of hosts and switches, that need credit to send.
    pub shaping: BTreeMap<(NodeId, PortIndex), IdleSlopes>,
    /// Which frames the ports of switches interrupt, if any.
    pub preemption: Option<PreemptionParameters>,
    /// What switches take for the time, by node number.
    pub clocks: NodeClocks,
}
