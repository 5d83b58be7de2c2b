//! What a comparison looks at.

use crate::error::PlanError;
use model::Watcher;
use record::flows::FlowRecord;
use record::histogram::Histogram;
use record::requests::RequestSummary;
use record::summary::{Distribution, Summary};
use serde_json::Value;
use text::numbers::{grouped, rate, size, span};
use units::Time;

/// Upper bounds of the groups of flow sizes, in bytes, and what they are called.
const GROUPS: [(u64, &str, &str); 5] = [
    (10_000, "to-10KB", "up to 10KB"),
    (100_000, "to-100KB", "10KB to 100KB"),
    (1_000_000, "to-1MB", "100KB to 1MB"),
    (10_000_000, "to-10MB", "1MB to 10MB"),
    (u64::MAX, "above-10MB", "above 10MB"),
];

/// Watches what no summary holds: completion times by size, payload over time.
pub struct Watch {
    warm_up: Time,
    /// How often the model tells of payload.
    period: Time,
    groups: [Histogram; GROUPS.len()],
    /// Payload that arrived in the measured window, and the part of the window that was seen.
    payload_bytes: u64,
    seen: Time,
    last: Option<Time>,
}

impl Watch {
    /// For a run of which payload is told every `period`.
    pub fn new(warm_up: Time, period: Time) -> Watch {
        let groups = std::array::from_fn(|_| Histogram::new());
        Watch { warm_up, period, groups, payload_bytes: 0, seen: Time::ZERO, last: None }
    }

    /// Mean payload rate in bit/s.
    fn goodput(&self) -> Option<f64> {
        (self.seen > Time::ZERO).then(|| self.payload_bytes as f64 * 8e12 / self.seen.as_ps() as f64)
    }
}

/// The longest period that ends both with the warm-up and with the run; the whole run where that would be
/// more than ten thousand looks.
pub fn period(warm_up: Time, duration: Time) -> Time {
    let (mut a, mut b) = (duration.as_ps(), warm_up.as_ps());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let common = Time::from_ps(a);
    if common > Time::ZERO && duration / common <= 10_000 { common } else { duration }
}

impl Watcher for Watch {
    fn flow(&mut self, flow: &FlowRecord) {
        let Some(fct) = flow.fct_ps().filter(|_| flow.start_ps >= self.warm_up.as_ps()) else { return };
        if let Some(group) = GROUPS.iter().position(|(bound, ..)| flow.size_bytes <= *bound) {
            self.groups[group].record(fct);
        }
    }

    fn throughput(&mut self, at: Time, _traffic: u8, bytes: u64) {
        if at.saturating_sub(self.period) < self.warm_up {
            return;
        }
        self.payload_bytes = self.payload_bytes.saturating_add(bytes);
        // One call for each traffic entry at the same instant.
        if self.last != Some(at) {
            self.seen = self.seen.saturating_add(self.period);
            self.last = Some(at);
        }
    }
}

/// How a number is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
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

    /// The mean of `count` values for a person.
    pub fn show_mean(self, mean: f64, count: usize) -> String {
        match self {
            // Means of whole numbers are none, and small ones would vanish.
            Unit::Count if count > 1 => format!("{mean:.1}"),
            _ => self.show(mean),
        }
    }

    /// `value` for a person.
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

/// One number of every run.
#[derive(Clone, Debug)]
pub struct Metric {
    /// As `--metric` names it.
    pub name: String,
    /// For the table.
    pub title: String,
    /// How it is shown.
    pub unit: Unit,
    /// Whether it is shown without being asked for.
    pub main: bool,
    /// Its place in [`all`].
    pub at: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Summary(fn(&Summary) -> Option<f64>),
    Goodput,
    MeanOf(usize),
    P99Of(usize),
}

impl Metric {
    fn read(&self, summary: &Summary, watch: Option<&Watch>) -> Option<f64> {
        let group = |at: usize| Distribution::from_ps(&watch?.groups[at]);
        match self.what {
            What::Summary(read) => read(summary),
            What::Goodput => watch?.goodput(),
            What::MeanOf(at) => group(at).map(|values| values.mean),
            What::P99Of(at) => group(at).map(|values| values.p99),
        }
    }

    /// A value of it in JSON: whole where it counts.
    pub fn json(&self, value: Option<f64>) -> Value {
        match (value, self.unit) {
            (Some(value), Unit::Count | Unit::Size) => (value as u64).into(),
            (value, _) => value.into(),
        }
    }

    /// Whether a summary alone has it.
    pub fn is_of_summary(&self) -> bool {
        matches!(self.what, What::Summary(_))
    }

    /// Whether it counts whole things.
    pub fn is_whole(&self) -> bool {
        matches!(self.unit, Unit::Count | Unit::Size)
    }

    /// Whether it is about flows of some sizes only.
    pub fn is_of_group(&self) -> bool {
        matches!(self.what, What::MeanOf(_) | What::P99Of(_))
    }

