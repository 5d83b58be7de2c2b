//! Text output of results.

pub mod pipelines;
pub mod summary;
