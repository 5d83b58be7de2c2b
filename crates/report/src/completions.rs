//! FCTs and slowdowns by flow size and by traffic entry; and the list of flows.

use crate::curves::{Curve, distribution, short};
use crate::tables::{for_parts, us};
use record::flows::ENDLESS_BYTES;
use record::table::Data;
use record::{Coverage, RecordError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Upper bounds of the flow size ranges in bytes, as in `fct_by_size` of `summary.json`.
const SIZES: [(u64, &str); 5] = [
    (10_000, "up to 10 KB"),
    (100_000, "10 to 100 KB"),
    (1_000_000, "100 KB to 1 MB"),
    (10_000_000, "1 to 10 MB"),
    (u64::MAX, "above 10 MB"),
];
/// Maximum number of traffic entries with a curve.
const MAX_LABELS: usize = 12;
/// Maximum number of flows listed on a page.
const MAX_FLOWS: usize = 1000;

/// CDFs of a quantity, in percent of the flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CdfSet {
    /// CDF over all flows.
    pub all: Curve,
    /// CDFs by flow size; empty unless completed flows are in more than one size range.
    pub by_size: Vec<Curve>,
    /// CDFs by label of the traffic entry, for the labels with the most flows; empty unless there are several labels.
    pub by_label: Vec<Curve>,
}

/// Box plot of the slowdowns of the flows in a size range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SlowdownBox {
    /// Lower bound of the size range, exclusive, in bytes.
    pub above_bytes: u64,
    /// Upper bound of the size range, inclusive, in bytes.
    pub to_bytes: u64,
    /// Number of flows.
    pub count: u64,
    /// Percentiles 5, 25, 50, 75 and 95 of the slowdown.
    pub at: [f64; 5],
    /// Mean slowdown.
    pub mean: f64,
}

/// A flow in the list of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flow {
    /// Number of the flow.
    pub flow: u64,
    /// Index of the flow's label in [`Flows::labels`].
    pub label: usize,
    /// Source and destination host, numbered from 0 in the order of their nodes.
    pub hosts: [u64; 2],
    /// Payload, in bytes.
    pub bytes: u64,
    /// Start, in us.
    pub start_us: f64,
    /// FCT, in us; `None` if the flow is unfinished.
    pub fct_us: Option<f64>,
    /// Slowdown of the flow.
    pub slowdown: Option<f64>,
    /// Retransmitted payload, in bytes.
    pub again_bytes: u64,
    /// Number of retransmission timeouts at the sender.
    pub timeouts: u64,
}

/// The list of flows: unfinished flows first, then by descending slowdown; truncated to the maximum number on a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flows {
    /// Number of recorded flows.
    pub recorded: usize,
    /// Labels of traffic entries.
    pub labels: Vec<String>,
    /// The listed flows.
    pub list: Vec<Flow>,
}

/// Data of `flows.parquet` for the figures and the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Completions {
    /// FCTs, in us; `None` if no flow completed.
    pub fct: Option<CdfSet>,
    /// Slowdowns; `None` if no flow has one.
    pub slowdown: Option<CdfSet>,
    /// Slowdowns by size range, in order of size.
    pub boxes: Vec<SlowdownBox>,
    /// The list of flows.
    pub flows: Flows,
    /// Label of each traffic entry, by its index in the scenario.
    pub labels: BTreeMap<u64, String>,
}

/// Values of one quantity, by size range and by traffic entry.
#[derive(Default)]
struct Values {
    all: Vec<f64>,
    by_size: [Vec<f64>; SIZES.len()],
    by_traffic: BTreeMap<u64, Vec<f64>>,
    /// Number of unfinished flows, which have no value, by size range and by traffic entry.
    open_by_size: [u64; SIZES.len()],
    open_by_traffic: BTreeMap<u64, u64>,
}

impl Values {
    /// Adds an unfinished flow.
    fn push_open(&mut self, bytes: u64, traffic: u64) {
        self.open_by_size[SIZES.partition_point(|(bound, _)| *bound < bytes)] += 1;
        *self.open_by_traffic.entry(traffic).or_default() += 1;
    }

    fn push(&mut self, bytes: u64, traffic: u64, value: f64) {
        self.all.push(value);
        self.by_size[SIZES.partition_point(|(bound, _)| *bound < bytes)].push(value);
        self.by_traffic.entry(traffic).or_default().push(value);
    }

