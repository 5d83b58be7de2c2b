//! External rate control over RoCE. A program that advances the simulation in steps sets the rate of a flow between
//! two steps, and receives its observations of the last step. Without such a program the rate is constant.

use crate::ParameterError;
use crate::parameters::parameters;
use crate::rate_control::{AckInfo, ControlSettings, FlowLimits, RateController, RateObservation, scaled};
use crate::roce::connection::INITIAL_RATE;

use units::{Rate, Time};

parameters! {
    /// The parameters that an external rate adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ExternalParameters: Transport "external" {
        title: "RoCE with a rate set by an external agent, step by step";
        source: "Tidegate; the parts of Gymnasium's interface (Towers et al., 2024) that apply to a sender";
        over: crate::roce::connection::MECHANISM,
            default [("ecn", "true", "InfiniBand specification, annex A17.9")];
        /// Initial rate of a flow; `None` for the maximum rate of the flow.
        initial_rate: Option<Rate> = "initial_rate" rate_or["line"], default "line",
            "rate of a flow until it is first set; line: the highest rate of the flow",
            INITIAL_RATE[1];
        /// Lower bound of the rate.
        min_rate: Rate = "min_rate" rate, default "100Mbps",
            "lower bound of the rate, also for rates that are set",
            "HPCC's ns-3 fork: MIN_RATE";
    }
}

impl ControlSettings for ExternalParameters {
    fn check(&self, _payload_bytes: u16) -> Result<(), ParameterError> {
        Ok(())
    }

    fn wants_round_trip(&self) -> bool {
        true
    }
}

/// Rate of one flow, and its observations since they were last taken.
#[derive(Clone, Debug)]
pub struct External {
    rate: Rate,
    limit: Rate,
    line: Rate,
    round_trip: Time,
    /// Observations since they were last taken. Boxed, so that they do not enlarge the enum of all rate controls.
    seen: Box<RateObservation>,
}

impl RateController for External {
    type Parameters = ExternalParameters;

    fn new(parameters: &ExternalParameters, limits: FlowLimits) -> Self {
        let rate = parameters.initial_rate.unwrap_or(limits.most).min(limits.most);
        External { rate, limit: limits.most, line: limits.line, round_trip: limits.round_trip, seen: Box::default() }
    }

    fn most(&self) -> Rate {
        self.limit
    }

    #[inline]
    fn rate(&mut self, _parameters: &ExternalParameters, _now: Time) -> Rate {
        self.rate
    }

    fn on_sent(&mut self, _parameters: &ExternalParameters, _now: Time, bytes: u64) {
        self.seen.sent_bytes += bytes + units::WIRE_OVERHEAD_BYTES;
    }

    fn on_ack(&mut self, _parameters: &ExternalParameters, _now: Time, ack: AckInfo<'_>) {
        let seen = &mut *self.seen;
        seen.acknowledged_bytes += ack.new_bytes;
        seen.marked_bytes += if ack.ece { ack.new_bytes } else { 0 };
        seen.acknowledgements += 1;
        seen.rtt_sum = seen.rtt_sum.saturating_add(ack.rtt);
        seen.rtt_least = seen.rtt_least.min(ack.rtt);
    }

    fn on_loss(&mut self, _parameters: &ExternalParameters, _now: Time, _timeout: bool) {
        self.seen.losses += 1;
    }

    fn set_share(&mut self, parameters: &ExternalParameters, share: f64) -> bool {
        let before = self.rate;
        self.rate = scaled(self.line, share, parameters.min_rate, self.limit);
        self.rate != before
    }

    fn take_observation(&mut self) -> Option<RateObservation> {
        let seen = std::mem::take(&mut *self.seen);
        Some(RateObservation { rate: self.rate, line: self.line, round_trip: self.round_trip, ..seen })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const LINE: Rate = Rate::from_gbps(100);

    fn flow(parameters: &ExternalParameters, most: Rate) -> External {
        let round_trip = Time::from_us(8);
        External::new(parameters, FlowLimits { most, line: LINE, start: Time::ZERO, round_trip, payload_bytes: 1000 })
    }

    #[test]
    fn a_share_is_one_of_the_line_within_what_the_flow_may_send() {
        let p = ExternalParameters { initial_rate: Some(Rate::from_gbps(10)), ..ExternalParameters::default() };
        let mut flow = flow(&p, Rate::from_gbps(40));
        assert_eq!(flow.rate(&p, Time::ZERO), Rate::from_gbps(10));
        assert!(!flow.set_share(&p, 0.1), "that is its rate");
        for (share, rate) in [(0.25, Rate::from_gbps(25)), (1.0, Rate::from_gbps(40)), (0.0, p.min_rate)] {
            assert!(flow.set_share(&p, share));
            assert_eq!(flow.rate(&p, Time::ZERO), rate);
        }
        let mut random = Stream::new(1, 0, 0);
        for _ in 0..10_000 {
            let share = random.unit();
            flow.set_share(&p, share);
            let most = Rate::from_bps((1e11 * share) as u64).unwrap_or(Rate::MIN);
            assert_eq!(flow.rate(&p, Time::ZERO), most.clamp(p.min_rate, Rate::from_gbps(40)));
        }
    }

    #[test]
    fn samples_are_reported_once() {
        let p = ExternalParameters::default();
        let mut flow = flow(&p, LINE);
        let nothing =
            RateObservation { rate: LINE, line: LINE, round_trip: Time::from_us(8), ..RateObservation::default() };
        assert_eq!(flow.take_observation(), Some(nothing.clone()));
        flow.on_sent(&p, Time::ZERO, 1062);
        for (rtt_us, ece) in [(12, true), (9, false), (10, false)] {
            let rtt = Time::from_us(rtt_us);
            let ack = AckInfo { rtt, wire_bytes: 1082, ece, seq: 0, new_bytes: 1000, next: 0, switches: 1, hops: &[] };
            flow.on_ack(&p, Time::ZERO, ack);
        }
        flow.on_loss(&p, Time::ZERO, false);
        flow.on_loss(&p, Time::ZERO, true);
        let seen = RateObservation {
            sent_bytes: 1082,
            acknowledged_bytes: 3000,
            marked_bytes: 1000,
            acknowledgements: 3,
            rtt_sum: Time::from_us(31),
            rtt_least: Time::from_us(9),
            losses: 2,
            ..nothing.clone()
        };
        assert_eq!(flow.take_observation(), Some(seen));
        assert_eq!(flow.take_observation(), Some(nothing));
    }
}
