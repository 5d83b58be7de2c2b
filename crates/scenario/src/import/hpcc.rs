//! `config.txt` of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control), as its `scratch/third.cc` reads
//! it: one key per line, followed by its values.
//!
//! ```text
//! CC_MODE 1
//! TOPOLOGY_FILE mix/topology.txt
//! KMAX_MAP 2 25000000000 400 100000000000 1600      number of pairs, then rate in bit/s and KB
//! RATE_AI 50Mb/s {text in braces is a comment}
//! ```
//!
//! The simulator skips words that it cannot interpret. Here a missing or invalid value is an error, and so is an
//! unknown key.

use super::hpcc_keys::{self, Known, Shape};
use crate::error::{ScenarioError, ScenarioErrors};
use units::{Rate, Time};

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub key: String,
    pub line: u64,
    pub value: Value,
    /// `None` for a key that the HPCC simulator does not know.
    pub known: Option<&'static Known>,
}

/// A value, by its [`Shape`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A name, or a number as written.
    Word(String),
    Whole(u64),
    Switch(bool),
    Share(f64),
    Time(Time),
    /// A time above the maximum duration of a simulation.
    Never,
    Rate(Rate),
    /// Rates of ports, and the value for each rate as written.
    Map(Vec<(Rate, f64)>),
    /// A link failure: time in us after 2 s, and the two nodes.
    Down(u64, u64, u64),
}

/// A parsed configuration: each value is valid, independent of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct HpccConfig {
    pub(super) file: String,
    /// In file order; each key once.
    pub(super) entries: Vec<Entry>,
    /// Warnings about repeated keys and about ignored words at the end of a line.
    pub(super) remarks: Vec<String>,
}

/// Makes an error in a configuration.
pub(super) fn error(file: &str, line: u64, key: &str, message: String, help: Option<String>) -> ScenarioError {
    ScenarioError { path: file.to_owned(), line, column: 0, span: 0..0, key: key.to_owned(), message, help }
}

impl HpccConfig {
    /// Reads a configuration; `file` is its name in errors.
    ///
    /// # Errors
    /// Every missing or invalid value, with its line; a file without a key.
    pub fn parse(text: &str, file: &str) -> Result<HpccConfig, ScenarioErrors> {
        let mut config = HpccConfig { file: file.to_owned(), entries: Vec::new(), remarks: Vec::new() };
        let mut errors = Vec::new();
        for (index, written) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = index as u64 + 1;
            let written = written.split(['{', '#']).next().unwrap_or_default();
            let mut words = written.split_whitespace();
            let Some(key) = words.next() else { continue };
            let words: Vec<&str> = words.collect();
            let known = hpcc_keys::find(key);
            let value = match known {
                Some(known) => value(known.shape, &words),
                None => Ok((Value::Word(words.first().copied().unwrap_or_default().to_owned()), words.len().min(1))),
            };
            match value {
                Ok((value, taken)) => {
                    if known.is_some() && words.len() > taken {
                        let rest = shown(words[taken]);
                        config.remarks.push(format!("{file}:{line}: {key}: ignored from `{rest}` on"));
                    }
                    config.add(Entry { key: key.to_owned(), line, value, known });
                }
                Err((message, help)) => errors.push(error(file, line, key, format!("{key}: {message}"), help)),
            }
        }
        if config.entries.is_empty() && errors.is_empty() {
            errors.push(error(file, 1, "", "the file has no key".to_owned(), Some("CC_MODE 1 is one".to_owned())));
        }
        if errors.is_empty() { Ok(config) } else { Err(ScenarioErrors { errors }) }
    }

    /// Adds an entry. If a key is repeated, its last entry holds, as in the simulator.
    fn add(&mut self, entry: Entry) {
        if let Some(earlier) = self.entries.iter().position(|other| other.key == entry.key) {
            let (file, key, line) = (&self.file, &entry.key, self.entries[earlier].line);
            self.remarks.push(format!("{file}:{}: {key} is also in line {line}; the last one is used", entry.line));
            self.entries.remove(earlier);
        }
        self.entries.push(entry);
    }

    pub(super) fn find(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn name(&self, key: &str, flag: &str) -> Result<(&str, u64), ScenarioErrors> {
        match self.find(key) {
            Some(Entry { value: Value::Word(name), line, .. }) => Ok((name, *line)),
            _ => {
                let help = Some(format!("write a line `{key} mix/name.txt`, or use {flag} FILE"));
                let missing = error(&self.file, 0, key, format!("{key} is missing"), help);
                Err(ScenarioErrors { errors: vec![missing] })
            }
        }
    }

    /// Returns the file name of the topology, relative to the working directory of the simulator, and the line of its
    /// key.
    ///
    /// # Errors
    /// If the configuration names none.
    pub fn topology(&self) -> Result<(&str, u64), ScenarioErrors> {
        self.name("TOPOLOGY_FILE", "--topology")
    }

    /// Returns the name of the flow file, relative to the working directory of the simulator, and the line of its key.
    ///
    /// # Errors
    /// If the configuration names none.
    pub fn flows(&self) -> Result<(&str, u64), ScenarioErrors> {
        self.name("FLOW_FILE", "--flows")
    }

    /// Returns the unknown keys with their lines.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, u64)> {
        self.entries.iter().filter(|entry| entry.known.is_none()).map(|entry| (entry.key.as_str(), entry.line))
    }
}

