//! FCTs and slowdowns, accumulated flow by flow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ENDLESS_BYTES, FlowRecord, SizeBin, SlowdownSamples, SlowdownTable, Unfinished, decade_bounds};
use crate::coverage::Coverage;
use crate::histogram::Histogram;
use crate::summary::{Distribution, Goodput};

/// Upper bounds of the flow size ranges in `fct_by_size`, in bytes.
pub const SIZE_BOUNDS_BYTES: [u64; 5] = [10_000, 100_000, 1_000_000, 10_000_000, u64::MAX];

/// Completion times of the flows in a size range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FctOfSize {
    /// Upper bound of the size range, one of [`SIZE_BOUNDS_BYTES`].
    pub to_bytes: u64,
    /// Number of completed flows.
    pub count: u64,
    /// Mean completion time, in ns.
    pub mean_ns: f64,
    /// 99th percentile of the completion time, in ns.
    pub p99_ns: f64,
}

/// `flows` of `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// Number of started flows.
    pub started: u64,
    /// Number of started flows whose last byte was delivered.
    pub completed: u64,
    /// Number of completed flows whose sender had not received the last acknowledgement at the end of the run:
    /// `fct.txt` has no line for them. Omitted if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unacknowledged: u64,
    /// Flows that started and had not completed at the end of the run. Omitted if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// Completion times, from start to delivery of the last byte, in ns; null if no flow completed.
    pub fct_ns: Option<Distribution>,
    /// Completion times by size range; ranges without a completed flow are omitted.
    pub fct_by_size: Vec<FctOfSize>,
    /// Slowdowns (FCT over baseline FCT); null if no flow has one.
    pub slowdown: Option<SlowdownSummary>,
    /// Jain's fairness index of the completed flows' normalised rates (1 / slowdown): 1 if all slowdowns are equal;
    /// null if `slowdown` is null.
    pub jain: Option<f64>,
    /// Retransmission timeouts, over all flows.
    pub timeouts: u64,
    /// Statistics by entry of the scenario's traffic.
    pub by_traffic: Vec<TrafficSummary>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FlowSummary {
    /// Returns the share of flows of limited size that the statistics over completed flows cover.
    pub fn coverage(&self) -> Coverage {
        let unfinished = self.unfinished.as_ref().map_or(0, |of| of.count);
        Coverage { completed: self.completed, started: self.completed + unfinished }
    }

    /// Like [`FlowSummary::coverage`], for the size range with index `at` in [`SIZE_BOUNDS_BYTES`].
    pub fn coverage_of_size(&self, at: usize) -> Coverage {
        let (above, to) = (if at == 0 { 0 } else { SIZE_BOUNDS_BYTES[at - 1] }, SIZE_BOUNDS_BYTES[at]);
        let completed = self.fct_by_size.iter().find(|of| of.to_bytes == to).map_or(0, |of| of.count);
        let unfinished = self.unfinished.as_ref().map_or(0, |of| of.between(above, to));
        Coverage { completed, started: completed + unfinished }
    }

    /// Returns the name of entry `traffic` in results: its label, or its number.
    pub fn name(&self, traffic: u32) -> String {
        let labelled_summary =
            self.by_traffic.iter().find(|entry| entry.traffic == traffic).and_then(|it| it.labelled.as_ref());
        labelled_summary.map_or_else(|| format!("entry {traffic}"), |labelled_summary| labelled_summary.label.clone())
    }

    /// Adds to each traffic entry its label and its share of `goodput`; adds entries without flows. If `names` is
    /// empty, removes the labels and shares instead.
    pub fn label(&mut self, names: &[String], goodput: &Goodput) {
        if names.is_empty() {
            return self.by_traffic.iter_mut().for_each(|entry| entry.labelled = None);
        }
        let mut entries = std::mem::take(&mut self.by_traffic).into_iter().peekable();
        for (traffic, name) in (0..).zip(names) {
            let found = entries.next_if(|entry| entry.traffic == traffic);
            let mut entry = found.unwrap_or_else(|| TrafficSummary { traffic, ..TrafficSummary::default() });
            let payload_bytes = goodput.payload_bytes_by_traffic.get(traffic as usize).copied().unwrap_or(0);
            let labelled_summary = entry.labelled.get_or_insert_default();
            (labelled_summary.label, labelled_summary.payload_bytes) = (name.clone(), payload_bytes);
            labelled_summary.goodput_bps = goodput.bps_of(payload_bytes);
            self.by_traffic.push(entry);
        }
    }
}

/// Slowdowns of all completed flows: max(1, FCT / baseline FCT).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlowdownSummary {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest slowdown.
    pub max: f64,
    /// 20 bins of equal count in order of size.
    pub by_size: Vec<SizeBin>,
    /// Bins with bounds 1, 3, 10, 30 ... KB.
    pub by_decade: Vec<SizeBin>,
}

