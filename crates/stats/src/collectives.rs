//! Collective operations, as those who run them measure them.

use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;

/// Iterations of a traffic entry's collective operation that began in the measured window and are through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectiveSummary {
    /// The entry, counted from 0.
    pub traffic: u32,
    /// What is done, such as `all-reduce`.
    pub operation: String,
    /// How, such as `ring`.
    pub algorithm: String,
    /// How many hosts take part.
    pub ranks: u32,
    /// What an iteration is about, in bytes, as nccl-tests counts them.
    pub size_bytes: u64,
    /// How many connections carry the messages from one host to another; null: each message has its own.
    pub qps_per_connection: Option<u32>,
    /// Iterations that there are.
    pub iterations: u32,
    /// Of these, iterations whose last byte is known to have arrived.
    pub completed: u32,
    /// Of an iteration, from the start of its first flow to the arrival of its last byte, in ns; null if none
    /// completed.
    pub time_ns: Option<CollectiveTime>,
    /// Size over mean time, in bits per second: `algbw` of nccl-tests.
    pub algorithm_bps: Option<f64>,
    /// That times what the busiest direction of a host's link carries at least for each byte: `busbw` of nccl-tests.
    pub bus_bps: Option<f64>,
}

/// How long iterations took, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectiveTime {
    /// On average.
    pub mean: f64,
    /// The quickest.
    pub min: f64,
    /// The slowest.
    pub max: f64,
}

impl CollectiveSummary {
    /// How many of the iterations the times cover.
    pub fn coverage(&self) -> Coverage {
        Coverage { completed: self.completed.into(), started: self.iterations.into() }
    }
}
