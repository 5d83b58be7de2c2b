//! Explanation of one flow: its waiting times, its losses, and the packet that arrived last.

use super::explanation::{Explanation, plural};
use super::packet::{self, DelayComponents};
use super::pauses;
use super::trace::Trace;
use crate::error::ExplainError;
use record::trace::{PacketKind, TraceEvent, TraceRow};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Time};

/// Maximum number of losses, and of locations, that are listed one by one.
const MAX_SHOWN: usize = 5;

/// Explains flow `number`.
///
/// # Errors
/// If the trace does not contain the flow.
pub fn explain(trace: &Trace, number: u64) -> Result<Explanation, ExplainError> {
    let mut packets: BTreeMap<u64, Vec<&TraceRow>> = BTreeMap::new();
    for row in &trace.rows {
        if let Some(packet) = row.packet.filter(|packet| packet.flow == number) {
            packets.entry(packet.number).or_default().push(row);
        }
    }
    if packets.is_empty() {
        return Err(missing(trace, number));
    }
    let mut explanation = Explanation::new(format!("flow {number}"));
    record(&mut explanation, trace, number);
    let is_data = |rows: &&Vec<&TraceRow>| rows[0].packet.is_some_and(|packet| packet.kind == PacketKind::Data);
    let data: Vec<&Vec<&TraceRow>> = packets.values().filter(is_data).collect();
    let ended = |rows: &[&TraceRow], name: &str| rows.iter().any(|row| row.event.name() == name);
    let delivered = data.iter().filter(|rows| ended(rows, "delivered")).count();
    let again = data.iter().filter(|rows| rows[0].packet.is_some_and(|packet| packet.retransmission)).count();
    let lost: Vec<&Vec<&TraceRow>> = packets.values().filter(|rows| ended(rows, "dropped")).collect();
    explanation.line(format!(
        "The trace has {} of data, {again} of them retransmissions: {delivered} delivered, {} lost, and {} of replies.",
        plural(data.len() as u64, "packet"),
        data.iter().filter(|rows| ended(rows, "dropped")).count(),
        packets.len() - data.len(),
    ));
    explain_locations(&mut explanation, trace, number, &data);
    for rows in lost.iter().take(MAX_SHOWN) {
        let (of_packet, _) = packet::explanation(trace, rows);
        let loss = of_packet.lines.iter().find(|line| line.text.starts_with("is lost"));
        if let Some(line) = loss {
            let number = rows[0].packet.map_or(0, |packet| packet.number);
            explanation.at(line.at.unwrap_or_default(), format!("packet {number} {}", line.text));
        }
    }
    if lost.len() > MAX_SHOWN {
        explanation.line(format!("... and {} more were lost.", lost.len() - MAX_SHOWN));
    }
    // The payload packet that arrives last determines the FCT.
    let arrival = |rows: &&&Vec<&TraceRow>| {
        let end = rows.iter().rev().find(|row| matches!(row.event, TraceEvent::Delivered));
        end.map(|row| row.at)
    };
    if let Some(rows) = data.iter().filter(|rows| arrival(rows).is_some()).max_by_key(arrival) {
        let (of_packet, _) = packet::explanation(trace, rows);
        explanation.line(format!("The last packet to arrive is {}:", of_packet.title));
        explanation.lines.extend(of_packet.lines);
    }
    let numbers: BTreeSet<u64> = packets.keys().copied().collect();
    let facts = [
        ("flow", json!(number)),
        ("packets", json!(numbers)),
        ("data_packets", json!(data.len())),
        ("delivered", json!(delivered)),
        ("lost", json!(lost.len())),
        ("sent_again", json!(again)),
    ];
    explanation.facts.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    Ok(explanation)
}

