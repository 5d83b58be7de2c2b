//! All runs of a sweep as one Parquet table, one row per run.

use super::plan::SweepRun;
use super::{RunOutcome, labels};
use crate::runs::metrics::{self, Metric};
use crate::runs::vary::VariedKey;
use record::RecordError;
use record::table::{Column, ColumnType, TableWriter, Value};
use std::path::Path;
use units::{Bytes, Rate, Time};

/// Name of the table in the folder of the sweep.
pub const FILE: &str = "sweep.parquet";

/// A column with the values of one varied key.
struct KeyColumn {
    column: Column,
    /// Index of the varied key.
    at: usize,
    read: CellType,
}

#[derive(Clone, Copy)]
enum CellType {
    Whole,
    /// A whole number too large for `U64` columns, such as a seed.
    Key,
    Number,
    Flag,
    Text,
    Time,
    Size,
    Rate,
}

impl CellType {
    fn kind(self) -> ColumnType {
        match self {
            CellType::Key => ColumnType::Key,
            CellType::Whole | CellType::Time | CellType::Size | CellType::Rate => ColumnType::U64,
            CellType::Number => ColumnType::F64,
            CellType::Flag => ColumnType::Bool,
            CellType::Text => ColumnType::Text,
        }
    }

    fn value(self, text: &str) -> Option<Value<'_>> {
        match self {
            CellType::Whole => text.parse::<i64>().ok().and_then(|whole| u64::try_from(whole).ok()).map(Value::U64),
            CellType::Key => text.parse::<u64>().ok().map(Value::U64),
            CellType::Number => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::F64),
            CellType::Flag => text.parse::<bool>().ok().map(Value::Bool),
            CellType::Text => Some(Value::Text(text)),
            CellType::Time => text.parse::<Time>().ok().map(|time| Value::U64(time.as_ps())),
            CellType::Size => text.parse::<Bytes>().ok().map(|bytes| Value::U64(bytes.get())),
            CellType::Rate => text.parse::<Rate>().ok().map(|rate| Value::U64(rate.as_bps())),
        }
    }
}

/// Returns the columns of the varied keys. A number has one column. A quantity has two: one as written, and one in its
/// base unit.
fn key_columns(varied: &[VariedKey]) -> Vec<KeyColumn> {
    let mut columns = Vec::new();
    for (at, vary) in varied.iter().enumerate() {
        let fits = |read: &CellType| vary.values.iter().all(|value| read.value(value).is_some());
        let column = |name: String, read: CellType| {
            let column = Column::new(name, read.kind()).means(format!("value of {}", vary.key));
            KeyColumn { column, at, read }
        };
        let plain = [CellType::Whole, CellType::Key, CellType::Number, CellType::Flag].into_iter().find(fits);
        columns.push(column(vary.key.clone(), plain.unwrap_or(CellType::Text)));
        if plain.is_none() {
            let units = [(CellType::Time, "ps"), (CellType::Size, "bytes"), (CellType::Rate, "bps")];
            let unit = units.into_iter().find(|(read, _)| fits(read));
            columns.extend(unit.map(|(read, unit)| column(format!("{}_{unit}", vary.key), read)));
        }
    }
    columns
}

/// Writes a row for every complete run.
///
/// # Errors
/// [`RecordError::Unwritable`].
pub fn write(
    path: &Path,
    varied: &[VariedKey],
    points: &[SweepRun],
    outcomes: &[RunOutcome],
) -> Result<(), RecordError> {
    let keys = key_columns(varied);
    let metrics: Vec<Metric> = metrics::all_of(&labels(points));
    let mut columns = vec![Column::new("run", ColumnType::Text).means("folder of the run below runs/")];
    columns.extend(keys.iter().map(|key| key.column.clone()));
    columns.extend([
        Column::new("seed", ColumnType::Key).means("seed of the run"),
        Column::new("pass", ColumnType::Bool).means("all checks passed"),
        Column::new("checks", ColumnType::Text).means("ok, or the failed checks"),
    ]);
    let kind = |metric: &Metric| if metric.is_whole() { ColumnType::U64 } else { ColumnType::F64 };
    let column = |metric: &Metric| {
        let unit = Some(metric.unit.name().unwrap_or("1").into());
        Column { unit, ..Column::new(metric.column(), kind(metric)).optional().means(metric.title.clone()) }
    };
    columns.extend(metrics.iter().map(column));
    columns.push(Column::new("results_hash", ColumnType::Text).means("hash of all results of the run"));
    let mut table = TableWriter::create(path, &columns)?;
    for (point, outcome) in points.iter().zip(outcomes) {
        let RunOutcome::Complete { row, .. } = outcome else { continue };
        let checks = row.verdict();
        let mut values = vec![Value::Text(&point.id)];
        values.extend(keys.iter().map(|key| key.read.value(&row.variant.values[key.at]).unwrap_or(Value::Null)));
        values.extend([Value::U64(row.seed), Value::Bool(row.passes()), Value::Text(&checks)]);
        values.extend(metrics.iter().map(|metric| match row.value(metric) {
            Some(value) if metric.is_whole() => Value::U64(value as u64),
            Some(value) => Value::F64(value),
            None => Value::Null,
        }));
        values.push(Value::Text(&row.results_hash));
        table.push(&values)?;
    }
    table.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_keys_take_the_kind_of_their_values() {
        let vary = |key: &str, values: &[&str]| VariedKey {
            key: key.to_owned(),
            values: values.iter().map(ToString::to_string).collect(),
            location: None,
            changes: Vec::new(),
        };
        let varied = [
            vary("fabric.k", &["4", "8"]),
            vary("load", &["0.5", "1"]),
            vary("on", &["true", "false"]),
            vary("size", &["64KB", "1MiB"]),
            vary("start", &["1us", "2ms"]),
            vary("rate", &["1Gbps"]),
            vary("kind", &["roce", "64KB"]),
            vary("hash_seed", &["1", "18446744073709551615"]),
        ];
        let columns = key_columns(&varied);
        let errors: Vec<String> =
            columns.iter().map(|key| format!("{} {:?}", key.column.name, key.column.kind)).collect();
        let expected = [
            "fabric.k U64",
            "load F64",
            "on Bool",
            "size Text",
            "size_bytes U64",
            "start Text",
            "start_ps U64",
            "rate Text",
            "rate_bps U64",
            "kind Text",
            "hash_seed Key",
        ];
        assert_eq!(errors, expected);
        assert_eq!(columns[4].read.value("1MiB"), Some(Value::U64(1 << 20)));
    }
}
