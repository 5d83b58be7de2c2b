//! What is wrong with a scenario, and where.

use std::fmt;
use std::ops::Range;

/// One mistake, with its place. Prints as `file:line:column: message`, then what would help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// The scenario, a file that it names, or the override that is wrong.
    pub path: String,
    /// Line, from 1; 0 where there is none (an override).
    pub line: u64,
    /// Column in characters, from 1; 0 where only the line is known.
    pub column: u64,
    /// Bytes of the scenario's text, for drawing; empty where there are none.
    pub span: Range<usize>,
    /// The key, as `--set` would name it: `traffic.0.load`; empty for the whole file.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        write!(f, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// Every mistake of a scenario, in the order of the file; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioErrors {
    /// The mistakes.
    pub errors: Vec<ScenarioError>,
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.errors.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

/// What is no text, and in which line.
pub(crate) fn not_text(path: &str, line: usize) -> ScenarioErrors {
    let (path, key, message) = (path.to_owned(), String::new(), "not UTF-8 text".to_owned());
    ScenarioErrors {
        errors: vec![ScenarioError { path, line: line as u64, column: 0, span: 0..0, key, message, help: None }],
    }
}

/// Something that was accepted but should be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The key that it is about, as `--set` would name it.
    pub key: String,
    /// What should be known.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The scenario says so.
    File {
        /// In this line, from 1.
        line: u64,
    },
    /// Nobody said anything.
    Default {
        /// Why this default.
        source: &'static str,
    },
    /// The command line.
    Override,
}

/// One value that a run goes by, written or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The key, as `--set` would name it.
    pub key: String,
    /// Its value in canonical units.
    pub value: String,
    /// Who said so.
    pub origin: Origin,
}
