//! Figures of congestion control state over time.

use crate::curves::{Curve, MAX_POINTS};
use crate::series::MAX_CURVES;
use crate::tables::{for_parts, us};
use record::RecordError;
use record::control::CONTROL_FILE;
use record::table::Data;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of flows with curves on a page: those with the lowest numbers. A figure shows the curves of the first
/// of them or, if the user selects a flow, the curve of this flow.
const MAX_FLOWS: usize = 60;
/// Maximum number of points of a curve that is shown only if its flow is selected.
const FEW_POINTS: usize = 240;

/// A figure of one quantity over time, with one curve per flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// Name of the quantity.
    pub title: String,
    /// Unit of the quantity.
    pub unit: String,
    /// Curves over time in us, of the flows with the lowest numbers; unless a flow is selected, the figure shows the
    /// first 12.
    pub curves: Vec<Curve>,
}

/// Per flow: label and points of its curve.
type Lines = BTreeMap<u64, (String, Vec<(f64, f64)>)>;
/// An entry of [`CONTROLS`].
type Quantity = (&'static str, &'static str, &'static str, f64);

/// Column of `control.parquet`, title and unit in figures, and divisor for the conversion to this unit.
const CONTROLS: [Quantity; 8] = [
    ("rate_bps", "Sending rate", "Gbps", 1e9),
    ("target_bps", "Target rate", "Gbps", 1e9),
    ("window_bytes", "Congestion window", "KB", 1e3),
    ("flight_bytes", "In flight", "KB", 1e3),
    ("rtt_ps", "Round trip", "us", 1e6),
    ("delay_ps", "One-way delay", "us", 1e6),
    ("alpha", "Alpha", "share of marks", 1.0),
    ("available_bps", "Available bandwidth", "Gbps", 1e9),
];

/// Returns a figure for each column that has values.
///
/// # Errors
/// If the table cannot be read.
pub(crate) fn controls(folder: &Path) -> Result<Vec<Panel>, RecordError> {
    // A first pass over the table finds the flows with the lowest numbers, so that the second pass stores only their
    // samples.
    let mut flows = BTreeSet::new();
    for_parts(folder, CONTROL_FILE, |part| {
        for flow in part.u64s("flow")?.iter().flatten() {
            flows.insert(*flow);
            if flows.len() > MAX_FLOWS {
                flows.pop_last();
            }
        }
        Ok(())
    })?;
    let mut panels: Vec<Lines> = vec![BTreeMap::new(); CONTROLS.len()];
    for_parts(folder, CONTROL_FILE, |part| {
        let (times, numbers) = (part.u64s("time_ps")?, part.u64s("flow")?);
        let Data::Text(labels) = part.column("label")? else { return Ok(()) };
        for (panel, (column, _, _, unit)) in panels.iter_mut().zip(CONTROLS) {
            let values: Vec<Option<f64>> = match part.column(column)? {
                Data::U64(values) => values.iter().map(|value| value.map(|value| value as f64)).collect(),
                Data::I64(values) => values.iter().map(|value| value.map(|value| value as f64)).collect(),
                Data::F64(values) => values.clone(),
                _ => continue,
            };
            for row in 0..part.rows {
                if let (Some(time), Some(flow), Some(value)) = (times[row], numbers[row], values[row])
                    && flows.contains(&flow)
                {
                    let label = || (labels[row].clone().unwrap_or_default(), Vec::new());
                    panel.entry(flow).or_insert_with(label).1.push((us(time), value / unit));
                }
            }
        }
        Ok(())
    })?;
    let panel = |(flows, (_, title, unit, _)): (Lines, Quantity)| {
        let curve = |(at, (flow, (label, points))): (usize, (u64, (String, Vec<_>)))| {
            let most = if at < MAX_CURVES { MAX_POINTS } else { FEW_POINTS };
            Curve { flow: Some(flow), ..Curve::thinned(format!("{label}, flow {flow}"), &points, most) }
        };
        let curves = flows.into_iter().enumerate().map(curve).collect();
        Panel { title: title.to_owned(), unit: unit.to_owned(), curves }
    };
    Ok(panels.into_iter().zip(CONTROLS).filter(|(flows, _)| !flows.is_empty()).map(panel).collect())
}
