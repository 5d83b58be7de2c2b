//! Looks at what congestion controls hold.

use units::Time;

/// One look at the congestion control of a flow; `None` for what its transport does not have, or not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlSample {
    /// When.
    pub at: Time,
    /// The flow's number in results.
    pub flow: u64,
    /// Which of the scenario's traffic entries it belongs to, counted from 0.
    pub traffic: u32,
    /// Sending rate in bits a second, preamble and gap included.
    pub rate_bps: Option<u64>,
    /// The rate that recovery aims at.
    pub target_bps: Option<u64>,
    /// The congestion window.
    pub window_bytes: Option<u64>,
    /// What is sent and not acknowledged.
    pub flight_bytes: Option<u64>,
    /// The round trip that the sender goes by.
    pub rtt_ps: Option<u64>,
    /// The mean one-way delay that the receiver goes by; off by what two clocks differ.
    pub delay_ps: Option<i64>,
    /// The share of marks that the sender expects, 0 to 1.
    pub alpha: Option<f64>,
    /// What of the way's bandwidth the sender was told to be available.
    pub available_bps: Option<u64>,
}

units::pack_fields!(ControlSample {
    at,
    flow,
    traffic,
    rate_bps,
    target_bps,
    window_bytes,
    flight_bytes,
    rtt_ps,
    delay_ps,
    alpha,
    available_bps,
});
