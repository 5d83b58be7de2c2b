//! Slowdown by flow size, the usual figure of transport papers since pFabric.

use serde::{Deserialize, Serialize};

use crate::histogram::rank;

/// Number of bins of equal count, as in the scripts of HPCC.
const EQUAL_BINS: usize = 20;

/// Size and slowdown of a completed flow in 12 bytes. The size is split into halves to avoid padding. The slowdown is
/// stored as the bits of an `f32`, because the bits of positive floats have the same order as the floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sample {
    size_high: u32,
    size_low: u32,
    slowdown_bits: u32,
}

impl Sample {
    fn size_bytes(self) -> u64 {
        u64::from(self.size_high) << 32 | u64::from(self.size_low)
    }
    fn slowdown(self) -> f64 {
        f64::from(f32::from_bits(self.slowdown_bits))
    }
}

/// Sizes and slowdowns of all completed flows, 12 bytes each.
#[derive(Clone, Debug, Default)]
pub struct SlowdownSamples {
    samples: Vec<Sample>,
}

/// Slowdowns of the flows in a range of sizes, rounded to four decimals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeBin {
    /// Least size in the bin, in bytes.
    pub from_bytes: u64,
    /// Greatest size in the bin (equal-count bins) or its upper bound (fixed bins), in bytes.
    pub to_bytes: u64,
    /// Number of flows in the bin.
    pub count: u64,
    /// Mean slowdown.
    pub mean: f64,
    /// Median slowdown.
    pub p50: f64,
    /// 95th percentile of the slowdown.
    pub p95: f64,
    /// 99th percentile of the slowdown.
    pub p99: f64,
}

/// Slowdown by flow size, in bins of equal count and in bins with fixed bounds, and over all flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlowdownTable {
    /// All flows; `from_bytes` and `to_bytes` are the least and greatest size.
    pub all: SizeBin,
    /// The greatest slowdown.
    pub max: f64,
    /// 20 bins of equal count in order of size; if there are fewer than 20 flows, one bin per flow.
    pub by_size: Vec<SizeBin>,
    /// Bins with the fixed bounds 1, 3, 10, 30 ... KB; empty bins are omitted.
    pub by_decade: Vec<SizeBin>,
}

impl SlowdownSamples {
    /// Returns a set without samples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a completed flow. The slowdown is stored with seven significant digits; a value below 1 counts as 1.
    pub fn push(&mut self, size_bytes: u64, slowdown: f64) {
        // `max` maps a NaN, such as from a caller's 0/0, to 1.
        let slowdown_bits = (slowdown.max(1.0) as f32).to_bits();
        let (size_high, size_low) = ((size_bytes >> 32) as u32, size_bytes as u32);
        self.samples.push(Sample { size_high, size_low, slowdown_bits });
    }

    /// Returns the number of flows.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Returns whether there are no flows.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Returns the table, which does not depend on the order of insertion; `None` without flows. Sorts the samples in
    /// place, because a copy of millions of samples would double the memory.
    pub fn table(&mut self) -> Option<SlowdownTable> {
        self.samples.sort_unstable();
        let sorted = self.samples.as_slice();
        let (first, last) = (sorted.first()?.size_bytes(), sorted.last()?.size_bytes());
        let mut scratch = Vec::with_capacity(sorted.len());
        let all = bin(sorted, first, last, &mut scratch);
        let max = scratch.last().map_or(1.0, |&bits| round(f64::from(f32::from_bits(bits))));

        let bins = EQUAL_BINS.min(sorted.len());
        let by_size = (0..bins)
            .map(|index| {
                let samples = &sorted[index * sorted.len() / bins..(index + 1) * sorted.len() / bins];
                let (from, to) = (samples[0].size_bytes(), samples[samples.len() - 1].size_bytes());
                bin(samples, from, to, &mut scratch)
            })
            .collect();

        let mut by_decade = Vec::new();
        let (mut rest, mut from) = (sorted, 0);
        for to in decade_bounds() {
            let (samples, after) = rest.split_at(rest.partition_point(|sample| sample.size_bytes() <= to));
            if !samples.is_empty() {
                by_decade.push(bin(samples, from, to, &mut scratch));
            }
            (rest, from) = (after, to.saturating_add(1));
        }
        Some(SlowdownTable { all, max, by_size, by_decade })
    }
}

/// Yields 1, 3, 10, 30 ... KB up to 10 GB, then `u64::MAX`.
pub(crate) fn decade_bounds() -> impl Iterator<Item = u64> {
    let steps = (3..10).flat_map(|power| [10u64.pow(power), 3 * 10u64.pow(power)]);
    steps.chain([10_000_000_000, u64::MAX])
}

