//! Confidence intervals of means over seeds.

/// 97.5 % quantiles of Student's t-distribution with 1 to 29 degrees of freedom. With more the quantile is at most the
/// last one.
const T: [f64; 29] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
];

/// Returns the mean of `values`, and half the width of its 95 % confidence interval. The width is infinite with one
/// value; without values both are NaN.
pub fn confidence(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    match values.len() {
        0 => (f64::NAN, f64::NAN),
        1 => (mean, f64::INFINITY),
        more => {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            let t = T[(more - 2).min(T.len() - 1)];
            (mean, t * libm::sqrt(squares / (count - 1.0) / count))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::confidence;

    /// Values 1, 2, 3: mean 2, variance 1, and 4.303 / sqrt(3) = 2.48434. Twenty alternating 0 and 2: mean 1, variance
    /// 20/19, and 2.093 * sqrt(1/19) = 0.48017.
    #[test]
    fn intervals_by_hand() {
        let close = |(mean, half): (f64, f64), expected: [f64; 2]| {
            assert!((mean - expected[0]).abs() < 1e-9 && (half - expected[1]).abs() < 1e-4, "{mean} {half}");
        };
        close(confidence(&[1.0, 2.0, 3.0]), [2.0, 2.48434]);
        close(confidence(&[0.0, 2.0].repeat(10)), [1.0, 0.48017]);
        assert_eq!(confidence(&[4.0]), (4.0, f64::INFINITY));
        assert!(confidence(&[]).0.is_nan() && confidence(&[1.0, f64::NAN]).1.is_nan());
    }
}
