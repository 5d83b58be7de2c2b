//! Flow throughput over time.

use crate::failure::Failure;
use crate::registry::Source;
use crate::trial::{finish, simulation};
use model::Outcome;
use model::Watcher;
use model::parameters::Setup;
use text::{Layout, table};
use units::Time;

/// Interval of the throughput samples in the scenarios of the Tagger paper.
pub const EVERY: Time = Time::from_ms(1);

/// Delivered bytes of each traffic entry per sampling interval, and the run's summary.
#[derive(Debug, Default)]
pub struct Series {
    /// Payload bytes by traffic entry and sampling interval.
    bytes: Vec<Vec<u64>>,
    /// Summary of the run.
    pub summary: Outcome,
    duration: Time,
}

impl Watcher for Series {
    fn throughput(&mut self, at: Time, traffic: u8, bytes: u64) {
        let (entry, interval) = (usize::from(traffic), (at.as_ps() / EVERY.as_ps()) as usize);
        if self.bytes.len() <= entry {
            self.bytes.resize(entry + 1, Vec::new());
        }
        if self.bytes[entry].len() <= interval {
            self.bytes[entry].resize(interval + 1, 0);
        }
        self.bytes[entry][interval] += bytes;
    }
}

impl Series {
    /// Runs `setup`. Error messages name `source`.
    pub fn of(setup: Setup, source: &Source) -> Result<Series, Failure> {
        let mut series = Series { duration: setup.duration, ..Series::default() };
        let mut simulation = simulation(setup, source)?;
        simulation.run(&mut series);
        series.summary = finish(&mut simulation, &mut series);
        Ok(series)
    }

    /// Returns the mean goodput of a traffic entry between two times (multiples of [`EVERY`]), in Gbps.
    pub fn gbps(&self, entry: usize, from: Time, to: Time) -> f64 {
        // A sample at time t covers the interval before t.
        let intervals = (from.as_ps() / EVERY.as_ps()) as usize + 1..=(to.as_ps() / EVERY.as_ps()) as usize;
        let bytes = self.bytes.get(entry);
        let sum: u64 = intervals.filter_map(|interval| bytes.and_then(|bytes| bytes.get(interval))).sum();
        sum as f64 * 8.0 / (to - from).as_secs_f64() / 1e9
    }

    /// Returns the mean goodput of a traffic entry over the second half of the run, in Gbps.
    pub fn last_half(&self, entry: usize) -> f64 {
        self.gbps(entry, self.duration / 2, self.duration)
    }

    /// Returns 1 if the run found a deadlock, otherwise 0.
    pub fn deadlocks(&self) -> f64 {
        f64::from(u8::from(self.summary.deadlock.is_some()))
    }

    /// Returns the number of frames dropped by full lossless queues.
    pub fn lossless_lost(&self) -> f64 {
        self.lost("lossless queue full")
    }

    /// Returns the number of frames dropped because of `cause`.
    pub fn lost(&self, cause: &str) -> f64 {
        self.summary.packets.dropped.get(cause).copied().unwrap_or(0) as f64
    }
}

/// Returns a table of mean rates in Gbps per 5 ms, with a row for each run and traffic entry.
pub fn rates(runs: &[(&str, &Series)], entries: &[&str]) -> String {
    let step = EVERY * 5;
    let duration = runs.iter().map(|run| run.1.duration).max().unwrap_or_default();
    let instants: Vec<Time> = (0..duration.as_ps() / step.as_ps()).map(|at| step * at).collect();
    let mut header = vec!["run".to_owned(), "flow".to_owned()];
    header.extend(instants.iter().map(|&at| format!("{:.0} ms", (at + step).as_secs_f64() * 1e3)));
    let rows: Vec<Vec<String>> = runs
        .iter()
        .flat_map(|(name, series)| {
            let instants = &instants;
            entries.iter().enumerate().map(move |(entry, label)| {
                let mut row = vec![(*name).to_owned(), (*label).to_owned()];
                row.extend(instants.iter().map(|&at| format!("{:.1}", series.gbps(entry, at, at + step))));
                row
            })
        })
        .collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    table(&header, &rows, 2, Layout::Fixed, 2)
}
