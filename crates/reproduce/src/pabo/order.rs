//! Section IV: effect of the parameters theta and lambda on packet reordering, with TCP on the tree.

use super::correlation::pearson;
use super::fat_tree::{Changes, MEASURED};
use super::hop_by_hop::{bounces, lost};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::{Choice, PABO_TREE_TCP};
use crate::trial::Trial;

/// Parameters of section IV that the publication does not specify, with alternative values.
pub const CHOICES: &[Choice] = &[
    Choice { source: &PABO_TREE_TCP, key: "switch.overload.utilisation", alternatives: &["fuller"] },
    Choice { source: &PABO_TREE_TCP, key: "host.transport.initial_window", alternatives: &["rfc5681"] },
    Choice { source: &PABO_TREE_TCP, key: "host.transport.out_of_order_takes_window", alternatives: &["false"] },
];

/// Results of a run with given theta and lambda.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub entropy: f64,
    time_ratio: f64,
    variance: f64,
    /// Share of the packets that were bounced at least once.
    bounced_share: f64,
    pub lost: u64,
}

pub(super) fn point(trial: &Trial, theta: f64, lambda: f64, more: &Changes) -> Result<Point, Failure> {
    let own = [
        ("switch.overload.theta", theta.to_string()),
        ("measure.queue_utilisation", theta.to_string()),
        ("switch.overload.lambda", lambda.to_string()),
    ];
    let changes: Vec<_> = own.into_iter().chain(more.iter().cloned()).collect();
    let result = trial.run(&PABO_TREE_TCP, &changes)?;
    let load = result.summary.queue_utilisation.unwrap_or_default();
    Ok(Point {
        entropy: result.summary.reordering.unwrap_or_default().entropy_nats,
        time_ratio: load.time_ratio,
        variance: load.variance,
        bounced_share: bounces(&result).bounced_share,
        lost: lost(&result),
    })
}

/// Returns the difference between the maximum and the minimum entropy of the points.
fn spread(points: &[Point]) -> f64 {
    let (least, most) = points
        .iter()
        .fold((f64::MAX, 0.0f64), |(least, most), point| (least.min(point.entropy), most.max(point.entropy)));
    most - least
}

/// Least coefficient of correlation that counts as "high". The paper does not define this term (OPEN).
const HIGH: f64 = 0.7;

/// Sign of a correlation in the paper.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Positive,
    Negative,
}

/// Checks that entropy and timeRatio of the points of a panel are highly correlated with the paper's sign, and shows
/// Pearson's coefficient with and without the first point.
fn correlated(trial: &mut Trial, panel: &str, points: &[Point], sign: Sign) {
    let (entropies, ratios): (Vec<f64>, Vec<f64>) =
        points.iter().map(|point| (point.entropy, point.time_ratio)).unzip();
    let (all, rest) = (pearson(&entropies, &ratios), pearson(&entropies[1..], &ratios[1..]));
    trial.show(&format!(
        "  {panel}: correlation of entropy and timeRatio {all:.3}, without the first point {rest:.3}\n"
    ));
    let name = format!("{panel}: correlation of entropy and timeRatio");
    let (relation, limit, note) = match sign {
        Sign::Positive => (Relation::AtLeast, HIGH, "at least 0.7"),
        Sign::Negative => (
            Relation::AtMost,
            -HIGH,
            "at most -0.7, since with lambda timeRatio increases and figure 6e has the opposite tendency of entropy,",
        ),
    };
    let check = Check::new(name, "", all, relation, limit, 0.0);
    trial.check_in_full(check.note(format!("\"highly correlated\": Pearson's coefficient of {note} is our reading")));
}

/// Checks panels (a) to (c) of figure 6: theta rises from 0 in steps of 0.1, lambda is fixed. `end` is the run with
/// theta = 0.95.
fn along_theta(trial: &mut Trial, lambda: f64, points: &[Point], end: Point) {
    let name = |what: &str| format!("lambda = {lambda}: {what}");
    let rises = points.windows(2).filter(|pair| pair[1].variance > pair[0].variance).count();
    let what = name("steps of theta by which the variance of utilisation rises");
    trial.check(Check::exact(what, "steps", rises as f64, Relation::Equal, 9.0));
    let what = name("timeRatio at theta = 0.3, against theta = 0");
    let check = Check::new(what, "share", points[3].time_ratio, Relation::Below, points[0].time_ratio / 2.0, 0.0);
    trial.check(check.note("\"decreases\": to less than half of what is measured at 0 is our reading"));
    let late = points[4..].iter().map(|point| point.time_ratio);
    let (least, most) = (late.clone().fold(f64::MAX, f64::min), late.fold(0.0, f64::max));
    let what = name("spread of timeRatio from theta = 0.4 to 0.9, against its fall before");
    let fall = points[0].time_ratio - points[4].time_ratio;
    let check = Check::new(what, "share", most - least, Relation::Below, fall / 4.0, 0.0);
    trial.check(check.note("\"to a steady point\": less than a quarter of the fall from 0 to 0.4 is our reading"));
    if lambda > 1.0 {
        let fall = points[0].entropy - points[4].entropy;
        let what = name("entropy falls from theta = 0 to 0.4");
        trial.check(Check::new(what, "nats", fall, Relation::Above, 0.0, 0.0));
        let what = name("spread of entropy from theta = 0.4 to 0.7, against its fall before");
        let check = Check::new(what, "nats", spread(&points[4..8]), Relation::Below, fall / 4.0, 0.0);
        trial.check(check.note("\"stable in the middle\": less than a quarter of the fall before is our reading"));
        let least = points[4..8].iter().map(|point| point.entropy).fold(f64::MAX, f64::min);
        let what = name("entropy at theta = 0.95, against the least from 0.4 to 0.7");
        trial.check(Check::new(what, "nats", end.entropy, Relation::Below, least, 0.0).note(MEASURED));
    }
}

