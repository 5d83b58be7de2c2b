//! Comparison of NDP with DCTCP, TCP and DCQCN with PFC in one fabric: incast, permutation and web search.

use super::filling::{Frames, filling};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{Source, TRIM_FABRIC, TRIM_FABRIC_DCQCN, TRIM_FABRIC_DCTCP, TRIM_FABRIC_TCP};
use crate::trial::{Trial, TrialResult};
use text::{Layout, table};

/// Transport protocol with the switches that it requires.
#[derive(Debug)]
struct Mechanism {
    name: &'static str,
    source: &'static Source,
    /// Override of the scenario's `switch` table, if any.
    switch: Option<&'static str>,
}

/// The compared mechanisms, NDP first. The last two have smaller buffers, which shows the cost of small buffers for
/// transports that need large buffers.
static MECHANISMS: [Mechanism; 6] = [
    Mechanism { name: "NDP", source: &TRIM_FABRIC, switch: None },
    Mechanism { name: "DCTCP", source: &TRIM_FABRIC_DCTCP, switch: None },
    Mechanism { name: "TCP", source: &TRIM_FABRIC_TCP, switch: None },
    Mechanism { name: "DCQCN + PFC", source: &TRIM_FABRIC_DCQCN, switch: None },
    Mechanism {
        name: "DCTCP, 200 packets",
        source: &TRIM_FABRIC_DCTCP,
        switch: Some("{ queue = \"200 packets\", marking = { kind = \"ecn\", k_min = \"98KB\" } }"),
    },
    Mechanism { name: "TCP, 200 packets", source: &TRIM_FABRIC_TCP, switch: Some("{ queue = \"200 packets\" }") },
];

/// Flow completion times of a run.
#[derive(Debug)]
struct Times {
    result: TrialResult,
    mean_us: f64,
    p99_us: f64,
    last_us: f64,
    mean_slowdown: f64,
    p99_slowdown: f64,
}

impl Times {
    fn unfinished(&self) -> u64 {
        self.result.summary.flows.started - self.result.summary.flows.completed
    }

    /// Appends the number of unfinished flows, which the completion times do not include.
    fn cell(&self, text: String) -> String {
        let unfinished = self.unfinished();
        if unfinished == 0 { text } else { format!("{text} ({unfinished} unfinished)") }
    }
}

fn times(trial: &Trial, mechanism: &Mechanism, changes: &[(&str, String)]) -> Result<Times, Failure> {
    let mut all: Vec<(&str, String)> = mechanism.switch.iter().map(|&switch| ("switch", switch.to_owned())).collect();
    all.extend_from_slice(changes);
    let result = trial.run(mechanism.source, &all)?;
    let fct = result.summary.flows.fct_ns.unwrap_or_default();
    let slowdown = result.summary.flows.slowdown.clone().unwrap_or_default();
    let (mean_slowdown, p99_slowdown) = (slowdown.mean, slowdown.p99);
    let [mean_us, p99_us, last_us] = [fct.mean, fct.p99, fct.max].map(|ns| ns / 1e3);
    Ok(Times { result, mean_us, p99_us, last_us, mean_slowdown, p99_slowdown })
}

/// Times on the wire in ns at 100 Gbps: a frame with 1436 B of payload, the last frame of 90 KB, and a header.
const FRAME_NS: f64 = 1520.0 * 0.08;
const LAST_NS: f64 = (90_000.0 - 62.0 * 1436.0 + 84.0) * 0.08;
const HEADER_NS: f64 = 84.0 * 0.08;

/// Returns the time in us that the receiver's link needs for 63 packets per sender and `headers` trimmed headers.
fn incast_floor_us(senders: u64, headers: u64) -> f64 {
    (senders as f64 * (62.0 * FRAME_NS + LAST_NS) + headers as f64 * HEADER_NS) / 1e3
}

