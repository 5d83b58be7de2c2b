//! Reads one table of a scenario. Defaults are in the key table; keys that no reader requests are unknown.

use crate::document::{Document, Item, SourceSpan, Table, Value, unknown_word};
use crate::error::{Explained, Origin, ScenarioError, Warning};
use crate::keys::{self, Default};
use crate::suggest;
use crate::values::one_of_words;
use std::cell::RefCell;
use std::fmt::Display;
use std::str::FromStr;
use units::{Bytes, Rate, Time, parse_percent};

/// Error message and help.
pub(crate) type Wrong = (String, Option<String>);

/// A value and its canonical text.
pub(crate) type Read<T> = Result<(T, String), Wrong>;

/// Maximum number of errors reported.
const MAX_ERRORS: usize = 500;

/// Maximum number of errors with a suggestion.
const MAX_HELPED: usize = 20;

/// Errors, warnings and explained values collected while reading and lowering.
pub(crate) struct Context<'d> {
    pub document: &'d Document,
    errors: RefCell<Vec<ScenarioError>>,
    explained: RefCell<Vec<Explained>>,
    warnings: RefCell<Vec<Warning>>,
}

static EMPTY: Table = Table { entries: Vec::new() };

impl<'d> Context<'d> {
    pub fn new(document: &'d Document) -> Self {
        let (errors, explained, warnings) = <_>::default();
        Context { document, errors, explained, warnings }
    }

    /// Reports an error at the value of `key` (as in `--set`), or at the nearest table that exists.
    pub fn fail(&self, key: &str, message: impl Into<String>, help: Option<String>) {
        self.fail_at(&self.document.locate(key), key, message, help);
    }

    pub fn fail_at(&self, location: &SourceSpan, key: &str, message: impl Into<String>, help: Option<String>) {
        self.push(self.document.error(location, key, message.into(), help));
    }

    pub fn push(&self, error: ScenarioError) {
        let mut errors = self.errors.borrow_mut();
        if errors.len() < MAX_ERRORS {
            errors.push(error);
        }
    }

    /// Computes a suggestion only for the first errors, because it is expensive: it searches all candidates.
    pub fn help<T>(&self, suggestion: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.errors.borrow().len() < MAX_HELPED { suggestion() } else { None }
    }

    pub fn warn(&self, key: &str, message: impl Into<String>) {
        self.warnings.borrow_mut().push(Warning { key: key.to_owned(), message: message.into() });
    }

    pub fn explain(&self, key: String, value: String, origin: Origin) {
        self.explained.borrow_mut().push(Explained { key, value, origin });
    }

    pub fn origin(&self, location: &SourceSpan) -> Origin {
        match location {
            SourceSpan::File(span) => Origin::File { line: self.document.line(span.start) },
            SourceSpan::Override(_) => Origin::Override,
        }
    }

    /// Returns errors in file order, followed by errors in overrides and in other files.
    pub fn finish(self) -> (Vec<ScenarioError>, Vec<Explained>, Vec<Warning>) {
        let mut errors = self.errors.into_inner();
        errors.sort_by_key(|error| (error.path != self.document.name, error.span.start));
        errors.dedup();
        (errors, self.explained.into_inner(), self.warnings.into_inner())
    }

    pub fn root(&self) -> Section<'_, 'd> {
        Section::new(self, "", String::new(), &self.document.root)
    }

    /// Like [`Context::root`], for a file with its own keys.
    pub fn root_of(&self, schema: &'static str) -> Section<'_, 'd> {
        Section::new(self, schema, String::new(), &self.document.root)
    }
}

/// One table of a scenario, and the keys that readers have requested from it.
pub(crate) struct Section<'c, 'd> {
    pub context: &'c Context<'d>,
    schema: &'static str,
    /// Key path as in `--set`: `traffic.0`.
    pub name: String,
    table: &'d Table,
    /// Set if the scenario has a text, the `kind`, in place of the table.
    short: Option<&'d Item>,
    /// Variants of this table; keys of other variants are unknown.
    tags: RefCell<Vec<&'static str>>,
    /// Set if the variant is undetermined, for example after an invalid `kind`: then keys of all variants are accepted.
    undecided: RefCell<bool>,
    read_keys: RefCell<Vec<&'static str>>,
}

/// Returns `true` if two texts denote the same value: `0.2s` and `200ms`.
fn is_same(one: &str, other: &str) -> bool {
    fn parsed<T: FromStr + PartialEq>(one: &str, other: &str) -> bool {
        matches!((one.parse::<T>(), other.parse::<T>()), (Ok(one), Ok(other)) if one == other)
    }
    one == other
        || parsed::<f64>(one, other)
        || parsed::<Time>(one, other)
        || parsed::<Rate>(one, other)
        || parsed::<Bytes>(one, other)
}

