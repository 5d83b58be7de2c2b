//! Figures of time series: links, queues, pauses and throughput.

use crate::curves::Curve;
use crate::tables::{for_parts, us};
use record::RecordError;
use record::table::{Data, Table};
use record::trace::{PORTS_FILE, PortRow, TRACE_FILE, read_ports};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of curves in a figure: the queues, ports or flows with the largest values.
pub(crate) const MAX_CURVES: usize = 12;
/// Maximum number of pauses that are drawn.
const MAX_PAUSES: usize = 4000;
/// Number of intervals into which a run is divided to count the events of traced frames.
const STRETCHES: u64 = 200;

/// Pauses of one port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PausedPort {
    /// Port and class.
    pub name: String,
    /// Start and end of each pause, in us.
    pub spans: Vec<(f64, f64)>,
}

/// Names of nodes by number; empty if the run did not record them.
#[derive(Default)]
pub(crate) struct Names(BTreeMap<u64, String>);

impl Names {
    pub fn read(folder: &Path) -> Result<Names, RecordError> {
        let path = folder.join(PORTS_FILE);
        let rows: Vec<PortRow> = if path.exists() { read_ports(&path)? } else { Vec::new() };
        Ok(Names(rows.into_iter().map(|row| (u64::from(row.node), row.name)).collect()))
    }

    fn port(&self, node: u64, port: u64) -> String {
        let name = self.0.get(&node).cloned().unwrap_or_else(|| format!("node {node}"));
        format!("{name} port {port}")
    }
}

/// A traffic entry (`None`: the sum of its flows), or one flow of the entry.
type Source = (u64, Option<u64>);
/// Time in ps, and a value at this time (bytes, or parts per million).
type Sample = (u64, u64);

/// Returns the throughput in Gbps over time in us, of traffic entries and of recorded flows.
///
/// # Errors
/// If the table cannot be read.
pub(crate) fn throughput(folder: &Path, labels: &BTreeMap<u64, String>, end: u64) -> Result<Vec<Curve>, RecordError> {
    let mut bytes: BTreeMap<Source, Vec<Sample>> = BTreeMap::new();
    for_parts(folder, "throughput.parquet", |part| {
        let (times, traffic) = (part.u64s("time_ps")?, part.u64s("traffic")?);
        let (flows, delivered) = (part.u64s("flow")?, part.u64s("delivered_bytes")?);
        for row in 0..part.rows {
            if let (Some(time), Some(traffic), Some(bytes_)) = (times[row], traffic[row], delivered[row]) {
                bytes.entry((traffic, flows[row])).or_default().push((time, bytes_));
            }
        }
        Ok(())
    })?;
    // Order: traffic entries before single flows; each group by descending number of delivered bytes.
    let mut all: Vec<_> = bytes.into_iter().collect();
    all.sort_by_key(|((_, flow), rows)| {
        (flow.is_some(), u64::MAX - rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.1)))
    });
    all.truncate(MAX_CURVES);
    let curve = |((traffic, flow), rows): (Source, Vec<Sample>)| {
        let label = labels.get(&traffic).cloned().unwrap_or_else(|| format!("traffic {traffic}"));
        let name = flow.map_or(label, |flow| format!("flow {flow}"));
        let every = step(&rows, end);
        let rows = per_step(rows, every);
        let gbps = |bytes: u64| if every == 0 { 0.0 } else { bytes as f64 * 8000.0 / every as f64 };
        let points = with_zeros(&rows, every, end, true).into_iter().map(|(at, y)| (us(at), gbps(y)));
        Curve { flow, ..Curve::new(name, &points.collect::<Vec<_>>()) }
    };
    Ok(all.into_iter().map(curve).collect())
}

/// Returns the shortest sampling interval before `end`. The last interval may be shorter, so it does not count.
fn step(rows: &[Sample], end: u64) -> u64 {
    let first = rows.first().map_or(0, |row| row.0);
    let whole = rows.windows(2).filter(|pair| pair[1].0 < end).map(|pair| pair[1].0 - pair[0].0);
    whole.filter(|&gap| gap > 0).min().unwrap_or(first)
}

