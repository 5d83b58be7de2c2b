//! An overload action of a library user: the custom rule selects the action, the switch executes it.

use crate::custom::{CustomOverload, OverloadDecision, OverloadState, Waiting};
use crate::network::Network;
use crate::on_wire::OnWire;
use crate::switch::core::Core;
use crate::switch::outcome::{Crossing, FrameFate, Redirected};
use check::conservation::Cause;
use engine::Window;
use fabric::NodeId;
use protocols::frame::Frame;
use units::random::{Stream, purpose};

/// State of the custom action at one switch.
#[derive(Debug)]
pub(crate) struct Custom {
    state: Box<dyn OverloadState>,
    random: Stream,
    /// Ports towards switches.
    onward: Vec<u16>,
    /// Arguments of the rule, kept so that no frame allocates.
    others: Vec<u16>,
    waiting_bytes: Vec<u64>,
    /// Frames sent by another port because of the queue at each port.
    pub redirections: Vec<u64>,
}

impl Custom {
    /// Creates the state of `node`. Returns it with the bitmask of classes whose frames the rule treats.
    pub fn new(node: NodeId, network: &Network, custom: &CustomOverload) -> (Custom, u8) {
        let ports = network.fabric.ports(node);
        let towards_switch = |port: &u16| network.fabric.node(ports[usize::from(*port)].peer).forwards();
        let state = Custom {
            state: custom.0.at(node),
            random: Stream::new(network.seed, u64::from(node.0), purpose("turns")),
            onward: (0..ports.len() as u16).filter(towards_switch).collect(),
            others: Vec::new(),
            waiting_bytes: Vec::new(),
            redirections: vec![0; ports.len()],
        };
        (state, custom.0.classes() & !network.switch.flow_control.lossless())
    }

    /// Applies the rule to a frame that found its wire occupied.
    pub fn decide(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let queue = core.buffer.queue_index(crossing.egress, crossing.class);
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
            has_room: !core.buffer.is_full(queue, frame.size_bytes),
            others: &self.others,
            waiting_bytes: &self.waiting_bytes,
        };
        match self.state.decide(&waiting, frame, &mut self.random) {
            OverloadDecision::Detour(port)
                if usize::from(port) < self.redirections.len() && port != crossing.egress =>
            {
                self.send_by(port, core, crossing, frame, window)
            }
            OverloadDecision::Drop => core.lose_without_room(crossing, frame),
            // Wait; also the answer to an invalid port.
            _ if core.buffer.admit(queue, crossing, frame.size_bytes) => core.enqueue(queue, crossing, frame),
            _ => core.lose_without_room(crossing, frame),
        }
    }

    fn send_by(
        &mut self,
        port: u16,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let egress = crossing.egress;
        let crossing = Crossing { egress: port, ..crossing };
        let at_once = core.can_start_now(frame.at, port, (crossing.class, frame.size_bytes));
        let queue = core.buffer.queue_index(port, crossing.class);
        if !at_once && !core.buffer.admit(queue, crossing, frame.size_bytes) {
            return core.lose(crossing, frame, Cause::NoRoom);
        }
        self.redirections[usize::from(egress)] += 1;
        core.stats.counters.note_detour(frame);
        let frame = Frame { bounces: frame.bounces.saturating_add(1), ..*frame };
        let queue = (!at_once).then_some(queue);
        let marked = match queue {
            Some(queue) => core.enqueue(queue, crossing, &frame).is_queued_with_mark(),
            None => core.send_on(port, frame, window),
        };
        let queue = queue.map(|queue| queue as u32);
        let redirected = Redirected { port, queue, bounces: frame.bounces, detour: true, marked };
        FrameFate::Redirected { egress, redirected }
    }
}
