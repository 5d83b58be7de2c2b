//! Judges slots and lists of gates, whoever made them: reads the file itself, and goes through every frame of a cycle.
//!
//! A schedule of `tidegate schedule --to json` says when each frame starts: [`judge`] holds it to that. Lists of gates
//! alone do not: [`follow`] lets frames wait in the queues of their classes until gates open.

mod faults;
mod file;
mod follow;
mod judge;
mod lists;
pub mod qcw;
mod shell;
pub mod tables;
pub mod taprio;
mod taprio_options;

pub use file::{GateFileError, Gates};
pub use follow::follow;
pub use judge::{Check, Judgement, judge};
pub use lists::{Flow, FlowHop, Lists, PortGates};
