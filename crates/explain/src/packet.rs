//! Explanation of one packet, hop by hop.

use super::chain;
use super::explanation::{Explanation, plural};
use super::pauses::{self, class_words};
use super::trace::Trace;
use crate::error::ExplainError;
use record::trace::{Load, PacketKind, TraceEvent, TraceRow, TracedPacket};
use serde_json::json;
use units::{Bytes, Time};

/// Components of the one-way delay of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct DelayComponents {
    /// Serialisation delay on all links.
    pub serialisation: Time,
    /// Propagation delay on all links.
    pub propagation: Time,
    /// Delay by preemption: arrival time minus arrival time without interruption.
    pub interrupted: Time,
    /// Queueing delay during pauses of the class.
    pub stopped: Time,
    /// Queueing delay behind other frames.
    pub behind: Time,
}

impl DelayComponents {
    /// Adds `other`, saturating, because the sum over many packets may exceed a [`Time`].
    pub fn add(&mut self, other: &DelayComponents) {
        self.serialisation = self.serialisation.saturating_add(other.serialisation);
        self.propagation = self.propagation.saturating_add(other.propagation);
        self.interrupted = self.interrupted.saturating_add(other.interrupted);
        self.stopped = self.stopped.saturating_add(other.stopped);
        self.behind = self.behind.saturating_add(other.behind);
    }
}

/// Returns a description of the packet as part of a sentence.
pub fn describe(packet: &TracedPacket) -> String {
    let again = if packet.retransmission { "again, " } else { "" };
    let what = match packet.kind {
        PacketKind::Data => {
            let last = packet.seq.saturating_add(u64::from(packet.payload_bytes).saturating_sub(1));
            format!("{again}bytes {} to {last} of flow {}", packet.seq, packet.flow)
        }
        PacketKind::Ack => format!("acknowledgement of flow {}, up to byte {}", packet.flow, packet.seq),
        PacketKind::Nak => format!("negative acknowledgement of flow {}, from byte {}", packet.flow, packet.seq),
        PacketKind::Cnp => format!("congestion notification of flow {}", packet.flow),
        PacketKind::Control => format!("control frame of flow {}", packet.flow),
    };
    format!("packet {}: {what}, {}, class {}", packet.number, Bytes(packet.size_bytes.into()), packet.class)
}

/// Explains packet `number`.
///
/// # Errors
/// If the trace does not contain the packet.
pub fn explain(trace: &Trace, number: u64) -> Result<Explanation, ExplainError> {
    let rows: Vec<&TraceRow> =
        trace.rows.iter().filter(|row| row.packet.is_some_and(|packet| packet.number == number)).collect();
    if rows.is_empty() {
        let last = trace.rows.iter().filter_map(|row| row.packet).map(|packet| packet.number).max();
        return Err(ExplainError::NoPacket { number, last });
    }
    Ok(explanation(trace, &rows).0)
}

