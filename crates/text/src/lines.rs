//! SVG plots: one or more panels in a row, each with several series.

use std::fmt::Write as _;

/// Width of a panel in pixels: if it is the only one, and if there are several in a row.
const WIDTHS: [f64; 2] = [560.0, 300.0];
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 78.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;
const RIGHT: f64 = 16.0;
/// Height of a row of the legend.
const ROW: f64 = 16.0;

const STYLE: &str = "\
.lines{background:#fff;font-family:system-ui,sans-serif;font-size:12px}\
.lines .grid{stroke:#c9ced6;stroke-width:.5}.lines .axis{stroke:#5b6472;fill:none}\
.lines polyline,.lines .key{fill:none;stroke-width:1.5}.lines .span{fill:none;stroke-width:6}\
.lines text{fill:#1b1f26}\
.lines .s0{stroke:#2f5fae}.lines .s1{stroke:#c2571a}.lines .s2{stroke:#3c8a3f}.lines .s3{stroke:#8a4fb0}\
.lines polyline.s1,.lines .key.s1{stroke-dasharray:7 3}.lines polyline.s2,.lines .key.s2{stroke-dasharray:2 2}\
.lines polyline.s3,.lines .key.s3{stroke-dasharray:8 3 2 3}\
.lines circle{stroke:none}.lines circle.s0{fill:#2f5fae}.lines circle.s1{fill:#c2571a}\
.lines circle.s2{fill:#3c8a3f}.lines circle.s3{fill:#8a4fb0}\
@media(prefers-color-scheme:dark){.lines{background:#14171c}.lines .grid{stroke:#333a45}.lines .axis{stroke:#8a94a3}\
.lines text{fill:#e6e9ee}.lines .s0{stroke:#7fa8ea}.lines .s1{stroke:#f0965f}.lines .s2{stroke:#7cc77f}\
.lines .s3{stroke:#c79ae6}.lines circle.s0{fill:#7fa8ea}.lines circle.s1{fill:#f0965f}\
.lines circle.s2{fill:#7cc77f}.lines circle.s3{fill:#c79ae6}}";

/// Style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Points connected by lines.
    Curve,
    /// Points connected by lines, with a dot at each point: for few measured values.
    Points,
    /// Dots without lines.
    Dots,
    /// Each pair of points connected by a line: for intervals.
    Spans,
}

/// A series.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Points, in the order in which they are connected.
    pub points: Vec<(f64, f64)>,
    /// Whether points are drawn as dots, connected by lines, or both.
    pub mark: SeriesStyle,
}

impl Line {
    /// Makes a curve.
    pub fn curve(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { name: name.into(), points, mark: SeriesStyle::Curve }
    }
}

/// Scale of the vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Starts at 0, or below 0 if a value is negative.
    Linear,
    /// Starts and ends at powers of ten; values that are not positive are omitted.
    Logarithmic,
}

/// A plot with two axes and its series.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel<'a> {
    /// Label of the horizontal axis, with its unit.
    pub x: &'a str,
    /// Label of the vertical axis, with its unit.
    pub y: &'a str,
    /// Scale of the vertical axis.
    pub scale: Scale,
    /// The series; only the first four have distinguishable styles.
    pub lines: Vec<Line>,
}

/// Rounds up to the next number of the form 1, 2 or 5 times a power of ten.
fn round_up(most: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(most.max(1e-9))));
    [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|&round| round >= most).unwrap_or(most)
}

/// Mapping from values to pixels.
struct Axis {
    scale: Scale,
    /// Value at the start of the axis; for a logarithmic axis, its exponent.
    first: f64,
    last: f64,
    /// Distance between ticks, in values; for a logarithmic axis, in powers of ten.
    step: f64,
    length: f64,
}

