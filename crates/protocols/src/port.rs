//! Interface of the mechanisms at an output port. A mechanism declares its hooks; the port calls only the declared
//! hooks.
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
//! A mechanism consists of one file, with its parameters (`parameters!` in `parameters.rs`), its state machine and
//! its [`PortMechanism`], and of one line in the list of [`crate::port_mechanisms`].

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
    /// For overload actions, which the crate `model` implements: decision about a frame before its admission to a
    /// queue.
    pub const DECIDE: Hooks = Hooks(256);
    /// For overload actions: decision about a frame that was not admitted to its queue.
    pub const REFUSE: Hooks = Hooks(512);
    /// For overload actions: the decision may use other output ports than that of the frame.
    pub const REDIRECT: Hooks = Hooks(1024);
    /// Every hook.
    pub const ALL: Hooks = Hooks(2047);
    /// Hooks at the arrival of a frame, before it is forwarded.
    pub const ARRIVAL: Hooks = Hooks(Hooks::SELECT.0 | Hooks::ADMIT.0);
    /// Hooks at the departure of a frame from its queue.
    pub const DEPARTURE: Hooks = Hooks(Hooks::DEQUEUE.0 | Hooks::TRANSMIT.0);
    /// Hooks that are permitted if the switch processes departures in batches; with any other hook, each departure is
    /// a separate event.
    pub const LAZY: Hooks = Hooks(Hooks::ENQUEUE.0 | Hooks::DECIDE.0 | Hooks::REFUSE.0);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Hooks) -> Hooks {
        Hooks(self.0 | other.0)
    }

    /// Returns the hooks of this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Hooks) -> Hooks {
        Hooks(self.0 & !other.0)
    }

    /// Returns whether the two sets have a common hook.
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
    /// Clock of the node; `None` for a clock without error.
    pub clock: Option<NodeClock>,
    /// Parameters of frame preemption, if the port preempts frames.
    pub preemption: Option<PreemptionParameters>,
}

/// State of a port that its mechanisms can read in a hook.
pub trait PortView {
    /// Current time of the simulation.
    fn now(&self) -> Time;
    /// Local time of the node's clock at `at`.
    fn local(&self, at: Time) -> Time;
    /// Index of the frame's queue at the port.
    fn queue(&self) -> usize;
    /// Bytes in the frame's queue. At [`ADMIT`](Hooks::ADMIT) and [`ENQUEUE`](Hooks::ENQUEUE): the bytes ahead of the
    /// frame. At [`QUEUED`](Hooks::QUEUED): all bytes, including the frame. At [`DEQUEUE`](Hooks::DEQUEUE), and at
    /// [`TRANSMIT`](Hooks::TRANSMIT) if the frame was queued: the bytes behind the frame. Otherwise 0.
    fn queue_bytes(&self) -> u64;
    /// Bytes in all queues of the port.
    fn waiting_bytes(&self) -> u64;
    /// Bytes of all frames whose transmission has started since the start of the run.
    fn sent_bytes(&self) -> u64;
    /// Whether the class of the frame's queue is lossless.
    fn is_lossless(&self) -> bool;
}

/// Decision of [`PortMechanism::admit`] about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Forward the frame.
    Pass,
    /// Mark the frame (ECN Congestion Experienced) and forward it.
    Mark,
    /// Drop the frame. A frame of a lossless class is forwarded instead.
    Drop,
}

/// Counter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name of the counter in results.
    pub name: &'static str,
    /// Meaning of the counter, with unit.
    pub meaning: &'static str,
}

/// A mechanism at one output port. Only its declared hooks are called. `random` is a random stream of the switch.
pub trait PortMechanism {
    /// Parameters from which the state of a port is created.
    type Parameters;
    /// Description of the mechanism.
    const MECHANISM: &'static Mechanism;
    /// Name of the mechanism's own random stream; `None` if it uses the common stream of the switch.
    const RANDOM: Option<&'static str> = None;
    /// Whether the mechanism sends congestion notifications (QCN).
    const NOTIFIES: bool = false;
    /// Counters of the mechanism, in the order of [`PortMechanism::counts`].
    const COUNTERS: &'static [Counter] = &[];

