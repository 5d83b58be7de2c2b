//! List of all mechanisms at an output port ([`crate::port`]), and the enums over them. A new mechanism needs one
//! line in the list at the end of this file.

use crate::Checked;
use crate::cyclic::CyclicQueues;
use crate::describe::Mechanism;
use crate::ecn::Ecn;
use crate::frame::Frame;
use crate::gates::PortGates;
use crate::parameters::Parameters;
use crate::phantom::PhantomQueue;
use crate::port::{Admit, Counter, Hooks, PortMechanism, PortSpec, PortView};
use crate::qcn::SampledPort;
use crate::shaping::PortShaper;
use units::random::Stream;
use units::{Rate, Time};

/// Defines the enums over all mechanisms and over their parameters, with methods that call the selected mechanism.
/// Scenarios select the mechanisms under `marking` by `switch.marking`, those under `tables` by separate tables.
macro_rules! port_mechanisms {
    (marking { $($(#[$doc:meta])* $name:ident($state:ty)),+ $(,)? } tables { $($table:ident($other:ty)),+ $(,)? }) => {
        /// Marking mechanism at the ports of a switch, with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Marking {
            /// No marking.
            None,
            $($(#[$doc])* $name(<$state as PortMechanism>::Parameters),)+
        }

        impl Marking {
            /// Descriptions of all kinds of marking, without `none`.
            pub const MECHANISMS: &'static [&'static Mechanism] =
                &[$(<$state as PortMechanism>::MECHANISM),+];

            /// Builds the marking named `kind` in scenarios, with these settings (key and text) and defaults for
            /// other parameters, and checks it. `None` if there is no such kind.
            ///
            /// # Errors
            /// If a parameter is missing or has an invalid value.
            pub fn read(kind: &str, settings: &[(&str, &str)]) -> Option<Checked<Marking>> {
                $({
                    if kind == <$state as PortMechanism>::MECHANISM.kind {
                        let read = <<$state as PortMechanism>::Parameters as Parameters>::read(settings);
                        return Some(read.map(|parameters| {
                            let faults = parameters.check();
                            (Marking::$name(parameters), faults)
                        }));
                    }
                })+
                (kind == "none").then_some(Ok((Marking::None, Vec::new())))
            }

            /// Returns whether the marking marks frames with ECN Congestion Experienced.
            pub fn marks(&self) -> bool {
                match self {
                    Marking::None => false,
                    $(Marking::$name(parameters) => <$state as PortMechanism>::marks_frames(parameters),)+
                }
            }

            /// Returns whether the marking sends congestion notifications.
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

            /// Returns the hooks of the marking.
            pub fn hooks(&self) -> Hooks {
                let port = PortSpec { rate: Rate::MIN, queues: 1, classes: 1, clock: None, preemption: None };
                self.at(&port).map_or(Hooks::NONE, |mechanism| mechanism.hooks())
            }

            /// Returns the name of the marking in scenarios.
            pub fn kind(&self) -> &'static str {
                match self {
                    Marking::None => "none",
                    $(Marking::$name(_) => <$state as PortMechanism>::MECHANISM.kind,)+
                }
            }

            /// Creates the state of the marking at a port; `None` without marking.
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
        /// State at one port of any of the mechanisms.
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
            /// Kind and counters of each mechanism.
            pub const COUNTERS: &'static [(&'static str, &'static [Counter])] =
                &[$((<$state as PortMechanism>::MECHANISM.kind, <$state as PortMechanism>::COUNTERS)),+];

            /// Returns the index of the mechanism's kind in [`AnyPortMechanism::COUNTERS`].
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
            [cold] starts_at(&self, from: Time, class: u8, busy: Time) -> Time;
            [cold] resumes_at(&self, from: Time, class: u8, busy: Time) -> Time;
            [cold] holds_at(&self, now: Time) -> Time;
            [cold] open_between(&self, from: Time, to: Time, class: u8) -> Time;
            [cold] available_between(&self, from: Time, to: Time, class: u8) -> Time;
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
        /// ECN marking by the queue length (DCTCP, DCQCN).
        Ecn(Ecn),
        /// ECN marking by a counter that simulates the queue of a slower link (HULL).
        Phantom(PhantomQueue),
        /// Congestion points, which notify the sources of sampled frames (QCN).
        CongestionPoint(SampledPort),
        /// Drops or marks frames of flows above their fair share (AFD).
        Afd(crate::afd::Afd),
    }
    tables {
        Cyclic(CyclicQueues),
        Shaping(PortShaper),
        Gates(PortGates),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits memory: a large fabric has hundreds of thousands of ports with ECN.
    #[test]
    fn the_state_of_a_mechanism_is_at_most_a_cache_line() {
        assert!(size_of::<AnyPortMechanism>() <= 64, "{}", size_of::<AnyPortMechanism>());
    }
}
