//! Results as text.

pub mod pipelines;
pub mod summary;
