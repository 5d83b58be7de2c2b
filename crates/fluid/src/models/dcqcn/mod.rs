//! DCQCN as a fluid model: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 5;
//! with the stability analysis of Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT
//! 2016, section 3. The letters of equations are this file's.
//!
//! ```text
//!  (a) p    = 0 up to K_min, then linear to p_max at K_max, then 1
//!  (b) q'   = sum of R_C - C
//!  (c) a'   = g / tau' * ((1 - (1-p)^(tau' R_C)) - a)
//!  (d) R_T' = -(R_T - R_C) / tau * (1 - (1-p)^(tau R_C))
//!             + R_AI R_C (1-p)^(F B)     p / ((1-p)^(-B) - 1)
//!             + R_AI R_C (1-p)^(F T R_C) p / ((1-p)^(-T R_C) - 1)
//!  (e) R_C' = -R_C a / (2 tau) * (1 - (1-p)^(tau R_C))
//!             + (R_T - R_C) / 2 * R_C * (p / ((1-p)^(-B) - 1) + p / ((1-p)^(-T R_C) - 1))
//! ```
//!
//! p, and R_C where it counts packets that may be marked, are delayed by tau*, the delay of the control loop. In
//! these equations R_C and R_T are in packets per second; in the code all rates are in bit/s, and
//! [`Parameters::packet`] converts between the two.

mod cycles;

use super::shared::{Bottleneck, FixedPoint, Flows, Kind, Model, Shared, model, system};
use crate::solver::{Delay, Now, System, Variable};

/// Parameters of the DCQCN control of each flow, and of the ECN marking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Weight g of a new sample in alpha, 0 to 1.
    pub gain: f64,
    /// Minimum time tau between two CNPs of a flow, in s, above 0.
    pub cnp_interval: f64,
    /// Interval tau' between two updates of alpha, in s, above 0.
    pub alpha_timer: f64,
    /// Stage length T of the increase timer, in s, above 0.
    pub increase_timer: f64,
    /// Stage length B of the byte counter, in bits, above 0.
    pub byte_counter: f64,
    /// Number F of fast recovery stages.
    pub recovery_stages: f64,
    /// Additive increase R_AI of the target rate, in bit/s.
    pub additive_increase: f64,
    /// Minimum rate, in bit/s, above 0.
    pub min_rate: f64,
    /// Packet size on the wire, in bits, above 0.
    pub packet: f64,
    /// Queue length up to which no packet is marked, in bits.
    pub k_min: f64,
    /// Queue length above which every packet is marked, in bits, more than `k_min`.
    pub k_max: f64,
    /// Marking probability at `k_max`, above 0, up to 1.
    pub p_max: f64,
    /// Set for ECN marking at enqueue, which delays the mark by the packet's queueing delay; the papers mark at
    /// dequeue.
    pub at_enqueue: bool,
    /// Set for the equations of the module `cycles`, averaged from rate cut to rate cut; not in the papers.
    pub cycles: bool,
}

/// Number of state variables of a group of flows.
const EACH: usize = 3;

/// DCQCN flows over one queue with ECN marking.
#[derive(Clone, Debug, PartialEq)]
pub struct Dcqcn {
    shared: Shared,
    parameters: Parameters,
}

/// Probability that at least one of n = `packets` is marked: 1 - (1-p)^n.
fn some(p: f64, packets: f64) -> f64 {
    -libm::expm1(packets * libm::log1p(-p))
}

/// Mean number of stages of n = `packets` that end without a mark, per packet: p / ((1-p)^(-n) - 1); 1 / n for p = 0.
fn stages(p: f64, packets: f64) -> f64 {
    if p <= 0.0 { 1.0 / packets } else { p / libm::expm1(-packets * libm::log1p(-p)) }
}

/// Probability that none of n = `packets` is marked: (1-p)^n.
fn none(p: f64, packets: f64) -> f64 {
    libm::exp(packets * libm::log1p(-p))
}

impl Dcqcn {
    /// Creates flows with their initial rates and alpha = 1.
    pub fn new(bottleneck: Bottleneck, flows: Vec<Flows>, parameters: Parameters) -> Dcqcn {
        let wait = bottleneck.buffer / bottleneck.rate;
        let kind = |shared: &Shared, at: usize, flows: &Flows| {
            let rate = |name: &str| shared.rate_variable(format!("{name}_{at}_bps"), parameters.min_rate);
            let alpha = Variable::new(format!("alpha_{at}"), 0.1).within(0.0, 1.0);
            let delay = match parameters.at_enqueue {
                true => Delay::Varying { longest: flows.rtt + wait },
                false => Delay::Constant(flows.rtt),
            };
            let variables = [(rate("rate"), flows.rate), (rate("target"), flows.rate), (alpha, 1.0)];
            Kind { variables, delays: vec![delay] }
        };
        Dcqcn { shared: Shared::new(bottleneck, flows, parameters.k_max, kind), parameters }
    }

