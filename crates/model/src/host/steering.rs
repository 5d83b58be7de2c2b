//! Control of flows by external agents, which set rates and read measurements between two steps of the simulation. A
//! flow that starts later uses the last setting.

use super::Host;
use super::flows::{FlowState, Outlet, Senders};
use super::steered::Steering;
use crate::look::Look;
use protocols::endpoint::Sender;
use units::Time;

impl Host {
    /// Installs the agents of this host's flows.
    pub(crate) fn steer_by(&mut self, steering: Steering) {
        self.senders.steering = Some(Box::new(steering));
    }

    /// Returns the rate of the first port, the reference of the agents.
    pub(crate) fn line_rate(&self) -> units::Rate {
        self.egress.rules(0).link.rate
    }

    /// Returns the traffic entries with flows that are drawn during the run.
    pub(crate) fn drawn_entries(&self) -> impl Iterator<Item = u8> + '_ {
        self.starts.arrivals.iter().map(|(arrivals, _)| arrivals.traffic)
    }

    /// Returns the slots of the active flows of `agent`.
    fn steered(&self, agent: usize) -> Vec<u32> {
        let Some(steering) = &self.senders.steering else { return Vec::new() };
        if let Some(flow) = steering.agents[agent].flow {
            return self.senders.by_flow.get(&flow).copied().into_iter().collect();
        }
        let flows = (0u32..).zip(&self.senders.flows).filter(|(_, flow)| flow.active);
        flows.filter(|(_, flow)| self.network.transport(flow.traffic).is_external()).map(|(slot, _)| slot).collect()
    }

    /// Sets the rate of the flows of `agent` at `now`, after all earlier events and before those at `now`.
    pub(crate) fn set_share(&mut self, now: Time, agent: usize, share: f64) {
        for slot in self.steered(agent) {
            let flow = &mut self.senders.flows[slot as usize];
            let Outlet::Transport(sender) = &mut flow.outlet else { continue };
            // A paced flow is polled anew. Its earlier entry polls it once more, without effect.
            if sender.set_share(share) && flow.state == FlowState::Paced {
                let (port, generation) = (flow.port, flow.generation);
                self.nics[usize::from(port)].paced.push((now, slot, generation));
                self.egress.look_when_free(now, port);
            }
        }
        let steering = self.senders.steering.as_mut();
        if let Some(agent) = steering.and_then(|steering| steering.agents.get_mut(agent)) {
            agent.model.set_share(share);
            agent.share = Some(share);
        }
    }

    /// Returns the measurements of the flows of `agent` since the last call.
    pub(crate) fn look(&mut self, agent: usize) -> Look {
        let slots = self.steered(agent);
        let line_rate = self.line_rate();
        let draws = self.starts.arrivals.iter().any(|(_, next)| next.is_some());
        let Senders { steering: Some(steering), flows, .. } = &mut self.senders else { return Look::default() };
        let shared = steering.of_flow.is_none();
        let agent = &mut steering.agents[agent];
        let mut look = std::mem::take(&mut agent.seen);
        for &slot in &slots {
            if let Outlet::Transport(sender) = &mut flows[slot as usize].outlet {
                sender.take_seen().iter().for_each(|seen| look.add(seen));
            }
        }
        look.under_way = slots.len() as u32;
        look.done = slots.is_empty() && agent.left == 0 && !(shared && draws);
        look.rate = agent.model.take_seen().map_or(line_rate, |seen| seen.rate);
        look.line = line_rate;
        look
    }

    /// Adds the measurements of the ended flow in `slot` to its agent.
    #[cold]
    pub(super) fn steered_flow_ends(&mut self, slot: u32) {
        let Senders { steering: Some(steering), flows, .. } = &mut self.senders else { return };
        let flow = &mut flows[slot as usize];
        let Some(agent) = steering.agent_of(flow.flow) else { return };
        let Outlet::Transport(sender) = &mut flow.outlet else { return };
        if let Some(seen) = sender.take_seen() {
            let planned = flow.flow & crate::numbering::DRAWN == 0;
            let agent = &mut steering.agents[agent];
            agent.seen.add(&seen);
            agent.left = agent.left.saturating_sub(u64::from(planned));
        }
    }
}
