//! Fluid models: solutions, stability, and comparison with packet-level simulations.
//!
//! ```text
//!   FluidFile ──> Solved: rates and queue over time ──> summary, series
//!       └──────> FixedPointReport: fixed point, characteristic roots, the thesis's conditions
//!   scenario ──> PacketMeasurement: rate and queue of the bottleneck
//! ```

mod fixed_point;
mod packets;
mod show;
mod solved;

pub use fixed_point::FixedPointReport;
pub use packets::{PacketMeasurement, differences};
pub use show::{explained, explained_json, json, summary};
pub use solved::{ColumnStatistics, Solved};
