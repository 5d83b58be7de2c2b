//! Reception of frames at a host.

use super::flows::{Completed, Delivery, FlowReport, FlowSource, FlowState, Incoming, with_ctx};
use super::messages::Inbox;
use super::reorder::ReorderState;
use super::timers::Event;
use super::{Host, ingress};
use crate::clock::{as_seen, global, local};
use crate::on_wire::OnWire;
use crate::parameters::Spread;
use check::ReorderDensity;
use check::conservation::Cause;
use check::order::OrderWatch;
use engine::Window;
use fabric::routing::{flow_hash, select};
use protocols::datagram::HEADER_BYTES;
use protocols::endpoint::{Receiver, Reply, Sender};
use protocols::frame::{Detail, Frame, Kind, flags};
use protocols::transport::{ReceiverState, TransportParameters};
use traffic::{FlowEvent, FrameLengths, LengthDistribution, Load};
use units::Time;

/// A complete flow is remembered for twice the longest timeout of its transport plus this time, which is the maximum
/// lifetime of a frame in the network.
const LINGER: Time = Time::from_ms(10);

/// Destination of replies, and the port by which they leave.
#[derive(Clone, Copy)]
pub(super) struct ReplyTo {
    port: u16,
    dst: u32,
    flow: u32,
    /// Class of the data.
    class: u8,
    traffic: u8,
}

impl Host {
    #[inline]
    pub(super) fn arrive(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let now = frame.at;
        if frame.kind == Kind::Trigger {
            return self.notified(now, frame.flow);
        }
        self.stats.counters.hops += 1;
        let features = self.egress.cell(in_port).ingress;
        if features & ingress::LOSSY_LINK != 0
            && let Some(cause) = self.egress.state(in_port).link.verdict(frame, &mut self.random)
        {
            self.stats.count_loss(frame, cause);
            if !frame.is_mac_control() {
                self.note_loss(frame, Some(in_port), cause);
            }
            return;
        }
        if self.stats.tracer.is_some() {
            self.note_arrival(in_port, frame);
        }
        if features & ingress::CREDITED != 0 && !frame.is_mac_control() {
            self.take_room(in_port, frame, window);
        }
        if frame.kind == Kind::Data && frame.dst == self.identity.index {
            return self.on_data(in_port, frame, window);
        }
        match frame.kind {
            Kind::Credit => self.on_credit(in_port, frame, window),
            Kind::Xoff | Kind::Xon => self.on_xoff(in_port, frame, window),
            _ if frame.is_mac_control() => self.on_pause(in_port, frame),
            _ if frame.dst != self.identity.index => self.relay(*frame, in_port, window),
            Kind::Data => {} // handled above
            Kind::Probe | Kind::Control => self.on_control(in_port, frame, window),
            Kind::Trimmed => self.on_trimmed(in_port, frame, window),
            Kind::Returned => self.on_returned_header(frame, window),
            _ => self.on_reply(frame, window),
        }
    }

    #[inline(never)] // spares its callers the registers, like Host::on_event
    fn on_pause(&mut self, in_port: u16, frame: &Frame) {
        self.stats.counters.control_received += 1;
        if !self.obeys_pause() {
            self.stats.counters.control_ignored += 1;
            return;
        }
        let Some(reaction) = self.network.switch.flow_control.reaction() else { return };
        let received = self.egress.on_pause(in_port, frame, reaction, &mut self.stats);
        if received.span > Time::ZERO {
            self.report_stop(frame.at, in_port, |_, class| received.classes & 1 << class != 0);
        }
        self.egress.schedule_after_pause(in_port, received);
    }

    /// Forwards a frame of another host, at hosts with several links (BCube).
    #[inline(never)] // spares its callers the registers, like Host::on_event
    fn relay(&mut self, mut frame: Frame, in_port: u16, window: &mut Window<'_, OnWire>) {
        if frame.src == self.identity.index {
            return self.resend_bounced(frame, in_port, window);
        }
        if frame.ttl == 0 {
            self.note_loss(&frame, Some(in_port), Cause::TtlExpired);
            return self.stats.count_loss(&frame, Cause::TtlExpired);
        }
        frame.ttl -= 1;
        frame.hops = frame.hops.saturating_add(1);
        match self.network.route(self.identity.node, self.identity.salt, &frame, in_port) {
            Some(port) if self.network.fabric.node(self.identity.node).relay => {
                if let Some(tags) = &self.network.routing.tags {
                    frame.class = tags.new_class(self.identity.node, frame.class, in_port, port);
                }
                self.queue_frame(frame.at, port, frame);
                self.serve(frame.at, port, window);
            }
            _ => {
                self.note_loss(&frame, Some(in_port), Cause::NoRoute);
                self.stats.count_loss(&frame, Cause::NoRoute);
            }
        }
    }

