//! HetFlow as a fluid model: Bahnasy, Lossless Ethernet and its Applications (thesis, ETS Montreal, 2018), chapter 3,
//! with its equation numbers.
//!
//! ```text
//!  (3.3)  eta  = min(T, BC_r / R)                             printed with an inverted fraction
//!  (3.8)  owd' = (sum of R - C) / C                           while the queue is not empty
//!  (3.7)  Fb   = Kc owd'(t - eta)
//!  (3.13) R'   = -(Gd / eta) Fb(t - tau) R                    if Fb is at least a quantum
//!              = 3 Gd Fb^ (t - t^ - sigma)^2 / sigma^3 R^     otherwise: the slope of (3.6)
//!  (3.6)  R    = R^ (1 + Gd Fb^ ((t - t^ - sigma) / sigma)^3)
//! ```
//!
//! R^, Fb^ and t^ are the rate, the feedback and the time of the last notification. A continuous Fb is 0 at the end
//! of the decrease, and with Fb^ = 0 the rate would never change again. Therefore notifications require an Fb of at
//! least a quantum, as in QCN, and Fb^ is then the quantum. With a quantum of 0 the model is the thesis as printed.
//! In (3.7) the delay slope is used one sampling interval eta after its measurement; `slope_age` is a factor for this
//! delay.

use super::shared::{Bottleneck, FixedPoint, Flows, Kind, Model, Shared, model, system};
use crate::solver::{Delay, Now, Past, System, Variable};

/// Upper bound of the feedback Fb, 64 as in QCN.
pub const MOST_FEEDBACK: f64 = 64.0;

/// Parameters of each flow's control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Gd, relative rate decrease per unit of feedback. Gd times `MOST_FEEDBACK` is the largest rate cut, below 1.
    pub gain: f64,
    /// Kc, ratio of the feedback to the slope of the one-way delay.
    pub scaling: f64,
    /// T, maximum time between two samples, in s, above 0.
    pub timer: f64,
    /// BC_r, number of bits received between two samples, above 0.
    pub byte_counter: f64,
    /// sigma, duration of the recovery, in s, above 0.
    pub recovery: f64,
    /// Quantum: minimum feedback for which the receiver sends a notification.
    pub quantum: f64,
    /// Age of a delay slope when it takes effect, in multiples of the sampling interval, 0 to 1. It is 1 in (3.7). A
    /// mean over the sampling interval, computed at its end, has the age 1/2.
    pub slope_age: f64,
    /// Minimum rate, in bit/s, above 0.
    pub min_rate: f64,
}

/// Parameters of the cubic increase (3.6).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Climb {
    /// t^, time of the last notification: the start of the increase.
    since: f64,
    /// R^, rate at the last notification.
    rate: f64,
    /// Fb^, feedback of the last notification.
    feedback: f64,
}

/// HetFlow flows over one queue.
#[derive(Clone, Debug, PartialEq)]
pub struct HetFlow {
    shared: Shared,
    parameters: Parameters,
    climbs: Vec<Climb>,
}

impl HetFlow {
    /// Creates flows with their initial rates in the increase phase, as if they had just recovered from the largest
    /// cut.
    pub fn new(bottleneck: Bottleneck, flows: Vec<Flows>, parameters: Parameters) -> HetFlow {
        let kind = |shared: &Shared, at: usize, flows: &Flows| {
            let rate = shared.rate_variable(format!("rate_{at}_bps"), parameters.min_rate);
            let delay = Delay::Varying { longest: parameters.timer + flows.rtt };
            Kind { variables: [(rate, flows.rate)], delays: vec![delay] }
        };
        let shared = Shared::new(bottleneck, flows, bottleneck.rate * 10e-6, kind);
        let climb = |flows: &Flows| Climb {
            since: flows.start - parameters.recovery,
            rate: flows.rate,
            feedback: MOST_FEEDBACK,
        };
        let climbs = shared.flows.iter().map(climb).collect();
        HetFlow { shared, parameters, climbs }
    }

    /// Returns the sampling interval eta by equation (3.3).
    fn sampling(&self, rate: f64) -> f64 {
        (self.parameters.byte_counter / rate).min(self.parameters.timer)
    }

    /// Returns Fb by equations (3.7) and (3.9), delayed by tau.
    fn feedback(&self, flows: usize, past: &dyn Past) -> f64 {
        let total = self.shared.total(|at| past.value(flows, self.rate(at)));
        (self.parameters.scaling * (total / self.shared.bottleneck.rate - 1.0)).min(MOST_FEEDBACK)
    }
}

impl System for HetFlow {
    system!();

    fn delay(&self, index: usize, _: f64, state: &[f64]) -> f64 {
        self.parameters.slope_age * self.sampling(state[self.rate(index)]) + self.shared.flows[index].rtt
    }

    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
        let Parameters { gain, recovery, .. } = self.parameters;
        self.shared.slopes(now, slopes, |at, own| {
            let (rate, climb) = (now.state[at], self.climbs[at]);
            own[0] = if now.modes[at] {
                -gain / self.sampling(rate) * self.feedback(at, now.past) * rate
            } else {
                let after = now.time - climb.since - recovery;
                3.0 * gain * climb.feedback * after * after / (recovery * recovery * recovery) * climb.rate
            };
        });
    }

    /// One switch per group of flows; it is on during the decrease.
    fn switches(&self) -> usize {
        self.climbs.len()
    }

    fn switch(&self, index: usize, now: &Now<'_>) -> f64 {
        if self.shared.has_begun(index) { self.feedback(index, now.past) - self.parameters.quantum } else { -1.0 }
    }

    fn switched(&mut self, index: usize, on: bool, time: f64, state: &mut [f64], _: &dyn Past) {
        if !on {
            // The cubic of (3.6) starts at the rate after the last cut, so R^ is that rate divided by 1 - Gd Fb^.
            let feedback = self.parameters.quantum;
            let rate = state[index] / (1.0 - self.parameters.gain * feedback);
            self.climbs[index] = Climb { since: time, rate, feedback };
        }
    }
}

