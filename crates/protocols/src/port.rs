//! Mechanisms at an output port, behind one interface: a mechanism declares its hooks, and the port calls only these.
//!
//! ```text
//!   frame routed to the port    SELECT   class of the queue
//!                               ADMIT    drop or mark the frame before it is forwarded
//!   frame joins a queue         ENQUEUE  mark it, by the queue ahead
//!   frame has joined            QUEUED   send a notification to its source
//!   head leaves its queue       DEQUEUE  mark it, by the queue behind
//!   transmission starts         TRANSMIT mark it: every frame, also one that finds its wire idle
//!   port selects a class        BLOCK    classes that may not start a frame, and until when
//! ```
//!
//! A mechanism is one file with its parameters ([`parameters!`](crate::parameters)), its state machine and its
//! [`PortMechanism`], and one line in the list at the end of this file.

use crate::ParameterError;
use crate::cyclic::CyclicQueues;
use crate::describe::Mechanism;
use crate::ecn::Ecn;
use crate::frame::Frame;
use crate::parameters::Parameters;
use crate::phantom::PhantomQueue;
use crate::qcn::SampledPort;
use crate::shaping::PortShaper;
use units::random::Stream;
use units::{Rate, Time};

/// Set of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks(u8);

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
    /// [`PortMechanism::settle`] and the calls that follow it.
    pub const BLOCK: Hooks = Hooks(64);
    /// Every hook.
    pub const ALL: Hooks = Hooks(127);
    /// Hooks at the arrival of a frame, before it is forwarded.
    pub const ARRIVAL: Hooks = Hooks(Hooks::SELECT.0 | Hooks::ADMIT.0 | Hooks::TRANSMIT.0);
    /// Hooks at the departure of a queued frame.
    pub const DEPARTURE: Hooks = Hooks(Hooks::DEQUEUE.0 | Hooks::TRANSMIT.0);
    /// Hooks that do not depend on the order of departures at different ports, so that a switch may apply departures in
    /// batches.
    pub const LAZY: Hooks = Hooks::ENQUEUE;

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
    #[inline(always)] // tested for each frame
    pub const fn meet(self, other: Hooks) -> bool {
        self.0 & other.0 != 0
    }
}

/// A port, when its mechanisms are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// Rate of its link.
    pub rate: Rate,
    /// Number of its queues.
    pub queues: usize,
    /// Bitmask of the classes in use.
    pub classes: u8,
}

/// A port at a hook.
pub trait PortView {
    /// Current time.
    fn now(&self) -> Time;
    /// `at` by the clock of the node.
    fn local(&self, at: Time) -> Time;
    /// Position of the frame's queue among the queues of the port.
    fn queue(&self) -> usize;
    /// Bytes in the queue of the frame. It includes the frame itself at [`QUEUED`](Hooks::QUEUED) only.
    fn queue_bytes(&self) -> u64;
    /// Bytes that wait for the port, in all queues.
    fn waiting_bytes(&self) -> u64;
    /// Bytes whose transmission has started since the start of the run.
    fn sent_bytes(&self) -> u64;
    /// Whether the class of the frame's queue is lossless.
    fn is_lossless(&self) -> bool;
}

/// Decision about a frame before it is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Forward it.
    Pass,
    /// Mark it with Congestion Experienced, and forward it.
    Mark,
    /// Drop it. Frames of lossless classes are forwarded instead.
    Drop,
}

/// A counter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its name in results.
    pub name: &'static str,
    /// Its meaning, with unit.
    pub meaning: &'static str,
}

/// A mechanism at one output port. Only the declared hooks are called; `random` is a stream of its switch.
pub trait PortMechanism {
    /// Parameters of a port.
    type Parameters;
    /// Its description.
    const MECHANISM: &'static Mechanism;
    /// Purpose of its random stream; `None` for the common stream of the switch.
    const RANDOM: Option<&'static str> = None;
    /// Whether it marks frames with Congestion Experienced.
    const MARKS: bool = false;
    /// Whether it sends congestion notifications (QCN).
    const NOTIFIES: bool = false;
    /// Its counters.
    const COUNTERS: &'static [Counter] = &[];

    /// Creates the state of a port.
    fn new(parameters: &Self::Parameters, port: &PortSpec) -> Self;

    /// Returns the hooks that it needs.
    fn hooks(&self) -> Hooks;

    /// Returns the bitmask of the classes that it uses beside those of the traffic.
    fn own_classes(_parameters: &Self::Parameters) -> u8 {
        0
    }

    /// Returns the class of the queue for a frame of `class`.
    fn select(&self, _port: &impl PortView, class: u8) -> u8 {
        class
    }

