//! Metrics of comparisons.

use crate::error::PlanError;
use record::Coverage;
use record::collectives::CollectiveSummary;
use record::flows::{FctOfSize, LabelledSummary, SIZE_BOUNDS_BYTES, TrafficSummary};
use record::requests::RequestSummary;
use record::summary::{Distribution, Summary};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use text::numbers::{grouped, rate, size, span};

/// Names and titles of the size ranges of [`SIZE_BOUNDS_BYTES`].
const SIZES: [(&str, &str); SIZE_BOUNDS_BYTES.len()] = [
    ("to-10KB", "up to 10KB"),
    ("to-100KB", "10KB to 100KB"),
    ("to-1MB", "100KB to 1MB"),
    ("to-10MB", "1MB to 10MB"),
    ("above-10MB", "above 10MB"),
];

/// Unit and format of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// Nanoseconds.
    Span,
    /// Bytes.
    Size,
    /// Bits per second.
    Rate,
    /// No unit.
    Ratio,
}

impl Unit {
    fn suffix(self) -> &'static str {
        match self {
            Unit::Count | Unit::Ratio => "",
            Unit::Span => "_ns",
            Unit::Size => "_bytes",
            Unit::Rate => "_bps",
        }
    }

    /// Returns the unit for metadata of files.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Unit::Count => None,
            Unit::Span => Some("ns"),
            Unit::Size => Some("byte"),
            Unit::Rate => Some("bit/s"),
            Unit::Ratio => Some("1"),
        }
    }

    /// Formats the mean of `count` values.
    pub fn show_mean(self, mean: f64, count: usize) -> String {
        match self {
            // Means of counts need a decimal, because small means would be rounded to 0.
            Unit::Count if count > 1 => format!("{mean:.1}"),
            _ => self.show(mean),
        }
    }

    /// Formats a mean and the half-width of its confidence interval, both rounded to the second significant digit of
    /// the half-width.
    pub fn show_interval(self, mean: f64, half: f64) -> String {
        let units: &[(f64, &str)] = match self {
            Unit::Count | Unit::Ratio => &[(1.0, "")],
            Unit::Span => &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")],
            Unit::Size => &[(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")],
            Unit::Rate => &[(1e12, " Tbps"), (1e9, " Gbps"), (1e6, " Mbps"), (1e3, " Kbps"), (1.0, " bps")],
        };
        let at = units.iter().find(|(unit, _)| mean.abs() >= *unit).or(units.last());
        let (unit, name) = at.copied().unwrap_or((1.0, ""));
        // The place value of the second significant digit of the half-width: 1 of 45, 0.01 of 0.45.
        let mut decimals = 0;
        let mut step = 1.0;
        while half / unit / step >= 99.5 {
            step *= 10.0;
        }
        while half / unit / step < 9.95 && decimals < 6 {
            step /= 10.0;
            decimals += 1;
        }
        let shown = |value: f64| {
            let value = value / unit;
            match decimals {
                0 => grouped(((value / step).round() * step) as u64),
                _ => format!("{value:.decimals$}"),
            }
        };
        format!("{}{name} ± {}{name}", shown(mean), shown(half))
    }

    /// Formats `value`.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Count => grouped(value as u64),
            Unit::Span => span(value),
            Unit::Size => size(value as u64),
            Unit::Rate => rate(value),
            Unit::Ratio => format!("{value:.2}"),
        }
    }
}

/// A metric: one number per run.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The name for `--metric`.
    pub name: String,
    /// The title in tables.
    pub title: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Whether the metric is shown by default.
    pub main: bool,
    /// Label of the metric's traffic entry; `None` for the whole run.
    pub label: Option<String>,
    /// Index in [`all`], or in the list of metrics of a label.
    pub at: usize,
    /// The population of the statistic.
    pub of: Population,
    what: MetricSource,
}