    fn on_data(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let now = frame.at;
        self.stats.counters.packets.delivered_whole.count(u64::from(frame.size_bytes));
        let made = global(self.network.clock(frame.src), frame.stamp);
        let delay = now.saturating_sub(made);
        self.measured.delays.record(delay, self.identity.index, &self.network.measurement.delays);
        if self.measured.measures_arrivals {
            self.note_arrived(frame, delay);
        }
        let slot = match self.receivers.slot_of(frame.src, frame.flow) {
            Some(slot) => slot,
            None if self.receivers.completed.contains_key(&(frame.src, frame.flow)) => {
                return self.on_duplicate(in_port, frame, window);
            }
            None => self.open_incoming(frame),
        };
        let collected = frame.has(flags::COLLECTS);
        if collected {
            self.take_telemetry(frame);
        }
        let incoming = &mut self.receivers.flows[slot as usize];
        incoming.port = in_port;
        if incoming.control_only {
            (incoming.control_only, incoming.class) = (false, frame.class);
        }
        if self.network.measurement.in_order
            && let Some(violation) = incoming.order.observe(frame.seq, frame.has(flags::RETRANSMISSION))
        {
            self.stats.counters.order.note(now, u64::from(frame.flow), violation);
        }
        if let (Some(state), Some(density)) = (&mut incoming.reorder, &mut self.measured.reordering) {
            state.observe(frame.seq, density);
        }
        let mut copy = None;
        let seen = as_seen(self.identity.clock.as_ref(), frame, &mut copy);
        let receipt = with_ctx!(self, now, |ctx| incoming.receiver.on_frame(ctx, seen));
        let timer = global(self.identity.clock.as_ref(), incoming.receiver.next_timer());
        if timer < incoming.timer {
            self.set_receiver_timer(slot, timer);
        }
        self.measured.goodput_bytes[usize::from(frame.traffic)] += u64::from(receipt.new_bytes);
        if receipt.new_bytes > 0 {
            self.measured.last_payload = frame.at;
        }
        if !self.receivers.pull_queues.is_empty() {
            self.reply_and_pull(now, slot, window);
        } else if !self.scratch.replies.is_empty() {
            self.send_replies(now, self.reply_to(slot), window);
        }
        if collected {
            self.scratch.hops.clear();
        }
        if self.receivers.flows[slot as usize].inbox.is_some() {
            self.deliver_messages(now, slot, window);
        }
        if receipt.completed {
            self.complete(now, slot, frame, window);
        }
    }

    /// Measures jitter and bounces of a data frame.
    #[cold]
    fn note_arrived(&mut self, frame: &Frame, delay: Time) {
        self.note_hops(frame);
        if self.network.measurement.jitter[usize::from(frame.traffic)]
            && let Some(jitter) = &mut self.measured.jitter
        {
            jitter.record(frame, delay);
        }
    }

    /// Handles a probe or control frame of a flow's sender.
    #[cold]
    fn on_control(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        self.stats.counters.packets.consumed.count(u64::from(frame.size_bytes));
        if self.measured.hop_counts.is_some() {
            self.note_hops(frame);
        }
        self.take_telemetry(frame);
        let key = (frame.src, frame.flow);
        // The receiver of a complete flow has been removed: probes and control frames of this flow have no effect.
        if !self.receivers.completed.contains_key(&key) {
            let slot = match self.receivers.by_source.get(&key) {
                Some(&slot) => slot,
                None => {
                    let slot = self.open_incoming(frame);
                    self.receivers.flows[slot as usize].control_only = true;
                    slot
                }
            };
            self.receivers.flows[slot as usize].port = in_port;
            let receiver = &mut self.receivers.flows[slot as usize].receiver;
            let mut copy = None;
            let seen = as_seen(self.identity.clock.as_ref(), frame, &mut copy);
            let receipt = with_ctx!(self, frame.at, |ctx| receiver.on_frame(ctx, seen));
            debug_assert!(receipt.new_bytes == 0 && !receipt.completed, "no payload came");
            self.update_receiver_timer(slot);
            self.reply_and_pull(frame.at, slot, window);
        }
        self.scratch.hops.clear();
    }

