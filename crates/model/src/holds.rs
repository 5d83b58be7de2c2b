//! Held flows: a neighbour stopped or rate-limited them individually by XOFF (FLORAX). Each held flow has its own
//! queue, from which frames move to the queue of their class.

use check::little::QueueArea;
use check::pauses::PauseLedger;
use protocols::florax::{Hold, HostPair};
use protocols::frame::Frame;
use stats::trace::Load;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Time, WIRE_OVERHEAD_BYTES};

/// One held flow.
#[derive(Debug)]
struct HeldFlow {
    hold: Hold,
    /// Frames in order of arrival. Their TTL and hop count do not yet include this node.
    frames: VecDeque<Frame>,
    /// Time of the flow's entry in `timers`.
    timer_at: Time,
}

impl HeldFlow {
    fn next_event(&self) -> Time {
        if self.frames.is_empty() { self.hold.until() } else { self.hold.ask_again_at() }
    }
}

/// Counters of holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HoldStatistics {
    begun: u64,
    resumed: u64,
    expired: u64,
    /// Duration of the ended holds: sum and maximum.
    total: Time,
    longest: Time,
}

impl HoldStatistics {
    fn end(&mut self, hold: &Hold, now: Time, by_xon: bool) {
        let lasted = now.saturating_sub(hold.since());
        self.total += lasted;
        self.longest = self.longest.max(lasted);
        *(if by_xon { &mut self.resumed } else { &mut self.expired }) += 1;
    }
}

/// All held flows of a node, by port.
#[derive(Debug)]
pub(crate) struct HeldFlows {
    flows: BTreeMap<(u16, HostPair), HeldFlow>,
    timers: BTreeSet<(Time, u16, HostPair)>,
    /// Backlog by port.
    loads: Vec<Load>,
    /// Time integral of the queue length by port, for Little's law.
    areas: Vec<QueueArea>,
    statistics: HoldStatistics,
    /// Fault injection: whether no hold ends.
    #[cfg(test)]
    kept: bool,
}

impl HeldFlows {
    pub fn new(ports: usize) -> HeldFlows {
        let (flows, timers) = <_>::default();
        let (loads, areas) = (vec![Load::default(); ports], vec![QueueArea::starting(Time::ZERO); ports]);
        HeldFlows {
            flows,
            timers,
            loads,
            areas,
            statistics: HoldStatistics::default(),
            #[cfg(test)]
            kept: false,
        }
    }

    /// Returns the backlog at `port`.
    pub fn load(&self, port: u16) -> Load {
        self.loads[usize::from(port)]
    }

    /// Returns the backlog of one held flow at `port`.
    pub fn load_of(&self, port: u16, pair: HostPair) -> Load {
        let Some(flow) = self.flows.get(&(port, pair)) else { return Load::default() };
        let bytes = flow.frames.iter().map(|frame| u64::from(frame.size_bytes)).sum();
        Load { frames: flow.frames.len() as u64, bytes }
    }

    /// Returns per port: time integral of the queue length, number of frames, and time at which each frame joined the
    /// queue.
    pub fn areas(&self) -> impl Iterator<Item = (&QueueArea, u64, Vec<Time>)> {
        let mut waiting = vec![Vec::new(); self.areas.len()];
        for ((port, _), flow) in &self.flows {
            waiting[usize::from(*port)].extend(flow.frames.iter().map(|frame| frame.at));
        }
        self.areas.iter().zip(&self.loads).zip(waiting).map(|((area, load), waiting)| (area, load.frames, waiting))
    }

