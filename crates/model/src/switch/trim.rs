//! Frames that find no room and lose their payload (NDP, trimming switches).
//!
//! ```text
//!  route -> admission finds no room -> whose payload? arriving or youngest -> header
//!                                                                               |
//!                               header queue of the same port has room? -> there, ahead of data as the scheduler has it
//!                                                                 not?  -> back towards its source, or lost
//! ```
//!
//! All of it stands where admission refuses a frame: a switch that trims forwards what finds room as any other.

use super::Switch;
use crate::network::Network;
use crate::node::OnWire;
use crate::parameters::{Overload, QueueLimit};
use check::conservation::{Cause, Tally};
use engine::Window;
use fabric::NodeId;
use protocols::frame::{Frame, Kind, flags};
use protocols::trim::{HeaderFull, Scheme, TrimParameters, Victim, give_back};
use units::Time;
use units::random::{Stream, purpose};

/// What a switch needs to trim.
#[derive(Debug)]
pub(crate) struct Trimmer {
    trim: TrimParameters,
    /// Room of the queue of headers, where queues have limits of their own.
    header_queue: QueueLimit,
    random: Stream,
    /// Frames that lost their payload because of the queue at each port, and the bytes cut.
    pub trimmed: Vec<Tally>,
    /// Headers that went back because of the header queue at each port.
    pub returned: Vec<u64>,
}

impl Trimmer {
    /// What `node` needs; `None` where it does not trim.
    pub fn new(node: NodeId, network: &Network) -> Option<Box<Trimmer>> {
        let Overload::Trim { trim, header_queue, .. } = network.switch.overload else { return None };
        if trim.tiers >> network.fabric.node(node).tier.min(7) & 1 == 0 {
            return None;
        }
        let ports = network.fabric.ports(node).len();
        Some(Box::new(Trimmer {
            trim,
            header_queue,
            random: Stream::new(network.seed, u64::from(node.0), purpose("trims")),
            trimmed: vec![Tally::default(); ports],
            returned: vec![0; ports],
        }))
    }
}

/// Why a frame is lost that finds no room in a lossy queue.
fn no_room(frame: &Frame) -> Cause {
    if matches!(frame.kind, Kind::Trimmed | Kind::Returned) { Cause::HeaderNoRoom } else { Cause::NoRoom }
}

impl Trimmer {
    /// Whether `frame` has something to cut here.
    #[inline]
    pub fn can_cut(&self, frame: &Frame) -> bool {
        self.trim.can_cut(frame)
    }

    /// The classes whose frames are looked at before they find no room, a bit each.
    pub fn watched(&self) -> u8 {
        if self.trim.watermark.is_some() { self.trim.classes } else { 0 }
    }
}

impl Switch {
    /// A frame of a class with a watermark found its wire occupied.
    pub(super) fn queue_or_return(
        &mut self,
        egress: u16,
        in_port: u16,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        let index = self.queue_index(egress, frame.class);
        let queue = &self.queues[index];
        let Some(trim) = self.trimmer.as_ref().map(|trimmer| trimmer.trim) else { return };
        if trim.can_cut(frame) && trim.is_past_watermark(queue.len(), queue.bytes.into()) {
            self.cut(egress, in_port, frame.class, frame, window);
        } else if self.admit(index, in_port, frame.class, frame.size_bytes) {
            self.enqueue(egress, index, in_port, frame);
        } else {
            self.refuse(egress, in_port, (frame.class, frame.class), frame, window);
        }
    }

