//! Flows of compared runs. If the sets of completed flows differ between runs, metrics are compared over the
//! intersection.

use super::metrics::{Measured, measure, measure_labels};
use super::row::Row;
use model::Watcher;
use record::flows::{FlowRecord, FlowStatistics};
use record::summary::{Goodput, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of flows stored by all runs of a comparison together, 56 bytes each.
const MOST_FLOWS: usize = 4_000_000;

/// Identity and times of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flow {
    flow: u64,
    traffic: u32,
    src_host: u32,
    dst_host: u32,
    size_bytes: u64,
    start_ps: u64,
    delivered_ps: Option<u64>,
    baseline_fct_ps: u64,
}

impl Flow {
    /// Returns the identity of the flow, which is equal for all varied values. It excludes the start time, which may
    /// depend on the varied value.
    fn key(&self) -> (u64, u32, u32, u32, u64) {
        (self.flow, self.traffic, self.src_host, self.dst_host, self.size_bytes)
    }
}

/// The flows of one run of a comparison.
#[derive(Debug)]
pub(crate) struct FlowLedger {
    most: usize,
    flows: Vec<Flow>,
    is_cut: bool,
}

impl FlowLedger {
    /// Creates the ledger of one of `runs` runs.
    pub fn of_runs(runs: usize) -> FlowLedger {
        FlowLedger { most: MOST_FLOWS / runs.max(1), flows: Vec::new(), is_cut: false }
    }

    /// Returns the completed flows that started in the measurement interval of `summary`, in order of their numbers;
    /// `None` if there were more than can be stored.
    pub fn completed(self, summary: &Summary) -> Option<CompletedFlows> {
        let window = summary.window;
        let counts = |flow: &Flow| {
            let in_window = flow.start_ps < window.end_ps || window.end_ps >= summary.simulated_ps;
            flow.delivered_ps.is_some() && flow.start_ps >= window.start_ps && in_window
        };
        let mut flows: Vec<Flow> = self.flows.into_iter().filter(counts).collect();
        flows.sort_unstable_by_key(Flow::key);
        (!self.is_cut).then_some(CompletedFlows(flows))
    }
}

impl Watcher for FlowLedger {
    fn flow(&mut self, record: &FlowRecord) {
        let FlowRecord {
            flow, traffic, src_host, dst_host, size_bytes, start_ps, delivered_ps, baseline_fct_ps, ..
        } = *record;
        if self.is_cut || self.flows.len() >= self.most {
            (self.is_cut, self.flows) = (true, Vec::new());
            return;
        }
        self.flows.push(Flow {
            flow,
            traffic,
            src_host,
            dst_host,
            size_bytes,
            start_ps,
            delivered_ps,
            baseline_fct_ps,
        });
    }
}

/// Completed flows that started in the measurement interval of one run, in order.
#[derive(Debug, Default)]
pub(crate) struct CompletedFlows(Vec<Flow>);

impl CompletedFlows {
    /// Returns whether both runs completed the same set of flows.
    pub fn are_those_of(&self, other: &CompletedFlows) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(one, two)| one.key() == two.key())
    }

    fn keys(&self) -> BTreeSet<(u64, u32, u32, u32, u64)> {
        self.0.iter().map(Flow::key).collect()
    }
}

/// Metrics over the flows that all runs with the same seed completed.
#[derive(Debug, Default)]
pub(crate) struct CommonFlowMetrics {
    /// Number of flows.
    pub flows: u64,
    /// Values in the order of [`super::metrics::all`]; only FCTs and slowdowns are valid.
    pub values: Vec<Measured>,
    /// Values of the metrics of each label.
    pub of_labels: BTreeMap<String, Vec<Measured>>,
}

/// If a run with some seed has unfinished flows, sets the metrics of all `rows` with this seed over the flows that all
/// these runs completed.
pub(crate) fn set_common(rows: &mut [Row]) {
    let mut seeds: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        seeds.entry(row.seed).or_default().push(at);
    }
    for of_seed in seeds.into_values().filter(|of_seed| of_seed.len() > 1) {
        let Some(flows) = of_seed.iter().map(|&at| rows[at].flows.as_ref()).collect::<Option<Vec<_>>>() else {
            continue;
        };
        if of_seed.iter().all(|&at| rows[at].unfinished.is_none()) {
            continue;
        }
        let mut shared = flows[0].keys();
        for other in &flows[1..] {
            let keys = other.keys();
            shared.retain(|key| keys.contains(key));
        }
        if shared.is_empty() {
            continue;
        }
        let all: Vec<CommonFlowMetrics> =
            of_seed.iter().zip(&flows).map(|(&at, own)| common(own, &shared, &rows[at].traffic_names)).collect();
        for (at, common) in of_seed.into_iter().zip(all) {
            rows[at].common = Some(common);
        }
    }
}

fn common(own: &CompletedFlows, shared: &BTreeSet<(u64, u32, u32, u32, u64)>, names: &[String]) -> CommonFlowMetrics {
    let mut statistics = FlowStatistics::new();
    for flow in own.0.iter().filter(|flow| shared.contains(&flow.key())) {
        let Flow { flow, traffic, src_host, dst_host, size_bytes, start_ps, delivered_ps, baseline_fct_ps } = *flow;
        let record = FlowRecord {
            flow,
            traffic,
            src_host,
            dst_host,
            size_bytes,
            start_ps,
            delivered_ps,
            baseline_fct_ps,
            ..FlowRecord::default()
        };
        statistics.push(&record);
    }
    let mut summary = Summary { flows: statistics.summary(), ..Summary::default() };
    summary.flows.label(names, &Goodput::default());
    CommonFlowMetrics { flows: shared.len() as u64, values: measure(&summary), of_labels: measure_labels(&summary) }
}
