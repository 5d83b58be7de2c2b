//! Results as a person reads them.

pub mod explain;
pub mod numbers;
pub mod pipelines;
pub mod summary;
pub mod table;
