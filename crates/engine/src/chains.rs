//! Many queues of values that share one store: it holds what all of them hold together.
//!
//! ```text
//!   chain 0:  [a b c d] -> [e f . .]         blocks of four values, each of one chain
//!   chain 1:  [g h . .]
//!   spare:    [. . . .] -> [. . . .]
//! ```
//!
//! With a [`Ring`](crate::Ring) each, every queue would keep the room that it needed at its longest, and be rounded up
//! to a power of two: over a switch three times what is in them at any time.
//!
//! Unchecked access, as in a ring, and pointers, of which a place costs least. The invariant, of a chain that has a
//! block: `last` is its youngest block, whose follower is the oldest, so that its blocks make a circle; `head` points
//! into the oldest; `tail` points into the youngest or at its end. Blocks are never freed or moved while their store
//! lives; no chain leaves the [`Chains`] in which it was made; and only the methods below touch any of it.

use std::hint::select_unpredictable;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut, without_provenance_mut};

/// Values of a block.
const BLOCK: usize = 4;

/// Bytes of a block, which begins at a multiple of them.
const BLOCK_BYTES: usize = 256;

/// The tail of a chain that has no block.
const NOWHERE: usize = 1;

/// No block.
const NONE: u32 = u32::MAX;

#[repr(align(256))]
#[derive(Clone)]
struct Block<T>([T; BLOCK]);

/// One queue: where it stands in the store, and what its owner keeps beside it.
///
/// `tail` is where the next value goes. It is at the end of a block, or `NOWHERE`, where the next value needs
/// another; or a chain that is empty stands in the one block that it keeps.
#[derive(Debug)]
#[repr(align(64))]
pub struct Chain<T, E> {
    beside: E,
    head: *mut T,
    tail: *mut T,
    length: u32,
    last: u32,
}

impl<T, E> Chain<T, E> {
    /// How many values wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The oldest value.
    #[inline(always)] // once a packet-hop
    pub fn front(&self) -> Option<&T> {
        // SAFETY: the head of a chain that is not empty points at a value, which nobody changes while `self` is
        // borrowed.
        if self.length == 0 { None } else { Some(unsafe { &*self.head }) }
    }

    /// The youngest value.
    pub fn back(&self) -> Option<&T> {
        // SAFETY: as in `front`; before the tail of a chain that is not empty stands its youngest value.
        if self.length == 0 { None } else { Some(unsafe { &*self.tail.sub(1) }) }
    }

    /// Whether the next value needs a block of its own: the last one is full, or there is none. An empty chain stands
    /// at the begin of its block, where a full one ends.
    #[inline(always)]
    fn needs_block(&self) -> bool {
        const { assert!(NOWHERE == 1) };
        offset_of(self.tail) == usize::from(self.length == 0)
    }

    /// Asks the processor for the first values: as many as lie together.
    #[inline]
    pub fn prefetch(&self) {
        let in_block = (BLOCK_BYTES - self.head.addr() % BLOCK_BYTES) / size_of::<T>();
        for place in 0..self.len().min(in_block) {
            crate::prefetch::prefetch_line(self.head.wrapping_add(place).cast());
        }
    }
}

impl<T, E> Deref for Chain<T, E> {
    type Target = E;
    #[inline]
    fn deref(&self) -> &E {
        &self.beside
    }
}

/// The values of all chains.
#[derive(Debug)]
struct Store<T> {
    slabs: Vec<NonNull<[Block<T>]>>,
    /// Where each block begins.
    begin: Vec<*mut T>,
    /// The block after each, in its chain or among the spare ones.
    next: Vec<u32>,
    spare: u32,
}

impl<T> Drop for Store<T> {
    fn drop(&mut self) {
        for slab in self.slabs.drain(..) {
            // SAFETY: `grow` got it from a box, and the chains that point into it go with this store.
            drop(unsafe { Box::from_raw(slab.as_ptr()) });
        }
    }
}

