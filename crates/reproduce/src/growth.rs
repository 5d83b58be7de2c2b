//! Log-log plots with one panel per quantity. Each panel states the exponent that is fitted to its points.

use std::fmt::Write as _;

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 220.0;
const MARGIN: f64 = 56.0;

const STYLE: &str = "\
.growth{background:#fff;font-family:system-ui,sans-serif;font-size:11px}\
.growth .grid{stroke:#c9ced6}.growth .axis{stroke:#5b6472}\
.growth .line{stroke:#2f5fae;fill:none;stroke-width:1.5}.growth circle{fill:#2f5fae}\
.growth text{fill:#1b1f26}\
@media(prefers-color-scheme:dark){\
.growth{background:#14171c}\
.growth .grid{stroke:#333a45}.growth .axis{stroke:#8a94a3}\
.growth .line{stroke:#7fa8ea}.growth circle{fill:#7fa8ea}\
.growth text{fill:#e6e9ee}}";

/// A quantity as a function of another quantity; all values are above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// Name of the quantity, with its unit.
    pub name: &'static str,
    /// Points (x, y), x ascending.
    pub points: Vec<(f64, f64)>,
}

impl Growth {
    /// Returns the exponent b of y = a x^b, by least squares over the logarithms of the points with x >= `from`; `None`
    /// if there are fewer than two different x.
    pub fn exponent(&self, from: f64) -> Option<f64> {
        let points = self.points.iter().filter(|point| point.0 >= from);
        let logs: Vec<(f64, f64)> = points.map(|&(x, y)| (libm::log(x), libm::log(y))).collect();
        let count = logs.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|log| log.0), mean(|log| log.1));
        let product: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
        let square: f64 = logs.iter().map(|log| (log.0 - x) * (log.0 - x)).sum();
        (square > 0.0).then(|| product / square)
    }
}

/// Logarithmic axis between two powers of ten, mapped to a length in pixels.
struct Axis {
    first: f64,
    decades: f64,
    length: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone, length: f64) -> Axis {
        let first = libm::floor(libm::log10(values.clone().fold(f64::INFINITY, f64::min)));
        let last = libm::ceil(libm::log10(values.fold(0.0, f64::max)));
        Axis { first, decades: (last - first).max(1.0), length }
    }

    fn at(&self, value: f64) -> f64 {
        (libm::log10(value) - self.first) / self.decades * self.length
    }

    /// Returns the positions and labels of the ticks, which are powers of ten.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        let every = libm::ceil(self.decades / 6.0) as i32;
        (0..=self.decades as i32).step_by(every as usize).map(move |decade| {
            let power = self.first as i32 + decade;
            let label = if (-3..=4).contains(&power) {
                libm::pow(10.0, power.into()).to_string()
            } else {
                format!("1e{power}")
            };
            (f64::from(decade) / self.decades * self.length, label)
        })
    }
}

/// Draws one panel per quantity. The exponent is fitted to the points with x >= `from`.
pub fn svg(title: &str, x_name: &str, growths: &[Growth], from: f64) -> String {
    let (width, height) = (growths.len() as f64 * (WIDTH + MARGIN) + 16.0, HEIGHT + 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"growth\" role=\"img\" viewBox=\"0 0 {width} {height}\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n"
    );
    // Writing to a String cannot fail.
    for (panel, growth) in growths.iter().enumerate() {
        let (left, bottom) = (MARGIN + panel as f64 * (WIDTH + MARGIN), MARGIN + HEIGHT);
        let x_axis = Axis::over(growth.points.iter().map(|point| point.0), WIDTH - 16.0);
        let y_axis = Axis::over(growth.points.iter().map(|point| point.1), HEIGHT);
        let (right, top) = (left + x_axis.length, bottom - y_axis.length);
        for (at, label) in x_axis.ticks() {
            let x = left + at;
            let _ = writeln!(out, "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{bottom}\" x2=\"{x:.1}\" y2=\"{top:.1}\"/>");
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", bottom + 16.0);
        }
        for (at, label) in y_axis.ticks() {
            let y = bottom - at;
            let _ = writeln!(out, "<line class=\"grid\" x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\"/>");
            let _ = writeln!(out, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", left - 5.0, y + 4.0);
        }
        let _ = writeln!(out, "<path class=\"axis\" fill=\"none\" d=\"M{left} {top:.1}V{bottom}H{right:.1}\"/>");
        let position = |&(x, y): &(f64, f64)| (left + x_axis.at(x), bottom - y_axis.at(y));
        let positions: Vec<(f64, f64)> = growth.points.iter().map(position).collect();
        let line: Vec<String> = positions.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(out, "<polyline class=\"line\" points=\"{}\"/>", line.join(" "));
        for ((x, y), point) in positions.iter().zip(&growth.points) {
            let tip = format!("{} {x_name}: {} {}", point.0, point.1, growth.name);
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{tip}</title></circle>");
        }
        let exponent = growth.exponent(from);
        let grows = exponent.map(|exponent| format!("growing as {x_name}^{exponent:.2} from {from} on"));
        let _ = writeln!(out, "<text x=\"{left}\" y=\"{:.1}\">{}</text>", top - 24.0, growth.name);
        // The exponent is on a separate line, because next to the name it would overlap the next panel.
        let _ = writeln!(out, "<text x=\"{left}\" y=\"{:.1}\">{}</text>", top - 10.0, grows.unwrap_or_default());
        let _ = writeln!(out, "<text x=\"{right:.1}\" y=\"{}\" text-anchor=\"end\">{x_name}</text>", bottom + 32.0);
    }
    out + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_powers() {
        let points = [1.0, 2.0, 5.0, 10.0].map(|x| (x, 3.0 * x * x * x)).to_vec();
        let mut growth = Growth { name: "cubes", points };
        assert!((growth.exponent(1.0).unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(growth.exponent(10.0), None, "one point has no slope");
        growth.points[0].1 = 1e9;
        assert!((growth.exponent(2.0).unwrap() - 3.0).abs() < 1e-12, "what is before `from` does not count");
        assert!(growth.exponent(1.0).unwrap() < 0.0);
    }

    #[test]
    fn pictures_hold_each_point_within_their_frame() {
        let points = vec![(100.0, 0.002), (1000.0, 0.4), (10_000.0, 37.5)];
        let text = svg("title", "switches", &[Growth { name: "seconds", points }], 100.0);
        let attribute = |line: &str, name: &str| -> f64 {
            line.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
        };
        let circles: Vec<&str> = text.lines().filter(|line| line.starts_with("<circle")).collect();
        assert_eq!(circles.len(), 3);
        for circle in &circles {
            assert!((MARGIN..=MARGIN + WIDTH).contains(&attribute(circle, "cx")), "{circle}");
            assert!((MARGIN..=MARGIN + HEIGHT).contains(&attribute(circle, "cy")), "{circle}");
        }
        assert!(attribute(circles[0], "cx") == MARGIN && attribute(circles[2], "cy") < attribute(circles[1], "cy"));
        assert!(text.contains("switches^2.14"), "{text}");
    }
}
