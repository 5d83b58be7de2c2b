//! External agents of a host: their settings, and measurements of flows that have ended.

use crate::agent_samples::AgentSample;
use protocols::endpoint::Sender;
use protocols::transport::SenderState;
use rustc_hash::FxHashMap;

/// An external agent that sets rates at its host.
#[derive(Debug)]
pub(crate) struct AgentFlows {
    /// Flow of the agent; `None` for all flows of the host.
    pub flow: Option<u32>,
    /// A sender without data. Its rate is the initial rate of the flows of this agent.
    pub model: SenderState,
    /// Share of the line rate, if set.
    pub share: Option<f64>,
    /// Planned flows of this agent that have not ended.
    pub left: u64,
    /// Measurements of the flows of this agent that have ended since the last sample.
    pub seen: AgentSample,
}

/// The agents of a host.
#[derive(Debug)]
pub(crate) struct AgentControl {
    pub agents: Vec<AgentFlows>,
    /// Index of the agent of each flow; `None` if the first agent controls all flows.
    pub of_flow: Option<FxHashMap<u32, u32>>,
}

impl AgentControl {
    /// Returns the index of the agent of `flow`.
    pub fn agent_of(&self, flow: u32) -> Option<usize> {
        match &self.of_flow {
            None => Some(0),
            Some(of_flow) => of_flow.get(&flow).map(|&agent| agent as usize),
        }
    }

    /// Applies the share that its agent has set to the sender of a flow that starts.
    #[cold]
    pub fn begin(&self, flow: u32, sender: &mut SenderState) {
        if let Some(share) = self.agent_of(flow).and_then(|agent| self.agents[agent].share) {
            sender.set_share(share);
        }
    }
}
