//! Means with their confidence.

/// Mean of batches and half the width of its confidence interval at 99 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Mean.
    pub mean: f64,
    /// Half the width.
    pub half: f64,
}

/// Student's t at 99 %, two-sided, by degrees of freedom from 1; 20 batches need the 19th.
const STUDENT: [f64; 30] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
    2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
];

/// The interval of these batch means, which must be long enough to be as good as independent. At least two.
pub fn interval(batches: &[f64]) -> Interval {
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let variance = batches.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    let freedom = batches.len().saturating_sub(2).min(STUDENT.len() - 1);
    Interval { mean, half: STUDENT[freedom] * (variance / count).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    /// Of a thousand intervals of 20 uniform batches, 99 % hold the mean: 990 give or take three sigma.
    #[test]
    fn covers_as_often_as_it_says() {
        let mut stream = Stream::new(7, 0, 0);
        let hits = (0..1000).filter(|_| {
            let batches: Vec<f64> = (0..20).map(|_| stream.unit()).collect();
            let interval = interval(&batches);
            (interval.mean - 0.5).abs() < interval.half
        });
        let hits = hits.count();
        assert!((979..=999).contains(&hits), "{hits}");
    }
}
