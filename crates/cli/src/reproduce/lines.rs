//! Pictures of curves over time: one panel, a line for each series.

use std::fmt::Write as _;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;
const MARGIN: f64 = 56.0;

const STYLE: &str = "\
.lines{background:#fff;font-family:system-ui,sans-serif;font-size:11px}\
.lines .grid{stroke:#c9ced6}.lines .axis{stroke:#5b6472;fill:none}.lines polyline{fill:none;stroke-width:1.5}\
.lines text{fill:#1b1f26}.s0{stroke:#2f5fae}.s1{stroke:#c2571a}.s2{stroke:#3c8a3f}.s3{stroke:#8a4fb0}\
@media(prefers-color-scheme:dark){.lines{background:#14171c}.lines .grid{stroke:#333a45}.lines .axis{stroke:#8a94a3}\
.lines text{fill:#e6e9ee}.s0{stroke:#7fa8ea}.s1{stroke:#f0965f}.s2{stroke:#7cc77f}.s3{stroke:#c79ae6}}";

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by ascending time; none below 0.
    pub points: Vec<(f64, f64)>,
}

/// A round number at or above `most`: 1, 2 or 5 times a power of ten.
fn round_up(most: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(most.max(1e-9))));
    [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|&round| round >= most).unwrap_or(most)
}

/// Draws `lines` over the time in seconds; `unit` is that of their values.
pub fn svg(title: &str, unit: &str, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    let (x_most, y_most) = points().fold((0.0f64, 0.0f64), |(x, y), point| (x.max(point.0), y.max(point.1)));
    let (x_most, y_most) = (x_most.max(1e-9), round_up(y_most));
    let (left, bottom) = (MARGIN, MARGIN + HEIGHT);
    let (width, height) = (WIDTH + 2.0 * MARGIN, HEIGHT + 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lines\" role=\"img\" viewBox=\"0 0 {width} {height}\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<text x=\"{left}\" y=\"20\">{title}</text>\n"
    );
    // Writing to a String cannot fail.
    for step in 0..=5 {
        let share = f64::from(step) / 5.0;
        let (x, y) = (left + share * WIDTH, bottom - share * HEIGHT);
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{left} {y:.1}H{:.1}\"/>", left + WIDTH);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            y + 4.0,
            share * y_most
        );
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.2}</text>",
            bottom + 16.0,
            share * x_most
        );
    }
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{left} {MARGIN}V{bottom}H{:.1}\"/>", left + WIDTH);
    let _ = writeln!(out, "<text x=\"{left}\" y=\"{:.1}\">{unit}</text>", MARGIN - 8.0);
    let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">s</text>", left + WIDTH, bottom + 32.0);
    for (index, line) in lines.iter().enumerate() {
        let place =
            |&(x, y): &(f64, f64)| format!("{:.1},{:.1}", left + x / x_most * WIDTH, bottom - y / y_most * HEIGHT);
        let places: Vec<String> = line.points.iter().map(place).collect();
        let class = index % 4;
        let _ = writeln!(out, "<polyline class=\"s{class}\" points=\"{}\"/>", places.join(" "));
        let at = left + 130.0 * index as f64 + 60.0;
        let _ = writeln!(out, "<path class=\"s{class}\" d=\"M{at} {:.1}h20\"/>", MARGIN - 12.0);
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", at + 26.0, MARGIN - 8.0, line.name);
    }
    out + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_stay_within_their_frame() {
        let line = |name: &str, points: &[(f64, f64)]| Line { name: name.to_owned(), points: points.to_vec() };
        let text = svg("t", "Mbps", &[line("a", &[(0.0, 0.0), (1.0, 37.0)]), line("b", &[(0.5, 12.0), (2.0, 3.0)])]);
        let curves: Vec<&str> = text.lines().filter(|text| text.starts_with("<polyline")).collect();
        assert_eq!(curves.len(), 2);
        for curve in curves {
            let points = curve.split_once("points=\"").unwrap().1.trim_end_matches("\"/>");
            for point in points.split(' ') {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((MARGIN..=MARGIN + WIDTH).contains(&x) && (MARGIN..=MARGIN + HEIGHT).contains(&y), "{point}");
            }
        }
        assert_eq!([37.0, 1.0, 0.03, 600.0].map(round_up), [50.0, 1.0, 0.05, 1000.0]);
    }
}
