//! The congested port: whom to stop, at what rate, and when to let everybody go on.

use super::destination::Senders;
use super::fair::{Demand, fair_rates};
use super::pause_request::{BackpressureStatistics, Neighbours, PauseRequest};
use super::table::{Flow, Pair};
use super::{BackpressureParameters, Whom};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use units::{Rate, Time};

/// Entries that a new flow looks at for one that is no longer active: the table shrinks as fast as it grows, and at its
/// bound a new flow waits no longer than this for a place.
const LOOKS: usize = 8;
/// After a decision that stopped nobody, as many frames pass without another as it looked at flows, over this: however
/// many flows there are, a frame costs no more than so many looks on average.
const LOOKS_PER_FRAME: usize = 16;

/// Backpressure of one output port.
#[derive(Clone, Debug)]
pub struct OutputBackpressure {
    pub(super) flows: BTreeMap<Pair, Flow>,
    /// Those of them with an entry in the XOFF table.
    pub(super) stopped: BTreeSet<Pair>,
    /// The upper threshold as it stands.
    upper: u64,
    /// Nobody but `fresh` is left to be stopped until then.
    all_stopped_until: Time,
    /// Flows that came while everybody was stopped already: were all looked at for each of them, many flows that begin
    /// together would cost the square of their number.
    fresh: Vec<Pair>,
    /// Frames that pass before the next decision.
    patience: usize,
    /// Where the next look for a flow that is no longer active begins.
    cursor: Pair,
    demands: Vec<Demand>,
    rates: Vec<u64>,
    pub(super) statistics: BackpressureStatistics,
    /// Where destinations are stopped.
    pub(super) senders: Senders,
}

impl Flow {
    /// Counts a frame of the flow, as [`OutputBackpressure::count`].
    #[inline]
    fn passes(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, pair): (Time, u16, Pair),
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
                parameters.whom != Whom::Flows || stop.conforms(now, bytes, slack_bytes * (ports + 1))
            }
            _ => true,
        }
    }
}

impl OutputBackpressure {
    /// With nothing in its tables.
    pub fn new(parameters: &BackpressureParameters) -> OutputBackpressure {
        OutputBackpressure {
            flows: BTreeMap::new(),
            stopped: BTreeSet::new(),
            upper: parameters.upper,
            all_stopped_until: Time::ZERO,
            fresh: Vec::new(),
            patience: 0,
            cursor: Pair { src: 0, dst: 0 },
            demands: Vec::new(),
            rates: Vec::new(),
            statistics: BackpressureStatistics::default(),
            senders: Senders::default(),
        }
    }

    /// The entry that a frame from `src` to `dst` belongs to.
    #[inline]
    pub fn pair(parameters: &BackpressureParameters, src: u32, dst: u32) -> Pair {
        match parameters.whom {
            Whom::Flows => Pair { src, dst },
            Whom::Destinations => Pair::to(dst),
            Whom::Everybody => Pair::EVERYBODY,
        }
    }

