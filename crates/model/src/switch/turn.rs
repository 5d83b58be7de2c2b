//! Frames that do not go where their route leads: turned around (PABO) or sent by another port (DIBS).
//!
//! ```text
//!  bounce:  route -> idle port: onto the wire at once
//!                 -> how full is the sub-queue that the frame would enter? -> draw -> queue there
//!                                                                             -> turn around: bounce queue of the
//!                                                                                port that it came by
//!  detour:  route -> idle port -> room in its queue -> else the first of the other ports towards switches,
//!                                                      in random order, that has room
//! ```
//!
//! Every queue is then a pair, the bounce queue ahead of the normal one within its class; the bounce queues stand
//! behind all normal ones in [`Switch::queues`], `pairs` places further.

use super::{Switch, alert};
use crate::network::Network;
use crate::node::OnWire;
use crate::parameters::{Buffer, Overload, QueueLimit};
use crate::queue::Queue;
use crate::trace::Turned;
use check::conservation::Cause;
use engine::Window;
use fabric::NodeId;
use protocols::frame::Frame;
use protocols::pabo::{self, BounceFunction, Return, Utilisation};
use units::random::{Stream, purpose};

/// What a switch needs for frames that turn.
#[derive(Debug)]
pub(crate) struct Turner {
    /// The bounce decision; `None` where frames take detours.
    function: Option<BounceFunction>,
    normal: QueueLimit,
    bounce: QueueLimit,
    back: Return,
    utilisation: Utilisation,
    /// Bounces of a frame after which it bounces no more.
    limit: u8,
    random: Stream,
    /// Ports towards switches: those that a detour may take.
    onward: Vec<u16>,
    /// The same, as a detour tries them.
    tried: Vec<u16>,
    /// Frames that turned because of the queue at each port.
    pub turned: Vec<u64>,
}

impl Turner {
    /// The classes that turn, a bit each, and what they need; `None` where nothing turns.
    pub fn new(node: NodeId, network: &Network) -> (u8, Option<Box<Turner>>) {
        let lossless = network.switch.flow_control.lossless();
        let unlimited = QueueLimit::Bytes(u64::MAX);
        let mut utilisation = Utilisation::SubQueue;
        let (function, back, limit, bounce, classes) = match network.switch.overload {
            Overload::Drop | Overload::Trim { .. } => return (0, None),
            Overload::Detour => (None, Return::ArrivalPort, u8::MAX, unlimited, 0xff),
            Overload::Bounce { pabo, queue } => {
                let function = BounceFunction::new(pabo.theta, pabo.lambda);
                utilisation = pabo.utilisation;
                // A frame counts up to 255: without a limit, it never gets there and stops.
                (Some(function), pabo.back, pabo.limit.unwrap_or(0), queue, pabo.classes)
            }
        };
        let normal = match network.switch.buffer {
            Buffer::PerQueue { limit } => limit,
            Buffer::Shared { .. } => unlimited,
        };
        let ports = network.fabric.ports(node);
        let towards_switch = |port: &u16| network.fabric.node(ports[usize::from(*port)].peer).forwards();
        let turner = Turner {
            function,
            normal,
            bounce,
            back,
            utilisation,
            limit,
            random: Stream::new(network.seed, u64::from(node.0), purpose("turns")),
            onward: (0..ports.len() as u16).filter(towards_switch).collect(),
            tried: Vec::new(),
            turned: vec![0; ports.len()],
        };
        (classes & !lossless, Some(Box::new(turner)))
    }
}

/// What a queue holds and may hold, in the unit of its limit; full if a frame of `size_bytes` does not fit.
#[inline]
fn fill(queue: &Queue, limit: QueueLimit, size_bytes: u16) -> (u64, u64) {
    match limit {
        QueueLimit::Packets(most) => (queue.len() as u64, u64::from(most)),
        QueueLimit::Bytes(most) if u64::from(queue.bytes) + u64::from(size_bytes) > most => (most, most),
        QueueLimit::Bytes(most) => (u64::from(queue.bytes), most),
    }
}

/// The one of two fills (held, capacity) with the greater share.
fn fuller(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    let product = |held: u64, capacity: u64| u128::from(held) * u128::from(capacity);
    if product(one.0, other.1) >= product(other.0, one.1) { one } else { other }
}

impl Turner {
    /// For tests of the checks: queues have any room.
    #[cfg(test)]
    pub fn forget_limits(&mut self) {
        (self.normal, self.bounce) = (QueueLimit::Packets(u32::MAX), QueueLimit::Packets(u32::MAX));
    }
}

impl Switch {
    /// A frame of a class that turns, or goes back from a watermark on, found its wire occupied.
    #[inline(never)]
    pub(super) fn forward_or_turn(
        &mut self,
        egress: u16,
        in_port: u16,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        if self.pairs == 0 && self.turner.is_none() {
            return self.queue_or_return(egress, in_port, frame, window);
        }
        if self.pairs == 0 {
            return self.queue_or_detour(egress, in_port, frame, window);
        }
        let again = frame.bounces > 0;
        let first = self.queue_index(egress, frame.class);
        let (index, other) = if again { (first + self.pairs, first) } else { (first, first + self.pairs) };
        if again {
            self.note_offer(index);
        }
        let Some(turner) = self.turner.as_deref_mut() else { return };
        let (limit, other_limit) = if again { (turner.bounce, turner.normal) } else { (turner.normal, turner.bounce) };
        let (held, capacity) = fill(&self.queues[index], limit, frame.size_bytes);
        let full = held >= capacity;
        let (held, capacity) = match turner.utilisation {
            Utilisation::SubQueue => (held, capacity),
            Utilisation::Fuller => fuller((held, capacity), fill(&self.queues[other], other_limit, 0)),
        };
        let spent = turner.limit != 0 && frame.bounces >= turner.limit;
        if spent && full {
            return self.lose(in_port, frame, Cause::BounceLimit);
        }
        let Some(function) = &turner.function else { return };
        if !spent && function.bounces(held, capacity, frame.bounces, &mut turner.random) {
            return self.bounce(egress, in_port, frame, window);
        }
        let mut frame = *frame;
        pabo::go_on(&mut frame);
        self.charge(in_port, frame.class, frame.size_bytes);
        self.enqueue(egress, index, in_port, &frame);
    }

