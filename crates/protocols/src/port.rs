//! Mechanisms at an output port, behind one interface: a mechanism declares its hooks, and the port calls only these.
//!
//! ```text
//!   frame routed to the port    SELECT   class of the queue
//!                               ADMIT    drop or mark the frame before it is forwarded
//!   frame joins a queue         ENQUEUE  mark it, by the queue ahead
//!   frame has joined            QUEUED   send a notification to its source
//!   head leaves its queue       DEQUEUE  mark it, by the queue behind
//!   transmission starts         TRANSMIT mark it: every frame, also one that finds its wire idle
//!   port selects a class        BLOCK    the time from which a frame of the class may start, resume, and be held
//!   transmission starts, ends   CHARGE   account for the time on the wire, and for the time of waiting
//! ```
//!
//! A mechanism is one file with its parameters (`parameters!` in `parameters.rs`), its state machine and its
//! [`PortMechanism`], and one line in the list of [`crate::port_mechanisms`].

use crate::describe::Mechanism;
use crate::frame::Frame;
use crate::preemption::PreemptionParameters;
use units::clock::NodeClock;
use units::random::Stream;
use units::{Rate, Time};

/// Set of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks(u16);

impl Hooks {
    /// No hook.
    pub const NONE: Hooks = Hooks(0);
    /// [`PortMechanism::select`].
    pub const SELECT: Hooks = Hooks(1);
    /// [`PortMechanism::admit`].
    pub const ADMIT: Hooks = Hooks(2);
    /// [`PortMechanism::enqueue`].
    pub const ENQUEUE: Hooks = Hooks(4);
    /// [`PortMechanism::queued`].
    pub const QUEUED: Hooks = Hooks(8);
    /// [`PortMechanism::dequeue`].
    pub const DEQUEUE: Hooks = Hooks(16);
    /// [`PortMechanism::transmit`].
    pub const TRANSMIT: Hooks = Hooks(32);
    /// [`PortMechanism::starts_at`], [`resumes_at`](PortMechanism::resumes_at), [`holds_at`](PortMechanism::holds_at),
    /// [`open_between`](PortMechanism::open_between) and [`available_between`](PortMechanism::available_between).
    pub const BLOCK: Hooks = Hooks(64);
    /// [`PortMechanism::settle`], [`start`](PortMechanism::start) and [`interrupt`](PortMechanism::interrupt).
    pub const CHARGE: Hooks = Hooks(128);
    /// Of overload actions, which `model` implements: decision about a frame before its admission to a queue.
    pub const DECIDE: Hooks = Hooks(256);
    /// Of overload actions: decision about a frame that was not admitted.
    pub const REFUSE: Hooks = Hooks(512);
    /// Of overload actions: their decisions use other ports than that of the frame.
    pub const REDIRECT: Hooks = Hooks(1024);
    /// Every hook.
    pub const ALL: Hooks = Hooks(2047);
    /// Hooks at the arrival of a frame, before it is forwarded.
    pub const ARRIVAL: Hooks = Hooks(Hooks::SELECT.0 | Hooks::ADMIT.0);
    /// Hooks at the departure of a queued frame.
    pub const DEPARTURE: Hooks = Hooks(Hooks::DEQUEUE.0 | Hooks::TRANSMIT.0);
    /// Hooks that a switch calls while it applies departures in batches; with any other hook, each departure is an
    /// event.
    pub const LAZY: Hooks = Hooks(Hooks::ENQUEUE.0 | Hooks::DECIDE.0 | Hooks::REFUSE.0);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Hooks) -> Hooks {
        Hooks(self.0 | other.0)
    }

    /// Returns the hooks that `other` lacks.
    #[must_use]
    pub const fn without(self, other: Hooks) -> Hooks {
        Hooks(self.0 & !other.0)
    }

    /// Returns whether the sets have a common hook.
    #[inline(always)] // saves a call per frame and hook
    pub const fn meet(self, other: Hooks) -> bool {
        self.0 & other.0 != 0
    }
}

/// Properties of a port from which its mechanisms are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// Rate of the link.
    pub rate: Rate,
    /// Number of queues of the port.
    pub queues: usize,
    /// Bitmask of the classes in use.
    pub classes: u8,
    /// Clock of the node; `None` for an exact one.
    pub clock: Option<NodeClock>,
    /// Frame preemption, if the port preempts frames.
    pub preemption: Option<PreemptionParameters>,
}

/// State of a port that its mechanisms can read in a hook.
pub trait PortView {
    /// Current time.
    fn now(&self) -> Time;
    /// Local time of the node's clock at `at`.
    fn local(&self, at: Time) -> Time;
    /// Position of the frame's queue among the queues of the port.
    fn queue(&self) -> usize;
    /// Bytes in the queue of the frame: those ahead of it at [`ADMIT`](Hooks::ADMIT) and [`ENQUEUE`](Hooks::ENQUEUE),
    /// all including it at [`QUEUED`](Hooks::QUEUED), those behind it at [`DEQUEUE`](Hooks::DEQUEUE) and at
    /// [`TRANSMIT`](Hooks::TRANSMIT) from a queue; 0 otherwise.
    fn queue_bytes(&self) -> u64;
    /// Bytes queued for the port, in all its queues.
    fn waiting_bytes(&self) -> u64;
    /// Bytes whose transmission has started since the start of the run.
    fn sent_bytes(&self) -> u64;
    /// Whether the class of the frame's queue is lossless.
    fn is_lossless(&self) -> bool;
}

