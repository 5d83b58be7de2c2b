//! Transmission at a host's ports.

use super::flows::{FlowState, Outgoing, Senders};
use super::nic::PortQueues;
use super::{Host, HostIdentity};
use crate::clock::global;
use crate::egress::{Cell, Egress, Eligibility, Head, block};
use crate::network::Network;
use crate::on_wire::{OnWire, put_on_wire};
use crate::parameters::Spread;
use engine::Window;
use protocols::endpoint::{Offer, Segment};
use protocols::frame::{Detail, Frame, Kind, flags};
use units::{Time, WIRE_OVERHEAD_BYTES};

impl Host {
    pub(super) fn slot_of(&self, class: u8) -> usize {
        usize::from(self.network.class_slot[usize::from(class)])
    }

    /// Appends the flow in `slot` to its ready ring; it has been ready since `since`.
    #[inline(always)] // hot: runs for every packet of a paced flow
    pub(super) fn make_ready(&mut self, since: Time, slot: u32) {
        let Host { senders, port_queues, egress, network, .. } = self;
        let flow = &mut senders.flows[slot as usize];
        flow.ready_since = since;
        make_ready(flow, slot, port_queues, egress, network);
    }

    /// Queues a complete frame: in the queue of its flow if the flow is held, otherwise in the queue of its class.
    pub(super) fn queue_frame(&mut self, now: Time, port: u16, frame: Frame) {
        if self.stats.tracer.is_some() {
            self.note_created(now, port, &frame);
        }
        if self.flow_blocks.is_none() || !self.queue_if_held(now, port, &frame) {
            self.queue_now(now, port, frame);
        }
    }

    /// Queues a complete frame, even if its flow is held.
    pub(super) fn queue_now(&mut self, now: Time, port: u16, mut frame: Frame) {
        frame.at = now;
        if self.stats.tracer.is_some() {
            self.note_queued(now, port, &frame);
        }
        let class_slot = self.slot_of(frame.class);
        self.port_queues[usize::from(port)].classes[class_slot].frames.push(frame);
        self.egress.cell_mut(port).waiting |= 1 << frame.class;
    }

    /// Transmits the next frame of `port` if its wire is free, and schedules the port.
    pub(super) fn serve(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let &Cell { busy_until, waiting, block_reasons, .. } = self.egress.cell(port);
        if busy_until > now {
            return self.egress.due.set(port, busy_until);
        }
        if waiting == 0 && block_reasons == 0 && self.port_queues[usize::from(port)].paced.first().is_none() {
            return self.egress.due.set(port, Time::MAX);
        }
        if !(self.egress.is_unconstrained(port) && self.send_only_paced(now, port, window)) {
            self.serve_queues(now, port, window);
        }
    }

    /// Like [`Host::serve`], for a free wire for which several flows or frames may compete.
    #[inline(never)]
    fn serve_queues(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) {
        let &Cell { block_reasons, busy_until, .. } = self.egress.cell(port);
        if block_reasons & block::DOWN != 0 {
            return self.egress.due.set(port, Time::MAX); // the repair schedules the port
        }
        self.release_paced(now, port);
        if block_reasons & block::CONTROL != 0 {
            self.judge_before_control(now, port);
            self.egress.send_next_control(now, port, |_| 0, &mut self.stats, window);
            return self.egress.due.set(port, self.egress.cell(port).busy_until);
        }
        let unblocked = block_reasons & block::BLOCKS == 0 && self.egress.is_strict();
        if unblocked && busy_until < now && self.egress.cell(port).waiting != 0 {
            self.judge_waiting(now, port);
        }
        let again = loop {
            let next_class = if unblocked {
                Eligibility::Now(self.egress.cell(port).waiting)
            } else {
                self.eligible_classes(now, port)
            };
            let class = match next_class {
                Eligibility::Now(0) => break Time::MAX,
                Eligibility::Now(ready) => self.egress.pick(port, ready),
                Eligibility::At(at) => break at,
            };
            if self.send_one(now, port, class, window) {
                break self.next_service(port);
            }
        };
        self.schedule_port(port, again);
    }

