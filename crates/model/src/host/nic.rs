//! A host's port: whose frame goes next.

use super::Host;
use super::flows::FlowState;
use crate::link::Attachment;
use crate::network::Network;
use crate::node::OnWire;
use crate::parameters::Scheduler;
use crate::parameters::Spread;
use engine::{Ring, Window};
use fabric::PortPeer;
use protocols::cbfc::CreditPort;
use protocols::endpoint::Offer;
use protocols::florax::Pair;
use protocols::frame::{Detail, Frame, Kind, flags};
use protocols::pause::PauseState;
use protocols::scheduler::ClassScheduler;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{Time, WIRE_OVERHEAD_BYTES};

/// One port with the flows that leave by it.
#[derive(Debug)]
pub(crate) struct Port {
    pub busy_until: Time,
    pub link: Attachment,
    pub pause: PauseState,
    /// On a link under credits.
    pub credit: Option<Box<CreditPort>>,
    pub turn: ClassScheduler,
    /// The pause-storm fault: its card sends a pause as soon as the wire is free.
    pub(super) storms: bool,
    /// Frames that are made already: replies, and what this host relays. By slot of the class.
    pub(super) frames: Vec<Ring<Frame>>,
    /// Flows that may have something to send, as (slot, generation), by slot of the class, in
    /// round-robin order.
    ready: Vec<Ring<(u32, u32)>>,
    /// Classes with a frame or a ready flow.
    pub(super) waiting: u8,
    /// Flows that wait for their next instant: time, slot, generation.
    paced: BinaryHeap<Reverse<(Time, u32, u32)>>,
    pub sent_frames: u64,
    pub sent_bytes: u64,
}

impl Port {
    pub fn new(network: &Network, peer: &PortPeer) -> Self {
        let turn = match network.switch.scheduler {
            Scheduler::Strict => ClassScheduler::Strict,
            Scheduler::Wrr { weights } => ClassScheduler::wrr(weights),
            Scheduler::Drr { quantum_bytes } => ClassScheduler::drr(quantum_bytes),
        };
        let slots = network.classes.len();
        let link = Attachment::new(network.fabric.link(peer.link), false);
        Port {
            busy_until: Time::ZERO,
            credit: network.credits(network.fabric.link(peer.link)),
            link,
            pause: PauseState::default(),
            storms: false,
            turn,
            frames: vec![Ring::new(); slots],
            ready: vec![Ring::new(); slots],
            waiting: 0,
            paced: BinaryHeap::new(),
            sent_frames: 0,
            sent_bytes: 0,
        }
    }

    /// Asks the processor for what the port will look at first.
    pub fn approach(&self) {
        engine::prefetch(&self.ready[..]);
        engine::prefetch(&self.frames[..]);
        if let Some(first) = self.paced.peek() {
            engine::prefetch(first);
        }
    }

    /// Takes out the made frames of `pair`, in order.
    #[cold]
    pub fn take_frames(&mut self, pair: Pair, mut to: impl FnMut(Frame)) {
        for ring in &mut self.frames {
            for _ in 0..ring.len() {
                match ring.pop() {
                    Some(frame) if pair.covers(frame.src, frame.dst) => to(frame),
                    Some(frame) => ring.push(frame),
                    None => {}
                }
            }
        }
    }

    /// The frames that wait in a class, the oldest first.
    pub fn queued(&self, class_slot: usize) -> impl Iterator<Item = &Frame> {
        self.frames[class_slot].iter()
    }

    /// Time that the classes of this port together were stopped, or short of credits, up to `now`.
    pub fn total_held(&self, now: Time) -> Time {
        self.pause.total_stopped(now) + self.credit.as_ref().map_or(Time::ZERO, |credit| credit.total_waited(now))
    }

    pub fn waiting_frames(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().flat_map(|ring| ring.iter())
    }
}

impl Host {
    pub(super) fn slot_of(&self, class: u8) -> usize {
        usize::from(self.network.class_slot[usize::from(class)])
    }

    /// The flow in `slot` gets a turn again.
    pub(super) fn enter_round(&mut self, slot: u32) {
        let flow = &mut self.outgoing[slot as usize];
        flow.state = FlowState::Ready;
        let (class, port, generation) = (flow.class, flow.port, flow.generation);
        let class_slot = self.slot_of(class);
        let port = &mut self.ports[usize::from(port)];
        port.ready[class_slot].push((slot, generation));
        port.waiting |= 1 << class;
    }

