//! Backpressure of a congested output port: selects the flows to pause, the rates to permit, and the time to resume.

use super::destination::Senders;
use super::fair::{Demand, fair_rates};
use super::parameters::{BackpressureParameters, StopTarget};
use super::pause_request::{BackpressureStatistics, Neighbours, PauseRequest};
use super::table::{Flow, HostPair};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use units::{Rate, Time};

/// Number of table entries that are checked for inactivity before a new entry is added. More than one, so that
/// inactive entries are removed faster than new entries are added; constant, so that a new flow takes constant time.
const MAX_EXAMINED: usize = 8;
/// After an evaluation without an XOFF, the port skips the evaluation for (number of table entries) /
/// `MAX_ENTRIES_PER_FRAME` frames. Hence the mean cost per frame is at most that of `MAX_ENTRIES_PER_FRAME` table
/// entries, for any number of flows.
const MAX_ENTRIES_PER_FRAME: usize = 16;

/// Backpressure state of one output port.
#[derive(Clone, Debug)]
pub struct OutputBackpressure {
    pub(super) flows: BTreeMap<HostPair, Flow>,
    /// Keys of `flows` with an entry in the XOFF table.
    pub(super) stopped: BTreeSet<HostPair>,
    /// Current upper threshold.
    upper: u64,
    /// Time until which all active flows are paused, except those in `fresh`.
    all_stopped_until: Time,
    /// Flows that became active while all other active flows were paused. Without this list, each of these flows
    /// would require a check of the whole table: quadratic total cost.
    fresh: Vec<HostPair>,
    /// Number of frames until the next evaluation of the flows.
    patience: usize,
    /// Table entry at which the last search for inactive flows ended.
    cursor: HostPair,
    demands: Vec<Demand>,
    rates: Vec<u64>,
    pub(super) statistics: BackpressureStatistics,
    /// Rate estimates of flows, for backpressure by destination.
    pub(super) senders: Senders,
}

impl Flow {
    /// Counts a frame of the flow; see [`OutputBackpressure::count`].
    #[inline]
    fn passes(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, pair): (Time, u16, HostPair),
        (bytes, slack_bytes): (u64, u64),
        rate: Rate,
        requests: &mut Vec<PauseRequest>,
    ) -> bool {
        let new = self.count(now, port, bytes, rate.serialise(bytes), parameters.burst_gap);
        let ports = self.ports.len() as u64;
        match &mut self.stop {
            Some(stop) if stop.is_live(now) => {
                if new {
                    requests.push(PauseRequest { port, pair, rate_bps: Some(stop.rate_bps / ports) });
                    return true;
                }
                // Each input port paces its part of the rate independently, so that each may send one frame early.
                parameters.target != StopTarget::Flows || stop.conforms(now, bytes, slack_bytes * (ports + 1))
            }
            _ => true,
        }
    }
}

impl OutputBackpressure {
    /// Creates the backpressure of an output port with empty tables.
    pub fn new(parameters: &BackpressureParameters) -> OutputBackpressure {
        OutputBackpressure {
            flows: BTreeMap::new(),
            stopped: BTreeSet::new(),
            upper: parameters.upper,
            all_stopped_until: Time::ZERO,
            fresh: Vec::new(),
            patience: 0,
            cursor: HostPair { src: 0, dst: 0 },
            demands: Vec::new(),
            rates: Vec::new(),
            statistics: BackpressureStatistics::default(),
            senders: Senders::default(),
        }
    }

    /// Returns the key of the table entry for frames from `src` to `dst`.
    #[inline]
    pub fn pair(parameters: &BackpressureParameters, src: u32, dst: u32) -> HostPair {
        match parameters.target {
            StopTarget::Flows => HostPair { src, dst },
            StopTarget::Destinations => HostPair::to(dst),
            StopTarget::WholePort => HostPair::ALL,
        }
    }

