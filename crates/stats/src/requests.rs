//! Requests and their replies.

use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;
use crate::summary::Distribution;

/// Requests of one traffic entry in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// Index of the traffic entry in the scenario, from 0.
    pub traffic: u32,
    /// Whether one transport connection carries all requests from a client to a server, and another one all replies;
    /// otherwise each request and each reply has its own connection.
    #[serde(alias = "session")]
    pub persistent_connection: bool,
    /// Number of requests that clients began to send.
    #[serde(alias = "asked")]
    pub started: u64,
    /// Number of requests whose reply has arrived.
    #[serde(alias = "answered")]
    pub completed: u64,
    /// Time from the start of a request to the arrival of the last byte of its reply at the client, in ns; null without
    /// replies.
    pub latency_ns: Option<Distribution>,
    /// Start of the first request whose reply arrived, in ps; 0 without replies.
    pub first_ps: u64,
    /// Arrival of the last reply, in ps; 0 without replies.
    pub last_ps: u64,
    /// Completed requests per second, from `first_ps` to `last_ps`; null without replies.
    pub per_second: Option<f64>,
}

impl RequestSummary {
    /// Returns the coverage of the latencies.
    pub fn coverage(&self) -> Coverage {
        Coverage { completed: self.completed, started: self.started }
    }
}
