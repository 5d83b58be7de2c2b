//! `tidegate table`: lists the tables of a result folder, and prints them as CSV.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use record::export::{ExportedTable, tables};
use record::file::AtomicFile;
use record::files::{NewFiles, PreviousFiles};
use std::path::{Path, PathBuf};
use text::numbers::counted;
use text::{Layout, table};

/// Kind of the content in the manifest of a folder of tables.
const TABLES: &str = "table";

/// Print a table of a result as CSV, or write all tables into a folder; without TABLE, list tables, units and meanings.
#[derive(Debug, clap::Args)]
pub struct TableArgs {
    /// Folder of a result, of a sweep, or of a run of either.
    result: PathBuf,
    /// Table, such as flows, queues, links, throughput, control, trace, ports, pauses, summary, sweep.
    #[arg(value_name = "TABLE")]
    name: Option<String>,
    /// Output file; without TABLE, output folder with one file per table.
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// Overwrite files that differ.
    #[arg(long, requires = "out")]
    force: bool,
}

/// Runs the command.
///
/// # Errors
/// If the folder has no tables, a table is missing or damaged, or the output cannot be written.
pub fn command(args: &TableArgs) -> Result<Exit, Failure> {
    let found = tables(&args.result)?;
    let write = |table: &ExportedTable, path: &Path| table.write(path, args.force).map_err(Failure::of_output);
    let Some(name) = &args.name else {
        let Some(folder) = &args.out else { return output::show(&listed(&found)).map(|()| Exit::Done) };
        let new = NewFiles::open(folder, TABLES, args.force).map_err(Failure::of_output)?;
        for table in &found {
            let print = |file: &mut AtomicFile| table.csv(|text| file.print(format_args!("{text}")));
            new.add_with(&format!("{}.csv", table.name), print).map_err(Failure::of_output)?;
        }
        new.commit(PreviousFiles::Removed).map_err(Failure::of_output)?;
        output::note(&format!("{}: {}", folder.display(), counted(found.len() as u64, "table")));
        return Ok(Exit::Done);
    };
    let Some(table) = found.iter().find(|table| table.name == *name) else {
        let known: Vec<&str> = found.iter().map(|table| table.name.as_str()).collect();
        let message = format!("{} has no table {name:?}", args.result.display());
        return Err(Failure::input(message, format!("one of {}", known.join(", "))));
    };
    match &args.out {
        Some(path) => write(table, path)?,
        None => table.csv(output::print)?,
    }
    Ok(Exit::Done)
}

fn listed(found: &[ExportedTable]) -> String {
    let of = |one: &ExportedTable| {
        let rows = one.rows.map_or(String::new(), |rows| format!(", {}", counted(rows, "row")));
        let cells: Vec<Vec<String>> = one
            .columns
            .iter()
            .map(|column| {
                let cell = |what: &Option<std::borrow::Cow<'_, str>>| what.as_deref().unwrap_or("").to_owned();
                vec![column.name.clone(), cell(&column.unit), cell(&column.meaning)]
            })
            .collect();
        let columns = table(&["column", "unit", "what it says"], &cells, 3, Layout::Wrapping, 2);
        format!("{}{rows}\n{columns}", styled(&one.name, Style::Strong))
    };
    found.iter().map(of).collect::<Vec<_>>().join("\n")
}
