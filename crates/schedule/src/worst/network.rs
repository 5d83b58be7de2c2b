//! Links and streams of the analysis, in integer ticks.

use super::{Control, WorstCaseError};
use crate::problem::Problem;
use std::collections::{BTreeMap, BTreeSet};
use units::{GAP_BYTES, PREAMBLE_BYTES, Rate, WIRE_OVERHEAD_BYTES};

/// Ticks per picosecond in the search: simultaneous arrivals are separated by a few ticks, so that their order is
/// defined.
pub(super) const TICKS: i64 = 1024;

/// Minimum length of a fragment of a preempted frame, and length of the CRC of a fragment that is not the last, in
/// bytes (IEEE 802.3br).
const FRAGMENT_BYTES: u64 = 64;
const CHECK_BYTES: u64 = 4;

/// Hop of a stream: transmission on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub link: usize,
    /// Time for which a frame occupies the link.
    pub slot: i64,
    /// Time from the start of the transmission until the last bit is sent.
    pub sent: i64,
    /// Time from the start of the transmission until the frame may start on the next link; from the last link, until
    /// its last bit arrives.
    pub reach: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Path {
    pub period: i64,
    pub bytes: u64,
    /// Whether the stream is of the highest class.
    pub high: bool,
    pub hops: Vec<Hop>,
}

impl Path {
    /// Returns the delay of a frame of this stream that never waits.
    pub fn least(&self) -> i64 {
        self.hops.iter().map(|hop| hop.reach).sum()
    }

    /// Returns the index of the hop that uses a link.
    pub fn hop_at(&self, link: usize) -> Option<usize> {
        self.hops.iter().position(|hop| hop.link == link)
    }

