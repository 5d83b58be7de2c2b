//! Names of runs in figures.

use crate::sweep::is_sweep;
use record::table::{Table, Value, read_table};
use std::path::{Path, PathBuf};

/// Returns a name for each folder. If all folders are runs of one sweep, the names are the values of the keys that
/// differ between the runs; otherwise the folder names, with as many parent folders as are needed to make the names
/// distinct.
pub fn labels(folders: &[PathBuf]) -> Vec<String> {
    if let Some(swept) = of_a_sweep(folders) {
        return swept;
    }
    let parts = |folder: &PathBuf| -> Vec<String> {
        let full = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        full.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let all: Vec<Vec<String>> = folders.iter().map(parts).collect();
    let label = |depth: usize| -> Vec<String> {
        all.iter().map(|parts| parts[parts.len().saturating_sub(depth)..].join("/")).collect()
    };
    let deepest = all.iter().map(Vec::len).max().unwrap_or(1);
    (1..=deepest).map(label).find(|labels| distinct(labels)).unwrap_or_else(|| label(deepest))
}

fn distinct(labels: &[String]) -> bool {
    let mut sorted = labels.to_vec();
    sorted.sort();
    sorted.dedup();
    sorted.len() == labels.len()
}

/// Returns names for folders `SWEEP/runs/HASH` of one sweep, made of the values that differ between runs. `None` if a
/// folder is not in this sweep, or if two folders would get the same name.
fn of_a_sweep(folders: &[PathBuf]) -> Option<Vec<String>> {
    let full: Vec<PathBuf> = folders.iter().map(std::fs::canonicalize).collect::<Result<_, _>>().ok()?;
    let sweep = full.first()?.parent()?.parent()?;
    if !is_sweep(sweep) || full.iter().any(|folder| folder.parent().and_then(Path::parent) != Some(sweep)) {
        return None;
    }
    let table = read_table(&sweep.join("sweep.parquet")).ok()?;
    let (run, seed) = (table.column_index("run").ok()?, table.column_index("seed").ok()?);
    // The columns of the varied keys are between `run` and `seed`. A varied quantity has a second column, in its base
    // unit: skip this column.
    let base = |at: &usize| {
        let name = &table.columns[*at].name;
        table.columns[..*at]
            .iter()
            .any(|before| name.strip_prefix(&before.name).is_some_and(|unit| ["_ps", "_bytes", "_bps"].contains(&unit)))
    };
    let keys: Vec<usize> = (run + 1..seed).filter(|at| !base(at) && differs(&table, *at)).collect();
    let label = |folder: &PathBuf| {
        let name = folder.file_name()?.to_str()?;
        let row = (0..table.rows).find(|&row| text(table.row(row)[run]) == name)?;
        let values = keys.iter().map(|&at| {
            let key = &table.columns[at].name;
            format!("{} {}", key.rsplit('.').next().unwrap_or(key), text(table.row(row)[at]))
        });
        let seeds = differs(&table, seed).then(|| format!("seed {}", text(table.row(row)[seed])));
        Some(values.chain(seeds).collect::<Vec<_>>().join(", "))
    };
    let labels = full.iter().map(label).collect::<Option<Vec<String>>>()?;
    (distinct(&labels) && !labels.iter().any(String::is_empty)).then_some(labels)
}

fn differs(table: &Table, column: usize) -> bool {
    (1..table.rows).any(|row| text(table.row(row)[column]) != text(table.row(0)[column]))
}

fn text(value: Value<'_>) -> String {
    match value {
        Value::U64(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::F64(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Text(value) => value.to_owned(),
        Value::Null => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::table::{Column, ColumnType, TableWriter};

    #[test]
    fn runs_of_a_sweep_are_called_by_what_they_differ_in() {
        let folder = std::env::temp_dir().join(format!("tidegate-names-{}", std::process::id()));
        let [first, second] = ["aaaa", "bbbb"].map(|hash| folder.join("runs").join(hash));
        [&first, &second].into_iter().for_each(|run| std::fs::create_dir_all(run).unwrap());
        std::fs::write(folder.join("sweep.json"), "{}").unwrap();
        let text = |name: &str| Column::new(name, ColumnType::Text);
        let number = |name: &str| Column::new(name, ColumnType::U64);
        let columns = [text("run"), text("switch.xoff"), number("switch.xoff_bytes"), text("kind"), number("seed")];
        let write = |rows: &[(&str, &str, u64, u64)]| {
            let mut table = TableWriter::create(&folder.join("sweep.parquet"), &columns).unwrap();
            for &(run, xoff, bytes, seed) in rows {
                let row = [Value::Text(run), Value::Text(xoff), bytes.into(), Value::Text("pfc"), seed.into()];
                table.push(&row).unwrap();
            }
            table.close().unwrap();
        };
        let both = [first.clone(), second.clone()];
        write(&[("aaaa", "50KB", 50_000, 1), ("bbbb", "100KB", 100_000, 1)]);
        assert_eq!(labels(&both), ["xoff 50KB", "xoff 100KB"]);
        write(&[("aaaa", "50KB", 50_000, 1), ("bbbb", "50KB", 50_000, 2)]);
        assert_eq!(labels(&both), ["seed 1", "seed 2"]);
        // If the table of the sweep lacks a run, or a folder is outside the sweep, the names are folder names.
        write(&[("aaaa", "50KB", 50_000, 1)]);
        assert_eq!(labels(&both), ["aaaa", "bbbb"]);
        let copy = folder.join("copy/aaaa");
        std::fs::create_dir_all(&copy).unwrap();
        assert_eq!(labels(&[first, copy]), ["runs/aaaa", "copy/aaaa"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
