//! Columns, their types, and the values of a row.

use std::borrow::Cow;

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A time, a count or an index, never negative. It is stored with signed 64 bits, so that differences of columns
    /// are correct in any reader. [`u64::MAX`], which means endless, is stored as the largest signed number.
    U64,
    /// Unsigned 64 bits (Parquet INT64 with the logical type UINT_64), for identifiers such as a seed. Earlier versions
    /// stored all times and counts in this form.
    Key,
    /// A signed 64-bit integer.
    I64,
    /// A 64-bit float: ratios and statistics, never a time or a byte count.
    F64,
    /// UTF-8 text.
    Text,
    /// A boolean.
    Bool,
}

/// A column: its name and type, and whether values are optional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, with the unit last: `start_ps`.
    pub name: String,
    /// Type of its values.
    pub kind: ColumnType,
    /// Whether [`Value::Null`] is allowed.
    pub optional: bool,
    /// The unit: `ps`, `byte`, `bit/s`; `1` for a share, a count or an index; `none` for texts and flags. Only tables
    /// of earlier versions lack it.
    pub unit: Option<Cow<'static, str>>,
    /// Meaning of a value, in a few words.
    pub meaning: Option<Cow<'static, str>>,
}

/// Units by the suffix of a column's name.
const UNITS: [(&str, &str); 6] =
    [("ps", "ps"), ("ns", "ns"), ("bytes", "byte"), ("bps", "bit/s"), ("packets", "packet"), ("frames", "frame")];

impl Column {
    /// Makes a required column. A number has the unit given by the suffix of the name, as in `start_ps`, or the unit 1.
    pub fn new(name: impl Into<String>, kind: ColumnType) -> Self {
        let name = name.into();
        let ending = name.rsplit('_').next().unwrap_or_default();
        let of_name = UNITS.iter().find(|(suffix, _)| *suffix == ending).map(|(_, unit)| *unit);
        let unit = if matches!(kind, ColumnType::Text | ColumnType::Bool) { "none" } else { of_name.unwrap_or("1") };
        Column { name, kind, optional: false, unit: Some(unit.into()), meaning: None }
    }
    /// Makes the column optional: a row may have [`Value::Null`].
    pub fn optional(self) -> Self {
        Column { optional: true, ..self }
    }
    /// Sets a unit that is not in the name. It is written to the metadata of the file as `unit.<name>`.
    pub fn unit(self, unit: &'static str) -> Self {
        Column { unit: Some(unit.into()), ..self }
    }
    /// Sets the meaning of a value. It is written to the metadata of the file as `meaning.<name>`.
    pub fn means(self, meaning: impl Into<Cow<'static, str>>) -> Self {
        Column { meaning: Some(meaning.into()), ..self }
    }
}

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// For a [`ColumnType::U64`] or [`ColumnType::Key`] column.
    U64(u64),
    /// For a [`ColumnType::I64`] column.
    I64(i64),
    /// For a [`ColumnType::F64`] column.
    F64(f64),
    /// For a [`ColumnType::Text`] column.
    Text(&'a str),
    /// For a [`ColumnType::Bool`] column.
    Bool(bool),
    /// No value, in an optional column.
    Null,
}

impl Value<'_> {
    pub(crate) fn kind_name(&self) -> &'static str {
        match self {
            Value::U64(_) => "U64",
            Value::I64(_) => "I64",
            Value::F64(_) => "F64",
            Value::Text(_) => "Text",
            Value::Bool(_) => "Bool",
            Value::Null => "Null",
        }
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Value::U64(value)
    }
}
impl From<u32> for Value<'_> {
    fn from(value: u32) -> Self {
        Value::U64(value.into())
    }
}
impl From<u16> for Value<'_> {
    fn from(value: u16) -> Self {
        Value::U64(value.into())
    }
}
impl From<u8> for Value<'_> {
    fn from(value: u8) -> Self {
        Value::U64(value.into())
    }
}
impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::I64(value)
    }
}
impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::F64(value)
    }
}
impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(value)
    }
}
impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
