//! An overload action of a library user: the custom rule selects the action, the switch executes it.

use crate::custom::{CustomOverload, OverloadDecision, OverloadState, Waiting};
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

/// State of the custom action at one switch.
#[derive(Debug)]
pub(crate) struct Custom {
    state: Box<dyn OverloadState>,
    /// Bitmask of the classes that the rule applies to.
    classes: u8,
    random: Stream,
    /// Ports towards switches.
    onward: Vec<u16>,
    /// Argument lists of the rule, reused to avoid an allocation per frame.
    others: Vec<u16>,
    waiting_bytes: Vec<u64>,
    /// Frames detoured because of the queue at each port.
    redirections: Vec<u64>,
}

impl Custom {
    /// Creates the state of `node`.
    pub fn new(node: NodeId, network: &Network, custom: &CustomOverload) -> Custom {
        let ports = network.fabric.ports(node);
        let towards_switch = |port: &u16| network.fabric.node(ports[usize::from(*port)].peer).forwards();
        Custom {
            classes: custom.0.classes() & !network.switch.flow_control.lossless(),
            state: custom.0.at(node),
            random: Stream::new(network.seed, u64::from(node.0), purpose("turns")),
            onward: (0..ports.len() as u16).filter(towards_switch).collect(),
            others: Vec::new(),
            waiting_bytes: Vec::new(),
            redirections: vec![0; ports.len()],
        }
    }
}

impl Action for Custom {
    fn hooks(&self) -> Hooks {
        Hooks::DECIDE.with(Hooks::REDIRECT)
    }

    fn decided_classes(&self) -> u8 {
        self.classes
    }

    fn redirections(&self) -> Option<&[u64]> {
        Some(&self.redirections)
    }

    /// Applies the rule to a frame that cannot start transmission at once.
    #[inline(never)]
    fn decide(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        let index = core.buffer.queue_index(crossing.egress, crossing.class);
        self.others.clear();
        let is_live = |&&port: &&u16| port != crossing.egress && !core.failures.is_dead(port);
        self.others.extend(self.onward.iter().filter(is_live));
        self.waiting_bytes.clear();
        self.waiting_bytes.extend((0..self.redirections.len()).map(|port| core.buffer.waiting_bytes(port as u16)));
        let waiting = Waiting {
            now: frame.at,
            ingress: crossing.in_port,
            egress: crossing.egress,
            class: crossing.class,
            has_room: !core.buffer.is_full(index, frame.size_bytes),
            others: &self.others,
            waiting_bytes: &self.waiting_bytes,
        };
        match self.state.decide(&waiting, frame, &mut self.random) {
            OverloadDecision::Detour(port)
                if usize::from(port) < self.redirections.len() && port != crossing.egress =>
            {
                let Some(detour) = core.detour(*crossing, frame, port) else { return Decision::drop(Cause::NoRoom) };
                self.redirections[usize::from(crossing.egress)] += 1;
                detour
            }
            OverloadDecision::Drop => core.drop_without_room(*crossing, frame),
            // `Wait`, or a detour to an invalid port: the frame is enqueued if its queue has room.
            _ if core.buffer.admit::<Exact>(index, *crossing, frame.size_bytes) => Decision::queue(index),
            _ => core.drop_without_room(*crossing, frame),
        }
    }
}
