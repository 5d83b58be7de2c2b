//! Parameters of 802.3x PAUSE triggered by the output queue.

use super::mechanisms::{BURST_GAP, LOWER, NO_NUMBER, UPPER, check_thresholds, part};
use super::parameters::{BackpressureParameters, StopTarget};
use crate::parameters::parameters;
use crate::partial::{EXCEPT, TIERS};
use crate::reaction::Reaction;
use crate::settings::require;
use units::Time;

parameters! {
    /// Parameters of 802.3x PAUSE triggered by the output queue. Thresholds are shares of a port's buffer.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PauseAtOutputParameters: FlowControl "pause-at-output" {
        title: "802.3x PAUSE decided at the output: all ports that feed a congested queue are paused";
        source: "IEEE 802.3-2018 annex 31B; the decision as in FLORAX, section 1";
        /// Upper threshold as a share of a port's buffer, above which senders are paused; above `lower`.
        upper: f64 = "upper" share, default "0.5",
            UPPER,
            NO_NUMBER;
        /// Lower threshold as a share of a port's buffer, below which all paused traffic resumes.
        lower: f64 = "lower" share, default "0.25",
            LOWER,
            NO_NUMBER;
        /// Idle timeout: after this time without a frame, a burst ends and the flow is inactive; above zero.
        burst_gap: Time = "burst_gap" time, default "10ms",
            BURST_GAP,
            NO_NUMBER;
        /// Duration of a PAUSE that is not ended by a resume, above zero; `None`: the maximum of 65535 quanta,
        /// renewed while the port is congested.
        expiry: Option<Time> = "expiry" time_or["auto"], default "auto",
            "duration of a PAUSE without a resume, above 0; auto is 65535 quanta of a switch's fastest link, renewed \
             at half time while the port is congested",
            "IEEE 802.3 annex 31B.2: the longest pause";
        /// Delay between the arrival of a pause and its effect.
        reaction: Reaction = "reaction" reaction, default "standard",
            "time from the arrival of a pause to its effect, also assumed in computed headroom; standard, or a time, \
             also in bits, `3840 bit times`, or quanta",
            "IEEE 802.3 annex 31B.3.7: the maximum for the rate";
    }
    also [EXCEPT, TIERS]
    check(parameters) {
        [
            check_thresholds(parameters.lower, parameters.upper),
            require(parameters.burst_gap > Time::ZERO, "burst_gap", "a time above zero, such as \"10ms\""),
            require(parameters.expiry != Some(Time::ZERO), "expiry", "a time above zero, or \"auto\""),
        ]
    }
}

impl PauseAtOutputParameters {
    /// Returns the thresholds of ports with a buffer of `limit` packets or bytes.
    pub fn per_port(&self, limit: u64) -> BackpressureParameters {
        BackpressureParameters {
            target: StopTarget::WholePort,
            lower: part(self.lower, limit),
            upper: part(self.upper, limit),
            max_upper: part(self.upper, limit),
            raise: 0,
            burst_gap: self.burst_gap,
            expiry: self.expiry.unwrap_or(Time::MAX),
            renewed: self.expiry.is_none(),
            grace: None,
            flows: 1,
        }
    }
}
