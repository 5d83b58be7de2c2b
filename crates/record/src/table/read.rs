//! Reads tables for comparisons and reports.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;

use parquet::basic::{LogicalType, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::column::{Column, ColumnType, Value};
use super::{ABOUT, FORMER_MINIMUM, MEANING, MINIMUM, UNIT};
use crate::error::RecordError;

/// Values of one column, `None` for a missing value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Values of a [`ColumnType::U64`] or [`ColumnType::Key`] column.
    U64(Vec<Option<u64>>),
    /// Values of a [`ColumnType::I64`] column.
    I64(Vec<Option<i64>>),
    /// Values of a [`ColumnType::F64`] column.
    F64(Vec<Option<f64>>),
    /// Values of a [`ColumnType::Text`] column.
    Text(Vec<Option<String>>),
    /// Values of a [`ColumnType::Bool`] column.
    Bool(Vec<Option<bool>>),
}

impl Data {
    fn empty(kind: ColumnType) -> Data {
        match kind {
            ColumnType::U64 | ColumnType::Key => Data::U64(Vec::new()),
            ColumnType::I64 => Data::I64(Vec::new()),
            ColumnType::F64 => Data::F64(Vec::new()),
            ColumnType::Text => Data::Text(Vec::new()),
            ColumnType::Bool => Data::Bool(Vec::new()),
        }
    }

    /// Returns the value of a row, [`Value::Null`] if it is missing.
    pub fn value(&self, row: usize) -> Value<'_> {
        match self {
            Data::U64(values) => values.get(row).copied().flatten().into(),
            Data::I64(values) => values.get(row).copied().flatten().into(),
            Data::F64(values) => values.get(row).copied().flatten().into(),
            Data::Text(values) => values.get(row).and_then(|value| value.as_deref()).into(),
            Data::Bool(values) => values.get(row).copied().flatten().into(),
        }
    }

    fn append(&mut self, other: Data) {
        match (self, other) {
            (Data::U64(all), Data::U64(more)) => all.extend(more),
            (Data::I64(all), Data::I64(more)) => all.extend(more),
            (Data::F64(all), Data::F64(more)) => all.extend(more),
            (Data::Text(all), Data::Text(more)) => all.extend(more),
            (Data::Bool(all), Data::Bool(more)) => all.extend(more),
            // Row groups of a file share one schema, so that the types of a column never differ.
            _ => {}
        }
    }

    fn kind_name(&self) -> &'static str {
        match self {
            Data::U64(_) => "U64",
            Data::I64(_) => "I64",
            Data::F64(_) => "F64",
            Data::Text(_) => "Text",
            Data::Bool(_) => "Bool",
        }
    }
}

/// Some or all rows of a table, by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The columns in order.
    pub columns: Vec<Column>,
    /// Values of each column, in the order of `columns`.
    pub data: Vec<Data>,
    /// Number of rows.
    pub rows: usize,
}

impl Table {
    /// Returns the column named `name`.
    ///
    /// # Errors
    /// [`RecordError::NoColumn`].
    pub fn column(&self, name: &str) -> Result<&Data, RecordError> {
        Ok(&self.data[self.column_index(name)?])
    }

    /// Returns the index of the column named `name`.
    ///
    /// # Errors
    /// [`RecordError::NoColumn`].
    pub fn column_index(&self, name: &str) -> Result<usize, RecordError> {
        self.columns.iter().position(|column| column.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            RecordError::NoColumn { column: name.to_owned(), present: names.join(", ") }
        })
    }

    /// Returns the values of a [`ColumnType::U64`] or [`ColumnType::Key`] column.
    ///
    /// # Errors
    /// [`RecordError::NoColumn`], [`RecordError::ColumnKind`].
    pub fn u64s(&self, name: &str) -> Result<&[Option<u64>], RecordError> {
        match self.column(name)? {
            Data::U64(values) => Ok(values),
            other => Err(not(name, ColumnType::U64, other)),
        }
    }

    /// Returns the values of a [`ColumnType::F64`] column.
    ///
    /// # Errors
    /// [`RecordError::NoColumn`], [`RecordError::ColumnKind`].
    pub fn f64s(&self, name: &str) -> Result<&[Option<f64>], RecordError> {
        match self.column(name)? {
            Data::F64(values) => Ok(values),
            other => Err(not(name, ColumnType::F64, other)),
        }
    }

    /// Returns the values of a row in the order of the columns.
    pub fn row(&self, row: usize) -> Vec<Value<'_>> {
        self.data.iter().map(|data| data.value(row)).collect()
    }
}

