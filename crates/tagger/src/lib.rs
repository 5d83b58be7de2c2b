//! Tagger (Hu et al., CoNEXT 2017): rules by which switches rewrite a tag in every packet, so that no
//! forwarding whatsoever, loops and failures included, can close a cycle of PFC pauses.
//!
//! ```text
//!   which paths must not lose        how tags change along them          what a switch is told
//!   ─────────────────────────        ──────────────────────────          ─────────────────────
//!   expected lossless paths   ──>    tagged graph, merged          ──>   rules::RuleTable
//! ```
//!
//! A rule says: a packet with this tag that comes in by one of these ports and leaves by one of those
//! gets that new tag. A packet that no rule matches becomes lossy: it may be dropped, and pauses nobody.

mod clos;
mod compress;
mod error;
pub mod export;
mod fewest;
mod generate;
mod graph;
mod merge;
pub mod operate;
mod order;
pub mod paths;
mod port_set;
mod ports;
mod resolve;
pub mod rules;
pub mod tcam;
#[cfg(test)]
mod tests;

pub use clos::clos_rule;
pub use compress::{Compression, RuleCount};
pub use error::TaggerError;
pub use generate::{Algorithm, Generated, Report, Request, generate};
pub use order::Work;
pub use port_set::PortSet;
pub use resolve::Resolution;
