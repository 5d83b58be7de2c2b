//! Mailboxes, and what a node sees of them while it runs.

use crate::Message;
use crate::ring::Ring;
use units::Time;

/// Where an outgoing wire ends. Rings and slots are numbered within the shard that owns the receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub(crate) ring: u32,
    pub(crate) slot: u32,
    pub(crate) port: u16,
    pub(crate) shard: u16,
}

/// What the engine knows of one node: one cache line.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Its next event, its own or an arrival.
    pub(crate) next: Time,
    /// The time of its valid agenda entry, or [`Time::MAX`] while it is in the pool or has none.
    pub(crate) agenda: Time,
    /// The least lookahead of its outgoing wires.
    pub(crate) lookahead: Time,
    /// Its first incoming ring in the shard.
    pub(crate) first_ring: u32,
    /// Its wires in the shard.
    pub(crate) wires: (u32, u32),
    pub(crate) pooled: bool,
    /// Ingress ports whose ring holds something.
    pub(crate) waiting: Vec<u16>,
}

/// A message for a node of another shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel<M> {
    pub(crate) ring: u32,
    pub(crate) slot: u32,
    pub(crate) port: u16,
    pub(crate) message: M,
}

/// All mailboxes of one shard, and which of its nodes are near their next event.
#[derive(Debug)]
pub(crate) struct Mail<M> {
    pub(crate) shard: u16,
    pub(crate) slots: Vec<Slot>,
    pub(crate) rings: Vec<Ring<M>>,
    /// Nodes that run in this window or soon.
    pub(crate) pool: Vec<u32>,
    /// Parcels for other shards, by shard.
    pub(crate) outgoing: Vec<Vec<Parcel<M>>>,
    /// The arrivals of the node that runs: (time since the window's start) << 16 | port, ascending.
    keys: Vec<u64>,
}

impl<M: Message> Mail<M> {
    pub(crate) fn new(shard: u16, slots: Vec<Slot>, rings: Vec<Ring<M>>, shards: usize) -> Self {
        let outgoing = (0..shards).map(|_| Vec::new()).collect();
        Mail { shard, slots, rings, pool: Vec::new(), outgoing, keys: Vec::new() }
    }

    /// Puts `message` into the mailbox of a node of this shard.
    #[inline]
    pub(crate) fn deliver(&mut self, ring: u32, slot_index: u32, port: u16, message: M) {
        let at = message.at();
        let slot = &mut self.slots[slot_index as usize];
        let ring = &mut self.rings[ring as usize];
        if ring.is_empty() {
            slot.waiting.push(port);
        }
        ring.push(message);
        if at < slot.next {
            slot.next = at;
            if !slot.pooled {
                slot.pooled = true;
                slot.agenda = Time::MAX;
                self.pool.push(slot_index);
            }
        }
    }

    /// Lists what node `index` receives before `end`.
    pub(crate) fn gather(&mut self, index: usize, base: Time, end: Time) {
        self.keys.clear();
        let slot = &mut self.slots[index];
        for &port in &slot.waiting {
            for message in self.rings[slot.first_ring as usize + port as usize].iter() {
                let at = message.at();
                if at >= end {
                    break;
                }
                debug_assert!(at >= base, "a message from the past: {at:?} before {base:?}");
                self.keys.push((at.as_ps() - base.as_ps()) << 16 | u64::from(port));
            }
        }
        if self.keys.len() > 1 {
            self.keys.sort_unstable();
        }
    }

    /// Forgets the empty rings of node `index` and returns the earliest arrival that is left.
    pub(crate) fn settle(&mut self, index: usize) -> Time {
        let slot = &mut self.slots[index];
        let mut earliest = Time::MAX;
        let (rings, first) = (&self.rings, slot.first_ring as usize);
        slot.waiting.retain(|&port| match rings[first + port as usize].front() {
            Some(message) => {
                earliest = earliest.min(message.at());
                true
            }
            None => false,
        });
        earliest
    }
}

/// One node's view of one window: its arrivals, and its wires.
pub struct Window<'a, M> {
    mail: &'a mut Mail<M>,
    wires: &'a [Wire],
    first_ring: usize,
    base: Time,
    end: Time,
    cursor: usize,
}

impl<'a, M: Message> Window<'a, M> {
    pub(crate) fn new(mail: &'a mut Mail<M>, wires: &'a [Wire], first_ring: usize, base: Time, end: Time) -> Self {
        Window { mail, wires, first_ring, base, end, cursor: 0 }
    }

    /// The first instant that does not belong to the window.
    #[inline]
    pub fn end(&self) -> Time {
        self.end
    }

    /// When the next arrival comes; [`Time::MAX`] when the window holds no more.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        match self.mail.keys.get(self.cursor) {
            Some(key) => Time::from_ps(self.base.as_ps() + (key >> 16)),
            None => Time::MAX,
        }
    }

    /// Call at the first arrival of an instant: from here on its simultaneous arrivals come in order of
    /// (ingress port + `rotation`) mod `ports`. `rotation` is below `ports`.
    #[inline]
    pub fn rotate_ties(&mut self, rotation: u16, ports: u16) {
        let keys = &mut self.mail.keys[self.cursor..];
        if keys.len() < 2 || keys[0] >> 16 != keys[1] >> 16 {
            return;
        }
        let instant = keys[0] >> 16;
        let ties = keys.iter().take_while(|&&key| key >> 16 == instant).count();
        let first = u64::from(if rotation == 0 { 0 } else { ports - rotation });
        let pivot = keys[..ties].partition_point(|&key| key & 0xffff < first);
        keys[..ties].rotate_left(pivot % ties);
    }

    /// Takes the next arrival and its ingress port.
    ///
    /// # Panics
    /// If the window holds no more.
    #[inline]
    pub fn take(&mut self) -> (u16, M) {
        let port = self.mail.keys[self.cursor] as u16;
        self.cursor += 1;
        let message = self.mail.rings[self.first_ring + port as usize].pop().expect("a key for every message");
        (port, message)
    }

    /// Sends `message` over the wire of egress `port`; it must arrive at or after the window's end, which
    /// the wire's lookahead guarantees for anything sent now.
    #[inline]
    pub fn send(&mut self, port: u16, message: M) {
        debug_assert!(message.at() >= self.end, "{:?} undercuts the lookahead of port {port}", message.at());
        let wire = self.wires[port as usize];
        if wire.shard == self.mail.shard {
            self.mail.deliver(wire.ring, wire.slot, wire.port, message);
        } else {
            let parcel = Parcel { ring: wire.ring, slot: wire.slot, port: wire.port, message };
            self.mail.outgoing[wire.shard as usize].push(parcel);
        }
    }

    pub(crate) fn taken_all(&self) -> bool {
        self.cursor == self.mail.keys.len()
    }
}
