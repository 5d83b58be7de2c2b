//! What the congestion control of a flow holds at an instant, for who records it.

use units::{Rate, Time};

/// What a sender's congestion control holds; `None` for what it has not, or not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlState {
    /// The rate at which it paces, preamble and gap included.
    pub rate: Option<Rate>,
    /// The rate that recovery aims at.
    pub target: Option<Rate>,
    /// The congestion window.
    pub window_bytes: Option<u64>,
    /// What is sent and not acknowledged; of a receiver-driven flow, what nothing was heard of.
    pub flight_bytes: Option<u64>,
    /// The round trip that it goes by: TCP's smoothed one (RFC 6298: SRTT), TIMELY's last.
    pub rtt: Option<Time>,
    /// The share of marks that it expects: DCTCP's and DCQCN's alpha, 0 to 1.
    pub alpha: Option<f64>,
    /// What of the way's bandwidth it was last told to be available, in bits a second.
    pub available_bps: Option<u64>,
}

impl ControlState {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == ControlState::default()
    }
}
