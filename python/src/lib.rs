//! What Python calls: runs, runs step by step, tables and the parts of a sweep. Everything that is convenient stands in
//! `tidegate/*.py`; here is what needs the crates of the command.

use pyo3::prelude::*;

mod error;
mod gym;
mod run;
mod sweep;
mod table;

/// The native half of the package `tidegate`.
#[pymodule]
mod _native {
    /// That of the crates, which is in every result.
    #[pymodule_export]
    // Python has this name for it.
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::gym::Episode;
    #[pymodule_export]
    use crate::run::{check, dict_text, run};
    #[pymodule_export]
    use crate::sweep::Plan;
    #[pymodule_export]
    use crate::table::{Table, read_table};
}