/// The population of a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// No population: a count, or a property of the network.
    Network,
    /// Completed flows. FCTs and slowdowns are also available over a subset of flows.
    Flows,
    /// Goodput: payload delivered in the measurement interval, which ends with the last flow completion if all flows
    /// complete earlier.
    Payload,
    /// Requests that received a reply.
    Requests,
    /// Completed iterations of a collective.
    Iterations,
}

/// A metric of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Value of the metric; `None` if the run has none.
    pub value: Option<f64>,
    /// Coverage of the population; `None` if the metric has no population.
    pub coverage: Option<Coverage>,
}

#[derive(Clone, Copy, Debug)]
enum MetricSource {
    Summary(fn(&Summary) -> Option<f64>),
    /// A counter of a port mechanism.
    Mechanism(&'static str, &'static str),
    /// A metric of the flows in this range of [`SIZES`].
    OfSize(usize, fn(&FctOfSize) -> Option<f64>),
    /// Number of unfinished flows in this range.
    UnfinishedOfSize(usize),
    OfLabel(fn(&TrafficSummary, &LabelledSummary) -> Option<f64>),
}

/// Separator of metric and label: `fct-mean@web search`.
const OF: char = '@';
/// With more labels than this, metrics of labels are shown only on request.
const SHOWN_LABELS: usize = 4;

impl Metric {
    fn measure(&self, summary: &Summary) -> Measured {
        Measured { value: self.read(summary), coverage: self.coverage(summary) }
    }

    /// Returns the coverage of the metric in `summary`.
    fn coverage(&self, summary: &Summary) -> Option<Coverage> {
        match (self.of, self.what) {
            (Population::Network, _) => None,
            (_, MetricSource::OfSize(at, _)) => Some(summary.flows.coverage_of_size(at)),
            (Population::Requests, _) => Some(summary.requests.iter().map(RequestSummary::coverage).sum()),
            (Population::Iterations, _) => Some(summary.collectives.iter().map(CollectiveSummary::coverage).sum()),
            _ => Some(summary.flows.coverage()),
        }
    }

    /// Returns the sample size below which the quantile, such as p99, equals the maximum.
    pub fn least_values(&self) -> Option<u64> {
        let name = self.name.split(OF).next().unwrap_or_default();
        name.split('-').find_map(|part| match part {
            "p99" => Some(100),
            "p999" => Some(1000),
            _ => None,
        })
    }

    /// Returns whether the metric is a statistic of flows.
    pub fn is_of_flows(&self) -> bool {
        matches!(self.of, Population::Flows | Population::Payload)
    }

    fn over(self, of: Population) -> Metric {
        Metric { of, ..self }
    }

    fn read(&self, summary: &Summary) -> Option<f64> {
        match self.what {
            MetricSource::Summary(read) => read(summary),
            MetricSource::OfSize(at, read) => {
                summary.flows.fct_by_size.iter().find(|of| of.to_bytes == SIZE_BOUNDS_BYTES[at]).and_then(read)
            }
            MetricSource::UnfinishedOfSize(at) => Some(summary.flows.coverage_of_size(at).unfinished() as f64),
            MetricSource::Mechanism(kind, counter) => Some(*summary.mechanisms.get(kind)?.get(counter)? as f64),
            MetricSource::OfLabel(_) => None,
        }
    }

    /// Returns a value in JSON, counts as whole numbers.
    pub fn json(&self, value: Option<f64>) -> Value {
        match (value, self.unit) {
            (Some(value), Unit::Count | Unit::Size) => (value as u64).into(),
            (value, _) => value.into(),
        }
    }

    /// Returns whether the metric is a whole number.
    pub fn is_whole(&self) -> bool {
        matches!(self.unit, Unit::Count | Unit::Size)
    }

    /// Returns the index of the size range, if the metric has one.
    pub fn size_group(&self) -> Option<usize> {
        match self.what {
            MetricSource::OfSize(at, _) | MetricSource::UnfinishedOfSize(at) => Some(at),
            MetricSource::Summary(_) | MetricSource::Mechanism(..) | MetricSource::OfLabel(_) => None,
        }
    }

