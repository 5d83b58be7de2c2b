//! Links, switches and hosts: drives the mechanisms of `protocols` on the engine.
//!
//! ```text
//! Setup --Simulation::new--> nodes on the engine --run--> Watcher: flows, samples, pauses, progress
//!                                                 \-----> Outcome: account, checks, statistics
//! ```

#[cfg(test)]
extern crate self as model; // for what unit tests share with tests/physics

mod account;
mod baseline;
mod books;
mod build;
mod capture;
mod checks;
mod deadlock;
mod egress;
#[cfg(test)]
mod faults;
mod guards;
mod host;
mod network;
mod node;
mod outcome;
pub mod parameters;
mod pause_storms;
mod queue;
mod requests;
mod routes;
mod simulation;
mod switch;
mod tags;
mod trace;
mod trims;
mod turns;

pub use account::Ledger;
pub use build::ModelError;
pub use capture::FrameBytes;
pub use engine::{Clock, Sharing};
pub use host::FlowEnd;
pub use simulation::{QueueSample, Simulation, Unwatched, Watcher};
pub use trace::CapturedFrame;