fn not(name: &str, expected: ColumnType, found: &Data) -> RecordError {
    RecordError::ColumnKind { column: name.to_owned(), expected, found: found.kind_name() }
}

/// Reads a table one row group at a time, so that a long series need not fit in memory.
pub struct TableReader {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    columns: Vec<Column>,
    about: Vec<(String, String)>,
    next_group: usize,
}

impl TableReader {
    /// Opens a table that [`TableWriter`](super::TableWriter) wrote.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`]; [`RecordError::Table`] for a damaged file, or columns of types that this crate does
    /// not write.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let file = File::open(path).map_err(RecordError::unreadable(path))?;
        let reader = guarded(|| SerializedFileReader::new(file)).map_err(|error| table_error(path, error))?;
        let file = reader.metadata().file_metadata();
        let (schema, key_values) = (file.schema_descr_ptr(), file.key_value_metadata().cloned().unwrap_or_default());
        let columns = schema
            .columns()
            .iter()
            .map(|descriptor| column_of(descriptor, &key_values))
            .collect::<Result<_, _>>()
            .map_err(|what| RecordError::Table { path: path.to_owned(), what })?;
        let about = |pair: &KeyValue| {
            let key = pair.key.strip_prefix(ABOUT)?.strip_prefix('.')?;
            Some((key.to_owned(), pair.value.clone().unwrap_or_default()))
        };
        let about = key_values.iter().filter_map(about).collect();
        Ok(TableReader { path: path.to_owned(), reader, columns, about, next_group: 0 })
    }

    /// Returns the metadata with the prefix `tidegate.`: pairs with the keys `scenario`, `scenario_hash`, `seed`,
    /// `version` and so on.
    pub fn about(&self) -> &[(String, String)] {
        &self.about
    }

    /// Returns the number of rows, according to the file's metadata.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the rows of the next row group; `None` after the last.
    ///
    /// # Errors
    /// [`RecordError::Table`] for a damaged file.
    pub fn next_group(&mut self) -> Result<Option<Table>, RecordError> {
        if self.next_group >= self.reader.num_row_groups() {
            return Ok(None);
        }
        let table = guarded(|| self.read_group(self.next_group)).map_err(|error| table_error(&self.path, error))?;
        self.next_group += 1;
        Ok(Some(table))
    }

    fn read_group(&self, index: usize) -> Result<Table, ParquetError> {
        let group = self.reader.get_row_group(index)?;
        let rows = usize::try_from(group.metadata().num_rows())
            .map_err(|_| ParquetError::General("a negative number of rows".to_owned()))?;
        let mut data = Vec::with_capacity(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            let (values, count) = read_column(group.get_column_reader(index)?, rows, column)?;
            if count != rows {
                let what = format!("column {} has {count} values for {rows} rows", column.name);
                return Err(ParquetError::General(what));
            }
            data.push(values);
        }
        Ok(Table { columns: self.columns.clone(), data, rows })
    }
}

/// Reads a whole table into memory.
///
/// # Errors
/// Those of [`TableReader::open`] and [`TableReader::next_group`].
pub fn read_table(path: &Path) -> Result<Table, RecordError> {
    let mut reader = TableReader::open(path)?;
    let columns = reader.columns().to_vec();
    let data = columns.iter().map(|column| Data::empty(column.kind)).collect();
    let mut table = Table { columns, data, rows: 0 };
    while let Some(group) = reader.next_group()? {
        table.rows += group.rows;
        for (all, more) in table.data.iter_mut().zip(group.data) {
            all.append(more);
        }
    }
    Ok(table)
}

/// Number of rows requested at once. Memory is allocated for each request, and a damaged file may state any number of
/// rows.
const ROWS_AT_ONCE: usize = 1 << 16;

thread_local! {
    /// Set while the thread runs [`guarded`] code, in which a panic indicates a damaged file.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Installs a panic hook that does not print panics of [`guarded`] code, because these are reported as errors.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                others(panic);
            }
        }));
    });
}

/// Turns a panic of the Parquet library into an error, because version 60 panics on some damaged files (a negative
/// column length, a missing dictionary page) instead of returning an error.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    silence();
    GUARDED.set(true);
    // This is unwind-safe: partly read data is dropped with the closure, and a reader is not used after a failure.
    let result = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(false);
    result.unwrap_or_else(|_| Err(ParquetError::General("the file is damaged".to_owned())))
}

