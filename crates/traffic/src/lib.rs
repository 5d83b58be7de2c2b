//! Who sends what to whom, and when.
//!
//! A [`Plan`] is what a simulation runs: [`Flow`]s with fixed starts or starts that wait for others, and
//! [`Arrivals`], flows drawn while the run goes on. Generators append to a [`PlanBuilder`]; hosts are dense
//! indices, so that a plan knows nothing of the fabric it will run on.
//!
//! ```
//! use traffic::{Entry, Pairs, Pattern, PlanBuilder, Sizes, Workload};
//! let hosts: Vec<u32> = (0..16).collect();
//! let mut builder = PlanBuilder::new();
//! let pairs = Pairs { pattern: Pattern::Permutation, workload: Workload::Bulk(Sizes::Fixed(1_000_000)) };
//! traffic::pairs(&pairs, &hosts, &Entry::new(1, 0), &mut builder)?;
//! let plan = builder.build(16)?;
//! assert_eq!(plan.flows.len(), 16);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrivals;
mod entry;
mod error;
mod pairs;
mod plan;
mod process;
mod random;
mod sizes;
mod validate;

pub use arrivals::{Arrival, Arrivals, mean_gap};
pub use entry::Entry;
pub use error::{PlanError, TrafficError};
pub use pairs::{Pairs, Pattern, Workload, pairs};
pub use plan::{ENDLESS, Flow, Load, Notification, Notifications, Plan, PlanBuilder, Start, When};
pub use process::{DatagramSource, Departures, Process};
pub use sizes::{Cdf, CdfPoint, Mean, Sizes};
