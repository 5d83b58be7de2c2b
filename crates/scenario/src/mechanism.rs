//! Parameters of a mechanism, read from its table by their declaration.

use crate::section::Section;
use crate::values::canonical;
use protocols::describe::{Default, Mechanism, Parameter, ValueType};
use protocols::{ParameterError, Parameters};

/// Reads the parameters of `mechanism` that `T` has, beside `further` settings; `None` after an error, which is
/// reported.
pub(crate) fn build<T: Parameters>(
    table: &Section<'_, '_>,
    mechanism: &'static Mechanism,
    further: &[(&'static str, &str)],
) -> Option<T> {
    let settings = settings(table, mechanism, |key| T::MECHANISM.parameter(key).is_some())?;
    let settings = settings.iter().map(|(key, text)| (*key, text.as_str()));
    report(table, T::build(&settings.chain(further.iter().copied()).collect::<Vec<_>>()))
}

/// Reads those parameters of a mechanism for which `is_read` holds as canonical texts, without those of
/// [`ValueType::Other`], which have readers of their own; `None` if one is wrong or missing, which is reported.
pub(crate) fn settings(
    table: &Section<'_, '_>,
    mechanism: &'static Mechanism,
    is_read: impl Fn(&str) -> bool,
) -> Option<Vec<(&'static str, String)>> {
    let mut wrong = false;
    let mut settings = Vec::new();
    let is_read = |it: &&Parameter| it.syntax.value != ValueType::Other && is_read(it.key);
    for parameter in mechanism.parameters.iter().filter(is_read) {
        match table.read(parameter.key, |value| canonical(parameter.key, value, parameter.syntax)) {
            Some(text) => settings.push((parameter.key, text)),
            None => wrong |= table.has(parameter.key) || parameter.default == Default::Required,
        }
    }
    (!wrong).then_some(settings)
}

/// Returns the parameters, or reports the error at its key.
pub(crate) fn report<T>(table: &Section<'_, '_>, built: Result<T, ParameterError>) -> Option<T> {
    match built {
        Ok(parameters) => return Some(parameters),
        Err(ParameterError::Range { key, wanted }) => {
            table.fail(key, format!("`{key}` is out of range"), Some(format!("write {wanted}")));
        }
        Err(ParameterError::Value { key, value, wanted }) => {
            table.fail(&key, format!("`{key}` cannot be {value}"), Some(wanted));
        }
        Err(error) => table.fail("", error.to_string(), None),
    }
    None
}