/// Decision about a frame before it is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Forward the frame.
    Pass,
    /// Mark the frame with Congestion Experienced, and forward it.
    Mark,
    /// Drop the frame. Frames of lossless classes are forwarded instead.
    Drop,
}

/// A counter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name of the counter in results.
    pub name: &'static str,
    /// Meaning of the counter, with unit.
    pub meaning: &'static str,
}

/// A mechanism at one output port. Only the declared hooks are called; `random` is a random stream of the switch.
pub trait PortMechanism {
    /// Parameters of a port.
    type Parameters;
    /// Description of the mechanism.
    const MECHANISM: &'static Mechanism;
    /// Purpose of the mechanism's own random stream; `None` for the common stream of the switch.
    const RANDOM: Option<&'static str> = None;
    /// Whether the mechanism sends congestion notifications (QCN).
    const NOTIFIES: bool = false;
    /// Counters of the mechanism.
    const COUNTERS: &'static [Counter] = &[];

    /// Creates the state of a port.
    fn new(parameters: &Self::Parameters, port: &PortSpec) -> Self;

    /// Returns the hooks that the mechanism needs.
    fn hooks(&self) -> Hooks;

    /// Returns whether the mechanism marks frames with Congestion Experienced.
    fn marks_frames(_parameters: &Self::Parameters) -> bool {
        false
    }

    /// Returns the bitmask of the classes that the mechanism uses in addition to those of the traffic.
    fn own_classes(_parameters: &Self::Parameters) -> u8 {
        0
    }

    /// Returns the class of the queue for a frame of `class`.
    fn select(&self, _port: &impl PortView, class: u8) -> u8 {
        class
    }

    /// Returns the treatment of a frame that arrived for the port.
    fn admit(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> Admit {
        Admit::Pass
    }

    /// Returns the queue length in bytes below which [`PortMechanism::enqueue`] has no effect and is not called.
    fn enqueue_from_bytes(&self) -> u64 {
        0
    }

    /// Returns whether to mark a frame that joins a queue. Called for frames that can be marked.
    fn enqueue(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> bool {
        false
    }

    /// Returns the bitmask of the classes for whose frames [`PortMechanism::queued`] is called.
    fn queued_classes(&self) -> u8 {
        u8::MAX
    }

    /// Handles a frame that has joined a queue. Returns a notification for its source: a frame without addresses.
    fn queued(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> Option<Frame> {
        None
    }

    /// Returns whether to mark a frame that leaves its queue.
    fn dequeue(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> bool {
        false
    }

    /// Returns whether to mark a frame whose transmission starts.
    fn transmit(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> bool {
        false
    }

    /// Returns the earliest time at or after `from`, which may be in the past, at which a frame of `class` that
    /// occupies the wire for `busy` may start, as of the last [`settle`](PortMechanism::settle); [`Time::MAX`] for
    /// never.
    fn starts_at(&self, from: Time, _class: u8, _busy: Time) -> Time {
        from
    }

    /// Like [`starts_at`](PortMechanism::starts_at), for the rest of an interrupted frame.
    fn resumes_at(&self, from: Time, _class: u8, _busy: Time) -> Time {
        from
    }

    /// Returns the earliest time from `now` on at which no preemptable frame may be on the wire; [`Time::MAX`] for
    /// none.
    fn holds_at(&self, _now: Time) -> Time {
        Time::MAX
    }

    /// Returns the total time between `from` and `to` in which the gate of `class` was open.
    fn open_between(&self, from: Time, to: Time, _class: u8) -> Time {
        to.saturating_sub(from)
    }

    /// Like [`open_between`](PortMechanism::open_between), without the time in which frames of `class` were held.
    fn available_between(&self, from: Time, to: Time, class: u8) -> Time {
        self.open_between(from, to, class)
    }

    /// Updates the state to `now`; `waiting` is the bitmask of the classes with a waiting frame. `open` returns the
    /// total time between two times in which all gates of a class were open.
    fn settle(&mut self, _now: Time, _waiting: u8, _open: impl Fn(u8, Time, Time) -> Time) {}

    /// Handles the transmission start of a frame of `class` that occupies the wire for `busy`.
    fn start(&mut self, _now: Time, _class: u8, _busy: Time) {}

    /// Handles the interruption of the frame of `class`: the wire is free at `end`.
    fn interrupt(&mut self, _class: u8, _end: Time) {}

    /// Returns the values of the counters.
    fn counts(&self) -> &[u64] {
        &[]
    }
}
