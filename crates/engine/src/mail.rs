//! Mailboxes, and what a node sees of them while it runs.

use crate::node::Message;
use crate::order::Sorter;
use crate::prefetch::prefetch;
use crate::ring::Ring;
use units::Time;

/// Where an outgoing wire ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// Where it ends with another rank there is no ring: see [`Wire::abroad`].
    pub(crate) ring: u32,
    pub(crate) slot: u32,
    /// What its ingress port is in [`Slot::waiting`].
    bit: u64,
}

impl Wire {
    pub(crate) fn new(ring: u32, slot: u32, port: u16) -> Self {
        Wire { ring, slot, bit: 1 << (port & 63) }
    }

    /// To a node of another rank, which numbers its rings itself.
    pub(crate) fn abroad(slot: u32, port: u16) -> Self {
        Wire::new(u32::MAX - u32::from(port), slot, port)
    }

    /// By which port a message comes to a node of another rank.
    pub(crate) fn port_abroad(&self) -> u16 {
        (u32::MAX - self.ring) as u16
    }
}

/// What the engine knows of one node: one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    /// Its next event, its own or an arrival.
    pub(crate) next: Time,
    /// The time of its valid timer, or [`Time::MAX`] if it has none. Of a node that is not in the pool, no later than
    /// its next event.
    pub(crate) timer: Time,
    /// The least lookahead of its outgoing wires.
    pub(crate) lookahead: Time,
    /// Its first incoming ring.
    pub(crate) first_ring: u32,
    /// Its wires.
    pub(crate) wires: (u32, u32),
    /// Of the network: see [`crate::sides`].
    pub(crate) side: u8,
    pub(crate) pooled: bool,
    /// Whether it stands in its part's list of active nodes.
    pub(crate) active: bool,
    /// How many ingress ports it has.
    pub(crate) ports: u16,
    /// Ingress ports whose ring holds something: bit b stands for ports b, b + 64, ...
    pub(crate) waiting: u64,
}

/// Calls `look` with every ingress port, of `ports`, that `waiting` stands for, ascending.
#[inline]
fn for_each_waiting(waiting: u64, ports: u16, mut look: impl FnMut(usize)) {
    let mut first = 0;
    loop {
        let mut left = waiting;
        while left != 0 {
            let port = first + left.trailing_zeros() as usize;
            left &= left - 1;
            if port >= usize::from(ports) {
                return;
            }
            look(port);
        }
        first += 64;
        if first >= usize::from(ports) {
            return;
        }
    }
}

/// Pools of nodes: two for each side.
pub(crate) const POOLS: usize = 4;

impl Slot {
    /// Which pool the node belongs to: that of its side, and there the one of nodes with one port or of those with
    /// more, since mostly those with one port do the same when they run, and others something else.
    #[inline]
    pub(crate) fn pool(&self) -> usize {
        usize::from(self.side & 1) * 2 + usize::from(self.ports <= 1)
    }

    /// Ingress ports whose ring may hold something.
    pub(crate) fn waiting_ports(&self) -> Vec<usize> {
        let mut waiting = Vec::new();
        for_each_waiting(self.waiting, self.ports, |port| waiting.push(port));
        waiting
    }
}

/// A message for a node of another part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel<M> {
    pub(crate) wire: Wire,
    pub(crate) message: M,
}

/// Low bits of a key: which of the window's arrivals it is, counted by port, then by age. The rest is its time, which
/// [`LONGEST_WINDOW`](crate::sides::LONGEST_WINDOW) keeps below 2^40 ps.
const KEY_PLACE_BITS: u32 = 24;

/// See [`KEY_PLACE_BITS`].
const MOST_ARRIVALS: usize = 1 << KEY_PLACE_BITS;

/// Behind all arrivals: no arrival is so late in its window.
const LAST_KEY: u64 = u64::MAX;

/// The low bits of `key`.
#[inline]
fn place_of(key: u64) -> usize {
    (key & (MOST_ARRIVALS as u64 - 1)) as usize
}

/// Where an arrival lies, and by which port it came.
#[derive(Debug)]
struct Place<M> {
    message: *const M,
    port: u16,
}

