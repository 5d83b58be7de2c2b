//! Section VI: what PABO does to delays and completion times, figures 13 to 15.

use super::fat_tree::{ALONE, CASES, MEASURED};
use super::hop_by_hop::lost;
use crate::failure::Failure;
use crate::reproduce::check::{Check, Relation};
use crate::reproduce::plot::bars;
use crate::reproduce::trial::{Told, Trial};

/// "No trend": of the mean, how far apart the greatest and the least may be. OPEN in the paper.
const SMALL_SPREAD: f64 = 0.1;

/// Mean from a request's start to its reply's last byte, in ms; requests and replies are as many.
fn completion_ms(told: &Told) -> f64 {
    let times: Vec<u64> = told.flows.iter().filter_map(record::flows::FlowRecord::fct_ps).collect();
    2.0 * times.iter().sum::<u64>() as f64 / times.len().max(1) as f64 / 1e9
}

fn delay_us(told: &Told) -> f64 {
    told.delays.mean().unwrap_or(f64::NAN) / 1e6
}

fn deviation_us(told: &Told) -> f64 {
    told.delays.standard_deviation().unwrap_or(f64::NAN) / 1e6
}

/// Runs `pabo/fig13`.
///
/// # Errors
/// If the scenario is wrong.
pub fn delays(trial: &mut Trial) -> Result<(), Failure> {
    let (mut rows, mut deviations) = (Vec::new(), Vec::new());
    for case in &CASES {
        let (with, without) = (case.with(trial, 1)?, case.without(trial)?);
        let name = format!("{}: mean delay of a packet with PABO, against Reno without", case.name);
        let check = Check::new(name, "us", delay_us(&with), Relation::AtLeast, delay_us(&without), 0.0);
        trial.check(check.note(MEASURED));
        let row = [delay_us(&with), deviation_us(&with), delay_us(&without), deviation_us(&without)];
        deviations.push(deviation_us(&with));
        rows.push((case.name.to_owned(), row.to_vec()));
    }
    trial.show("  delay of a packet from host to host, in us: mean and standard deviation\n");
    trial.show(&bars("", &["PABO", "deviation", "Reno", "deviation"], 4000.0, &rows));
    for (at, relation) in [(1, Relation::Above), (2, Relation::Above), (3, Relation::AtMost)] {
        let name = format!("deviation with PABO, {}, against {}", CASES[at].name, CASES[at - 1].name);
        let check = Check::new(name, "us", deviations[at], relation, deviations[at - 1], 0.0);
        trial.check_in_full(check.note("red with 12 servers: the deviation grows on; the other side is measured"));
    }
    let name = "negative control: deviation with one server, against three";
    let alone = deviation_us(&ALONE.with(trial, 1)?);
    trial.check(Check::new(name, "us", alone, Relation::Below, deviations[0] / 2.0, 0.0).note("below half of it"));
    Ok(())
}

/// Runs `pabo/fig14`.
///
/// # Errors
/// If the scenario is wrong.
pub fn completions(trial: &mut Trial) -> Result<(), Failure> {
    let (mut rows, mut gaps) = (Vec::new(), Vec::new());
    for case in &CASES {
        let (fast, slow) = (completion_ms(&case.with(trial, 1)?), completion_ms(&case.without(trial)?));
        let name = format!("{}: mean completion with PABO, against Reno without", case.name);
        trial.check(Check::new(name, "ms", fast, Relation::Below, slow, 0.0).note(MEASURED));
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
    let gain = completion_ms(&ALONE.without(trial)?) - completion_ms(&ALONE.with(trial, 1)?);
    trial.check(Check::new(name, "ms", gain, Relation::Below, gaps[0] / 10.0, 0.0).note("below a tenth of it"));
    Ok(())
}

/// Runs `pabo/fig15`.
///
/// # Errors
/// If the scenario is wrong.
pub fn over_theta(trial: &mut Trial) -> Result<(), Failure> {
    const THETAS: [f64; 11] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99];
    let seeds = trial.shorten("seeds", 5, 1);
    let (mut points, mut dropped) = (Vec::new(), 0);
    for theta in THETAS {
        let mut mean = [0.0; 3];
        for seed in 1..=seeds {
            let told = CASES[4].run(trial, seed, &[("switch.overload.theta", theta.to_string())])?;
            let entropy = told.summary.reordering.unwrap_or_default().entropy_nats;
            for (sum, value) in mean.iter_mut().zip([entropy, completion_ms(&told), delay_us(&told)]) {
                *sum += value / seeds as f64;
            }
            dropped += lost(&told);
        }
        points.push(mean);
    }
    trial.show("  many to many over theta: reorder entropy in nats, mean completion in ms, mean delay in 100 us\n");
    let row =
        |(theta, &[entropy, fct, delay]): (&f64, &[f64; 3])| (format!("{theta:.2}"), vec![entropy, fct, delay / 100.0]);
    let rows: Vec<_> = THETAS.iter().zip(&points).map(row).collect();
    trial.show(&bars("theta", &["entropy", "completion", "delay"], 50.0, &rows));
    let spread = |of: usize, points: &[[f64; 3]]| {
        let values = || points.iter().map(|point| point[of]);
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        (most - least) * points.len() as f64 / values().sum::<f64>()
    };
    let small = "flat: within a tenth of the mean, our reading of it";
    let early = &points[..7];
    let name = "spread of entropy from theta = 0.5 to 0.8, of its mean";
    trial.check_in_full(Check::new(name, "share", spread(0, early), Relation::AtMost, SMALL_SPREAD, 0.0).note(small));
    let least = early.iter().map(|point| point[0]).fold(f64::MAX, f64::min);
    let name = "entropy at theta = 0.99, against the least from 0.5 to 0.8";
    trial.check_in_full(Check::new(name, "nats", points[10][0], Relation::Below, least, 0.0).note(MEASURED));
    for (of, what) in [(1, "completion"), (2, "delay")] {
        let name = format!("spread of mean {what} over theta, of its mean");
        let check = Check::new(name, "share", spread(of, &points), Relation::AtMost, SMALL_SPREAD, 0.0);
        let note = "red: less than a tenth of the mean is our reading of no trend, and delay rises along theta here";
        trial.check_in_full(check.note(note));
    }
    trial.check(Check::exact("frames lost", "frames", dropped as f64, Relation::Equal, 0.0));
    let quiet = ALONE.run(trial, 1, &[("switch.overload.theta", "0.5".to_owned())])?;
    let entropy = quiet.summary.reordering.unwrap_or_default().entropy_nats;
    let name = "negative control: entropy with one server, which nothing congests";
    trial.check(Check::exact(name, "nats", entropy, Relation::Equal, 0.0));
    Ok(())
}