/// Returns at most the first 40 characters of a word, for error messages.
fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

type KeyError = (String, Option<String>);

/// Parses a value of type `shape` from the words after its key. Returns the value and the number of words that it
/// takes.
fn value(shape: Shape, words: &[&str]) -> Result<(Value, usize), KeyError> {
    let word = |at: usize| words.get(at).copied().ok_or_else(|| ("the value is missing".to_owned(), shape.example()));
    let wrong = |text: &str| (format!("`{}` is not {}", shown(text), shape.what()), shape.example());
    let whole = |at: usize| word(at).and_then(|text| text.parse::<u64>().map_err(|_| wrong(text)));
    let one = |value: Value| Ok((value, 1));
    match shape {
        Shape::Word => word(0).and_then(|text| one(Value::Word(text.to_owned()))),
        Shape::Whole => whole(0).and_then(|number| one(Value::Whole(number))),
        // HPCC's simulator takes 0 as false and every other number as true.
        Shape::Switch => whole(0).and_then(|number| one(Value::Switch(number != 0))),
        Shape::Share => {
            let text = word(0)?;
            let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
            share.ok_or_else(|| wrong(text)).and_then(|share| one(Value::Share(share)))
        }
        Shape::Seconds | Shape::Microseconds => {
            let text = word(0)?;
            let unit = if shape == Shape::Seconds { "s" } else { "us" };
            let decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let number = text.parse::<f64>().ok().filter(|_| decimal);
            let time = format!("{text}{unit}").parse().ok().filter(|_| decimal);
            match (time, number) {
                (Some(time), _) => one(Value::Time(time)),
                (None, Some(number)) if number > 1e7 => one(Value::Never),
                _ => Err(wrong(text)),
            }
        }
        Shape::Rate => {
            let text = word(0)?;
            text.parse().map_err(|_| wrong(text)).and_then(|rate| one(Value::Rate(rate)))
        }
        Shape::Map => {
            let pairs = whole(0)?;
            // Compare the stated number of pairs with the number of words before memory is allocated for the pairs.
            if pairs.checked_mul(2).is_none_or(|items| items > words.len() as u64) {
                let given = (words.len() - 1) / 2;
                return Err((format!("the line has {given} pairs instead of {pairs}"), shape.example()));
            }
            let pair = |at: usize| {
                let rate = whole(1 + 2 * at)?;
                let rate = Rate::from_bps(rate).ok_or_else(|| wrong(words[1 + 2 * at]))?;
                let text = word(2 + 2 * at)?;
                let number = text.parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
                number.map(|number| (rate, number)).ok_or_else(|| wrong(text))
            };
            let map: Vec<(Rate, f64)> = (0..pairs as usize).map(pair).collect::<Result<_, _>>()?;
            Ok((Value::Map(map), 1 + 2 * pairs as usize))
        }
        Shape::Down => Ok((Value::Down(whole(0)?, whole(1)?, whole(2)?), 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &str = "TOPOLOGY_FILE mix/topology.txt\nFLOW_FILE mix/flow.txt\n";

    fn entry(line: &str) -> Value {
        let config = HpccConfig::parse(&format!("{FILES}{line}\n"), "config.txt").unwrap();
        config.entries.last().unwrap().value.clone()
    }

    fn message(line: &str) -> String {
        HpccConfig::parse(&format!("{FILES}{line}\n"), "config.txt").unwrap_err().to_string()
    }

    #[test]
    fn values_have_the_shapes_of_the_simulator() {
        assert_eq!(entry("CC_MODE 1 {0: none}"), Value::Whole(1));
        assert_eq!(entry("  ENABLE_QCN\t2"), Value::Switch(true));
        assert_eq!(entry("EWMA_GAIN 0.00390625"), Value::Share(0.003_906_25));
        assert_eq!(entry("SIMULATOR_STOP_TIME 4.00"), Value::Time(Time::from_s(4)));
        assert_eq!(entry("SIMULATOR_STOP_TIME 40000000000000.00"), Value::Never, "as SimAI and ASTRA-sim ship it");
        assert_eq!(entry("RP_TIMER 0.5 # half"), Value::Time(Time::from_ns(500)));
        assert_eq!(entry("RATE_AI 50Mb/s"), Value::Rate(Rate::from_mbps(50)));
        assert_eq!(entry("MIN_RATE 1Gbps"), Value::Rate(Rate::from_gbps(1)));
        assert_eq!(entry("KMAX_MAP 1 100000000000 1600"), Value::Map(vec![(Rate::from_gbps(100), 1600.0)]));
        assert_eq!(entry("LINK_DOWN 100 3 4"), Value::Down(100, 3, 4));
    }

    #[test]
    fn what_is_no_value_is_an_error_with_its_line() {
        for (line, expected) in [
            ("CC_MODE", "config.txt:3: CC_MODE: the value is missing"),
            ("CC_MODE dcqcn", "config.txt:3: CC_MODE: `dcqcn` is not a whole number"),
            ("EWMA_GAIN 1.5", "`1.5` is not a share from 0 to 1"),
            ("SIMULATOR_STOP_TIME -1", "`-1` is not a number of seconds"),
            ("RP_TIMER 9e2", "`9e2` is not a number of microseconds"),
            ("RATE_AI 50", "`50` is not a rate"),
            ("KMAX_MAP 18446744073709551615 1 1", "the line has 1 pairs instead of 18446744073709551615"),
            ("KMAX_MAP 1 fast 1600", "`fast` is not"),
            ("KMAX_MAP 1 0 1600", "`0` is not"),
            ("KMAX_MAP 1 100 -5", "`-5` is not"),
            ("LINK_DOWN 0 0", "LINK_DOWN: the value is missing"),
        ] {
            assert!(message(line).contains(expected), "{line}: {}", message(line));
        }
        let all = HpccConfig::parse("CC_MODE x\nRP_TIMER y\nFLOW_FILE\n", "c").unwrap_err();
        assert_eq!(all.errors.len(), 3, "all errors are reported at once: {all}");
        let nameless = HpccConfig::parse("\u{feff}CC_MODE 1\n", "c").unwrap();
        assert!(nameless.topology().unwrap_err().to_string().contains("TOPOLOGY_FILE is missing"));
        assert!(nameless.flows().unwrap_err().errors[0].help.as_deref().unwrap_or_default().contains("--flows FILE"));
        assert!(HpccConfig::parse("", "c").unwrap_err().to_string().contains("the file has no key"));
    }

    #[test]
    fn the_last_value_of_a_key_holds_and_unread_keys_are_reported() {
        let text = format!("{FILES}CC_MODE 3\nCC_MODE 1 or 3\n");
        let config = HpccConfig::parse(&text, "c").unwrap();
        assert_eq!(config.find("CC_MODE").unwrap().value, Value::Whole(1));
        let expected = ["c:4: CC_MODE: ignored from `or` on", "c:4: CC_MODE is also in line 3; the last one is used"];
        assert_eq!(config.remarks, expected);
        assert_eq!(config.topology().unwrap(), ("mix/topology.txt", 1));
    }
}
