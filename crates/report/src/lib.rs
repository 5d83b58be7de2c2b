//! Results as one HTML page that needs nothing else: no network, no server, no library.
//!
//! ```text
//!   result folder ── read ──> Run: numbers and thinned curves ── page ──> one file
//!   (Parquet, summary.json)   (what the page draws, as JSON)              page.html + page.css + scripts + JSON
//!   sweep folder ─── read ──> Sweep: samples of every combination ── sweep_page ──> one file
//! ```
//!
//! Everything that could grow with the length of a run is thinned to what a screen shows: a report of ten runs stays
//! a few megabytes.

mod controls;
mod curves;
mod page;
mod run;
mod sweep;

pub use controls::Panel;
pub use page::{page, sweep_page};
pub use run::{Run, read_run};
pub use sweep::{Key, Metric, Row, Sweep, is_sweep, read_sweep};

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
