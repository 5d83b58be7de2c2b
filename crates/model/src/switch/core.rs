//! What every frame through a switch touches: ports, buffer, routes, marks. Mechanisms stand beside it, own what they
//! remember, and are handed this.

use super::buffer::PacketBuffer;
use super::congestion_point::CongestionPoints;
use super::forwarding::{Failures, Routing};
use super::outcome::{Crossing, Outcome};
use super::overload::action::Action;
use super::phantom::PhantomQueues;
use crate::account::Ledger;
use crate::books::Books;
use crate::egress::Egress;
use crate::network::Network;
use crate::on_wire::OnWire;
use crate::parameters::{MarkAt, Marking};
use check::conservation::Cause;
use engine::Window;
use fabric::NodeId;
use protocols::ecn::Marker;
use protocols::frame::{Frame, Kind, flags};
use protocols::telemetry::Hop;
use std::mem::offset_of;
use std::sync::Arc;
use units::random::{Stream, purpose};
use units::{Rate, Time};

/// Bits of [`crate::egress::Cell::ingress`]: what must be asked of frames that come by a port.
pub(super) mod ingress {
    /// The link can lose frames.
    pub const FRAGILE: u8 = 1;
    /// The link is under credits.
    pub const CREDITED: u8 = 2;
    /// Frames carry tags, which the switch rewrites.
    pub const TAGGED: u8 = 4;
    /// Frames enter a pipeline of the switch.
    pub const PIPELINE: u8 = 8;
    /// Outputs decide whom to stop.
    pub const BACKPRESSURE: u8 = 16;
    /// The switch has phantom queues, which look at frames that find their wire idle.
    pub const PHANTOM: u8 = 32;
    /// Some port of the switch sends in cycles.
    pub const CYCLIC: u8 = 64;
}

/// The core of a switch.
///
/// Where few frames are under way, each comes to a switch that the first-level cache no longer holds. So what every
/// frame touches beside its port and its queue lies in two cache lines: the fields from [`Egress::cells`] to
/// [`Ledger::hops`].
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Core {
    /// Accounts that are paused and when each pause must be renewed; under credits, when they are all granted again;
    /// marked by [`super::pause::LOOK`], ports at which a watchdog looks.
    pub(super) renewals: Vec<(Time, u32)>,
    /// Mark what joins a queue; by port, and none where nothing is marked then.
    pub(super) markers: Box<[Marker]>,
    /// Counters of what slower links would have waiting, where there are any.
    pub(super) phantoms: Option<Box<PhantomQueues>>,
    pub egress: Egress,
    /// The next thing that happens by itself happens no earlier.
    pub(super) wakes_at: Time,
    pub network: Arc<Network>,
    /// Instants with arrivals so far.
    pub(super) instants: u32,
    /// Classes of whose frames somebody must be asked beside admission, a bit each: overload decides before it, or
    /// congestion points look after it.
    pub(super) early: u8,
    /// Whether somebody must be asked when a frame leaves the buffer: an account is paused, or outputs decide whom to
    /// stop.
    pub(super) attends: bool,
    /// Windows until the switch sees again whether departures can be lazy; `None` where they never can.
    pub(super) lazy_in: Option<u8>,
    pub routing: Routing,
    pub books: Books,
    pub buffer: PacketBuffer,
    pub node: NodeId,
    /// Lossless classes whose accounts stop neighbours.
    pub(super) stopping: u8,
    /// Whether links are under credits.
    pub(super) credited: bool,
    /// Whether outputs decide whom to stop.
    pub(super) has_backpressure: bool,
    /// Whether anything is done to a frame as it leaves its queue: a mark, telemetry, or a look at its cycle.
    pub(super) looks_at_leaving: bool,
    /// Mark what leaves a queue, as `markers`.
    pub(super) leaving_markers: Box<[Marker]>,
    pub failures: Failures,
    /// Queues that notify sources of congestion, where there are any.
    pub(super) points: Option<Box<CongestionPoints>>,
    pub(super) random: Stream,
}

