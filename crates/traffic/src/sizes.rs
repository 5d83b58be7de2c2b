//! Flow size distributions: fixed, uniform, or empirical (a cumulative distribution function). Means are exact.

use crate::error::TrafficError;
use std::sync::Arc;
use units::random::Stream;

/// Flow size of a flow without end.
pub const ENDLESS: u64 = u64::MAX;

/// Distribution of flow sizes. Every draw is at least 1 byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Constant size in bytes.
    Fixed(u64),
    /// Uniform distribution from `min_bytes` to `max_bytes`, inclusive.
    Uniform {
        /// Minimum size, at least 1.
        min_bytes: u64,
        /// Maximum size, at least `min_bytes`.
        max_bytes: u64,
    },
    /// Empirical distribution. Shared, because every host uses it.
    Empirical(Arc<Cdf>),
}

/// A cumulative distribution function (CDF), piecewise linear between its points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cdf {
    points: Vec<CdfPoint>,
}

/// A point of a CDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CdfPoint {
    /// Flow size in bytes.
    pub bytes: u64,
    /// Cumulative probability: share of flows of at most this size, in units of 1 / [`Cdf::WHOLE`].
    pub share: u64,
}

/// Mean size as an exact fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mean {
    /// Numerator, in bytes.
    pub numerator: u128,
    /// Denominator, never zero.
    pub denominator: u128,
}

impl Mean {
    /// Returns the mean as a floating-point number, for display and statistics.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl Sizes {
    /// Draws a flow size in bytes.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Uniform { min_bytes, max_bytes } => match (max_bytes.saturating_sub(*min_bytes)).checked_add(1) {
                Some(span) => min_bytes + stream.below(span),
                None => stream.next_u64(),
            },
            Sizes::Empirical(cdf) => cdf.at(stream.below(Cdf::WHOLE)),
        }
    }

    /// Returns an error if the distribution could draw an invalid size.
    pub(crate) fn check(&self) -> Result<(), TrafficError> {
        match self {
            Sizes::Fixed(ENDLESS) | Sizes::Uniform { max_bytes: ENDLESS, .. } => {
                Err(TrafficError::parameter("size", "this value means an endless flow: write \"endless\""))
            }
            Sizes::Fixed(0) => Err(TrafficError::parameter("size", "a flow has at least 1 byte")),
            Sizes::Uniform { min_bytes: 0, .. } => Err(TrafficError::parameter("size", "a flow has at least 1 byte")),
            Sizes::Uniform { min_bytes, max_bytes } if max_bytes < min_bytes => {
                let why = format!("the largest size {max_bytes} is below the smallest {min_bytes}");
                Err(TrafficError::parameter("size", why))
            }
            _ => Ok(()),
        }
    }

    /// Returns the exact mean; for an empirical distribution, the mean of the piecewise linear CDF.
    pub fn mean(&self) -> Mean {
        match self {
            Sizes::Fixed(bytes) => Mean { numerator: u128::from(*bytes), denominator: 1 },
            Sizes::Uniform { min_bytes, max_bytes } => {
                Mean { numerator: u128::from(*min_bytes) + u128::from(*max_bytes), denominator: 2 }
            }
            Sizes::Empirical(cdf) => cdf.mean(),
        }
    }
}

impl Cdf {
    /// Cumulative probability of 1, since probabilities have twelve decimals.
    pub const WHOLE: u64 = 1_000_000_000_000;
    /// Maximum size, 1 PiB, so that means and interpolation fit 128 bits.
    pub const MAX_BYTES: u64 = 1 << 50;

