//! Packet trimming inside a programmable switch (Popa et al., Implementing packet trimming support in hardware): what an
//! ingress pipeline can know and do, as plain state machines.
//!
//! ```text
//!  packet -> [ governor of (pipeline, egress port): meters, mode ] -- pass --> traffic manager: queue, deflect or mirror
//!                                  ^                               -- trim --> header queue
//!                                  |
//!                 congestion signal: a deflected packet for that port came round
//! ```

mod governor;
mod meter;
mod parameters;
mod state;

pub use governor::{Control, ControlParameters, Governor};
pub use meter::{Bucket, Color, MAX_BURST_BYTES, TwoRateMeter};
pub use parameters::MECHANISM;
pub use state::{Mode, SignalState, StampState, Wrap};
