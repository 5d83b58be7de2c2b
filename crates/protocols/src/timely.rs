//! TIMELY (Mittal et al., SIGCOMM 2015): the rate of a RoCE sender is controlled by the RTT and its gradient. Each
//! segment is acknowledged once, and each acknowledgement is one RTT sample.

use crate::ParameterError;
use crate::control_state::ControlState;
use crate::parameters::parameters;
use crate::rate_control::{AckInfo, ControlSettings, FlowLimits, RateController, RoundTrips, scaled};
use crate::roce::connection::INITIAL_RATE;
use crate::settings::require;
use units::{Rate, Time};

/// Frequency of RTT samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSampling {
    /// One sample per segment, which has one acknowledgement.
    Segment,
    /// One sample per RTT: the acknowledgement of the byte that was next to send at the last sample (HPCC's ns-3
    /// fork).
    RoundTrip,
}

parameters! {
    /// The parameters that TIMELY adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TimelyParameters: Transport "timely" {
        title: "RoCE whose rate follows the gradient of the round trip time";
        source: "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015";
        over: crate::roce::connection::MECHANISM, without ["ack_every"];
        /// Initial rate of a flow; `None` for the maximum rate of the flow.
        initial_rate: Option<Rate> = "initial_rate" rate_or["line"], default "line",
            INITIAL_RATE[0],
            INITIAL_RATE[1];
        /// Payload bytes per segment, that is, per acknowledgement and RTT sample.
        segment_bytes: u64 = "segment" bytes, default "16KB",
            "payload per acknowledgement and round-trip sample, at least a packet; with a window one \
             acknowledgement covers at most half of it",
            "TIMELY, sec. 3: segments of 16 to 64 KB";
        /// Frequency of RTT samples.
        measure: RttSampling = "measure" word["segment" = RttSampling::Segment, "round-trip" = RttSampling::RoundTrip],
            default "segment",
            "when a round trip is measured: segment, at each acknowledgement of one; round-trip, once in \
             a round trip, and every packet is acknowledged; rises below t_low then count for hyper_after too",
            "TIMELY, sec. 3 and algorithm 1; HPCC's ns-3 fork, CC_MODE 7: round-trip";
        /// EWMA weight alpha of a new RTT difference, above 0, up to 1.
        ewma: f64 = "ewma" share, default "0.875",
            "weight alpha of a new difference of round trips in their average, above 0, up to 1",
            "TIMELY, algorithm 1; Bahnasy's thesis, sec. 3.7: 0.875";
        /// Multiplicative decrease factor beta, above 0, below 1.
        beta: f64 = "beta" share, default "0.8",
            "strength of a cut, above 0, below 1",
            "TIMELY, algorithm 1 and sec. 4.3";
        /// Additive increase step delta.
        additive_increase: Rate = "additive_increase" rate, default "10Mbps",
            "step delta by which a rate rises at each measurement",
            "TIMELY, sec. 4.3";
        /// RTT threshold T_low, below which the rate rises.
        t_low: Time = "t_low" time, default "50us",
            "below this round trip the rate rises, whatever the gradient",
            "TIMELY, sec. 4.4; Bahnasy's thesis, sec. 3.7";
        /// RTT threshold T_high, above which the rate falls.
        t_high: Time = "t_high" time, default "500us",
            "above this round trip the rate falls, whatever the gradient; at least t_low",
            "TIMELY, sec. 4.4; Bahnasy's thesis, sec. 3.7 (250us at 100 Gbps)";
        /// Minimum RTT, D_minRTT, by which RTT differences are divided to obtain the gradient.
        min_rtt: Time = "min_rtt" time, default "20us",
            "D_minRTT, which differences of round trips are divided by",
            "TIMELY, algorithm 1; Bahnasy's thesis, sec. 3.7";
        /// Number of consecutive samples without a positive gradient from which the additive increase step is
        /// multiplied (hyperactive increase).
        hyper_after: u32 = "hyper_after" count, default "5",
            "measurements in a row without a rise of the round trip after which the step is multiplied, \
             at least 1",
            "TIMELY, sec. 4.3";
        /// Factor of the additive increase step in hyperactive increase.
        hyper_factor: u32 = "hyper_factor" count, default "5",
            "factor N of the step then, at least 1; 1 disables it",
            "TIMELY, algorithm 1";
        /// Lower bound of the rate.
        min_rate: Rate = "min_rate" rate, default "10Mbps",
            "lower bound of the rate",
            "choice of this project: one step";
    }
}

