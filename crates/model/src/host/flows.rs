//! Senders and receivers of flows at a host.

use super::agents::AgentControl;
use super::messages::{Inbox, Outbox};
use super::paths::Paths;
use super::pull::Pulls;
use super::reorder::{ReorderState, payload_bytes};
use super::skipped_poll::SkippedPoll;
use crate::clock::{NodeClock, global, local};
use crate::numbering::DRAWN;
use check::order::OrderWatch;
use protocols::bounce_reaction::BouncedFlow;
use protocols::endpoint::{Offer, Segment, Sender};
use protocols::frame::flags;
use protocols::transport::{ReceiverState, SenderState};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use traffic::{DatagramSource, Departures, FrameLengths};
use units::Time;

/// Scheduling state of a sending flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowState {
    /// In the ready ring of its port and class.
    Ready,
    /// In the heap of paced flows of its port.
    Paced,
    /// In the heap of paced flows until the hold of the flow permits its next frame. An XON ends the wait earlier.
    Held,
    /// Waits for a frame or timer.
    Idle,
}

/// The origin of a flow's frames.
#[derive(Debug)]
pub(super) enum FlowSource {
    /// A transport.
    Transport(SenderState),
    /// A source of datagrams.
    Source(Box<SourceState>),
}

/// A source of datagrams with its next frame.
#[derive(Debug)]
pub(super) struct SourceState {
    departures: Departures,
    lengths: FrameLengths,
    /// Clock of the departures, if the source follows its host's clock and that is not exact.
    clock: Option<NodeClock>,
    /// Due time of the next frame, in simulation time, and its length in bytes.
    next: Option<Time>,
    next_bytes: u16,
    seq: u64,
}

impl SourceState {
    /// Creates the source of `flow`, with departures from the simulation time `start` on. `seed` is the seed of the
    /// run.
    pub fn new(
        source: DatagramSource,
        (flow, size_bytes): (u32, u64),
        start: Time,
        clock: Option<NodeClock>,
        seed: u64,
    ) -> SourceState {
        let clock = clock.filter(|_| source.follows_clock());
        let mut departures = Departures::new(source, size_bytes, local(clock.as_ref(), start), seed, flow);
        let mut lengths = FrameLengths::new(source, seed, flow);
        let next = departures.next().map(|due| global(clock.as_ref(), due));
        SourceState { departures, next, next_bytes: lengths.draw(), lengths, clock, seq: 0 }
    }

    #[inline(always)] // hot: runs for each frame of a source
    pub fn poll(&mut self, now: Time, header_bytes: u16) -> Offer {
        let Some(due) = self.next else { return Offer::Done };
        if due > now {
            return Offer::At(due);
        }
        self.next = self.departures.next();
        if let Some(clock) = &self.clock {
            self.next = self.next.map(|due| clock.global(due));
        }
        let size_bytes = self.next_bytes;
        self.next_bytes = self.lengths.draw();
        let payload_bytes = payload_bytes(size_bytes, header_bytes);
        let seq = self.seq;
        self.seq += u64::from(payload_bytes);
        let last = if self.next.is_none() { flags::LAST } else { 0 };
        let next = self.next.unwrap_or(Time::ZERO);
        Offer::Send(Segment { seq, payload_bytes, size_bytes, flags: last, stamp: due, next, ..Segment::default() })
    }
}

/// The sender of a flow.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub active: bool,
    /// Incremented when the slot is reused, so that events of the old flow are ignored.
    pub generation: u32,
    pub state: FlowState,
    /// Time at which the flow last became ready.
    pub ready_since: Time,
    pub source: FlowSource,
    pub flow: u32,
    pub dst: u32,
    pub class: u8,
    pub traffic: u8,
    /// Egress port.
    pub port: u16,
    pub dst_port: u16,
    pub path: bool,
    /// Path selection per frame, if senders select paths.
    pub paths: Option<Box<Paths>>,
    pub entropy: u32,
    /// Messages, if this is a connection with several messages. `flow` is then the number of the first message.
    pub outbox: Option<Box<Outbox>>,
    pub start: Time,
    pub size_bytes: u64,
    /// Time of the entry of this sender in the host's timers.
    pub timer: Time,
}

/// Progress of the flows of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of planned flows of finite size that have ended: all bytes are sent and, if the transport uses
    /// acknowledgements, acknowledged.
    pub finished: u64,
    /// Whether endless flows are active.
    pub endless: bool,
}

