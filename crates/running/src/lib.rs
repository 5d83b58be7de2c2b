//! Checks whether the QoS configuration of a fabric's SONiC switches is safe under PFC.
//!
//! ```text
//!   config_db.json of each switch ── read ──> SwitchConfig ──┐
//!                                                            ├─ device ──> classification and queues, by port
//!   topology ── fabric::files ──────────────> Fabric ────────┘                  │
//!                                                             paths: accounts and queues that frames reach
//!                                                                               │
//!                                              judge ──> Report: findings with file and key, a cycle, assumptions
//!                                              Binding ──> treatment hop by hop, or the implemented rule table
//! ```
//!
//! An *account* is a priority group of an ingress port: the counter that PFC acts on. [`read`] refuses input that
//! cannot be judged ([`Fault`]); [`judge`] reports unsafe settings ([`Finding`]). The proof rests on
//! [`Report::assumptions`], and covers only devices that behave as configured.

mod binding;
mod device;
mod error;
mod judge;
mod options;
mod paths;
mod read;
pub mod reproduce;

pub use binding::{Binding, Hop, ImplementedRule, ImplementedRules, NextHop};
pub use error::{Fault, FaultOrigin, Finding, FindingKind, origin};
pub use judge::{ComputedHeadroom, Counts, PausedLink, Report, judge};
pub use options::{Conditions, Options, PathSet, QueueBinding};
pub use read::{SwitchConfig, read, read_bytes, unknown_keys};

// Unit tests use the file generator of the integration tests, which names this crate `running`.
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
#[cfg(test)]
extern crate self as running;
