//! Rows of SONiC tables, and errors in them.

use crate::names::visible;
use serde_json::{Map, Value};

/// Tables or rows of a configuration, by name.
pub type Object = Map<String, Value>;

/// An error in a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}: write {help}")]
pub struct TableFault {
    /// Key in SONiC's notation: `ASIC_TABLE|MELLANOX-SPECTRUM-3.cell_size`.
    pub key: String,
    /// Description of the error.
    pub message: String,
    /// The value to write instead.
    pub help: String,
}

impl TableFault {
    pub(super) fn new(key: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> TableFault {
        TableFault { key: visible(&key.into()), message: message.into(), help: help.into() }
    }
}

/// A row of a table, with its key.
pub(super) struct Row<'a> {
    pub key: String,
    pub fields: &'a Object,
}

impl Row<'_> {
    /// Returns a field as text; numbers are accepted.
    pub fn text(&self, field: &str) -> Option<String> {
        match self.fields.get(field)? {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Returns a field, or an error that names the field if it is missing or invalid.
    pub fn needed<T>(&self, field: &str, help: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, TableFault> {
        let fault = |message: String| TableFault::new(format!("{}.{field}", self.key), message, help);
        if !self.fields.contains_key(field) {
            return Err(fault("is missing".to_owned()));
        }
        let text = self.text(field).unwrap_or_default();
        parse(&text).ok_or_else(|| fault(format!("is `{}`", visible(&text))))
    }

    /// Returns a field as a whole number in `range`.
    pub fn integer(&self, field: &str, range: std::ops::RangeInclusive<i64>) -> Result<i64, TableFault> {
        let help = format!("a whole number from {} to {}", range.start(), range.end());
        self.needed(field, &help, |text| text.parse().ok().filter(|number| range.contains(number)))
    }
}

/// Returns the only row of a table; `None` if the table is absent or empty; an error if it has several rows.
pub(super) fn only_row<'a>(config: &'a Object, table: &str) -> Result<Option<Row<'a>>, TableFault> {
    let rows = config.get(table).and_then(Value::as_object).into_iter().flatten();
    let rows: Vec<_> = rows.filter_map(|(name, fields)| Some((name, fields.as_object()?))).collect();
    match rows.as_slice() {
        [] => Ok(None),
        [(name, fields)] => Ok(Some(Row { key: format!("{table}|{name}"), fields })),
        [(one, _), (other, _), ..] => {
            let message = format!("has several rows: {}, {}", visible(one), visible(other));
            Err(TableFault::new(table, message, "one row"))
        }
    }
}