/// Checks panels (d) to (f) of figure 6: lambda varies, theta is fixed.
fn along_lambda(trial: &mut Trial) -> Result<(), Failure> {
    let entropies = |trial: &Trial, theta: f64| -> Result<[f64; 3], Failure> {
        let of = |lambda: f64| Ok::<_, Failure>(point(trial, theta, lambda, &[])?.entropy);
        Ok([of(1.0)?, of(30.0)?, of(100.0)?])
    };
    let lambdas = trial.shorten("values of lambda in panels (d) to (f)", 10, 4);
    for (theta, sign) in [(0.1, Sign::Positive), (0.5, Sign::Negative), (0.95, Sign::Positive)] {
        let lambda = |at: u64| 1.0 + 99.0 * at as f64 / (lambdas - 1) as f64;
        let points: Vec<Point> =
            (0..lambdas).map(|at| point(trial, theta, lambda(at), &[])).collect::<Result<_, _>>()?;
        correlated(trial, &format!("theta = {theta}"), &points, sign);
    }
    let [first, middle, last] = entropies(trial, 0.1)?;
    let name = "theta = 0.1: what lambda from 1 to 30 adds to the entropy";
    trial.check(Check::new(name, "nats", middle - first, Relation::Above, 0.0, 0.0));
    let name = "theta = 0.1: what lambda from 30 to 100 changes of the entropy";
    let check = Check::new(name, "nats", (last - middle).abs(), Relation::Below, (middle - first) / 4.0, 0.0);
    trial.check(check.note("\"then remains a steady point\": less than a quarter of the rise before is our reading"));
    let [first, _, last] = entropies(trial, 0.5)?;
    let name = "theta = 0.5: entropy at lambda = 100, against lambda = 1";
    trial.check(Check::new(name, "nats", last, Relation::Below, first, 0.0).note(MEASURED));
    let share = |trial: &Trial, lambda: f64| Ok::<_, Failure>(point(trial, 0.5, lambda, &[])?.bounced_share);
    let shares = [1.0, 30.0, 100.0, 1000.0].map(|lambda| share(trial, lambda));
    let shares: Vec<f64> = shares.into_iter().collect::<Result<_, _>>()?;
    trial.show(&format!("  theta = 0.5: share of bounced packets at lambda = 1, 30, 100, 1000: {shares:.3?}\n"));
    let rises = shares.windows(2).filter(|pair| pair[1] > pair[0]).count() as f64;
    let name = "theta = 0.5: steps of lambda from 1 to 1000 by which the share of bounced packets grows";
    trial.check(Check::exact(name, "steps", rises, Relation::Equal, 3.0));
    let name = "theta = 0.5: share of bounced packets at lambda = 1000";
    let check = Check::new(name, "share", shares[3], Relation::AtLeast, 0.95, 0.0);
    trial.check(check.note("\"until it is infinitely close to one\": at least 0.95 is our reading"));
    let [first, middle, last] = entropies(trial, 0.95)?;
    let name = "theta = 0.95: what lambda changes of the entropy";
    let most = (middle - first).abs().max((last - first).abs());
    let check = Check::new(name, "nats", most, Relation::AtMost, first / 10.0, 0.0);
    trial.check(check.note("\"can be ignored\": a tenth of it is our reading"));
    Ok(())
}

