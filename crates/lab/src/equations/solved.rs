//! The solution of a fluid model as columns, and its statistics.

use fluid::models::Model;
use fluid::solver::{Options, SolveError, Work, solve};
use scenario::FluidFile;
use std::fmt::Write as _;

/// A solved model.
#[derive(Clone, Debug)]
pub struct Solved {
    /// Names of the columns; the last one is the queue in bytes.
    pub names: Vec<String>,
    /// Times, in ps.
    pub times_ps: Vec<u64>,
    /// Values, by column.
    pub columns: Vec<Vec<f64>>,
    /// Column index of the rate of each group of flows.
    pub rates: Vec<usize>,
    /// Work of the solver, in steps and evaluations.
    pub work: Work,
    /// The error that ended the solution early.
    pub failed: Option<SolveError>,
    /// Index of the first row after the warm-up.
    measured: usize,
}

/// Mean, minimum and maximum of a column after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// Mean.
    pub mean: f64,
    /// Minimum.
    pub least: f64,
    /// Maximum.
    pub most: f64,
}

impl Solved {
    /// Returns the names of the columns of a model: its variables, with the queue in bytes.
    pub fn names(model: &dyn Model) -> Vec<String> {
        let queue = model.queue();
        let variables = model.variables().iter().enumerate();
        let name = |(at, variable): (usize, &fluid::solver::Variable)| match at == queue {
            true => "queue_bytes".to_owned(),
            false => variable.name.clone(),
        };
        variables.map(name).collect()
    }

    /// Solves the model of a file, up to the end or the first error.
    pub fn of(file: &FluidFile) -> Solved {
        let mut model = file.model();
        let (names, queue) = (Solved::names(&*model), model.queue());
        let rates: Vec<usize> = (0..file.flows.len()).map(|flows| model.rate(flows)).collect();
        let mut columns = vec![Vec::new(); names.len()];
        let mut times_ps = Vec::new();
        let (sample, duration) = (file.sample.as_secs_f64(), file.duration.as_secs_f64());
        let options = Options { tolerance: file.tolerance, ..Options::default() };
        let done = solve(&mut *model, duration, sample, &options, |time, state| {
            times_ps.push(times_ps.len() as u64 * file.sample.as_ps());
            for (column, value) in columns.iter_mut().zip(state) {
                column.push(*value);
            }
            // Before its start, a flow has rate 0.
            for (rate, _) in rates.iter().zip(&file.flows).filter(|(_, flows)| time < flows.start) {
                columns[*rate].pop();
                columns[*rate].push(0.0);
            }
        });
        columns[queue].iter_mut().for_each(|bits| *bits /= 8.0);
        let (work, failed) = match done {
            Ok(work) => (work, None),
            Err(error) => (Work::default(), Some(error)),
        };
        let measured = times_ps.partition_point(|time| *time < file.warm_up.as_ps());
        Solved { names, times_ps, columns, rates, work, failed, measured }
    }

    /// Returns the statistics of a column after the warm-up; `None` if the solution ended before the end of the
    /// warm-up.
    pub fn spread(&self, column: usize) -> Option<ColumnStatistics> {
        let values = &self.columns[column][self.measured..];
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        Some(ColumnStatistics { mean: values.iter().sum::<f64>() / values.len() as f64, least, most })
    }

    /// Returns the statistics of the queue, in bytes.
    pub fn queue(&self) -> Option<ColumnStatistics> {
        self.spread(self.names.len() - 1)
    }

    /// Returns the values of a column; for a name with `'` appended, its derivative in 1/s from differences of adjacent
    /// samples. `None` for any other name.
    pub fn series(&self, name: &str) -> Option<Vec<f64>> {
        let plain = name.strip_suffix('\'').unwrap_or(name);
        let values = &self.columns[self.names.iter().position(|known| known == plain)?];
        if plain == name {
            return Some(values.clone());
        }
        let slope = |row: usize| {
            let (low, high) = (row.saturating_sub(1), (row + 1).min(values.len() - 1));
            let span = (self.times_ps[high] - self.times_ps[low]) as f64 / 1e12;
            if span > 0.0 { (values[high] - values[low]) / span } else { 0.0 }
        };
        Some((0..values.len()).map(slope).collect())
    }

    /// Returns the series as CSV: `time_ps`, then the columns.
    pub fn csv(&self) -> String {
        let mut text = format!("time_ps,{}\n", self.names.join(","));
        for (row, time) in self.times_ps.iter().enumerate() {
            text.push_str(&time.to_string());
            for column in &self.columns {
                // Writing to a String cannot fail.
                let _ = write!(text, ",{}", column[row]);
            }
            text.push('\n');
        }
        text
    }
}
