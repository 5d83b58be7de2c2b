//! The file of a sweep: scenario, varied keys, seeds.

use crate::document::{Document, Item, SourceSpan, Table, Value};
use crate::error::{ScenarioError, ScenarioErrors, not_text};
use crate::{files, suggest};
use std::path::{Path, PathBuf};
use toml::de::DeValue;

/// Keys at the top level of the file.
const KEYS: [&str; 6] = ["scenario", "seeds", "set", "vary", "axis", "run"];
/// Maximum number of seeds.
const MAX_SEEDS: u64 = 1_000_000;
/// Maximum number of keys of a table.
const MAX_KEYS: usize = 1_000;

/// A key of the scenario, and the values that a sweep gives it, in the syntax of `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Key path in the scenario: `traffic.0.load`.
    pub key: String,
    /// Values; never empty.
    pub values: Vec<String>,
    /// File, line and column of the key.
    pub location: (String, u64, u64),
    /// Empty for a scenario key. For an axis of the sweep, `key` is the name of the axis, and `changes` has, for each
    /// value of the axis, the scenario keys that this value sets, with one value each.
    pub changes: Vec<Vec<Choice>>,
}

/// A sweep as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepFile {
    /// The scenario's path, relative to the working directory.
    pub scenario: PathBuf,
    /// Seeds with which every combination runs; if empty, the scenario's seed is used.
    pub seeds: Vec<u64>,
    /// Overrides that apply to all runs; each key has one value.
    pub set: Vec<Choice>,
    /// Keys of the `[[run]]` list: run n has value n of each key.
    pub runs: Vec<Choice>,
    /// Axes with named values. All combinations of the values of axes, the runs of the list and the points of the grid
    /// are run.
    pub axes: Vec<Choice>,
    /// Keys of the grid `[vary]`: all combinations of their values are run, each with every run of the list.
    pub vary: Vec<Choice>,
}

/// Reads seeds: `7`, `1..10` (first and last seed), or several of these, separated by commas.
///
/// # Errors
/// A message about text that is not a list of seeds, about more than a million seeds, or about a duplicate seed.
pub fn parse_seeds(text: &str) -> Result<Vec<u64>, String> {
    let wrong = || format!("`{text}` is not a list of seeds; write 1..10 (ten seeds) or 1,2,5");
    let mut seeds = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
        if first > last {
            return Err(wrong());
        }
        if last - first >= MAX_SEEDS - seeds.len() as u64 {
            return Err(format!("more than {MAX_SEEDS} seeds"));
        }
        seeds.extend(first..=last);
    }
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(format!("duplicate seed {}", twice[0])),
        None => Ok(seeds),
    }
}

impl SweepFile {
    /// Returns `true` if `text` is a sweep file: only sweep files have a key `scenario`.
    pub fn recognise(text: &str) -> bool {
        Document::parse(text, "", &[]).is_ok_and(|document| document.root.get("scenario").is_some())
    }

    /// Reads the file at `path`; the scenario's path is relative to its directory.
    ///
    /// # Errors
    /// An unreadable file, and all errors in it.
    pub fn read(path: &Path) -> Result<SweepFile, ScenarioErrors> {
        let name = path.display().to_string();
        let whole = |message: String| {
            let (path, key) = (name.clone(), String::new());
            ScenarioErrors {
                errors: vec![ScenarioError { path, line: 0, column: 0, span: 0..0, key, message, help: None }],
            }
        };
        let content = files::read_at_most(path, files::MAX_WRITTEN_BYTES);
        let content = content.map_err(|error| whole(format!("cannot read the sweep: {error}")))?;
        let text = fabric::files::text_of(&content).map_err(|fault| not_text(&name, fault.line))?;
        Self::parse(text, &name, path.parent().unwrap_or(Path::new("")))
    }

    /// Like [`SweepFile::read`], from a text that errors call `name`, in `directory`.
    ///
    /// # Errors
    /// All errors in the text.
    pub fn parse(text: &str, name: &str, directory: &Path) -> Result<SweepFile, ScenarioErrors> {
        let document = Document::parse(text, name, &[]).map_err(|errors| ScenarioErrors { errors })?;
        let mut reader = Reader { document: &document, errors: Vec::new() };
        let sweep = reader.sweep(directory);
        match sweep {
            Some(sweep) if reader.errors.is_empty() => Ok(sweep),
            _ => Err(ScenarioErrors { errors: reader.errors }),
        }
    }
}

