//! Explanation of one port: its pauses, the pauses that it caused, and its losses.

use super::backpressure_requests;
use super::chain;
use super::explanation::{Explanation, plural};
use super::pauses::{class_words, total};
use super::trace::{PortId, Trace};
use crate::error::ExplainError;
use record::trace::TraceEvent;
use serde_json::json;
use std::collections::BTreeMap;
use units::Time;

/// Maximum number of pauses listed one by one.
const MAX_SHOWN: usize = 20;

/// Explains the port called `name`.
///
/// # Errors
/// If the fabric has no such port.
pub fn explain(trace: &Trace, name: &str) -> Result<Explanation, ExplainError> {
    let id = trace.find_port(name)?;
    let mut explanation = Explanation::new(format!("port {}", trace.port_towards(id)));
    let stops: Vec<_> = trace.pauses.stops.iter().filter(|stop| stop.port == id).collect();
    let stopped = total(stops.iter().map(|stop| stop.until.saturating_sub(stop.from)));
    explanation.line(match stops.len() {
        0 => "It was never stopped.".to_owned(),
        count => format!("It was stopped {}, {stopped} in total.", plural(count as u64, "time")),
    });
    for stop in stops.iter().take(MAX_SHOWN) {
        let end = if stop.at_end { " (the run's end)" } else { "" };
        let text = format!(
            "is stopped{} for {}, until {}{end}",
            class_words(stop.class),
            stop.until.saturating_sub(stop.from),
            stop.until
        );
        explanation.span(stop.from, stop.until, text);
        chain::explain(&mut explanation, trace, stop);
    }
    if stops.len() > MAX_SHOWN {
        explanation.line(format!("... and {} more times.", stops.len() - MAX_SHOWN));
    }
    let sent: Vec<_> = trace.pauses.decisions.iter().filter(|one| one.port == id && one.of.is_none()).collect();
    if let Some(port) = trace.port(id).filter(|_| !sent.is_empty()) {
        let (peer, first) = (trace.node(port.peer), sent[0].at);
        let times = plural(sent.len() as u64, "time");
        explanation.line(format!("{} itself stopped {peer} at this port {times}, first at {first}.", trace.node(id.0)));
    }
    backpressure_requests::explain(&mut explanation, trace, id);
    explain_storms(&mut explanation, trace, id);
    let losses = losses(trace, id);
    let lost: u64 = losses.values().map(|loss| loss.0).sum();
    for (cause, (count, first)) in &losses {
        explanation.line(format!(
            "{} of the trace were lost before it ({cause}), first at {first}.",
            plural(*count, "packet")
        ));
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
        explanation.line(format!(
            "{} of the trace were sent by it after waiting {} on average, {longest} at most (packet {number}).",
            plural(waits.len() as u64, "packet"),
            together / waits.len() as u64,
        ));
    }
    let facts = [
        ("port", json!(trace.port_name(id))),
        ("stops", json!(stops.len())),
        ("stopped_ps", json!(stopped.as_ps())),
        ("pauses_sent", json!(sent.len())),
        ("lost", json!(lost)),
        ("packets", json!(waits.len())),
    ];
    explanation.facts.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    Ok(explanation)
}

/// Appends the pause storms that the watchdog detected at this port.
fn explain_storms(explanation: &mut Explanation, trace: &Trace, id: PortId) {
    let storms: Vec<_> = trace.pauses.storms.iter().filter(|storm| storm.port == id).collect();
    for storm in storms.iter().take(MAX_SHOWN) {
        let until = storm.until.unwrap_or(trace.end);
        let end = if storm.until.is_none() { " (the run's end)" } else { "" };
        let class = class_words(Some(storm.class));
        let text = format!("its watchdog detects a pause storm{class}, which ends at {until}{end}");
        explanation.span(storm.from, until, text);
    }
    if storms.len() > MAX_SHOWN {
        explanation.line(format!("... and {} more storms.", storms.len() - MAX_SHOWN));
    }
}

/// Returns the losses at an egress port by cause: their number, and the time of the first.
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