    fn shares(self, run: &str, labels: &BTreeMap<u64, String>) -> Option<CdfSet> {
        if self.all.is_empty() {
            return None;
        }
        let named = |(name, values, open): (String, Vec<f64>, u64)| {
            let count = coverage(values.len(), open);
            distribution(format!("{name} ({count})"), values, open)
        };
        // If there is only one CDF, it equals that of all flows: omit it.
        let several = |curves: Vec<Curve>| if curves.len() > 1 { curves } else { Vec::new() };
        let sizes = self.by_size.into_iter().zip(self.open_by_size).zip(SIZES);
        let sizes = sizes.filter(|((values, _), _)| !values.is_empty());
        let by_size = sizes.map(|((values, open), (_, name))| named((name.to_owned(), values, open))).collect();
        let open = self.open_by_traffic;
        let mut entries: BTreeMap<String, (Vec<f64>, u64)> = BTreeMap::new();
        for (traffic, values) in self.by_traffic {
            let entry = entries.entry(labels.get(&traffic).cloned().unwrap_or_default()).or_default();
            entry.0.extend(values);
            entry.1 += open.get(&traffic).copied().unwrap_or(0);
        }
        let mut entries: Vec<_> = entries.into_iter().map(|(name, (values, open))| (name, values, open)).collect();
        entries.sort_by_key(|(_, values, _)| std::cmp::Reverse(values.len()));
        entries.truncate(MAX_LABELS);
        let by_label = entries.into_iter().map(named).collect();
        let open = open.values().sum::<u64>();
        let run = if open > 0 { format!("{run} ({})", coverage(self.all.len(), open)) } else { run.to_owned() };
        Some(CdfSet { all: distribution(run, self.all, open), by_size: several(by_size), by_label: several(by_label) })
    }
}

/// Returns the number of completed flows, `245`; if some are unfinished, `227 of 247`.
fn coverage(completed: usize, open: u64) -> String {
    let coverage = Coverage { completed: completed as u64, started: completed as u64 + open };
    if open == 0 { completed.to_string() } else { coverage.to_string() }
}

/// Returns the bounds of the size range that contains `bytes`. The ranges have the bounds 1, 3, 10, 30 ... KB, as in
/// `by_decade` of `summary.json`.
fn decade(bytes: u64) -> (u64, u64) {
    let (mut above, mut to, mut power) = (0, 1000_u64, true);
    while bytes > to {
        (above, to) = (to, if power { to.saturating_mul(3) } else { (to / 3).saturating_mul(10) });
        power = !power;
    }
    (above, to)
}

/// Returns a percentile of sorted values (nearest rank).
fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().map_or(0.0, short)
}

fn boxes(slowdowns: Vec<(u64, f64)>) -> Vec<SlowdownBox> {
    let mut bins: BTreeMap<(u64, u64), Vec<f64>> = BTreeMap::new();
    for (bytes, slowdown) in slowdowns {
        bins.entry(decade(bytes)).or_default().push(slowdown);
    }
    let of_bin = |((above_bytes, to_bytes), mut values): ((u64, u64), Vec<f64>)| {
        values.sort_unstable_by(f64::total_cmp);
        let at = [5, 25, 50, 75, 95].map(|percent| quantile(&values, percent));
        let mean = short(values.iter().sum::<f64>() / values.len() as f64);
        SlowdownBox { above_bytes, to_bytes, count: values.len() as u64, at, mean }
    };
    bins.into_iter().map(of_bin).collect()
}

