//! Phantom queues at a switch: frames are counted and marked as their transmission starts, by the backlog that a slower
//! link would have.
//!
//! A queued frame is counted at dequeue. A frame that finds its wire idle is counted on arrival, while it can still be
//! changed. Only switches with phantom queues have this step, through [`super::core::ingress::PHANTOM`].

use super::core::Core;
use crate::network::Network;
use crate::parameters::Marking;
use fabric::NodeId;
use protocols::frame::{Frame, flags};
use protocols::phantom::PhantomQueue;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// The phantom queues of one switch, by port.
#[derive(Debug)]
pub(crate) struct PhantomQueues(Box<[Option<PhantomQueue>]>);

impl PhantomQueues {
    /// Creates the phantom queues of `node`; `None` if it has none.
    pub fn new(node: NodeId, network: &Network) -> Option<Box<PhantomQueues>> {
        let ports = network.fabric.ports(node).iter().enumerate();
        let queue = |(port, peer): (usize, &fabric::PortPeer)| match &network.port_of(node, port as u16).marking {
            Marking::Phantom(parameters) => Some(PhantomQueue::new(parameters, network.fabric.link(peer.link).rate)),
            _ => None,
        };
        let queues: Box<[Option<PhantomQueue>]> = ports.map(queue).collect();
        queues.iter().any(Option::is_some).then(|| Box::new(PhantomQueues(queues)))
    }
}

impl Core {
    /// Counts `frame`, whose transmission by `port` starts at `now`, and marks it if needed. Returns whether it was
    /// marked.
    pub(super) fn count_phantom(&mut self, now: Time, port: u16, frame: &mut Frame) -> bool {
        let Some(queues) = &mut self.phantoms else { return false };
        let Some(Some(queue)) = queues.0.get_mut(usize::from(port)) else { return false };
        let wire_bytes = u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES;
        let marked = queue.pass(now, wire_bytes) && frame.flags & (flags::ECT | flags::CE) == flags::ECT;
        if marked {
            frame.flags |= flags::CE;
            self.stats.counters.marks += 1;
        }
        marked
    }

    /// Like [`Core::count_phantom`], for a frame that has just arrived, if it will start without a wait.
    #[cold]
    pub(super) fn count_phantom_idle(&mut self, port: u16, class: u8, frame: &mut Frame) {
        if self.can_start_now(frame.at, port, (class, frame.size_bytes)) {
            self.count_phantom(frame.at, port, frame);
        }
    }

    /// Like [`Core::count_phantom`], for the head of the queue at `index`.
    pub(super) fn count_phantom_dequeue(&mut self, now: Time, port: u16, index: usize) -> bool {
        if self.phantoms.is_none() {
            return false;
        }
        let Some(mut frame) = self.buffer.queues[index].front().copied() else { return false };
        let marked = self.count_phantom(now, port, &mut frame);
        if marked && let Some(front) = self.buffer.queues.at(index).front_mut() {
            front.flags = frame.flags;
        }
        marked
    }
}
