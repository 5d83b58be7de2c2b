//! Scenario in, result out: the library behind the command line, for Rust programs.
//!
//! ```text
//!  scenario.toml --Run::read--> Run --produce--> FinishedRun { summary, timing, folder }
//!                                  \-begin-> ActiveRun: step by step, with agents that set rates
//!   keys, values --Comparison::of--> run --> rows side by side
//!     model.toml --FluidFile--> equations: Solved, FixedPointReport, PacketMeasurement
//!     sweep.toml --Plan::of--> points --Sweep::run--> a folder that remains consistent if killed
//! ```
//!
//! The library does not print, does not end the process, and has no global state: a run reports to its
//! [`Watcher`](model::Watcher), and a [`StopFlag`] passed to it ends it.

#[cfg(feature = "mpi")]
mod by_mpi;
mod compare;
pub mod equations;
mod error;
mod explained;
pub mod ranks;
mod recognise;
mod recorder;
mod run;
mod runs;
mod simulate;
mod stop;
pub mod sweep;

pub use compare::{Comparison, MOST_COMPARED, Rows};
pub use error::{FolderError, LabError, PlanError};
pub use explained::{json as explained_json, text as explained_text};
pub use recognise::{PathKind, recognise};
pub use run::{Run, Source, folder, read};
pub use runs::vary::{Override, parse_override};
pub use runs::{metrics, pool, row, statistics, vary};
pub use simulate::{ActiveRun, FinishedRun, RunOptions, WatcherList};
pub use stop::{SignalsBlocked, StopFlag};