    /// Returns the link of the hop before hop `at`.
    pub fn previous(&self, at: usize) -> Option<usize> {
        at.checked_sub(1).map(|before| self.hops[before].link)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Network {
    pub streams: Vec<Path>,
    /// Links that carry a stream, in topological order: each follows all links from which frames reach it.
    pub order: Vec<usize>,
    /// Position of each link in `order`.
    pub position: BTreeMap<usize, usize>,
    /// Positions in `order` of the links of each stream.
    pub places: Vec<Vec<usize>>,
    /// Per link of `order`: whether it carries a lower class.
    pub lower: Vec<bool>,
    /// By link: the streams that use it, each with the index of this hop on its path.
    pub on: BTreeMap<usize, Vec<(usize, usize)>>,
    /// Rate of each link.
    pub rates: Vec<Rate>,
    /// Per link: whether a switch (and not a source) sends on it.
    pub preempts: Vec<bool>,
    pub control: Control,
    /// Ticks per picosecond.
    pub scale: i64,
}

impl Network {
    /// # Errors
    /// Paths that form a cycle of links; more than two classes.
    pub fn new(problem: &Problem, classes: &[u8], control: Control, scale: i64) -> Result<Network, WorstCaseError> {
        let distinct: BTreeSet<u8> = classes.iter().copied().collect();
        if distinct.len() > 2 {
            return Err(WorstCaseError::Classes(distinct.len()));
        }
        let highest = distinct.last().copied().unwrap_or(0);
        let ticks = |time: units::Time| time.as_ps() as i64 * scale;
        let path = |(spec, &class): (&crate::StreamSpec, &u8)| {
            let hop = |(at, &link): (usize, &usize)| {
                let rate = problem.links[link].rate;
                let last = at + 1 == spec.path.len();
                let processing = if last { 0 } else { ticks(problem.processing) };
                Hop {
                    link,
                    slot: ticks(problem.wire.slot(rate, spec.frame_bytes)),
                    sent: ticks(problem.wire.transmission(rate, spec.frame_bytes)),
                    reach: ticks(problem.passage(spec, link)) + processing,
                }
            };
            Path {
                period: ticks(spec.period),
                bytes: spec.frame_bytes,
                high: class == highest,
                hops: spec.path.iter().enumerate().map(hop).collect(),
            }
        };
        let streams: Vec<Path> = problem.streams.iter().zip(classes).map(path).collect();
        let mut on: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        let mut preempts = vec![false; problem.links.len()];
        for (stream, path) in streams.iter().enumerate() {
            for (at, hop) in path.hops.iter().enumerate() {
                on.entry(hop.link).or_default().push((stream, at));
                preempts[hop.link] |= at > 0;
            }
        }
        let order = in_order(&streams, &on)?;
        let rates = problem.links.iter().map(|link| link.rate).collect();
        let position: BTreeMap<usize, usize> = order.iter().enumerate().map(|(place, &link)| (link, place)).collect();
        let places = streams.iter().map(|path| path.hops.iter().map(|hop| position[&hop.link]).collect()).collect();
        let lower = order.iter().map(|link| on[link].iter().any(|&(stream, _)| !streams[stream].high)).collect();
        Ok(Network { streams, order, position, places, lower, on, rates, preempts, control, scale })
    }

    /// Returns the maximum time for which a frame of a lower class still occupies `link` after a frame of the highest
    /// class has arrived.
    pub fn blocking(&self, link: usize) -> i64 {
        let lower = self.on[&link].iter().filter(|&&(stream, _)| !self.streams[stream].high);
        let bytes = |bytes: u64| self.rates[link].serialise(bytes).as_ps() as i64 * self.scale;
        let of = |&(stream, at): &(usize, usize)| {
            let (path, whole) = (&self.streams[stream], self.streams[stream].hops[at].slot);
            match self.control {
                Control::Preemption if self.preempts[link] => {
                    whole.min(bytes(2 * FRAGMENT_BYTES - CHECK_BYTES - 1 + WIRE_OVERHEAD_BYTES))
                }
                Control::IdealPreemption if self.preempts[link] => whole - path.hops[at].sent,
                _ => whole,
            }
        };
        lower.map(of).max().unwrap_or(0)
    }

    /// Returns the time for which the last fragment of a preempted frame, with these bytes, occupies the link.
    pub fn fragment(&self, link: usize, bytes: u64) -> i64 {
        self.rates[link].serialise(bytes + WIRE_OVERHEAD_BYTES).as_ps() as i64 * self.scale
    }

    /// Preempts a fragment that contains the last `left` bytes of a frame, `elapsed` after the start of its
    /// transmission. Returns the time from this start until the link is free, and the bytes that remain unsent; `None`
    /// if the fragment can no longer be preempted.
    pub fn cut(&self, link: usize, left: u64, elapsed: i64) -> Option<(i64, u64)> {
        let rate = self.rates[link];
        let serialised = |bytes: u64| rate.serialise(bytes).as_ps() as i64 * self.scale;
        let mut begun = rate.bytes_in(units::Time::from_ps((elapsed / self.scale) as u64));
        begun += u64::from(serialised(begun) < elapsed);
        let sent = begun.saturating_sub(PREAMBLE_BYTES).max(FRAGMENT_BYTES - CHECK_BYTES);
        let rest = left.checked_sub(sent).filter(|&rest| rest >= FRAGMENT_BYTES)?;
        Some((serialised(PREAMBLE_BYTES + sent + CHECK_BYTES + GAP_BYTES), rest))
    }
}

/// Returns the links in topological order: each follows all links from which frames reach it.
fn in_order(streams: &[Path], on: &BTreeMap<usize, Vec<(usize, usize)>>) -> Result<Vec<usize>, WorstCaseError> {
    let mut before: BTreeMap<usize, BTreeSet<usize>> = on.keys().map(|&link| (link, BTreeSet::new())).collect();
    for path in streams {
        for pair in path.hops.windows(2) {
            before.entry(pair[1].link).or_default().insert(pair[0].link);
        }
    }
    let mut order = Vec::new();
    while !before.is_empty() {
        let ready: Vec<usize> = before.iter().filter(|(_, needs)| needs.is_empty()).map(|(&link, _)| link).collect();
        let Some(&any) = before.keys().next() else { break };
        if ready.is_empty() {
            return Err(WorstCaseError::Cycle(any));
        }
        for link in ready {
            before.remove(&link);
            before.values_mut().for_each(|needs| {
                needs.remove(&link);
            });
            order.push(link);
        }
    }
    Ok(order)
}