    /// Returns the waiting classes of `port` that may send on its free wire, after checking pauses, credits and gates.
    #[inline(never)]
    fn eligible_classes(&mut self, now: Time, port: u16) -> Eligibility {
        let Host { egress, port_queues, network, stats, senders, .. } = self;
        let head = head_of(&port_queues[usize::from(port)], egress.cell(port).block_reasons, senders, network);
        egress.eligible(now, port, head, stats)
    }

    /// Checks that the frames waiting for the free wire of `port` could not have started before `now`.
    #[cold]
    #[inline(never)]
    fn judge_waiting(&mut self, now: Time, port: u16) {
        let Host { egress, port_queues, network, stats, senders, .. } = self;
        let head = head_of(&port_queues[usize::from(port)], egress.cell(port).block_reasons, senders, network);
        egress.check_waiting(now, port, head, stats);
    }

    /// Checks work conservation of the waiting frames before `port` sends a MAC control frame at once.
    pub(super) fn judge_before_control(&mut self, now: Time, port: u16) {
        let Host { egress, port_queues, network, stats, senders, .. } = self;
        let head = head_of(&port_queues[usize::from(port)], egress.cell(port).block_reasons, senders, network);
        egress.check_before_control(now, port, head, stats);
    }

    /// Checks that the flow in `slot`, paced until `at`, could not have sent before `now`.
    #[cold]
    #[inline(never)]
    fn judge_paced(&mut self, now: Time, port: u16, slot: u32, at: Time) {
        let flow = &self.senders.flows[slot as usize];
        let size_bytes = flow.next_frame_bytes().unwrap_or(self.network.host.mtu_bytes);
        self.egress.check_frame(now, port, flow.class, Head { size_bytes, since: at }, &mut self.stats);
    }

    /// Returns the first frame of each class that waits for `port`.
    pub(crate) fn head_of(&self, port: u16) -> impl Fn(u8) -> Option<Head> {
        head_of(
            &self.port_queues[usize::from(port)],
            self.egress.cell(port).block_reasons,
            &self.senders,
            &self.network,
        )
    }

    /// Returns the number of complete frames and ready flows that wait for `port`.
    pub(crate) fn backlog(&self, port: u16) -> u64 {
        self.port_queues[usize::from(port)]
            .classes
            .iter()
            .map(|class_queues| (class_queues.frames.len() + class_queues.ready.len()) as u64)
            .sum()
    }

    /// Checks work conservation of all frames that wait for a port when the run ends at `now`.
    pub(crate) fn judge_at_end(&mut self, now: Time) {
        self.resume_poll(now);
        for port in 0..self.egress.len() as u16 {
            let Host { egress, port_queues, network, stats, senders, .. } = self;
            let queues = &port_queues[usize::from(port)];
            egress.check_at_end(now, port, head_of(queues, egress.cell(port).block_reasons, senders, network), stats);
            if let Some((at, slot, generation)) = queues.paced.first()
                && at < now
                && senders.flows[slot as usize].is_paced(generation)
            {
                self.judge_paced(now, port, slot, at);
            }
        }
    }

    /// Schedules `port` for `again`, or earlier for its first paced flow.
    #[inline(always)] // hot: runs for every packet, like make_ready
    fn schedule_port(&mut self, port: u16, mut again: Time) {
        if let Some((at, ..)) = self.port_queues[usize::from(port)].paced.first() {
            again = again.min(at.max(self.egress.cell(port).busy_until));
        }
        self.egress.due.set(port, again);
    }

    /// Returns whether a frame may use the wire of `port` at `now` without queuing: it is free, and no other frame
    /// waits.
    #[inline]
    pub(super) fn can_bypass_queues(&self, now: Time, port: u16) -> bool {
        let paced = self.port_queues[usize::from(port)].paced.first().is_some_and(|(at, ..)| at <= now);
        let free = self.egress.cell(port).busy_until <= now && self.egress.is_unconstrained(port);
        free && !paced && self.flow_blocks.is_none()
    }

    /// Sends a frame of this class and length by `port`, which [must be free](Self::can_bypass_queues). `make` creates
    /// the frame from its arrival time. The result equals that of queuing the frame.
    #[inline]
    pub(super) fn send_bypass(
        &mut self,
        now: Time,
        port: u16,
        (class, size_bytes): (u8, u16),
        make: impl FnOnce(Time) -> Frame,
        window: &mut Window<'_, OnWire>,
    ) {
        let at = self.egress.commit(now, port, class, size_bytes);
        // The frame is built in place, because a copy directly after the stores of its fields would stall (failed store
        // forwarding).
        *window.send_slot(port, at) = OnWire(make(at));
        self.schedule_port(port, Time::MAX);
    }