    /// Creates the distribution whose CDF is piecewise linear between these points.
    ///
    /// # Errors
    /// Index of the first invalid point, and the reason. Sizes and cumulative probabilities (`share`) must not
    /// decrease. The first probability must be 0, the last one [`Cdf::WHOLE`], and the maximum size from 1 byte to
    /// [`Cdf::MAX_BYTES`].
    pub fn new(points: Vec<CdfPoint>) -> Result<Cdf, (usize, &'static str)> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err((0, "a distribution has at least two points"));
        };
        if first.share != 0 {
            return Err((0, "the first point must have the share 0"));
        }
        for (at, pair) in points.windows(2).enumerate() {
            if pair[1].bytes < pair[0].bytes {
                return Err((at + 1, "sizes must not decrease"));
            }
            if pair[1].share < pair[0].share {
                return Err((at + 1, "shares must not decrease"));
            }
        }
        if last.share != Cdf::WHOLE {
            return Err((points.len() - 1, "the last point must have the share 100 % (or 1)"));
        }
        if !(1..=Cdf::MAX_BYTES).contains(&last.bytes) {
            return Err((points.len() - 1, "the largest size must be 1 byte to 1 PiB"));
        }
        Ok(Cdf { points })
    }

    /// Returns the points of the CDF.
    pub fn points(&self) -> &[CdfPoint] {
        &self.points
    }

    /// Returns the quantile for the probability (`share` + 1/2) / [`Cdf::WHOLE`], rounded to a byte, at least 1.
    ///
    /// # Panics
    /// If `share` is not below [`Cdf::WHOLE`].
    pub fn at(&self, share: u64) -> u64 {
        assert!(share < Cdf::WHOLE, "a share below the whole");
        let upper = self.points.partition_point(|point| point.share <= share);
        let (from, to) = (self.points[upper - 1], self.points[upper]);
        let span = u128::from(to.bytes - from.bytes);
        let (passed, whole) = (u128::from(share - from.share), u128::from(to.share - from.share));
        let rise = (span * (2 * passed + 1) + whole) / (2 * whole);
        (from.bytes + rise as u64).max(1)
    }

    /// Returns the cumulative probability of sizes up to `bytes`, in units of 1 / [`Cdf::WHOLE`], rounded down.
    pub fn share_at_most(&self, bytes: u64) -> u64 {
        let upper = self.points.partition_point(|point| point.bytes <= bytes);
        let Some(from) = upper.checked_sub(1).map(|at| self.points[at]) else { return 0 };
        let Some(to) = self.points.get(upper) else { return Cdf::WHOLE };
        let rise = u128::from(to.share - from.share) * u128::from(bytes - from.bytes);
        from.share + (rise / u128::from(to.bytes - from.bytes)) as u64
    }

    /// Returns the exact mean of the piecewise linear CDF.
    pub fn mean(&self) -> Mean {
        let chunk =
            |pair: &[CdfPoint]| u128::from(pair[0].bytes + pair[1].bytes) * u128::from(pair[1].share - pair[0].share);
        // No overflow: each term is at most 2^51 bytes times a share, and all shares add up to 10^12.
        Mean { numerator: self.points.windows(2).map(chunk).sum(), denominator: 2 * u128::from(Cdf::WHOLE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fixed_and_uniform() {
        let mut stream = Stream::new(5, 0, 0);
        let uniform = Sizes::Uniform { min_bytes: 3, max_bytes: 12 };
        let mut counts = [0u32; 10];
        for _ in 0..50_000 {
            counts[uniform.draw(&mut stream) as usize - 3] += 1;
        }
        // Chi-square test with 9 degrees of freedom: the 99.9 % quantile is 27.9.
        let chi: f64 = counts.iter().map(|&count| (f64::from(count) - 5000.0).powi(2) / 5000.0).sum();
        assert!(chi < 27.9, "{counts:?}");
        assert_eq!(uniform.mean(), Mean { numerator: 15, denominator: 2 });
        assert_eq!(Sizes::Fixed(7).draw(&mut stream), 7);
        assert_eq!(Sizes::Fixed(7).mean().as_f64(), 7.0);
    }

    #[test]
    fn sizes_that_are_none_are_refused() {
        let fails = |sizes: Sizes| sizes.check().unwrap_err().to_string();
        assert!(fails(Sizes::Fixed(0)).contains("at least 1 byte"));
        assert!(fails(Sizes::Uniform { min_bytes: 0, max_bytes: 9 }).contains("at least 1 byte"));
        assert!(fails(Sizes::Uniform { min_bytes: 10, max_bytes: 9 }).contains("below the smallest 10"));
        assert!(fails(Sizes::Fixed(u64::MAX)).contains("endless"));
        assert!(Sizes::Uniform { min_bytes: 9, max_bytes: 9 }.check().is_ok());
    }

    proptest! {
        /// The quantile function is monotone, stays within the interval of its two points, and inverts the CDF to a
        /// byte.
        #[test]
        fn the_inverse_inverts(
            mut bytes in prop::collection::vec(1u64..1 << 40, 2..8),
            mut shares in prop::collection::vec(0u64..=Cdf::WHOLE, 8),
            mut probes in prop::collection::vec(0u64..Cdf::WHOLE, 1..20),
        ) {
            bytes.sort_unstable();
            shares.truncate(bytes.len());
            shares.sort_unstable();
            shares[0] = 0;
            shares[bytes.len() - 1] = Cdf::WHOLE;
            let points: Vec<CdfPoint> =
                bytes.iter().zip(&shares).map(|(&bytes, &share)| CdfPoint { bytes, share }).collect();
            let cdf = Cdf::new(points).unwrap();
            probes.sort_unstable();
            let sizes: Vec<u64> = probes.iter().map(|share| cdf.at(*share)).collect();
            prop_assert!(sizes.is_sorted());
            for (share, size) in probes.iter().zip(sizes) {
                prop_assert!(cdf.share_at_most(size + 1) >= *share);
                prop_assert!(size == bytes[0] || cdf.share_at_most(size - 1) <= *share);
            }
            let mean = cdf.mean().as_f64();
            prop_assert!(mean >= bytes[0] as f64 * 0.999999 && mean <= bytes[bytes.len() - 1] as f64 * 1.000001);
        }
    }
}