/// Bytes of a cache line.
const LINE: usize = 64;

// The two lines.
const _: () = {
    let first = offset_of!(Core, egress) + offset_of!(Egress, cells);
    let last = offset_of!(Core, books) + offset_of!(Books, ledger) + offset_of!(Ledger, hops);
    assert!(first.is_multiple_of(LINE) && last + size_of::<u64>() <= first + 2 * LINE);
};

impl Core {
    /// The core of `node`; `fails` says of which port the link may fail.
    pub fn new(node: NodeId, network: &Arc<Network>, fails: impl Fn(u16) -> bool) -> Core {
        let parameters = &network.switch;
        let control = network.flow_control_of(node);
        let phantoms = PhantomQueues::new(node, network);
        let mut egress = Egress::new(network, node, true, fails);
        let has_cycles = egress.rules.iter().any(|rules| rules.cycles.is_some());
        for (cell, rules) in egress.cells.iter_mut().zip(&egress.rules) {
            let bit = |asked: bool, bit: u8| if asked { bit } else { 0 };
            cell.ingress = bit(rules.link.fragile, ingress::FRAGILE)
                | bit(rules.credit.is_some(), ingress::CREDITED)
                | bit(network.tags.is_some(), ingress::TAGGED)
                | bit(parameters.overload.inside().is_some(), ingress::PIPELINE)
                | bit(control.backpressure().is_some(), ingress::BACKPRESSURE)
                | bit(phantoms.is_some(), ingress::PHANTOM)
                | bit(has_cycles, ingress::CYCLIC);
        }
        let (markers, leaving_markers) =
            (markers(network, node, MarkAt::Enqueue), markers(network, node, MarkAt::Dequeue));
        let regrant = control.credit().map(|credit| (credit.regrant, 0));
        Core {
            node,
            instants: 0,
            buffer: PacketBuffer::new(network, node, &egress.rules),
            egress,
            routing: Routing::new(network, node),
            failures: Failures::default(),
            early: 0,
            stopping: if control.pause().is_some() { control.lossless() } else { 0 },
            credited: regrant.is_some(),
            attends: false,
            has_backpressure: control.backpressure().is_some(),
            wakes_at: Time::MAX,
            renewals: regrant.into_iter().collect(),
            markers,
            looks_at_leaving: !leaving_markers.is_empty()
                || network.telemetry.is_some()
                || phantoms.is_some()
                || has_cycles,
            phantoms,
            leaving_markers,
            lazy_in: None,
            points: CongestionPoints::new(node, network),
            random: Stream::new(network.seed, u64::from(node.0), purpose("switch")),
            books: Books::new(network, node),
            network: Arc::clone(network),
        }
    }

    /// The port by which `frame`, which came by `in_port`, goes on.
    #[inline(always)] // as Switch::handle
    pub fn route(&mut self, frame: &Frame, in_port: u16) -> Option<u16> {
        let port = self.routing.port(&self.network, frame, in_port);
        let here = (self.node, self.routing.salt);
        if port.is_some() { port } else { self.failures.port(&self.network, here, frame, in_port) }
    }

    pub fn link_rate(&self, port: u16) -> Rate {
        self.egress.rules(port).link.rate
    }

    /// Something happens by itself at `at`.
    pub fn wake_at(&mut self, at: Time) {
        self.wakes_at = self.wakes_at.min(at);
    }

    /// There are other renewals than before.
    pub(super) fn note_renewals(&mut self) {
        let next = self.renewals.iter().map(|renewal| renewal.0).min().unwrap_or(Time::MAX);
        self.wake_at(next);
        self.attends = !self.renewals.is_empty() || self.has_backpressure;
    }

    /// Whether a frame of this class and length that comes for `port` now would be on its wire at once.
    pub fn is_open(&mut self, now: Time, port: u16, frame: (u8, u16)) -> bool {
        let Core { egress, buffer, books, .. } = self;
        egress.is_open(now, port, frame, |class| buffer.head(port, class), books)
    }

