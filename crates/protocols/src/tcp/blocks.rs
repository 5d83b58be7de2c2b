//! Blocks of a selective acknowledgement (RFC 2018), packed into the detail word of a frame.

/// Up to three SACK blocks above the cumulative acknowledgement, the latest first: with a timestamp option, the TCP
/// header has room for three (RFC 2018, 3). Offsets and lengths are in segments from the first missing byte. The word
/// contains three blocks if all offsets and lengths are at most 1023 segments, else two if they are at most 32767,
/// else one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks(u64);

/// Maximum number of blocks.
pub(crate) const MOST_BLOCKS: usize = 3;

/// Bits per offset and per length, indexed by the number of blocks, which the two highest bits of the word contain.
const BITS: [u32; MOST_BLOCKS + 1] = [0, 31, 15, 10];

impl SackBlocks {
    /// Packs `blocks`, the latest first, each as (start, end) with an exclusive end. `expected` is the first missing
    /// byte, `mss` the bytes of a segment. Partial segments are omitted, except for the last segment of a flow of
    /// `size_bytes`.
    pub(crate) fn new(blocks: &[(u64, u64)], expected: u64, mss: u64, size_bytes: u64) -> SackBlocks {
        let mut segments = [(0, 0); MOST_BLOCKS];
        let mut count = 0;
        for &(start, end) in blocks.iter().take(MOST_BLOCKS) {
            let first = start.saturating_sub(expected).div_ceil(mss);
            let behind = end.saturating_sub(expected);
            let last = if end == size_bytes { behind.div_ceil(mss) } else { behind / mss };
            if first > 0 && last > first {
                segments[count] = (first, last - first);
                count += 1;
            }
        }
        while count > 0 {
            let bits = BITS[count];
            if segments[..count].iter().all(|&(first, length)| first >> bits == 0 && length >> bits == 0) {
                let pack = |word: u64, &(first, length): &(u64, u64)| (word << bits | first) << bits | length;
                return SackBlocks((count as u64) << 62 | segments[..count].iter().fold(0, pack));
            }
            count -= 1;
        }
        SackBlocks::default()
    }

    /// Returns the number of blocks.
    pub fn count(self) -> usize {
        (self.0 >> 62) as usize
    }

    /// Returns the blocks as byte ranges, the latest first. The block of the flow's last segment may extend beyond
    /// the end of the flow, if this segment is short.
    pub fn iter(self, expected: u64, mss: u64) -> impl Iterator<Item = (u64, u64)> {
        let count = self.count();
        let bits = BITS[count];
        (0..count).rev().map(move |at| {
            let field = |location: usize| self.0 >> (location as u32 * bits) & ((1 << bits) - 1);
            let (first, length) = (field(2 * at + 1), field(2 * at));
            (expected + first * mss, expected + (first + length) * mss)
        })
    }

    /// Returns the detail word of a frame.
    pub(crate) fn pack(self) -> u64 {
        self.0
    }

    /// Unpacks the detail word of a frame.
    pub(crate) fn unpack(word: u64) -> SackBlocks {
        SackBlocks(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// The packed blocks are the first of the given blocks, unchanged: three if all offsets and lengths are below
    /// 1000 segments, two if they are below 30,000, else one.
    #[test]
    fn blocks_are_reported_unchanged() {
        let mut random = Stream::new(3, 0, 0);
        for round in 0..10_000 {
            let mss = 1 + random.below(9000);
            let expected = mss * random.below(1 << 20);
            let reach = [1000, 30_000, 1 << 30][round % 3];
            let blocks: Vec<(u64, u64)> = (0..random.below(5))
                .map(|_| {
                    let first = 1 + random.below(reach / 2);
                    let length = 1 + random.below(reach / 2);
                    (expected + first * mss, expected + (first + length) * mss)
                })
                .collect();
            let reported: Vec<(u64, u64)> =
                SackBlocks::new(&blocks, expected, mss, u64::MAX).iter(expected, mss).collect();
            assert_eq!(reported, blocks[..reported.len()]);
            let most = blocks.len().min([3, 2, 1][round % 3]);
            assert!(reported.len() >= most, "{blocks:?} {reported:?}");
        }
    }

    #[test]
    fn parts_of_segments_are_left_out_but_for_the_last() {
        let reported = |blocks: &[(u64, u64)], size| -> Vec<(u64, u64)> {
            SackBlocks::new(blocks, 1000, 100, size).iter(1000, 100).collect()
        };
        assert_eq!(reported(&[(1150, 1420)], u64::MAX), [(1200, 1400)]);
        assert_eq!(reported(&[(1150, 1199), (1300, 1400)], u64::MAX), [(1300, 1400)]);
        assert_eq!(reported(&[(1300, 1420)], 1420), [(1300, 1500)]);
        assert_eq!(reported(&[(900, 1100)], u64::MAX), [], "that is no block behind a gap");
    }
}
