//! The folder of a sweep: who works in it, what is complete in it.

use super::plan::Point;
use super::{Outcome, Shard};
use crate::error::{FolderError, LabError};
use crate::runs::row::Row;
use record::RecordError;
use record::file::{is_temporary, write_whole};
use record::folder::{clear_leftovers, read_verified};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// What makes a folder that of a sweep.
const MANIFEST: &str = "sweep.json";
/// Held while a sweep is at work: alone, or shared by its parts.
const LOCK: &str = ".lock";
/// Held while the files beside the runs are written.
const WRITE_LOCK: &str = ".lock-write";
/// The folder of the runs.
pub const RUNS: &str = "runs";

/// A sweep's folder that is ours until it is dropped.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    // Locks go with their files.
    _locks: Vec<File>,
}

impl Store {
    /// Opens or makes the folder at `path`, takes its lock, clears away what killed runs left, and writes
    /// `manifest`. Parts may work in it together; they need no `resume` to join.
    ///
    /// # Errors
    /// A folder of something else or of another version, one that holds a sweep already unless `resume`, one
    /// that another process works in; a disk that fails.
    pub fn open(path: &Path, resume: bool, shard: Option<Shard>, manifest: &Value) -> Result<Store, LabError> {
        let found = inspect(path)?;
        fs::create_dir_all(path).map_err(unwritable("create", path))?;
        let locks = locks(path, shard)?;
        let store = Store { path: path.to_owned(), _locks: locks };
        // What was found may have changed until the lock was ours.
        if let Some(version) = inspect(path)?.or(found) {
            let ours = env!("CARGO_PKG_VERSION");
            if version != ours {
                let (file, ours) = (path.join(MANIFEST), ours.to_owned());
                return Err(FolderError::OtherVersion { file, theirs: version, ours }.into());
            }
            let runs = fs::read_dir(path.join(RUNS)).map(|mut runs| runs.next().is_some());
            if !resume && shard.is_none() && runs.unwrap_or(false) {
                return Err(FolderError::Taken { path: path.to_owned() }.into());
            }
        }
        // Before anything else: a folder with runs and without it is not known as a sweep.
        store.exclusively(|| write_whole(&path.join(MANIFEST), format!("{manifest:#}\n").as_bytes()))?;
        let runs = path.join(RUNS);
        fs::create_dir_all(&runs).map_err(unwritable("create", &runs))?;
        if shard.is_none() {
            // Nobody else is here; a part clears away only what it runs again.
            clear_leftovers(&runs)?;
        }
        Ok(store)
    }

    /// Where the result of `point` stands or will stand.
    pub fn folder(&self, point: &Point) -> PathBuf {
        self.path.join(RUNS).join(&point.id)
    }

    /// The result of `point`, if it is there and whole.
    pub fn find(&self, point: &Point) -> Outcome {
        let folder = self.folder(point);
        if folder.symlink_metadata().is_err() {
            return Outcome::Open;
        }
        let summary = match read_verified(&folder) {
            Ok(summary) => summary,
            Err(error) => return Outcome::Failed(error.into()),
        };
        let identity = &summary.scenario;
        let (hash, version) = (identity.hash.as_str(), identity.version.as_str());
        if (hash, identity.seed, version) != (point.scenario_hash.as_str(), point.seed, env!("CARGO_PKG_VERSION")) {
            let what = "it holds the result of another run".to_owned();
            return Outcome::Failed(RecordError::Damaged { path: folder, what }.into());
        }
        Outcome::Complete { row: Box::new(Row::new(point.variant.clone(), &summary)), found: true }
    }

    /// Runs `write` while no other part writes beside the runs.
    ///
    /// # Errors
    /// Those of `write`, and of the lock.
    pub fn exclusively(&self, write: impl FnOnce() -> Result<(), RecordError>) -> Result<(), LabError> {
        let path = self.path.join(WRITE_LOCK);
        let file = open(&path)?;
        // A file system without locks: then two parts must not end at the same instant.
        let _ = file.lock();
        write().map_err(LabError::from)
    }
}

/// The version of the sweep at `path`; `None` where there is none yet.
fn inspect(path: &Path) -> Result<Option<String>, FolderError> {
    let file = path.join(MANIFEST);
    let read = || fs::read_to_string(&file).ok();
    let text = match read() {
        None if is_free(path) => return Ok(None),
        // Another part may have begun in between: who sees its runs sees its manifest, which came first.
        None => read(),
        found => found,
    };
    let Some(text) = text else {
        return Err(FolderError::NotASweep { path: path.to_owned(), manifest: MANIFEST });
    };
    let manifest: Option<Value> = serde_json::from_str(&text).ok();
    let version = manifest.as_ref().and_then(|manifest| manifest["version"].as_str());
    version.map(|version| Some(version.to_owned())).ok_or(FolderError::BadManifest { file })
}

/// Whether nothing is at `path` but what a sweep that was killed at its very beginning leaves.
fn is_free(path: &Path) -> bool {
    if path.symlink_metadata().is_err() {
        return true;
    }
    let ours = |name: &str| name.starts_with(LOCK) || is_temporary(name);
    fs::read_dir(path).is_ok_and(|entries| entries.flatten().all(|entry| entry.file_name().to_str().is_some_and(ours)))
}

/// The whole sweep, or the part, is ours.
fn locks(path: &Path, shard: Option<Shard>) -> Result<Vec<File>, LabError> {
    let all = open(&path.join(LOCK))?;
    let Some(Shard { part, of }) = shard else {
        return held(all.try_lock(), path, all).map(|lock| vec![lock]);
    };
    let own = open(&path.join(format!("{LOCK}-{part}-of-{of}")))?;
    Ok(vec![held(all.try_lock_shared(), path, all)?, held(own.try_lock(), path, own)?])
}

fn open(path: &Path) -> Result<File, LabError> {
    let file = File::options().write(true).create(true).truncate(false).open(path);
    file.map_err(unwritable("create", path))
}

fn held(locked: Result<(), TryLockError>, path: &Path, lock: File) -> Result<File, LabError> {
    match locked {
        Err(TryLockError::WouldBlock) => Err(FolderError::Busy { path: path.to_owned() }.into()),
        // A file system without locks: then the promise about two sweeps is the user's to keep.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(lock),
    }
}

fn unwritable(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    move |source| RecordError::Unwritable { action, path: path.to_owned(), source }.into()
}
