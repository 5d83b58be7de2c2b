//! The ports by which a node sends, a switch or a host: wires, and the reasons not to start a frame on them now.
//!
//! ```text
//!   something waits, of these classes --> eligible: which classes may start now, or when to ask again
//!                                          --> pick: whose turn it is --> commit: onto the wire
//!   a frame comes to an idle port ------> send_at_once: onto the wire, if nothing may go before it
//!
//!   pause.rs     a neighbour stops classes, a watchdog looks at that
//!   credit.rs    the far end has no room
//!   control.rs   MAC control frames of our own go ahead of everything
//!   preempt.rs   a frame on the wire is interrupted for another
//!   shaping.rs   a class has sent more than its share
//!   gates.rs     a class's gate is shut, or would shut before the frame ends
//!   cyclic.rs    no reason of its own: which queue a frame joins whose gates open in turn
//!   work.rs      judges that no frame waited for another reason
//! ```
//!
//! Nobody else knows why a frame must wait, and nobody else starts one. What waits belongs to whoever owns the port:
//! it says of which classes something waits ([`Cell::waiting`]), and how long the first frame of a class is where that
//! matters.

mod cell;
mod control;
mod credit;
mod cyclic;
mod gates;
mod head;
mod link;
mod pause;
mod preempt;
mod shaping;
mod work;

pub(crate) use cell::{Cell, PortTotals, Rules, hold};
pub(crate) use head::Head;
pub(crate) use preempt::Busy;

use crate::books::Books;
use crate::network::Network;
use engine::Due;
use fabric::NodeId;
use protocols::scheduler::ClassScheduler;
use protocols::telemetry::Hop;
use protocols::watchdog::Action;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// Which classes may start a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// These, now: a bit each.
    Now(u8),
    /// None of those that wait before then, if nothing more is received; [`Time::MAX`] for never.
    At(Time),
}

/// The ports of one node.
#[derive(Debug)]
#[repr(C)] // see [`crate::switch::Core`]
pub(crate) struct Egress {
    pub rules: Box<[Rules]>,
    pub cells: Box<[Cell]>,
    /// When ports that have something to send next become free; while departures are lazy, what it was before.
    pub due: Due,
    /// While departures are lazy, the ports for which something may wait: bit b stands for ports b, b + 64, ...
    pub busy_ports: u64,
    /// Whether departures are lazy: see [`crate::switch::lazy`].
    pub lazy: bool,
    /// Whether they are noted as they are made up for: see [`crate::switch::peak`].
    pub noting: bool,
    /// Whether every port serves the highest class first.
    strict: bool,
    /// Whether frames of a class in a pause storm are lost instead of held.
    drops_in_storms: bool,
    /// Whether frames wait for credits at all: a host may be told to disregard what stops it.
    obeys_credits: bool,
}

