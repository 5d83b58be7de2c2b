//! Checks transmission slots and gate control lists, also those of other tools, frame by frame over a hyperperiod, with
//! its own readers.
//!
//! Files of `tidegate schedule --to json` state the start time of each frame, which [`judge`] checks. Other gate
//! control lists state no start times: [`follow`] simulates frames that wait in the queues of their classes until gates
//! open.

mod disciplines;
mod faults;
mod file;
mod follow;
mod interfaces;
mod judge;
mod lists;
mod programs;
pub mod qcw;
mod shell;
mod shell_variables;
pub mod tables;
pub mod taprio;
mod taprio_options;

pub use file::{GateFileError, Gates};
pub use follow::follow;
pub use judge::{Check, Judgement, judge};
pub use lists::{Flow, FlowHop, Lists, PortGates};
