//! Latency of requests until their reply has arrived, computed from ended flows.

use crate::host::FlowEnd;
use rustc_hash::FxHashMap;
use stats::histogram::Histogram;
use stats::requests::RequestSummary;
use stats::summary::Distribution;
use traffic::Exchange;
use units::Time;

/// A request of which one end is missing.
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
    /// Incomplete requests. A request's flow may be reported after its reply, if its acknowledgement was lost.
    pending: FxHashMap<u32, Pending>,
}

/// Requests of all traffic entries that have any.
#[derive(Clone, Debug)]
pub(crate) struct Requests(Vec<RequestStats>);

impl Requests {
    /// Creates the state of a plan's requests, if it has any.
    pub fn new(exchanges: &[Exchange]) -> Option<Box<Requests>> {
        let asked = |&exchange: &Exchange| RequestStats {
            exchange,
            issued: 0,
            first: Time::MAX,
            last: Time::ZERO,
            latency_ps: Histogram::new(),
            pending: FxHashMap::default(),
        };
        (!exchanges.is_empty()).then(|| Box::new(Requests(exchanges.iter().map(asked).collect())))
    }

    /// Records a flow that ended, or is unfinished at the end of the run. `counts` returns, by start time, whether a
    /// request is measured.
    #[cold]
    pub fn note(&mut self, end: &FlowEnd, counts: impl Fn(Time) -> bool) {
        let Some(asked) = self.0.iter_mut().find(|asked| asked.exchange.traffic == end.traffic) else { return };
        let Some(request) = asked.exchange.request_of(end.flow) else { return };
        let pending = asked.pending.entry(request).or_default();
        if request == end.flow {
            pending.start = Some(end.start);
            asked.issued += u64::from(counts(end.start));
        } else {
            pending.answered = end.delivered;
        }
        if let Pending { start: Some(start), answered: Some(answered) } = *pending {
            asked.pending.remove(&request);
            if counts(start) {
                asked.first = asked.first.min(start);
                asked.last = asked.last.max(answered);
                asked.latency_ps.record((answered - start).as_ps());
            }
        }
    }

    /// Returns the entries of `summary.json`.
    pub fn summary(&self) -> Vec<RequestSummary> {
        let entry = |asked: &RequestStats| {
            let answered = asked.latency_ps.count();
            let (first, last) = if answered == 0 { (Time::ZERO, Time::ZERO) } else { (asked.first, asked.last) };
            RequestSummary {
                traffic: asked.exchange.traffic.into(),
                persistent_connection: asked.exchange.persistent_connection,
                started: asked.issued,
                completed: answered,
                latency_ns: Distribution::from_ps(&asked.latency_ps),
                first_ps: first.as_ps(),
                last_ps: last.as_ps(),
                per_second: (last > first).then(|| answered as f64 / (last - first).as_secs_f64()),
            }
        };
        self.0.iter().map(entry).collect()
    }
}
