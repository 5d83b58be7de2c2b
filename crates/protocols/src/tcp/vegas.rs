//! Window growth of TCP Vegas, by the number of queued segments (Brakmo, O'Malley and Peterson, SIGCOMM 1994).

use crate::tcp::parameters::TcpParameters;
use units::Time;

/// Change of the congestion window after an RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// Increase it by a segment.
    Grow,
    /// Keep it.
    Hold,
    /// Decrease it by a segment.
    Fall,
    /// Leave slow start.
    EndSlowStart,
}

/// State of Vegas.
#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    /// Numbers of queued segments: below `alpha` the window grows, above `beta` it shrinks, above `gamma` slow start
    /// ends.
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// Minimum RTT so far (BaseRTT).
    base: Time,
    /// Whether slow start doubles the window in this RTT. It does so every other RTT; in between, the queue is
    /// measured.
    pub doubles: bool,
}

impl Vegas {
    pub fn new(parameters: &TcpParameters) -> Self {
        let &TcpParameters { vegas_alpha: alpha, vegas_beta: beta, vegas_gamma: gamma, .. } = parameters;
        Vegas { alpha, beta, gamma, base: Time::MAX, doubles: true }
    }

    /// Handles an RTT sample, with a window of `cwnd` segments.
    pub fn on_round(&mut self, rtt: Time, cwnd: f64, slow_start: bool) -> Round {
        self.base = self.base.min(rtt);
        let (base, rtt) = (self.base.as_ps() as f64, rtt.as_ps().max(1) as f64);
        // Number of queued segments: (expected - actual) * base, with the rates expected = cwnd / base and actual =
        // cwnd / rtt.
        let waiting = cwnd * (rtt - base) / rtt;
        let Vegas { alpha, beta, gamma, .. } = *self;
        if slow_start {
            self.doubles = !self.doubles;
            return if waiting > gamma { Round::EndSlowStart } else { Round::Hold };
        }
        match waiting {
            few if few < alpha => Round::Grow,
            many if many > beta => Round::Fall,
            _ => Round::Hold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BaseRTT 100 us, window of 20 segments: the number of queued segments is 20 (rtt - 100) / rtt.
    #[test]
    fn the_window_moves_by_what_waits() {
        let mut vegas = Vegas::new(&TcpParameters::default());
        let rtt = |us: u64| Time::from_us(us);
        assert_eq!(vegas.on_round(rtt(100), 20.0, false), Round::Grow);
        assert_eq!(vegas.on_round(rtt(111), 20.0, false), Round::Grow, "1.98 wait");
        assert_eq!(vegas.on_round(rtt(112), 20.0, false), Round::Hold, "2.14 wait");
        assert_eq!(vegas.on_round(rtt(125), 20.0, false), Round::Hold, "4 wait");
        assert_eq!(vegas.on_round(rtt(126), 20.0, false), Round::Fall, "4.13 wait");
        assert_eq!(vegas.on_round(rtt(105), 20.0, true), Round::Hold, "0.95 wait");
        assert_eq!(vegas.on_round(rtt(106), 20.0, true), Round::EndSlowStart, "1.13 wait");
        // An RTT of 80 us becomes the new BaseRTT.
        assert_eq!(vegas.on_round(rtt(80), 20.0, false), Round::Grow);
        assert_eq!(vegas.on_round(rtt(101), 20.0, false), Round::Fall, "4.16 wait");
    }
}