/// Former and present names of columns that earlier versions wrote.
const FORMER_COLUMNS: [(&str, &str); 2] = [("alone_ps", "baseline_fct_ps"), ("bounced", "bounce_queue")];

fn column_of(descriptor: &ColumnDescriptor, key_values: &[KeyValue]) -> Result<Column, String> {
    let name = descriptor.path().string();
    if descriptor.max_rep_level() > 0 || descriptor.max_def_level() > 1 {
        return Err(format!("column {name} is nested; expected a flat table"));
    }
    let key_values = |of: &str| {
        let key = format!("{of}.{name}");
        key_values.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone()).map(Cow::Owned)
    };
    let unsigned = LogicalType::integer(64, false);
    let kind = match descriptor.physical_type() {
        Physical::INT64 if descriptor.logical_type_ref() == Some(&unsigned) => ColumnType::Key,
        Physical::INT64 if [MINIMUM, FORMER_MINIMUM].iter().any(|of| key_values(of).as_deref() == Some("0")) => {
            ColumnType::U64
        }
        Physical::INT64 => ColumnType::I64,
        Physical::DOUBLE => ColumnType::F64,
        Physical::BYTE_ARRAY => ColumnType::Text,
        Physical::BOOLEAN => ColumnType::Bool,
        other => return Err(format!("column {name} is of type {other}, which tables of Tidegate do not have")),
    };
    let (unit, meaning) = (key_values(UNIT), key_values(MEANING));
    let present = FORMER_COLUMNS.iter().find(|(former, _)| *former == name);
    let name = present.map_or(name, |(_, present)| (*present).to_owned());
    Ok(Column { name, kind, optional: descriptor.max_def_level() == 1, unit, meaning })
}

fn read_column(reader: ColumnReader, rows: usize, column: &Column) -> Result<(Data, usize), ParquetError> {
    // Reads all values of the column chunk with their definition levels, then assigns them to the rows.
    macro_rules! spread {
        ($reader:expr, $convert:expr) => {{
            let mut reader = $reader;
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            let mut count = 0;
            while count < rows {
                let (records, _, _) = reader.read_records(
                    (rows - count).min(ROWS_AT_ONCE),
                    column.optional.then_some(&mut levels),
                    None,
                    &mut values,
                )?;
                if records == 0 {
                    break;
                }
                count += records;
            }
            let mut values = values.into_iter();
            let spread = (0..count)
                .map(|row| {
                    if !column.optional || levels[row] == 1 {
                        values.next().map($convert).transpose()
                    } else {
                        Ok(None)
                    }
                })
                .collect::<Result<Vec<_>, ParquetError>>()?;
            (spread, count)
        }};
    }
    let text = |bytes: ByteArray| bytes.as_utf8().map(str::to_owned);
    Ok(match (reader, column.kind) {
        (ColumnReader::Int64ColumnReader(reader), ColumnType::U64) => {
            let unsigned = |value: i64| match u64::try_from(value) {
                _ if value == i64::MAX => Ok(u64::MAX),
                Ok(value) => Ok(value),
                Err(_) => Err(ParquetError::General(format!("column {} has a negative {value}", column.name))),
            };
            let (values, count) = spread!(reader, unsigned);
            (Data::U64(values), count)
        }
        (ColumnReader::Int64ColumnReader(reader), ColumnType::Key) => {
            let (values, count) = spread!(reader, |value: i64| Ok(value as u64));
            (Data::U64(values), count)
        }
        (ColumnReader::Int64ColumnReader(reader), _) => {
            let (values, count) = spread!(reader, Ok);
            (Data::I64(values), count)
        }
        (ColumnReader::DoubleColumnReader(reader), _) => {
            let (values, count) = spread!(reader, Ok);
            (Data::F64(values), count)
        }
        (ColumnReader::ByteArrayColumnReader(reader), _) => {
            let (values, count) = spread!(reader, text);
            (Data::Text(values), count)
        }
        (ColumnReader::BoolColumnReader(reader), _) => {
            let (values, count) = spread!(reader, Ok);
            (Data::Bool(values), count)
        }
        _ => return Err(ParquetError::General(format!("column {} is of a foreign type", column.name))),
    })
}

fn table_error(path: &Path, error: ParquetError) -> RecordError {
    RecordError::Table { path: path.to_owned(), what: error.to_string() }
}
