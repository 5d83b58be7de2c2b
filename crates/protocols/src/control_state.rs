//! State of a flow's congestion control at an instant, for recording.

use units::{Rate, Time};

/// State of a sender's congestion control. A value is `None` if the congestion control does not have it, or not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlState {
    /// Pacing rate, which counts wire bytes (with preamble and inter-frame gap).
    pub rate: Option<Rate>,
    /// Target rate of the rate recovery.
    pub target: Option<Rate>,
    /// Congestion window in bytes.
    pub window_bytes: Option<u64>,
    /// Unacknowledged bytes; in a receiver-driven flow, bytes of packets without an ACK or NACK.
    pub flight_bytes: Option<u64>,
    /// Round-trip time in use: TCP's SRTT (RFC 6298), TIMELY's last sample.
    pub rtt: Option<Time>,
    /// Estimated share of ECN-marked bytes or packets: alpha of DCTCP and DCQCN, 0 to 1.
    pub alpha: Option<f64>,
    /// Available bandwidth of the path as reported by the last notification, in bits per second.
    pub available_bps: Option<u64>,
}

impl ControlState {
    /// Whether all values are `None`.
    pub fn is_empty(&self) -> bool {
        *self == ControlState::default()
    }
}
