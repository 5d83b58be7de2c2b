//! Linear delay differential equation, neutral or not, and linearisation of a model.

use crate::models::{FixedPoint, Model};
use crate::solver::{Now, Past};
use nalgebra::{Complex, DMatrix};

/// x'(t) = A x(t) + sum of A_j x(t - d_j) + sum of N_j x'(t - d_j).
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Matrix A, which multiplies the undelayed state x(t).
    pub now: DMatrix<f64>,
    /// Delayed terms, one per delay; the delays are distinct and above 0.
    pub delay_terms: Vec<DelayTerm>,
}

/// Terms of the equation with the same delay d.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayTerm {
    /// Delay d in s, above 0.
    pub delay: f64,
    /// Matrix A_j, which multiplies the delayed state x(t - d).
    pub values: DMatrix<f64>,
    /// Matrix N_j, which multiplies the delayed derivative x'(t - d).
    pub slopes: DMatrix<f64>,
}

/// Returns e^z, computed with functions whose results are equal on every platform.
fn exp(z: Complex<f64>) -> Complex<f64> {
    let size = libm::exp(z.re);
    Complex::new(size * libm::cos(z.im), size * libm::sin(z.im))
}

/// Constant state as past of a model, with a disturbance of one delayed value or derivative.
struct Disturbed<'a> {
    state: &'a [f64],
    /// Index of the delay, index of the variable, disturbance of the value, disturbance of the derivative.
    off: Option<(usize, usize, f64, f64)>,
}

impl Past for Disturbed<'_> {
    fn value(&self, delay: usize, variable: usize) -> f64 {
        let off = self.off.filter(|off| (off.0, off.1) == (delay, variable)).map_or(0.0, |off| off.2);
        self.state[variable] + off
    }

    fn slope(&self, delay: usize, variable: usize) -> f64 {
        self.off.filter(|off| (off.0, off.1) == (delay, variable)).map_or(0.0, |off| off.3)
    }
}

impl Linear {
    /// Creates an equation without delays.
    pub fn new(now: DMatrix<f64>) -> Linear {
        Linear { now, delay_terms: Vec::new() }
    }

    /// Adds the terms of a delay. For a delay of 0 s, `values` is added to A.
    pub fn add_delay(&mut self, delay: f64, values: DMatrix<f64>, slopes: DMatrix<f64>) {
        if delay <= 0.0 {
            self.now += values;
            return;
        }
        match self.delay_terms.iter_mut().find(|term| (term.delay / delay - 1.0).abs() < 1e-12) {
            Some(term) => {
                term.values += values;
                term.slopes += slopes;
            }
            None => self.delay_terms.push(DelayTerm { delay, values, slopes }),
        }
    }

    /// Linearises `model` at the fixed point `point`. The variables of the result are the moving variables of the
    /// fixed point, each divided by its scale.
    pub fn of(model: &dyn Model, point: &FixedPoint) -> Linear {
        let (state, moving) = (&point.state, &point.moving);
        let size = moving.len();
        let scale = |at: usize| model.variables()[moving[at]].scale;
        let slopes = |state: &[f64], off: Option<(usize, usize, f64, f64)>| {
            let mut slopes = vec![0.0; state.len()];
            let past = Disturbed { state: &point.state, off };
            model.derivative(&Now { time: 0.0, state, modes: &point.modes, past: &past }, &mut slopes);
            slopes
        };
        // Jacobian by central differences, column by column: change of each derivative per disturbance of one
        // variable.
        let matrix = |disturb: &dyn Fn(usize, f64) -> Vec<f64>, step: &dyn Fn(usize) -> f64| {
            let mut matrix = DMatrix::zeros(size, size);
            for column in 0..size {
                let by = step(column);
                let (up, down) = (disturb(column, by), disturb(column, -by));
                for row in 0..size {
                    let change = (up[moving[row]] - down[moving[row]]) / (2.0 * by);
                    matrix[(row, column)] = change * scale(column) / scale(row);
                }
            }
            matrix
        };
        let small = |column: usize| 1e-5 * scale(column);
        let now = |column: usize, by: f64| {
            let mut state = state.clone();
            state[moving[column]] += by;
            slopes(&state, None)
        };
        let mut linear = Linear::new(matrix(&now, &small));
        for (index, delay) in model.delays().iter().enumerate() {
            let length = match delay {
                crate::solver::Delay::Constant(length) => *length,
                crate::solver::Delay::Varying { .. } => model.delay(index, 0.0, state),
            };
            let value = |column: usize, by: f64| slopes(state, Some((index, moving[column], by, 0.0)));
            let slope = |column: usize, by: f64| slopes(state, Some((index, moving[column], 0.0, by)));
            let steep = |column: usize| small(column) / length.max(1e-9);
            let of_slopes = if model.is_neutral() { matrix(&slope, &steep) } else { DMatrix::zeros(size, size) };
            linear.add_delay(length, matrix(&value, &small), of_slopes);
        }
        linear
    }

    /// Returns the number of variables of the equation.
    pub fn size(&self) -> usize {
        self.now.nrows()
    }

    /// Returns the longest delay, in s.
    pub fn longest(&self) -> f64 {
        self.delay_terms.iter().map(|term| term.delay).fold(0.0, f64::max)
    }

    /// Returns the spectral radius of N_j for one delay; for several delays that of the sum of all |N_j|, an upper
    /// bound; `None` if all N_j are 0.
    pub fn neutral_radius(&self) -> Option<f64> {
        let mut slopes = self.delay_terms.iter().map(|term| &term.slopes).filter(|slopes| slopes.amax() > 0.0);
        let first = slopes.next()?.clone();
        let rest: Vec<_> = slopes.collect();
        let all = if rest.is_empty() { first } else { rest.iter().fold(first.abs(), |sum, slopes| sum + slopes.abs()) };
        Some(all.complex_eigenvalues().iter().map(|value| libm::hypot(value.re, value.im)).fold(0.0, f64::max))
    }

    /// Returns the characteristic matrix z (1 - sum of N_j e^(-z d_j)) - A - sum of A_j e^(-z d_j), and its derivative
    /// by z.
    pub fn characteristic(&self, z: Complex<f64>) -> [DMatrix<Complex<f64>>; 2] {
        let complex = |matrix: &DMatrix<f64>| matrix.map(|value| Complex::new(value, 0.0));
        let one = DMatrix::<Complex<f64>>::identity(self.size(), self.size());
        let (mut matrix, mut derivative) = (one.clone() * z - complex(&self.now), one);
        for term in &self.delay_terms {
            let (factor, delay) = (exp(-z * term.delay), Complex::new(term.delay, 0.0));
            let (values, slopes) = (complex(&term.values) * factor, complex(&term.slopes) * factor);
            matrix -= &values + &slopes * z;
            derivative += &values * delay - &slopes + slopes * (z * delay);
        }
        [matrix, derivative]
    }
}
