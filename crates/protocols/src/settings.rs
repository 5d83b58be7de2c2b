//! Parser of parameter values in scenarios, with the error messages for invalid values.

use crate::limits::{QueueLimit, Threshold};
use crate::reaction::Reaction;
use units::{Bytes, Rate, Time, parse_percent};

/// Error of a parameter, with its valid values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The mechanism has no such parameter.
    #[error("`{kind}` has no parameter `{key}`: it takes {known}")]
    Unknown {
        /// Name of the mechanism.
        kind: &'static str,
        /// Unknown key in the scenario.
        key: String,
        /// List of valid keys.
        known: String,
    },
    /// The text is not a valid value of this parameter.
    #[error("`{key} = {value}`: {wanted}")]
    Value {
        /// Key of the parameter.
        key: String,
        /// Text in the scenario.
        value: String,
        /// Description of valid values.
        wanted: String,
    },
    /// A value is out of range, or is inconsistent with another value.
    #[error("`{key}`: {wanted}")]
    Range {
        /// Key of the parameter.
        key: &'static str,
        /// Description of valid values.
        wanted: String,
    },
    /// A required parameter is not set.
    #[error("`{kind}` needs `{key}`")]
    Missing {
        /// Name of the mechanism.
        kind: &'static str,
        /// Key of the parameter.
        key: &'static str,
    },
    /// No transport has this name.
    #[error("`{kind}` is not a transport: write one of {known}")]
    Transport {
        /// Name in the scenario.
        kind: String,
        /// List of valid names.
        known: String,
    },
}

impl ParameterError {
    /// Returns the key of the parameter; empty for an unknown transport.
    pub fn key(&self) -> &str {
        match self {
            ParameterError::Unknown { key, .. } | ParameterError::Value { key, .. } => key,
            ParameterError::Range { key, .. } | ParameterError::Missing { key, .. } => key,
            ParameterError::Transport { .. } => "",
        }
    }
}

/// Parameters, with an error for each value that is out of range or inconsistent with another value; or the first
/// parse error.
pub type Checked<T> = Result<(T, Vec<ParameterError>), ParameterError>;

/// Creates a [`ParameterError::Value`].
fn wrong(key: &str, value: &str, wanted: impl ToString) -> ParameterError {
    ParameterError::Value { key: key.to_owned(), value: value.to_owned(), wanted: wanted.to_string() }
}

/// Returns a [`ParameterError::Range`] unless `holds` is true.
pub(crate) fn require(holds: bool, key: &'static str, wanted: impl ToString) -> Result<(), ParameterError> {
    if holds { Ok(()) } else { Err(ParameterError::Range { key, wanted: wanted.to_string() }) }
}

pub(crate) fn time(key: &str, text: &str) -> Result<Time, ParameterError> {
    text.parse().map_err(|error| wrong(key, text, error))
}

/// Parses a time; `word` yields `None`.
pub(crate) fn time_or(key: &str, text: &str, word: &str) -> Result<Option<Time>, ParameterError> {
    if text == word { Ok(None) } else { time(key, text).map(Some) }
}

pub(crate) fn rate(key: &str, text: &str) -> Result<Rate, ParameterError> {
    text.parse().map_err(|error| wrong(key, text, error))
}

/// Parses a rate; `word` yields `None`.
pub(crate) fn rate_or(key: &str, text: &str, word: &str) -> Result<Option<Rate>, ParameterError> {
    if text == word { Ok(None) } else { rate(key, text).map(Some) }
}

pub(crate) fn bytes(key: &str, text: &str) -> Result<u64, ParameterError> {
    text.parse().map(Bytes::get).map_err(|error| wrong(key, text, error))
}

/// Parses a size; `word` yields `None`.
pub(crate) fn bytes_or(key: &str, text: &str, word: &str) -> Result<Option<u64>, ParameterError> {
    if text == word { Ok(None) } else { bytes(key, text).map(Some) }
}

