//! Parquet tables as CSV (RFC 4180, with bare line feeds).

use std::path::Path;

use super::TableReader;
use super::column::Value;
use crate::error::RecordError;

/// Prints the Parquet table at `parquet` as CSV, with one row group in memory: a header, then one line per row. Each
/// call of `print` receives one line with its line feed. A missing value is an empty field; a float is the shortest
/// text that parses to an equal number; a text that a spreadsheet would evaluate as a formula gets the prefix `'`.
///
/// # Errors
/// Those of [`TableReader`] and of `print`.
pub fn print_csv<E: From<RecordError>>(parquet: &Path, mut print: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut reader = TableReader::open(parquet)?;
    let mut line = String::new();
    for (index, column) in reader.columns().iter().enumerate() {
        separate(&mut line, index);
        push_text(&mut line, &column.name);
    }
    line.push('\n');
    print(&line)?;
    while let Some(group) = reader.next_group()? {
        for row in 0..group.rows {
            line.clear();
            for (index, data) in group.data.iter().enumerate() {
                separate(&mut line, index);
                push_value(&mut line, data.value(row));
            }
            line.push('\n');
            print(&line)?;
        }
    }
    Ok(())
}

fn separate(line: &mut String, index: usize) {
    if index > 0 {
        line.push(',');
    }
}

pub(crate) fn push_value(line: &mut String, value: Value<'_>) {
    match value {
        Value::U64(value) => line.push_str(&value.to_string()),
        Value::I64(value) => line.push_str(&value.to_string()),
        Value::F64(value) => line.push_str(&value.to_string()),
        Value::Bool(value) => line.push_str(if value { "true" } else { "false" }),
        // Some spreadsheets evaluate a text that begins with these characters as a formula, quoted or not, and node
        // names are read from foreign files.
        Value::Text(value) if value.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
            push_text(line, &format!("'{value}"))
        }
        Value::Text(value) => push_text(line, value),
        Value::Null => {}
    }
}

pub(crate) fn push_text(line: &mut String, text: &str) {
    // An empty text is quoted to distinguish it from a missing value.
    if !text.is_empty() && !text.contains([',', '"', '\n', '\r']) {
        return line.push_str(text);
    }
    line.push('"');
    line.push_str(&text.replace('"', "\"\""));
    line.push('"');
}
