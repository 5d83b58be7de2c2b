//! Parameters of FLORAX and of backpressure by destination.

use super::parameters::{BackpressureParameters, StopTarget};
use crate::describe::{Mechanism, extended};
use crate::parameters::parameters;
use crate::partial::{EXCEPT, TIERS};
use crate::settings::{ParameterError, require};
use units::Time;

pub(super) const NO_NUMBER: &str = "choice of this project: no value in the FLORAX paper";
pub(super) const UPPER: &str =
    "share of a port's buffer (switch.queue) above which senders are stopped, 0 to 1, above `lower`";
pub(super) const LOWER: &str = "share of a port's buffer below which all stopped traffic resumes, above 0";
pub(super) const BURST_GAP: &str = "idle time after which a burst ends and a flow is no longer counted, above 0";

parameters! {
    /// Parameters of FLORAX. Thresholds are shares of a port's buffer.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FloraxParameters: FlowControl "florax" {
        title: "backpressure per flow: flows above their fair share are slowed down, hop by hop";
        source: "Lee, Coleri, Dong, Ergen: FLORAX, Flow-Rate Based Hop by Hop Backpressure Control for IEEE 802.3x";
        /// Upper threshold as a share of a port's buffer, above which senders are paused; above `lower`.
        upper: f64 = "upper" share, default "0.5",
            UPPER,
            NO_NUMBER;
        /// Lower threshold as a share of a port's buffer, below which all paused traffic resumes.
        lower: f64 = "lower" share, default "0.25",
            LOWER,
            NO_NUMBER;
        /// Share of a port's buffer above which every flow is paused, at least `upper`.
        max_upper: f64 = "max_upper" share, default "0.8",
            "share of a port's buffer above which every flow is blocked, from `upper` to 1",
            "FLORAX, section 4.2.2: against overflow, so frames in flight must fit above it; the value is a choice of \
             this project";
        /// Rise of the upper threshold as a share of `upper`, after each decision that sends an XOFF.
        raise: f64 = "raise" share, default "0.1",
            "rise of the upper threshold, as a share of `upper`, after each decision that sends an XOFF, up to \
             `max_upper`; below `lower` it falls back to `upper`",
            "choice of this project: FLORAX, section 4.2.2, resets the upper threshold, so it must have been raised";
        /// Idle timeout: after this time without a frame, a burst ends and the flow is inactive; above zero.
        burst_gap: Time = "burst_gap" time, default "10ms",
            BURST_GAP,
            NO_NUMBER;
        /// Duration of an XOFF that is not ended by an XON, above zero.
        expiry: Time = "expiry" time, default "20ms",
            "duration of an XOFF without an XON, above 0; longer than the time to drain a full buffer",
            "FLORAX, section 4.2.2: a protection against lost XONs, so normally the XON is first; the value is a \
             choice of this project";
        /// Grace period after an XOFF, in which frames above the permitted rate are not dropped; `None`: computed from
        /// the link delay and the frame size.
        grace: Option<Time> = "grace" time_or["auto"], default "auto",
            "time after an XOFF in which a flow's excess still passes; auto is the link's round trip and three frames",
            "choice of this project: the paper drops frames received despite an XOFF, without a start time";
        /// Maximum number of entries in a port's flow table, at least 1.
        flows: u32 = "flows" count[1, 4_294_967_295], default "4096",
            "entries of a port's flow table, at least 1; further flows are stopped without an entry",
            "choice of this project: address tables of the paper's time";
    }
    also [EXCEPT, TIERS]
    check(parameters) {
        [
            check_thresholds(parameters.lower, parameters.upper),
            require(parameters.burst_gap > Time::ZERO, "burst_gap", "a time above zero, such as \"10ms\""),
            require(parameters.expiry > Time::ZERO, "expiry", "a time above zero, such as \"20ms\""),
        ]
    }
}

/// Checks the order of the thresholds of a port.
pub(super) fn check_thresholds(lower: f64, upper: f64) -> Result<(), ParameterError> {
    let wanted = || format!("a share below `upper` = {upper}: stopped senders would resume immediately");
    require(lower < upper, "lower", wanted())
}

/// Description of FLORAX and its parameters.
pub const FLORAX: Mechanism = MECHANISM;

/// Keys of FLORAX that do not exist in backpressure by destination.
const OF_FLOWS: [&str; 3] = ["max_upper", "raise", "grace"];

/// Description of backpressure by destination and its parameters.
pub const DESTINATION: Mechanism = Mechanism {
    kind: "destination",
    title: "backpressure per destination: traffic to a congested destination is stopped, hop by hop",
    source: "Noureddine, Tobagi: Selective Backpressure in Switched Ethernet LANs, 1999, as FLORAX compares with it",
    parameters: &extended::<{ FLORAX.parameters.len() - OF_FLOWS.len() }>(FLORAX.parameters, &OF_FLOWS, &[], &[]),
    ..FLORAX
};

/// Returns the share of a port's buffer of `limit` packets or bytes, rounded to the nearest whole number.
pub(super) fn part(share: f64, limit: u64) -> u64 {
    (share * limit as f64 + 0.5) as u64
}

impl FloraxParameters {
    /// Returns the thresholds of FLORAX at ports with a buffer of `limit` packets or bytes.
    pub fn per_flow(&self, limit: u64) -> BackpressureParameters {
        BackpressureParameters {
            target: StopTarget::Flows,
            max_upper: part(self.max_upper, limit),
            raise: part(self.raise, part(self.upper, limit)),
            grace: self.grace,
            ..self.per_destination(limit)
        }
    }

    /// Returns the thresholds of backpressure by destination at ports with a buffer of `limit` packets or bytes.
    pub fn per_destination(&self, limit: u64) -> BackpressureParameters {
        BackpressureParameters {
            target: StopTarget::Destinations,
            lower: part(self.lower, limit),
            upper: part(self.upper, limit),
            max_upper: part(self.upper, limit),
            raise: 0,
            burst_gap: self.burst_gap,
            expiry: self.expiry,
            renewed: false,
            grace: None,
            flows: self.flows,
        }
    }
}
