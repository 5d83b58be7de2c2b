//! Checks of figures 2.10 to 2.17 of the thesis on runs of the dumbbell. A check of an inequality uses the least
//! favourable seed, a check of an equality the mean over seeds.

use super::bench::{jain, mean, quantile};
use super::eccp_dumbbell::{COUNTERS, DELAYS_US, Shown};
use crate::check::{Check, Relation};
use crate::trial::Trial;

/// Tolerance of queue lengths for which the thesis prints "up to": a frame of 1500 B, in KB.
const FRAME_KB: f64 = 1.5;
const UP_TO: &str = "\"up to 294.4 KB\", within a frame of 1500 B";

/// Returns the value of `pick` over the seeds that is least favourable for the relation.
fn hardest(relation: Relation, seeds: &[Shown], pick: impl Fn(&Shown) -> f64) -> f64 {
    let values = seeds.iter().map(pick);
    match relation {
        Relation::AtMost | Relation::Below => values.fold(f64::NEG_INFINITY, f64::max),
        Relation::AtLeast | Relation::Above => values.fold(f64::INFINITY, f64::min),
        Relation::Equal => mean(&values.collect::<Vec<_>>()),
    }
}

/// Returns the mean cross traffic over seeds, in Gbps.
pub fn mean_cross(seeds: &[Shown]) -> f64 {
    mean(&seeds.iter().map(|shown| mean(&shown.cross)).collect::<Vec<_>>())
}

fn queue(relation: Relation, seeds: &[Shown]) -> f64 {
    hardest(relation, seeds, |shown| quantile(&shown.queue_kb, 0.99))
}

/// Checks the cross traffic: its lower quartile if the delay is below the stability limit, its minimum otherwise.
pub fn least(trial: &mut Trial, name: &str, seeds: &[Shown], (tau_us, stable): (u64, bool)) {
    let (what, relation) = if stable {
        ("lower quartile of the cross traffic", Relation::AtLeast)
    } else {
        ("least of the cross traffic", Relation::Below)
    };
    let share = if stable { 0.25 } else { 0.0 };
    let ours = hardest(relation, seeds, |shown| quantile(&shown.cross, share));
    let name = format!("{name}, tau = {} ms: {what}", tau_us as f64 / 1e3);
    trial.check(Check::new(name, "Gbps", ours, relation, 9.0, 0.0));
}

/// Checks figures 2.10, 2.12 and 2.13. `all` has the runs of all seeds for each of [`DELAYS_US`].
pub fn delays(trial: &mut Trial, name: &str, all: &[Vec<Shown>]) {
    for (seeds, delay) in all.iter().zip(DELAYS_US) {
        let (tau_us, stable) = delay;
        let of = |what: &str| format!("{name}, tau = {} ms: {what}", tau_us as f64 / 1e3);
        let relation = if stable { Relation::AtMost } else { Relation::Above };
        let claim = of("spread of the cross traffic, from 1 % to 99 %");
        let spread = hardest(relation, seeds, Shown::spread);
        trial.check(Check::new(claim, "Gbps", spread, relation, 1.0, 0.0));
        least(trial, name, seeds, delay);
        if stable {
            let claim = of("Jain's index of mean rates, figure 2.13");
            let fairness = hardest(Relation::Above, seeds, |shown| jain(&shown.flows));
            trial.check_in_full(Check::new(claim, "1", fairness, Relation::Above, 0.95, 0.0));
        }
    }
    let means: Vec<f64> = all.iter().map(|seeds| mean_cross(seeds)).collect();
    let rises = means[..5].windows(2).filter(|pair| pair[1] >= pair[0]).count() as f64;
    let claim = format!("{name}: steps up to tau = 2.4 ms at which the mean of the cross traffic does not fall");
    trial.check(Check::exact(claim, "of 4", rises, Relation::Equal, 0.0));
    let claim = format!("{name}, tau = 3.3 ms: what the mean rises above that at 2.4 ms");
    trial.check(Check::new(claim, "Gbps", means[5] - means[4], Relation::Above, 0.0, 0.0));
    for (at, thesis) in [(0, 6.72), (1, 6.78), (2, 21.9)] {
        let claim = format!("{name}, tau = {} ms: 99 % of queues, figure 2.12", DELAYS_US[at].0 as f64 / 1e3);
        trial.check(Check::new(claim, "KB", queue(Relation::Below, &all[at]), Relation::Below, thesis, 0.0));
    }
    let longest = all[3..].iter().map(|seeds| queue(Relation::Below, seeds)).fold(0.0, f64::max);
    let claim = format!("{name}, tau of 1.8 ms and more: 99 % of queues, the longest, figure 2.12");
    trial.check(Check::new(claim, "KB", longest, Relation::Equal, 294.4, FRAME_KB).note(UP_TO));
    let claim = format!("{name}: 99 % of queues at 1.2 ms below the least at 1.8 ms and more by");
    let least = all[3..].iter().map(|seeds| queue(Relation::Above, seeds)).fold(f64::INFINITY, f64::min);
    let more = least - queue(Relation::Below, &all[2]);
    trial.check(Check::new(claim, "KB", more, Relation::Above, 0.0, 0.0));
}

