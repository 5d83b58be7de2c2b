//! One row for each flow that started, put together from what its two ends report.
//!
//! | the sender | the receiver | the row |
//! |---|---|---|
//! | ended with an acknowledgement | | when the sender ended |
//! | ended a message of a connection | reports the delivery | when both have reported |
//! | ended, gets no acknowledgement | reports the delivery | when both have reported |
//! | ended, gets no acknowledgement | lacks bytes | at the end of the run, without a delivery |
//! | is under way at the end of the run | is queried then | at the end of the run |

use crate::host::{Delivery, FlowEnd, FlowReport};
use crate::network::Network;
use std::collections::BTreeMap;

/// Reports of one end of a flow that wait for the other end's; at the first of several ranks.
#[derive(Debug, Default)]
pub(crate) struct FlowEnds {
    /// Of senders without acknowledgements, by source and flow.
    sent: BTreeMap<(u32, u32), FlowEnd>,
    /// Of receivers.
    delivered: BTreeMap<(u32, u32), Delivery>,
}

impl FlowEnds {
    /// Keeps the sender's `report` if its row waits for the receiver's. All reports of a collection come here before
    /// any comes to [`FlowEnds::join`], so that the row stands where the receiver reports.
    pub fn note(&mut self, report: &FlowReport, network: &Network) {
        if let FlowReport::Sender(end) = report
            && awaits_receiver(end, network)
            && !self.delivered.contains_key(&end.key())
        {
            self.sent.insert(end.key(), *end);
        }
    }

    /// The row that `report` completes, if it does.
    pub fn join(&mut self, report: FlowReport, network: &Network) -> Option<FlowEnd> {
        match report {
            FlowReport::Sender(end) if !awaits_receiver(&end, network) => Some(end),
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

    /// At the end of the run, the flows whose receivers have not reported, by source and flow.
    pub fn take_undelivered(&mut self) -> impl Iterator<Item = FlowEnd> + use<> {
        std::mem::take(&mut self.sent).into_values()
    }

    /// Whether the row of the flow `key` waits for its receiver.
    pub fn awaits_delivery(&self, key: (u32, u32)) -> bool {
        self.sent.contains_key(&key)
    }
}

/// Whether the receiver reports the delivery: where there are no acknowledgements, and of messages of a connection, as
/// acknowledgements say only when its last byte arrived.
fn awaits_receiver(end: &FlowEnd, network: &Network) -> bool {
    end.acked.is_none() || network.carries_messages(end.flow, end.traffic)
}

/// `end` with its delivery. The payload of padded datagrams, and of a source that stops at a time, is counted at the
/// receiver.
pub(crate) fn deliver(end: FlowEnd, delivery: Delivery, network: &Network) -> FlowEnd {
    let carried = network.is_datagram(end.flow, end.traffic).then_some(delivery.size_bytes);
    FlowEnd { delivered: Some(delivery.at), size_bytes: carried.unwrap_or(end.size_bytes), ..end }
}
