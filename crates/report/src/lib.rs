//! Renders results as one self-contained HTML page, which needs no network, server or external library.
//!
//! ```text
//!   result folder ── read ──> Run: numbers and sampled curves ── page ──> one file
//!   (Parquet, summary.json)   (data of the page, as JSON)                 page.html + page.css + scripts + JSON
//!                             Replay: the fabric over time, as packed bytes within that JSON
//!   sweep folder ─── read ──> Sweep: samples of every combination ── sweep_page ──> one file
//! ```
//!
//! Data that grows with the length of a run is downsampled to the resolution of a screen, so that a report of ten runs
//! has a few megabytes.

mod completions;
mod controls;
mod curves;
mod error;
mod names;
mod page;
mod replay;
mod run;
mod series;
mod sweep;
mod tables;

pub use completions::{CdfSet, Flow, Flows, SlowdownBox};
pub use controls::Panel;
pub use curves::Curve;
pub use error::ReportError;
pub use names::labels;
pub use page::{page, sweep_page};
pub use replay::Replay;
pub use run::{Run, read_run};
pub use series::PausedPort;
pub use sweep::{Key, Metric, Row, Sweep, is_sweep, read_sweep};
