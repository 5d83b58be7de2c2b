//! SVG plots of the paper's figures.

use super::bench::quantile;
use crate::trial::Trial;
use text::lines::{Line, Panel, Scale, SeriesStyle, svg};

/// Number of points of a plotted distribution; more points would not be distinguishable.
const STEPS: u32 = 200;

/// Adds a plot with these panels, named `trim-NAME.svg`.
pub fn leave(trial: &mut Trial, name: &str, title: &str, panels: &[Panel]) {
    trial.plots.push((format!("trim-{name}"), svg(title, panels)));
}

/// Returns a panel with lines through the measured points.
pub fn measured(
    x: &'static str,
    y: &'static str,
    scale: Scale,
    series: Vec<(String, Vec<(f64, f64)>)>,
) -> Panel<'static> {
    let lines = series.into_iter().map(|(name, points)| Line { name, points, mark: SeriesStyle::Points }).collect();
    Panel { x, y, scale, lines }
}

/// Returns the empirical CDF of the ascending `values`.
pub fn distribution(name: &str, values: &[f64]) -> Line {
    let point = |step: u32| {
        let share = f64::from(step) / f64::from(STEPS);
        (quantile(values, share), share)
    };
    let points = if values.is_empty() { Vec::new() } else { (0..=STEPS).map(point).collect() };
    Line::curve(name, points)
}

/// Returns, for each port, the periods of length `response_us` after each congestion signal, as points (time in us,
/// port number). Ports are numbered as in the paper, with 1 for the first receiver. A signal within a period extends
/// the period.
pub fn periods(signals: &[(f64, u16)], first_receiver: u16, response_us: f64) -> Line {
    let mut signals = signals.to_vec();
    signals.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.total_cmp(&b.0)));
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (at, port) in signals {
        let height = f64::from(port.saturating_sub(first_receiver)) + 1.0;
        match points.last_mut() {
            Some(end) if end.1 == height && at <= end.0 => end.0 = at + response_us,
            _ => points.extend([(at, height), (at + response_us, height)]),
        }
    }
    Line { name: "pessimistic".to_owned(), points, mark: SeriesStyle::Spans }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_within_a_response_prolong_it() {
        let spans = periods(&[(10.0, 64), (12.0, 67), (13.0, 64), (30.0, 64)], 64, 6.0).points;
        let first = [(10.0, 1.0), (19.0, 1.0), (30.0, 1.0), (36.0, 1.0)];
        assert_eq!(spans, [&first[..], &[(12.0, 4.0), (18.0, 4.0)]].concat());
    }

    #[test]
    fn a_distribution_ends_with_its_greatest_value() {
        let line = distribution("", &[1.0, 2.0, 5.0]);
        assert_eq!((line.points[0], *line.points.last().unwrap()), ((1.0, 0.0), (5.0, 1.0)));
        assert!(distribution("", &[]).points.is_empty());
    }
}
