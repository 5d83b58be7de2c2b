//! Many FIFO queues in one block store, sized by their total content.
//!
//! ```text
//!   chain 0:  [a b c d] -> [e f . .]         blocks of four values, each of one chain
//!   chain 1:  [g h . .]
//!   free:     [. . . .] -> [. . . .]
//! ```
//!
//! With one [`Ring`](crate::Ring) per queue, every queue would keep the capacity of its maximum length, rounded up to
//! a power of two: over all queues of a switch three times the maximum total content.
//!
//! Accesses are unchecked as in a ring, and by pointer, which is cheapest. The invariant of a chain with a block:
//! `last` is its youngest block, whose successor is the oldest, so its blocks form a circular list; `head` points
//! into the oldest block; `tail` points into the youngest block or at its end. Blocks are neither freed nor moved
//! while their store exists, chains stay in the [`Chains`] that created them, and only the methods below access these
//! fields.

use std::hint::select_unpredictable;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut, without_provenance_mut};

/// Values per block.
const BLOCK: usize = 4;

/// Size and alignment of a block in bytes.
const BLOCK_BYTES: usize = 256;

/// Value of `tail` in a chain without a block.
const NO_TAIL: usize = 1;

/// Index that stands for no block.
const NONE: u32 = u32::MAX;

#[repr(align(256))]
#[derive(Clone)]
struct Block<T>([T; BLOCK]);

/// One queue: its position in the store, and data of its owner.
///
/// `tail` is the slot of the next value. At the end of a block, or at `NO_TAIL`, the next value needs a new block. An
/// empty chain that has a block is at the start of this block.
#[derive(Debug)]
#[repr(align(64))]
pub struct Chain<T, E> {
    owner_data: E,
    head: *mut T,
    tail: *mut T,
    length: u32,
    last: u32,
}

impl<T, E> Chain<T, E> {
    /// Returns the number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Returns whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the oldest value.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn front(&self) -> Option<&T> {
        // SAFETY: the head of a nonempty chain points at a value, which cannot change while `self` is borrowed.
        if self.length == 0 { None } else { Some(unsafe { &*self.head }) }
    }

    /// Returns the youngest value.
    pub fn back(&self) -> Option<&T> {
        // SAFETY: as in `front`; the newest value of a nonempty chain is immediately before its tail.
        if self.length == 0 { None } else { Some(unsafe { &*self.tail.sub(1) }) }
    }

    /// Returns whether the next value needs a new block: the last block is full, or there is none. An empty chain has
    /// its tail at the start of its block (offset 0, as at the end of a full block), so its tail is compared with
    /// `NO_TAIL`.
    #[inline(always)]
    fn needs_block(&self) -> bool {
        const { assert!(NO_TAIL == 1) };
        offset_of(self.tail) == usize::from(self.length == 0)
    }

    /// Prefetches the values in the first block.
    #[inline]
    pub fn prefetch(&self) {
        let in_block = (BLOCK_BYTES - self.head.addr() % BLOCK_BYTES) / size_of::<T>();
        for slot in 0..self.len().min(in_block) {
            crate::prefetch::prefetch_line(self.head.wrapping_add(slot).cast());
        }
    }
}

impl<T, E> Deref for Chain<T, E> {
    type Target = E;
    #[inline]
    fn deref(&self) -> &E {
        &self.owner_data
    }
}

/// The values of all chains.
#[derive(Debug)]
struct Store<T> {
    slabs: Vec<NonNull<[Block<T>]>>,
    /// Start address of each block.
    begin: Vec<*mut T>,
    /// Successor of each block, in its chain or in the free list.
    next: Vec<u32>,
    free: u32,
}

impl<T> Drop for Store<T> {
    fn drop(&mut self) {
        for slab in self.slabs.drain(..) {
            // SAFETY: `grow` made it from a box, and the chains that point into it are dropped with this store.
            drop(unsafe { Box::from_raw(slab.as_ptr()) });
        }
    }
}

impl<T: Copy + Default> Store<T> {
    /// Takes a block from the free list.
    #[inline]
    fn take_block(&mut self) -> u32 {
        if self.free == NONE {
            self.grow();
        }
        let block = self.free;
        self.free = self.next[block as usize];
        block
    }

    #[inline]
    fn give_block(&mut self, block: u32) {
        self.next[block as usize] = self.free;
        self.free = block;
    }

    /// Adds a quarter of the present number of blocks, so that the store is at most slightly larger than its peak
    /// content.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        const { assert!(size_of::<T>() * BLOCK == BLOCK_BYTES && size_of::<Block<T>>() == BLOCK_BYTES) };
        let count = self.next.len();
        let more = (count / 4).max(8);
        assert!(count + more < NONE as usize, "a store holds at most 2^34 values");
        let slab: Box<[Block<T>]> = vec![Block([T::default(); BLOCK]); more].into();
        let slab = NonNull::from(Box::leak(slab));
        self.slabs.push(slab);
        let first = slab.as_ptr().cast::<T>();
        self.begin.reserve_exact(more);
        self.begin.extend((0..more).map(|block| first.wrapping_add(block * BLOCK)));
        self.next.reserve_exact(more);
        self.next.extend((count + 1..=count + more).map(|block| block as u32));
        self.next[count + more - 1] = self.free;
        self.free = count as u32;
    }
}

