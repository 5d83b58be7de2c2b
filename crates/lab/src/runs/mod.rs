//! Sets of runs: varied keys, concurrency, metrics and statistical significance.

pub(crate) mod flows;
pub mod metrics;
pub mod pool;
pub mod row;
pub(crate) mod side_by_side;
pub(crate) mod significance;
pub mod statistics;
pub mod vary;