impl<T: Copy + Default> Store<T> {
    /// A block that is nobody's.
    #[inline]
    fn take_block(&mut self) -> u32 {
        if self.spare == NONE {
            self.grow();
        }
        let block = self.spare;
        self.spare = self.next[block as usize];
        block
    }

    #[inline]
    fn give_block(&mut self, block: u32) {
        self.next[block as usize] = self.spare;
        self.spare = block;
    }

    /// A quarter more blocks: little of it is more than ever was needed.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        const { assert!(size_of::<T>() * BLOCK == BLOCK_BYTES && size_of::<Block<T>>() == BLOCK_BYTES) };
        let known = self.next.len();
        let more = (known / 4).max(8);
        assert!(known + more < NONE as usize, "a store holds at most 2^34 values");
        let slab: Box<[Block<T>]> = vec![Block([T::default(); BLOCK]); more].into();
        let slab = NonNull::from(Box::leak(slab));
        self.slabs.push(slab);
        let first = slab.as_ptr().cast::<T>();
        self.begin.reserve_exact(more);
        self.begin.extend((0..more).map(|block| first.wrapping_add(block * BLOCK)));
        self.next.reserve_exact(more);
        self.next.extend((known + 1..=known + more).map(|block| block as u32));
        self.next[known + more - 1] = self.spare;
        self.spare = known as u32;
    }
}

/// First-in first-out queues, a fixed number of them, each with an `E` of its owner's beside it. Values have 64 bytes.
#[derive(Debug)]
pub struct Chains<T, E> {
    chains: Box<[Chain<T, E>]>,
    store: Store<T>,
}

// SAFETY: the pointers of chains lead into the store beside them, which nobody else has; whoever may send or share the
// values may send or share all.
unsafe impl<T: Send, E: Send> Send for Chains<T, E> {}
// SAFETY: as above; through a shared reference nothing is changed.
unsafe impl<T: Sync, E: Sync> Sync for Chains<T, E> {}

impl<T, E> Deref for Chains<T, E> {
    type Target = [Chain<T, E>];
    #[inline]
    fn deref(&self) -> &[Chain<T, E>] {
        &self.chains
    }
}

impl<T: Copy + Default, E> Chains<T, E> {
    /// `count` empty queues.
    pub fn new(count: usize, beside: impl Fn() -> E) -> Self {
        let chain = |_| Chain {
            beside: beside(),
            head: null_mut(),
            tail: without_provenance_mut(NOWHERE),
            length: 0,
            last: NONE,
        };
        Chains {
            chains: (0..count).map(chain).collect(),
            store: Store { slabs: Vec::new(), begin: Vec::new(), next: Vec::new(), spare: NONE },
        }
    }

    /// The values of queue `index`, from the oldest to the youngest.
    ///
    /// # Panics
    /// If there are not so many queues.
    pub fn values(&self, index: usize) -> impl Iterator<Item = &T> {
        let Chain { head, length, last, .. } = self.chains[index];
        let (mut place, mut block) = (head, last);
        (0..length).map(move |number| {
            if number == 0 {
                block = self.store.next[block as usize];
            } else {
                place = place.wrapping_add(1);
                if is_end(place) {
                    block = self.store.next[block as usize];
                    place = self.store.begin[block as usize];
                }
            }
            // SAFETY: so many values stand in the chain's blocks from its head on, and nobody changes them while `self`
            // is borrowed.
            unsafe { &*place }
        })
    }

    /// Queue `index`, to be changed.
    ///
    /// # Panics
    /// If there are not so many queues.
    #[inline(always)] // once a packet-hop
    pub fn at(&mut self, index: usize) -> ChainMut<'_, T, E> {
        ChainMut { chain: &mut self.chains[index], store: &mut self.store }
    }

    /// What stands beside each queue, in order.
    pub fn beside_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.chains.iter_mut().map(|chain| &mut chain.beside)
    }
}

/// Whether a place behind a value is no place of the same block any more.
#[inline(always)]
fn is_end<T>(place: *mut T) -> bool {
    offset_of(place) == 0
}

