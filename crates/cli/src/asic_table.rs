//! Reads files that describe the ASIC of SONiC switches: `asic_table.json` and `peripheral_table.json`.

use crate::commands::tagger::read_text;
use crate::failure::Failure;
use fabric::sonic::{AsicTables, DynamicHeadroom, Object, TableFault, read_asic_tables};
use std::path::{Path, PathBuf};

/// Reads and merges the tables of all files; `None` if there are no files.
///
/// # Errors
/// If a file has neither of the two tables, a value is missing or invalid, or two files have the same table.
pub fn read(files: &[PathBuf]) -> Result<Option<AsicTables>, Failure> {
    let wrong = |path: &Path, fault: &TableFault| {
        Failure::input(format!("{}: {}: {}", path.display(), fault.key, fault.message), format!("write {}", fault.help))
    };
    let mut tables = Object::new();
    for file in files {
        for (table, rows) in read_asic_tables(&read_text(file)?).map_err(|fault| wrong(file, &fault))? {
            if tables.insert(table.clone(), rows).is_some() {
                let message = format!("{}: {table} is in another file of --asic-table too", file.display());
                return Err(Failure::input(message, "give each table once"));
            }
        }
    }
    let Some(last) = files.last() else { return Ok(None) };
    match AsicTables::of(&tables).map_err(|fault| wrong(last, &fault))? {
        Some(found) => Ok(Some(found)),
        None => Err(Failure::input("--asic-table: no file has ASIC_TABLE", "add the asic_table.json of the platform")),
    }
}

/// Returns the inputs from which the headroom was computed, as one line.
pub fn inputs(headroom: &DynamicHeadroom) -> String {
    let port = &headroom.port;
    format!(
        "{}, {} Mbit/s, {} m, MTU {}, {}",
        headroom.asic,
        port.mbps,
        port.metres,
        port.mtu,
        text::numbers::counted(port.lanes, "lane")
    )
}
