//! What is wrong with a folder.

use std::path::PathBuf;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A folder that holds no result.
    #[error("{} is no result of tidegate: it has no summary.json with a results_hash", path.display())]
    NotAResult {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that holds no sweep.
    #[error("{} is no sweep of tidegate: it has no sweep.json that says what was swept", path.display())]
    NotASweep {
        /// The folder.
        path: PathBuf,
    },
    /// A result that this version cannot be sure to understand.
    #[error("{} was written by tidegate {version}, this is {}: run it \
        again", path.display(), env!("CARGO_PKG_VERSION"))]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// Who wrote it.
        version: String,
    },
    /// A file that is damaged or cannot be read.
    #[error(transparent)]
    Record(#[from] record::RecordError),
}
