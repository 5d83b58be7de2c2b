//! Exports every table of a result folder as CSV: Parquet tables, `pfc.txt`, and the values of `summary.json`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::error::RecordError;
use crate::file::AtomicFile;
use crate::folder::SUMMARY_FILE;
use crate::table::column::{Column, ColumnType};
use crate::table::csv::{push_text, push_value};
use crate::table::{TableReader, Value, print_csv};

/// File of XOFF and XON events, and name of the table made from it.
const PAUSES: (&str, &str) = ("pfc.txt", "pauses");
/// Name of the table with the values of the summary.
const SUMMARY: &str = "summary";
/// Number of bytes of text that are printed at once.
const CHUNK_BYTES: usize = 1 << 16;

/// A table of a result folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedTable {
    /// Name of the table: the file name without extension, `pauses` for `pfc.txt`, `summary` for `summary.json`.
    pub name: String,
    /// Columns of the table.
    pub columns: Vec<Column>,
    /// Number of rows; `None` if not counted.
    pub rows: Option<u64>,
    /// Identity of the run that wrote the table, like [`TableReader::about`].
    pub about: Vec<(String, String)>,
    path: PathBuf,
}

/// Returns the tables in `folder`, a result or a sweep, sorted by name.
///
/// # Errors
/// [`RecordError::Unreadable`]; [`RecordError::Table`] for a damaged table, or a folder without tables.
pub fn tables(folder: &Path) -> Result<Vec<ExportedTable>, RecordError> {
    let mut found = Vec::new();
    let unreadable = || RecordError::unreadable(folder);
    for entry in fs::read_dir(folder).map_err(unreadable())? {
        let path = entry.map_err(unreadable())?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_file()) else { continue };
        let simple = |name: &str, columns: Vec<Column>| {
            let (name, path) = (name.to_owned(), path.clone());
            ExportedTable { name, columns, rows: None, about: Vec::new(), path }
        };
        if let Some(name) = file.strip_suffix(".parquet") {
            let reader = TableReader::open(&path)?;
            let (columns, rows) = (reader.columns().to_vec(), Some(reader.rows()));
            found.push(ExportedTable { rows, about: reader.about().to_vec(), ..simple(name, columns) });
        } else if file == PAUSES.0 {
            found.push(simple(PAUSES.1, pause_columns()));
        } else if file == SUMMARY_FILE {
            found.push(simple(SUMMARY, summary_columns()));
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    if found.is_empty() {
        let what = "has no table: name the folder of a result or of a sweep".to_owned();
        return Err(RecordError::Table { path: folder.to_owned(), what });
    }
    Ok(found)
}

fn pause_columns() -> Vec<Column> {
    let number = |name: &str| Column::new(name, ColumnType::U64);
    vec![
        number("time_ns").means("time of reception at the node, truncated to ns"),
        number("node").means("receiving node"),
        Column::new("host", ColumnType::Bool).means("the node is a host"),
        number("port").means("its port, from 0"),
        Column::new("pause", ColumnType::Bool).means("true for a pause, false for a resume"),
    ]
}

fn summary_columns() -> Vec<Column> {
    let text = |name: &str| Column::new(name, ColumnType::Text);
    vec![
        text("key").means("path of the value in summary.json; list items count from 0"),
        text("value").optional().means("value, in the unit of the key's suffix; empty for null"),
    ]
}

impl ExportedTable {
    /// Prints the table as CSV (RFC 4180 with bare line feeds): a header, then one line per row. `print` receives whole
    /// lines, many at a time.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`], [`RecordError::Table`], [`RecordError::Json`], and those of `print`.
    pub fn csv<E: From<RecordError>>(&self, mut print: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        let mut waiting = String::new();
        let mut gather = |line: &str| {
            waiting.push_str(line);
            if waiting.len() < CHUNK_BYTES {
                return Ok(());
            }
            let printed = print(&waiting);
            waiting.clear();
            printed
        };
        match self.name.as_str() {
            _ if self.path.extension().is_some_and(|ending| ending == "parquet") => {
                print_csv(&self.path, &mut gather)?;
            }
            SUMMARY => self.print_summary(&mut gather)?,
            _ => self.print_pauses(&mut gather)?,
        }
        print(&waiting)
    }

    /// Writes the table as CSV to `path` if this file does not exist or has equal content; with `force`, replaces any
    /// file.
    ///
    /// # Errors
    /// Those of [`ExportedTable::csv`], [`RecordError::NotOurs`], [`RecordError::Unwritable`].
    pub fn write(&self, path: &Path, force: bool) -> Result<(), RecordError> {
        let mut file = AtomicFile::create(path)?;
        self.csv(|text| file.print(format_args!("{text}")))?;
        file.commit_over(force)
    }

    fn row(values: &[Value<'_>]) -> String {
        let mut line = String::new();
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                line.push(',');
            }
            push_value(&mut line, *value);
        }
        line + "\n"
    }

    fn header(&self) -> String {
        let mut line = String::new();
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                line.push(',');
            }
            push_text(&mut line, &column.name);
        }
        line + "\n"
    }

    fn print_pauses<E: From<RecordError>>(&self, print: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        print(&self.header())?;
        let file = fs::File::open(&self.path).map_err(RecordError::unreadable(&self.path))?;
        for (at, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(RecordError::unreadable(&self.path))?;
            let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>();
            // `pfc.txt` numbers ports from 1, all other tables from 0.
            let Ok([time, node, switch @ (0 | 1), port @ 1..=u64::MAX, pause @ (0 | 1)]) = numbers.as_deref() else {
                let what = format!("line {}: {line:?} is not a pause: expected five numbers", at + 1);
                return Err(RecordError::Table { path: self.path.clone(), what }.into());
            };
            let host = (*switch == 0).into();
            print(&Self::row(&[(*time).into(), (*node).into(), host, (*port - 1).into(), (*pause == 1).into()]))?;
        }
        Ok(())
    }

    fn print_summary<E: From<RecordError>>(&self, print: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        print(&self.header())?;
        let bytes = fs::read(&self.path).map_err(RecordError::unreadable(&self.path))?;
        let json: Json =
            serde_json::from_slice(&bytes).map_err(|source| RecordError::Json { path: self.path.clone(), source })?;
        let mut found = Vec::new();
        leaves(&json, "", &mut found);
        found.iter().try_for_each(|(key, value)| print(&Self::row(&[key.as_str().into(), value.as_deref().into()])))
    }
}

