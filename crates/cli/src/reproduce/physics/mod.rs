//! Physics as oracle: what must come out before anything else may.

mod lone_flow;
mod max_min;
mod queueing;

pub use lone_flow::lone_flow;
pub use max_min::max_min;
pub use queueing::{little, md1};