    /// Creates the state of a port.
    fn new(parameters: &Self::Parameters, port: &PortSpec) -> Self;

    /// Returns the hooks that the mechanism needs.
    fn hooks(&self) -> Hooks;

    /// Returns whether the mechanism marks frames with ECN Congestion Experienced.
    fn marks_frames(_parameters: &Self::Parameters) -> bool {
        false
    }

    /// Returns the bitmask of the classes that the mechanism uses itself, in addition to those of the traffic.
    fn own_classes(_parameters: &Self::Parameters) -> u8 {
        0
    }

    /// Returns the class of the queue in which a frame of `class` is enqueued.
    fn select(&self, _port: &impl PortView, class: u8) -> u8 {
        class
    }

    /// Returns the decision about a frame that arrived for this output port.
    fn admit(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> Admit {
        Admit::Pass
    }

    /// Returns the queue length in bytes below which [`PortMechanism::enqueue`] has no effect and is not called.
    fn enqueue_from_bytes(&self) -> u64 {
        0
    }

    /// Returns whether to mark a frame that is being enqueued. Called only for frames that can be ECN-marked.
    fn enqueue(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> bool {
        false
    }

    /// Returns the bitmask of the classes for which [`PortMechanism::queued`] is called.
    fn queued_classes(&self) -> u8 {
        u8::MAX
    }

    /// Handles a frame that has been enqueued. Returns a notification for the frame's source, without addresses, if
    /// there is one to send.
    fn queued(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> Option<Frame> {
        None
    }

    /// Returns whether to mark a frame that is being dequeued.
    fn dequeue(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> bool {
        false
    }

    /// Returns whether to mark a frame whose transmission starts.
    fn transmit(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> bool {
        false
    }

    /// Returns the earliest time, not before `from` (which may be in the past), at which a frame of `class` that
    /// occupies the wire for `busy` may start, in the state of the last [`settle`](PortMechanism::settle);
    /// [`Time::MAX`] for never.
    fn starts_at(&self, from: Time, _class: u8, _busy: Time) -> Time {
        from
    }

    /// Like [`starts_at`](PortMechanism::starts_at), for the rest of an interrupted frame.
    fn resumes_at(&self, from: Time, _class: u8, _busy: Time) -> Time {
        from
    }

    /// Returns the earliest time, not before `now`, from which no preemptable frame may be on the wire; [`Time::MAX`]
    /// for never.
    fn holds_at(&self, _now: Time) -> Time {
        Time::MAX
    }

    /// Returns the total time between `from` and `to` in which the gate of `class` was open.
    fn open_between(&self, from: Time, to: Time, _class: u8) -> Time {
        to.saturating_sub(from)
    }

    /// Returns the total time between `from` and `to` in which the gate of `class` was open and the MAC did not hold
    /// its frames.
    fn available_between(&self, from: Time, to: Time, class: u8) -> Time {
        self.open_between(from, to, class)
    }

    /// Advances the state to `now`; `waiting` is the bitmask of the classes with a waiting frame. `open(class, from,
    /// to)` returns the total time in which all gates of a class were open.
    fn settle(&mut self, _now: Time, _waiting: u8, _open: impl Fn(u8, Time, Time) -> Time) {}

    /// Handles the transmission start of a frame of `class` that occupies the wire for `busy`.
    fn start(&mut self, _now: Time, _class: u8, _busy: Time) {}

    /// Handles the preemption of the frame of `class`, after which the wire is idle from `end` on.
    fn interrupt(&mut self, _class: u8, _end: Time) {}

    /// Returns the values of the counters.
    fn counts(&self) -> &[u64] {
        &[]
    }
}
