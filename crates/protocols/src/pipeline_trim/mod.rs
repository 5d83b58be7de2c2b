//! Packet trimming inside a programmable switch (Popa et al., Implementing packet trimming support in hardware):
//! state machines of an ingress pipeline.
//!
//! ```text
//!  packet -> [ trim meter of (pipeline, egress port): meters, mode ] -- pass --> queue, deflect or mirror
//!                                  ^                               -- trim --> header queue
//!                                  |
//!                 congestion signal: a deflected packet for that port was recirculated
//! ```

mod meter;
mod parameters;
mod state;
mod trim_meter;

pub use meter::{Bucket, Color, MAX_BURST_BYTES, TwoRateMeter};
pub use parameters::{Metered, PIPELINE_TRIM, PipelineSettings, SIGNAL_BYTES, SignalLoad, SignalScope};
pub use state::{Mode, SignalState, StampState, Wrap};
pub use trim_meter::{Control, ControlParameters, TrimMeter};
