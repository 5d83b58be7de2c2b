//! Solution of a fluid model, sampled at equal intervals.

use fluid::models::Model;
use fluid::solver::{Options, solve};

/// Sampled states of a model; empty if the model has no solution.
pub struct Track {
    /// Time in s and state of each sample.
    pub rows: Vec<(f64, Vec<f64>)>,
    from: f64,
}

impl Track {
    /// Solves `model` until `end` and samples it in intervals of `every`. Means are computed over samples from `from`
    /// on. All times are in s.
    pub fn of(model: &mut dyn Model, [from, end]: [f64; 2], every: f64) -> Track {
        let mut rows = Vec::new();
        let result = solve(model, end, every, &Options::default(), |time, state| rows.push((time, state.to_vec())));
        if result.is_err() {
            rows.clear();
        }
        Track { rows, from }
    }

    /// Applies `pick` to every state from the time `from` on.
    pub fn late(&self, pick: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        self.rows.iter().filter(|row| row.0 >= self.from).map(|row| pick(&row.1)).collect()
    }

    /// Returns the mean of `pick` over the states from the time `from` on; NaN if there is no solution.
    pub fn mean(&self, pick: impl Fn(&[f64]) -> f64) -> f64 {
        let late = self.late(pick);
        late.iter().sum::<f64>() / late.len() as f64
    }

    /// Returns the curve of a state variable: time in ms, and value divided by `unit`.
    pub fn curve(&self, variable: usize, unit: f64) -> Vec<(f64, f64)> {
        self.rows.iter().map(|(time, state)| (time * 1e3, state[variable] / unit)).collect()
    }
}
