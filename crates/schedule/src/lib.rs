//! Time slots for periodic streams, so that their frames never wait.
//!
//! ```text
//!  slot       periodic slots and their overlaps, in exact integers
//!  search     choice of the start of a slot among the free intervals
//!  problem    input: streams, links and paths; output: slots or the reason for none
//!  streams    lists of streams, and their paths on a fabric; tsnkit: its tables
//!  export     gates for Linux, IEEE 802.1Qcw and tsnkit
//!  gates      gate lists for the slots
//!  file       schedule as a file; read: its reader
//!  offline    central computation: global, first come first served, or per node
//!  worst      worst delays of streams without slots
//!  protocol   DTSCoE: nodes without a common clock reserve slots hop by hop, by messages
//! ```
//!
//! Source of the protocol: the thesis on lossless Ethernet, chapter 4 (DTSCoE). The crate reads no clock, sends nothing
//! and draws random numbers only from streams that the caller passes.

pub mod export;
pub mod file;
pub mod gates;
pub mod offline;
mod problem;
pub mod protocol;
pub mod read;
mod search;
pub mod slot;
pub mod streams;
pub mod summary;
pub mod svg;
pub mod tsnkit;
pub mod worst;

pub use problem::{Link, Problem, ProblemError, Rejection, Schedule, Starts, StreamSpec};
pub use search::SlotStrategy;
pub use slot::Slot;
