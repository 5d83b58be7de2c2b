//! Statistics of switches that trim in pipelines. Counts cover the whole run.

use serde::{Deserialize, Serialize};

/// Sums over all switches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PipelineSummary {
    /// Frames trimmed by pipelines at ingress, before any queue.
    pub ingress_trims: u64,
    /// Frames that an egress queue refused and that were sent through a recirculation port, complete or as headers.
    pub recirculated: u64,
    /// Maximum number of frames that waited for one recirculation port at the same time.
    #[serde(alias = "most_waiting")]
    pub max_waiting: u64,
    /// Switches with an ingress trim, a recirculation or a congestion signal, in the order of the fabric.
    pub switches: Vec<SwitchPipelines>,
}

/// Statistics of one switch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SwitchPipelines {
    /// Name of the switch.
    pub node: String,
    /// Pipelines of the switch, in order.
    pub pipelines: Vec<PipelineStatistics>,
    /// Egress ports about which the switch sent at least one congestion signal.
    pub ports: Vec<PortMode>,
}

/// Statistics of one pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineStatistics {
    /// Number of the pipeline, from 0.
    pub pipeline: u32,
    /// Frames that the pipeline trimmed at its ingress.
    pub ingress_trims: u64,
    /// Frames, complete or as headers, sent to the pipeline's recirculation port.
    pub recirculated: u64,
    /// Bytes sent to the recirculation port.
    pub recirculated_bytes: u64,
    /// Maximum number of frames that waited for the recirculation port at the same time, without the frame in
    /// transmission.
    #[serde(alias = "most_waiting")]
    pub max_waiting: u64,
    /// Time at which `max_waiting` was first reached, in ps.
    #[serde(alias = "most_waiting_at_ps")]
    pub max_waiting_at_ps: u64,
    /// Time of the first recirculation, in ps; null without one.
    pub first_recirculated_ps: Option<u64>,
    /// Congestion signals that the pipeline received.
    #[serde(alias = "signals_heard")]
    pub signals_received: u64,
}

/// Fractions of the simulated time in the admission modes of one egress port, averaged over the pipelines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortMode {
    /// Number of the egress port.
    pub port: u32,
    /// The node at the other end of the port's link.
    pub peer: String,
    /// Number of congestion signals about the port, summed over the pipelines that received them.
    pub signals: u64,
    /// Fraction of time in which pipelines were in pessimistic mode for the port, 0..=1.
    pub pessimistic_share: f64,
    /// Fraction of time in which pipelines admitted half of the port's rate (half-rate mode), 0..=1.
    pub half_share: f64,
}

units::pack_fields!(SwitchPipelines { node, pipelines, ports });
units::pack_fields!(PipelineStatistics {
    pipeline,
    ingress_trims,
    recirculated,
    recirculated_bytes,
    max_waiting,
    max_waiting_at_ps,
    first_recirculated_ps,
    signals_received,
});
units::pack_fields!(PortMode { port, peer, signals, pessimistic_share, half_share });
