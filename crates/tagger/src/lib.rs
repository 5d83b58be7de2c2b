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
//!
//! ```
//! use fabric::LinkSpec;
//! use fabric::generate::{TierLinks, clos};
//! use tagger::paths::PathSource;
//! use tagger::{Algorithm, Request, generate};
//! use units::{Rate, Time};
//!
//! // Tagger, Fig. 2; everything up to one bounce must be lossless.
//! let link = LinkSpec::new(Rate::from_gbps(40), Time::from_ns(500));
//! let fabric = clos(2, 2, 2, 2, 4, TierLinks::uniform(link))?;
//! let paths = PathSource::UpDown { bounces: 1 };
//! let merged = generate(&fabric, &Request::new(paths.clone()))?;
//! let fewest = generate(&fabric, &Request { algorithm: Algorithm::Fewest, ..Request::new(paths) })?;
//! assert_eq!((merged.report.tags, fewest.report.tags), (3, 2));
//! assert_eq!(fewest.report.lower_bound, 2); // no rules do with fewer
//!
//! // From spine S1 (port 2) down to leaf L1 and up again to S2 (port 3): a bounce, so the tag goes up.
//! let leaf = fabric.find("L1").expect("the first leaf");
//! assert_eq!(fewest.table.lookup(&fabric).new_tag(leaf, 1, 2, 3), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
