//! Parameters of a mechanism, read from its table by their declaration.

use crate::section::Section;
use crate::values::canonical;
use protocols::describe::{Default, Mechanism, Parameter, ValueType};
use protocols::{Checked, ParameterError, Parameters};

/// Texts of valid values by key, and the keys of invalid or missing values, whose errors are already reported.
type Texts = (Vec<(&'static str, String)>, Vec<String>);

/// Reads the parameters of `mechanism` that `T` has. `further` is the list of (key, text) pairs that the caller reads
/// itself. All errors are reported. Returns `None` if a value cannot be parsed. Values out of range are returned, so
/// that they can be checked against other values.
pub(crate) fn build<T: Parameters>(
    table: &Section<'_, '_>,
    mechanism: &'static Mechanism,
    further: &[(&'static str, &str)],
) -> Option<T> {
    let texts = texts(table, mechanism, |key| T::MECHANISM.parameter(key).is_some());
    checked(table, texts, |settings| {
        let read = T::read(&settings.iter().chain(further).copied().collect::<Vec<_>>())?;
        let faults = read.check();
        Ok((read, faults))
    })
}

/// Reads all parameters of `mechanism` with `read`. All errors are reported. Returns `None` like [`build`].
pub(crate) fn build_with<T>(
    table: &Section<'_, '_>,
    mechanism: &'static Mechanism,
    read: impl Fn(&[(&str, &str)]) -> Checked<T>,
) -> Option<T> {
    checked(table, texts(table, mechanism, |_| true), read)
}

/// Reads the parameters of a mechanism for which `is_read` holds, except those of [`ValueType::Other`], which have
/// separate readers.
fn texts(table: &Section<'_, '_>, mechanism: &'static Mechanism, is_read: impl Fn(&str) -> bool) -> Texts {
    let (mut settings, mut wrong) = Texts::default();
    let is_read = |it: &&Parameter| it.syntax.value != ValueType::Other && is_read(it.key);
    for parameter in mechanism.parameters.iter().filter(is_read) {
        let key = parameter.key;
        match table.read(key, |value| canonical(key, value, parameter.syntax)) {
            Some(text) => settings.push((key, text)),
            None if table.has(key) || parameter.default == Default::Required => wrong.push(key.to_owned()),
            None => {}
        }
    }
    (settings, wrong)
}

/// Parses the texts, except those that cannot be read, and reports each error at its key. An invalid value is replaced
/// by its default, and errors that involve such a default are not reported.
fn checked<T>(
    table: &Section<'_, '_>,
    (mut settings, mut wrong): Texts,
    read: impl Fn(&[(&str, &str)]) -> Checked<T>,
) -> Option<T> {
    loop {
        let all: Vec<(&str, &str)> = settings.iter().map(|(key, text)| (*key, text.as_str())).collect();
        match read(&all) {
            Ok((value, faults)) => {
                let concerns = |fault: &ParameterError| {
                    let text = fault.to_string();
                    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                    words.any(|word| wrong.iter().any(|key| key == word))
                };
                for fault in faults.iter().filter(|fault| !concerns(fault)) {
                    fail(table, &settings, fault);
                }
                return wrong.is_empty().then_some(value);
            }
            Err(error) => {
                let key = error.key().to_owned();
                if !wrong.contains(&key) {
                    fail(table, &settings, &error);
                }
                let before = settings.len();
                settings.retain(|(other, _)| *other != key);
                if settings.len() == before {
                    return None;
                }
                wrong.push(key);
            }
        }
    }
}

fn fail(table: &Section<'_, '_>, settings: &[(&'static str, String)], error: &ParameterError) {
    match error {
        ParameterError::Range { key, wanted } => {
            let text = settings.iter().find(|(other, _)| other == key).map(|(_, text)| text.as_str());
            let value = match text {
                Some(text) if table.has(key) => format!("`{key}` = {text} is out of range"),
                Some(text) => format!("the default of `{key}`, {text}, is out of range"),
                None => format!("`{key}` is out of range"),
            };
            table.fail(key, value, Some(format!("write {wanted}")));
        }
        ParameterError::Value { key, value, wanted } => {
            let wanted = if wanted.starts_with("a ") { format!("write {wanted}") } else { wanted.clone() };
            table.fail(key, format!("`{key}` cannot be {value}"), Some(wanted));
        }
        _ => table.fail("", error.to_string(), None),
    }
}
