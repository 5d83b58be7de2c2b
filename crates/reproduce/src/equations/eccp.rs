//! ECCP equations with the parameters of table 2.1 of the thesis.

use super::track::Track;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use fluid::models::eccp::Parameters;
use fluid::models::{Bottleneck, Eccp, Flows};
use fluid::stability::{Verdict, report, thesis};
use text::lines::{Line, Panel, Scale, svg};
use text::{Layout, table};

/// Gain G_d as printed in table 2.1, and the gain with which the equations yield the printed results.
pub const GAINS: [(&str, f64); 2] = [("100/128", 100.0 / 128.0), ("1/100", 0.01)];
/// Number of flows of figure 2.9.
pub const FLOWS: f64 = 4.0;
pub const LINK: f64 = 10e9;

/// Returns the parameters of table 2.1, with `gain` as the gain G_d.
pub fn parameters(gain: f64, slope: bool) -> Parameters {
    Parameters {
        gain,
        largest_cut: 0.5,
        weight: 2.0,
        available: 0.1,
        equilibrium: 0.5,
        cycle: 1e-3,
        byte_counter: 6e6,
        additive_increase: 5e6,
        min_rate: 50e6,
        slope,
    }
}

/// Returns the model of four flows and a buffer of 1 MB with loop delay `tau`.
pub fn model_of(parameters: Parameters, tau: f64) -> Eccp {
    let flows = vec![Flows { count: 4, start: 0.0, rtt: tau, rate: LINK }];
    Eccp::new(Bottleneck { rate: LINK, buffer: 8e6 }, flows, parameters)
}

fn model(gain: f64, tau: f64, slope: bool) -> Eccp {
    model_of(parameters(gain, slope), tau)
}

/// Runs the experiment `eccp/lemma2.1`.
pub fn lemma_2_1(trial: &mut Trial) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (name, gain) in GAINS {
        let lemma = thesis::Lemma21::of(&parameters(gain, true), FLOWS);
        let terms = [lemma.printed, lemma.corrected, lemma.damping, lemma.inertia];
        let limits = [lemma.printed_limit(), lemma.corrected_limit()];
        rows.push(
            std::iter::once(name.to_owned())
                .chain(terms.iter().chain(&limits).map(|term| format!("{term:.4}")))
                .collect(),
        );
    }
    trial.show("  terms of 2.18 in T: the first as printed and corrected, the second, the third; the limits\n");
    trial.show(&table(
        &["G_d", "printed", "corrected", "second", "third", "limit printed", "corrected"],
        &rows,
        1,
        Layout::Fixed,
        2,
    ));
    let [table_2_1, hundredth] = GAINS.map(|(_, gain)| thesis::Lemma21::of(&parameters(gain, true), FLOWS));
    let name = "limit of tau / T by table 2.1";
    trial.check(
        Check::new(name, "T", table_2_1.printed_limit(), Relation::Equal, 1.482, 0.001)
            .note("1.482 follows from (2.18) as printed with G_d = 1/100, not from the 100/128 of table 2.1"),
    );
    trial.check(Check::new("the same with G_d = 1/100", "T", hundredth.printed_limit(), Relation::Equal, 1.482, 0.001));
    let name = "limit by table 2.1 with the sign of (A I-12) corrected";
    trial.check(Check::new(name, "T", table_2_1.corrected_limit(), Relation::Equal, 2.032, 0.001).consistency());
    // Characteristic polynomial of the lemma's second-order approximation: the system is stable if both roots have
    // negative real parts.
    let right = |gain: f64| {
        let ratios = (1..=48).map(|step| 0.1 * f64::from(step));
        let stable = ratios.filter(|&ratio| {
            thesis::second_order_roots(&parameters(gain, true), FLOWS, ratio).iter().all(|root| root.0 < 0.0)
        });
        stable.count() as f64
    };
    let name = "delays up to 4.8 T at which the second-order model (A I-6) is a stable node, G_d = 100/128";
    trial.check(Check::exact(name, "of 48", right(100.0 / 128.0), Relation::Above, 0.0).note(
        "(A I-21) turns an inequality around: with a < 0 and c > 0 the product of the roots is negative, \
         and one is positive",
    ));
    // Stability limit of the delay differential equation itself, without the Taylor approximation.
    for (name, gain) in GAINS {
        let radius =
            report(&model(gain, 300e-6, true)).ok().and_then(|result| result.neutral_radius).unwrap_or(f64::NAN);
        let expected = 2.0 * gain * parameters(gain, true).zeta(FLOWS);
        let name = format!("G_d = {name}: weight of the past slope in (A I-2), w Gd zeta");
        trial.check(Check::new(name, "1", radius, Relation::Equal, expected, 1e-4 * expected).consistency());
    }
    let stable = |gain: f64, slope: bool| {
        let verdict = report(&model(gain, 40e-6, slope)).map(|result| result.verdict);
        f64::from(u8::from(verdict == Ok(Verdict::Stable)))
    };
    let name = "table 2.1, tau = 40 us: the linear equation (A I-2) is stable";
    trial.check(Check::exact(name, "holds", stable(100.0 / 128.0, true), Relation::Equal, 1.0).note(
        "it is neutral with a weight of 63.3 > 1: unstable for every delay; what keeps ECCP in bounds are its clamps",
    ));
    let name = "G_d = 1/100, tau = 40 us, the difference of (2.6) for the slope of (2.11): stable";
    trial.check(Check::exact(name, "holds", stable(0.01, false), Relation::Equal, 1.0));
    Ok(())
}

