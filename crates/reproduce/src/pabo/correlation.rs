//! Correlation coefficients: Pearson's, and Spearman's of ranks.

/// Returns the rank of each value, from 0; ties have the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|&&other| other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|&&other| other == value).count() as f64;
    values.iter().map(|&value| below(value) + (equal(value) - 1.0) / 2.0).collect()
}

/// Returns Pearson's correlation coefficient: 1 or -1 if all points are on a straight line, 0 if either is constant.
pub fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(x), mean(y));
    let sum = |of: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(x, y)| of(x - x_mean, y - y_mean)).sum::<f64>();
    let scale = (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt();
    if scale > 0.0 { sum(&|x, y| x * y) / scale } else { 0.0 }
}

/// Returns Spearman's rank correlation: 1 if both increase together, -1 if one increases while the other decreases, 0
/// if either is constant.
pub fn spearman(x: &[f64], y: &[f64]) -> f64 {
    pearson(&ranks(x), &ranks(y))
}

/// Returns two standard deviations of the mean of `correlations` rank correlation coefficients, each of them over
/// `values` pairs of independent values. The variance of one coefficient is 1 / (values - 1).
pub fn chance(values: usize, correlations: u64) -> f64 {
    2.0 / ((values as f64 - 1.0) * correlations as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn what_rises_together_has_1_and_what_is_opposed_minus_1() {
        let x = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(spearman(&x, &[1.0, 8.0, 27.0, 64.0]), 1.0);
        assert_eq!(spearman(&x, &[4.0, 3.0, 2.0, 1.0]), -1.0);
        assert_eq!(spearman(&x, &[5.0; 4]), 0.0);
        // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: the correlation is 4.5 / sqrt(4.5 * 5).
        assert!((spearman(&x, &[1.0, 2.0, 2.0, 9.0]) - 0.9f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn pearson_is_1_on_a_line_and_less_on_a_curve() {
        let x = [0.0, 1.0, 2.0, 3.0];
        assert!((pearson(&x, &[5.0, 4.0, 3.0, 2.0]) + 1.0).abs() < 1e-12);
        assert_eq!(pearson(&x, &[5.0; 4]), 0.0);
        // Deviations -1.5, -0.5, 0.5, 1.5 and -3.5, -2.5, 0.5, 5.5: 15 / sqrt(5 * 49).
        let curve = [0.0, 1.0, 4.0, 9.0];
        assert!((pearson(&x, &curve) - 15.0 / 245.0f64.sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&x, &curve), 1.0);
    }

    /// For independent values, about one in twenty means of coefficients exceeds two standard deviations.
    #[test]
    fn chance_is_two_standard_deviations() {
        let mut stream = Stream::new(1, 0, 0);
        let x: Vec<f64> = (0..11).map(f64::from).collect();
        let mut mean =
            || (0..5).map(|_| spearman(&x, &x.iter().map(|_| stream.unit()).collect::<Vec<_>>())).sum::<f64>() / 5.0;
        let outside = (0..2000).filter(|_| mean().abs() > chance(11, 5)).count();
        assert!((60..=140).contains(&outside), "{outside} of 2000");
    }
}
