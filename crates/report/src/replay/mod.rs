//! The replay: the fabric with the activity of its links, queues and nodes over time.
//!
//! ```text
//!   ports.parquet ──> Fabric ──> Layout: positions of nodes
//!   links, queues, pfc.txt, trace ──> Cells: activity of each port, by frame ── packed ──> bytes
//! ```

mod cells;
mod fabric;
mod layout;

use crate::tables::for_parts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use cells::{CellEncoding, Cells, Grid};
use fabric::Fabric;
use layout::Layout;
use record::RecordError;
use record::table::{Data, Table};
use record::trace::TRACE_FILE;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of frames of a replay, about one per pixel of the time slider.
const MOST_FRAMES: u64 = 2000;
/// Maximum number of cells (ports times frames), so that a browser decodes them without noticeable delay.
const MOST_CELLS: u64 = 16_000_000;
/// Minimum number of frames of a replay, even if its cells then exceed the size limit.
const LEAST_FRAMES: u32 = 60;
/// Maximum number of bytes of all replays of a page, before base64 encoding, which adds a third.
const MOST_BYTES: usize = 5_000_000;
/// Number of frames if the run recorded events or pauses but no time series.
const FRAMES_OF_NO_SERIES: u64 = 1000;
/// Fixed-point value that represents the utilisation 1.
const WHOLE: u64 = 1_000_000;
/// Longest pause of one PFC or PAUSE frame, in bit times: 65,535 quanta of 512 bit times.
const LONGEST_PAUSE_BITS: u64 = 65_535 * 512;
/// Maximum number of traced flows whose paths are on the page (the flows with the lowest numbers), and maximum total
/// number of ports on these paths.
const MOST_PATHS: usize = 1000;
const MOST_PATH_PORTS: usize = 40_000;
/// Names of the trace events that the page shows at nodes.
const EVENTS: [&str; 4] = ["dropped", "trimmed", "bounced", "detoured"];

/// Data of a run's replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    fabric: Fabric,
    layout: Layout,
    grid: Grid,
    /// Sampling intervals of links and of queues, in ps; `None` if not recorded.
    sample_intervals: [Option<u64>; 2],
    /// Whether paused times are taken from queue samples, because pauses were not recorded in `pfc.txt`.
    pauses_sampled: bool,
    /// Encoded cells with 1, 2, ... frames of the grid merged into one, finest first; the page uses the first that
    /// fits. Only the encoded bytes are stored, because a page may show many runs, and decoded cells take ten times the
    /// memory.
    sizes: Vec<(u32, Parts)>,
    paths: Paths,
}

/// Egress ports on the path of each traced flow, by flow number.
type Paths = BTreeMap<u64, BTreeSet<usize>>;

/// Links, queues, pauses and the four kinds of events: unit of the values, and encoded cells; `None` if not recorded.
type Parts = [Option<(u64, Vec<u8>)>; 7];

fn bytes_of(parts: &Parts) -> usize {
    parts.iter().flatten().map(|part| part.1.len()).sum()
}

/// The recorded data as cells.
struct ReplayData {
    sample_intervals: [Option<u64>; 2],
    utilisation: Cells,
    queues: Cells,
    pauses: Option<Cells>,
    /// Whether paused times are taken from queue samples, because pauses were not recorded in `pfc.txt`.
    pauses_sampled: bool,
    events: Option<[Cells; 4]>,
    paths: Paths,
}

/// Returns the numbers of the traced flows whose paths are on the page.
pub(crate) fn traced_flows(replay: Option<&Replay>) -> impl Iterator<Item = u64> {
    replay.into_iter().flat_map(|replay| replay.paths.keys().copied())
}