impl Axis {
    /// Makes an axis for these values. A linear axis ends at the largest value or, if `rounded` is set, at the next
    /// tick.
    fn over(values: impl Iterator<Item = f64>, scale: Scale, rounded: bool, length: f64) -> Axis {
        let values = values.filter(|value| value.is_finite());
        if scale == Scale::Logarithmic {
            let above = values.filter(|&value| value > 0.0);
            let (least, most) = above.fold((f64::INFINITY, 0.0f64), |(a, b), value| (a.min(value), b.max(value)));
            let (least, most) = if most > 0.0 { (least, most) } else { (0.1, 1.0) };
            let (first, last) = (libm::floor(libm::log10(least)), libm::ceil(libm::log10(most)));
            return Axis { scale, first, last: last.max(first + 1.0), step: 1.0, length };
        }
        let (least, most) = values.fold((0.0f64, 0.0f64), |(a, b), value| (a.min(value), b.max(value)));
        let most = if most > least { most } else { 1.0 };
        let step = round_up((most - least) / 6.0);
        // The tolerance of 1e-9 prevents an additional tick because of rounding errors.
        let last = if rounded { libm::ceil(most / step - 1e-9) * step } else { most };
        Axis { scale, first: libm::floor(least / step + 1e-9) * step, last, step, length }
    }

    /// Makes an axis for row numbers from 1, with a margin of one row at both ends.
    fn over_rows(values: impl Iterator<Item = f64>, length: f64) -> Axis {
        let most = values.fold(1.0, f64::max);
        Axis { scale: Scale::Linear, first: 0.0, last: most + 1.0, step: round_up(most / 6.0).max(1.0), length }
    }

    /// Returns the position of a value on the axis in pixels; `None` for a value that is not positive on a logarithmic
    /// axis.
    fn at(&self, value: f64) -> Option<f64> {
        let value = match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic if value > 0.0 => libm::log10(value),
            Scale::Logarithmic => return None,
        };
        Some((value - self.first) / (self.last - self.first) * self.length)
    }

    /// Returns the position and label of each tick.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        let count = libm::floor((self.last - self.first) / self.step + 1e-9) as u32;
        let digits = libm::ceil(-libm::log10(self.step)).max(0.0) as usize;
        (0..=count).map(move |tick| {
            let value = self.first + f64::from(tick) * self.step;
            // Without this, a tick at 0 with a rounding error could get the label `-0`.
            let value = if value.abs() < 1e-9 * self.step { 0.0 } else { value };
            let label = match self.scale {
                Scale::Linear => format!("{value:.digits$}"),
                Scale::Logarithmic => libm::pow(10.0, value).to_string(),
            };
            ((value - self.first) / (self.last - self.first) * self.length, label)
        })
    }
}

/// Returns the horizontal offset and the row of each entry in the legend; no entries for a single series.
fn legend(lines: &[Line], width: f64) -> Vec<(f64, u32)> {
    let mut at = (0.0, 0);
    let position = |line: &Line| {
        let needs = 42.0 + 7.0 * line.name.chars().count() as f64;
        if at.0 > 0.0 && at.0 + needs > width {
            at = (0.0, at.1 + 1);
        }
        let here = at;
        at.0 += needs;
        here
    };
    if lines.len() > 1 { lines.iter().map(position).collect() } else { Vec::new() }
}

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Draws the panels in a row as SVG.
pub fn svg(title: &str, panels: &[Panel<'_>]) -> String {
    let title = escaped(title);
    let panel_width = WIDTHS[usize::from(panels.len() > 1)];
    let rows = |panel: &Panel<'_>| legend(&panel.lines, panel_width).last().map_or(0, |last| last.1 + 1);
    let top = TOP + ROW * f64::from(panels.iter().map(rows).max().unwrap_or(0));
    let width = panels.len() as f64 * (LEFT + panel_width + RIGHT);
    let height = top + HEIGHT + BOTTOM;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lines\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <text x=\"{LEFT}\" y=\"18\">{title}</text>\n"
    );
    for (at, panel) in panels.iter().enumerate() {
        let left = at as f64 * (LEFT + panel_width + RIGHT) + LEFT;
        draw(&mut out, panel, (left, top), panel_width);
    }
    out + "</svg>\n"
}

