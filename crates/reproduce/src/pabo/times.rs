//! Section VI: effect of PABO on packet delays and completion times, figures 13 to 15.

use super::correlation;
use super::fat_tree::{ALONE, CASES, MEASURED, completion_ms, delay_us, deviation_us, mean, seeds};
use super::hop_by_hop::lost;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::trial::Trial;

/// Largest relative difference that counts as "slightly" higher. The paper does not define this term (OPEN).
const SLIGHTLY: f64 = 0.1;

/// Largest range of the entropies, relative to their mean, that counts as "stable". The paper does not define this term
/// (OPEN).
const SMALL_SPREAD: f64 = 0.1;

/// Runs the experiment `pabo/fig13`.
pub fn delays(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = seeds(trial);
    let (mut rows, mut means, mut deviations) = (Vec::new(), Vec::new(), Vec::new());
    for case in &CASES {
        let found = case.measure(trial, seeds, &[])?;
        let (with, without) = (mean(&found.with, delay_us), mean(&found.without, delay_us));
        let name = format!("{}: mean delay of a packet with PABO, against Reno without", case.name);
        trial.check(Check::new(name, "us", with, Relation::Above, without, 0.0).note(MEASURED));
        let name = format!("{}: mean delay with PABO, \"slightly\" above that of Reno", case.name);
        let check = Check::new(name, "%", 100.0 * (with / without - 1.0), Relation::AtMost, 100.0 * SLIGHTLY, 0.0);
        trial.check(check.note("\"slightly\": at most a tenth is our reading"));
        let deviation = mean(&found.with, deviation_us);
        rows.push((case.name.to_owned(), vec![with, deviation, without, mean(&found.without, deviation_us)]));
        means.push(with);
        deviations.push(deviation);
    }
    trial.show("  delay of a packet from host to host, in us: mean and standard deviation\n");
    trial.show(&bars("", &["PABO", "deviation", "Reno", "deviation"], 4000.0, &rows));
    for at in 1..4 {
        let name = format!("deviation with PABO, {}, against {}", CASES[at].name, CASES[at - 1].name);
        trial.check(Check::new(name, "us", deviations[at], Relation::Above, deviations[at - 1], 0.0).note(MEASURED));
    }
    // The case with 12 servers is excluded, because one of its servers is near the client, which reduces the mean
    // delay, as the paper states.
    for at in 1..3 {
        let name = format!("mean delay with PABO, {}, against {}", CASES[at].name, CASES[at - 1].name);
        trial.check(Check::new(name, "us", means[at], Relation::Above, means[at - 1], 0.0).note(MEASURED));
    }
    let name = "negative control: deviation with one server, against three";
    let alone = deviation_us(&ALONE.run(trial, 1, &[])?);
    trial.check(
        Check::new(name, "us", alone, Relation::Below, deviations[0] / 2.0, 0.0).consistency().note("below half of it"),
    );
    Ok(())
}

/// Runs the experiment `pabo/fig14`.
pub fn completions(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = seeds(trial);
    let (mut rows, mut gaps) = (Vec::new(), Vec::new());
    for case in &CASES {
        let found = case.measure(trial, seeds, &[])?;
        let (fast, slow) = (mean(&found.with, completion_ms), mean(&found.without, completion_ms));
        let name = format!("{}: mean completion with PABO, against Reno without", case.name);
        trial.check(Check::new(name, "ms", fast, Relation::Below, slow, 0.0).note(MEASURED));
        // The figure has no scale that could be read; "orders of magnitude" is at least one.
        let name = format!("{}: mean completion of Reno without PABO, over that with it", case.name);
        let check = Check::new(name, "x", slow / fast, Relation::AtLeast, 10.0, 0.0);
        trial.check(check.note("\"orders of magnitude\": at least one is our reading"));
        gaps.push(slow - fast);
        rows.push((case.name.to_owned(), vec![fast, slow]));
    }
    trial.show("  mean time from a request to the last byte of its reply, in ms\n");
    trial.show(&bars("", &["PABO", "Reno"], 600.0, &rows));
    for at in 1..3 {
        let name = format!("gain of PABO with {}, against {}", CASES[at].name, CASES[at - 1].name);
        trial.check(Check::new(name, "ms", gaps[at], Relation::Above, gaps[at - 1], 0.0).note(MEASURED));
    }
    let name = "negative control: gain with one server, against three";
    let alone = ALONE.measure(trial, 1, &[])?;
    let gain = mean(&alone.without, completion_ms) - mean(&alone.with, completion_ms);
    trial.check(
        Check::new(name, "ms", gain, Relation::Below, gaps[0] / 10.0, 0.0).consistency().note("below a tenth of it"),
    );
    Ok(())
}