impl From<SlowdownTable> for SlowdownSummary {
    fn from(table: SlowdownTable) -> Self {
        let SlowdownTable { all, max, by_size, by_decade } = table;
        SlowdownSummary { mean: all.mean, p50: all.p50, p95: all.p95, p99: all.p99, max, by_size, by_decade }
    }
}

/// Statistics of one entry of the scenario's traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrafficSummary {
    /// Index of the entry in the scenario, from 0.
    pub traffic: u32,
    /// Number of started flows.
    pub started: u64,
    /// Number of completed flows.
    pub completed: u64,
    /// Number of flows of limited size that had not completed at the end of the run. Omitted if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unfinished: u64,
    /// Payload of the completed flows, in bytes.
    pub completed_bytes: u64,
    /// Completion times, in ns.
    pub fct_ns: Option<Distribution>,
    /// Statistics under the entry's label; omitted if the scenario has a single entry without a label.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub labelled: Option<LabelledSummary>,
}

impl TrafficSummary {
    /// Returns the share of the entry's flows of limited size that the statistics over completed flows cover.
    pub fn coverage(&self) -> Coverage {
        Coverage { completed: self.completed, started: self.completed + self.unfinished }
    }

    /// Returns whether a flow of the entry started, or payload of the entry was delivered.
    pub fn has_something(&self) -> bool {
        self.started > 0 || self.labelled.as_ref().is_some_and(|labelled_summary| labelled_summary.payload_bytes > 0)
    }
}

/// Label of an entry of the scenario's traffic, and further statistics of the entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelledSummary {
    /// The label.
    pub label: String,
    /// Slowdowns (FCT over baseline FCT); null if no flow has one.
    pub slowdown: Option<SlowdownOfLabel>,
    /// Payload that was delivered in the span of [`Goodput`], in bytes; each byte counts once.
    pub payload_bytes: u64,
    /// Payload rate over the span, in bit/s.
    pub goodput_bps: f64,
    /// Bytes retransmitted by the entry's flows.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts of the entry's flows.
    pub timeouts: u64,
}

/// Slowdowns of one entry's flows. Mean and maximum are exact to four decimals; the error of quantiles is below 0.4 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlowdownOfLabel {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest.
    pub max: f64,
}

/// Fixed-point scale of slowdowns in histograms: millionths.
const SLOWDOWN_PARTS: f64 = 1e6;

impl SlowdownOfLabel {
    /// Converts a histogram of slowdowns in millionths; `None` if it is empty.
    fn of(millionths: &Histogram) -> Option<Self> {
        let shown = |millionths: f64| (millionths / SLOWDOWN_PARTS * 1e4).round() / 1e4;
        let at = |q: f64| millionths.quantile(q).map(|value| shown(value as f64));
        let max = shown(millionths.max()? as f64);
        Some(SlowdownOfLabel { mean: shown(millionths.mean()?), p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)?, max })
    }
}

#[derive(Clone, Debug, Default)]
struct TrafficAccumulator {
    started: u64,
    unfinished: u64,
    completed_bytes: u64,
    fct_ps: Histogram,
    slowdown: Histogram,
    retransmitted_bytes: u64,
    timeouts: u64,
}

/// Accumulates flows one by one, in histograms and in 12 bytes per completed flow.
#[derive(Clone, Debug, Default)]
pub struct FlowStatistics {
    by_traffic: BTreeMap<u32, TrafficAccumulator>,
    by_size: [Histogram; SIZE_BOUNDS_BYTES.len()],
    slowdowns: SlowdownSamples,
    /// Sums of the normalised rates (1 / slowdown) and of their squares, for Jain's index.
    rates: (f64, f64),
    timeouts: u64,
    unacknowledged: u64,
    /// Number of unfinished flows by the upper bound of their size range.
    unfinished: BTreeMap<u64, u64>,
    faster_than_alone: u64,
}

