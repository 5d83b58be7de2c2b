//! A result folder that is written atomically.
//!
//! A run writes into `<target>.partial` and renames it at the end: the target is always a complete result, and the
//! output of a killed run is never mistaken for a finished result. Nothing is synced to the disk (no `fsync`): this
//! protects against killed processes, not against power failures.
//!
//! Files that a user adds to a result are not part of it: they are kept when it is replaced.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::RecordError;
use crate::file::{AtomicFile, write_whole};
use crate::manifest::{MANIFEST_FILE, found, hash_bytes};
use crate::results_hash::hashes;
use crate::summary::Summary;
use crate::timing::Timing;
use earlier::{PreviousResult, candidates};
use names::MARKER;

mod claim;
mod earlier;
mod names;
#[cfg(test)]
mod tests;
mod verify;

pub(crate) use claim::Claim;
pub use claim::abandon;
pub(crate) use names::RESULT;
pub use names::{SUMMARY_FILE, TIMING_FILE};
pub use verify::{is_result, read_verified};

/// A result that is being written. If it is dropped before [`ResultFolder::finish`], all its files are removed, and an
/// earlier result at the target is unchanged.
#[derive(Debug)]
pub struct ResultFolder {
    target: PathBuf,
    claim: Claim,
    /// Names of files in the earlier result that Tidegate did not write.
    foreign: BTreeSet<String>,
}

