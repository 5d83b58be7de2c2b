//! How long collective operations take, put together from the flows as they end.

use crate::host::FlowEnd;
use crate::numbering::DRAWN;
use stats::collectives::{CollectiveSummary, CollectiveTime};
use traffic::Collection;
use units::Time;

/// What is known of an iteration.
#[derive(Clone, Copy, Debug)]
struct Iteration {
    /// Flows that have not arrived, or not as far as anybody knows.
    missing: u32,
    /// The start of the first flow.
    first: Time,
    /// The arrival of the last byte.
    last: Time,
    /// Whether it began in the measured window.
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
    /// Of a plan that has some.
    pub fn new(collections: &[Collection]) -> Option<Box<Collectives>> {
        let operation = |&collection: &Collection| {
            let none = Iteration { missing: collection.flows, first: Time::MAX, last: Time::ZERO, counts: true };
            Operation { collection, iterations: vec![none; collection.iterations as usize] }
        };
        (!collections.is_empty()).then(|| Box::new(Collectives(collections.iter().map(operation).collect())))
    }

    /// A flow has ended, or is under way at the end of the run. An iteration counts where `counts` says so of its
    /// start.
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

    /// The part of `summary.json`.
    pub fn summary(&self) -> Vec<CollectiveSummary> {
        self.0.iter().map(Operation::summary).collect()
    }
}

impl Operation {
    fn summary(&self) -> CollectiveSummary {
        let of = &self.collection;
        let through = self.iterations.iter().filter(|iteration| iteration.counts && iteration.missing == 0);
        let spans: Vec<f64> =
            through.map(|iteration| (iteration.last - iteration.first).as_ps() as f64 / 1e3).collect();
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
            iterations: of.iterations,
            completed: spans.len() as u32,
            time_ns,
            algorithm_bps,
            bus_bps: algorithm_bps.map(|rate| rate * of.operation.bus_factor(of.ranks)),
        }
    }
}
