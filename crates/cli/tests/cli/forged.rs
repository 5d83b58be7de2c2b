//! Damaged tables and impossible values in results whose hashes match: readers must report an error and never panic.

use crate::common::{SMALL, Scratch, run};
use record::folder::SUMMARY_FILE;
use record::table::{Column, ColumnType, Table, TableWriter, Value, read_table};
use std::path::Path;
use units::random::Stream;

/// Sets the hash in the summary of a result to the hash of its current files.
fn forge(folder: &Path) {
    let file = folder.join(SUMMARY_FILE);
    let text = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once("\"results_hash\": \"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    let right = record::results_hash::results_hash(folder).unwrap();
    std::fs::write(&file, format!("{before}\"results_hash\": \"{right}\"{after}")).unwrap();
}

/// Runs every command that reads a result folder.
fn read_all(folder: &str, out: &str, what: &str) {
    let whys: [&[&str]; 4] = [&["--flow", "0"], &["--packet", "1"], &["--port", "H1"], &["--pauses"]];
    let mut commands: Vec<Vec<&str>> = whys.iter().map(|why| [&["why", folder], *why].concat()).collect();
    commands.push(vec!["report", folder, "--quiet", "--force", "--out", out]);
    for command in commands {
        let ran = run(&command);
        assert!(matches!(ran.code, Some(0 | 2)), "{what}: {command:?}: {:?}\n{}", ran.code, ran.err);
        assert!(!ran.err.contains("panicked"), "{what}: {command:?}\n{}", ran.err);
    }
}

/// Makes a result of a small run with all recordings and a full trace; returns its folder.
fn traced(scratch: &Scratch) -> String {
    let text = SMALL.replace("100KB", "20KB") + "trace = {}\n";
    let scenario = scratch.file("small.toml", &text);
    let folder = scratch.path("run");
    let ran = run(&["run", &scenario, "--quiet", "--out", &folder]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder
}

fn tables(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".parquet")).collect();
    names.sort();
    names
}

#[test]
fn damaged_parquet_under_a_forged_hash_is_an_error_and_never_a_panic() {
    let scratch = Scratch::new("forged-bytes");
    let folder = traced(&scratch);
    let (out, folder_path) = (scratch.path("report.html"), Path::new(&folder));
    let mut random = Stream::new(7, 0, 0);
    for name in tables(folder_path) {
        let file = folder_path.join(&name);
        let good = std::fs::read(&file).unwrap();
        for case in 0..8 {
            let mut bytes = good.clone();
            // In every second case, all changed bytes are in the Parquet footer, which has the offsets of all data.
            let footer = good.len().saturating_sub(2000);
            let from = if case % 2 == 0 { footer } else { 0 };
            for _ in 0..=random.below(3) {
                let at = from + random.below((bytes.len() - from) as u64) as usize;
                bytes[at] = random.below(256) as u8;
            }
            if case == 7 {
                bytes.truncate(random.below(good.len() as u64) as usize);
            }
            std::fs::write(&file, bytes).unwrap();
            forge(folder_path);
            read_all(&folder, &out, &format!("{name}, case {case}"));
        }
        std::fs::write(&file, good).unwrap();
    }
}

