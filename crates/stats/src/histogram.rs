//! A mergeable histogram of integers with a bounded relative error.

/// Each octave (from a power of two to the next) is divided into 2^7 = 128 equal buckets.
const SUB_BUCKET_BITS: u32 = 7;
/// Values below 2^8 = 256 have a bucket each, so they are exact.
const EXACT: u64 = 1 << (SUB_BUCKET_BITS + 1);
const SUB_BUCKETS: u64 = 1 << SUB_BUCKET_BITS;

/// Log-linear histogram of `u64` values (delays and completion times in ps, sizes in bytes). Values below 256 are
/// exact. Above, the width of a bucket is less than 1/128 of its values; a quantile is the middle of its bucket, so
/// that its error is below 0.4 %. Count, sum, minimum and maximum are exact.
///
/// At most 7424 buckets (58 KiB); octaves below the minimum and above the maximum take no memory. Merging adds
/// integers, so the order of merges does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Counts of consecutive buckets, of which the first has the index `first`; always whole octaves.
    counts: Vec<u64>,
    first: usize,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// One nonempty bucket: the values `low..=high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Least value of the bucket.
    pub low: u64,
    /// Greatest value of the bucket.
    pub high: u64,
    /// Number of values in the bucket.
    pub count: u64,
}

#[inline]
fn index_of(value: u64) -> usize {
    // Values below `EXACT` have the shift 0, because the low bits of `EXACT - 1` are set: each has a bucket of its own.
    let shift = (value | (EXACT - 1)).ilog2() - SUB_BUCKET_BITS;
    (u64::from(shift) * SUB_BUCKETS + (value >> shift)) as usize
}

fn bounds_of(index: usize) -> (u64, u64) {
    let index = index as u64;
    if index < EXACT {
        return (index, index);
    }
    let shift = index / SUB_BUCKETS - 1;
    let low = (index - shift * SUB_BUCKETS) << shift;
    (low, low + ((1 << shift) - 1))
}

impl Histogram {
    /// Returns an empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    /// Adds `value` with the weight `times`; for example a queue length, weighted by time.
    #[inline]
    pub fn record_many(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        let bucket = index_of(value);
        // For a bucket below `first`, the index wraps around to a value beyond the last bucket.
        let mut index = bucket.wrapping_sub(self.first);
        if index >= self.counts.len() {
            self.grow(bucket, bucket);
            index = bucket - self.first;
        }
        self.counts[index] += times;
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
    }

    /// Extends `counts` so that it contains the buckets from `low` to `high`. The extent depends only on the lowest and
    /// the highest bucket, so that histograms with the same values are equal, in whichever order the values were added.
    #[cold]
    fn grow(&mut self, low: usize, high: usize) {
        const OCTAVE: usize = SUB_BUCKETS as usize;
        let (mut first, mut end) = (low - low % OCTAVE, high - high % OCTAVE + OCTAVE);
        if !self.counts.is_empty() {
            (first, end) = (first.min(self.first), end.max(self.first + self.counts.len()));
        }
        let mut counts = vec![0; end - first];
        let known = self.first.saturating_sub(first);
        counts[known..known + self.counts.len()].copy_from_slice(&self.counts);
        (self.counts, self.first) = (counts, first);
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        let end = other.first + other.counts.len();
        if self.counts.is_empty() || other.first < self.first || end > self.first + self.counts.len() {
            self.grow(other.first, end - 1);
        }
        for (mine, theirs) in self.counts[other.first - self.first..].iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Returns the exact sum of the values.
    pub fn sum(&self) -> u128 {
        self.sum
    }
    /// Returns the exact minimum; `None` if empty.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }
    /// Returns the exact maximum; `None` if empty.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }
    /// Returns the mean, computed from the exact sum; `None` if empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the value of rank ceil(q * count) (nearest rank), as the middle of its bucket. Returns the exact minimum
    /// for the lowest rank and the exact maximum for the highest. `q` is rounded to nine decimals and clamped to 0..=1.
    /// `None` if empty.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = rank(q, self.count);
        // Ranks 1 and `count` are exact.
        if rank == 1 {
            return Some(self.min);
        }
        if rank == self.count {
            return Some(self.max);
        }
        let mut below = 0;
        let index = self.counts.iter().position(|&count| {
            below += count;
            below >= rank
        })?;
        let (low, high) = bounds_of(self.first + index);
        Some((low + (high - low) / 2).clamp(self.min, self.max))
    }

    /// Returns the standard deviation, with each value replaced by the middle of its bucket; `None` if empty.
    pub fn standard_deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares = |bucket: Bucket| {
            let off = bucket.low.midpoint(bucket.high).clamp(self.min, self.max) as f64 - mean;
            off * off * bucket.count as f64
        };
        Some((self.buckets().map(squares).sum::<f64>() / self.count as f64).sqrt())
    }

    /// Iterates over the nonempty buckets in ascending order, for a distribution curve.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(index, &count)| {
            let (low, high) = bounds_of(self.first + index);
            Bucket { low, high, count }
        })
    }
}