impl ControlSettings for TimelyParameters {
    fn check(&self, payload_bytes: u16) -> Result<(), ParameterError> {
        let packet = u64::from(payload_bytes);
        require(self.segment_bytes >= packet, "segment", format!("at least a packet's payload, {packet}B"))?;
        require(self.ewma > 0.0 && self.ewma <= 1.0, "ewma", "a weight above 0, up to 1")?;
        require(self.beta > 0.0 && self.beta < 1.0, "beta", "a share above 0, below 1")?;
        require(self.t_low <= self.t_high, "t_high", "at least t_low")?;
        require(self.min_rtt > Time::ZERO, "min_rtt", "at least 1ps: differences are divided by it")?;
        require(self.hyper_after > 0, "hyper_after", "at least 1 measurement")?;
        require(self.hyper_factor > 0, "hyper_factor", "at least 1")
    }

    fn idle(&self, key: &str) -> Option<&'static str> {
        match key {
            "segment" if self.measure == RttSampling::RoundTrip => Some("measure = \"segment\""),
            "hyper_after" if self.hyper_factor == 1 => Some("hyper_factor above 1"),
            _ => None,
        }
    }

    fn acknowledged_bytes(&self) -> Option<u64> {
        Some(if self.measure == RttSampling::Segment { self.segment_bytes } else { 1 })
    }
}

/// Rate control of one flow.
#[derive(Clone, Debug)]
pub struct Timely {
    rate: Rate,
    limit: Rate,
    line: Rate,
    /// Last RTT sample; [`Time::MAX`] before the first sample.
    rtt: Time,
    /// Moving average of the RTT differences, in picoseconds.
    difference_ps: f64,
    /// Number of consecutive samples without a positive gradient.
    calm: u32,
    rounds: RoundTrips,
}

impl Timely {
    /// Returns the factor by which an RTT above `t_high` multiplies the rate (Bahnasy's thesis, eq. 3.2). Eq. 1.2 of
    /// that thesis lacks the `1 -` in parentheses, and would cut less for longer RTTs.
    fn cut_above(parameters: &TimelyParameters, rtt: Time) -> f64 {
        1.0 - parameters.beta * (1.0 - parameters.t_high.as_ps() as f64 / rtt.as_ps() as f64)
    }

    fn cut(&mut self, parameters: &TimelyParameters, factor: f64) {
        self.rate = scaled(self.rate, factor, parameters.min_rate, self.limit);
    }

    fn raise(&mut self, parameters: &TimelyParameters, steps: u32) {
        let step = parameters.additive_increase.as_bps().saturating_mul(steps.into());
        let raised = self.rate.as_bps().saturating_add(step);
        self.rate = Rate::from_bps(raised).unwrap_or(self.limit).min(self.limit);
    }