/// Parses a size that is at most the maximum frame length, 65535 bytes.
pub(crate) fn frame_bytes(key: &str, text: &str) -> Result<u16, ParameterError> {
    u16::try_from(bytes(key, text)?).map_err(|_| wrong(key, text, "a size of at most 65535 bytes"))
}

/// Parses a whole number within the range of its type.
pub(crate) fn count<T: TryFrom<u32> + Into<u32> + Ones>(key: &str, text: &str) -> Result<T, ParameterError> {
    let number = text.parse::<u32>().ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| wrong(key, text, format!("a whole number from 0 to {}", T::ONES.into())))
}

/// Parses a whole number from `least` to `most`.
pub(crate) fn count_in<T: TryFrom<u32>>(key: &str, text: &str, least: u32, most: u32) -> Result<T, ParameterError> {
    let number = text.parse::<u32>().ok().filter(|number| (least..=most).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| wrong(key, text, format!("a whole number from {least} to {most}")))
}

/// Maximum value of an unsigned integer type.
pub(crate) trait Ones {
    /// Maximum value: all bits are ones.
    const ONES: Self;
}
impl Ones for u8 {
    const ONES: u8 = u8::MAX;
}
impl Ones for u16 {
    const ONES: u16 = u16::MAX;
}
impl Ones for u32 {
    const ONES: u32 = u32::MAX;
}

/// Parses a finite number.
pub(crate) fn number(key: &str, text: &str) -> Result<f64, ParameterError> {
    text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| wrong(key, text, "a number"))
}

/// Parses a threshold: a size, or a share of the free part of the shared buffer.
pub(crate) fn threshold(key: &str, text: &str) -> Result<Threshold, ParameterError> {
    if !text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '/' | ' ')) {
        return bytes(key, text).map(|bytes| Threshold::Static { bytes });
    }
    let alpha = crate::limits::fraction(text).filter(|(numerator, denominator)| *numerator > 0 && *denominator > 0);
    let wanted = "a size like \"100KB\", or a share of the free buffer like \"1/8\"";
    alpha.map(|alpha| Threshold::Dynamic { alpha }).ok_or_else(|| wrong(key, text, wanted))
}

/// Parses a queue limit: a number of packets, or a size.
pub(crate) fn queue_limit(key: &str, text: &str) -> Result<QueueLimit, ParameterError> {
    match text.strip_suffix("packets").or(text.strip_suffix("packet")) {
        Some(packets) => count(key, packets.trim()).map(QueueLimit::Packets),
        None => bytes(key, text).map(QueueLimit::Bytes),
    }
}

/// Parses a share above 0, up to 1, into numerator and denominator.
pub(crate) fn fraction(key: &str, text: &str) -> Result<(u32, u32), ParameterError> {
    let share =
        crate::limits::fraction(text).filter(|&(numerator, denominator)| 0 < numerator && numerator <= denominator);
    share.ok_or_else(|| wrong(key, text, "a share above 0, up to 1, like \"1/4\""))
}

/// Parses the reaction time of a port to a pause.
pub(crate) fn reaction(key: &str, text: &str) -> Result<Reaction, ParameterError> {
    text.parse().map_err(|error| wrong(key, text, error))
}

pub(crate) fn share(key: &str, text: &str) -> Result<f64, ParameterError> {
    let value = parse_percent(text).map_err(|error| wrong(key, text, error))?;
    if value <= 1.0 { Ok(value) } else { Err(wrong(key, text, "a share from 0 to 1")) }
}

/// Parses a traffic class.
pub(crate) fn class(key: &str, text: &str) -> Result<u8, ParameterError> {
    text.parse::<u8>().ok().filter(|class| *class < 8).ok_or_else(|| wrong(key, text, "a class from 0 to 7"))
}

