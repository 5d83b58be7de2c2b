//! A result folder that appears whole or not at all.
//!
//! A run writes into `<target>.partial` and renames it at the end, so whoever sees the target sees a
//! complete result, and a killed run never passes for a finished one. Nothing is synced to the
//! platter: the promise is about processes that die, not about power.
//!
//! Files that somebody else puts into a result are no part of it: they stay where they are when it is replaced.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use crate::error::RecordError;
use crate::file::{WholeFile, is_temporary, write_whole};
use crate::manifest::{MANIFEST_FILE, found, hash_bytes};
use crate::results_hash::hashes;
use crate::summary::Summary;
use crate::timing::Timing;
use earlier::{Earlier, candidates, is_empty_folder};

mod earlier;
#[cfg(test)]
mod tests;
mod verify;

pub use verify::{is_result, read_verified};

/// Marks a folder as the unfinished work of this crate, and names the files in it that are ours; its lock
/// tells a killed writer from a living one.
const MARKER: &str = ".tidegate-partial";
/// What the list of a result's files calls its folder.
pub(crate) const RESULT: &str = "result";
/// The file that makes a folder a result.
pub const SUMMARY_FILE: &str = "summary.json";
/// What depends on the machine; the only file outside the results hash.
pub const TIMING_FILE: &str = "timing.json";

/// A result in the making. Dropped before [`ResultFolder::finish`], it leaves no trace and an earlier
/// result at the target untouched.
#[derive(Debug)]
pub struct ResultFolder {
    target: PathBuf,
    partial: PathBuf,
    /// What somebody else put into the earlier result.
    foreign: BTreeSet<String>,
    // Held open for its lock; `None` once the folder is no longer ours to remove.
    marker: Option<File>,
}

impl ResultFolder {
    /// Starts a result that will stand at `target`; missing parents are created. A target that is an
    /// earlier result will be replaced at the end; what a killed run left is cleared away.
    ///
    /// # Errors
    /// [`RecordError::Occupied`] if something else stands there, [`RecordError::NotOurs`] if files of an earlier
    /// result were changed, [`RecordError::Busy`] if another process writes the same target,
    /// [`RecordError::BadTarget`], [`RecordError::Unwritable`].
    pub fn create(target: &Path) -> Result<Self, RecordError> {
        // Components drop a trailing slash, which would otherwise put the sibling inside the target.
        let target: PathBuf = target.components().collect();
        if !matches!(target.components().next_back(), Some(Component::Normal(_))) {
            return Err(RecordError::BadTarget { path: target });
        }
        if let Some(parent) = target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(RecordError::unwritable("create", parent))?;
        }
        let (partial, marker) = claim(&target)?;
        let mut folder = ResultFolder { target, partial, foreign: BTreeSet::new(), marker: Some(marker) };
        expect_alone(&folder.target, &folder.partial)?;
        earlier::restore_interrupted_replacement(&folder.target)?;
        if let Some(earlier) = Earlier::at(&folder.target)? {
            folder.foreign = earlier.foreign;
        }
        Ok(folder)
    }

    /// Where the files grow: the temporary folder, which becomes the target.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Where the result will stand.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Where to write the file `name` of the result.
    ///
    /// # Errors
    /// [`RecordError::NotOurs`] where somebody else's file of this name stands in the earlier result;
    /// [`RecordError::Unwritable`].
    pub fn place(&self, name: &str) -> Result<PathBuf, RecordError> {
        if self.foreign.contains(name) {
            let path = self.target.join(name);
            return Err(RecordError::NotOurs { path, why: "exists, and Tidegate did not write it" });
        }
        let path = self.partial.join(name);
        // Noted first: a writer that is killed leaves no file that is not known as ours.
        if let Some(mut marker) = self.marker.as_ref() {
            writeln!(marker, "{name}").map_err(RecordError::unwritable("create", &path))?;
        }
        Ok(path)
    }

    /// Starts the file `name` of the result.
    ///
    /// # Errors
    /// As [`ResultFolder::place`].
    pub fn file(&self, name: &str) -> Result<WholeFile, RecordError> {
        WholeFile::create(&self.place(name)?)
    }

    /// Writes the file `name` of the result.
    ///
    /// # Errors
    /// As [`ResultFolder::place`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        write_whole(&self.place(name)?, bytes)
    }

    /// Writes `summary.json` with the hash of all results, which is also set in `summary`, `timing.json` and the list
    /// of all files, and renames the folder to its target, replacing an earlier result. Every other file must be closed
    /// by now.
    ///
    /// The result of an interrupted run does not replace that of a whole one: it stands beside it, with `.interrupted`
    /// after the name. Gives the folder where the result stands.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`]; [`RecordError::Kept`] if something else has come to stand at the target, which is
    /// then as it was, and the finished result stays at [`ResultFolder::path`]: hours of work are not thrown away for a
    /// name.
    pub fn finish(mut self, summary: &mut Summary, timing: &Timing) -> Result<PathBuf, RecordError> {
        summary.results_hash.clear();
        self.write(SUMMARY_FILE, summary.to_json().as_bytes())?;
        self.write(TIMING_FILE, timing.to_json().as_bytes())?;
        let names = noted(&self.partial)?;
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let (hash, manifest) = hashes(&self.partial, &names)?;
        summary.results_hash = hash;
        let text = summary.to_json();
        self.write(SUMMARY_FILE, text.as_bytes())?;
        let mut manifest = manifest.without(&BTreeSet::from([SUMMARY_FILE]));
        manifest.add(SUMMARY_FILE, &hash_bytes(text.as_bytes()));
        self.write(MANIFEST_FILE, manifest.to_text().as_bytes())?;
        if summary.partial && Earlier::at(&self.target)?.is_some_and(|earlier| earlier.whole) {
            let gives_way = |path: &PathBuf| Earlier::at(path).is_ok_and(|earlier| !earlier.is_some_and(|it| it.whole));
            let beside = candidates(&self.target, "interrupted").find(gives_way);
            if let Some(beside) = beside {
                self.target = beside;
            }
        }
        self.commit()
    }

    fn commit(mut self) -> Result<PathBuf, RecordError> {
        // The marker moves with the folder and its lock is held until it is gone: killed anywhere in between,
        // what is left is either known as ours or stands whole at the target.
        let _lock = self.marker.take();
        self.check_target().and_then(|()| earlier::replace(&self.partial, &self.target)).map_err(|error| {
            if !self.partial.is_dir() {
                return error;
            }
            // Without its marker the finished work is safe from the next writer at this target.
            let _ = fs::remove_file(self.partial.join(MARKER));
            RecordError::Kept { path: self.partial.clone(), error: Box::new(error) }
        })?;
        let marker = self.target.join(MARKER);
        // A reader of the result may have taken it away.
        earlier::gone(fs::remove_file(&marker)).map_err(RecordError::unwritable("remove", &marker))?;
        Ok(self.target.clone())
    }

    /// Whether the target may still be replaced: it is looked at when the run begins, and that may be hours ago.
    fn check_target(&self) -> Result<(), RecordError> {
        let Some(earlier) = Earlier::at(&self.target)? else { return Ok(()) };
        for name in &earlier.foreign {
            if found(&self.partial.join(name))?.is_some() {
                let path = self.target.join(name);
                return Err(RecordError::NotOurs { path, why: "exists, and Tidegate did not write it" });
            }
        }
        Ok(())
    }
}