impl<M> Clone for Place<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Place<M> {}

// SAFETY: whoever has a place has the rings of its part, too, and reads nothing by it but in the window that made it:
// see `Window::take_with`.
unsafe impl<M: Send> Send for Place<M> {}

/// What a part of the nodes keeps of its mail from one window to the next. Slots are numbered from the part's
/// first.
#[derive(Debug)]
pub(crate) struct Desk<M> {
    /// Nodes that run in this window or soon: see [`Slot::pool`].
    pub(crate) pools: [Vec<u32>; POOLS],
    /// Parcels for other parts, by part.
    pub(crate) outgoing: Vec<Vec<Parcel<M>>>,
    scratch: Scratch<M>,
}

/// What the arrivals of a node are put in order in.
#[derive(Debug)]
struct Scratch<M> {
    lists: Lists<M>,
    sorter: Sorter,
}

/// How many keys stand behind those of arrivals: behind each arrival stand two, see [`Window::rotate_ties`].
const AFTER: usize = 2;

/// The arrivals of the node that runs. Both lists are equally long, and longer than what they hold.
#[derive(Debug)]
struct Lists<M> {
    /// (time since its first event) << [`KEY_PLACE_BITS`] | which it is, ascending, then [`LAST_KEY`], [`AFTER`] times.
    keys: Vec<u64>,
    /// As the low bits of keys count them.
    places: Vec<Place<M>>,
}

impl<M> Lists<M> {
    /// Without room for anything, until they grow.
    const NONE: Self = Lists { keys: Vec::new(), places: Vec::new() };

    /// Makes both at least this long.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, length: usize) {
        assert!(length < MOST_ARRIVALS, "too many arrivals in a window");
        let length = length.next_power_of_two().max(64);
        self.keys.resize(length, LAST_KEY);
        self.places.resize(length, Place { message: std::ptr::null(), port: 0 });
    }
}

impl<M> Desk<M> {
    pub(crate) fn new(parts: usize) -> Self {
        Desk {
            pools: [const { Vec::new() }; POOLS],
            outgoing: (0..parts).map(|_| Vec::new()).collect(),
            scratch: Scratch { lists: Lists::NONE, sorter: Sorter::new() },
        }
    }
}

/// Which nodes of a part have mail.
#[derive(Debug)]
pub(crate) struct Post<'a> {
    /// Of the part's nodes, in order.
    pub(crate) slots: &'a mut [Slot],
    /// See [`Desk`].
    pub(crate) pools: &'a mut [Vec<u32>; POOLS],
    /// The first slot of the part among all.
    pub(crate) first_slot: u32,
}

impl Post<'_> {
    /// Notes that the node at the end of `wire`, one of this part, receives something at `at`.
    #[inline]
    fn expect(&mut self, wire: &Wire, at: Time) {
        let index = wire.slot - self.first_slot;
        debug_assert!((index as usize) < self.slots.len());
        // SAFETY: callers have the wire's ring in hand, which is of this part, and a part has the slots of its rings
        // (`Division`). Wires are made by `Engine::new`, which checks where they end, and nowhere else.
        let slot = unsafe { self.slots.get_unchecked_mut(index as usize) };
        slot.waiting |= wire.bit;
        // Whether it is the first of its window cannot be predicted, and so is no branch.
        slot.next = slot.next.min(at);
        if !slot.pooled {
            slot.pooled = true;
            self.pools[slot.pool()].push(index);
        }
    }
}

