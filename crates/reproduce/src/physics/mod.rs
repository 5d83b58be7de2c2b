//! Experiments with known analytical results, which every correct simulator must reproduce.

mod experiments;
mod lone_flow;
mod max_min;
mod queueing;

pub use experiments::EXPERIMENTS;
use lone_flow::lone_flow;
use max_min::max_min;
use queueing::{little, md1};
