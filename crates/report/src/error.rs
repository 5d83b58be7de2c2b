//! Errors of reports.

use std::path::PathBuf;

/// An error that prevents a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The folder is not a result.
    #[error("{} is not a result of tidegate: it has no summary.json with a results_hash", path.display())]
    NotAResult {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is not a sweep.
    #[error("{} is not a sweep of tidegate: sweep.json is missing or invalid", path.display())]
    NotASweep {
        /// The folder.
        path: PathBuf,
    },
    /// A result of another version, whose format may differ.
    #[error("{} was written by tidegate {version}, this is {}: run it \
        again", path.display(), env!("CARGO_PKG_VERSION"))]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// Version of tidegate that wrote the result.
        version: String,
    },
    /// A file that is damaged or cannot be read.
    #[error(transparent)]
    Record(#[from] record::RecordError),
}
