//! HetFlow's lemmas, with the parameters of table 3.2 of the thesis.

use super::hetflow::{LINK, TAU, model, parameters};
use super::track::Track;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use fluid::models::hetflow::{Parameters, required_buffer};
use fluid::models::{Bottleneck, Flows, HetFlow, Model};
use fluid::stability::{Verdict, report, thesis};

/// Note: the mechanism by which flows converge to fair shares, which the lemma does not explain.
const RECOVERY: &str =
    "the cubic of the recovery brings shares together, in seconds: at (3.9) alone every split of the link is at rest";
/// Note: the reason why the rate decrease does not affect fairness.
const SPLITS: &str =
    "the feedback tells of the sum of rates only: every split of the link is a fixed point, not only C / N (lemma 3.1)";

/// Runs the experiment `hetflow/lemma3.1`. If the model has no solution, its checks fail.
pub fn lemma_3_1(trial: &mut Trial) -> Result<(), Failure> {
    for count in [2, 5, 10] {
        let rest = model(count, parameters(1500.0)).fixed_point().map_or(f64::NAN, |point| point.state[0]);
        let name = format!("{count} flows: rate at the fixed point");
        trial.check(
            Check::new(name, "Gbps", rest / 1e9, Relation::Equal, LINK / f64::from(count) / 1e9, 0.0).consistency(),
        );
    }
    // Convergence to fair shares: two flows whose initial rates have the ratio 7 : 1, and four flows with different
    // RTTs.
    let start = |rate: f64, rtt: f64| Flows { count: 1, start: 0.0, rtt, rate };
    let apart = vec![start(0.7 * LINK, TAU), start(0.1 * LINK, TAU)];
    let delays = [60e-6, 100e-6, 140e-6, 180e-6].map(|rtt| start(0.2 * LINK, rtt)).to_vec();
    for (name, flows) in
        [("two flows that begin at 7 and 1 Gbps", apart), ("four flows, delays of 60 to 180 us", delays)]
    {
        let count = flows.len();
        let mut model = HetFlow::new(Bottleneck { rate: LINK, buffer: 8e6 }, flows, parameters(1500.0));
        let track = Track::of(&mut model, [4.0, 5.0], 1e-3);
        let means: Vec<f64> = (0..count).map(|flow| track.mean(|state| state[flow])).collect();
        let total: f64 = means.iter().sum();
        let jain = total * total / (count as f64 * means.iter().map(|mean| mean * mean).sum::<f64>());
        let check = |what: &str, ours, paper, note: &str| {
            Check::new(format!("{name}: {what}"), "1", ours, Relation::AtLeast, paper, 0.0).note(note)
        };
        trial.check(check("share of the link that is used", total / LINK, 0.98, RECOVERY));
        trial.check(check("Jain's index of mean rates from 4 to 5 s", jain, 0.99, RECOVERY));
    }
    Ok(())
}

/// Runs the experiment `hetflow/lemma3.2`.
pub fn lemma_3_2(trial: &mut Trial) -> Result<(), Failure> {
    let eta = 80e-6;
    let table_3_2 = parameters(1500.0);
    let designed = parameters(64.0);
    trial.check(
        Check::new("Gd Kc by table 3.2", "1", table_3_2.gain * table_3_2.scaling, Relation::AtMost, 0.5, 0.0)
            .note("lemma 3.2 assumes Gd Kc <= 0.5 by design; table 3.2 gives 11.7"),
    );
    let slope = |p: &Parameters, tau: f64| thesis::hetflow_slope(p, eta, tau);
    let name = "(3.18) by table 3.2, eta = 80 us, tau = 10 us: the thesis's own test of stability";
    trial.check(Check::exact(name, "1/s", slope(&table_3_2, TAU), Relation::Below, 0.0));
    let name = "(3.18) with Gd Kc = 0.5, tau = 10 us";
    trial.check(Check::exact(name, "1/s", slope(&designed, TAU), Relation::Below, 0.0));
    let name = "(3.18) with Gd Kc = 0.5, tau = 90 us, more than eta: it must fail";
    trial.check(Check::exact(name, "1/s", slope(&designed, 90e-6), Relation::Above, 0.0).consistency());
    // One flow at 10 Gbps has eta = 80 us. Stability limit from the roots of the exact characteristic equation, which
    // (3.18) approximates by a Taylor series.
    let found = report(&model(1, designed));
    let limit = found.as_ref().ok().and_then(|found| found.rtt_factor).map_or(f64::NAN, |factor| factor * TAU);
    let exact = eta * (std::f64::consts::PI - 1.0);
    let name = "Gd Kc = 0.5: delay up to which the linear equation is stable, by its roots; eta (pi - 1)";
    trial.check(Check::new(name, "us", limit * 1e6, Relation::Equal, exact * 1e6, 0.01).consistency());
    let unstable = |found: Result<fluid::stability::Report, String>| {
        f64::from(u8::from(found.map(|found| found.verdict) == Ok(Verdict::Unstable)))
    };
    let name = "table 3.2: the linear equation is unstable";
    trial
        .check(Check::exact(name, "holds", unstable(report(&model(1, table_3_2))), Relation::Equal, 1.0).consistency());
    let zero = report(&model(2, designed)).map_or(f64::NAN, |found| {
        found.roots.iter().map(|root| libm::hypot(root.re, root.im)).fold(f64::INFINITY, f64::min)
    });
    let name = "2 flows against each other: the least root, by size; 0 is none that brings shares together";
    trial.check(Check::exact(name, "1/s", zero, Relation::Above, 1.0).note(SPLITS));
    Ok(())
}

/// Runs the experiment `hetflow/lemma3.3`.
pub fn lemma_3_3(trial: &mut Trial) -> Result<(), Failure> {
    // With sigma = 10 ms and a period of 1 ms, only the integral of ((t - sigma) / sigma)^3 remains.
    let plain = Parameters { gain: 1.0, ..parameters(1500.0) };
    let [printed, corrected] = required_buffer(&plain, 1.0, 1.0, 0.0, 1e-3);
    let steps = 100_000;
    let middle = |step: i32| 1e-3 * (f64::from(step) + 0.5) / f64::from(steps);
    let sum: f64 = (0..steps).map(|step| libm::pow((middle(step) - 10e-3) / 10e-3, 3.0)).sum();
    let integral = sum * 1e-3 / f64::from(steps);
    let name = "(3.21) over a cycle of 1 ms: the integral, as printed";
    trial.check(
        Check::new(name, "s", printed, Relation::Equal, integral, 1e-9)
            .note("-3 T^3 sigma is printed for -4 T^3 sigma"),
    );
    trial
        .check(Check::new("the same with -4 T^3 sigma", "s", corrected, Relation::Equal, integral, 1e-9).consistency());
    // With the parameters of table 3.2 and the largest rate cut, the recovery adds a negative amount to the needed
    // buffer.
    let [_, first] = required_buffer(&parameters(1500.0), 64.0, LINK, 0.0, 80e-6 + TAU);
    let name = "what the recovery adds to the buffer, N R^ = C: nothing, as rates begin below R^";
    trial.check(Check::exact(name, "bits", first, Relation::Below, 0.0).consistency());
    Ok(())
}
