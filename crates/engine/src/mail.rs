//! Mailboxes, and what a node sees of them while it runs.

use crate::Message;
use crate::prefetch::prefetch;
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
    /// Whether it stands in its shard's list of active nodes.
    pub(crate) active: bool,
    /// How many ingress ports it has.
    pub(crate) ports: u16,
    /// Ingress ports whose ring holds something: bit b stands for ports b, b + 64, ...
    pub(crate) waiting: u64,
}

/// Calls `look` with every ingress port, of `ports`, that `waiting` stands for.
#[inline]
fn for_each_waiting(waiting: u64, ports: u16, mut look: impl FnMut(usize)) {
    let mut left = waiting;
    while left != 0 {
        let mut port = left.trailing_zeros() as usize;
        left &= left - 1;
        while port < usize::from(ports) {
            look(port);
            port += 64;
        }
    }
}

impl Slot {
    /// Ingress ports whose ring may hold something.
    pub(crate) fn waiting_ports(&self) -> Vec<usize> {
        let mut waiting = Vec::new();
        for_each_waiting(self.waiting, self.ports, |port| waiting.push(port));
        waiting
    }
}

/// A message for a node of another shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel<M> {
    pub(crate) wire: Wire,
    pub(crate) message: M,
}

/// Behind all arrivals: no arrival is so late in its window.
const LAST_KEY: u64 = u64::MAX;

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
    /// The arrivals of the node that runs: (time since the window's start) << 16 | port, ascending, then
    /// [`LAST_KEY`].
    keys: Vec<u64>,
}

/// Which nodes have mail.
struct Post<'a> {
    slots: &'a mut [Slot],
    pool: &'a mut Vec<u32>,
}

impl Post<'_> {
    /// Notes that the node at the end of `wire` receives something at `at`.
    #[inline]
    fn expect(&mut self, wire: Wire, at: Time) {
        let slot = &mut self.slots[wire.slot as usize];
        slot.waiting |= 1 << (wire.port & 63);
        if at < slot.next {
            slot.next = at;
            if !slot.pooled {
                slot.pooled = true;
                slot.agenda = Time::MAX;
                self.pool.push(wire.slot);
            }
        }
    }
}

impl<M: Message> Mail<M> {
    pub(crate) fn new(shard: u16, slots: Vec<Slot>, rings: Vec<Ring<M>>, shards: usize) -> Self {
        let outgoing = (0..shards).map(|_| Vec::new()).collect();
        Mail { shard, slots, rings, pool: Vec::new(), outgoing, keys: Vec::new() }
    }

    /// Puts a message into the mailbox of a node of this shard.
    #[inline]
    pub(crate) fn deliver(&mut self, wire: Wire, message: M) {
        self.rings[wire.ring as usize].push(message);
        Post { slots: &mut self.slots, pool: &mut self.pool }.expect(wire, message.at());
    }

    /// Node `index` runs soon: asks for its ring headers and those behind its `wires`, or one turn before it
    /// runs for the messages.
    #[inline]
    pub(crate) fn approach(&self, index: usize, wires: &[Wire], turns: usize) {
        let slot = &self.slots[index];
        let first = slot.first_ring as usize;
        match turns {
            1 => {
                for_each_waiting(slot.waiting, slot.ports, |port| self.rings[first + port].prefetch(8));
                for wire in wires.iter().filter(|wire| wire.shard == self.shard) {
                    prefetch(&self.slots[wire.slot as usize]);
                    prefetch(&self.rings[wire.ring as usize]);
                }
            }
            2 => prefetch(&self.rings[first..first + usize::from(slot.ports)]),
            _ => prefetch(wires),
        }
    }

    /// Lists what node `index` receives before `end`.
    pub(crate) fn gather(&mut self, index: usize, base: Time, end: Time) {
        self.keys.clear();
        let slot = &self.slots[index];
        let (rings, keys) = (&self.rings, &mut self.keys);
        for_each_waiting(slot.waiting, slot.ports, |port| {
            for message in rings[slot.first_ring as usize + port].iter() {
                let at = message.at();
                if at >= end {
                    break;
                }
                debug_assert!(at >= base, "a message from the past: {at:?} before {base:?}");
                keys.push((at.as_ps() - base.as_ps()) << 16 | port as u64);
            }
        });
        if self.keys.len() > 1 {
            self.keys.sort_unstable();
        }
        self.keys.push(LAST_KEY);
    }

