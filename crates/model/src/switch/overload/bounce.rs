//! Bouncing of frames at full queues (PABO).
//!
//! ```text
//!  route -> idle port: transmit at once
//!        -> utilisation of the sub-queue for the frame -> random draw -> enqueue
//!                                                                     -> bounce: bounce queue of the ingress port
//! ```
//!
//! Each class of a port has two sub-queues. The bounce queue has priority over the normal queue. The bounce queues
//! follow all normal queues in [`PacketBuffer::queues`](crate::switch::buffer::PacketBuffer::queues), at an offset of
//! `layout.bounce_offset`.

use crate::network::Network;
use crate::parameters::{Buffer, QueueLimit};
use crate::queue::Queue;
use crate::switch::core::Core;
use crate::switch::outcome::Crossing;
use crate::switch::overload::action::{Action, Decision};
use check::conservation::Cause;
use fabric::NodeId;
use protocols::frame::Frame;
use protocols::pabo::{self, BounceFunction, BounceParameters, ReturnRoute, Utilisation};
use protocols::port::Hooks;
use units::random::{Stream, purpose};

/// State of a switch that bounces frames.
#[derive(Debug)]
pub(crate) struct Bounce {
    /// Bitmask of classes that bounce.
    classes: u8,
    function: BounceFunction,
    normal: QueueLimit,
    bounce_limit: QueueLimit,
    back: ReturnRoute,
    utilisation: Utilisation,
    /// Maximum number of bounces of a frame; 0 for no limit.
    limit: u8,
    random: Stream,
    /// Frames bounced because of the queue at each port.
    redirections: Vec<u64>,
}

impl Action for Bounce {
    fn hooks(&self) -> Hooks {
        Hooks::DECIDE.with(Hooks::REDIRECT)
    }

    fn decided_classes(&self) -> u8 {
        self.classes
    }

    fn redirections(&self) -> Option<&[u64]> {
        Some(&self.redirections)
    }

    /// Enqueues or bounces a frame that cannot start transmission at once.
    #[inline(always)] // so that the decision stays in registers
    fn decide(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        let again = frame.bounces > 0;
        // The bytes are charged to the class of the queue.
        (crossing.in_class, crossing.class) = (frame.class, frame.class);
        let pairs = core.buffer.layout.bounce_offset;
        let first = core.buffer.queue_index(crossing.egress, frame.class);
        let (index, other) = if again { (first + pairs, first) } else { (first, first + pairs) };
        if again {
            core.buffer.note_offer(index);
        }
        let (limit, other_limit) =
            if again { (self.bounce_limit, self.normal) } else { (self.normal, self.bounce_limit) };
        let (held, capacity) = fill(&core.buffer.queues[index], limit, frame.size_bytes);
        let full = held >= capacity;
        let (held, capacity) = match self.utilisation {
            Utilisation::SubQueue => (held, capacity),
            Utilisation::Fuller => fuller((held, capacity), fill(&core.buffer.queues[other], other_limit, 0)),
        };
        let spent = self.limit != 0 && frame.bounces >= self.limit;
        // A frame at the bounce limit is enqueued as in a switch that does not bounce, and dropped if the queue is
        // full.
        if spent && full {
            return Decision::drop(Cause::BounceLimit);
        }
        if !spent && self.function.bounces(held, capacity, frame.bounces, &mut self.random) {
            return self.bounce(core, crossing, frame);
        }
        core.buffer.admit_unlimited(crossing.in_port, crossing.in_class, frame.size_bytes);
        // Most frames have a bounce distance of 0 and stay unchanged.
        let changed = (frame.distance > 0).then(|| {
            let mut frame = *frame;
            pabo::go_on(&mut frame);
            frame
        });
        Decision::Queue { index, changed }
    }
}

