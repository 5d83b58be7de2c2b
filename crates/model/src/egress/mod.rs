//! Transmission at the ports of a switch or host: occupation of the wire, and the reasons that block frames.
//!
//! ```text
//!   frames of some classes wait ---------> eligible: classes that may start now, or the time of the next test
//!                                          --> pick: scheduler --> commit: transmit
//!   a frame arrives at an idle port ----> send_at_once: transmit, if no other frame has precedence
//!
//!   pause.rs     a neighbour pauses classes; watchdog
//!   credit.rs    a class has too few credits for its next frame
//!   control.rs   MAC control frames of this node precede all others
//!   preempt.rs   an express frame preempts the frame on the wire
//!   blocking.rs  a port mechanism blocks a class: a shaper without credit, a gate that closes before the frame ends
//!   work.rs      check that frames wait for no other reason (work conservation)
//! ```
//!
//! Only this module starts frames and evaluates reasons to block them. The owner of the port (switch or host) has the
//! queues. It provides the classes with waiting frames ([`Cell::waiting`]) and, on request, the first frame of a class.

mod blocking;
mod cell;
mod control;
mod credit;
mod head;
mod link;
mod mechanisms;
mod pause;
mod preempt;
mod work;

pub(crate) use cell::{Cell, PortState, PortTotals, block};
pub(crate) use head::Head;
pub(crate) use mechanisms::Installed;
pub(crate) use preempt::Busy;

use crate::departures::Exact;
use crate::network::Network;
use crate::node_stats::NodeStats;
use engine::EarliestTimes;
use fabric::NodeId;
use protocols::scheduler::ClassScheduler;
use protocols::telemetry::Hop;
use protocols::watchdog::StormAction;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Result of a test for classes that may start a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eligibility {
    /// Bitmask of classes that may start now.
    Now(u8),
    /// Earliest time at which a waiting class may start if no further control frame or frame arrives; [`Time::MAX`] for
    /// never.
    At(Time),
}

/// The ports of one node.
#[derive(Debug)]
#[repr(C)] // see [`crate::switch::Core`]
pub(crate) struct Egress {
    pub states: Box<[PortState]>,
    pub cells: Box<[Cell]>,
    /// Times at which ports with waiting frames are served next. Outdated while departures are lazy.
    pub due: EarliestTimes,
    /// Superset of the ports with waiting frames, while departures are lazy: bit b for ports b, b + 64, ...
    pub backlogged_ports: u64,
    /// Whether departures are lazy: see [`crate::switch::lazy`].
    pub lazy: bool,
    /// Whether all ports use strict priority.
    strict: bool,
    /// Whether the watchdog drops the frames of a class with a pause storm.
    drops_in_storms: bool,
    /// Whether frames require credits. False for hosts that ignore flow control.
    obeys_credits: bool,
}