/// The record of a flow at its sender, after its end or at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// Number at its source; below 2^31 for planned flows.
    pub flow: u32,
    /// Source host.
    pub src: u32,
    /// Destination host.
    pub dst: u32,
    /// Traffic entry of the flow.
    pub traffic: u8,
    /// Class of the flow.
    pub class: u8,
    /// Destination port of the flow.
    pub dst_port: u16,
    /// Payload in bytes.
    pub size_bytes: u64,
    /// Start time.
    pub start: Time,
    /// Arrival of the last byte, if reported by acknowledgements or by the receiver.
    pub delivered: Option<Time>,
    /// Time at which the sender received the final acknowledgement.
    pub acked: Option<Time>,
    /// Whether the sender was still active at the end of the run.
    pub open: bool,
    /// Retransmitted payload in bytes.
    pub retransmitted_bytes: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u32,
}

impl FlowEnd {
    /// Returns whether the flow was drawn during the run, not planned.
    pub fn is_drawn(&self) -> bool {
        self.flow & DRAWN != 0
    }

    /// Returns the source host and the number at this host, which identify a flow.
    pub fn key(&self) -> (u32, u32) {
        (self.src, self.flow)
    }
}

/// The delivery of a flow, recorded by its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Source host.
    pub src: u32,
    /// Number of the flow at its source.
    pub flow: u32,
    /// Arrival of the last byte.
    pub at: Time,
    /// Payload of the flow in bytes. Receivers that count packets round it up to full packets.
    pub size_bytes: u64,
}

/// Report of a host that a flow has ended at its sender or at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowReport {
    /// The sender of the flow ended. If senders receive no acknowledgements, the receiver reports too.
    Sender(FlowEnd),
    /// The receiver of the flow has every byte, and the sender receives no acknowledgement.
    Receiver(Delivery),
}

impl Outgoing {
    /// Returns whether this slot still has the flow of `generation`, and the flow waits for its due time.
    #[inline]
    pub fn is_paced(&self, generation: u32) -> bool {
        self.active && self.generation == generation && matches!(self.state, FlowState::Paced | FlowState::Held)
    }

    /// Returns the next timer of the sender, if it is earlier than the entry in the host's timers.
    #[inline]
    pub fn earlier_timer(&self, clock: Option<&NodeClock>) -> Option<Time> {
        let FlowSource::Transport(sender) = &self.source else { return None };
        let at = global(clock, sender.next_timer());
        (at < self.timer).then_some(at)
    }

    /// Returns the length in bytes of the next frame, for sources of datagrams.
    pub fn next_frame_bytes(&self) -> Option<u16> {
        if let FlowSource::Source(source) = &self.source { Some(source.next_bytes) } else { None }
    }

    /// Prefetches the state of a source of datagrams.
    pub fn prefetch(&self) {
        if let FlowSource::Source(source) = &self.source {
            engine::prefetch(&**source);
        }
    }

    /// Returns the record of the flow, without the time of the final acknowledgement. `clock` is the clock of the
    /// destination host.
    pub fn end(&self, src: u32, clock: Option<&NodeClock>) -> FlowEnd {
        let statistics = match &self.source {
            FlowSource::Transport(sender) => sender.statistics(),
            FlowSource::Source(_) => Default::default(),
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
            delivered: statistics.delivered.map(|at| global(clock, at)),
            acked: None,
            open: self.active,
            retransmitted_bytes: statistics.retransmitted_bytes,
            timeouts: statistics.timeouts,
        }
    }
}

/// The receiver of a flow.
#[derive(Debug)]
pub(super) struct Incoming {
    pub receiver: ReceiverState,
    pub src: u32,
    pub flow: u32,
    pub class: u8,
    pub traffic: u8,
    /// Ingress port of the last frame of the flow. Replies leave by this port.
    pub port: u16,
    pub order: OrderWatch,
    /// Messages, if this is a connection with several messages of which at least one is incomplete.
    pub inbox: Option<Box<Inbox>>,
    /// Reordering state, if measured.
    pub reorder: Option<Box<ReorderState>>,
    pub timer: Time,
    pub active: bool,
    /// Whether only probes and control frames have arrived so far, which may be of another class than the data.
    pub control_only: bool,
    /// Whether the flow is in the pull queue of its port.
    pub in_pull_queue: bool,
}

/// The flows that a host sends.
#[derive(Debug, Default)]
pub(super) struct Senders {
    /// Senders by slot.
    pub flows: Vec<Outgoing>,
    /// Free slots.
    pub free: Vec<u32>,
    /// Slot of each active flow of this host.
    pub by_flow: FxHashMap<u32, u32>,
    /// Slot found by the last lookup.
    pub last_slot: u32,
    /// Messages that may start, but wait for an earlier message of their connection, with the time from which they may
    /// start.
    pub waiting_messages: BTreeMap<u32, Time>,
    /// Entropies of distinct paths by forwarding row of the destination, if senders select paths.
    pub path_entropies: FxHashMap<u32, Box<[u32]>>,
    /// Number of planned flows of finite size that have ended.
    pub finished: u64,
    /// State of the reaction to bounced frames and pauses, by flow.
    pub returns: BTreeMap<u32, BouncedFlow>,
    /// External agents that set rates, if any.
    pub agent_control: Option<Box<AgentControl>>,
    pub skipped_poll: SkippedPoll,
}

