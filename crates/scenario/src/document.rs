//! The scenario's text as a tree of values with their source positions; command-line overrides merged in.

use crate::error::ScenarioError;
use crate::former::{self, FormerKey};
use crate::suggest;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Maximum number of syntax errors reported.
const MAX_SYNTAX_ERRORS: usize = 20;

/// Maximum number of parts of a dotted key.
const MAX_DEPTH: usize = 16;

/// Source position of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceSpan {
    /// Byte range in the file.
    File(Range<usize>),
    /// Index of an override.
    Override(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(String),
    Float(String),
    Boolean(bool),
    Date,
    Array(Vec<Item>),
    Table(Table),
}

#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub value: Value,
    pub location: SourceSpan,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_place: SourceSpan,
    pub item: Item,
}

/// Entries of a TOML table, in file order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.item)
    }
}

impl Value {
    /// Names the type of the value, for errors.
    pub fn what(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Date => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Returns a scalar value as text for the parsers of quantities and words; `None` for a date, a list or a table.
    pub fn text(&self) -> Option<String> {
        match self {
            Value::Text(text) | Value::Integer(text) | Value::Float(text) => Some(text.clone()),
            Value::Boolean(flag) => Some(flag.to_string()),
            Value::Date | Value::Array(_) | Value::Table(_) => None,
        }
    }

    /// Adds each scalar and each list of scalars in this value to `written`, with its key path. `key` is the key path
    /// of this value.
    fn add_written(&self, key: String, written: &mut Vec<(String, String)>) {
        let join = |last: &str| if key.is_empty() { last.to_owned() } else { format!("{key}.{last}") };
        match self {
            Value::Table(table) => {
                for entry in &table.entries {
                    entry.item.value.add_written(join(&entry.key), written);
                }
            }
            Value::Array(items) => match items.iter().map(|item| item.value.text()).collect::<Option<Vec<_>>>() {
                Some(texts) => written.push((key, format!("[{}]", texts.join(", ")))),
                None => {
                    for (index, item) in items.iter().enumerate() {
                        item.value.add_written(join(&index.to_string()), written);
                    }
                }
            },
            _ => written.extend(self.text().map(|text| (key, text))),
        }
    }

    /// Parses a bare value, without quotes around texts: a default or a command-line override.
    pub fn bare(text: &str) -> Value {
        match text {
            "true" | "false" => Value::Boolean(text == "true"),
            _ if text.parse::<i128>().is_ok() => Value::Integer(text.to_owned()),
            _ if text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok() => {
                Value::Float(text.to_owned())
            }
            _ => Value::Text(text.to_owned()),
        }
    }
}

/// A parsed scenario file.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Name in error messages.
    pub name: String,
    pub text: String,
    pub root: Table,
    /// Byte offset of the start of each line, because the line number of every value is looked up.
    line_starts: Vec<usize>,
    /// Overrides as given: `key.path=value`.
    pub overrides: Vec<String>,
    /// Keys that were written with their deprecated names.
    pub former: Vec<FormerKey>,
    /// Keys that overrides have set, with the names used by these overrides.
    set_paths: BTreeMap<String, String>,
}

