//! Parameter sweeps over theta and lambda: figures 3 and 9.

use super::hop_by_hop::{bounces, lost, severity, without_pabo};
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::plot::bars;
use crate::registry::PABO_TREE;
use crate::trial::Trial;
use protocols::pabo::BounceFunction;

/// Number of packets per burst at moderate congestion.
const MODERATE: u64 = 1500;

/// Runs the experiment `pabo/fig3`.
pub fn bounce_function(trial: &mut Trial) -> Result<(), Failure> {
    const STEPS: usize = 20;
    let utilisation = |step: usize| 0.5 + 0.5 * step as f64 / STEPS as f64;
    let curve = |lambda: f64, bounces: u8| {
        let function = BounceFunction::new(0.5, lambda);
        (0..=STEPS).map(|step| function.probability(utilisation(step), bounces)).collect::<Vec<f64>>()
    };
    let panels = [
        ("(a) lambda = 5, packets bounced n times", ["n = 0", "n = 1", "n = 2"], [(5.0, 0), (5.0, 1), (5.0, 2)]),
        ("(b) packets never bounced", ["lambda = 25", "lambda = 15", "lambda = 5"], [(25.0, 0), (15.0, 0), (5.0, 0)]),
    ];
    for (title, names, curves) in panels {
        let curves = curves.map(|(lambda, bounces)| curve(lambda, bounces));
        trial.show(&format!("  {title}: probability over utilisation, theta = 0.5\n"));
        let row = |step: usize| {
            (format!("{:.3}", utilisation(step)), curves.iter().map(|curve| curve[step]).collect::<Vec<f64>>())
        };
        let rows: Vec<(String, Vec<f64>)> = (0..=STEPS).step_by(2).map(row).collect();
        trial.show(&bars("u", &names, 1.0, &rows));
        let inside = 1..STEPS;
        let above =
            |high: usize, low: usize| inside.clone().filter(|&step| curves[high][step] > curves[low][step]).count();
        for (high, low) in [(0, 1), (1, 2)] {
            let name = format!("{}: points where {} is above {}", &title[..3], names[high], names[low]);
            trial.check(Check::exact(name, "points", above(high, low) as f64, Relation::Equal, (STEPS - 1) as f64));
        }
        for (curve, name) in curves.iter().zip(names) {
            let rising = curve.windows(2).filter(|pair| pair[1] > pair[0]).count();
            let name = format!("{}: steps by which {name} rises", &title[..3]);
            trial.check(Check::exact(name, "steps", rising as f64, Relation::Equal, STEPS as f64));
        }
        let ends = curves.iter().filter(|curve| curve[0] == 0.0 && curve[STEPS] == 1.0).count();
        let name = format!("{}: curves from 0 at theta to 1 at a full queue", &title[..3]);
        trial.check(Check::exact(name, "curves", ends as f64, Relation::Equal, 3.0));
    }
    let straight = (0..=STEPS).filter(|&step| curve(0.0, 0)[step] == curve(0.0, 2)[step]).count();
    let name = "negative control: with lambda = 0 bounces make no difference";
    trial.check(Check::exact(name, "points", straight as f64, Relation::Equal, (STEPS + 1) as f64).consistency());
    Ok(())
}

/// Returns the coefficient of determination (R^2) and the slope of a linear regression.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |part: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>();
    let xy = sum(&|point| (point.0 - x) * (point.1 - y));
    let (xx, yy) = (sum(&|point| (point.0 - x) * (point.0 - x)), sum(&|point| (point.1 - y) * (point.1 - y)));
    (xy * xy / (xx * yy), xy / xx)
}

