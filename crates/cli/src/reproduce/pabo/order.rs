//! Section IV: what theta and lambda do to the order of packets, with TCP on the tree.

use super::hop_by_hop::lost;
use crate::failure::Failure;
use crate::reproduce::check::{Check, Relation};
use crate::reproduce::plot::bars;
use crate::reproduce::registry::{Choice, PABO_TREE_TCP};
use crate::reproduce::trial::Trial;

/// What section IV leaves open.
pub const CHOICES: &[Choice] = &[
    Choice { source: &PABO_TREE_TCP, key: "switch.overload.utilisation", alternatives: &["fuller"] },
    Choice { source: &PABO_TREE_TCP, key: "host.transport.initial_window", alternatives: &["rfc5681"] },
];

/// What a run with these parameters shows.
#[derive(Clone, Copy)]
struct Point {
    entropy: f64,
    time_ratio: f64,
    variance: f64,
    lost: u64,
}

fn point(trial: &Trial, theta: f64, lambda: f64) -> Result<Point, Failure> {
    let changes = [
        ("switch.overload.theta", theta.to_string()),
        ("measure.utilisation", theta.to_string()),
        ("switch.overload.lambda", lambda.to_string()),
    ];
    let told = trial.run(&PABO_TREE_TCP, &changes)?;
    let load = told.summary.utilisation.unwrap_or_default();
    Ok(Point {
        entropy: told.summary.reordering.unwrap_or_default().entropy_nats,
        time_ratio: load.time_ratio,
        variance: load.variance,
        lost: lost(&told),
    })
}

/// Runs `pabo/fig6`.
///
/// # Errors
/// If the scenario is wrong.
pub fn separately(trial: &mut Trial) -> Result<(), Failure> {
    let mut dropped = 0;
    for lambda in [1.0, 30.0, 100.0] {
        let points: Vec<Point> =
            (0..10).map(|tenth| point(trial, f64::from(tenth) / 10.0, lambda)).collect::<Result<_, _>>()?;
        let row = |(tenth, point): (usize, &Point)| {
            (format!("0.{tenth}"), vec![point.entropy, 1e3 * point.time_ratio, 1e3 * point.variance])
        };
        let rows: Vec<_> = points.iter().enumerate().map(row).collect();
        trial.show(&format!("  lambda = {lambda}: entropy, 1000 x timeRatio and 1000 x variance over theta\n"));
        trial.show(&bars("theta", &["entropy", "timeRatio", "variance"], 5.0, &rows));
        let rises = points.windows(2).filter(|pair| pair[1].variance > pair[0].variance).count();
        let name = format!("lambda = {lambda}: steps of theta by which the variance of utilisation rises");
        trial.check(Check::exact(name, "steps", rises as f64, Relation::Equal, 9.0));
        let name = format!("lambda = {lambda}: timeRatio at theta = 0.3, against theta = 0");
        let check = Check::new(name, "share", points[3].time_ratio, Relation::Below, points[0].time_ratio / 2.0, 0.0);
        trial.check(check.note("\"decreases\": to less than half of what is measured at 0"));
        let late = &points[4..];
        let (least, most) = late
            .iter()
            .fold((f64::MAX, 0.0f64), |(least, most), point| (least.min(point.time_ratio), most.max(point.time_ratio)));
        let name = format!("lambda = {lambda}: spread of timeRatio from theta = 0.4 to 0.9, against its fall before");
        let fall = points[0].time_ratio - points[4].time_ratio;
        let check = Check::new(name, "share", most - least, Relation::Below, fall / 4.0, 0.0);
        trial.check(check.note("\"to a steady point\": less than a quarter of the fall from 0 to 0.4"));
        dropped += points.iter().map(|point| point.lost).sum::<u64>();
    }
    let ends = |trial: &Trial, theta: f64| Ok::<_, Failure>((point(trial, theta, 1.0)?, point(trial, theta, 100.0)?));
    let (small, large) = ends(trial, 0.0)?;
    let name = "theta = 0: timeRatio at lambda = 100, against lambda = 1";
    trial.check(Check::new(name, "share", large.time_ratio, Relation::Above, small.time_ratio, 0.0));
    for theta in [0.0, 0.5, 0.9] {
        let (small, large) = ends(trial, theta)?;
        let name = format!("theta = {theta}: variance at lambda = 100, against lambda = 1");
        trial.check(Check::new(name, "share^2", large.variance, Relation::Below, small.variance, 0.0));
    }
    trial.check(Check::exact("frames lost", "frames", dropped as f64, Relation::Equal, 0.0));
    let (small, large) = ends(trial, 1.0)?;
    let name = "negative control: bouncing only when the queue is full: what lambda adds to the variance";
    let adds = large.variance - small.variance;
    trial.check(Check::exact(name, "share^2", adds, Relation::Equal, 0.0));
    Ok(())
}