    /// Sends a frame of the only paced flow of `port`, if it is due. Returns whether a frame was sent; if not, the
    /// state of the flow is that after a poll from the ready ring.
    #[inline(always)] // hot: runs for every packet, like make_ready
    fn send_only_paced(&mut self, now: Time, port: u16, window: &mut Window<'_, OnWire>) -> bool {
        if self.flow_blocks.is_some() {
            return false;
        }
        let Some((at, slot, generation)) = self.port_queues[usize::from(port)].paced.pop_only(now) else {
            return false;
        };
        let flow = &mut self.senders.flows[slot as usize];
        if !flow.is_paced(generation) {
            return false;
        }
        flow.state = FlowState::Ready;
        let class = flow.class;
        if at < now {
            self.judge_paced(now, port, slot, at);
        }
        let sent = self.send_flow(now, port, class, slot, window);
        if sent {
            let again = self.next_service(port);
            self.schedule_port(port, again);
        }
        sent
    }

    /// Lets the flow in `slot`, which was idle, send. It is polled directly if the wire is free and no other frame
    /// waits; the result equals that of a poll from the ready ring.
    pub(super) fn resume_flow(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        let flow = &self.senders.flows[slot as usize];
        let (port, class) = (flow.port, flow.class);
        if !self.can_bypass_queues(now, port) {
            self.make_ready(now, slot);
            return self.serve(now, port, window);
        }
        self.senders.flows[slot as usize].state = FlowState::Ready;
        if self.send_flow(now, port, class, slot, window) {
            let again = self.next_service(port);
            self.schedule_port(port, again);
        } else {
            self.serve(now, port, window);
        }
    }

    fn release_paced(&mut self, now: Time, port: u16) {
        let index = usize::from(port);
        while let Some((at, slot, generation)) = self.port_queues[index].paced.first() {
            if at > now {
                break;
            }
            self.port_queues[index].paced.pop();
            if self.senders.flows[slot as usize].is_paced(generation) {
                if at < now {
                    self.judge_paced(now, port, slot, at);
                }
                self.make_ready(at, slot);
            }
        }
    }

    /// Sends one frame of `class`. Returns false if the selected flow had no frame to send.
    fn send_one(&mut self, now: Time, port: u16, class: u8, window: &mut Window<'_, OnWire>) -> bool {
        let class_slot = self.slot_of(class);
        let class_queues = &mut self.port_queues[usize::from(port)].classes[class_slot];
        // Complete frames precede the flows of their class.
        if let Some(frame) = class_queues.frames.front() {
            let at = self.egress.commit(now, port, class, frame.size_bytes);
            put_on_wire(frame, port, at, window);
            if self.stats.tracer.is_some() {
                self.note_queue_sent(now, port, class_slot, at);
            }
            let class_queues = &mut self.port_queues[usize::from(port)].classes[class_slot];
            class_queues.frames.drop_front();
            if class_queues.is_empty() {
                self.egress.cell_mut(port).waiting &= !(1 << class);
            }
            return true;
        }
        let next = class_queues.ready.pop();
        if class_queues.is_empty() {
            self.egress.cell_mut(port).waiting &= !(1 << class);
        }
        let Some((slot, generation)) = next else { return false };
        let flow = &self.senders.flows[slot as usize];
        if !flow.active || flow.generation != generation {
            return false; // the flow ended while it was in the ready ring
        }
        if self.flow_blocks.is_some()
            && let Some(until) = self.hold_time(now, port, slot, flow.dst)
        {
            self.pace(slot, until.max(now + Time::from_ps(1)));
            self.senders.flows[slot as usize].state = FlowState::Held;
            return false;
        }
        self.send_flow(now, port, class, slot, window)
    }