    /// Moves the telemetry that an arrived frame has collected to the scratch buffer, and frees its record.
    #[cold]
    pub(super) fn take_telemetry(&mut self, frame: &Frame) {
        if let (Some(telemetry), Some(record)) = (&self.network.telemetry, frame.record()) {
            telemetry.take(record, &mut self.scratch.hops);
        }
    }

    /// Handles a duplicate of data of a complete flow: its sender missed the last acknowledgement. A receiver in the
    /// complete state, created on demand, replies.
    #[cold]
    pub(super) fn on_duplicate(&mut self, in_port: u16, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let now = frame.at;
        self.measured.order_late += u64::from(frame.kind == Kind::Data);
        if frame.has(flags::COLLECTS) {
            self.take_telemetry(frame);
            self.scratch.hops.clear(); // an acknowledgement of the whole flow carries no telemetry
        }
        if self.network.is_datagram(frame.flow, frame.traffic) {
            // A datagram flow is complete when its last frame arrives. Frames that arrive later are out of order, not
            // duplicates.
            if frame.kind == Kind::Data {
                self.measured.goodput_bytes[usize::from(frame.traffic)] += u64::from(frame.payload_bytes);
                self.measured.last_payload = now;
            }
            return;
        }
        let Some(completed) = self.receivers.completed.get_mut(&(frame.src, frame.flow)) else { return };
        let Completed { delivery, class, receiver } = completed;
        let transport = self.network.transport(frame.traffic);
        let receiver = receiver.get_or_insert_with(|| {
            Box::new(transport.complete_receiver(delivery.size_bytes, local(self.identity.clock.as_ref(), delivery.at)))
        });
        let mut copy = None;
        let seen = as_seen(self.identity.clock.as_ref(), frame, &mut copy);
        let receipt = with_ctx!(self, now, |ctx| receiver.on_frame(ctx, seen));
        debug_assert!(receipt.new_bytes == 0 && !receipt.completed, "every byte had arrived");
        let to = ReplyTo { port: in_port, dst: frame.src, flow: frame.flow, class: *class, traffic: frame.traffic };
        self.send_replies(now, to, window);
    }

    /// Creates the receiver of a flow for its first frame.
    pub(super) fn open_incoming(&mut self, frame: &Frame) -> u32 {
        let incoming = Incoming {
            receiver: self.receiver_for(frame.flow, frame.traffic),
            src: frame.src,
            flow: frame.flow,
            class: frame.class,
            traffic: frame.traffic,
            port: frame.in_port,
            order: OrderWatch::default(),
            inbox: (self.network.carries_messages(frame.flow, frame.traffic))
                .then(|| Box::new(Inbox::new(&self.network, frame.flow))),
            reorder: self.reorder_state(frame.flow, frame.traffic),
            timer: Time::MAX,
            active: true,
            control_only: false,
            in_pull_queue: false,
        };
        let slot = match self.receivers.free.pop() {
            Some(slot) => {
                self.receivers.flows[slot as usize] = incoming;
                slot
            }
            None => {
                if self.receivers.flows.is_empty() {
                    self.receivers.flows.reserve_exact(1); // many hosts receive one flow only
                }
                self.receivers.flows.push(incoming);
                self.receivers.flows.len() as u32 - 1
            }
        };
        self.receivers.by_source.insert((frame.src, frame.flow), slot);
        slot
    }

    fn receiver_for(&self, flow: u32, traffic: u8) -> ReceiverState {
        match self.network.traffic.flows.get(flow as usize).map(|flow| &flow.load) {
            Some(Load::Datagrams(_)) => TransportParameters::Datagram(Default::default()).receiver(),
            _ => self.network.transport(traffic).receiver(),
        }
    }

