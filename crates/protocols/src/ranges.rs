//! Received byte ranges of a flow, with gaps: kept by receivers, and by senders from acknowledgements.

/// Maximum number of separate ranges. A reordered window rarely has more than a handful; a receiver drops a packet that
/// would need one more, and the packet is retransmitted.
const MOST_RANGES: usize = 1024;

/// The received part of a flow: everything below `expected`, and sorted, disjoint, non-adjacent ranges above.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    expected: u64,
    above: Vec<(u64, u64)>,
}

impl Ranges {
    /// First missing byte.
    #[inline]
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// Whether any byte above the first missing byte has arrived.
    #[inline]
    pub(crate) fn has_gap(&self) -> bool {
        !self.above.is_empty()
    }

    /// Ranges above the first missing byte, half-open and ascending.
    #[inline]
    pub(crate) fn above(&self) -> &[(u64, u64)] {
        &self.above
    }

    /// The range above the first missing byte that contains the byte `at`.
    pub(crate) fn range(&self, at: u64) -> Option<(u64, u64)> {
        let index = self.above.partition_point(|&(_, range_end)| range_end <= at);
        self.above.get(index).copied().filter(|&(start, _)| start <= at)
    }

    /// Number of bytes that arrived out of order, above the first missing byte.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.above.iter().map(|&(start, end)| end - start).sum()
    }

    /// End of the highest range.
    pub(crate) fn highest(&self) -> u64 {
        self.above.last().map_or(self.expected, |&(_, end)| end)
    }

    /// First half-open range of missing bytes at or after `from`, clipped to start at `from` or later; `None` if no
    /// byte above `from` has arrived.
    pub(crate) fn gap(&self, from: u64) -> Option<(u64, u64)> {
        let mut start = from.max(self.expected);
        let at = self.above.partition_point(|&(_, range_end)| range_end <= start);
        for &(range_start, range_end) in &self.above[at..] {
            if start < range_start {
                return Some((start, range_start));
            }
            start = range_end;
        }
        None
    }

    /// Whether every byte of `start..end` has arrived.
    pub(crate) fn holds(&self, start: u64, end: u64) -> bool {
        let start = start.max(self.expected);
        let at = self.above.partition_point(|&(_, range_end)| range_end < end);
        end <= start || self.above.get(at).is_some_and(|&(range_start, _)| range_start <= start)
    }

    /// Adds the bytes of `start..end`. Returns how many of them are new.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        let start = start.max(self.expected);
        if end <= start {
            return 0;
        }
        if self.above.is_empty() && start == self.expected {
            self.expected = end;
            return end - start;
        }
        self.insert_slow(start, end)
    }

    fn insert_slow(&mut self, mut start: u64, mut end: u64) -> u64 {
        // Ranges from `first` to before `last` touch or overlap the new one and are merged into it.
        let first = self.above.partition_point(|&(_, range_end)| range_end < start);
        let last = self.above.partition_point(|&(range_start, _)| range_start <= end);
        let mut new = end - start;
        for &(range_start, range_end) in &self.above[first..last] {
            new -= range_end.min(end).saturating_sub(range_start.max(start));
        }
        if first < last {
            start = start.min(self.above[first].0);
            end = end.max(self.above[last - 1].1);
        }
        if start <= self.expected {
            self.expected = end;
            self.above.drain(first..last);
        } else if first < last {
            self.above[first] = (start, end);
            self.above.drain(first + 1..last);
        } else if self.above.len() < MOST_RANGES {
            self.above.insert(first, (start, end));
        } else {
            // Too many ranges: the packet is treated as lost, so that memory stays bounded.
            new = 0;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Compares with a bitmap, for random ranges that overlap, repeat and arrive out of order.
    #[test]
    fn every_byte_is_new_once() {
        let mut random = Stream::new(5, 0, 0);
        for _ in 0..200 {
            let (mut ranges, mut map) = (Ranges::default(), [false; 512]);
            for _ in 0..100 {
                let start = random.below(512);
                let end = (start + random.below(40)).min(512);
                assert_eq!(ranges.holds(start, end), map[start as usize..end as usize].iter().all(|&here| here));
                let new = (start..end).filter(|&i| !std::mem::replace(&mut map[i as usize], true)).count();
                assert_eq!(ranges.insert(start, end), new as u64);
                let expected = map.iter().position(|here| !here).unwrap_or(512) as u64;
                assert_eq!(ranges.expected(), expected);
                assert_eq!(ranges.has_gap(), map[expected as usize..].contains(&true));
                assert!(ranges.above.windows(2).all(|pair| pair[0].1 < pair[1].0));
                let highest = map.iter().rposition(|&here| here).map_or(0, |last| last as u64 + 1);
                assert_eq!(ranges.highest(), highest);
                let missing = |at: &u64| !map[*at as usize];
                let gap =
                    (start..highest).find(missing).map(|gap| (gap, (gap..highest).find(|at| !missing(at)).unwrap()));
                assert_eq!(ranges.gap(start), gap);
            }
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut ranges = Ranges::default();
        for i in 1..3000 {
            let new = ranges.insert(i * 10, i * 10 + 5);
            assert_eq!(new, if i <= MOST_RANGES as u64 { 5 } else { 0 });
        }
        assert_eq!(ranges.insert(0, 100_000), 100_000 - 5 * MOST_RANGES as u64);
        assert_eq!((ranges.expected(), ranges.has_gap()), (100_000, false));
    }
}