fn convert(value: Spanned<DeValue<'_>>, override_index: Option<usize>) -> Item {
    let location = override_index.map_or(SourceSpan::File(value.span()), SourceSpan::Override);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => {
            let decimal = i128::from_str_radix(number.as_str(), number.radix());
            Value::Integer(decimal.map_or_else(|_| number.to_string(), |number| number.to_string()))
        }
        DeValue::Float(number) => Value::Float(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Boolean(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::Array(items.into_iter().map(|item| convert(item, override_index)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(table, override_index)),
    };
    Item { value, location }
}

fn convert_table(table: DeTable<'_>, override_index: Option<usize>) -> Table {
    let mut entries: Vec<(usize, Entry)> = table
        .into_iter()
        .map(|(key, item)| {
            let start = key.span().start;
            let key_place = override_index.map_or(SourceSpan::File(key.span()), SourceSpan::Override);
            (start, Entry { key: key.into_inner().into_owned(), key_place, item: convert(item, override_index) })
        })
        .collect();
    // The parser orders by key: restore file order.
    entries.sort_by_key(|(start, _)| *start);
    Table { entries: entries.into_iter().map(|(_, entry)| entry).collect() }
}

impl Document {
    /// Reads TOML and applies the overrides in order.
    ///
    /// # Errors
    /// Invalid TOML, and overrides with an invalid key path.
    pub fn parse(text: &str, name: &str, overrides: &[(String, String)]) -> Result<Document, Vec<ScenarioError>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (root, syntax) = DeTable::parse_recoverable(text);
        let shown = overrides.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut document = Document {
            name: name.to_owned(),
            text: text.to_owned(),
            root: Table::default(),
            line_starts,
            overrides: shown,
            former: Vec::new(),
            set_paths: BTreeMap::new(),
        };
        if !syntax.is_empty() {
            let error = |error: &toml::de::Error| {
                let location = SourceSpan::File(error.span().unwrap_or(0..0));
                let message = format!("not valid TOML: {}", error.message());
                document.error(&location, "", message, None)
            };
            return Err(syntax.iter().take(MAX_SYNTAX_ERRORS).map(error).collect());
        }
        document.root = convert_table(root.into_inner(), None);
        let mut errors = document.rename_former();
        for (index, (path, value)) in overrides.iter().enumerate() {
            if let Err((message, help)) = document.set(index, path, value) {
                errors.push(document.error(&SourceSpan::Override(index), path, message, help));
            }
        }
        if errors.is_empty() { Ok(document) } else { Err(errors) }
    }

    /// See [`crate::Scenario::written`].
    pub fn written(&self) -> Vec<(String, String)> {
        let mut written = Vec::new();
        Value::Table(self.root.clone()).add_written(String::new(), &mut written);
        written
    }

    /// Renames all deprecated keys to their present names. Returns an error for each key that a table has under both
    /// names.
    fn rename_former(&mut self) -> Vec<ScenarioError> {
        let (mut root, mut duplicates) = (std::mem::take(&mut self.root), Vec::new());
        former::rename(&mut root, "", &mut |key, item, is_duplicate| {
            if is_duplicate {
                duplicates.push((item.location.clone(), key.path(), key.duplicate()));
            }
            self.former.push(key);
        });
        self.root = root;
        let error =
            |(location, path, message): (SourceSpan, String, String)| self.error(&location, &path, message, None);
        duplicates.into_iter().map(error).collect()
    }

    /// Replaces deprecated names in a key path.
    fn present_path<'p>(&mut self, segments: &[&'p str]) -> Vec<&'p str> {
        let mut table = String::new();
        let present = |&segment: &&'p str| {
            let former = former::find(&table, segment);
            let now = former.as_ref().map_or(segment, |former| former.present);
            table = former::join(&table, now);
            self.former.extend(former);
            now
        };
        segments.iter().map(present).collect()
    }

    fn set(&mut self, index: usize, path: &str, text: &str) -> Result<(), (String, Option<String>)> {
        let location = SourceSpan::Override(index);
        let item = match DeValue::parse(text) {
            Ok(value) => convert(value, Some(index)),
            // Not a TOML value: take it as a text without quotes.
            Err(_) => Item { value: Value::Text(text.to_owned()), location: location.clone() },
        };
        let segments: Vec<&str> = path.split('.').map(str::trim).collect();
        if segments.len() > MAX_DEPTH {
            return Err((format!("a key of {} parts", segments.len()), Some(format!("at most {MAX_DEPTH}"))));
        }
        if segments.iter().any(|segment| segment.is_empty()) {
            return Err((format!("`{path}` is not a key"), Some("write it like traffic.0.load".to_owned())));
        }
        let written = segments.join(".");
        let segments = self.present_path(&segments);
        let path = segments.join(".");
        if let Some(other) = self.set_paths.get(&path).filter(|other| **other != written) {
            return Err((format!("`{written}` and `{other}` are names of one key"), Some(format!("write `{path}`"))));
        }
        self.set_paths.insert(path.clone(), written);
        let mut item = item;
        let (mut found, mut duplicate) = (Vec::new(), None);
        let table = segments.iter().fold(String::new(), |table, segment| former::join(&table, segment));
        former::rename_in(&mut item.value, &table, &mut |key, _, is_duplicate| {
            duplicate = duplicate.take().or_else(|| is_duplicate.then(|| key.duplicate()));
            found.push(key);
        });
        if let Some(message) = duplicate {
            return Err((message, None));
        }
        self.former.extend(found);
        let (&last, before) = segments.split_last().unwrap_or((&"", &[]));
        let mut table = &mut self.root;
        let mut segments = before.iter();
        while let Some(&segment) = segments.next() {
            // Missing tables are created: an override may add keys.
            let at = table.entries.iter().position(|entry| entry.key == segment).unwrap_or_else(|| {
                let item = Item { value: Value::Table(Table::default()), location: location.clone() };
                table.entries.push(Entry { key: segment.to_owned(), key_place: location.clone(), item });
                table.entries.len() - 1
            });
            let mut value = &mut table.entries[at].item.value;
            if let Value::Array(items) = value {
                let next = segments.next().copied();
                let (count, which) = (items.len(), next.unwrap_or(last));
                let found = which.parse::<usize>().ok().and_then(|at| items.get_mut(at));
                let Some(found) = found else {
                    let help = match count {
                        0 => "it is empty".to_owned(),
                        _ => format!("write a number from 0 to {}: {segment}.0.{last}", count - 1),
                    };
                    return Err((format!("`{segment}` has no entry `{which}`"), Some(help)));
                };
                if next.is_none() {
                    // The key ends at an array index: replace the whole entry instead of a key `0` in it.
                    *found = item;
                    return Ok(());
                }
                value = &mut found.value;
            }
            // `flow_control = "pfc"` is short for `flow_control = { kind = "pfc" }`.
            if let Value::Text(kind) = value {
                let item = Item { value: Value::Text(std::mem::take(kind)), location: location.clone() };
                let entry = Entry { key: "kind".to_owned(), key_place: location.clone(), item };
                *value = Value::Table(Table { entries: vec![entry] });
            }
            table = match value {
                Value::Table(inner) => inner,
                other => return Err((format!("`{segment}` is {} and has no key `{last}`", other.what()), None)),
            };
        }
        match table.entries.iter_mut().find(|entry| entry.key == last) {
            Some(entry) => entry.item = item,
            None => table.entries.push(Entry { key: last.to_owned(), key_place: location, item }),
        }
        Ok(())
    }

    /// Returns the position of the value at a key path such as `traffic.0.load`, or of its longest prefix that exists.
    pub fn locate(&self, path: &str) -> SourceSpan {
        let mut location = SourceSpan::File(0..0);
        let mut table = Some(&self.root);
        let mut segments = path.split('.').filter(|segment| !segment.is_empty());
        while let (Some(segment), Some(inside)) = (segments.next(), table) {
            let Some(mut item) = inside.get(segment) else { break };
            if let Value::Array(items) = &item.value
                && let Some(found) = segments.next().and_then(|at| items.get(at.parse::<usize>().ok()?))
            {
                item = found;
            }
            location = item.location.clone();
            table = match &item.value {
                Value::Table(inner) => Some(inner),
                _ => None,
            };
        }
        location
    }

    /// Returns line and column of a byte offset, both from 1; columns count characters.
    pub fn position(&self, byte: usize) -> (u64, u64) {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.line(byte);
        let line_start = self.line_starts[line as usize - 1];
        (line, self.text[line_start..byte].chars().count() as u64 + 1)
    }

    /// Returns the line of a byte offset, from 1. Unlike [`Document::position`], it does not count the characters of
    /// the line.
    pub fn line(&self, byte: usize) -> u64 {
        self.line_starts.partition_point(|&start| start <= byte) as u64
    }

    pub fn error(&self, location: &SourceSpan, key: &str, message: String, help: Option<String>) -> ScenarioError {
        let key = key.to_owned();
        match location {
            SourceSpan::File(span) => {
                let (line, column) = self.position(span.start);
                ScenarioError { path: self.name.clone(), line, column, span: span.clone(), key, message, help }
            }
            SourceSpan::Override(index) => {
                let path = format!("--set {}", self.overrides.get(*index).map_or("", String::as_str));
                ScenarioError { path, line: 0, column: 0, span: 0..0, key, message, help }
            }
        }
    }
}

/// Returns message and help for the value `shown` of `key`, which is none of `words`. `word` is its text, if it is one.
pub(crate) fn unexpected(key: &str, shown: &str, word: Option<&str>, words: &[&str]) -> (String, Option<String>) {
    let help = match word {
        Some(word) => suggest::nearest(word, words.iter().copied()).map(|near| format!("did you mean `{near}`?")),
        None => Some("write it in quotes".to_owned()),
    };
    let one_of = if words.len() > 1 { "one of " } else { "" };
    (format!("`{key}` is {shown}; expected {one_of}{}", words.join(", ")), help)
}

/// Returns message and help for a word that is not in `known`. `what` is a noun without an article.
pub(crate) fn unknown_word(word: &str, what: &str, known: &[&str]) -> (String, Option<String>) {
    (format!("`{word}` is not a valid {what}"), suggest::help(word, known.iter().copied()))
}