impl FlowStatistics {
    /// Returns empty statistics.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a started flow, complete or not. The caller selects the flows of the measured window.
    pub fn push(&mut self, flow: &FlowRecord) {
        let gathered = self.by_traffic.entry(flow.traffic).or_default();
        gathered.started += 1;
        self.timeouts += u64::from(flow.timeouts);
        gathered.timeouts += u64::from(flow.timeouts);
        gathered.retransmitted_bytes = gathered.retransmitted_bytes.saturating_add(flow.retransmitted_bytes);
        let Some(fct_ps) = flow.fct_ps() else {
            if flow.size_bytes != ENDLESS_BYTES {
                gathered.unfinished += 1;
                let bound = decade_bounds().find(|&bound| flow.size_bytes <= bound).unwrap_or(u64::MAX);
                *self.unfinished.entry(bound).or_default() += 1;
            }
            return;
        };
        self.unacknowledged += u64::from(flow.awaits_ack);
        gathered.completed_bytes = gathered.completed_bytes.saturating_add(flow.size_bytes);
        gathered.fct_ps.record(fct_ps);
        let size = SIZE_BOUNDS_BYTES.partition_point(|bound| *bound < flow.size_bytes);
        self.by_size[size].record(fct_ps);
        if let Some(slowdown) = flow.slowdown() {
            self.slowdowns.push(flow.size_bytes, slowdown);
            gathered.slowdown.record((slowdown * SLOWDOWN_PARTS).round() as u64);
            self.rates.0 += slowdown.recip();
            self.rates.1 += slowdown.recip().powi(2);
            self.faster_than_alone += u64::from(fct_ps < flow.baseline_fct_ps);
        }
    }

    /// Returns the number of flows that completed faster than their baseline FCT. If it is not 0, the baseline or the
    /// simulator is wrong; slowdowns do not show this, because they are clamped to at least 1.
    pub fn faster_than_alone(&self) -> u64 {
        self.faster_than_alone
    }

    /// Returns the completion times of all flows, in ps.
    pub fn fct_ps(&self) -> Histogram {
        let mut all = Histogram::new();
        self.by_traffic.values().for_each(|gathered| all.merge(&gathered.fct_ps));
        all
    }

    /// Returns the slowdown by size; `None` if no flow has a slowdown.
    pub fn slowdown_table(&mut self) -> Option<SlowdownTable> {
        self.slowdowns.table()
    }

