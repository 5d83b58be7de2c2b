//! Flows without a row at the end of a run: queries their receivers for the delivery of the last byte.

use crate::flow_ends::deliver;
use crate::host::{FlowEnd, Host};
use crate::node::SimulatedNode;
use crate::simulation::Simulation;

impl Simulation {
    /// Returns flows without a row at the end of the run: first those with senders in progress, by host, then those
    /// without acknowledgements whose receivers lack bytes. All ranks must call it. Rank 0 gets the flows.
    pub(crate) fn flows_without_row(&mut self) -> Vec<FlowEnd> {
        let undelivered = self.results.flow_ends.take_undelivered();
        let of_host = |host: &Host| host.unfinished().map(|end| (host.identity.node.0, end)).collect::<Vec<_>>();
        let mut own: Vec<(u32, FlowEnd)> = self.hosts().flat_map(of_host).collect();
        own.extend(undelivered.map(|end| (u32::MAX, end)));
        // The last byte may already have arrived, so query the receiver, which may belong to another rank.
        let receiver = |end: &FlowEnd| self.network.fabric.host_node(end.dst).0;
        let queries = own.iter().map(|(_, end)| (receiver(end), end.key())).collect();
        let deliveries = self.query_nodes(queries, |machine, &key: &(u32, u32)| match machine {
            SimulatedNode::Host(host) => host.delivery(key),
            SimulatedNode::Switch(_) | SimulatedNode::Dormant(..) => None,
        });
        for ((_, end), delivery) in own.iter_mut().zip(deliveries) {
            if let Some(delivery) = delivery.flatten() {
                *end = deliver(*end, delivery, &self.network);
            }
        }
        let mut all: Vec<(u32, FlowEnd)> = self.gather(own).into_iter().flatten().collect();
        all.sort_by_key(|&(node, _)| node);
        all.into_iter().map(|(_, end)| end).collect()
    }

    /// At the hosts with these engine indices, removes the recorded deliveries of flows that already have a row. With
    /// several ranks it keeps all deliveries, because a rank cannot check senders of other ranks.
    pub(crate) fn drop_forgotten(&mut self, indices: &[u32]) {
        if self.placement.rank_group.is_some() {
            return;
        }
        for &index in indices {
            let SimulatedNode::Host(host) = self.engine.node_mut(index as usize) else { continue };
            let mut forgotten = std::mem::take(host.expired_deliveries());
            forgotten.retain(|&(src, flow), _| {
                let sender = self.machine(self.network.fabric.host_node(src));
                let is_open = matches!(sender, Some(SimulatedNode::Host(host)) if host.sends(flow));
                is_open || self.results.flow_ends.awaits_delivery((src, flow))
            });
            if let SimulatedNode::Host(host) = self.engine.node_mut(index as usize) {
                *host.expired_deliveries() = forgotten;
            }
        }
    }
}