    /// Polls the flow in `slot`, which was selected in `class`, and sends the frame that it offers. Returns false if no
    /// frame was sent.
    #[inline(always)] // hot: runs for every packet, like make_ready
    fn send_flow(&mut self, now: Time, port: u16, class: u8, slot: u32, window: &mut Window<'_, OnWire>) -> bool {
        match self.poll(now, slot) {
            Offer::Send(segment) if segment.class.is_some_and(|own| own != class) => {
                self.send_in_other_class(now, slot, &segment);
                false
            }
            Offer::Send(segment) if segment.flags & flags::LAST != 0 => {
                self.send_last(now, port, slot, segment, window);
                true
            }
            Offer::Send(segment) => {
                self.send_segment(now, port, slot, &segment, window);
                true
            }
            Offer::At(at) => {
                // At least 1 ps later, because a second poll at the same instant would return the same offer.
                self.pace(slot, at.max(now + Time::from_ps(1)));
                self.update_sender_timer(slot);
                false
            }
            Offer::Blocked => {
                self.senders.flows[slot as usize].state = FlowState::Idle;
                self.update_sender_timer(slot);
                false
            }
            Offer::Done => {
                self.finish(now, slot, window);
                false
            }
        }
    }

    /// Sends the last segment of the flow in `slot`, or of a message of its connection.
    #[inline(never)]
    fn send_last(&mut self, now: Time, port: u16, slot: u32, mut segment: Segment, window: &mut Window<'_, OnWire>) {
        self.end_message(slot, &mut segment);
        self.send_segment(now, port, slot, &segment, window);
        if self.senders.flows[slot as usize].outbox.is_some() {
            self.extend_sender(now, slot, window);
        }
    }

    /// Sends the frame of `segment` of the flow in `slot`. Not inlined, because inlining would copy the segment before
    /// the frame is written.
    #[inline(never)]
    fn send_segment(&mut self, now: Time, port: u16, slot: u32, segment: &Segment, window: &mut Window<'_, OnWire>) {
        if self.flow_blocks.is_some() {
            let dst = self.senders.flows[slot as usize].dst;
            self.note_sent(now, port, dst, segment.size_bytes);
        }
        let Host { senders, port_queues, egress, network, random, stats, identity, .. } = self;
        let HostIdentity { clock, index, .. } = identity;
        let flow = &mut senders.flows[slot as usize];
        let mut entropy = flow.entropy;
        if let Some(paths) = &mut flow.paths {
            entropy = paths.take(random);
        } else if network.routing.spread == Spread::PerPacket && !flow.path {
            // A Weyl sequence gives each frame a new entropy value, which the switches hash.
            flow.entropy = entropy.wrapping_add(0x9e37_79b9);
        }
        if let Some(chosen) = segment.entropy
            && !flow.path
        {
            entropy = chosen;
        }
        let class = flow.class;
        let at = egress.commit(now, port, class, segment.size_bytes);
        // The frame is built in place, because a copy directly after the stores of its fields would stall (failed store
        // forwarding).
        let OnWire(frame) = window.send_slot(port, at);
        *frame = Frame { at, ..frame_of(network, *index, flow, segment, (class, entropy)) };
        if let Some(tracer) = &mut stats.tracer {
            tracer.note_segment(now, global(clock.as_ref(), segment.stamp), port, frame);
        }
        stats.counters.packets.injected.count(u64::from(segment.size_bytes));
        if segment.flags & flags::RETRANSMISSION != 0 {
            stats.counters.retransmissions += 1;
            stats.counters.retransmitted_bytes += u64::from(segment.payload_bytes);
        }
        let timer = flow.earlier_timer(clock.as_ref());
        if segment.next > egress.cell(port).busy_until {
            pace(flow, slot, segment.next, port_queues);
        } else {
            flow.ready_since = now;
            make_ready(flow, slot, port_queues, egress, network);
        }
        if segment.waits {
            self.skip_poll(port);
        }
        if let Some(at) = timer {
            self.set_sender_timer(slot, at);
        }
    }

