//! The two ends of a flow as a host keeps them.

use super::messages::{Inbox, Outbox};
use super::paths::Paths;
use super::pull::Pulls;
use super::reorder::{ReorderState, payload_bytes};
use super::rest::Rest;
use super::steered::Steering;
use crate::clock::{NodeClock, global, local};
use crate::numbering::DRAWN;
use check::order::OrderWatch;
use protocols::bounce_reaction::Returns;
use protocols::endpoint::{Offer, Segment, Sender};
use protocols::frame::flags;
use protocols::transport::{ReceiverState, SenderState};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use traffic::{DatagramSource, Departures, FrameLengths};
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
    departures: Departures,
    lengths: FrameLengths,
    /// Where it goes by its host's clock, and that is not exact.
    clock: Option<NodeClock>,
    /// When its next frame is due, and how long that is.
    next: Option<Time>,
    next_bytes: u16,
    seq: u64,
}

impl SourceState {
    /// Of `flow`, whose frames begin at the true time `start`; `seed` is the run's.
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

    #[inline(always)] // once for each frame of a source
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

/// The sending end of a flow.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub active: bool,
    /// Advances whenever the slot is reused, so that old events do not hit the new flow.
    pub generation: u32,
    pub state: FlowState,
    /// When it entered its port's round; not updated where it does so as its frame starts.
    pub ready_since: Time,
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
    /// Where it is a connection with several messages, of which it has the number of the first.
    pub outbox: Option<Box<Outbox>>,
    pub start: Time,
    pub size_bytes: u64,
    /// Time of its entry among the host's timers.
    pub timer: Time,
}

/// How far a host is with its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Planned flows with an end that have sent everything and, where the transport promises it, know it delivered.
    pub finished: u64,
    /// Flows without end are under way.
    pub endless: bool,
}

/// A flow as its sender knows it: ended, or under way when the run ends.
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
    /// When its last byte arrived, if it did and that is known: to the sender, or by the report of its receiver.
    pub delivered: Option<Time>,
    /// When its sender knew.
    pub acked: Option<Time>,
    /// Whether its sender had not ended when the run did.
    pub open: bool,
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

    /// Source and number, which no two flows share.
    pub fn key(&self) -> (u32, u32) {
        (self.src, self.flow)
    }
}

/// The last byte of a flow has arrived, as its receiver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Source host.
    pub src: u32,
    /// The flow's number there.
    pub flow: u32,
    /// When.
    pub at: Time,
    /// Payload that the flow carried. Receivers that count packets round it up to whole ones.
    pub size_bytes: u64,
}

/// What a host reports of a flow when one of its ends has ended there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowReport {
    /// Its sender ended. Where that never hears of deliveries, the flow's receiver reports too.
    Sender(FlowEnd),
    /// Its receiver has every byte, and its sender will never know.
    Receiver(Delivery),
}

impl Outgoing {
    /// Whether it is still the flow of that `generation`, which waits for its instant.
    #[inline]
    pub fn is_paced(&self, generation: u32) -> bool {
        self.active && self.generation == generation && matches!(self.state, FlowState::Paced | FlowState::Held)
    }

    /// When its sender wants to be called next, if that is earlier than it will be.
    #[inline]
    pub fn earlier_timer(&self, clock: Option<&NodeClock>) -> Option<Time> {
        let Outlet::Transport(sender) = &self.outlet else { return None };
        let at = global(clock, sender.next_timer());
        (at < self.timer).then_some(at)
    }

    /// How long its next frame is, where a source of datagrams makes it.
    pub fn next_frame_bytes(&self) -> Option<u16> {
        if let Outlet::Source(source) = &self.outlet { Some(source.next_bytes) } else { None }
    }

    /// Asks the processor for what the flow points at.
    pub fn prefetch(&self) {
        if let Outlet::Source(source) = &self.outlet {
            engine::prefetch(&**source);
        }
    }

