//! The loop over windows, on one thread or many.

use crate::agenda::Agenda;
use crate::barrier::{Barrier, Breaker};
use crate::mail::{Mail, Parcel, Slot, Window, Wire};
use crate::ring::Ring;
use crate::{Message, Node};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Time;

/// No window is longer than this, so that a time within it fits 48 bits.
const LONGEST_WINDOW: Time = Time::from_s(100);

/// Up to this many nodes are looked at in every window.
const SMALL_POOL: usize = 16;

/// How many turns ahead a node's state is asked for: one per level of indirection.
const APPROACH: usize = 3;

/// A wire from one node's egress port to another's ingress port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireSpec {
    /// The receiving node.
    pub node: u32,
    /// Its ingress port.
    pub port: u16,
    /// A message sent at `t` arrives at `t + lookahead` or later; positive.
    pub lookahead: Time,
}

/// Why nodes and wires make no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A wire ends nowhere.
    #[error("wire {port} of node {node} ends at node {end}, but there are only {nodes} nodes")]
    NoSuchNode {
        /// The sender.
        node: u32,
        /// Its egress port.
        port: usize,
        /// The receiver that is missing.
        end: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Two nodes that influence each other without delay are one node.
    #[error("wire {port} of node {node} has no delay: nodes meet only through links with a delay")]
    NoDelay {
        /// The sender.
        node: u32,
        /// Its egress port.
        port: usize,
    },
    /// Two wires end at the same ingress port.
    #[error("ingress port {port} of node {node} is the end of more than one wire")]
    SharedPort {
        /// The receiver.
        node: u32,
        /// Its ingress port.
        port: u16,
    },
}

/// What the engine did so far. Differs with the number of threads nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Windows executed.
    pub windows: u64,
    /// Times a node ran, over all windows.
    pub runs: u64,
}

/// The nodes that one thread executes, with their mailboxes.
struct Shard<N: Node> {
    nodes: Vec<N>,
    wires: Vec<Wire>,
    mail: Mail<N::Message>,
    agenda: Agenda,
    /// Scratch: the nodes that run in this window.
    ready: Vec<u32>,
    /// Nodes that ran since somebody asked.
    active: Vec<u32>,
    statistics: Statistics,
}

/// Nodes, wires and the time up to which they have run.
pub struct Engine<N: Node> {
    shards: Vec<Shard<N>>,
    /// Shard and slot of each node.
    places: Vec<(u16, u32)>,
    lookaheads: Vec<Time>,
    now: Time,
}