impl<'c, 'd> Section<'c, 'd> {
    fn new(context: &'c Context<'d>, schema: &'static str, name: String, table: &'d Table) -> Self {
        let (tags, undecided, read_keys) = (RefCell::new(Vec::new()), RefCell::new(false), RefCell::new(Vec::new()));
        Section { context, schema, name, table, short: None, tags, undecided, read_keys }
    }

    /// Returns the full path of a key.
    pub fn key(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    /// Reports an error at a key.
    pub fn fail(&self, key: &str, message: impl Into<String>, help: Option<String>) {
        self.context.fail(&self.key(key), message, help);
    }

    /// Reports an error if `key` has no effect but its written value differs from the default. `needs` states the
    /// condition under which the key has an effect.
    pub fn refuse_idle(&self, key: &str, acts: bool, needs: &str) {
        if !acts && self.has(key) && !self.is_default(key) {
            let message = format!("`{key}` has no effect here: it needs {needs}");
            self.fail(key, message, Some("remove it".to_owned()));
        }
    }

    /// Returns `true` if the written value is the default.
    fn is_default(&self, key: &str) -> bool {
        let default = match self.schema {
            "host.transport" => {
                self.tags.borrow().iter().find_map(|kind| keys::transport(kind)?.parameter(key)).map(|it| it.default)
            }
            schema => keys::find(schema, key, &self.tags.borrow()).map(|it| it.default),
        };
        let written = self.table.get(key).and_then(|item| item.value.text());
        matches!((default, written), (Some(Default::Value(words)), Some(text)) if is_same(words, &text))
    }

    /// Like [`Section::refuse_idle`], but warns. For keys without effect at some value of another key, such as one
    /// piece or one round, because a sweep over that key may include this value.
    pub fn warn_idle(&self, key: &str, acts: bool, needs: &str) {
        if !acts && self.has(key) && !self.is_default(key) {
            self.context.warn(&self.key(key), format!("`{key}` has no effect here: it needs {needs}"));
        }
    }

    /// Adds a variant to this table.
    pub fn tag(&self, tag: &'static str) {
        self.tags.borrow_mut().push(tag);
    }

    /// Marks the variant of the table as undetermined: keys of every variant are accepted.
    pub fn undecide(&self) {
        *self.undecided.borrow_mut() = true;
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Returns `true` if the value of `key` is a boolean.
    pub fn is_flag(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(|item| matches!(item.value, Value::Boolean(_)))
    }

    /// Returns the table at `key`, or an empty table. With `short`, a text in place of the table is taken as its
    /// `kind`.
    pub fn table(&self, key: &'static str, schema: &'static str, short: bool) -> Section<'c, 'd> {
        self.read_keys.borrow_mut().push(key);
        let section = |table| Section::new(self.context, schema, self.key(key), table);
        match self.table.get(key) {
            None => section(&EMPTY),
            Some(Item { value: Value::Table(table), .. }) => section(table),
            Some(item @ Item { value: Value::Text(_), .. }) if short => {
                Section { short: Some(item), ..section(&EMPTY) }
            }
            Some(Item { value, .. }) => {
                let help = match key {
                    "link" => "write { rate = \"100Gbps\", delay = \"500ns\" }",
                    "trace" => {
                        "write trace = {} for all frames, or trace = { flows = [0] }, or trace = { ports = [\"S1:3\"] }"
                    }
                    _ => "write { ... }",
                };
                self.fail(key, format!("`{key}` is {}, not a table", value.what()), Some(help.to_owned()));
                let empty = section(&EMPTY);
                *empty.undecided.borrow_mut() = true;
                empty
            }
        }
    }

    /// Returns the tables of `[[key]]`.
    pub fn tables(&self, key: &'static str, schema: &'static str) -> Vec<Section<'c, 'd>> {
        self.read_keys.borrow_mut().push(key);
        let Some(item) = self.table.get(key) else { return Vec::new() };
        let Value::Array(items) = &item.value else {
            let message = format!("`{key}` is {}, not a list of tables", item.value.what());
            let help = match (key, &item.value) {
                ("capture", Value::Text(port)) => format!("write capture = [{{ port = \"{port}\" }}]"),
                ("capture", _) => "write capture = [{ port = \"S1:3\" }]".to_owned(),
                _ => format!("write [[{key}]]"),
            };
            self.fail(key, message, Some(help));
            return Vec::new();
        };
        let mut sections = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let name = format!("{}.{at}", self.key(key));
            match &item.value {
                Value::Table(table) => sections.push(Section::new(self.context, schema, name, table)),
                other => {
                    let message = format!("an entry of `{key}` is {}, not a table", other.what());
                    let help = match (key, other) {
                        ("capture", Value::Text(port)) => format!("write capture = [{{ port = \"{port}\" }}]"),
                        ("capture", _) => "write capture = [{ port = \"S1:3\" }]".to_owned(),
                        _ => format!("write [[{key}]]"),
                    };
                    self.context.fail(&name, message, Some(help));
                }
            }
        }
        sections
    }

    /// Reads the value of `key`, or its default. Returns `None` if the key is absent without a default, or if its value
    /// is invalid, which is reported.
    pub fn read<T>(&self, key: &'static str, parse: impl Fn(&Value) -> Read<T>) -> Option<T> {
        self.read_keys.borrow_mut().push(key);
        let description = keys::find(self.schema, key, &self.tags.borrow());
        debug_assert!(description.is_some(), "`{}` `{key}` stands in no table of keys", self.schema);
        let description = description?;
        let written = if key == "kind" { self.short.or(self.table.get(key)) } else { self.table.get(key) };
        let (value, origin) = match (written, description.default) {
            (Some(item), _) => match parse(&item.value) {
                Ok((value, text)) => (Some((value, text)), self.context.origin(&item.location)),
                Err((message, help)) => {
                    self.context.fail_at(&item.location, &self.key(key), message, help);
                    return None;
                }
            },
            (None, Default::Required) => {
                if !*self.undecided.borrow() {
                    let message = if self.name.is_empty() {
                        format!("`{key}` is missing")
                    } else {
                        format!("`{}` needs `{key}`", self.name)
                    };
                    let help = format!("{}: write {key} = {}", description.meaning, description.example);
                    self.context.fail(&self.name, message, Some(help));
                }
                return None;
            }
            (None, Default::Value(text)) => {
                let parsed = parse(&Value::bare(text)).ok();
                debug_assert!(parsed.is_some(), "the default of `{}` `{key}` does not parse", self.schema);
                (parsed, Origin::Default { source: description.source })
            }
            (None, Default::Absent(what)) => {
                let origin = Origin::Absent { source: description.source };
                self.context.explain(self.key(key), what.to_owned(), origin);
                return None;
            }
        };
        let (value, text) = value?;
        self.context.explain(self.key(key), text, origin);
        Some(value)
    }

    /// Reads `kind`, which selects the keys of the table. `what` names the value in errors: a noun without an article.
    pub fn kind(&self, what: &str, kinds: &[&'static str]) -> Option<&'static str> {
        self.kind_or(what, kinds, &[])
    }

    /// Like [`Section::kind`], with deprecated names of some kinds.
    pub fn kind_or(&self, what: &str, kinds: &[&'static str], former: &[(&str, &'static str)]) -> Option<&'static str> {
        let kind = self.read("kind", |value| {
            let text = word(value, what, kinds)?;
            let name = former.iter().find(|(name, _)| *name == text).map_or(text.as_str(), |(_, now)| now);
            let found = kinds.iter().find(|kind| **kind == name);
            found.map(|kind| (*kind, (*kind).to_owned())).ok_or_else(|| unknown_word(&text, what, kinds))
        });
        match kind {
            Some(kind) => self.tag(kind),
            None => *self.undecided.borrow_mut() = true,
        }
        kind
    }

    /// Reads one of `words`.
    pub fn word(&self, key: &'static str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.read(key, |value| one_of_words(key, value, words).map(|word| (word.clone(), word)))?;
        words.iter().find(|word| **word == text).copied()
    }

    pub fn quantity<T: FromStr<Err: Display> + Display>(&self, key: &'static str, what: &str) -> Option<T> {
        self.read(key, |value| quantity(value, what))
    }

    pub fn time(&self, key: &'static str) -> Option<Time> {
        self.quantity(key, "a time")
    }

    pub fn size(&self, key: &'static str) -> Option<u64> {
        self.quantity::<Bytes>(key, "a size").map(Bytes::get)
    }

    /// Reads a rate of at most 1 Pbps: at higher rates a byte takes less than 8 fs, which is far below the time
    /// resolution.
    pub fn rate(&self, key: &'static str) -> Option<Rate> {
        self.read(key, rate)
    }

    pub fn whole(&self, key: &'static str, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        self.read(key, |value| whole(value, range.clone()))
    }

    pub fn count(&self, key: &'static str) -> Option<u32> {
        self.whole(key, 0..=u64::from(u32::MAX)).map(|count| count as u32)
    }

    pub fn class(&self, key: &'static str) -> Option<u8> {
        self.whole(key, 0..=7).map(|class| class as u8)
    }

    pub fn flag(&self, key: &'static str) -> Option<bool> {
        self.read(key, |value| match value {
            Value::Boolean(flag) => Ok((*flag, flag.to_string())),
            other => Err((format!("{} is neither true nor false", show(other)), Some("write true or false".into()))),
        })
    }

    /// Reads a number within limits, both inclusive.
    pub fn number(&self, key: &'static str, range: std::ops::RangeInclusive<f64>) -> Option<f64> {
        self.read(key, |value| {
            let right = || Some(format!("write a number from {} to {}", range.start(), range.end()));
            let text = match value {
                Value::Integer(text) | Value::Float(text) => text,
                other => return Err((format!("{} is not a number", show(other)), right())),
            };
            match text.replace('_', "").parse::<f64>() {
                Ok(number) if range.contains(&number) => Ok((number, number.to_string())),
                _ => Err((format!("`{text}` is out of range"), right())),
            }
        })
    }

    /// Reads a time above 0.
    pub fn positive_time(&self, key: &'static str) -> Option<Time> {
        self.read(key, positive)
    }

    /// Reads a probability from 0 to 1, written as a number or a percentage.
    pub fn probability(&self, key: &'static str) -> Option<f64> {
        self.read(key, |value| share(value, 1.0))
    }

    pub fn text(&self, key: &'static str) -> Option<String> {
        self.read(key, |value| text(value, "a text").map(|text| (text.clone(), text)))
    }

    /// Reads `false`, or a table with the sampling interval `every`.
    pub fn every(&self, key: &'static str) -> Option<Time> {
        self.read(key, |value| match value {
            Value::Boolean(false) => Ok((None, "false".to_owned())),
            Value::Text(_) => positive(value).map(|(time, text)| (Some(time), text)),
            Value::Table(Table { entries }) => match &entries[..] {
                [entry] if entry.key == "every" => positive(&entry.item.value).map(|(time, text)| (Some(time), text)),
                _ => {
                    let other = entries.iter().find(|entry| entry.key != "every");
                    let message = match other {
                        Some(entry) => format!("`{key}` has no key `{}`", entry.key),
                        None => format!("`{key}` needs `every`"),
                    };
                    Err((message, Some("write { every = \"10us\" }".to_owned())))
                }
            },
            other => Err((
                format!("{} has no interval", show(other)),
                Some("write { every = \"10us\" }, or false".to_owned()),
            )),
        })
        .flatten()
    }

    /// Returns the kind of file to which this top-level table belongs, for error messages.
    fn file(&self) -> &'static str {
        if self.schema.is_empty() { "a scenario" } else { "a fluid model" }
    }

