//! Mailboxes, and a running node's view of them.

use crate::node::Message;
use crate::order::Sorter;
use crate::prefetch::prefetch;
use crate::ring::Ring;
use units::Time;

/// The receiving endpoint of an outgoing wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// Index of the receiving ring. A wire to another rank has no ring in this rank: see [`Wire::to_remote_rank`].
    pub(crate) ring: u32,
    pub(crate) slot: u32,
    /// Bit of the wire's ingress port in [`Slot::nonempty_ports`].
    bit: u64,
}

impl Wire {
    pub(crate) fn new(ring: u32, slot: u32, port: u16) -> Self {
        Wire { ring, slot, bit: 1 << (port & 63) }
    }

    /// Creates a wire to a node of another rank, where the ring index is not known; `ring` encodes the port instead.
    pub(crate) fn to_remote_rank(slot: u32, port: u16) -> Self {
        Wire::new(u32::MAX - u32::from(port), slot, port)
    }

    /// Returns the ingress port of a wire to another rank.
    pub(crate) fn remote_port(&self) -> u16 {
        (u32::MAX - self.ring) as u16
    }
}

/// Engine state of one node: one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    /// Time of the node's next event: an own event or an arrival.
    pub(crate) next: Time,
    /// Time of the node's valid timer; [`Time::MAX`] without one. For a node outside the pools, at most `next`.
    pub(crate) timer: Time,
    /// Least lookahead of the node's outgoing wires.
    pub(crate) lookahead: Time,
    /// First incoming ring of the node.
    pub(crate) first_ring: u32,
    /// Range of the node's outgoing wires.
    pub(crate) wires: (u32, u32),
    /// Side of the bipartition: see [`crate::bipartition`].
    pub(crate) side: u8,
    pub(crate) in_pool: bool,
    /// Whether the node is in its partition's list of active nodes.
    pub(crate) active: bool,
    /// Number of ingress ports.
    pub(crate) ports: u16,
    /// Ingress ports with a nonempty ring: bit b represents ports b, b + 64, ...
    pub(crate) nonempty_ports: u64,
}

/// Calls `visit` with every ingress port below `ports` that `ports_mask` represents, ascending.
#[inline]
fn for_each_port(ports_mask: u64, ports: u16, mut visit: impl FnMut(usize)) {
    let mut first = 0;
    loop {
        let mut left = ports_mask;
        while left != 0 {
            let port = first + left.trailing_zeros() as usize;
            left &= left - 1;
            if port >= usize::from(ports) {
                return;
            }
            visit(port);
        }
        first += 64;
        if first >= usize::from(ports) {
            return;
        }
    }
}

/// Pools of nodes: two per side.
pub(crate) const POOLS: usize = 4;

impl Slot {
    /// Returns the node's pool: by side, then by number of ports (one, or more). Nodes with one port (hosts) mostly
    /// execute one code path, nodes with several ports (switches) another.
    #[inline]
    pub(crate) fn pool(&self) -> usize {
        usize::from(self.side & 1) * 2 + usize::from(self.ports <= 1)
    }

    /// Returns the ingress ports whose ring may be nonempty.
    pub(crate) fn list_nonempty_ports(&self) -> Vec<usize> {
        let mut ports = Vec::new();
        for_each_port(self.nonempty_ports, self.ports, |port| ports.push(port));
        ports
    }
}

/// A message to a node of another partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CrossPartMessage<M> {
    pub(crate) wire: Wire,
    pub(crate) message: M,
}

/// Low bits of a key: index of the arrival among those of the window, by port, then by age. The high bits are the
/// time of the arrival since the window's base, which [`MAX_WINDOW`](crate::bipartition::MAX_WINDOW) keeps below 2^40
/// ps.
const KEY_INDEX_BITS: u32 = 24;

/// Maximum number of arrivals of a node per window: see [`KEY_INDEX_BITS`].
const MAX_ARRIVALS: usize = 1 << KEY_INDEX_BITS;

/// Sentinel after all arrivals: greater than the key of any arrival.
const SENTINEL: u64 = u64::MAX;

/// Returns the low bits of `key`.
#[inline]
fn index_of(key: u64) -> usize {
    (key & (MAX_ARRIVALS as u64 - 1)) as usize
}

/// Address of an arrival in its ring, and its ingress port.
#[derive(Debug)]
struct ArrivalRef<M> {
    message: *const M,
    port: u16,
}