/// Runs all mechanisms in `shown` with the same overrides, and checks the runs.
fn all(
    trial: &mut Trial,
    shown: &'static [Mechanism],
    what: &str,
    changes: &[(&str, String)],
) -> Result<Vec<Times>, Failure> {
    let runs: Vec<Times> =
        shown.iter().map(|mechanism| times(trial, mechanism, changes)).collect::<Result<_, Failure>>()?;
    // All flows must complete only with the first four mechanisms: the last two have small buffers and lose frames.
    let unfinished: u64 = runs.iter().take(4).map(Times::unfinished).sum();
    trial.check(
        Check::exact(format!("{what}: flows unfinished"), "", unfinished as f64, Relation::Equal, 0.0).consistency(),
    );
    for (run, name) in [(&runs[0], "NDP"), (&runs[3], "DCQCN + PFC")] {
        let wrong = run.result.failed_checks() + run.result.summary.packets.dropped_total();
        let name = format!("{what}: {name}: frames lost, and checks of the run failed");
        trial.check(Check::exact(name, "", wrong as f64, Relation::Equal, 0.0).consistency());
    }
    Ok(runs)
}

/// Returns a table with one row per mechanism from its columns.
fn by_mechanism(shown: &[Mechanism], columns: &[Vec<String>]) -> Vec<Vec<String>> {
    let row = |(at, mechanism): (usize, &Mechanism)| {
        std::iter::once(mechanism.name.to_owned()).chain(columns.iter().map(|column| column[at].clone())).collect()
    };
    shown.iter().enumerate().map(row).collect()
}

fn incasts(trial: &mut Trial, shown: &'static [Mechanism]) -> Result<(), Failure> {
    let senders: &[u64] = if trial.quick { &[10, 100] } else { &[10, 50, 100, 127, 1000] };
    let full = Frames { payload_bytes: 1436 };
    let (mut header, mut columns) = (vec![String::new()], Vec::new());
    for &count in senders {
        let mut changes = vec![("traffic.0.fan_in", count.to_string())];
        if count > 127 {
            // With one flow per host, more than 127 flows need a larger fabric, and RTO backoff needs a longer run.
            changes.extend([("fabric.k", "16".to_owned()), ("duration", "2s".to_owned())]);
        }
        let what = format!("incast of {count}");
        let runs = all(trial, shown, &what, &changes)?;
        let headers = runs[0].result.summary.packets.delivered_trimmed;
        let name = format!("{what}: NDP: last flow, after what the receiver's link takes for packets and headers");
        let late = runs[0].last_us - incast_floor_us(count, headers);
        // Tolerance: the one-way delay of the first frame, plus one RTT for the pulls of the last packets.
        let most = (full.way_ns() + full.round_trip_ns()) / 1e3;
        trial.check(Check::new(name, "us", late, Relation::AtMost, most, 0.0).note("a way and a round trip"));
        header.push(count.to_string());
        let cell = |run: &Times| run.cell(format!("{:.0}, {:.0}", run.mean_us, run.last_us));
        columns.push(runs.iter().map(cell).collect());
    }
    trial.show(
        "  incast of 90 KB a sender: completion time, us, mean and last, by number of senders (1000 of them: k = 16)\n",
    );
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    trial.show(&table(&header, &by_mechanism(shown, &columns), 1, Layout::Fixed, 2));

    let changes = [("switch.overload", "drop".to_owned())];
    let (trimmed, lost) = (times(trial, &MECHANISMS[0], &[])?, times(trial, &MECHANISMS[0], &changes)?);
    let name = "negative control: incast of 100: NDP over switches that drop: last flow";
    let check = Check::new(name, "us", lost.last_us, Relation::Above, 2.0 * trimmed.last_us, 0.0).consistency();
    trial.check(check.note("twice what is measured with switches that trim"));
    Ok(())
}

/// Checks the claim of NDP's authors: the statistic `figure` is smaller with NDP than with each of the next three
/// mechanisms.
fn ndp_is_least(trial: &mut Trial, what: &str, unit: &'static str, runs: &[Times], figure: fn(&Times) -> f64) {
    for (run, mechanism) in runs.iter().zip(&MECHANISMS).skip(1).take(3) {
        let name = format!("{what}: NDP, below {}", mechanism.name);
        let check = Check::new(name, unit, figure(&runs[0]), Relation::Below, figure(run), 0.0);
        trial.check(check.note("the other side is measured"));
    }
}

