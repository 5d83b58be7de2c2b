//! Requests and their replies.

use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;
use crate::summary::Distribution;

/// Requests of one traffic entry in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// The entry, counted from 0.
    pub traffic: u32,
    /// Whether all requests of a connection share one of the transport's, and all replies another; else each message
    /// has its own.
    pub session: bool,
    /// Requests that the client began to send.
    pub asked: u64,
    /// Of these, requests whose reply is known to have arrived.
    pub answered: u64,
    /// From the start of a request to the last byte of its reply at the client, in ns; null if none was answered.
    pub latency_ns: Option<Distribution>,
    /// When the first of the answered requests began, in ps; 0 if none was.
    pub first_ps: u64,
    /// When the last reply had arrived, in ps; 0 if none did.
    pub last_ps: u64,
    /// Answered requests per second from the first request to the last reply; null if none was answered.
    pub per_second: Option<f64>,
}

impl RequestSummary {
    /// How many of the requests the latencies cover.
    pub fn coverage(&self) -> Coverage {
        Coverage { completed: self.answered, started: self.asked }
    }
}
