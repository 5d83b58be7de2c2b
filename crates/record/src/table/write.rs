//! Writes a table row by row, with one row group in memory.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::column::{Column, ColumnType, Value};
use super::{ABOUT, MEANING, MINIMUM, UNIT};
use crate::error::RecordError;
use crate::file::AtomicFile;
use crate::identity::ScenarioIdentity;

/// Rows per row group, which a writer buffers in memory: about 1 MB per column.
pub const ROWS_PER_GROUP: usize = 1 << 17;

/// Values of one column since the last row group.
enum Values {
    Int(Vec<i64>),
    /// Times and counts, converted by [`signed`].
    Count(Vec<i64>),
    Float(Vec<f64>),
    Text(Vec<ByteArray>),
    Bool(Vec<bool>),
}

struct Buffer {
    values: Values,
    // Definition levels: 1 for a value, 0 for null; empty if the column is not optional.
    levels: Vec<i16>,
}

/// Writes a Parquet table, which is renamed to its path when it is closed. If it is dropped before, its temporary file
/// is removed.
pub struct TableWriter {
    path: PathBuf,
    columns: Vec<Column>,
    buffers: Vec<Buffer>,
    buffered_rows: usize,
    rows: u64,
    rows_per_group: usize,
    writer: SerializedFileWriter<AtomicFile>,
}

impl TableWriter {
    /// Starts a table at `path` with row groups of [`ROWS_PER_GROUP`] rows.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`], [`RecordError::Table`] if the columns are no valid schema.
    pub fn create(path: &Path, columns: &[Column]) -> Result<Self, RecordError> {
        Self::with_rows_per_group(path, columns, ROWS_PER_GROUP)
    }

    /// Starts a table with row groups of `rows_per_group` rows (at least one).
    ///
    /// # Errors
    /// Those of [`TableWriter::create`].
    pub fn with_rows_per_group(path: &Path, columns: &[Column], rows_per_group: usize) -> Result<Self, RecordError> {
        let rejected = |error: ParquetError| table_error(path, error);
        let mut fields = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            if columns[..index].iter().any(|other| other.name == column.name) {
                let what = format!("two columns are named {}; names must differ", column.name);
                return Err(RecordError::Table { path: path.to_owned(), what });
            }
            let (physical, logical) = match column.kind {
                ColumnType::Key => (Physical::INT64, Some(LogicalType::integer(64, false))),
                ColumnType::U64 | ColumnType::I64 => (Physical::INT64, None),
                ColumnType::F64 => (Physical::DOUBLE, None),
                ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                ColumnType::Bool => (Physical::BOOLEAN, None),
            };
            let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
            let field = Type::primitive_type_builder(&column.name, physical)
                .with_repetition(repetition)
                .with_logical_type(logical)
                .build()
                .map_err(rejected)?;
            fields.push(Arc::new(field));
        }
        let schema = Type::group_type_builder("row").with_fields(fields).build().map_err(rejected)?;
        let file = AtomicFile::create(path)?;
        let writer =
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties(columns))).map_err(rejected)?;
        let buffers = columns.iter().map(|column| Buffer::new(column.kind)).collect();
        Ok(TableWriter {
            path: path.to_owned(),
            columns: columns.to_vec(),
            buffers,
            buffered_rows: 0,
            rows: 0,
            rows_per_group: rows_per_group.max(1),
            writer,
        })
    }

    /// Adds the identity of the run to the metadata of the file: `tidegate.scenario`, `tidegate.scenario_hash`,
    /// `tidegate.seed` and `tidegate.version`.
    pub fn about(mut self, run: &ScenarioIdentity) -> Self {
        let ScenarioIdentity { name, hash, seed, version } = run;
        let seed = seed.to_string();
        for (key, value) in [("scenario", name), ("scenario_hash", hash), ("seed", &seed), ("version", version)] {
            self.note(key, value);
        }
        self
    }

    /// Adds `tidegate.KEY` to the metadata.
    pub fn note(&mut self, key: &str, value: &str) {
        self.writer.append_key_value_metadata(KeyValue::new(format!("{ABOUT}.{key}"), value.to_owned()));
    }

    /// Appends a row, one value for each column in order.
    ///
    /// # Errors
    /// [`RecordError::RowLength`], [`RecordError::ColumnKind`] and [`RecordError::TooLarge`] leave the table unchanged;
    /// [`RecordError::Table`] and [`RecordError::Unwritable`] if a full row group cannot be written.
    pub fn push(&mut self, row: &[Value<'_>]) -> Result<(), RecordError> {
        if row.len() != self.columns.len() {
            let (expected, found) = (self.columns.len(), row.len());
            return Err(RecordError::RowLength { path: self.path.clone(), expected, found });
        }
        // Check all values before storing any, because a rejected row must not leave columns of unequal length.
        for (column, value) in self.columns.iter().zip(row) {
            check(column, value)?;
        }
        for ((column, buffer), value) in self.columns.iter().zip(&mut self.buffers).zip(row) {
            buffer.push(column.optional, value);
        }
        self.buffered_rows += 1;
        self.rows += 1;
        if self.buffered_rows == self.rows_per_group { self.flush_group() } else { Ok(()) }
    }

    /// Returns the number of rows pushed so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of buffered rows: fewer than a row group.
    pub fn buffered_rows(&self) -> usize {
        self.buffered_rows
    }

    /// Writes the buffered rows, completes the file and renames it to its path.
    ///
    /// # Errors
    /// [`RecordError::Table`], [`RecordError::Unwritable`]; the file is then removed.
    pub fn close(mut self) -> Result<(), RecordError> {
        self.flush_group()?;
        let file = self.writer.into_inner().map_err(|error| write_error(&self.path, error))?;
        file.commit()
    }

    fn flush_group(&mut self) -> Result<(), RecordError> {
        if self.buffered_rows == 0 {
            return Ok(());
        }
        let written = write_group(&mut self.writer, &mut self.buffers);
        self.buffered_rows = 0;
        written.map_err(|error| write_error(&self.path, error))
    }
}

