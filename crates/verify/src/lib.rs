//! Proves or refutes that a fabric cannot deadlock under PFC.
//!
//! ```text
//!   rule file ── RuleFile ──┐
//!                           ├─> Verifier ── finish() ──> Verdict     Tagger rules: whatever the forwarding does
//!   paths, trees, routing ──┘
//!   routing tables ─┐
//!   list of paths ──┴─> check_pfc() ──> PfcVerdict                  no tags: one class under this routing
//! ```
//!
//! A PAUSE stops the queue upstream, so a lossless queue waits for those that its frames go to. Frames can only
//! wait for ever if queues wait in a circle; where the graph of all that can wait has no circle, there is no
//! deadlock (Tagger, Theorem 5.1). This crate makes that graph with code of its own: it reads rules, paths and routing
//! tables, and knows nothing of how they came about. [`gates`] judges time slots and gates the same way.

mod bounces;
mod cycle;
mod error;
pub mod gates;
mod graph;
mod grow;
mod hash;
mod many;
mod paths;
mod pfc;
mod proof;
mod routes;
mod rules;
mod switches;
mod table;
mod trees;
mod verdict;

pub use error::{PathFault, RuleFault, VerifyError};
pub use grow::TreeRoots;
pub use hash::fabric_hash;
pub use paths::{Hop, ListedPath, PathList, find_link};
pub use pfc::{Dependency, PfcVerdict, Traffic, check_pfc};
pub use proof::Verifier;
pub use rules::{Class, FORMAT, FabricHeader, Rule, RuleFile, SwitchRules, VERSION};
pub use switches::{EgressQueue, Scheduler, Switches};
pub use verdict::{Check, Counts, Cycle, DecreasingRule, LostPath, MAX_LOST, StrandedFrame, TaggedLink, Verdict};
