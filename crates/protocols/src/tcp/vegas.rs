//! How the window of TCP Vegas grows: by how many segments of its own wait in the network (Brakmo, O'Malley and
//! Peterson, SIGCOMM 1994).

use units::Time;

/// Its thresholds, in segments that wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasParameters {
    /// With fewer the window grows by a segment a round trip.
    pub alpha: f64,
    /// With more it falls by one; at least `alpha`.
    pub beta: f64,
    /// With more slow start ends.
    pub gamma: f64,
}

impl Default for VegasParameters {
    fn default() -> Self {
        VegasParameters { alpha: 2.0, beta: 4.0, gamma: 1.0 }
    }
}

/// What a round trip says of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// It grows by a segment.
    Grow,
    /// It stays.
    Hold,
    /// It falls by a segment.
    Fall,
    /// Slow start is over.
    EndSlowStart,
}

/// What it remembers.
#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    parameters: VegasParameters,
    /// The shortest round trip so far.
    base: Time,
    /// Whether slow start doubles in this round: it does in every other one, so that the rounds between can measure.
    pub doubles: bool,
}

impl Vegas {
    pub fn new(parameters: VegasParameters) -> Self {
        Vegas { parameters, base: Time::MAX, doubles: true }
    }

    /// A round trip was measured, with a window of `cwnd` segments.
    pub fn on_round(&mut self, rtt: Time, cwnd: f64, slow_start: bool) -> Round {
        self.base = self.base.min(rtt);
        let (base, rtt) = (self.base.as_ps() as f64, rtt.as_ps().max(1) as f64);
        // (expected - actual) x base, with expected = cwnd / base and actual = cwnd / rtt.
        let waiting = cwnd * (rtt - base) / rtt;
        let VegasParameters { alpha, beta, gamma } = self.parameters;
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

    /// Base 100 us: a window of 20 sees 20 (rtt - 100) / rtt segments wait.
    #[test]
    fn the_window_moves_by_what_waits() {
        let mut vegas = Vegas::new(VegasParameters::default());
        let rtt = |us: u64| Time::from_us(us);
        assert_eq!(vegas.on_round(rtt(100), 20.0, false), Round::Grow);
        assert_eq!(vegas.on_round(rtt(111), 20.0, false), Round::Grow, "1.98 wait");
        assert_eq!(vegas.on_round(rtt(112), 20.0, false), Round::Hold, "2.14 wait");
        assert_eq!(vegas.on_round(rtt(125), 20.0, false), Round::Hold, "4 wait");
        assert_eq!(vegas.on_round(rtt(126), 20.0, false), Round::Fall, "4.13 wait");
        assert_eq!(vegas.on_round(rtt(105), 20.0, true), Round::Hold, "0.95 wait");
        assert_eq!(vegas.on_round(rtt(106), 20.0, true), Round::EndSlowStart, "1.13 wait");
        // A shorter round trip is the base from then on.
        assert_eq!(vegas.on_round(rtt(80), 20.0, false), Round::Grow);
        assert_eq!(vegas.on_round(rtt(101), 20.0, false), Round::Fall, "4.16 wait");
    }
}
