//! Previous solution as piecewise polynomials, evaluated at delayed times.

use super::system::{Past, System};
use super::tableau::{DENSE, STAGES};
use std::cell::Cell;
use std::collections::VecDeque;

/// Number of polynomial coefficients per variable and step.
const COEFFICIENTS: usize = 5;

/// One step of the solution, as a polynomial (continuous extension).
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// Start time of the step, in s.
    pub start: f64,
    /// Length of the step, in s.
    pub length: f64,
    coefficients: Vec<f64>,
}

impl Piece {
    /// Creates a piece with constant state: the approximation at the start of a step, before its stages are computed.
    pub fn rest(start: f64, state: &[f64]) -> Piece {
        Piece { start, length: 1.0, coefficients: state.iter().flat_map(|x| [*x, 0.0, 0.0, 0.0, 0.0]).collect() }
    }

    /// Creates a piece that extrapolates the free variables linearly: the first approximation of a step, before its
    /// stages are computed.
    pub fn line(start: f64, length: f64, state: &[f64], slopes: &[f64], free: &[bool]) -> Piece {
        let mut piece = Piece { length, ..Piece::rest(start, state) };
        for at in (0..state.len()).filter(|&at| free[at]) {
            piece.coefficients[COEFFICIENTS * at + 1] = length * slopes[at];
        }
        piece
    }

    /// Creates the continuous extension of a step from the state `from` to the state `to`, from the derivatives
    /// `stages` at its stages. Variables that are not free are constant.
    pub fn of_step(
        start: f64,
        length: f64,
        from: &[f64],
        to: &[f64],
        stages: &[Vec<f64>; STAGES],
        free: &[bool],
    ) -> Piece {
        let mut piece = Piece { length, ..Piece::rest(start, from) };
        for at in (0..from.len()).filter(|&at| free[at]) {
            let rise = to[at] - from[at];
            let bend = length * stages[0][at] - rise;
            let last: f64 = DENSE.iter().zip(stages).map(|(weight, stage)| weight * stage[at]).sum();
            let slack = rise - length * stages[STAGES - 1][at] - bend;
            piece.coefficients[COEFFICIENTS * at + 1..][..4].copy_from_slice(&[rise, bend, slack, length * last]);
        }
        piece
    }

    /// Returns the end time of the piece, in s.
    pub fn end(&self) -> f64 {
        self.start + self.length
    }

    /// Returns the value of a variable after the fraction `share` of the step.
    pub fn value(&self, variable: usize, share: f64) -> f64 {
        let c = &self.coefficients[COEFFICIENTS * variable..][..COEFFICIENTS];
        let rest = 1.0 - share;
        c[0] + share * (c[1] + rest * (c[2] + share * (c[3] + rest * c[4])))
    }

    /// Computes all variables after the fraction `share` of the step.
    pub fn state(&self, share: f64, state: &mut [f64]) {
        state.iter_mut().enumerate().for_each(|(variable, x)| *x = self.value(variable, share));
    }

    /// Returns the time derivative of a variable after the fraction `share` of the step.
    pub fn slope(&self, variable: usize, share: f64) -> f64 {
        let c = &self.coefficients[COEFFICIENTS * variable..][..COEFFICIENTS];
        let rest = 1.0 - share;
        // Derivative of the nested polynomial by the product rule, starting with the innermost factor.
        let inner = c[3] + rest * c[4];
        let middle = c[2] + share * inner;
        let middle_slope = inner - share * c[4];
        let outer = c[1] + rest * middle;
        let outer_slope = rest * middle_slope - middle;
        (outer + share * outer_slope) / self.length
    }

    fn share(&self, time: f64) -> f64 {
        ((time - self.start) / self.length).clamp(0.0, 1.0)
    }
}

/// Steps of the solution that delayed times can still reach.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Start time of the solution, in s.
    pub start: f64,
    pieces: VecDeque<Piece>,
}

impl History {
    /// Adds a step, and removes the steps that end before `oldest`.
    pub fn push(&mut self, piece: Piece, oldest: f64) {
        self.pieces.push_back(piece);
        while self.pieces.front().is_some_and(|piece| piece.end() < oldest) {
            self.pieces.pop_front();
        }
    }

    /// Returns the piece that contains `time`. At the boundary of two pieces it is the earlier one, or the later one
    /// if `right` is set.
    fn find(&self, time: f64, right: bool, near: f64) -> Option<&Piece> {
        let before = |piece: &Piece| if right { piece.end() <= time + near } else { piece.end() < time - near };
        self.pieces.get(self.pieces.partition_point(before))
    }
}

/// Delayed values as a stage of the current step uses them: the implementation of [`Past`].
pub struct Seen<'a, S: ?Sized> {
    pub system: &'a S,
    pub history: &'a History,
    /// The step that is being computed.
    pub current: &'a Piece,
    pub time: f64,
    pub lags: &'a [f64],
    /// Set at the start of a step: at a discontinuity, a delayed value is the limit from the right.
    pub right: bool,
    /// Set if a delayed time is within the current step; the step must then be iterated.
    pub overlapped: &'a Cell<bool>,
}

impl<S: System + ?Sized> Seen<'_, S> {
    fn evaluate<T>(&self, delay: usize, at_piece: impl Fn(&Piece, f64) -> T, before_start: impl Fn(f64) -> T) -> T {
        let near = 16.0 * f64::EPSILON * self.time.abs();
        let time = self.time - self.lags[delay];
        let current = self.current;
        if time > current.start + near || self.right && time >= current.start - near {
            self.overlapped.set(self.overlapped.get() || time > current.start + near);
            return at_piece(current, current.share(time));
        }
        if time < self.history.start - near || time <= self.history.start + near && !self.right {
            return before_start(time.min(self.history.start));
        }
        match self.history.find(time, self.right, near) {
            Some(piece) => at_piece(piece, piece.share(time)),
            None => at_piece(current, 0.0),
        }
    }
}

impl<S: System + ?Sized> Past for Seen<'_, S> {
    fn value(&self, delay: usize, variable: usize) -> f64 {
        let before = |time| {
            let mut state = vec![0.0; self.system.variables().len()];
            self.system.history(time, &mut state);
            state[variable]
        };
        self.evaluate(delay, |piece, share| piece.value(variable, share), before)
    }

    fn slope(&self, delay: usize, variable: usize) -> f64 {
        // The initial history may have other derivatives if it is not constant, but no equation of this crate uses
        // them.
        self.evaluate(delay, |piece, share| piece.slope(variable, share), |_| 0.0)
    }
}
