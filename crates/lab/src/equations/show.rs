//! Output of a solved fluid model as text and JSON.

use super::{ColumnStatistics, FixedPointReport, PacketMeasurement, Solved};
use crate::explained;
use scenario::FluidFile;
use serde_json::{Value, json as value};
use std::fmt::Write as _;
use text::numbers::{counted, grouped, percent, rate, size, span};
use text::{Layout, table};
use units::Time;

/// Returns every value of the file with its origin.
pub fn explained(file: &FluidFile) -> String {
    explained::values(&file.explained)
}

/// Returns every value of the file as one JSON object.
pub fn explained_json(file: &FluidFile) -> String {
    let model = value!({ "name": file.name, "kind": file.kind });
    format!("{:#}\n", value!({ "model": model, "values": explained::json_values(&file.explained) }))
}

/// A packet-level simulation, and its differences from the fluid model.
type PacketComparison<'a> = (&'a PacketMeasurement, &'a [String]);

fn flows(file: &FluidFile) -> u64 {
    file.flows.iter().map(|flows| u64::from(flows.count)).sum()
}

/// Returns Jain's fairness index of mean rates.
fn jain(file: &FluidFile, means: &[f64]) -> f64 {
    let pairs = || file.flows.iter().zip(means).map(|(flows, mean)| (f64::from(flows.count), mean));
    let sum: f64 = pairs().map(|(count, mean)| count * mean).sum();
    let squares: f64 = pairs().map(|(count, mean)| count * mean * mean).sum();
    sum * sum / (flows(file) as f64 * squares)
}

fn bytes(value: f64) -> String {
    size(value.max(0.0).round() as u64)
}

/// Returns the statistics of the rate of each group of flows, and of the queue; `None` if the solution ended before the
/// end of the warm-up.
fn spreads(solved: &Solved) -> Option<(Vec<ColumnStatistics>, ColumnStatistics)> {
    let rates = solved.rates.iter().map(|column| solved.spread(*column)).collect::<Option<_>>()?;
    Some((rates, solved.queue()?))
}

/// Returns the text: rates and queue after the warm-up, those of the packet-level simulation if given, and the fixed
/// point.
pub fn summary(
    file: &FluidFile,
    solved: &Solved,
    rest: Option<&FixedPointReport>,
    beside: Option<PacketComparison<'_>>,
) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}  fluid model {}", file.name, file.kind);
    if let Some(description) = &file.description {
        let _ = writeln!(text, "{description}");
    }
    let (link, buffer) = (rate(file.bottleneck.rate), bytes(file.bottleneck.buffer / 8.0));
    let _ = writeln!(text, "bottleneck    {link}, queue up to {buffer}, {}", counted(flows(file), "flow"));
    let until = solved.times_ps.last().map_or(Time::ZERO, |time| Time::from_ps(*time));
    let steps = grouped(solved.work.steps);
    let _ = match &solved.failed {
        Some(_) => writeln!(text, "solved        up to {until} of {}", file.duration),
        None => writeln!(text, "solved        {until} in {steps} steps, {}", counted(solved.work.events, "event")),
    };
    if let Some((rates, queue)) = spreads(solved) {
        let _ = writeln!(text, "\nfrom {} on", file.warm_up);
        let means: Vec<f64> = rates.iter().map(|rate| rate.mean).collect();
        let name = |count: u32, rtt: f64| format!("rate of {}, rtt {}", counted(count.into(), "flow"), span(rtt * 1e9));
        let kinds = file.flows.iter().zip(&rates);
        let mut rows: Vec<Vec<String>> = kinds
            .map(|(flows, of)| vec![name(flows.count, flows.rtt), rate(of.mean), rate(of.least), rate(of.most)])
            .collect();
        rows.push(vec!["queue".to_owned(), bytes(queue.mean), bytes(queue.least), bytes(queue.most)]);
        text.push_str(&table(&["", "mean", "least", "most"], &rows, 1, Layout::Fitting, 2));
        let total: f64 = file.flows.iter().zip(&means).map(|(flows, mean)| f64::from(flows.count) * mean).sum();
        let (share, fair) = (percent(total / file.bottleneck.rate), jain(file, &means));
        let _ = writeln!(text, "  together {share} of the link; Jain's index {fair:.4}");
        if let Some(beside) = beside {
            let mean = total / flows(file) as f64;
            text.push_str(&packets(beside, mean, queue.mean));
        }
    }
    if let Some(rest) = rest {
        let _ = write!(text, "\n{}", rest.text());
    }
    text
}

/// Returns the means of the fluid model and those of the packet-level simulation.
fn packets((packets, differ): PacketComparison<'_>, flow_bps: f64, queue_bytes: f64) -> String {
    let row = |name: &str, fluid: f64, packets: f64, show: &dyn Fn(f64) -> String| {
        let off = if packets > 0.0 { format!("{:+.1} %", 100.0 * (fluid / packets - 1.0)) } else { "-".to_owned() };
        vec![name.to_owned(), show(fluid), show(packets), off]
    };
    let rows = [
        row("rate of a flow, mean", flow_bps, packets.flow_bps(), &rate),
        row("queue, mean", queue_bytes, packets.queue_bytes, &bytes),
    ];
    let mut text = format!("\ncompared with packets, at {}\n", packets.port);
    text.push_str(&table(&["", "fluid", "packets", "off"], &rows, 1, Layout::Fitting, 2));
    for differ in differ {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  differs: {differ}");
    }
    text
}

/// Returns JSON.
pub fn json(
    file: &FluidFile,
    solved: &Solved,
    rest: Option<&FixedPointReport>,
    beside: Option<PacketComparison<'_>>,
) -> String {
    let spread = |spread: ColumnStatistics| value!({ "mean": spread.mean, "least": spread.least, "most": spread.most });
    let kinds = file.flows.iter().zip(&solved.rates).map(|(flows, column)| {
        let rate = solved.spread(*column).map(spread);
        value!({ "count": flows.count, "rtt_s": flows.rtt, "start_s": flows.start, "rate_bps": rate })
    });
    let means = spreads(solved).map(|(rates, _)| rates.iter().map(|rate| rate.mean).collect::<Vec<f64>>());
    let mut object = value!({
        "version": env!("CARGO_PKG_VERSION"),
        "name": file.name,
        "model": file.kind,
        "duration_ps": file.duration.as_ps(),
        "warm_up_ps": file.warm_up.as_ps(),
        "flows": kinds.collect::<Vec<Value>>(),
        "queue_bytes": solved.queue().map(spread),
        "jain": means.map(|means| jain(file, &means)),
        "steps": solved.work.steps,
        "events": solved.work.events,
        "failed": solved.failed.as_ref().map(ToString::to_string),
        "failed_at_s": solved.failed.as_ref().map(fluid::solver::SolveError::time),
    });
    if let Some(rest) = rest {
        object["stability"] = rest.json();
    }
    if let Some((packets, differ)) = beside {
        object["packets"] = value!({
            "port": packets.port,
            "flows": packets.flows,
            "queue_bytes": packets.queue_bytes,
            "rate_bps": packets.rate_bps,
            "differ": differ,
        });
    }
    format!("{object:#}\n")
}