impl<N: Node> Engine<N> {
    /// An engine over `nodes`, where `wires[n]` are the egress wires of node `n` in order of port. The
    /// nodes are divided among `threads` (at least one) in contiguous ranges of about equally many wires,
    /// so neighbours should stand together. Every node runs once at time zero to name its first event.
    ///
    /// # Errors
    /// If a wire ends nowhere, has no delay, or shares its ingress port with another.
    pub fn new(nodes: Vec<N>, wires: &[Vec<WireSpec>], threads: usize) -> Result<Self, EngineError> {
        let count = nodes.len();
        let mut ingress_ports = vec![0u32; count];
        for (node, wires) in wires.iter().enumerate() {
            for (port, wire) in wires.iter().enumerate() {
                if wire.node as usize >= count {
                    return Err(EngineError::NoSuchNode { node: node as u32, port, end: wire.node, nodes: count });
                }
                if wire.lookahead == Time::ZERO {
                    return Err(EngineError::NoDelay { node: node as u32, port });
                }
                let ports = &mut ingress_ports[wire.node as usize];
                *ports = (*ports).max(u32::from(wire.port) + 1);
            }
        }
        let places = divide(wires, threads.clamp(1, count.max(1)));
        let shard_count = places.last().map_or(1, |&(shard, _)| shard as usize + 1);

        let mut ring_counts = vec![0u32; shard_count];
        let mut first_rings = Vec::with_capacity(count);
        for (node, &(shard, _)) in places.iter().enumerate() {
            first_rings.push(ring_counts[shard as usize]);
            ring_counts[shard as usize] += ingress_ports[node];
        }

        let mut taken: Vec<Vec<bool>> = ring_counts.iter().map(|&n| vec![false; n as usize]).collect();
        let mut shard_wires: Vec<Vec<Wire>> = vec![Vec::new(); shard_count];
        let mut shard_slots: Vec<Vec<Slot>> = (0..shard_count).map(|_| Vec::new()).collect();
        let mut shard_nodes: Vec<Vec<N>> = (0..shard_count).map(|_| Vec::new()).collect();
        let mut lookaheads = Vec::with_capacity(count);
        for (index, node) in nodes.into_iter().enumerate() {
            let shard = places[index].0 as usize;
            let first_wire = shard_wires[shard].len() as u32;
            let empty = Vec::new();
            let specs = wires.get(index).unwrap_or(&empty);
            for spec in specs {
                let (end_shard, end_slot) = places[spec.node as usize];
                let ring = first_rings[spec.node as usize] + u32::from(spec.port);
                if std::mem::replace(&mut taken[end_shard as usize][ring as usize], true) {
                    return Err(EngineError::SharedPort { node: spec.node, port: spec.port });
                }
                shard_wires[shard].push(Wire { ring, slot: end_slot, port: spec.port, shard: end_shard });
            }
            let lookahead = specs.iter().map(|w| w.lookahead).min().unwrap_or(LONGEST_WINDOW).min(LONGEST_WINDOW);
            lookaheads.push(lookahead);
            shard_slots[shard].push(Slot {
                next: Time::ZERO,
                agenda: Time::MAX,
                lookahead,
                first_ring: first_rings[index],
                wires: (first_wire, shard_wires[shard].len() as u32),
                pooled: true,
                active: false,
                ports: ingress_ports[index] as u16,
                waiting: 0,
            });
            shard_nodes[shard].push(node);
        }
        let shards = shard_nodes
            .into_iter()
            .zip(shard_wires)
            .zip(shard_slots)
            .enumerate()
            .map(|(index, ((nodes, wires), slots))| {
                let rings = (0..ring_counts[index]).map(|_| Ring::new()).collect();
                let mut mail = Mail::new(index as u16, slots, rings, shard_count);
                mail.pool = (0..nodes.len() as u32).collect();
                Shard {
                    nodes,
                    wires,
                    mail,
                    agenda: Agenda::default(),
                    ready: Vec::new(),
                    active: Vec::new(),
                    statistics: Statistics::default(),
                }
            })
            .collect();
        Ok(Engine { shards, places, lookaheads, now: Time::ZERO })
    }

    /// Every event before this instant has been executed.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no node at all.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Node `index`, as it is at [`Engine::now`].
    pub fn node(&self, index: usize) -> &N {
        let (shard, slot) = self.places[index];
        &self.shards[shard as usize].nodes[slot as usize]
    }

    /// Node `index`, to change it between two calls of [`Engine::run_until`]. It runs again in the next
    /// window, so a change may create an event at or after [`Engine::now`].
    pub fn node_mut(&mut self, index: usize) -> &mut N {
        let (shard, slot_index) = self.places[index];
        let shard = &mut self.shards[shard as usize];
        let slot = &mut shard.mail.slots[slot_index as usize];
        slot.next = slot.next.min(self.now);
        if !slot.pooled {
            slot.pooled = true;
            slot.agenda = Time::MAX;
            shard.mail.pool.push(slot_index);
        }
        &mut shard.nodes[slot_index as usize]
    }