impl<M> Clone for ArrivalRef<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for ArrivalRef<M> {}

// SAFETY: the pointer is read only in the window that created it, by the thread that has the rings of the partition:
// see `Window::take_in_place`.
unsafe impl<M: Send> Send for ArrivalRef<M> {}

/// Mail state of a partition that persists between windows. Slots are numbered from the first of the partition.
#[derive(Debug)]
pub(crate) struct PartMail<M> {
    /// Nodes with an event in this window or the next few, by pool: see [`Slot::pool`].
    pub(crate) pools: [Vec<u32>; POOLS],
    /// Messages to other partitions, by partition.
    pub(crate) outgoing: Vec<Vec<CrossPartMessage<M>>>,
    scratch: Scratch<M>,
}

/// Buffers for sorting the arrivals of a node.
#[derive(Debug)]
struct Scratch<M> {
    lists: Lists<M>,
    sorter: Sorter,
}

/// Number of sentinels after the keys of arrivals: see [`Window::rotate_ties`].
const SENTINELS: usize = 2;

/// The arrivals of the running node. Both lists have the same length, which exceeds the number of arrivals.
#[derive(Debug)]
struct Lists<M> {
    /// (arrival time - base) << [`KEY_INDEX_BITS`] | index, ascending, followed by [`SENTINELS`] times [`SENTINEL`].
    keys: Vec<u64>,
    /// Addresses of the arrivals, by the low bits of their keys.
    refs: Vec<ArrivalRef<M>>,
}

impl<M> Lists<M> {
    /// Empty lists without capacity.
    const NONE: Self = Lists { keys: Vec::new(), refs: Vec::new() };

    /// Grows both lists to at least `length`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, length: usize) {
        assert!(length < MAX_ARRIVALS, "too many arrivals in a window");
        let length = length.next_power_of_two().max(64);
        self.keys.resize(length, SENTINEL);
        self.refs.resize(length, ArrivalRef { message: std::ptr::null(), port: 0 });
    }
}

impl<M> PartMail<M> {
    pub(crate) fn new(parts: usize) -> Self {
        PartMail {
            pools: [const { Vec::new() }; POOLS],
            outgoing: (0..parts).map(|_| Vec::new()).collect(),
            scratch: Scratch { lists: Lists::NONE, sorter: Sorter::new() },
        }
    }
}

/// Slots and pools of a partition.
#[derive(Debug)]
pub(crate) struct PartNodes<'a> {
    /// Slots of the partition's nodes, in order.
    pub(crate) slots: &'a mut [Slot],
    /// See [`PartMail`].
    pub(crate) pools: &'a mut [Vec<u32>; POOLS],
    /// Index of the partition's first slot in the network.
    pub(crate) first_slot: u32,
}

impl PartNodes<'_> {
    /// Records an arrival at `at` for the receiving node of `wire`, which is in this partition.
    #[inline]
    fn record_arrival(&mut self, wire: &Wire, at: Time) {
        let index = wire.slot - self.first_slot;
        debug_assert!((index as usize) < self.slots.len());
        // SAFETY: callers have the wire's ring, which belongs to this partition, and a partition has the slots of its
        // rings (`Partitioning`). Only `Engine::new` makes wires, and it checks their endpoints.
        let slot = unsafe { self.slots.get_unchecked_mut(index as usize) };
        slot.nonempty_ports |= wire.bit;
        // The comparison is unpredictable, so the update has no branch.
        slot.next = slot.next.min(at);
        if !slot.in_pool {
            slot.in_pool = true;
            self.pools[slot.pool()].push(index);
        }
    }
}