impl Egress {
    /// Creates the ports of `node`; `fails` returns whether the link of a port may fail.
    pub fn new(network: &Network, node: NodeId, obeys_credits: bool, fails: impl Fn(u16) -> bool) -> Egress {
        let ports = network.fabric.ports(node).iter().enumerate();
        let states: Box<[PortState]> =
            ports.map(|(port, peer)| PortState::new(network, (node, port as u16), peer, fails(port as u16))).collect();
        let watchdog = network.switch.flow_control.pause().and_then(|pause| pause.watchdog);
        Egress {
            cells: states.iter().map(|state| state.cell(network.telemetry.is_some())).collect(),
            due: EarliestTimes::new(states.len()),
            backlogged_ports: 0,
            lazy: false,
            strict: states.iter().all(|state| state.scheduler == ClassScheduler::Strict),
            states,
            drops_in_storms: watchdog.is_some_and(|watchdog| watchdog.action == StormAction::Drop),
            obeys_credits,
        }
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns whether all ports use strict priority.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    #[inline]
    pub fn cell(&self, port: u16) -> &Cell {
        &self.cells[usize::from(port)]
    }

    #[inline]
    pub fn cell_mut(&mut self, port: u16) -> &mut Cell {
        &mut self.cells[usize::from(port)]
    }

    #[inline]
    pub fn state(&self, port: u16) -> &PortState {
        &self.states[usize::from(port)]
    }

    #[inline]
    pub fn state_mut(&mut self, port: u16) -> &mut PortState {
        &mut self.states[usize::from(port)]
    }

    /// Returns the waiting classes of `port` that may start a frame on its free wire. `head` returns the first frame of
    /// a class.
    #[inline(always)] // hot: runs once per packet-hop, like start
    pub fn eligible(
        &mut self,
        now: Time,
        port: u16,
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) -> Eligibility {
        let &Cell { waiting, block_reasons, .. } = self.cell(port);
        let ready = waiting & !self.blocked(now, port, block_reasons, &head, stats);
        if ready != 0 && self.cell(port).busy_until < now {
            self.check_waiting(now, port, &head, stats);
        }
        if ready != 0 { Eligibility::Now(ready) } else { Eligibility::At(self.opens_at(now, port, u8::MAX, head)) }
    }

    /// Returns the earliest time at which one of the blocked `classes` may start if no further control frame or frame
    /// arrives.
    #[cold]
    pub fn opens_at(&self, now: Time, port: u16, classes: u8, head: impl Fn(u8) -> Option<Head>) -> Time {
        let cell = self.cell(port);
        let waiting = cell.waiting & classes;
        if waiting == 0 {
            return Time::MAX;
        }
        let resumes = self.state(port).pause.ask_again_at(waiting);
        if cell.block_reasons & block::TIMED == 0 {
            resumes
        } else {
            resumes.min(self.blocked_by_mechanisms(now, port, classes, head).1)
        }
    }

    /// Returns whether `port` has no waiting frame, no reason to block a frame, and strict priority.
    #[inline]
    pub fn is_unconstrained(&self, port: u16) -> bool {
        let cell = self.cell(port);
        cell.waiting == 0 && cell.block_reasons & !block::TELEMETRY == 0 && self.strict
    }

    /// Returns the next service time of `port` after a transmission started: the end of the frame if other frames
    /// wait, [`Time::MAX`] otherwise.
    #[inline]
    pub fn next_service(&self, port: u16) -> Time {
        let cell = self.cell(port);
        if cell.waiting != 0 { cell.busy_until } else { Time::MAX }
    }

    /// Returns the bitmask of classes that `reasons` blocks at `port` now.
    #[inline(always)] // hot: runs once per packet-hop, like start
    fn blocked(
        &mut self,
        now: Time,
        port: u16,
        reasons: u8,
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) -> u8 {
        if reasons & block::BLOCKS == 0 { 0 } else { self.blocked_by(now, port, reasons, head, stats) }
    }

    /// Slow path of [`Egress::blocked`].
    #[cold]
    fn blocked_by(
        &mut self,
        now: Time,
        port: u16,
        reasons: u8,
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) -> u8 {
        let timed =
            if reasons & (block::TIMED | block::PREEMPTS) == 0 { 0 } else { self.blocked_by_time(now, port, &head) };
        let stopped = if reasons & block::PAUSE == 0 { 0 } else { self.stopped(now, port) };
        let short = if reasons & block::CREDIT == 0 { 0 } else { self.lacking_credit(now, port, head, stats) };
        timed | stopped | short
    }

    /// Returns the bitmask of classes that mechanisms or a preempted frame block at `port` now.
    #[cold]
    #[inline(never)]
    fn blocked_by_time(&mut self, now: Time, port: u16, head: impl Fn(u8) -> Option<Head>) -> u8 {
        self.settle_mechanisms(now, port);
        let is_timed = self.cell(port).block_reasons & block::TIMED != 0;
        let shut = if is_timed { self.blocked_by_mechanisms(now, port, u8::MAX, head).0 } else { 0 };
        shut | self.state(port).preemption.as_ref().map_or(0, |preemption| preemption.blocked())
    }

    /// Returns the class that the scheduler picks among the `ready` classes (at least one).
    #[inline(always)] // hot: runs once per packet-hop, like start
    pub fn pick(&mut self, port: u16, ready: u8) -> u8 {
        if self.strict { ready.ilog2() as u8 } else { self.state_mut(port).scheduler.pick(ready).unwrap_or(0) }
    }

    /// Starts the frame of `class` selected by [`pick`](Self::pick) on the free wire of `port`. Returns its arrival
    /// time.
    #[inline(always)] // hot: runs once per packet-hop, like start
    pub fn commit(&mut self, now: Time, port: u16, class: u8, size_bytes: u16) -> Time {
        let cell = &mut self.cells[usize::from(port)];
        if cell.has_accounting {
            self.charge(now, port, class, size_bytes);
            return self.start(now, port, size_bytes);
        }
        cell.start::<Exact>(now, size_bytes, &self.states, port)
    }

    /// Charges credits, mechanisms and scheduler for a frame of `class`.
    #[inline(never)]
    fn charge(&mut self, now: Time, port: u16, class: u8, size_bytes: u16) {
        self.spend_credit(port, class, size_bytes);
        self.charge_mechanisms(now, port, class, size_bytes);
        self.state_mut(port).scheduler.charge(class, u64::from(size_bytes) + WIRE_OVERHEAD_BYTES);
    }

    /// Returns the telemetry of `port` for a frame that starts now and leaves a backlog of `queue_bytes`.
    pub fn hop(&self, now: Time, port: u16, queue_bytes: u64) -> Hop {
        let state = self.state(port);
        let (sent_bytes, probe_bytes) = (self.cell(port).sent_bytes, state.probe_bytes);
        Hop { at: now, rate: state.link.rate, queue_bytes, sent_bytes, probe_bytes }
    }

    /// Counts bytes of probes that start on `port`, for the telemetry of later frames.
    pub fn count_probe(&mut self, port: u16, bytes: u64) {
        self.state_mut(port).probe_bytes += bytes;
    }

    /// Returns the time up to `now` in which the wire of `port` was occupied, including the elapsed part of the current
    /// frame.
    pub fn busy_time(&self, now: Time, port: u16) -> Time {
        let (cell, state) = (self.cell(port), self.state(port));
        // Not exact if the byte time is not an integral number of picoseconds, because the transmission time of each
        // frame is rounded up, but this sum is rounded only once.
        let frames = state.link.rate.serialise(cell.sent_bytes + cell.sent_frames * WIRE_OVERHEAD_BYTES);
        let (cut, resumed) = state.preemption.as_ref().map_or((Time::ZERO, Time::ZERO), |it| it.cut_and_resumed());
        (frames + resumed).saturating_sub(cut).saturating_sub(cell.busy_until.saturating_sub(now))
    }

    /// Returns the totals of `port` at `now` since the start of the run.
    fn totals(&self, now: Time, port: u16) -> PortTotals {
        let cell = self.cell(port);
        PortTotals {
            frames: cell.sent_frames,
            bytes: cell.sent_bytes,
            busy: self.busy_time(now, port),
            blocked: self.state(port).blocked_time(now),
        }
    }

    /// Returns the totals of `port` at `now` since the warm-up.
    pub fn measured(&self, now: Time, port: u16) -> PortTotals {
        self.totals(now, port).since(self.before(port))
    }

    /// Returns whether `port` has started a frame since the warm-up.
    pub fn is_used(&self, port: u16) -> bool {
        self.cell(port).sent_frames > self.before(port).frames
    }

    fn before(&self, port: u16) -> PortTotals {
        self.state(port).at_warm_up.as_deref().copied().unwrap_or_default()
    }

    /// Starts a frame of `class` that has just arrived, if the wire of `port` is free and no other frame has
    /// precedence. Returns its arrival time. `collect` receives the telemetry of the port, without the backlog, and
    /// returns the bytes of the frame if it is a probe. The scheduler is not charged, because no other class competed.
    #[inline(always)] // hot: runs once per packet-hop, like start
    pub fn send_at_once(
        &mut self,
        now: Time,
        port: u16,
        (class, size_bytes): (u8, u16),
        head: impl Fn(u8) -> Option<Head>,
        collect: impl FnOnce(Hop) -> u64,
        stats: &mut NodeStats,
    ) -> Option<Time> {
        let cell = &mut self.cells[usize::from(port)];
        if cell.busy_until > now {
            return None;
        }
        if cell.block_reasons == 0 {
            return (cell.waiting == 0).then(|| cell.start::<Exact>(now, size_bytes, &self.states, port));
        }
        let may_start = self.may_precede(now, port, class, head, stats)
            && self.mechanisms_allow(now, port, (class, size_bytes))
            && self.take_credit(now, port, (class, size_bytes), stats);
        if !may_start {
            return None;
        }
        self.charge_mechanisms(now, port, class, size_bytes);
        if self.cell(port).block_reasons & block::TELEMETRY != 0 {
            let probe_bytes = collect(self.hop(now, port, 0));
            self.count_probe(port, probe_bytes);
        }
        Some(self.start(now, port, size_bytes))
    }

    /// Returns whether a frame of `class` would start on `port` at once, regardless of credits.
    pub fn can_start_now(
        &mut self,
        now: Time,
        port: u16,
        (class, size_bytes): (u8, u16),
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) -> bool {
        let cell = self.cell(port);
        if cell.busy_until > now {
            false
        } else if cell.block_reasons == 0 {
            cell.waiting == 0
        } else {
            self.may_precede(now, port, class, head, stats) && self.mechanisms_allow(now, port, (class, size_bytes))
        }
    }

    /// Returns whether a frame of `class` may start now. This requires that all waiting frames are blocked.
    #[cold]
    fn may_precede(
        &mut self,
        now: Time,
        port: u16,
        class: u8,
        head: impl Fn(u8) -> Option<Head>,
        stats: &mut NodeStats,
    ) -> bool {
        let reasons = self.cell(port).block_reasons;
        let blocked = self.blocked(now, port, reasons, &head, stats) | self.dropped_classes(port);
        let cell = self.cell(port);
        let may_start =
            cell.block_reasons & block::CONTROL == 0 && cell.waiting & !blocked == 0 && blocked & (1 << class) == 0;
        if may_start && cell.waiting != 0 && cell.busy_until < now {
            self.check_waiting(now, port, head, stats);
        }
        may_start
    }

    /// Occupies the free wire of `port` with a frame and returns its arrival time.
    #[inline(always)] // the cell is then loaded only once, by the caller
    pub fn start(&mut self, now: Time, port: u16, size_bytes: u16) -> Time {
        self.cells[usize::from(port)].start::<Exact>(now, size_bytes, &self.states, port)
    }

    /// Records that a frame of `class` waits for `port`, and schedules the port.
    #[inline(always)] // hot: runs once per packet-hop, like start
    pub fn wait(&mut self, now: Time, port: u16, class: u8) {
        if self.lazy {
            return self.wait_lazily(port, class);
        }
        let cell = &mut self.cells[usize::from(port)];
        if cell.block_reasons & (block::STORM | block::TIMED | block::PREEMPTS) != 0 {
            return self.wait_and_schedule(now, port, class);
        }
        let waited = cell.waiting & 1 << class != 0;
        cell.waiting |= 1 << class;
        // If all classes that waited before are blocked, the port may be due later than the time at which its wire
        // becomes free, which may be too late for this class.
        let free_at = cell.busy_until.max(now);
        if free_at < self.due.at(port) {
            if free_at > now {
                self.due.lower(port, free_at);
            } else if !waited {
                self.wait_unblocked(now, port, class);
            }
        }
    }

    /// Last step of [`wait`](Self::wait) if the wire is free and no earlier frame of the class waits: schedules the
    /// port for the earliest start of the class.
    #[cold]
    #[inline(never)]
    fn wait_unblocked(&mut self, now: Time, port: u16, class: u8) {
        let state = self.state_mut(port);
        let at = if state.credit.as_ref().is_some_and(|credit| credit.waits_since(class).is_some()) {
            Time::MAX
        } else if state.pause.blocked(now) & 1 << class != 0 {
            state.pause.ask_again_at(1 << class)
        } else {
            now
        };
        self.schedule(port, at);
    }

    /// Like [`wait`](Self::wait), during lazy departures.
    #[inline(always)] // hot: runs once per packet-hop, like start
    pub fn wait_lazily(&mut self, port: u16, class: u8) {
        self.cells[usize::from(port)].waiting |= 1 << class;
        // Stores without a test, because a mispredicted branch costs more than a redundant store.
        self.backlogged_ports |= 1 << (port % 64);
    }

    /// Like [`wait`](Self::wait), for ports with a pause storm, timed mechanisms or preemption: a watchdog may drop the
    /// frame, its gate may open first, or it may preempt the frame on the wire.
    #[cold]
    #[inline(never)]
    fn wait_and_schedule(&mut self, now: Time, port: u16, class: u8) {
        self.settle_mechanisms(now, port);
        self.cell_mut(port).waiting |= 1 << class;
        self.settle_mechanisms(now, port);
        let at = self.cell(port).busy_until.max(now);
        if at < self.due.at(port) {
            self.due.lower(port, at);
        }
        self.schedule_preemption(now, port, class);
    }

    /// Schedules `port` no later than `at`. A service that is too early has no effect.
    pub fn schedule(&mut self, port: u16, at: Time) {
        if at < self.due.at(port) {
            self.due.set(port, at);
        }
    }

    /// Schedules `port` for the first instant from `from` on at which a frame may start: when the wire is free, or at
    /// once if the port preempts frames.
    pub fn schedule_when_free(&mut self, from: Time, port: u16) {
        let cell = self.cell(port);
        let at = if cell.block_reasons & block::PREEMPTS != 0 { from } else { cell.busy_until.max(from) };
        self.schedule(port, at);
    }

    /// Returns whether a port is paused, will be paused, or has a credit stall.
    pub fn has_stopped_port(&self) -> bool {
        let held = |(cell, state): (&Cell, &PortState)| {
            cell.block_reasons & block::PAUSE != 0 || (cell.block_reasons & block::CREDIT != 0 && state.lacks_credit())
        };
        self.cells.iter().zip(&self.states).any(held)
    }

    /// Applies a failure of the link of `port`.
    pub fn fail(&mut self, now: Time, port: u16, stats: &mut NodeStats) {
        self.state_mut(port).link.fail(now);
        self.cell_mut(port).block_reasons |= block::DOWN;
        self.lose_control(port, stats);
        self.cancel_credit_waits(now, port, stats);
    }

    /// Applies the repair of the link of `port`.
    pub fn repair(&mut self, now: Time, port: u16) {
        self.state_mut(port).link.repair();
        let cell = self.cell_mut(port);
        cell.block_reasons &= !block::DOWN;
        // Frames could not start before the repair, so the wire counts as busy until `now`.
        cell.busy_until = cell.busy_until.max(now);
    }

    /// Starts the measurement interval of all ports at `now`.
    pub fn reset(&mut self, now: Time) {
        for port in 0..self.len() as u16 {
            let totals = self.totals(now, port);
            self.state_mut(port).at_warm_up = (totals != PortTotals::default()).then(|| Box::new(totals));
        }
    }
}