    /// Queues a segment of the flow in `slot` whose class differs from that of the flow. The flow is then paced by the
    /// serialisation delay of the frame, so that it does not fill the queue of the other class faster than the line
    /// rate.
    #[cold]
    fn send_in_other_class(&mut self, now: Time, slot: u32, segment: &Segment) {
        let flow = &self.senders.flows[slot as usize];
        let (port, class) = (flow.port, segment.class.unwrap_or(flow.class));
        let entropy = segment.entropy.filter(|_| !flow.path).unwrap_or(flow.entropy);
        let frame = frame_of(&self.network, self.identity.index, flow, segment, (class, entropy));
        self.stats.counters.packets.injected.count(u64::from(segment.size_bytes));
        self.queue_frame(now, port, frame);
        let wire_bytes = u64::from(segment.size_bytes) + WIRE_OVERHEAD_BYTES;
        let sent = now + self.egress.state(port).link.rate.serialise(wire_bytes);
        self.update_sender_timer(slot);
        self.pace(slot, segment.next.max(sent));
    }

    /// Paces the flow in `slot` until `at`.
    #[inline(always)] // hot: runs for every packet, like make_ready
    fn pace(&mut self, slot: u32, at: Time) {
        pace(&mut self.senders.flows[slot as usize], slot, at, &mut self.port_queues);
    }
}

/// Returns the first frame of each class at a port with these `reasons`. The next frame of a transport is created by a
/// poll, so its length is assumed to be the maximum. For gates the exact length matters, which sources of datagrams
/// provide.
fn head_of(queues: &PortQueues, reasons: u8, senders: &Senders, network: &Network) -> impl Fn(u8) -> Option<Head> {
    move |class| {
        let class_queues = &queues.classes[usize::from(network.class_slot[usize::from(class)])];
        let first = class_queues.ready.front().map(|&(slot, _)| &senders.flows[slot as usize]);
        if let Some(frame) = class_queues.frames.front() {
            return Some(Head::of(frame));
        }
        let size_bytes = first.filter(|_| reasons & block::TIMED != 0).and_then(Outgoing::next_frame_bytes);
        let since = first.map_or(Time::MAX, |flow| flow.ready_since);
        Some(Head { size_bytes: size_bytes.unwrap_or(network.host.mtu_bytes), since })
    }
}

/// Paces `flow`, which is in `slot`, until `at`.
#[inline(always)] // hot: runs for every packet, like Host::make_ready
fn pace(flow: &mut Outgoing, slot: u32, at: Time, port_queues: &mut [PortQueues]) {
    flow.state = FlowState::Paced;
    port_queues[usize::from(flow.port)].paced.push((at, slot, flow.generation));
}

/// Appends `flow`, which is in `slot`, to its ready ring.
#[inline(always)] // hot: runs for every packet, like Host::make_ready
fn make_ready(flow: &mut Outgoing, slot: u32, port_queues: &mut [PortQueues], egress: &mut Egress, network: &Network) {
    flow.state = FlowState::Ready;
    let class_slot = usize::from(network.class_slot[usize::from(flow.class)]);
    port_queues[usize::from(flow.port)].classes[class_slot].ready.push((slot, flow.generation));
    egress.cell_mut(flow.port).waiting |= 1 << flow.class;
}

/// Returns the frame of `segment` of `flow` of host `index`, in `class`, with `entropy` for the path.
#[inline(always)] // hot: runs once per segment
fn frame_of(network: &Network, index: u32, flow: &Outgoing, segment: &Segment, (class, entropy): (u8, u32)) -> Frame {
    Frame {
        stamp: segment.stamp,
        seq: segment.seq,
        detail: detail_of(network, index, segment, flow.start),
        flow: flow.flow,
        src: index,
        dst: flow.dst,
        entropy,
        size_bytes: segment.size_bytes,
        payload_bytes: segment.payload_bytes,
        kind: segment.kind,
        class,
        in_class: class,
        flags: segment.flags | if flow.path { flags::EXPLICIT_PATH } else { 0 },
        ttl: network.host.ttl,
        traffic: flow.traffic,
        ..Frame::default()
    }
}

/// Returns the detail word for `segment` of host `index`; `start` is the start of its flow.
#[inline]
fn detail_of(network: &Network, index: u32, segment: &Segment, start: Time) -> Detail {
    if segment.flags & flags::COLLECTS != 0
        && let Some(telemetry) = &network.telemetry
    {
        return Detail::record(telemetry.open(index, &[]));
    }
    if segment.kind == Kind::Data { segment.detail.or(Detail::flow_start(start)) } else { segment.detail }
}