/// Takes from `ring` the messages that arrive in [base, end) by `port`, and lists them after the first `count`
/// arrivals. Returns the new count and the time of the first message that remains in the ring; [`Time::MAX`] if none
/// remains.
#[inline(always)] // hot: runs once per nonempty ring and window
fn list_arrivals<M: Message>(
    ring: &mut Ring<M>,
    port: u16,
    (base, end): (Time, Time),
    lists: &mut Lists<M>,
    count: usize,
) -> (usize, Time) {
    // Space for the whole ring, because its arrival times have not been compared with the end yet.
    let most = count + ring.len() + SENTINELS;
    if most > lists.keys.len() {
        lists.grow(most);
    }
    debug_assert!(lists.refs.len() == lists.keys.len());
    let (keys, refs) = (lists.keys.as_mut_ptr(), lists.refs.as_mut_ptr());
    let (mut next, mut left) = (count, Time::MAX);
    ring.take_while(|message| {
        let at = message.at();
        if at >= end {
            left = at;
            return false;
        }
        debug_assert!(at >= base, "a message from the past: {at:?} before {base:?}");
        debug_assert!(next < most);
        let key = (at.as_ps() - base.as_ps()) << KEY_INDEX_BITS | next as u64;
        // SAFETY: both lists are longer than the earlier content and all messages of the ring together.
        unsafe {
            keys.add(next).write(key);
            refs.add(next).write(ArrivalRef { message, port });
        }
        next += 1;
        true
    });
    (next, left)
}

/// Appends a default message over `wire` to the outgoing messages, and returns it for the caller to overwrite.
#[inline(never)]
fn export<M: Message>(outgoing: &mut Vec<CrossPartMessage<M>>, wire: Wire) -> &mut M {
    let last = outgoing.len();
    outgoing.push(CrossPartMessage { wire, message: M::default() });
    &mut outgoing[last].message
}

/// One node's view of one window: its arrivals, and its outgoing wires.
///
/// It has all mailboxes of a partition, is created once for many windows, and is reopened for each node, so that few
/// fields are set per run.
#[derive(Debug)]
pub struct Window<'a, M> {
    lists: Lists<M>,
    /// Number of listed arrivals, and index of the next one.
    count: usize,
    cursor: usize,
    base: Time,
    /// Time of the arrival at the cursor.
    next: Time,
    end: Time,
    wires: &'a [Wire],
    /// Rings of the partition's nodes, in order.
    rings: &'a mut [Ring<M>],
    /// Index of the partition's first ring in the network.
    first_ring: u32,
    pub(crate) nodes: PartNodes<'a>,
    /// See [`PartMail`].
    pub(crate) outgoing: &'a mut [Vec<CrossPartMessage<M>>],
    /// Partition of each node of the network, by [`Slot`](super::Slot) index.
    part_of: &'a [u16],
    /// Buffers to which the lists are returned on drop.
    scratch: &'a mut Scratch<M>,
}

impl<M> Drop for Window<'_, M> {
    fn drop(&mut self) {
        std::mem::swap(&mut self.scratch.lists, &mut self.lists);
    }
}

impl<'a, M: Message> Window<'a, M> {
    /// Creates the view of the partition with these slots and rings; `first_slot` and `first_ring` are their first
    /// indices.
    pub(crate) fn new(
        (slots, rings): (&'a mut [Slot], &'a mut [Ring<M>]),
        (first_slot, first_ring): (u32, u32),
        mail: &'a mut PartMail<M>,
        part_of: &'a [u16],
    ) -> Self {
        let PartMail { pools, outgoing, scratch } = mail;
        let mut lists = std::mem::replace(&mut scratch.lists, Lists::NONE);
        if lists.keys.is_empty() {
            lists.grow(SENTINELS);
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
            nodes: PartNodes { slots, pools, first_slot },
            outgoing,
            part_of,
            scratch,
        }
    }

    /// Puts a message into the mailbox of a node of this partition.
    #[inline]
    pub(crate) fn deliver(&mut self, wire: Wire, message: M) {
        self.rings[(wire.ring - self.first_ring) as usize].push(message);
        self.nodes.record_arrival(&wire, message.at());
    }

    /// Sets the end of the window for the nodes that run next.
    #[inline]
    pub(crate) fn set_end(&mut self, end: Time) {
        self.end = end;
    }

