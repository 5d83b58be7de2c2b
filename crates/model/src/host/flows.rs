//! The two ends of a flow as a host keeps them.

use super::paths::Paths;
use super::reorder::ReorderState;
use super::starts::DRAWN;
use super::Host;
use super::timers::Event;
use crate::node::OnWire;
use crate::parameters::Spread;
use check::order::OrderWatch;
use engine::Window;
use fabric::routing::{flow_hash, select};
use protocols::datagram::DatagramParameters;
use protocols::endpoint::{Ctx, Offer, Segment, Sender};
use protocols::bounce_reaction::Returns;
use protocols::frame::flags;
use protocols::transport::{FlowStart, ReceiverState, SenderState};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use traffic::{DatagramSource, Departures, Load, When};
use units::Time;

/// What a flow waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowState {
    /// In the port's round.
    Ready,
    /// In the port's heap of paced flows.
    Paced,
    /// In that heap too, because its flow is held: an XON ends it early.
    Held,
    /// Until a frame or timer.
    Idle,
}

/// What sends.
#[derive(Debug)]
pub(super) enum Outlet {
    /// A transport.
    Transport(SenderState),
    /// A source of datagrams.
    Source(Box<SourceState>),
}

/// A source of datagrams: its next frame, and those after it.
#[derive(Debug)]
pub(super) struct SourceState {
    source: DatagramSource,
    departures: Departures,
    next: Option<Time>,
    seq: u64,
}

impl SourceState {
    fn poll(&mut self, now: Time, header_bytes: u16) -> Offer {
        let Some(due) = self.next else { return Offer::Done };
        if due > now {
            return Offer::At(due);
        }
        self.next = self.departures.next();
        let payload_bytes = self.source.frame_bytes.saturating_sub(header_bytes).max(1);
        let seq = self.seq;
        self.seq += u64::from(payload_bytes);
        let last = if self.next.is_none() { flags::LAST } else { 0 };
        let next = self.next.unwrap_or(Time::ZERO);
        let size_bytes = self.source.frame_bytes;
        Offer::Send(Segment { seq, payload_bytes, size_bytes, flags: last, stamp: due, next, ..Segment::default() })
    }
}

/// The sending end of a flow.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub active: bool,
    /// Advances whenever the slot is reused, so that old events do not hit the new flow.
    pub generation: u32,
    pub state: FlowState,
    pub outlet: Outlet,
    pub flow: u32,
    pub dst: u32,
    pub class: u8,
    pub traffic: u8,
    /// The port it leaves by.
    pub port: u16,
    pub dst_port: u16,
    pub path: bool,
    /// Where it chooses a path for every frame.
    pub paths: Option<Box<Paths>>,
    pub entropy: u32,
    pub start: Time,
    pub size_bytes: u64,
    /// Time of its entry among the host's timers.
    pub timer: Time,
}

/// A flow that ended, or is under way when the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// Its number at its source: below 2^31 that of the plan.
    pub flow: u32,
    /// Source host.
    pub src: u32,
    /// Destination host.
    pub dst: u32,
    /// Its traffic entry.
    pub traffic: u8,
    /// Its class.
    pub class: u8,
    /// Its destination port.
    pub dst_port: u16,
    /// Payload to carry.
    pub size_bytes: u64,
    /// When it started.
    pub start: Time,
    /// When its last byte arrived, if it did and anybody knows.
    pub delivered: Option<Time>,
    /// When its sender knew.
    pub acked: Option<Time>,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

impl FlowEnd {
    /// Whether the flow was drawn during the run, rather than planned.
    pub fn is_drawn(&self) -> bool {
        self.flow & DRAWN != 0
    }
}

impl Outgoing {
    /// Asks the processor for what the flow points at.
    pub fn approach(&self) {
        if let Outlet::Source(source) = &self.outlet {
            engine::prefetch(&**source);
        }
    }