struct Reader<'d> {
    document: &'d Document,
    errors: Vec<ScenarioError>,
}

impl Reader<'_> {
    fn fail(&mut self, location: &SourceSpan, key: &str, message: String, help: &str) {
        self.errors.push(self.document.error(location, key, message, Some(help.to_owned())));
    }

    fn sweep(&mut self, directory: &Path) -> Option<SweepFile> {
        let root = &self.document.root;
        for entry in root.entries.iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
            let message = format!("unknown key `{}` in a sweep", entry.key);
            let help = suggest::help(&entry.key, KEYS);
            self.errors.push(self.document.error(&entry.key_place, &entry.key, message, help));
        }
        let scenario = match root.get("scenario") {
            Some(Item { value: Value::Text(name), .. }) => Some(directory.join(name)),
            Some(item) => {
                let message = format!("`scenario` is {}", item.value.what());
                self.fail(&item.location, "scenario", message, "write the name of its file in quotes");
                None
            }
            None => {
                let help = "write scenario = \"incast.toml\", relative to this file";
                self.fail(&SourceSpan::File(0..0), "scenario", "a sweep needs a `scenario`".to_owned(), help);
                None
            }
        };
        let seeds = root.get("seeds").map_or(Vec::new(), |item| self.seeds(item));
        let mut set = Vec::new();
        self.table("set", &mut |reader, key, item| {
            let values = reader.value(&key, item).into_iter().collect();
            set.push(reader.choice(key, values, item));
        });
        let mut vary = Vec::new();
        self.table("vary", &mut |reader, key, item| {
            let values = match &item.value {
                Value::Array(items) if !items.is_empty() => {
                    items.iter().filter_map(|item| reader.value(&key, item)).collect()
                }
                _ => {
                    let help = "write a list of values, like [\"50KB\", \"100KB\"]";
                    reader.fail(&item.location, &key, format!("`{key}` has no values to vary"), help);
                    Vec::new()
                }
            };
            vary.push(reader.choice(key, values, item));
        });
        let (runs, axes) = (self.runs(), self.axes());
        for (name, keys) in [("set", set.len()), ("vary", vary.len()), ("run", runs.len()), ("axis", axes.len())] {
            if keys > MAX_KEYS {
                let location = self.document.locate(name);
                let help = format!("a sweep changes at most {MAX_KEYS} keys");
                self.fail(&location, name, format!("`{name}` has {keys} keys"), &help);
                return None;
            }
        }
        Some(SweepFile { scenario: scenario?, seeds, set, runs, axes, vary })
    }

    fn seeds(&mut self, item: &Item) -> Vec<u64> {
        let text = match &item.value {
            Value::Array(items) => {
                items.iter().map(|item| item.value.text().unwrap_or_default()).collect::<Vec<_>>().join(",")
            }
            other => other.text().unwrap_or_default(),
        };
        parse_seeds(&text).unwrap_or_else(|message| {
            self.fail(&item.location, "seeds", message, "write seeds = \"1..10\" or [1, 2, 5]");
            Vec::new()
        })
    }

    /// Calls `leaf` for every key in the table `name` and its subtables, with the dotted path of the key: `a.b = 1` and
    /// `"a.b" = 1` are the same key.
    fn table(&mut self, name: &str, leaf: &mut dyn FnMut(&mut Self, String, &Item)) {
        match self.document.root.get(name) {
            None => {}
            Some(Item { value: Value::Table(table), .. }) => self.leaves(table, "", leaf),
            Some(item) => {
                let message = format!("`{name}` is {}, not a table", item.value.what());
                self.fail(
                    &item.location,
                    name,
                    message,
                    "write a table [vary], with a line for each key of the scenario",
                );
            }
        }
    }

    fn leaves(&mut self, table: &Table, prefix: &str, leaf: &mut dyn FnMut(&mut Self, String, &Item)) {
        for entry in &table.entries {
            let key = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
            match &entry.item.value {
                Value::Table(inner) if !self.in_braces(&entry.item) => self.leaves(inner, &key, leaf),
                _ => leaf(self, key, &entry.item),
            }
        }
    }

    /// Returns `true` for an inline table in braces, `{ kind = "pfc" }`. A dotted key such as
    /// `switch.flow_control.xoff = ...` also parses as a table.
    fn in_braces(&self, item: &Item) -> bool {
        matches!(&item.location, SourceSpan::File(span) if self.document.text[span.start..].starts_with('{'))
    }

    /// Reads the keys of the `[[run]]` list: every entry must have the same keys.
    fn runs(&mut self) -> Vec<Choice> {
        let entries = match self.document.root.get("run") {
            None => return Vec::new(),
            Some(Item { value: Value::Array(entries), .. }) => entries,
            Some(item) => {
                let message = format!("`run` is {}, not a list of runs", item.value.what());
                self.fail(&item.location, "run", message, "write [[run]] before each");
                return Vec::new();
            }
        };
        let mut columns: Vec<Choice> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let Value::Table(table) = &entry.value else {
                self.fail(
                    &entry.location,
                    "run",
                    format!("run {at} is {}", entry.value.what()),
                    "write [[run]] before each",
                );
                continue;
            };
            let before = self.errors.len();
            if columns.len() > MAX_KEYS || before > MAX_KEYS {
                break;
            }
            self.leaves(table, "", &mut |reader, key, item| {
                let Some(value) = reader.value(&key, item) else { return };
                if columns.len() > MAX_KEYS {
                    return;
                }
                match columns.iter_mut().find(|column| column.key == key) {
                    Some(column) => column.values.push(value),
                    None if at == 0 => columns.push(reader.choice(key, vec![value], item)),
                    None => {
                        let help =
                            "every [[run]] needs the same keys; write the scenario's value if it does not change";
                        reader.fail(&item.location, &key, format!("the first run has no `{key}`"), help);
                    }
                }
            });
            if self.errors.len() == before
                && let Some(lacking) = columns.iter().find(|column| column.values.len() != at + 1)
            {
                let (message, key) = (format!("this run has no `{}`", lacking.key), lacking.key.clone());
                let help = "every [[run]] needs the same keys; write the scenario's value if it does not change";
                self.fail(&entry.location, &key, message, help);
            }
        }
        columns
    }

    /// Reads the axes of `[[axis.NAME]]`, whose values have names.
    fn axes(&mut self) -> Vec<Choice> {
        const HELP: &str = "write [[axis.control]] before each value, with its `name` and changed keys";
        let axes = match self.document.root.get("axis") {
            None => return Vec::new(),
            Some(Item { value: Value::Table(table), .. }) => table,
            Some(item) => {
                self.fail(&item.location, "axis", format!("`axis` is {}, not a table", item.value.what()), HELP);
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for axis in &axes.entries {
            let key = format!("axis.{}", axis.key);
            let Value::Array(values) = &axis.item.value else {
                let message = format!("`{key}` is {}, not a list of values", axis.item.value.what());
                self.fail(&axis.item.location, &key, message, HELP);
                continue;
            };
            if values.len() > MAX_KEYS || found.len() > MAX_KEYS {
                let message = format!("too many keys, or more than {MAX_KEYS} values of `{key}`");
                self.fail(&axis.key_place, &key, message, "vary fewer");
                break;
            }
            let mut choice = self.choice(axis.key.clone(), Vec::new(), &axis.item);
            for value in values {
                self.axis_value(&key, value, &mut choice);
            }
            found.push(choice);
        }
        found
    }

    /// Adds a value to the axis. `item` is the table with the name of the value and the scenario keys that it sets.
    fn axis_value(&mut self, key: &str, item: &Item, axis: &mut Choice) {
        const NAME: &str = "write name = \"...\", the name of the value in tables";
        let Value::Table(table) = &item.value else {
            let help = "write a `name` and the changed keys, like { name = \"small\", fabric.k = 4 }";
            return self.fail(&item.location, key, format!("a value of `{key}` is {}", item.value.what()), help);
        };
        let name = match table.get("name") {
            Some(Item { value: Value::Text(name), .. }) if !name.trim().is_empty() => name.clone(),
            Some(item) => return self.fail(&item.location, "name", "this is not a name".to_owned(), NAME),
            None => return self.fail(&item.location, key, format!("a value of `{key}` has no name"), NAME),
        };
        if axis.values.contains(&name) {
            let help = "every value of an axis has its own name";
            return self.fail(&item.location, key, format!("`{key}` has two values `{name}`"), help);
        }
        let mut changes: Vec<Choice> = Vec::new();
        self.leaves(table, "", &mut |reader, key, item| {
            if key == "name" || changes.len() > MAX_KEYS {
                return;
            }
            let value = reader.value(&key, item).into_iter().collect();
            changes.push(reader.choice(key, value, item));
        });
        if changes.len() > MAX_KEYS {
            let help = format!("a sweep changes at most {MAX_KEYS} keys");
            return self.fail(&item.location, key, format!("`{name}` changes too many keys"), &help);
        }
        axis.values.push(name);
        axis.changes.push(changes);
    }

    fn choice(&self, key: String, values: Vec<String>, item: &Item) -> Choice {
        let (line, column) = match &item.location {
            SourceSpan::File(span) => self.document.position(span.start),
            SourceSpan::Override(_) => (0, 0),
        };
        Choice { key, values, location: (self.document.name.clone(), line, column), changes: Vec::new() }
    }

    /// Returns a value in the syntax of `--set`: a text has no quotes, unless it would parse as another type without
    /// them.
    fn value(&mut self, key: &str, item: &Item) -> Option<String> {
        let SourceSpan::File(span) = &item.location else { return None };
        let raw = self.document.text.get(span.clone()).unwrap_or_default().to_owned();
        match &item.value {
            Value::Text(text) if text.trim() == text && !text.is_empty() && DeValue::parse(text).is_err() => {
                Some(text.clone())
            }
            Value::Date => {
                self.fail(
                    &item.location,
                    key,
                    "a scenario has no dates".to_owned(),
                    "write a time in quotes, like \"10us\"",
                );
                None
            }
            _ => Some(raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"scenario = "incast.toml"
seeds = "1..3"
set = { fabric.k = 4 }

[vary]
traffic.0.size = ["64KB", "1MB"]
"switch.flow_control" = ["none", { kind = "pfc", priorities = [3] }]

[[run]]
host.transport.kind = "roce"
switch.marking = "none"

[[run]]
switch.marking = { kind = "ecn", k_min = "10KB" }
host.transport.kind = "4"
"#;

    fn parse(text: &str) -> Result<SweepFile, String> {
        SweepFile::parse(text, "dir/sweep.toml", Path::new("dir")).map_err(|errors| errors.to_string())
    }

    #[test]
    fn keys_and_values_are_those_of_set() {
        assert!(SweepFile::recognise(TEXT) && !SweepFile::recognise("duration = \"1ms\""));
        let sweep = parse(TEXT).unwrap();
        assert_eq!((sweep.scenario, sweep.seeds), (PathBuf::from("dir/incast.toml"), vec![1, 2, 3]));
        let short = |choices: &[Choice]| {
            choices.iter().map(|choice| format!("{}={}", choice.key, choice.values.join("|"))).collect::<Vec<_>>()
        };
        assert_eq!(short(&sweep.set), ["fabric.k=4"]);
        let pfc = "switch.flow_control=none|{ kind = \"pfc\", priorities = [3] }";
        assert_eq!(short(&sweep.vary), ["traffic.0.size=64KB|1MB", pfc]);
        // A text that would parse as a number keeps its quotes.
        let marking = "switch.marking=none|{ kind = \"ecn\", k_min = \"10KB\" }";
        assert_eq!(short(&sweep.runs), ["host.transport.kind=roce|\"4\"", marking]);
        assert_eq!(sweep.vary[0].location, ("dir/sweep.toml".to_owned(), 6, 18));
    }

    #[test]
    fn values_of_an_axis_have_names_and_change_keys_together() {
        let sweep = parse(
            r#"scenario = "a"
[[axis.control]]
name = "DCQCN on PFC"
host.transport = { kind = "dcqcn" }
switch.marking.kind = "ecn"
[[axis.control]]
name = "none"
[[axis.load]]
name = "half"
traffic.0.load = 0.5
"#,
        )
        .unwrap();
        let [control, load] = &sweep.axes[..] else { panic!("{:?}", sweep.axes) };
        assert_eq!((control.key.as_str(), control.values.join("|")), ("control", "DCQCN on PFC|none".to_owned()));
        let changes = |choices: &[Choice]| {
            choices.iter().map(|choice| format!("{}={}", choice.key, choice.values.concat())).collect::<Vec<_>>()
        };
        let dcqcn = ["host.transport={ kind = \"dcqcn\" }", "switch.marking.kind=ecn"];
        assert_eq!(changes(&control.changes[0]), dcqcn);
        assert!(control.changes[1].is_empty());
        assert_eq!((load.key.as_str(), changes(&load.changes[0])), ("load", vec!["traffic.0.load=0.5".to_owned()]));
        assert_eq!(control.changes[0][1].location, ("dir/sweep.toml".to_owned(), 5, 23));
    }

    #[test]
    fn errors_are_reported_with_their_location() {
        for (text, message) in [
            ("seeds = 1", vec!["dir/sweep.toml", "a sweep needs a `scenario`"]),
            ("scenario = 3", vec!["dir/sweep.toml:1:12", "a whole number"]),
            ("scenario = \"a\"\nvarry = 1", vec!["sweep.toml:2:1", "did you mean `vary`"]),
            ("scenario = \"a\"\nseeds = \"10..1\"", vec!["sweep.toml:2:9", "1..10"]),
            ("scenario = \"a\"\nseeds = [1, 2, 1]", vec!["sweep.toml:2:9", "duplicate seed 1"]),
            ("scenario = \"a\"\n[vary]\nfabric.k = 4", vec!["sweep.toml:3:12", "no values to vary"]),
            ("scenario = \"a\"\nvary = 3", vec!["sweep.toml:2:8", "not a table"]),
            ("scenario = \"a\"\n[[run]]\na = 1\n[[run]]\nb = 2", vec!["sweep.toml:5:5", "the first run has no `b`"]),
            ("scenario = \"a\"\n[[run]]\na = 1\nb = 1\n[[run]]\nb = 2", vec!["sweep.toml:5:1", "this run has no `a`"]),
            ("scenario = \"a\"\nset = { a = 1979-05-27 }", vec!["sweep.toml:2:13", "no dates"]),
            ("scenario = \"a\"\naxis = 3", vec!["sweep.toml:2:8", "not a table"]),
            ("scenario = \"a\"\naxis.load = 3", vec!["sweep.toml:2:13", "not a list of values"]),
            ("scenario = \"a\"\naxis.load = [3]", vec!["sweep.toml:2:14", "a value of `axis.load` is a whole number"]),
            ("scenario = \"a\"\n[[axis.load]]\nk = 1", vec!["sweep.toml:2:1", "has no name"]),
            ("scenario = \"a\"\n[[axis.load]]\nname = 1", vec!["sweep.toml:3:8", "not a name"]),
            (
                "scenario = \"a\"\naxis.b = [{ name = \"x\" }, { name = \"x\" }]",
                vec!["sweep.toml:2:27", "two values `x`"],
            ),
            ("scenario = = 1", vec!["sweep.toml:1:12", "TOML"]),
        ] {
            let error = parse(text).unwrap_err();
            message.iter().for_each(|part| assert!(error.contains(part), "`{part}` is missing in {error}"));
        }
    }

    /// The number of keys is limited, because each key is compared with all previous keys in quadratic time.
    #[test]
    fn a_sweep_has_not_hundreds_of_thousands_of_keys() {
        let keys: String = (0..200_000).map(|n| format!("k{n} = [1]\n")).collect();
        for (table, name) in [("[vary]", "vary"), ("[set]", "set"), ("[[run]]", "run")] {
            let error = parse(&format!("scenario = \"a\"\n{table}\n{keys}")).unwrap_err();
            assert!(error.contains(&format!("`{name}` has ")) && error.contains("at most 1000 keys"), "{error}");
        }
    }

    #[test]
    fn seeds_have_both_ends() {
        assert_eq!(parse_seeds("1..3,7, 9..=10").unwrap(), [1, 2, 3, 7, 9, 10]);
        for wrong in ["", "a", "3..1", "1..", "1,,2", "-1"] {
            assert!(parse_seeds(wrong).unwrap_err().contains("write 1..10"), "{wrong}");
        }
        let many: Vec<String> =
            (0..5_000u64).map(|n| format!("{}..{}", n * 1_000_000, n * 1_000_000 + 999_999)).collect();
        for wrong in ["0..99999999999", &many.join(",")] {
            assert_eq!(parse_seeds(wrong).unwrap_err(), "more than 1000000 seeds");
        }
        assert!(parse_seeds("1..3,2").unwrap_err().contains("duplicate seed 2"));
    }
}
