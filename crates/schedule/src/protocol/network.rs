//! Nodes and wires on which messages take the time that frames take, and are lost, copied and late: enough to see what
//! the protocol does, without a simulator.
//!
//! A request leaves when its node is done with it, and then takes exactly as long as a data frame: transmission and
//! propagation. Other messages may take any time and overtake each other. Where a request is copied, the copy is late.

use super::{Ask, Config, Node, Output, Port, StreamId};
use crate::slot::Slot;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use units::random::{Stream, purpose};
use units::{Rate, Time};
use wire::{Reservation, ReservationKind};

/// The clock of a node: where it started, and by how much it is too fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// What it shows when the bench begins.
    pub offset: Time,
    /// Parts in 10^9, at most 10^8 either way.
    pub drift_ppb: i32,
}

const BILLION: u64 = 1_000_000_000;

impl Clock {
    /// What it shows at this true time.
    pub fn shows(&self, at: Time) -> Time {
        self.offset + at.scale((BILLION as i64 + i64::from(self.drift_ppb)) as u64, BILLION)
    }
    /// The first true time at which it shows at least this; zero where it does from the beginning.
    pub fn when(&self, shown: Time) -> Time {
        let rate = (BILLION as i64 + i64::from(self.drift_ppb)) as u64;
        let mut at = shown.saturating_sub(self.offset).scale(BILLION, rate);
        while self.shows(at) < shown {
            at += Time::from_ps(1);
        }
        at
    }
}

/// What happens to messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Of 1000, so many are lost.
    pub lost_permille: u16,
    /// Of 1000, so many come twice.
    pub copied_permille: u16,
    /// A node takes up to this long over a message.
    pub processing: Time,
    /// Messages but requests, and copies, are late by up to this.
    pub late: Time,
}

/// A wire between two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The nodes at its ends.
    pub ends: [usize; 2],
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// Something that happened, for people and checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// True time.
    pub at: Time,
    /// The node where it did.
    pub node: usize,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A message departed towards this node.
    Sent(usize, Reservation),
    /// A source may send.
    Started(StreamId, Slot, Time),
    /// A source stopped.
    Stopped(StreamId),
    /// A source gave up.
    Failed(StreamId),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Arrive { node: usize, port: u16, frame: Vec<u8> },
    Depart { node: usize, port: u16, message: usize },
    Tick { node: usize },
}

/// A frame of a stream on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Passage {
    /// The node that sends it.
    pub node: usize,
    /// By this port.
    pub port: u16,
    /// True time at which it begins.
    pub start: Time,
    /// When the wire is free again.
    pub end: Time,
    /// Of which stream.
    pub stream: StreamId,
}

/// The bench.
pub struct Network {
    nodes: Vec<Node>,
    clocks: Vec<Clock>,
    wires: Vec<Wire>,
    /// For each node and port: wire, and the node and port at the other end.
    ends: Vec<Vec<(usize, usize, u16)>>,
    routes: Vec<BTreeMap<u32, u16>>,
    config: Config,
    faults: Faults,
    random: Stream,
    now: Time,
    order: u64,
    due: BinaryHeap<Reverse<(Time, u64, Due)>>,
    departing: BTreeMap<usize, super::Departing>,
    asked: BTreeMap<StreamId, (usize, Ask)>,
    /// What happened, in order; messages only if they are kept.
    pub events: Vec<Event>,
    /// Keep every message among the events.
    pub keeps_messages: bool,
    /// How many messages were sent over a wire.
    pub messages: u64,
}

impl Network {
    /// Nodes with these clocks and wires. The route towards each node is a shortest one, by the lowest port.
    pub fn new(clocks: &[Clock], wires: &[Wire], config: Config, faults: Faults, seed: u64) -> Network {
        let mut ends = vec![Vec::new(); clocks.len()];
        for (number, wire) in wires.iter().enumerate() {
            let [a, b] = wire.ends;
            let (port_a, port_b) = (ends[a].len() as u16, ends[b].len() as u16 + u16::from(a == b));
            ends[a].push((number, b, port_b));
            ends[b].push((number, a, port_a));
        }
        let routes: Vec<BTreeMap<u32, u16>> = routes(&ends);
        let node = |at: usize| {
            let ports = ends[at].iter().map(|&(wire, ..)| Port { rate: wires[wire].rate }).collect();
            let random = Stream::new(seed, at as u64, purpose("attempts"));
            Node::new(at as u32, ports, routes[at].clone(), config, random)
        };
        Network {
            nodes: (0..clocks.len()).map(node).collect(),
            clocks: clocks.to_vec(),
            wires: wires.to_vec(),
            ends,
            routes,
            config,
            faults,
            random: Stream::new(seed, 0, purpose("faults")),
            now: Time::ZERO,
            order: 0,
            due: BinaryHeap::new(),
            departing: BTreeMap::new(),
            asked: BTreeMap::new(),
            events: Vec::new(),
            keeps_messages: false,
            messages: 0,
        }
    }

