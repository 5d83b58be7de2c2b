//! State of a flow's congestion control at an instant, for recording.

use units::{Rate, Time};

/// State of a sender's congestion control; `None` for values that it does not have, or not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlState {
    /// Pacing rate, preamble and gap included.
    pub rate: Option<Rate>,
    /// Target rate of the recovery.
    pub target: Option<Rate>,
    /// Congestion window in bytes.
    pub window_bytes: Option<u64>,
    /// Unacknowledged bytes; of a receiver-driven flow, those without any reply.
    pub flight_bytes: Option<u64>,
    /// Round trip in use: TCP's smoothed one (RFC 6298: SRTT), TIMELY's last.
    pub rtt: Option<Time>,
    /// Estimated share of marks: DCTCP's and DCQCN's alpha, 0 to 1.
    pub alpha: Option<f64>,
    /// Available bandwidth of the path in the last notification, in bits per second.
    pub available_bps: Option<u64>,
}

impl ControlState {
    /// Whether all values are `None`.
    pub fn is_empty(&self) -> bool {
        *self == ControlState::default()
    }
}