    /// Sends a frame on: at once where the wire is free and nothing may go before it, else through the queue, as far as
    /// there is room, and as overload has it where there is none.
    #[inline(always)] // as Switch::handle
    pub fn forward(
        &mut self,
        overload: &mut impl Action,
        crossing: &Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> Outcome {
        if self.send_at_once(crossing, frame, window) {
            return Outcome::Sent { egress: crossing.egress };
        }
        self.wait_or_refuse(overload, crossing, frame, window)
    }

    /// Sends a frame on if the wire is free and nothing may go before it.
    #[inline(always)] // as forward
    pub(super) fn send_at_once(&mut self, crossing: &Crossing, frame: &Frame, window: &mut Window<'_, OnWire>) -> bool {
        let (now, &Crossing { egress, class, .. }) = (frame.at, crossing);
        let Core { egress: ports, buffer, books, network, .. } = self;
        let head = |class| buffer.head(egress, class);
        let collect = |hop: Hop| network.collect(frame, Hop { queue_bytes: buffer.waiting_bytes(egress), ..hop });
        let Some(at) = ports.send_at_once(now, egress, (class, frame.size_bytes), head, collect, books) else {
            return false;
        };
        put_on_wire(frame, egress, at, window);
        true
    }

    /// What happens to a frame that cannot go on at once.
    #[inline(always)] // as forward
    pub(super) fn wait_or_refuse(
        &mut self,
        overload: &mut impl Action,
        crossing: &Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> Outcome {
        if self.early & (1 << crossing.class) != 0 {
            return self.decide_early(overload, *crossing, frame, window);
        }
        self.admit_or_refuse(overload, crossing, frame, window)
    }

    /// Lets a frame wait, if it finds room.
    #[inline(always)] // as forward
    pub fn admit_or_refuse(
        &mut self,
        overload: &mut impl Action,
        crossing: &Crossing,
        frame: &Frame,
        window: &mut Window<'_, OnWire>,
    ) -> Outcome {
        let index = self.buffer.queue_index(crossing.egress, crossing.class);
        if !self.buffer.admit(index, *crossing, frame.size_bytes) {
            return overload.refuse(self, *crossing, frame, window);
        }
        let outcome = self.enqueue(index, *crossing, frame);
        if self.stopping & (1 << crossing.in_class) != 0 {
            self.pause_if_needed(frame.at, crossing.in_port, crossing.in_class, window);
        }
        outcome
    }

    /// Puts a frame that has found room into the queue at `index`.
    #[inline(always)] // as forward
    pub fn enqueue(&mut self, index: usize, crossing: Crossing, frame: &Frame) -> Outcome {
        let marked = self.put_in_queue(index, crossing, frame);
        self.egress.wait(frame.at, crossing.egress, crossing.class);
        Outcome::Queued { egress: crossing.egress, index: index as u32, marked }
    }

    /// The same, of which the port is still to be told. Whether the frame was marked.
    #[inline(always)] // as forward
    pub(super) fn put_in_queue(&mut self, index: usize, crossing: Crossing, frame: &Frame) -> bool {
        let mut mark = false;
        if frame.flags & (flags::ECT | flags::CE) == flags::ECT
            && let Some(marker) = self.markers.get(usize::from(crossing.egress))
        {
            mark = marker.marks(u64::from(self.buffer.queues[index].bytes), &mut self.random);
            self.books.ledger.marks += u64::from(mark);
        }
        self.buffer.push(index, crossing, frame, if mark { flags::CE } else { 0 });
        mark
    }

    /// Puts a frame on the wire of `port`, which is open.
    pub fn send_on(&mut self, port: u16, mut frame: Frame, window: &mut Window<'_, OnWire>) {
        (frame.ttl, frame.hops) = (frame.ttl - 1, frame.hops.saturating_add(1));
        self.pass_phantom(frame.at, port, &mut frame);
        if self.network.telemetry.is_some() {
            let waiting_bytes = self.buffer.waiting_bytes(port);
            self.network.collect(&frame, self.egress.hop(frame.at, port, waiting_bytes));
        }
        self.egress.shape(frame.at, port, frame.class, frame.size_bytes);
        frame.at = self.egress.start(frame.at, port, frame.size_bytes);
        window.send(port, OnWire(frame));
    }

    /// Sends a MAC control frame of our own, ahead of every queue.
    pub fn send_control(&mut self, now: Time, port: u16, frame: Frame, window: &mut Window<'_, OnWire>) {
        let Core { egress, buffer, books, .. } = self;
        egress.judge_before_control(now, port, |class| buffer.head(port, class), books);
        egress.send_control(now, port, frame, books, window);
    }

    /// A frame on its way to `crossing.egress` is gone; the ledger says why.
    #[cold]
    pub fn lose(&mut self, crossing: Crossing, frame: &Frame, cause: Cause) -> Outcome {
        self.books.lose(crossing.in_port, crossing.in_class, frame, cause);
        Outcome::Dropped { egress: Some(crossing.egress), cause }
    }

    /// A frame is gone before it was known where it goes.
    #[cold]
    pub fn lose_early(&mut self, in_port: u16, frame: &Frame, cause: Cause) -> Outcome {
        self.books.lose(in_port, frame.class, frame, cause);
        Outcome::Dropped { egress: None, cause }
    }

    /// Why a frame is lost that finds no room: what flow control promises, it promises among those who take part.
    #[cold]
    pub fn cause_without_room(&self, crossing: Crossing, frame: &Frame) -> Cause {
        let network = &self.network;
        if network.switch.flow_control.lossless() & (1 << crossing.class) == 0 {
            return no_room(frame);
        }
        let peer = network.fabric.ports(self.node).get(usize::from(crossing.in_port)).map(|port| port.peer);
        let reached = network.takes_part(self.node) && peer.is_none_or(|peer| network.takes_part(peer));
        if reached { Cause::LosslessNoRoom } else { Cause::OutsideFlowControl }
    }

    /// A frame finds no room, and nobody does anything about it.
    #[cold]
    pub fn lose_without_room(&mut self, crossing: Crossing, frame: &Frame) -> Outcome {
        let cause = self.cause_without_room(crossing, frame);
        self.lose(crossing, frame, cause)
    }
}

/// Sends on a copy of `frame`, which arrives `at` by the wire of `port`, at once.
#[inline(always)] // as Core::forward
pub(super) fn put_on_wire(frame: &Frame, port: u16, at: Time, window: &mut Window<'_, OnWire>) {
    // An idle port is empty: whatever theta is, nothing bounces there.
    let distance = frame.distance.saturating_sub(1);
    let OnWire(slot) = window.slot(port, at);
    *slot = *frame;
    (slot.at, slot.ttl, slot.hops) = (at, frame.ttl - 1, frame.hops.saturating_add(1));
    slot.distance = distance;
}

/// Why a frame is lost that finds no room in a lossy queue.
pub(super) fn no_room(frame: &Frame) -> Cause {
    if matches!(frame.kind, Kind::Trimmed | Kind::Returned) { Cause::HeaderNoRoom } else { Cause::NoRoom }
}

/// What marks frames at `at`, by port; none where no port of `node` marks then.
fn markers(network: &Network, node: NodeId, at: MarkAt) -> Box<[Marker]> {
    let ports = 0..network.fabric.ports(node).len();
    let marker = |port: usize| match network.port_of(node, port as u16).marking {
        Marking::Ecn { k_min_bytes, k_max_bytes, p_max, of_rate, at: when } if when == at => {
            let marker = Marker::new(k_min_bytes, k_max_bytes, p_max);
            let rate = network.fabric.link(network.fabric.ports(node)[port].link).rate;
            Some(of_rate.map_or(marker, |of| marker.in_proportion(of, rate)))
        }
        _ => None,
    };
    let by_port: Vec<Option<Marker>> = ports.map(marker).collect();
    if by_port.iter().all(Option::is_none) {
        return Box::default();
    }
    by_port.into_iter().map(|marker| marker.unwrap_or(Marker::NEVER)).collect()
}