/// How many bytes a place lies behind the begin of its block.
#[inline(always)]
fn offset_of<T>(place: *mut T) -> usize {
    place.addr() % BLOCK_BYTES
}

/// Where the block begins in which this place lies.
#[inline(always)]
fn begin_of<T>(place: *mut T) -> *mut T {
    place.map_addr(|address| address & !(BLOCK_BYTES - 1))
}

/// One queue of [`Chains`], to be changed.
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
    /// What stands beside the queue.
    #[inline]
    pub fn beside(&mut self) -> &mut E {
        &mut self.chain.beside
    }

    /// The oldest value, to be changed.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        // SAFETY: as in `Chain::front`, and all of the store is borrowed.
        if self.chain.length == 0 { None } else { Some(unsafe { &mut *self.chain.head }) }
    }

    /// Adds a value behind all others: whatever stood in that place, for the caller to overwrite.
    #[inline(always)] // once a packet-hop
    pub fn push_slot(&mut self) -> &mut T {
        let ChainMut { chain, store } = self;
        if chain.needs_block() {
            begin_block(chain, store);
        }
        let place = chain.tail;
        chain.tail = place.wrapping_add(1);
        chain.length += 1;
        // As in a ring: the next push goes to the next place, which is mostly out of the cache.
        crate::prefetch::prefetch_line(chain.tail.cast());
        // SAFETY: the tail points into the chain's last block, and is not at its end, or `begin_block` has seen to it.
        unsafe { &mut *place }
    }

    /// Forgets the oldest value, if there is one.
    #[inline(always)] // once a packet-hop
    pub fn drop_front(&mut self) {
        let ChainMut { chain, store } = self;
        if chain.length == 0 {
            return;
        }
        chain.length -= 1;
        // Emptied, it starts over in the block that it keeps, so that a short queue stays in the cache lines that are
        // hot. Whether it is empty cannot be predicted, and so is no branch.
        let empty = chain.length == 0;
        let begin = begin_of(chain.tail.wrapping_sub(1));
        chain.head = select_unpredictable(empty, begin, chain.head.wrapping_add(1));
        chain.tail = select_unpredictable(empty, begin, chain.tail);
        if offset_of(chain.head) == usize::from(empty) {
            end_block(chain, store);
        }
    }

    /// Forgets the youngest value, if there is one.
    pub fn drop_back(&mut self) {
        let ChainMut { chain, store } = self;
        if chain.length == 0 {
            return;
        }
        chain.length -= 1;
        chain.tail = chain.tail.wrapping_sub(1);
        if is_end(chain.tail) && chain.length > 0 {
            // The last block is empty, and the one before it is full.
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

/// The tail is at the end of a block, or nowhere.
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

/// The head of a chain that is not empty has left a block.
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
    fn behave_like_deques_and_hold_what_those_hold() {
        const QUEUES: usize = 5;
        const STEPS: u64 = if cfg!(miri) { 600 } else { 200_000 };
        let mut random = Stream::new(5, 0, 0);
        let mut chains: Chains<Value, u64> = Chains::new(QUEUES, || 0);
        let mut model = vec![VecDeque::new(); QUEUES];
        let (mut most, mut pushed) = (0, 0);
        for step in 0..STEPS {
            let index = random.below(QUEUES as u64) as usize;
            let (mut queue, model) = (chains.at(index), &mut model[index]);
            // They fill for a while, and then they empty.
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
                    *queue.beside() += 1;
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
        // Two blocks of each queue may be filled in part, and a quarter may be spare.
        let (blocks, bound) = (chains.store.next.len(), (most / BLOCK + 2 * QUEUES) * 5 / 4 + 8);
        assert!(blocks <= bound, "{blocks} blocks for {most} values");
        // Every block is some queue's or spare, and none is both.
        let mut seen = vec![0; blocks];
        let mut spare = chains.store.spare;
        while spare != NONE {
            seen[spare as usize] += 1;
            spare = chains.store.next[spare as usize];
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
