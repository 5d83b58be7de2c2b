//! ECCP with limited demands (figure 2.21 of the thesis), and the start of a new flow (2.21).

use super::bench::{Bench, mean};
use super::eccp_dumbbell::GAINS;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{Choice, ECCP_DEMANDS, ECCP_DUMBBELL};
use crate::trial::Trial;
use text::lines::{Line, Panel, Scale, svg};
use text::{Layout, table};
use units::Time;

/// Parameters of figure 2.21 that the publication does not specify, with alternative values.
pub const CHOICES: &[Choice] = &[
    Choice { source: &ECCP_DEMANDS, key: "fabric.link.delay", alternatives: &["10us"] },
    Choice { source: &ECCP_DEMANDS, key: "host.transport.payload", alternatives: &["1438B"] },
];

/// Demands of the two hosts in each period, in Gbps.
pub const PERIODS: [(&str, f64, f64); 4] =
    [("up to 4 s", 4.0, 1.0), ("4 s to 12.4 s", 4.0, 6.0), ("12.4 s to 14.2 s", 6.0, 6.0), ("from 14.2 s", 3.0, 6.0)];

/// Runs the experiment `eccp/fig2.21`.
pub fn demands(trial: &mut Trial) -> Result<(), Failure> {
    let milliseconds = trial.shorten("simulated ms a period", 3000, 800);
    let mut rows = Vec::new();
    for (name, gain) in GAINS {
        let mut panels = Vec::new();
        for (period, first, second) in PERIODS {
            let transport = |rate: f64| {
                format!(
                    "{{ kind = \"eccp\", ack_every = 16, payload = \"938B\", gain = {gain}, \
                     initial_rate = \"2Gbps\", rate = \"{rate}Gbps\" }}"
                )
            };
            let changes = [
                ("duration", format!("\"{milliseconds}ms\"")),
                ("traffic.0.transport", transport(first)),
                ("traffic.1.transport", transport(second)),
            ];
            let bench = Bench::run(trial, &ECCP_DEMANDS, &changes)?;
            let rates = bench.flow_gbps();
            let sum = rates[0] + rates[1];
            let mut row = vec![format!("{name}, {period}"), format!("{first} and {second}")];
            row.extend([rates[0], rates[1], sum].map(|rate| format!("{rate:.3}")));
            rows.push(row);
            judge_period(trial, name, (period, first, second), &rates);
            let data = bench.arrived_gbps(Time::ZERO);
            let of_host = |host: usize| data.iter().map(|(at, row)| (*at, row[host])).collect();
            let lines = (0..2).map(|host| Line::curve(format!("host {host}"), of_host(host))).collect();
            panels.push(Panel { x: "time, ms", y: "rate, Gbps", scale: Scale::Linear, lines });
        }
        let file = format!("eccp-fig2.21-{}", name.replace("Gd = ", "").replace('/', "-"));
        trial.plots.push((file, svg(&format!("ECCP, {name}: the four periods"), &panels)));
    }
    trial.show("  desired rates, and rates at the receiver, in Gbps\n");
    trial.show(&table(&["", "desired", "host 0", "host 1", "sum"], &rows, 2, Layout::Fixed, 2));
    Ok(())
}

/// Checks the rates of the two hosts, in Gbps, in a period of figure 2.21.
pub fn judge_period(trial: &mut Trial, name: &str, (period, first, second): (&str, f64, f64), rates: &[f64]) {
    let mut near = |what: &str, ours: f64, thesis: f64| {
        let claim = format!("{name}, {period}: {what}");
        trial.check(Check::new(claim, "Gbps", ours, Relation::Equal, thesis, 0.05 * thesis));
    };
    match period {
        "4 s to 12.4 s" => {
            near("sum of the rates", rates[0] + rates[1], 9.5);
            near("host 0 keeps its desired rate", rates[0], first);
        }
        "12.4 s to 14.2 s" => {
            near("rate of host 0", rates[0], 4.75);
            near("rate of host 1", rates[1], 4.75);
        }
        _ => {
            near("rate of host 0", rates[0], first);
            near("rate of host 1", rates[1], second);
        }
    }
}

/// Buffers of `eccp/newflow` in KB.
pub const NEW_FLOW_BUFFERS_KB: [u64; 3] = [250, 500, 1000];

/// Checks that no frame is lost when a flow begins at B / T, with T = 1 ms.
pub fn judge_new_flow(trial: &mut Trial, name: &str, buffer_kb: u64, lost: f64) {
    let begins = buffer_kb as f64 * 8.0 / 1e3;
    let claim = format!("{name}, B = {buffer_kb} KB: frames lost when a flow begins at B / T, {begins:.0} Gbps");
    trial.check(Check::exact(claim, "frames", lost, Relation::Equal, 0.0));
}

/// Runs the experiment `eccp/newflow`.
pub fn new_flow(trial: &mut Trial) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (name, gain) in GAINS {
        // (2.21) with T = 1 ms: a buffer of size B absorbs the data that a flow with rate B / T sends before its first
        // feedback.
        for buffer_kb in NEW_FLOW_BUFFERS_KB {
            let begins = buffer_kb as f64 * 8.0 / 1e3;
            let lost = |room: u64| -> Result<(f64, f64), Failure> {
                let transport = format!(
                    "{{ kind = \"eccp\", estimate = \"measured\", payload = \"938B\", ack_every = 16, gain = {gain}, \
                     initial_rate = \"{begins}Gbps\" }}"
                );
                let changes = [
                    ("duration", "\"400ms\"".to_owned()),
                    ("host.transport.gain", gain.to_string()),
                    ("switch.egress_threshold", format!("\"{}KB\"", room * buffer_kb)),
                    ("traffic.3.transport", transport),
                    ("traffic.3.start", "\"300ms\"".to_owned()),
                ];
                let bench = Bench::run(trial, &ECCP_DUMBBELL, &changes)?;
                let before: Vec<f64> = bench.cross_gbps().into_iter().take(100).collect();
                Ok((bench.lost(), mean(&before)))
            };
            let ((frames, cross), (with_twice, _)) = (lost(1)?, lost(2)?);
            rows.push(vec![
                format!("{name}, B = {buffer_kb} KB"),
                format!("{begins:.0}"),
                format!("{cross:.2}"),
                format!("{frames}"),
                format!("{with_twice}"),
            ]);
            judge_new_flow(trial, name, buffer_kb, frames);
        }
    }
    trial.show(
        "  rate at which the fourth flow begins, what three send before it in Gbps, frames lost in 100 ms,\n  \
         and with a buffer of 2 B: a cut takes no more than half, so that a flow above what is left takes several\n",
    );
    trial.show(&table(&["", "begins at", "before", "lost", "with 2 B"], &rows, 1, Layout::Fixed, 2));
    Ok(())
}
