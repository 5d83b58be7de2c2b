//! PABO: packets that turn around where a queue is full.

mod hop_by_hop;
mod sweeps;

pub use hop_by_hop::{DROP_CHOICES, TABLE_CHOICES, drop_rates, example, peaks, per_switch, table, total_hops};
pub use sweeps::{bounce_function, lambda, theta};