/// A flow with all bytes delivered.
#[derive(Debug)]
pub(super) struct Completed {
    pub delivery: Delivery,
    pub class: u8,
    /// Created when the first duplicate arrives, to reply to it.
    pub receiver: Option<Box<ReceiverState>>,
}

/// The flows that a host receives.
#[derive(Debug, Default)]
pub(super) struct Receivers {
    /// Receivers by slot.
    pub flows: Vec<Incoming>,
    /// Free slots.
    pub free: Vec<u32>,
    /// Slot of each active flow, by source and flow.
    pub by_source: FxHashMap<(u32, u32), u32>,
    /// Slot found by the last lookup.
    pub last_slot: u32,
    /// Complete flows, by source and flow.
    pub completed: FxHashMap<(u32, u32), Completed>,
    /// Times at which complete flows are forgotten: time, source, flow.
    pub expiry: VecDeque<(Time, u32, u32)>,
    /// Deliveries of forgotten flows, for as long as their senders may be active.
    pub expired_deliveries: BTreeMap<(u32, u32), Delivery>,
    /// Pull queues by port, if receivers drive senders.
    pub pull_queues: Vec<Pulls>,
}

impl Senders {
    /// Returns the slot of the active flow `flow` of this host. The last result is cached, because most hosts send one
    /// flow at a time.
    #[inline]
    pub fn slot_of(&mut self, flow: u32) -> Option<u32> {
        let known = self.flows.get(self.last_slot as usize).is_some_and(|it| it.active && it.flow == flow);
        if !known {
            self.last_slot = *self.by_flow.get(&flow)?;
        }
        Some(self.last_slot)
    }
}

impl Receivers {
    /// Replaces the receiver of a flow by `completed`. Forgets earlier complete flows whose expiry time has passed,
    /// except for their delivery.
    pub fn complete(&mut self, now: Time, completed: Completed, forget_at: Time) {
        while let Some(&(_, src, flow)) = self.expiry.front().filter(|(until, ..)| *until <= now) {
            self.expiry.pop_front();
            if let Some(Completed { delivery, .. }) = self.completed.remove(&(src, flow)) {
                self.expired_deliveries.entry((src, flow)).or_insert(delivery);
            }
        }
        let Delivery { src, flow, .. } = completed.delivery;
        self.expiry.push_back((forget_at, src, flow));
        self.completed.insert((src, flow), completed);
        self.by_source.remove(&(src, flow));
    }

    /// Returns the delivery of the flow `key`, if it is complete.
    pub fn delivery(&self, key: (u32, u32)) -> Option<Delivery> {
        let completed = || self.completed.get(&key).map(|completed| completed.delivery);
        self.expired_deliveries.get(&key).copied().or_else(completed)
    }

    /// Returns the slot of the active `flow` of host `src`; cached like [`Senders::slot_of`].
    #[inline]
    pub fn slot_of(&mut self, src: u32, flow: u32) -> Option<u32> {
        let is_it = |it: &Incoming| it.active && it.src == src && it.flow == flow;
        if !self.flows.get(self.last_slot as usize).is_some_and(is_it) {
            self.last_slot = *self.by_source.get(&(src, flow))?;
        }
        Some(self.last_slot)
    }
}

/// Calls a method of an endpoint with a context borrowed from its host.
macro_rules! with_ctx {
    ($host:expr, $now:expr, |$ctx:ident| $call:expr) => {{
        let $ctx = &mut protocols::endpoint::Ctx {
            now: $crate::clock::local($host.identity.clock.as_ref(), $now),
            random: &mut $host.random,
            replies: &mut $host.scratch.replies,
            telemetry: &$host.scratch.hops,
        };
        $call
    }};
}
pub(super) use with_ctx;

units::pack_fields!(FlowEnd {
    flow,
    src,
    dst,
    traffic,
    class,
    dst_port,
    size_bytes,
    start,
    delivered,
    acked,
    open,
    retransmitted_bytes,
    timeouts,
});
units::pack_fields!(Delivery { src, flow, at, size_bytes });
units::pack_variants!(FlowReport { 0 Sender(end), 1 Receiver(delivery) });