/// Takes from `ring` what comes by `port` between these two instants, and lists it behind the `count` that are listed
/// already. How many are then, and when the first comes that is left: [`Time::MAX`] for nothing.
#[inline(always)] // once for every ring that holds something
fn list<M: Message>(
    ring: &mut Ring<M>,
    port: u16,
    (base, end): (Time, Time),
    lists: &mut Lists<M>,
    count: usize,
) -> (usize, Time) {
    let most = count + ring.len() + AFTER;
    if most > lists.keys.len() {
        lists.grow(most);
    }
    debug_assert!(lists.places.len() == lists.keys.len());
    let (keys, places) = (lists.keys.as_mut_ptr(), lists.places.as_mut_ptr());
    let (mut next, mut left) = (count, Time::MAX);
    ring.take_while(|message| {
        let at = message.at();
        if at >= end {
            left = at;
            return false;
        }
        debug_assert!(at >= base, "a message from the past: {at:?} before {base:?}");
        debug_assert!(next < most);
        let key = (at.as_ps() - base.as_ps()) << KEY_PLACE_BITS | next as u64;
        // SAFETY: both lists are longer than what was listed before and all messages of the ring.
        unsafe {
            keys.add(next).write(key);
            places.add(next).write(Place { message, port });
        }
        next += 1;
        true
    });
    (next, left)
}

/// A place for a message that goes over `wire` to another part.
#[inline(never)]
fn export<M: Message>(outgoing: &mut Vec<Parcel<M>>, wire: Wire) -> &mut M {
    let last = outgoing.len();
    outgoing.push(Parcel { wire, message: M::default() });
    &mut outgoing[last].message
}

/// One node's view of one window: its arrivals, and its wires.
///
/// In truth it is all mailboxes of a part, made once for many windows and opened for one node after the other, so that
/// little has to be set for each.
#[derive(Debug)]
pub struct Window<'a, M> {
    lists: Lists<M>,
    /// How many arrivals they hold, and which is the next.
    count: usize,
    cursor: usize,
    base: Time,
    /// When the arrival at the cursor comes.
    next: Time,
    end: Time,
    wires: &'a [Wire],
    /// Of the part's nodes, in order.
    rings: &'a mut [Ring<M>],
    /// The first ring of the part among all.
    first_ring: u32,
    pub(crate) post: Post<'a>,
    /// See [`Desk`].
    pub(crate) outgoing: &'a mut [Vec<Parcel<M>>],
    /// Which part a slot belongs to.
    part_of: &'a [u16],
    /// Who lent the lists, and gets them back.
    scratch: &'a mut Scratch<M>,
}

impl<M> Drop for Window<'_, M> {
    fn drop(&mut self) {
        std::mem::swap(&mut self.scratch.lists, &mut self.lists);
    }
}

impl<'a, M: Message> Window<'a, M> {
    /// Of the part with these nodes and rings, which are numbered from these `firsts`.
    pub(crate) fn new(
        (slots, rings): (&'a mut [Slot], &'a mut [Ring<M>]),
        (first_slot, first_ring): (u32, u32),
        desk: &'a mut Desk<M>,
        part_of: &'a [u16],
    ) -> Self {
        let Desk { pools, outgoing, scratch } = desk;
        let mut lists = std::mem::replace(&mut scratch.lists, Lists::NONE);
        if lists.keys.is_empty() {
            lists.grow(AFTER);
        }
        Window {
            lists,
            count: 0,
            cursor: 0,
            base: Time::ZERO,
            next: Time::MAX,
            end: Time::ZERO,
            wires: &[],
            rings,
            first_ring,
            post: Post { slots, pools, first_slot },
            outgoing,
            part_of,
            scratch,
        }
    }

    /// Puts a message into the mailbox of a node of this part.
    #[inline]
    pub(crate) fn deliver(&mut self, wire: Wire, message: M) {
        self.rings[(wire.ring - self.first_ring) as usize].push(message);
        self.post.expect(&wire, message.at());
    }

    /// From now on windows end there.
    #[inline]
    pub(crate) fn set_end(&mut self, end: Time) {
        self.end = end;
    }