    /// Handles an RTT sample, without the serialisation delay (TIMELY, algorithm 1).
    fn measure(&mut self, parameters: &TimelyParameters, rtt: Time) {
        let difference_ps = match self.rtt {
            Time::MAX => 0.0,
            before => rtt.as_ps() as f64 - before.as_ps() as f64,
        };
        self.rtt = rtt;
        self.difference_ps = (1.0 - parameters.ewma) * self.difference_ps + parameters.ewma * difference_ps;
        let gradient = self.difference_ps / parameters.min_rtt.as_ps() as f64;
        let calm = std::mem::replace(&mut self.calm, 0);
        // HPCC's ns-3 fork counts every increase towards hyperactive increase, also those at RTTs below T_low.
        if rtt < parameters.t_low && parameters.measure == RttSampling::Segment {
            self.raise(parameters, 1);
        } else if rtt > parameters.t_high {
            self.cut(parameters, Timely::cut_above(parameters, rtt));
        } else if gradient > 0.0 && rtt >= parameters.t_low {
            self.cut(parameters, 1.0 - parameters.beta * gradient);
        } else {
            self.calm = calm.saturating_add(1);
            self.raise(parameters, if self.calm >= parameters.hyper_after { parameters.hyper_factor } else { 1 });
        }
    }
}

impl RateController for Timely {
    type Parameters = TimelyParameters;

    fn new(parameters: &TimelyParameters, limits: FlowLimits) -> Self {
        let FlowLimits { most: limit, line, .. } = limits;
        let rate = parameters.initial_rate.unwrap_or(limit).min(limit);
        Timely { rate, limit, line, rtt: Time::MAX, difference_ps: 0.0, calm: 0, rounds: RoundTrips::default() }
    }

    fn most(&self) -> Rate {
        self.limit
    }

    #[inline]
    fn rate(&mut self, _parameters: &TimelyParameters, _now: Time) -> Rate {
        self.rate
    }

    fn control_state(&mut self, _parameters: &TimelyParameters, _now: Time) -> ControlState {
        let rtt = Some(self.rtt).filter(|&rtt| rtt != Time::MAX);
        ControlState { rate: Some(self.rate), rtt, ..ControlState::default() }
    }

    /// Subtracts the serialisation delay of the frame from the completion time (TIMELY, sec. 3.1). Since packets are
    /// paced individually, the RTT of a segment includes the serialisation delay of its last packet only.
    fn on_ack(&mut self, parameters: &TimelyParameters, _now: Time, ack: AckInfo<'_>) {
        if parameters.measure == RttSampling::RoundTrip {
            if !self.rounds.ends(&ack) {
                return;
            }
            self.rounds.begin(&ack);
        }
        self.measure(parameters, ack.rtt.saturating_sub(self.line.serialise(ack.wire_bytes)));
    }

    fn halve(&mut self, parameters: &TimelyParameters, _now: Time) -> bool {
        let before = self.rate;
        self.cut(parameters, 0.5);
        self.rate < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const GBPS: u64 = 1_000_000_000;

    fn flow(parameters: &TimelyParameters, rate: Rate) -> Timely {
        let parameters = TimelyParameters { initial_rate: Some(rate), ..parameters.clone() };
        let most = Rate::from_gbps(10);
        Timely::new(
            &parameters,
            FlowLimits { most, line: most, start: Time::ZERO, round_trip: Time::ZERO, payload_bytes: 1000 },
        )
    }

    fn ack(rtt: Time, ece: bool) -> AckInfo<'static> {
        AckInfo { rtt, wire_bytes: 1082, ece, seq: 1000, new_bytes: 1000, next: 2000, switches: 1, hops: &[] }
    }

    /// One sample per RTT: acknowledgements of data that was in flight at the last sample are no samples.
    #[test]
    fn a_round_trip_is_measured_once() {
        let p = TimelyParameters { measure: RttSampling::RoundTrip, ..TimelyParameters::default() };
        let mut flow = flow(&p, Rate::from_gbps(1));
        for packet in 1..=31 {
            let seq = packet * 1000;
            let ack = AckInfo { seq, next: seq + 9000, ..ack(Time::from_us(40), false) };
            flow.on_ack(&p, Time::ZERO, ack);
        }
        // Samples are the acknowledgements of packets 1, 11, 21 and 31: four steps of 10 Mbps.
        assert_eq!(flow.rate, Rate::from_mbps(1040));
        assert_eq!(p.acknowledged_bytes(), Some(1));
    }