/// Returns the nearest rank, 1..=count, of a quantile. Computed in integers, because 0.07 * 100 is not 7 in floats.
pub(crate) fn rank(q: f64, count: u64) -> u64 {
    const BILLION: u128 = 1_000_000_000;
    let billionths = (q.clamp(0.0, 1.0) * BILLION as f64).round() as u128;
    let rank = (billionths * u128::from(count)).div_ceil(BILLION) as u64;
    rank.clamp(1, count.max(1))
}

units::pack_fields!(Histogram { counts, first, count, sum, min, max });

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn deviation_of_a_known_distribution() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.standard_deviation(), None);
        histogram.record_many(100, 3);
        assert_eq!(histogram.standard_deviation(), Some(0.0));
        histogram.record_many(200, 1);
        // Mean 125, mean squared deviation (3 * 25^2 + 75^2) / 4 = 1875.
        assert!((histogram.standard_deviation().unwrap() - 1875f64.sqrt()).abs() < 1e-9);
        let mut uniform = Histogram::new();
        (0..1_000_000).for_each(|value| uniform.record(value));
        let exact = 1e6 / 12f64.sqrt();
        assert!((uniform.standard_deviation().unwrap() / exact - 1.0).abs() < 1e-4);
    }

    #[test]
    fn buckets_tile_the_whole_range_without_gap() {
        let last = index_of(u64::MAX);
        assert_eq!(last, 7423);
        let mut next = 0u128;
        for index in 0..=last {
            let (low, high) = bounds_of(index);
            assert_eq!(u128::from(low), next, "bucket {index}");
            assert_eq!((index_of(low), index_of(high)), (index, index));
            assert!(u128::from(high - low) * 128 <= u128::from(low), "bucket {index} is too wide");
            next = u128::from(high) + 1;
        }
        assert_eq!(next, 1 << 64);
    }

    #[test]
    fn memory_is_that_of_the_powers_of_two_that_hold_something() {
        let mut histogram = Histogram::new();
        histogram.record(1_000_000);
        assert_eq!(histogram.counts.len(), 128);
        histogram.record(600_000);
        assert_eq!(histogram.counts.len(), 128);
        histogram.record(100);
        // One block of 128 buckets for the values 0 to 127, then one block for each of the 13 octaves from 2^7 to 2^20.
        assert_eq!((histogram.first, histogram.counts.len()), (0, 14 * 128));
    }

    #[test]
    fn small_values_are_exact() {
        let mut histogram = Histogram::new();
        (1..=100).for_each(|value| histogram.record(value));
        let at = |q| histogram.quantile(q).unwrap();
        assert_eq!((at(0.0), at(0.07), at(0.5), at(0.95), at(0.99), at(1.0)), (1, 7, 50, 95, 99, 100));
        assert_eq!(histogram.mean(), Some(50.5));
        assert_eq!(histogram.buckets().count(), 100);
    }

    #[test]
    fn empty_has_no_quantiles() {
        let mut empty = Histogram::new();
        empty.record_many(7, 0);
        assert_eq!((empty.quantile(0.5), empty.mean(), empty.min(), empty.max()), (None, None, None, None));
        empty.merge(&Histogram::new());
        assert_eq!(empty, Histogram::default());
    }

    fn spread() -> impl Strategy<Value = Vec<u64>> {
        // Uniform in the exponent, so that every octave is covered.
        prop::collection::vec((any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift), 1..300)
    }

    proptest! {
        #[test]
        fn quantiles_are_near_those_of_the_sorted_values(mut values in spread(), q in 0.0f64..=1.0) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|&value| histogram.record(value));
            values.sort_unstable();
            let exact = values[rank(q, values.len() as u64) as usize - 1];
            let ours = histogram.quantile(q).unwrap();
            prop_assert!(u128::from(ours.abs_diff(exact)) * 256 <= u128::from(exact), "{} for {}", ours, exact);
            prop_assert_eq!(histogram.count(), values.len() as u64);
            prop_assert_eq!(histogram.sum(), values.iter().map(|&value| u128::from(value)).sum::<u128>());
            prop_assert_eq!(histogram.min(), values.first().copied());
            prop_assert_eq!(histogram.max(), values.last().copied());
            prop_assert_eq!(histogram.buckets().map(|bucket| bucket.count).sum::<u64>(), values.len() as u64);
        }

        #[test]
        fn merging_is_recording_all(values in spread(), cut in 0usize..300) {
            let cut = cut.min(values.len());
            let of = |values: &[u64]| {
                let mut histogram = Histogram::new();
                values.iter().for_each(|&value| histogram.record(value));
                histogram
            };
            let (mut forth, mut back) = (of(&values[..cut]), of(&values[cut..]));
            forth.merge(&of(&values[cut..]));
            back.merge(&of(&values[..cut]));
            prop_assert_eq!(&forth, &of(&values));
            prop_assert_eq!(&back, &of(&values));
        }
    }
}
