//! Streamed tables: Parquet without arrow, and CSV of the same rows.
//!
//! Units stand in the column names (`start_ps`, `queue_bytes`). The same rows give the same bytes: the
//! files carry no time, and `created_by` is pinned.

pub(crate) mod column;
mod csv;
mod read;
mod write;

pub use column::{Column, Kind, Value};
pub use csv::write_csv;
pub use read::{Data, Table, TableReader, read_table};
pub use write::{ROWS_PER_GROUP, TableWriter};

#[cfg(test)]
mod tests;
