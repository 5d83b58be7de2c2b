//! Command-line arguments that several commands share.

use lab::{LabError, Override, Source, parse_override};
use scenario::MAX_WRITTEN_BYTES;
use std::io::{Error, Read, stdin};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Name that errors give to standard input.
const STANDARD_INPUT: &str = "standard input";

/// Text read from standard input, stored so that error messages can quote it.
static READ: OnceLock<String> = OnceLock::new();

/// A scenario and its overrides from the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct ScenarioArgs {
    /// Scenario, a TOML file; - reads standard input.
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Change a value: `--set fabric.k=8 --set traffic.0.load=0.5`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
    pub set: Vec<Override>,
}

impl ScenarioArgs {
    /// Returns the path of the scenario file, or the whole text read from standard input.
    ///
    /// # Errors
    /// If standard input cannot be read, is too long for a scenario, or is not UTF-8 text.
    pub fn source(&self) -> Result<Source, LabError> {
        if self.scenario.as_os_str() != "-" {
            return Ok(Source::File(self.scenario.clone()));
        }
        let (path, mut bytes) = (PathBuf::from(STANDARD_INPUT), Vec::new());
        let read = stdin().lock().take(MAX_WRITTEN_BYTES + 1).read_to_end(&mut bytes);
        let read = read.and_then(|length| match length as u64 > MAX_WRITTEN_BYTES {
            true => Err(Error::other(format!("it is longer than {}", units::Bytes(MAX_WRITTEN_BYTES)))),
            false => Ok(()),
        });
        read.map_err(|source| LabError::Unreadable { path: path.clone(), source })?;
        let text = fabric::files::text_of(&bytes).map_err(|fault| LabError::NotText { path, line: fault.line })?;
        let text = READ.get_or_init(|| text.to_owned()).clone();
        Ok(Source::Text { text, name: STANDARD_INPUT.to_owned() })
    }
}

/// Returns the text of the scenario that errors call `path`; empty if the file no longer exists.
pub fn text_of(path: &Path) -> String {
    let read = READ.get().filter(|_| path.as_os_str() == STANDARD_INPUT);
    read.cloned().unwrap_or_else(|| std::fs::read_to_string(path).unwrap_or_default())
}
