//! HetFlow figures computed from the equations, with the parameters of table 3.2 of the thesis.

use super::hetflow_packets;
use super::track::Track;
use crate::check::{Check, Relation};
use crate::failure::Failure;
use crate::trial::Trial;
use fluid::models::hetflow::Parameters;
use fluid::models::{Bottleneck, Flows, HetFlow, Model};
use fluid::solver::{Now, Past};
use text::lines::{Line, Panel, Scale, svg};
use text::{Layout, table};

/// Link rate, in bit/s.
pub const LINK: f64 = 10e9;
/// Loop delay tau, in s.
pub const TAU: f64 = 10e-6;

/// Returns the parameters of table 3.2, with `scaling` as the scaling factor.
pub fn parameters(scaling: f64) -> Parameters {
    Parameters {
        gain: 1.0 / 128.0,
        scaling,
        timer: 3e-3,
        byte_counter: 8e5,
        recovery: 10e-3,
        quantum: 1.0,
        slope_age: 1.0,
        min_rate: 10e6,
    }
}

/// Returns the model of `count` flows that start simultaneously with a total rate of 80 % of the link rate.
pub fn model(count: u32, parameters: Parameters) -> HetFlow {
    let flows = vec![Flows { count, start: 0.0, rtt: TAU, rate: 0.8 * LINK / f64::from(count) }];
    HetFlow::new(Bottleneck { rate: LINK, buffer: 8e6 }, flows, parameters)
}

/// Runs the experiment `hetflow/fig3.5`. If the model has no solution, its checks fail.
pub fn cubic(trial: &mut Trial) -> Result<(), Failure> {
    // A single flow with a rate far below the link rate recovers by (3.6) from its initial rate R^ with Fb^ = 64: the
    // rate follows a cubic function of time with a plateau.
    let p = parameters(1500.0);
    let rate = 2e9;
    let flows = vec![Flows { count: 1, start: 0.0, rtt: TAU, rate }];
    let mut flow = HetFlow::new(Bottleneck { rate: LINK, buffer: 8e6 }, flows, p);
    let track = Track::of(&mut flow, [0.0, 2.0 * p.recovery], p.recovery / 50.0);
    let by_3_6 = |since: f64| {
        let share = (since - p.recovery) / p.recovery;
        rate * (1.0 + p.gain * 64.0 * share * share * share)
    };
    // The flow starts at the time sigma (the recovery time) after its last notification.
    let off = track.rows.iter().map(|(time, state)| (state[0] / by_3_6(time + p.recovery) - 1.0).abs());
    let worst = off.reduce(f64::max).unwrap_or(f64::NAN);
    trial.check(
        Check::exact("solution of (3.13) off (3.6), relative, the most", "1", worst, Relation::Below, 1e-5)
            .consistency(),
    );
    for (name, since, expected) in [
        ("at the notification the rate is R^ (1 - Gd Fb)", 0.0, 0.5 * rate),
        ("sigma later it is R^", p.recovery, rate),
        ("2 sigma later it is R^ (1 + Gd Fb)", 2.0 * p.recovery, 1.5 * rate),
    ] {
        trial.check(Check::new(name, "Gbps", by_3_6(since) / 1e9, Relation::Equal, expected / 1e9, 0.0).consistency());
    }
    let curve: Vec<(f64, f64)> =
        (0..=100).map(|at| f64::from(at) * 2e-4).map(|at| (at * 1e3, by_3_6(at) / 1e9)).collect();
    let panel =
        Panel { x: "time, ms", y: "rate, Gbps", scale: Scale::Linear, lines: vec![Line::curve("(3.6)", curve)] };
    trial.plots.push(("hetflow-fig3.5".to_owned(), svg("HetFlow: recovery after one notification", &[panel])));
    hetflow_packets::recovery(trial)
}

