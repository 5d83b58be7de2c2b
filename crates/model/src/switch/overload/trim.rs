//! Packet trimming of frames that the queue does not admit (NDP, trimming switches).
//!
//! ```text
//!  route -> no room -> cut the arriving or the youngest frame -> header
//!                                                                  |
//!                          room in the header queue of the port? --+-> yes: enqueue (scheduled ahead of data)
//!                                                                  +-> no: return it to its source, or drop it
//! ```
//!
//! Admitted frames are forwarded as in any other switch.

use super::action::{Action, Decision};
use super::pipeline::Pipelines;
use crate::departures::Exact;
use crate::network::Network;
use crate::parameters::{Overload, QueueLimit};
use crate::switch::core::{Core, no_room};
use crate::switch::outcome::Crossing;
use check::conservation::{Cause, FrameCount};
use fabric::NodeId;
use protocols::frame::{Frame, Kind, flags};
use protocols::port::Hooks;
use protocols::trim::{HeaderDestination, HeaderFull, TrimParameters, Victim, give_back};
use stats::trace::TraceEvent;
use units::Time;
use units::random::{Stream, purpose};

/// State of a switch that trims.
#[derive(Debug)]
pub(crate) struct Trimming {
    pub(super) trim: TrimParameters,
    /// Limit of the header queue, if the buffer has per-queue limits.
    header_queue: QueueLimit,
    random: Stream,
    /// Frames trimmed because of the queue at each port, and the bytes cut.
    pub trimmed: Vec<FrameCount>,
    /// Headers returned because of the header queue at each port.
    pub returned: Vec<u64>,
    /// The pipeline model, if the scenario has one.
    pub(crate) pipelines: Option<Box<Pipelines>>,
}

impl Trimming {
    /// Creates the state of `node`; `None` if the node does not trim.
    pub fn new(node: NodeId, network: &Network) -> Option<Trimming> {
        let Overload::Trim { trim, header_queue, .. } = network.switch.overload else { return None };
        if trim.tiers >> network.fabric.node(node).tier.min(7) & 1 == 0 {
            return None;
        }
        let ports = network.fabric.ports(node).len();
        Some(Trimming {
            trim,
            header_queue,
            random: Stream::new(network.seed, u64::from(node.0), purpose("trims")),
            trimmed: vec![FrameCount::default(); ports],
            returned: vec![0; ports],
            pipelines: Pipelines::new(node, network),
        })
    }

    /// Trims `frame`, which was not admitted: its header is forwarded, or returned to its source.
    pub(super) fn cut(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        let header = self.header_of(core, *crossing, frame);
        if self.trim.scheme == HeaderDestination::Source {
            return self.send_back(core, crossing, &header);
        }
        crossing.class = header.class;
        Decision::Forward { header }
    }

    /// Cuts the payload of `frame` and returns the header.
    pub(super) fn header_of(&mut self, core: &mut Core, crossing: Crossing, frame: &Frame) -> Frame {
        let egress = crossing.egress;
        let index = core.buffer.queue_index(egress, frame.class);
        let mut header = self.trim.cut(frame);
        let trimmed_bytes = frame.size_bytes - header.size_bytes;
        self.trimmed[usize::from(egress)].count(trimmed_bytes.into());
        core.stats.counters.packets.cut.count(trimmed_bytes.into());
        // The header bypasses the data queue, so it carries the ECN mark that the frame would have received in that
        // queue.
        let marked = core.marks_at_enqueue(egress, index, &header);
        core.note(crossing, frame, TraceEvent::Trimmed { port: egress, trimmed_bytes });
        if marked {
            header.flags |= flags::CE;
            core.note(crossing, &header, TraceEvent::Marked { port: egress });
        }
        header
    }

    fn draw_tail(&mut self) -> bool {
        match self.trim.victim {
            Victim::Arriving => false,
            Victim::Tail => true,
            Victim::Coin => self.random.below(2) == 0,
        }
    }

