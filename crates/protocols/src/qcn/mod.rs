//! QCN (IEEE 802.1Qau, now 802.1Q clauses 30 to 33): congestion points at switches sample their queues and send
//! quantised feedback to the sources of sampled frames. Reaction points at hosts cut their rate accordingly, and
//! recover without further messages ([`crate::rate_recovery`]).
//!
//! ```text
//!  reaction point (here) ──data──▶ congestion point (point.rs): a queue of a switch
//!     ▲                                     │
//!     └── congestion notification message ──┘
//! ```

mod point;

pub use point::{CongestionPoint, MECHANISM as CONGESTION_POINT, PointParameters, SampledPort};

use crate::control_state::ControlState;
use crate::frame::CongestionMessage;
use crate::parameters::parameters;
use crate::rate_control::{ControlSettings, FlowLimits, RateController, SwitchSupport};
use crate::rate_recovery::{RateRecovery, RecoveryParameters};
use crate::roce::connection::INITIAL_RATE;
use crate::settings::{ParameterError, require};
use units::{Rate, Time};

parameters! {
    /// Parameters that QCN's reaction point adds to those of its transport.
    #[derive(Clone, Debug, PartialEq)]
    pub struct QcnParameters: Transport "qcn" {
        title: "RoCE whose rate follows notifications of switches (802.1Qau)";
        source: "IEEE 802.1Qau-2010, now 802.1Q clauses 30 to 33; Alizadeh et al., Allerton 2008";
        over: crate::roce::connection::MECHANISM;
        /// Initial rate of a flow; `None` for the maximum rate of the flow.
        initial_rate: Option<Rate> = "initial_rate" rate_or["line"], default "line",
            INITIAL_RATE[0],
            INITIAL_RATE[1];
        /// Relative rate reduction per unit of feedback (Gd).
        gain: f64 = "gain" share, default "0.0078125",
            "share Gd of the rate that a unit of feedback removes, above 0, up to 1; a cut removes at most half",
            "IEEE 802.1Q, rpgGd and rpgMinDecFac: 1/128 and 50 %";
    }
    /// Parameters of the rate recovery.
    group recovery: RecoveryParameters {
        hyper_by_stage: true, half_after_recovery: true, additive_after: 0, hyper_after: 1, increase_before_cut: true,
    } {
        byte_counter_bytes = "byte_counter" bytes, default "150KB",
            "bytes sent (frames without preamble and gap) per stage of the byte counter, half of it after fast \
             recovery; 0B disables it",
            "IEEE 802.1Q, rpgByteReset";
        timer = "increase_timer" time, default "15ms",
            "length of a stage of the timer, half of it after fast recovery; 0us disables it",
            "IEEE 802.1Q, rpgTimeReset";
        stages = "recovery_stages" count, default "5",
            "stages of fast recovery",
            "IEEE 802.1Q, rpgThreshold";
        additive_increase = "additive_increase" rate, default "5Mbps",
            "step of the target when one counter is past fast recovery",
            "IEEE 802.1Q, rpgAiRate";
        hyper_increase = "hyper_increase" rate, default "50Mbps",
            "step of the target when all enabled counters are past fast recovery; i times the step in the i-th such \
             stage",
            "IEEE 802.1Q, rpgHaiRate";
        min_rate = "min_rate" rate, default "5Mbps",
            "lower bound of the rate",
            "IEEE 802.1Q, rpgMinRate";
    }
}

impl ControlSettings for QcnParameters {
    const NEEDS: SwitchSupport = SwitchSupport::CongestionPoints;

    fn check(&self, _payload_bytes: u16) -> Result<(), ParameterError> {
        require(self.gain > 0.0, "gain", "a share above 0, up to 1")?;
        let climbs = self.recovery.timer > Time::ZERO || self.recovery.byte_counter_bytes > 0;
        require(climbs, "increase_timer", "without timer and byte counter a rate never recovers")
    }
}

/// Rate control of one flow at its sender (reaction point).
#[derive(Clone, Debug)]
pub struct Qcn {
    recovery: RateRecovery,
}

impl RateController for Qcn {
    type Parameters = QcnParameters;

    fn new(parameters: &QcnParameters, limits: FlowLimits) -> Self {
        let initial = parameters.initial_rate.unwrap_or(limits.most).min(limits.most);
        Qcn { recovery: RateRecovery::starting(&parameters.recovery, initial, limits.most, limits.start) }
    }

    fn most(&self) -> Rate {
        self.recovery.most()
    }

    #[inline]
    fn rate(&mut self, parameters: &QcnParameters, now: Time) -> Rate {
        self.recovery.advance(&parameters.recovery, now);
        self.recovery.current()
    }

    fn control_state(&mut self, parameters: &QcnParameters, now: Time) -> ControlState {
        let rate = Some(self.rate(parameters, now));
        ControlState { rate, target: Some(self.recovery.target()), ..ControlState::default() }
    }

    #[inline]
    fn next_change(&self) -> Time {
        self.recovery.next_change()
    }

    #[inline]
    fn on_sent(&mut self, parameters: &QcnParameters, now: Time, bytes: u64) {
        self.recovery.advance(&parameters.recovery, now);
        self.recovery.on_sent(&parameters.recovery, bytes);
    }

