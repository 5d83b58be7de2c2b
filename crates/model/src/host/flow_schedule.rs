//! Flows that a host will start: planned, random during the run, or after other flows.

use rustc_hash::FxHashMap;
use traffic::Arrivals;
use units::Time;

/// Flows that a host will start.
#[derive(Debug, Default)]
pub(crate) struct FlowSchedule {
    /// Planned flows with a fixed start, by time.
    pub planned: Vec<(Time, u32)>,
    pub next_planned: usize,
    /// Sources of random arrivals, each with its next flow.
    pub arrivals: Vec<(Arrivals, Option<traffic::Arrival>)>,
    pub drawn_flows: u32,
    /// Number of notifications still missing, by waiting flow or join of this host.
    pub missing_notifications: FxHashMap<u32, u32>,
    /// Hosts that this host notifies, ascending, with the egress port of the wire to each of them.
    pub notified_hosts: Vec<(u32, u16)>,
}

impl FlowSchedule {
    /// Returns whether the host has no flow to start and no notification to send or wait for.
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
            && self.arrivals.is_empty()
            && self.missing_notifications.is_empty()
            && self.notified_hosts.is_empty()
    }
}
