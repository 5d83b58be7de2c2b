//! Drawings of rates, queue and phase portraits.

use lab::equations::{PacketMeasurement, Solved};
use scenario::FluidFile;
use text::lines::{Line, Panel, Scale, svg};

/// Maximum number of points of a curve.
const MOST_POINTS: usize = 2000;

/// Returns the name and the SVG of each plot: rates and queue length over time (with those of the packet-level
/// simulation, if given), and the requested phase portraits.
pub fn pictures(
    file: &FluidFile,
    solved: &Solved,
    packets: Option<&PacketMeasurement>,
    phases: &[[String; 2]],
) -> Vec<(String, String)> {
    let milliseconds: Vec<f64> = solved.times_ps.iter().map(|time| *time as f64 / 1e9).collect();
    let curve = |name: String, column: usize, unit: f64| {
        let values = solved.columns[column].iter().map(|value| value / unit);
        Line::curve(name, thinned(milliseconds.iter().copied().zip(values)))
    };
    let kinds = solved.rates.iter().enumerate();
    let mut rates: Vec<Line> = kinds.map(|(at, column)| curve(format!("flow.{at}"), *column, 1e9)).collect();
    let mut queue = vec![curve("fluid".to_owned(), solved.names.len() - 1, 1e3)];
    if let Some(packets) = packets {
        let flows = packets.flows.max(1) as f64;
        let beside = |series: &[(f64, f64)], unit: f64| {
            let points = series.iter().map(|(time, value)| (time * 1e3, value / unit));
            Line::curve("packets", thinned(points))
        };
        rates.push(beside(&packets.rate, 1e9 * flows));
        queue.push(beside(&packets.queue, 1e3));
    }
    let panel = |y, lines| Panel { x: "time, ms", y, scale: Scale::Linear, lines };
    let panels = [panel("rate of a flow, Gbps", rates), panel("queue, KB", queue)];
    let mut pictures = vec![("rates-and-queue.svg".to_owned(), svg(&file.name, &panels))];
    for [x, y] in phases {
        let values = |name: &str| solved.series(name).unwrap_or_default();
        let ([right, x_unit], [up, y_unit]) = (axis(x), axis(y));
        let points = values(x).into_iter().zip(values(y));
        let points = thinned(points.map(|(x, y)| (x / scale(&x_unit), y / scale(&y_unit))));
        let (right, up) = (format!("{right}, {x_unit}"), format!("{up}, {y_unit}"));
        let lines = vec![Line::curve(y.clone(), points)];
        let panel = Panel { x: &right, y: &up, scale: Scale::Linear, lines };
        let name = format!("phase-{x}-{y}.svg").replace('\'', "-slope");
        pictures.push((name, svg(&format!("{}: {y} over {x}", file.name), &[panel])));
    }
    pictures
}

/// Returns the axis label of a column, and the unit in which the plot shows its values.
fn axis(column: &str) -> [String; 2] {
    let (plain, slope) = column.strip_suffix('\'').map_or((column, false), |plain| (plain, true));
    let units = [("_bps", "Gbps"), ("_bytes", "KB")];
    let known = units.iter().find_map(|(ending, unit)| Some((plain.strip_suffix(ending)?, *unit)));
    let (name, unit) = known.unwrap_or((plain, "1"));
    match slope {
        true => [format!("{name}'"), format!("{unit}/ms")],
        false => [name.to_owned(), unit.to_owned()],
    }
}

/// Returns the size of one `unit` in the unit of the column: for example 1e9 bit/s for Gbps.
fn scale(unit: &str) -> f64 {
    let (plain, slope) = unit.strip_suffix("/ms").map_or((unit, 1.0), |plain| (plain, 1e3));
    slope * [("Gbps", 1e9), ("KB", 1e3)].iter().find(|(known, _)| *known == plain).map_or(1.0, |(_, scale)| *scale)
}

fn thinned(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = points.collect();
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    points.into_iter().step_by(every).collect()
}