    /// Prefetches the mail state of node `index`, which runs `distance` nodes later: at 3 its `wires`, at 2 its ring
    /// headers, at 1 its messages and the rings of the receivers of its wires.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize, wires: &[Wire], distance: usize) {
        let slot = &self.nodes.slots[index];
        let first = (slot.first_ring - self.first_ring) as usize;
        match distance {
            1 => {
                for_each_port(slot.nonempty_ports, slot.ports, |port| self.rings[first + port].prefetch(8));
                for wire in wires {
                    if let Some(ring) = self.rings.get(wire.ring.wrapping_sub(self.first_ring) as usize) {
                        prefetch(ring);
                        prefetch(&self.nodes.slots[(wire.slot - self.nodes.first_slot) as usize]);
                    }
                }
            }
            2 => prefetch(&self.rings[first..first + usize::from(slot.ports)]),
            _ => prefetch(wires),
        }
    }

    /// Opens the window for node `index`, whose first event is at `base` or later: takes the messages that arrive
    /// before the end of the window from the node's rings, and lists them. The messages remain valid in their rings
    /// until the next push. Returns the time of the earliest message that remains.
    ///
    /// # Safety
    /// `index` must be a valid slot; it is not checked, as this runs for every run of a node.
    #[inline(always)] // otherwise unrelated edits change the inlining decision
    pub(crate) unsafe fn open(&mut self, index: usize, wires: &'a [Wire], base: Time) -> Time {
        debug_assert!(index < self.nodes.slots.len());
        // SAFETY: guaranteed by the caller.
        let slot = unsafe { self.nodes.slots.get_unchecked_mut(index) };
        let (mut count, mut left) = (0, Time::MAX);
        if slot.nonempty_ports != 0 {
            // Fast path: a host has one port, and a switch often has messages from only one port. Messages of one
            // port are already in order.
            if slot.nonempty_ports.is_power_of_two() && slot.ports <= 64 {
                let port = slot.nonempty_ports.trailing_zeros() as u16;
                let ring = &mut self.rings[(slot.first_ring - self.first_ring) as usize + usize::from(port)];
                (count, left) = list_arrivals(ring, port, (base, self.end), &mut self.lists, 0);
                slot.nonempty_ports = if left == Time::MAX { 0 } else { slot.nonempty_ports };
            } else {
                (count, left) = self.list_all_ports(index, base);
            }
        }
        debug_assert!(count + SENTINELS <= self.lists.keys.len());
        let keys = self.lists.keys.as_mut_ptr();
        // SAFETY: `Window::new` and `list_arrivals` leave room for `SENTINELS` more keys.
        let first = unsafe {
            keys.add(count).cast::<[u64; SENTINELS]>().write([SENTINEL; SENTINELS]);
            *keys
        };
        (self.wires, self.base, self.count, self.cursor) = (wires, base, count, 0);
        self.next = self.time_of(first);
        left
    }

    /// Implements [`Window::open`] for a node with messages on several ports: lists the arrivals in order. Returns
    /// their number and the time of the earliest message that remains.
    #[inline(never)] // so that the loop has all registers available
    fn list_all_ports(&mut self, index: usize, base: Time) -> (usize, Time) {
        let end = self.end;
        let slot = &mut self.nodes.slots[index];
        let first_ring = (slot.first_ring - self.first_ring) as usize;
        let Window { lists, rings, .. } = self;
        let (mut count, mut earliest, mut nonempty) = (0, Time::MAX, 0);
        for_each_port(slot.nonempty_ports, slot.ports, |port| {
            let left;
            (count, left) = list_arrivals(&mut rings[first_ring + port], port as u16, (base, end), lists, count);
            earliest = earliest.min(left);
            nonempty |= u64::from(left != Time::MAX) << (port & 63);
        });
        slot.nonempty_ports = nonempty;
        if count > 1 {
            let span_ps = end.as_ps() - base.as_ps();
            self.scratch.sorter.sort(&mut lists.keys[..count], KEY_INDEX_BITS + u64::BITS - span_ps.leading_zeros());
        }
        (count, earliest)
    }

    /// Returns the key at the cursor.
    #[inline]
    fn key(&self) -> u64 {
        debug_assert!(self.cursor < self.lists.keys.len());
        // SAFETY: the cursor starts at 0 and the keys end with two sentinels. Only `take_in_place` moves it, at most to
        // the first sentinel.
        unsafe { *self.lists.keys.get_unchecked(self.cursor) }
    }

    #[inline]
    fn time_of(&self, key: u64) -> Time {
        if key == SENTINEL { Time::MAX } else { Time::from_ps(self.base.as_ps() + (key >> KEY_INDEX_BITS)) }
    }

    /// Returns the end of the window (exclusive).
    #[inline]
    pub fn end(&self) -> Time {
        self.end
    }

    /// Returns the time of the next arrival; [`Time::MAX`] if the window has none left.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.next
    }

    /// Returns the number of arrivals not yet taken.
    #[inline]
    pub fn arrivals(&self) -> usize {
        self.count - self.cursor
    }

    /// Rotates simultaneous arrivals; call at the first arrival of an instant. Of its n arrivals, in order of ingress
    /// port, the one with index `start` mod n is taken first, and the others follow cyclically.
    #[inline(always)]
    pub fn rotate_ties(&mut self, start: impl FnOnce() -> u32) {
        debug_assert!(self.cursor + 1 < self.lists.keys.len());
        // SAFETY: the cursor is at most at the first of the two sentinels: see `key`.
        let second = unsafe { *self.lists.keys.get_unchecked(self.cursor + 1) };
        // The keys of an arrival and of a sentinel differ in their times.
        if (self.key() ^ second) >> KEY_INDEX_BITS == 0 {
            self.rotate(start());
        }
    }

    // Not inlined, because inlined code would slow the loop of a switch. The check before the call costs two
    // instructions.
    #[cold]
    #[inline(never)]
    fn rotate(&mut self, start: u32) {
        let Lists { keys, refs } = &mut self.lists;
        let keys = &mut keys[self.cursor..self.count];
        let instant = keys[0] >> KEY_INDEX_BITS;
        let ties = keys.iter().take_while(|&&key| key >> KEY_INDEX_BITS == instant).count();
        let (keys, offset) = (&mut keys[..ties], start as usize % ties);
        let port = |key: u64| refs[index_of(key)].port;
        // Messages of one port stay in order. The rotation can split only the messages of the port at its start.
        let parted = offset > 0 && port(keys[offset - 1]) == port(keys[offset]);
        let own: Vec<u64> = keys.iter().copied().filter(|&key| parted && port(key) == port(keys[offset])).collect();
        keys.rotate_left(offset);
        if let Some(&first) = own.first() {
            let rotated = keys.iter_mut().filter(|key| port(**key) == port(first));
            rotated.zip(own).for_each(|(key, own)| *key = own);
        }
    }

    /// Takes the next arrival and its ingress port.
    ///
    /// # Panics
    /// If no arrivals are left.
    #[inline]
    pub fn take(&mut self) -> (u16, M) {
        self.take_in_place(|port, message, _| (port, *message))
    }

    /// Takes the next arrival like [`Window::take`], but passes it to `handle` by reference, without a copy. `handle`
    /// may send.
    ///
    /// # Panics
    /// If no arrivals are left.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn take_in_place<R>(&mut self, handle: impl FnOnce(u16, &M, &mut Self) -> R) -> R {
        let key = self.key();
        assert!(key != SENTINEL, "an arrival that is left");
        self.cursor += 1;
        self.next = self.time_of(self.key());
        let index = index_of(key);
        debug_assert!(index < self.count);
        // SAFETY: `open` has made this key, and its low bits index the references that it filled.
        let ArrivalRef { message, port } = unsafe { *self.lists.refs.get_unchecked(index) };
        // SAFETY: a ring leaves a taken message in place until the next push. While the window is open, it alone
        // pushes into rings of this partition, and only into those of the receivers of the running node's wires,
        // never into the node's own: `Engine::new` refuses a wire from a node to itself. So the message is neither
        // written nor moved before `handle` returns.
        handle(port, unsafe { &*message }, self)
    }

    /// Sends `message` over the wire of egress `port`. It must arrive at or after the window's end, which the wire's
    /// lookahead guarantees for any message sent now.
    #[inline]
    pub fn send(&mut self, port: u16, message: M) {
        *self.send_slot(port, message.at()) = message;
    }

    /// Returns the slot of a message to send over egress `port` that arrives `at`. The caller must overwrite its old
    /// content at once.
    #[inline(always)] // a call costs a dozen instructions, once per packet-hop
    pub fn send_slot(&mut self, port: u16, at: Time) -> &mut M {
        let wire = &self.wires[usize::from(port)];
        // The ring index of another partition is out of range: above the end, or below the first and so wrapped above
        // the end.
        match self.rings.get_mut(wire.ring.wrapping_sub(self.first_ring) as usize) {
            Some(ring) => {
                self.nodes.record_arrival(wire, at);
                ring.push_slot()
            }
            None => export(&mut self.outgoing[usize::from(self.part_of[wire.slot as usize])], *wire),
        }
    }

    pub(crate) fn all_taken(&self) -> bool {
        self.cursor == self.count
    }
}