    /// Completes a flow whose bytes have all arrived. The host remembers the flow for as long as its sender may
    /// retransmit.
    #[inline(never)] // spares its callers the registers, like Host::on_event
    fn complete(&mut self, now: Time, slot: u32, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let silence = self.network.transport(frame.traffic).max_rto();
        let forget_at = now.saturating_add(silence * 2 + LINGER);
        let incoming = &mut self.receivers.flows[slot as usize];
        incoming.active = false;
        if std::mem::take(&mut incoming.in_pull_queue) {
            // The next flow in this slot must not inherit the position in the pull queue of this port.
            self.receivers.pull_queues[usize::from(incoming.port)].pacer.leave(slot);
        }
        if let (Some(state), Some(density)) = (&mut incoming.reorder, &mut self.measured.reordering) {
            state.finish(density);
        }
        let end = frame.seq + u64::from(frame.payload_bytes);
        let size_bytes = incoming.receiver.next_expected().max(end);
        let delivery = Delivery { src: frame.src, flow: frame.flow, at: now, size_bytes };
        let completed = Completed { delivery, class: incoming.class, receiver: None };
        self.receivers.complete(now, completed, forget_at);
        self.receivers.free.push(slot);
        if self.network.is_datagram(frame.flow, frame.traffic) {
            self.scratch.completed_flows.push(FlowReport::Receiver(delivery));
        }
        if !self.network.carries_messages(frame.flow, frame.traffic) {
            self.notify(now, frame.flow, FlowEvent::Delivered, window);
        }
    }

    #[inline(always)] // hot: runs for every packet, like Host::make_ready
    pub(super) fn update_receiver_timer(&mut self, slot: u32) {
        let at = global(self.identity.clock.as_ref(), self.receivers.flows[slot as usize].receiver.next_timer());
        if at < self.receivers.flows[slot as usize].timer {
            self.set_receiver_timer(slot, at);
        }
    }

    fn set_receiver_timer(&mut self, slot: u32, at: Time) {
        self.receivers.flows[slot as usize].timer = at;
        self.schedule(at, Event::Receiver(slot));
    }

    pub(super) fn on_receiver_timer(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        let incoming = &mut self.receivers.flows[slot as usize];
        // Stale: the flow is complete, or an earlier entry replaced this one.
        if !incoming.active || incoming.timer != now {
            return;
        }
        incoming.timer = Time::MAX;
        if incoming.receiver.next_timer() <= local(self.identity.clock.as_ref(), now) {
            let receiver = &mut incoming.receiver;
            with_ctx!(self, now, |ctx| receiver.on_timer(ctx));
            if !self.scratch.replies.is_empty() {
                self.send_replies(now, self.reply_to(slot), window);
            }
        }
        self.update_receiver_timer(slot);
    }

    pub(super) fn reply_to(&self, slot: u32) -> ReplyTo {
        let incoming = &self.receivers.flows[slot as usize];
        let (port, dst, flow) = (incoming.port, incoming.src, incoming.flow);
        ReplyTo { port, dst, flow, class: incoming.class, traffic: incoming.traffic }
    }

    pub(super) fn send_replies(&mut self, now: Time, to: ReplyTo, window: &mut Window<'_, OnWire>) {
        let ReplyTo { port, dst, flow, class, traffic } = to;
        let class = self.network.host.reply_class.unwrap_or(class);
        let mut replies = std::mem::take(&mut self.scratch.replies);
        let (usual_class, lone) = (class, replies.len() == 1 && self.egress.len() == 1);
        let mut waits = false;
        for &Reply { kind, seq, stamp, mut detail, mut flags, size_bytes, class, entropy } in &replies {
            let class = class.unwrap_or(usual_class);
            let entropy = entropy.unwrap_or_else(|| {
                let hash = flow_hash(self.identity.index, dst, self.network.traffic.connections.of(flow));
                let spread = self.network.routing.spread != Spread::FlowHash;
                if spread { hash.wrapping_add(self.random.next_u32()) } else { hash }
            });
            if flags & flags::TELEMETRY != 0 {
                (detail, flags) = self.attach_telemetry(detail, flags);
            }
            let (src, ttl) = (self.identity.index, self.network.host.ttl);
            let frame = |at| Frame {
                at,
                stamp,
                seq,
                detail,
                flow,
                src,
                dst,
                entropy,
                size_bytes,
                kind,
                class,
                in_class: class,
                flags,
                ttl,
                traffic,
                ..Frame::default()
            };
            self.stats.counters.packets.injected.count(u64::from(size_bytes));
            // A single reply can skip the queue if the wire is free and no other frame waits.
            if lone && self.stats.tracer.is_none() && self.can_bypass_queues(now, 0) {
                self.send_bypass(now, 0, (class, size_bytes), frame, window);
                continue;
            }
            let port = if self.egress.len() == 1 { 0 } else { self.reply_port(port, dst, entropy) };
            self.queue_frame(now, port, frame(now));
            waits = true;
        }
        replies.clear();
        self.scratch.replies = replies;
        if !waits {
            return;
        }
        if self.egress.len() == 1 {
            self.serve(now, 0, window);
        } else {
            for port in 0..self.egress.len() as u16 {
                self.serve(now, port, window);
            }
        }
    }

