//! Is the QoS configuration that a fabric's SONiC switches run safe under PFC?
//!
//! ```text
//!   config_db.json of each switch ── read ──> SwitchConfig ──┐
//!                                                            ├─ device ──> the binding, by port
//!   topology ── fabric::files ──────────────> Fabric ────────┘                  │
//!                                                             paths: which accounts and queues frames come to
//!                                                                               │
//!                                              judge ──> Report: findings with file and key, a cycle, assumptions
//! ```
//!
//! An *account* is a priority group of an ingress port: what PFC counts. [`read`] refuses input that cannot be judged
//! ([`Fault`]), [`judge`] reports what is unsafe ([`Finding`]). The proof rests on the assumptions of
//! [`Report::assumptions`], and says nothing of a device that does not do what its configuration says.

mod device;
mod error;
mod judge;
mod paths;
mod read;

pub use error::{Fault, Finding, FindingKind};
pub use judge::{Conditions, Counts, Options, PathSet, PausedLink, QueueBinding, Report, judge};
pub use read::{SwitchConfig, read};
