//! Alternative interpretations of chapter 2 of the thesis, which differ from the interpretation of `eccp/fig2.10`: an
//! initial rate of 10 Gbps (section 2.7.3), tau as one-way delay (sections 2.6, 2.7.4), a gain of 1/5 (section
//! 2.4.1.4), a buffer of 300 KB (figure 2.16).

use super::eccp_dumbbell::{DELAYS_US, Effort, Shown, counters, edge_delay, show, shown};
use super::eccp_judge::{self, mean_cross};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;

type Changes = Vec<(&'static str, String)>;

/// Returns the overrides of the gain and the initial rate.
fn changes(gain: f64, begins: &str) -> Changes {
    vec![("host.transport.gain", gain.to_string()), ("host.transport.initial_rate", format!("\"{begins}\""))]
}

/// Adds the override of the buffer: 200 frames of 1500 B, all available to the port towards the other switch.
fn with_buffer(mut changes: Changes) -> Changes {
    changes.push(("switch.egress_threshold", "\"300KB\"".to_owned()));
    changes
}

/// Runs the delays of figure 2.10. For each delay, `edge` returns the override of the delay of the link between the
/// switches.
fn over_delays(
    trial: &mut Trial,
    effort: Effort,
    [name, file]: [&str; 2],
    changes: &Changes,
    edge: impl Fn(u64) -> (&'static str, String),
) -> Result<Vec<Vec<Shown>>, Failure> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for (tau_us, _) in DELAYS_US {
        let tau = tau_us as f64 / 1e3;
        let mut changes = changes.clone();
        changes.push(edge(tau_us));
        let [file, title] = [format!("{file}-{tau}ms"), format!("ECCP, {name}, tau = {tau} ms")];
        let seeds = shown(trial, effort, [&file, &title], &changes)?;
        rows.extend(seeds.iter().map(|shown| shown.row(format!("{name}, tau = {tau} ms"))));
        all.push(seeds);
    }
    show(trial, &rows);
    Ok(all)
}

/// Runs the experiment `eccp/start`: figures 2.10, 2.12 and 2.13 with an initial rate of 10 Gbps, for the setting with
/// which they hold at an initial rate of 2 Gbps.
pub fn start(trial: &mut Trial) -> Result<(), Failure> {
    let name = "Gd = 1/20, 2 probes a train, from 10 Gbps";
    let mut changes = changes(0.05, "10Gbps");
    changes.push(("host.transport.train_frames", "2".to_owned()));
    let all = over_delays(trial, Effort::THREE, [name, "start"], &changes, edge_delay)?;
    eccp_judge::delays(trial, name, &all);
    Ok(())
}

/// Runs the experiment `eccp/one-way`: tau is the one-way delay, so that the period of the control loop is T + 2 tau.
pub fn one_way(trial: &mut Trial) -> Result<(), Failure> {
    // With these delays flows converge more slowly, so that the warm-up is longer.
    let effort = Effort { milliseconds: [2000, 1000], ..Effort::THREE };
    let settled = |mut changes: Changes| {
        changes.push(("measure.warm_up", "\"500ms\"".to_owned()));
        changes
    };
    // Delay of the link between the switches: tau minus the delay of the two access links.
    let edge = |tau_us: u64| ("fabric.link.edge.delay", format!("\"{}us\"", tau_us - 2));
    let name = "Gd = 1/100, tau one way";
    let all = over_delays(trial, effort, [name, "one-way"], &settled(changes(0.01, "2Gbps")), edge)?;
    eccp_judge::delays(trial, name, &all);
    // With an initial rate of 10 Gbps, the link is nearly idle at any delay. A check for a small spread would hold
    // trivially, so that only the lower quartile is checked.
    let name = "Gd = 1/100, tau one way, from 10 Gbps";
    let all = over_delays(trial, effort, [name, "one-way-10"], &settled(changes(0.01, "10Gbps")), edge)?;
    for (seeds, delay) in all.iter().zip(DELAYS_US).filter(|(_, (_, stable))| *stable) {
        eccp_judge::least(trial, name, seeds, delay);
    }
    Ok(())
}

/// Runs the experiment `eccp/half-cut`: Gd = 1/5, with which the maximum rate reduction (at A_r = 0) is 1/2.
pub fn half_cut(trial: &mut Trial) -> Result<(), Failure> {
    let name = "Gd = 1/5, from 10 Gbps, 300 KB of buffer";
    let effort = Effort { milliseconds: [3000, 400], ..Effort::THREE };
    let all = over_delays(trial, effort, [name, "half-cut"], &with_buffer(changes(0.2, "10Gbps")), edge_delay)?;
    eccp_judge::delays(trial, name, &all);
    for (seeds, (tau_us, stable)) in all.iter().zip(DELAYS_US) {
        let relation = if stable { Relation::AtLeast } else { Relation::Below };
        let claim = format!("{name}, tau = {} ms: mean of the cross traffic", tau_us as f64 / 1e3);
        trial.check(Check::new(claim, "Gbps", mean_cross(seeds), relation, 9.0, 0.0));
    }
    Ok(())
}

/// Runs the experiment `eccp/buffer`: figures 2.14, 2.16 and 2.17 with a buffer of 300 KB.
pub fn buffer(trial: &mut Trial) -> Result<(), Failure> {
    let mut short = with_buffer(changes(0.05, "2Gbps"));
    short.push(("host.transport.train_frames", "2".to_owned()));
    let settings = [
        ("Gd = 100/128, 300 KB of buffer", with_buffer(changes(100.0 / 128.0, "2Gbps"))),
        ("Gd = 1/20, 2 probes a train, 300 KB of buffer", short),
        ("Gd = 1/5, from 10 Gbps, 300 KB of buffer", with_buffer(changes(0.2, "10Gbps"))),
    ];
    let mut rows = Vec::new();
    for (name, changes) in settings {
        counters(trial, Effort::THREE, name, &changes, &mut rows)?;
    }
    show(trial, &rows);
    Ok(())
}
