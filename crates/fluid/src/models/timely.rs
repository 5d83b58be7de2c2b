//! TIMELY and patched TIMELY as fluid models: Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and
//! TIMELY, CoNEXT 2016, section 4. The letters of equations are this file's.
//!
//! ```text
//!  (a) q'   = sum of R - C
//!  (b) g'   = a / tau* * (-g + (q(t - tau') - q(t - tau' - tau*)) / (C D_minRTT))
//!  (c) R'   = d / tau*                                          if q(t - tau') < C T_low, otherwise
//!             -b / tau* (1 - C T_high / q(t - tau')) R          if q(t - tau') > C T_high, otherwise
//!             d / tau* if g <= 0,  -g b / tau* R if g > 0
//!  (d) tau* = max(Seg / R, D_minRTT)
//!  (e) tau' = q / C + MTU / C + D_prop
//!  (f) R'   = (1 - w) d / tau* - w b / tau* R (q(t - tau') - q_ref) / q_ref   patched, between the thresholds
//!             q_ref = C T_low
//!  (g) w    = 0 up to g = -1/4, 1 from g = 1/4, 2 g + 1/2 between
//! ```
//!
//! With (c) there is no fixed point; or, if R' is defined as 0 at g = 0, there are infinitely many, because any rates
//! with the sum C are constant. With (f) there is one fixed point, q* = q_ref (1 + N d / (b C)).

use super::shared::{Bottleneck, FixedPoint, Flows, Kind, Model, Shared, model, system};
use crate::solver::{Delay, Now, System, Variable};

/// Parameters of each flow's control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// EWMA weight alpha of a new RTT difference in the gradient, above 0, up to 1.
    pub ewma: f64,
    /// Multiplicative decrease factor beta, above 0, below 1.
    pub beta: f64,
    /// Additive increase step delta, in bit/s.
    pub additive_increase: f64,
    /// RTT threshold T_low, in s: below it the rate rises, whatever the gradient.
    pub t_low: f64,
    /// RTT threshold T_high, in s: above it the rate falls, whatever the gradient.
    pub t_high: f64,
    /// Minimum RTT D_minRTT, in s, above 0; RTT differences are divided by it.
    pub min_rtt: f64,
    /// Segment size Seg: number of bits sent between two RTT samples, above 0.
    pub segment: f64,
    /// Packet size on the wire, in bits.
    pub packet: f64,
    /// Minimum rate, in bit/s, above 0.
    pub min_rate: f64,
    /// Set for patched TIMELY: equation (f) instead of (c) while the RTT is between the thresholds.
    pub patched: bool,
}

/// Number of delays of a group of flows. The delays are tau' and tau' + tau*.
const DELAYS: usize = 2;
/// Number of switches of a group of flows: queueing delay above T_low and above T_high, gradient above 0, above 1/4 and
/// below -1/4.
const SWITCHES: usize = 5;

/// TIMELY flows over one queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Timely {
    shared: Shared,
    parameters: Parameters,
}

impl Timely {
    /// Creates flows with their initial rates and zero gradient.
    pub fn new(bottleneck: Bottleneck, flows: Vec<Flows>, parameters: Parameters) -> Timely {
        let most = parameters.segment / parameters.min_rate;
        let kind = |shared: &Shared, at: usize, flows: &Flows| {
            let rate = shared.rate_variable(format!("rate_{at}_bps"), parameters.min_rate);
            let gradient = Variable::new(format!("gradient_{at}"), 1.0);
            let longest = (bottleneck.buffer + parameters.packet) / bottleneck.rate + flows.rtt;
            let delays = [longest, longest + most.max(parameters.min_rtt)];
            let delays = delays.map(|longest| Delay::Varying { longest }).into();
            Kind { variables: [(rate, flows.rate), (gradient, 0.0)], delays }
        };
        Timely { shared: Shared::new(bottleneck, flows, bottleneck.rate * parameters.t_low, kind), parameters }
    }

    /// Returns tau*, the time between two RTT samples, by equation (d).
    fn interval(&self, rate: f64) -> f64 {
        (self.parameters.segment / rate).max(self.parameters.min_rtt)
    }

    fn thresholds(&self) -> [f64; 2] {
        [self.parameters.t_low, self.parameters.t_high].map(|time| time * self.shared.bottleneck.rate)
    }

    /// Returns R' by equation (c) or (f). The states of the switches select the case, so that R' is smooth within a
    /// step.
    fn climb(&self, rate: f64, gradient: f64, queue: f64, modes: &[bool]) -> f64 {
        let Parameters { beta, additive_increase, patched, .. } = self.parameters;
        let [low, high] = self.thresholds();
        let &[above_low, above_high, rising, steep, falling] = modes else { return 0.0 };
        let change = if !above_low {
            additive_increase
        } else if above_high {
            -beta * (1.0 - high / queue) * rate
        } else if patched {
            let weight = match (steep, falling) {
                (true, _) => 1.0,
                (_, true) => 0.0,
                _ => 2.0 * gradient + 0.5,
            };
            (1.0 - weight) * additive_increase - weight * beta * rate * (queue - low) / low
        } else if rising {
            -gradient * beta * rate
        } else {
            additive_increase
        };
        change / self.interval(rate)
    }
}