    /// The flow's record, without what only its end tells.
    pub fn end(&self, src: u32) -> FlowEnd {
        let statistics = match &self.outlet {
            Outlet::Transport(sender) => sender.statistics(),
            Outlet::Source(_) => Default::default(),
        };
        FlowEnd {
            flow: self.flow,
            src,
            dst: self.dst,
            traffic: self.traffic,
            class: self.class,
            dst_port: self.dst_port,
            size_bytes: self.size_bytes,
            start: self.start,
            delivered: statistics.delivered,
            acked: None,
            retransmitted_bytes: statistics.retransmitted_bytes,
            timeouts: statistics.timeouts,
        }
    }
}

/// The receiving end of a flow.
#[derive(Debug)]
pub(super) struct Incoming {
    pub receiver: ReceiverState,
    pub src: u32,
    pub flow: u32,
    pub class: u8,
    pub traffic: u8,
    /// The port by which its frames last came: replies leave there.
    pub port: u16,
    pub order: OrderWatch,
    /// Where reordering is measured.
    pub reorder: Option<Box<ReorderState>>,
    pub timer: Time,
    pub active: bool,
    /// Whether it has a place in its port's round of those that ask for more.
    pub in_round: bool,
}

/// The flows that a host sends.
#[derive(Debug, Default)]
pub(super) struct Senders {
    /// By slot.
    pub flows: Vec<Outgoing>,
    /// Slots without a flow.
    pub free: Vec<u32>,
    /// Slot of each own flow that is under way.
    pub by_flow: FxHashMap<u32, u32>,
    /// Senders whose connection a flow that starts later goes on with, by that flow.
    pub sessions: FxHashMap<u32, SenderState>,
    /// What came back of own flows, by flow, where senders slow down for it.
    pub returns: BTreeMap<u32, Returns>,
}

/// The flows that a host receives.
#[derive(Debug, Default)]
pub(super) struct Receivers {
    /// By slot.
    pub flows: Vec<Incoming>,
    /// Slots without a flow.
    pub free: Vec<u32>,
    /// Slot of each flow that arrives, by source and flow.
    pub by_source: FxHashMap<(u32, u32), u32>,
    /// Flows that are complete, by source and flow, and when they became so.
    pub completed: FxHashMap<(u32, u32), Time>,
    /// When each of them is forgotten: time, source, flow.
    pub retired: VecDeque<(Time, u32, u32)>,
}

/// Calls a method of an endpoint with a context borrowed from its host.
macro_rules! with_ctx {
    ($host:expr, $now:expr, |$ctx:ident| $call:expr) => {{
        let mut replies = std::mem::take(&mut $host.replies);
        let result = {
            let $ctx = &mut Ctx { now: $now, random: &mut $host.random, replies: &mut replies };
            $call
        };
        $host.replies = replies;
        result
    }};
}
pub(super) use with_ctx;

impl Host {
    /// Starts a flow: a slot, a sender, a place in the port's round.
    pub(super) fn open(&mut self, now: Time, number: u32, flow: &traffic::Flow, window: &mut Window<'_, OnWire>) {
        self.measured.flows_started += 1;
        let entropy = match flow.path {
            Some(path) => path,
            None => flow_hash(flow.src, flow.dst, number),
        };
        let port = match (self.egress.len(), flow.path) {
            (1, _) => 0,
            (_, Some(path)) => self.network.paths.port(fabric::routing::PathId(path), 0).unwrap_or(0),
            (_, None) => {
                let choice = self.network.forwarding.lookup(self.node, flow.dst);
                choice.get(select(entropy, self.salt, choice.len())).copied().unwrap_or(0)
            }
        };
        let start = FlowStart {
            size_bytes: flow.size_bytes,
            start: now,
            stop: Time::MAX,
            line_rate: self.egress.rules(port).link.rate,
            round_trip: super::pull::round_trip(&self.network, flow, self.index, number),
        };
        let outlet = match &flow.load {
            Load::Transport => {
                let mut sender = self.network.host.transport.sender(&start);
                if let Some(before) = self.senders.sessions.remove(&number) {
                    sender.go_on_from(&before);
                }
                Outlet::Transport(sender)
            }
            Load::Datagrams(source) => {
                let mut departures = Departures::new(**source, flow.size_bytes, now, self.network.seed, number);
                let next = departures.next();
                Outlet::Source(Box::new(SourceState { source: **source, departures, next, seq: 0 }))
            }
        };
        let chooses = self.network.spread == Spread::PerPath && flow.path.is_none();
        let paths = chooses.then(|| self.paths_to(flow.dst));
        let slot = self.senders.free.pop().unwrap_or(self.senders.flows.len() as u32);
        let generation = self.senders.flows.get(slot as usize).map_or(0, |old| old.generation.wrapping_add(1));
        let outgoing = Outgoing {
            active: true,
            generation,
            state: FlowState::Ready,
            outlet,
            flow: number,
            dst: flow.dst,
            class: flow.class,
            traffic: flow.traffic,
            port,
            dst_port: flow.dst_port,
            path: flow.path.is_some(),
            paths,
            entropy,
            start: now,
            size_bytes: flow.size_bytes,
            timer: Time::MAX,
        };
        if slot as usize == self.senders.flows.len() {
            self.senders.flows.push(outgoing);
        } else {
            self.senders.flows[slot as usize] = outgoing;
        }
        self.senders.by_flow.insert(number, slot);
        self.enter_round(slot);
        self.update_sender_timer(slot);
        self.serve(now, port, window);
    }