    /// Reports unknown keys of the table.
    pub fn finish(&self) {
        let (read_keys, tags) = (self.read_keys.borrow(), self.tags.borrow());
        // A key in the key table that no reader requests would silently have no effect.
        debug_assert!(
            *self.undecided.borrow()
                || keys::of_section(self.schema).all(|key| !key.fits(&tags) || read_keys.contains(&key.name)),
            "a key of `{}` {tags:?} is in the table but has no reader: {:?}",
            self.schema,
            keys::of_section(self.schema).find(|key| key.fits(&tags) && !read_keys.contains(&key.name)),
        );
        let all: Vec<_> = keys::of_section(self.schema).collect();
        for entry in &self.table.entries {
            let name = entry.key.as_str();
            let elsewhere: Vec<&str> =
                all.iter().filter(|key| key.name == name).flat_map(|key| key.variants.iter().copied()).collect();
            if read_keys.contains(&name) || (*self.undecided.borrow() && all.iter().any(|key| key.name == name)) {
                continue;
            }
            let table = if self.name.is_empty() { self.file().to_owned() } else { format!("`{}`", self.name) };
            let (message, help) = if elsewhere.is_empty() {
                let mut known: Vec<&str> = if *self.undecided.borrow() {
                    all.iter().map(|key| key.name).collect()
                } else {
                    read_keys.to_vec()
                };
                known.sort_unstable();
                known.dedup();
                match crate::former::removed(self.schema, name) {
                    Some(help) => (format!("key `{name}` in {table} has been removed"), Some(help.to_owned())),
                    None => (format!("unknown key `{name}` in {table}"), suggest::help(name, known)),
                }
            } else {
                let what = tags.join(", ");
                (
                    format!("{table} is of kind {what} and has no key `{name}`"),
                    Some(format!("`{name}` belongs to {}", elsewhere.join(", "))),
                )
            };
            self.context.fail_at(&entry.key_place, &self.key(name), message, help);
        }
    }

