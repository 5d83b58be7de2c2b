//! Statistical significance with multiple comparisons.

use super::statistics::mean_and_error;

/// Accepted false discovery rate among the differences of a table.
const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// Returns the two-sided p value of Student's t test that the mean of differences is zero; `None` for fewer than two
/// differences.
pub fn p_value(differences: &[f64]) -> Option<f64> {
    if differences.len() < 2 {
        return None;
    }
    let (mean, error) = mean_and_error(differences);
    if mean == 0.0 {
        return Some(1.0);
    }
    if error == 0.0 {
        return Some(0.0);
    }
    Some(student_two_sided((mean / error).abs(), differences.len() - 1))
}

/// Returns the two-sided tail probability 1 - A(t|v) by Abramowitz and Stegun 26.7.3 and 26.7.4, a finite sum for
/// integer degrees of freedom v.
fn student_two_sided(t: f64, freedom: usize) -> f64 {
    let v = freedom as f64;
    let (sine, cosine_squared) = (t / (v + t * t).sqrt(), v / (v + t * t));
    let is_odd = freedom % 2 == 1;
    // Terms of the sum; each is computed from the previous one.
    let (mut term, mut sum) = if is_odd { (cosine_squared.sqrt(), 0.0) } else { (1.0, 0.0) };
    let mut at = if is_odd { 1 } else { 0 };
    while at + 2 <= freedom {
        sum += term;
        at += 2;
        term *= cosine_squared * (at as f64 - 1.0) / at as f64;
    }
    let inside = if is_odd { ((t / v.sqrt()).atan() + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum };
    (1.0 - inside).clamp(0.0, 1.0)
}

/// Returns the largest p value of a table that is significant by the procedure of Benjamini and Hochberg (1995): at
/// most 5 % of the reported differences are expected to be false, and 95 % of the tables without any difference report
/// none. Negative if no p value is significant.
pub fn threshold(p_values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = p_values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let step = FALSE_DISCOVERY_RATE / sorted.len().max(1) as f64;
    let counts = |(at, p): &(usize, &f64)| **p <= step * (at + 1) as f64;
    sorted.iter().enumerate().rfind(counts).map_or(-1.0, |(_, &p)| p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::statistics::Confidence;
    use units::random::Stream;

    #[test]
    fn student_of_the_table_leaves_five_percent() {
        for freedom in 1..=30 {
            let p = student_two_sided(Confidence::P95.student(freedom), freedom);
            assert!((p - 0.05).abs() < 2e-4, "{freedom}: {p}");
            let p = student_two_sided(Confidence::P99.student(freedom), freedom);
            assert!((p - 0.01).abs() < 1e-4, "{freedom}: {p}");
        }
        assert_eq!((p_value(&[1.0]), p_value(&[2.0, 2.0]), p_value(&[0.0, 0.0])), (None, Some(0.0), Some(1.0)));
    }

    #[test]
    fn the_threshold_is_that_of_benjamini_and_hochberg() {
        // With ten p values at 5 %, the bounds are 0.005, 0.010, 0.015 ... The third smallest satisfies its bound, so
        // that the second is significant, too.
        let values = [0.5, 0.004, 0.0149, 0.0101, 0.9, 0.6, 0.7, 0.8, 0.4, 0.3];
        assert_eq!(threshold(values), 0.0149);
        assert!(threshold([0.03, 0.5]) < 0.0, "alone it would count");
        assert!(threshold([]) < 0.0);
    }

    /// Of 1000 tables with 25 metrics and no true difference, about 5 % report a difference; without the correction, 72
    /// % would.
    #[test]
    fn a_table_in_which_nothing_differs_rarely_finds_a_difference() {
        let mut stream = Stream::new(11, 0, 0);
        let mut table = || -> Vec<f64> {
            let metric = |_| p_value(&[0; 5].map(|_| stream.unit() - stream.unit())).unwrap();
            (0..25).map(metric).collect()
        };
        let (mut corrected, mut plain) = (0, 0);
        for _ in 0..1000 {
            let values = table();
            corrected += u32::from(threshold(values.iter().copied()) >= 0.0);
            plain += u32::from(values.iter().any(|p| *p <= 0.05));
        }
        assert!(corrected < 90 && plain > 600, "{corrected} and {plain}");
    }
}
