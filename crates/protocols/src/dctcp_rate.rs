//! DCTCP as a rate control over RoCE, as in HPCC's released simulator. Alpha and the reduction are those of DCTCP (RFC
//! 8257, 3.3), applied to a rate. Instead of one segment per round trip, the rate grows by a fixed step.

use crate::ParameterError;
use crate::control_state::ControlState;
use crate::parameters::parameters;
use crate::rate_control::{AckInfo, ControlSettings, FlowLimits, RateController, RoundTrips, SwitchSupport, scaled};

use units::{Rate, Time};

parameters! {
    /// The parameters that DCTCP as a rate adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DctcpRateParameters: Transport "dctcp-rate" {
        title: "RoCE whose rate follows the share of marked bytes";
        source: "RFC 8257, as a rate: HPCC's ns-3 fork, CC_MODE 8";
        over: crate::roce::connection::MECHANISM,
            default [("ecn", "true", "InfiniBand specification, annex A17.9")];
        /// Weight of a round trip's share of marked bytes in alpha (g).
        gain: f64 = "gain" share, default "0.0625",
            "weight g of the latest round trip in alpha, 0 to 1",
            "RFC 8257, 3.3; HPCC's ns-3 fork: DCTCP_GAIN";
        /// Alpha before the first round trip.
        initial_alpha: f64 = "initial_alpha" share, default "1",
            "alpha before the first round trip, 0 to 1: with 1 the first mark halves the rate",
            "RFC 8257, 3.3";
        /// Rate increase per round trip without a cut.
        additive_increase: Rate = "additive_increase" rate, default "615Mbps",
            "step by which the rate rises in a round trip without a cut",
            "HPCC's ns-3 fork: DCTCP_RATE_AI; 1000 B in each 13 us";
        /// Lower bound of the rate.
        min_rate: Rate = "min_rate" rate, default "100Mbps",
            "lower bound of the rate",
            "HPCC's ns-3 fork: MIN_RATE";
    }
}

impl ControlSettings for DctcpRateParameters {
    const NEEDS: SwitchSupport = SwitchSupport::Marks;

    fn check(&self, _payload_bytes: u16) -> Result<(), ParameterError> {
        Ok(())
    }
}

/// Rate control of one flow.
#[derive(Clone, Debug)]
pub struct DctcpRate {
    rate: Rate,
    limit: Rate,
    alpha: f64,
    /// Payload bytes acknowledged in this round trip, and payload bytes acknowledged with an ECN-Echo.
    acknowledged_bytes: u64,
    marked_bytes: u64,
    rounds: RoundTrips,
    /// Next byte to send at the last cut, until it is acknowledged; `u64::MAX` if none.
    cut_until: u64,
}

impl RateController for DctcpRate {
    type Parameters = DctcpRateParameters;

    fn new(parameters: &DctcpRateParameters, limits: FlowLimits) -> Self {
        DctcpRate {
            rate: limits.most,
            limit: limits.most,
            alpha: parameters.initial_alpha,
            acknowledged_bytes: 0,
            marked_bytes: 0,
            rounds: RoundTrips::default(),
            cut_until: u64::MAX,
        }
    }

    fn most(&self) -> Rate {
        self.limit
    }

    #[inline]
    fn rate(&mut self, _parameters: &DctcpRateParameters, _now: Time) -> Rate {
        self.rate
    }

    fn on_ack(&mut self, parameters: &DctcpRateParameters, _now: Time, ack: AckInfo<'_>) {
        self.acknowledged_bytes += ack.new_bytes;
        self.marked_bytes += if ack.ece { ack.new_bytes } else { 0 };
        let whole = self.rounds.ends(&ack);
        if whole {
            if self.rounds.has_begun() && self.acknowledged_bytes > 0 {
                let share = self.marked_bytes as f64 / self.acknowledged_bytes as f64;
                self.alpha = (1.0 - parameters.gain) * self.alpha + parameters.gain * share;
                (self.acknowledged_bytes, self.marked_bytes) = (0, 0);
            }
            self.rounds.begin(&ack);
        }
        // At most one cut per round trip: marks on data sent before a cut must not cause another cut.
        if self.cut_until != u64::MAX && ack.seq > self.cut_until {
            self.cut_until = u64::MAX;
        }
        if self.cut_until != u64::MAX {
            return;
        }
        if ack.ece {
            self.rate = scaled(self.rate, 1.0 - self.alpha / 2.0, parameters.min_rate, self.limit);
            self.cut_until = ack.next;
        } else if whole {
            let raised = self.rate.as_bps().saturating_add(parameters.additive_increase.as_bps());
            self.rate = Rate::from_bps(raised).unwrap_or(self.limit).min(self.limit);
        }
    }

