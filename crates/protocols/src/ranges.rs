//! Byte ranges of a flow that have been received, with gaps: used by receivers, and by senders for acknowledged
//! ranges.

/// Maximum number of separate ranges. A window with reordering rarely has more than a handful. A receiver drops a
/// packet that would need another range, and the sender retransmits it.
const MOST_RANGES: usize = 1024;

/// Received bytes of a flow: all bytes below `expected`, and sorted, disjoint, non-adjacent ranges above it.
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

    /// Whether a byte above the first missing byte has arrived.
    #[inline]
    pub(crate) fn has_gap(&self) -> bool {
        !self.above.is_empty()
    }

    /// Received ranges above the first missing byte, half-open and ascending.
    #[inline]
    pub(crate) fn above(&self) -> &[(u64, u64)] {
        &self.above
    }

    /// Received range above the first missing byte that contains the byte `at`; `None` if `at` is not in one.
    pub(crate) fn range(&self, at: u64) -> Option<(u64, u64)> {
        let index = self.above.partition_point(|&(_, range_end)| range_end <= at);
        self.above.get(index).copied().filter(|&(start, _)| start <= at)
    }

    /// Number of received bytes above the first missing byte (out of order).
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.above.iter().map(|&(start, end)| end - start).sum()
    }

    /// End of the highest received range.
    pub(crate) fn highest(&self) -> u64 {
        self.above.last().map_or(self.expected, |&(_, end)| end)
    }

    /// First half-open range of missing bytes at or above `from`; a range that contains `from` starts at `from`.
    /// `None` if no byte above `from` has arrived.
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

    /// Whether all bytes of `start..end` have arrived.
    pub(crate) fn holds(&self, start: u64, end: u64) -> bool {
        let start = start.max(self.expected);
        let at = self.above.partition_point(|&(_, range_end)| range_end < end);
        end <= start || self.above.get(at).is_some_and(|&(range_start, _)| range_start <= start)
    }

    /// Adds the received bytes `start..end`. Returns the number of these bytes that had not arrived before.
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
        // The ranges `first..last` touch or overlap the new range, and are merged with it.
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
            // Too many ranges: the packet counts as lost, so that memory stays bounded.
            new = 0;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// For random ranges that overlap, repeat and arrive out of order, compares the result with a bitmap.
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
