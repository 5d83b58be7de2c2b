//! A growing ring of values: stays as small, and as hot in the cache, as its content allows.

/// A first-in first-out queue by value in one power-of-two buffer.
#[derive(Debug, Clone, Default)]
pub struct Ring<T> {
    buffer: Vec<T>,
    head: u32,
    length: u32,
}

impl<T: Copy + Default> Ring<T> {
    /// An empty ring, without a buffer until something is pushed.
    pub fn new() -> Self {
        Ring { buffer: Vec::new(), head: 0, length: 0 }
    }

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

    #[inline]
    fn mask(&self) -> usize {
        self.buffer.len().wrapping_sub(1)
    }

    /// The oldest value.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.length == 0 { None } else { self.buffer.get(self.head as usize) }
    }

    /// Removes the oldest value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.length == 0 {
            return None;
        }
        let value = self.buffer[self.head as usize];
        self.head = (self.head + 1) & self.mask() as u32;
        self.length -= 1;
        Some(value)
    }

    /// Adds a value behind all others.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.length as usize == self.buffer.len() {
            self.grow();
        }
        let slot = (self.head as usize + self.length as usize) & self.mask();
        self.buffer[slot] = value;
        self.length += 1;
    }

    /// Adds a value before all others.
    #[inline]
    pub fn push_front(&mut self, value: T) {
        if self.length as usize == self.buffer.len() {
            self.grow();
        }
        self.head = self.head.wrapping_sub(1) & self.mask() as u32;
        self.buffer[self.head as usize] = value;
        self.length += 1;
    }

    /// From the oldest to the youngest.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (mask, head) = (self.mask(), self.head as usize);
        (0..self.length as usize).map(move |i| &self.buffer[(head + i) & mask])
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.buffer.len() * 2).max(4);
        let mut larger = Vec::with_capacity(capacity);
        larger.extend(self.iter().copied());
        larger.resize(capacity, T::default());
        self.buffer = larger;
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
        let mut stream = Stream::new(3, 0, 0);
        let (mut ring, mut model) = (Ring::new(), VecDeque::new());
        for step in 0..100_000u32 {
            match stream.below(5) {
                0 | 1 => {
                    ring.push(step);
                    model.push_back(step);
                }
                2 => {
                    ring.push_front(step);
                    model.push_front(step);
                }
                _ => assert_eq!(ring.pop(), model.pop_front()),
            }
            assert_eq!(ring.len(), model.len());
            assert_eq!(ring.front(), model.front());
        }
        assert!(ring.iter().eq(model.iter()));
    }
}