/// Returns the explanation of the packet whose trace rows are `rows`, and its delay components.
pub fn explanation(trace: &Trace, rows: &[&TraceRow]) -> (Explanation, DelayComponents) {
    let title = rows.first().and_then(|row| row.packet.as_ref()).map(describe).unwrap_or_default();
    let mut explanation = Explanation::new(title);
    let mut spent = DelayComponents::default();
    let mut ahead: Vec<(u64, Load)> = Vec::new();
    let mut queued: Option<(Load, Time)> = None;
    // Arrival time of the frame in transmission if no express frame preempts it.
    let mut expected: Option<Time> = None;
    let (mut outcome, mut cut) = (None, false);
    for row in rows {
        let Some(packet) = row.packet else { continue };
        let here = trace.node(row.node);
        match &row.event {
            TraceEvent::Created { since } if *since < row.at => {
                let behind = row.at.saturating_sub(*since);
                explanation.span(*since, row.at, format!("waits {behind} in {here} for transmission"));
                spent.add(&DelayComponents { behind, ..DelayComponents::default() });
            }
            TraceEvent::Created { .. } => explanation.at(row.at, format!("is created by {here}")),
            TraceEvent::Arrived { in_port } => {
                if let Some(expected) = expected.take().filter(|expected| *expected < row.at) {
                    let interrupted = row.at.saturating_sub(expected);
                    explanation.cause_line(format!("it was preempted: the fragments arrive {interrupted} later"));
                    spent.add(&DelayComponents { interrupted, ..DelayComponents::default() });
                }
                explanation.at(row.at, format!("reaches {here} by {}", trace.port_name((row.node, *in_port))));
            }
            TraceEvent::Queued { ahead, wire_free, .. } => queued = Some((*ahead, *wire_free)),
            TraceEvent::Ahead { flow, load, .. } => ahead.push((*flow, *load)),
            TraceEvent::Marked { port } => {
                explanation.at(
                    row.at,
                    format!("is marked with congestion experienced at {}", trace.port_name((row.node, *port))),
                );
            }
            TraceEvent::Started { port, since, until } => {
                let id = (row.node, *port);
                if *since < row.at {
                    wait(&mut explanation, &mut spent, trace, &packet, id, (*since, row.at), queued.take(), &ahead);
                }
                (queued, ahead) = (None, Vec::new());
                let delay = Time::from_ps(trace.port(id).map_or(0, |port| port.delay_ps));
                let wire = until.saturating_sub(row.at).saturating_sub(delay);
                spent.add(&DelayComponents { serialisation: wire, propagation: delay, ..DelayComponents::default() });
                expected = Some(*until);
                let text =
                    format!("leaves by {}: {wire} of transmission and {delay} of propagation", trace.port_towards(id));
                explanation.span(row.at, *until, text);
            }
            TraceEvent::Bounced { port, full_port, bounces } | TraceEvent::Detoured { port, full_port, bounces } => {
                let how = if matches!(row.event, TraceEvent::Bounced { .. }) { "is bounced" } else { "takes a detour" };
                let (full, by) = (trace.port_towards((row.node, *full_port)), trace.port_towards((row.node, *port)));
                explanation.at(row.at, format!("{how} at {full}, which is too full, by {by} (number {bounces})"));
            }
            TraceEvent::Trimmed { port, trimmed_bytes } => {
                let port = trace.port_towards((row.node, *port));
                cut = true;
                // Queueing before the trimming was in the data queue and is not counted: the header waits in another
                // queue.
                (queued, ahead) = (None, Vec::new());
                let lost = Bytes((*trimmed_bytes).into());
                explanation.at(
                    row.at,
                    format!("exceeds the queue of {port} and is trimmed by {lost}: its header is forwarded"),
                );
            }
            TraceEvent::Returned { port, full_port } => {
                let (full, by) = (trace.port_towards((row.node, *full_port)), trace.port_towards((row.node, *port)));
                explanation.at(
                    row.at,
                    format!("has no space for its header at {full}: the header returns to its source by {by}"),
                );
            }
            TraceEvent::Metered { port, pipeline } => {
                let port = trace.port_towards((row.node, *port));
                explanation.at(row.at, format!("exceeds the rate that pipeline {pipeline} passes to {port}"));
            }
            TraceEvent::Deflected { port, pipeline, waiting, mirrored } => {
                let port = trace.port_towards((row.node, *port));
                let what = if *mirrored { "has its header mirrored" } else { "is deflected" };
                let frames = waiting.frames;
                explanation.at(
                    row.at,
                    format!(
                        "exceeds the queue of {port} and {what} to the recirculation port of pipeline {pipeline}, \
                         where {frames} wait with it"
                    ),
                );
            }
            TraceEvent::Dropped { cause, port, in_port, queue, account_bytes } => {
                outcome = Some(format!("lost: {cause}"));
                let (port, in_port) = (port.map(|port| (row.node, port)), in_port.map(|port| (row.node, port)));
                explanation.at(row.at, lost(trace, row.node, cause, port, in_port, *queue, *account_bytes));
                if !ahead.is_empty() {
                    explanation.cause_line(format!("queued there: {}", flows_words(&ahead)));
                }
            }
            TraceEvent::Delivered => {
                outcome = Some(if cut { "delivered as a header" } else { "delivered" }.to_owned());
                let what = if cut { "its header is" } else { "is" };
                let after = row.at.saturating_sub(rows[0].at);
                explanation.at(row.at, format!("{what} delivered to {here}, {after} after it was first seen"));
            }
            TraceEvent::Consumed => {
                outcome = Some(if cut { "returned" } else { "consumed" }.to_owned());
                let what = if cut { "its header is back at" } else { "is used by" };
                explanation.at(
                    row.at,
                    format!("{what} {here}, {} after it was first seen", row.at.saturating_sub(rows[0].at)),
                );
            }
            _ => {}
        }
    }
    if outcome.is_none() {
        unfinished(&mut explanation, trace, rows);
    }
    let DelayComponents { serialisation, propagation, interrupted, stopped, behind } = spent;
    let fragments = if interrupted > Time::ZERO { format!(", {interrupted} interrupted") } else { String::new() };
    explanation.line(format!(
        "In total: {serialisation} of transmission, {propagation} of propagation, {behind} behind others, {stopped} \
         stopped{fragments}."
    ));
    if let Some(packet) = rows.first().and_then(|row| row.packet) {
        let facts = [
            ("packet", json!(packet.number)),
            ("flow", json!(packet.flow)),
            ("kind", json!(packet.kind.name())),
            ("outcome", json!(outcome.unwrap_or_else(|| "under way".to_owned()))),
            ("serialisation_ps", json!(serialisation.as_ps())),
            ("propagation_ps", json!(propagation.as_ps())),
            ("interrupted_ps", json!(interrupted.as_ps())),
            ("behind_others_ps", json!(behind.as_ps())),
            ("stopped_ps", json!(stopped.as_ps())),
        ];
        explanation.facts.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    }
    (explanation, spent)
}

