//! Overload actions: handling of frames for which a queue has no room.

pub(crate) mod action;
mod bounce;
mod custom;
mod detour;
pub(crate) mod pipeline;
pub(crate) mod trim;

use action::{Action, Decision};

use crate::network::Network;
use crate::parameters;
use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use bounce::Bounce;
use custom::Custom;
use detour::Detour;
use fabric::NodeId;
use protocols::frame::Frame;
use protocols::port::Hooks;
use trim::Trimming;

/// Defines the enum over all overload actions, and the calls that dispatch to one.
macro_rules! overload_actions {
    ($($(#[$doc:meta])* $name:ident($state:ty)),+ $(,)?) => {
        /// The overload action of one switch.
        #[derive(Debug)]
        pub(crate) enum Overload {
            /// Drop the frame.
            Drop,
            $($(#[$doc])* $name(Box<$state>),)+
        }

        $(
            impl From<$state> for Overload {
                fn from(state: $state) -> Overload {
                    Overload::$name(Box::new(state))
                }
            }
        )+

        impl Action for Overload {
            fn hooks(&self) -> Hooks {
                match self {
                    Overload::Drop => Hooks::NONE,
                    $(Overload::$name(action) => action.hooks(),)+
                }
            }

            fn decided_classes(&self) -> u8 {
                match self {
                    Overload::Drop => 0,
                    $(Overload::$name(action) => action.decided_classes(),)+
                }
            }

            fn redirections(&self) -> Option<&[u64]> {
                match self {
                    Overload::Drop => None,
                    $(Overload::$name(action) => action.redirections(),)+
                }
            }

            #[inline(always)] // inlined only into Core::admit_with_hooks, which is not inlined itself
            fn decide(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
                match self {
                    Overload::Drop => core.drop_without_room(*crossing, frame),
                    $(Overload::$name(action) => action.decide(core, crossing, frame),)+
                }
            }

            #[cold]
            #[inline(never)]
            fn refuse(
                &mut self,
                core: &mut Core,
                crossing: &mut Crossing,
                frame: &Frame,
                may_displace: bool,
            ) -> Decision {
                match self {
                    Overload::Drop => core.drop_without_room(*crossing, frame),
                    $(Overload::$name(action) => action.refuse(core, crossing, frame, may_displace),)+
                }
            }
        }
    };
}

overload_actions! {
    /// Bounce the frame (PABO).
    Bounce(Bounce),
    /// Detour the frame through another port (DIBS).
    Detour(Detour),
    /// Trim the payload of the frame (NDP, trimming switches).
    Trim(Trimming),
    /// Apply the rule of a library user.
    Custom(Custom),
}

impl Overload {
    /// Returns the overload action of `node`.
    pub fn new(node: NodeId, network: &Network) -> Overload {
        if let Some(custom) = &network.switches.overload_rule {
            return Custom::new(node, network, custom).into();
        }
        match &network.switch.overload {
            parameters::Overload::Drop => Overload::Drop,
            parameters::Overload::Bounce { pabo, queue } => Bounce::new(node, network, pabo, *queue).into(),
            parameters::Overload::Detour => Detour::new(node, network).into(),
            parameters::Overload::Trim { .. } => Trimming::new(node, network).map_or(Overload::Drop, Overload::from),
        }
    }

    /// Returns the trimming state, if the switch trims.
    pub fn trimming(&self) -> Option<&Trimming> {
        if let Overload::Trim(trimming) = self { Some(trimming) } else { None }
    }

    /// See [`Overload::trimming`].
    pub fn trimming_mut(&mut self) -> Option<&mut Trimming> {
        if let Overload::Trim(trimming) = self { Some(trimming) } else { None }
    }
}
