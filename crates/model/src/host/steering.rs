//! What agents outside decide and see of the flows of a host. Between two steps of the simulation they set rates; a
//! flow that starts later finds what was set for it.

use super::Host;
use super::flows::{FlowState, Outlet, Senders};
use super::steered::Steering;
use crate::look::Look;
use protocols::endpoint::Sender;
use units::Time;

impl Host {
    /// From now on its flows have agents.
    pub(crate) fn steer_by(&mut self, steering: Steering) {
        self.senders.steering = Some(Box::new(steering));
    }

    /// The rate of its first port, by which agents measure.
    pub(crate) fn line_rate(&self) -> units::Rate {
        self.egress.rules(0).link.rate
    }

    /// Traffic entries whose flows it draws as time goes on.
    pub(crate) fn drawn_entries(&self) -> impl Iterator<Item = u8> + '_ {
        self.starts.arrivals.iter().map(|(arrivals, _)| arrivals.traffic)
    }

    /// The flows of `agent` that are under way, by slot.
    fn steered(&self, agent: usize) -> Vec<u32> {
        let Some(steering) = &self.senders.steering else { return Vec::new() };
        if let Some(flow) = steering.agents[agent].flow {
            return self.senders.by_flow.get(&flow).copied().into_iter().collect();
        }
        let flows = (0u32..).zip(&self.senders.flows).filter(|(_, flow)| flow.active);
        flows.filter(|(_, flow)| self.network.transport(flow.traffic).is_external()).map(|(slot, _)| slot).collect()
    }

    /// `agent` sets the rate of its flows at `now`: every event before has happened, and none at it.
    pub(crate) fn set_share(&mut self, now: Time, agent: usize, share: f64) {
        for slot in self.steered(agent) {
            let flow = &mut self.senders.flows[slot as usize];
            let Outlet::Transport(sender) = &mut flow.outlet else { continue };
            // A flow that waits for its instant is asked anew; what it said before it will say again, to no effect.
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

    /// What the flows of `agent` have seen since the last look.
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

    /// The flow in `slot` has ended: what it saw is its agent's still.
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
