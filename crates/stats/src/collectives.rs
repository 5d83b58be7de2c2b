//! Collective operations, in the measures of their benchmarks.

use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;

/// Completed iterations of a traffic entry's collective operation that began in the measured window.
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
    /// Connections that carry the messages from one host to another; null if each message has its own.
    pub qps_per_connection: Option<u32>,
    /// Number of iterations.
    pub iterations: u32,
    /// Number of iterations whose last byte has arrived.
    pub completed: u32,
    /// Time of an iteration, from the start of its first flow to the arrival of its last byte, in ns; null if none
    /// completed.
    pub time_ns: Option<CollectiveTime>,
    /// Size over mean time, in bit/s: `algbw` of nccl-tests.
    pub algorithm_bps: Option<f64>,
    /// `algorithm_bps` times the bus factor: the minimum number of bytes, per byte of `size_bytes`, on the busiest
    /// direction of a host's link. In bit/s: `busbw` of nccl-tests.
    pub bus_bps: Option<f64>,
}

/// Times of iterations, in ns.
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
        Coverage { completed: self.completed.into(), started: self.iterations.into() }
    }
}
