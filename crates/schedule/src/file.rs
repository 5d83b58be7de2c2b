//! Schedule as a JSON file: streams with the start of each hop, and the gates of each port. `tidegate schedule` writes
//! it, and `verify` has its own reader.

use crate::gates::GateList;
use crate::problem::{Problem, Schedule};
use crate::protocol::WireCost;
use serde::Serialize;

/// Value of `format`.
pub const FORMAT: &str = "tidegate-schedule-1";

#[derive(Serialize)]
struct File<'a> {
    format: &'a str,
    /// "ethernet" or "frame-only".
    wire: &'a str,
    processing_ps: u64,
    class: u8,
    streams: Vec<StreamEntry<'a>>,
    without_slots: Vec<&'a str>,
    gates: Vec<PortEntry<'a>>,
}

#[derive(Serialize)]
struct StreamEntry<'a> {
    name: &'a str,
    period_ps: u64,
    frame_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_ps: Option<u64>,
    hops: Vec<HopEntry<'a>>,
}

#[derive(Serialize)]
struct HopEntry<'a> {
    node: &'a str,
    port: u16,
    start_ps: u64,
}

#[derive(Serialize)]
struct PortEntry<'a> {
    node: &'a str,
    port: u16,
    cycle_ps: u64,
    entries: Vec<StateEntry>,
}

#[derive(Serialize)]
struct StateEntry {
    gates: u8,
    interval_ps: u64,
}

/// Returns the text of the file.
pub fn write(problem: &Problem, schedule: &Schedule, gates: &[GateList], class: u8) -> String {
    let (mut streams, mut without_slots) = (Vec::new(), Vec::new());
    for (spec, starts) in problem.streams.iter().zip(&schedule.starts) {
        let Some(starts) = starts else {
            without_slots.push(spec.name.as_str());
            continue;
        };
        let hop = |(&link, start): (&usize, &units::Time)| {
            let link = &problem.links[link];
            HopEntry { node: &link.node, port: link.port, start_ps: start.as_ps() }
        };
        streams.push(StreamEntry {
            name: &spec.name,
            period_ps: spec.period.as_ps(),
            frame_bytes: spec.frame_bytes,
            deadline_ps: spec.deadline.map(units::Time::as_ps),
            hops: spec.path.iter().zip(starts).map(hop).collect(),
        });
    }
    let port = |list: &GateList| {
        let link = &problem.links[list.link];
        let state =
            |entry: &crate::gates::GateEntry| StateEntry { gates: entry.gates, interval_ps: entry.interval.as_ps() };
        let entries = list.entries.iter().map(state).collect();
        PortEntry { node: &link.node, port: link.port, cycle_ps: list.cycle.as_ps(), entries }
    };
    let wire = match problem.wire {
        WireCost::Ethernet => "ethernet",
        WireCost::FrameOnly => "frame-only",
    };
    let file = File {
        format: FORMAT,
        wire,
        processing_ps: problem.processing.as_ps(),
        class,
        streams,
        without_slots,
        gates: gates.iter().map(port).collect(),
    };
    // Serialisation cannot fail: the structs have only plain values and string keys.
    serde_json::to_string_pretty(&file).map_or_else(|_| String::new(), |text| text + "\n")
}
