//! Agents: an external program sets the rates of flows between two steps of a simulation, and reads their statistics.
//!
//! ```text
//!   set_rates(shares) -> run_until(next step) -> sample_agents() -> set_rates(shares) -> ...
//! ```
//!
//! If each agent sets the current rate of its flows, the results are byte-identical to a run without agents, on any
//! number of threads.

use crate::agent_samples::{Agent, AgentSample, AgentScope};
use crate::build::ModelError;
use crate::host::{AgentControl, AgentFlows};
use crate::node::SimulatedNode;
use crate::simulation::Simulation;
use protocols::endpoint::FlowStart;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use traffic::Load;
use units::Time;

impl Simulation {
    /// Gives the rates of all flows with transport `external` to agents. Returns the agents by ascending flow or host.
    /// Must be called before the first event.
    ///
    /// # Errors
    /// [`ModelError::NoAgents`] without such flows; [`ModelError::DrawnFlows`] if `scope` is per flow and flows are
    /// drawn during the run; [`ModelError::AgentsOverRanks`] with several ranks.
    pub fn create_agents(&mut self, scope: AgentScope) -> Result<Vec<Agent>, ModelError> {
        if self.placement.rank_group.is_some() {
            return Err(ModelError::AgentsOverRanks);
        }
        let network = std::sync::Arc::clone(&self.network);
        let external = |traffic: u8| network.transport(traffic).is_external();
        // Planned flows of a host with their traffic entries, and the traffic entry of its drawn flows, if any.
        type Own = (Vec<(u32, u8)>, Option<u8>);
        let mut by_host: BTreeMap<u32, Own> = BTreeMap::new();
        for (number, flow) in (0u32..).zip(&network.traffic.flows) {
            if flow.load == Load::Transport && external(flow.traffic) {
                by_host.entry(flow.src).or_default().0.push((number, flow.traffic));
            }
        }
        for (host, machine) in (0u32..).zip(network.fabric.hosts()) {
            let Some(SimulatedNode::Host(machine)) = self.machine(*machine) else { continue };
            if let Some(entry) = machine.drawn_entries().find(|&entry| external(entry)) {
                if scope == AgentScope::Flow {
                    return Err(ModelError::DrawnFlows { entry });
                }
                by_host.entry(host).or_default().1 = Some(entry);
            }
        }
        let mut agents = Vec::new();
        for (host, (flows, drawn)) in by_host {
            let index = self.placement.engine_index[network.fabric.host_node(host).index()] as usize;
            let SimulatedNode::Host(machine) = self.engine.node_mut(index) else { continue };
            let line_rate = machine.line_rate();
            let agent = |flow: Option<u32>, traffic: u8, left: u64| {
                let start =
                    FlowStart { size_bytes: 1, start: Time::ZERO, stop: Time::MAX, line_rate, round_trip: Time::ZERO };
                let model = network.transport(traffic).sender(&start);
                AgentFlows { flow, model, share: None, left, seen: AgentSample::default() }
            };
            let steering = match scope {
                AgentScope::Flow => AgentControl {
                    agents: flows.iter().map(|&(flow, traffic)| agent(Some(flow), traffic, 1)).collect(),
                    of_flow: Some((0u32..).zip(&flows).map(|(at, &(flow, _))| (flow, at)).collect::<FxHashMap<_, _>>()),
                },
                AgentScope::Host => {
                    let traffic = flows.first().map(|&(_, traffic)| traffic).or(drawn).unwrap_or_default();
                    AgentControl { agents: vec![agent(None, traffic, flows.len() as u64)], of_flow: None }
                }
            };
            machine.set_agents(steering);
            match scope {
                AgentScope::Flow => agents.extend(
                    flows.iter().enumerate().map(|(at, &(flow, _))| (Agent { host, flow: Some(flow) }, index, at)),
                ),
                AgentScope::Host => agents.push((Agent { host, flow: None }, index, 0)),
            }
        }
        if agents.is_empty() {
            return Err(ModelError::NoAgents);
        }
        agents.sort_by_key(|(agent, ..)| (agent.flow, agent.host));
        self.agents.agents = agents.iter().map(|&(_, index, at)| (index, at, None)).collect();
        Ok(agents.into_iter().map(|(agent, ..)| agent).collect())
    }

    /// Sets the rates of the agents' flows from [`Simulation::now`] on. Each share (0 to 1) is relative to the line
    /// rate of the host's port. The transport may limit the rate further.
    ///
    /// # Panics
    /// Panics unless there is one share per agent.
    pub fn set_rates(&mut self, shares: &[f64]) {
        assert_eq!(shares.len(), self.agents.agents.len(), "a share for each agent");
        let now = self.engine.now();
        for (entry, &share) in self.agents.agents.iter_mut().zip(shares) {
            if entry.2 == Some(share) {
                continue;
            }
            entry.2 = Some(share);
            if let SimulatedNode::Host(host) = self.engine.node_mut(entry.0) {
                host.set_share(now, entry.1, share);
            }
        }
    }

    /// Returns the statistics of each agent's flows since the last call, in order of agents.
    pub fn sample_agents(&mut self) -> Vec<AgentSample> {
        let mut samples = Vec::with_capacity(self.agents.agents.len());
        for &(index, at, _) in &self.agents.agents {
            let SimulatedNode::Host(host) = self.engine.node_mut(index) else { continue };
            samples.push(host.take_sample(at));
        }
        samples
    }
}