    /// Returns the ECN marking probability p at this queue length, by equation (a).
    fn marked(&self, queue: f64) -> f64 {
        let Parameters { k_min, k_max, p_max, .. } = self.parameters;
        if queue <= k_min {
            0.0
        } else if queue <= k_max {
            p_max * (queue - k_min) / (k_max - k_min)
        } else {
            1.0
        }
    }

    /// Returns the time derivatives of rate, target rate and alpha, by equations (e), (d) and (c), or by the module
    /// `cycles` if [`Parameters::cycles`] is set.
    fn control(&self, state: [f64; EACH], rate_before: f64, p: f64) -> [f64; EACH] {
        if self.parameters.cycles {
            return cycles::control(&self.parameters, state, rate_before, p);
        }
        let (
            Parameters { gain, cnp_interval, alpha_timer, recovery_stages, additive_increase, .. },
            [rate, target, alpha],
        ) = (self.parameters, state);
        let packets = rate_before / self.parameters.packet;
        let (by_bytes, by_time) =
            (self.parameters.byte_counter / self.parameters.packet, self.parameters.increase_timer * packets);
        let cuts = some(p, cnp_interval * packets) / cnp_interval;
        let steps = [by_bytes, by_time].map(|length| packets * stages(p, length));
        let beyond = [by_bytes, by_time].map(|length| packets * stages(p, length) * none(p, recovery_stages * length));
        [
            -rate * alpha / 2.0 * cuts + (target - rate) / 2.0 * (steps[0] + steps[1]),
            -(target - rate) * cuts + additive_increase * (beyond[0] + beyond[1]),
            gain / alpha_timer * (some(p, alpha_timer * packets) - alpha),
        ]
    }

    /// Returns rate, target rate and alpha at the fixed point for the ECN marking probability p.
    fn at_rest(&self, p: f64) -> [f64; EACH] {
        let rate = self.shared.fair_share();
        if self.parameters.cycles {
            return cycles::at_rest(&self.parameters, rate, p);
        }
        let packets = rate / self.parameters.packet;
        let alpha = some(p, self.parameters.alpha_timer * packets);
        // R_C' is linear in the target rate, so two evaluations determine its zero.
        let [without, ..] = self.control([rate, rate, alpha], rate, p);
        let [with, ..] = self.control([rate, 2.0 * rate, alpha], rate, p);
        [rate, rate + rate * -without / (with - without), alpha]
    }
}

impl System for Dcqcn {
    system!();

    fn delay(&self, index: usize, _: f64, state: &[f64]) -> f64 {
        self.shared.flows[index].rtt + state[self.queue()] / self.shared.bottleneck.rate
    }

    fn derivative(&self, now: &Now<'_>, slopes: &mut [f64]) {
        self.shared.slopes(now, slopes, |at, own| {
            let p = self.marked(now.past.value(at, self.queue()));
            let state = [0, 1, 2].map(|variable| self.shared.own(at, now.state)[variable]);
            own.copy_from_slice(&self.control(state, now.past.value(at, self.rate(at)), p));
        });
    }

    /// Two switches, at the queue lengths at which equation (a) is not smooth: `k_min` (kink) and `k_max`
    /// (discontinuity).
    fn switches(&self) -> usize {
        2
    }

    fn switch(&self, index: usize, now: &Now<'_>) -> f64 {
        (now.state[self.queue()] - [self.parameters.k_min, self.parameters.k_max][index]) / self.parameters.k_max
    }
}

impl Model for Dcqcn {
    model!();

