//! One row per started flow, joined from the reports of its sender and its receiver.
//!
//! | sender | receiver | time of the row |
//! |---|---|---|
//! | ended with an acknowledgement | | when the sender ended |
//! | ended a message of a connection | reports the delivery | when both have reported |
//! | ended, gets no acknowledgement | reports the delivery | when both have reported |
//! | ended, gets no acknowledgement | lacks bytes | at the end of the run, without a delivery |
//! | in progress at the end of the run | is queried then | at the end of the run |

use crate::host::{Delivery, FlowEnd, FlowReport};
use crate::network::Network;
use std::collections::BTreeMap;

/// Reports of a sender or receiver whose counterpart has not reported yet. Only rank 0 stores reports.
#[derive(Debug, Default)]
pub(crate) struct FlowEnds {
    /// Reports of senders that need their receiver's report (unacknowledged flows, messages of a connection), by source
    /// and flow.
    sent: BTreeMap<(u32, u32), FlowEnd>,
    /// Reports of receivers, by source and flow.
    delivered: BTreeMap<(u32, u32), Delivery>,
}

impl FlowEnds {
    /// Stores the sender's `report` if its row requires a report of the receiver. Must be called for all reports of a
    /// collection before [`FlowEnds::join`], so that rows appear in the order of the receivers' reports.
    pub fn note(&mut self, report: &FlowReport, network: &Network) {
        if let FlowReport::Sender(end) = report
            && awaits_receiver(end, network)
            && !self.delivered.contains_key(&end.key())
        {
            self.sent.insert(end.key(), *end);
        }
    }

    /// Returns the row that `report` completes, if any.
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

    /// Returns the flows without a receiver's report at the end of the run, by source and flow.
    pub fn take_undelivered(&mut self) -> impl Iterator<Item = FlowEnd> + use<> {
        std::mem::take(&mut self.sent).into_values()
    }

    /// Returns whether the row of the flow `key` waits for the report of the receiver.
    pub fn awaits_delivery(&self, key: (u32, u32)) -> bool {
        self.sent.contains_key(&key)
    }
}

/// Returns whether the row requires a report of the receiver. This applies to flows without acknowledgements, and to
/// messages of a connection, because an acknowledgement does not contain the arrival time of the last byte.
fn awaits_receiver(end: &FlowEnd, network: &Network) -> bool {
    end.acked.is_none() || network.carries_messages(end.flow, end.traffic)
}

/// Returns `end` with the time of its delivery. For datagrams, the size is the number of payload bytes that the
/// receiver counted, because datagrams may be padded and their source may stop at a given time.
pub(crate) fn deliver(end: FlowEnd, delivery: Delivery, network: &Network) -> FlowEnd {
    let carried = network.is_datagram(end.flow, end.traffic).then_some(delivery.size_bytes);
    FlowEnd { delivered: Some(delivery.at), size_bytes: carried.unwrap_or(end.size_bytes), ..end }
}