    /// Returns `flows` of `summary.json`.
    pub fn summary(&mut self) -> FlowSummary {
        let slowdown = self.slowdown_table().map(SlowdownSummary::from);
        let fct_ps = self.fct_ps();
        let traffic = |(&traffic, gathered): (&u32, &TrafficAccumulator)| TrafficSummary {
            traffic,
            started: gathered.started,
            completed: gathered.fct_ps.count(),
            unfinished: gathered.unfinished,
            completed_bytes: gathered.completed_bytes,
            fct_ns: Distribution::from_ps(&gathered.fct_ps),
            labelled: Some(LabelledSummary {
                slowdown: SlowdownOfLabel::of(&gathered.slowdown),
                retransmitted_bytes: gathered.retransmitted_bytes,
                timeouts: gathered.timeouts,
                // [`FlowSummary::label`] adds names and goodput.
                ..LabelledSummary::default()
            }),
        };
        let of_size = |(&to_bytes, found): (&u64, &Histogram)| {
            let Distribution { count, mean: mean_ns, p99: p99_ns, .. } = Distribution::from_ps(found)?;
            Some(FctOfSize { to_bytes, count, mean_ns, p99_ns })
        };
        let (sum, squares) = self.rates;
        let with_slowdown = slowdown.as_ref().map_or(0, |it| it.by_decade.iter().map(|bin| bin.count).sum::<u64>());
        FlowSummary {
            fct_by_size: SIZE_BOUNDS_BYTES.iter().zip(&self.by_size).filter_map(of_size).collect(),
            jain: (with_slowdown > 0).then(|| sum * sum / (with_slowdown as f64 * squares)),
            timeouts: self.timeouts,
            started: self.by_traffic.values().map(|gathered| gathered.started).sum(),
            completed: fct_ps.count(),
            unacknowledged: self.unacknowledged,
            unfinished: Unfinished::of(|bound| self.unfinished.get(&bound).copied().unwrap_or(0)),
            fct_ns: Distribution::from_ps(&fct_ps),
            slowdown,
            by_traffic: self.by_traffic.iter().map(traffic).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(traffic: u32, fct_ps: Option<u64>, baseline_fct_ps: u64) -> FlowRecord {
        let delivered_ps = fct_ps.map(|fct| 1_000 + fct);
        FlowRecord { traffic, size_bytes: 500, start_ps: 1_000, delivered_ps, baseline_fct_ps, ..FlowRecord::default() }
    }

    #[test]
    fn counts_by_traffic_and_over_all() {
        let mut statistics = FlowStatistics::new();
        let flows = [
            flow(1, Some(200_000), 100_000),
            flow(0, Some(100_000), 100_000),
            flow(1, None, 100_000),
            flow(1, Some(90_000), 100_000),
            flow(1, Some(400_000), 0),
        ];
        flows.iter().for_each(|flow| statistics.push(flow));
        let summary = statistics.summary();
        assert_eq!((summary.started, summary.completed), (5, 4));
        assert_eq!(summary.coverage(), Coverage { completed: 4, started: 5 });
        assert_eq!(summary.coverage_of_size(0), summary.coverage());
        assert_eq!(summary.by_traffic.iter().map(|of| of.coverage()).sum::<Coverage>(), summary.coverage());
        let fct = summary.fct_ns.unwrap();
        assert_eq!((fct.count, fct.mean, fct.min, fct.max), (4, 197.5, 90.0, 400.0));
        let slowdown = summary.slowdown.unwrap();
        assert_eq!((slowdown.p50, slowdown.max, slowdown.by_size.len()), (1.0, 2.0, 3));
        assert_eq!(statistics.faster_than_alone(), 1);
        let incast = &summary.by_traffic[1];
        assert_eq!((incast.traffic, incast.started, incast.completed, incast.completed_bytes), (1, 4, 3, 1_500));
    }

    #[test]
    fn labels_name_every_entry_and_give_it_its_share() {
        let mut statistics = FlowStatistics::new();
        let again = FlowRecord { retransmitted_bytes: 70, timeouts: 2, ..flow(2, Some(300_000), 100_000) };
        [flow(0, Some(100_000), 100_000), again.clone(), again].iter().for_each(|flow| statistics.push(flow));
        let goodput = Goodput::new(1_000_000, 9_000_000, vec![500, 0, 1_000]);
        let names = ["web", "noise", "bulk"].map(str::to_owned);
        let (mut named, mut bare) = (statistics.summary(), statistics.summary());
        named.label(&names, &goodput);
        let labelled_summary = |at: usize| named.by_traffic[at].labelled.clone().unwrap();
        assert_eq!(named.by_traffic.iter().map(|entry| entry.traffic).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!([0, 1, 2].map(|at| labelled_summary(at).label), names);
        assert_eq!(
            (named.by_traffic[1].started, labelled_summary(1).slowdown, labelled_summary(1).goodput_bps),
            (0, None, 0.0)
        );
        assert_eq!([0, 1, 2].map(|at| named.by_traffic[at].has_something()), [true, false, true]);
        let bulk = labelled_summary(2);
        assert_eq!(
            (bulk.payload_bytes, bulk.goodput_bps, bulk.retransmitted_bytes, bulk.timeouts),
            (1_000, 1e9, 140, 4)
        );
        let slowdown = bulk.slowdown.unwrap();
        assert_eq!((slowdown.mean, slowdown.max), (3.0, 3.0));
        assert!((slowdown.p50 - 3.0).abs() < 0.012, "{slowdown:?}");
        bare.label(&[], &goodput);
        assert!(bare.by_traffic.len() == 2 && bare.by_traffic.iter().all(|entry| entry.labelled.is_none()));
    }

    #[test]
    fn sizes_stand_apart_and_shares_are_judged_by_what_a_flow_has_alone() {
        let mut statistics = FlowStatistics::new();
        let sized = |size_bytes, slowdown: u64, timeouts| FlowRecord {
            size_bytes,
            timeouts,
            ..flow(0, Some(slowdown * 100_000), 100_000)
        };
        for flow in [sized(10_000, 1, 0), sized(10_001, 2, 3), sized(u64::MAX, 2, 1)] {
            statistics.push(&flow);
        }
        let summary = statistics.summary();
        let sizes: Vec<_> = summary.fct_by_size.iter().map(|of| (of.to_bytes, of.count, of.mean_ns)).collect();
        assert_eq!(sizes, [(10_000, 1, 100.0), (100_000, 1, 200.0), (u64::MAX, 1, 200.0)]);
        // Normalised rates 1, 1/2 and 1/2: Jain's index is 2^2 / (3 * (1 + 1/4 + 1/4)) = 4 / (3 * 1.5).
        assert!((summary.jain.unwrap() - 4.0 / 4.5).abs() < 1e-12);
        assert_eq!(summary.timeouts, 4);
    }

    #[test]
    fn a_flow_without_an_end_is_not_unfinished() {
        let mut statistics = FlowStatistics::new();
        statistics.push(&FlowRecord { size_bytes: ENDLESS_BYTES, ..flow(0, None, 5) });
        let summary = statistics.summary();
        assert!(summary.coverage().is_whole() && summary.unfinished.is_none() && summary.started == 1);
    }

    #[test]
    fn without_completed_flows_there_are_no_numbers() {
        let mut statistics = FlowStatistics::new();
        statistics.push(&flow(0, None, 5));
        let summary = statistics.summary();
        assert_eq!((summary.started, summary.completed, summary.fct_ns), (1, 0, None));
        assert_eq!(summary.slowdown, None);
    }
}
