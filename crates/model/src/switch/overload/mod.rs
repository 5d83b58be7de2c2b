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
use trim::Trimming;

/// The overload action of one switch.
#[derive(Debug)]
pub(crate) enum Overload {
    /// Drop the frame.
    Drop,
    /// Bounce it (PABO).
    Bounce(Box<Bounce>),
    /// Send it by another port (DIBS).
    Detour(Box<Detour>),
    /// Cut its payload (NDP, trimming switches).
    Trim(Box<Trimming>),
    /// Apply the rule of a library user.
    Custom(Box<Custom>),
}

impl Overload {
    /// Returns the overload action of `node` and the bitmask of classes that it handles before admission.
    pub fn new(node: NodeId, network: &Network) -> (Overload, u8) {
        if let Some(custom) = &network.switches.overload_rule {
            let (custom, preadmission) = Custom::new(node, network, custom);
            return (Overload::Custom(Box::new(custom)), preadmission);
        }
        match &network.switch.overload {
            parameters::Overload::Drop => (Overload::Drop, 0),
            parameters::Overload::Bounce { pabo, queue } => {
                let (bounce, preadmission) = Bounce::new(node, network, pabo, *queue);
                (Overload::Bounce(Box::new(bounce)), preadmission)
            }
            parameters::Overload::Detour => {
                let (detour, preadmission) = Detour::new(node, network);
                (Overload::Detour(Box::new(detour)), preadmission)
            }
            parameters::Overload::Trim { .. } => match Trimming::new(node, network) {
                Some((trimming, preadmission)) => (Overload::Trim(Box::new(trimming)), preadmission),
                None => (Overload::Drop, 0),
            },
        }
    }

    /// Returns the number of frames bounced or detoured because of the queue at each port, if the action does so.
    pub fn redirections(&self) -> Option<&[u64]> {
        match self {
            Overload::Bounce(bounce) => Some(&bounce.redirections),
            Overload::Detour(detour) => Some(&detour.redirections),
            Overload::Custom(custom) => Some(&custom.redirections),
            Overload::Drop | Overload::Trim(_) => None,
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

impl Action for Overload {
    #[inline(always)] // into Core::admit_with_hooks, which stays out of line
    fn decide(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        match self {
            Overload::Drop => core.drop_without_room(*crossing, frame),
            Overload::Bounce(bounce) => bounce.decide(core, crossing, frame),
            Overload::Detour(detour) => detour.decide(core, crossing, frame),
            Overload::Trim(trimming) => trimming.decide(core, crossing, frame),
            Overload::Custom(custom) => custom.decide(core, crossing, frame),
        }
    }

    #[cold]
    #[inline(never)]
    fn refuse(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame, may_displace: bool) -> Decision {
        match self {
            Overload::Trim(trimming) => trimming.refuse(core, crossing, frame, may_displace),
            Overload::Drop | Overload::Bounce(_) | Overload::Detour(_) | Overload::Custom(_) => {
                core.drop_without_room(*crossing, frame)
            }
        }
    }
}
