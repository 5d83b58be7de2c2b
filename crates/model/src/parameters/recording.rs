//! What of a run is watched and written down.

use fabric::{NodeId, PortIndex};
use units::Time;

/// What a bounce storm is: this many looks in a row, between each two of which switches turned more than `ratio`
/// times as many frames around as hosts received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StormParameters {
    /// Looks in a row, at least 1.
    pub looks: u32,
    /// Time between two looks; `None` for a thousandth of the run, at least 20 us.
    pub every: Option<Time>,
    /// Frames turned for each one received, finite, at least 0.
    pub ratio: f64,
}

impl Default for StormParameters {
    fn default() -> Self {
        StormParameters { looks: 10, every: None, ratio: 1.0 }
    }
}

/// What a run writes down beside its summary, and what of the summary costs a look at every frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordParameters {
    /// Queue lengths, this often.
    pub queues_every: Option<Time>,
    /// Bytes sent per link, this often.
    pub links_every: Option<Time>,
    /// Bytes delivered per traffic entry, this often.
    pub throughput_every: Option<Time>,
    /// What the congestion controls of flows under way hold, this often.
    pub control_every: Option<Time>,
    /// Every pause and resume that is received.
    pub pauses: bool,
    /// Whether the jitter of every traffic entry is measured, not only that of periodic sources.
    pub jitter: bool,
    /// How far data frames come out of order, up to this displacement in frames (RFC 5236: `D_T`).
    pub reordering: Option<u32>,
    /// How full queues of switches are, and for what share of time above this share, 0 to 1. Takes a
    /// [`Buffer::PerQueue`](super::Buffer::PerQueue); a shared buffer has no queue of a size of its own.
    pub utilisation: Option<f64>,
    /// How long the queues of switches are, looked at this often.
    pub queue_lengths_every: Option<Time>,
    /// What happens to chosen frames.
    pub trace: Option<TraceParameters>,
    /// Ports whose frames are written down as bytes, each at most once.
    pub capture: Vec<CaptureParameters>,
}

/// Which frames are traced: those of `flows`, those at `ports`, or, with neither, all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParameters {
    /// Flows, by their number in results.
    pub flows: Vec<u64>,
    /// Ports, of switches or hosts.
    pub ports: Vec<(NodeId, PortIndex)>,
    /// What happens to frames before this is not traced; pauses are, for they may last.
    pub from: Time,
    /// What happens from here on is not traced.
    pub until: Time,
}

impl TraceParameters {
    /// All frames, always.
    pub fn everything() -> Self {
        TraceParameters { flows: Vec::new(), ports: Vec::new(), from: Time::ZERO, until: Time::MAX }
    }
}

/// A port whose frames are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureParameters {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: PortIndex,
    /// Frames that come in.
    pub inbound: bool,
    /// Frames that go out.
    pub outbound: bool,
    /// From this instant on.
    pub from: Time,
    /// To before this one.
    pub until: Time,
}