    /// Returns the column name in a file, with the unit: `fct_mean_ns`, `fct_mean_ns@web search`.
    pub fn column(&self) -> String {
        let name = self.name.split(OF).next().unwrap_or_default().replace('-', "_");
        let of = self.label.as_ref().map_or(String::new(), |label| format!("{OF}{label}"));
        format!("{name}{}{of}", self.unit.suffix())
    }
}

/// Returns every metric, in the order of the table.
pub fn all() -> Vec<Metric> {
    fn of(name: &str, title: &str, unit: Unit, main: bool, read: fn(&Summary) -> Option<f64>) -> Metric {
        let (name, title, what) = (name.to_owned(), title.to_owned(), MetricSource::Summary(read));
        Metric { name, title, unit, main, label: None, at: 0, of: Population::Network, what }
    }
    let mut metrics = vec![
        of("started", "flows started", Unit::Count, true, |s| Some(s.flows.started as f64)),
        of("completed", "flows completed", Unit::Count, true, |s| Some(s.flows.completed as f64)),
        of("unfinished", "flows unfinished", Unit::Count, true, |s| Some(s.flows.coverage().unfinished() as f64)),
        of("fct-mean", "FCT mean", Unit::Span, true, |s| Some(s.flows.fct_ns?.mean)).over(Population::Flows),
        of("fct-p50", "FCT p50", Unit::Span, false, |s| Some(s.flows.fct_ns?.p50)).over(Population::Flows),
        of("fct-p99", "FCT p99", Unit::Span, true, |s| Some(several(s.flows.fct_ns)?.p99)).over(Population::Flows),
        of("fct-p999", "FCT p99.9", Unit::Span, false, |s| Some(several(s.flows.fct_ns)?.p999)).over(Population::Flows),
        of("fct-max", "FCT max", Unit::Span, false, |s| Some(s.flows.fct_ns?.max)).over(Population::Flows),
    ];
    type Read = fn(&FctOfSize) -> Option<f64>;
    let mean: Read = |of| Some(of.mean_ns);
    // A single value has no percentiles.
    let p99: Read = |of| (of.count > 1).then_some(of.p99_ns);
    for (at, (name, title)) in SIZES.iter().enumerate() {
        for (which, read) in [("mean", mean), ("p99", p99)] {
            let what = MetricSource::OfSize(at, read);
            let (name, title) = (format!("fct-{which}-{name}"), format!("FCT {which}, {title}"));
            metrics.push(Metric {
                name,
                title,
                unit: Unit::Span,
                main: true,
                label: None,
                at: 0,
                of: Population::Flows,
                what,
            });
        }
    }
    for (at, (name, title)) in SIZES.iter().enumerate() {
        let counts: [(&str, MetricSource); 2] = [
            ("completed", MetricSource::OfSize(at, |of| Some(of.count as f64))),
            ("unfinished", MetricSource::UnfinishedOfSize(at)),
        ];
        for (which, what) in counts {
            let (name, title) = (format!("{which}-{name}"), format!("flows {which}, {title}"));
            let (unit, label) = (Unit::Count, None);
            metrics.push(Metric { name, title, unit, main: false, label, at: 0, of: Population::Network, what });
        }
    }
    metrics.extend([
        of("slowdown-mean", "slowdown mean", Unit::Ratio, true, |s| Some(s.flows.slowdown.as_ref()?.mean))
            .over(Population::Flows),
        of("slowdown-p99", "slowdown p99", Unit::Ratio, true, |s| {
            (s.flows.completed > 1).then_some(s.flows.slowdown.as_ref()?.p99)
        })
        .over(Population::Flows),
        of("jain", "Jain's index", Unit::Ratio, false, |s| s.flows.jain).over(Population::Flows),
        of("goodput", "goodput", Unit::Rate, true, |s| Some(s.goodput.bps)).over(Population::Payload),
        of("request-mean", "request mean", Unit::Span, true, |s| {
            // Mean over entries, weighted by the number of completed requests.
            let answered: u64 = s.requests.iter().map(|entry| entry.completed).sum();
            let total = |entry: &RequestSummary| entry.latency_ns.map_or(0.0, |of| of.mean * entry.completed as f64);
            (answered > 0).then(|| s.requests.iter().map(total).sum::<f64>() / answered as f64)
        })
        .over(Population::Requests),
        of("request-p99", "request p99", Unit::Span, true, |s| match &s.requests[..] {
            // Quantiles of several entries cannot be combined.
            [one] => Some(several(one.latency_ns)?.p99),
            _ => None,
        })
        .over(Population::Requests),
        of("collective-time", "collective, mean of an iteration", Unit::Span, true, |s| {
            Some(of_collective(s)?.time_ns?.mean)
        })
        .over(Population::Iterations),
        of("algbw", "algorithm bandwidth", Unit::Rate, false, |s| of_collective(s)?.algorithm_bps)
            .over(Population::Iterations),
        of("busbw", "bus bandwidth", Unit::Rate, true, |s| of_collective(s)?.bus_bps).over(Population::Iterations),
        of("requests-started", "requests started", Unit::Count, false, |s| {
            (!s.requests.is_empty()).then(|| s.requests.iter().map(|entry| entry.started as f64).sum())
        }),
        of("requests-completed", "requests completed", Unit::Count, false, |s| {
            (!s.requests.is_empty()).then(|| s.requests.iter().map(|entry| entry.completed as f64).sum())
        }),
        of("iterations", "iterations of the collective", Unit::Count, false, |s| {
            Some(of_collective(s)?.iterations.into())
        }),
        of("iterations-completed", "iterations completed", Unit::Count, false, |s| {
            Some(of_collective(s)?.completed.into())
        }),
        of("delay-mean", "packet delay mean", Unit::Span, true, |s| Some(s.delay_ns?.mean)),
        of("delay-p99", "packet delay p99", Unit::Span, true, |s| Some(several(s.delay_ns)?.p99)),
        of("throughput", "delivered rate", Unit::Rate, false, |s| {
            (s.simulated_ps > 0).then(|| s.bytes.delivered as f64 * 8e12 / s.simulated_ps as f64)
        }),
        of("delivered", "bytes delivered", Unit::Size, false, |s| Some(s.bytes.delivered as f64)),
        of("control", "control bytes", Unit::Size, false, |s| {
            Some((s.bytes.consumed + s.backpressure.as_ref().map_or(0, |found| found.control_bytes)) as f64)
        }),
        of("max-link-utilisation", "busiest link", Unit::Ratio, false, |s| Some(s.links.busiest.first()?.utilisation)),
        of("timeouts", "timeouts", Unit::Count, true, |s| Some(s.flows.timeouts as f64)),
        of("drops", "drops", Unit::Count, true, |s| Some(s.packets.dropped_total() as f64)),
        of("retransmissions", "retransmissions", Unit::Count, true, |s| Some(s.event_counts.retransmissions as f64)),
        of("marks", "ECN marks", Unit::Count, true, |s| Some(s.event_counts.marks as f64)),
        of("bounces", "bounces", Unit::Count, false, |s| Some(s.event_counts.bounces as f64)),
        of("trims", "trims", Unit::Count, true, |s| Some(s.event_counts.trims as f64)),
        of("pauses", "pauses", Unit::Count, true, |s| Some(s.pauses.count as f64)),
        of("paused", "time paused", Unit::Span, true, |s| Some(s.pauses.total_ps as f64 / 1000.0)),
        of("max-queue", "longest queue", Unit::Size, true, |s| {
            Some(s.links.longest_queues.first().map_or(0, |port| port.max_queue_bytes) as f64)
        }),
        of("queue-mean", "mean of the longest queue", Unit::Size, false, |s| {
            Some(s.queue_lengths.as_ref()?.longest.as_ref().map_or(0.0, |port| port.lengths.mean_bytes))
        }),
        of("queue-p99", "p99 of the longest queue", Unit::Size, false, |s| {
            Some(s.queue_lengths.as_ref()?.longest.as_ref().map_or(0, |port| port.lengths.p99_bytes) as f64)
        }),
        of("deadlock", "deadlock closed at", Unit::Span, true, |s| {
            Some(s.deadlock.as_ref()?.closed_ps as f64 / 1000.0)
        }),
        of("packet-hops", "packet-hops", Unit::Count, false, |s| Some(s.packet_hops as f64)),
    ]);
    for (kind, counter) in model::mechanism_counters() {
        let (name, title) = (format!("{kind}-{}", counter.name), format!("{kind}: {}", counter.meaning));
        let (unit, main, what) = (Unit::Count, false, MetricSource::Mechanism(kind, counter.name));
        metrics.push(Metric { name, title, unit, main, label: None, at: 0, of: Population::Network, what });
    }
    metrics.iter_mut().enumerate().for_each(|(at, metric)| metric.at = at);
    metrics
}