/// Collects every scalar value with its path: `flows.fct_ns.mean`, `links.busiest.0.node`.
fn leaves(json: &Json, location: &str, found: &mut Vec<(String, Option<String>)>) {
    let below = |key: &str| if location.is_empty() { key.to_owned() } else { format!("{location}.{key}") };
    match json {
        Json::Object(all) => all.iter().for_each(|(key, value)| leaves(value, &below(key), found)),
        Json::Array(all) => {
            all.iter().enumerate().for_each(|(at, value)| leaves(value, &below(&at.to_string()), found));
        }
        Json::Null => found.push((location.to_owned(), None)),
        Json::String(text) => found.push((location.to_owned(), Some(text.clone()))),
        other => found.push((location.to_owned(), Some(other.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::Scratch;
    use crate::series::LinkSeries;
    use crate::summary::{ScenarioIdentity, Summary};
    use units::Time;

    fn text(table: &ExportedTable) -> Result<String, RecordError> {
        let mut text = String::new();
        table.csv(|part| {
            text.push_str(part);
            Ok::<(), RecordError>(())
        })?;
        Ok(text)
    }

    #[test]
    fn tables_pauses_and_the_summary_of_a_folder_are_all_csv() {
        let scratch = Scratch::new("export");
        let at = |name: &str| scratch.0.join(name);
        let run = ScenarioIdentity { name: "a run".into(), hash: "ab".into(), seed: 7, version: "1".into() };
        let mut links = LinkSeries::create(&at("links.parquet"), &run).unwrap();
        links.push(Time::from_us(1), 3, 2, 12_500, 0.25).unwrap();
        links.close().unwrap();
        fs::write(at("pfc.txt"), "2000 320 1 1 1\n2500 5 0 2 0\n").unwrap();
        let mut summary = Summary { scenario: run, ..Summary::default() };
        summary.warnings.push("a \"quoted\", long one".into());
        fs::write(at("summary.json"), summary.to_json()).unwrap();
        fs::write(at("notes.md"), "mine").unwrap();

        let found = tables(&scratch.0).unwrap();
        assert_eq!(found.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["links", "pauses", "summary"]);
        assert_eq!(found[0].rows, Some(1));
        let about: Vec<String> = found[0].about.iter().map(|(key, value)| format!("{key} {value}")).collect();
        assert_eq!(about, ["scenario a run", "scenario_hash ab", "seed 7", "version 1"]);
        assert_eq!(text(&found[0]).unwrap(), "time_ps,node,port,tx_bytes,utilisation\n1000000,3,2,12500,0.25\n");
        assert_eq!(
            text(&found[1]).unwrap(),
            "time_ns,node,host,port,pause\n2000,320,false,0,true\n2500,5,true,1,false\n"
        );
        let numbers = text(&found[2]).unwrap();
        assert!(numbers.starts_with("key,value\nbounces,\nbytes.consumed,0\n"), "{numbers}");
        for line in ["deadlock,", "packets.injected,0", "scenario.seed,7", "warnings.0,\"a \"\"quoted\"\", long one\""]
        {
            assert!(numbers.lines().any(|found| found == line), "{line}: {numbers}");
        }

        fs::write(at("pfc.txt"), "2000 320 1 0 1\n").unwrap();
        let error = text(&found[1]).unwrap_err().to_string();
        assert!(error.contains("pfc.txt") && error.contains("line 1"), "{error}");
    }

    #[test]
    fn a_file_of_the_users_stays_unless_forced() {
        let scratch = Scratch::new("export-out");
        fs::write(scratch.0.join("pfc.txt"), "1 2 1 1 1\n").unwrap();
        let table = &tables(&scratch.0).unwrap()[0];
        let out = scratch.0.join("out.csv");
        table.write(&out, false).unwrap();
        table.write(&out, false).unwrap();
        fs::write(&out, "mine").unwrap();
        assert!(matches!(table.write(&out, false), Err(RecordError::NotOurs { .. })));
        assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
        table.write(&out, true).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "time_ns,node,host,port,pause\n1,2,false,0,true\n");

        let empty = Scratch::new("export-empty");
        assert!(tables(&empty.0).unwrap_err().to_string().contains("has no table"));
    }
}
