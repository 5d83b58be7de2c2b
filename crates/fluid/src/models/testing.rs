//! Helper functions for tests of models.

use super::Model;
use crate::solver::{Now, Options, solve};

/// Solves the model up to `end`. Returns the mean rate of each group of flows and the mean queue length, averaged
/// over the second half of the time, and the last state.
pub fn means(model: &mut dyn Model, end: f64) -> (Vec<f64>, f64, Vec<f64>) {
    let kinds = model.shared().flows.len();
    let locations: Vec<usize> = (0..kinds).map(|at| model.rate(at)).chain([model.queue()]).collect();
    let (mut sums, mut samples, mut last) = (vec![0.0; kinds + 1], 0.0, Vec::new());
    let options = Options { most_steps: 100_000, ..Options::default() };
    let solved = solve(model, end, end / 4000.0, &options, |time, state| {
        last = state.to_vec();
        if time >= end / 2.0 {
            samples += 1.0;
            locations.iter().zip(&mut sums).for_each(|(location, sum)| *sum += state[*location]);
        }
    });
    solved.unwrap_or_else(|error| panic!("{error}"));
    let queue = sums.pop().unwrap_or_default() / samples;
    (sums.iter().map(|sum| sum / samples).collect(), queue, last)
}

/// Checks that the time derivatives of all moving variables vanish at the fixed point.
pub fn rests(model: &dyn Model) {
    struct Still<'a>(&'a [f64]);
    impl crate::solver::Past for Still<'_> {
        fn value(&self, _: usize, variable: usize) -> f64 {
            self.0[variable]
        }
        fn slope(&self, _: usize, _: usize) -> f64 {
            0.0
        }
    }
    let point = model.fixed_point().expect("a fixed point");
    let mut slopes = vec![0.0; point.state.len()];
    let past = Still(&point.state);
    model.derivative(&Now { time: 0.0, state: &point.state, modes: &point.modes, past: &past }, &mut slopes);
    for &at in &point.moving {
        let variable = &model.variables()[at];
        // A variable must change by less than a millionth of its scale per microsecond.
        assert!(slopes[at].abs() * 1e-6 < 1e-6 * variable.scale, "{}: {:e}", variable.name, slopes[at]);
    }
}