impl Egress {
    /// The ports of `node`; `fails` says of which the link may fail.
    pub fn new(network: &Network, node: NodeId, obeys_credits: bool, fails: impl Fn(u16) -> bool) -> Egress {
        let ports = network.fabric.ports(node).iter().enumerate();
        let rules: Box<[Rules]> =
            ports.map(|(port, peer)| Rules::new(network, (node, port as u16), peer, fails(port as u16))).collect();
        let watchdog = network.switch.flow_control.pause().and_then(|pause| pause.watchdog);
        Egress {
            cells: rules.iter().map(|rules| rules.cell(network.telemetry.is_some())).collect(),
            due: Due::new(rules.len()),
            busy_ports: 0,
            lazy: false,
            noting: false,
            strict: rules.iter().all(|rules| rules.scheduler == ClassScheduler::Strict),
            rules,
            drops_in_storms: watchdog.is_some_and(|watchdog| watchdog.action == Action::Drop),
            obeys_credits,
        }
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether every port serves the highest class first.
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
    pub fn rules(&self, port: u16) -> &Rules {
        &self.rules[usize::from(port)]
    }

    #[inline]
    pub fn rules_mut(&mut self, port: u16) -> &mut Rules {
        &mut self.rules[usize::from(port)]
    }

    /// Which of the classes that wait for `port`, whose wire is free, may start a frame.
    /// `head` gives the first frame of a class.
    #[inline(always)] // as start
    pub fn eligible(&mut self, now: Time, port: u16, head: impl Fn(u8) -> Option<Head>, books: &mut Books) -> When {
        let &Cell { waiting, holds, .. } = self.cell(port);
        let ready = waiting & !self.blocked(now, port, holds, &head, books);
        if ready != 0 && self.cell(port).busy_until < now {
            self.judge_waiting(now, port, &head, books);
        }
        if ready != 0 { When::Now(ready) } else { When::At(self.opens_at(now, port, u8::MAX, head)) }
    }

    /// When one of these `classes`, if they wait for `port` in vain, may start a frame, if nothing more is received.
    #[cold]
    pub fn opens_at(&self, now: Time, port: u16, classes: u8, head: impl Fn(u8) -> Option<Head>) -> Time {
        let cell = self.cell(port);
        let waiting = cell.waiting & classes;
        if waiting == 0 {
            return Time::MAX;
        }
        let resumes = self.rules(port).pause.ask_again_at(waiting);
        if cell.holds & hold::TIMED == 0 { resumes } else { resumes.min(self.shut(now, port, classes, head).1) }
    }

    /// Whether nothing waits for `port`, nothing may hold up a frame there, and the highest class goes first.
    #[inline]
    pub fn is_plain(&self, port: u16) -> bool {
        let cell = self.cell(port);
        cell.waiting == 0 && cell.holds & !hold::TELEMETRY == 0 && self.strict
    }

    /// When to look at `port`, whose wire has just been taken: as it becomes free, if something waits.
    #[inline]
    pub fn next_turn(&self, port: u16) -> Time {
        let cell = self.cell(port);
        if cell.waiting != 0 { cell.busy_until } else { Time::MAX }
    }

    /// The classes that may not leave by `port`, which is held so, now.
    #[inline(always)] // as start
    fn blocked(&mut self, now: Time, port: u16, holds: u8, head: impl Fn(u8) -> Option<Head>, books: &mut Books) -> u8 {
        if holds & hold::BLOCKS == 0 { 0 } else { self.blocked_by(now, port, holds, head, books) }
    }

    /// The same where there is a reason.
    #[cold]
    fn blocked_by(
        &mut self,
        now: Time,
        port: u16,
        holds: u8,
        head: impl Fn(u8) -> Option<Head>,
        books: &mut Books,
    ) -> u8 {
        let timed = if holds & (hold::TIMED | hold::PREEMPTS) == 0 { 0 } else { self.out_of_time(now, port, &head) };
        let stopped = if holds & hold::PAUSE == 0 { 0 } else { self.stopped(now, port) };
        let short = if holds & hold::CREDIT == 0 { 0 } else { self.short_of_credit(now, port, head, books) };
        timed | stopped | short
    }

    /// The classes that gates, credit, or a frame that is interrupted, keep from leaving by `port` now.
    #[cold]
    #[inline(never)]
    fn out_of_time(&mut self, now: Time, port: u16, head: impl Fn(u8) -> Option<Head>) -> u8 {
        self.settle(now, port);
        let shut = if self.cell(port).holds & hold::TIMED == 0 { 0 } else { self.shut(now, port, u8::MAX, head).0 };
        shut | self.rules(port).preemption.as_ref().map_or(0, |preemption| preemption.blocked())
    }

    /// Whose turn it is at `port`, of the classes that are `ready`, at least one.
    #[inline(always)] // as start
    pub fn pick(&mut self, port: u16, ready: u8) -> u8 {
        if self.strict { ready.ilog2() as u8 } else { self.rules_mut(port).scheduler.pick(ready).unwrap_or(0) }
    }

    /// Starts the frame of `class` that [`pick`](Self::pick) chose on the free wire of `port`; returns when it will
    /// have arrived.
    #[inline(always)] // as start
    pub fn commit(&mut self, now: Time, port: u16, class: u8, size_bytes: u16) -> Time {
        let cell = &mut self.cells[usize::from(port)];
        if cell.charges {
            self.charge(now, port, class, size_bytes);
            return self.start(now, port, size_bytes);
        }
        cell.start(now, size_bytes, &self.rules, port)
    }

    /// Takes credits of both kinds and the scheduler's turn for a frame of `class`.
    #[inline(never)]
    fn charge(&mut self, now: Time, port: u16, class: u8, size_bytes: u16) {
        self.spend_credit(port, class, size_bytes);
        self.shape(now, port, class, size_bytes);
        self.rules_mut(port).scheduler.charge(class, u64::from(size_bytes) + WIRE_OVERHEAD_BYTES);
    }

    /// What `port` says of itself as a frame starts to leave it, behind which `queue_bytes` wait.
    pub fn hop(&self, now: Time, port: u16, queue_bytes: u64) -> Hop {
        Hop { at: now, rate: self.rules(port).link.rate, queue_bytes, sent_bytes: self.cell(port).sent_bytes }
    }

    /// Time up to `now` in which the wire of `port` was occupied; of a frame that is on the wire, the part that has
    /// passed.
    pub fn busy_time(&self, now: Time, port: u16) -> Time {
        let (cell, rules) = (self.cell(port), self.rules(port));
        // Where a byte takes no whole number of picoseconds, each frame may take one more than its share of the sum.
        let frames = rules.link.rate.serialise(cell.sent_bytes + cell.sent_frames * WIRE_OVERHEAD_BYTES);
        let (cut, resumed) = rules.preemption.as_ref().map_or((Time::ZERO, Time::ZERO), |it| it.cut_and_resumed());
        (frames + resumed).saturating_sub(cut).saturating_sub(cell.busy_until.saturating_sub(now))
    }

    /// Totals of `port` at `now`, since the run began.
    fn totals(&self, now: Time, port: u16) -> PortTotals {
        let cell = self.cell(port);
        PortTotals {
            frames: cell.sent_frames,
            bytes: cell.sent_bytes,
            busy: self.busy_time(now, port),
            blocked: self.rules(port).blocked_time(now),
        }
    }

    /// Totals of `port` at `now`, since the warm-up.
    pub fn measured(&self, now: Time, port: u16) -> PortTotals {
        self.totals(now, port).since(self.before(port))
    }

    /// Whether `port` has started to send a frame since the warm-up.
    pub fn is_used(&self, port: u16) -> bool {
        self.cell(port).sent_frames > self.before(port).frames
    }

    fn before(&self, port: u16) -> PortTotals {
        self.rules(port).at_warm_up.as_deref().copied().unwrap_or_default()
    }

    /// Starts a frame of `class` that has just come, if the wire of `port` is free and nothing may go before it;
    /// returns when it will have arrived. `collect` is told of the port where frames collect telemetry, but for what
    /// waits. The scheduler had nothing to choose, so it costs its class nothing.
    #[inline(always)] // as start
    pub fn send_at_once(
        &mut self,
        now: Time,
        port: u16,
        (class, size_bytes): (u8, u16),
        head: impl Fn(u8) -> Option<Head>,
        collect: impl FnOnce(Hop),
        books: &mut Books,
    ) -> Option<Time> {
        let cell = &mut self.cells[usize::from(port)];
        if cell.busy_until > now {
            return None;
        }
        if cell.holds == 0 {
            if cell.waiting != 0 {
                return None;
            }
            return Some(cell.start(now, size_bytes, &self.rules, port));
        }
        let goes = {
            let goes = self.overtakes(now, port, class, head, books)
                && self.lets_pass(now, port, (class, size_bytes))
                && self.take_credit(now, port, (class, size_bytes), books);
            if goes {
                self.shape(now, port, class, size_bytes);
                if self.cell(port).holds & hold::TELEMETRY != 0 {
                    collect(self.hop(now, port, 0));
                }
            }
            goes
        };
        goes.then(|| self.start(now, port, size_bytes))
    }

    /// Whether a frame of `class` that comes for `port` now would be on its wire at once; credits are not looked at.
    pub fn is_open(
        &mut self,
        now: Time,
        port: u16,
        (class, size_bytes): (u8, u16),
        head: impl Fn(u8) -> Option<Head>,
        books: &mut Books,
    ) -> bool {
        let cell = self.cell(port);
        if cell.busy_until > now {
            false
        } else if cell.holds == 0 {
            cell.waiting == 0
        } else {
            self.overtakes(now, port, class, head, books) && self.lets_pass(now, port, (class, size_bytes))
        }
    }

    /// Whether a frame of `class` may go at once although some class is stopped: whatever waits must be.
    #[cold]
    fn overtakes(
        &mut self,
        now: Time,
        port: u16,
        class: u8,
        head: impl Fn(u8) -> Option<Head>,
        books: &mut Books,
    ) -> bool {
        let holds = self.cell(port).holds;
        let blocked = self.blocked(now, port, holds, &head, books) | self.dropped_classes(port);
        let cell = self.cell(port);
        let goes = cell.holds & hold::CONTROL == 0 && cell.waiting & !blocked == 0 && blocked & (1 << class) == 0;
        if goes && cell.waiting != 0 && cell.busy_until < now {
            self.judge_waiting(now, port, head, books);
        }
        goes
    }

    /// Occupies the free wire of `port` with a frame; returns when it will have arrived.
    #[inline(always)] // wherever a frame starts its cell is at hand already
    pub fn start(&mut self, now: Time, port: u16, size_bytes: u16) -> Time {
        self.cells[usize::from(port)].start(now, size_bytes, &self.rules, port)
    }

    /// Something of `class` waits for `port` from `now` on: asks again when it may leave.
    #[inline(always)] // as start
    pub fn wait(&mut self, now: Time, port: u16, class: u8) {
        if self.lazy {
            return self.wait_lazily(port, class);
        }
        let cell = &mut self.cells[usize::from(port)];
        if cell.holds & (hold::STORM | hold::TIMED | hold::PREEMPTS) != 0 {
            return self.wait_and_look(now, port, class);
        }
        let waited = cell.waiting & 1 << class != 0;
        cell.waiting |= 1 << class;
        // A port that waits for blocked classes alone is due later than its wire is free: too late for this class.
        let free_at = cell.busy_until.max(now);
        if free_at < self.due.at(port) {
            if free_at > now {
                self.due.lower(port, free_at);
            } else if !waited {
                self.wait_unblocked(now, port, class);
            }
        }
    }

    /// As the end of [`wait`](Self::wait), where the wire is free and no frame of `class` waited: the port is due no
    /// later than the class may start a frame, if nothing more is received.
    #[cold]
    #[inline(never)]
    fn wait_unblocked(&mut self, now: Time, port: u16, class: u8) {
        let rules = self.rules_mut(port);
        let at = if rules.credit.as_ref().is_some_and(|credit| credit.waits_since(class).is_some()) {
            Time::MAX
        } else if rules.pause.blocked(now) & 1 << class != 0 {
            rules.pause.ask_again_at(1 << class)
        } else {
            now
        };
        self.look(port, at);
    }

    /// The same while departures are lazy.
    #[inline(always)] // as start
    pub fn wait_lazily(&mut self, port: u16, class: u8) {
        self.cells[usize::from(port)].waiting |= 1 << class;
        // Mostly it is busy already. To ask first costs more: the answer cannot be predicted.
        self.busy_ports |= 1 << (port % 64);
    }

    /// The same where more than pauses decide: a watchdog drops what waits, its gate opens before that for which the
    /// port waits, or it interrupts the frame on the wire.
    #[cold]
    #[inline(never)]
    fn wait_and_look(&mut self, now: Time, port: u16, class: u8) {
        self.settle(now, port);
        self.cell_mut(port).waiting |= 1 << class;
        self.settle(now, port);
        let at = self.cell(port).busy_until.max(now);
        if at < self.due.at(port) {
            self.due.lower(port, at);
        }
        self.look_to_cut(now, port, class);
    }

    /// Looks at `port` no later than `at`; in vain does no harm.
    pub fn look(&mut self, port: u16, at: Time) {
        if at < self.due.at(port) {
            self.due.set(port, at);
        }
    }

    /// Schedules `port` for the first instant from `from` on at which a frame may start: when the wire is free, or at
    /// once where the frame on it may be interrupted.
    pub fn look_when_free(&mut self, from: Time, port: u16) {
        let cell = self.cell(port);
        let at = if cell.holds & hold::PREEMPTS != 0 { from } else { cell.busy_until.max(from) };
        self.look(port, at);
    }

    /// Whether a port is stopped or about to be, or waits for credits.
    pub fn has_stopped_port(&self) -> bool {
        let held = |(cell, rules): (&Cell, &Rules)| {
            cell.holds & hold::PAUSE != 0 || (cell.holds & hold::CREDIT != 0 && rules.is_short())
        };
        self.cells.iter().zip(&self.rules).any(held)
    }

    /// The link of `port` fails.
    pub fn fail(&mut self, now: Time, port: u16, books: &mut Books) {
        self.rules_mut(port).link.fail(now);
        self.cell_mut(port).holds |= hold::DOWN;
        self.lose_control(port, books);
        self.forget_credit(now, port, books);
    }

    /// The link of `port` is back.
    pub fn repair(&mut self, now: Time, port: u16) {
        self.rules_mut(port).link.repair();
        let cell = self.cell_mut(port);
        cell.holds &= !hold::DOWN;
        // Until now the wire was not free.
        cell.busy_until = cell.busy_until.max(now);
    }

    /// The measured window begins `now`.
    pub fn reset(&mut self, now: Time) {
        for port in 0..self.len() as u16 {
            let totals = self.totals(now, port);
            self.rules_mut(port).at_warm_up = (totals != PortTotals::default()).then(|| Box::new(totals));
        }
    }
}
