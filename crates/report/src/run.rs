//! One result folder, as the page draws it.

use crate::controls::{Panel, controls};
use crate::curves::{Curve, distribution};
use crate::error::ReportError;
use crate::replay::{Replay, read_replay};
use record::RecordError;
use record::folder::{SUMMARY_FILE, is_result, read_verified};
use record::summary::Summary;
use record::table::{Data, Table, TableReader};
use record::trace::{PORTS_FILE, PortRow, read_ports};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The most queues, ports or flows that a figure shows: those with the most to show.
pub(crate) const MAX_CURVES: usize = 12;
/// The most pauses that are drawn one by one.
const MAX_PAUSES: usize = 4000;

/// What the page shows of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// What figures call it.
    pub label: String,
    /// The folder it came from.
    pub folder: String,
    /// The scenario, with all that was changed on the command line.
    pub scenario: String,
    /// All of `summary.json`.
    pub summary: Summary,
    /// Completion times in us: share of flows, in percent.
    pub fct: Option<Curve>,
    /// Slowdowns: share of flows, in percent.
    pub slowdown: Option<Curve>,
    /// Gbps over us, by traffic entry and recorded flow.
    pub throughput: Vec<Curve>,
    /// What congestion controls held: a figure for each thing that one had.
    pub controls: Vec<Panel>,
    /// KB over us: the longest queues.
    pub queues: Vec<Curve>,
    /// How many queues were recorded.
    pub queues_recorded: usize,
    /// Percent of the link's rate over us: the busiest ports.
    pub utilisation: Vec<Curve>,
    /// Stopped ports, the longest in sum first.
    pub pauses: Vec<PausedPort>,
    /// How many pauses stand behind them, those that are not drawn included.
    pub pauses_recorded: usize,
    /// The fabric over time; none where the run did not record its ports. The page has it in another form.
    #[serde(skip)]
    pub replay: Option<Replay>,
}

/// When one class of one port was stopped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PausedPort {
    /// Port and class.
    pub name: String,
    /// From and to, in us.
    pub spans: Vec<(f64, f64)>,
}

pub(crate) fn us(ps: u64) -> f64 {
    ps as f64 / 1e6
}

/// Names of nodes, where the run recorded them.
struct Names(BTreeMap<u64, String>);

impl Names {
    fn read(folder: &Path) -> Result<Names, RecordError> {
        let path = folder.join(PORTS_FILE);
        let rows: Vec<PortRow> = if path.exists() { read_ports(&path)? } else { Vec::new() };
        Ok(Names(rows.into_iter().map(|row| (u64::from(row.node), row.name)).collect()))
    }

    fn port(&self, node: u64, port: u64) -> String {
        let name = self.0.get(&node).cloned().unwrap_or_else(|| format!("node {node}"));
        format!("{name} port {port}")
    }
}

/// Reads the result in `folder`; `label` is what figures call it.
///
/// # Errors
/// [`ReportError::NotAResult`], [`ReportError::OtherVersion`], and whatever is wrong with its files: a folder that was
/// copied by halves does not add up to its hash.
pub fn read_run(folder: &Path, label: &str) -> Result<Run, ReportError> {
    if !is_result(folder) {
        return Err(ReportError::NotAResult { path: folder.to_owned() });
    }
    let known = Summary::read(&folder.join(SUMMARY_FILE)).map(|summary| summary.scenario.version);
    let version = known.or_else(|error| version_of(folder).ok_or(error))?;
    if version != env!("CARGO_PKG_VERSION") {
        return Err(ReportError::OtherVersion { path: folder.to_owned(), version });
    }
    let summary = read_verified(folder)?;
    let names = Names::read(folder)?;
    let scenario = std::fs::read_to_string(folder.join("scenario.toml")).unwrap_or_default();
    let (fct, slowdown) = completions(folder, label)?;
    let (queues, queues_recorded) = queues(folder, &names, summary.simulated_ps)?;
    let (pauses, pauses_recorded) = pauses(folder, &names, summary.simulated_ps);
    let throughput = throughput(folder, summary.simulated_ps)?;
    let utilisation = utilisation(folder, &names, summary.simulated_ps)?;
    let replay = read_replay(folder, summary.simulated_ps)?;
    Ok(Run {
        label: label.to_owned(),
        folder: folder.display().to_string(),
        scenario,
        summary,
        fct,
        slowdown,
        throughput,
        controls: controls(folder)?,
        queues,
        queues_recorded,
        utilisation,
        pauses,
        pauses_recorded,
        replay,
    })
}

/// The version alone, of a summary that has other keys than ours.
fn version_of(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(SUMMARY_FILE)).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(value["scenario"]["version"].as_str()?.to_owned())
}

/// Calls `each` with every part of a table, if the folder has it.
pub(crate) fn for_parts(
    folder: &Path,
    name: &str,
    mut each: impl FnMut(&Table) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(());
    }
    let mut reader = TableReader::open(&path)?;
    let mut last = 0;
    while let Some(part) = reader.next_group()? {
        // Curves are drawn from rows in order of time, as runs write them.
        if part.place("time_ps").is_ok() {
            for time in part.u64s("time_ps")?.iter().flatten() {
                if *time < last {
                    return Err(RecordError::Table { path, what: format!("time_ps goes back from {last} to {time}") });
                }
                last = *time;
            }
        }
        each(&part)?;
    }
    Ok(())
}

fn completions(folder: &Path, label: &str) -> Result<(Option<Curve>, Option<Curve>), RecordError> {
    let (mut times, mut slowdowns) = (Vec::new(), Vec::new());
    for_parts(folder, "flows.parquet", |part| {
        times.extend(part.u64s("fct_ps")?.iter().flatten().map(|&ps| us(ps)));
        slowdowns.extend(part.f64s("slowdown")?.iter().flatten());
        Ok(())
    })?;
    let curve = |values: Vec<f64>| (!values.is_empty()).then(|| distribution(label, values));
    Ok((curve(times), curve(slowdowns)))
}

