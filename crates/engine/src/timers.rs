//! Nodes whose next event lies beyond the coming windows, ordered by its time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// A heap of (time, node). A node's entry may be outdated; whoever pops it knows.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Timers {
    pub(crate) fn push(&mut self, at: Time, node: u32) {
        self.heap.push(Reverse((at, node)));
    }

    /// The earliest entry, if it lies before `limit`.
    #[inline]
    pub(crate) fn pop_before(&mut self, limit: Time) -> Option<(Time, u32)> {
        let &Reverse((at, _)) = self.heap.peek()?;
        if at < limit { self.heap.pop().map(|Reverse(entry)| entry) } else { None }
    }

    /// All entries, outdated ones among them, in no order.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Time, u32)> {
        self.heap.into_iter().map(|Reverse(entry)| entry)
    }
}