    /// Bahnasy's thesis has two equations for the factor of the rate at an RTT above T_high. With the correct one
    /// (3.2), 1 - 0.8 (1 - T_high / RTT), the cut grows with the RTT. With the other (1.2), 1 - 0.8 T_high / RTT, the
    /// cut is 0.8 just above T_high and tends to 0 for long RTTs. The two factors are equal only at RTT = 2 T_high.
    #[test]
    fn the_corrected_cut_grows_with_the_round_trip() {
        let p = TimelyParameters::default();
        let factors = [501, 1_000, 10_000].map(|us| Timely::cut_above(&p, Time::from_us(us)));
        let closed = [1.0 - 0.8 / 501.0, 0.6, 0.24];
        assert!(factors.iter().zip(closed).all(|(is, should)| (is - should).abs() < 1e-12), "{factors:?}");
        let printed = |us: f64| 1.0 - 0.8 * 500.0 / us;
        assert!((printed(501.0) - 0.2016).abs() < 1e-4 && printed(1e12) > 0.999);
        assert!((printed(1000.0) - factors[1]).abs() < 1e-12);
        let mut one = flow(&p, Rate::from_gbps(5));
        one.measure(&p, Time::from_ms(1));
        assert_eq!(one.rate, Rate::from_gbps(3));
    }

    #[test]
    fn between_the_thresholds_the_gradient_decides() {
        let p = TimelyParameters::default();
        let mut flow = flow(&p, Rate::from_gbps(5));
        flow.measure(&p, Time::from_us(100));
        assert_eq!(flow.rate, Rate::from_mbps(5010), "no difference yet");
        // The RTT is 4 us longer: the gradient is 0.875 * 4 / 20 = 0.175.
        flow.measure(&p, Time::from_us(104));
        assert_eq!(flow.rate.as_bps(), (5.01e9 * (1.0 - 0.8 * 0.175)) as u64);
        // The RTT is 4 us shorter: the moving average of the difference is 0.125 * 3.5 - 0.875 * 4, below zero.
        let before = flow.rate;
        flow.measure(&p, Time::from_us(100));
        assert_eq!(flow.rate.as_bps(), before.as_bps() + 10_000_000);
        // A gradient above 10 cuts the rate to its minimum, not below zero.
        flow.measure(&p, Time::from_us(400));
        assert_eq!(flow.rate, p.min_rate);
    }

    #[test]
    fn after_five_calm_measurements_the_step_is_five_steps() {
        let p = TimelyParameters::default();
        let mut flow = flow(&p, Rate::from_gbps(1));
        let mut rates = Vec::new();
        for us in [100, 100, 99, 98, 97, 96, 40, 95] {
            flow.measure(&p, Time::from_us(us));
            rates.push(flow.rate.as_bps() as i64 / 10_000_000 - 100);
        }
        // An RTT below T_low (40 us) resets the count. The next sample, 95 us, has a positive gradient.
        assert_eq!(rates[..7], [1, 2, 3, 4, 9, 14, 15]);
        assert!(rates[7] < 15);
    }

    /// HPCC's ns-3 fork: at RTTs below T_low there are five single steps, then multiplied steps.
    #[test]
    fn measured_once_a_round_trip_rises_below_t_low_count_too() {
        let mut p = TimelyParameters {
            additive_increase: Rate::from_mbps(100),
            min_rate: Rate::from_gbps(1),
            hyper_after: 6,
            ..TimelyParameters::default()
        };
        let rates = |p: &TimelyParameters| {
            let mut flow = flow(p, Rate::from_gbps(1));
            let mut rate = || {
                flow.measure(p, Time::from_us(4));
                flow.rate.as_bps() / 100_000_000 - 10
            };
            [(); 8].map(|()| rate())
        };
        assert_eq!(rates(&p), [1, 2, 3, 4, 5, 6, 7, 8], "algorithm 1 has no long step there");
        p.measure = RttSampling::RoundTrip;
        assert_eq!(rates(&p), [1, 2, 3, 4, 5, 10, 15, 20]);
        // A rising RTT below T_low neither cuts the rate nor resets the count.
        let mut flow = flow(&p, Rate::from_gbps(1));
        (1..=6).for_each(|us| flow.measure(&p, Time::from_us(us * 7)));
        assert_eq!(flow.rate, Rate::from_mbps(2000));
        flow.measure(&p, Time::from_us(600));
        assert_eq!(flow.calm, 0);
    }

