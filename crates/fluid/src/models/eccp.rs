//! ECCP as a fluid model: chapter 2 of the thesis cited in [`super::hetflow`], with its equation numbers.
//!
//! ```text
//!  (2.9)  AvBw = C - sum of R
//!  (2.10) A_r  = AvBw / (AvT R)
//!  (2.11) Fb   = A_r - A_eq + w T A_r'(t - T)         slope of one control cycle before: a neutral equation
//!  (2.6)  Fb   = A_r - A_eq + w (A_r - A_r(t - T))    difference as a sender computes it: a retarded equation
//!  (2.12) R'   = (Gd / T) R Fb(t - tau)               if Fb(t - tau) < 0
//!              = (TR - R) / (2 T_BC)                  otherwise, T_BC = BC / R
//!  (2.8)  TR grows by R_AI each T_BC / 2              after five cycles
//! ```
//!
//! A rate cut sets the target TR to the rate before the cut. The continuous decrease of this model has no such rate,
//! so TR is set to the rate one control cycle before the decrease ends.

use super::shared::{Bottleneck, FixedPoint, Flows, Kind, Model, Shared, model, system};
use crate::solver::{Delay, Now, Past, System, Variable};

/// Number of fast recovery cycles.
const RECOVERY_CYCLES: f64 = 5.0;

/// Parameters of each flow's control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Gd, relative rate decrease per unit of feedback, above 0.
    pub gain: f64,
    /// Largest relative rate cut, above 0, below 1: it is a lower bound of Fb, -`largest_cut` / Gd.
    pub largest_cut: f64,
    /// w, weight of the change of A_r in Fb.
    pub weight: f64,
    /// AvT, available bandwidth to be left on the path, as a share of the rate R of a flow, above 0, below 1.
    pub available: f64,
    /// A_eq, value of the available-bandwidth ratio A_r = AvBw / (AvT R) at equilibrium, 0 to 1.
    pub equilibrium: f64,
    /// T, control cycle: time between two probe trains, in s, above 0.
    pub cycle: f64,
    /// BC, stage length of the byte counter, in bits, above 0.
    pub byte_counter: f64,
    /// R_AI, additive increase of the target rate, in bit/s.
    pub additive_increase: f64,
    /// Minimum rate, in bit/s, above 0.
    pub min_rate: f64,
    /// Set if Fb uses the slope of A_r, as in (2.11), instead of the difference, as in (2.6).
    pub slope: bool,
}

impl Parameters {
    /// Returns zeta = M / AvT + A_eq, for M = `flows`.
    pub fn zeta(&self, flows: f64) -> f64 {
        flows / self.available + self.equilibrium
    }
}

/// Number of delays of a group of flows. The delays are tau, T + tau and T.
const DELAYS: usize = 3;
/// Number of switches of a group of flows: one for rate increase, one for the end of fast recovery.
const SWITCHES: usize = 2;

/// ECCP flows over one link.
#[derive(Clone, Debug, PartialEq)]
pub struct Eccp {
    shared: Shared,
    parameters: Parameters,
}

impl Eccp {
    /// Creates flows with their initial rates, which are also their targets.
    pub fn new(bottleneck: Bottleneck, flows: Vec<Flows>, parameters: Parameters) -> Eccp {
        let kind = |shared: &Shared, at: usize, flows: &Flows| {
            let rate = |name: &str| shared.rate_variable(format!("{name}_{at}_bps"), parameters.min_rate);
            let cycles = Variable::new(format!("cycles_{at}"), 1.0);
            let (tau, cycle) = (flows.rtt, parameters.cycle);
            let variables = [(rate("rate"), flows.rate), (rate("target"), flows.rate), (cycles, 0.0)];
            Kind { variables, delays: [tau, cycle + tau, cycle].map(Delay::Constant).into() }
        };
        Eccp { shared: Shared::new(bottleneck, flows, bottleneck.rate * 10e-6, kind), parameters }
    }

    /// Returns A_r of this group of flows by equation (2.10), at the delay of the given kind.
    fn available(&self, flows: usize, kind_of_delay: usize, past: &dyn Past) -> f64 {
        let delay = DELAYS * flows + kind_of_delay;
        let total = self.shared.total(|at| past.value(delay, self.rate(at)));
        (self.shared.bottleneck.rate - total) / (self.parameters.available * past.value(delay, self.rate(flows)))
    }

    /// Returns the time derivative of A_r of this group of flows by equation (2.10), at the delay of the given kind.
    fn available_slope(&self, flows: usize, kind_of_delay: usize, past: &dyn Past) -> f64 {
        let (delay, own) = (DELAYS * flows + kind_of_delay, self.rate(flows));
        let total = self.shared.total(|at| past.slope(delay, self.rate(at)));
        let rate = past.value(delay, own);
        -total / (self.parameters.available * rate)
            - self.available(flows, kind_of_delay, past) * past.slope(delay, own) / rate
    }

