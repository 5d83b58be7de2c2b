//! Native part of the package `tidegate`: runs, stepwise runs, tables and the parts of a sweep. Convenience functions
//! are in `tidegate/*.py`; this crate has the code that needs the Rust crates.

use pyo3::prelude::*;

mod error;
mod gym;
mod run;
mod sweep;
mod table;

/// Native part of the package `tidegate`.
#[pymodule]
mod _native {
    /// Version of the crates, which is in every result.
    #[pymodule_export]
    // Python requires this name.
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
