//! Phantom queues: frames are counted and marked as they start to leave, by what would wait before a slower link.
//!
//! A frame that waits is looked at where marks at dequeue are made. One that finds its wire idle is looked at as it
//! comes, while it may still be changed: all ports of such a switch ask for that, and no other switch pays for it.

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
    /// Those of `node`, if it has any.
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
    /// `frame` starts to leave by `port` at `now`: counts it, and marks it if it is to be. Whether it was marked.
    pub(super) fn pass_phantom(&mut self, now: Time, port: u16, frame: &mut Frame) -> bool {
        let Some(queues) = &mut self.phantoms else { return false };
        let Some(Some(queue)) = queues.0.get_mut(usize::from(port)) else { return false };
        let wire_bytes = u64::from(frame.size_bytes) + WIRE_OVERHEAD_BYTES;
        let marked = queue.pass(now, wire_bytes) && frame.flags & (flags::ECT | flags::CE) == flags::ECT;
        if marked {
            frame.flags |= flags::CE;
            self.books.ledger.marks += 1;
        }
        marked
    }

    /// The same for a frame that has just come, if the wire is idle and it goes at once.
    #[cold]
    pub(super) fn pass_phantom_at_once(&mut self, port: u16, class: u8, frame: &mut Frame) {
        if self.is_open(frame.at, port, (class, frame.size_bytes)) {
            self.pass_phantom(frame.at, port, frame);
        }
    }

    /// The same for the frame that leaves next from the queue at `index`.
    pub(super) fn pass_phantom_leaving(&mut self, now: Time, port: u16, index: usize) -> bool {
        if self.phantoms.is_none() {
            return false;
        }
        let Some(mut frame) = self.buffer.queues[index].front().copied() else { return false };
        let marked = self.pass_phantom(now, port, &mut frame);
        if marked && let Some(front) = self.buffer.queues.at(index).front_mut() {
            front.flags = frame.flags;
        }
        marked
    }
}