/// A fixed number of FIFO queues, each with data of type `E` of its owner. Values have 64 bytes.
#[derive(Debug)]
pub struct Chains<T, E> {
    chains: Box<[Chain<T, E>]>,
    store: Store<T>,
}

// SAFETY: the pointers of chains lead into the store of the same `Chains`, which is not shared. So it may be sent or
// shared if its values may.
unsafe impl<T: Send, E: Send> Send for Chains<T, E> {}
// SAFETY: as above; a shared reference changes nothing.
unsafe impl<T: Sync, E: Sync> Sync for Chains<T, E> {}

impl<T, E> Deref for Chains<T, E> {
    type Target = [Chain<T, E>];
    #[inline]
    fn deref(&self) -> &[Chain<T, E>] {
        &self.chains
    }
}

impl<T: Copy + Default, E> Chains<T, E> {
    /// Creates `count` empty queues.
    pub fn new(count: usize, owner_data: impl Fn() -> E) -> Self {
        let chain = |_| Chain {
            owner_data: owner_data(),
            head: null_mut(),
            tail: without_provenance_mut(NO_TAIL),
            length: 0,
            last: NONE,
        };
        Chains {
            chains: (0..count).map(chain).collect(),
            store: Store { slabs: Vec::new(), begin: Vec::new(), next: Vec::new(), free: NONE },
        }
    }

    /// Iterates over the values of queue `index`, from the oldest to the youngest.
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn values(&self, index: usize) -> impl Iterator<Item = &T> {
        let Chain { head, length, last, .. } = self.chains[index];
        let (mut slot, mut block) = (head, last);
        (0..length).map(move |number| {
            if number == 0 {
                block = self.store.next[block as usize];
            } else {
                slot = slot.wrapping_add(1);
                if is_end(slot) {
                    block = self.store.next[block as usize];
                    slot = self.store.begin[block as usize];
                }
            }
            // SAFETY: the chain's blocks hold `length` values from its head on, which cannot change while `self` is
            // borrowed.
            unsafe { &*slot }
        })
    }

    /// Returns a mutable handle to queue `index`.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn at(&mut self, index: usize) -> ChainMut<'_, T, E> {
        ChainMut { chain: &mut self.chains[index], store: &mut self.store }
    }

    /// Iterates over the owner's data of each queue, in order.
    pub fn owner_data_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.chains.iter_mut().map(|chain| &mut chain.owner_data)
    }
}

/// Returns whether `slot`, the successor of a value, is beyond the end of that value's block.
#[inline(always)]
fn is_end<T>(slot: *mut T) -> bool {
    offset_of(slot) == 0
}

/// Returns the offset of a slot in its block, in bytes.
#[inline(always)]
fn offset_of<T>(slot: *mut T) -> usize {
    slot.addr() % BLOCK_BYTES
}

/// Returns the start of the block that contains a slot.
#[inline(always)]
fn begin_of<T>(slot: *mut T) -> *mut T {
    slot.map_addr(|address| address & !(BLOCK_BYTES - 1))
}

/// Mutable handle to one queue of [`Chains`].
#[derive(Debug)]
pub struct ChainMut<'a, T, E> {
    chain: &'a mut Chain<T, E>,
    store: &'a mut Store<T>,
}

impl<T, E> Deref for ChainMut<'_, T, E> {
    type Target = Chain<T, E>;
    #[inline]
    fn deref(&self) -> &Chain<T, E> {
        self.chain
    }
}