/// Runs the experiment `pabo/fig6`.
pub fn separately(trial: &mut Trial) -> Result<(), Failure> {
    let (mut dropped, mut spreads) = (0, Vec::new());
    for lambda in [1.0, 30.0, 100.0] {
        let points: Vec<Point> =
            (0..10).map(|tenth| point(trial, f64::from(tenth) / 10.0, lambda, &[])).collect::<Result<_, _>>()?;
        let row = |(tenth, point): (usize, &Point)| {
            (format!("0.{tenth}"), vec![point.entropy, 1e3 * point.time_ratio, 1e3 * point.variance])
        };
        let rows: Vec<_> = points.iter().enumerate().map(row).collect();
        trial.show(&format!("  lambda = {lambda}: entropy, 1000 x timeRatio and 1000 x variance over theta\n"));
        trial.show(&bars("theta", &["entropy", "timeRatio", "variance"], 5.0, &rows));
        let end = point(trial, 0.95, lambda, &[])?;
        along_theta(trial, lambda, &points, end);
        // The values of theta in the results that the authors published with their simulator.
        let published: Vec<Point> =
            (0..10).map(|tenth| point(trial, 0.05 + f64::from(tenth) / 10.0, lambda, &[])).collect::<Result<_, _>>()?;
        correlated(trial, &format!("lambda = {lambda}"), &published, Sign::Positive);
        spreads.push(spread(&points));
        dropped += points.iter().map(|point| point.lost).sum::<u64>();
    }
    let name = "lambda = 1: spread of entropy over theta, against the least of lambda = 30 and 100";
    let check = Check::new(name, "nats", spreads[0], Relation::Below, spreads[1].min(spreads[2]), 0.0);
    trial.check(check.note(MEASURED));
    along_lambda(trial)?;
    let ends = |trial: &Trial, theta: f64| {
        Ok::<_, Failure>((point(trial, theta, 1.0, &[])?, point(trial, theta, 100.0, &[])?))
    };
    let (small, large) = ends(trial, 0.0)?;
    let name = "theta = 0: timeRatio at lambda = 100, against lambda = 1";
    trial.check(Check::new(name, "share", large.time_ratio, Relation::Above, small.time_ratio, 0.0));
    for theta in [0.0, 0.5, 0.9] {
        let (small, large) = ends(trial, theta)?;
        let name = format!("theta = {theta}: variance at lambda = 100, against lambda = 1");
        trial.check(Check::new(name, "share^2", large.variance, Relation::Below, small.variance, 0.0));
    }
    trial.check(Check::exact("frames lost", "frames", dropped as f64, Relation::Equal, 0.0).consistency());
    let (small, large) = ends(trial, 1.0)?;
    let name = "negative control: bouncing only when the queue is full: what lambda adds to the variance";
    let adds = large.variance - small.variance;
    trial.check(Check::exact(name, "share^2", adds, Relation::Equal, 0.0).consistency());
    Ok(())
}

/// Characters for shades of the text plot, darker for smaller values, as in the paper.
const SHADES: [char; 6] = ['@', '#', '+', '-', '.', ' '];

/// Runs the experiment `pabo/fig5`.
pub fn grid(trial: &mut Trial) -> Result<(), Failure> {
    let thetas = trial.shorten("values of theta", 11, 6);
    let lambdas = trial.shorten("values of lambda", 10, 4);
    let theta = |at: u64| at as f64 / (thetas - 1) as f64;
    let lambda = |at: u64| 1.0 + 99.0 * at as f64 / (lambdas - 1) as f64;
    let (mut entropies, mut dropped) = (Vec::new(), 0);
    for row in 0..lambdas {
        for column in 0..thetas {
            let point = point(trial, theta(column), lambda(row), &[])?;
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
    trial.check(Check::exact("frames lost", "frames", dropped as f64, Relation::Equal, 0.0).consistency());
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
    let name = "mean entropy at theta = 1, against theta = 0";
    trial.check(Check::new(name, "nats", last, Relation::Below, first, 0.0).note(MEASURED));
    let name = "least entropy, against the mean at theta = 1";
    let note = "\"a minimal point\": 0.05 nats are allowed for what the mean over lambda hides";
    trial.check(Check::new(name, "nats", least, Relation::AtLeast, last, 0.05).note(note));
    let columns: Vec<f64> = (0..thetas as usize).map(column).collect();
    let rows: Vec<f64> =
        entropies.chunks(thetas as usize).map(|row| row.iter().sum::<f64>() / row.len() as f64).collect();
    let range =
        |values: &[f64]| values.iter().copied().fold(0.0, f64::max) - values.iter().copied().fold(f64::MAX, f64::min);
    let name = "range of the mean entropy along theta, against along lambda";
    trial.check(Check::new(name, "nats", range(&columns), Relation::Above, range(&rows), 0.0).note(MEASURED));
    let drop = [("switch.overload", "\"drop\"".to_owned()), ("switch.queue", "\"200 packets\"".to_owned())];
    let without = trial.run(&PABO_TREE_TCP, &drop)?.summary.reordering.unwrap_or_default();
    let name = "negative control: entropy of the delivered frames without PABO";
    trial.check(Check::exact(name, "nats", without.entropy_nats, Relation::Equal, 0.0).consistency());
    Ok(())
}