fn flows_words(flows: &[(u64, Load)]) -> String {
    let words = flows.iter().map(|(flow, load)| format!("{} of flow {flow}", plural(load.frames, "frame")));
    words.collect::<Vec<_>>().join(", ")
}

/// Appends the waiting time in a queue: the frames ahead, and the pauses.
#[expect(clippy::too_many_arguments, reason = "one sentence needs them all, and nobody else does")]
fn wait(
    explanation: &mut Explanation,
    spent: &mut DelayComponents,
    trace: &Trace,
    packet: &TracedPacket,
    port: super::trace::PortId,
    (since, until): (Time, Time),
    queued: Option<(Load, Time)>,
    ahead: &[(u64, Load)],
) {
    let total = until.saturating_sub(since);
    let stops: Vec<_> = trace.pauses.of(port, packet.class, since, until).collect();
    let stopped = pauses::total(stops.iter().map(|stop| stop.lasted(since, until))).min(total);
    spent.add(&DelayComponents { stopped, behind: total.saturating_sub(stopped), ..DelayComponents::default() });
    let (load, wire_free) = queued.unwrap_or_default();
    let before = match load.frames {
        0 if wire_free > since => "behind the frame on the wire".to_owned(),
        0 => "with nothing ahead".to_owned(),
        frames => format!("behind {}, {}", plural(frames, "frame"), Bytes(load.bytes)),
    };
    explanation.span(since, until, format!("waits {total} for {} {before}", trace.port_towards(port)));
    if !ahead.is_empty() {
        explanation.cause_line(format!("ahead: {}", flows_words(ahead)));
    }
    for stop in &stops {
        let (from, to) = (stop.from.max(since), stop.until.min(until));
        explanation.cause_line(format!(
            "{} of it {}{} is stopped, from {from} to {to}",
            to.saturating_sub(from),
            trace.port_name(port),
            class_words(stop.class)
        ));
        chain::explain(explanation, trace, stop);
    }
    let own = trace.serialisation(port, load.frames, load.bytes);
    let known = pauses::total([stopped, own, wire_free.saturating_sub(since).min(total)]);
    let rest = total.saturating_sub(known);
    if rest > Time::ZERO && queued.is_some() {
        explanation.cause_line(format!("for {rest} of it the port serves other queues, or a gate or shaper blocks it"));
    }
}

