//! Samples of the state of congestion controls.

use units::Time;

/// One sample of the congestion control of a flow; `None` for values that its transport lacks or has not set yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlSample {
    /// Time of the sample.
    pub at: Time,
    /// The flow's number in results.
    pub flow: u64,
    /// Index of the flow's traffic entry in the scenario, from 0.
    pub traffic: u32,
    /// Sending rate in bit/s, including preamble and interpacket gap.
    pub rate_bps: Option<u64>,
    /// Target rate of recovery, in bit/s.
    pub target_bps: Option<u64>,
    /// Congestion window, in bytes.
    pub window_bytes: Option<u64>,
    /// Bytes sent and not acknowledged.
    pub flight_bytes: Option<u64>,
    /// RTT used by the sender, in ps.
    pub rtt_ps: Option<u64>,
    /// Mean one-way delay used by the receiver, in ps; includes the clock offset between sender and receiver.
    pub delay_ps: Option<i64>,
    /// Marking probability estimated by the sender, 0 to 1.
    pub alpha: Option<f64>,
    /// Available bandwidth of the path reported to the sender, in bit/s.
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
