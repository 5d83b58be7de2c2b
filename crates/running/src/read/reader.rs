//! Access to the tables, rows and fields of one file; collects faults, unknown keys and refused values.

use super::known::other_keys;
use super::spelling;
use crate::error::{Fault, Finding, FindingKind};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

pub(super) type Object = Map<String, Value>;

/// Maximum number of ports, and of (port, number) pairs, that one key may name.
const MOST_IN_KEY: usize = 4_096;

pub(super) struct Reader<'a> {
    pub file: &'a str,
    pub object: &'a Object,
    pub faults: Vec<Fault>,
    pub findings: Vec<Finding>,
    /// Names of the rows of `PORT`.
    pub ports: BTreeSet<String>,
    /// Names, also aliases, of ports that tables use and `PORT` has.
    pub used_ports: BTreeSet<String>,
    /// Ports that tables use and `PORT` does not have: the keys of the rows, by table.
    pub absent_ports: BTreeMap<String, BTreeMap<&'static str, BTreeSet<String>>>,
}

/// A row of a table.
pub(super) struct Row<'a> {
    pub table: &'static str,
    pub name: &'a str,
    pub fields: &'a Object,
    /// `TABLE|name`.
    pub key: String,
}

/// Returns a string, or a number as text.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl<'a> Reader<'a> {
    pub fn new(file: &'a str, object: &'a Object) -> Reader<'a> {
        let ports = object.get("PORT").and_then(Value::as_object).into_iter().flatten();
        let ports = ports.map(|(port, _)| port.clone()).collect();
        let (faults, findings, used_ports, absent_ports) = Default::default();
        Reader { file, object, faults, findings, ports, used_ports, absent_ports }
    }

    pub fn fault(&mut self, key: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        let (file, key) = (self.file.to_owned(), fabric::visible(&key.into()));
        self.faults.push(Fault { file, key, message: message.into(), help: help.into() });
    }

    /// Adds a value that SONiC refuses, and with which the file can still be judged.
    pub fn refused(&mut self, key: impl Into<String>, why: impl Into<String>, instead: impl Into<String>) {
        let (file, key) = (self.file.to_owned(), fabric::visible(&key.into()));
        let kind = FindingKind::RefusedValue;
        self.findings.push(Finding::new(kind, file, key, why.into(), instead.into()));
    }

    /// Returns all rows of a table, ordered by key.
    pub fn rows(&mut self, table: &'static str) -> Vec<Row<'a>> {
        let object: &'a Object = self.object;
        let Some(value) = object.get(table) else { return Vec::new() };
        let Some(rows) = value.as_object() else {
            self.fault(table, "must be an object of rows", format!("{{\"{table}\": {{\"key\": {{...}}}}}}"));
            return Vec::new();
        };
        for (name, _) in rows.iter().filter(|(_, fields)| !fields.is_object()) {
            self.fault(format!("{table}|{name}"), "must be an object of fields", "{\"field\": \"value\"}");
        }
        self.objects(table)
    }

    /// Returns the rows of a table that are objects; rows that are not objects are skipped without a fault.
    pub fn objects(&self, table: &'static str) -> Vec<Row<'a>> {
        let object: &'a Object = self.object;
        let rows = object.get(table).and_then(Value::as_object).into_iter().flatten();
        let row = |(name, fields): (&'a String, &'a Value)| {
            Some(Row { table, name, fields: fields.as_object()?, key: format!("{table}|{name}") })
        };
        rows.filter_map(row).collect()
    }

    /// Reports the fields of a row that neither `read` nor SONiC's models contain.
    pub fn check_fields(&mut self, row: &Row<'_>, read: &[&str]) {
        let others = other_keys(row.table);
        for field in row.fields.keys() {
            // Some dumps append `@` to fields that hold lists; `NULL` marks a row without fields.
            let name = field.trim_end_matches('@');
            if !read.contains(&name) && !others.contains(&name) && name != "NULL" {
                let (kind, key) = (FindingKind::UnknownKey, fabric::visible(&format!("{}.{field}", row.key)));
                let why = "no table of this kind has this field, so nothing reads it".to_owned();
                let (near, instead) = spelling::instead_of(name, read, others, row.fields);
                let finding = Finding::new(kind, self.file.to_owned(), key, why, instead);
                self.findings.push(finding.nearly(near.map(str::to_owned)));
            }
        }
    }

    /// Returns whether the file has a row of this name. A faulty row counts, so that a reference to it is not a second
    /// fault.
    pub fn has_row(&self, table: &str, name: &str) -> bool {
        self.object.get(table).and_then(|rows| rows.get(name)).is_some()
    }

    /// Returns whether a row has a field for this number. A faulty field counts.
    pub fn has_number(&self, table: &str, name: &str, number: u8) -> bool {
        let row = self.object.get(table).and_then(|rows| rows.get(name));
        row.is_some_and(|row| row.get(number.to_string()).is_some())
    }

    /// Reports a fault if the field has a value other than `values`.
    pub fn check_choice(&mut self, row: &Row<'_>, field: &str, values: &[&str]) {
        let Some(text) = self.text(row, field) else { return };
        if !values.contains(&text.as_str()) {
            let message = format!("is `{}`: SONiC refuses it", fabric::visible(&text));
            self.fault(format!("{}.{field}", row.key), message, values.join(" or "));
        }
    }

    /// Reports a fault if the field is not an integer in `range`.
    pub fn check_integer(&mut self, row: &Row<'_>, field: &str, range: std::ops::RangeInclusive<i64>) {
        let Some(text) = self.text(row, field) else { return };
        if !text.trim().parse::<i64>().is_ok_and(|number| range.contains(&number)) {
            let message = format!("is `{}`: SONiC refuses it", fabric::visible(&text));
            let help = format!("a number from {} to {}", range.start(), range.end());
            self.fault(format!("{}.{field}", row.key), message, help);
        }
    }

    /// Returns a field as text.
    pub fn text(&mut self, row: &Row<'_>, field: &str) -> Option<String> {
        let value = row.fields.get(field)?;
        let text = text_of(value);
        if text.is_none() {
            self.fault(format!("{}.{field}", row.key), "must be a string", "\"value\"");
        }
        text
    }

    /// Returns a field as a number in `range`.
    pub fn number(&mut self, row: &Row<'_>, field: &str, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let text = self.text(row, field)?;
        let number = text.trim().parse::<u64>().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let help = format!("a number from {} to {}", range.start(), range.end());
            self.fault(format!("{}.{field}", row.key), format!("is `{}`", fabric::visible(&text)), help);
        }
        number
    }

    /// Returns the name in a field that refers to a row of `table`: `AZURE`, or `[TABLE|AZURE]` of older versions.
    pub fn reference(&mut self, row: &Row<'_>, field: &str, table: &str) -> Option<String> {
        let text = self.text(row, field)?;
        let name = match text.strip_prefix('[') {
            None => Some(text.as_str()),
            Some(inner) => inner.strip_suffix(']').and_then(|inner| inner.strip_prefix(table)?.strip_prefix('|')),
        };
        match name {
            Some(name) if !name.is_empty() => Some(name.to_owned()),
            _ => {
                let message = format!("`{}` names no row of {table}", fabric::visible(&text));
                self.fault(format!("{}.{field}", row.key), message, format!("AZURE or [{table}|AZURE]"));
                None
            }
        }
    }

    /// Returns the ports of a key: `Ethernet0`, or `Ethernet0,Ethernet4`.
    pub fn ports_of(&mut self, row: &Row<'_>, names: &str) -> Vec<String> {
        let mut ports = Vec::new();
        for name in names.split(',').map(str::trim) {
            if self.port_exists(name, row.table, &row.key) {
                ports.push(name.to_owned());
            }
        }
        ports
    }

    /// Returns whether `PORT` has a port that a row uses. [`check_ports`](super::references::check_ports) reports the
    /// others.
    pub fn port_exists(&mut self, name: &str, table: &'static str, key: &str) -> bool {
        let exists = self.ports.contains(name);
        if !exists {
            self.add_absent(name, table, key.to_owned());
        } else if !self.used_ports.contains(name) {
            self.used_ports.insert(name.to_owned());
        }
        exists
    }

    fn add_absent(&mut self, name: &str, table: &'static str, key: String) {
        self.absent_ports.entry(name.to_owned()).or_default().entry(table).or_default().insert(key);
    }

    /// Notes that a row uses a port, which may have its alias there, or be a port channel.
    pub fn note_port(&mut self, name: &str, table: &'static str, key: String) {
        let has_name = |(_, row): (&String, &Value)| row.get("alias").and_then(Value::as_str) == Some(name);
        let channels = self.object.get("PORTCHANNEL").and_then(Value::as_object);
        let ports = || self.object.get("PORT").and_then(Value::as_object).into_iter().flatten();
        if self.ports.contains(name) || ports().any(has_name) || channels.is_some_and(|all| all.contains_key(name)) {
            self.used_ports.insert(name.to_owned());
        } else {
            self.add_absent(name, table, key);
        }
    }

    /// Returns the pairs of port and number of a key like `Ethernet0|3-4`.
    pub fn ports_and_numbers(&mut self, row: &Row<'_>, most: u8) -> Vec<(String, u8)> {
        let help = "a port and a number or a range, as Ethernet0|3-4";
        let Some((names, range)) = row.name.split_once('|') else {
            self.fault(row.key.clone(), "names no number", help);
            return Vec::new();
        };
        if range.contains('|') {
            // In files of a modular chassis all rows of the table have this form, so only the first row is reported.
            let message = "has three parts: configuration of a modular chassis is not read";
            let table = row.key.split('|').next().unwrap_or_default();
            let is_known = |fault: &Fault| fault.message == message && fault.key.split('|').next() == Some(table);
            if !self.faults.iter().any(is_known) {
                let help = "a port and a number, as Ethernet0|3-4; --ignore NAME leaves the switch out";
                self.fault(row.key.clone(), message, help);
            }
            return Vec::new();
        }
        let numbers = numbers_of(range).filter(|numbers| numbers.iter().all(|&number| number <= most));
        let Some(numbers) = numbers else {
            let message = format!("`{}` is no range from 0 to {most}", fabric::visible(range));
            self.fault(row.key.clone(), message, help);
            return Vec::new();
        };
        let ports = self.ports_of(row, names);
        if ports.len() * numbers.len() > MOST_IN_KEY {
            self.fault(row.key.clone(), "names too many ports", help);
            return Vec::new();
        }
        ports.into_iter().flat_map(|port| numbers.iter().map(move |&number| (port.clone(), number))).collect()
    }

    /// Reports the numbers of a key that are neither one nor a range, or that have white space: SONiC refuses them.
    pub fn check_numbers(&mut self, row: &Row<'_>) {
        let Some((_, numbers)) = row.name.split_once('|') else { return };
        if numbers.contains(|character: char| character == ',' || character.is_whitespace()) {
            let why = format!("`{}`: SONiC refuses it", fabric::visible(numbers));
            self.refused(row.key.clone(), why, "a number, or a range as 3-4, and one row for each range");
        }
    }

    /// Returns the bitmask of a list of priorities, such as `3,4` or an empty string.
    pub fn priorities(&mut self, row: &Row<'_>, field: &str) -> Option<u8> {
        let text = self.text(row, field)?;
        if text.contains(char::is_whitespace) {
            let why = format!("is \"{}\": SONiC refuses white space in it", fabric::visible(&text));
            let plain: String = text.split_whitespace().collect();
            self.refused(format!("{}.{field}", row.key), why, format!("\"{plain}\""));
        }
        let mut bits = 0;
        for part in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
            match part.parse::<u8>().ok().filter(|priority| *priority < 8) {
                Some(priority) => bits |= 1 << priority,
                None => {
                    let message = format!("`{}` is no list of priorities", fabric::visible(&text));
                    self.fault(format!("{}.{field}", row.key), message, "priorities from 0 to 7, as 3,4");
                    return None;
                }
            }
        }
        Some(bits)
    }
}

/// Parses `3`, `3-4` or `0,2-3`.
fn numbers_of(range: &str) -> Option<Vec<u8>> {
    let mut numbers = Vec::new();
    for part in range.split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (low.trim().parse::<u8>().ok()?, high.trim().parse::<u8>().ok()?);
        if low > high {
            return None;
        }
        numbers.extend(low..=high);
    }
    Some(numbers)
}
