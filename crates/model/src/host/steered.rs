//! The agents of a host: what each set, and what its flows saw that have ended.

use crate::look::Look;
use protocols::endpoint::Sender;
use protocols::transport::SenderState;
use rustc_hash::FxHashMap;

/// One agent at its host.
#[derive(Debug)]
pub(crate) struct Steered {
    /// Its flow; `None` for all of the host.
    pub flow: Option<u32>,
    /// A sender that sends nothing: it says which rate a flow of this agent starts with.
    pub model: SenderState,
    /// What was set, if anything was.
    pub share: Option<f64>,
    /// Planned flows of this agent that have not ended.
    pub left: u64,
    /// What its flows saw that have ended since it was last asked.
    pub seen: Look,
}

/// The agents of a host.
#[derive(Debug)]
pub(crate) struct Steering {
    pub agents: Vec<Steered>,
    /// The agent of each flow; `None` where the first has all.
    pub of_flow: Option<FxHashMap<u32, u32>>,
}

impl Steering {
    /// Who sets the rate of `flow`.
    pub fn agent_of(&self, flow: u32) -> Option<usize> {
        match &self.of_flow {
            None => Some(0),
            Some(of_flow) => of_flow.get(&flow).map(|&agent| agent as usize),
        }
    }

    /// A flow starts.
    #[cold]
    pub fn begin(&self, flow: u32, sender: &mut SenderState) {
        if let Some(share) = self.agent_of(flow).and_then(|agent| self.agents[agent].share) {
            sender.set_share(share);
        }
    }
}