/// Reads the flows of the run in `folder`, which figures name `run`. As in the summary, figures cover only the flows
/// that start at a time (in ps) for which `measured` is true. The list covers all flows, and always includes those in
/// `first`.
///
/// # Errors
/// If the table cannot be read.
pub(crate) fn completions(
    folder: &Path,
    run: &str,
    measured: impl Fn(u64) -> bool,
    first: &BTreeSet<u64>,
) -> Result<Completions, RecordError> {
    let (mut times, mut slowdowns) = (Values::default(), Values::default());
    let (mut all, mut labels, mut sizes) = (Vec::new(), BTreeMap::new(), Vec::new());
    for_parts(folder, "flows.parquet", |part| {
        let [numbers, entries, from, to] = ["flow", "traffic", "src_host", "dst_host"].map(|name| part.u64s(name));
        let (numbers, entries, from, to) = (numbers?, entries?, from?, to?);
        let (bytes, starts) = (part.u64s("size_bytes")?, part.u64s("start_ps")?);
        let (taken, slowed) = (part.u64s("fct_ps")?, part.f64s("slowdown")?);
        let (again, timeouts) = (part.u64s("retransmitted_bytes")?, part.u64s("timeouts")?);
        // Tables written by earlier versions have no column `label`.
        let texts = part.column("label").ok();
        for row in 0..part.rows {
            let (Some(flow), Some(traffic)) = (numbers[row], entries[row]) else { continue };
            let size = bytes[row].unwrap_or(ENDLESS_BYTES);
            labels.entry(traffic).or_insert_with(|| match texts {
                Some(Data::Text(texts)) => texts[row].clone().unwrap_or_default(),
                _ => format!("traffic {traffic}"),
            });
            let counts = measured(starts[row].unwrap_or(0));
            if let Some(ps) = taken[row].filter(|_| counts) {
                times.push(size, traffic, us(ps));
            }
            if let Some(slowdown) = slowed[row].filter(|slowdown| counts && slowdown.is_finite()) {
                slowdowns.push(size, traffic, slowdown);
                sizes.push((size, slowdown));
            }
            if counts && taken[row].is_none() && size != ENDLESS_BYTES {
                times.push_open(size, traffic);
                slowdowns.push_open(size, traffic);
            }
            all.push(Flow {
                flow,
                label: usize::try_from(traffic).unwrap_or(usize::MAX),
                hosts: [from[row].unwrap_or(0), to[row].unwrap_or(0)],
                bytes: size,
                start_us: us(starts[row].unwrap_or(0)),
                fct_us: taken[row].map(us),
                slowdown: slowed[row].map(short),
                again_bytes: again[row].unwrap_or(0),
                timeouts: timeouts[row].unwrap_or(0),
            });
        }
        Ok(())
    })?;
    let recorded = all.len();
    all.sort_by(|a, b| {
        let slow = |flow: &Flow| flow.slowdown.unwrap_or(f64::INFINITY);
        let listed = |flow: &Flow| first.contains(&flow.flow);
        listed(b).cmp(&listed(a)).then(slow(b).total_cmp(&slow(a))).then(a.flow.cmp(&b.flow))
    });
    all.truncate(MAX_FLOWS);
    let known: BTreeSet<&String> = labels.values().collect();
    let names: Vec<String> = known.into_iter().cloned().collect();
    for flow in &mut all {
        let label = labels.get(&(flow.label as u64));
        flow.label = label.and_then(|label| names.iter().position(|name| name == label)).unwrap_or(0);
    }
    Ok(Completions {
        fct: times.shares(run, &labels),
        slowdown: slowdowns.shares(run, &labels),
        boxes: boxes(sizes),
        flows: Flows { recorded, labels: names, list: all },
        labels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::table::{Column, ColumnType, TableWriter, Value};

    #[test]
    fn sizes_fall_into_decades_and_thirds() {
        assert_eq!(decade(0), (0, 1000));
        assert_eq!([1000, 1001, 3000, 3001, 10_000].map(|bytes| decade(bytes).1), [1000, 3000, 3000, 10_000, 10_000]);
        assert_eq!(decade(29_000), (10_000, 30_000));
        assert_eq!(decade(64_000_000), (30_000_000, 100_000_000));
        assert_eq!(decade(u64::MAX).1, u64::MAX, "it ends");
    }

    #[test]
    fn a_box_has_the_quantiles_of_its_flows() {
        let slowdowns = (1..=100).map(|at| (50_000, f64::from(at))).chain([(10, 7.0)]).collect();
        let found = boxes(slowdowns);
        let small = SlowdownBox { above_bytes: 0, to_bytes: 1000, count: 1, at: [7.0; 5], mean: 7.0 };
        let large = [5.0, 25.0, 50.0, 75.0, 95.0];
        assert_eq!(found[0], small);
        assert_eq!(found[1], SlowdownBox { above_bytes: 30_000, to_bytes: 100_000, count: 100, at: large, mean: 50.5 });
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn shares_are_distinguished_by_size_and_label_if_there_are_several() {
        let mut values = Values::default();
        for (bytes, traffic, value) in [(5_000, 0, 1.0), (5_000, 1, 2.0), (10_001, 2, 3.0), (20_000, 2, 4.0)] {
            values.push(bytes, traffic, value);
        }
        let labels = [(0, "a"), (1, "b"), (2, "b")].map(|(at, name)| (at, name.to_owned())).into();
        let shares = values.shares("run", &labels).unwrap();
        assert_eq!((shares.all.name.as_str(), &shares.all.x), ("run", &vec![1.0, 2.0, 3.0, 4.0]));
        let names = |curves: &[Curve]| curves.iter().map(|curve| curve.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&shares.by_size), ["up to 10 KB (2)", "10 to 100 KB (2)"]);
        assert_eq!(names(&shares.by_label), ["b (3)", "a (1)"], "entries of one label are one");
        assert_eq!(shares.by_label[0].x, [2.0, 3.0, 4.0]);
        let mut one = Values::default();
        one.push(1, 0, 1.0);
        let shares = one.shares("run", &labels).unwrap();
        assert!(shares.by_size.is_empty() && shares.by_label.is_empty(), "one bin is all");
        assert_eq!(Values::default().shares("run", &labels), None);
    }

    /// Writes a table with flows 0, 1, ...: per flow the traffic entry, size in bytes, start and FCT in us; and its
    /// label, if `labels` are given. Returns the folder of the table.
    fn written(name: &str, rows: &[(u64, u64, u64, Option<u64>)], labels: Option<&[&str]>) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("tidegate-completions-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut columns = record::flows::flow_columns();
        columns.retain(|column| column.name != "label");
        columns.extend(labels.map(|_| Column::new("label", ColumnType::Text)));
        let mut table = TableWriter::create(&folder.join("flows.parquet"), &columns).unwrap();
        for (at, &(traffic, size, start_us, fct_us)) in rows.iter().enumerate() {
            let cell = |column: &Column| match column.name.as_str() {
                "flow" => (at as u64).into(),
                "traffic" => traffic.into(),
                "size_bytes" => size.into(),
                "start_ps" => (start_us * 1_000_000).into(),
                "fct_ps" => fct_us.map_or(Value::Null, |us| (us * 1_000_000).into()),
                "slowdown" => fct_us.map_or(Value::Null, |us| Value::F64(us as f64)),
                "label" => Value::Text(labels.unwrap()[at]),
                _ if column.optional => Value::Null,
                _ => 0_u64.into(),
            };
            table.push(&columns.iter().map(cell).collect::<Vec<_>>()).unwrap();
        }
        table.close().unwrap();
        folder
    }

    #[test]
    fn flows_are_listed_by_need_and_measured_by_their_start() {
        let rows = [(0, 500, 1, Some(2)), (1, 500, 5, Some(9)), (0, 500, 20, None), (0, 500, 30, Some(1))];
        let folder = written("list", &rows, None);
        let found = completions(&folder, "run", |start| start >= 5_000_000, &BTreeSet::from([3])).unwrap();
        let order: Vec<u64> = found.flows.list.iter().map(|flow| flow.flow).collect();
        assert_eq!(order, [3, 2, 1, 0], "the one that was asked for, the one that is open, then the slowest");
        assert_eq!((found.flows.recorded, found.flows.list[1].fct_us), (4, None));
        let fct = found.fct.unwrap().all;
        assert_eq!(fct.x, [1.0, 9.0], "the first began before the window");
        let end = (fct.name.as_str(), fct.y.last().unwrap().round());
        assert_eq!(end, ("run (2 of 3)", 67.0), "it ends at the completed share");
        assert_eq!((found.boxes[0].count, found.boxes[0].mean), (2, 5.0));
        assert_eq!(found.flows.labels, ["traffic 0", "traffic 1"]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn labels_are_those_of_the_table() {
        let rows = [(0, 500, 0, Some(1)), (1, 500, 0, Some(2)), (2, 500, 0, Some(3))];
        let folder = written("labels", &rows, Some(&["web", "web", "incast"]));
        let found = completions(&folder, "run", |_| true, &BTreeSet::new()).unwrap();
        assert_eq!(found.labels.values().collect::<Vec<_>>(), ["web", "web", "incast"]);
        assert_eq!(found.flows.labels, ["incast", "web"]);
        assert_eq!(found.flows.list.iter().map(|flow| flow.label).collect::<Vec<_>>(), [0, 1, 1]);
        let names: Vec<String> = found.fct.unwrap().by_label.into_iter().map(|curve| curve.name).collect();
        assert_eq!(names, ["web (2)", "incast (1)"]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
