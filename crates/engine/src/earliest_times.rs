//! The minimum of one time per port, with updates of one port at a time.

use units::Time;

/// A time per port and their minimum: a complete binary tree in which each inner node is the minimum of its two
/// children.
///
/// ```text
///   tree:  [_, least, least of left half, least of right half, ... , time of port 0, time of port 1, ...]
/// ```
///
/// The path from a port to the root always has log2(ports) steps, so no step depends on an unpredictable comparison.
/// Accesses are unchecked: a frame takes some ten steps per hop, and a check would add two instructions to some eight
/// per step.
#[derive(Clone, Debug)]
pub struct EarliestTimes {
    tree: Box<[Time]>,
}

impl EarliestTimes {
    /// Creates a tree of `ports` ports, all with [`Time::MAX`].
    pub fn new(ports: usize) -> Self {
        EarliestTimes { tree: vec![Time::MAX; 2 * ports.next_power_of_two()].into_boxed_slice() }
    }

    /// Prefetches the tree.
    pub fn prefetch(&self) {
        crate::prefetch(&*self.tree);
    }

    #[inline]
    fn leaves(&self) -> usize {
        self.tree.len() / 2
    }

    /// Returns the position of the time of `port`.
    ///
    /// # Panics
    /// If `port` is out of range.
    #[inline]
    fn leaf(&self, port: u16) -> usize {
        let leaf = self.leaves() + usize::from(port);
        assert!(leaf < self.tree.len(), "a port of this node");
        leaf
    }

    #[inline]
    fn get(&self, node: usize) -> Time {
        debug_assert!(node < self.tree.len());
        // SAFETY: `node` is 1, a leaf checked by `leaf`, a child of an inner node, or the parent or sibling of such a
        // node other than 1: less than the length, which is a power of two and at least 2.
        unsafe { *self.tree.get_unchecked(node) }
    }

    #[inline]
    fn put(&mut self, node: usize, at: Time) {
        debug_assert!(node < self.tree.len());
        // SAFETY: as in `get`.
        unsafe { *self.tree.get_unchecked_mut(node) = at }
    }

    /// Returns the earliest time.
    #[inline]
    pub fn earliest(&self) -> Time {
        self.get(1)
    }

    /// Returns the port of the earliest time, the lowest one at ties.
    #[inline]
    pub fn earliest_port(&self) -> u16 {
        let (least, leaves) = (self.earliest(), self.leaves());
        let mut node = 1;
        while node < leaves {
            node = 2 * node + usize::from(self.get(2 * node) != least);
        }
        (node - leaves) as u16
    }

    /// Returns the time of `port`.
    ///
    /// # Panics
    /// If `port` is out of range.
    #[inline]
    pub fn at(&self, port: u16) -> Time {
        self.get(self.leaf(port))
    }

    /// Sets the time of `port` to a value that is not later than its present one.
    ///
    /// # Panics
    /// If `port` is out of range.
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
    /// If `port` is out of range.
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
            let mut due = EarliestTimes::new(ports);
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
                    assert_eq!(usize::from(due.earliest_port()), expected.0);
                }
            }
        }
    }
}
