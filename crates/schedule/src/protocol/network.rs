//! Test bench: nodes and wires with message delays, loss, duplication and reordering, to observe the protocol without a
//! simulator.
//!
//! A request departs when its node has processed it and takes as long as a data frame: transmission and propagation.
//! Other messages may take any time and overtake each other. The duplicate of a request arrives late.

use super::{Config, Node, Output, Port, SlotRequest, StreamId};
use crate::slot::Slot;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use units::random::{Stream, purpose};
use units::{Rate, Time};
use wire::{Reservation, ReservationKind};

/// Clock of a node: initial offset and rate error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Value at the start of the bench.
    pub offset: Time,
    /// Rate error in parts in 10^9, within 10^8 in either direction.
    pub drift_ppb: i32,
}

const BILLION: u64 = 1_000_000_000;

impl Clock {
    /// Returns the clock's value at this true time.
    pub fn shows(&self, at: Time) -> Time {
        self.offset + at.scale((BILLION as i64 + i64::from(self.drift_ppb)) as u64, BILLION)
    }
    /// Returns the first true time at which the clock shows at least this value; zero if it does from the start.
    pub fn when(&self, shown: Time) -> Time {
        let rate = (BILLION as i64 + i64::from(self.drift_ppb)) as u64;
        let mut at = shown.saturating_sub(self.offset).scale(BILLION, rate);
        while self.shows(at) < shown {
            at += Time::from_ps(1);
        }
        at
    }
}

/// Message faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Loss probability, in 1/1000.
    pub lost_permille: u16,
    /// Duplication probability, in 1/1000.
    pub copied_permille: u16,
    /// Maximum processing time of a message at a node.
    pub processing: Time,
    /// Maximum extra delay of duplicates and of messages other than requests.
    pub late: Time,
}

/// Link between two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Nodes at the two ends of the link.
    pub ends: [usize; 2],
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// Event, for output and checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// True time.
    pub at: Time,
    /// Node of the event.
    pub node: usize,
    /// Event details.
    pub what: EventKind,
}

/// Kind of an event, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A message was sent to the node with this index.
    Sent(usize, Reservation),
    /// A source may send: stream, slot, shift.
    Started(StreamId, Slot, Time),
    /// A source stopped sending.
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

/// Frame of a stream on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transmission {
    /// Sending node.
    pub node: usize,
    /// Sending port.
    pub port: u16,
    /// True start time.
    pub start: Time,
    /// True time at which the wire is free again.
    pub end: Time,
    /// Stream.
    pub stream: StreamId,
}

/// Test bench.
pub struct Network {
    nodes: Vec<Node>,
    clocks: Vec<Clock>,
    wires: Vec<Wire>,
    /// By node and port: the wire, and the node and port at its other end.
    ends: Vec<Vec<(usize, usize, u16)>>,
    routes: Vec<BTreeMap<u32, u16>>,
    config: Config,
    faults: Faults,
    random: Stream,
    now: Time,
    order: u64,
    due: BinaryHeap<Reverse<(Time, u64, Due)>>,
    departing: BTreeMap<usize, super::Departing>,
    asked: BTreeMap<StreamId, (usize, SlotRequest)>,
    /// Events in order; messages only with [`keeps_messages`](Self::keeps_messages).
    pub events: Vec<Event>,
    /// Records every message as an event.
    pub keeps_messages: bool,
    /// Number of messages sent over wires.
    pub messages: u64,
}

impl Network {
    /// Creates nodes with these clocks and wires. Routes are shortest paths, by the lowest port.
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

    /// Returns the true time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// Returns a node.
    pub fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }
    /// Returns a node's clock.
    pub fn clock(&self, node: usize) -> Clock {
        self.clocks[node]
    }
    /// Returns the node that last requested a slot for this stream.
    pub fn source(&self, stream: StreamId) -> Option<usize> {
        self.asked.get(&stream).map(|&(node, _)| node)
    }
    /// Sets the message faults from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Requests a slot at a node now.
    pub fn ask(&mut self, node: usize, ask: SlotRequest) {
        self.asked.insert(ask.stream, (node, ask));
        self.with(node, |node, now, out| node.ask(now, ask, out));
    }
    /// Ends a stream at its source now.
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
                Output::Started { stream, slot, shift } => EventKind::Started(stream, slot, shift),
                Output::Stopped { stream } => EventKind::Stopped(stream),
                Output::Failed { stream } => EventKind::Failed(stream),
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
                    // Rejected frames have no effect; only frames damaged by a test are rejected.
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
            self.events.push(Event { at: self.now, node, what: EventKind::Sent(peer, sent) });
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
        // The duplicate of a request is delivered after the request itself, even if both arrive at the same time.
        let order = if message.kind() == ReservationKind::Request { 0 } else { self.order };
        self.due.push(Reverse((at, order, Due::Arrive { node: peer, port: peer_port, frame })));
        self.order += 1;
    }

    /// Returns the path of a stream: nodes and their sending ports.
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

    /// Returns the latency of a frame of the stream without waiting: from the start of its transmission to its last
    /// bit.
    pub fn latency(&self, stream: StreamId) -> Option<Time> {
        let &(source, ask) = self.asked.get(&stream)?;
        let hop = |(node, port): (usize, u16)| {
            let Wire { rate, delay, .. } = self.wires[self.ends[node][usize::from(port)].0];
            self.config.wire.transmission(rate, ask.frame_bytes.into()) + delay
        };
        Some(self.path(source, ask.destination).into_iter().map(hop).sum())
    }

    /// Returns the transmissions, on every wire of their paths, of all frames that sources send within `span` from now.
    /// Assumes constant clock rates and slots, and no queueing delay. Ordered by wire and time.
    pub fn passages(&self, span: Time) -> Vec<Transmission> {
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
                    all.push(Transmission { node, port, start, end, stream });
                    start += self.config.wire.transmission(rate, ask.frame_bytes.into()) + delay;
                }
                next += ask.window;
            }
        }
        all.sort_unstable();
        all
    }

    /// Returns two frames of different streams that would overlap on a wire, so that one would wait.
    pub fn collision(&self, span: Time) -> Option<(Transmission, Transmission)> {
        let all = self.passages(span);
        let meet = |pair: &[Transmission]| {
            let same = (pair[0].node, pair[0].port) == (pair[1].node, pair[1].port);
            same && pair[1].start < pair[0].end && pair[0].stream != pair[1].stream
        };
        all.windows(2).find(|pair| meet(pair)).map(|pair| (pair[0], pair[1]))
    }
}

/// Returns the first port of a shortest path to each other node.
fn routes(ends: &[Vec<(usize, usize, u16)>]) -> Vec<BTreeMap<u32, u16>> {
    let mut routes = vec![BTreeMap::new(); ends.len()];
    for target in 0..ends.len() {
        let mut distance = vec![usize::MAX; ends.len()];
        distance[target] = 0;
        let mut queue = vec![target];
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            for &(_, peer, _) in &ends[node] {
                if distance[peer] == usize::MAX {
                    distance[peer] = distance[node] + 1;
                    queue.push(peer);
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