impl Bounce {
    /// Creates the state of `node`.
    pub fn new(node: NodeId, network: &Network, pabo: &BounceParameters, bounce: QueueLimit) -> Bounce {
        let normal = match network.switch_of(node).buffer {
            Buffer::PerQueue { limit } => limit,
            Buffer::Shared { .. } => QueueLimit::Bytes(u64::MAX),
        };
        Bounce {
            classes: pabo.classes & !network.switch.flow_control.lossless(),
            function: BounceFunction::new(pabo.theta, pabo.lambda),
            normal,
            bounce_limit: bounce,
            back: pabo.back,
            utilisation: pabo.utilisation,
            // 0 stands for no limit. The bounce counter of a frame saturates at 255, so a limit of 255 would not be
            // unlimited.
            limit: pabo.limit.unwrap_or(0),
            random: Stream::new(network.seed, u64::from(node.0), purpose("turns")),
            redirections: vec![0; network.fabric.ports(node).len()],
        }
    }

    /// Removes the limits of all queues, for tests of the checks.
    #[cfg(test)]
    pub fn forget_limits(&mut self) {
        (self.normal, self.bounce_limit) = (QueueLimit::Packets(u32::MAX), QueueLimit::Packets(u32::MAX));
    }

    /// Bounces `frame`.
    fn bounce(&mut self, core: &mut Core, crossing: &Crossing, frame: &Frame) -> Decision {
        let &Crossing { in_port, egress, .. } = crossing;
        let Some(back) = self.way_back(core, egress, in_port, frame) else { return Decision::drop(Cause::NoRoute) };
        if core.failures.is_dead(back) {
            return Decision::drop(Cause::LinkDown);
        }
        let index = core.buffer.queue_index(back, frame.class) + core.buffer.layout.bounce_offset;
        let at_once = core.can_start_now(frame.at, back, (frame.class, frame.size_bytes));
        if !at_once {
            let (held, capacity) = fill(&core.buffer.queues[index], self.bounce_limit, frame.size_bytes);
            if held >= capacity {
                return Decision::drop(Cause::BounceQueueFull);
            }
            core.buffer.admit_unlimited(in_port, frame.class, frame.size_bytes);
        }
        self.redirections[usize::from(egress)] += 1;
        let counters = &mut core.stats.counters;
        counters.bounces += 1;
        counters.bounced_bytes += u64::from(frame.size_bytes);
        counters.bounces_in_frames.made += u64::from(frame.bounces < u8::MAX);
        let mut frame = *frame;
        pabo::turn_back(&mut frame);
        // Restores the TTL of the hop forward and of the hop back, because the TTL terminates routing loops and a
        // bounce is not a loop.
        frame.ttl = frame.ttl.saturating_add(2);
        Decision::Redirect { port: back, index: (!at_once).then_some(index), frame, detour: false }
    }

    /// Returns the port towards the previous node of `frame`.
    fn way_back(&self, core: &Core, egress: u16, in_port: u16, frame: &Frame) -> Option<u16> {
        if self.back == ReturnRoute::ArrivalPort {
            // If the route leads back through the ingress port, the frame was bounced into this switch. Then the
            // previous node is that of the regular route from the source.
            if in_port != egress {
                return Some(in_port);
            }
            let first = core.network.first_arrival(core.node(), frame);
            if first.is_some() {
                return first;
            }
        }
        let home = Frame { dst: frame.src, ..*frame };
        let route = core.network.route(core.node(), core.routing.salt, &home, u16::MAX);
        route.filter(|&port| port != egress).or(Some(in_port))
    }
}

/// Returns the length and capacity of a queue in the unit of its limit. The queue is full (length = capacity) if
/// `size_bytes` more do not fit.
#[inline]
fn fill(queue: &Queue, limit: QueueLimit, size_bytes: u16) -> (u64, u64) {
    match limit {
        QueueLimit::Packets(most) => (queue.len() as u64, u64::from(most)),
        QueueLimit::Bytes(most) if u64::from(queue.bytes) + u64::from(size_bytes) > most => (most, most),
        QueueLimit::Bytes(most) => (u64::from(queue.bytes), most),
    }
}

/// Returns the fill (length, capacity) with the higher utilisation.
fn fuller(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    let product = |held: u64, capacity: u64| u128::from(held) * u128::from(capacity);
    if product(one.0, other.1) >= product(other.0, one.1) { one } else { other }
}