fn draw(out: &mut String, panel: &Panel<'_>, (left, top): (f64, f64), width: f64) {
    let bottom = top + HEIGHT;
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let x_axis = Axis::over(points().map(|point| point.0), Scale::Linear, false, width);
    let heights = points().map(|point| point.1);
    let y_axis = if panel.lines.iter().any(|line| line.mark == SeriesStyle::Spans) {
        Axis::over_rows(heights, HEIGHT)
    } else {
        Axis::over(heights, panel.scale, true, HEIGHT)
    };
    // Writing to a String cannot fail.
    for (at, label) in x_axis.ticks() {
        let (x, below) = (left + at, bottom + 16.0);
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{x:.1} {bottom}V{top}\"/>");
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{below}\" text-anchor=\"middle\">{label}</text>");
    }
    for (at, label) in y_axis.ticks() {
        let (x, y) = (left - 6.0, bottom - at);
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{left} {y:.1}h{width}\"/>");
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", y + 4.0);
    }
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{left} {top}V{bottom}h{width}\"/>");
    let (middle, below) = (left + width / 2.0, bottom + 34.0);
    let _ = writeln!(out, "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{}</text>", escaped(panel.x));
    let (x, y) = (left - 62.0, top + HEIGHT / 2.0);
    let rotated = format!("x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\" text-anchor=\"middle\"");
    let _ = writeln!(out, "<text {rotated}>{}</text>", escaped(panel.y));
    for (index, line) in panel.lines.iter().enumerate() {
        let class = format!("s{}", index % 4);
        let position = |&(x, y): &(f64, f64)| Some((left + x_axis.at(x)?, bottom - y_axis.at(y)?));
        let positions: Vec<(f64, f64)> = line.points.iter().filter_map(position).collect();
        if matches!(line.mark, SeriesStyle::Curve | SeriesStyle::Points) {
            let positions: Vec<String> = positions.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(out, "<polyline class=\"{class}\" points=\"{}\"/>", positions.join(" "));
        }
        if matches!(line.mark, SeriesStyle::Points | SeriesStyle::Dots) {
            let radius = if line.mark == SeriesStyle::Dots { 1.5 } else { 2.5 };
            for (x, y) in &positions {
                let _ = writeln!(out, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
            }
        }
        if line.mark == SeriesStyle::Spans {
            for span in positions.chunks_exact(2) {
                let ((x, y), end) = (span[0], span[1].0);
                let _ = writeln!(out, "<path class=\"span {class}\" d=\"M{x:.1} {y:.1}H{end:.1}\"/>");
            }
        }
    }
    for ((index, line), (at, row)) in panel.lines.iter().enumerate().zip(legend(&panel.lines, width)) {
        let (x, y) = (left + at, TOP + ROW * f64::from(row) + 2.0);
        let class = index % 4;
        if line.mark == SeriesStyle::Dots {
            let _ = writeln!(out, "<circle class=\"s{class}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\"/>", x + 11.0);
        } else {
            let _ = writeln!(out, "<path class=\"key s{class}\" d=\"M{x:.1} {y:.1}h22\"/>");
        }
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 27.0, y + 4.0, escaped(&line.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(scale: Scale, mark: SeriesStyle) -> Panel<'static> {
        let line = |name: &str, points: &[(f64, f64)]| Line { name: name.to_owned(), points: points.to_vec(), mark };
        let lines = vec![line("a", &[(0.0, 0.0), (1.0, 37.0)]), line("b", &[(0.5, 12.0), (2.0, 3.0)])];
        Panel { x: "time, s", y: "rate, Mbps", scale, lines }
    }

    #[test]
    fn everything_stays_within_its_frame() {
        let text =
            svg("t", &[panel(Scale::Linear, SeriesStyle::Points), panel(Scale::Logarithmic, SeriesStyle::Points)]);
        let curves: Vec<&str> = text.lines().filter(|text| text.starts_with("<polyline")).collect();
        assert_eq!(curves.len(), 4);
        for (at, curve) in curves.iter().enumerate() {
            let left = LEFT + (at / 2) as f64 * (LEFT + WIDTHS[1] + RIGHT);
            let points = curve.split_once("points=\"").unwrap().1.trim_end_matches("\"/>");
            for point in points.split(' ') {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((left..=left + WIDTHS[1]).contains(&x), "{point}");
                assert!((TOP + ROW..=TOP + ROW + HEIGHT).contains(&y), "{point}");
            }
        }
        // The point with the value 0 is not shown on the logarithmic axis.
        assert_eq!(text.matches("<circle").count(), 7);
    }

    #[test]
    fn what_is_below_0_has_a_place_and_words_are_escaped() {
        let axis = Axis::over([-37.0, 12.0].into_iter(), Scale::Linear, true, 100.0);
        assert_eq!(
            axis.ticks().map(|(_, label)| label).collect::<Vec<_>>(),
            ["-40", "-30", "-20", "-10", "0", "10", "20"]
        );
        assert_eq!((axis.at(-40.0), axis.at(20.0)), (Some(0.0), Some(100.0)));
        let below = Axis::over([-0.3].into_iter(), Scale::Linear, true, 100.0);
        assert!(below.ticks().all(|(_, label)| label != "-0.0"));
        let odd = svg("a < b & c", &[Panel { x: "<x>", ..panel(Scale::Linear, SeriesStyle::Curve) }]);
        assert!(odd.contains("<title>a &lt; b &amp; c</title>") && odd.contains(">&lt;x&gt;</text>"), "{odd}");
    }

    #[test]
    fn ticks_are_round_and_end_the_axis_that_is_rounded() {
        assert_eq!([37.0, 1.0, 0.03, 600.0].map(round_up), [50.0, 1.0, 0.05, 1000.0]);
        let labels = |values: &[f64], scale, rounded| {
            let axis = Axis::over(values.iter().copied(), scale, rounded, 100.0);
            axis.ticks().map(|(_, label)| label).collect::<Vec<String>>()
        };
        assert_eq!(labels(&[37.0], Scale::Linear, true), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(&[37.0], Scale::Linear, false), ["0", "10", "20", "30"]);
        assert_eq!(labels(&[1.0], Scale::Linear, true), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&[30.0, 12_000.0, 0.0], Scale::Logarithmic, true), ["10", "100", "1000", "10000", "100000"]);
        assert_eq!(labels(&[], Scale::Linear, true).first().unwrap(), "0.0");
        let rows = |most: f64| {
            let axis = Axis::over_rows([most].into_iter(), 100.0);
            assert!(axis.at(most).unwrap() < 100.0, "the highest row is no border");
            axis.ticks().map(|(_, label)| label).collect::<Vec<String>>()
        };
        assert_eq!((rows(2.0).join(" "), rows(16.0).join(" ")), ("0 1 2 3".to_owned(), "0 5 10 15".to_owned()));
    }

    #[test]
    fn spans_go_from_one_point_to_the_next_and_names_wrap() {
        let mut panel = panel(Scale::Linear, SeriesStyle::Spans);
        panel.lines[0].points = vec![(0.0, 1.0), (0.5, 1.0), (1.0, 2.0), (2.0, 2.0)];
        assert_eq!(svg("t", &[panel.clone()]).matches("class=\"span s0\"").count(), 2);
        panel.lines[1].name = "x".repeat(80);
        assert_eq!(legend(&panel.lines, WIDTHS[0]), [(0.0, 0), (0.0, 1)]);
        assert_eq!(legend(&panel.lines[..1], WIDTHS[0]), []);
    }
}