/// Returns the table with a cell of a random column (in one row or in all rows) set to a value that no run writes.
fn impossible(table: &Table, random: &mut Stream) -> (Vec<Column>, Vec<Vec<Cell>>, String) {
    let mut rows: Vec<Vec<Cell>> =
        (0..table.rows).map(|row| table.row(row).into_iter().map(Cell::of).collect()).collect();
    let column = random.below(table.columns.len() as u64) as usize;
    let extremes = [0, 1, 2, 7, 255, 65_535, u64::from(u32::MAX), u64::MAX / 2 - 1, u64::MAX - 1, u64::MAX];
    let kind = &table.columns[column];
    let cell = match kind.kind {
        // `u64::MAX - 1` cannot be written: times and counts are stored with signed 64 bits, and only `u64::MAX`
        // (endless) is mapped.
        ColumnType::U64 => {
            Cell::U64(Some(extremes[random.below(10) as usize]).filter(|n| *n != u64::MAX - 1).unwrap_or(3))
        }
        ColumnType::Key => Cell::U64(extremes[random.below(10) as usize]),
        ColumnType::I64 => Cell::I64([i64::MIN, -1, i64::MAX][random.below(3) as usize]),
        ColumnType::F64 => Cell::F64([f64::NAN, f64::INFINITY, -1e308, 1e308][random.below(4) as usize]),
        ColumnType::Bool => Cell::Bool(random.below(2) == 0),
        ColumnType::Text => {
            let events = [
                "",
                "pause sent",
                "paused",
                "resumed",
                "queued",
                "started",
                "dropped",
                "delivered",
                "held",
                "\u{1b}[2J</script>",
            ];
            Cell::Text(events[random.below(10) as usize].to_owned())
        }
    };
    let cell = if kind.optional && random.below(4) == 0 { Cell::Null } else { cell };
    // The value replaces the cell in one row or in all rows.
    let (at, all) = (random.below(rows.len().max(1) as u64) as usize, random.below(4) == 0);
    for (row, cells) in rows.iter_mut().enumerate() {
        if all || row == at {
            cells[column] = cell.clone();
        }
    }
    if random.below(8) == 0 {
        rows.reverse();
    }
    (table.columns.clone(), rows, format!("{} = {cell:?}{}", kind.name, if all { " in all rows" } else { "" }))
}

#[derive(Clone, Debug)]
enum Cell {
    U64(u64),
    I64(i64),
    F64(f64),
    Bool(bool),
    Text(String),
    Null,
}

impl Cell {
    fn of(value: Value<'_>) -> Cell {
        match value {
            Value::U64(value) => Cell::U64(value),
            Value::I64(value) => Cell::I64(value),
            Value::F64(value) => Cell::F64(value),
            Value::Bool(value) => Cell::Bool(value),
            Value::Text(value) => Cell::Text(value.to_owned()),
            Value::Null => Cell::Null,
        }
    }
    fn value(&self) -> Value<'_> {
        match self {
            Cell::U64(value) => Value::U64(*value),
            Cell::I64(value) => Value::I64(*value),
            Cell::F64(value) => Value::F64(*value),
            Cell::Bool(value) => Value::Bool(*value),
            Cell::Text(value) => Value::Text(value),
            Cell::Null => Value::Null,
        }
    }
}

#[test]
fn impossible_values_under_a_forged_hash_are_an_error_and_never_a_panic() {
    let scratch = Scratch::new("forged-values");
    let folder = traced(&scratch);
    let (out, folder_path) = (scratch.path("report.html"), Path::new(&folder));
    let cases: u64 = std::env::var("TIDEGATE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(12);
    let mut random = Stream::new(8, 0, 0);
    for name in tables(folder_path) {
        let file = folder_path.join(&name);
        let (good, table) = (std::fs::read(&file).unwrap(), read_table(&file).unwrap());
        for case in 0..if name == "trace.parquet" { 4 * cases } else { cases } {
            let (columns, rows, what) = impossible(&table, &mut random);
            let mut writer = TableWriter::create(&file, &columns).unwrap();
            for row in &rows {
                writer.push(&row.iter().map(Cell::value).collect::<Vec<_>>()).unwrap();
            }
            writer.close().unwrap();
            forge(folder_path);
            read_all(&folder, &out, &format!("{name}, case {case}: {what}"));
        }
        std::fs::write(&file, good).unwrap();
    }
}

#[test]
fn impossible_lines_of_pauses_under_a_forged_hash_are_read_or_left_out() {
    let scratch = Scratch::new("forged-pauses");
    let folder = traced(&scratch);
    let (out, folder_path) = (scratch.path("report.html"), Path::new(&folder));
    for line in [
        "5 1 1 0 1",
        "-1e308 1e308 1 -7 1",
        "nan nan nan nan 1",
        "inf 1 1 1 1\n1 1 1 1 0",
        "9 1 1 1 1\n1 1 1 1 0",
        "\u{0}",
    ] {
        std::fs::write(folder_path.join("pfc.txt"), line).unwrap();
        forge(folder_path);
        read_all(&folder, &out, line);
    }
}
