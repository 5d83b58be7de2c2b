//! Statistics of a run as plain values: counters, mergeable [`histogram`]s, [`flows`] with their slowdowns, rows of a
//! [`trace`], and an [`Outcome`] with all of them. The crate has no file formats.

pub mod bounces;
pub mod collectives;
pub mod control;
pub mod coverage;
pub mod flows;
pub mod histogram;
pub mod jitter;
pub mod pipelines;
pub mod requests;
pub mod storms;
pub mod summary;
pub mod trace;
pub mod trims;

pub use coverage::Coverage;
pub use summary::Outcome;
