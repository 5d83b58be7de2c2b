//! Checks every frame of a hyperperiod: path, chronological order of hops, overlap on the link, gates, deadline.

use super::faults::{Faults, port_of, shown};
use super::file::{Gates, Port, Stream, Wire};
use fabric::{Fabric, Link, NodeKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A condition that the schedule must satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Identifier of the condition in output.
    pub name: &'static str,
    /// Text of the condition.
    pub claim: &'static str,
    /// The first hundred faults; empty if the condition holds.
    pub faults: Vec<String>,
}

/// Result of the checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// All conditions, in order.
    pub checks: Vec<Check>,
    /// Number of frames, summed over all links.
    pub frames: u64,
    /// Longest total waiting time of a frame along its path, in picoseconds, over all streams.
    pub longest_wait_ps: u64,
    /// Longest latency of a frame, in picoseconds.
    pub longest_latency_ps: u64,
    /// Maximum difference between the latencies of two frames of a stream, in picoseconds; 0 for time slots, which
    /// repeat in each period.
    pub jitter_ps: u64,
    /// Warnings: properties that violate no condition but are probably unintended, such as gates that never open, and
    /// unchecked assumptions.
    pub warnings: Vec<String>,
}

impl Judgement {
    /// Whether all conditions hold.
    pub fn pass(&self) -> bool {
        self.checks.iter().all(|check| check.faults.is_empty())
    }

    /// Returns the judgement as a JSON object.
    pub fn value(&self) -> Value {
        let check = |check: &Check| {
            let (name, claim, pass) = (check.name, check.claim, check.faults.is_empty());
            json!({ "check": name, "claim": claim, "pass": pass, "faults": check.faults })
        };
        json!({
            "pass": self.pass(),
            "checks": self.checks.iter().map(check).collect::<Vec<_>>(),
            "frames": self.frames,
            "longest_wait_ps": self.longest_wait_ps,
            "longest_latency_ps": self.longest_latency_ps,
            "jitter_ps": self.jitter_ps,
            "warnings": self.warnings,
        })
    }
}

/// Maximum number of frames that are checked on one link.
const MOST_FRAMES: u64 = 20_000_000;

/// A transmission of a stream over an existing link: start time, and time for which the frame occupies the link.
struct Found<'a> {
    stream: &'a Stream,
    start_ps: u64,
    /// Waiting time before the start.
    wait_ps: u64,
    busy_ps: u64,
}

