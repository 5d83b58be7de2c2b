//! Packet-level simulation of ECCP's dumbbell, figures 2.10 to 2.17 of the thesis: four greedy flows share 10 Gbps, and
//! the available bandwidth is measured by probes as in the thesis.

use super::bench::{Bench, jain, mean, quantile};
use super::eccp_judge;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::registry::{Choice, ECCP_DUMBBELL};
use crate::trial::Trial;
use text::lines::{Line, Panel, Scale, SeriesStyle, svg};
use text::{Layout, table};
use units::Time;

/// Parameters of the dumbbell that the publication does not specify, with alternative values.
pub const CHOICES: &[Choice] = &[
    Choice { source: &ECCP_DUMBBELL, key: "host.transport.initial_rate", alternatives: &["10Gbps", "1Gbps"] },
    Choice { source: &ECCP_DUMBBELL, key: "host.transport.payload", alternatives: &["438B", "1438B"] },
    Choice { source: &ECCP_DUMBBELL, key: "switch.buffer", alternatives: &["1MB"] },
    Choice { source: &ECCP_DUMBBELL, key: "host.transport.payload_deviation", alternatives: &["150B"] },
    Choice { source: &ECCP_DUMBBELL, key: "host.transport.estimate", alternatives: &["trains"] },
    Choice { source: &ECCP_DUMBBELL, key: "host.transport.count_probes", alternatives: &["false"] },
    Choice { source: &ECCP_DUMBBELL, key: "host.transport.increase_before_cut", alternatives: &["false"] },
    Choice { source: &ECCP_DUMBBELL, key: "host.transport.additive_after", alternatives: &["1"] },
    Choice { source: &ECCP_DUMBBELL, key: "host.transport.hyper_after", alternatives: &["0"] },
];

/// Those of [`CHOICES`] that do not depend on how available bandwidth is determined.
pub const CHOICES_OF_ANY_ESTIMATE: &[Choice] = CHOICES.split_at(4).0;

/// Gain Gd as printed in table 2.1, and the value with which the equations yield the thesis's limit of 1.482 T.
pub const GAINS: [(&str, f64); 2] = [("Gd = 100/128", 100.0 / 128.0), ("Gd = 1/100", 0.01)];

/// Settings: name, Gd, and probe frames per train. In addition to [`GAINS`], there is a setting whose Gd separates
/// stable from unstable delays as in the thesis (see `eccp/gain`), with trains that are too short to disturb the
/// measurements.
const SETTINGS: [(&str, f64, &str); 3] =
    [(GAINS[0].0, GAINS[0].1, "33"), (GAINS[1].0, GAINS[1].1, "33"), ("Gd = 1/20, 2 probes a train", 0.05, "2")];

/// Returns the name of a setting in a form for file names.
fn slug(name: &str) -> String {
    name.replace("Gd = ", "").replace(", ", "-").replace([' ', '/'], "-")
}

/// Samples and statistics of one run that figures 2.10 to 2.17 show.
#[derive(Clone, Debug)]
pub struct Shown {
    pub cross: Vec<f64>,
    pub queue_kb: Vec<f64>,
    pub rates: Vec<f64>,
    pub flows: Vec<f64>,
    lost: f64,
}

impl Shown {
    pub fn of(bench: &Bench) -> Shown {
        Shown {
            cross: bench.cross_gbps(),
            queue_kb: bench.queue_bytes().into_iter().map(|bytes| bytes / 1e3).collect(),
            rates: bench.all_sending_gbps(),
            flows: bench.flow_gbps(),
            lost: bench.lost(),
        }
    }

    /// Returns the same run with means of the cross traffic over `samples` consecutive samples.
    pub fn averaged(&self, samples: usize) -> Shown {
        Shown { cross: self.cross.chunks_exact(samples).map(mean).collect(), ..self.clone() }
    }

    /// Returns the difference between the 99 % and 1 % quantiles of the cross traffic, in Gbps.
    pub fn spread(&self) -> f64 {
        quantile(&self.cross, 0.99) - quantile(&self.cross, 0.01)
    }

    pub fn row(&self, name: String) -> Vec<String> {
        let extremes = |values: &[f64]| [quantile(values, 0.0), quantile(values, 1.0)];
        let quartiles = [0.01, 0.25, 0.5, 0.75, 0.99].map(|share| quantile(&self.cross, share));
        let numbers = [mean(&self.cross)].into_iter().chain(quartiles).chain([quantile(&self.queue_kb, 0.99)]);
        let numbers = numbers.chain(extremes(&self.rates)).chain([jain(&self.flows)]);
        let numbers = numbers.map(|number| format!("{number:.3}"));
        std::iter::once(name).chain(numbers).chain([format!("{}", self.lost)]).collect()
    }
}

/// Columns of [`Shown::row`].
const COLUMNS: [&str; 12] =
    ["", "mean", "1 %", "25 %", "50 %", "75 %", "99 %", "queue", "least", "most", "Jain", "lost"];

