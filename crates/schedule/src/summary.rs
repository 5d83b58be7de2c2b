//! Summary of a schedule for text and JSON output: streams with slots, latencies, and reasons for streams without
//! slots.

use crate::gates::GateList;
use crate::{Problem, Rejection, Schedule, Slot, StreamSpec};
use serde_json::{Value, json};
use text::numbers::counted;
use text::{Layout, table};
use units::{Bytes, Time};

/// Returns the reasons for streams without slots: the link and its reservations.
pub fn rejections(problem: &Problem, found: &Schedule) -> Vec<String> {
    const HOLDERS: usize = 8;
    let one = |rejection: &Rejection| {
        let Rejection { stream, link, late, holders } = rejection;
        let (name, link) = (&problem.streams[*stream].name, &problem.links[*link]);
        if *late {
            return format!("no slot for `{name}`: its frames would wait on their way, and come after the deadline");
        }
        let holder = |(stream, slot): &(usize, Slot)| {
            let name = &problem.streams[*stream].name;
            format!("`{name}` at {} for {} every {}", slot.start(), slot.length(), slot.period())
        };
        let listed: Vec<String> = holders.iter().take(HOLDERS).map(holder).collect();
        let more = holders.len().saturating_sub(HOLDERS);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let held = if listed.is_empty() { "nobody".to_owned() } else { listed.join(", ") };
        format!(
            "no slot for `{name}`: no start is free on its path up to port {} of `{}`, held by {held}{more}",
            link.port, link.node
        )
    };
    found.rejected.iter().map(one).collect()
}

/// Returns a frame's start, latency and waiting time.
fn timing_of(problem: &Problem, stream: usize, starts: &[Time]) -> (Time, Time, Time) {
    let spec = &problem.streams[stream];
    let last = starts.len() - 1;
    let latency = starts[last] + problem.passage(spec, spec.path[last]) - starts[0];
    (starts[0], latency, latency.saturating_sub(problem.latency(spec)))
}

/// Returns the summary as text. `verdict` formats the number of streams with slots; its second argument is `true` if
/// all have slots.
pub fn shown(
    problem: &Problem,
    found: &Schedule,
    lists: &[GateList],
    verdict: impl Fn(&str, bool) -> String,
) -> String {
    const ROWS: usize = 40;
    let with = problem.streams.iter().zip(&found.starts).enumerate();
    let row = |(stream, (spec, starts)): (usize, (&StreamSpec, &Option<Vec<Time>>))| {
        let (start, latency, wait) = timing_of(problem, stream, starts.as_ref()?);
        let times = [spec.period, start, latency, wait].map(|time| time.to_string());
        let [period, start, latency, wait] = times;
        Some(vec![spec.name.clone(), period, Bytes(spec.frame_bytes).to_string(), start, latency, wait])
    };
    let rows: Vec<Vec<String>> = with.filter_map(row).take(ROWS).collect();
    let mut text = table(&["stream", "period", "frame", "start", "latency", "waits"], &rows, 1, Layout::Fitting, 0);
    let accepted = found.accepted();
    if accepted > ROWS {
        text.push_str(&format!("and {} more streams\n", accepted - ROWS));
    }
    let cycle = lists.iter().map(|list| list.cycle).max().unwrap_or(Time::ZERO);
    let most = lists.iter().map(|list| list.entries.len()).max().unwrap_or(0);
    let ports = counted(lists.len() as u64, "port");
    text.push_str(&format!("gates of {ports}, at most {most} states a port; the longest cycle is {cycle}\n"));
    let all = problem.streams.len();
    let line = verdict(&format!("{accepted} of {all} streams have slots"), accepted == all);
    text.push_str(&format!("{line}\n"));
    if found.most && accepted < all {
        text.push_str("no more can have any: every schedule that can matter was tried\n");
    }
    for line in rejections(problem, found) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

/// Returns the summary as a JSON object.
pub fn value(problem: &Problem, found: &Schedule, lists: &[GateList]) -> Value {
    let stream = |(stream, (spec, starts)): (usize, (&StreamSpec, &Option<Vec<Time>>))| match starts {
        None => json!({ "name": spec.name, "slots": false }),
        Some(starts) => {
            let (start, latency, wait) = timing_of(problem, stream, starts);
            json!({
                "name": spec.name, "slots": true, "start_ps": start.as_ps(), "latency_ps": latency.as_ps(),
                "wait_ps": wait.as_ps(),
            })
        }
    };
    let states = |list: &GateList| {
        let link = &problem.links[list.link];
        json!({ "node": link.node, "port": link.port, "cycle_ps": list.cycle.as_ps(), "states": list.entries.len() })
    };
    json!({
        "accepted": found.accepted(), "streams": problem.streams.len(), "optimal": found.most,
        "slots": problem.streams.iter().zip(&found.starts).enumerate().map(stream).collect::<Vec<_>>(),
        "gates": lists.iter().map(states).collect::<Vec<_>>(),
        "why_not": rejections(problem, found),
    })
}
