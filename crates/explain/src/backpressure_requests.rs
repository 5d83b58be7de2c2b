//! XOFF and XON requests that a port sent and received, under output backpressure.

use super::explanation::{Explanation, plural};
use super::trace::{PortId, Trace};
use record::trace::{TraceEvent, TrafficSelector};
use std::collections::BTreeMap;
use units::{Rate, Time};

/// Maximum number of flows listed one by one.
const MAX_SHOWN: usize = 20;

fn words(trace: &Trace, of: TrafficSelector) -> String {
    let name = |node: Option<u32>| node.map_or("anybody".to_owned(), |node| trace.node(node).to_owned());
    format!("{} to {}", name(of.src), name(of.dst))
}

fn rate_words(rate_bps: u64) -> String {
    Rate::from_bps(rate_bps).map_or("nothing".to_owned(), |rate| rate.to_string())
}

/// Requests of one kind, by flow: number of requests; and time, port, permitted rate (bit/s) and load of the first
/// request.
type BackpressureRequests = BTreeMap<TrafficSelector, (u64, Time, u16, u64, u64)>;

/// Appends the flows that the output `id` paused by XOFF at its neighbours, and the flows that are held at `id` because
/// of an XOFF from another output.
pub fn explain(explanation: &mut Explanation, trace: &Trace, id: PortId) {
    let (mut sent, mut received) = (BackpressureRequests::new(), BackpressureRequests::new());
    for row in trace.rows.iter().filter(|row| row.node == id.0) {
        match row.event {
            TraceEvent::Xoff { port, egress, of, rate_bps, waiting } if egress == id.1 => {
                sent.entry(of).or_insert((0, row.at, port, rate_bps, waiting)).0 += 1;
            }
            TraceEvent::Held { port, of, rate_bps, .. } if port == id.1 => {
                received.entry(of).or_insert((0, row.at, port, rate_bps, 0)).0 += 1;
            }
            _ => {}
        }
    }
    for (of, (count, first, port, rate_bps, waiting)) in sent.iter().take(MAX_SHOWN) {
        explanation.line(format!(
            "It was congested and requested {} {} to slow down {}, first at {first}, to {}, with {waiting} queued (in \
             the unit of switch.queue).",
            trace.port((id.0, *port)).map_or("a neighbour", |port| trace.node(port.peer)),
            plural(*count, "time"),
            words(trace, *of),
            rate_words(*rate_bps),
        ));
    }
    for (of, (count, first, _, rate_bps, _)) in received.iter().take(MAX_SHOWN) {
        explanation.line(format!(
            "{} was requested {} to limit {}, first at {first}, to {}.",
            trace.node(id.0),
            plural(*count, "time"),
            words(trace, *of),
            rate_words(*rate_bps),
        ));
    }
    let unshown = sent.len().saturating_sub(MAX_SHOWN) + received.len().saturating_sub(MAX_SHOWN);
    if unshown > 0 {
        explanation.line(format!("... and {unshown} more flows."));
    }
}
