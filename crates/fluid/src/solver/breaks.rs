//! Breaking points, at which the solution is not smooth. A step must end at each breaking point and never cross one.
//!
//! A discontinuity of the k-th derivative at t causes a discontinuity of the (k + 1)-st derivative at t + d for each
//! delay d; in a neutral equation, a discontinuity of the k-th derivative again (Bellen and Zennaro, Numerical
//! Methods for Delay Differential Equations, 2.2).

use super::system::Delay;
use std::collections::VecDeque;

/// Lowest order of a derivative whose discontinuities are ignored, because they do not affect a method of order 5.
const SMOOTH: u8 = 6;
/// Number of pending breaking points from which only discontinuities of derivatives up to order 2 are added, because
/// the number of sums of several delays grows exponentially. The error control handles the other discontinuities.
const MANY: usize = 4096;

/// Breaking point: its time, and the lowest order of a discontinuous derivative (0 for the state itself).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Break {
    /// Time of the breaking point, in s.
    pub time: f64,
    /// Lowest order of a discontinuous derivative.
    pub derivative: u8,
}

/// Pending breaking points, and past ones that delayed times of state-dependent delays may still cross.
#[derive(Clone, Debug, Default)]
pub struct Breaks {
    /// Pending breaking points, by descending time.
    pending: Vec<Break>,
    /// Past breaking points, by ascending time.
    recent: VecDeque<Break>,
}

impl Breaks {
    /// Records the discontinuity `at`, and adds a breaking point one delay later for each delay.
    pub fn happened(&mut self, at: Break, delays: &[Delay], neutral: bool) {
        let derivative = if neutral && at.derivative > 0 { at.derivative } else { at.derivative + 1 };
        for delay in delays {
            if let Delay::Constant(delay) = delay
                && *delay > 0.0
            {
                self.expect(Break { time: at.time + delay, derivative });
            }
        }
        if at.derivative < 2 && delays.iter().any(|delay| matches!(delay, Delay::Varying { .. })) {
            self.recent.push_back(at);
        }
    }

    /// Adds a pending breaking point, unless its derivative is too high to matter.
    pub fn expect(&mut self, new: Break) {
        if new.derivative >= SMOOTH || self.pending.len() >= MANY && new.derivative > 2 {
            return;
        }
        let near = 16.0 * f64::EPSILON * new.time.abs();
        let index = self.pending.partition_point(|known| known.time > new.time + near);
        match self.pending.get_mut(index) {
            Some(known) if known.time >= new.time - near => known.derivative = known.derivative.min(new.derivative),
            _ => self.pending.insert(index, new),
        }
    }

    /// Returns the next pending breaking point.
    pub fn next(&self) -> Option<Break> {
        self.pending.last().copied()
    }

    /// Removes the next pending breaking point, which the solution has reached.
    pub fn pop(&mut self) -> Option<Break> {
        self.pending.pop()
    }

    /// Returns the first past breaking point between `from` and `to`, the delayed times t - d of a state-dependent
    /// delay d at the start and at the end of a step.
    pub fn met(&self, from: f64, to: f64) -> Option<Break> {
        let index = self.recent.partition_point(|at| at.time <= from);
        self.recent.get(index).copied().filter(|at| at.time < to)
    }

    /// Removes past breaking points before `oldest`, which no delayed time can reach any more.
    pub fn forget(&mut self, oldest: f64) {
        while self.recent.front().is_some_and(|at| at.time < oldest) {
            self.recent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(breaks: &mut Breaks, delays: &[Delay], neutral: bool, until: f64) -> Vec<(f64, u8)> {
        let mut found = Vec::new();
        while let Some(next) = breaks.pop().filter(|next| next.time <= until) {
            found.push((next.time, next.derivative));
            breaks.happened(next, delays, neutral);
        }
        found
    }

    #[test]
    fn jumps_travel_along_delays_and_are_smoothed() {
        let delays = [Delay::Constant(1.0), Delay::Constant(2.5)];
        let mut breaks = Breaks::default();
        breaks.happened(Break { time: 0.0, derivative: 1 }, &delays, false);
        let expected = [(1.0, 2), (2.0, 3), (2.5, 2), (3.0, 4), (3.5, 3), (4.0, 5), (4.5, 4), (5.0, 3)];
        assert_eq!(all(&mut breaks, &delays, false, 5.0), expected);
    }

    #[test]
    fn a_neutral_equation_never_smooths() {
        let delays = [Delay::Constant(1.0)];
        let mut breaks = Breaks::default();
        breaks.happened(Break { time: 0.0, derivative: 1 }, &delays, true);
        let found = all(&mut breaks, &delays, true, 20.5);
        assert_eq!(found.len(), 20);
        assert!(found.iter().all(|&(_, derivative)| derivative == 1));
    }

    #[test]
    fn the_same_instant_by_two_ways_is_one_with_the_lower_derivative() {
        let mut breaks = Breaks::default();
        breaks.expect(Break { time: 0.3, derivative: 3 });
        breaks.expect(Break { time: 0.1 + 0.2, derivative: 2 });
        assert_eq!(breaks.pop(), Some(Break { time: 0.3, derivative: 2 }));
        assert_eq!(breaks.pop(), None);
    }
}
