//! Streamed tables: Parquet without arrow, and CSV of the same rows.
//!
//! Units stand in the column names (`start_ps`, `queue_bytes`) and, with what each column says and which run a table
//! is of, in the metadata of the file: `unit.<column>`, `meaning.<column>`, `least.<column>`, `tidegate.<what>`. The
//! same rows of the same run give the same bytes: the files carry no time, and `created_by` is pinned.

pub(crate) mod column;
pub(crate) mod csv;
mod read;
mod write;

pub use column::{Column, Kind, Value};
pub use csv::print_csv;
pub use read::{Data, Table, TableReader, read_table};
pub use write::{ROWS_PER_GROUP, TableWriter};

/// What keys of a file's metadata begin with: the unit of a column, what it says, the run that the table is of.
const UNIT: &str = "unit";
const MEANING: &str = "meaning";
/// The least value of a column that is never negative, `0`.
const LEAST: &str = "least";
const ABOUT: &str = "tidegate";

#[cfg(test)]
mod tests;