impl Drop for ResultFolder {
    fn drop(&mut self) {
        // The lock goes last, so that nobody else's work is in the folder when it is removed.
        if let Some(_lock) = self.marker.take() {
            abandon(&self.partial);
        }
    }
}

/// Removes what a [`ResultFolder`] of this process has written so far into `partial`, its [`ResultFolder::path`]: for a
/// process that ends without dropping it.
pub fn abandon(partial: &Path) {
    // Best effort: what is left over, the next run at this target clears away.
    let _ = clear(partial);
    let _ = fs::remove_file(partial.join(MARKER));
    // Where somebody put something of theirs, it stays.
    let _ = fs::remove_dir(partial);
}

/// Makes a folder beside `target` that this process has locked and that holds nothing of ours.
fn claim(target: &Path) -> Result<(PathBuf, File), RecordError> {
    for partial in candidates(target, "partial") {
        match fs::create_dir(&partial) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(RecordError::unwritable("create", &partial)(error));
            }
            _ => {}
        }
        match claim_folder(target, &partial) {
            Ok(Some(marker)) => return Ok((partial, marker)),
            Ok(None) => {}
            // Its owner finished or gave up while we looked.
            Err(RecordError::Unreadable { source, .. } | RecordError::Unwritable { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                return Err(RecordError::Busy { path: target.to_owned() });
            }
            Err(error) => return Err(error),
        }
    }
    Err(RecordError::Occupied { path: target.to_owned() })
}