/// Computes the statistics of a nonempty list of samples; leaves the sorted slowdowns in `scratch`.
fn bin(samples: &[Sample], from_bytes: u64, to_bytes: u64, scratch: &mut Vec<u32>) -> SizeBin {
    scratch.clear();
    scratch.extend(samples.iter().map(|sample| sample.slowdown_bits));
    scratch.sort_unstable();
    let count = samples.len() as u64;
    // The samples are summed in sorted order, so that rounding does not depend on the order of insertion.
    let sum: f64 = samples.iter().map(|sample| sample.slowdown()).sum();
    let at = |q: f64| round(f64::from(f32::from_bits(scratch[rank(q, count) as usize - 1])));
    let mean = round(sum / count as f64);
    SizeBin { from_bytes, to_bytes, count, mean, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/// Rounds to four decimals, because further decimals are artefacts of the 32-bit storage.
fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Writes aligned plain text: the bins of equal count, then all flows.
impl std::fmt::Display for SlowdownTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let header = ["size up to", "flows", "mean", "p50", "p95", "p99"].map(str::to_owned);
        let row = |name: String, bin: &SizeBin| {
            let number = |value: f64| format!("{value:.2}");
            [name, bin.count.to_string(), number(bin.mean), number(bin.p50), number(bin.p95), number(bin.p99)]
        };
        let mut rows = vec![header];
        rows.extend(self.by_size.iter().map(|bin| row(format!("{:.1}", units::Bytes(bin.to_bytes)), bin)));
        rows.push(row("all".to_owned(), &self.all));
        let widths: [usize; 6] =
            std::array::from_fn(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0));
        for row in &rows {
            write!(f, "{:>width$}", row[0], width = widths[0])?;
            for (cell, width) in row.iter().zip(widths).skip(1) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_sample_takes_twelve_bytes() {
        assert_eq!(std::mem::size_of::<Sample>(), 12);
    }

    #[test]
    fn bins_of_equal_count_by_hand() {
        let mut samples = SlowdownSamples::new();
        // 200 flows of 1..=200 KB: bin i contains 10 i + 1 ..= 10 i + 10 KB; the slowdown is the size in KB.
        (1..=200u64).rev().for_each(|kb| samples.push(kb * 1000, kb as f64));
        let table = samples.table().unwrap();
        assert_eq!(table.by_size.len(), 20);
        let third = &table.by_size[2];
        assert_eq!((third.from_bytes, third.to_bytes, third.count), (21_000, 30_000, 10));
        assert_eq!((third.mean, third.p50, third.p95, third.p99), (25.5, 25.0, 30.0, 30.0));
        assert_eq!((table.all.p50, table.all.p95, table.all.p99, table.max), (100.0, 190.0, 198.0, 200.0));
        let decades: Vec<_> = table.by_decade.iter().map(|bin| (bin.from_bytes, bin.to_bytes, bin.count)).collect();
        let expected = [
            (0, 1_000, 1),
            (1_001, 3_000, 2),
            (3_001, 10_000, 7),
            (10_001, 30_000, 20),
            (30_001, 100_000, 70),
            (100_001, 300_000, 100),
        ];
        assert_eq!(decades, expected);
    }

    #[test]
    fn few_flows_make_few_bins() {
        assert_eq!(SlowdownSamples::new().table(), None);
        let mut samples = SlowdownSamples::new();
        samples.push(u64::MAX, 0.5);
        samples.push(64, f64::NAN);
        samples.push(64, 1e9);
        let table = samples.table().unwrap();
        assert_eq!(table.by_size.iter().map(|bin| bin.count).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!((table.by_size[0].p50, table.by_size[2].p99, table.max), (1.0, 1.0, 1e9));
        assert_eq!(table.by_decade.last().map(|bin| bin.to_bytes), Some(u64::MAX));
    }

    #[test]
    fn prints_aligned() {
        let mut samples = SlowdownSamples::new();
        samples.push(1_000, 1.0);
        samples.push(30_000_000, 12.345);
        let text = samples.table().unwrap().to_string();
        let expected = "\
size up to  flows   mean    p50    p95    p99
       1KB      1   1.00   1.00   1.00   1.00
      30MB      1  12.35  12.35  12.35  12.35
       all      2   6.67   1.00  12.35  12.35
";
        assert_eq!(text, expected);
    }

    proptest! {
        #[test]
        fn every_flow_is_in_one_bin_and_order_does_not_matter(
            flows in prop::collection::vec((any::<u64>().prop_map(|size| size >> (size % 60)), 1.0f64..1e6), 1..200),
        ) {
            let gather = |flows: &mut dyn Iterator<Item = &(u64, f64)>| {
                let mut samples = SlowdownSamples::new();
                flows.for_each(|&(size, slowdown)| samples.push(size, slowdown));
                samples.table().unwrap()
            };
            let table = gather(&mut flows.iter());
            prop_assert_eq!(&table, &gather(&mut flows.iter().rev()));
            prop_assert_eq!(table.by_size.iter().map(|bin| bin.count).sum::<u64>(), flows.len() as u64);
            prop_assert_eq!(table.by_decade.iter().map(|bin| bin.count).sum::<u64>(), flows.len() as u64);
            let (least, most) = (flows.len() / 20, flows.len().div_ceil(20).max(1));
            prop_assert!(table.by_size.iter().all(|bin| (least..=most).contains(&(bin.count as usize))));
            prop_assert!(table.by_size.windows(2).all(|pair| pair[0].to_bytes <= pair[1].from_bytes));
            prop_assert!(table.by_size.iter().all(|bin| bin.p50 <= bin.p95 && bin.p95 <= bin.p99));
        }
    }
}
