//! Packet trimming of frames that find no room (NDP, trimming switches).
//!
//! ```text
//!  route -> no room -> cut the arriving or the youngest frame -> header
//!                                                                  |
//!                          room in the header queue of the port? --+-> yes: enqueue (scheduled ahead of data)
//!                                                                  +-> no: return it to its source, or drop it
//! ```
//!
//! Frames that find room are forwarded as in any other switch.

use super::action::Action;
use super::pipeline::Pipelines;
use crate::network::Network;
use crate::on_wire::OnWire;
use crate::parameters::{Overload, QueueLimit};
use crate::switch::core::{Core, no_room};
use crate::switch::outcome::{Crossing, FrameFate};
use check::conservation::{Cause, Tally};
use engine::Window;
use fabric::NodeId;
use protocols::frame::{Frame, Kind, flags};
use protocols::trim::{HeaderFull, Scheme, TrimParameters, Victim, give_back};
use stats::trace::TraceEvent;
use units::Time;
use units::random::{Stream, purpose};

/// State of a switch that trims.
#[derive(Debug)]
pub(crate) struct Trimming {
    pub(super) trim: TrimParameters,
    /// Limit of the header queue, if queues have limits of their own.
    header_queue: QueueLimit,
    random: Stream,
    /// Frames trimmed because of the queue at each port, and the bytes cut.
    pub trimmed: Vec<Tally>,
    /// Headers returned because of the header queue at each port.
    pub returned: Vec<u64>,
    /// The pipeline model, if the scenario has one.
    pub(crate) pipelines: Option<Box<Pipelines>>,
}

impl Trimming {
    /// Creates the state of `node`. Returns it with the bitmask of classes handled before admission, or `None` if the
    /// node does not trim.
    pub fn new(node: NodeId, network: &Network) -> Option<(Trimming, u8)> {
        let Overload::Trim { trim, header_queue, .. } = network.switch.overload else { return None };
        if trim.tiers >> network.fabric.node(node).tier.min(7) & 1 == 0 {
            return None;
        }
        let ports = network.fabric.ports(node).len();
        let state = Trimming {
            trim,
            header_queue,
            random: Stream::new(network.seed, u64::from(node.0), purpose("trims")),
            trimmed: vec![Tally::default(); ports],
            returned: vec![0; ports],
            pipelines: Pipelines::new(node, network),
        };
        Some((state, if trim.watermark.is_some() { trim.classes } else { 0 }))
    }

    /// Trims `frame`, which found no room, and forwards its header.
    pub(super) fn cut(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let header = self.header_of(core, crossing, frame);
        if self.trim.scheme == Scheme::Source {
            self.send_back(core, crossing, &header, window)
        } else {
            self.place(core, Crossing { class: header.class, ..crossing }, &header, window)
        }
    }

    /// Cuts the payload of `frame` and returns the header.
    pub(super) fn header_of(&mut self, core: &mut Core, crossing: Crossing, frame: &Frame) -> Frame {
        let egress = crossing.egress;
        let index = core.buffer.queue_index(egress, frame.class);
        let mut header = self.trim.cut(frame);
        let cut_bytes = frame.size_bytes - header.size_bytes;
        self.trimmed[usize::from(egress)].count(cut_bytes.into());
        core.stats.counters.packets.cut.count(cut_bytes.into());
        // The header bypasses the queue, so it carries the ECN mark that the frame would have received there.
        if core.marks_at_enqueue(egress, index, &header) {
            header.flags |= flags::CE;
        }
        core.note(crossing, frame, TraceEvent::Trimmed { port: egress, cut_bytes });
        header
    }

    /// Forwards a header and traces the result.
    pub(super) fn place(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let outcome = core.forward(self, &crossing, frame, window);
        core.trace_outcome(crossing, frame, outcome)
    }

    fn draw_tail(&mut self) -> bool {
        match self.trim.victim {
            Victim::Arriving => false,
            Victim::Tail => true,
            Victim::Coin => self.random.below(2) == 0,
        }
    }

