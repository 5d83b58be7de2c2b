//! HetFlow (Bahnasy, thesis, ETS Montreal, chapter 3): a receiver samples the gradient of the
//! one-way delay and notifies the sender of congestion; the sender cuts its rate and recovers along a cubic function.
//! It needs neither switch support nor synchronised clocks, because only differences of delays are used.
//!
//! ```text
//!  sender: stamps each frame as it leaves, paces ──data──▶ receiver: samples (sampler.rs)
//!     ▲                                                        │
//!     └───────── congestion notification message (Fb) ─────────┘
//! ```

mod parameters;
mod sampler;

pub use parameters::{HetFlowParameters, MECHANISM};
pub use sampler::Sampler;

use crate::control_state::ControlState;
use crate::frame::CongestionMessage;
use crate::rate_control::scaled;
use crate::rate_control::{FlowLimits, RateController};
use units::{Rate, Time};

/// Maximum feedback, as in QCN.
pub const MAX_FEEDBACK: u8 = 64;

/// Rate control of one flow.
#[derive(Clone, Debug)]
pub struct HetFlow {
    rate: Rate,
    limit: Rate,
    /// Rate before the last cut, to which the rate recovers.
    target: Rate,
    /// Relative reduction by the last cut, Gd Fb^.
    depth: f64,
    /// Time of the last cut; updates of the rate are at multiples of `update` after it.
    climbs_from: Time,
    /// End of the recovery, at which the cubic has reached the target with zero slope.
    recovers_at: Time,
    /// Time of the next update of the rate; [`Time::MAX`] if the rate has reached its limit.
    next: Time,
}

/// Returns the ratio of rate to target by the cubic function (thesis, eq. 3.6; `recovers_at` is t^ + sigma).
fn climb(depth: f64, now: Time, recovers_at: Time, recovery: Time) -> f64 {
    let progress = (now.as_ps() as f64 - recovers_at.as_ps() as f64) / recovery.as_ps() as f64;
    1.0 + depth * (progress * progress * progress)
}

impl HetFlow {
    /// Reduces the rate by the share `depth` (thesis, eq. 3.5), and starts the recovery.
    fn cut(&mut self, parameters: &HetFlowParameters, now: Time, depth: f64) {
        self.target = self.rate;
        self.depth = depth;
        self.climbs_from = now;
        self.recovers_at = now.saturating_add(parameters.recovery);
        self.rate = scaled(self.target, 1.0 - depth, parameters.min_rate, self.limit);
        // The first update of the rate is not before the time `timer` after the notification.
        let updates = parameters.timer.as_ps().div_ceil(parameters.update.as_ps());
        self.next = now.saturating_add(Time::from_ps(parameters.update.as_ps().saturating_mul(updates)));
    }

    /// Applies all updates of the rate up to `now`. It computes only the last one, since the cubic depends only on
    /// the time.
    fn advance(&mut self, parameters: &HetFlowParameters, now: Time) {
        if now < self.next {
            return;
        }
        let update_ps = parameters.update.as_ps();
        // Updates are at multiples of `update` after the cut, whenever this function is called.
        let since = Time::from_ps((now - self.climbs_from).as_ps() / update_ps * update_ps);
        let update = self.climbs_from.saturating_add(since);
        self.next = update.saturating_add(parameters.update);
        let factor = climb(self.depth, update, self.recovers_at, parameters.recovery);
        self.rate = scaled(self.target, factor, parameters.min_rate, self.limit);
        if self.rate == self.limit {
            self.next = Time::MAX;
        }
    }
}

impl RateController for HetFlow {
    type Parameters = HetFlowParameters;

    /// A flow whose initial rate is below its limit starts as at the end of a recovery after the largest cut.
    fn new(parameters: &HetFlowParameters, limits: FlowLimits) -> Self {
        let FlowLimits { most: limit, start, .. } = limits;
        let rate = parameters.initial_rate.unwrap_or(limit).min(limit);
        let next = if rate < limit { start.saturating_add(parameters.update) } else { Time::MAX };
        let depth = parameters.gain * f64::from(MAX_FEEDBACK);
        HetFlow { rate, limit, target: rate, depth, climbs_from: start, recovers_at: start, next }
    }

    fn most(&self) -> Rate {
        self.limit
    }

    #[inline]
    fn rate(&mut self, parameters: &HetFlowParameters, now: Time) -> Rate {
        self.advance(parameters, now);
        self.rate
    }

    #[inline]
    fn next_change(&self) -> Time {
        self.next
    }

    fn control_state(&mut self, parameters: &HetFlowParameters, now: Time) -> ControlState {
        let rate = Some(self.rate(parameters, now));
        ControlState { rate, target: Some(self.target), ..ControlState::default() }
    }

    fn on_cnm(&mut self, parameters: &HetFlowParameters, now: Time, message: CongestionMessage) {
        self.advance(parameters, now);
        let feedback = message.feedback.min(MAX_FEEDBACK);
        if feedback > 0 {
            self.cut(parameters, now, parameters.gain * f64::from(feedback));
        }
    }

    fn halve(&mut self, parameters: &HetFlowParameters, now: Time) -> bool {
        self.advance(parameters, now);
        let falls = self.rate > parameters.min_rate.min(self.limit);
        if falls {
            self.cut(parameters, now, 0.5);
        }
        falls
    }
}

#[cfg(test)]
mod tests;