    /// Returns Fb by equation (2.11) or (2.6), delayed by tau.
    fn feedback(&self, flows: usize, past: &dyn Past) -> f64 {
        let Parameters { weight, equilibrium, cycle, slope, largest_cut, gain, .. } = self.parameters;
        let now = self.available(flows, 0, past);
        let change = match slope {
            true => cycle * self.available_slope(flows, 1, past),
            false => now - self.available(flows, 1, past),
        };
        (now - equilibrium + weight * change).max(-largest_cut / gain)
    }
}

impl System for Eccp {
    system!();

    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
        let Parameters { gain, cycle, byte_counter, additive_increase, .. } = self.parameters;
        self.shared.slopes(now, slopes, |at, own| {
            let state = self.shared.own(at, now.state);
            let (rate, target) = (state[0], state[1]);
            let (increases, beyond) = (now.modes[SWITCHES * at], now.modes[SWITCHES * at + 1]);
            if !increases {
                own[0] = gain / cycle * rate * self.feedback(at, now.past);
                return;
            }
            let cycles = rate / byte_counter * if beyond { 2.0 } else { 1.0 };
            own[0] = (target - rate) / 2.0 * cycles;
            own[1] = if beyond { additive_increase * cycles } else { 0.0 };
            own[2] = cycles;
        });
    }

    fn is_neutral(&self) -> bool {
        self.parameters.slope
    }

    fn switches(&self) -> usize {
        SWITCHES * self.shared.flows.len()
    }

    fn switch(&self, index: usize, now: &Now<'_>) -> f64 {
        let flows = index / SWITCHES;
        match index % SWITCHES {
            0 if self.shared.has_begun(flows) => self.feedback(flows, now.past),
            0 => -1.0,
            _ => now.state[self.rate(flows) + 2] - RECOVERY_CYCLES,
        }
    }

    fn switched(&mut self, index: usize, on: bool, _: f64, state: &mut [f64], past: &dyn Past) {
        let flows = index / SWITCHES;
        if index.is_multiple_of(SWITCHES) && on {
            let rate = self.rate(flows);
            let before = past.value(DELAYS * flows + 2, rate);
            state[rate + 1] = before.max(state[rate]);
            state[rate + 2] = 0.0;
        }
    }
}

impl Model for Eccp {
    model!();

    /// At the fixed point A_r = A_eq, which gives the rate by equation (2.10). Only rates react to disturbances:
    /// targets and recovery cycles are constant during a rate decrease, and the queue is empty.
    fn fixed_point(&self) -> Result<FixedPoint, String> {
        let rate = self.shared.bottleneck.rate
            / (self.shared.count() + self.parameters.available * self.parameters.equilibrium);
        let kinds = self.shared.flows.len();
        let state = self.shared.alike(&[rate, rate, 0.0], 0.0);
        let moving = (0..kinds).map(|at| self.rate(at)).collect();
        Ok(FixedPoint { state, modes: vec![false; SWITCHES * kinds], moving })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    /// Parameters of table 2.1 of the thesis, except for the gain.
    fn parameters(gain: f64) -> Parameters {
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
            slope: false,
        }
    }

    fn model(gain: f64, tau: f64) -> Eccp {
        let flows = vec![Flows { count: 4, start: 0.0, rtt: tau, rate: 10e9 }];
        Eccp::new(Bottleneck { rate: 10e9, buffer: 8e6 }, flows, parameters(gain))
    }

    #[test]
    fn the_fixed_point_is_that_of_equation_2_10() {
        let model = model(0.01, 40e-6);
        let model = model.with_flows(model.shared.flows.clone());
        testing::rests(&*model);
        assert!((model.fixed_point().unwrap().state[0] / 2.469_136e9 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn rates_stay_within_the_link_and_the_mean_is_near_the_equilibrium() {
        let (rates, ..) = testing::means(&mut model(0.01, 40e-6), 0.5);
        assert!((rates[0] / 2.469e9 - 1.0).abs() < 0.1, "{rates:?}");
    }

    #[test]
    fn the_neutral_form_has_the_same_fixed_point() {
        let mut neutral = model(0.01, 40e-6);
        neutral.parameters.slope = true;
        testing::rests(&*neutral.with_flows(neutral.shared.flows.clone()));
        let (rates, ..) = testing::means(&mut neutral, 0.2);
        assert!((rates[0] / 2.469e9 - 1.0).abs() < 0.2, "{rates:?}");
    }
}
