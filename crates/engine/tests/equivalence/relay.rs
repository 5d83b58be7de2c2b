//! Random networks of nodes that forward, split and delay tokens, and the reference: one global queue.

use engine::{Message, Node, Window, WireSpec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;
use units::random::{Stream, split_mix};

#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(crate) struct Token {
    pub at: Time,
    pub value: u64,
    pub life: u32,
}

impl Message for Token {
    fn at(&self) -> Time {
        self.at
    }
}

/// Test node: hashes its inputs into a signature, and answers each token with tokens, at once or after a timer.
#[derive(Clone)]
pub(crate) struct Relay {
    pub wires: Vec<WireSpec>,
    /// Arrival time of the last message on each wire, because a wire is FIFO.
    pub last: Vec<Time>,
    pub rotation: u32,
    pub signature: u64,
    pub events: u64,
    pub timers: BinaryHeap<Reverse<(Time, u64, u32)>>,
}

impl Relay {
    fn note(&mut self, at: Time, what: u64) {
        let mut state = self.signature ^ at.as_ps().rotate_left(17) ^ what;
        self.signature = split_mix(&mut state);
        self.events += 1;
    }

    /// Answers a token by at most one message and one timer, which depend only on the value of the token.
    fn answer(&mut self, now: Time, value: u64, life: u32) -> Option<(u16, Token)> {
        if life == 0 || self.wires.is_empty() {
            return None;
        }
        let mut state = value;
        let draw = split_mix(&mut state);
        if draw.is_multiple_of(3) {
            self.timers.push(Reverse((now + Time::from_ps(draw % 5_000), draw, life - 1)));
        }
        let port = (draw >> 8) as usize % self.wires.len();
        // Departures on a time grid of 500 ps make simultaneous arrivals frequent.
        let extra = Time::from_ps((draw >> 40) % 4 * 500);
        self.last[port] = self.last[port].max(now + self.wires[port].lookahead + extra);
        Some((port as u16, Token { at: self.last[port], value: draw, life: life - 1 }))
    }

    fn next_timer(&self) -> Time {
        self.timers.peek().map_or(Time::MAX, |Reverse((at, ..))| *at)
    }
}

impl Node for Relay {
    type Message = Token;
    fn run(&mut self, window: &mut Window<'_, Token>) -> Time {
        loop {
            let (arrival, timer) = (window.next_arrival(), self.next_timer());
            if arrival.min(timer) >= window.end() {
                return timer;
            }
            if arrival <= timer {
                window.rotate_ties(|| self.rotation);
                self.rotation += 1;
                while window.next_arrival() == arrival {
                    window.take_in_place(|port, token, window| {
                        let before = *token;
                        self.note(arrival, token.value ^ u64::from(port));
                        if let Some((port, answer)) = self.answer(arrival, token.value, token.life) {
                            window.send(port, answer);
                        }
                        assert_eq!(*token, before, "what is sent does not touch what has come");
                    });
                }
            } else if let Some(Reverse((at, value, life))) = self.timers.pop() {
                self.note(at, value);
                if let Some((port, token)) = self.answer(at, value, life) {
                    window.send(port, token);
                }
            }
        }
    }
}

pub(crate) struct Network {
    pub relays: Vec<Relay>,
    pub wires: Vec<Vec<WireSpec>>,
}

pub(crate) fn network(seed: u64) -> Network {
    network_of(seed, 2, |stream, nodes| (stream.below(nodes) as usize, stream.below(nodes) as usize))
}

/// Like [`network`], with wires only between adjacent nodes.
pub(crate) fn row(seed: u64) -> Network {
    network_of(seed, 2, |stream, nodes| {
        let from = stream.below(nodes - 1) as usize;
        if stream.below(2) == 0 { (from, from + 1) } else { (from + 1, from) }
    })
}