/// Simulated time and number of seeds of a setting: [full run, `--quick` run].
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub milliseconds: [u64; 2],
    pub seeds: [u64; 2],
}

impl Effort {
    /// One seed, for figures whose caption does not mention seeds.
    pub const ONE: Effort = Effort { milliseconds: [2000, 400], seeds: [1, 1] };
    /// Three seeds, for results that must not depend on one seed.
    pub const THREE: Effort = Effort { seeds: [3, 1], ..Effort::ONE };
}

/// Runs the dumbbell with each seed and plots the run with the first seed.
pub fn shown(
    trial: &mut Trial,
    effort: Effort,
    [file, title]: [&str; 2],
    changes: &[(&str, String)],
) -> Result<Vec<Shown>, Failure> {
    let [full, quick] = effort.milliseconds;
    let milliseconds = trial.shorten("simulated ms", full, quick);
    let [full, quick] = effort.seeds;
    let seeds = if full == quick { full } else { trial.shorten("seeds", full, quick) };
    let mut all = changes.to_vec();
    all.push(("duration", format!("\"{milliseconds}ms\"")));
    let mut result = vec![drawn(trial, [file, title], &all)?];
    for seed in 2..=seeds {
        all.push(("seed", seed.to_string()));
        result.push(Shown::of(&Bench::run(trial, &ECCP_DUMBBELL, &all)?));
        all.pop();
    }
    Ok(result)
}

/// Runs the dumbbell with the overrides `all` and plots this run.
fn drawn(trial: &mut Trial, [file, title]: [&str; 2], all: &[(&str, String)]) -> Result<Shown, Failure> {
    let bench = Bench::run(trial, &ECCP_DUMBBELL, all)?;
    let kb = |(at, bytes): (f64, f64)| (at, bytes / 1e3);
    let queue = Line::curve("queue", bench.queue_from(Time::ZERO).into_iter().map(kb).collect());
    let cross = bench.arrived_gbps(Time::ZERO).into_iter().map(|(at, row)| (at, row.iter().sum())).collect();
    let rates = (0..4).map(|flow| Line::curve(format!("flow {flow}"), bench.sending_gbps(flow))).collect();
    let x = "time, ms";
    let panels = [
        Panel { x, y: "cross traffic, Gbps", scale: Scale::Linear, lines: vec![Line::curve("cross traffic", cross)] },
        Panel { x, y: "queue, KB", scale: Scale::Linear, lines: vec![queue] },
        Panel { x, y: "sending rate, Gbps", scale: Scale::Linear, lines: rates },
    ];
    trial.plots.push((format!("eccp-{file}"), svg(title, &panels)));
    Ok(Shown::of(&bench))
}

/// Loop delays tau of figure 2.10 in us, and `true` if tau is below the 1.482 ms of lemma 2.1 (stable).
pub const DELAYS_US: [(u64, bool); 6] =
    [(300, true), (600, true), (1200, true), (1800, false), (2400, false), (3300, false)];

/// Lengths BC of the byte counter in figure 2.14, in KB, and `true` if stable according to the thesis.
pub const COUNTERS: [(u64, bool); 4] = [(150, false), (450, false), (600, true), (750, true)];

/// Returns the override of the bottleneck link's delay for a loop delay tau: tau / 2 minus the delay of the access
/// links.
pub fn edge_delay(tau_us: u64) -> (&'static str, String) {
    ("fabric.link.edge.delay", format!("\"{}us\"", tau_us / 2 - 2))
}

/// Runs the experiment `eccp/fig2.10`: figures 2.10 to 2.13.
pub fn delays(trial: &mut Trial) -> Result<(), Failure> {
    let (mut rows, mut intervals) = (Vec::new(), Vec::new());
    for (name, gain, frames) in SETTINGS {
        let mut all = Vec::new();
        for (tau_us, _) in DELAYS_US {
            let tau = tau_us as f64 / 1e3;
            let file = format!("fig2.10-{tau}ms-{}", slug(name));
            let changes = [
                edge_delay(tau_us),
                ("host.transport.gain", gain.to_string()),
                ("host.transport.train_frames", frames.to_owned()),
            ];
            let title = format!("ECCP, {name}, tau = {tau} ms");
            let shown = shown(trial, Effort::ONE, [&file, &title], &changes)?;
            rows.extend(shown.iter().map(|shown| shown.row(format!("{name}, tau = {tau} ms"))));
            all.push(shown);
        }
        for samples in [1, 10, 100] {
            let spreads = all.iter().map(|seeds| format!("{:.2}", seeds[0].averaged(samples).spread()));
            intervals.push([format!("{name}, {samples} ms")].into_iter().chain(spreads).collect::<Vec<_>>());
        }
        eccp_judge::delays(trial, name, &all);
    }
    show(trial, &rows);
    // A quick run is too short for means over 100 ms.
    if !trial.quick {
        let taus = DELAYS_US.map(|(tau_us, _)| format!("{} ms", tau_us as f64 / 1e3));
        let columns: Vec<&str> = [""].into_iter().chain(taus.iter().map(String::as_str)).collect();
        trial.show("  spread of means of the cross traffic over 1, 10 and 100 ms, in Gbps, by tau\n");
        trial.show(&table(&columns, &intervals, 1, Layout::Fixed, 2));
    }
    Ok(())
}