impl Model for HetFlow {
    model!();

    /// Lemma 3.1: at the fixed point R = C / N. The feedback depends only on the time derivative of the queue, not on
    /// its length.
    fn fixed_point(&self) -> Result<FixedPoint, String> {
        let kinds = self.climbs.len();
        let state = self.shared.alike(&[self.shared.fair_share()], 0.0);
        Ok(FixedPoint { state, modes: vec![true; kinds], moving: (0..kinds).collect() })
    }
}

/// Returns the buffer requirement of lemma 3.3 (equation 3.21), in bits: the integral of (3.20) over `cycle` = eta +
/// tau after a notification. The first value is the equation as printed, the second one uses the correct
/// antiderivative. `excess` is N R^ - C, `flows_rate` is N R^, both in bit/s.
pub fn required_buffer(parameters: &Parameters, feedback: f64, flows_rate: f64, excess: f64, cycle: f64) -> [f64; 2] {
    let sigma = parameters.recovery;
    let factor = flows_rate * parameters.gain * feedback / (4.0 * sigma * sigma * sigma);
    let quartic = |cubed: f64| {
        let (t, s) = (cycle, sigma);
        t * t * t * t - cubed * t * t * t * s + 6.0 * t * t * s * s - 4.0 * t * s * s * s
    };
    [3.0, 4.0].map(|cubed| factor * quartic(cubed) + excess * cycle)
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    fn parameters() -> Parameters {
        Parameters {
            gain: 1.0 / 128.0,
            scaling: 1500.0,
            timer: 3e-3,
            byte_counter: 8e5,
            recovery: 10e-3,
            quantum: 1.0,
            slope_age: 1.0,
            min_rate: 10e6,
        }
    }

    fn model(count: u32, share: f64, parameters: Parameters) -> HetFlow {
        let rate = share * 10e9 / f64::from(count);
        let flows = vec![Flows { count, start: 0.0, rtt: 10e-6, rate }];
        HetFlow::new(Bottleneck { rate: 10e9, buffer: 8e6 }, flows, parameters)
    }

    #[test]
    fn the_mean_rate_is_the_fair_share() {
        for count in [2, 5, 10] {
            let (rates, ..) = testing::means(&mut model(count, 0.8, parameters()), 0.4);
            assert!((rates[0] * f64::from(count) / 10e9 - 1.0).abs() < 0.1, "{count}: {rates:?}");
        }
    }

    /// Regression test: several delays reach discontinuities of the past that are closer together than the shortest
    /// step. The rates of all flows must add up to the link rate.
    #[test]
    fn flows_with_delays_of_their_own_are_solved_to_the_end() {
        let flow = |rate, rtt| Flows { count: 1, start: 0.0, rtt, rate };
        let starts = vec![flow(7e9, 10e-6), flow(1e9, 10e-6)];
        let delays = [60e-6, 100e-6, 140e-6, 180e-6].map(|rtt| flow(2e9, rtt)).to_vec();
        for flows in [starts, delays] {
            let mut model = HetFlow::new(Bottleneck { rate: 10e9, buffer: 8e6 }, flows, parameters());
            let (rates, ..) = testing::means(&mut model, 2.0);
            assert!((rates.iter().sum::<f64>() / 10e9 - 1.0).abs() < 0.02, "{rates:?}");
        }
    }

    #[test]
    fn without_a_quantum_the_rate_freezes_as_printed() {
        let mut model = model(4, 0.8, Parameters { quantum: 0.0, ..parameters() });
        let (rates, _, last) = testing::means(&mut model, 0.2);
        assert!((rates[0] / last[0] - 1.0).abs() < 1e-12, "it moves no more: {rates:?} {last:?}");
        assert!(last[0] < 2.5e9);
    }

    #[test]
    fn the_primitive_of_3_21_as_printed_and_corrected() {
        // With sigma = 10 ms and T = 1 ms, the integral of ((t - sigma) / sigma)^3 over T is -8.5725e-4 by the
        // printed equation; the correct value is -8.5975e-4.
        let plain = Parameters { gain: 1.0, ..parameters() };
        let [printed, corrected] = required_buffer(&plain, 1.0, 1.0, 0.0, 1e-3);
        assert!((printed + 8.5725e-4).abs() < 1e-9 && (corrected + 8.5975e-4).abs() < 1e-9, "{printed} {corrected}");
        let steps = 100_000;
        let middle = |step: i32| 1e-3 * (f64::from(step) + 0.5) / f64::from(steps);
        let sum: f64 = (0..steps).map(|step| libm::pow((middle(step) - 10e-3) / 10e-3, 3.0)).sum();
        assert!((corrected - sum * 1e-3 / f64::from(steps)).abs() < 1e-12);
    }
}
