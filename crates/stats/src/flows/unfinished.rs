//! Flows that had not completed at the end of a run.

use serde::{Deserialize, Serialize};

use super::slowdown::decade_bounds;

/// Size of a flow of unlimited size: such a flow cannot complete, and does not count as unfinished.
pub const ENDLESS_BYTES: u64 = u64::MAX;

/// Flows of the measured window that had not completed at the end of the run; statistics over completed flows exclude
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Number of flows, except those of unlimited size.
    pub count: u64,
    /// Lower bound of the 25th percentile of their sizes, in bytes: the greatest of 1, 3, 10, 30 ... KB that at least
    /// three quarters of the unfinished flows exceed; 0 if there is none.
    #[serde(alias = "mostly_above_bytes")]
    pub size_p25_bytes: u64,
    /// Number of flows by size range, with the bounds 1, 3, 10, 30 ... KB; empty ranges are omitted.
    pub by_decade: Vec<UnfinishedOfSize>,
}

/// Number of unfinished flows in a size range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedOfSize {
    /// Upper bound of the size range, in bytes.
    pub to_bytes: u64,
    /// Number of flows.
    pub count: u64,
}

impl Unfinished {
    /// Computes the statistics; `counts` returns the number of flows in the size range that ends at one of
    /// [`decade_bounds`]. `None` without flows.
    pub(super) fn of(counts: impl Fn(u64) -> u64) -> Option<Unfinished> {
        let of_size = |to_bytes| UnfinishedOfSize { to_bytes, count: counts(to_bytes) };
        let by_decade: Vec<_> = decade_bounds().map(of_size).filter(|of| of.count > 0).collect();
        let count = by_decade.iter().map(|of| of.count).sum();
        let above = |bound: u64| by_decade.iter().filter(|of| of.to_bytes > bound).map(|of| of.count).sum::<u64>();
        let mostly = decade_bounds().filter(|&bound| 4 * above(bound) >= 3 * count).max();
        (count > 0).then(|| Unfinished { count, size_p25_bytes: mostly.unwrap_or(0), by_decade })
    }

    /// Returns the number of flows larger than `above_bytes` and at most `to_bytes`, both bounds of
    /// [`Unfinished::by_decade`].
    pub fn between(&self, above_bytes: u64, to_bytes: u64) -> u64 {
        let within = |of: &&UnfinishedOfSize| of.to_bytes > above_bytes && of.to_bytes <= to_bytes;
        self.by_decade.iter().filter(within).map(|of| of.count).sum()
    }

    /// Merges the statistics of several runs.
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a Unfinished>) -> Option<Unfinished> {
        let all: Vec<&Unfinished> = all.into_iter().collect();
        let of_size = |to_bytes: u64| {
            let found = all.iter().flat_map(|of| &of.by_decade).filter(|of| of.to_bytes == to_bytes);
            found.map(|of| of.count).sum()
        };
        Unfinished::of(of_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_most_are_named_by_a_bound_that_three_quarters_exceed() {
        let counts = |to: u64| match to {
            10_000 => 5,
            10_000_000 => 10,
            u64::MAX => 5,
            _ => 0,
        };
        let found = Unfinished::of(counts).unwrap();
        assert_eq!((found.count, found.size_p25_bytes), (20, 3_000_000));
        assert_eq!((found.between(0, 10_000), found.between(10_000, 10_000_000)), (5, 10));
        assert_eq!(found.between(10_000_000, u64::MAX), 5);
        let both = Unfinished::merged([&found, &found]).unwrap();
        assert_eq!((both.count, both.size_p25_bytes), (40, 3_000_000));
        assert_eq!(Unfinished::of(|_| 0), None);
        assert_eq!(Unfinished::of(|to| u64::from(to == 1_000)).unwrap().size_p25_bytes, 0);
    }
}
