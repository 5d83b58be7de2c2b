//! The inside of switches that trim in pipelines. Counts cover the whole run.

use serde::{Deserialize, Serialize};

/// All switches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PipelineSummary {
    /// Frames that pipelines trimmed before any queue.
    pub ingress_trims: u64,
    /// Frames that queues refused and that went round a recirculation port, or whose headers did.
    pub recirculated: u64,
    /// The most frames that waited for a recirculation port at once.
    pub most_waiting: u64,
    /// The switches where any of this happened, in the order of the fabric.
    pub switches: Vec<SwitchInside>,
}

/// One switch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SwitchInside {
    /// Its name.
    pub node: String,
    /// Its pipelines, in order.
    pub pipelines: Vec<PipelineTold>,
    /// Egress ports that a signal was about.
    pub ports: Vec<PortMode>,
}

/// One pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineTold {
    /// Its number, from 0.
    pub pipeline: u32,
    /// Frames that it trimmed at its ingress.
    pub ingress_trims: u64,
    /// Frames, or headers, that went to its recirculation port.
    pub recirculated: u64,
    /// Their bytes.
    pub recirculated_bytes: u64,
    /// The most of them that waited at once, without the one on the port's wire.
    pub most_waiting: u64,
    /// When that was first, in ps.
    pub most_waiting_at_ps: u64,
    /// When the first of them came, in ps, or null.
    pub first_recirculated_ps: Option<u64>,
    /// Congestion signals that it heard.
    pub signals_heard: u64,
}

/// The mode of one egress port, as its pipelines have it on average.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortMode {
    /// The port.
    pub port: u32,
    /// The node at its other end.
    pub peer: String,
    /// Signals about it that all pipelines together heard.
    pub signals: u64,
    /// The share of the run in which pipelines were pessimistic about it, 0..=1.
    pub pessimistic_share: f64,
    /// The share in which they let half of its rate through, 0..=1.
    pub half_share: f64,
}

units::pack_fields!(SwitchInside { node, pipelines, ports });
units::pack_fields!(PipelineTold {
    pipeline,
    ingress_trims,
    recirculated,
    recirculated_bytes,
    most_waiting,
    most_waiting_at_ps,
    first_recirculated_ps,
    signals_heard,
});
units::pack_fields!(PortMode { port, peer, signals, pessimistic_share, half_share });