/// Runs the experiment `hetflow/fig3.6`. If the model has no solution, its checks fail.
pub fn means(trial: &mut Trial) -> Result<(), Failure> {
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    for count in [2, 5, 10] {
        let track = Track::of(&mut model(count, parameters(1500.0)), [0.2, 0.4], 1e-4);
        let (rate, queue) = (track.mean(|state| state[0]), track.mean(|state| state[1] / 8.0));
        let fair = LINK / f64::from(count);
        rows.push(vec![count.to_string(), format!("{:.3}", rate / 1e9), format!("{queue:.0}")]);
        let name = format!("{count} flows: mean rate beside C / N");
        trial.check(Check::new(name, "Gbps", rate / 1e9, Relation::Equal, fair / 1e9, 0.1 * fair / 1e9));
        lines.push(Line::curve(format!("{count} flows"), track.curve(0, 1e9)));
    }
    trial.show("  the fluid alone: mean rate in Gbps and mean queue in B\n");
    trial.show(&table(&["flows", "rate", "queue"], &rows, 0, Layout::Fixed, 2));
    // Without the quantum of the feedback, as in the printed equations, the rate keeps the value that it has after the
    // last notification.
    let mut printed = model(4, Parameters { quantum: 0.0, ..parameters(1500.0) });
    let track = Track::of(&mut printed, [0.1, 0.2], 0.05);
    let moved = match &track.rows[..] {
        [_, _, middle, .., last] => (last.1[0] - middle.1[0]).abs(),
        _ => f64::NAN,
    };
    let name = "as printed, without a quantum, 4 flows: what a rate moves from 0.1 to 0.2 s";
    trial.check(Check::exact(name, "bps", moved, Relation::Above, 0.0).note(
        "(3.11) keeps the feedback of the last instant of the decrease, which is 0, and (3.12) then has slope 0 \
         for ever",
    ));
    hetflow_packets::means(trial)?;
    let panel = Panel { x: "time, ms", y: "rate of a flow, Gbps", scale: Scale::Linear, lines };
    trial.plots.push(("hetflow-fig3.6".to_owned(), svg("HetFlow as a fluid", &[panel])));
    Ok(())
}

/// History in which the rate has always had this value.
struct Steady(f64);

impl Past for Steady {
    fn value(&self, _: usize, _: usize) -> f64 {
        self.0
    }
    fn slope(&self, _: usize, _: usize) -> f64 {
        0.0
    }
}

/// Returns the time derivative of the rate in the decrease phase, for flows whose rate has been `rate` at all earlier
/// times.
fn slope_at(model: &dyn Model, rate: f64) -> f64 {
    let mut slopes = [0.0; 2];
    let state = [rate, 0.0];
    model.derivative(&Now { time: 0.0, state: &state, modes: &[true], past: &Steady(rate) }, &mut slopes);
    slopes[0]
}

/// Runs the experiment `hetflow/fig3.7`.
pub fn portrait(trial: &mut Trial) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for count in [2u32, 5, 10] {
        let flows = vec![Flows { count, start: 0.0, rtt: TAU, rate: LINK / f64::from(count) }];
        let decrease = model(count, parameters(1500.0)).with_flows(flows);
        let fair = LINK / f64::from(count);
        let (mut low, mut high) = (0.9 * fair, 1.1 * fair);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if slope_at(&*decrease, middle) > 0.0 { low = middle } else { high = middle }
        }
        let name = format!("{count} flows: rate at which R' crosses 0");
        trial.check(Check::new(name, "Gbps", high / 1e9, Relation::Equal, fair / 1e9, 1e-6).consistency());
        // Either side of the figure: flows come to the fixed point from above it and from below it.
        for (side, start) in [("above", 1.1), ("below", 0.5)] {
            let flows = vec![Flows { count, start: 0.0, rtt: TAU, rate: start * fair }];
            let mut solved = model(count, parameters(1500.0)).with_flows(flows);
            let rate = Track::of(&mut *solved, [0.2, 0.4], 1e-4).mean(|state| state[0]);
            let name = format!("{count} flows that start {side} C / N: mean rate from 0.2 to 0.4 s");
            let check = Check::new(name, "Gbps", rate / 1e9, Relation::Equal, fair / 1e9, 0.1 * fair / 1e9);
            trial.check(check.note("a tenth, as for the fluid of figure 3.6"));
        }
        let point = |at: i32| {
            let rate = fair * (1.0 + 0.0004 * f64::from(at));
            (rate / 1e9, -slope_at(&*decrease, rate) / 1e12)
        };
        lines.push(Line::curve(format!("{count} flows"), (0..=100).map(point).collect()));
    }
    let panel = Panel { x: "rate, Gbps", y: "-R', Gbps a ms", scale: Scale::Linear, lines };
    trial.plots.push(("hetflow-fig3.7".to_owned(), svg("HetFlow: decrease beyond the fixed point", &[panel])));
    Ok(())
}