    /// A notification message before the end of the first recovery stage keeps the target rate (802.1Q clause 32).
    fn on_cnm(&mut self, parameters: &QcnParameters, now: Time, message: CongestionMessage) {
        self.recovery.advance(&parameters.recovery, now);
        if message.feedback > 0 {
            let factor = (1.0 - parameters.gain * f64::from(message.feedback)).max(0.5);
            self.recovery.cut(&parameters.recovery, now, factor, true);
        }
    }

    fn halve(&mut self, parameters: &QcnParameters, now: Time) -> bool {
        self.recovery.advance(&parameters.recovery, now);
        let falls = self.recovery.current() > parameters.recovery.min_rate;
        if falls {
            self.recovery.cut(&parameters.recovery, now, 0.5, true);
        }
        falls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    fn flow(parameters: &QcnParameters) -> Qcn {
        let most = Rate::from_gbps(10);
        Qcn::new(
            parameters,
            FlowLimits { most, line: most, start: Time::ZERO, round_trip: Time::ZERO, payload_bytes: 1000 },
        )
    }

    fn message(feedback: u8) -> CongestionMessage {
        CongestionMessage { feedback, ..CongestionMessage::default() }
    }

    #[test]
    fn a_message_takes_a_128th_for_each_unit_of_feedback_and_no_more_than_half() {
        let p = QcnParameters::default();
        for (feedback, mbps) in [(0, 10_000_000), (1, 9_921_875), (32, 7_500_000), (63, 5_078_125), (255, 5_000_000)] {
            let mut flow = flow(&p);
            flow.on_cnm(&p, Time::ZERO, message(feedback));
            assert_eq!(flow.rate(&p, Time::ZERO).as_bps(), mbps * 1000, "{feedback}");
        }
    }

    /// After five byte counter stages of 150 KB, the rate is below the target rate by 1/32 of the cut; then each
    /// stage of 75 KB raises the target rate by 5 Mbps.
    #[test]
    fn bytes_alone_bring_the_rate_back_and_beyond() {
        let p = QcnParameters::default();
        let mut flow = flow(&p);
        (0..2).for_each(|_| {
            flow.on_cnm(&p, Time::ZERO, message(32));
            flow.on_sent(&p, Time::ZERO, 150_000);
        });
        // The second cut follows a completed stage, so that it sets a new target rate: the rate before the cut, 8.75
        // Gbps.
        let target = 8_750_000_000;
        assert_eq!(flow.recovery.target().as_bps(), target);
        (0..3).for_each(|_| flow.on_sent(&p, Time::ZERO, 150_000));
        assert_eq!(flow.recovery.target().as_bps(), target);
        flow.on_sent(&p, Time::ZERO, 150_000);
        assert_eq!(flow.recovery.target().as_bps(), target + 5_000_000);
        flow.on_sent(&p, Time::ZERO, 75_000);
        assert_eq!(flow.recovery.target().as_bps(), target + 10_000_000);
    }

    #[test]
    fn two_messages_in_a_row_leave_the_target() {
        let p = QcnParameters::default();
        let mut flow = flow(&p);
        (0..2).for_each(|_| flow.on_cnm(&p, Time::ZERO, message(64)));
        assert_eq!(flow.recovery.target(), Rate::from_gbps(10));
        assert_eq!(flow.rate(&p, Time::ZERO), Rate::from_mbps(2500));
    }

    /// Without notification messages, the timer alone raises the rate to its limit, independent of how often it is
    /// read.
    #[test]
    fn a_flow_below_its_limit_climbs_to_it_by_time_alone() {
        let p = QcnParameters { initial_rate: Some(Rate::from_gbps(2)), ..QcnParameters::default() };
        let (mut prompt, mut late) = (flow(&p), flow(&p));
        while prompt.next_change() < Time::from_ms(500) {
            prompt.rate(&p, prompt.next_change());
        }
        assert_eq!(prompt.rate(&p, Time::from_ms(500)), late.rate(&p, Time::from_ms(500)));
        assert!(late.rate(&p, Time::from_ms(500)) > Rate::from_gbps(2));
        assert_eq!(late.rate(&p, Time::from_s(100)), Rate::from_gbps(10));
        assert_eq!(late.next_change(), Time::MAX);
    }

    #[test]
    fn the_rate_keeps_its_bounds_for_any_input() {
        for seed in 0..20 {
            let mut random = Stream::new(seed, 0, 0);
            let p = QcnParameters { gain: 1.0 / (1 + random.below(300)) as f64, ..QcnParameters::default() };
            let (mut flow, mut now) = (flow(&p), Time::ZERO);
            for _ in 0..5000 {
                now += Time::from_us(random.below(20_000));
                match random.below(4) {
                    0 => flow.on_cnm(&p, now, message(random.next_u32() as u8)),
                    1 => flow.on_sent(&p, now, random.below(200_000)),
                    2 => _ = flow.halve(&p, now),
                    _ => {}
                }
                let rate = flow.rate(&p, now);
                assert!((p.recovery.min_rate..=Rate::from_gbps(10)).contains(&rate), "{rate}");
                assert!(flow.next_change() > now);
            }
        }
    }
}
