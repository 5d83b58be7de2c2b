//! Results on disk: a [`folder`] that appears whole or not at all, with a [`manifest`] that tells its files from those
//! of the user, streamed Parquet tables ([`table`]) and the same as CSV ([`export`]), [`flows`] and the field's
//! `fct.txt`, [`pfc`] logs, time [`series`], [`trace`]s of single frames, and the [`summary`] of a run. The numbers
//! themselves are of [`stats`].
//!
//! Everything but `timing.json` is the same bytes for the same rows: no time of day, no host, no
//! hash-map order reaches a file. [`results_hash::results_hash`] states that in one number.

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
pub mod timing;
pub mod trace;

pub use error::RecordError;
pub use stats::{Coverage, collectives, histogram, jitter, pipelines, requests, storms, trims, turns};