    /// Counts a frame of `flow` for backpressure by destination, in addition to [`OutputBackpressure::count`].
    #[inline]
    pub fn count_sender(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, flow): (Time, u16, HostPair),
        bytes: u64,
        rate: Rate,
    ) {
        if parameters.target == StopTarget::Destinations {
            self.senders.count(parameters, (now, port, flow), bytes, rate);
        }
    }

    /// Counts a frame of `bytes` wire bytes from the input `port` to this output, whose link rate is `rate`, and
    /// updates the flow's rate estimate. Returns false if the flow exceeds the permitted rate of its XOFF, so that
    /// the frame must be dropped. `slack_bytes` is the maximum frame length in wire bytes. If a paused flow uses a
    /// new input port, an XOFF for this port is added to `requests`.
    pub fn count(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, pair): (Time, u16, HostPair),
        (bytes, slack_bytes): (u64, u64),
        rate: Rate,
        requests: &mut Vec<PauseRequest>,
    ) -> bool {
        // In the common case, the flow has a table entry and one lookup suffices.
        if let Some(flow) = self.flows.get_mut(&pair) {
            if now < self.all_stopped_until && !flow.is_active(now, parameters.burst_gap) {
                // The flow was inactive, and therefore not paused, when all active flows were paused.
                self.fresh.push(pair);
            }
            return flow.passes(parameters, (now, port, pair), (bytes, slack_bytes), rate, requests);
        }
        if !self.make_room(parameters, now, pair) {
            self.statistics.untracked += 1;
            return true;
        }
        let flow = self.flows.entry(pair).or_insert_with(|| Flow::new(now));
        flow.passes(parameters, (now, port, pair), (bytes, slack_bytes), rate, requests)
    }

    /// Adds an entry for a new flow, after the removal of inactive entries among those checked. Returns false if the
    /// table is full.
    fn make_room(&mut self, parameters: &BackpressureParameters, now: Time, pair: HostPair) -> bool {
        let mut silent = Vec::new();
        let behind = (Bound::Excluded(self.cursor), Bound::Unbounded);
        let mut examined = 0;
        for (&other, flow) in self.flows.range(behind).chain(self.flows.iter()).take(MAX_EXAMINED.min(self.flows.len()))
        {
            examined += 1;
            self.cursor = other;
            let stopped = flow.stop.is_some_and(|stop| stop.is_live(now));
            if !stopped && !flow.is_active(now, parameters.burst_gap) {
                silent.push(other);
            }
        }
        debug_assert!(examined <= MAX_EXAMINED, "the search is bounded");
        silent.iter().for_each(|other| self.forget(*other));
        let room = self.flows.len() < parameters.flows as usize;
        if room {
            if now < self.all_stopped_until {
                self.fresh.push(pair);
            }
            self.statistics.flows_max = self.statistics.flows_max.max(self.flows.len() as u64 + 1);
            self.flows.insert(pair, Flow::new(now));
        }
        room
    }

    fn forget(&mut self, pair: HostPair) {
        if let Some(flow) = self.flows.remove(&pair) {
            self.statistics.expiries += u64::from(flow.stop.is_some());
            self.stopped.remove(&pair);
        }
    }

    /// Evaluates the thresholds at a queue length of `occupancy`, after a frame of `pair` was enqueued. Adds the
    /// resulting XOFFs to `requests`.
    pub fn decide(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, pair): (Time, u16, HostPair),
        occupancy: u64,
        rate: Rate,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) {
        if parameters.target == StopTarget::Destinations {
            if occupancy > parameters.upper {
                if !self.flows.contains_key(&pair) {
                    // The flow has no table entry: its XOFF is not recorded, and ends by expiry.
                    requests.push(PauseRequest { port, pair, rate_bps: Some(0) });
                }
                self.stop_destination(parameters, now, occupancy, switch, requests);
            }
            return;
        }
        let flows = parameters.target == StopTarget::Flows;
        let stops_all = occupancy > if flows { parameters.max_upper } else { parameters.upper };
        if stops_all {
            if !self.flows.contains_key(&pair) {
                // The flow has no table entry: its XOFF is not recorded, and ends by expiry.
                requests.push(PauseRequest { port, pair, rate_bps: Some(0) });
            }
            if now >= self.all_stopped_until {
                self.stop_whole_port(parameters, now, switch, requests);
            } else if !self.fresh.is_empty() {
                self.stop_fresh(parameters, now, switch, requests);
            }
        } else if flows && occupancy > self.upper {
            if self.patience > 0 {
                self.patience -= 1;
            } else if self.stop_congesting(parameters, now, rate, switch, requests) {
                self.upper = self.upper.saturating_add(parameters.raise).min(parameters.max_upper);
            } else {
                self.patience = self.flows.len() / MAX_ENTRIES_PER_FRAME;
            }
        }
    }

    fn stop_whole_port(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) {
        let mut until = now.saturating_add(parameters.expiry);
        let fits = |flow: &Flow| flow.is_active(now, parameters.burst_gap);
        for (&pair, flow) in self.flows.iter_mut().filter(|(_, flow)| fits(flow)) {
            match flow.blocked_until(now) {
                Some(blocked) => until = until.min(blocked),
                None => {
                    flow.request_rate(parameters, now, (pair, 0), switch, requests, &mut self.statistics);
                    self.stopped.insert(pair);
                }
            }
        }
        self.note_stopped();
        self.all_stopped_until = until;
        self.fresh.clear();
    }

    /// Pauses the flows that became active since the last call of [`OutputBackpressure::stop_whole_port`].
    fn stop_fresh(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_unstable();
        for pair in fresh.drain(..) {
            // Since it was added to `fresh`, the flow may have lost its table entry or may have been paused.
            let Some(flow) = self.flows.get_mut(&pair) else { continue };
            if flow.is_active(now, parameters.burst_gap) && flow.blocked_until(now).is_none() {
                flow.request_rate(parameters, now, (pair, 0), switch, requests, &mut self.statistics);
                self.stopped.insert(pair);
            }
        }
        self.note_stopped();
        self.fresh = fresh;
    }

    pub(super) fn note_stopped(&mut self) {
        self.statistics.max_stopped_flows = self.statistics.max_stopped_flows.max(self.stopped.len() as u64);
    }

    /// Sends an XOFF to each flow that exceeds its fair share or the rate to which the next switch limits it. Returns
    /// whether there was such a flow.
    fn stop_congesting(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        rate: Rate,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) -> bool {
        let (mut demands, mut rates) = (std::mem::take(&mut self.demands), std::mem::take(&mut self.rates));
        demands.clear();
        for (&pair, flow) in self.flows.iter().filter(|(_, flow)| flow.is_active(now, parameters.burst_gap)) {
            // A flow that the next switch limits to a rate can use no more than that rate of this link.
            let useful = switch.held_bps(pair).unwrap_or(u64::MAX);
            let committed_bps = switch.committed_bps(pair);
            demands.push(Demand { pair, rate_bps: flow.rate_bps(now).min(useful), committed_bps });
        }
        fair_rates(rate.as_bps(), &mut demands, &mut rates);
        let before = requests.len();
        for (demand, &fair) in demands.iter().zip(&rates) {
            let Some(flow) = self.flows.get_mut(&demand.pair) else { continue };
            let granted = flow.stop.filter(|stop| stop.is_live(now)).map_or(u64::MAX, |stop| stop.rate_bps);
            if flow.rate_bps(now) > fair && fair < granted {
                flow.request_rate(parameters, now, (demand.pair, fair), switch, requests, &mut self.statistics);
                self.stopped.insert(demand.pair);
            }
        }
        self.note_stopped();
        (self.demands, self.rates) = (demands, rates);
        requests.len() > before
    }

    /// Handles the departure of a frame that leaves `occupancy` in the buffer. If this is below the lower threshold,
    /// adds XONs for all paused flows to `requests`.
    pub fn on_departure(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        occupancy: u64,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) {
        if parameters.target == StopTarget::Destinations {
            return self.resume_destinations(parameters, now, occupancy, switch, requests);
        }
        if occupancy >= parameters.lower {
            return;
        }
        (self.upper, self.patience) = (parameters.upper, 0);
        self.all_stopped_until = Time::ZERO;
        self.fresh.clear();
        if !self.stopped.is_empty() {
            let stopped = std::mem::take(&mut self.stopped);
            self.resume(now, stopped, requests);
        }
    }

    /// Adds XONs for these flows to `requests`, except for flows whose XOFF has expired.
    pub(super) fn resume(&mut self, now: Time, stopped: BTreeSet<HostPair>, requests: &mut Vec<PauseRequest>) {
        for pair in stopped {
            let Some(flow) = self.flows.get_mut(&pair) else { continue };
            let Some(stop) = flow.stop.take() else { continue };
            if stop.is_live(now) {
                self.statistics.xons += 1;
                requests.extend(flow.ports.iter().map(|&port| PauseRequest { port, pair, rate_bps: None }));
            } else {
                self.statistics.expiries += 1;
            }
        }
    }

    /// Renews the XOFFs in force at `now`: they expire `expiry` after `now`, and are added to `requests` for every
    /// input port of each flow. Returns false if no XOFF is in force.
    pub fn renew(&mut self, parameters: &BackpressureParameters, now: Time, requests: &mut Vec<PauseRequest>) -> bool {
        let until = now.saturating_add(parameters.expiry);
        let before = requests.len();
        for &pair in &self.stopped {
            let Some(flow) = self.flows.get_mut(&pair) else { continue };
            let Some(stop) = flow.stop.as_mut().filter(|stop| stop.is_live(now)) else { continue };
            stop.until = until;
            let rate_bps = Some(stop.rate_bps);
            requests.extend(flow.ports.iter().map(|&port| PauseRequest { port, pair, rate_bps }));
        }
        if requests.len() > before && now < self.all_stopped_until {
            self.all_stopped_until = until;
        }
        requests.len() > before
    }

    /// Returns whether an XOFF for a flow from the input `port` is in force at `now`.
    pub fn stops(&self, port: u16, now: Time) -> bool {
        let flows = self.stopped.iter().filter_map(|pair| self.flows.get(pair));
        flows.filter(|flow| flow.stop.is_some_and(|stop| stop.is_live(now))).any(|flow| flow.ports.contains(&port))
    }

    /// Returns the counters, with the XOFFs that have expired by `now`, and the number of flows whose XOFF is in
    /// force.
    pub fn statistics(&self, now: Time) -> (BackpressureStatistics, u64) {
        let over = |pair: &&HostPair| {
            let stop = self.flows.get(pair).and_then(|flow| flow.stop);
            stop.is_some_and(|stop| !stop.is_live(now))
        };
        let expired = self.stopped.iter().filter(over).count() as u64;
        let statistics = BackpressureStatistics { expiries: self.statistics.expiries + expired, ..self.statistics };
        (statistics, self.stopped.len() as u64 - expired)
    }

    /// Returns the current upper threshold.
    pub fn upper(&self) -> u64 {
        self.upper
    }

    /// Returns the number of entries in the flow table.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }
}

#[cfg(test)]
#[path = "backpressure_tests.rs"]
mod tests;