    fn control_state(&mut self, _parameters: &DctcpRateParameters, _now: Time) -> ControlState {
        ControlState { rate: Some(self.rate), alpha: Some(self.alpha), ..ControlState::default() }
    }

    fn halve(&mut self, parameters: &DctcpRateParameters, _now: Time) -> bool {
        let before = self.rate;
        self.rate = scaled(self.rate, 0.5, parameters.min_rate, self.limit);
        self.rate < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    const LINE: Rate = Rate::from_gbps(100);

    fn flow(parameters: &DctcpRateParameters) -> DctcpRate {
        let limits =
            FlowLimits { most: LINE, line: LINE, start: Time::ZERO, round_trip: Time::ZERO, payload_bytes: 1000 };
        DctcpRate::new(parameters, limits)
    }

    fn ack(seq: u64, next: u64, ece: bool) -> AckInfo<'static> {
        let rtt = Time::from_us(10);
        AckInfo { rtt, wire_bytes: 1082, ece, seq, new_bytes: 1000, next, switches: 1, hops: &[] }
    }

    /// Packets 1 to 10 are marked: the first mark halves the rate, the further marks within the round trip have no
    /// effect. Then each round trip without marks multiplies alpha by 15/16 and raises the rate by
    /// `additive_increase`.
    #[test]
    fn one_cut_a_round_trip_by_half_of_alpha() {
        let p = DctcpRateParameters::default();
        let mut flow = flow(&p);
        for packet in 1..=10 {
            flow.on_ack(&p, Time::ZERO, ack(packet * 1000, 10_000 + packet * 1000, true));
        }
        assert_eq!(flow.rate, Rate::from_gbps(50));
        let (mut alpha, mut rate) = (1.0, 50_000_000_000);
        // The first round trip ends with acknowledgement 12, as does the interval without further cuts.
        for packet in 11..200_u64 {
            flow.on_ack(&p, Time::ZERO, ack(packet * 1000, 10_000 + packet * 1000, false));
            if packet == 12 {
                // DCTCP, eq. 1: alpha = (1 - g) alpha + g F with g = 1/16. F = 10/12: this round trip acknowledged
                // packets 1 to 12, and 1 to 10 were marked.
                alpha = 0.9375 + 0.0625 * 10.0 / 12.0;
                rate += 615_000_000;
            } else if packet > 12 && (packet - 12) % 11 == 0 {
                alpha *= 0.9375;
                rate += 615_000_000;
            }
            assert_eq!(flow.rate.as_bps(), rate.min(LINE.as_bps()), "packet {packet}");
            assert!((flow.alpha - alpha).abs() < 1e-12, "packet {packet}: {} {alpha}", flow.alpha);
        }
    }

    #[test]
    fn the_rate_keeps_its_bounds_for_any_acknowledgement() {
        let p = DctcpRateParameters::default();
        for seed in 0..20 {
            let mut random = Stream::new(seed, 0, 0);
            let (mut flow, mut seq, mut next) = (flow(&p), 0, 0);
            for _ in 0..10_000 {
                seq += 1 + random.below(3000);
                next = seq.max(next) + random.below(100_000);
                flow.on_ack(&p, Time::ZERO, ack(seq, next, random.below(1 + seed) == 0));
                assert!((p.min_rate..=LINE).contains(&flow.rate) && (0.0..=1.0).contains(&flow.alpha), "{flow:?}");
                if random.below(100) == 0 {
                    let before = flow.rate;
                    assert_eq!(flow.halve(&p, Time::ZERO), before > p.min_rate);
                }
            }
        }
    }
}