    /// The flow in `slot` has sent everything and, where its transport promises it, knows it delivered.
    pub(super) fn finish(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        let flow = &mut self.senders.flows[slot as usize];
        if !flow.active {
            return;
        }
        flow.active = false;
        let number = flow.flow;
        if let Outlet::Transport(sender) = &flow.outlet {
            if let Some(&next) = self.network.traffic.sessions.get(&number) {
                self.senders.sessions.insert(next, sender.clone());
            }
            let mut end = flow.end(self.index);
            // A sender of datagrams knows nothing; the receiver's record counts then.
            if end.delivered.is_some() {
                end.acked = Some(now);
                self.measured.flows_completed += 1;
                self.ends.push(end);
            }
        }
        self.senders.by_flow.remove(&number);
        if !self.senders.returns.is_empty() {
            self.senders.returns.remove(&number);
        }
        self.senders.free.push(slot);
        self.notify(now, number, When::Sent, window);
    }

    /// Asks the flow in `slot` what to send.
    pub(super) fn poll(&mut self, now: Time, slot: u32) -> Offer {
        let flow = &mut self.senders.flows[slot as usize];
        match &mut flow.outlet {
            Outlet::Source(source) => source.poll(now, DatagramParameters::default().header_bytes),
            Outlet::Transport(sender) => with_ctx!(self, now, |ctx| sender.poll(ctx)),
        }
    }

    /// Keeps one entry among the timers no later than the sender's next timer.
    pub(super) fn update_sender_timer(&mut self, slot: u32) {
        let flow = &mut self.senders.flows[slot as usize];
        let Outlet::Transport(sender) = &flow.outlet else { return };
        let at = sender.next_timer();
        if at < flow.timer {
            flow.timer = at;
            let generation = flow.generation;
            self.schedule(at, Event::Sender(slot, generation));
        }
    }

    pub(super) fn on_sender_timer(&mut self, now: Time, slot: u32, generation: u32, window: &mut Window<'_, OnWire>) {
        let flow = &mut self.senders.flows[slot as usize];
        if !flow.active || flow.generation != generation || flow.timer != now {
            return; // of a flow that ended, or replaced by an earlier entry
        }
        flow.timer = Time::MAX;
        let Outlet::Transport(sender) = &mut flow.outlet else { return };
        if sender.next_timer() <= now {
            with_ctx!(self, now, |ctx| sender.on_timer(ctx));
            self.after_sender(now, slot, window);
        } else {
            self.update_sender_timer(slot);
        }
    }

    /// After any call of a sender: its timer may have moved, and it may want to send.
    pub(super) fn after_sender(&mut self, now: Time, slot: u32, window: &mut Window<'_, OnWire>) {
        self.update_sender_timer(slot);
        let flow = &self.senders.flows[slot as usize];
        if flow.state == FlowState::Idle {
            let port = flow.port;
            self.enter_round(slot);
            self.serve(now, port, window);
        }
    }
}
