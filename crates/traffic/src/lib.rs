//! Traffic of a run: sources, destinations, sizes and start times.
//!
//! A [`Plan`] contains [`Flow`]s with fixed start times or with starts that depend on other flows, and [`Arrivals`],
//! from which flows are drawn during the run. Generators append to a [`PlanBuilder`]. Hosts are dense indices, so
//! that a plan does not depend on the fabric.
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
mod cdf_file;
mod collective;
mod connection_matrix;
mod decimal;
mod entry;
mod error;
mod flow_file;
mod lines;
mod operation;
mod pairs;
mod plan;
mod poisson;
mod process;
mod random;
mod request_reply;
mod sizes;
#[cfg(test)]
mod testing;
mod validate;

pub use arrivals::{Arrival, Arrivals, mean_gap};
pub use cdf_file::{BUILT_IN, BuiltIn};
pub use collective::{Collective, collective};
pub use connection_matrix::{ConnectionMatrix, is_connection_matrix, read_connection_matrix, replay_connection_matrix};
pub use entry::Entry;
pub use error::{PlanError, TrafficError};
pub use flow_file::{
    FlowColumns, FlowFile, FlowFileOptions, FlowWarning, StartUnit, read_flow_file, replay, write_flow_file,
};
pub use lines::{FileError, Problem};
pub use operation::{Algorithm, Operation};
pub use pairs::{Pairs, Pattern, Workload, pairs};
pub use plan::{
    Collection, Connections, Exchange, Flow, FlowEvent, JOIN, Join, Load, Notification, Notifications, Plan,
    PlanBuilder, Start,
};
pub use poisson::{ArrivalRate, Poisson, poisson};
pub use process::{DatagramSource, Departures, FrameLengths, LengthDistribution, Process};
pub use request_reply::{RequestReply, Rounds, Servers, Service, request_reply};
pub use sizes::{Cdf, CdfPoint, ENDLESS, Mean, Sizes};
