//! Reads tables of a result, one row group at a time.

use record::RecordError;
use record::table::{Table, TableReader};
use std::path::Path;

/// Converts ps to us.
pub(crate) fn us(ps: u64) -> f64 {
    ps as f64 / 1e6
}

/// Calls `each` with every row group of a table; does nothing if the folder lacks the table.
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
        // Curves require rows in chronological order, as runs write them: a table in another order is damaged.
        if part.column_index("time_ps").is_ok() {
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
