//! One row for each flow that started, put together from what its two ends report.
//!
//! | the sender | the receiver | the row |
//! |---|---|---|
//! | ended, and knows of the delivery | | when the sender ended |
//! | ended, and is never told | reports the delivery | when both have reported |
//! | ended, and is never told | lacks bytes | at the end of the run, without a delivery |
//! | is under way at the end of the run | is asked then | at the end of the run |

use crate::host::{Delivery, FlowEnd, FlowReport, Host};
use crate::network::Network;
use crate::node::Machine;
use crate::simulation::Simulation;
use std::collections::BTreeMap;

/// Reports of one end of a flow that wait for the other end's; at the first of several ranks.
#[derive(Debug, Default)]
pub(crate) struct FlowEnds {
    /// Of senders that are never told, by source and flow.
    sent: BTreeMap<(u32, u32), FlowEnd>,
    /// Of receivers.
    delivered: BTreeMap<(u32, u32), Delivery>,
}

impl FlowEnds {
    /// Keeps the sender's `report` if its row waits for the receiver's. All reports of a collection come here before any
    /// comes to [`FlowEnds::join`], so that the row stands where the receiver reports.
    pub fn note(&mut self, report: &FlowReport) {
        if let FlowReport::Sender(end) = report
            && end.acked.is_none()
            && !self.delivered.contains_key(&end.key())
        {
            self.sent.insert(end.key(), *end);
        }
    }

    /// The row that `report` completes, if it does.
    pub fn join(&mut self, report: FlowReport, network: &Network) -> Option<FlowEnd> {
        match report {
            FlowReport::Sender(end) if end.acked.is_some() => Some(end),
            FlowReport::Sender(end) => {
                let delivery = self.delivered.remove(&end.key())?;
                Some(deliver(end, delivery, network))
            }
            FlowReport::Receiver(delivery) => {
                let key = (delivery.src, delivery.flow);
                let end = self.sent.remove(&key);
                if end.is_none() {
                    self.delivered.insert(key, delivery);
                }
                Some(deliver(end?, delivery, network))
            }
        }
    }

    /// Whether the row of the flow `key` waits for its receiver.
    pub fn awaits_delivery(&self, key: (u32, u32)) -> bool {
        self.sent.contains_key(&key)
    }
}

/// `end` with its delivery. How much payload padded datagrams carry, or a source that stops at a time, only the receiver
/// knows.
fn deliver(end: FlowEnd, delivery: Delivery, network: &Network) -> FlowEnd {
    let carried = network.is_datagram(end.flow, end.traffic).then_some(delivery.size_bytes);
    FlowEnd { delivered: Some(delivery.at), size_bytes: carried.unwrap_or(end.size_bytes), ..end }
}

impl Simulation {
    /// Flows without a row at the end of the run: those whose senders are under way, by host, and then those whose
    /// senders are never told and whose receivers lack bytes. Of several ranks all call it, and the first gets them.
    pub(crate) fn flows_without_row(&mut self) -> Vec<FlowEnd> {
        let untold = std::mem::take(&mut self.flow_ends).sent.into_values();
        let of_host = |host: &Host| host.unfinished().map(|end| (host.node.0, end)).collect::<Vec<_>>();
        let mut own: Vec<(u32, FlowEnd)> = self.hosts().flat_map(of_host).collect();
        own.extend(untold.map(|end| (u32::MAX, end)));
        // The last byte may have arrived all the same, wherever the receiver is.
        let receiver = |end: &FlowEnd| self.network.fabric.host_node(end.dst).0;
        let questions = own.iter().map(|(_, end)| (receiver(end), end.key())).collect();
        let deliveries = self.ask(questions, |machine, &key: &(u32, u32)| match machine {
            Machine::Host(host) => host.delivery(key),
            Machine::Switch(_) | Machine::Quiet(..) => None,
        });
        for ((_, end), delivery) in own.iter_mut().zip(deliveries) {
            if let Some(delivery) = delivery.flatten() {
                *end = deliver(*end, delivery, &self.network);
            }
        }
        let mut all: Vec<(u32, FlowEnd)> = self.parts(own).into_iter().flatten().collect();
        all.sort_by_key(|&(node, _)| node);
        all.into_iter().map(|(_, end)| end).collect()
    }

    /// Lets the hosts at `indices` drop the deliveries of flows that have a row. Several ranks keep them all: a rank does
    /// not know whether senders at another one have ended.
    pub(crate) fn drop_forgotten(&mut self, indices: &[u32]) {
        if self.company.is_some() {
            return;
        }
        for &index in indices {
            let Machine::Host(host) = self.engine.node_mut(index as usize) else { continue };
            let mut forgotten = std::mem::take(host.forgotten());
            forgotten.retain(|&(src, flow), _| {
                let sender = self.machine(self.network.fabric.host_node(src));
                let is_open = matches!(sender, Some(Machine::Host(host)) if host.sends(flow));
                is_open || self.flow_ends.awaits_delivery((src, flow))
            });
            if let Machine::Host(host) = self.engine.node_mut(index as usize) {
                *host.forgotten() = forgotten;
            }
        }
    }
}