    /// Beside [`OutputBackpressure::count`] where destinations are stopped: who sends to them, and how much.
    #[inline]
    pub fn count_sender(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, flow): (Time, u16, Pair),
        bytes: u64,
        rate: Rate,
    ) {
        if parameters.whom == Whom::Destinations {
            self.senders.count(parameters, (now, port, flow), bytes, rate);
        }
    }

    /// A frame of `bytes` on the wire has come by `port` for this output of `rate`: its flow's rate is estimated. False
    /// if the flow was told to slow down and this is in excess: the frame must be dropped. `slack_bytes` is the largest
    /// frame on the wire. What a port must hear that a stopped flow comes by now too is added to `requests`.
    pub fn count(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, pair): (Time, u16, Pair),
        (bytes, slack_bytes): (u64, u64),
        rate: Rate,
        requests: &mut Vec<PauseRequest>,
    ) -> bool {
        // One look in the table for a flow that it holds.
        if let Some(flow) = self.flows.get_mut(&pair) {
            if now < self.all_stopped_until && !flow.is_active(now, parameters.burst_gap) {
                // It was silent when everybody was stopped.
                self.fresh.push(pair);
            }
            return flow.passes(parameters, (now, port, pair), (bytes, slack_bytes), rate, requests);
        }
        if !self.make_room(parameters, now, pair) {
            self.statistics.untold += 1;
            return true;
        }
        let flow = self.flows.entry(pair).or_insert_with(|| Flow::new(now));
        flow.passes(parameters, (now, port, pair), (bytes, slack_bytes), rate, requests)
    }

    /// Finds a place for a new flow, in the place of one that is no longer active where the table is full.
    fn make_room(&mut self, parameters: &BackpressureParameters, now: Time, pair: Pair) -> bool {
        let mut silent = Vec::new();
        let behind = (Bound::Excluded(self.cursor), Bound::Unbounded);
        let mut looked = 0;
        for (&other, flow) in self.flows.range(behind).chain(self.flows.iter()).take(LOOKS.min(self.flows.len())) {
            looked += 1;
            self.cursor = other;
            let stopped = flow.stop.is_some_and(|stop| stop.is_live(now));
            if !stopped && !flow.is_active(now, parameters.burst_gap) {
                silent.push(other);
            }
        }
        debug_assert!(looked <= LOOKS, "a look is bounded");
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

    fn forget(&mut self, pair: Pair) {
        if let Some(flow) = self.flows.remove(&pair) {
            self.statistics.expiries += u64::from(flow.stop.is_some());
            self.stopped.remove(&pair);
        }
    }

    /// A frame of `pair` has joined the buffer, which now holds `occupancy`: adds to `requests` whom to stop.
    pub fn decide(
        &mut self,
        parameters: &BackpressureParameters,
        (now, port, pair): (Time, u16, Pair),
        occupancy: u64,
        rate: Rate,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) {
        if parameters.whom == Whom::Destinations {
            if occupancy > parameters.upper {
                if !self.flows.contains_key(&pair) {
                    // Not told apart: stopped without being remembered, until its XOFF expires.
                    requests.push(PauseRequest { port, pair, rate_bps: Some(0) });
                }
                self.stop_destination(parameters, now, occupancy, switch, requests);
            }
            return;
        }
        let flows = parameters.whom == Whom::Flows;
        let everybody = occupancy > if flows { parameters.max_upper } else { parameters.upper };
        if everybody {
            if !self.flows.contains_key(&pair) {
                // Not told apart: stopped without being remembered, until its XOFF expires.
                requests.push(PauseRequest { port, pair, rate_bps: Some(0) });
            }
            if now >= self.all_stopped_until {
                self.stop_everybody(parameters, now, switch, requests);
            } else if !self.fresh.is_empty() {
                self.stop_fresh(parameters, now, switch, requests);
            }
        } else if flows && occupancy > self.upper {
            if self.patience > 0 {
                self.patience -= 1;
            } else if self.stop_congesting(parameters, now, rate, switch, requests) {
                self.upper = self.upper.saturating_add(parameters.raise).min(parameters.max_upper);
            } else {
                self.patience = self.flows.len() / LOOKS_PER_FRAME;
            }
        }
    }

    fn stop_everybody(
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
                    flow.tell(parameters, now, (pair, 0), switch, requests, &mut self.statistics);
                    self.stopped.insert(pair);
                }
            }
        }
        self.note_stopped();
        self.all_stopped_until = until;
        self.fresh.clear();
    }

    /// As [`OutputBackpressure::stop_everybody`], when only those who came since then are left.
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
            // It may have been forgotten meanwhile, or stopped.
            let Some(flow) = self.flows.get_mut(&pair) else { continue };
            if flow.is_active(now, parameters.burst_gap) && flow.blocked_until(now).is_none() {
                flow.tell(parameters, now, (pair, 0), switch, requests, &mut self.statistics);
                self.stopped.insert(pair);
            }
        }
        self.note_stopped();
        self.fresh = fresh;
    }

    pub(super) fn note_stopped(&mut self) {
        self.statistics.stopped_max = self.statistics.stopped_max.max(self.stopped.len() as u64);
    }

    /// Stops the flows that send more than their share, or than the next switch lets pass; whether there was one.
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
            // Of a flow that the next switch holds, no more than that can use this link.
            let useful = switch.held_bps(pair).unwrap_or(u64::MAX);
            let agreed_bps = switch.agreed_bps(pair);
            demands.push(Demand { pair, rate_bps: flow.rate_bps(now).min(useful), agreed_bps });
        }
        fair_rates(rate.as_bps(), &mut demands, &mut rates);
        let before = requests.len();
        for (demand, &fair) in demands.iter().zip(&rates) {
            let Some(flow) = self.flows.get_mut(&demand.pair) else { continue };
            let told = flow.stop.filter(|stop| stop.is_live(now)).map_or(u64::MAX, |stop| stop.rate_bps);
            if flow.rate_bps(now) > fair && fair < told {
                flow.tell(parameters, now, (demand.pair, fair), switch, requests, &mut self.statistics);
                self.stopped.insert(demand.pair);
            }
        }
        self.note_stopped();
        (self.demands, self.rates) = (demands, rates);
        requests.len() > before
    }

    /// A frame has left the buffer, which now holds `occupancy`: adds to `requests` who may go on.
    pub fn on_departure(
        &mut self,
        parameters: &BackpressureParameters,
        now: Time,
        occupancy: u64,
        switch: &impl Neighbours,
        requests: &mut Vec<PauseRequest>,
    ) {
        if parameters.whom == Whom::Destinations {
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

    /// Lets these go on, unless their time is over.
    pub(super) fn resume(&mut self, now: Time, stopped: BTreeSet<Pair>, requests: &mut Vec<PauseRequest>) {
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

    /// Tells those who are stopped at `now` to stay so for another expiry, by every port that they come by: adds to
    /// `requests`. False if there are none.
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

    /// Whether somebody who comes by `port` is stopped at `now`.
    pub fn stops(&self, port: u16, now: Time) -> bool {
        let flows = self.stopped.iter().filter_map(|pair| self.flows.get(pair));
        flows.filter(|flow| flow.stop.is_some_and(|stop| stop.is_live(now))).any(|flow| flow.ports.contains(&port))
    }

    /// What it has done so far, and how many flows are stopped at `now`.
    pub fn statistics(&self, now: Time) -> (BackpressureStatistics, u64) {
        let over = |pair: &&Pair| {
            let stop = self.flows.get(pair).and_then(|flow| flow.stop);
            stop.is_some_and(|stop| !stop.is_live(now))
        };
        let expired = self.stopped.iter().filter(over).count() as u64;
        let statistics = BackpressureStatistics { expiries: self.statistics.expiries + expired, ..self.statistics };
        (statistics, self.stopped.len() as u64 - expired)
    }

    /// The upper threshold as it stands.
    pub fn upper(&self) -> u64 {
        self.upper
    }

    /// How many flows the table holds.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }
}

#[cfg(test)]
#[path = "backpressure_tests.rs"]
mod tests;