    /// Returns detail word and flags of a reply that carries the collected telemetry. If no telemetry was collected or
    /// the reply completes the flow, clears the telemetry flag.
    #[cold]
    fn attach_telemetry(&self, detail: Detail, flags: u8) -> (Detail, u8) {
        match &self.network.telemetry {
            Some(telemetry) if !self.scratch.hops.is_empty() && flags & flags::COMPLETE == 0 => {
                (Detail::record(telemetry.open(self.identity.index, &self.scratch.hops)), flags)
            }
            _ => (detail, flags & !flags::TELEMETRY),
        }
    }

    /// Returns the egress port of a reply at a host with several ports: a port of the route back.
    fn reply_port(&self, arrived: u16, dst: u32, entropy: u32) -> u16 {
        let choice = self.network.routing.forwarding.lookup(self.identity.node, dst);
        choice.get(select(entropy, self.identity.salt, choice.len())).copied().unwrap_or(arrived)
    }

    /// Handles an acknowledgement or notification for a flow of this host.
    fn on_reply(&mut self, frame: &Frame, window: &mut Window<'_, OnWire>) {
        let now = frame.at;
        self.stats.counters.packets.consumed.count(u64::from(frame.size_bytes));
        if self.measured.hop_counts.is_some() {
            self.note_hops(frame);
        }
        let has_telemetry = frame.has(flags::TELEMETRY);
        if has_telemetry {
            self.take_telemetry(frame);
        }
        let Some(slot) = self.senders.slot_of(frame.flow) else { return self.scratch.hops.clear() };
        let flow = &mut self.senders.flows[slot as usize];
        let FlowSource::Transport(sender) = &mut flow.source else { return self.scratch.hops.clear() };
        let mut copy = None;
        let seen = as_seen(self.identity.clock.as_ref(), frame, &mut copy);
        with_ctx!(self, now, |ctx| sender.on_frame(ctx, seen));
        if has_telemetry {
            self.scratch.hops.clear();
        }
        if frame.has(flags::COMPLETE) && self.senders.flows[slot as usize].outbox.is_none() {
            if !self.scratch.replies.is_empty() {
                self.queue_controls(now, slot);
            }
            self.senders.flows[slot as usize].state = FlowState::Idle;
            return self.finish(now, slot, window);
        }
        self.after_sender(now, slot, window);
    }

    /// Returns the reordering state of an arriving flow, if reordering is measured.
    pub(super) fn reorder_state(&self, flow: u32, traffic: u8) -> Option<Box<ReorderState>> {
        self.measured.reordering.as_ref()?;
        let piece_bytes = match self.network.traffic.flows.get(flow as usize).map(|flow| &flow.load) {
            Some(Load::Datagrams(source)) if source.lengths != LengthDistribution::Equal => {
                let lengths = FrameLengths::new(**source, self.network.seed, flow);
                let header_bytes = HEADER_BYTES;
                return Some(Box::new(ReorderState::drawn(lengths, header_bytes)));
            }
            Some(Load::Datagrams(source)) => source.frame_bytes.saturating_sub(HEADER_BYTES),
            _ => self.network.transport(traffic).payload_bytes(),
        };
        if self.network.carries_messages(flow, traffic) {
            let plan = &self.network.traffic;
            let messages = std::iter::successors(Some(flow), |&message| plan.connections.next(message));
            let sizes_bytes = messages.map(|message| plan.flows[message as usize].size_bytes);
            return Some(Box::new(ReorderState::of_messages(piece_bytes, sizes_bytes)));
        }
        Some(Box::new(ReorderState::new(piece_bytes)))
    }

    /// Adds the reordering density so far to `total`, as if no more frames arrived.
    pub(crate) fn add_reordering(&self, total: &mut ReorderDensity) {
        let Some(density) = &self.measured.reordering else { return };
        total.merge(density);
        for incoming in self.receivers.flows.iter().filter(|incoming| incoming.active) {
            if let Some(state) = &incoming.reorder {
                state.add_to(total);
            }
        }
    }
}
