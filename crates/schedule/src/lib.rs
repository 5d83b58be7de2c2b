//! Time slots for periodic streams, so that no frame of theirs ever waits.
//!
//! ```text
//!   slot       periodic slots and when two of them overlap, in exact integers
//!   search     which free place a slot takes
//!   problem    streams, links and paths in; slots out, or why not
//!   streams    lists of streams, and their paths on a fabric; tsnkit: its tables
//!   export     gates in the words of Linux, IEEE 802.1Qcw and tsnkit
//!   gates      lists of gates for the slots
//!   file       all that as a file; read: its reader
//!   offline    slots computed in one place: by a centre, first come first served, or by each node for itself
//!   protocol   DTSCoE: nodes without a common clock reserve slots hop by hop, by messages
//! ```
//!
//! Source of the protocol: the thesis on lossless Ethernet, chapter 4 (DTSCoE). Nothing here reads a clock, draws a
//! random number that was not handed in, or sends anything: messages and times go in, messages and slots come out.

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

pub use problem::{Link, Problem, ProblemError, Rejection, Schedule, Starts, StreamSpec};
pub use search::Search;
pub use slot::Slot;
