//! Control of flows by external agents, which set rates and read measurements between two steps of the simulation. A
//! flow that starts later uses the last setting.

use super::Host;
use super::agents::AgentControl;
use super::flows::{FlowSource, FlowState, Senders};
use crate::agent_samples::AgentSample;
use protocols::endpoint::Sender;
use units::Time;

impl Host {
    /// Installs the agents of this host's flows.
    pub(crate) fn set_agents(&mut self, control: AgentControl) {
        self.senders.agent_control = Some(Box::new(control));
    }

    /// Returns the rate of the first port, to which the shares of agents are relative.
    pub(crate) fn line_rate(&self) -> units::Rate {
        self.egress.state(0).link.rate
    }

    /// Returns the traffic entries with flows that are drawn during the run.
    pub(crate) fn drawn_entries(&self) -> impl Iterator<Item = u8> + '_ {
        self.flow_schedule.arrivals.iter().map(|(arrivals, _)| arrivals.traffic)
    }

    /// Returns the slots of the active flows of `agent`.
    fn flows_of_agent(&self, agent: usize) -> Vec<u32> {
        let Some(control) = &self.senders.agent_control else { return Vec::new() };
        if let Some(flow) = control.agents[agent].flow {
            return self.senders.by_flow.get(&flow).copied().into_iter().collect();
        }
        let flows = (0u32..).zip(&self.senders.flows).filter(|(_, flow)| flow.active);
        flows.filter(|(_, flow)| self.network.transport(flow.traffic).is_external()).map(|(slot, _)| slot).collect()
    }

    /// Sets the rate of the flows of `agent` at `now`, after all earlier events and before those at `now`.
    pub(crate) fn set_share(&mut self, now: Time, agent: usize, share: f64) {
        for slot in self.flows_of_agent(agent) {
            let flow = &mut self.senders.flows[slot as usize];
            let FlowSource::Transport(sender) = &mut flow.source else { continue };
            // A paced flow is polled again at `now`. Its earlier entry in the heap causes one more poll, which has no
            // effect.
            if sender.set_share(share) && flow.state == FlowState::Paced {
                let (port, generation) = (flow.port, flow.generation);
                self.port_queues[usize::from(port)].paced.push((now, slot, generation));
                self.egress.schedule_when_free(now, port);
            }
        }
        let control = self.senders.agent_control.as_mut();
        if let Some(agent) = control.and_then(|control| control.agents.get_mut(agent)) {
            agent.model.set_share(share);
            agent.share = Some(share);
        }
    }

    /// Returns the measurements of the flows of `agent` since the last call.
    pub(crate) fn take_sample(&mut self, agent: usize) -> AgentSample {
        let slots = self.flows_of_agent(agent);
        let line_rate = self.line_rate();
        let draws = self.flow_schedule.arrivals.iter().any(|(_, next)| next.is_some());
        let Senders { agent_control: Some(control), flows, .. } = &mut self.senders else {
            return AgentSample::default();
        };
        let shared = control.of_flow.is_none();
        let agent = &mut control.agents[agent];
        let mut sample = std::mem::take(&mut agent.seen);
        for &slot in &slots {
            if let FlowSource::Transport(sender) = &mut flows[slot as usize].source {
                sender.take_observation().iter().for_each(|seen| sample.add(seen));
            }
        }
        sample.under_way = slots.len() as u32;
        sample.done = slots.is_empty() && agent.left == 0 && !(shared && draws);
        sample.rate = agent.model.take_observation().map_or(line_rate, |seen| seen.rate);
        sample.line = line_rate;
        sample
    }

    /// Adds the measurements of the ended flow in `slot` to its agent.
    #[cold]
    pub(super) fn on_agent_flow_end(&mut self, slot: u32) {
        let Senders { agent_control: Some(control), flows, .. } = &mut self.senders else { return };
        let flow = &mut flows[slot as usize];
        let Some(agent) = control.agent_of(flow.flow) else { return };
        let FlowSource::Transport(sender) = &mut flow.source else { return };
        if let Some(seen) = sender.take_observation() {
            let planned = flow.flow & crate::numbering::DRAWN == 0;
            let agent = &mut control.agents[agent];
            agent.seen.add(&seen);
            agent.left = agent.left.saturating_sub(u64::from(planned));
        }
    }
}