    /// Decides about a frame that arrived for the port.
    fn admit(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> Admit {
        Admit::Pass
    }

    /// Returns the queue length in bytes from which [`PortMechanism::enqueue`] has an effect: it is not called below.
    fn enqueue_from_bytes(&self) -> u64 {
        0
    }

    /// Returns whether to mark a frame that joins a queue. Called for frames that can be marked.
    fn enqueue(&mut self, _port: &impl PortView, _frame: &Frame, _random: &mut Stream) -> bool {
        false
    }

    /// Returns the bitmask of the classes with [`PortMechanism::queued`].
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

    /// Updates its state to `now`, with these `waiting` classes since then. `open` returns how long the gate of a class
    /// was open between two times. Required before the calls that follow.
    fn settle(&mut self, _now: Time, _waiting: u8, _open: impl Fn(u8, Time, Time) -> Time) {}

    /// Returns whether `class` may start a frame.
    fn may_start(&self, _class: u8) -> bool {
        true
    }

    /// Returns the earliest start of a frame of a class that may not start, if its gate stays open.
    fn starts_at(&self, _class: u8) -> Time {
        Time::ZERO
    }

    /// Returns the time, past or future, since which `class` may start a frame.
    fn unblocked_at(&self, _class: u8) -> Time {
        Time::ZERO
    }

    /// Handles the start of a frame of `class` that occupies the wire for `busy`.
    fn start(&mut self, _now: Time, _class: u8, _busy: Time) {}

    /// Handles the interruption of the frame of `class`: the wire is free at `end`.
    fn interrupt(&mut self, _class: u8, _end: Time) {}

    /// Returns the values of its counters.
    fn counts(&self) -> &[u64] {
        &[]
    }
}

/// Defines the enums over all mechanisms and their parameters, and the calls that dispatch to one. Mechanisms under
/// `marking` are selected by `switch.marking`, those under `tables` by tables of their own.
macro_rules! port_mechanisms {
    (marking { $($(#[$doc:meta])* $name:ident($state:ty)),+ $(,)? } tables { $($table:ident($other:ty)),+ $(,)? }) => {
        /// Marking of frames at the ports of a switch.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Marking {
            /// None.
            None,
            $($(#[$doc])* $name(<$state as PortMechanism>::Parameters),)+
        }

        impl Marking {
            /// Descriptions of all kinds, without `none`.
            pub const MECHANISMS: &'static [&'static Mechanism] =
                &[$(<$state as PortMechanism>::MECHANISM),+];

            /// Builds the marking that scenarios call `kind`, with these settings (key and text) over its defaults.
            ///
            /// # Errors
            /// If a parameter does not exist, is missing, or has an invalid value. `None` if there is no such kind.
            pub fn build(kind: &str, settings: &[(&str, &str)]) -> Option<Result<Marking, ParameterError>> {
                $({
                    if kind == <$state as PortMechanism>::MECHANISM.kind {
                        return Some(Parameters::build(settings).map(Marking::$name));
                    }
                })+
                (kind == "none").then_some(Ok(Marking::None))
            }

            /// Returns whether it marks frames with Congestion Experienced.
            pub fn marks(&self) -> bool {
                match self {
                    Marking::None => false,
                    $(Marking::$name(_) => <$state as PortMechanism>::MARKS,)+
                }
            }

            /// Returns whether it sends congestion notifications.
            pub fn notifies(&self) -> bool {
                match self {
                    Marking::None => false,
                    $(Marking::$name(_) => <$state as PortMechanism>::NOTIFIES,)+
                }
            }

            /// See [`PortMechanism::own_classes`].
            pub fn own_classes(&self) -> u8 {
                match self {
                    Marking::None => 0,
                    $(Marking::$name(parameters) => <$state as PortMechanism>::own_classes(parameters),)+
                }
            }

            /// Returns its hooks.
            pub fn hooks(&self) -> Hooks {
                let port = PortSpec { rate: Rate::MIN, queues: 1, classes: 1 };
                self.at(&port).map_or(Hooks::NONE, |mechanism| mechanism.hooks())
            }

            /// Returns its name in scenarios.
            pub fn kind(&self) -> &'static str {
                match self {
                    Marking::None => "none",
                    $(Marking::$name(_) => <$state as PortMechanism>::MECHANISM.kind,)+
                }
            }

            /// Creates its state at a port; `None` without marking.
            pub fn at(&self, port: &PortSpec) -> Option<AnyPortMechanism> {
                match self {
                    Marking::None => None,
                    $(Marking::$name(parameters) => {
                        Some(AnyPortMechanism::$name(PortMechanism::new(parameters, port)))
                    })+
                }
            }
        }

        port_mechanisms!(@state $($name($state),)+ $($table($other),)+);
    };
    (@state $($name:ident($state:ty),)+) => {
        /// State of any mechanism at one port.
        #[derive(Clone, Debug)]
        pub enum AnyPortMechanism {
            $(
                #[doc = concat!("See [`", stringify!($state), "`].")]
                $name($state),
            )+
        }

        $(
            impl From<$state> for AnyPortMechanism {
                fn from(state: $state) -> AnyPortMechanism {
                    AnyPortMechanism::$name(state)
                }
            }
        )+

        impl AnyPortMechanism {
            /// Counters of all mechanisms, by kind.
            pub const COUNTERS: &'static [(&'static str, &'static [Counter])] =
                &[$((<$state as PortMechanism>::MECHANISM.kind, <$state as PortMechanism>::COUNTERS)),+];

            /// Returns the position of its kind in [`AnyPortMechanism::COUNTERS`].
            pub fn kind(&self) -> usize {
                #[repr(usize)]
                enum Position { $($name),+ }
                match self {
                    $(AnyPortMechanism::$name(_) => Position::$name as usize,)+
                }
            }

            /// See [`PortMechanism::RANDOM`].
            pub fn random(&self) -> Option<&'static str> {
                match self {
                    $(AnyPortMechanism::$name(_) => <$state as PortMechanism>::RANDOM,)+
                }
            }

            /// See [`PortMechanism::counts`].
            pub fn counts(&self) -> &[u64] {
                match self {
                    $(AnyPortMechanism::$name(it) => it.counts(),)+
                }
            }
        }

        port_mechanisms!(@calls $($name)+;
            [cold] hooks(&self) -> Hooks;
            [cold] select(&self, port: &impl PortView, class: u8) -> u8;
            [cold] admit(&mut self, port: &impl PortView, frame: &Frame, random: &mut Stream) -> Admit;
            [cold] enqueue_from_bytes(&self) -> u64;
            [inline] enqueue(&mut self, port: &impl PortView, frame: &Frame, random: &mut Stream) -> bool;
            [cold] queued_classes(&self) -> u8;
            [cold] queued(&mut self, port: &impl PortView, frame: &Frame, random: &mut Stream) -> Option<Frame>;
            [cold] dequeue(&mut self, port: &impl PortView, frame: &Frame, random: &mut Stream) -> bool;
            [cold] transmit(&mut self, port: &impl PortView, frame: &Frame, random: &mut Stream) -> bool;
            [cold] settle(&mut self, now: Time, waiting: u8, open: impl Fn(u8, Time, Time) -> Time) -> ();
            [cold] may_start(&self, class: u8) -> bool;
            [cold] starts_at(&self, class: u8) -> Time;
            [cold] unblocked_at(&self, class: u8) -> Time;
            [cold] start(&mut self, now: Time, class: u8, busy: Time) -> ();
            [cold] interrupt(&mut self, class: u8, end: Time) -> ();
        );
    };
    (@calls $($name:ident)+; $($call:tt)+) => {
        impl AnyPortMechanism {
            port_mechanisms!(@call [$($name)+] $($call)+);
        }
    };
    (@dispatch $self:ident $it:ident $arguments:tt $call:ident $($name:ident)+) => {
        match $self {
            $(AnyPortMechanism::$name($it) => PortMechanism::$call $arguments,)+
        }
    };
    (@call [$($name:ident)+]) => {};
    (@call [$($name:ident)+]
        [$how:meta] $call:ident(&self $(, $argument:ident: $type:ty)*) -> $result:ty; $($rest:tt)*
    ) => {
        #[doc = concat!("See [`PortMechanism::", stringify!($call), "`].")]
        #[$how]
        pub fn $call(&self $(, $argument: $type)*) -> $result {
            port_mechanisms!(@dispatch self it (it $(, $argument)*) $call $($name)+)
        }
        port_mechanisms!(@call [$($name)+] $($rest)*);
    };
    (@call [$($name:ident)+]
        [$how:meta] $call:ident(&mut self $(, $argument:ident: $type:ty)*) -> $result:ty; $($rest:tt)*
    ) => {
        #[doc = concat!("See [`PortMechanism::", stringify!($call), "`].")]
        #[$how]
        pub fn $call(&mut self $(, $argument: $type)*) -> $result {
            port_mechanisms!(@dispatch self it (it $(, $argument)*) $call $($name)+)
        }
        port_mechanisms!(@call [$($name)+] $($rest)*);
    };
}

port_mechanisms! {
    marking {
        /// ECN by the length of the queue (DCTCP, DCQCN).
        Ecn(Ecn),
        /// ECN by a counter that models the backlog of a slower link (HULL).
        Phantom(PhantomQueue),
        /// Queues that notify the sources of sampled frames (QCN).
        CongestionPoint(SampledPort),
        /// Drops or marks above the fair share of a flow (AFD).
        Afd(crate::afd::Afd),
    }
    tables {
        Cyclic(CyclicQueues),
        Shaping(PortShaper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A large fabric has hundreds of thousands of ports with ECN.
    #[test]
    fn the_state_of_a_mechanism_is_at_most_a_cache_line() {
        assert!(size_of::<AnyPortMechanism>() <= 64, "{}", size_of::<AnyPortMechanism>());
    }
}
