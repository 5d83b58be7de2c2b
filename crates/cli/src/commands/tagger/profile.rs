//! The limits of an ASIC, a TOML file.

use super::source::read_text;
use crate::failure::Failure;
use serde::Deserialize;
use std::path::Path;
use tagger::operate::budget::Limits;
use toml::Spanned;
use units::Bytes;

/// What a file says of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Where its numbers come from.
    pub source: String,
    /// They.
    pub limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    source: String,
    buffer: Option<Spanned<String>>,
    lossless_priorities: Option<Spanned<i64>>,
    tcam_entries: Option<Spanned<i64>>,
    traffic_classes: Option<Spanned<i64>>,
    ports: Option<Spanned<i64>>,
}

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// A file that cannot be read, or a key that is unknown or out of range, with its line.
    pub fn read(path: &Path) -> Result<Profile, Failure> {
        let text = read_text(path)?;
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let wrong = |at: Option<usize>, message: String| {
            let place = at.map_or(String::new(), |at| format!(":{}", line(at)));
            let help =
                "keys: name, source, buffer = \"32MB\", lossless_priorities, tcam_entries, traffic_classes, ports";
            Failure::input(format!("{}{place}: {message}", path.display()), help)
        };
        let raw: Raw = toml::from_str(&text)
            .map_err(|error| wrong(error.span().map(|span| span.start), error.message().to_owned()))?;
        let number = |key: &str, value: Option<Spanned<i64>>, most: i64| match value {
            None => Ok(None),
            Some(value) => match *value.get_ref() {
                fine if (1..=most).contains(&fine) => Ok(Some(fine as u64)),
                other => {
                    Err(wrong(Some(value.span().start), format!("`{key}` = {other} must be between 1 and {most}")))
                }
            },
        };
        let buffer = raw.buffer.map(|value| {
            let size = value.get_ref().parse::<Bytes>();
            size.map(Bytes::get).map_err(|error| wrong(Some(value.span().start), format!("`buffer`: {error}")))
        });
        let limits = Limits {
            buffer_bytes: buffer.transpose()?,
            lossless_priorities: number("lossless_priorities", raw.lossless_priorities, 8)?,
            tcam_entries: number("tcam_entries", raw.tcam_entries, i64::from(u32::MAX))?,
            traffic_classes: number("traffic_classes", raw.traffic_classes, 16)?,
            ports: number("ports", raw.ports, 65_535)?,
        };
        Ok(Profile { name: raw.name, source: raw.source, limits })
    }
}