fn permutation(trial: &mut Trial, shown: &'static [Mechanism]) -> Result<(), Failure> {
    let megabytes = trial.shorten("megabytes of a flow in the permutation", 10, 1);
    let traffic = format!("[{{ kind = \"permutation\", size = \"{megabytes}MB\", class = 3 }}]");
    let runs = all(trial, shown, "permutation", &[("traffic", traffic)])?;
    let goodput = |run: &Times| {
        let of = |flow: &record::flows::FlowRecord| Some(flow.size_bytes as f64 * 8e3 / flow.fct_ps()? as f64);
        let goodputs: Vec<f64> = run.result.flows.iter().filter_map(of).collect();
        format!("{:.1}", super::bench::mean(&goodputs))
    };
    let columns: [Vec<String>; 3] = [
        runs.iter().map(|run| run.cell(format!("{:.0}", run.mean_us))).collect(),
        runs.iter().map(|run| format!("{:.0}", run.last_us)).collect(),
        runs.iter().map(goodput).collect(),
    ];
    trial.show(&format!("  permutation of {megabytes} MB: completion time, us, and goodput of a flow, Gbps\n"));
    trial.show(&table(&["", "mean", "last", "goodput"], &by_mechanism(shown, &columns), 1, Layout::Fixed, 2));
    ndp_is_least(trial, "permutation: mean completion time", "us", &runs, |run| run.mean_us);
    Ok(())
}

fn web_search(trial: &mut Trial, shown: &'static [Mechanism]) -> Result<(), Failure> {
    let arrivals_us = trial.shorten("microseconds of arrivals of the web search", 10_000, 300);
    let traffic = format!(
        "[{{ kind = \"poisson\", sizes = \"web-search\", load = 0.5, stop = \"{arrivals_us}us\", class = 3 }}]"
    );
    let runs = all(trial, shown, "web search", &[("traffic", traffic), ("duration", "100ms".to_owned())])?;
    let column = |of: fn(&Times) -> f64, digits: usize| -> Vec<String> {
        runs.iter().map(|run| format!("{:.digits$}", of(run))).collect()
    };
    let columns = [
        runs.iter().map(|run| run.cell(format!("{:.0}", run.mean_us))).collect(),
        column(|run| run.p99_us, 0),
        column(|run| run.mean_slowdown, 2),
        column(|run| run.p99_slowdown, 1),
    ];
    let flows = runs[0].result.summary.flows.started;
    trial.show(&format!("  web search at load 0.5, {flows} flows: completion time, us, and slowdown\n"));
    let header = ["", "mean", "99 %", "mean slowdown", "99 %"];
    trial.show(&table(&header, &by_mechanism(shown, &columns), 1, Layout::Fixed, 2));
    ndp_is_least(trial, "web search: mean slowdown", "x", &runs, |run| run.mean_slowdown);
    ndp_is_least(trial, "web search: slowdown of the slowest hundredth", "x", &runs, |run| run.p99_slowdown);
    Ok(())
}

/// Runs the experiment `trim/fabric`.
pub fn fabric(trial: &mut Trial) -> Result<(), Failure> {
    let shown = if trial.quick { &MECHANISMS[..4] } else { &MECHANISMS };
    if trial.quick {
        trial
            .shortened
            .push("incasts of 10 and 100 instead of 10, 50, 100, 127 and 1000; no buffers of 200 packets".into());
    }
    incasts(trial, shown)?;
    permutation(trial, shown)?;
    web_search(trial, shown)?;
    filling(trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_kilobytes_are_sixty_three_packets() {
        assert_eq!(90_000u64.div_ceil(1436), 63);
        // 62 full frames, and one frame of 968 B with 84 B of overhead.
        assert!((LAST_NS - 1052.0 * 0.08).abs() < 1e-9);
        // 1000 senders: 90 MB of payload take 7.2 ms, and the overhead takes another 0.42 ms.
        assert!((incast_floor_us(1000, 0) - (90e6 + 63_000.0 * 84.0) * 0.08e-3).abs() < 1e-6);
        assert!((incast_floor_us(0, 1000) - 6.72).abs() < 1e-9);
    }
}
