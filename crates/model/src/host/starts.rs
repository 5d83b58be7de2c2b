//! When flows start: planned, drawn as the run goes on, or when others are done.

use rustc_hash::FxHashMap;
use traffic::Arrivals;
use units::Time;

/// What this host will start.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    /// Planned flows with a fixed start, by time.
    pub planned: Vec<(Time, u32)>,
    pub next_planned: usize,
    /// Sources of drawn flows, each with the flow that comes next.
    pub arrivals: Vec<(Arrivals, Option<traffic::Arrival>)>,
    pub drawn: u32,
    /// Notifications that waiting flows of this host still need.
    pub waits: FxHashMap<u32, u32>,
    /// Hosts that this one notifies, ascending, with the egress port of the wire to each.
    pub notify: Vec<(u32, u16)>,
}

impl Starts {
    /// Whether it starts nothing, and waits for nothing to start.
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty() && self.arrivals.is_empty() && self.waits.is_empty() && self.notify.is_empty()
    }
}