/// A traffic entry, or one flow of it.
type Source = (u64, Option<u64>);
/// Instant, in ps, and bytes.
type Sample = (u64, u64);

fn throughput(folder: &Path, end: u64) -> Result<Vec<Curve>, RecordError> {
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
    // The most delivered first; whole entries before single flows.
    let mut all: Vec<_> = bytes.into_iter().collect();
    all.sort_by_key(|((_, flow), rows)| {
        (flow.is_some(), u64::MAX - rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.1)))
    });
    all.truncate(MAX_CURVES);
    let curve = |((traffic, flow), rows): (Source, Vec<Sample>)| {
        let name = flow.map_or(format!("traffic {traffic}"), |flow| format!("flow {flow}"));
        let every = step(&rows);
        let gbps = |bytes: u64| if every == 0 { 0.0 } else { bytes as f64 * 8000.0 / every as f64 };
        Curve::new(
            name,
            &with_zeros(&rows, every, end).into_iter().map(|(at, y)| (us(at), gbps(y))).collect::<Vec<_>>(),
        )
    };
    Ok(all.into_iter().map(curve).collect())
}

/// The least distance between two instants.
fn step(rows: &[Sample]) -> u64 {
    rows.windows(2)
        .map(|pair| pair[1].0 - pair[0].0)
        .filter(|&gap| gap > 0)
        .min()
        .unwrap_or(rows.first().map_or(0, |r| r.0))
}

/// Instants without a row are zero: one at each end of every gap shows that, up to the end of the run.
fn with_zeros(rows: &[Sample], every: u64, end: u64) -> Vec<Sample> {
    let mut filled: Vec<Sample> = Vec::with_capacity(rows.len() + 2);
    for &(at, value) in rows {
        match filled.last() {
            None if at > every => filled.push((at - every, 0)),
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
    if let Some(&(last, value)) = filled.last()
        && value > 0
        && let Some(next) = last.checked_add(every).filter(|&next| next <= end)
    {
        filled.push((next, 0));
    }
    filled
}

fn queues(folder: &Path, names: &Names, end: u64) -> Result<(Vec<Curve>, usize), RecordError> {
    type Id = (u64, u64, u64, bool);
    let rows = |part: &Table, each: &mut dyn FnMut(Id, u64, u64)| -> Result<(), RecordError> {
        let columns = [part.u64s("node")?, part.u64s("port")?, part.u64s("class")?];
        let (times, bytes) = (part.u64s("time_ps")?, part.u64s("queue_bytes")?);
        let bounced = match part.column("bounced") {
            Ok(Data::Bool(bounced)) => Some(bounced),
            _ => None,
        };
        for row in 0..part.rows {
            let id = [columns[0][row], columns[1][row], columns[2][row]];
            if let ([Some(node), Some(port), Some(class)], Some(time), Some(bytes)) = (id, times[row], bytes[row]) {
                let turned = bounced.is_some_and(|bounced| bounced[row] == Some(true));
                each((node, port, class, turned), time, bytes);
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
    let every = lengths.values().filter(|points| points.len() > 1).map(|points| step(points)).min().unwrap_or(0);
    let curve = |(id, _): &(Id, u64)| {
        let (node, port, class, turned) = *id;
        let turned = if turned { ", bounced" } else { "" };
        let name = format!("{} class {class}{turned}", names.port(node, port));
        let points = with_zeros(&lengths[id], every, end);
        Curve::new(name, &points.into_iter().map(|(at, bytes)| (us(at), bytes as f64 / 1e3)).collect::<Vec<_>>())
    };
    Ok((chosen.iter().map(curve).collect(), recorded))
}

/// Shares are in parts per million until they are drawn.
fn utilisation(folder: &Path, names: &Names, end: u64) -> Result<Vec<Curve>, RecordError> {
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
    let every = all.iter().filter(|(_, rows)| rows.len() > 1).map(|(_, rows)| step(rows)).min().unwrap_or(0);
    let curve = |((node, port), rows): ((u64, u64), Vec<Sample>)| {
        let points = with_zeros(&rows, every, end).into_iter().map(|(at, share)| (us(at), share as f64 / 1e4));
        Curve::new(names.port(node, port), &points.collect::<Vec<_>>())
    };
    Ok(all.into_iter().map(curve).collect())
}

/// `pfc.txt`: `<time ns> <node> <kind> <port from 1> <1 pause | 0 resume>`, a line where it is heard.
fn pauses(folder: &Path, names: &Names, end: u64) -> (Vec<PausedPort>, usize) {
    let path = folder.join("pfc.txt");
    if !path.exists() {
        return (Vec::new(), 0);
    }
    // The folder adds up to its hash, so the file is there and whole.
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
        // The longest ones; the others are too short to be seen beside them.
        spans.sort_by(|a, b| (b.1 - b.0).total_cmp(&(a.1 - a.0)));
        spans.truncate(each);
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        PausedPort { name: names.port(node, port), spans }
    };
    (all.into_iter().map(port).collect(), recorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_between_samples_is_zero() {
        let rows = [(100, 5), (110, 6), (150, 7)];
        assert_eq!(step(&rows), 10);
        let filled = [(90, 0), (100, 5), (110, 6), (120, 0), (140, 0), (150, 7), (160, 0)];
        assert_eq!(with_zeros(&rows, 10, 1000), filled);
        assert_eq!(with_zeros(&rows, 10, 150), filled[..6], "the run ends with the last sample");
    }
}
