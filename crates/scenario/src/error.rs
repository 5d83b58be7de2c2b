//! Errors, warnings and origins of values.

use std::fmt;
use std::ops::Range;

/// An error with its position. Prints as `file:line:column: message`, then the help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// Path of the scenario, path of a file that it names, or the override.
    pub path: String,
    /// Line, from 1; 0 if there is none (an override).
    pub line: u64,
    /// Column in characters, from 1; 0 if only the line is set.
    pub column: u64,
    /// Byte range in the scenario's text, for rendering; empty if there is none.
    pub span: Range<usize>,
    /// The key, as in `--set`: `traffic.0.load`; empty for the whole file.
    pub key: String,
    /// Description of the error.
    pub message: String,
    /// A correct value or another fix.
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

/// All errors of a scenario, in file order; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioErrors {
    /// The errors.
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

/// Makes the error for a file that is not UTF-8, with the line of the first invalid byte.
pub(crate) fn not_text(path: &str, line: usize) -> ScenarioErrors {
    let (path, key, message) = (path.to_owned(), String::new(), "not UTF-8 text".to_owned());
    ScenarioErrors {
        errors: vec![ScenarioError { path, line: line as u64, column: 0, span: 0..0, key, message, help: None }],
    }
}

/// A warning about a valid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The key, as in `--set`.
    pub key: String,
    /// Text of the warning.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Written in the scenario.
    File {
        /// Line, from 1.
        line: u64,
    },
    /// Not written: the default.
    Default {
        /// Source of this default.
        source: &'static str,
    },
    /// Not written, and there is no default value: [`Explained::value`] describes the effect.
    Absent {
        /// Source of this effect.
        source: &'static str,
    },
    /// Set by `--set` on the command line.
    Override,
}

/// One effective value of a run, written or default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The key, as in `--set`.
    pub key: String,
    /// Value in canonical units; a description of the effect if the origin is [`Origin::Absent`].
    pub value: String,
    /// Origin of the value.
    pub origin: Origin,
}