    /// TIMELY has no fixed point (Zhu et al., CoNEXT 2016): at a constant RTT between the thresholds every rate
    /// rises, and flows with equal RTTs do not converge.
    #[test]
    fn timely_has_no_fixed_point() {
        let p = TimelyParameters::default();
        for mbps in [10, 1_000, 4_999, 9_000] {
            for us in [50, 60, 275, 500] {
                let mut flow = flow(&p, Rate::from_mbps(mbps));
                (0..20).for_each(|_| flow.measure(&p, Time::from_us(us)));
                // Four single steps, then sixteen steps multiplied by five: 84 steps of 10 Mbps.
                assert_eq!(flow.rate, Rate::from_mbps((mbps + 840).min(10_000)));
            }
        }
        let (mut slow, mut fast) = (flow(&p, Rate::from_gbps(1)), flow(&p, Rate::from_gbps(4)));
        // Fluid model: flows of initially 1 and 4 Gbps share a queue with a service rate of 10 Gbps. The fast flow
        // keeps more than half.
        let (mut queue_us, mut least) = (0.0_f64, f64::MAX);
        for _ in 0..20_000 {
            let sum = (slow.rate.as_bps() + fast.rate.as_bps()) as f64;
            queue_us = (queue_us + 10.0 * (sum / 10e9 - 1.0)).max(0.0);
            let rtt = Time::from_ns(60_000 + (queue_us * 1000.0) as u64);
            slow.measure(&p, rtt);
            fast.measure(&p, rtt);
            least = least.min(fast.rate.as_bps() as f64 / sum);
        }
        assert!(least > 0.5, "the fast flow stays the fast one: {least}");
    }

    /// Random RTT samples, including extreme ones: the rate stays finite and within its bounds.
    #[test]
    fn the_rate_keeps_its_bounds_for_any_measurement() {
        let p = TimelyParameters::default();
        for seed in 0..20 {
            let mut random = Stream::new(seed, 0, 0);
            let mut flow = flow(&p, Rate::from_gbps(10));
            for _ in 0..10_000 {
                let bits = 4 + random.below(20);
                let rtt = match random.below(8) {
                    0 => Time::ZERO,
                    1 => Time::from_ps(u64::MAX - 1),
                    _ => Time::from_ns(random.below(1 << bits)),
                };
                flow.on_ack(&p, Time::ZERO, ack(rtt, random.below(2) == 0));
                assert!((p.min_rate..=Rate::from_gbps(10)).contains(&flow.rate), "{rtt} {flow:?}");
                assert!(flow.difference_ps.is_finite());
                if random.below(50) == 0 {
                    let before = flow.rate;
                    assert_eq!(flow.halve(&p, Time::ZERO), before > p.min_rate);
                }
            }
        }
    }

    #[test]
    fn serialisation_is_no_part_of_the_round_trip() {
        let p = TimelyParameters::default();
        let mut flow = flow(&p, Rate::from_gbps(1));
        // The serialisation delay of 1082 bytes at 10 Gbps is 865.6 ns, which is subtracted from the RTT.
        let rtt = Time::from_us(70) + Time::from_ps(865_600);
        flow.on_ack(&p, Time::ZERO, ack(rtt, false));
        assert_eq!(flow.rtt, Time::from_us(70));
        assert!(flow.rate.as_bps() > GBPS);
    }
}
