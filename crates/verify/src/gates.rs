//! Judges slots and lists of gates, whoever made them: reads the file itself, and goes through every frame of a cycle.

mod file;
mod judge;

pub use file::{GateFileError, Gates};
pub use judge::{Check, Judgement, judge};
