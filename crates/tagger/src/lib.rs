//! Tagger (Hu et al., CoNEXT 2017): rules with which switches rewrite a tag in every packet, so that no forwarding,
//! including routing loops and rerouting after failures, can create a cyclic buffer dependency (PFC deadlock).
//!
//! ```text
//!   input                            algorithm                           output
//!   ─────                            ─────────                           ──────
//!   expected lossless paths   ──>    tagged graph, merged          ──>   rules::RuleTable
//! ```
//!
//! A rule matches (tag, ingress ports, egress ports) and sets a new tag. A packet that matches no rule becomes lossy:
//! it may be dropped and does not trigger PFC.
//!
//! ```
//! use fabric::LinkSpec;
//! use fabric::generate::{TierLinks, clos};
//! use tagger::paths::PathSource;
//! use tagger::{Algorithm, Request, generate};
//! use units::{Rate, Time};
//!
//! // Tagger, Fig. 2; all paths with at most one bounce are lossless.
//! let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
//! let fabric = clos(2, 2, 2, 2, 4, TierLinks::uniform(link))?;
//! let paths = PathSource::UpDown { bounces: 1 };
//! let merged = generate(&fabric, &Request::new(paths.clone()))?;
//! let fewest = generate(&fabric, &Request { algorithm: Algorithm::Fewest, ..Request::new(paths) })?;
//! assert_eq!((merged.report.tags, fewest.report.tags), (3, 2));
//! assert_eq!(fewest.report.lower_bound, 2); // proved: no rules need fewer tags
//!
//! // From spine S1 (port 2) down to leaf L1 and up again to S2 (port 3): a bounce, so the tag increases.
//! let leaf = fabric.find("L1").expect("the first leaf");
//! assert_eq!(fewest.table.lookup(&fabric).new_tag(leaf, 1, 2, 3), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clos;
mod compress;
mod error;
pub mod export;
mod generate;
mod graph;
mod merge;
mod minimum_tags;
pub mod operate;
mod order;
pub mod paths;
mod ports;
mod resolve;
pub mod rules;
pub mod tcam;
#[cfg(test)]
mod tests;
mod threads;

pub use clos::clos_rule;
pub use compress::{Compression, RuleCount};
pub use error::TaggerError;
pub use fabric::tags::PortSet;
pub use generate::{Algorithm, Generated, Report, Request, generate};
pub use order::Work;
pub use resolve::Resolution;
pub use threads::{on_all_cores, on_all_cores_with};