/// Scales the value of the last interval, which may be shorter than `every`, to the length `every`.
fn per_step(mut rows: Vec<Sample>, every: u64) -> Vec<Sample> {
    if let [.., before, last] = &mut rows[..] {
        let gap = last.0 - before.0;
        if gap > 0 && gap < every {
            let whole = u128::from(last.1) * u128::from(every) / u128::from(gap);
            last.1 = u64::try_from(whole).unwrap_or(u64::MAX);
        }
    }
    rows
}

/// Inserts the omitted rows, whose value is zero: a point at both ends of each gap between the rows, and between the
/// rows and the start and end of the run. If `of_stretches` is true, a value is the mean since the previous sampling
/// instant; otherwise it is the value at the sampling instant.
fn with_zeros(rows: &[Sample], every: u64, end: u64, of_stretches: bool) -> Vec<Sample> {
    let mut filled: Vec<Sample> = Vec::with_capacity(rows.len() + 4);
    for &(at, value) in rows {
        match filled.last() {
            None if at > every => filled.extend([(0, 0), (at - every, 0)]),
            None if at > 0 => filled.push((0, if of_stretches { value } else { 0 })),
            Some(&(before, _)) if every > 0 && at - before > every => {
                filled.push((before + every, 0));
                if at - every > before + every {
                    filled.push((at - every, 0));
                }
            }
            _ => {}
        }
        filled.push((at, value));
    }
    if let Some(&(last, _)) = filled.last() {
        let next = last.saturating_add(every).min(end);
        filled.extend([next, end].into_iter().filter(|&at| at > last).map(|at| (at, 0)));
        filled.dedup();
    }
    filled
}

/// Returns the queues with the largest maximum length, in KB over time in us; and the total number of recorded queues.
///
/// # Errors
/// If the table cannot be read.
pub(crate) fn queues(folder: &Path, names: &Names, end: u64) -> Result<(Vec<Curve>, usize), RecordError> {
    type Id = (u64, u64, u64, bool);
    let rows = |part: &Table, each: &mut dyn FnMut(Id, u64, u64)| -> Result<(), RecordError> {
        let columns = [part.u64s("node")?, part.u64s("port")?, part.u64s("class")?];
        let (times, bytes) = (part.u64s("time_ps")?, part.u64s("queue_bytes")?);
        let bounced = match part.column("bounce_queue") {
            Ok(Data::Bool(bounced)) => Some(bounced),
            _ => None,
        };
        for row in 0..part.rows {
            let id = [columns[0][row], columns[1][row], columns[2][row]];
            if let ([Some(node), Some(port), Some(class)], Some(time), Some(bytes)) = (id, times[row], bytes[row]) {
                let is_bounced = bounced.is_some_and(|bounced| bounced[row] == Some(true));
                each((node, port, class, is_bounced), time, bytes);
            }
        }
        Ok(())
    };
    let mut longest: BTreeMap<Id, u64> = BTreeMap::new();
    for_parts(folder, "queues.parquet", |part| {
        rows(part, &mut |id, _, bytes| {
            let most = longest.entry(id).or_default();
            *most = bytes.max(*most);
        })
    })?;
    let recorded = longest.len();
    let mut chosen: Vec<(Id, u64)> = longest.into_iter().collect();
    chosen.sort_by_key(|&(id, most)| (u64::MAX - most, id));
    chosen.truncate(MAX_CURVES);
    let mut lengths: BTreeMap<Id, Vec<(u64, u64)>> = chosen.iter().map(|(id, _)| (*id, Vec::new())).collect();
    for_parts(folder, "queues.parquet", |part| {
        rows(part, &mut |id, time, bytes| {
            if let Some(points) = lengths.get_mut(&id) {
                points.push((time, bytes));
            }
        })
    })?;
    let every = lengths.values().filter(|points| points.len() > 1).map(|points| step(points, end)).min().unwrap_or(0);
    let curve = |(id, _): &(Id, u64)| {
        let (node, port, class, is_bounced) = *id;
        let is_bounced = if is_bounced { ", bounced" } else { "" };
        let name = format!("{} class {class}{is_bounced}", names.port(node, port));
        let points = with_zeros(&lengths[id], every, end, false);
        Curve::new(name, &points.into_iter().map(|(at, bytes)| (us(at), bytes as f64 / 1e3)).collect::<Vec<_>>())
    };
    Ok((chosen.iter().map(curve).collect(), recorded))
}