fn properties(columns: &[Column]) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_created_by("tidegate".to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    let key_values = |column: &Column| {
        let pair = |of: &str, what: &Option<Cow<'static, str>>| {
            what.as_ref().map(|what| KeyValue::new(format!("{of}.{}", column.name), what.to_string()))
        };
        let minimum = (column.kind == ColumnType::U64).then_some(Cow::Borrowed("0"));
        [pair(UNIT, &column.unit), pair(MEANING, &column.meaning), pair(MINIMUM, &minimum)]
    };
    let key_values: Vec<KeyValue> = columns.iter().flat_map(key_values).flatten().collect();
    if !key_values.is_empty() {
        builder = builder.set_key_value_metadata(Some(key_values));
    }
    for column in columns {
        // Times and flow numbers increase slowly, so that delta encoding takes a few bits per value; a dictionary would
        // store each distinct value in eight bytes.
        let rises = column.kind == ColumnType::U64 && (column.name.ends_with("_ps") || column.name == "flow");
        if rises {
            builder = builder
                .set_column_dictionary_enabled(column.name.as_str().into(), false)
                .set_column_encoding(column.name.as_str().into(), Encoding::DELTA_BINARY_PACKED);
        }
    }
    builder.build()
}

/// Returns the stored form of a non-negative number; `None` if it is out of range.
fn signed(value: u64) -> Option<i64> {
    if value == u64::MAX { Some(i64::MAX) } else { i64::try_from(value).ok().filter(|value| *value < i64::MAX) }
}

fn check(column: &Column, value: &Value<'_>) -> Result<(), RecordError> {
    let fits = match *value {
        Value::U64(value) if column.kind == ColumnType::U64 && signed(value).is_none() => {
            return Err(RecordError::TooLarge { column: column.name.clone(), value });
        }
        Value::U64(_) => matches!(column.kind, ColumnType::U64 | ColumnType::Key),
        Value::I64(_) => column.kind == ColumnType::I64,
        Value::F64(_) => column.kind == ColumnType::F64,
        Value::Text(_) => column.kind == ColumnType::Text,
        Value::Bool(_) => column.kind == ColumnType::Bool,
        Value::Null => column.optional,
    };
    if fits {
        return Ok(());
    }
    Err(RecordError::ColumnKind { column: column.name.clone(), expected: column.kind, found: value.kind_name() })
}

impl Buffer {
    fn new(kind: ColumnType) -> Self {
        let values = match kind {
            ColumnType::U64 => Values::Count(Vec::new()),
            ColumnType::I64 | ColumnType::Key => Values::Int(Vec::new()),
            ColumnType::F64 => Values::Float(Vec::new()),
            ColumnType::Text => Values::Text(Vec::new()),
            ColumnType::Bool => Values::Bool(Vec::new()),
        };
        Buffer { values, levels: Vec::new() }
    }

    /// Appends a value that was already checked against the column.
    fn push(&mut self, optional: bool, value: &Value<'_>) {
        if optional {
            self.levels.push(i16::from(*value != Value::Null));
        }
        match (&mut self.values, *value) {
            (Values::Count(values), Value::U64(value)) => values.push(signed(value).unwrap_or(i64::MAX)),
            // Parquet stores an unsigned number as the signed number with equal bits.
            (Values::Int(values), Value::U64(value)) => values.push(value as i64),
            (Values::Int(values), Value::I64(value)) => values.push(value),
            (Values::Float(values), Value::F64(value)) => values.push(value),
            (Values::Text(values), Value::Text(value)) => values.push(ByteArray::from(value)),
            (Values::Bool(values), Value::Bool(value)) => values.push(value),
            _ => {}
        }
    }
}

fn write_group(writer: &mut SerializedFileWriter<AtomicFile>, buffers: &mut [Buffer]) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for Buffer { values, levels } in buffers {
        let Some(column) = group.next_column()? else {
            break;
        };
        match values {
            Values::Int(values) | Values::Count(values) => write_column::<Int64Type>(column, values, levels)?,
            Values::Float(values) => write_column::<DoubleType>(column, values, levels)?,
            Values::Text(values) => write_column::<ByteArrayType>(column, values, levels)?,
            Values::Bool(values) => write_column::<BoolType>(column, values, levels)?,
        }
    }
    group.close().map(|_| ())
}

fn write_column<T: DataType>(
    mut column: SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: &mut Vec<i16>,
) -> Result<(), ParquetError> {
    let definition = (!levels.is_empty()).then_some(levels.as_slice());
    column.typed::<T>().write_batch(values, definition, None)?;
    values.clear();
    levels.clear();
    column.close()
}

fn table_error(path: &Path, error: ParquetError) -> RecordError {
    RecordError::Table { path: path.to_owned(), what: error.to_string() }
}

/// Converts an error: while writing, `External` errors of the library are I/O errors.
fn write_error(path: &Path, error: ParquetError) -> RecordError {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => RecordError::Unwritable { action: "write", path: path.to_owned(), source: *source },
            Err(other) => RecordError::Table { path: path.to_owned(), what: other.to_string() },
        },
        other => table_error(path, other),
    }
}