    /// Trims the youngest frame of a full queue and forwards its header. Returns false if it has no payload to cut.
    fn cut_tail(&mut self, core: &mut Core, now: Time, full: Crossing, window: &mut Window<'_, OnWire>) -> bool {
        let (egress, class) = (full.egress, full.class);
        let index = core.buffer.queue_index(egress, class);
        let Some(&tail) = core.buffer.queues[index].back().filter(|tail| self.trim.can_cut(tail)) else { return false };
        core.buffer.queues.at(index).drop_back(now);
        core.buffer.note_load(now, index);
        if core.buffer.queues[index].is_empty() {
            core.egress.cell_mut(egress).waiting &= !(1 << class);
        }
        core.buffer.release(tail.in_port, tail.in_class, tail.size_bytes);
        // Restore TTL and hops: the header is forwarded as if it arrived now.
        let arriving = Frame { at: now, ttl: tail.ttl.saturating_add(1), hops: tail.hops.saturating_sub(1), ..tail };
        let crossing = Crossing { in_port: tail.in_port, egress, in_class: tail.in_class, class };
        self.cut(core, crossing, &arriving, window);
        true
    }

    /// Handles a frame of the header class for which the limits of data have no room.
    fn queue_header(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let index = core.buffer.queue_index(crossing.egress, crossing.class);
        let queue = &core.buffer.queues[index];
        if core.buffer.limits.queue.is_some()
            && self.header_queue.fits(queue.len(), u64::from(queue.bytes), frame.size_bytes)
        {
            core.buffer.charge(crossing.in_port, crossing.in_class, frame.size_bytes);
            return core.enqueue(index, crossing, frame);
        }
        if frame.kind == Kind::Trimmed && self.trim.full == HeaderFull::Return {
            return self.send_back(core, crossing, frame, window);
        }
        core.lose(crossing, frame, no_room(frame))
    }

    /// Returns the header `frame`, which cannot be queued, to its source.
    fn send_back(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let frame = give_back(frame);
        let full_port = crossing.egress;
        self.returned[usize::from(full_port)] += 1;
        // The header starts a new path: no ingress port to avoid.
        let Some(egress) = core.route(&frame, u16::MAX) else { return core.lose(crossing, &frame, Cause::NoRoute) };
        let back = Crossing { egress, class: frame.class, ..crossing };
        core.note(back, &frame, TraceEvent::Returned { port: egress, full_port });
        self.place(core, back, &frame, window)
    }
}

impl Action for Trimming {
    /// Handles a frame of a class with a watermark that found its wire occupied.
    fn decide(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        let crossing = Crossing { in_class: frame.class, class: frame.class, ..crossing };
        let index = core.buffer.queue_index(crossing.egress, frame.class);
        let queue = &core.buffer.queues[index];
        if self.trim.can_cut(frame) && self.trim.is_past_watermark(queue.len(), queue.bytes.into()) {
            self.cut(core, crossing, frame, window)
        } else if core.buffer.admit(index, crossing, frame.size_bytes) {
            core.enqueue(index, crossing, frame)
        } else {
            self.refuse(core, crossing, frame, window)
        }
    }

    fn refuse(
        &mut self,
        core: &mut Core,
        crossing: Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> FrameFate {
        // Only lossy classes are trimmed.
        if core.network.switch.flow_control.lossless() & (1 << crossing.class) != 0 {
            return core.lose_without_room(crossing, frame);
        }
        if self.trim.counts_as_header(crossing.class, frame) {
            return self.queue_header(core, crossing, frame, window);
        }
        let can_cut = self.trim.can_cut(frame);
        if self.pipelines.is_some() && can_cut {
            return self.recirculate(core, crossing, frame);
        }
        if self.draw_tail() && self.cut_tail(core, frame.at, crossing, window) {
            let index = core.buffer.queue_index(crossing.egress, crossing.class);
            if core.buffer.admit(index, crossing, frame.size_bytes) {
                let outcome = core.enqueue(index, crossing, frame);
                let traced = core.trace_outcome(crossing, frame, outcome);
                core.run_queued_hooks(self, crossing, frame, outcome, window);
                return traced;
            }
        }
        if can_cut { self.cut(core, crossing, frame, window) } else { core.lose(crossing, frame, no_room(frame)) }
    }
}