/// Returns the utilisation of the busiest ports in percent over time in us. Sums are integers, in parts per million.
///
/// # Errors
/// If the table cannot be read.
pub(crate) fn utilisation(folder: &Path, names: &Names, end: u64) -> Result<Vec<Curve>, RecordError> {
    let mut shares: BTreeMap<(u64, u64), Vec<Sample>> = BTreeMap::new();
    for_parts(folder, "links.parquet", |part| {
        let (times, nodes, ports) = (part.u64s("time_ps")?, part.u64s("node")?, part.u64s("port")?);
        let share = part.f64s("utilisation")?;
        for row in 0..part.rows {
            if let (Some(time), Some(node), Some(port), Some(share)) = (times[row], nodes[row], ports[row], share[row])
            {
                shares.entry((node, port)).or_default().push((time, (1e6 * share).round() as u64));
            }
        }
        Ok(())
    })?;
    let mut all: Vec<_> = shares.into_iter().collect();
    let sum = |rows: &[Sample]| rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.1));
    all.sort_by(|a, b| sum(&b.1).cmp(&sum(&a.1)).then(a.0.cmp(&b.0)));
    all.truncate(MAX_CURVES);
    let every = all.iter().filter(|(_, rows)| rows.len() > 1).map(|(_, rows)| step(rows, end)).min().unwrap_or(0);
    let curve = |((node, port), rows): ((u64, u64), Vec<Sample>)| {
        let points = with_zeros(&rows, every, end, true).into_iter().map(|(at, share)| (us(at), share as f64 / 1e4));
        Curve::new(names.port(node, port), &points.collect::<Vec<_>>())
    };
    Ok(all.into_iter().map(curve).collect())
}

/// Reads `pfc.txt`: `<time ns> <node> <kind> <port from 1> <1 pause | 0 resume>`, recorded at the node that receives
/// the pause frame. Returns the pauses of the drawn ports, and the total number of pauses.
pub(crate) fn pauses(folder: &Path, names: &Names, end: u64) -> (Vec<PausedPort>, usize) {
    let path = folder.join("pfc.txt");
    if !path.exists() {
        return (Vec::new(), 0);
    }
    // Skip malformed lines, so that the valid lines of a truncated file are shown.
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut spans: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    let mut open: BTreeMap<(u64, u64), f64> = BTreeMap::new();
    let mut recorded = 0;
    for line in text.lines() {
        let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [time_ns, node, _, port, pause] = numbers[..] else { continue };
        let (at, id) = (time_ns / 1e3, (node as u64, (port as u64).saturating_sub(1)));
        if pause == 1.0 {
            recorded += 1;
            // A renewal does not change the start of the pause.
            open.entry(id).or_insert(at);
        } else if let Some(from) = open.remove(&id) {
            spans.entry(id).or_default().push((from, at));
        }
    }
    for (id, from) in open {
        spans.entry(id).or_default().push((from, us(end)));
    }
    let sum = |spans: &[(f64, f64)]| spans.iter().map(|(from, to)| to - from).sum::<f64>();
    let mut all: Vec<_> = spans.into_iter().collect();
    all.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)).then(a.0.cmp(&b.0)));
    all.truncate(2 * MAX_CURVES);
    let each = MAX_PAUSES / all.len().max(1);
    let port = |((node, port), mut spans): ((u64, u64), Vec<(f64, f64)>)| {
        // Keep the longest pauses, in the order of time: shorter ones would be invisible in the figure.
        spans.sort_by(|a, b| (b.1 - b.0).total_cmp(&(a.1 - a.0)));
        spans.truncate(each);
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        PausedPort { name: names.port(node, port), spans }
    };
    (all.into_iter().map(port).collect(), recorded)
}

/// Events of frames at switches: name in traces, name in figures.
const HAPPENINGS: [(&str, &str); 6] = [
    ("marked", "marked"),
    ("dropped", "dropped"),
    ("trimmed", "trimmed"),
    ("bounced", "bounced"),
    ("detoured", "detoured"),
    ("returned", "sent back to its source"),
];

