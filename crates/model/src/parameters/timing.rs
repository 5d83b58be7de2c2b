//! Time-dependent transmission: gates, cycles, shapers, preemption, and clocks.

use crate::clock::NodeClocks;
use fabric::{NodeId, PortIndex};
use protocols::cyclic::Cycles;
use protocols::gates::GateList;
use protocols::preemption::PreemptionParameters;
use protocols::shaping::IdleSlopes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parameters of time-dependent transmission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Gates of host and switch ports. A gate control list starts at time zero of the node's clock.
    pub gates: BTreeMap<(NodeId, PortIndex), Arc<GateList>>,
    /// Switch ports with cyclic queuing. These ports have no entry in `gates`.
    pub cycles: BTreeMap<(NodeId, PortIndex), Cycles>,
    /// Shaped classes of host and switch ports.
    pub shaping: BTreeMap<(NodeId, PortIndex), IdleSlopes>,
    /// Frame preemption at switch ports, if any.
    pub preemption: Option<PreemptionParameters>,
    /// Clocks of the switches, by node number.
    pub clocks: NodeClocks,
}
