//! The parameters of backpressure at an output port, common to all its variants.

use units::Time;

/// The traffic that a congested output pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopTarget {
    /// The source-destination pairs above their fair share (FLORAX).
    Flows,
    /// All traffic to the destination of the most aggressive flow.
    Destinations,
    /// All traffic of the input ports that feed the congested output (802.3x).
    WholePort,
}

/// Parameters of the backpressure of an output port. Thresholds are in packets or bytes, like the port's buffer
/// limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackpressureParameters {
    /// The traffic to pause.
    pub target: StopTarget,
    /// Threshold below which all traffic resumes.
    pub lower: u64,
    /// Threshold above which the traffic selected by `target` is paused; above `lower`.
    pub upper: u64,
    /// Threshold above which all flows are paused; at least `upper`. For [`StopTarget::Flows`] only.
    pub max_upper: u64,
    /// Increase of the upper threshold after each decision that sends an XOFF, up to `max_upper`; below `lower` the
    /// threshold falls back to `upper`.
    pub raise: u64,
    /// Idle timeout: after this time without a frame, a burst ends and the flow is inactive; positive.
    pub burst_gap: Time,
    /// Duration of an XOFF that is not ended by an XON; positive.
    pub expiry: Time,
    /// Whether an XOFF is renewed after half its duration while the port remains congested.
    pub renewed: bool,
    /// Grace period after an XOFF, in which frames above the permitted rate are not dropped; `None`: computed from the
    /// link delay and the frame size.
    pub grace: Option<Time>,
    /// Maximum number of entries in a port's flow table, at least 1.
    pub flows: u32,
}