/// Returns a sentence about the cause and the location of a loss.
fn lost(
    trace: &Trace,
    node: u32,
    cause: &str,
    port: Option<super::trace::PortId>,
    in_port: Option<super::trace::PortId>,
    queue: Load,
    account_bytes: Option<u64>,
) -> String {
    let here = trace.node(node);
    let there = port.map(|port| trace.port_towards(port)).unwrap_or_default();
    let way_in = in_port.map(|port| trace.port_name(port)).unwrap_or_default();
    let link = in_port.and_then(|port| trace.port(port)).map_or_else(
        || format!("the link of {here}"),
        |port| format!("the link from {} to {here} ({way_in})", trace.node(port.peer)),
    );
    let held = format!("{}, {}", plural(queue.frames, "frame"), Bytes(queue.bytes));
    match (cause, port) {
        ("queue full", _) => format!("is lost at {here}: the queue of {there} was full with {held}"),
        ("lossless queue full", _) => format!(
            "is lost at {here} although its class is lossless: frames received at {way_in} occupied {}, and its \
             headroom was full; {held} waited for {there}",
            Bytes(account_bytes.unwrap_or(0))
        ),
        ("header queue full", _) => {
            format!("its header is lost at {here}: the header queue of {there} was full with {held}")
        }
        ("link down", Some(port)) => {
            format!("is lost at {here}: it waited for {there} when that link failed{}", since_failure(trace, port))
        }
        ("link down", None) => {
            let since = in_port.map(|port| since_failure(trace, port)).unwrap_or_default();
            format!("is lost: {link} was down or failed with it in flight{since}")
        }
        ("link loss", _) => format!("is lost: configured loss of {link}"),
        ("bit error", _) => format!("is lost: bit error on {link}, detected by the checksum at {here}"),
        ("ttl expired", _) => {
            format!("is lost at {here}: its time to live expired")
        }
        ("pause storm", Some(_)) => {
            format!("is lost at {here}: the watchdog drops frames for {there}, which was stopped for too long")
        }
        ("no route", _) => format!("is lost at {here}: no live port leads to its destination; ingress port {way_in}"),
        (other, Some(_)) => format!("is lost at {here} on its way to {there}: {other}; {held} waited there"),
        (other, None) => format!("is lost at {here}: {other}"),
    }
}

fn since_failure(trace: &Trace, port: super::trace::PortId) -> String {
    let fails =
        |row: &&TraceRow| row.node == port.0 && matches!(row.event, TraceEvent::LinkDown { port: at } if at == port.1);
    trace.rows.iter().rev().find(fails).map(|row| format!(", at {}", row.at)).unwrap_or_default()
}

/// Appends the last known location of a packet that has no final event in the trace.
fn unfinished(explanation: &mut Explanation, trace: &Trace, rows: &[&TraceRow]) {
    let Some(last) =
        rows.iter().rev().find(|row| !matches!(row.event, TraceEvent::Ahead { .. } | TraceEvent::Marked { .. }))
    else {
        return;
    };
    match &last.event {
        TraceEvent::Queued { port, ahead, .. } => {
            let id = (last.node, *port);
            let text = format!(
                "waits for {} until the end of the run, behind {}",
                trace.port_towards(id),
                plural(ahead.frames, "frame")
            );
            explanation.span(last.at, trace.end, text);
            let class = last.packet.map_or(0, |packet| packet.class);
            for stop in trace.pauses.of(id, class, last.at, trace.end) {
                explanation.cause_line(format!(
                    "{} is stopped from {} to {}",
                    trace.port_name(id),
                    stop.from,
                    stop.until
                ));
                chain::explain(explanation, trace, stop);
            }
        }
        TraceEvent::Started { port, until, .. } if *until >= trace.end => {
            explanation.at(
                last.at,
                format!("is on the wire of {} at the end of the run", trace.port_towards((last.node, *port))),
            );
        }
        _ => explanation.line("Its end is not in the trace.".to_owned()),
    }
}
