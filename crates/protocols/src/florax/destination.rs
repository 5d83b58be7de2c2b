//! Backpressure by destination: whoever sends most decides whose destination is stopped.

use super::pause_request::{Neighbours, PauseRequest};
use super::table::{Flow, Pair};
use super::{BackpressureParameters, OutputBackpressure};
use std::collections::BTreeMap;
use units::{Rate, Time};

/// What a port knows of flows where it stops destinations.
#[derive(Clone, Debug, Default)]
pub(super) struct Senders {
    /// Flows with their rates: which of them is the most aggressive.
    flows: BTreeMap<Pair, Flow>,
    /// When those that are no longer active were taken out last.
    swept_at: Time,
    /// The last stop has had its effect by then: before, a longer queue asks for no other.
    settled_at: Time,
}

impl Senders {
    /// A frame of `bytes` on the wire from `src` to `dst` came by `port`.
    pub fn count(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, pair): (Time, u16, Pair),
        bytes: u64,
        rate: Rate,
    ) {
        if self.flows.len() >= parameters.flows as usize && !self.flows.contains_key(&pair) {
            // One sweep in the time after which a flow counts as silent: another would find no more.
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

    /// The destination of the flow that sends most, of those whose destination `may` be stopped.
    fn most_aggressive(
        &self,
        now: Time,
        parameters: &BackpressureParameters,
        may: impl Fn(Pair) -> bool,
    ) -> Option<Pair> {
        let active = self.flows.iter().filter(|(_, flow)| flow.is_active(now, parameters.burst_gap));
        let candidates = active.map(|(pair, flow)| (flow.rate_bps(now), Pair::to(pair.dst)));
        candidates.filter(|&(_, to)| may(to)).max().map(|(_, to)| to)
    }
}

impl OutputBackpressure {
    /// What waits in the buffer of `occupancy` and is a sign that this port is congested: all but the frames of
    /// destinations that it has stopped already, which are here because the next switch stopped them too.
    fn congestion(&self, now: Time, occupancy: u64, switch: &impl Neighbours) -> u64 {
        let live = |to: &&Pair| self.flows.get(to).is_some_and(|flow| flow.blocked_until(now).is_some());
        occupancy.saturating_sub(self.stopped.iter().filter(live).map(|&to| switch.held(to)).sum())
    }

    /// Stops the destination of the most aggressive flow, and no other before that has had its effect. Where it is not
    /// the port's own queue that is long but frames that the next switch made this one hold, it is one of their
    /// destinations.
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
        let grace = flow.tell(parameters, now, (to, 0), switch, requests, &mut self.statistics);
        self.senders.settled_at = now.saturating_add(grace);
        self.stopped.insert(to);
        self.note_stopped();
    }

    /// A frame has left the buffer, which now holds `occupancy`: destinations of which little is left may go on.
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
        let resumes = |to: &Pair| congestion + switch.held(*to) < parameters.lower;
        let (resumed, stopped) = std::mem::take(&mut self.stopped).into_iter().partition(resumes);
        self.stopped = stopped;
        self.resume(now, resumed, requests);
    }
}
