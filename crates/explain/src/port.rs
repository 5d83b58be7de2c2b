//! The story of one port: its pauses, the pauses that it caused, and losses.

use super::calls;
use super::chain;
use super::pauses::{class_words, total};
use super::story::{Story, plural};
use super::trace::{PortId, Trace};
use crate::error::ExplainError;
use record::trace::TraceEvent;
use serde_json::json;
use std::collections::BTreeMap;
use units::Time;

/// Maximum number of pauses listed one by one.
const TOLD: usize = 20;

/// Explains the port called `name`.
///
/// # Errors
/// If the fabric has no such port.
pub fn explain(trace: &Trace, name: &str) -> Result<Story, ExplainError> {
    let id = trace.find_port(name)?;
    let mut story = Story::new(format!("port {}", trace.port_towards(id)));
    let stops: Vec<_> = trace.pauses.stops.iter().filter(|stop| stop.port == id).collect();
    let stopped = total(stops.iter().map(|stop| stop.until.saturating_sub(stop.from)));
    story.say(match stops.len() {
        0 => "It was never stopped.".to_owned(),
        count => format!("It was stopped {}, {stopped} in total.", plural(count as u64, "time")),
    });
    for stop in stops.iter().take(TOLD) {
        let end = if stop.at_end { " (the run's end)" } else { "" };
        let text = format!(
            "is stopped{} for {}, until {}{end}",
            class_words(stop.class),
            stop.until.saturating_sub(stop.from),
            stop.until
        );
        story.span(stop.from, stop.until, text);
        chain::tell(&mut story, trace, stop);
    }
    if stops.len() > TOLD {
        story.say(format!("... and {} more times.", stops.len() - TOLD));
    }
    let told: Vec<_> = trace.pauses.decisions.iter().filter(|one| one.port == id && one.of.is_none()).collect();
    if let Some(port) = trace.port(id).filter(|_| !told.is_empty()) {
        let (peer, first) = (trace.node(port.peer), told[0].at);
        let times = plural(told.len() as u64, "time");
        story.say(format!("{} itself stopped {peer} at this port {times}, first at {first}.", trace.node(id.0)));
    }
    calls::tell(&mut story, trace, id);
    explain_storms(&mut story, trace, id);
    let losses = losses(trace, id);
    let lost: u64 = losses.values().map(|loss| loss.0).sum();
    for (cause, (count, first)) in &losses {
        story
            .say(format!("{} of the trace were lost before it ({cause}), first at {first}.", plural(*count, "packet")));
    }
    let waits = trace.rows.iter().filter_map(|row| match row.event {
        TraceEvent::Started { port, since, .. } if (row.node, port) == id => {
            Some((row.at.saturating_sub(since), row.packet))
        }
        _ => None,
    });
    let waits: Vec<_> = waits.collect();
    if let Some((longest, packet)) = waits.iter().max_by_key(|wait| wait.0) {
        let together = total(waits.iter().map(|wait| wait.0));
        let number = packet.map_or(0, |packet| packet.number);
        story.say(format!(
            "{} of the trace were sent by it after waiting {} on average, {longest} at most (packet {number}).",
            plural(waits.len() as u64, "packet"),
            together / waits.len() as u64,
        ));
    }
    let facts = [
        ("port", json!(trace.port_name(id))),
        ("stops", json!(stops.len())),
        ("stopped_ps", json!(stopped.as_ps())),
        ("told_to_stop", json!(told.len())),
        ("lost", json!(lost)),
        ("packets", json!(waits.len())),
    ];
    story.facts.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    Ok(story)
}

/// Appends the storms found by the watchdog.
fn explain_storms(story: &mut Story, trace: &Trace, id: PortId) {
    let storms: Vec<_> = trace.pauses.storms.iter().filter(|storm| storm.port == id).collect();
    for storm in storms.iter().take(TOLD) {
        let until = storm.until.unwrap_or(trace.end);
        let end = if storm.until.is_none() { " (the run's end)" } else { "" };
        let class = class_words(Some(storm.class));
        let text = format!("its watchdog detects a pause storm{class}, which ends at {until}{end}");
        story.span(storm.from, until, text);
    }
    if storms.len() > TOLD {
        story.say(format!("... and {} more storms.", storms.len() - TOLD));
    }
}

/// Returns the losses at an egress port, by cause: their number and the time of the first.
fn losses(trace: &Trace, id: PortId) -> BTreeMap<String, (u64, Time)> {
    let mut losses: BTreeMap<String, (u64, Time)> = BTreeMap::new();
    for row in trace.rows.iter().filter(|row| row.node == id.0) {
        if let TraceEvent::Dropped { cause, port: Some(port), .. } = &row.event
            && *port == id.1
        {
            losses.entry(cause.clone().into_owned()).or_insert((0, row.at)).0 += 1;
        }
    }
    losses
}
