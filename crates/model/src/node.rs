//! Node of the engine: a switch or a host.

use crate::account::Counters;
use crate::egress::Egress;
use crate::host::{FlowSchedule, Host};
use crate::network::Network;
use crate::node_stats::NodeStats;
use crate::on_wire::OnWire;
use crate::switch::Switch;
use engine::{Node, Window};
use fabric::NodeId;
use std::sync::{Arc, LazyLock};
use units::Time;

/// A node of the fabric.
#[derive(Debug)]
pub(crate) enum SimulatedNode {
    Switch(Box<Switch>),
    Host(Box<Host>),
    /// A host that starts no flow and has received nothing. In a large fabric few hosts may be active, so dormant hosts
    /// need no memory beyond this variant. The first arrival creates the host.
    Dormant(NodeId, Arc<Network>),
}

/// Counters of dormant hosts: all are zero.
static EMPTY_COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::default);

impl SimulatedNode {
    /// Creates the host `node`, which starts the flows of `flow_schedule`.
    pub fn host(node: NodeId, network: &Arc<Network>, flow_schedule: FlowSchedule) -> SimulatedNode {
        if flow_schedule.is_empty() && Host::can_be_lazy_allocated(node, network) {
            SimulatedNode::Dormant(node, Arc::clone(network))
        } else {
            SimulatedNode::Host(Box::new(Host::new(node, network, flow_schedule)))
        }
    }

    /// Converts a dormant host into a [`SimulatedNode::Host`].
    #[cold]
    pub fn activate(&mut self) {
        if let SimulatedNode::Dormant(node, network) = self {
            *self = SimulatedNode::Host(Box::new(Host::new(*node, network, FlowSchedule::default())));
        }
    }

    /// Runs a window of a dormant host.
    #[cold]
    #[inline(never)]
    fn run_dormant(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        if window.next_arrival() == Time::MAX {
            return Time::MAX;
        }
        self.activate();
        // Calls `self.run` and not `host.run`, because `host.run` is inlined only if it has a single call site.
        self.run(window)
    }

    pub fn counters(&self) -> &Counters {
        self.stats().map_or(&EMPTY_COUNTERS, |stats| &stats.counters)
    }

    /// Returns the records of a node, or `None` for a dormant host.
    pub fn stats(&self) -> Option<&NodeStats> {
        match self {
            SimulatedNode::Switch(switch) => Some(&switch.core.stats),
            SimulatedNode::Host(host) => Some(&host.stats),
            SimulatedNode::Dormant(..) => None,
        }
    }

    /// See [`SimulatedNode::stats`].
    pub fn stats_mut(&mut self) -> Option<&mut NodeStats> {
        match self {
            SimulatedNode::Switch(switch) => Some(&mut switch.core.stats),
            SimulatedNode::Host(host) => Some(&mut host.stats),
            SimulatedNode::Dormant(..) => None,
        }
    }

    /// Returns the ports, or `None` for a dormant host, which has sent nothing.
    pub fn egress(&self) -> Option<&Egress> {
        match self {
            SimulatedNode::Switch(switch) => Some(&switch.core.egress),
            SimulatedNode::Host(host) => Some(&host.egress),
            SimulatedNode::Dormant(..) => None,
        }
    }
}

impl Node for SimulatedNode {
    // `distance` is the prefetch distance in nodes: 3 fetches the node itself, 2 and 1 the data that it points to.
    type Message = OnWire;
    #[inline(always)] // hot: runs once per run of a node
    fn run(&mut self, window: &mut Window<'_, OnWire>) -> Time {
        match self {
            SimulatedNode::Switch(switch) => switch.run(window),
            SimulatedNode::Host(host) => host.run(window),
            SimulatedNode::Dormant(..) => self.run_dormant(window),
        }
    }

    fn work(&self) -> u64 {
        // Cost is one unit per frame handled at arrival and per frame generated.
        let counters = self.counters();
        counters.hops + counters.packets.injected.frames
    }

    fn prefetch(&self, distance: usize) {
        match (self, distance) {
            (SimulatedNode::Switch(switch), 3) => engine::prefetch(&**switch),
            (SimulatedNode::Switch(switch), distance) => switch.prefetch(distance),
            (SimulatedNode::Host(host), 3) => engine::prefetch(&**host),
            (SimulatedNode::Host(host), distance) => host.prefetch(distance),
            (SimulatedNode::Dormant(..), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NullWatcher;
    use crate::parameters::Setup;
    use crate::simulation::Simulation;
    use fabric::LinkSpec;
    use fabric::generate::{TierLinks, fat_tree};
    use traffic::{Entry, Pairs, Pattern, PlanBuilder, Workload};
    use units::Rate;

    /// Host 3 sends to host 9 over six links of 500 ns. Host 9 is dormant after 2 us and active at the end of the run;
    /// all other hosts remain dormant.
    #[test]
    fn a_host_is_dormant_until_its_first_arrival() {
        let links = TierLinks::uniform(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
        let fabric = fat_tree(4, links).unwrap();
        let hosts: Vec<NodeId> = fabric.hosts().to_vec();
        let mut plan = PlanBuilder::new();
        let pairs = Pairs { pattern: Pattern::Permutation, workload: Workload::Endless };
        traffic::pairs(&pairs, &[3, 9], &Entry::new(1, 0), &mut plan).unwrap();
        let plan = plan.build(hosts.len() as u32).unwrap();
        // Host 9 only receives.
        let plan = traffic::Plan { flows: plan.flows.into_iter().filter(|flow| flow.src == 3).collect(), ..plan };
        let setup = Setup { duration: Time::from_us(20), ..Setup::new(fabric, plan).unwrap() };
        let mut simulation = Simulation::new(setup).unwrap();
        let awake = |simulation: &Simulation| -> Vec<usize> {
            let is_awake = |&host: &usize| matches!(simulation.machine(hosts[host]), Some(SimulatedNode::Host(_)));
            (0..hosts.len()).filter(is_awake).collect()
        };
        assert_eq!(awake(&simulation), [3]);
        simulation.run_until(Time::from_us(2), &mut NullWatcher);
        assert_eq!(awake(&simulation), [3], "six links of 500 ns take longer");
        simulation.run(&mut NullWatcher);
        assert_eq!(awake(&simulation), [3, 9]);
        assert!(simulation.finish(&mut NullWatcher, false).packets.delivered_whole > 100);
    }

    #[test]
    fn a_dormant_host_has_the_size_of_a_pointer_and_its_target() {
        assert_eq!(size_of::<SimulatedNode>(), 16);
    }
}