    /// A frame that came in the first class found no room in the queue of the second at `egress`.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(
        &mut self,
        egress: u16,
        in_port: u16,
        (in_class, class): (u8, u8),
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        let lossless = self.network.switch.flow_control.lossless() & (1 << class) != 0;
        let Some(trim) = self.trimmer.as_ref().map(|trimmer| trimmer.trim).filter(|_| !lossless) else {
            return self.lose_as(in_port, in_class, frame, self.cause_without_room(in_port, class, frame));
        };
        if trim.counts_as_header(class, frame) {
            return self.queue_header(egress, in_port, (in_class, class), frame, window);
        }
        if self.inside.is_some() && trim.can_cut(frame) {
            return self.recirculate(egress, in_port, in_class, frame);
        }
        if self.draw_tail(trim.victim) && self.cut_tail(frame.at, egress, class, window) {
            let queue = self.queue_index(egress, class);
            if self.admit_as(queue, in_port, (in_class, class), frame.size_bytes) {
                return self.place_admitted(egress, queue, in_port, (in_class, class), frame);
            }
        }
        if trim.can_cut(frame) {
            self.cut(egress, in_port, in_class, frame, window);
        } else {
            self.lose_as(in_port, in_class, frame, no_room(frame));
        }
    }

    /// Why a frame of `class` that came by `in_port` is lost which finds no room: what flow control promises, it promises
    /// among those who take part.
    #[cold]
    pub(super) fn cause_without_room(&self, in_port: u16, class: u8, frame: &Frame) -> Cause {
        let network = &self.network;
        if network.switch.flow_control.lossless() & (1 << class) == 0 {
            return no_room(frame);
        }
        let peer = network.fabric.ports(self.node).get(usize::from(in_port)).map(|port| port.peer);
        let reached = network.takes_part(self.node) && peer.is_none_or(|peer| network.takes_part(peer));
        if reached { Cause::LosslessNoRoom } else { Cause::OutsideFlowControl }
    }

    fn draw_tail(&mut self, victim: Victim) -> bool {
        match victim {
            Victim::Arriving => false,
            Victim::Tail => true,
            Victim::Coin => self.trimmer.as_mut().is_some_and(|trimmer| trimmer.random.below(2) == 0),
        }
    }

    /// Takes the youngest frame of `class` out of its queue at `egress` and sends its header on; false if it has
    /// nothing to cut.
    fn cut_tail(&mut self, now: Time, egress: u16, class: u8, window: &mut Window<'_, OnWire>) -> bool {
        let index = self.queue_index(egress, class);
        let Some((trim, &tail)) = self.trimmer.as_ref().map(|trimmer| trimmer.trim).zip(self.queues[index].back())
        else {
            return false;
        };
        if !trim.can_cut(&tail) {
            return false;
        }
        self.queues[index].drop_back(now);
        self.note_load(now, index);
        if self.queues[index].is_empty() {
            self.ports[usize::from(egress)].waiting &= !(1 << class);
        }
        self.release(tail.in_port, tail.in_class, tail.size_bytes);
        // It is as if it came now: what its step into the queue took, the next one takes again.
        let arriving = Frame { at: now, ttl: tail.ttl.saturating_add(1), hops: tail.hops.saturating_sub(1), ..tail };
        self.cut(egress, tail.in_port, tail.in_class, &arriving, window);
        true
    }

    /// Cuts `frame`, which found no room at `egress`, and sends its header on.
    pub(super) fn cut(
        &mut self,
        egress: u16,
        in_port: u16,
        in_class: u8,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        let header = self.header_of(egress, in_port, frame);
        if self.trimmer.as_ref().is_some_and(|trimmer| trimmer.trim.scheme == Scheme::Source) {
            self.send_back(egress, in_port, in_class, &header, window);
        } else {
            self.place(egress, in_port, (in_class, header.class), &header, window);
        }
    }

    /// What is left of `frame`, which loses its payload because of `egress`.
    pub(super) fn header_of(&mut self, egress: u16, in_port: u16, frame: &Frame) -> Frame {
        let index = self.queue_index(egress, frame.class);
        let Some(trimmer) = self.trimmer.as_deref_mut() else { return *frame };
        let mut header = trimmer.trim.cut(frame);
        let cut_bytes = u64::from(frame.size_bytes - header.size_bytes);
        trimmer.trimmed[usize::from(egress)].count(cut_bytes);
        self.ledger.packets.cut.count(cut_bytes);
        // A header that overtakes the queue tells of it as the frame would have, had it waited there.
        if let Some(marker) = &self.marker
            && header.flags & (flags::ECT | flags::CE) == flags::ECT
            && marker.marks(u64::from(self.queues[index].bytes), &mut self.random)
        {
            header.flags |= flags::CE;
            self.ledger.marks += 1;
        }
        self.note_trim(egress, in_port, frame, cut_bytes as u16);
        header
    }

    /// A frame of the class of headers found no room within the limits of data.
    fn queue_header(
        &mut self,
        egress: u16,
        in_port: u16,
        (in_class, class): (u8, u8),
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        let index = self.queue_index(egress, class);
        let Some(trimmer) = self.trimmer.as_deref_mut() else { return };
        let queue = &self.queues[index];
        let fits = self.queue_limit.is_some()
            && match trimmer.header_queue {
                QueueLimit::Bytes(most) => u64::from(queue.bytes) + u64::from(frame.size_bytes) <= most,
                QueueLimit::Packets(most) => queue.len() < most as usize,
            };
        if fits {
            self.charge(in_port, in_class, frame.size_bytes);
            return self.place_admitted(egress, index, in_port, (in_class, class), frame);
        }
        if frame.kind == Kind::Trimmed && trimmer.trim.full == HeaderFull::Return {
            return self.send_back(egress, in_port, in_class, frame, window);
        }
        self.lose_as(in_port, in_class, frame, no_room(frame));
    }

    /// Sends the header `frame`, which may not go on by `full`, back to its source.
    fn send_back(&mut self, full: u16, in_port: u16, in_class: u8, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let frame = give_back(frame);
        if let Some(trimmer) = &mut self.trimmer {
            trimmer.returned[usize::from(full)] += 1;
        }
        // A new way begins here, not the rest of the old one.
        match self.route(&frame, u16::MAX) {
            Some(egress) => {
                self.note_return(full, egress, in_port, &frame);
                self.place(egress, in_port, (in_class, frame.class), &frame, window);
            }
            None => self.lose_as(in_port, in_class, &frame, Cause::NoRoute),
        }
    }
}