/// Judges time slots and gates on a fabric.
pub fn judge(gates: &Gates, fabric: &Fabric) -> Judgement {
    let mut paths = Vec::new();
    let mut order = Vec::new();
    let mut deadlines = Vec::new();
    let mut links: BTreeMap<(&str, u16), Vec<Found<'_>>> = BTreeMap::new();
    let (mut longest_wait_ps, mut longest_latency_ps) = (0, 0);
    for stream in &gates.streams {
        let mut arrival: Option<u64> = None;
        let mut from: Option<&str> = None;
        let mut last = None;
        for hop in &stream.hops {
            let Some((link, peer)) = link_of(fabric, &hop.node, hop.port) else {
                paths.push(format!("stream `{}`: the fabric has no port {} of `{}`", stream.name, hop.port, hop.node));
                break;
            };
            if from.is_some_and(|from| from != hop.node) {
                let at = from.unwrap_or_default();
                paths.push(format!("stream `{}`: it has come to `{at}` and goes on from `{}`", stream.name, hop.node));
                break;
            }
            let mut wait_ps = 0;
            if let Some(arrival) = arrival {
                match hop.start_ps.checked_sub(arrival) {
                    Some(wait) => wait_ps = wait,
                    None => order.push(format!(
                        "stream `{}` starts at `{}` at {}, and has not come before {}",
                        stream.name,
                        hop.node,
                        shown(hop.start_ps),
                        shown(arrival)
                    )),
                }
            }
            longest_wait_ps = longest_wait_ps.max(wait_ps);
            let (busy_ps, sent_ps) = times(gates.wire, link, stream.frame_bytes);
            links.entry((&hop.node, hop.port)).or_default().push(Found {
                stream,
                start_ps: hop.start_ps,
                wait_ps,
                busy_ps,
            });
            let end = hop.start_ps.saturating_add(sent_ps).saturating_add(link.delay.as_ps());
            (arrival, from, last) = (Some(end.saturating_add(gates.processing_ps)), Some(peer.0), Some((end, peer.1)));
        }
        if let Some((end, kind)) = last {
            if kind != NodeKind::Host {
                paths.push(format!("stream `{}` ends at a switch, not at a host", stream.name));
            }
            let latency = end.saturating_sub(stream.hops[0].start_ps);
            longest_latency_ps = longest_latency_ps.max(latency);
            if let Some(deadline) = stream.deadline_ps.filter(|&deadline| latency > deadline) {
                let (took, most) = (shown(latency), shown(deadline));
                deadlines.push(format!("stream `{}` takes {took}, and its deadline is {most}", stream.name));
            }
        }
    }
    let (mut overlaps, mut closed, mut open) = (Faults::new(), Faults::new(), Faults::new());
    let mut warnings = warnings(gates, fabric, &links.keys().copied().collect::<Vec<_>>());
    let mut frames = 0;
    let lists: BTreeMap<(&str, u16), &Port> =
        gates.ports.iter().map(|port| ((port.node.as_str(), port.port), port)).collect();
    for (&(node, port), found) in &links {
        let location = port_of(fabric, node, port);
        let list = lists.get(&(node, port)).copied();
        let cycle = found.iter().map(|found| found.stream.period_ps).chain(list.map(|list| list.cycle_ps));
        let cycle = cycle.map(u128::from).fold(1u128, |a, b| (a / common(a, b)).saturating_mul(b));
        let count: u128 = found.iter().map(|found| cycle / u128::from(found.stream.period_ps)).sum();
        if count > u128::from(MOST_FRAMES) {
            overlaps.note((node, port, "", ""), || {
                format!("{location}: {count} frames until everything repeats are more than can be looked at")
            });
            continue;
        }
        // There are at most 20 million periods of at most 11 days: times stay below 2^85, so that 128 bits suffice.
        let mut all: Vec<(u128, u128, &Found<'_>)> = Vec::new();
        for one in found {
            let period = u128::from(one.stream.period_ps);
            for i in 0..cycle / period {
                let start = (u128::from(one.start_ps) + i * period) % cycle;
                all.push((start, start + u128::from(one.busy_ps), one));
            }
        }
        frames += all.len() as u64;
        all.sort_by_key(|&(start, end, one)| (start, end, one.stream.name.as_str()));
        // Append the first frame of the next cycle, to detect an overlap across the end of the cycle.
        let around = all.first().map(|&(start, end, one)| (start + cycle, end + cycle, one));
        let mut reach: Option<(u128, &Found<'_>)> = None;
        for &(start, end, one) in all.iter().chain(&around) {
            if let Some((_, before)) = reach.filter(|&(until, _)| start < until) {
                let names = (before.stream.name.as_str(), one.stream.name.as_str());
                overlaps.note((node, port, names.0, names.1), || {
                    format!(
                        "{location}: frames of `{}` and `{}` are on the wire at {}",
                        before.stream.name,
                        one.stream.name,
                        shown((start % cycle) as u64)
                    )
                });
            }
            if reach.is_none_or(|(until, _)| end > until) {
                reach = Some((end, one));
            }
        }
        warnings.extend(overtaken(&all, cycle, &location));
        let Some(list) = list else {
            open.note((node, port, ""), || {
                format!("{location}: it has no gates, so other classes may send in the slots")
            });
            continue;
        };
        let windows = Windows::new(list);
        for &(start, end, one) in &all {
            let at = (start % u128::from(list.cycle_ps)) as u64;
            let (name, shown) = (one.stream.name.as_str(), shown(at));
            let length = (end - start) as u64;
            if !windows.is(at, length, |state| state >> gates.class & 1 == 1) {
                closed.note((node, port, name), || {
                    format!("{location}: the gate is not open for all of the frame of `{name}` at {shown}")
                });
            } else if !windows.is(at, length, |state| state & !(1 << gates.class) == 0) {
                open.note((node, port, name), || {
                    format!("{location}: another gate is open during the frame of `{name}` at {shown}")
                });
            }
        }
    }
    let check = |name, claim, faults| Check { name, claim, faults };
    Judgement {
        checks: vec![
            check("paths", "each stream goes from port to port of the fabric, to a host", paths),
            check("order", "no frame starts at a node before it has come there", order),
            check("wires", "no two frames are on a wire at once", overlaps.finish()),
            check("gates-open", "the gate of its class is open for all of each frame", closed.finish()),
            check("gates-closed", "all other gates are closed during it", open.finish()),
            check("deadlines", "each frame comes by its deadline", deadlines),
        ],
        frames,
        longest_wait_ps,
        longest_latency_ps,
        jitter_ps: 0,
        warnings,
    }
}

/// Reports a frame that leaves before a frame that arrived earlier, because a shared FIFO queue would send the earlier
/// arrival in the time slot of the later one.
fn overtaken(all: &[(u128, u128, &Found<'_>)], cycle: u128, location: &str) -> Option<String> {
    let mut last: Option<(i128, &Found<'_>)> = None;
    // Check two consecutive cycles, because a frame may arrive in one cycle and leave in the next.
    for round in [0, cycle] {
        for &(start, _, one) in all {
            let came = (start + round) as i128 - i128::from(one.wait_ps);
            if let Some((_, other)) = last.filter(|&(before, _)| came < before) {
                let (name, other) = (&one.stream.name, &other.stream.name);
                return Some(format!(
                    "{location}: frames of `{name}` come before those of `{other}` and leave behind them: \
                     a queue for each is needed"
                ));
            }
            last = Some((came, one));
        }
    }
    None
}

fn warnings(gates: &Gates, fabric: &Fabric, used: &[(&str, u16)]) -> Vec<String> {
    let mut all = Vec::new();
    for port in &gates.ports {
        let ever = port.entries.iter().filter(|entry| entry.interval_ps > 0).fold(0, |ever, entry| ever | entry.gates);
        let never: Vec<String> = (0..8).filter(|class| ever >> class & 1 == 0).map(|class| class.to_string()).collect();
        let streams = used.contains(&(port.node.as_str(), port.port));
        if !never.is_empty() && (streams || never.len() < 8) {
            let (location, classes) = (port_of(fabric, &port.node, port.port), never.join(", "));
            all.push(format!("{location}: the gates of classes {classes} never open"));
        }
    }
    all
}

/// Gate states of a port over its cycle, with the start time of each state.
pub(super) struct Windows<'a> {
    list: &'a Port,
    begins: Vec<u64>,
}

impl Windows<'_> {
    pub fn new(list: &Port) -> Windows<'_> {
        let mut at = 0;
        let begin = |entry: &super::file::State| {
            let here = at;
            at += entry.interval_ps;
            here
        };
        Windows { list, begins: list.entries.iter().map(begin).collect() }
    }

    /// Whether all gate states in the interval of `length` from `at` satisfy `such`. `at` is less than the cycle.
    pub fn is(&self, at: u64, length: u64, such: impl Fn(u8) -> bool) -> bool {
        let mut entry = self.begins.partition_point(|&begin| begin <= at).saturating_sub(1);
        let mut left = length;
        let mut into = at - self.begins[entry];
        // A frame longer than the cycle overlaps all states: visit each state up to twice, then stop.
        for _ in 0..=2 * self.begins.len() {
            let state = self.list.entries[entry];
            if state.interval_ps > into {
                if !such(state.gates) {
                    return false;
                }
                left = left.saturating_sub(state.interval_ps - into);
                if left == 0 {
                    return true;
                }
            }
            (into, entry) = (0, (entry + 1) % self.begins.len());
        }
        true
    }
}

pub(super) fn link_of<'f>(fabric: &'f Fabric, node: &str, port: u16) -> Option<(&'f Link, (&'f str, NodeKind))> {
    let node = fabric.find(node)?;
    let port = fabric.ports(node).get(usize::from(port))?;
    Some((fabric.link(port.link), (fabric.name(port.peer), fabric.node(port.peer).kind)))
}

/// Returns, in picoseconds, the time for which a frame occupies a link, and the time until its last bit is sent.
pub(super) fn times(wire: Wire, link: &Link, frame_bytes: u64) -> (u64, u64) {
    let (before, after) = if wire == Wire::Ethernet { (8, 12) } else { (0, 0) };
    let bits = |bytes: u64| {
        let wide = (u128::from(bytes) * 8 * 1_000_000_000_000).div_ceil(u128::from(link.rate.as_bps()));
        u64::try_from(wide).unwrap_or(u64::MAX >> 2).min(u64::MAX >> 2)
    };
    (bits(frame_bytes + before + after), bits(frame_bytes + before))
}

pub(super) fn common(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { common(b, a % b) }
}
