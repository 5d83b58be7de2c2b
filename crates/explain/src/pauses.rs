//! Who stopped whom, and when: stops, and who wanted them.

mod builder;

pub use builder::Builder;

use super::trace::PortId;
use record::trace::{Load, Traffic};
use std::collections::BTreeMap;
use units::Time;

/// An egress port, a class of it, or one flow through it, stood still; or waited for credits.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Who stood still.
    pub port: PortId,
    /// The class; `None` for all.
    pub class: Option<u8>,
    /// Only these frames were held; `None` for all of the class.
    pub of: Option<Traffic>,
    /// Since when.
    pub from: Time,
    /// Until when.
    pub until: Time,
    /// The run ended first.
    pub at_end: bool,
    /// It lacked credits; nobody told it to stop.
    pub credit: bool,
    /// Held frames: the least that might pass meanwhile, in bits a second.
    pub rate_bps: u64,
    /// Who wanted it: index into the decisions.
    cause: Option<usize>,
}

impl Stop {
    /// How much of the span it took.
    pub fn lasted(&self, from: Time, until: Time) -> Time {
        self.until.min(until).saturating_sub(self.from.max(from))
    }
}

/// All of these times together. Those of a long trace may be more than a [`Time`] holds.
pub fn total(times: impl IntoIterator<Item = Time>) -> Time {
    times.into_iter().fold(Time::ZERO, Time::saturating_add)
}

/// A neighbour was told to stop: by an ingress account, or by an output; or was left without credits.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The port towards that neighbour.
    pub port: PortId,
    /// The account's class.
    pub class: Option<u8>,
    /// Where an output decided: whose frames.
    pub of: Option<Traffic>,
    /// When.
    pub at: Time,
    /// When it told to go on.
    pub go: Option<Time>,
    /// Bytes that the account held; or what waited at the output, as its limit counts.
    pub held: u64,
    /// The account's threshold; under credits, its room.
    pub limit_bytes: u64,
    /// Egress port, class and what of the account waits there, the most first; or the output.
    pub behind: Vec<(u16, u8, Load)>,
}

/// A watchdog found a class of a port stopped for too long.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    /// Where.
    pub port: PortId,
    /// Its class.
    pub class: u8,
    /// Since when.
    pub from: Time,
    /// Until when; `None` if it went on at the end.
    pub until: Option<Time>,
}

/// All stops of a trace.
#[derive(Debug, Default)]
pub struct Pauses {
    /// Of ports and classes, by the time at which they began.
    pub stops: Vec<Stop>,
    /// Of single flows or destinations, in the same order.
    pub holds: Vec<Stop>,
    /// By time.
    pub decisions: Vec<Decision>,
    /// By time.
    pub storms: Vec<Storm>,
    /// Places in `stops`: those of one class of a port do not overlap.
    by_class: BTreeMap<Account, Vec<usize>>,
    /// Places in `holds`, likewise.
    by_flow: BTreeMap<Flow, Vec<usize>>,
}

type Account = (PortId, Option<u8>);
type Flow = (PortId, Traffic);

impl Pauses {
    /// The stops of a class of a port that overlap a span.
    pub fn of(&self, port: PortId, class: u8, from: Time, until: Time) -> impl Iterator<Item = &Stop> {
        self.places(port, class, from, until).map(|place| &self.stops[place])
    }

    /// The holds at a port that overlap a span and hold what goes from `src` to `dst`, by place.
    pub fn held(
        &self,
        port: PortId,
        (src, dst): (Option<u32>, Option<u32>),
        from: Time,
        until: Time,
    ) -> impl Iterator<Item = usize> {
        let keys = [(port, Traffic { src, dst }), (port, Traffic { src: None, dst })];
        let places = keys.into_iter().filter_map(|key| self.by_flow.get(&key));
        places.flat_map(move |places| overlapping(&self.holds, places, from, until))
    }

    /// As [`Pauses::of`], by place.
    pub fn places(&self, port: PortId, class: u8, from: Time, until: Time) -> impl Iterator<Item = usize> {
        let keys = [(port, Some(class)), (port, None)];
        let places = keys.into_iter().filter_map(|key| self.by_class.get(&key));
        places.flat_map(move |places| overlapping(&self.stops, places, from, until))
    }

    /// What fills the output at `port` from below: its hold of the same frames in this span, else of others that may
    /// not pass at all.
    pub fn filled_by(&self, port: PortId, of: Traffic, from: Time, until: Time) -> Option<&Stop> {
        let first = |key: &Flow| {
            let places = self.by_flow.get(key)?;
            overlapping(&self.holds, places, from, until).next().map(|place| &self.holds[place])
        };
        let at_port = (port, Traffic::default())..=(port, Traffic { src: Some(u32::MAX), dst: Some(u32::MAX) });
        let others = self.by_flow.range(at_port).filter_map(|(key, _)| first(key));
        first(&(port, of)).or_else(|| others.filter(|stop| stop.rate_bps == 0).min_by_key(|stop| stop.from))
    }

    /// Who wanted a stop.
    pub fn cause(&self, stop: &Stop) -> Option<&Decision> {
        self.decisions.get(stop.cause?)
    }
}

/// Of stops that do not overlap each other, in order of time, those that overlap a span.
fn overlapping<'a>(
    all: &'a [Stop],
    places: &'a [usize],
    from: Time,
    until: Time,
) -> impl Iterator<Item = usize> + use<'a> {
    let first = places.partition_point(|&place| all[place].until <= from);
    places[first..].iter().copied().take_while(move |&place| all[place].from < until)
}

/// " class 3", or nothing for all classes.
pub fn class_words(class: Option<u8>) -> String {
    class.map(|class| format!(" (class {class})")).unwrap_or_default()
}