    /// Trims the youngest frame of a full queue. `None` if it has no payload to cut.
    fn cut_tail(&mut self, core: &mut Core, now: Time, full: &Crossing) -> Option<Decision> {
        let &Crossing { egress, class, .. } = full;
        let index = core.buffer.queue_index(egress, class);
        let &tail = core.buffer.queues[index].back().filter(|tail| self.trim.can_cut(tail))?;
        core.buffer.queues.at(index).drop_back(now);
        core.buffer.note_load(now, index);
        if core.buffer.queues[index].is_empty() {
            core.egress.cell_mut(egress).waiting &= !(1 << class);
        }
        core.buffer.release(tail.in_port, tail.in_class, tail.size_bytes);
        // Restore TTL and hops: the header is forwarded as if it arrived now.
        let arrived = Frame { at: now, ttl: tail.ttl.saturating_add(1), hops: tail.hops.saturating_sub(1), ..tail };
        let mut crossing = Crossing { in_port: tail.in_port, egress, in_class: tail.in_class, class };
        let tail = match self.cut(core, &mut crossing, &arrived) {
            Decision::Forward { header } => Some((crossing, header)),
            Decision::DropHeader { cause, header } => {
                let lost = core.lose(crossing, &header, cause);
                core.trace_outcome(crossing, &header, lost);
                None
            }
            other => {
                debug_assert!(false, "a trimmed frame is forwarded or lost: {other:?}");
                None
            }
        };
        Some(Decision::Displace { tail })
    }

    /// Decides about a frame of the header class that the limits of data frames do not admit.
    fn queue_header(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        let index = core.buffer.queue_index(crossing.egress, crossing.class);
        let queue = &core.buffer.queues[index];
        if core.buffer.limits.queue.is_some()
            && self.header_queue.fits(queue.len(), u64::from(queue.bytes), frame.size_bytes)
        {
            core.buffer.admit_unlimited(crossing.in_port, crossing.in_class, frame.size_bytes);
            return Decision::queue(index);
        }
        if frame.kind == Kind::Trimmed && self.trim.full == HeaderFull::Return {
            return self.send_back(core, crossing, frame);
        }
        Decision::drop(no_room(frame))
    }

    /// Returns the header `frame`, which cannot be queued, to its source.
    fn send_back(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        let header = give_back(frame);
        let full_port = crossing.egress;
        self.returned[usize::from(full_port)] += 1;
        // The header takes a new route, so no port is excluded as ingress port.
        let Some(egress) = core.route(&header, u16::MAX) else {
            return Decision::DropHeader { cause: Cause::NoRoute, header };
        };
        (crossing.egress, crossing.class) = (egress, header.class);
        core.note(*crossing, &header, TraceEvent::Returned { port: egress, full_port });
        Decision::Forward { header }
    }
}

impl Action for Trimming {
    fn hooks(&self) -> Hooks {
        Hooks::DECIDE.with(Hooks::REFUSE)
    }

    fn decided_classes(&self) -> u8 {
        if self.trim.watermark.is_some() { self.trim.classes } else { 0 }
    }

    /// Decides about a frame of a class with a watermark.
    #[inline(never)]
    fn decide(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame) -> Decision {
        (crossing.in_class, crossing.class) = (frame.class, frame.class);
        let index = core.buffer.queue_index(crossing.egress, frame.class);
        let queue = &core.buffer.queues[index];
        if self.trim.can_cut(frame) && self.trim.is_past_watermark(queue.len(), queue.bytes.into()) {
            self.cut(core, crossing, frame)
        } else if core.buffer.admit::<Exact>(index, *crossing, frame.size_bytes) {
            Decision::queue(index)
        } else {
            self.refuse(core, crossing, frame, true)
        }
    }

    fn refuse(&mut self, core: &mut Core, crossing: &mut Crossing, frame: &Frame, may_displace: bool) -> Decision {
        // Only lossy classes are trimmed.
        if core.network.switch.flow_control.lossless() & (1 << crossing.class) != 0 {
            return core.drop_without_room(*crossing, frame);
        }
        if self.trim.counts_as_header(crossing.class, frame) {
            return self.queue_header(core, crossing, frame);
        }
        let can_cut = self.trim.can_cut(frame);
        if self.pipelines.is_some() && can_cut {
            return self.recirculate(core, crossing, frame);
        }
        if may_displace
            && self.draw_tail()
            && let Some(displaced) = self.cut_tail(core, frame.at, crossing)
        {
            return displaced;
        }
        if can_cut { self.cut(core, crossing, frame) } else { Decision::drop(no_room(frame)) }
    }
}
