//! Is the QoS configuration that a fabric's SONiC switches run safe under PFC?
//!
//! ```text
//!   config_db.json of each switch ── read ──> SwitchConfig ──┐
//!                                                            ├─ device ──> the binding, by port
//!   topology ── fabric::files ──────────────> Fabric ────────┘                  │
//!                                                             paths: which accounts and queues frames come to
//!                                                                               │
//!                                              judge ──> Report: findings with file and key, a cycle, assumptions
//!                                              Binding ──> rules against the device, or the device as rules
//! ```
//!
//! An *account* is a priority group of an ingress port: what PFC counts. [`read`] refuses input that cannot be judged
//! ([`Fault`]), [`judge`] reports what is unsafe ([`Finding`]). The proof rests on the assumptions of
//! [`Report::assumptions`], and says nothing of a device that does not do what its configuration says.

mod binding;
mod device;
mod error;
mod judge;
mod options;
mod paths;
mod read;

pub use binding::{Binding, Hop, ImplementedRule, ImplementedRules, NextHop};
pub use error::{Fault, Finding, FindingKind};
pub use judge::{Counts, PausedLink, Report, judge};
pub use options::{Conditions, Options, PathSet, QueueBinding};
pub use read::{SwitchConfig, read};

// Tests of this crate make their files by what its integration tests have.
#[cfg(test)]
extern crate self as running;