/// Parses a list of traffic classes such as `[3, 4]` into a bitmask.
pub(crate) fn classes(key: &str, text: &str) -> Result<u8, ParameterError> {
    let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let list = inner.ok_or_else(|| wrong(key, text, "a list of classes, such as [3]"))?;
    let mut classes = 0;
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        classes |= 1 << class(key, item)?;
    }
    if classes == 0 { Err(wrong(key, text, "a list of at least one class")) } else { Ok(classes) }
}

/// Parses two different traffic classes: `[6, 7]`.
pub(crate) fn class_pair(key: &str, text: &str) -> Result<[u8; 2], ParameterError> {
    let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let (first, second) = inner.and_then(|inner| inner.split_once(',')).unwrap_or_default();
    match (class(key, first.trim()), class(key, second.trim())) {
        (Ok(first), Ok(second)) if first != second => Ok([first, second]),
        _ => Err(wrong(key, text, "a list of two different classes, such as [6, 7]")),
    }
}

/// Parses a list of eight values, class 0 first, each by `read`.
fn by_class<T: Copy + Default>(
    key: &str,
    text: &str,
    read: impl Fn(&str, &str) -> Result<T, ParameterError>,
) -> Result<[T; 8], ParameterError> {
    let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let items: Vec<&str> = inner.unwrap_or_default().split(',').map(str::trim).collect();
    if items.len() != 8 {
        return Err(wrong(key, text, "a list of eight values, class 0 first"));
    }
    let mut all = [T::default(); 8];
    for (slot, item) in all.iter_mut().zip(items) {
        *slot = read(key, item)?;
    }
    Ok(all)
}

/// Parses the weight of each class.
pub(crate) fn weights(key: &str, text: &str) -> Result<[u16; 8], ParameterError> {
    by_class(key, text, |key, text| count_in(key, text, 1, 65_535))
}

/// Parses the quantum of each class.
pub(crate) fn quanta(key: &str, text: &str) -> Result<[u32; 8], ParameterError> {
    by_class(key, text, |key, text| {
        let bytes = u32::try_from(bytes(key, text)?).ok().filter(|bytes| *bytes > 0);
        bytes.ok_or_else(|| wrong(key, text, "a size from 1B to 4GB"))
    })
}

/// Parses the rate of each class; `none` for those without.
pub(crate) fn slopes(key: &str, text: &str) -> Result<[Option<Rate>; 8], ParameterError> {
    by_class(key, text, |key, text| rate_or(key, text, "none"))
}

/// Takes the name of a file. The path is relative to the folder of the scenario.
pub(crate) fn file(_: &str, text: &str, _example: &str) -> Result<String, ParameterError> {
    Ok(text.to_owned())
}

/// Parses a number above 0.
pub(crate) fn positive(key: &str, text: &str) -> Result<f64, ParameterError> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| wrong(key, text, "a number above 0"))
}

pub(crate) fn switch(key: &str, text: &str) -> Result<bool, ParameterError> {
    text.parse().map_err(|_| wrong(key, text, "write true or false"))
}

/// Parses one of the `words`, and returns its value.
pub(crate) fn word<T: Copy>(key: &str, text: &str, words: &[(&str, T)]) -> Result<T, ParameterError> {
    let known = || words.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = words.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| wrong(key, text, format!("write one of {}", known())))
}

/// Returns the error for a key that `mechanism` does not have.
pub(crate) fn unknown(mechanism: &crate::describe::Mechanism, key: &str) -> ParameterError {
    let known = mechanism.parameters.iter().map(|parameter| parameter.key).collect::<Vec<_>>().join(", ");
    ParameterError::Unknown { kind: mechanism.kind, key: key.to_owned(), known }
}

/// Returns the error for a required key of `mechanism` that is not set.
pub(crate) fn missing(mechanism: &crate::describe::Mechanism, key: &'static str) -> ParameterError {
    ParameterError::Missing { kind: mechanism.kind, key }
}
