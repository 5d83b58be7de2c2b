//! Parameters of measurements and records.

use fabric::{NodeId, PortIndex};
use units::Time;

/// Definition of a bounce storm: in each of `samples` consecutive sampling intervals, switches bounced more than
/// `ratio` times as many frames as hosts received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StormParameters {
    /// Number of consecutive sampling intervals, at least 1.
    pub samples: u32,
    /// Time between samples; `None` for a thousandth of the run, at least 20 us.
    pub every: Option<Time>,
    /// Bounced frames per received frame, finite, at least 0.
    pub ratio: f64,
}

impl Default for StormParameters {
    fn default() -> Self {
        StormParameters { samples: 10, every: None, ratio: 1.0 }
    }
}

/// Records in addition to the summary, and parts of the summary that cost time per frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordParameters {
    /// Sampling interval of queue lengths.
    pub queues_every: Option<Time>,
    /// Sampling interval of bytes sent per link.
    pub links_every: Option<Time>,
    /// Sampling interval of bytes delivered per traffic entry.
    pub throughput_every: Option<Time>,
    /// Sampling interval of the congestion control state of active flows.
    pub control_every: Option<Time>,
    /// Whether received pauses and resumes are recorded.
    pub pauses: bool,
    /// Whether jitter is measured for all traffic entries, not only for periodic sources.
    pub jitter: bool,
    /// Maximum displacement, in frames, of the reordering density (RFC 5236: `D_T`) of data frames.
    pub reordering: Option<u32>,
    /// Threshold, 0 to 1, for the utilisation of switch queues and the share of time above it. Requires
    /// [`Buffer::PerQueue`](super::Buffer::PerQueue), since queues of a shared buffer have no capacity of their own.
    pub utilisation: Option<f64>,
    /// Sampling interval of the length distributions of switch queues.
    pub queue_lengths_every: Option<Time>,
    /// Selection of traced frames.
    pub trace: Option<TraceParameters>,
    /// Ports with captured frames, each at most once.
    pub capture: Vec<CaptureParameters>,
}

/// Selection of traced frames: the frames of `flows`, the frames at `ports`, or all frames if both lists are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParameters {
    /// Flows, by their numbers in results.
    pub flows: Vec<u64>,
    /// Ports of switches or hosts.
    pub ports: Vec<(NodeId, PortIndex)>,
    /// Start of the trace. Pauses are traced from the start of the run, because they may extend into the trace.
    pub from: Time,
    /// End of the trace, exclusive.
    pub until: Time,
}

impl TraceParameters {
    /// Returns a selection of all frames at all times.
    pub fn everything() -> Self {
        TraceParameters { flows: Vec::new(), ports: Vec::new(), from: Time::ZERO, until: Time::MAX }
    }
}

/// A port whose frames are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureParameters {
    /// The node.
    pub node: NodeId,
    /// Port of the node.
    pub port: PortIndex,
    /// Whether received frames are captured.
    pub inbound: bool,
    /// Whether sent frames are captured.
    pub outbound: bool,
    /// Start of the capture.
    pub from: Time,
    /// End of the capture, exclusive.
    pub until: Time,
}
