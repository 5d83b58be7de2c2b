//! Request latency: time from the start of a request to the arrival of its reply, computed from ended flows.

use crate::host::FlowEnd;
use rustc_hash::FxHashMap;
use stats::histogram::Histogram;
use stats::requests::RequestSummary;
use stats::summary::Distribution;
use traffic::Exchange;
use units::Time;

/// A request whose start or reply has not been reported yet.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// Start of the request.
    start: Option<Time>,
    /// Arrival of its reply.
    answered: Option<Time>,
}

/// Requests of one traffic entry.
#[derive(Clone, Debug)]
struct RequestStats {
    exchange: Exchange,
    issued: u64,
    first: Time,
    last: Time,
    latency_ps: Histogram,
    /// Incomplete requests. A request's flow may be reported after its reply, if the acknowledgement of the request
    /// was lost.
    pending: FxHashMap<u32, Pending>,
}

/// Requests of all traffic entries that have any.
#[derive(Clone, Debug)]
pub(crate) struct Requests(Vec<RequestStats>);

impl Requests {
    /// Creates the state of a plan's requests, if it has any.
    pub fn new(exchanges: &[Exchange]) -> Option<Box<Requests>> {
        let stats_of = |&exchange: &Exchange| RequestStats {
            exchange,
            issued: 0,
            first: Time::MAX,
            last: Time::ZERO,
            latency_ps: Histogram::new(),
            pending: FxHashMap::default(),
        };
        (!exchanges.is_empty()).then(|| Box::new(Requests(exchanges.iter().map(stats_of).collect())))
    }

    /// Records a flow that ended, or is unfinished at the end of the run. `counts` returns, by start time, whether a
    /// request is measured.
    #[cold]
    pub fn note(&mut self, end: &FlowEnd, counts: impl Fn(Time) -> bool) {
        let Some(stats) = self.0.iter_mut().find(|stats| stats.exchange.traffic == end.traffic) else { return };
        let Some(request) = stats.exchange.request_of(end.flow) else { return };
        let pending = stats.pending.entry(request).or_default();
        if request == end.flow {
            pending.start = Some(end.start);
            stats.issued += u64::from(counts(end.start));
        } else {
            pending.answered = end.delivered;
        }
        if let Pending { start: Some(start), answered: Some(answered) } = *pending {
            stats.pending.remove(&request);
            if counts(start) {
                stats.first = stats.first.min(start);
                stats.last = stats.last.max(answered);
                stats.latency_ps.record((answered - start).as_ps());
            }
        }
    }

    /// Returns the entries of `summary.json`.
    pub fn summary(&self) -> Vec<RequestSummary> {
        let entry = |stats: &RequestStats| {
            let answered = stats.latency_ps.count();
            let (first, last) = if answered == 0 { (Time::ZERO, Time::ZERO) } else { (stats.first, stats.last) };
            RequestSummary {
                traffic: stats.exchange.traffic.into(),
                persistent_connection: stats.exchange.persistent_connection,
                started: stats.issued,
                completed: answered,
                latency_ns: Distribution::from_ps(&stats.latency_ps),
                first_ps: first.as_ps(),
                last_ps: last.as_ps(),
                per_second: (last > first).then(|| answered as f64 / (last - first).as_secs_f64()),
            }
        };
        self.0.iter().map(entry).collect()
    }
}
