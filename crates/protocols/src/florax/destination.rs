//! Backpressure by destination: pauses traffic to the destination of the flow with the highest rate.

use super::backpressure::OutputBackpressure;
use super::parameters::BackpressureParameters;
use super::pause_request::{Neighbours, PauseRequest};
use super::table::{Flow, HostPair};
use std::collections::BTreeMap;
use units::{Rate, Time};

/// Rate estimates of the flows through a port with backpressure by destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Senders {
    /// Rate estimate of each flow, by source and destination.
    flows: BTreeMap<HostPair, Flow>,
    /// Time of the last removal of inactive flows.
    swept_at: Time,
    /// Time by which the last XOFF has taken effect. Until then no further XOFF is sent, even if the queue grows.
    settled_at: Time,
}

impl Senders {
    /// Counts a frame of `bytes` wire bytes of the flow `pair` from the input `port`.
    pub fn count(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, pair): (Time, u16, HostPair),
        bytes: u64,
        rate: Rate,
    ) {
        if self.flows.len() >= parameters.flows as usize && !self.flows.contains_key(&pair) {
            // One search for inactive flows per `burst_gap` suffices, because flows become inactive only after that
            // time.
            if now < self.swept_at.saturating_add(parameters.burst_gap) {
                return;
            }
            self.swept_at = now;
            self.flows.retain(|_, flow| flow.is_active(now, parameters.burst_gap));
            if self.flows.len() >= parameters.flows as usize {
                return;
            }
        }
        let flow = self.flows.entry(pair).or_insert_with(|| Flow::new(now));
        flow.count(now, port, bytes, rate.serialise(bytes), parameters.burst_gap);
    }

    /// Returns the destination of the active flow with the highest rate, among the destinations for which `may` is
    /// true.
    fn most_aggressive(
        &self,
        now: Time,
        parameters: &BackpressureParameters,
        may: impl Fn(HostPair) -> bool,
    ) -> Option<HostPair> {
        let active = self.flows.iter().filter(|(_, flow)| flow.is_active(now, parameters.burst_gap));
        let candidates = active.map(|(pair, flow)| (flow.rate_bps(now), HostPair::to(pair.dst)));
        candidates.filter(|&(_, to)| may(to)).max().map(|(_, to)| to)
    }
}

impl OutputBackpressure {
    /// Returns the part of `occupancy` that indicates congestion of this port itself: without the frames to
    /// destinations that this port has paused and that wait because the next switch has paused their destination.
    fn congestion(&self, now: Time, occupancy: u64, switch: &impl Neighbours) -> u64 {
        let live = |to: &&HostPair| self.flows.get(to).is_some_and(|flow| flow.blocked_until(now).is_some());
        occupancy.saturating_sub(self.stopped.iter().filter(live).map(|&to| switch.held(to)).sum())
    }

    /// If the last XOFF has taken effect and the congestion exceeds the upper threshold, pauses the destination of
    /// the flow with the highest rate. If the occupancy without all frames held by the next switch exceeds the
    /// threshold, candidates are the destinations that the next switch does not hold, otherwise those that it holds.
    pub(super) fn stop_destination(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        occupancy: u64,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) {
        if now < self.senders.settled_at || self.congestion(now, occupancy, switch) <= parameters.upper {
            return;
        }
        let held_here: u64 = self.flows.keys().map(|&to| switch.held(to)).sum();
        let own = occupancy.saturating_sub(held_here) > parameters.upper;
        let blocked = |to| self.flows.get(&to).is_none_or(|flow| flow.blocked_until(now).is_some());
        let may = |to| !blocked(to) && (switch.held_bps(to).is_some() != own);
        let Some(to) = self.senders.most_aggressive(now, parameters, may) else { return };
        let Some(flow) = self.flows.get_mut(&to) else { return };
        let grace = flow.request_rate(parameters, now, (to, 0), switch, requests, &mut self.statistics);
        self.senders.settled_at = now.saturating_add(grace);
        self.stopped.insert(to);
        self.note_stopped();
    }

    /// Handles the departure of a frame that leaves `occupancy` in the buffer: resumes each paused destination for
    /// which the congestion, plus its frames held by the next switch, is below the lower threshold.
    pub(super) fn resume_destinations(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        occupancy: u64,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) {
        if self.stopped.is_empty() {
            return;
        }
        let congestion = self.congestion(now, occupancy, switch);
        let resumes = |to: &HostPair| congestion + switch.held(*to) < parameters.lower;
        let (resumed, stopped) = std::mem::take(&mut self.stopped).into_iter().partition(resumes);
        self.stopped = stopped;
        self.resume(now, resumed, requests);
    }
}