/// Reads the replay of the result in `folder`, whose run ended at `end_ps`; `None` if its ports were not recorded.
///
/// # Errors
/// If a table cannot be read.
pub(crate) fn read_replay(folder: &Path, end_ps: u64) -> Result<Option<Replay>, RecordError> {
    let Some(fabric) = Fabric::read(folder)? else { return Ok(None) };
    let sample_intervals = [links_every(folder, &fabric, end_ps)?, queues_every(folder, end_ps)?];
    let ports = fabric.ports.len().max(1) as u64;
    let most = (MOST_CELLS / ports).clamp(LEAST_FRAMES.into(), MOST_FRAMES);
    let none = (end_ps / FRAMES_OF_NO_SERIES).max(1);
    let base_ps = sample_intervals.iter().flatten().copied().max().filter(|&every| every > 0).unwrap_or(none);
    let step_ps = base_ps.saturating_mul(end_ps.div_ceil(base_ps).div_ceil(most).max(1));
    let grid = Grid { step_ps, end_ps };
    let utilisation = utilisation(folder, &fabric, grid, sample_intervals[0].unwrap_or(0))?;
    let (queues, stopped) = queues(folder, &fabric, grid, sample_intervals[1].unwrap_or(0))?;
    let traced_pauses = pauses(folder, &fabric, grid);
    let (events, paths) = traced(folder, &fabric, grid)?;
    let recorded = ReplayData {
        sample_intervals,
        paths,
        utilisation,
        queues,
        pauses_sampled: traced_pauses.is_none(),
        pauses: traced_pauses.or(sample_intervals[1].map(|_| stopped)),
        events,
    };
    Ok(Some(Replay::new(fabric, grid, recorded)))
}

impl ReplayData {
    /// Encodes the data with `factor` frames of `grid` merged into one.
    fn parts(&self, grid: Grid, factor: u32) -> Parts {
        let packed = |cells: &Cells, meaning| cells.packed(grid, factor, meaning);
        let mean = |every_ps: u64| {
            (1, packed(&self.utilisation, CellEncoding::Mean { whole: WHOLE, every_ps: every_ps.max(1) }))
        };
        // A queue length in 8,000 steps is precise enough for the screen, and most differences then take at most two
        // bytes.
        let unit = self.queues.most().div_ceil(8000).max(1);
        let most = |_: u64| (unit, packed(&self.queues, CellEncoding::Most { unit }));
        let event = |at: usize| self.events.as_ref().map(|events| (1, packed(&events[at], CellEncoding::Count)));
        let pauses = self.pauses.as_ref().map(|pauses| (1, packed(pauses, CellEncoding::Share)));
        let [links, queues] = [self.sample_intervals[0].map(mean), self.sample_intervals[1].map(most)];
        [links, queues, pauses, event(0), event(1), event(2), event(3)]
    }
}

impl Replay {
    fn new(fabric: Fabric, grid: Grid, recorded: ReplayData) -> Replay {
        let mut sizes: Vec<(u32, Parts)> = Vec::new();
        let mut factor = 1;
        loop {
            let parts = recorded.parts(grid, factor);
            let last = grid.coarser(factor).frames() <= LEAST_FRAMES;
            if last || bytes_of(&parts) <= MOST_BYTES {
                sizes.push((factor, parts));
            }
            if last {
                break;
            }
            factor *= 2;
        }
        let layout = Layout::new(&fabric);
        let ReplayData { sample_intervals, pauses_sampled, paths, .. } = recorded;
        Replay { fabric, layout, grid, sample_intervals, pauses_sampled, sizes, paths }
    }

    /// Returns the data for the page, with the shortest frames for which the cells take at most `bytes` bytes.
    pub(crate) fn packed(&self, bytes: usize) -> Value {
        let fits = self.sizes.iter().find(|(_, parts)| bytes_of(parts) <= bytes);
        let Some((factor, parts)) = fits.or(self.sizes.last()) else { return Value::Null };
        let coarse = self.grid.coarser(*factor);
        let named = |part: &Option<(u64, Vec<u8>)>| {
            part.as_ref().map(|(unit, bytes)| json!({ "unit": unit, "data": STANDARD_NO_PAD.encode(bytes) }))
        };
        let [links, queues, pauses, events @ ..] = parts.each_ref().map(named);
        let traced = events[0].is_some();
        json!({
            "nodes": { "name": self.fabric.names, "host": self.fabric.hosts },
            "layout": self.layout,
            "ports": self.ports(),
            "step_ps": coarse.step_ps, "end_ps": coarse.end_ps, "frames": coarse.frames(),
            "sample_intervals_ps": self.sample_intervals,
            "links": links, "queues": queues, "pauses": pauses, "pauses_sampled": self.pauses_sampled,
            "paths": self.paths,
            "events": traced.then(|| EVENTS.iter().zip(events).collect::<Vec<_>>()),
        })
    }

    fn ports(&self) -> Value {
        let ports = &self.fabric.ports;
        let node: Vec<usize> = ports.iter().map(|port| port.node).collect();
        let number: Vec<u16> = ports.iter().map(|port| port.number).collect();
        let back: Vec<usize> = ports.iter().map(|port| port.back).collect();
        let mut rates: Vec<u64> = ports.iter().map(|port| port.rate_bps).collect();
        // If all ports have the same rate, the page gets only one rate.
        if rates.windows(2).all(|pair| pair[0] == pair[1]) {
            rates.truncate(1);
        }
        json!({ "node": node, "number": number, "back": back, "rate_bps": rates })
    }
}

