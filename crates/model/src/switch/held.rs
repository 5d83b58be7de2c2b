//! Flows that a neighbour holds by XOFF: each has its own queue, from which frames move to the queue of their class.
//!
//! ```text
//!  frame of a held flow --> [ own queue ] --at its rate, or stopped--> [ queue of its class ] --> wire
//!  XOFF: frames of the flow in the class queue move to its own queue, in order
//!  XON, expiry: the rest is appended to the class queue, in order
//! ```

use super::backpressure::Backpressure;
use super::core::Core;
use super::outcome::Crossing;
use crate::departures::Exact;
use crate::on_wire::OnWire;
use check::conservation::Cause;
use engine::Window;
use protocols::florax::HostPair;
use protocols::frame::{Frame, Kind, XoffMessage};
use units::Time;

impl Backpressure {
    /// Handles an XOFF or XON of a neighbour for a flow.
    pub(super) fn on_xoff(&mut self, core: &mut Core, in_port: u16, frame: &Frame) {
        core.stats.counters.control_received += 1;
        let (now, pair) = (frame.at, HostPair { src: frame.src, dst: frame.dst });
        if let Some(tracer) = &mut core.stats.tracer {
            tracer.trace_xoff_received(&core.network.fabric, in_port, frame);
        }
        if frame.kind == Kind::Xoff {
            let XoffMessage { rate_bps, expiry } = frame.xoff_message();
            if self.held.hold(now, in_port, pair, rate_bps, expiry) {
                self.set_apart(core, now, in_port, pair);
            }
        } else {
            for frame in self.held.release(now, in_port, pair, true) {
                core.join_class(now, in_port, frame);
            }
        }
        core.wake_at(self.held.next_event());
    }

    /// Moves the frames of `pair` from the class queues of `port` to the flow's own queue.
    fn set_apart(&mut self, core: &mut Core, now: Time, port: u16, pair: HostPair) {
        let slots = core.buffer.layout.slots;
        for slot in 0..slots {
            let index = usize::from(port) * slots + slot;
            let covered = |frame: &Frame| pair.covers(frame.src, frame.dst);
            core.buffer.queues.at(index).take_matching(now, covered, |frame| {
                // TTL and hops are counted again when the frame joins the queue of its class.
                self.held.push(now, port, &Frame { ttl: frame.ttl + 1, hops: frame.hops.saturating_sub(1), ..frame });
            });
            core.buffer.note_load(now, index);
            if core.buffer.queues[index].is_empty() {
                core.egress.cell_mut(port).waiting &= !(1 << core.network.classes[slot]);
            }
        }
    }

    /// Releases frames of held flows that are due by rate or expiry.
    pub(super) fn serve_held(&mut self, core: &mut Core, now: Time) {
        let mut freed = Vec::new();
        while let Some((port, frame)) = self.held.next_due(now, &mut freed) {
            core.join_class(now, port, frame);
        }
        for (port, frame) in freed {
            core.join_class(now, port, frame);
        }
    }

    /// Drops the held frames of a failed link.
    pub(super) fn lose_held(&mut self, core: &mut Core, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        for pair in self.held.pairs_at(port) {
            for frame in self.held.release(now, port, pair, false) {
                core.buffer.release(frame.in_port, frame.in_class, frame.size_bytes);
                core.stats.count_loss(&frame, Cause::LinkDown);
                let left = core.load_of_class(port, frame.class);
                if let Some(tracer) = &mut core.stats.tracer {
                    tracer.note_loss(&frame, now, Cause::LinkDown, (Some(frame.in_port), Some(port)), left, None);
                }
            }
        }
        self.on_departure(core, now, port, window);
    }
}

impl Core {
    /// Moves a held frame to the queue of its class.
    fn join_class(&mut self, now: Time, port: u16, frame: Frame) {
        let frame = Frame { at: now, ..frame };
        let index = self.buffer.queue_index(port, frame.class);
        let Frame { in_port, in_class, class, .. } = frame;
        self.enqueue::<Exact>(index, Crossing { in_port, egress: port, in_class, class }, &frame);
        // If the wire is free, the port is due now, unless its class is paused.
        self.egress.schedule_when_free(now, port);
    }
}