/// Appends the record of `flows.parquet`.
fn record(explanation: &mut Explanation, trace: &Trace, number: u64) {
    let Some(flow) = trace.flows.get(&number) else { return };
    let start = Time::from_ps(flow.start_ps);
    let size = if flow.size_bytes == u64::MAX { "endless".to_owned() } else { Bytes(flow.size_bytes).to_string() };
    explanation.at(start, format!("starts: {size} in class {}", flow.class));
    match flow.fct_ps() {
        Some(fct) => {
            let slowdown = flow.slowdown().map(|slowdown| format!(", slowdown {slowdown:.2}"));
            let text = format!("is complete after {}{}", Time::from_ps(fct), slowdown.unwrap_or_default());
            explanation.at(start + Time::from_ps(fct), text);
        }
        None => explanation.at(trace.end, "is incomplete at the end of the run"),
    }
    if flow.timeouts > 0 {
        explanation.line(format!("Its sender ran into {}.", plural(flow.timeouts.into(), "timeout")));
    }
}

/// Appends the ports at which the packets waited longest, and the pauses of the sending host.
fn explain_locations(explanation: &mut Explanation, trace: &Trace, number: u64, data: &[&Vec<&TraceRow>]) {
    let mut total = DelayComponents::default();
    let mut locations: BTreeMap<(u32, u16), (Time, Time, u64)> = BTreeMap::new();
    for rows in data {
        let (_, spent) = packet::explanation(trace, rows);
        total.add(&spent);
        for row in rows.iter() {
            if let (TraceEvent::Started { port, since, .. }, Some(packet)) = (&row.event, row.packet)
                && *since < row.at
            {
                let id = (row.node, *port);
                let stops = trace.pauses.of(id, packet.class, *since, row.at);
                let stopped = pauses::total(stops.map(|stop| stop.lasted(*since, row.at)));
                let location = locations.entry(id).or_default();
                *location = (
                    pauses::total([location.0, row.at.saturating_sub(*since)]),
                    location.1.saturating_add(stopped),
                    location.2 + 1,
                );
            }
        }
    }
    explanation.line(format!(
        "In total: {} of transmission, {} of propagation, {} behind others and {} stopped.",
        total.serialisation, total.propagation, total.behind, total.stopped
    ));
    let mut locations: Vec<_> = locations.into_iter().collect();
    locations.sort_by_key(|&(id, (waited, ..))| (std::cmp::Reverse(waited), id));
    for (id, (waited, stopped, count)) in locations.into_iter().take(MAX_SHOWN) {
        let stopped = if stopped > Time::ZERO { format!(", {stopped} of it stopped") } else { String::new() };
        let port = trace.port_towards(id);
        explanation.cause_line(format!("{} waited for {port}: {waited} in total{stopped}", plural(count, "packet")));
    }
    // A paused host creates no packets, so the time for which the host is paused is not part of any packet's delay.
    if let Some(first) = data.first().and_then(|rows| rows.first()) {
        let flow = trace.flows.get(&number);
        let from = flow.map_or(first.at, |flow| Time::from_ps(flow.start_ps));
        let until = flow.and_then(|flow| Some(from + Time::from_ps(flow.fct_ps()?))).unwrap_or(trace.end);
        let of_class =
            |stop: &pauses::PauseInterval| flow.is_none_or(|flow| stop.class.is_none_or(|class| class == flow.class));
        let while_it_lasts = |stop: &&pauses::PauseInterval| stop.from < until && stop.until > from && of_class(stop);
        let of_host = trace.pauses.stops.iter().filter(|stop| stop.port.0 == first.node);
        let host = of_host.filter(while_it_lasts);
        for stop in host.take(MAX_SHOWN) {
            explanation.span(stop.from, stop.until, format!("its sender, {}, is stopped", trace.port_name(stop.port)));
            super::chain::explain(explanation, trace, stop);
        }
    }
}

fn missing(trace: &Trace, number: u64) -> ExplainError {
    let traced: BTreeSet<u64> = trace.rows.iter().filter_map(|row| row.packet).map(|packet| packet.flow).collect();
    let traced = traced.into_iter().collect();
    match trace.flows.get(&number) {
        Some(_) => ExplainError::FlowNotTraced { number, traced },
        None => ExplainError::NoFlow { number, traced },
    }
}