/// Returns the number of traced frames with each event per interval, over time in us; and the interval length in us.
///
/// # Errors
/// If the table cannot be read.
pub(crate) fn happenings(folder: &Path, end: u64) -> Result<(Vec<Curve>, f64), RecordError> {
    let every = end.div_ceil(STRETCHES).max(1);
    let mut counts: BTreeMap<usize, BTreeMap<u64, u64>> = BTreeMap::new();
    for_parts(folder, TRACE_FILE, |part| {
        let times = part.u64s("time_ps")?;
        let Data::Text(events) = part.column("event")? else { return Ok(()) };
        for (time, event) in times.iter().zip(events) {
            let kind = event.as_deref().and_then(|event| HAPPENINGS.iter().position(|known| known.0 == event));
            if let (Some(kind), Some(time)) = (kind, time) {
                // The x value is the end of the interval.
                let at = (time / every).saturating_add(1).saturating_mul(every).min(end);
                *counts.entry(kind).or_default().entry(at).or_default() += 1;
            }
        }
        Ok(())
    })?;
    let curve = |(kind, counts): (usize, BTreeMap<u64, u64>)| {
        let rows: Vec<Sample> = counts.into_iter().collect();
        let points = with_zeros(&rows, every, end, true).into_iter().map(|(at, count)| (us(at), count as f64));
        Curve::new(HAPPENINGS[kind].1, &points.collect::<Vec<_>>())
    };
    Ok((counts.into_iter().map(curve).collect(), us(every)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::table::{Column, ColumnType, TableWriter, Value};

    #[test]
    fn a_gap_between_samples_is_zero() {
        let rows = [(100, 5), (110, 6), (150, 7)];
        assert_eq!(step(&rows, u64::MAX), 10);
        let filled = [(0, 0), (90, 0), (100, 5), (110, 6), (120, 0), (140, 0), (150, 7), (160, 0), (1000, 0)];
        assert_eq!(with_zeros(&rows, 10, 1000, true), filled);
        assert_eq!(with_zeros(&rows, 10, 1000, false), filled);
        assert_eq!(with_zeros(&rows, 10, 150, true), filled[..7], "the run ends with the last sample");
        assert_eq!(with_zeros(&rows, 10, 155, true)[7..], [(155, 0)], "the last stretch may be shorter");
    }

    #[test]
    fn a_mean_holds_from_the_start_and_a_length_does_not() {
        assert_eq!(with_zeros(&[(10, 5)], 10, 10, true), [(0, 5), (10, 5)]);
        assert_eq!(with_zeros(&[(10, 5)], 10, 10, false), [(0, 0), (10, 5)]);
        assert_eq!(with_zeros(&[], 10, 10, true), []);
    }

    #[test]
    fn what_happened_to_traced_frames_is_counted_by_stretch() {
        let folder = std::env::temp_dir().join(format!("tidegate-happenings-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let columns = [Column::new("time_ps", ColumnType::U64), Column::new("event", ColumnType::Text)];
        let mut table = TableWriter::create(&folder.join(TRACE_FILE), &columns).unwrap();
        // Intervals of 10 ps: two `marked` events in the first, one in the third; one `dropped` event in the last.
        for (time, event) in [(3, "marked"), (3, "queued"), (9, "marked"), (20, "marked"), (1999, "dropped")] {
            table.push(&[Value::U64(time), Value::Text(event)]).unwrap();
        }
        table.close().unwrap();
        let (curves, every_us) = happenings(&folder, 2000).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(every_us, us(10));
        let points_of =
            |curve: &Curve| curve.x.iter().map(|x| (x * 1e6).round()).zip(curve.y.clone()).collect::<Vec<_>>();
        assert_eq!(curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(), ["marked", "dropped"]);
        let marked = [(0.0, 2.0), (10.0, 2.0), (20.0, 0.0), (30.0, 1.0), (40.0, 0.0), (2000.0, 0.0)];
        assert_eq!(points_of(&curves[0])[..2], marked[..2]);
        assert_eq!(curves[0].y.iter().sum::<f64>() - curves[0].y[0], 3.0, "{curves:?}");
        assert_eq!(points_of(&curves[1]).last(), Some(&(2000.0, 1.0)));
    }
}
