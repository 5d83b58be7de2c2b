//! IRN's claim that RoCE with selective repeat does not require PFC.

use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::rates::mean;
use crate::registry::{Choice, IRN};
use crate::trial::{Trial, TrialResult};
use text::{Layout, table};

/// With the PFC threshold of IRN, 20 KB of the 240 KB per port are headroom. The flow size distribution of IRN is not
/// published.
pub const CHOICES: &[Choice] =
    &[Choice { source: &IRN, key: "switch.flow_control.xoff", alternatives: &["100KB", "200KB"] }];

/// Flow statistics: mean slowdown, and mean and 99th percentile of the flow completion time in ms.
#[derive(Clone, Copy, Debug)]
struct Seen {
    slowdown: f64,
    mean_ms: f64,
    p99_ms: f64,
    incomplete: f64,
    lost: f64,
    control_frames: f64,
    again: f64,
    flows: f64,
}

fn seen(result: &TrialResult) -> Seen {
    let mut times: Vec<f64> = result.flows.iter().filter_map(|flow| flow.fct_ps()).map(|ps| ps as f64 / 1e9).collect();
    times.sort_by(f64::total_cmp);
    let slowdowns: Vec<f64> = result
        .flows
        .iter()
        .filter_map(|flow| flow.fct_ps().map(|ps| ps as f64 / flow.baseline_fct_ps.max(1) as f64))
        .collect();
    Seen {
        slowdown: mean(&slowdowns),
        mean_ms: mean(&times),
        p99_ms: times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN),
        incomplete: (result.flows.len() - times.len()) as f64,
        lost: result.overflowed() as f64,
        control_frames: result.control_frames as f64,
        again: result.summary.event_counts.retransmissions as f64,
        flows: result.flows.len() as f64,
    }
}

/// Runs the experiment `irn/fat-tree`.
pub fn fat_tree(trial: &mut Trial) -> Result<(), Failure> {
    let stop_ms = trial.shorten("ms in which flows arrive", 2, 1);
    let controls = if trial.quick { vec!["roce", "dcqcn"] } else { vec!["roce", "dcqcn", "timely", "hpcc"] };
    trial.shorten("rate controls", 4, 2);
    let mut rows = Vec::new();
    for control in controls {
        let mut run = |selective: bool, pfc: bool| -> Result<Seen, Failure> {
            // In the lossless case the paper disables timeouts, because pauses or low rates would trigger spurious
            // timeouts.
            let recovery = match (selective, pfc) {
                (true, _) => "loss_recovery = \"selective\"",
                (false, true) => "timeout = \"never\"",
                (false, false) => "timeout = \"320us\", nak_interval = \"50us\"",
            };
            let mut changes = vec![
                ("host.transport", format!("{{ kind = \"{control}\", {recovery} }}")),
                ("traffic.0.stop", format!("\"{stop_ms}ms\"")),
            ];
            if !pfc {
                changes.push(("switch.flow_control", "\"none\"".to_owned()));
            }
            let seen = seen(&trial.run(&IRN, &changes)?);
            rows.push(vec![
                control.to_owned(),
                if selective { "selective" } else { "go-back-N" }.to_owned(),
                if pfc { "PFC" } else { "none" }.to_owned(),
                format!("{:.2}", seen.slowdown),
                format!("{:.3}", seen.mean_ms),
                format!("{:.3}", seen.p99_ms),
                format!("{}", seen.lost),
                format!("{}", seen.again),
                format!("{}", seen.control_frames),
                format!("{}", seen.flows),
            ]);
            Ok(seen)
        };
        let (roce, irn, irn_pfc, roce_lossy) =
            (run(false, true)?, run(true, false)?, run(true, true)?, run(false, false)?);
        let figures = [
            ("mean slowdown", "", roce.slowdown, irn.slowdown, irn_pfc.slowdown, roce_lossy.slowdown),
            ("mean completion", "ms", roce.mean_ms, irn.mean_ms, irn_pfc.mean_ms, roce_lossy.mean_ms),
            ("99th percentile of completion", "ms", roce.p99_ms, irn.p99_ms, irn_pfc.p99_ms, roce_lossy.p99_ms),
        ];
        let judged = |check: Check| match control {
            "hpcc" => check.unjudged("the paper has no HPCC, under which nothing is lost"),
            _ => check,
        };
        for (what, unit, with_pfc, without, both, neither) in figures {
            let name = format!("{control}: IRN without PFC beside RoCE with it, {what}");
            trial.check(judged(Check::new(name, unit, without, Relation::AtMost, with_pfc, 0.0)));
            let name = format!("{control}: IRN without PFC beside IRN with it, {what}");
            trial.check(judged(
                Check::new(name, unit, without, Relation::AtMost, both, 0.1 * both)
                    .note("IRN, sec. 4.2.2: PFC brings little or harms"),
            ));
            let name = format!("{control}: RoCE without PFC beside RoCE with it, {what}");
            trial.check_in_full(judged(
                Check::new(name, unit, neither, Relation::Above, with_pfc, 0.0).note("IRN, sec. 4.2.3: RoCE needs PFC"),
            ));
        }
        for (name, seen) in [("RoCE with PFC", roce), ("IRN without PFC", irn), ("IRN with PFC", irn_pfc)] {
            let name = format!("{control}: flows of {name} that are not complete");
            trial.check(Check::exact(name, "flows", seen.incomplete, Relation::Equal, 0.0).consistency());
        }
        let name = format!("{control}: frames that PFC lets queues lose");
        trial.check(Check::exact(name, "frames", roce.lost + irn_pfc.lost, Relation::Equal, 0.0));
    }
    trial.show(
        "  mean slowdown, mean and 99th percentile of completion in ms, frames lost, sent again, PFC frames, flows\n",
    );
    let columns = ["control", "recovery", "", "slowdown", "mean", "p99", "lost", "again", "PFC frames", "flows"];
    trial.show(&table(&columns, &rows, 3, Layout::Fixed, 2));
    Ok(())
}
