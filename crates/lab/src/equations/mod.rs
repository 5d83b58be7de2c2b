//! Fluid models: solutions, stability, and comparison with packet simulations.
//!
//! ```text
//!   FluidFile ──> Solved: rates and queue over time ──> summary, series
//!       └──────> Rest: fixed point, roots, the thesis's conditions
//!   scenario ──> Packets: rate and queue of the bottleneck
//! ```

mod packets;
mod rest;
mod show;
mod solved;

pub use packets::{Packets, differences};
pub use rest::Rest;
pub use show::{explained, explained_json, json, summary};
pub use solved::{ColumnStatistics, Solved};