    /// Turns `frame` around, whose way forwards is `egress`.
    fn bounce(&mut self, egress: u16, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let Some(back) = self.way_back(egress, in_port, frame) else {
            return self.lose(in_port, frame, Cause::NoRoute);
        };
        if self.dead.contains(back) {
            return self.lose(in_port, frame, Cause::LinkDown);
        }
        let index = self.queue_index(back, frame.class) + self.pairs;
        let at_once = self.is_free(back, frame);
        let Some(turner) = self.turner.as_deref_mut() else { return };
        if !at_once {
            let (held, capacity) = fill(&self.queues[index], turner.bounce, frame.size_bytes);
            if held >= capacity {
                return self.lose(in_port, frame, Cause::BounceQueueFull);
            }
        }
        turner.turned[usize::from(egress)] += 1;
        self.ledger.bounces += 1;
        self.ledger.bounced_bytes += u64::from(frame.size_bytes);
        self.ledger.turns.made += u64::from(frame.bounces < u8::MAX);
        let mut frame = *frame;
        pabo::turn_back(&mut frame);
        // What the step forwards took, and what the step back is about to take: TTL ends loops of routes, and a
        // frame that was bounced is on none.
        frame.ttl = frame.ttl.saturating_add(2);
        if let Some(tracer) = &mut self.tracer {
            let queue = (!at_once).then_some(index);
            tracer.turned = Some(Turned { port: back, queue, bounces: frame.bounces, detour: false });
        }
        if at_once {
            self.send_on(back, frame, window);
        } else {
            self.charge(in_port, frame.class, frame.size_bytes);
            self.enqueue(back, index, in_port, &frame);
        }
    }

    /// The port towards where `frame` came from.
    fn way_back(&self, egress: u16, in_port: u16, frame: &Frame) -> Option<u16> {
        let back = self.turner.as_ref().map(|turner| turner.back);
        if back == Some(Return::ArrivalPort) {
            // A frame that leaves again by the port that it came by was bounced into this switch.
            if in_port != egress {
                return Some(in_port);
            }
            let first = self.network.first_arrival(self.node, frame);
            if first.is_some() {
                return first;
            }
        }
        let home = Frame { dst: frame.src, ..*frame };
        self.network.route(self.node, self.salt, &home, u16::MAX).filter(|&port| port != egress).or(Some(in_port))
    }

    /// Whether a frame of this class that goes to `port` now is on its wire at once.
    pub(super) fn is_free(&mut self, port: u16, frame: &Frame) -> bool {
        let state = &self.ports[usize::from(port)];
        if state.busy_until > frame.at {
            return false;
        }
        if state.alert & (alert::PAUSE | alert::CONTROL | alert::CREDIT | alert::STORM) == 0 {
            state.waiting == 0
        } else {
            self.may_overtake(frame.at, port, frame.class)
        }
    }

    /// Puts a frame on the free wire of `port`.
    fn send_on(&mut self, port: u16, mut frame: Frame, window: &mut Window<'_, OnWire>) {
        (frame.ttl, frame.hops) = (frame.ttl - 1, frame.hops.saturating_add(1));
        self.transmit(frame.at, port, frame, window);
    }

    /// DIBS: into the queue at `egress` while it has room, else by another port.
    fn queue_or_detour(&mut self, egress: u16, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let queue = self.queue_index(egress, frame.class);
        if self.admit(queue, in_port, frame.class, frame.size_bytes) {
            return self.enqueue(egress, queue, in_port, frame);
        }
        let Some(turner) = self.turner.as_deref_mut() else { return };
        let mut tried = std::mem::take(&mut turner.tried);
        tried.clear();
        let dead = &self.dead;
        tried.extend(turner.onward.iter().filter(|&&port| port != egress && !dead.contains(port)));
        let mut found = None;
        while found.is_none() && !tried.is_empty() {
            let Some(turner) = self.turner.as_deref_mut() else { return };
            let port = tried.swap_remove(turner.random.below(tried.len() as u64) as usize);
            let at_once = self.is_free(port, frame);
            let queue = self.queue_index(port, frame.class);
            if at_once || self.admit(queue, in_port, frame.class, frame.size_bytes) {
                found = Some((port, queue, at_once));
            }
        }
        if let Some(turner) = self.turner.as_deref_mut() {
            turner.tried = tried;
            turner.turned[usize::from(egress)] += u64::from(found.is_some());
        }
        let Some((port, queue, at_once)) = found else { return self.lose(in_port, frame, Cause::NoRoom) };
        self.ledger.detours += 1;
        self.ledger.bounced_bytes += u64::from(frame.size_bytes);
        self.ledger.turns.made += u64::from(frame.bounces < u8::MAX);
        let frame = Frame { bounces: frame.bounces.saturating_add(1), ..*frame };
        if let Some(tracer) = &mut self.tracer {
            let queue = (!at_once).then_some(queue);
            tracer.turned = Some(Turned { port, queue, bounces: frame.bounces, detour: true });
        }
        if at_once {
            self.send_on(port, frame, window);
        } else {
            self.enqueue(port, queue, in_port, &frame);
        }
    }
}