    /// All nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = &N> {
        (0..self.len()).map(|index| self.node(index))
    }

    /// The nodes that ran since the last call, ascending: whoever watches a large network looks only at
    /// them. The same for any number of threads.
    pub fn take_active(&mut self) -> Vec<u32> {
        let mut taken = Vec::new();
        // A shard's nodes are contiguous: its first is the one in slot 0.
        let mut first = 0;
        for shard in &mut self.shards {
            let start = taken.len();
            for slot in shard.active.drain(..) {
                shard.mail.slots[slot as usize].active = false;
                taken.push(first + slot);
            }
            taken[start..].sort_unstable();
            first += shard.nodes.len() as u32;
        }
        taken
    }

    /// The messages on the wires into node `index`: by ingress port, oldest first.
    pub fn in_flight(&self, index: usize) -> impl Iterator<Item = &N::Message> {
        let (shard, slot) = self.places[index];
        let mail = &self.shards[shard as usize].mail;
        let slot = &mail.slots[slot as usize];
        let first = slot.first_ring as usize;
        slot.waiting_ports().into_iter().flat_map(move |port| mail.rings[first + port].iter())
    }

    /// When the earliest event of any node comes; [`Time::MAX`] if nothing will ever happen again.
    pub fn next_event(&self) -> Time {
        self.shards.iter().flat_map(|shard| shard.mail.slots.iter().map(|slot| slot.next)).min().unwrap_or(Time::MAX)
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            windows: self.shards.first().map_or(0, |shard| shard.statistics.windows),
            runs: self.shards.iter().map(|shard| shard.statistics.runs).sum(),
        }
    }

    /// Executes every event before `stop`.
    ///
    /// # Panics
    /// If a node panics; the panic is passed on whatever thread it came from.
    pub fn run_until(&mut self, stop: Time) {
        if stop <= self.now {
            return;
        }
        if self.shards.len() == 1 {
            let (shard, now) = (&mut self.shards[0], self.now);
            let mut base = now;
            while base < stop {
                let end = shard.horizon().min(stop);
                shard.window(base, end);
                base = end;
            }
        } else {
            self.run_threads(stop);
        }
        self.now = stop;
    }

    fn run_threads(&mut self, stop: Time) {
        let count = self.shards.len();
        let barrier = Barrier::new(count);
        let exchange = Exchange::new(count);
        let (places, lookaheads, now) = (&self.places, &self.lookaheads, self.now);
        // Where the nodes of each shard begin, to find a parcel's lookahead.
        let mut firsts = vec![0usize; count];
        for (node, &(shard, slot)) in places.iter().enumerate() {
            if slot == 0 {
                firsts[shard as usize] = node;
            }
        }
        let firsts = &firsts;
        std::thread::scope(|scope| {
            for (index, shard) in self.shards.iter_mut().enumerate() {
                let (barrier, exchange) = (&barrier, &exchange);
                scope.spawn(move || {
                    let _breaker = Breaker(barrier);
                    let mut base = now;
                    let mut parity = 0;
                    while base < stop {
                        // What this shard knows: its own nodes, and what it just sent to others.
                        let mut horizon = shard.horizon();
                        for (to, parcels) in shard.mail.outgoing.iter_mut().enumerate() {
                            for parcel in parcels.iter() {
                                let lookahead = lookaheads[firsts[to] + parcel.wire.slot as usize];
                                horizon = horizon.min(parcel.message.at().saturating_add(lookahead));
                            }
                            if !parcels.is_empty() {
                                exchange.put(parity, index, to, parcels);
                            }
                        }
                        exchange.horizons[parity][index].0.store(horizon.as_ps(), Ordering::Release);
                        if !barrier.wait() {
                            return;
                        }
                        let end = exchange.horizon(parity).min(stop);
                        exchange.collect(parity, index, &mut shard.mail);
                        shard.window(base, end);
                        base = end;
                        parity ^= 1;
                    }
                    // The last window's parcels: deliver them before the threads part.
                    for (to, parcels) in shard.mail.outgoing.iter_mut().enumerate() {
                        if !parcels.is_empty() {
                            exchange.put(parity, index, to, parcels);
                        }
                    }
                    if barrier.wait() {
                        exchange.collect(parity, index, &mut shard.mail);
                    }
                });
            }
        });
    }
}

/// Contiguous ranges of nodes with about equally many wires each.
fn divide(wires: &[Vec<WireSpec>], shards: usize) -> Vec<(u16, u32)> {
    let weight = |wires: &Vec<WireSpec>| wires.len() as u64 + 1;
    let total: u64 = wires.iter().map(weight).sum();
    let mut places = Vec::with_capacity(wires.len());
    let (mut before, mut previous, mut slot) = (0u64, 0u16, 0u32);
    for wires in wires {
        let wanted = (before * shards as u64 / total.max(1)) as u16;
        // Never skip a shard: every thread has at least one node.
        let shard = if wanted > previous { previous + 1 } else { previous };
        slot = if shard == previous { slot } else { 0 };
        places.push((shard, slot));
        (previous, slot) = (shard, slot + 1);
        before += weight(wires);
    }
    places
}

impl<N: Node> Shard<N> {
    /// The end of the next window as far as this shard's nodes allow, and moves every node that may run
    /// in it from the agenda into the pool.
    fn horizon(&mut self) -> Time {
        let mut horizon = Time::MAX;
        for &index in &self.mail.pool {
            let slot = &self.mail.slots[index as usize];
            horizon = horizon.min(slot.next.saturating_add(slot.lookahead));
        }
        while let Some((at, index)) = self.agenda.pop_before(horizon) {
            let slot = &mut self.mail.slots[index as usize];
            if slot.agenda != at {
                continue; // outdated: it has been in the pool since
            }
            slot.agenda = Time::MAX;
            slot.pooled = true;
            self.mail.pool.push(index);
            horizon = horizon.min(at.saturating_add(slot.lookahead));
        }
        horizon
    }