/// Darker for less, as in the paper.
const SHADES: [char; 6] = ['@', '#', '+', '-', '.', ' '];

/// Runs `pabo/fig5`.
///
/// # Errors
/// If the scenario is wrong.
pub fn grid(trial: &mut Trial) -> Result<(), Failure> {
    let thetas = trial.shorten("values of theta", 11, 6);
    let lambdas = trial.shorten("values of lambda", 10, 4);
    let theta = |at: u64| at as f64 / (thetas - 1) as f64;
    let lambda = |at: u64| 1.0 + 99.0 * at as f64 / (lambdas - 1) as f64;
    let (mut entropies, mut dropped) = (Vec::new(), 0);
    for row in 0..lambdas {
        for column in 0..thetas {
            let point = point(trial, theta(column), lambda(row))?;
            entropies.push(point.entropy);
            dropped += point.lost;
        }
    }
    let least = entropies.iter().copied().fold(f64::MAX, f64::min);
    let most = entropies.iter().copied().fold(0.0, f64::max);
    trial.show(&format!("  entropy from {least:.2} (darkest) to {most:.2}; theta from 0 to 1, lambda from 1 to 100\n"));
    for (row, values) in entropies.chunks(thetas as usize).enumerate() {
        let shade = |value: &f64| {
            let step = ((value - least) / (most - least).max(1e-9) * SHADES.len() as f64) as usize;
            SHADES[step.min(SHADES.len() - 1)].to_string().repeat(3)
        };
        let cells: String = values.iter().map(shade).collect();
        let numbers: Vec<String> = values.iter().map(|value| format!("{value:.2}")).collect();
        trial.show(&format!("  {:>5.0}  |{cells}|  {}\n", lambda(row as u64), numbers.join(" ")));
    }
    trial.check(Check::exact("frames lost", "frames", dropped as f64, Relation::Equal, 0.0));
    trial.check(Check::new(
        "least entropy: packets come out of order everywhere",
        "nats",
        least,
        Relation::Above,
        0.0,
        0.0,
    ));
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let column = |at: usize| mean(entropies.iter().copied().skip(at).step_by(thetas as usize).collect());
    let (first, last) = (column(0), column(thetas as usize - 1));
    let note = "red: no trend along theta here, but steps between ways in which the flows share the queues";
    let name = "mean entropy at theta = 1, against theta = 0";
    trial.check_in_full(Check::new(name, "nats", last, Relation::Below, first, 0.0).note(note));
    let name = "least entropy, against the mean at theta = 1";
    trial.check_in_full(Check::new(name, "nats", least, Relation::AtLeast, last, 0.05).note(note));
    let drop = [("switch.overload", "\"drop\"".to_owned()), ("switch.queue", "\"200 packets\"".to_owned())];
    let without = trial.run(&PABO_TREE_TCP, &drop)?.summary.reordering.unwrap_or_default();
    let name = "negative control: entropy of the delivered frames without PABO";
    trial.check(Check::exact(name, "nats", without.entropy_nats, Relation::Equal, 0.0));
    Ok(())
}
