//! A sweep on a page: the metrics for every combination of the varied keys.

use crate::error::ReportError;
use record::RecordError;
use record::table::{Table, Value, read_table};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Files in the folder of a sweep, outside the runs.
const TABLE_FILE: &str = "sweep.parquet";
const MANIFEST_FILE: &str = "sweep.json";

/// All combinations of the varied keys, with the metrics of their runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sweep {
    /// One sentence about the subject of the sweep.
    pub about: String,
    /// The varied keys.
    pub keys: Vec<Key>,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// One row per combination, in the order of the table.
    pub rows: Vec<Row>,
}

/// A varied key and its values, in order of appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Key {
    /// Name of the key in the sweep.
    pub name: String,
    /// Distinct values of the key.
    pub values: Vec<String>,
}

/// A metric of the runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// Column name of the metric.
    pub name: String,
    /// Title of the metric.
    pub title: String,
    /// Unit: `ns`, `bytes`, `bps` or empty.
    pub unit: &'static str,
}

/// Runs that have equal values of the varied keys, and differ only in their seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Per varied key: the index of its value in [`Key::values`].
    pub values: Vec<usize>,
    /// Number of runs.
    pub seeds: usize,
    /// Per metric: its value in each run; `None` if the run lacks the metric.
    pub samples: Vec<Vec<Option<f64>>>,
}

/// Returns whether `folder` contains the table of a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join(TABLE_FILE).is_file() && folder.join(MANIFEST_FILE).is_file()
}

/// Reads the table of the sweep in `folder`.
///
/// # Errors
/// [`ReportError::NotASweep`] for a folder that is not a sweep, [`ReportError::OtherVersion`], and a damaged table.
pub fn read_sweep(folder: &Path) -> Result<Sweep, ReportError> {
    let not_a_sweep = || ReportError::NotASweep { path: folder.to_owned() };
    let manifest = std::fs::read(folder.join(MANIFEST_FILE)).map_err(|_| not_a_sweep())?;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).map_err(|_| not_a_sweep())?;
    let version = manifest["version"].as_str().ok_or_else(not_a_sweep)?;
    if version != env!("CARGO_PKG_VERSION") {
        return Err(ReportError::OtherVersion { path: folder.to_owned(), version: version.to_owned() });
    }
    let keys: Vec<String> = manifest["vary"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|vary| vary["key"].as_str().map(str::to_owned))
        .collect();
    let table = read_table(&folder.join(TABLE_FILE))?;
    let scenario = manifest["scenario"].as_str().unwrap_or_default();
    let scenario = scenario.rsplit('/').next().unwrap_or_default();
    let seeds = manifest["seeds"].as_array().map_or(0, Vec::len).max(1);
    let planned = manifest["runs"].as_u64().unwrap_or(0);
    let mut about = format!("{scenario}: {} runs, {seeds} seeds each, tidegate {version}", table.rows);
    if planned != table.rows as u64 {
        about = format!("{about}. {planned} runs are planned: the others failed or have not run yet");
    }
    gathered(&table, keys, about).map_err(ReportError::from)
}

/// Groups the runs of each combination; omits metrics that are absent or zero in all runs.
fn gathered(table: &Table, keys: Vec<String>, about: String) -> Result<Sweep, RecordError> {
    let mut keys: Vec<Key> = keys.into_iter().map(|name| Key { name, values: Vec::new() }).collect();
    let columns = keys.iter().map(|key| table.column_index(&key.name)).collect::<Result<Vec<usize>, RecordError>>()?;
    let checks_column = table.column_index("checks")?;
    let is_metric = |at: &usize| *at > checks_column && table.columns[*at].name != "results_hash";
    let all: Vec<usize> = (0..table.columns.len()).filter(is_metric).collect();
    let is_nonzero =
        |at: &usize| (0..table.rows).any(|row| number(table.row(row)[*at]).is_some_and(|value| value != 0.0));
    let shown: Vec<usize> = all.into_iter().filter(is_nonzero).collect();
    let mut rows: Vec<Row> = Vec::new();
    let mut which: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    for at in 0..table.rows {
        let row = table.row(at);
        let values: Vec<usize> =
            keys.iter_mut().zip(&columns).map(|(key, column)| key.index_of(words(row[*column]))).collect();
        let found = *which.entry(values.clone()).or_insert_with(|| {
            rows.push(Row { values, seeds: 0, samples: vec![Vec::new(); shown.len()] });
            rows.len() - 1
        });
        rows[found].seeds += 1;
        rows[found].samples.iter_mut().zip(&shown).for_each(|(samples, column)| samples.push(number(row[*column])));
    }
    let metric = |at: usize| {
        let name = table.columns[at].name.clone();
        let unit = ["ns", "bytes", "bps"].into_iter().find(|unit| name.ends_with(&format!("_{unit}"))).unwrap_or("");
        let title = name.trim_end_matches(unit).replace('_', " ").trim().to_owned();
        Metric { name, title, unit }
    };
    let metrics = shown.iter().copied().map(metric).collect();
    Ok(Sweep { about, keys, metrics, rows })
}

impl Key {
    fn index_of(&mut self, value: String) -> usize {
        self.values.iter().position(|known| *known == value).unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        })
    }
}

fn words(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => text.to_owned(),
        Value::Bool(flag) => flag.to_string(),
        other => number(other).map_or_else(String::new, |number| number.to_string()),
    }
}

fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::U64(whole) => Some(whole as f64),
        Value::I64(whole) => Some(whole as f64),
        Value::F64(number) if number.is_finite() => Some(number),
        _ => None,
    }
}
