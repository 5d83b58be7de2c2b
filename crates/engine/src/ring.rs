//! A growing ring buffer that uses as few cache lines as its content allows.

/// A FIFO queue of values in one power-of-two buffer.
///
/// Accesses are unchecked: every frame passes through two rings per hop, and checks would add a tenth to the cost of
/// a push and pop. Soundness rests on a local invariant, which only the methods below maintain: `buffer.len()` is
/// zero (then `length` is zero) or a power of two, `head < buffer.len()`, `length <= buffer.len()`.
#[derive(Debug, Clone, Default)]
pub struct Ring<T> {
    buffer: Box<[T]>,
    head: u32,
    length: u32,
}

impl<T: Copy + Default> Ring<T> {
    /// Creates an empty ring; the buffer is allocated at the first push.
    pub fn new() -> Self {
        Ring { buffer: Box::default(), head: 0, length: 0 }
    }

    /// Returns the number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Returns whether the ring is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    #[inline]
    fn mask(&self) -> u32 {
        (self.buffer.len() as u32).wrapping_sub(1)
    }

    /// Returns the oldest value.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.length == 0 {
            return None;
        }
        // SAFETY: length > 0, so the buffer is not empty and head < buffer.len().
        Some(unsafe { self.buffer.get_unchecked(self.head as usize) })
    }

    /// Returns a mutable reference to the oldest value.
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.length == 0 { None } else { self.buffer.get_mut(self.head as usize) }
    }

    /// Returns the youngest value.
    pub fn back(&self) -> Option<&T> {
        self.iter().nth(self.len().wrapping_sub(1))
    }

    /// Removes the youngest value, if any.
    pub fn drop_back(&mut self) {
        self.length = self.length.saturating_sub(1);
    }

    /// Removes and returns the oldest value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.length == 0 {
            return None;
        }
        // SAFETY: as in `front`.
        let value = unsafe { *self.buffer.get_unchecked(self.head as usize) };
        self.length -= 1;
        // An empty ring restarts at the start of the buffer, so that a short ring stays in hot cache lines.
        self.head = if self.length == 0 { 0 } else { (self.head + 1) & self.mask() };
        Some(value)
    }

    /// Removes the oldest value, if any.
    #[inline]
    pub fn drop_front(&mut self) {
        if self.length > 0 {
            self.length -= 1;
            // An empty ring restarts at the start of the buffer, as in `pop`.
            self.head = if self.length == 0 { 0 } else { (self.head + 1) & self.mask() };
        }
    }

    /// Removes the oldest values, up to the first one for which `takes` returns false. The removed values remain in
    /// the buffer until the next push.
    #[inline(always)] // hot: runs once per nonempty ring and window
    pub(crate) fn take_while(&mut self, mut takes: impl FnMut(&T) -> bool) {
        let (mask, head) = (self.mask(), self.head);
        let mut count = 0;
        while count < self.length {
            // SAFETY: length > 0, so the buffer is not empty, and the mask keeps the index inside.
            if !takes(unsafe { self.buffer.get_unchecked(((head + count) & mask) as usize) }) {
                break;
            }
            count += 1;
        }
        self.length -= count;
        // An empty ring restarts at the start of the buffer, as in `pop`.
        self.head = if self.length == 0 { 0 } else { (head + count) & mask };
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        *self.push_slot() = value;
    }

    /// Appends a slot with arbitrary old content, for the caller to overwrite. Use it for values that are copied from
    /// memory and then changed: if they were changed on the stack first, the copy into the ring would stall on store
    /// forwarding.
    #[inline]
    pub fn push_slot(&mut self) -> &mut T {
        if self.length as usize == self.buffer.len() {
            self.grow();
        }
        let slot = (self.head + self.length) & self.mask();
        self.length += 1;
        // Prefetch the slot of the next push, which is mostly outside the cache; a miss there would delay every later
        // store. At the end of the buffer this prefetches unrelated memory, which is harmless.
        crate::prefetch::prefetch_line(self.buffer.as_ptr().wrapping_add(slot as usize + 1).cast());
        // SAFETY: after `grow` the length of the buffer is a power of two, so the mask keeps the index inside.
        unsafe { self.buffer.get_unchecked_mut(slot as usize) }
    }

    /// Prepends a value.
    #[inline]
    pub fn push_front(&mut self, value: T) {
        if self.length as usize == self.buffer.len() {
            self.grow();
        }
        self.head = self.head.wrapping_sub(1) & self.mask();
        // SAFETY: as in `push_slot`.
        unsafe { *self.buffer.get_unchecked_mut(self.head as usize) = value };
        self.length += 1;
    }

    /// Returns the values from the oldest to the youngest, as two slices because the buffer wraps.
    #[inline]
    pub fn pieces(&self) -> [&[T]; 2] {
        let (head, length, capacity) = (self.head as usize, self.length as usize, self.buffer.len());
        let first = length.min(capacity - head);
        // SAFETY: head <= capacity (both are 0 without a buffer) and first <= capacity - head. The second slice ends
        // before head, because the length is at most the capacity.
        unsafe { [self.buffer.get_unchecked(head..head + first), self.buffer.get_unchecked(..length - first)] }
    }

    /// Iterates from the oldest to the youngest value.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (mask, head) = (self.mask(), self.head);
        // SAFETY: without a buffer the range is empty; else the mask keeps the index inside.
        (0..self.length).map(move |i| unsafe { self.buffer.get_unchecked(((head + i) & mask) as usize) })
    }

    /// Prefetches the first `count` values.
    #[inline]
    pub fn prefetch(&self, count: usize) {
        for value in self.iter().take(count) {
            crate::prefetch::prefetch_line(std::ptr::from_ref(value).cast());
        }
    }

    #[cold]
    fn grow(&mut self) {
        assert!(self.buffer.len() < 1 << 30, "a ring holds at most 2^30 values");
        let capacity = (self.buffer.len() * 2).max(4);
        let mut larger = Vec::with_capacity(capacity);
        larger.extend(self.iter().copied());
        larger.resize(capacity, T::default());
        self.buffer = larger.into_boxed_slice();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use units::random::Stream;

    #[test]
    fn behaves_like_a_deque() {
        const STEPS: u32 = if cfg!(miri) { 500 } else { 100_000 };
        let mut stream = Stream::new(3, 0, 0);
        let (mut ring, mut model) = (Ring::new(), VecDeque::new());
        for step in 0..STEPS {
            match stream.below(6) {
                0 | 1 => {
                    ring.push(step);
                    model.push_back(step);
                }
                2 => {
                    ring.push_front(step);
                    model.push_front(step);
                }
                3 => {
                    ring.drop_back();
                    model.pop_back();
                }
                _ => assert_eq!(ring.pop(), model.pop_front()),
            }
            assert_eq!(ring.len(), model.len());
            assert_eq!(ring.front(), model.front());
            assert_eq!(ring.back(), model.back());
            assert!(ring.pieces().into_iter().flatten().eq(&model));
        }
        assert!(ring.iter().eq(model.iter()));
        assert_eq!(Ring::<u32>::new().pieces(), [&[], &[]] as [&[u32]; 2]);
    }
}