/// Checks figures 2.14, 2.16 and 2.17. `all` has the runs of all seeds for each of [`COUNTERS`].
pub fn counters(trial: &mut Trial, name: &str, all: &[Vec<Shown>]) {
    for (seeds, (kilobytes, stable)) in all.iter().zip(COUNTERS) {
        let relation = if stable { Relation::AtMost } else { Relation::Above };
        let claim = format!("{name}, BC = {kilobytes} KB: spread of the cross traffic, from 1 % to 99 %");
        let spread = hardest(relation, seeds, Shown::spread);
        trial.check(Check::new(claim, "Gbps", spread, relation, 1.0, 0.0));
    }
    let means: Vec<f64> = all.iter().map(|seeds| mean_cross(seeds)).collect();
    let claim = format!("{name}: mean of the cross traffic with BC = 450 KB below that with 750 KB by");
    trial.check(Check::new(claim, "Gbps", means[3] - means[1], Relation::Above, 0.0, 0.0));
    let claim = format!("{name}: mean of the cross traffic with BC = 150 KB above that with 450 KB by");
    trial.check(Check::new(claim, "Gbps", means[0] - means[1], Relation::Above, 0.0, 0.0));
    for (at, kilobytes, thesis) in [(3, 750, 6.9), (2, 600, 6.8)] {
        let claim = format!("{name}, BC = {kilobytes} KB: 99 % of queues, figure 2.16");
        trial.check(Check::new(claim, "KB", queue(Relation::Below, &all[at]), Relation::Below, thesis, 0.0));
    }
    let claim = format!("{name}, BC of 150 and 450 KB: 99 % of queues, the longer, figure 2.16");
    let longer = queue(Relation::Equal, &all[0]).max(queue(Relation::Equal, &all[1]));
    // In short runs the queue does not reach this length.
    let chosen = "a queue that fills its buffer; 300 KB in eccp/buffer and half-cut are chosen for this figure";
    trial.check_in_full(Check::new(claim, "KB", longer, Relation::Equal, 299.0, FRAME_KB).note(chosen));
    for (at, kilobytes, least, most) in [(3, 750, 1.49, 2.293), (2, 600, 1.5928, 3.7226)] {
        let of = |what: &str| format!("{name}, BC = {kilobytes} KB: {what} sending rate of a flow, figure 2.17");
        for (what, share, thesis) in [("least", 0.0, least), ("greatest", 1.0, most)] {
            let ours = hardest(Relation::Equal, &all[at], |shown| quantile(&shown.rates, share));
            let check = Check::new(of(what), "Gbps", ours, Relation::Equal, thesis, 0.1 * thesis);
            trial.check_in_full(check);
        }
    }
    let fairness = |at: usize, relation| hardest(relation, &all[at], |shown| jain(&shown.flows));
    let claim = format!("{name}: Jain's index with BC = 600 and 750 KB above those with 150 and 450 KB by");
    let stable = fairness(2, Relation::Above).min(fairness(3, Relation::Above));
    let more = stable - fairness(0, Relation::Below).max(fairness(1, Relation::Below));
    trial.check_in_full(Check::new(claim, "1", more, Relation::Above, 0.0, 0.0));
}
