//! Sending flows of a host: start, poll, timers and end.

use super::Host;
use super::flows::{FlowEnd, FlowReport, FlowSource, FlowState, Outgoing, SourceState, with_ctx};
use super::messages::Outbox;
use super::paths::Paths;
use super::timers::Event;
use crate::clock::{in_true_time, local};
use crate::numbering::DRAWN;
use crate::on_wire::OnWire;
use crate::parameters::Spread;
use engine::Window;
use fabric::routing::{flow_hash, select};
use protocols::datagram::HEADER_BYTES;
use protocols::endpoint::{Offer, Reply, Segment, Sender};
use protocols::frame::{Frame, Kind, flags};
use protocols::transport::FlowStart;
use traffic::{FlowEvent, Load};
use units::Time;

impl Host {
    /// Opens a flow: slot, sender, and entry in the ready ring.
    pub(super) fn open(&mut self, now: Time, number: u32, flow: &traffic::Flow, window: &mut Window<'_, OnWire>) {
        self.measured.flows_started += 1;
        let is_connection = self.network.carries_messages(number, flow.traffic);
        if is_connection && self.enqueue_message(now, number, window) {
            return;
        }
        let entropy = match flow.path {
            Some(path) => path,
            None => flow_hash(flow.src, flow.dst, self.network.traffic.connections.of(number)),
        };
        let port = match (self.egress.len(), flow.path) {
            (1, _) => 0,
            (_, Some(path)) => self.network.routing.paths.port(fabric::routing::PathId(path), 0).unwrap_or(0),
            (_, None) => {
                let choice = self.network.routing.forwarding.lookup(self.identity.node, flow.dst);
                choice.get(select(entropy, self.identity.salt, choice.len())).copied().unwrap_or(0)
            }
        };
        let start = FlowStart {
            size_bytes: flow.size_bytes,
            start: local(self.identity.clock.as_ref(), now),
            stop: Time::MAX,
            line_rate: self.egress.state(port).link.rate,
            round_trip: super::pull::round_trip(&self.network, flow, self.identity.index, number),
        };
        let source = match &flow.load {
            Load::Transport => {
                let mut sender = self.network.transport(flow.traffic).sender(&start);
                if let Some(control) = &self.senders.agent_control {
                    control.begin(number, &mut sender);
                }
                FlowSource::Transport(sender)
            }
            Load::Datagrams(source) => {
                let of = (number, flow.size_bytes);
                FlowSource::Source(Box::new(SourceState::new(
                    **source,
                    of,
                    now,
                    self.identity.clock,
                    self.network.seed,
                )))
            }
        };
        let paths = match self.network.routing.spread {
            _ if flow.path.is_some() => None,
            Spread::PerPath => Some(self.paths_to(flow.dst)),
            Spread::PerEntropy { values } => Some(Box::new(Paths::hashed(entropy, values))),
            Spread::FlowHash | Spread::PerPacket => None,
        };
        let slot = self.senders.free.pop().unwrap_or(self.senders.flows.len() as u32);
        let generation = self.senders.flows.get(slot as usize).map_or(0, |old| old.generation.wrapping_add(1));
        let outgoing = Outgoing {
            active: true,
            generation,
            state: FlowState::Ready,
            ready_since: now,
            source,
            flow: number,
            dst: flow.dst,
            class: flow.class,
            traffic: flow.traffic,
            port,
            dst_port: flow.dst_port,
            path: flow.path.is_some(),
            paths,
            entropy,
            outbox: is_connection.then(|| Box::new(Outbox::new(&self.network, number, now))),
            start: now,
            size_bytes: flow.size_bytes,
            timer: Time::MAX,
        };
        if slot as usize == self.senders.flows.len() {
            if self.senders.flows.is_empty() {
                self.senders.flows.reserve_exact(1); // many hosts send one flow only
            }
            self.senders.flows.push(outgoing);
        } else {
            self.senders.flows[slot as usize] = outgoing;
        }
        self.senders.by_flow.insert(number, slot);
        self.make_ready(now, slot);
        self.update_sender_timer(slot);
        self.serve(now, port, window);
        if is_connection {
            self.start_waiting_messages(now, slot, window);
        }
    }

    /// Ends the flow in `slot`, which has sent all bytes and, if its transport uses acknowledgements, is acknowledged.
    pub(super) fn finish(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        let flow = &mut self.senders.flows[slot as usize];
        if !flow.active {
            return;
        }
        if flow.outbox.is_some() {
            // The connection remains open, idle until its next message.
            flow.state = FlowState::Idle;
            return self.finish_messages(now, slot, window);
        }
        let number = self.close(slot);
        let flow = &self.senders.flows[slot as usize];
        self.senders.finished += u64::from(flow.size_bytes != traffic::ENDLESS && number & DRAWN == 0);
        let mut end = self.end_of(flow);
        end.acked = end.delivered.map(|_| now);
        self.scratch.completed_flows.push(FlowReport::Sender(end));
        self.notify(now, number, FlowEvent::Sent, window);
    }

    /// Releases the slot of a sender that has ended, and returns the number of its flow.
    pub(super) fn close(&mut self, slot: u32) -> u32 {
        self.senders.flows[slot as usize].active = false;
        if self.senders.agent_control.is_some() {
            self.on_agent_flow_end(slot);
        }
        let number = self.senders.flows[slot as usize].flow;
        self.senders.by_flow.remove(&number);
        if !self.senders.returns.is_empty() {
            self.senders.returns.remove(&number);
        }
        self.senders.free.push(slot);
        number
    }

