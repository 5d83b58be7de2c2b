//! State of a port: the hot part that every frame uses ([`Cell`]), and the rest ([`PortState`]).

use super::link::Attachment;
use super::mechanisms::PortMechanisms;
use super::preempt::Preemption;
use crate::departures::Departures;
use crate::network::Network;
use crate::parameters::Scheduler;
use engine::Ring;
use fabric::{NodeId, PortIndex, PortPeer};
use protocols::cbfc::CreditPort;
use protocols::frame::Frame;
use protocols::pause::PauseState;
use protocols::port::Hooks;
use protocols::scheduler::ClassScheduler;
use protocols::watchdog::Watchdog;
use units::Time;

/// The part of a port's state that every frame uses: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Cell {
    /// End of the current occupation of the wire.
    pub busy_until: Time,
    /// Picoseconds per byte, or 0 if this is not an integral number: then the [`Attachment`] computes the times.
    pub(super) per_byte_ps: u64,
    /// Serialisation delay of preamble and gap, which occupy the wire in addition to the frame.
    pub(super) overhead: Time,
    /// Serialisation delay of the preamble plus propagation delay, which delay the arrival in addition to the
    /// serialisation delay of the frame.
    pub(super) latency: Time,
    pub sent_frames: u64,
    pub sent_bytes: u64,
    /// Bitmask of the classes with waiting frames.
    pub waiting: u8,
    /// Bitmask of the reasons to check [`PortState`] before a frame starts: see [`block`].
    pub block_reasons: u8,
    /// Whether departures are charged to credits, a port mechanism or a class scheduler.
    pub has_accounting: bool,
    /// Bitmask of extra steps for frames that arrive by this port. Switches and hosts define their own bits.
    pub ingress: u8,
    /// Queue length in bytes from which a mechanism acts on a frame that joins a queue; `u32::MAX` for none.
    pub enqueue_from_bytes: u32,
}

impl Cell {
    /// Occupies the free wire with a frame and returns its arrival time. Every transmission starts here. `states` are
    /// the states of all ports. They are read only if the byte time is not an integral number of picoseconds, which
    /// excludes lazy departures.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn start<D: Departures>(&mut self, now: Time, size_bytes: u16, states: &[PortState], port: u16) -> Time {
        debug_assert!(!D::LAZY || self.has_integral_byte_time());
        if !D::LAZY && self.per_byte_ps == 0 {
            let (busy, arrives) = occupy_exactly(states, port, size_bytes);
            return self.occupy(now, size_bytes, busy, arrives);
        }
        let frame = Time::from_ps(u64::from(size_bytes) * self.per_byte_ps);
        self.occupy(now, size_bytes, frame + self.overhead, frame + self.latency)
    }

    /// Returns whether the byte time is an integral number of picoseconds.
    pub fn has_integral_byte_time(&self) -> bool {
        self.per_byte_ps != 0
    }

    /// Occupies the free wire for `busy`; the frame arrives after `arrives`. Returns the arrival time.
    #[inline(always)] // hot: runs once per packet-hop, like Egress::start
    fn occupy(&mut self, now: Time, size_bytes: u16, busy: Time, arrives: Time) -> Time {
        debug_assert!(self.busy_until <= now, "two frames on one wire");
        self.busy_until = now + busy;
        self.sent_frames += 1;
        self.sent_bytes += u64::from(size_bytes);
        now + arrives
    }
}

/// Returns [`Attachment::wire_time`], for ports whose byte time is not an integral number of picoseconds.
#[cold]
fn occupy_exactly(states: &[PortState], port: u16, size_bytes: u16) -> (Time, Time) {
    states[usize::from(port)].link.wire_time(size_bytes)
}

/// Totals of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortTotals {
    /// Frames whose transmission has started.
    pub frames: u64,
    /// Bytes of these frames, without preamble and gap.
    pub bytes: u64,
    /// Time in which the wire was occupied, preamble and gap included.
    pub busy: Time,
    /// Time in which a pause or a credit stall blocked at least one class.
    pub blocked: Time,
}

impl PortTotals {
    /// Returns the difference between these totals and those of `before`.
    pub(super) fn since(self, before: PortTotals) -> PortTotals {
        PortTotals {
            frames: self.frames - before.frames,
            bytes: self.bytes - before.bytes,
            busy: self.busy.saturating_sub(before.busy),
            blocked: self.blocked.saturating_sub(before.blocked),
        }
    }
}

/// Bits of [`Cell::block_reasons`].
pub(crate) mod block {
    /// A pause is in force or will take effect.
    pub const PAUSE: u8 = 1;
    /// MAC control frames wait.
    pub const CONTROL: u8 = 2;
    /// The link uses credit-based flow control.
    pub const CREDIT: u8 = 4;
    /// A class is in a pause storm.
    pub const STORM: u8 = 8;
    /// The link has failed.
    pub const DOWN: u8 = 16;
    /// Frames collect telemetry. This does not block frames, but requires a step for each frame.
    pub const TELEMETRY: u8 = 32;
    /// The port has mechanisms that block classes.
    pub const TIMED: u8 = 64;
    /// The port preempts frames.
    pub const PREEMPTS: u8 = 128;
    /// The reasons that can block classes.
    pub const BLOCKS: u8 = PAUSE | CREDIT | TIMED | PREEMPTS;
}