    /// Node `index` runs soon: asks for its ring headers and those behind its `wires`, or one turn before it
    /// runs for the messages.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize, wires: &[Wire], turns: usize) {
        let slot = &self.post.slots[index];
        let first = (slot.first_ring - self.first_ring) as usize;
        match turns {
            1 => {
                for_each_waiting(slot.waiting, slot.ports, |port| self.rings[first + port].prefetch(8));
                for wire in wires {
                    if let Some(ring) = self.rings.get(wire.ring.wrapping_sub(self.first_ring) as usize) {
                        prefetch(ring);
                        prefetch(&self.post.slots[(wire.slot - self.post.first_slot) as usize]);
                    }
                }
            }
            2 => prefetch(&self.rings[first..first + usize::from(slot.ports)]),
            _ => prefetch(wires),
        }
    }

    /// From now on it is that of node `index`, whose first event comes at `base` or later: takes from its rings what it
    /// receives before the end, and lists it. That lies where it lay until something else is put there. Returns when
    /// the earliest arrives that is left.
    ///
    /// # Safety
    /// There is a slot `index`: it is asked for once for every run of a node.
    #[inline(always)] // left to itself the compiler decides anew with every change
    pub(crate) unsafe fn open(&mut self, index: usize, wires: &'a [Wire], base: Time) -> Time {
        debug_assert!(index < self.post.slots.len());
        // SAFETY: the caller's promise.
        let slot = unsafe { self.post.slots.get_unchecked_mut(index) };
        let (mut count, mut left) = (0, Time::MAX);
        if slot.waiting != 0 {
            // A host has one port, and at many a switch messages come by one at a time: what came by one is in order.
            if slot.waiting.is_power_of_two() && slot.ports <= 64 {
                let port = slot.waiting.trailing_zeros() as u16;
                let ring = &mut self.rings[(slot.first_ring - self.first_ring) as usize + usize::from(port)];
                (count, left) = list(ring, port, (base, self.end), &mut self.lists, 0);
                slot.waiting = if left == Time::MAX { 0 } else { slot.waiting };
            } else {
                (count, left) = self.gather(index, base);
            }
        }
        debug_assert!(count + AFTER <= self.lists.keys.len());
        let keys = self.lists.keys.as_mut_ptr();
        // SAFETY: the list is longer by as many than what it holds: as `Window::new` makes it, and as `list` leaves it.
        let first = unsafe {
            keys.add(count).cast::<[u64; AFTER]>().write([LAST_KEY; AFTER]);
            *keys
        };
        (self.wires, self.base, self.count, self.cursor) = (wires, base, count, 0);
        self.next = self.time_of(first);
        left
    }

    /// As [`Window::open`] of a node with messages by several ports: lists them in order. How many there are, and when
    /// the earliest arrives that is left.
    #[inline(never)] // a loop with all registers for itself
    fn gather(&mut self, index: usize, base: Time) -> (usize, Time) {
        let end = self.end;
        let slot = &mut self.post.slots[index];
        let first_ring = (slot.first_ring - self.first_ring) as usize;
        let Window { lists, rings, .. } = self;
        let (mut count, mut earliest, mut waiting) = (0, Time::MAX, 0);
        for_each_waiting(slot.waiting, slot.ports, |port| {
            let left;
            (count, left) = list(&mut rings[first_ring + port], port as u16, (base, end), lists, count);
            earliest = earliest.min(left);
            waiting |= u64::from(left != Time::MAX) << (port & 63);
        });
        slot.waiting = waiting;
        if count > 1 {
            let span_ps = end.as_ps() - base.as_ps();
            self.scratch.sorter.sort(&mut lists.keys[..count], KEY_PLACE_BITS + u64::BITS - span_ps.leading_zeros());
        }
        (count, earliest)
    }

    /// The key at the cursor.
    #[inline]
    fn key(&self) -> u64 {
        debug_assert!(self.cursor < self.lists.keys.len());
        // SAFETY: the cursor begins at 0, of keys that end with twice the last one, which none other is like. It moves
        // in `take` alone, which does not go beyond the first of them.
        unsafe { *self.lists.keys.get_unchecked(self.cursor) }
    }

    #[inline]
    fn time_of(&self, key: u64) -> Time {
        if key == LAST_KEY { Time::MAX } else { Time::from_ps(self.base.as_ps() + (key >> KEY_PLACE_BITS)) }
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

    /// How many arrivals it holds that were not taken yet.
    #[inline]
    pub fn arrivals(&self) -> usize {
        self.count - self.cursor
    }

    /// Call at the first arrival of an instant: of its n simultaneous arrivals, in order of ingress port,
    /// that with index `start` mod n comes first, and the others follow cyclically.
    #[inline(always)]
    pub fn rotate_ties(&mut self, start: impl FnOnce() -> u32) {
        debug_assert!(self.cursor + 1 < self.lists.keys.len());
        // SAFETY: the cursor comes to the first of the last two keys and not beyond: see `key`.
        let second = unsafe { *self.lists.keys.get_unchecked(self.cursor + 1) };
        // A key of an arrival and the last one differ in their times.
        if (self.key() ^ second) >> KEY_PLACE_BITS == 0 {
            self.rotate(start());
        }
    }

    // Apart, or the compiler takes both out of a switch's loop, where the question alone costs two instructions.
    #[cold]
    #[inline(never)]
    fn rotate(&mut self, start: u32) {
        let Lists { keys, places } = &mut self.lists;
        let keys = &mut keys[self.cursor..self.count];
        let instant = keys[0] >> KEY_PLACE_BITS;
        let ties = keys.iter().take_while(|&&key| key >> KEY_PLACE_BITS == instant).count();
        let (keys, turns) = (&mut keys[..ties], start as usize % ties);
        let port = |key: u64| places[place_of(key)].port;
        // What came by one port stays in order. Of one port at most the messages are parted: that whose turn is first.
        let parted = turns > 0 && port(keys[turns - 1]) == port(keys[turns]);
        let own: Vec<u64> = keys.iter().copied().filter(|&key| parted && port(key) == port(keys[turns])).collect();
        keys.rotate_left(turns);
        if let Some(&first) = own.first() {
            let turned = keys.iter_mut().filter(|key| port(**key) == port(first));
            turned.zip(own).for_each(|(key, own)| *key = own);
        }
    }

    /// Takes the next arrival and its ingress port.
    ///
    /// # Panics
    /// If the window holds no more.
    #[inline]
    pub fn take(&mut self) -> (u16, M) {
        self.take_with(|port, message, _| (port, *message))
    }

    /// As [`Window::take`], where `handle` gets the ingress port and looks at the message where it lies. It may send
    /// meanwhile.
    ///
    /// # Panics
    /// If the window holds no more.
    #[inline(always)] // once a packet-hop
    pub fn take_with<R>(&mut self, handle: impl FnOnce(u16, &M, &mut Self) -> R) -> R {
        let key = self.key();
        assert!(key != LAST_KEY, "an arrival that is left");
        self.cursor += 1;
        self.next = self.time_of(self.key());
        let place = place_of(key);
        debug_assert!(place < self.count);
        // SAFETY: `open` has made this key, and its low bits count the places that it made.
        let Place { message, port } = unsafe { *self.lists.places.get_unchecked(place) };
        // SAFETY: a ring that drops a message lets it lie until another is pushed. Who pushes into rings of this part
        // while its window is open is this window alone, and only into those at the ends of the wires of the node that
        // runs: never into its own, since `Engine::new` refuses a wire from a node to itself. So nobody writes or
        // moves what lies here before `handle` returns.
        handle(port, unsafe { &*message }, self)
    }

    /// Sends `message` over the wire of egress `port`; it must arrive at or after the window's end, which
    /// the wire's lookahead guarantees for anything sent now.
    #[inline]
    pub fn send(&mut self, port: u16, message: M) {
        *self.slot(port, message.at()) = message;
    }

    /// As [`Window::send`], for a message that arrives `at`: its place on the wire, and in it whatever stood there. The
    /// caller writes the message there at once.
    #[inline(always)] // a call costs a dozen instructions, and is made once a packet-hop
    pub fn slot(&mut self, port: u16, at: Time) -> &mut M {
        let wire = &self.wires[usize::from(port)];
        // A ring of another part is far beyond the end, or below the first and so wraps beyond it.
        match self.rings.get_mut(wire.ring.wrapping_sub(self.first_ring) as usize) {
            Some(ring) => {
                self.post.expect(wire, at);
                ring.push_slot()
            }
            None => export(&mut self.outgoing[usize::from(self.part_of[wire.slot as usize])], *wire),
        }
    }

    pub(crate) fn taken_all(&self) -> bool {
        self.cursor == self.count
    }
}
