//! Collective operations, in the metrics of nccl-tests.

use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;

/// Iterations of a traffic entry's collective operation. Times cover the completed iterations that began in the
/// measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectiveSummary {
    /// The entry, from 0.
    pub traffic: u32,
    /// The operation, such as `all-reduce`.
    pub operation: String,
    /// The algorithm, such as `ring`.
    pub algorithm: String,
    /// Number of participating hosts.
    pub ranks: u32,
    /// Size of an iteration in bytes, as defined by nccl-tests.
    pub size_bytes: u64,
    /// Number of connections that carry the messages from one host to another; null if each message has its own
    /// connection.
    pub qps_per_connection: Option<u32>,
    /// Number of iterations in the scenario.
    pub iterations: u32,
    /// Number of iterations that began in the measured window, or never began: the population of the times. Null in
    /// results of earlier versions.
    #[serde(default)]
    pub measured: Option<u32>,
    /// Number of completed iterations that began in the measured window.
    pub completed: u32,
    /// Duration of these iterations, from the start of the first flow to the arrival of the last byte, in ns; null if
    /// no iteration completed.
    pub time_ns: Option<CollectiveTime>,
    /// `size_bytes` over the mean duration, in bit/s: `algbw` of nccl-tests.
    pub algorithm_bps: Option<f64>,
    /// `busbw` of nccl-tests in bit/s: `algorithm_bps` times the bus factor, which is the minimum number of bytes that
    /// the busiest direction of a host's link carries per byte of `size_bytes`.
    pub bus_bps: Option<f64>,
}

/// Durations of iterations, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectiveTime {
    /// Mean.
    pub mean: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
}

impl CollectiveSummary {
    /// Returns the coverage of the times.
    pub fn coverage(&self) -> Coverage {
        Coverage { completed: self.completed.into(), started: self.measured.unwrap_or(self.iterations).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_earlier_versions_cover_all_iterations() {
        let mut summary = CollectiveSummary { iterations: 20, completed: 12, ..CollectiveSummary::default() };
        assert_eq!(summary.coverage(), Coverage { completed: 12, started: 20 });
        summary.measured = Some(12);
        assert!(summary.coverage().is_whole());
    }
}