/// A larger bipartite network: wires lead between nodes with odd and even numbers.
pub(crate) fn between(seed: u64) -> Network {
    network_of(seed, 17, |stream, nodes| {
        let (odd, even) = (2 * stream.below(nodes / 2) + 1, 2 * stream.below(nodes.div_ceil(2)));
        let (from, to) = if stream.below(2) == 0 { (odd, even) } else { (even, odd) };
        (from as usize, to as usize)
    })
}

/// Creates a network of at least `least` nodes. `ends` draws the two nodes of each wire; if they are equal, no wire
/// is added.
fn network_of(seed: u64, least: usize, ends: impl Fn(&mut Stream, u64) -> (usize, usize)) -> Network {
    let mut stream = Stream::new(seed, 0, 0);
    let nodes = least + stream.below(12) as usize;
    let mut wires = vec![Vec::new(); nodes];
    let mut ports = vec![0u16; nodes];
    // Lookaheads from short to long, all multiples of 500 ps, so that ties occur. Some nodes have more than 64 ports.
    let wires_a_node = if seed % 5 == 4 { 140 } else { 3 };
    for _ in 0..nodes * wires_a_node {
        let (from, to) = ends(&mut stream, nodes as u64);
        if from != to {
            let scale = 1 << stream.below(12);
            let lookahead = Time::from_ps(500 * (1 + stream.below(scale)));
            wires[from].push(WireSpec { node: to as u32, port: ports[to], lookahead });
            ports[to] += 1;
        }
    }
    let relays = (0..nodes)
        .map(|n| Relay {
            wires: wires[n].clone(),
            last: vec![Time::ZERO; wires[n].len()],
            rotation: 0,
            signature: n as u64,
            events: 0,
            timers: (0..stream.below(4))
                .map(|_| Reverse((Time::from_ps(500 * stream.below(40)), stream.next_u64(), 16)))
                .collect(),
        })
        .collect();
    Network { relays, wires }
}

pub(crate) type Log = Vec<(u64, u64)>;

pub(crate) fn log<'a>(relays: impl Iterator<Item = &'a Relay>) -> Log {
    relays.map(|r| (r.signature, r.events)).collect()
}

/// Runs one event at a time from a global queue.
pub(crate) fn reference(mut network: Network, stop: Time) -> Log {
    let mut in_flight: Vec<(Time, u32, u16, u64, Token)> = Vec::new();
    let mut order = 0;
    loop {
        let arrival = in_flight.iter().map(|m| m.0).min().unwrap_or(Time::MAX);
        let timer = network.relays.iter().map(Relay::next_timer).min().unwrap_or(Time::MAX);
        let now = arrival.min(timer);
        if now >= stop {
            return log(network.relays.iter());
        }
        for node in 0..network.relays.len() {
            let mut sent = Vec::new();
            let relay = &mut network.relays[node];
            let mut here: Vec<_> = in_flight.iter().filter(|m| m.0 == now && m.1 == node as u32).copied().collect();
            in_flight.retain(|m| !(m.0 == now && m.1 == node as u32));
            if !here.is_empty() {
                here.sort_by_key(|m| (m.2, m.3));
                let ties = here.len();
                // The order of ports is rotated; messages of one wire stay in order.
                let mut ports: Vec<u16> = here.iter().map(|m| m.2).collect();
                ports.rotate_left(relay.rotation as usize % ties);
                let mut left = std::mem::take(&mut here);
                for port in ports {
                    let first = left.iter().position(|m| m.2 == port).unwrap();
                    here.push(left.remove(first));
                }
                relay.rotation += 1;
            }
            for (at, _, port, _, token) in here {
                relay.note(at, token.value ^ u64::from(port));
                sent.extend(relay.answer(at, token.value, token.life));
            }
            while relay.next_timer() == now {
                let Some(Reverse((at, value, life))) = relay.timers.pop() else { break };
                relay.note(at, value);
                sent.extend(relay.answer(at, value, life));
            }
            for (port, token) in sent {
                let wire = network.wires[node][port as usize];
                in_flight.push((token.at, wire.node, wire.port, order, token));
                order += 1;
            }
        }
    }
}