impl<T: Copy + Default, E> ChainMut<'_, T, E> {
    /// Returns the owner's data.
    #[inline]
    pub fn owner_data(&mut self) -> &mut E {
        &mut self.chain.owner_data
    }

    /// Returns a mutable reference to the oldest value.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        // SAFETY: as in `Chain::front`, and all of the store is borrowed.
        if self.chain.length == 0 { None } else { Some(unsafe { &mut *self.chain.head }) }
    }

    /// Appends a slot with arbitrary old content, for the caller to overwrite.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn push_slot(&mut self) -> &mut T {
        let ChainMut { chain, store } = self;
        if chain.needs_block() {
            begin_block(chain, store);
        }
        let slot = chain.tail;
        chain.tail = slot.wrapping_add(1);
        chain.length += 1;
        // Prefetches the slot of the next push, which is mostly outside the cache, as in [`crate::Ring::push_slot`].
        crate::prefetch::prefetch_line(chain.tail.cast());
        // SAFETY: the tail points into the chain's last block, before its end, as `begin_block` has just ensured.
        unsafe { &mut *slot }
    }

    /// Removes the value at the front of the queue (the oldest), if any.
    #[inline(always)] // hot: runs once per packet-hop
    pub fn drop_front(&mut self) {
        let ChainMut { chain, store } = self;
        if chain.length == 0 {
            return;
        }
        chain.length -= 1;
        // An emptied chain restarts at the start of its block, so that a short queue stays in hot cache lines. The
        // check for an empty chain is unpredictable, so it has no branch.
        let empty = chain.length == 0;
        let begin = begin_of(chain.tail.wrapping_sub(1));
        chain.head = select_unpredictable(empty, begin, chain.head.wrapping_add(1));
        chain.tail = select_unpredictable(empty, begin, chain.tail);
        if offset_of(chain.head) == usize::from(empty) {
            end_block(chain, store);
        }
    }

    /// Removes the value at the back of the queue (the newest), if any.
    pub fn drop_back(&mut self) {
        let ChainMut { chain, store } = self;
        if chain.length == 0 {
            return;
        }
        chain.length -= 1;
        chain.tail = chain.tail.wrapping_sub(1);
        if is_end(chain.tail) && chain.length > 0 {
            // The removed value was the only one in the last block: release this block. The block before it is full,
            // so the tail moves to the end of that block.
            let first = store.next[chain.last as usize];
            let mut block = first;
            while store.next[block as usize] != chain.last {
                block = store.next[block as usize];
            }
            store.give_block(chain.last);
            store.next[block as usize] = first;
            (chain.last, chain.tail) = (block, store.begin[block as usize].wrapping_add(BLOCK));
        }
    }
}

/// Starts a new block; the tail is at the end of a block, or `NO_TAIL`.
#[inline]
fn begin_block<T: Copy + Default, E>(chain: &mut Chain<T, E>, store: &mut Store<T>) {
    let block = store.take_block();
    let begin = store.begin[block as usize];
    if chain.length == 0 {
        store.next[block as usize] = block;
        chain.head = begin;
    } else {
        store.next[block as usize] = store.next[chain.last as usize];
        store.next[chain.last as usize] = block;
    }
    (chain.last, chain.tail) = (block, begin);
}

/// Releases the first block, which the head of a nonempty chain has left.
#[inline]
fn end_block<T: Copy + Default, E>(chain: &mut Chain<T, E>, store: &mut Store<T>) {
    let first = store.next[chain.last as usize];
    let second = store.next[first as usize];
    store.next[chain.last as usize] = second;
    chain.head = store.begin[second as usize];
    store.give_block(first);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use units::random::Stream;

    type Value = [u64; 8];

    #[test]
    fn behave_like_deques() {
        const QUEUES: usize = 5;
        const STEPS: u64 = if cfg!(miri) { 600 } else { 200_000 };
        let mut random = Stream::new(5, 0, 0);
        let mut chains: Chains<Value, u64> = Chains::new(QUEUES, || 0);
        let mut model = vec![VecDeque::new(); QUEUES];
        let (mut most, mut pushed) = (0, 0);
        for step in 0..STEPS {
            let index = random.below(QUEUES as u64) as usize;
            let (mut queue, model) = (chains.at(index), &mut model[index]);
            // Queues fill for a while, then drain.
            match (random.below(8), step / (STEPS / 100) % 2) {
                (0, _) => {
                    queue.drop_back();
                    model.pop_back();
                }
                (1, _) => {
                    queue.front_mut().into_iter().for_each(|value| value[7] ^= 1);
                    model.front_mut().into_iter().for_each(|value: &mut Value| value[7] ^= 1);
                }
                (2, 0) | (2..=6, 1) => {
                    queue.drop_front();
                    model.pop_front();
                }
                _ => {
                    *queue.push_slot() = [step; 8];
                    model.push_back([step; 8]);
                    *queue.owner_data() += 1;
                    pushed += 1;
                }
            }
            assert_eq!((queue.len(), queue.front(), queue.back()), (model.len(), model.front(), model.back()));
            assert!(chains.values(index).eq(model.iter()));
            chains[index].prefetch();
            most = most.max(chains.iter().map(Chain::len).sum::<usize>());
        }
        assert!(most as u64 > STEPS / 600, "{most}");
        assert_eq!(chains.iter().map(|chain| **chain).sum::<u64>(), pushed);
        // Two blocks of each queue may be partially filled, and a quarter of the blocks may be free.
        let (blocks, bound) = (chains.store.next.len(), (most / BLOCK + 2 * QUEUES) * 5 / 4 + 8);
        assert!(blocks <= bound, "{blocks} blocks for {most} values");
        // Every block belongs either to one queue or to the free list.
        let mut seen = vec![0; blocks];
        let mut free = chains.store.free;
        while free != NONE {
            seen[free as usize] += 1;
            free = chains.store.next[free as usize];
        }
        for chain in chains.iter().filter(|chain| chain.last != NONE) {
            let mut block = chain.last;
            loop {
                seen[block as usize] += 1;
                block = chains.store.next[block as usize];
                if block == chain.last {
                    break;
                }
            }
        }
        assert!(seen.iter().all(|&owners| owners == 1), "{seen:?}");
    }
}