const THETAS: [f64; 11] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99];

/// Runs the experiment `pabo/fig15`.
pub fn over_theta(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds", 5, 1);
    let (mut runs, mut dropped) = (Vec::new(), 0);
    for seed in 1..=seeds {
        let mut points = Vec::new();
        for theta in THETAS {
            let result = CASES[4].run(trial, seed, &[("switch.overload.theta", theta.to_string())])?;
            let entropy = result.summary.reordering.unwrap_or_default().entropy_nats;
            points.push([entropy, completion_ms(&result), delay_us(&result)]);
            dropped += lost(&result);
        }
        runs.push(points);
    }
    let curve = |run: &[[f64; 3]], of: usize| run.iter().map(|point| point[of]).collect::<Vec<f64>>();
    let mean_of = |at: usize, of: usize| runs.iter().map(|run| run[at][of]).sum::<f64>() / seeds as f64;
    trial.show("  many to many over theta: reorder entropy in nats, mean completion in ms, mean delay in 100 us\n");
    let row = |(at, theta): (usize, &f64)| {
        (format!("{theta:.2}"), vec![mean_of(at, 0), mean_of(at, 1), mean_of(at, 2) / 100.0])
    };
    let rows: Vec<_> = THETAS.iter().enumerate().map(row).collect();
    trial.show(&bars("theta", &["entropy", "completion", "delay"], 50.0, &rows));
    let early: Vec<f64> = (0..7).map(|at| mean_of(at, 0)).collect();
    let (least, most) =
        early.iter().fold((f64::MAX, 0.0f64), |(least, most), &value| (least.min(value), most.max(value)));
    let name = "spread of entropy from theta = 0.5 to 0.8, of its mean";
    let spread = (most - least) * early.len() as f64 / early.iter().sum::<f64>();
    let check = Check::new(name, "share", spread, Relation::AtMost, SMALL_SPREAD, 0.0);
    trial.check_in_full(check.note("\"stable\": within a tenth of the mean is our reading"));
    let name = "entropy at theta = 0.99, against the least from 0.5 to 0.8";
    trial.check_in_full(Check::new(name, "nats", mean_of(10, 0), Relation::Below, least, 0.0).note(MEASURED));
    for (of, what) in [(1, "completion"), (2, "delay")] {
        let correlations = runs.iter().map(|run| correlation::spearman(&THETAS, &curve(run, of)));
        let correlation = correlations.sum::<f64>() / seeds as f64;
        let name = format!("rank correlation of mean {what} with theta, mean over seeds");
        let chance = correlation::chance(THETAS.len(), seeds);
        let note = "\"no obvious regularity\": no monotone trend, within two standard deviations of chance";
        trial.check_in_full(Check::new(name, "", correlation, Relation::Equal, 0.0, chance).note(note));
    }
    trial.check(Check::exact("frames lost", "frames", dropped as f64, Relation::Equal, 0.0).consistency());
    let quiet = ALONE.run(trial, 1, &[("switch.overload.theta", "0.5".to_owned())])?;
    let entropy = quiet.summary.reordering.unwrap_or_default().entropy_nats;
    let name = "negative control: entropy with one server, which nothing congests";
    trial.check(Check::exact(name, "nats", entropy, Relation::Equal, 0.0).consistency());
    Ok(())
}