    /// Queues a frame that is made already.
    pub(super) fn queue_frame(&mut self, now: Time, port: u16, frame: Frame) {
        if self.holds.is_none() || !self.hold_back(now, port, &frame) {
            self.queue_now(now, port, frame);
        }
    }

    /// Queues a frame, whether or not its flow is held.
    pub(super) fn queue_now(&mut self, now: Time, port: u16, mut frame: Frame) {
        frame.at = now;
        if self.tracer.is_some() {
            self.note_queued(now, port, &frame);
        }
        let class_slot = self.slot_of(frame.class);
        let port = &mut self.ports[usize::from(port)];
        port.frames[class_slot].push(frame);
        port.waiting |= 1 << frame.class;
    }

    /// If the wire is free, puts the next frame on it; then notes when to look again.
    pub(super) fn serve(&mut self, now: Time, port_index: u16, window: &mut Window<'_, OnWire>) {
        let index = usize::from(port_index);
        if self.ports[index].busy_until > now {
            let free = self.ports[index].busy_until;
            if self.due.at(port_index) > free {
                self.due.set(port_index, free);
            }
            return;
        }
        if self.ports[index].link.down {
            return; // its repair looks again
        }
        self.release_paced(now, index);
        let mut again = Time::MAX;
        let credited = self.ports[index].credit.is_some();
        if credited && self.send_credit(now, port_index, window) {
            return self.due.set(port_index, self.ports[index].busy_until);
        }
        if self.ports[index].storms {
            self.send_storm_pause(now, port_index, window);
            return self.due.set(port_index, self.ports[index].busy_until);
        }
        loop {
            let short = if credited { self.short_of_credit(now, port_index) } else { 0 };
            let port = &mut self.ports[index];
            let ready = port.waiting & !port.pause.blocked(now) & !short;
            let Some(class) = port.turn.pick(ready) else {
                if port.waiting != 0 {
                    again = port.pause.ask_again_at(port.waiting);
                }
                break;
            };
            if self.send_one(now, port_index, class, window) {
                let port = &self.ports[index];
                if port.waiting != 0 {
                    again = port.busy_until;
                }
                break;
            }
        }
        let port = &self.ports[index];
        if let Some(Reverse((at, ..))) = port.paced.peek() {
            again = again.min((*at).max(port.busy_until));
        }
        self.due.set(port_index, again);
    }

    /// Puts a MAC control frame of this host's own on the free wire of a port, ahead of all that waits.
    pub(super) fn put_control(
        &mut self,
        now: Time,
        port_index: u16,
        mut frame: Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        if let Some(tracer) = &mut self.tracer {
            tracer.sees_out(now, port_index, &frame);
        }
        let port = &mut self.ports[usize::from(port_index)];
        let (busy, arrives) = port.link.occupy(frame.size_bytes);
        port.busy_until = now + busy;
        port.sent_frames += 1;
        port.sent_bytes += u64::from(frame.size_bytes);
        frame.at = now + arrives;
        self.ledger.control_sent += 1;
        window.send(port_index, OnWire(frame));
    }

    fn release_paced(&mut self, now: Time, index: usize) {
        while let Some(&Reverse((at, slot, generation))) = self.ports[index].paced.peek() {
            if at > now {
                break;
            }
            self.ports[index].paced.pop();
            let flow = &self.outgoing[slot as usize];
            if flow.active && flow.generation == generation && matches!(flow.state, FlowState::Paced | FlowState::Held)
            {
                self.enter_round(slot);
            }
        }
    }