    /// The flow's record, without what only its end tells; `clock` is that of its destination.
    pub fn end(&self, src: u32, clock: Option<&NodeClock>) -> FlowEnd {
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
            delivered: statistics.delivered.map(|at| global(clock, at)),
            acked: None,
            open: self.active,
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
    /// Where it is a connection with several messages, some of which have not arrived.
    pub inbox: Option<Box<Inbox>>,
    /// Where reordering is measured.
    pub reorder: Option<Box<ReorderState>>,
    pub timer: Time,
    pub active: bool,
    /// Whether no data has come yet, only probes and control frames, which may be of another class.
    pub awaits_data: bool,
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
    /// That of the one that was asked for last.
    pub last: u32,
    /// Messages that may start and wait for their turn on their connection, and since when.
    pub early: BTreeMap<u32, Time>,
    /// Where they choose paths: numbers that lead by different ones, by row of the destination.
    pub known_paths: FxHashMap<u32, Box<[u32]>>,
    /// Planned flows with an end that are finished.
    pub finished: u64,
    /// What came back of own flows, by flow, where senders slow down for it.
    pub returns: BTreeMap<u32, Returns>,
    /// Who sets their rates from outside, where somebody does.
    pub steering: Option<Box<Steering>>,
    pub rest: Rest,
}

/// A flow whose bytes have all arrived.
#[derive(Debug)]
pub(super) struct Completed {
    pub delivery: Delivery,
    pub class: u8,
    /// Made when the first duplicate comes, which it answers.
    pub receiver: Option<Box<ReceiverState>>,
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
    /// That of the one that was asked for last.
    pub last: u32,
    /// Flows that are complete, by source and flow.
    pub completed: FxHashMap<(u32, u32), Completed>,
    /// When each of them is forgotten: time, source, flow.
    pub retired: VecDeque<(Time, u32, u32)>,
    /// The deliveries of those that are forgotten, as long as their senders may be unaware of them.
    pub forgotten: BTreeMap<(u32, u32), Delivery>,
    /// Where they ask for more: who does so when, by port.
    pub pulls: Vec<Pulls>,
}

impl Senders {
    /// The slot of own flow `flow`, if it is under way. The last one that was asked for is known without looking: one
    /// flow at a time is what most hosts send.
    #[inline]
    pub fn slot_of(&mut self, flow: u32) -> Option<u32> {
        let known = self.flows.get(self.last as usize).is_some_and(|it| it.active && it.flow == flow);
        if !known {
            self.last = *self.by_flow.get(&flow)?;
        }
        Some(self.last)
    }
}

impl Receivers {
    /// The flow whose last byte arrived `now` is complete: its receiver gives way to `completed`. Of flows that
    /// completed so long ago that no duplicate comes any more, only the delivery is kept.
    pub fn complete(&mut self, now: Time, completed: Completed, forget_at: Time) {
        while let Some(&(_, src, flow)) = self.retired.front().filter(|(until, ..)| *until <= now) {
            self.retired.pop_front();
            if let Some(Completed { delivery, .. }) = self.completed.remove(&(src, flow)) {
                self.forgotten.entry((src, flow)).or_insert(delivery);
            }
        }
        let Delivery { src, flow, .. } = completed.delivery;
        self.retired.push_back((forget_at, src, flow));
        self.completed.insert((src, flow), completed);
        self.by_source.remove(&(src, flow));
    }

    /// When and with how much payload the flow `key` was delivered, if it was.
    pub fn delivery(&self, key: (u32, u32)) -> Option<Delivery> {
        let completed = || self.completed.get(&key).map(|completed| completed.delivery);
        self.forgotten.get(&key).copied().or_else(completed)
    }

    /// The slot of `flow` of host `src`, if it is arriving; as [`Senders::slot_of`].
    #[inline]
    pub fn slot_of(&mut self, src: u32, flow: u32) -> Option<u32> {
        let is_it = |it: &Incoming| it.active && it.src == src && it.flow == flow;
        if !self.flows.get(self.last as usize).is_some_and(is_it) {
            self.last = *self.by_source.get(&(src, flow))?;
        }
        Some(self.last)
    }
}

/// Calls a method of an endpoint with a context borrowed from its host.
macro_rules! with_ctx {
    ($host:expr, $now:expr, |$ctx:ident| $call:expr) => {{
        let $ctx = &mut protocols::endpoint::Ctx {
            now: $crate::clock::local($host.clock.as_ref(), $now),
            random: &mut $host.random,
            replies: &mut $host.replies,
            telemetry: &$host.hops,
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
