//! Forwarding: routes, failures, explicit paths and ECMP.
//!
//! [`Forwarding`] is compiled once from a [`Fabric`](crate::Fabric); afterwards each frame looks it up several times:
//!
//! ```text
//!   destination host ── attach ──> row ── row_switch == this node? ── yes ──> the host's own port
//!                                   │                               no
//!                                   └─> next[node][row] ──> group ──> &[port], ascending
//! ```
//!
//! Hosts with a single link to the same switch share that switch's row. The table of a 65,536-host fat-tree therefore
//! has 5,120 x 2,048 two-byte entries.

mod distances;
mod error;
mod failure;
mod forwarding;
mod hash;
mod net;
mod paths;
mod shortest;
mod table;
#[cfg(test)]
mod tests;
mod two_level;
mod up_down;
mod walk;

pub use distances::UNREACHABLE;
pub use error::RoutingError;
pub use failure::{FailedPorts, Failure};
pub use forwarding::{Forwarding, Mode};
pub use hash::{flow_hash, mix32, node_salt, seed_salt, select};
pub use net::Attachment;
pub use paths::{PathId, PathTable};
pub use walk::Hop;
