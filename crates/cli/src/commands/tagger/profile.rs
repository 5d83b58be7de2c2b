//! Reads `--profile`, the limits of an ASIC.

use super::source::read_text;
use crate::failure::Failure;
use std::path::Path;
pub use tagger::operate::profile::Profile;

/// Reads a profile.
///
/// # Errors
/// If the file cannot be read or is invalid; the error has the line.
pub fn read(path: &Path) -> Result<Profile, Failure> {
    Profile::parse(&read_text(path)?).map_err(|error| {
        let line = error.line.map_or(String::new(), |line| format!(":{line}"));
        Failure::input(format!("{}{line}: {error}", path.display()), format!("keys: {}", Profile::KEYS))
    })
}
