//! Means with confidence intervals.

/// Mean of independent values and half-width of its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Mean.
    pub mean: f64,
    /// Half-width of the confidence interval.
    pub half: f64,
}

/// Confidence level: the probability that the confidence interval contains the true mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// 95 %.
    P95,
    /// 99 %.
    P99,
}

impl Confidence {
    /// Returns two-sided quantiles of Student's t, by degrees of freedom from 1.
    const fn table(self) -> &'static [f64; 30] {
        match self {
            Confidence::P95 => &[
                12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
                2.045, 2.042,
            ],
            Confidence::P99 => &[
                63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977,
                2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763,
                2.756, 2.750,
            ],
        }
    }

    /// Returns the quantile of the normal distribution, the limit of Student's t.
    const fn normal(self) -> f64 {
        match self {
            Confidence::P95 => 1.959_964,
            Confidence::P99 => 2.575_829,
        }
    }

    /// Returns the quantile of Student's t for `freedom` degrees of freedom, at least one. It is read from a table;
    /// beyond the table, it is computed by the first terms of the expansion around the normal quantile (Abramowitz and
    /// Stegun 26.7.5), accurate to three decimals.
    pub fn student(self, freedom: usize) -> f64 {
        let freedom = freedom.max(1);
        if let Some(t) = self.table().get(freedom - 1) {
            return *t;
        }
        let (z, v) = (self.normal(), freedom as f64);
        let square = z * z;
        z + z * (square + 1.0) / (4.0 * v) + z * ((5.0 * square + 16.0) * square + 3.0) / (96.0 * v * v)
    }
}

/// Returns the confidence interval of the mean of these values, which must be independent. The half-width of a single
/// value is infinite.
pub fn interval(values: &[f64], confidence: Confidence) -> Interval {
    let (mean, error) = mean_and_error(values);
    let half = if values.len() < 2 { f64::INFINITY } else { confidence.student(values.len() - 1) * error };
    Interval { mean, half }
}

/// Returns the mean of these values and its standard error, which is undefined for a single value.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// 95 % (or 99 %) of 1000 confidence intervals of uniformly distributed samples contain the mean, within three
    /// standard deviations.
    #[test]
    fn the_interval_covers_at_its_confidence_level() {
        let mut stream = Stream::new(7, 0, 0);
        for (confidence, few, many) in [(Confidence::P95, 929, 971), (Confidence::P99, 979, 999)] {
            for count in [5, 20, 40] {
                let hits = (0..1000).filter(|_| {
                    let values: Vec<f64> = (0..count).map(|_| stream.unit()).collect();
                    let interval = interval(&values, confidence);
                    (interval.mean - 0.5).abs() < interval.half
                });
                let hits = hits.count();
                assert!((few..=many).contains(&hits), "{confidence:?} of {count}: {hits}");
            }
        }
    }

    #[test]
    fn student_beyond_the_table_is_that_of_the_books() {
        for (confidence, freedom, t) in [
            (Confidence::P95, 1, 12.706),
            (Confidence::P95, 40, 2.021),
            (Confidence::P95, 120, 1.980),
            (Confidence::P99, 40, 2.704),
            (Confidence::P99, 60, 2.660),
        ] {
            assert!((confidence.student(freedom) - t).abs() < 0.001, "{confidence:?} {freedom}");
        }
        assert_eq!(interval(&[3.0], Confidence::P95), Interval { mean: 3.0, half: f64::INFINITY });
        assert_eq!(interval(&[2.0, 2.0], Confidence::P95), Interval { mean: 2.0, half: 0.0 });
    }
}
