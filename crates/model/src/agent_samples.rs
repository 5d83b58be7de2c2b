//! Public data types of agents: scope, agent and sample.

use protocols::rate_control::RateObservation;
use units::{Rate, Time};

/// Scope of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentScope {
    /// One planned flow.
    Flow,
    /// All flows that a host sends, planned or randomly generated.
    Host,
}

/// An agent: an external program controls the rate of one flow, or of all flows of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Index of the sending host.
    pub host: u32,
    /// Number of the flow in results. `None` for all flows of the host.
    pub flow: Option<u32>,
}

/// Statistics of an agent's flows since the last sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentSample {
    /// Number of flows in progress.
    pub under_way: u32,
    /// Whether no flow is in progress or still to start.
    pub done: bool,
    /// Pacing rate of each flow, including preamble and gap. Before the start of a flow, its initial rate.
    pub rate: Rate,
    /// Line rate of the host's first port.
    pub line: Rate,
    /// Sent bytes, including preamble and gap.
    pub sent_bytes: u64,
    /// Payload bytes acknowledged for the first time.
    pub acknowledged_bytes: u64,
    /// The part of `acknowledged_bytes` in ECN-marked packets.
    pub marked_bytes: u64,
    /// Number of acknowledgements for `acknowledged_bytes`.
    pub acknowledgements: u64,
    /// Sum of the RTTs of these acknowledgements.
    pub rtt_sum: Time,
    /// Sum of the idle RTTs (in an otherwise idle network) of these acknowledgements.
    pub idle_rtt_sum: Time,
    /// Minimum ratio of RTT to idle RTT. Infinite without acknowledgements.
    pub least_rtt_ratio: f64,
    /// Packets reported as missing, plus timeouts.
    pub losses: u64,
}

impl Default for AgentSample {
    fn default() -> Self {
        AgentSample {
            under_way: 0,
            done: false,
            rate: Rate::MIN,
            line: Rate::MIN,
            sent_bytes: 0,
            acknowledged_bytes: 0,
            marked_bytes: 0,
            acknowledgements: 0,
            rtt_sum: Time::ZERO,
            idle_rtt_sum: Time::ZERO,
            least_rtt_ratio: f64::INFINITY,
            losses: 0,
        }
    }
}

impl AgentSample {
    /// Adds the statistics of one flow.
    pub(crate) fn add(&mut self, seen: &RateObservation) {
        self.sent_bytes += seen.sent_bytes;
        self.acknowledged_bytes += seen.acknowledged_bytes;
        self.marked_bytes += seen.marked_bytes;
        self.acknowledgements += seen.acknowledgements;
        self.losses += seen.losses;
        self.rtt_sum = self.rtt_sum.saturating_add(seen.rtt_sum);
        let idle = u128::from(seen.round_trip.as_ps()) * u128::from(seen.acknowledgements);
        let idle = Time::from_ps(u64::try_from(idle).unwrap_or(u64::MAX));
        self.idle_rtt_sum = self.idle_rtt_sum.saturating_add(idle);
        if seen.acknowledgements > 0 && seen.round_trip > Time::ZERO {
            let ratio = seen.rtt_least.as_ps() as f64 / seen.round_trip.as_ps() as f64;
            self.least_rtt_ratio = self.least_rtt_ratio.min(ratio);
        }
    }
}

/// Agents of a simulation, with their locations and last rates.
#[derive(Debug, Default)]
pub(crate) struct AgentTable {
    /// Engine index of the host, agent index at the host, and last share of the line rate.
    pub agents: Vec<(usize, usize, Option<f64>)>,
}