pub fn show(trial: &mut Trial, rows: &[Vec<String>]) {
    trial.show(
        "  cross traffic in Gbps and its quantiles, 99 % of queues in KB, least and greatest sending rate of a flow\n  \
         in Gbps, Jain's index of the flows' mean rates, frames lost\n",
    );
    trial.show(&table(&COLUMNS, rows, 1, Layout::Fixed, 2));
}

/// Runs the experiment `eccp/fig2.14`: figures 2.14 to 2.17.
pub fn byte_counters(trial: &mut Trial) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (name, gain, frames) in SETTINGS {
        let changes = [("host.transport.gain", gain.to_string()), ("host.transport.train_frames", frames.to_owned())];
        counters(trial, Effort::ONE, name, &changes, &mut rows)?;
    }
    show(trial, &rows);
    Ok(())
}

/// Runs the byte counters of figure 2.14 with these overrides, and checks the results.
pub fn counters(
    trial: &mut Trial,
    effort: Effort,
    name: &str,
    changes: &[(&str, String)],
    rows: &mut Vec<Vec<String>>,
) -> Result<(), Failure> {
    let mut all = Vec::new();
    for (kilobytes, _) in COUNTERS {
        let file = format!("fig2.14-{kilobytes}KB-{}", slug(name));
        let mut changes = changes.to_vec();
        changes.push(("host.transport.byte_counter", format!("\"{kilobytes}KB\"")));
        let title = format!("ECCP, {name}, BC = {kilobytes} KB");
        let shown = shown(trial, effort, [&file, &title], &changes)?;
        rows.extend(shown.iter().map(|shown| shown.row(format!("{name}, BC = {kilobytes} KB"))));
        all.push(shown);
    }
    eccp_judge::counters(trial, name, &all);
    Ok(())
}

/// Runs the experiment `eccp/gain`: dependence of figure 2.10 on Gd, and on the probe trains of other flows, which
/// disturb the measurements.
pub fn gains(trial: &mut Trial) -> Result<(), Failure> {
    const SWEEP: [f64; 7] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 100.0 / 128.0];
    const QUICK: [f64; 3] = [0.01, 0.05, 100.0 / 128.0];
    let milliseconds = trial.shorten("simulated ms", 1000, 300);
    let sweep = if trial.quick { &QUICK[..] } else { &SWEEP };
    let delays_us = if trial.quick { &[1200, 1800][..] } else { &[300, 1200, 1800, 3300] };
    let mut rows = Vec::new();
    for (trains, frames) in [("33 probes a train", "33"), ("2 probes a train", "2")] {
        let mut spreads = Vec::new();
        for &tau_us in delays_us {
            let mut points = Vec::new();
            for &gain in sweep {
                let changes = [
                    edge_delay(tau_us),
                    ("host.transport.gain", gain.to_string()),
                    ("host.transport.train_frames", frames.to_owned()),
                    ("duration", format!("\"{milliseconds}ms\"")),
                ];
                let shown = Shown::of(&Bench::run(trial, &ECCP_DUMBBELL, &changes)?);
                points.push((gain, shown.spread()));
                rows.push(shown.row(format!("{trains}, tau = {} ms, Gd = {gain:.3}", tau_us as f64 / 1e3)));
            }
            spreads.push(points);
        }
        // By (2.18) the stability limit is 1.482 ms. Delays below this limit must have a spread of at most 1 Gbps,
        // delays above it a larger spread.
        let separates = |at: &usize| {
            let stable = |tau_us: u64| tau_us < 1482;
            delays_us.iter().zip(&spreads).all(|(&tau_us, points)| (points[*at].1 <= 1.0) == stable(tau_us))
        };
        let name = format!("{trains}: gains Gd that part delays below and above 1.482 ms by a spread of 1 Gbps");
        let count = (0..sweep.len()).filter(separates).count() as f64;
        let found = (0..sweep.len()).filter(separates).map(|at| format!("{:.3}", sweep[at])).collect::<Vec<_>>();
        trial
            .check(Check::exact(name, "gains", count, Relation::Above, 0.0).note(format!("Gd = {}", found.join(", "))));
        let line = |(&tau_us, points): (&u64, Vec<(f64, f64)>)| Line {
            name: format!("tau = {} ms", tau_us as f64 / 1e3),
            points,
            mark: SeriesStyle::Points,
        };
        let lines = delays_us.iter().zip(spreads).map(line).collect();
        let panel = Panel { x: "Gd", y: "spread of the cross traffic, Gbps", scale: Scale::Linear, lines };
        trial.plots.push((format!("eccp-gain-{frames}"), svg(&format!("ECCP, {trains}"), &[panel])));
    }
    show(trial, &rows);
    Ok(())
}