/// Runs the experiment `pabo/fig9a`.
pub fn theta(trial: &mut Trial) -> Result<(), Failure> {
    let steps = trial.shorten("values of theta", 20, 5);
    let (mut points, mut dropped) = (Vec::new(), 0);
    for step in 0..steps {
        let theta = step as f64 / steps as f64;
        let mut changes = severity(MODERATE, 1);
        changes.push(("switch.overload.theta", theta.to_string()));
        let result = trial.run(&PABO_TREE, &changes)?;
        points.push((theta, 100.0 * bounces(&result).bounced_share));
        dropped += lost(&result);
    }
    trial.show("  moderate, lambda = 50: bounced frames in %\n");
    let rows: Vec<(String, Vec<f64>)> =
        points.iter().map(|&(theta, share)| (format!("{theta:.2}"), vec![share])).collect();
    trial.show(&bars("theta", &["bounced"], 100.0, &rows));
    let (fit, slope) = line(&points);
    trial.check(Check::new(
        "share of the variance that a straight line explains (R^2)",
        "",
        fit,
        Relation::Above,
        0.98,
        0.0,
    ));
    trial.check(Check::new("slope of the bounced share over theta", "points", slope, Relation::Below, 0.0, 0.0));
    trial.check(Check::exact("frames lost", "frames", dropped as f64, Relation::Equal, 0.0).consistency());
    let without = trial.run(&PABO_TREE, &without_pabo(MODERATE))?;
    let name = "negative control: bounces without PABO";
    trial.check(
        Check::exact(name, "bounces", without.summary.event_counts.bounces as f64, Relation::Equal, 0.0).consistency(),
    );
    Ok(())
}

/// Runs the experiment `pabo/fig9b`.
pub fn lambda(trial: &mut Trial) -> Result<(), Failure> {
    let seeds = trial.shorten("seeds", 5, 2);
    let mut points: Vec<(f64, f64)> = Vec::new();
    for lambda in [0.0, 10.0, 20.0, 40.0, 80.0, 120.0, 160.0, 200.0, 240.0] {
        let mut hops = 0.0;
        for seed in 1..=seeds {
            let mut changes = severity(MODERATE, seed);
            changes.push(("switch.overload.lambda", lambda.to_string()));
            hops += bounces(&trial.run(&PABO_TREE, &changes)?).mean_total_hops / seeds as f64;
        }
        points.push((lambda, hops));
    }
    trial.show("  moderate, theta = 0.8: mean hops of a frame\n");
    let rows: Vec<(String, Vec<f64>)> = points.iter().map(|&(lambda, hops)| (lambda.to_string(), vec![hops])).collect();
    trial.show(&bars("lambda", &["hops"], 10.0, &rows));
    for pair in points.windows(2) {
        let name = format!("mean hops do not fall from lambda = {} to {}", pair[0].0, pair[1].0);
        let check = Check::new(name, "hops", pair[1].1, Relation::AtLeast, pair[0].1, 0.0);
        trial.check(check.note("the other side is measured"));
    }
    let at = |wanted: f64| points.iter().find(|point| point.0 == wanted).map_or(f64::NAN, |point| point.1);
    let late = at(240.0) - at(160.0);
    let name = "what lambda from 160 to 240 adds, of what it adds up to 160";
    let share = 100.0 * late / (at(160.0) - at(0.0));
    let check = Check::new(name, "%", share.abs(), Relation::AtMost, 10.0, 0.0);
    trial.check(check.note("\"stable\": at most a tenth is our reading, one-sided"));
    let name = "what lambda from 0 to 160 adds";
    trial.check(Check::new(name, "hops", at(160.0) - at(0.0), Relation::Above, 0.0, 0.0));
    let mut full_only = Vec::new();
    for lambda in [0, 160] {
        let mut changes = severity(MODERATE, 1);
        changes.push(("switch.overload.theta", "1".to_owned()));
        changes.push(("switch.overload.lambda", lambda.to_string()));
        full_only.push(bounces(&trial.run(&PABO_TREE, &changes)?).mean_total_hops);
    }
    let name = "negative control: bouncing only when the queue is full: what lambda from 0 to 160 adds";
    trial.check(Check::exact(name, "hops", full_only[1] - full_only[0], Relation::Equal, 0.0).consistency());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_a_parabola_is_none() {
        let (fit, slope) = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]);
        assert!((fit - 1.0).abs() < 1e-12 && (slope - 2.0).abs() < 1e-12);
        let parabola: Vec<(f64, f64)> = (-5..=5).map(|x| (f64::from(x), f64::from(x * x))).collect();
        assert!(line(&parabola).0 < 1e-12);
    }
}
