//! Results as a person reads them.

pub mod pipelines;
pub mod summary;
