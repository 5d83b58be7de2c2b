//! Streamed tables: Parquet without the `arrow` crate, and CSV.
//!
//! Units are in the column names (`start_ps`, `queue_bytes`). The metadata of the file has units, too, and meanings and
//! the identity of the run: `unit.<column>`, `meaning.<column>`, `minimum.<column>`, `tidegate.<key>`. Equal rows of
//! equal runs give equal bytes, because the files contain no time of day and `created_by` is constant.

pub(crate) mod column;
pub(crate) mod csv;
mod read;
mod write;

pub use column::{Column, ColumnType, Value};
pub use csv::print_csv;
pub use read::{Data, Table, TableReader, read_table};
pub use write::{ROWS_PER_GROUP, TableWriter};

/// Prefixes of metadata keys: unit and meaning of a column, identity of the run.
const UNIT: &str = "unit";
const MEANING: &str = "meaning";
/// Prefix of the metadata key of a column without negative values, whose value is the lower bound `0`.
const MINIMUM: &str = "minimum";
/// Prefix of the lower bound in files of earlier versions.
const FORMER_MINIMUM: &str = "least";
const ABOUT: &str = "tidegate";

#[cfg(test)]
mod tests;