    /// True time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// A node.
    pub fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }
    /// A node's clock.
    pub fn clock(&self, node: usize) -> Clock {
        self.clocks[node]
    }
    /// The node that asked last for this stream.
    pub fn source(&self, stream: StreamId) -> Option<usize> {
        self.asked.get(&stream).map(|&(node, _)| node)
    }
    /// From now on this happens to messages.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Lets a node ask for a slot now.
    pub fn ask(&mut self, node: usize, ask: Ask) {
        self.asked.insert(ask.stream, (node, ask));
        self.with(node, |node, now, out| node.ask(now, ask, out));
    }
    /// Lets the source of a stream end it now.
    pub fn release(&mut self, stream: StreamId) {
        if let Some(&(node, _)) = self.asked.get(&stream) {
            self.with(node, |node, now, out| node.release(now, stream, out));
        }
    }

    fn with(&mut self, node: usize, act: impl FnOnce(&mut Node, Time, &mut Vec<Output>)) {
        let mut out = Vec::new();
        act(&mut self.nodes[node], self.clocks[node].shows(self.now), &mut out);
        for output in out {
            let what = match output {
                Output::Send { port, message } => {
                    let at = self.now + self.some(self.faults.processing);
                    let number = self.order as usize;
                    self.departing.insert(number, message);
                    self.push(at, Due::Depart { node, port, message: number });
                    continue;
                }
                Output::Started { stream, slot, shift } => What::Started(stream, slot, shift),
                Output::Stopped { stream } => What::Stopped(stream),
                Output::Failed { stream } => What::Failed(stream),
            };
            self.events.push(Event { at: self.now, node, what });
        }
        if let Some(next) = self.nodes[node].next() {
            let at = self.clocks[node].when(next).max(self.now);
            self.push(at, Due::Tick { node });
        }
    }

    fn some(&mut self, most: Time) -> Time {
        if most == Time::ZERO { most } else { Time::from_ps(self.random.below(most.as_ps() + 1)) }
    }

    fn push(&mut self, at: Time, due: Due) {
        self.due.push(Reverse((at, self.order, due)));
        self.order += 1;
    }

    /// Runs to this true time.
    pub fn run_until(&mut self, end: Time) {
        while self.due.peek().is_some_and(|Reverse((at, ..))| *at <= end) {
            let Some(Reverse((at, _, due))) = self.due.pop() else { break };
            self.now = at;
            match due {
                Due::Tick { node } => {
                    let shown = self.clocks[node].shows(at);
                    if self.nodes[node].next().is_some_and(|next| next <= shown) {
                        self.with(node, Node::tick);
                    }
                }
                Due::Depart { node, port, message } => self.depart(node, port, message),
                Due::Arrive { node, port, frame } => {
                    // A frame that is refused changes nothing: none is, but those that a test damaged.
                    self.with(node, |node, now, out| {
                        let _ = node.receive(now, port, &frame, out);
                    });
                }
            }
        }
        self.now = self.now.max(end);
    }

    fn depart(&mut self, node: usize, port: u16, message: usize) {
        let Some(message) = self.departing.remove(&message) else { return };
        let (wire, peer, peer_port) = self.ends[node][usize::from(port)];
        let Wire { rate, delay, .. } = self.wires[wire];
        let frame = message.frame(self.clocks[node].shows(self.now));
        self.messages += 1;
        if self.keeps_messages
            && let Ok((_, _, sent)) = Reservation::parse(&frame)
        {
            self.events.push(Event { at: self.now, node, what: What::Sent(peer, sent) });
        }
        if self.random.below(1000) < self.faults.lost_permille.into() {
            return;
        }
        let mut at = self.now + self.config.wire.transmission(rate, frame.len() as u64) + delay;
        if self.random.below(1000) < self.faults.copied_permille.into() {
            let late = at + self.some(self.faults.late);
            self.push(late, Due::Arrive { node: peer, port: peer_port, frame: frame.clone() });
        }
        if message.kind() != ReservationKind::Request {
            at += self.some(self.faults.late);
        }
        // The copy of a request is behind it, also where both are due at once.
        let order = if message.kind() == ReservationKind::Request { 0 } else { self.order };
        self.due.push(Reverse((at, order, Due::Arrive { node: peer, port: peer_port, frame })));
        self.order += 1;
    }

    /// The path of a stream: nodes and the ports that they send by.
    fn path(&self, from: usize, to: u32) -> Vec<(usize, u16)> {
        let mut path = Vec::new();
        let mut at = from;
        while at != to as usize {
            let Some(&port) = self.routes[at].get(&to) else { return Vec::new() };
            path.push((at, port));
            at = self.ends[at][usize::from(port)].1;
        }
        path
    }

    /// How long a frame of the stream is on its way without waiting: from the start of its transmission to its last
    /// bit.
    pub fn latency(&self, stream: StreamId) -> Option<Time> {
        let &(source, ask) = self.asked.get(&stream)?;
        let hop = |(node, port): (usize, u16)| {
            let Wire { rate, delay, .. } = self.wires[self.ends[node][usize::from(port)].0];
            self.config.wire.transmission(rate, ask.frame_bytes.into()) + delay
        };
        Some(self.path(source, ask.destination).into_iter().map(hop).sum())
    }

    /// All frames that sources send in `span` from now on if no clock's rate and no slot changes, on every wire that
    /// they pass without waiting, in the order of wires and time.
    pub fn passages(&self, span: Time) -> Vec<Passage> {
        let mut all = Vec::new();
        for (&stream, &(source, ask)) in &self.asked {
            let Some((slot, until)) = self.nodes[source].active(stream) else { continue };
            let (clock, path) = (self.clocks[source], self.path(source, ask.destination));
            let shown = clock.shows(self.now);
            let mut next = shown + (slot.start() + ask.window - shown % ask.window) % ask.window;
            loop {
                let mut start = clock.when(next);
                if start >= self.now + span || next >= until {
                    break;
                }
                for &(node, port) in &path {
                    let Wire { rate, delay, .. } = self.wires[self.ends[node][usize::from(port)].0];
                    let end = start + self.config.wire.slot(rate, ask.frame_bytes.into());
                    all.push(Passage { node, port, start, end, stream });
                    start += self.config.wire.transmission(rate, ask.frame_bytes.into()) + delay;
                }
                next += ask.window;
            }
        }
        all.sort_unstable();
        all
    }

    /// Two frames of different streams that would be on one wire at once, so that one would wait.
    pub fn collision(&self, span: Time) -> Option<(Passage, Passage)> {
        let all = self.passages(span);
        let meet = |pair: &[Passage]| {
            let same = (pair[0].node, pair[0].port) == (pair[1].node, pair[1].port);
            same && pair[1].start < pair[0].end && pair[0].stream != pair[1].stream
        };
        all.windows(2).find(|pair| meet(pair)).map(|pair| (pair[0], pair[1]))
    }
}

/// The first port of a shortest way to each other node.
fn routes(ends: &[Vec<(usize, usize, u16)>]) -> Vec<BTreeMap<u32, u16>> {
    let mut routes = vec![BTreeMap::new(); ends.len()];
    for target in 0..ends.len() {
        let mut distance = vec![usize::MAX; ends.len()];
        distance[target] = 0;
        let mut turn = vec![target];
        let mut at = 0;
        while let Some(&node) = turn.get(at) {
            at += 1;
            for &(_, peer, _) in &ends[node] {
                if distance[peer] == usize::MAX {
                    distance[peer] = distance[node] + 1;
                    turn.push(peer);
                }
            }
        }
        for (node, ports) in ends.iter().enumerate().filter(|&(node, _)| node != target) {
            let nearer = |&(_, peer, _): &(usize, usize, u16)| distance[peer] < distance[node];
            if let Some(port) = ports.iter().position(nearer) {
                routes[node].insert(target as u32, port as u16);
            }
        }
    }
    routes
}