    fn fixed_point(&self) -> Result<FixedPoint, String> {
        // Bisection over log p: with the other variables at their fixed point, the target rate falls if p is too high
        // and rises if p is too low.
        let (mut low, mut high) = (libm::log(1e-15), 0.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let p = libm::exp(middle);
            let state = self.at_rest(p);
            if self.control(state, state[0], p)[1] > 0.0 { low = middle } else { high = middle }
        }
        let p = libm::exp(high);
        let Parameters { k_min, k_max, p_max, .. } = self.parameters;
        if p > p_max {
            return Err(format!(
                "rates of {} flows need marks with probability {p:.4}, above p_max",
                self.shared.count()
            ));
        }
        let state = self.shared.alike(&self.at_rest(p), k_min + p / p_max * (k_max - k_min));
        let moving = (0..state.len()).collect();
        Ok(FixedPoint { state, modes: vec![true, false], moving })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::testing;
    use super::*;

    /// Parameters of the papers, for a link of 40 Gbps.
    pub fn parameters() -> Parameters {
        Parameters {
            gain: 1.0 / 256.0,
            cnp_interval: 50e-6,
            alpha_timer: 55e-6,
            increase_timer: 55e-6,
            byte_counter: 80e6,
            recovery_stages: 5.0,
            additive_increase: 40e6,
            min_rate: 10e6,
            packet: 8e3,
            k_min: 40e3,
            k_max: 1.6e6,
            p_max: 0.01,
            at_enqueue: false,
            cycles: false,
        }
    }

    fn model(count: u32, rtt: f64) -> Dcqcn {
        let bottleneck = Bottleneck { rate: 40e9, buffer: 80e6 };
        Dcqcn::new(bottleneck, vec![Flows { count, start: 0.0, rtt, rate: 40e9 }], parameters())
    }

    #[test]
    fn the_fixed_point_rests_and_is_near_its_closed_form() {
        for count in [2, 5, 10] {
            let model = model(count, 4e-6).with_flows(model(count, 4e-6).shared.flows);
            testing::rests(&*model);
            let state = model.fixed_point().unwrap().state;
            let p = 0.01 * (state[3] - 40e3) / 1.56e6;
            // ECN or Delay, section 3.1, with rates and B in packets: p is about the cube root of R_AI N^2 / (tau'
            // C^2) (1 / B + N / (T C))^2.
            let (n, c, step) = (f64::from(count), 40e9 / 8e3, 40e6 / 8e3);
            let around = step * n * n / (55e-6 * c * c) * libm::pow(1.0 / 1e4 + n / (55e-6 * c), 2.0);
            let around = libm::cbrt(around);
            assert!((p / around - 1.0).abs() < 0.35, "{count}: {p} {around}");
        }
        assert!(model(50, 4e-6).fixed_point().unwrap_err().contains("above p_max"));
    }

    #[test]
    fn two_flows_settle_at_the_fixed_point() {
        let mut model = model(2, 4e-6);
        let (rates, queue, last) = testing::means(&mut model, 0.2);
        let rest = model.fixed_point().unwrap().state;
        assert!((rates[0] / 20e9 - 1.0).abs() < 1e-3, "{rates:?}");
        assert!((queue / rest[3] - 1.0).abs() < 1e-2, "{queue} {}", rest[3]);
        assert!((last[2] / rest[2] - 1.0).abs() < 1e-2);
    }

    /// Compares the queue length (fixed point and time average) with the mean of packet-level simulations, `packets`
    /// in bytes, of 2, 10 and 50 flows with the same parameters (`tidegate reproduce fluid/dcqcn`).
    #[test]
    fn cycle_by_cycle_the_queue_is_that_of_packets() {
        for (count, packets) in [(2, 16_200.0), (10, 97_100.0), (50, 679_200.0)] {
            let parameters = Parameters { k_max: 8e6, p_max: 0.1, packet: 1082.0 * 8.0, cycles: true, ..parameters() };
            let bottleneck = Bottleneck { rate: 40e9, buffer: 256e6 };
            let flows = vec![Flows { count, start: 0.0, rtt: 5e-6, rate: 40e9 }];
            let mut model = Dcqcn::new(bottleneck, flows, parameters);
            testing::rests(&*model.with_flows(model.shared.flows.clone()));
            let rest = model.fixed_point().unwrap().state[3] / 8.0;
            assert!((rest / packets - 1.0).abs() < 0.1, "{count}: {rest}, not {packets}");
            let (rates, queue, _) = testing::means(&mut model, 0.2);
            assert!((rates[0] * f64::from(count) / 40e9 - 1.0).abs() < 0.01, "{count}: {rates:?}");
            assert!((queue / 8.0 / packets - 1.0).abs() < 0.1, "{count}: {} beside {packets}", queue / 8.0);
        }
    }

    #[test]
    fn alike_flows_are_solved_as_one_and_apart_alike() {
        let bottleneck = Bottleneck { rate: 40e9, buffer: 80e6 };
        let flow = |count| Flows { count, start: 0.0, rtt: 10e-6, rate: 40e9 };
        let mut one = Dcqcn::new(bottleneck, vec![flow(4)], parameters());
        let mut apart = Dcqcn::new(bottleneck, vec![flow(1), flow(3)], parameters());
        let (_, queue, last) = testing::means(&mut one, 0.02);
        let (_, same, both) = testing::means(&mut apart, 0.02);
        assert!((queue / same - 1.0).abs() < 1e-6 && (last[0] / both[3] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_flow_that_begins_later_shares_in_the_end() {
        let bottleneck = Bottleneck { rate: 40e9, buffer: 80e6 };
        let flow = |start| Flows { count: 1, start, rtt: 4e-6, rate: 40e9 };
        let mut model = Dcqcn::new(bottleneck, vec![flow(0.0), flow(0.02)], parameters());
        let (rates, ..) = testing::means(&mut model, 0.4);
        assert!((rates[0] / rates[1] - 1.0).abs() < 0.02, "{rates:?}");
    }
}