/// Runs the experiment `eccp/lemma2.2`.
pub fn lemma_2_2(trial: &mut Trial) -> Result<(), Failure> {
    let kb = |cycle: f64| thesis::least_byte_counter(LINK, FLOWS, cycle, 40e-6) / 8e3;
    let name = "least byte counter by table 2.1, T = 1 ms between trains";
    trial.check(
        Check::new(name, "KB", kb(1e-3), Relation::Equal, 500.0, 0.5)
            .note("500 KB needs T + 2 tau = 3.2 ms, about the time that a train of mean rate takes"),
    );
    trial.check(
        Check::new("C (T + 2 tau) / 2 M by table 2.1, T = 1 ms", "KB", kb(1e-3), Relation::Equal, 168.75, 0.0)
            .consistency(),
    );
    trial.check(
        Check::new("the same with the rate controller's timer, T = 5 ms", "KB", kb(5e-3), Relation::Equal, 793.75, 0.0)
            .consistency(),
    );
    trial.check(
        Check::new("the same with T + 2 tau = 3.2 ms", "KB", kb(3.12e-3), Relation::Equal, 500.0, 0.001).consistency(),
    );
    Ok(())
}

/// Returns the rate at the fixed point by (2.10), in bit/s.
fn at_rest() -> f64 {
    let p = parameters(0.01, false);
    LINK / (FLOWS + p.available * p.equilibrium)
}

/// Runs the experiment `eccp/fig2.8`. If the model has no solution, its checks fail.
pub fn phase(trial: &mut Trial) -> Result<(), Failure> {
    for (name, gain) in GAINS {
        let track = Track::of(&mut model(gain, 40e-6, false), [0.25, 0.5], 1e-4);
        trial.check(Check::new(
            format!("G_d = {name}, tau = 40 us: mean rate of a flow beside its fixed point"),
            "Gbps",
            track.mean(|state| state[0]) / 1e9,
            Relation::Equal,
            at_rest() / 1e9,
            0.1 * at_rest() / 1e9,
        ));
        let slope = |pair: &[(f64, Vec<f64>)]| {
            let (span, rise) = (pair[1].0 - pair[0].0, pair[1].1[0] - pair[0].1[0]);
            (pair[0].1[0] / 1e9, rise / span / 1e12)
        };
        let portrait = track.rows.windows(2).map(slope).collect();
        let (rate, slope) = (Line::curve("rate", track.curve(0, 1e9)), Line::curve("slope", portrait));
        let panels = [
            Panel { x: "time, ms", y: "rate, Gbps", scale: Scale::Linear, lines: vec![rate] },
            Panel { x: "rate, Gbps", y: "slope, Gbps/ms", scale: Scale::Linear, lines: vec![slope] },
        ];
        let file = format!("eccp-fig2.8-{}", name.replace('/', "-"));
        trial.plots.push((file, svg(&format!("ECCP, G_d = {name}, tau = 40 us"), &panels)));
    }
    Ok(())
}
