//! Results on disk: a [`folder`] that is written atomically, with a [`manifest`] of the files that Tidegate wrote,
//! streamed Parquet tables ([`table`]) and their CSV form ([`export`]), [`flows`] and `fct.txt`, [`pfc`] logs, time
//! [`series`], [`trace`]s of frames, and the [`summary`] of a run. The values are those of [`stats`].
//!
//! Equal rows give equal bytes in every file except `timing.json`, because no time of day, host name or hash-map order
//! is written. [`results_hash::results_hash`] is a hash over all these files.

pub mod control;
pub mod error;
pub mod export;
pub mod file;
pub mod files;
pub mod flows;
pub mod folder;
mod identity;
pub mod manifest;
pub mod pcapng;
pub mod pfc;
pub mod results_hash;
pub mod series;
pub mod summary;
pub mod table;
mod temporary;
pub mod timing;
pub mod trace;

pub use error::RecordError;
pub use stats::{Coverage, bounces, collectives, histogram, jitter, pipelines, requests, storms, trims};
