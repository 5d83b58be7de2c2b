//! Checks of equations: the lemmas and fluid-model figures of the thesis, and comparisons of fluid models with
//! packet-level simulations.

mod dumbbell;
mod eccp;
mod eccp_rates;
mod experiments;
mod hetflow;
mod hetflow_lemmas;
mod hetflow_packets;
mod packets;
mod track;

pub use experiments::EXPERIMENTS;
