//! Sets of runs: what is varied, how many run at a time, what is measured of each, and how sure that is.

pub(crate) mod flows;
pub mod metrics;
pub mod pool;
pub mod row;
pub(crate) mod side_by_side;
pub(crate) mod significance;
pub mod statistics;
pub mod vary;
