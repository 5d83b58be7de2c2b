//! ECCP (M. F. Bahnasy, Lossless Ethernet and its Applications, thesis, ETS Montreal, chapter 2): trains of probes
//! estimate the available bandwidth of the path. A sender adapts its rate so that some bandwidth stays available.
//! Trains need no switch support.
//!
//! ```text
//!  rate controller (here) ──data──▶ receiver
//!  probe sender (probe.rs) ──trains, stamped as they leave──▶ probe receiver, bandwidth estimator (estimator.rs)
//!     ▲                                                              │
//!     └──────────── notification: bandwidth available ───────────────┘
//! ```

mod estimator;
mod fastest;
mod filter;
mod parameters;
mod probe;

pub use estimator::Estimator;
pub use filter::Filter;
pub use parameters::{BandwidthSource, EccpParameters, MECHANISM, StrainVariance};
pub use probe::ProbeSender;

use crate::control_state::ControlState;
use crate::frame::Frame;
use crate::rate_control::{FlowLimits, RateController};
use crate::rate_recovery::RateRecovery;
use units::{Rate, Time};

/// Rate control of one flow.
#[derive(Clone, Debug)]
pub struct Eccp {
    recovery: RateRecovery,
    /// A_old, the available-bandwidth ratio at the previous notification.
    ratio: f64,
    /// Available bandwidth of the last notification in bits per second; `u64::MAX` before the first.
    available_bps: u64,
}

impl Eccp {
    /// Handles a notification of `available_bps`. Returns the factor by which the rate must be multiplied, or `None`
    /// if there is no cut (thesis, eq. 2.5 to 2.7). The ratio is clamped to 1, since no train is faster than `share`
    /// of the sending rate.
    fn judge(&mut self, parameters: &EccpParameters, available_bps: u64) -> Option<f64> {
        let margin_bps = self.recovery.current().as_bps() as f64 * parameters.share;
        let ratio = (available_bps as f64 / margin_bps).clamp(0.0, 1.0);
        let feedback = (ratio - parameters.equilibrium) + parameters.weight * (ratio - self.ratio);
        (self.ratio, self.available_bps) = (ratio, available_bps);
        (feedback < 0.0).then(|| (1.0 + parameters.gain * feedback).max(0.5))
    }
}

impl RateController for Eccp {
    type Parameters = EccpParameters;

    fn new(parameters: &EccpParameters, limits: FlowLimits) -> Self {
        let initial = parameters.initial_rate.unwrap_or(limits.most).min(limits.most);
        let recovery = RateRecovery::starting(&parameters.recovery, initial, limits.most, limits.start);
        Eccp { recovery, ratio: 1.0, available_bps: u64::MAX }
    }

    fn most(&self) -> Rate {
        self.recovery.most()
    }

    #[inline]
    fn rate(&mut self, parameters: &EccpParameters, now: Time) -> Rate {
        self.recovery.advance(&parameters.recovery, now);
        self.recovery.current()
    }

    #[inline]
    fn next_change(&self) -> Time {
        self.recovery.next_change()
    }

    #[inline]
    fn on_sent(&mut self, parameters: &EccpParameters, now: Time, bytes: u64) {
        self.recovery.advance(&parameters.recovery, now);
        self.recovery.on_sent(&parameters.recovery, bytes);
    }

    fn on_cnp(&mut self, parameters: &EccpParameters, now: Time, frame: &Frame) {
        self.recovery.advance(&parameters.recovery, now);
        if let Some(factor) = self.judge(parameters, frame.available_bps()) {
            self.recovery.cut(&parameters.recovery, now, factor, false);
        }
    }

    fn control_state(&mut self, parameters: &EccpParameters, now: Time) -> ControlState {
        ControlState {
            rate: Some(self.rate(parameters, now)),
            target: Some(self.recovery.target()),
            available_bps: Some(self.available_bps).filter(|&bps| bps != u64::MAX),
            ..ControlState::default()
        }
    }

    fn halve(&mut self, parameters: &EccpParameters, now: Time) -> bool {
        self.recovery.advance(&parameters.recovery, now);
        let falls = self.recovery.current() > parameters.recovery.min_rate;
        if falls {
            self.recovery.cut(&parameters.recovery, now, 0.5, false);
        }
        falls
    }
}

#[cfg(test)]
mod tests;