    /// Polls the flow in `slot` for its next frame.
    #[inline(always)] // hot: runs for every packet, like Host::make_ready
    pub(super) fn poll(&mut self, now: Time, slot: u32) -> Offer {
        if self.identity.clock.is_none()
            && let FlowSource::Source(source) = &mut self.senders.flows[slot as usize].source
        {
            return source.poll(now, HEADER_BYTES);
        }
        self.poll_further(now, slot)
    }

    /// Like [`Host::poll`], for transports, and for sources of datagrams at a host with an inexact clock.
    #[inline(never)]
    fn poll_further(&mut self, now: Time, slot: u32) -> Offer {
        let flow = &mut self.senders.flows[slot as usize];
        match &mut flow.source {
            FlowSource::Source(source) => {
                let offer = source.poll(now, HEADER_BYTES);
                match (offer, &self.identity.clock) {
                    (Offer::Send(segment), Some(clock)) => {
                        Offer::Send(Segment { stamp: clock.local(segment.stamp), ..segment })
                    }
                    (offer, _) => offer,
                }
            }
            FlowSource::Transport(sender) => {
                let offer = with_ctx!(self, now, |ctx| sender.poll(ctx));
                if !self.scratch.replies.is_empty() {
                    self.queue_controls(now, slot);
                }
                match &self.identity.clock {
                    None => offer,
                    Some(clock) => in_true_time(clock, offer),
                }
            }
        }
    }

    /// Ensures that the host's timers have an entry for the sender no later than its next timer.
    #[inline(always)] // hot: runs for every packet, like Host::make_ready
    pub(super) fn update_sender_timer(&mut self, slot: u32) {
        if let Some(at) = self.senders.flows[slot as usize].earlier_timer(self.identity.clock.as_ref()) {
            self.set_sender_timer(slot, at);
        }
    }

    pub(super) fn set_sender_timer(&mut self, slot: u32, at: Time) {
        let flow = &mut self.senders.flows[slot as usize];
        flow.timer = at;
        let generation = flow.generation;
        self.schedule(at, Event::Sender(slot, generation));
    }

    pub(super) fn on_sender_timer(&mut self, now: Time, slot: u32, generation: u32, window: &mut Window<'_, OnWire>) {
        let flow = &mut self.senders.flows[slot as usize];
        if !flow.active || flow.generation != generation || flow.timer != now {
            return; // stale: the flow has ended, or an earlier entry replaced this one
        }
        flow.timer = Time::MAX;
        let FlowSource::Transport(sender) = &mut flow.source else { return };
        if sender.next_timer() <= local(self.identity.clock.as_ref(), now) {
            with_ctx!(self, now, |ctx| sender.on_timer(ctx));
            self.after_sender(now, slot, window);
        } else {
            self.update_sender_timer(slot);
        }
    }

    /// Applies the effects of a call of a sender: queues its control frames, ends acknowledged messages, updates its
    /// timer, and polls it if it was idle and may send.
    pub(super) fn after_sender(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        if !self.scratch.replies.is_empty() {
            self.queue_controls(now, slot);
        }
        if self.senders.flows[slot as usize].outbox.is_some() {
            self.finish_messages(now, slot, window);
            if !self.senders.flows[slot as usize].active {
                return;
            }
        }
        self.update_sender_timer(slot);
        let flow = &self.senders.flows[slot as usize];
        if flow.state == FlowState::Idle && !self.poll_would_block(now, slot) {
            self.resume_flow(now, slot, window);
        }
    }

    /// Returns the record of `flow` at its sender.
    pub(super) fn end_of(&self, flow: &Outgoing) -> FlowEnd {
        flow.end(self.identity.index, self.network.clock(flow.dst))
    }

    /// Queues the control frames of the sender in `slot`, with the addresses, class and path of its flow.
    ///
    /// # Panics
    /// Panics if a frame is no control frame.
    #[cold]
    pub(super) fn queue_controls(&mut self, now: Time, slot: u32) {
        let flow = &self.senders.flows[slot as usize];
        let port = flow.port;
        let own = Frame {
            flow: flow.flow,
            src: self.identity.index,
            dst: flow.dst,
            entropy: flow.entropy,
            class: flow.class,
            flags: if flow.path { flags::EXPLICIT_PATH } else { 0 },
            ttl: self.network.host.ttl,
            traffic: flow.traffic,
            ..Frame::default()
        };
        let mut replies = std::mem::take(&mut self.scratch.replies);
        for Reply { kind, seq, stamp, detail, flags, size_bytes, class, entropy } in replies.drain(..) {
            assert!(kind == Kind::Control, "senders may queue control frames only, not {kind:?}");
            let class = class.unwrap_or(own.class);
            let entropy = entropy.filter(|_| own.flags == 0).unwrap_or(own.entropy);
            let flags = flags & !flags::COLLECTS | own.flags;
            let frame = Frame { kind, seq, stamp, detail, flags, size_bytes, class, in_class: class, entropy, ..own };
            self.stats.counters.packets.injected.count(u64::from(size_bytes));
            self.queue_frame(now, port, frame);
        }
        self.scratch.replies = replies;
        self.egress.schedule_when_free(now, port);
    }

    /// Returns the paths of a new flow to `dst`.
    pub(super) fn paths_to(&mut self, dst: u32) -> Box<Paths> {
        // Destinations behind one switch have equal path choices.
        let (network, src) = (&self.network, self.identity.index);
        let row = network.routing.forwarding.row(dst);
        let entropies =
            self.senders.path_entropies.entry(row).or_insert_with(|| super::paths::find(network, src, dst)).clone();
        Box::new(Paths::known(entropies))
    }
}