impl ResultFolder {
    /// Starts a result for `target`; missing parent directories are created. An earlier result at the target will be
    /// replaced by [`ResultFolder::finish`]; files of a killed run are removed.
    ///
    /// # Errors
    /// [`RecordError::Occupied`] if the target is not a result, [`RecordError::NotOurs`] if files of an earlier result
    /// were changed, [`RecordError::Busy`] if another process writes to this target, [`RecordError::BadTarget`],
    /// [`RecordError::Unwritable`].
    pub fn create(target: &Path) -> Result<Self, RecordError> {
        // `components` drops a trailing slash, with which the temporary folder would be inside the target.
        let target: PathBuf = target.components().collect();
        if !matches!(target.components().next_back(), Some(Component::Normal(_))) {
            return Err(RecordError::BadTarget { path: target });
        }
        if let Some(parent) = target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(RecordError::unwritable("create", parent))?;
        }
        let claim = Claim::beside(&target)?;
        let mut folder = ResultFolder { target, claim, foreign: BTreeSet::new() };
        earlier::restore_interrupted_replacement(&folder.target)?;
        if let Some(earlier) = PreviousResult::at(&folder.target)? {
            folder.foreign = earlier.foreign;
        }
        Ok(folder)
    }

    /// Returns the path of the temporary folder, which is renamed to the target at the end.
    pub fn path(&self) -> &Path {
        self.claim.path()
    }

    /// Returns the final path of the result.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the path for writing the file `name` of the result.
    ///
    /// # Errors
    /// [`RecordError::NotOurs`] if the earlier result has a user's file of this name; [`RecordError::Unwritable`].
    pub fn writable_path(&self, name: &str) -> Result<PathBuf, RecordError> {
        if self.foreign.contains(name) {
            let path = self.target.join(name);
            return Err(RecordError::NotOurs { path, why: "exists and was not written by Tidegate" });
        }
        self.claim.writable_path(name)
    }

    /// Starts the file `name` of the result.
    ///
    /// # Errors
    /// Those of [`ResultFolder::writable_path`].
    pub fn file(&self, name: &str) -> Result<AtomicFile, RecordError> {
        AtomicFile::create(&self.writable_path(name)?)
    }

    /// Writes the file `name` of the result.
    ///
    /// # Errors
    /// Those of [`ResultFolder::writable_path`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        write_whole(&self.writable_path(name)?, bytes)
    }

    /// Writes `summary.json` with the hash of all results, which is also set in `summary`; `timing.json`; and the
    /// manifest. Then it renames the folder to its target, replacing an earlier result. Every other file must be closed
    /// before.
    ///
    /// The result of an interrupted run does not replace a complete one: it is written next to it, with suffix
    /// `.interrupted`. Returns the path of the result.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`]; [`RecordError::Kept`] if the target is now occupied: it is unchanged, and the
    /// finished result stays at [`ResultFolder::path`], so that it is not lost.
    pub fn finish(mut self, summary: &mut Summary, timing: &Timing) -> Result<PathBuf, RecordError> {
        summary.results_hash.clear();
        self.write(SUMMARY_FILE, summary.to_json().as_bytes())?;
        self.write(TIMING_FILE, timing.to_json().as_bytes())?;
        let names = self.claim.names()?;
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let (hash, manifest) = hashes(self.claim.path(), &names)?;
        summary.results_hash = hash;
        let text = summary.to_json();
        self.write(SUMMARY_FILE, text.as_bytes())?;
        let mut manifest = manifest.without(&BTreeSet::from([SUMMARY_FILE]));
        manifest.add(SUMMARY_FILE, &hash_bytes(text.as_bytes()));
        self.write(MANIFEST_FILE, manifest.to_text().as_bytes())?;
        if summary.partial && PreviousResult::at(&self.target)?.is_some_and(|earlier| earlier.whole) {
            let is_replaceable =
                |path: &PathBuf| PreviousResult::at(path).is_ok_and(|earlier| !earlier.is_some_and(|it| it.whole));
            let beside = candidates(&self.target, "interrupted").find(is_replaceable);
            if let Some(beside) = beside {
                self.target = beside;
            }
        }
        self.commit()
    }

    fn commit(mut self) -> Result<PathBuf, RecordError> {
        // The marker is renamed with the folder, and its lock is held until the marker is removed: if the process is
        // killed in between, the folder is either recognised as unfinished, or complete at the target.
        let _lock = self.claim.release();
        self.check_target().and_then(|()| earlier::replace(self.claim.path(), &self.target)).map_err(|error| {
            // The result is at its target: only the removal of the earlier result failed.
            if !self.claim.path().join(MARKER).is_file() {
                return error;
            }
            // Remove the marker, so that the next writer with this target does not remove the finished result.
            let _ = fs::remove_file(self.claim.path().join(MARKER));
            RecordError::Kept { path: self.claim.path().to_owned(), error: Box::new(error) }
        })?;
        let marker = self.target.join(MARKER);
        // Another process that reads the result may have removed the marker.
        earlier::gone(fs::remove_file(&marker)).map_err(RecordError::unwritable("remove", &marker))?;
        Ok(self.target.clone())
    }

    /// Checks again that the target may be replaced, because the first check was at the start of the run, possibly
    /// hours ago.
    fn check_target(&self) -> Result<(), RecordError> {
        let Some(earlier) = PreviousResult::at(&self.target)? else { return Ok(()) };
        for name in &earlier.foreign {
            if found(&self.claim.path().join(name))?.is_some() {
                let path = self.target.join(name);
                return Err(RecordError::NotOurs { path, why: "exists and was not written by Tidegate" });
            }
        }
        Ok(())
    }
}

/// Removes temporary folders of killed writers below `parent`, and restores the results that these writers were
/// replacing. Folders of running writers and other files are kept.
///
/// # Errors
/// [`RecordError::Unreadable`]; [`RecordError::Unwritable`] if a temporary folder cannot be removed.
pub fn clear_leftovers(parent: &Path) -> Result<(), RecordError> {
    let mut targets = BTreeSet::new();
    for name in earlier::names(parent)? {
        let stem = name.rsplit_once(".partial").or(name.rsplit_once(".replaced")).map(|(stem, _)| stem);
        targets.extend(stem.filter(|stem| !stem.is_empty()).map(|stem| parent.join(stem)));
    }
    for target in targets {
        // Creating and dropping a `ResultFolder` removes the files of the killed writer.
        if let Err(error @ RecordError::Unwritable { .. }) = ResultFolder::create(&target) {
            return Err(error);
        }
    }
    Ok(())
}