impl System for Timely {
    system!();

    /// Returns tau' by equation (e) for an even index, and tau' + tau* (equation (d)) for an odd one.
    fn delay(&self, index: usize, _: f64, state: &[f64]) -> f64 {
        let flows = index / DELAYS;
        let feedback = (state[self.queue()] + self.parameters.packet) / self.shared.bottleneck.rate;
        let feedback = feedback + self.shared.flows[flows].rtt;
        if index.is_multiple_of(DELAYS) { feedback } else { feedback + self.interval(state[self.rate(flows)]) }
    }

    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
        let (queue, link) = (self.queue(), self.shared.bottleneck.rate);
        self.shared.slopes(now, slopes, |at, own| {
            let state = self.shared.own(at, now.state);
            let (rate, gradient) = (state[0], state[1]);
            let (seen, before) = (now.past.value(DELAYS * at, queue), now.past.value(DELAYS * at + 1, queue));
            let modes = &now.modes[SWITCHES * at..][..SWITCHES];
            own[0] = self.climb(rate, gradient, seen, modes);
            let difference = (seen - before) / (link * self.parameters.min_rtt);
            own[1] = self.parameters.ewma / self.interval(rate) * (difference - gradient);
        });
    }

    fn switches(&self) -> usize {
        SWITCHES * self.shared.flows.len()
    }

    fn switch(&self, index: usize, now: &Now<'_>) -> f64 {
        let (flows, [low, high]) = (index / SWITCHES, self.thresholds());
        let gradient = now.state[self.rate(flows) + 1];
        let seen = || now.past.value(DELAYS * flows, self.queue());
        match index % SWITCHES {
            0 => seen() / low - 1.0,
            1 => seen() / high - 1.0,
            2 => gradient,
            3 => gradient - 0.25,
            _ => -0.25 - gradient,
        }
    }
}

impl Model for Timely {
    model!();

    fn fixed_point(&self) -> Result<FixedPoint, String> {
        if !self.parameters.patched {
            return Err(
                "TIMELY has no fixed point (ECN or Delay, section 4): with gradients of 0 rates still rise".to_owned()
            );
        }
        let (rate, [low, high]) = (self.shared.fair_share(), self.thresholds());
        let queue = low * (1.0 + self.parameters.additive_increase / (self.parameters.beta * rate));
        if queue > high {
            let bytes = queue / 8.0;
            return Err(format!("the queue would rest at {bytes:.0} B, above the threshold of t_high"));
        }
        let state = self.shared.alike(&[rate, 0.0], queue);
        let modes = self.shared.flows.iter().flat_map(|_| [true, false, false, false, false]).collect();
        let moving = (0..state.len()).collect();
        Ok(FixedPoint { state, modes, moving })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    fn parameters(patched: bool) -> Parameters {
        Parameters {
            ewma: 0.875,
            beta: if patched { 0.008 } else { 0.8 },
            additive_increase: 10e6,
            t_low: 50e-6,
            t_high: 500e-6,
            min_rtt: 20e-6,
            segment: 16.0 * 8e3,
            packet: 8e3,
            min_rate: 10e6,
            patched,
        }
    }

    fn model(patched: bool, rates: &[f64]) -> Timely {
        let bottleneck = Bottleneck { rate: 10e9, buffer: 20e6 };
        let flows = rates.iter().map(|&rate| Flows { count: 1, start: 0.0, rtt: 4e-6, rate }).collect();
        Timely::new(bottleneck, flows, parameters(patched))
    }

    #[test]
    fn the_patched_fixed_point_rests_where_its_closed_form_is() {
        let model = model(true, &[7e9, 3e9]);
        let model = model.with_flows(model.shared.flows.clone());
        testing::rests(&*model);
        // q* = C T_low (1 + N d / (b C)) with C = 10 Gbps, T_low = 50 us, N = 2, d = 10 Mbps, b = 0.008: 500 kbit *
        // 1.25 = 625 kbit.
        assert!((model.fixed_point().unwrap().state[4] - 625e3).abs() < 1e-6);
    }

    #[test]
    fn patched_flows_meet_at_the_fair_share() {
        let (rates, queue, last) = testing::means(&mut model(true, &[7e9, 3e9]), 0.2);
        assert!((rates[0] / rates[1] - 1.0).abs() < 0.02, "{rates:?}");
        assert!((last[0] / 5e9 - 1.0).abs() < 0.02 && (queue / 625e3 - 1.0).abs() < 0.05, "{last:?} {queue}");
    }

    /// ECN or Delay, section 4: two unpatched flows that start at 7 and 3 Gbps do not converge; the ratio of their
    /// mean rates stays above 1.2.
    #[test]
    fn unpatched_flows_do_not_meet() {
        assert!(model(false, &[7e9, 3e9]).fixed_point().is_err());
        let (rates, ..) = testing::means(&mut model(false, &[7e9, 3e9]), 0.05);
        assert!(rates[0] / rates[1] > 1.2, "{rates:?}");
    }
}
