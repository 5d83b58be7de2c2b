//! Conversion of Rust errors to exceptions of the package, which are defined in Python.

use lab::LabError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the exception for `error`: `ScenarioError` with every mistake and its place, or `TidegateError`.
pub fn exception(py: Python<'_>, error: &LabError) -> PyErr {
    build(py, error).unwrap_or_else(|wrong| wrong)
}

fn build(py: Python<'_>, error: &LabError) -> PyResult<PyErr> {
    let module = py.import("tidegate._errors")?;
    let LabError::Scenario { errors, .. } = error else {
        let value = module.getattr("TidegateError")?.call1((error.to_string(),))?;
        return Ok(PyErr::from_value(value));
    };
    let mut mistakes = Vec::new();
    for error in &errors.errors {
        let mistake = PyDict::new(py);
        mistake.set_item("file", &error.path)?;
        mistake.set_item("line", error.line)?;
        mistake.set_item("column", error.column)?;
        mistake.set_item("key", &error.key)?;
        mistake.set_item("message", &error.message)?;
        mistake.set_item("help", error.help.as_deref())?;
        mistakes.push(mistake);
    }
    Ok(PyErr::from_value(module.getattr("ScenarioError")?.call1((mistakes,))?))
}
