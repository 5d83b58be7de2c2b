//! Columns, what they hold, and the values of a row.

use std::borrow::Cow;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A time, a count or a number of something: never negative, and signed 64 bits in the file, so that differences of
    /// columns are right wherever they are computed. Without end, [`u64::MAX`] here, is the greatest there.
    U64,
    /// Unsigned 64 bits (Parquet INT64 with the logical type UINT_64), for what is no quantity: a seed. Results of
    /// earlier versions have all their times and counts so.
    Key,
    /// Signed 64 bits.
    I64,
    /// A double: ratios and statistics, never a time or a byte count.
    F64,
    /// UTF-8.
    Text,
    /// True or false.
    Bool,
}

/// A column: its name, with the unit last, what it holds, and whether a value may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, with the unit last: `start_ps`.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Whether [`Value::Null`] is allowed.
    pub optional: bool,
    /// The unit: `ps`, `byte`, `bit/s`, `1` for a share, a count or the number of something, `none` of texts and flags.
    /// Missing only in tables of earlier versions.
    pub unit: Option<Cow<'static, str>>,
    /// What a value says, in a few words.
    pub meaning: Option<Cow<'static, str>>,
}

/// Units by the ending of a column's name.
const UNITS: [(&str, &str); 6] =
    [("ps", "ps"), ("ns", "ns"), ("bytes", "byte"), ("bps", "bit/s"), ("packets", "packet"), ("frames", "frame")];

impl Column {
    /// A column whose every row has a value; of numbers, in the unit that the name ends in, such as `start_ps`, or 1.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        let name = name.into();
        let ending = name.rsplit('_').next().unwrap_or_default();
        let of_name = UNITS.iter().find(|(suffix, _)| *suffix == ending).map(|(_, unit)| *unit);
        let unit = if matches!(kind, Kind::Text | Kind::Bool) { "none" } else { of_name.unwrap_or("1") };
        Column { name, kind, optional: false, unit: Some(unit.into()), meaning: None }
    }
    /// The same column, where a row may have [`Value::Null`].
    pub fn optional(self) -> Self {
        Column { optional: true, ..self }
    }
    /// The same column in a unit that its name does not tell. The file's metadata has it as `unit.<name>`.
    pub fn unit(self, unit: &'static str) -> Self {
        Column { unit: Some(unit.into()), ..self }
    }
    /// The same column, with what a value says. The file's metadata has it as `meaning.<name>`.
    pub fn means(self, meaning: impl Into<Cow<'static, str>>) -> Self {
        Column { meaning: Some(meaning.into()), ..self }
    }
}

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// For a [`Kind::U64`] or [`Kind::Key`] column.
    U64(u64),
    /// For a [`Kind::I64`] column.
    I64(i64),
    /// For a [`Kind::F64`] column.
    F64(f64),
    /// For a [`Kind::Text`] column.
    Text(&'a str),
    /// For a [`Kind::Bool`] column.
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