    /// Runs every node of the pool that has an event in [base, end).
    fn window(&mut self, base: Time, end: Time) {
        // A node that is due within a few more windows stays in the pool: looking at it again is cheaper
        // than a round through the agenda. In a small pool all stay.
        let near = if self.mail.pool.len() <= SMALL_POOL {
            Time::MAX
        } else {
            end.saturating_add((end - base).min(LONGEST_WINDOW) * 4)
        };
        self.ready.clear();
        let (slots, ready, agenda) = (&mut self.mail.slots, &mut self.ready, &mut self.agenda);
        self.mail.pool.retain(|&index| {
            let slot = &mut slots[index as usize];
            if slot.next < end {
                ready.push(index);
                return true;
            }
            if slot.next < near {
                return true;
            }
            slot.pooled = false;
            if slot.next < Time::MAX {
                slot.agenda = slot.next;
                agenda.push(slot.next, index);
            }
            false
        });
        // In order of memory, which the processor then fetches ahead.
        if self.ready.len() > 1 {
            self.ready.sort_unstable();
        }
        self.statistics.windows += 1;
        self.statistics.runs += self.ready.len() as u64;
        for (turn, &index) in self.ready.iter().enumerate() {
            for turns in 1..=APPROACH.min(self.ready.len() - 1 - turn) {
                if let Some(&soon) = self.ready.get(turn + turns) {
                    let (from, to) = self.mail.slots[soon as usize].wires;
                    self.mail.approach(soon as usize, &self.wires[from as usize..to as usize], turns);
                    self.nodes[soon as usize].approach(turns);
                }
            }
            let index = index as usize;
            let slot = &mut self.mail.slots[index];
            // The node's events start no earlier than this: a base for short keys.
            let first = slot.next.min(end);
            let (wires, first_ring) = (slot.wires, slot.first_ring as usize);
            slot.next = Time::MAX;
            if !slot.active {
                slot.active = true;
                self.active.push(index as u32);
            }
            self.mail.gather(index, first, end);
            let wires = &self.wires[wires.0 as usize..wires.1 as usize];
            let mut window = Window::new(&mut self.mail, wires, first_ring, first, end);
            let own = self.nodes[index].run(&mut window);
            debug_assert!(window.taken_all(), "a node left arrivals behind");
            debug_assert!(own >= end, "a node left an event behind");
            let next = own.min(self.mail.settle(index));
            let slot = &mut self.mail.slots[index];
            slot.next = slot.next.min(next);
        }
    }
}

/// A value on a cache line of its own: two threads writing neighbours would fight over the line.
#[repr(align(128))]
struct Apart<T>(T);

/// What one shard has for another.
type PostBox<M> = Apart<Mutex<Vec<Parcel<M>>>>;

/// Parcels on their way from shard to shard, for two windows in turn.
struct Exchange<M> {
    count: usize,
    parcels: [Vec<PostBox<M>>; 2],
    horizons: [Vec<Apart<AtomicU64>>; 2],
}

impl<M: Message> Exchange<M> {
    fn new(count: usize) -> Self {
        Exchange {
            count,
            parcels: std::array::from_fn(|_| (0..count * count).map(|_| Apart(Mutex::new(Vec::new()))).collect()),
            horizons: std::array::from_fn(|_| (0..count).map(|_| Apart(AtomicU64::new(0))).collect()),
        }
    }

    fn put(&self, parity: usize, from: usize, to: usize, parcels: &mut Vec<Parcel<M>>) {
        let cell = &self.parcels[parity][from * self.count + to].0;
        std::mem::swap(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner), parcels);
    }

    fn collect(&self, parity: usize, to: usize, mail: &mut Mail<M>) {
        for from in 0..self.count {
            let cell = &self.parcels[parity][from * self.count + to].0;
            for parcel in cell.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
                mail.deliver(parcel.wire, parcel.message);
            }
        }
    }

    fn horizon(&self, parity: usize) -> Time {
        let times = self.horizons[parity].iter().map(|cell| cell.0.load(Ordering::Acquire));
        Time::from_ps(times.min().unwrap_or(u64::MAX))
    }
}