    /// Returns all held frames.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.flows.values().flat_map(|flow| &flow.frames)
    }

    /// Returns the holds with rate zero: port, flow, start, and first frame.
    pub fn stopped(&self) -> impl Iterator<Item = (u16, HostPair, Time, Option<&Frame>)> {
        let stopped = self.flows.iter().filter(|(_, flow)| flow.hold.rate_bps() == 0);
        stopped.map(|(&(port, pair), flow)| (port, pair, flow.hold.since(), flow.frames.front()))
    }

    /// Returns the holds (per-flow pauses) of flows with queued frames: port, start, expiry and first frame.
    pub fn with_frames(&self) -> impl Iterator<Item = (u16, Time, Time, &Frame)> {
        let held = self.flows.iter().filter_map(|(key, flow)| Some((key.0, flow.hold, flow.frames.front()?)));
        held.map(|(port, hold, first)| (port, hold.since(), hold.until(), first))
    }

    /// Fault injection: keeps all holds for ever if a held flow has a queued frame. Returns whether one has.
    #[cfg(test)]
    pub fn keep_all(&mut self) -> bool {
        self.kept = self.flows.values().any(|flow| !flow.frames.is_empty());
        if self.kept {
            self.timers.clear();
        }
        self.kept
    }

    /// Returns the permitted rate of a flow at `port`, or `None` without a hold.
    pub fn rate_bps(&self, port: u16, pair: HostPair) -> Option<u64> {
        self.flows.get(&(port, pair)).map(|flow| flow.hold.rate_bps())
    }

    /// Returns the earliest time at which the next frame of a held flow becomes eligible or a hold expires;
    /// [`Time::MAX`] if there is none.
    pub fn next_event(&self) -> Time {
        self.timers.first().map_or(Time::MAX, |first| first.0)
    }

    /// Returns the hold at `port` that applies to a frame from `src` to `dst`.
    pub fn pair_of(&self, port: u16, src: u32, dst: u32) -> Option<HostPair> {
        let pairs = [HostPair { src, dst }, HostPair::to(dst)];
        pairs.into_iter().find(|&pair| self.flows.contains_key(&(port, pair)))
    }

    /// Returns the time until which the next frame from `src` to `dst` must wait, or `None` if it may leave now.
    pub fn waits_until(&self, now: Time, port: u16, src: u32, dst: u32) -> Option<Time> {
        let flow = self.flows.get(&(port, self.pair_of(port, src, dst)?))?;
        (!flow.hold.may_send(now)).then(|| flow.hold.ask_again_at())
    }

    /// Charges a frame that leaves by `port` against its hold. `bytes` includes preamble and gap.
    pub fn sent(&mut self, now: Time, port: u16, (src, dst): (u32, u32), bytes: u64) {
        let pair = self.pair_of(port, src, dst);
        if let Some(flow) = pair.and_then(|pair| self.flows.get_mut(&(port, pair))) {
            flow.hold.sent(now, bytes);
        }
    }

    /// Returns whether a frame that is to leave by `port` must wait for its hold. If not, it is charged as sent.
    pub fn must_wait(&mut self, port: u16, frame: &Frame) -> bool {
        if self.flows.is_empty() {
            return false;
        }
        let Some(pair) = self.pair_of(port, frame.src, frame.dst) else { return false };
        let Some(flow) = self.flows.get_mut(&(port, pair)) else { return false };
        let passes = flow.frames.is_empty() && flow.hold.may_send(frame.at);
        if passes {
            flow.hold.sent(frame.at, u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES);
        }
        !passes
    }

    /// Returns the counts of holds, for the check of pauses.
    pub fn pauses(&self) -> PauseLedger {
        let HoldStatistics { begun, resumed, expired, .. } = self.statistics;
        PauseLedger { pauses: begun, resumes: resumed, expiries: expired, still_paused: self.flows.len() as u64 }
    }

    /// Returns the duration of all holds up to `now`: sum and maximum.
    pub fn time_held(&self, now: Time) -> (Time, Time) {
        let running = self.flows.values().map(|flow| now.saturating_sub(flow.hold.since()));
        let HoldStatistics { total, longest, .. } = self.statistics;
        running.fold((total, longest), |(total, longest), span| (total + span, longest.max(span)))
    }

    /// Returns the frames ahead of `frame` in its flow's queue, which contains it, and the time at which the hold
    /// permits the next frame of the flow or expires.
    pub fn ahead_of(&self, port: u16, frame: &Frame) -> (Load, Time) {
        let pair = self.pair_of(port, frame.src, frame.dst);
        let Some(flow) = pair.and_then(|pair| self.flows.get(&(port, pair))) else { return <_>::default() };
        let bytes: u64 = flow.frames.iter().map(|frame| u64::from(frame.size_bytes)).sum();
        let own = u64::from(frame.size_bytes).min(bytes);
        let load = Load { frames: (flow.frames.len() as u64).saturating_sub(1), bytes: bytes - own };
        (load, flow.hold.ask_again_at())
    }

    /// Appends a frame to the queue of its held flow at `now`.
    pub fn push(&mut self, now: Time, port: u16, frame: &Frame) {
        let Some(pair) = self.pair_of(port, frame.src, frame.dst) else { return };
        if let Some(flow) = self.flows.get_mut(&(port, pair)) {
            flow.frames.push_back(Frame { at: now, ..*frame });
            let load = &mut self.loads[usize::from(port)];
            self.areas[usize::from(port)].on_change(now, load.frames);
            (load.frames, load.bytes) = (load.frames + 1, load.bytes + u64::from(frame.size_bytes));
        }
        self.set_event(port, pair);
    }

    fn set_event(&mut self, port: u16, pair: HostPair) {
        #[cfg(test)]
        if self.kept {
            return;
        }
        let Some(flow) = self.flows.get_mut(&(port, pair)) else { return };
        let at = flow.next_event();
        // `timers` has one entry per flow, found by `timer_at`.
        if at != flow.timer_at {
            self.timers.remove(&(flow.timer_at, port, pair));
            self.timers.insert((at, port, pair));
            flow.timer_at = at;
        }
    }

    /// Starts or updates a hold after an XOFF. Returns whether it is new.
    pub fn hold(&mut self, now: Time, port: u16, pair: HostPair, rate_bps: u64, expiry: Time) -> bool {
        #[cfg(test)]
        if self.kept {
            return false;
        }
        let new = match self.flows.entry((port, pair)) {
            Entry::Occupied(mut flow) => {
                flow.get_mut().hold.on_request(now, rate_bps, expiry);
                false
            }
            Entry::Vacant(location) => {
                let hold = Hold::new(now, rate_bps, expiry);
                location.insert(HeldFlow { hold, frames: VecDeque::new(), timer_at: Time::MAX });
                self.statistics.begun += 1;
                true
            }
        };
        self.set_event(port, pair);
        new
    }

    /// Ends a hold, by XON or by expiry. Returns its queued frames in order.
    pub fn release(&mut self, now: Time, port: u16, pair: HostPair, by_xon: bool) -> VecDeque<Frame> {
        #[cfg(test)]
        if self.kept {
            return VecDeque::new();
        }
        let Some(flow) = self.flows.remove(&(port, pair)) else { return VecDeque::new() };
        self.timers.remove(&(flow.timer_at, port, pair));
        self.statistics.end(&flow.hold, now, by_xon);
        let load = &mut self.loads[usize::from(port)];
        let area = &mut self.areas[usize::from(port)];
        area.on_change(now, load.frames);
        flow.frames.iter().for_each(|frame| area.on_departure(frame.at, now));
        load.frames -= flow.frames.len() as u64;
        load.bytes -= flow.frames.iter().map(|frame| u64::from(frame.size_bytes)).sum::<u64>();
        flow.frames
    }

    /// Returns the next frame that is due by `now`, and its port. Ends expired holds and moves their frames to `freed`.
    pub fn next_due(&mut self, now: Time, freed: &mut Vec<(u16, Frame)>) -> Option<(u16, Frame)> {
        while let Some(&(_, port, pair)) = self.timers.first().filter(|first| first.0 <= now) {
            let flow = self.flows.get_mut(&(port, pair))?;
            if flow.hold.until() <= now {
                freed.extend(self.release(now, port, pair, false).into_iter().map(|frame| (port, frame)));
                continue;
            }
            let frame = flow.frames.pop_front()?;
            flow.hold.sent(now, u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES);
            let load = &mut self.loads[usize::from(port)];
            let area = &mut self.areas[usize::from(port)];
            area.on_change(now, load.frames);
            area.on_departure(frame.at, now);
            (load.frames, load.bytes) = (load.frames - 1, load.bytes - u64::from(frame.size_bytes));
            self.set_event(port, pair);
            return Some((port, frame));
        }
        None
    }

    /// Fault injection: removes a held frame without counting it.
    #[cfg(test)]
    pub fn lose_in_silence(&mut self) -> bool {
        let Some(((port, _), flow)) = self.flows.iter_mut().find(|(_, flow)| flow.frames.len() > 2) else {
            return false;
        };
        let Some(frame) = flow.frames.pop_front() else { return false };
        let load = &mut self.loads[usize::from(*port)];
        (load.frames, load.bytes) = (load.frames - 1, load.bytes - u64::from(frame.size_bytes));
        true
    }

    /// Returns the flows that are held at `port`.
    pub fn pairs_at(&self, port: u16) -> Vec<HostPair> {
        self.flows.keys().filter(|key| key.0 == port).map(|key| key.1).collect()
    }
}
