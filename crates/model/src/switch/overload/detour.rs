//! Detours through another port if the queue is full (DIBS).
//!
//! ```text
//!  route -> idle port: transmit at once
//!        -> room in the queue: enqueue
//!        -> no room: try the other live ports towards switches in random order, take the first with room
//! ```

use crate::departures::Exact;
use crate::network::Network;
use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use crate::switch::overload::action::{Action, Decision};
use check::conservation::Cause;
use fabric::NodeId;
use protocols::frame::Frame;
use protocols::port::Hooks;
use units::random::{Stream, purpose};

/// State of a switch that detours frames.
#[derive(Debug)]
pub(crate) struct Detour {
    /// Bitmask of classes that detour.
    classes: u8,
    random: Stream,
    /// Ports towards switches, which detours may use.
    onward: Vec<u16>,
    /// Scratch: candidates of the detour in progress.
    tried: Vec<u16>,
    /// Frames detoured because of the queue at each port.
    redirections: Vec<u64>,
}

impl Detour {
    /// Creates the state of `node`.
    pub fn new(node: NodeId, network: &Network) -> Detour {
        let ports = network.fabric.ports(node);
        let towards_switch = |port: &u16| network.fabric.node(ports[usize::from(*port)].peer).forwards();
        Detour {
            classes: !network.switch.flow_control.lossless(),
            random: Stream::new(network.seed, u64::from(node.0), purpose("turns")),
            onward: (0..ports.len() as u16).filter(towards_switch).collect(),
            tried: Vec::new(),
            redirections: vec![0; ports.len()],
        }
    }
}

impl Action for Detour {
    fn hooks(&self) -> Hooks {
        Hooks::DECIDE.with(Hooks::REDIRECT)
    }

    fn decided_classes(&self) -> u8 {
        self.classes
    }

    fn redirections(&self) -> Option<&[u64]> {
        Some(&self.redirections)
    }

    /// Enqueues a frame that cannot start transmission at once, or detours it if the queue has no room.
    #[inline(never)]
    fn decide(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        (crossing.in_class, crossing.class) = (frame.class, frame.class);
        let egress = crossing.egress;
        let index = core.buffer.queue_index(egress, frame.class);
        if core.buffer.admit::<Exact>(index, *crossing, frame.size_bytes) {
            return Decision::queue(index);
        }
        self.tried.clear();
        let is_live = |&&port: &&u16| port != egress && !core.failures.is_dead(port);
        self.tried.extend(self.onward.iter().filter(is_live));
        while !self.tried.is_empty() {
            let port = self.tried.swap_remove(self.random.below(self.tried.len() as u64) as usize);
            if let Some(detour) = core.detour(*crossing, frame, port) {
                self.redirections[usize::from(egress)] += 1;
                return detour;
            }
        }
        Decision::drop(Cause::NoRoom)
    }
}
