//! Proves or refutes that a fabric cannot deadlock under PFC.
//!
//! ```text
//!   rule file ── RuleFile ──┐
//!                           ├─> Verifier ── finish() ──> Verdict     Tagger rules: any forwarding
//!   paths, trees, routing ──┘
//!   routing tables ─┐
//!   list of paths ──┴─> check_pfc() ──> PfcVerdict                  no tags: one class under this routing
//! ```
//!
//! A PAUSE stops the upstream queue, so that a lossless queue waits for the queues that its frames enter next. Frames
//! can wait forever only if queues wait for each other in a cycle: an acyclic dependency graph proves that there is no
//! deadlock (Tagger, Theorem 5.1). This crate builds the graph from rules, paths and routing tables with its own code,
//! independent of the code that generates them. [`gates`] checks time slots and gate control lists.

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
