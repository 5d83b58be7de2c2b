//! Packet trimming inside a programmable switch (Popa et al., Implementing packet trimming support in hardware): what
//! an ingress pipeline can know and do, as plain state machines.
//!
//! ```text
//!  packet -> [ trim meter of (pipeline, egress port): meters, mode ] -- pass --> traffic manager: queue, deflect or
//! mirror
//!                                  ^                               -- trim --> header queue
//!                                  |
//!                 congestion signal: a deflected packet for that port came round
//! ```

mod meter;
mod parameters;
mod state;
mod trim_meter;

pub use meter::{Bucket, Color, MAX_BURST_BYTES, TwoRateMeter};
pub use parameters::MECHANISM;
pub use state::{Mode, SignalState, StampState, Wrap};
pub use trim_meter::{Control, ControlParameters, TrimMeter};