    /// The first metric of each group of sizes.
    pub fn is_mean_of_group(&self) -> bool {
        matches!(self.what, What::MeanOf(_))
    }

    /// The name of its column in a file, with the unit: `fct_mean_ns`.
    pub fn column(&self) -> String {
        format!("{}{}", self.name.replace('-', "_"), self.unit.suffix())
    }
}

/// Every metric, in the order of the table.
pub fn all() -> Vec<Metric> {
    fn of(name: &str, title: &str, unit: Unit, main: bool, read: fn(&Summary) -> Option<f64>) -> Metric {
        Metric { name: name.to_owned(), title: title.to_owned(), unit, main, at: 0, what: What::Summary(read) }
    }
    let mut metrics = vec![
        of("started", "flows started", Unit::Count, true, |s| Some(s.flows.started as f64)),
        of("completed", "flows completed", Unit::Count, true, |s| Some(s.flows.completed as f64)),
        of("fct-mean", "FCT mean", Unit::Span, true, |s| Some(s.flows.fct_ns?.mean)),
        of("fct-p50", "FCT p50", Unit::Span, false, |s| Some(s.flows.fct_ns?.p50)),
        of("fct-p99", "FCT p99", Unit::Span, true, |s| Some(s.flows.fct_ns?.p99)),
        of("fct-p999", "FCT p99.9", Unit::Span, false, |s| Some(s.flows.fct_ns?.p999)),
        of("fct-max", "FCT max", Unit::Span, false, |s| Some(s.flows.fct_ns?.max)),
    ];
    for (at, (_, name, title)) in GROUPS.iter().enumerate() {
        for (which, what) in [("mean", What::MeanOf(at)), ("p99", What::P99Of(at))] {
            let (name, title) = (format!("fct-{which}-{name}"), format!("FCT {which}, {title}"));
            metrics.push(Metric { name, title, unit: Unit::Span, main: true, at: 0, what });
        }
    }
    let goodput = ("goodput".to_owned(), "goodput".to_owned());
    metrics.extend([
        of("slowdown-mean", "slowdown mean", Unit::Ratio, true, |s| Some(s.flows.slowdown.as_ref()?.mean)),
        of("slowdown-p99", "slowdown p99", Unit::Ratio, true, |s| Some(s.flows.slowdown.as_ref()?.p99)),
        Metric { name: goodput.0, title: goodput.1, unit: Unit::Rate, main: true, at: 0, what: What::Goodput },
        of("request-mean", "request mean", Unit::Span, true, |s| {
            // Weighted over the entries that ask.
            let answered: u64 = s.requests.iter().map(|entry| entry.answered).sum();
            let total = |entry: &RequestSummary| entry.latency_ns.map_or(0.0, |of| of.mean * entry.answered as f64);
            (answered > 0).then(|| s.requests.iter().map(total).sum::<f64>() / answered as f64)
        }),
        of("request-p99", "request p99", Unit::Span, true, |s| match &s.requests[..] {
            // Quantiles of several entries do not add up.
            [one] => Some(one.latency_ns?.p99),
            _ => None,
        }),
        of("delay-mean", "packet delay mean", Unit::Span, true, |s| Some(s.delay_ns?.mean)),
        of("delay-p99", "packet delay p99", Unit::Span, true, |s| Some(s.delay_ns?.p99)),
        of("throughput", "delivered rate", Unit::Rate, false, |s| {
            (s.simulated_ps > 0).then(|| s.bytes.delivered as f64 * 8e12 / s.simulated_ps as f64)
        }),
        of("delivered", "bytes delivered", Unit::Size, false, |s| Some(s.bytes.delivered as f64)),
        of("drops", "drops", Unit::Count, true, |s| Some(s.packets.dropped_total() as f64)),
        of("retransmissions", "sent again", Unit::Count, true, |s| Some(s.happened.retransmissions as f64)),
        of("marks", "marked", Unit::Count, true, |s| Some(s.happened.marks as f64)),
        of("bounces", "bounced", Unit::Count, false, |s| Some(s.happened.bounces as f64)),
        of("trims", "trimmed", Unit::Count, false, |s| Some(s.happened.trims as f64)),
        of("pauses", "pauses", Unit::Count, true, |s| Some(s.pauses.count as f64)),
        of("paused", "time paused", Unit::Span, true, |s| Some(s.pauses.total_ps as f64 / 1000.0)),
        of("max-queue", "longest queue", Unit::Size, true, |s| {
            Some(s.links.longest_queues.first().map_or(0, |port| port.max_queue_bytes) as f64)
        }),
        of("deadlock", "deadlock closed at", Unit::Span, true, |s| {
            Some(s.deadlock.as_ref()?.closed_ps as f64 / 1000.0)
        }),
        of("packet-hops", "packet-hops", Unit::Count, false, |s| Some(s.packet_hops as f64)),
    ]);
    metrics.iter_mut().enumerate().for_each(|(at, metric)| metric.at = at);
    metrics
}

