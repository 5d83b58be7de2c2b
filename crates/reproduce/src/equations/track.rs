//! A solution at even instants.

use fluid::models::Model;
use fluid::solver::{Options, solve};

/// States of a model over time, up to its end; none where there is no solution.
pub struct Track {
    /// The time in s, and the state.
    pub rows: Vec<(f64, Vec<f64>)>,
    from: f64,
}

impl Track {
    /// Solves `model` and looks `every` so often, up to `end`; means are taken `from` there on. All in s.
    pub fn of(model: &mut dyn Model, [from, end]: [f64; 2], every: f64) -> Track {
        let mut rows = Vec::new();
        let told = solve(model, end, every, &Options::default(), |time, state| rows.push((time, state.to_vec())));
        if told.is_err() {
            rows.clear();
        }
        Track { rows, from }
    }

    /// What `pick` tells of every state from the instant from which means are taken.
    pub fn late(&self, pick: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        self.rows.iter().filter(|row| row.0 >= self.from).map(|row| pick(&row.1)).collect()
    }

    /// Its mean, not a number where there is no solution.
    pub fn mean(&self, pick: impl Fn(&[f64]) -> f64) -> f64 {
        let late = self.late(pick);
        late.iter().sum::<f64>() / late.len() as f64
    }

    /// A variable in units of `unit` over time in ms.
    pub fn curve(&self, variable: usize, unit: f64) -> Vec<(f64, f64)> {
        self.rows.iter().map(|(time, state)| (time * 1e3, state[variable] / unit)).collect()
    }
}
