//! The folder of a sweep: its locks and its complete runs.

use super::plan::SweepRun;
use super::{RunOutcome, Shard};
use crate::error::{FolderError, LabError};
use crate::runs::row::Row;
use record::RecordError;
use record::file::{is_temporary, write_whole};
use record::folder::{clear_leftovers, read_verified};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The file that identifies the folder of a sweep.
const MANIFEST: &str = "sweep.json";
/// Lock of a running sweep: exclusive, or shared by its shards.
const LOCK: &str = ".lock";
/// Lock for writing the files of the sweep's folder itself, which are outside the folders of its runs.
const WRITE_LOCK: &str = ".lock-write";
/// The folder of the runs.
pub const RUNS: &str = "runs";

/// A locked folder of a sweep.
#[derive(Debug)]
pub struct SweepFolder {
    path: PathBuf,
    // Locks are released when their files are closed.
    _locks: Vec<File>,
}

impl SweepFolder {
    /// Opens or creates the folder at `path`, locks it, removes incomplete results of killed runs, and writes
    /// `manifest`. Shards may share the folder; a shard may join without `resume`.
    ///
    /// # Errors
    /// If the folder is not a sweep's or belongs to another version, if it contains a sweep (without `resume`), or if
    /// another process has the lock; if writing fails.
    pub fn open(path: &Path, resume: bool, shard: Option<Shard>, manifest: &Value) -> Result<SweepFolder, LabError> {
        let found = inspect(path)?;
        fs::create_dir_all(path).map_err(unwritable("create", path))?;
        let locks = locks(path, shard)?;
        let store = SweepFolder { path: path.to_owned(), _locks: locks };
        // Another process may have changed the folder before this process acquired the lock.
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
        // Written before the runs, because a folder with runs but no manifest is not recognised as a sweep.
        store.exclusively(|| write_whole(&path.join(MANIFEST), format!("{manifest:#}\n").as_bytes()))?;
        let runs = path.join(RUNS);
        fs::create_dir_all(&runs).map_err(unwritable("create", &runs))?;
        if shard.is_none() {
            // The lock is exclusive in this branch. A shard removes only incomplete results of the runs that it
            // repeats.
            clear_leftovers(&runs)?;
        }
        Ok(store)
    }

    /// Returns the folder of the result of `point`.
    pub fn folder(&self, point: &SweepRun) -> PathBuf {
        self.path.join(RUNS).join(&point.id)
    }

    /// Returns the result of `point`, if it is complete.
    pub fn find(&self, point: &SweepRun) -> RunOutcome {
        let folder = self.folder(point);
        if folder.symlink_metadata().is_err() {
            return RunOutcome::Open;
        }
        let summary = match read_verified(&folder) {
            Ok(summary) => summary,
            Err(error) => return RunOutcome::Failed(error.into()),
        };
        let identity = &summary.scenario;
        let (hash, version) = (identity.hash.as_str(), identity.version.as_str());
        if (hash, identity.seed, version) != (point.scenario_hash.as_str(), point.seed, env!("CARGO_PKG_VERSION")) {
            let what = "it has the result of another run".to_owned();
            return RunOutcome::Failed(RecordError::Damaged { path: folder, what }.into());
        }
        RunOutcome::Complete { row: Box::new(Row::new(point.variant.clone(), &summary)), found: true }
    }

    /// Calls `write` while holding the write lock of the sweep.
    ///
    /// # Errors
    /// Those of `write`, and of the lock.
    pub fn exclusively(&self, write: impl FnOnce() -> Result<(), RecordError>) -> Result<(), LabError> {
        let path = self.path.join(WRITE_LOCK);
        let file = open(&path)?;
        // On a file system without locks, the user must not let two shards end at the same time.
        let _ = file.lock();
        write().map_err(LabError::from)
    }
}

/// Returns the version of the sweep at `path`; `None` if there is none.
fn inspect(path: &Path) -> Result<Option<String>, FolderError> {
    let file = path.join(MANIFEST);
    let read = || fs::read_to_string(&file).ok();
    let text = match read() {
        None if is_free(path) => return Ok(None),
        // Another shard may have started since the first read. Its manifest is written before its runs.
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

/// Returns whether `path` can be used for a new sweep: it has no files except leftovers of a sweep that was killed at
/// its start.
fn is_free(path: &Path) -> bool {
    if path.symlink_metadata().is_err() {
        return true;
    }
    let ours = |name: &str| name.starts_with(LOCK) || is_temporary(name);
    fs::read_dir(path).is_ok_and(|entries| entries.flatten().all(|entry| entry.file_name().to_str().is_some_and(ours)))
}

/// Locks the sweep, or the shard.
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
        // On a file system without locks the user must not run two sweeps in one folder.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(lock),
    }
}

fn unwritable(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    move |source| RecordError::Unwritable { action, path: path.to_owned(), source }.into()
}
