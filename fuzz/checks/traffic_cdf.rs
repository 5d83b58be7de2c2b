//! Size distributions: any bytes are an error, or a distribution with a monotonic inverse within its points.

use traffic::Cdf;

/// Fails on bytes that violate the property.
pub fn check(bytes: &[u8]) {
    let cdf = match Cdf::read(bytes, "fuzz") {
        Ok(cdf) => cdf,
        Err(error) => return assert!(error.to_string().starts_with("fuzz")),
    };
    let (first, last) = (cdf.points()[0].bytes, cdf.points()[cdf.points().len() - 1].bytes);
    let mut previous = 0;
    for step in 0..=64 {
        let share = (Cdf::WHOLE - 1) / 64 * step;
        let size = cdf.at(share);
        assert!(size >= previous.max(1) && size >= first && size <= last, "{size} at {share}");
        assert!(cdf.share_at_most(size) <= Cdf::WHOLE);
        previous = size;
    }
    let mean = cdf.mean();
    assert!(mean.numerator <= u128::from(last) * mean.denominator);
    assert!(mean.numerator >= u128::from(first) * mean.denominator);
}