/// Every metric of a run, in the order of [`all`]; `None` where the run has none.
pub fn measure(summary: &Summary, watch: Option<&Watch>) -> Vec<Option<f64>> {
    all().iter().map(|metric| metric.read(summary, watch)).collect()
}

/// The metrics that `names` ask for, or the main ones. A name asks for all that begin with it: `fct` for
/// every completion time.
///
/// # Errors
/// [`PlanError::Metric`] for the first name that asks for nothing.
pub fn chosen(names: &[String]) -> Result<Vec<Metric>, PlanError> {
    let all = all();
    if names.is_empty() {
        return Ok(all.into_iter().filter(|metric| metric.main).collect());
    }
    let asks = |metric: &Metric, name: &String| metric.name.starts_with(name.as_str());
    if let Some(name) = names.iter().find(|name| name.is_empty() || !all.iter().any(|metric| asks(metric, name))) {
        return Err(unknown(name, &all));
    }
    Ok(all.into_iter().filter(|metric| names.iter().any(|name| asks(metric, name))).collect())
}

/// What a sweep shows without being asked: a line must hold it.
const SWEPT: [&str; 10] = [
    "completed",
    "fct-mean",
    "fct-p99",
    "slowdown-p99",
    "throughput",
    "drops",
    "pauses",
    "paused",
    "max-queue",
    "deadlock",
];

/// As [`chosen`], of those that a summary alone has: what is known of a result that was read from its folder.
///
/// # Errors
/// [`PlanError::Metric`] for the first name that asks for nothing.
pub fn of_summaries(names: &[String]) -> Result<Vec<Metric>, PlanError> {
    let known: Vec<Metric> = all().into_iter().filter(Metric::is_of_summary).collect();
    if names.is_empty() {
        return Ok(known.into_iter().filter(|metric| SWEPT.contains(&metric.name.as_str())).collect());
    }
    let chosen = chosen(names).map_err(|error| match error {
        PlanError::Metric { name, .. } => unknown(&name, &known),
        other => other,
    })?;
    let chosen: Vec<Metric> = chosen.into_iter().filter(Metric::is_of_summary).collect();
    if chosen.is_empty() { Err(unknown(&names.join(","), &known)) } else { Ok(chosen) }
}

/// No metric of `known` is called `name`.
fn unknown(name: &str, known: &[Metric]) -> PlanError {
    let known = known.iter().map(|metric| metric.name.clone()).collect();
    PlanError::Metric { name: name.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_counts_the_window_only() {
        let (warm_up, duration) = (Time::from_us(10), Time::from_us(30));
        assert_eq!(period(warm_up, duration), Time::from_us(10));
        assert_eq!(period(Time::ZERO, duration), duration);
        assert_eq!(period(Time::from_ps(1), duration), duration);
        let mut watch = Watch::new(warm_up, Time::from_us(10));
        for (at, traffic, bytes) in [(10, 0, 999), (10, 1, 999), (20, 0, 1000), (20, 1, 500), (30, 0, 1000)] {
            watch.throughput(Time::from_us(at), traffic, bytes);
        }
        // 2,500 bytes in 20 us: 1 Gbps.
        assert_eq!(watch.goodput(), Some(1e9));
        assert_eq!(Watch::new(warm_up, warm_up).goodput(), None);
    }

    #[test]
    fn flows_fall_into_their_group_of_size() {
        let mut watch = Watch::new(Time::from_ps(5), Time::from_us(1));
        let flow = |size_bytes, start_ps, delivered_ps| FlowRecord {
            size_bytes,
            start_ps,
            delivered_ps,
            ..FlowRecord::default()
        };
        watch.flow(&flow(10_000, 5, Some(3_005)));
        watch.flow(&flow(10_000, 4, Some(9_000_000)));
        watch.flow(&flow(10_001, 5, None));
        watch.flow(&flow(u64::MAX, 5, Some(7_005)));
        let value = |name: &str| {
            let metric = all().into_iter().find(|metric| metric.name == name).unwrap();
            metric.read(&Summary::default(), Some(&watch))
        };
        assert_eq!(
            (value("fct-mean-to-10KB"), value("fct-mean-to-100KB"), value("fct-p99-above-10MB")),
            (Some(3.0), None, Some(7.0))
        );
    }

    #[test]
    fn names_are_unique_and_choose_by_their_beginning() {
        let mut names: Vec<String> = all().into_iter().map(|metric| metric.column()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let names = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
            chosen(&asked).map(|metrics| metrics.into_iter().map(|metric| metric.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["pause", "drops"]).unwrap(), ["drops", "pauses", "paused"]);
        assert!(matches!(names(&["drops", "speed"]), Err(PlanError::Metric { name, .. }) if name == "speed"));
        assert!(names(&[]).unwrap().contains(&"fct-mean".to_owned()));
        assert_eq!(of_summaries(&[]).unwrap().len(), SWEPT.len());
        assert!(of_summaries(&["goodput".to_owned()]).is_err(), "no summary has it");
    }
}
