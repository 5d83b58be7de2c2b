//! Time slots for periodic streams, so that no frame of theirs ever waits.
//!
//! ```text
//!   slot       periodic slots and when two of them overlap, in exact integers
//!   protocol   DTSCoE: nodes without a common clock reserve slots hop by hop, by messages
//! ```
//!
//! Source of the protocol: the thesis on lossless Ethernet, chapter 4 (DTSCoE). Nothing here reads a clock, draws a
//! random number that was not handed in, or sends anything: messages and times go in, messages and slots come out.

pub mod protocol;
pub mod slot;

pub use slot::Slot;
