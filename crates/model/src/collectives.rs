//! Completion times of collective operations, computed from ended flows.

use crate::baseline::Frames;
use crate::host::FlowEnd;
use crate::network::Network;
use crate::numbering::DRAWN;
use check::Verdict;
use fabric::routing::flow_hash;
use fabric::{NodeId, PortIndex};
use stats::collectives::{CollectiveSummary, CollectiveTime};
use std::collections::BTreeMap;
use traffic::Collection;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// State of one iteration of a collective operation.
#[derive(Clone, Copy, Debug)]
struct Iteration {
    /// Flows that have not been reported as delivered.
    missing: u32,
    /// Start of the first flow.
    first: Time,
    /// Arrival of the last byte.
    last: Time,
    /// Whether the iteration started in the measurement window.
    counts: bool,
}

/// Iterations of one traffic entry.
#[derive(Clone, Debug)]
struct Operation {
    collection: Collection,
    iterations: Vec<Iteration>,
}

/// Collective operations of all entries.
#[derive(Clone, Debug)]
pub(crate) struct Collectives(Vec<Operation>);

impl Collectives {
    /// Creates the state of a plan's collective operations, if it has any.
    pub fn new(collections: &[Collection]) -> Option<Box<Collectives>> {
        let operation = |&collection: &Collection| {
            let none = Iteration { missing: collection.flows, first: Time::MAX, last: Time::ZERO, counts: true };
            Operation { collection, iterations: vec![none; collection.iterations as usize] }
        };
        (!collections.is_empty()).then(|| Box::new(Collectives(collections.iter().map(operation).collect())))
    }

    /// Records a flow that ended, or is unfinished at the end of the run. `counts` returns, by start time, whether an
    /// iteration is measured.
    #[cold]
    pub fn note(&mut self, end: &FlowEnd, counts: impl Fn(Time) -> bool) {
        if end.flow & DRAWN != 0 {
            return;
        }
        let Some(of) = self.0.iter_mut().find(|of| of.collection.traffic == end.traffic) else { return };
        let at = end.flow.checked_sub(of.collection.first_flow).map(|flow| flow / of.collection.flows);
        let Some(iteration) = at.and_then(|at| of.iterations.get_mut(at as usize)) else { return };
        iteration.first = iteration.first.min(end.start);
        iteration.counts = counts(iteration.first);
        if let Some(delivered) = end.delivered {
            iteration.missing -= 1;
            iteration.last = iteration.last.max(delivered);
        }
    }

    /// Checks that no iteration was faster than its links allow.
    pub fn verdict(&self, network: &Network) -> Verdict {
        check::collectives::verdict(self.0.iter().flat_map(|operation| {
            let least = least_time(network, &operation.collection);
            operation.completed_durations().map(move |took| check::collectives::Iteration { took, least })
        }))
    }

    /// Returns the entries of `summary.json`.
    pub fn summary(&self) -> Vec<CollectiveSummary> {
        self.0.iter().map(Operation::summary).collect()
    }
}

/// Returns a lower bound of the duration of an iteration: the maximum over ports of the serialisation delay of all
/// bytes of the connections through the port. The bound is equal for all iterations.
fn least_time(network: &Network, of: &Collection) -> Time {
    let fabric = &network.fabric;
    let mut bytes_by_connection = BTreeMap::<u32, u64>::new();
    for number in of.first_flow..of.first_flow + of.flows {
        let flow = &network.traffic.flows[number as usize];
        let frames = Frames::of(network, of.traffic, Some(&flow.load), flow.size_bytes);
        let Frames { full, full_bytes, last_bytes, .. } = frames;
        let last_wire_bytes = if last_bytes > 0 { last_bytes + WIRE_OVERHEAD_BYTES } else { 0 };
        let wire_bytes = full * (full_bytes + WIRE_OVERHEAD_BYTES) + last_wire_bytes;
        *bytes_by_connection.entry(network.traffic.connections.of(number)).or_default() += wire_bytes;
    }
    let mut bytes_by_port = BTreeMap::<(NodeId, PortIndex), u64>::new();
    for (number, wire_bytes) in bytes_by_connection {
        let flow = &network.traffic.flows[number as usize];
        let entropy = flow_hash(flow.src, flow.dst, number);
        let path = || network.routing.forwarding.path(fabric, flow.src, flow.dst, entropy).ok();
        let hops = network.measurement.in_order.then(path).flatten();
        let mut ports: Vec<_> = hops.into_iter().flatten().map(|hop| (hop.node, hop.port)).collect();
        let host = fabric.host_node(flow.src);
        if ports.is_empty() && fabric.ports(host).len() == 1 {
            ports.push((host, 0));
        }
        ports.into_iter().for_each(|port| *bytes_by_port.entry(port).or_default() += wire_bytes);
    }
    // Preamble and gap of one frame are excluded, because the gap after the last frame does not delay its arrival.
    let time = |((node, port), bytes): ((NodeId, PortIndex), u64)| {
        let link = fabric.ports(node)[usize::from(port)].link;
        fabric.link(link).rate.serialise(bytes.saturating_sub(WIRE_OVERHEAD_BYTES))
    };
    bytes_by_port.into_iter().map(time).max().unwrap_or(Time::ZERO)
}

impl Operation {
    /// Returns the durations of measured, completed iterations.
    fn completed_durations(&self) -> impl Iterator<Item = Time> {
        let through = self.iterations.iter().filter(|iteration| iteration.counts && iteration.missing == 0);
        through.map(|iteration| iteration.last - iteration.first)
    }

    fn summary(&self) -> CollectiveSummary {
        let of = &self.collection;
        let spans: Vec<f64> = self.completed_durations().map(|took| took.as_ps() as f64 / 1e3).collect();
        let time_ns = (!spans.is_empty()).then(|| CollectiveTime {
            mean: spans.iter().sum::<f64>() / spans.len() as f64,
            min: spans.iter().copied().fold(f64::INFINITY, f64::min),
            max: spans.iter().copied().fold(0.0, f64::max),
        });
        let algorithm_bps = time_ns.map(|time| of.total_bytes as f64 * 8e9 / time.mean);
        CollectiveSummary {
            traffic: of.traffic.into(),
            operation: of.operation.name().to_owned(),
            algorithm: of.algorithm.name().to_owned(),
            ranks: of.ranks,
            size_bytes: of.total_bytes,
            qps_per_connection: of.qps_per_connection,
            iterations: of.iterations,
            measured: Some(self.iterations.iter().filter(|iteration| iteration.counts).count() as u32),
            completed: spans.len() as u32,
            time_ns,
            algorithm_bps,
            bus_bps: algorithm_bps.map(|rate| rate * of.operation.bus_factor(of.ranks)),
        }
    }
}
