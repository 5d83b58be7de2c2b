//! Sets of runs: what is varied, how many run at a time, what is measured of each, and how sure that is.

pub mod metrics;
pub mod pool;
pub mod row;
pub(crate) mod side_by_side;
pub mod statistics;
pub mod vary;