/// Locks `partial`; `None` where it is, or holds, something of somebody else's.
fn claim_folder(target: &Path, partial: &Path) -> Result<Option<File>, RecordError> {
    if !found(partial)?.is_some_and(|found| found.is_dir()) {
        return Ok(None);
    }
    let path = partial.join(MARKER);
    let marked = || Ok::<bool, RecordError>(found(&path)?.is_some_and(|found| found.is_file()));
    // Its owner may have begun between the first two questions.
    if !marked()? && !is_empty_folder(partial)? && !marked()? {
        return Ok(None);
    }
    let marker = File::options().read(true).append(true).create(true).open(&path);
    let marker = marker.map_err(RecordError::unwritable("create", &path))?;
    lock(&marker, &path, target)?;
    // Its owner may have finished between our calls, and the next one begun: then the lock is on a file that is gone.
    if !is_at(&marker, &path)? {
        return Err(RecordError::Busy { path: target.to_owned() });
    }
    clear(partial)?;
    if earlier::names(partial)?.iter().any(|name| name != MARKER) {
        // Somebody put files into what a killed run left: without its marker the folder is theirs.
        fs::remove_file(&path).map_err(RecordError::unwritable("remove", &path))?;
        return Ok(None);
    }
    marker.set_len(0).map_err(RecordError::unwritable("create", &path))?;
    Ok(Some(marker))
}

/// Whether no other process writes the result at `target`, once `ours` is locked: of two that ask at the same time, at
/// most one goes on.
///
/// # Errors
/// [`RecordError::Busy`], [`RecordError::Unreadable`], [`RecordError::Unwritable`].
fn expect_alone(target: &Path, ours: &Path) -> Result<(), RecordError> {
    let mut others = Vec::new();
    let mut passed = false;
    for partial in candidates(target, "partial") {
        if partial == ours {
            passed = true;
        } else if found(&partial)?.is_some() {
            others.push(partial);
        } else if passed {
            break;
        }
    }
    // The target is asked last: a writer moves from its own folder to there, and holds its lock until nothing of the
    // replacement is left to do.
    others.push(target.to_owned());
    for other in others {
        let path = other.join(MARKER);
        if let Ok(marker) = File::open(&path) {
            lock(&marker, &path, target)?;
        }
    }
    Ok(())
}

/// Locks the `marker` that stands at `path`, which belongs to the result at `target`.
fn lock(marker: &File, path: &Path, target: &Path) -> Result<(), RecordError> {
    match marker.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => Err(RecordError::Busy { path: target.to_owned() }),
        // A file system without locks: then the promise about two writers is the user's to keep.
        Err(fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(fs::TryLockError::Error(error)) => Err(RecordError::unwritable("lock", path)(error)),
    }
}

/// Whether `file` is what stands at `path`.
fn is_at(file: &File, path: &Path) -> Result<bool, RecordError> {
    let Some(there) = found(path)? else { return Ok(false) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let file = file.metadata().map_err(RecordError::unreadable(path))?;
        Ok((file.dev(), file.ino()) == (there.dev(), there.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(there.is_file())
    }
}

/// Names of the files that a writer noted in the folder `partial`.
fn noted(partial: &Path) -> Result<BTreeSet<String>, RecordError> {
    let path = partial.join(MARKER);
    let text = fs::read_to_string(&path).map_err(RecordError::unreadable(&path))?;
    Ok(text.lines().filter(|name| crate::manifest::is_plain(name)).map(str::to_owned).collect())
}

/// Removes what a writer left in the folder `partial`, and nothing else; its marker stays.
fn clear(partial: &Path) -> Result<(), RecordError> {
    let noted = noted(partial)?;
    for name in earlier::names(partial)? {
        let path = partial.join(&name);
        let ours = noted.contains(&name) || name == MANIFEST_FILE || is_temporary(&name);
        if ours && found(&path)?.is_some_and(|found| found.is_file()) {
            fs::remove_file(&path).map_err(RecordError::unwritable("remove", &path))?;
        }
    }
    Ok(())
}

/// Removes what killed writers left below `parent`: their temporary folders; and gives back results that
/// they were replacing. What a living writer holds, and what is not ours, stays.
///
/// # Errors
/// [`RecordError::Unreadable`]; [`RecordError::Unwritable`] where a leftover cannot be removed.
pub fn clear_leftovers(parent: &Path) -> Result<(), RecordError> {
    let mut targets = BTreeSet::new();
    for name in earlier::names(parent)? {
        let stem = name.rsplit_once(".partial").or(name.rsplit_once(".replaced")).map(|(stem, _)| stem);
        targets.extend(stem.filter(|stem| !stem.is_empty()).map(|stem| parent.join(stem)));
    }
    for target in targets {
        // A folder that is created and dropped at once takes the leftover with it.
        if let Err(error @ RecordError::Unwritable { .. }) = ResultFolder::create(&target) {
            return Err(error);
        }
    }
    Ok(())
}