/// A queue without an allocation while it has never been used, because most ports never queue a control frame.
#[derive(Clone, Debug, Default)]
pub(super) struct ControlQueue(Option<Box<Ring<Frame>>>);

impl ControlQueue {
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |frames| frames.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn push(&mut self, frame: Frame) {
        self.0.get_or_insert_default().push(frame);
    }

    pub fn first(&self) -> Option<&Frame> {
        self.0.as_ref()?.front()
    }

    pub fn pop(&mut self) -> Option<Frame> {
        self.0.as_mut()?.pop()
    }
}

/// The part of a port's state that only some frames use, kept apart from the cells. Large fabrics have hundreds of
/// thousands of ports.
#[derive(Clone, Debug)]
pub(crate) struct PortState {
    pub link: Attachment,
    pub pause: PauseState,
    pub watchdog: Watchdog,
    /// Credits, on a link under credit-based flow control.
    pub credit: Option<Box<CreditPort>>,
    /// Cyclic queuing, marking, shaper and gates.
    pub mechanisms: PortMechanisms,
    /// Preemption state, on a switch port that preempts frames.
    pub preemption: Option<Box<Preemption>>,
    /// Totals at the end of the warm-up, unless all were zero.
    pub(super) at_warm_up: Option<Box<PortTotals>>,
    pub(super) scheduler: ClassScheduler,
    /// Bytes of all probes whose transmission has started, on a port with telemetry.
    pub(super) probe_bytes: u64,
    /// Waiting MAC control frames of this node, which precede all other frames.
    pub(super) control: ControlQueue,
}

impl PortState {
    /// Creates the state of the port `at` towards `peer`. `fails`: whether its link may fail.
    pub fn new(network: &Network, at: (NodeId, PortIndex), peer: &PortPeer, fails: bool) -> PortState {
        let link = network.fabric.link(peer.link);
        let preemption = network.preemption_at(at.0);
        PortState {
            link: Attachment::new(network.links.of(link), fails),
            pause: PauseState::default(),
            watchdog: Watchdog::default(),
            credit: network.credits(link),
            mechanisms: PortMechanisms::new(network, at, link.rate),
            preemption: preemption.map(|parameters| Box::new(Preemption::new(parameters))),
            at_warm_up: None,
            scheduler: match network.port_of(at.0, at.1).scheduler {
                Scheduler::Strict => ClassScheduler::Strict,
                Scheduler::Wrr { weights } => ClassScheduler::wrr(weights),
                Scheduler::Drr { quantum_bytes } => ClassScheduler::drr(quantum_bytes),
            },
            probe_bytes: 0,
            control: ControlQueue::default(),
        }
    }

    /// Creates the cell of this port. `collects`: whether frames collect telemetry.
    pub fn cell(&self, collects: bool) -> Cell {
        let (per_byte_ps, overhead, latency) = self.link.per_byte_ps();
        let hooks = self.mechanisms.hooks();
        Cell {
            busy_until: Time::ZERO,
            per_byte_ps,
            overhead,
            latency,
            sent_frames: 0,
            sent_bytes: 0,
            waiting: 0,
            block_reasons: if self.credit.is_some() { block::CREDIT } else { 0 }
                | if collects { block::TELEMETRY } else { 0 }
                | if hooks.meet(Hooks::BLOCK) { block::TIMED } else { 0 }
                | if self.preemption.is_some() { block::PREEMPTS } else { 0 },
            has_accounting: self.credit.is_some()
                || hooks.meet(Hooks::CHARGE)
                || self.scheduler != ClassScheduler::Strict,
            ingress: 0,
            enqueue_from_bytes: self.mechanisms.enqueue_from_bytes(),
        }
    }

    /// Returns the class scheduler.
    pub fn scheduler(&self) -> &ClassScheduler {
        &self.scheduler
    }

    /// Returns the number of waiting MAC control frames.
    pub fn control_waiting(&self) -> u64 {
        self.control.len() as u64
    }

    /// Returns whether a class has a credit stall.
    pub fn lacks_credit(&self) -> bool {
        self.credit.as_ref().is_some_and(|credit| credit.short() != 0)
    }

    /// Returns the time since which a pause or lack of credits blocks `class`; `None` if neither blocks it at `now`.
    pub fn blocked_since(&self, now: Time, class: u8) -> Option<Time> {
        let short = self.credit.as_ref().and_then(|credit| credit.waits_since(class));
        let stopped = self.pause.stopped_since_at(now, class);
        stopped.into_iter().chain(short).min()
    }

    /// Returns the time up to `now` in which some class was blocked. A link uses either pauses or credits, never both.
    pub fn blocked_time(&self, now: Time) -> Time {
        let short = self.credit.as_ref().map_or(Time::ZERO, |credit| credit.short_time(now));
        self.pause.port_stopped_time(now).max(short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_one_cache_line() {
        assert_eq!(size_of::<Cell>(), 64);
    }

    #[test]
    fn the_rarely_used_state_of_a_port_is_small() {
        assert!(size_of::<PortState>() <= 112, "{}", size_of::<PortState>());
    }
}
