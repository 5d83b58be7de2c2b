//! How long requests take until their reply is there, put together from the flows as they end.

use crate::host::FlowEnd;
use rustc_hash::FxHashMap;
use stats::histogram::Histogram;
use stats::requests::RequestSummary;
use stats::summary::Distribution;
use traffic::Exchange;
use units::Time;

/// What is known of a request of which not both ends are.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// When it began.
    start: Option<Time>,
    /// When its reply had arrived.
    answered: Option<Time>,
}

/// Requests of one traffic entry.
#[derive(Clone, Debug)]
struct Asked {
    exchange: Exchange,
    asked: u64,
    first: Time,
    last: Time,
    latency_ps: Histogram,
    /// By request. A flow may be heard of after its reply: where the acknowledgement of a request was lost.
    pending: FxHashMap<u32, Pending>,
}

/// Requests of all entries that ask.
#[derive(Clone, Debug)]
pub(crate) struct Requests(Vec<Asked>);

impl Requests {
    /// Of a plan in which somebody asks.
    pub fn new(exchanges: &[Exchange]) -> Option<Box<Requests>> {
        let asked = |&exchange: &Exchange| Asked {
            exchange,
            asked: 0,
            first: Time::MAX,
            last: Time::ZERO,
            latency_ps: Histogram::new(),
            pending: FxHashMap::default(),
        };
        (!exchanges.is_empty()).then(|| Box::new(Requests(exchanges.iter().map(asked).collect())))
    }

    /// A flow has ended, or is under way at the end of the run. A request counts where `counts` says so of its start.
    #[cold]
    pub fn note(&mut self, end: &FlowEnd, counts: impl Fn(Time) -> bool) {
        let Some(asked) = self.0.iter_mut().find(|asked| asked.exchange.traffic == end.traffic) else { return };
        let Some(request) = asked.exchange.request_of(end.flow) else { return };
        let pending = asked.pending.entry(request).or_default();
        if request == end.flow {
            pending.start = Some(end.start);
            asked.asked += u64::from(counts(end.start));
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

    /// The part of `summary.json`.
    pub fn summary(&self) -> Vec<RequestSummary> {
        let entry = |asked: &Asked| {
            let answered = asked.latency_ps.count();
            let (first, last) = if answered == 0 { (Time::ZERO, Time::ZERO) } else { (asked.first, asked.last) };
            RequestSummary {
                traffic: asked.exchange.traffic.into(),
                session: asked.exchange.session,
                asked: asked.asked,
                answered,
                latency_ns: Distribution::from_ps(&asked.latency_ps),
                first_ps: first.as_ps(),
                last_ps: last.as_ps(),
                per_second: (last > first).then(|| answered as f64 / (last - first).as_secs_f64()),
            }
        };
        self.0.iter().map(entry).collect()
    }
}
