//! A folder beside a target, in which the files of one process grow.

use super::earlier::{self, candidates, is_empty_folder};
use super::names::MARKER;
use crate::error::RecordError;
use crate::file::is_temporary;
use crate::manifest::{MANIFEST_FILE, found};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder beside a target in which files of this process grow, locked against others. Dropped, it goes with them.
#[derive(Debug)]
pub(crate) struct Claim {
    partial: PathBuf,
    // `None` once the folder is no longer ours to remove.
    marker: Option<File>,
}

impl Claim {
    /// Claims `<target>.partial`, or one with a number if somebody else's stands there; what a killed process left in
    /// it is removed.
    ///
    /// # Errors
    /// [`RecordError::Busy`] if another process writes the same target, [`RecordError::Unwritable`].
    pub(crate) fn beside(target: &Path) -> Result<Claim, RecordError> {
        let (partial, marker) = claim(target)?;
        let claim = Claim { partial, marker: Some(marker) };
        expect_alone(target, &claim.partial)?;
        Ok(claim)
    }

    /// Removes what a killed process left beside `target` and in it, if anything.
    ///
    /// # Errors
    /// As [`Claim::beside`].
    pub(crate) fn clear_beside(target: &Path) -> Result<(), RecordError> {
        let target: PathBuf = target.components().collect();
        let partial = candidates(&target, "partial").next();
        if partial.is_some_and(|partial| partial.join(MARKER).is_file()) {
            drop(Claim::beside(&target)?);
        }
        let path = target.join(MARKER);
        if let Ok(marker) = File::open(&path) {
            lock(&marker, &path, &target)?;
            earlier::gone(fs::remove_file(&path)).map_err(RecordError::unwritable("remove", &path))?;
        }
        Ok(())
    }

    /// The folder in which files grow.
    pub(crate) fn path(&self) -> &Path {
        &self.partial
    }

    /// Where to write the file `name`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub(crate) fn place(&self, name: &str) -> Result<PathBuf, RecordError> {
        let path = self.partial.join(name);
        // Noted first: a writer that is killed leaves no file that is not known as ours. One write: threads share it.
        if let Some(mut marker) = self.marker.as_ref() {
            marker.write_all(format!("{name}\n").as_bytes()).map_err(RecordError::unwritable("create", &path))?;
        }
        Ok(path)
    }

    /// Makes the folder the target, where nothing stands.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub(crate) fn rename_to(mut self, target: &Path) -> Result<(), RecordError> {
        fs::rename(&self.partial, target).map_err(RecordError::unwritable("create", target))?;
        let marker = self.marker.take();
        let path = target.join(MARKER);
        fs::remove_file(&path).map_err(RecordError::unwritable("remove", &path))?;
        drop(marker);
        Ok(())
    }

    /// The names of the files that grow.
    pub(super) fn names(&self) -> Result<BTreeSet<String>, RecordError> {
        noted(&self.partial)
    }

    /// Gives up the folder without removing it, and gives its lock.
    pub(super) fn release(&mut self) -> Option<File> {
        self.marker.take()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The lock goes last, so that nobody else's work is in the folder when it is removed.
        if let Some(_lock) = self.marker.take() {
            abandon(&self.partial);
        }
    }
}

/// Removes what a [`ResultFolder`](super::ResultFolder) of this process has written so far into `partial`, its
/// [`path`](super::ResultFolder::path): for a process that ends without dropping it.
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
