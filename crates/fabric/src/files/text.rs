//! Common parts of the text file readers.

use super::error::FileError;
use super::plain::fail;
use crate::LinkSpec;
use std::fmt::Display;
use std::str::FromStr;

/// Truncates a word to 40 characters for an error message.
pub(crate) fn shown(word: &str) -> String {
    if word.chars().count() <= 40 { word.to_owned() } else { word.chars().take(40).chain("...".chars()).collect() }
}

/// Returns the non-blank lines with their line numbers (from 1), without a byte order mark.
pub(crate) fn lines(content: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = content.trim_start_matches('\u{feff}').lines().enumerate();
    numbered.map(|(n, text)| (n + 1, text)).filter(|(_, text)| !text.trim().is_empty())
}

/// Returns link properties from attributes by name; a missing attribute has the value in `default`.
pub(crate) fn spec_of(
    location: &str,
    attribute: impl Fn(&str) -> Option<String>,
    default: LinkSpec,
) -> Result<LinkSpec, FileError> {
    fn parsed<T: FromStr<Err: Display>>(location: &str, key: &str, text: &str) -> Result<T, FileError> {
        text.parse().or_else(|error: T::Err| fail(format!("{location}.{key}"), error.to_string()))
    }
    let mut spec = default;
    if let Some(text) = attribute("rate") {
        spec.rate = parsed(location, "rate", &text)?;
    }
    if let Some(text) = attribute("delay") {
        spec.delay = parsed(location, "delay", &text)?;
    }
    for (key, field) in [("loss", &mut spec.loss), ("bit_error_rate", &mut spec.bit_error_rate)] {
        if let Some(text) = attribute(key) {
            match text.trim().parse::<f64>().ok().filter(|value| (0.0..=1.0).contains(value)) {
                Some(value) => *field = value,
                None => return fail(format!("{location}.{key}"), "must be a number between 0 and 1"),
            }
        }
    }
    Ok(spec)
}
