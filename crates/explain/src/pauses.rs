//! Pauses of ports, and the decisions of accounts and output ports that caused these pauses.

mod builder;

pub use builder::Builder;

use super::trace::PortId;
use record::trace::{Load, TrafficSelector};
use std::collections::BTreeMap;
use units::Time;

/// A time span in which an egress port, a class of the port, or one flow or destination at the port was paused, or
/// waited for credits.
#[derive(Clone, Debug)]
pub struct PauseInterval {
    /// The paused egress port.
    pub port: PortId,
    /// The paused class; `None` for all classes.
    pub class: Option<u8>,
    /// The held flow or destination, under output backpressure; `None` for PAUSE, PFC and credits, which apply to all
    /// frames of the class.
    pub of: Option<TrafficSelector>,
    /// Start of the pause.
    pub from: Time,
    /// End of the pause.
    pub until: Time,
    /// Whether the pause lasted to the end of the run.
    pub at_end: bool,
    /// Whether the port waited for credits instead of being paused by a PAUSE or PFC frame.
    pub credit: bool,
    /// For a hold: the lowest rate that an XOFF permitted in the time span, in bit/s; 0 blocks all frames.
    pub rate_bps: u64,
    /// Index in `Pauses::decisions` of the decision that caused the pause.
    cause: Option<usize>,
}

impl PauseInterval {
    /// Returns the overlap of the pause with a time span.
    pub fn lasted(&self, from: Time, until: Time) -> Time {
        self.until.min(until).saturating_sub(self.from.max(from))
    }
}

/// Returns the sum of the times, saturating, because the sum over a long trace may exceed a [`Time`].
pub fn total(times: impl IntoIterator<Item = Time>) -> Time {
    times.into_iter().fold(Time::ZERO, Time::saturating_add)
}

/// A decision to pause a neighbour: an ingress account exceeded XOFF, an output port exceeded its threshold, or an
/// account had no free bytes to grant credits for.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The port that faces the paused neighbour.
    pub port: PortId,
    /// Class of the ingress account.
    pub class: Option<u8>,
    /// The flow or destination that output backpressure applies to; `None` for PAUSE, PFC and credits.
    pub of: Option<TrafficSelector>,
    /// Time of the decision.
    pub at: Time,
    /// Time of the resume decision; `None` if there was none.
    pub go: Option<Time>,
    /// Bytes in the account; with output backpressure, the load of the output port in the unit of its queue limit.
    pub held: u64,
    /// XOFF threshold of the account in bytes; with credits, the size of the account.
    pub limit_bytes: u64,
    /// Egress queues that contain the frames of the account: port, class and load, by descending load. With output
    /// backpressure, only the congested output port.
    pub behind: Vec<(u16, u8, Load)>,
}

/// A pause storm that a watchdog detected.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    /// The port.
    pub port: PortId,
    /// Paused class of the port.
    pub class: u8,
    /// Start of the storm.
    pub from: Time,
    /// End of the storm; `None` if it lasted to the end of the run.
    pub until: Option<Time>,
}

/// All pauses of a trace.
#[derive(Debug, Default)]
pub struct Pauses {
    /// Pauses of ports and classes, in order of start.
    pub stops: Vec<PauseInterval>,
    /// Pauses of single flows or destinations by output backpressure, in order of start.
    pub holds: Vec<PauseInterval>,
    /// Decisions, in order of time.
    pub decisions: Vec<Decision>,
    /// Pause storms, in order of time.
    pub storms: Vec<Storm>,
    /// Indices into `stops` by port and class. Pauses of one class of a port do not overlap.
    by_class: BTreeMap<Account, Vec<usize>>,
    /// Indices into `holds` by port, and by flow or destination.
    by_flow: BTreeMap<Flow, Vec<usize>>,
}

type Account = (PortId, Option<u8>);
type Flow = (PortId, TrafficSelector);

impl Pauses {
    /// Returns the pauses of a class of a port that overlap a time span.
    pub fn of(&self, port: PortId, class: u8, from: Time, until: Time) -> impl Iterator<Item = &PauseInterval> {
        self.indices(port, class, from, until).map(|index| &self.stops[index])
    }

    /// Returns the indices of the holds at a port that overlap a time span and apply to frames from `src` to `dst`.
    pub fn held(
        &self,
        port: PortId,
        (src, dst): (Option<u32>, Option<u32>),
        from: Time,
        until: Time,
    ) -> impl Iterator<Item = usize> {
        let keys = [(port, TrafficSelector { src, dst }), (port, TrafficSelector { src: None, dst })];
        let indices = keys.into_iter().filter_map(|key| self.by_flow.get(&key));
        indices.flat_map(move |indices| overlapping(&self.holds, indices, from, until))
    }

    /// Returns the indices of [`Pauses::of`].
    pub fn indices(&self, port: PortId, class: u8, from: Time, until: Time) -> impl Iterator<Item = usize> {
        let keys = [(port, Some(class)), (port, None)];
        let indices = keys.into_iter().filter_map(|key| self.by_class.get(&key));
        indices.flat_map(move |indices| overlapping(&self.stops, indices, from, until))
    }

    /// Returns the hold that explains the load of the output `port` in a time span: the first hold of these frames at
    /// this port; if there is none, the earliest hold of other frames with rate 0.
    pub fn filled_by(&self, port: PortId, of: TrafficSelector, from: Time, until: Time) -> Option<&PauseInterval> {
        let first = |key: &Flow| {
            let indices = self.by_flow.get(key)?;
            overlapping(&self.holds, indices, from, until).next().map(|index| &self.holds[index])
        };
        let at_port =
            (port, TrafficSelector::default())..=(port, TrafficSelector { src: Some(u32::MAX), dst: Some(u32::MAX) });
        let others = self.by_flow.range(at_port).filter_map(|(key, _)| first(key));
        first(&(port, of)).or_else(|| others.filter(|stop| stop.rate_bps == 0).min_by_key(|stop| stop.from))
    }

    /// Returns the decision that caused a pause.
    pub fn cause(&self, stop: &PauseInterval) -> Option<&Decision> {
        self.decisions.get(stop.cause?)
    }
}

/// Returns those of `indices` whose pauses overlap a time span. The pauses of `indices` must be in chronological order
/// and must not overlap each other.
fn overlapping<'a>(
    all: &'a [PauseInterval],
    indices: &'a [usize],
    from: Time,
    until: Time,
) -> impl Iterator<Item = usize> + use<'a> {
    let first = indices.partition_point(|&index| all[index].until <= from);
    indices[first..].iter().copied().take_while(move |&index| all[index].from < until)
}

/// Returns the class as a suffix, such as " (class 3)"; an empty text if the pause applies to all classes.
pub fn class_words(class: Option<u8>) -> String {
    class.map(|class| format!(" (class {class})")).unwrap_or_default()
}
