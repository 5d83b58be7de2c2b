//! ASIC profiles: limits of an ASIC in a TOML file.

use super::budget::Limits;
use serde::Deserialize;
use toml::Spanned;
use units::Bytes;

/// Contents of a profile file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name of the profile.
    pub name: String,
    /// Source of the limits, such as a data sheet.
    pub source: String,
    /// Limits.
    pub limits: Limits,
}

/// Invalid profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProfileError {
    /// Line number, from 1, if the error is at a line.
    pub line: Option<usize>,
    /// Error message.
    pub message: String,
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
    /// Valid keys of a file, for error messages.
    pub const KEYS: &str = "name, source, buffer = \"32MB\", lossless_priorities, tcam_entries, traffic_classes, ports";

    /// Reads a profile.
    ///
    /// # Errors
    /// A key that is missing, unknown or out of range, with its line.
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        let line = |at: usize| text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1;
        let wrong = |at: Option<usize>, message: String| ProfileError { line: at.map(line), message };
        let raw: Raw = toml::from_str(text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_states_its_limits_and_errors_state_the_line() {
        let text = "name = \"a\"\nsource = \"b\"\nbuffer = \"12MB\"\nports = 32\n";
        let limits = Limits { buffer_bytes: Some(12_000_000), ports: Some(32), ..Limits::default() };
        assert_eq!(Profile::parse(text).unwrap().limits, limits);
        let wrong = |from: &str, to: &str| Profile::parse(&text.replace(from, to)).unwrap_err();
        let error = wrong("32", "0");
        assert_eq!((error.line, error.message.as_str()), (Some(4), "`ports` = 0 must be between 1 and 65535"));
        assert_eq!(wrong("12MB", "12").line, Some(3));
        assert_eq!(wrong("ports", "port").line, Some(4));
        assert!(wrong("name = \"a\"\n", "").message.contains("name"));
    }
}