    /// Forgets the empty rings of node `index` and returns the earliest arrival that is left.
    pub(crate) fn settle(&mut self, index: usize) -> Time {
        let slot = &self.slots[index];
        let (mut earliest, mut waiting) = (Time::MAX, 0);
        for_each_waiting(slot.waiting, slot.ports, |port| {
            if let Some(message) = self.rings[slot.first_ring as usize + port].front() {
                earliest = earliest.min(message.at());
                waiting |= 1 << (port & 63);
            }
        });
        self.slots[index].waiting = waiting;
        earliest
    }
}

/// One node's view of one window: its arrivals, and its wires.
pub struct Window<'a, M> {
    /// See [`Mail::keys`].
    keys: &'a mut [u64],
    /// All rings of the shard.
    rings: &'a mut [Ring<M>],
    post: Post<'a>,
    outgoing: &'a mut [Vec<Parcel<M>>],
    wires: &'a [Wire],
    first_ring: usize,
    shard: u16,
    base: Time,
    end: Time,
    cursor: usize,
    /// When the arrival at the cursor comes.
    next: Time,
}

impl<'a, M: Message> Window<'a, M> {
    pub(crate) fn new(mail: &'a mut Mail<M>, wires: &'a [Wire], first_ring: usize, base: Time, end: Time) -> Self {
        let Mail { shard, slots, rings, pool, outgoing, keys } = mail;
        let post = Post { slots, pool };
        let mut window =
            Window { keys, rings, post, outgoing, wires, first_ring, shard: *shard, base, end, cursor: 0, next: base };
        window.next = window.time_of(window.keys[0]);
        window
    }

    #[inline]
    fn time_of(&self, key: u64) -> Time {
        if key == LAST_KEY { Time::MAX } else { Time::from_ps(self.base.as_ps() + (key >> 16)) }
    }

    /// The first instant that does not belong to the window.
    #[inline]
    pub fn end(&self) -> Time {
        self.end
    }

    /// When the next arrival comes; [`Time::MAX`] when the window holds no more.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.next
    }

    /// Call at the first arrival of an instant: of its n simultaneous arrivals, in order of ingress port,
    /// that with index `start` mod n comes first, and the others follow cyclically.
    #[inline]
    pub fn rotate_ties(&mut self, start: u32) {
        if let [first, second, ..] = &self.keys[self.cursor..]
            && (first ^ second) >> 16 == 0
        {
            self.rotate(start);
        }
    }

    fn rotate(&mut self, start: u32) {
        let keys = &mut self.keys[self.cursor..];
        let instant = keys[0] >> 16;
        let ties = keys.iter().take_while(|&&key| key >> 16 == instant).count();
        keys[..ties].rotate_left(start as usize % ties);
    }

    /// Takes the next arrival and its ingress port.
    ///
    /// # Panics
    /// If the window holds no more.
    #[inline]
    pub fn take(&mut self) -> (u16, M) {
        let port = self.keys[self.cursor] as u16;
        self.cursor += 1;
        self.next = self.time_of(self.keys[self.cursor]);
        let ring = &mut self.rings[self.first_ring + usize::from(port)];
        let message = *ring.front().expect("a key for every message");
        ring.drop_front();
        (port, message)
    }

    /// Sends `message` over the wire of egress `port`; it must arrive at or after the window's end, which
    /// the wire's lookahead guarantees for anything sent now.
    #[inline]
    pub fn send(&mut self, port: u16, message: M) {
        self.send_with(port, |slot| *slot = message);
    }

    /// As [`Window::send`], with a message that `write` makes in its place on the wire, out of whatever
    /// stood there.
    #[inline]
    pub fn send_with(&mut self, port: u16, write: impl FnOnce(&mut M)) {
        let wire = self.wires[usize::from(port)];
        if wire.shard == self.shard {
            let message = self.rings[wire.ring as usize].push_slot();
            write(message);
            let at = message.at();
            self.post.expect(wire, at);
        } else {
            self.export(wire, write);
        }
    }

    fn export(&mut self, wire: Wire, write: impl FnOnce(&mut M)) {
        let mut parcel = Parcel { wire, message: M::default() };
        write(&mut parcel.message);
        self.outgoing[usize::from(wire.shard)].push(parcel);
    }

    pub(crate) fn taken_all(&self) -> bool {
        self.keys[self.cursor] == LAST_KEY
    }
}
