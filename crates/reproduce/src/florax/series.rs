//! Simulation runs with payload samples over time.

use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::Source;
use crate::trial::{Trial, finish, simulation};
use model::Outcome;
use model::Watcher;
use model::parameters::Setup;
use record::flows::FlowRecord;
use record::summary::Backpressure;
use record::trace::{TraceEvent, TraceRow};
use std::collections::BTreeMap;
use text::lines::{Line, Panel, Scale, svg};
use units::Time;

/// Flow control that the paper calls "simple": its name, and its value in a scenario. 802.3x pauses are triggered by
/// the output queue, with the same XON and XOFF thresholds as in the other schemes. A pause is sent once and lasts at
/// most 65535 quanta (33.5 ms at 1 Gbps). Ports react within 3840 bit times, faster than the standard requires.
pub const SIMPLE: (&str, &str) = (
    "simple",
    "{ kind = \"pause-at-output\", lower = 0.25, upper = 0.5, expiry = \"20ms\", reaction = \"3840 bit times\" }",
);
/// Drop-tail queues without flow control.
pub const DROP_TAIL: (&str, &str) = ("drop-tail", "\"none\"");
/// Per-destination backpressure.
pub const DESTINATION: (&str, &str) = ("destination", "{ kind = \"destination\", lower = 0.25, upper = 0.5 }");

/// Time series of a run, and its results.
#[derive(Debug, Default)]
pub struct Series {
    /// Cumulative payload bytes of each traffic entry, by sample time.
    payload: BTreeMap<Time, Vec<u64>>,
    /// Utilisation of the sampled links, by time, node and port.
    links: BTreeMap<(Time, u32, u16), f64>,
    pub flows: Vec<FlowRecord>,
    /// XOFF decisions at traced ports: time, source node of the paused flow, its rate in bit/s.
    pub xoffs: Vec<(Time, Option<u32>, u64)>,
    pub summary: Outcome,
    end: Time,
}

impl Watcher for Series {
    fn flow(&mut self, flow: &FlowRecord) {
        self.flows.push(flow.clone());
    }
    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        let row = self.payload.entry(at).or_default();
        if row.len() <= usize::from(traffic) {
            row.resize(usize::from(traffic) + 1, 0);
        }
        row[usize::from(traffic)] += bytes;
    }
    fn trace(&mut self, row: &TraceRow) {
        if let TraceEvent::Xoff { of, rate_bps, .. } = row.event {
            self.xoffs.push((row.at, of.src, rate_bps));
        }
    }
    fn link(&mut self, at: Time, node: fabric::NodeId, port: u16, _bytes: u64, share: f64) {
        self.links.insert((at, node.0, port), share);
    }
}

impl Series {
    /// Runs `source` with these keys overridden.
    pub fn run(trial: &Trial, source: &Source, changes: &[(&str, String)]) -> Result<Series, Failure> {
        Series::of(trial.setup(source, changes)?, source)
    }

    /// Runs `setup`. Error messages name `source`.
    pub fn of(setup: Setup, source: &Source) -> Result<Series, Failure> {
        let mut series = Series { end: setup.duration, ..Series::default() };
        let mut simulation = simulation(setup, source)?;
        simulation.run(&mut series);
        series.summary = finish(&mut simulation, &mut series);
        Ok(series)
    }

    /// Returns the mean payload rate of a traffic entry between two times, in Mbps.
    pub fn mbps(&self, entry: usize, from: Time, until: Time) -> f64 {
        let rows = self.payload.range((std::ops::Bound::Excluded(from), std::ops::Bound::Included(until)));
        let bytes: u64 = rows.map(|(_, row)| row.get(entry).copied().unwrap_or(0)).sum();
        bytes as f64 * 8e6 / (until - from).as_ps() as f64
    }

    /// Returns the mean payload rate of a traffic entry from `from` to the end of the run, in Mbps.
    pub fn mbps_after(&self, entry: usize, from: Time) -> f64 {
        self.mbps(entry, from, self.end)
    }

    /// Returns the maximum and minimum throughput of a traffic entry over intervals of `step`, in Mbps.
    pub fn extent(&self, entry: usize, from: Time, until: Time, step: Time) -> (f64, f64) {
        let (mut most, mut least, mut at) = (0.0f64, f64::MAX, from);
        while at + step <= until {
            let now = self.mbps(entry, at, at + step);
            (most, least) = (most.max(now), least.min(now));
            at += step;
        }
        (most, least)
    }

    /// Returns the completion time of a traffic entry's flow, in s; infinite if the flow is incomplete.
    pub fn done_s(&self, entry: u64) -> f64 {
        let flow = self.flows.iter().find(|flow| flow.flow == entry);
        flow.and_then(|flow| flow.delivered_ps).map_or(f64::INFINITY, |at| at as f64 / 1e12)
    }

    /// Returns the number of payload bytes that a traffic entry's flow retransmitted.
    pub fn sent_again(&self, entry: u64) -> u64 {
        self.flows.iter().find(|flow| flow.flow == entry).map_or(0, |flow| flow.retransmitted_bytes)
    }

    /// Returns the number of frames dropped by full queues, or because they were sent despite an XOFF.
    pub fn lost(&self) -> u64 {
        let count = |cause: &str| self.summary.packets.dropped.get(cause).copied().unwrap_or(0);
        count("queue full") + count("lossless queue full") + count("nonconforming")
    }

    /// Returns the number of frames dropped because of `cause`.
    pub fn lost_by(&self, cause: &str) -> u64 {
        self.summary.packets.dropped.get(cause).copied().unwrap_or(0)
    }

    /// Returns the counters of output-driven backpressure.
    pub fn pressure(&self) -> Backpressure {
        self.summary.backpressure.clone().unwrap_or_default()
    }

    /// Returns the mean utilisation of a link between two times.
    pub fn busy(&self, node: u32, port: u16, from: Time, until: Time, every: Time) -> f64 {
        let samples =
            self.links.iter().filter(|((at, n, p), _)| (*n, *p) == (node, port) && *at > from && *at <= until);
        let count = (until - from).as_ps() / every.as_ps().max(1);
        samples.map(|(_, share)| share).sum::<f64>() / count.max(1) as f64
    }
}

/// Adds an SVG plot of `value` of each run over time, in intervals of `step`.
pub fn picture(
    trial: &mut Trial,
    (name, title, unit): (&str, &str, &'static str),
    runs: &[(&str, &Series)],
    until: Time,
    step: Time,
    value: impl Fn(&Series, Time, Time) -> f64,
) {
    let curve = |run: &Series| {
        let steps = until.as_ps() / step.as_ps().max(1);
        let point = |number: u64| {
            let from = step * number;
            ((from + step).as_secs_f64(), value(run, from, from + step))
        };
        (0..steps).map(point).collect()
    };
    let lines = runs.iter().map(|(name, run)| Line::curve(*name, curve(run))).collect();
    let panel = Panel { x: "time, s", y: unit, scale: Scale::Linear, lines };
    trial.plots.push((name.to_owned(), svg(title, &[panel])));
}

/// Returns a text plot of `value` of each run over time, in intervals of `step`.
pub fn over_time(
    runs: &[(&str, &Series)],
    until: Time,
    step: Time,
    value: impl Fn(&Series, Time, Time) -> f64,
    most: f64,
) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.0).collect();
    let mut rows = Vec::new();
    let mut at = Time::ZERO;
    while at < until {
        let values = runs.iter().map(|(_, run)| value(run, at, at + step)).collect();
        at += step;
        rows.push((format!("{at}"), values));
    }
    bars("until", &names, most, &rows)
}
