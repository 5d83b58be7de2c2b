//! Curves, downsampled to the resolution of a screen.

use serde::Serialize;

/// Maximum number of points of a curve: two per pixel of a wide figure.
pub const MAX_POINTS: usize = 1200;

/// One curve of a figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// Name of the curve in the legend.
    pub name: String,
    /// x values, ascending.
    pub x: Vec<f64>,
    /// y values.
    pub y: Vec<f64>,
    /// Flow number, for the curve of a single flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<u64>,
}

impl Curve {
    /// Makes a curve of these points, downsampled to at most `MAX_POINTS` points.
    pub fn new(name: impl Into<String>, points: &[(f64, f64)]) -> Curve {
        Curve::thinned(name, points, MAX_POINTS)
    }

    /// Makes a curve of these points, downsampled to at most `most` points, where `most` is at least 4.
    pub fn thinned(name: impl Into<String>, points: &[(f64, f64)], most: usize) -> Curve {
        let (x, y) = thin(points, most).into_iter().map(|(x, y)| (exact(x), short(y))).unzip();
        Curve { name: name.into(), x, y, flow: None }
    }
}

/// Rounds to six significant digits: more are not visible in a figure, and a page contains thousands of numbers.
pub(crate) fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Rounds to nine significant digits, so that two close instants of a long run remain distinct.
fn exact(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// Downsamples to at most `most` points (at least 4): keeps the first, the minimum, the maximum and the last point of
/// each interval, so that all peaks remain visible.
pub fn thin(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let stretches = (most / 4).max(1);
    let mut kept = Vec::with_capacity(4 * stretches);
    for stretch in 0..stretches {
        let (from, to) = (stretch * points.len() / stretches, (stretch + 1) * points.len() / stretches);
        if from == to {
            continue;
        }
        let mut least = from;
        let mut greatest = from;
        for at in from..to {
            least = if points[at].1 < points[least].1 { at } else { least };
            greatest = if points[at].1 > points[greatest].1 { at } else { greatest };
        }
        let mut chosen = [from, least, greatest, to - 1];
        chosen.sort_unstable();
        for (location, &at) in chosen.iter().enumerate() {
            if location == 0 || chosen[location - 1] != at {
                kept.push(points[at]);
            }
        }
    }
    kept
}

/// Returns the CDF of `values` in at most 200 steps, in percent of all flows, including `unfinished` flows without a
/// value. If there are unfinished flows, the last step is below 100 %.
pub fn distribution(name: impl Into<String>, mut values: Vec<f64>, unfinished: u64) -> Curve {
    const STEPS: usize = 200;
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len();
    let steps = count.min(STEPS);
    let points: Vec<(f64, f64)> = (1..=steps)
        .map(|step| {
            let rank = (step * count).div_ceil(steps);
            (values[rank - 1], 100.0 * rank as f64 / (count as f64 + unfinished as f64))
        })
        .collect();
    Curve::new(name, &points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_curve_keeps_its_ends_and_its_peaks() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), f64::from(i % 97))).collect();
        points[54_321].1 = 1e9;
        points[77_777].1 = -1e9;
        let thinned = thin(&points, 1200);
        assert!(thinned.len() <= 1200);
        assert_eq!((thinned[0], *thinned.last().unwrap()), (points[0], points[99_999]));
        assert!(thinned.contains(&points[54_321]) && thinned.contains(&points[77_777]));
        assert!(thinned.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(thin(&points[..1000], 1200), points[..1000]);
    }

    #[test]
    fn a_distribution_ends_at_the_greatest_value_and_100_percent() {
        let curve = distribution("d", (0..1000).rev().map(f64::from).collect(), 0);
        assert_eq!((curve.x.len(), *curve.x.last().unwrap(), *curve.y.last().unwrap()), (200, 999.0, 100.0));
        let half = curve.y.iter().position(|&y| y >= 50.0).unwrap();
        assert_eq!(curve.x[half], 499.0);
        let small = distribution("s", vec![3.0, 1.0], 0);
        assert_eq!((small.x, small.y), (vec![1.0, 3.0], vec![50.0, 100.0]));
        assert!(distribution("none", Vec::new(), 0).x.is_empty());
        let open = distribution("o", vec![3.0, 1.0], 2);
        assert_eq!(open.y, [25.0, 50.0], "two more did not complete");
    }
}