    /// Returns all entries of the table, for tables with a separate reader, such as the parameters of transports.
    pub fn entries(&self) -> impl Iterator<Item = (&'d str, &'d Item, &'d SourceSpan)> + use<'d> {
        self.table.entries.iter().map(|entry| (entry.key.as_str(), &entry.item, &entry.key_place))
    }
}

/// Formats a value for an error message, at most 40 characters.
pub(crate) fn show(value: &Value) -> String {
    match value.text() {
        Some(text) if text.chars().count() <= 40 => format!("`{text}`"),
        Some(text) => format!("`{}...`", text.chars().take(40).collect::<String>()),
        None => value.what().to_owned(),
    }
}

/// Reads a text that should be one of the words `known`. The list is only used in the error for a value of another
/// type: the caller checks the word. `what` names the value in errors: a noun without an article.
pub(crate) fn word(value: &Value, what: &str, known: &[&str]) -> Result<String, Wrong> {
    match value {
        Value::Text(_) => text(value, what),
        other => {
            let help = format!("write one of {}, in quotes", known.join(", "));
            Err((format!("{} is not a valid {what}", show(other)), Some(help)))
        }
    }
}

/// Reads any text. `what` is a noun, with its article if it has one.
pub(crate) fn text(value: &Value, what: &str) -> Result<String, Wrong> {
    match value {
        Value::Text(text) => match text.chars().find(|&c| c.is_control() && !"\n\r\t".contains(c)) {
            None => Ok(text.clone()),
            // Names and descriptions are printed to terminals, which would interpret escape sequences.
            Some(c) => Err((format!("the text has the control character U+{:04X}", u32::from(c)), None)),
        },
        other => Err((format!("{} is not {what}", show(other)), Some("write it in quotes".to_owned()))),
    }
}

pub(crate) fn quantity<T: FromStr<Err: Display> + Display>(value: &Value, what: &str) -> Read<T> {
    let Some(text) = value.text() else { return Err((format!("{} is not {what}", value.what()), None)) };
    match text.parse::<T>() {
        Ok(value) => {
            let canonical = value.to_string();
            Ok((value, canonical))
        }
        Err(error) => Err((error.to_string(), None)),
    }
}

/// Reads a rate of at most 1 Pbps.
pub(crate) fn rate(value: &Value) -> Read<Rate> {
    let (rate, text) = quantity::<Rate>(value, "a rate")?;
    if rate.as_bps() > 1_000_000_000_000_000 {
        return Err((format!("`{text}` is more than 1000Tbps"), Some("write a rate like \"100Gbps\"".into())));
    }
    Ok((rate, text))
}

pub(crate) fn positive(value: &Value) -> Read<Time> {
    let (time, text) = quantity::<Time>(value, "a time")?;
    if time == Time::ZERO {
        return Err((format!("`{text}` must be above zero"), Some("write a time like \"10us\"".to_owned())));
    }
    Ok((time, text))
}

pub(crate) fn whole(value: &Value, range: std::ops::RangeInclusive<u64>) -> Read<u64> {
    let right = if *range.end() == u64::MAX {
        format!("write a whole number from {}", range.start())
    } else {
        format!("write a whole number from {} to {}", range.start(), range.end())
    };
    match value {
        Value::Integer(text) => match text.parse::<u64>() {
            Ok(number) if range.contains(&number) => Ok((number, number.to_string())),
            _ => Err((format!("`{text}` is out of range"), Some(right))),
        },
        Value::Text(text) if text.parse::<u64>().is_ok() => {
            Err((format!("\"{text}\" is a text, not a whole number"), Some(format!("write {text} without quotes"))))
        }
        other => Err((format!("{} is not a whole number", show(other)), Some(right))),
    }
}

/// Reads a share from 0 to `most`, written as a number or a percentage.
pub(crate) fn share(value: &Value, most: f64) -> Read<f64> {
    let right = || Some(format!("write a number from 0 to {most}, like 0.8 or \"80%\""));
    let Some(text) = value.text() else { return Err((format!("{} is not a share", value.what()), right())) };
    match parse_percent(&text) {
        Ok(share) if share <= most => Ok((share, share.to_string())),
        Ok(_) => Err((format!("`{text}` is more than {most}"), right())),
        Err(error) => Err((error.to_string(), right())),
    }
}

/// Returns the items of a list.
pub(crate) fn list<'v>(value: &'v Value, example: &str) -> Result<&'v [Item], Wrong> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err((format!("{} is not a list", show(other)), Some(format!("write it like {example}")))),
    }
}
