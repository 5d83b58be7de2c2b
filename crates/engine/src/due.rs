//! The earliest of one time per port, where one port changes at a time.

use units::Time;

/// A time per port and the least of them: a complete binary tree, each inner node the least of its two.
///
/// ```text
///   tree:  [_, least, least of left half, least of right half, ... , time of port 0, time of port 1, ...]
/// ```
///
/// A port's way up has as many steps as the number of ports has bits, whatever the times are: no step
/// depends on a comparison that the processor would have to guess. Steps are not checked: a frame takes some ten of
/// them per hop, and each would cost two more instructions of some eight.
#[derive(Clone, Debug)]
pub struct Due {
    tree: Box<[Time]>,
}

impl Due {
    /// Never, for each of `ports` ports.
    pub fn new(ports: usize) -> Self {
        Due { tree: vec![Time::MAX; 2 * ports.next_power_of_two()].into_boxed_slice() }
    }

    /// Asks the processor for the times.
    pub fn prefetch(&self) {
        crate::prefetch(&*self.tree);
    }

    #[inline]
    fn leaves(&self) -> usize {
        self.tree.len() / 2
    }

    /// Where the time of `port` stands.
    ///
    /// # Panics
    /// If there are not so many ports.
    #[inline]
    fn leaf(&self, port: u16) -> usize {
        let leaf = self.leaves() + usize::from(port);
        assert!(leaf < self.tree.len(), "a port of this node");
        leaf
    }

    #[inline]
    fn get(&self, node: usize) -> Time {
        debug_assert!(node < self.tree.len());
        // SAFETY: `node` is 1, a leaf that `leaf` checked, twice an inner node and perhaps one more, or the parent or
        // the sibling of one of these but 1: less than the length, which is a power of two and at least 2.
        unsafe { *self.tree.get_unchecked(node) }
    }

    #[inline]
    fn put(&mut self, node: usize, at: Time) {
        debug_assert!(node < self.tree.len());
        // SAFETY: as in `get`.
        unsafe { *self.tree.get_unchecked_mut(node) = at }
    }

    /// The earliest time.
    #[inline]
    pub fn earliest(&self) -> Time {
        self.get(1)
    }

    /// The port of the earliest time, the lowest one at ties.
    #[inline]
    pub fn port(&self) -> u16 {
        let (least, leaves) = (self.earliest(), self.leaves());
        let mut node = 1;
        while node < leaves {
            node = 2 * node + usize::from(self.get(2 * node) != least);
        }
        (node - leaves) as u16
    }

    /// The time of `port`.
    ///
    /// # Panics
    /// If there are not so many ports.
    #[inline]
    pub fn at(&self, port: u16) -> Time {
        self.get(self.leaf(port))
    }

    /// Sets the time of `port` to one that is no later than it was.
    ///
    /// # Panics
    /// If there are not so many ports.
    #[inline]
    pub fn lower(&mut self, port: u16, at: Time) {
        let mut node = self.leaf(port);
        self.put(node, at);
        while node > 1 && self.get(node / 2) > at {
            node /= 2;
            self.put(node, at);
        }
    }

    /// Sets the time of `port`.
    ///
    /// # Panics
    /// If there are not so many ports.
    #[inline]
    pub fn set(&mut self, port: u16, at: Time) {
        let mut node = self.leaf(port);
        self.put(node, at);
        let mut least = at;
        while node > 1 {
            least = least.min(self.get(node ^ 1));
            node /= 2;
            self.put(node, least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn agrees_with_a_full_scan() {
        const STEPS: u64 = if cfg!(miri) { 100 } else { 20_000 };
        for ports in [1, 7, 8, 9, 16, 64, 130] {
            let mut stream = Stream::new(ports as u64, 0, 0);
            let mut due = Due::new(ports);
            let mut times = vec![Time::MAX; ports];
            for _ in 0..STEPS {
                let port = stream.below(ports as u64) as usize;
                let at = if stream.below(3) == 0 { Time::MAX } else { Time::from_ps(stream.below(50)) };
                if at <= times[port] && stream.below(2) == 0 {
                    due.lower(port as u16, at)
                } else {
                    due.set(port as u16, at)
                }
                times[port] = at;
                let expected = times.iter().copied().enumerate().min_by_key(|&(port, at)| (at, port)).unwrap();
                assert_eq!(due.earliest(), expected.1);
                if expected.1 < Time::MAX {
                    assert_eq!(usize::from(due.port()), expected.0);
                }
            }
        }
    }
}