/// Returns the maximum size in bytes of each of `replays` replays on a page.
pub(crate) fn bytes_of_each(replays: usize) -> usize {
    MOST_BYTES / replays.max(1)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Returns the greatest common divisor of the sampling instants in a table. It equals the sampling interval or, if the
/// table has few rows, a multiple of it. An instant at `end_ps` is ignored, because the last interval may be shorter.
fn common_period_ps(folder: &Path, name: &str, end_ps: u64) -> Result<Option<u64>, RecordError> {
    let (mut every, mut ends) = (0, false);
    let recorded = folder.join(name).exists();
    for_parts(folder, name, |part| {
        let times = part.u64s("time_ps")?.iter().flatten();
        ends |= times.clone().any(|&time| time == end_ps);
        every = times.filter(|&&time| time != end_ps).fold(every, |every, &time| greatest_common_divisor(every, time));
        Ok(())
    })?;
    if every == 0 && ends {
        every = end_ps;
    }
    // A recorded table without rows means that all values were zero: return 0.
    Ok(recorded.then_some(every))
}

fn queues_every(folder: &Path, end_ps: u64) -> Result<Option<u64>, RecordError> {
    common_period_ps(folder, "queues.parquet", end_ps)
}

/// Returns the sampling interval of links. The common period of the sampling instants may be a multiple of it; the
/// divisor follows from the bytes and the utilisation of the row with the most bytes, and the link rate.
fn links_every(folder: &Path, fabric: &Fabric, end_ps: u64) -> Result<Option<u64>, RecordError> {
    let Some(divided) = common_period_ps(folder, "links.parquet", end_ps)? else { return Ok(None) };
    let mut busiest: Option<(u64, f64)> = None;
    for_parts(folder, "links.parquet", |part| {
        let (bytes, shares) = (part.u64s("tx_bytes")?, part.f64s("utilisation")?);
        for_ports(part, fabric, |row, _, port| {
            if let (Some(bytes), Some(share)) = (bytes[row], shares[row])
                && share > 0.0
                && busiest.is_none_or(|(most, _)| bytes > most)
            {
                let rate_bps = fabric.ports[port].rate_bps as f64;
                busiest = Some((bytes, bytes as f64 * 8e12 / (share * rate_bps)));
            }
        })
    })?;
    let parts = busiest.map_or(1, |(_, every)| ((divided as f64 / every.max(1.0)).round() as u64).max(1));
    Ok(Some((divided / parts).max(u64::from(divided > 0))))
}

/// Calls `each` with row index, time in ps and port index, for every row whose port is in the fabric.
fn for_ports(part: &Table, fabric: &Fabric, mut each: impl FnMut(usize, u64, usize)) -> Result<(), RecordError> {
    let (times, nodes, ports) = (part.u64s("time_ps")?, part.u64s("node")?, part.u64s("port")?);
    for row in 0..part.rows {
        if let (Some(time), Some(node), Some(port)) = (times[row], nodes[row], ports[row])
            && let Some(location) = fabric.port_index(node, port)
        {
            each(row, time, location);
        }
    }
    Ok(())
}

fn utilisation(folder: &Path, fabric: &Fabric, grid: Grid, every: u64) -> Result<Cells, RecordError> {
    let mut cells = Cells::default();
    for_parts(folder, "links.parquet", |part| {
        let shares = part.f64s("utilisation")?;
        for_ports(part, fabric, |row, time, port| {
            // The last sampling interval of a run may be shorter than the others: weight the sample by its length.
            let rest = if every == 0 { 0 } else { time % every };
            let weight = if rest == 0 { 1.0 } else { rest as f64 / every as f64 };
            let share = (shares[row].unwrap_or(0.0) * weight * WHOLE as f64).round() as u64;
            cells.change(port, grid.frame(time), |sum| sum.saturating_add(share));
        })
    })?;
    Ok(cells)
}

/// Returns, per port and frame, the maximum queue length (summed over classes), and the paused time: each sample in
/// which a class of the port is paused counts as one sampling interval.
fn queues(folder: &Path, fabric: &Fabric, grid: Grid, every: u64) -> Result<(Cells, Cells), RecordError> {
    let (mut longest, mut stopped) = (Cells::default(), Cells::default());
    let ports = fabric.ports.len();
    // Per port: the last sampling instant, the sum of the bytes of its classes, and whether a class was paused.
    let mut samples: Vec<(u64, u64, bool)> = vec![(u64::MAX, 0, false); ports];
    for_parts(folder, "queues.parquet", |part| {
        let bytes = part.u64s("queue_bytes")?;
        let Data::Bool(paused) = part.column("paused")? else { return Ok(()) };
        for_ports(part, fabric, |row, time, port| {
            let sample = &mut samples[port];
            if sample.0 != time {
                *sample = (time, 0, false);
            }
            sample.1 = sample.1.saturating_add(bytes[row].unwrap_or(0));
            longest.change(port, grid.frame(time), |most| most.max(sample.1));
            if paused[row] == Some(true) && !std::mem::replace(&mut sample.2, true) {
                stopped.change(port, grid.frame(time), |sum| sum.saturating_add(every));
            }
        })
    })?;
    Ok((longest, stopped))
}

/// Returns the paused time of each port; `None` if pauses were not recorded.
fn pauses(folder: &Path, fabric: &Fabric, grid: Grid) -> Option<Cells> {
    // The manifest of the result was verified, so if the file is missing, pauses were not recorded.
    let text = std::fs::read_to_string(folder.join("pfc.txt")).ok()?;
    let mut cells = Cells::default();
    // Per port: start and expiry of the current pause. The lines of a port are in chronological order.
    let mut open: Vec<Option<(u64, u64)>> = vec![None; fabric.ports.len()];
    for line in text.lines() {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [time_ns, node, _, number, pause] = numbers[..] else { continue };
        let Some(port) = fabric.port_index(node, number.wrapping_sub(1)) else { continue };
        let at_ps = time_ns.saturating_mul(1000);
        let longest_ps =
            u128::from(LONGEST_PAUSE_BITS) * 1_000_000_000_000 / u128::from(fabric.ports[port].rate_bps.max(1));
        let expires_ps = at_ps.saturating_add(u64::try_from(longest_ps).unwrap_or(u64::MAX));
        let before = open[port].take();
        open[port] = match before {
            Some((from, until)) if pause == 1 && at_ps <= until => Some((from, expires_ps)),
            before => {
                if let Some((from, until)) = before {
                    cells.add_span(grid, port, from, until.min(at_ps));
                }
                (pause == 1).then_some((at_ps, expires_ps))
            }
        };
    }
    for (port, span) in open.into_iter().enumerate() {
        if let Some((from, until)) = span {
            cells.add_span(grid, port, from, until);
        }
    }
    Some(cells)
}

/// Returns the events of traced frames by node (`None` if the run has no trace), and the egress ports of data packets
/// of the flows with the lowest numbers.
fn traced(folder: &Path, fabric: &Fabric, grid: Grid) -> Result<(Option<[Cells; 4]>, Paths), RecordError> {
    let mut paths = Paths::new();
    if !folder.join(TRACE_FILE).exists() {
        return Ok((None, paths));
    }
    let mut all: [Cells; 4] = std::array::from_fn(|_| Cells::default());
    let mut ports = 0;
    for_parts(folder, TRACE_FILE, |part| {
        let (times, nodes) = (part.u64s("time_ps")?, part.u64s("node")?);
        let Data::Text(events) = part.column("event")? else { return Ok(()) };
        let data = match (part.column("flow"), part.column("port"), part.column("kind")) {
            (Ok(_), Ok(_), Ok(Data::Text(kinds))) => Some((part.u64s("flow")?, part.u64s("port")?, kinds)),
            _ => None,
        };
        for row in 0..part.rows {
            let (Some(event), Some(time), Some(node)) = (events[row].as_deref(), times[row], nodes[row]) else {
                continue;
            };
            if let (Some(kind), Some(node)) = (EVENTS.iter().position(|known| *known == event), fabric.node(node)) {
                all[kind].change(node, grid.frame(time), |count| count + 1);
            }
            if event == "started"
                && let Some((flows, numbers, kinds)) = data
                && kinds[row].as_deref() == Some("data")
                && let (Some(flow), Some(number)) = (flows[row], numbers[row])
                && let Some(port) = fabric.port_index(node, number)
                && ports < MOST_PATH_PORTS
                && (paths.len() < MOST_PATHS || paths.contains_key(&flow))
            {
                ports += usize::from(paths.entry(flow).or_default().insert(port));
            }
        }
        Ok(())
    })?;
    Ok((Some(all), paths))
}

#[cfg(test)]
mod tests;
