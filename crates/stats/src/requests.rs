//! Requests and their replies.

use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;
use crate::summary::Distribution;

/// Requests of one traffic entry in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// The entry, from 0.
    pub traffic: u32,
    /// Whether one transport connection carries all requests of a client and server, and another all replies; else each
    /// message has its own.
    #[serde(alias = "session")]
    pub persistent_connection: bool,
    /// Requests that the client began to send.
    #[serde(alias = "asked")]
    pub started: u64,
    /// Requests whose reply has arrived.
    #[serde(alias = "answered")]
    pub completed: u64,
    /// Time from the start of a request to the last byte of its reply at the client, in ns; null without replies.
    pub latency_ns: Option<Distribution>,
    /// Start of the first answered request, in ps; 0 without replies.
    pub first_ps: u64,
    /// Arrival of the last reply, in ps; 0 without replies.
    pub last_ps: u64,
    /// Answered requests per second from the first request to the last reply; null without replies.
    pub per_second: Option<f64>,
}

impl RequestSummary {
    /// Returns the coverage of the latencies.
    pub fn coverage(&self) -> Coverage {
        Coverage { completed: self.completed, started: self.started }
    }
}