/// Returns the distribution if it has several values: a single value has no percentiles.
fn several(of: Option<Distribution>) -> Option<Distribution> {
    of.filter(|of| of.count > 1)
}

/// Returns the collective of a run that has only one: statistics of several collectives cannot be combined.
fn of_collective(summary: &Summary) -> Option<&CollectiveSummary> {
    match &summary.collectives[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// Returns the metrics of one label. If there are `few` labels, some of these metrics are shown by default.
fn of_one(label: &str, few: bool) -> Vec<Metric> {
    type Read = fn(&TrafficSummary, &LabelledSummary) -> Option<f64>;
    let all: [(&str, &str, Unit, bool, Read); 13] = [
        ("started", "flows started", Unit::Count, false, |of, _| Some(of.started as f64)),
        ("completed", "flows completed", Unit::Count, false, |of, _| Some(of.completed as f64)),
        ("fct-mean", "FCT mean", Unit::Span, true, |of, _| Some(of.fct_ns?.mean)),
        ("fct-p50", "FCT p50", Unit::Span, false, |of, _| Some(of.fct_ns?.p50)),
        ("fct-p99", "FCT p99", Unit::Span, true, |of, _| Some(several(of.fct_ns)?.p99)),
        ("fct-p999", "FCT p99.9", Unit::Span, false, |of, _| Some(several(of.fct_ns)?.p999)),
        ("fct-max", "FCT max", Unit::Span, false, |of, _| Some(of.fct_ns?.max)),
        ("slowdown-mean", "slowdown mean", Unit::Ratio, false, |_, labelled| Some(labelled.slowdown?.mean)),
        ("slowdown-p99", "slowdown p99", Unit::Ratio, false, |of, labelled| {
            (of.completed > 1).then_some(labelled.slowdown?.p99)
        }),
        ("goodput", "goodput", Unit::Rate, true, |_, labelled| Some(labelled.goodput_bps)),
        ("delivered", "payload delivered", Unit::Size, false, |_, labelled| Some(labelled.payload_bytes as f64)),
        ("timeouts", "timeouts", Unit::Count, false, |_, labelled| Some(labelled.timeouts as f64)),
        ("retransmitted", "retransmitted", Unit::Size, false, |_, labelled| Some(labelled.retransmitted_bytes as f64)),
    ];
    let metric = |(at, (name, title, unit, main, read)): (usize, (&str, &str, Unit, bool, Read))| {
        let (name, title, main) = (format!("{name}{OF}{label}"), format!("{title}, {label}"), main && few);
        let of = match name.split(['-', OF]).next() {
            Some("fct" | "slowdown") => Population::Flows,
            Some("goodput") => Population::Payload,
            _ => Population::Network,
        };
        Metric { name, title, unit, main, label: Some(label.to_owned()), at, of, what: MetricSource::OfLabel(read) }
    };
    all.into_iter().enumerate().map(metric).collect()
}

/// Appends the labels of `more` that are missing.
pub(crate) fn add_labels(all: &mut Vec<String>, more: &[String]) {
    for label in more {
        if !all.contains(label) {
            all.push(label.clone());
        }
    }
}

/// Returns every metric of the run, in the order of the table, then the metrics of each of `labels`.
pub fn all_of(labels: &[String]) -> Vec<Metric> {
    let few = (2..=SHOWN_LABELS).contains(&labels.len());
    all().into_iter().chain(labels.iter().flat_map(|label| of_one(label, few))).collect()
}

/// Returns every metric of each label of a run.
pub fn measure_labels(summary: &Summary) -> BTreeMap<String, Vec<Measured>> {
    let of_traffic = |of: &TrafficSummary| {
        let labelled = of.labelled.as_ref()?;
        let measured = |metric: Metric| {
            let value = match metric.what {
                MetricSource::OfLabel(read) => read(of, labelled),
                MetricSource::Summary(_)
                | MetricSource::Mechanism(..)
                | MetricSource::OfSize(..)
                | MetricSource::UnfinishedOfSize(_) => None,
            };
            Measured { value, coverage: metric.is_of_flows().then(|| of.coverage()) }
        };
        Some((labelled.label.clone(), of_one(&labelled.label, false).into_iter().map(measured).collect()))
    };
    summary.flows.by_traffic.iter().filter_map(of_traffic).collect()
}

/// Returns every metric of a run, in the order of [`all`].
pub fn measure(summary: &Summary) -> Vec<Measured> {
    all().iter().map(|metric| metric.measure(summary)).collect()
}

/// Returns the metrics selected by `names`, of the run and of its `labels`; without names, the main metrics. A name
/// selects the metric with exactly this name, or else all metrics whose name begins with it: `fct` selects all FCT
/// metrics of the run, `fct-p99` one metric, `fct@web` the FCT metrics of the label `web`, and `@web` all metrics of
/// the label.
///
/// # Errors
/// [`PlanError::Metric`] for the first name that selects no metric.
pub fn chosen(names: &[String], labels: &[String]) -> Result<Vec<Metric>, PlanError> {
    let all = all_of(labels);
    if names.is_empty() {
        return Ok(all.into_iter().filter(|metric| metric.main).collect());
    }
    let asks = |metric: &Metric, name: &String| {
        let (begins, label) = name.split_once(OF).map_or((name.as_str(), None), |(name, label)| (name, Some(label)));
        metric.name.starts_with(begins) && metric.label.as_deref() == label
    };
    let is_exact = |name: &String| all.iter().any(|metric| metric.name == *name);
    let exact: BTreeSet<&String> = names.iter().filter(|name| is_exact(name)).collect();
    let asks = |metric: &Metric, name: &String| {
        if exact.contains(name) { metric.name == *name } else { asks(metric, name) }
    };
    if let Some(name) = names.iter().find(|name| name.is_empty() || !all.iter().any(|metric| asks(metric, name))) {
        return Err(unknown(name, &all));
    }
    Ok(all.into_iter().filter(|metric| names.iter().any(|name| asks(metric, name))).collect())
}

/// Default metrics of a sweep; they fit one line.
const SWEPT: [&str; 11] = [
    "started",
    "completed",
    "fct-mean",
    "fct-p99",
    "slowdown-p99",
    "goodput",
    "drops",
    "pauses",
    "paused",
    "max-queue",
    "deadlock",
];

/// Like [`chosen`], but without names it returns the smaller default set of a sweep.
///
/// # Errors
/// [`PlanError::Metric`] for the first name that selects no metric.
pub fn swept(names: &[String], labels: &[String]) -> Result<Vec<Metric>, PlanError> {
    if names.is_empty() {
        return Ok(all().into_iter().filter(|metric| SWEPT.contains(&metric.name.as_str())).collect());
    }
    chosen(names, labels)
}

/// Returns a line for each metric, with its name and title.
pub fn list(labels: &[String]) -> String {
    let lines: Vec<Vec<String>> = all_of(labels).into_iter().map(|metric| vec![metric.name, metric.title]).collect();
    text::table(&["metric", "meaning"], &lines, 2, text::Layout::Fitting, 0)
}

/// Returns the error for an unknown metric `name`.
fn unknown(name: &str, known: &[Metric]) -> PlanError {
    let known = known.iter().map(|metric| metric.name.clone()).collect();
    PlanError::Metric { name: name.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_of_a_size_have_their_own_metric() {
        let mut summary = Summary::default();
        let of_size = |to_bytes, mean_ns, p99_ns| FctOfSize { to_bytes, count: 2, mean_ns, p99_ns };
        summary.flows.fct_by_size = vec![of_size(10_000, 3.0, 4.0), of_size(u64::MAX, 6.0, 7.0)];
        let value = |name: &str| all().into_iter().find(|metric| metric.name == name).unwrap().read(&summary);
        assert_eq!(
            (value("fct-mean-to-10KB"), value("fct-mean-to-100KB"), value("fct-p99-above-10MB")),
            (Some(3.0), None, Some(7.0))
        );
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(Unit::Span.show_interval(336_240.0, 45_300.0), "336us ± 45us");
        assert_eq!(Unit::Span.show_interval(1_234_567.0, 341_000.0), "1.23ms ± 0.34ms");
        assert_eq!(Unit::Count.show_interval(500.0, 993.7), "500 ± 990");
        assert_eq!(Unit::Count.show_interval(12_345.6, 1.04), "12345.6 ± 1.0");
        assert_eq!(Unit::Rate.show_interval(41.92e9, 0.5e9), "41.92 Gbps ± 0.50 Gbps");
        assert_eq!(Unit::Ratio.show_interval(0.5, 0.0001), "0.50000 ± 0.00010");
    }

    #[test]
    fn names_are_unique_and_choose_by_their_beginning() {
        let mut names: Vec<String> = all().into_iter().map(|metric| metric.column()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let labels = ["web".to_owned(), "a-b".to_owned()];
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            chosen(&names, &labels).map(|metrics| metrics.into_iter().map(|metric| metric.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["pause", "drops"]).unwrap(), ["drops", "pauses", "paused"]);
        assert!(matches!(names(&["drops", "speed"]), Err(PlanError::Metric { name, .. }) if name == "speed"));
        assert!(names(&[]).unwrap().contains(&"fct-mean".to_owned()));
        assert!(names(&[]).unwrap().contains(&"fct-mean@a-b".to_owned()), "of few labels, some are shown");
        assert_eq!(names(&["fct-m@web", "goodput"]).unwrap(), ["goodput", "fct-mean@web", "fct-max@web"]);
        assert_eq!(names(&["@a-b"]).unwrap().len(), 13);
        assert_eq!(names(&["fct-p99"]).unwrap(), ["fct-p99"], "a whole name asks for this one alone");
        assert_eq!(names(&["fct-p99@web"]).unwrap(), ["fct-p99@web"]);
        assert_eq!(names(&["fct-p9"]).unwrap().len(), 7, "the beginning of a name asks for all that begin so");
        assert!(matches!(names(&["fct@we"]), Err(PlanError::Metric { .. })), "a label is named whole");
        assert_eq!(of_one("a-b", false)[2].column(), "fct_mean_ns@a-b");
        assert_eq!(swept(&[], &labels).unwrap().len(), SWEPT.len());
    }
}
