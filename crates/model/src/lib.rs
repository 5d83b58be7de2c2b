//! Links, switches and hosts: drives the mechanisms of `protocols` on the engine.
//!
//! ```text
//! Setup --Simulation::new--> nodes on the engine --run--> Watcher: flows, samples, pauses, progress
//!                                                 \-----> Outcome: account, checks, statistics
//! ```

#[cfg(test)]
extern crate self as model; // for code shared by unit tests and tests/physics

mod account;
mod agent_samples;
mod agents;
mod all_delays;
mod backpressure;
mod baseline;
mod bounce_storms;
mod bounces;
mod build;
mod capture;
mod checks;
mod clock;
mod collectives;
mod controls;
pub mod custom;
mod deadlock;
mod departures;
mod egress;
#[cfg(test)]
mod faults;
mod flow_ends;
mod gather;
mod holds;
mod host;
mod link_kinds;
mod link_time;
#[cfg(test)]
mod lost_wake_ups;
mod measured;
mod mechanism_counts;
mod network;
mod node;
mod node_stats;
mod numbering;
mod on_wire;
mod open_flows;
mod outcome;
pub mod parameters;
mod pause_storms;
mod pipeline_summary;
mod queue;
mod queue_lengths;
mod queue_samples;
mod rank_cut;
mod requests;
mod routes;
mod samples;
mod setup;
mod simulation;
mod split;
mod stall;
mod switch;
mod tags;
mod telemetry;
mod trace;
mod trims;
mod watcher;
mod wiring;

use protocols::port::Counter;
use protocols::port_mechanisms::AnyPortMechanism;

pub use account::Counters;
pub use agent_samples::{Agent, AgentSample, AgentScope};
pub use build::ModelError;
pub use capture::FrameBytes;
pub use engine::ranks::{Ranks, TransferCounts, in_one_process, others};
pub use engine::{Clock, ThreadStatistics};
pub use host::FlowEnd;
pub use rank_cut::Cut;
pub use setup::largest_frame_bytes;
pub use simulation::Simulation;
pub use split::WorkProjection;
pub use stats::Outcome;
pub use trace::CapturedFrame;
pub use watcher::{NullWatcher, QueueSample, Watcher};

/// Returns the counters of all port mechanisms, with the kind of each: the entries of [`Outcome::mechanisms`].
pub fn mechanism_counters() -> impl Iterator<Item = (&'static str, &'static Counter)> {
    AnyPortMechanism::COUNTERS.iter().flat_map(|(kind, counters)| counters.iter().map(move |counter| (*kind, counter)))
}
