//! Nodes with no event in the next windows, ordered by the time of their next event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// A heap of (time, node). An entry is outdated if its time differs from the timer in the node's slot; the caller
/// checks this.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Timers {
    pub(crate) fn push(&mut self, at: Time, node: u32) {
        self.heap.push(Reverse((at, node)));
    }

    /// Removes and returns the earliest entry, if it is before `limit`.
    #[inline]
    pub(crate) fn pop_before(&mut self, limit: Time) -> Option<(Time, u32)> {
        let &Reverse((at, _)) = self.heap.peek()?;
        if at < limit { self.heap.pop().map(|Reverse(entry)| entry) } else { None }
    }

    /// Returns the number of entries, including outdated ones.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Removes duplicates and entries that are not `valid`.
    #[cold]
    pub(crate) fn keep(&mut self, valid: impl Fn(Time, u32) -> bool) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.retain(|&Reverse((at, node))| valid(at, node));
        entries.sort_unstable();
        entries.dedup();
        self.heap = entries.into();
    }

    /// Returns all entries, including outdated ones, in no order.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Time, u32)> {
        self.heap.into_iter().map(|Reverse(entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_timers_are_valid_and_fire_once() {
        let mut timers = Timers::default();
        for round in 0..3 {
            (0..100u32)
                .rev()
                .for_each(|node| timers.push(Time::from_ps(u64::from(node % 7)), node + 100 * (round % 2)));
        }
        timers.keep(|at, node| node < 100 && at > Time::ZERO);
        let kept: Vec<(Time, u32)> = std::iter::from_fn(|| timers.pop_before(Time::MAX)).collect();
        let mut expected: Vec<(Time, u32)> =
            (0..100).filter(|node| node % 7 > 0).map(|node| (Time::from_ps(u64::from(node % 7)), node)).collect();
        expected.sort_unstable();
        assert_eq!(kept, expected);
    }
}
