//! Results on disk: a [`folder`] that appears whole or not at all, with a [`manifest`] that tells its files from those of
//! the user, streamed Parquet tables
//! ([`table`]), mergeable [`histogram`]s, [`flows`] and the field's `fct.txt`, [`pfc`] logs, time
//! [`series`], [`trace`]s of single frames, and the [`summary`] of a run.
//!
//! Everything but `timing.json` is the same bytes for the same rows: no time of day, no host, no
//! hash-map order reaches a file. [`results_hash::results_hash`] states that in one number.

pub mod error;
pub mod file;
pub mod files;
pub mod flows;
pub mod folder;
pub mod histogram;
pub mod manifest;
pub mod pcapng;
pub mod pfc;
pub mod pipelines;
pub mod requests;
pub mod results_hash;
pub mod series;
pub mod storms;
pub mod summary;
pub mod table;
pub mod timing;
pub mod trace;
pub mod trims;
pub mod turns;

pub use error::RecordError;