    /// Sends one frame of `class`; false if the flow whose turn it was had nothing to send.
    fn send_one(&mut self, now: Time, port_index: u16, class: u8, window: &mut Window<'_, OnWire>) -> bool {
        let class_slot = self.slot_of(class);
        let port = &mut self.ports[usize::from(port_index)];
        let clear = |port: &mut Port| {
            if port.frames[class_slot].is_empty() && port.ready[class_slot].is_empty() {
                port.waiting &= !(1 << class);
            }
        };
        if let Some(frame) = port.frames[class_slot].front() {
            let size_bytes = frame.size_bytes;
            let at = self.occupy(now, port_index, class, size_bytes);
            if self.tracer.is_some() {
                self.note_queue_sent(now, port_index, class_slot, at);
            }
            let port = &mut self.ports[usize::from(port_index)];
            if let Some(frame) = port.frames[class_slot].front() {
                window.send_with(port_index, |slot| {
                    slot.0 = *frame;
                    slot.0.at = at;
                });
            }
            port.frames[class_slot].drop_front();
            clear(port);
            return true;
        }
        let Some((slot, generation)) = port.ready[class_slot].pop() else {
            clear(port);
            return false;
        };
        clear(port);
        let flow = &self.outgoing[slot as usize];
        if !flow.active || flow.generation != generation {
            return false; // the flow ended while it waited for its turn
        }
        if self.holds.is_some()
            && let Some(until) = self.held_until(now, port_index, slot, flow.dst)
        {
            self.pace(slot, until.max(now + Time::from_ps(1)));
            self.outgoing[slot as usize].state = FlowState::Held;
            return false;
        }
        match self.poll(now, slot) {
            Offer::Send(segment) => {
                let flow = &mut self.outgoing[slot as usize];
                let path = if flow.path { flags::EXPLICIT_PATH } else { 0 };
                let mut entropy = flow.entropy;
                if let Some(paths) = &mut flow.paths {
                    entropy = paths.take(&mut self.random);
                } else if self.network.spread == Spread::PerPacket && path == 0 {
                    // A Weyl sequence: every frame another number; the switches mix it.
                    flow.entropy = entropy.wrapping_add(0x9e37_79b9);
                }
                let (flow_number, dst, class, traffic) = (flow.flow, flow.dst, flow.class, flow.traffic);
                let detail = segment.detail.or(Detail::flow_start(flow.start));
                let (ttl, src) = (self.network.host.ttl, self.index);
                let at = self.occupy(now, port_index, class, segment.size_bytes);
                if self.holds.is_some() {
                    self.note_sent(now, port_index, dst, segment.size_bytes);
                }
                let tracer = &mut self.tracer;
                window.send_with(port_index, |frame| {
                    frame.0 = Frame {
                        at,
                        stamp: segment.stamp,
                        seq: segment.seq,
                        detail,
                        flow: flow_number,
                        src,
                        dst,
                        entropy,
                        size_bytes: segment.size_bytes,
                        payload_bytes: segment.payload_bytes,
                        kind: Kind::Data,
                        class,
                        in_class: class,
                        flags: segment.flags | path,
                        ttl,
                        traffic,
                        ..Frame::default()
                    };
                    if let Some(tracer) = tracer {
                        tracer.note_segment(now, port_index, &frame.0);
                    }
                });
                self.ledger.packets.injected.count(u64::from(segment.size_bytes));
                if segment.flags & flags::RETRANSMISSION != 0 {
                    self.ledger.retransmissions += 1;
                    self.ledger.retransmitted_bytes += u64::from(segment.payload_bytes);
                }
                self.update_sender_timer(slot);
                if segment.next > self.ports[usize::from(port_index)].busy_until {
                    self.pace(slot, segment.next);
                } else {
                    self.enter_round(slot);
                }
                true
            }
            Offer::At(at) => {
                self.pace(slot, at.max(now + Time::from_ps(1)));
                self.update_sender_timer(slot);
                false
            }
            Offer::Blocked => {
                self.outgoing[slot as usize].state = FlowState::Idle;
                self.update_sender_timer(slot);
                false
            }
            Offer::Done => {
                self.finish(now, slot, window);
                false
            }
        }
    }

    /// The flow in `slot` waits until `at`.
    fn pace(&mut self, slot: u32, at: Time) {
        let flow = &mut self.outgoing[slot as usize];
        flow.state = FlowState::Paced;
        let (port, generation) = (usize::from(flow.port), flow.generation);
        self.ports[port].paced.push(Reverse((at, slot, generation)));
    }

    /// Occupies the free wire of a port with a frame; returns when it will have arrived.
    #[inline]
    fn occupy(&mut self, now: Time, port_index: u16, class: u8, size_bytes: u16) -> Time {
        let port = &mut self.ports[usize::from(port_index)];
        debug_assert!(port.busy_until <= now, "two frames on one wire");
        port.turn.charge(class, u64::from(size_bytes) + WIRE_OVERHEAD_BYTES);
        if let Some(credit) = &mut port.credit {
            credit.spend(class, u64::from(size_bytes));
        }
        let (busy, arrives) = port.link.occupy(size_bytes);
        port.busy_until = now + busy;
        port.sent_frames += 1;
        port.sent_bytes += u64::from(size_bytes);
        now + arrives
    }
}
