//! Temporary folders next to a target folder.

use super::earlier::{self, candidates, is_empty_folder};
use super::names::MARKER;
use crate::error::RecordError;
use crate::file::is_temporary;
use crate::manifest::{MANIFEST_FILE, found};
use crate::temporary::is_at;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A temporary folder next to a target, for files of this process, with a lock that excludes other processes. `drop`
/// removes the folder with its files.
#[derive(Debug)]
pub(crate) struct Claim {
    partial: PathBuf,
    // `None` once the folder must not be removed.
    marker: Option<File>,
}

impl Claim {
    /// Claims `<target>.partial`, or a numbered name if that is in use; removes the files that a killed process left in
    /// it.
    ///
    /// # Errors
    /// [`RecordError::Busy`] if another process writes to this target, [`RecordError::Unwritable`].
    pub(crate) fn beside(target: &Path) -> Result<Claim, RecordError> {
        let (partial, marker) = claim(target)?;
        let claim = Claim { partial, marker: Some(marker) };
        expect_alone(target, &claim.partial)?;
        Ok(claim)
    }

    /// Removes the files that a killed process left next to `target` and in it.
    ///
    /// # Errors
    /// Those of [`Claim::beside`].
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

    /// Returns the path of the temporary folder.
    pub(crate) fn path(&self) -> &Path {
        &self.partial
    }

    /// Returns the path for writing the file `name`.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub(crate) fn writable_path(&self, name: &str) -> Result<PathBuf, RecordError> {
        let path = self.partial.join(name);
        // The name is recorded in the marker before the file is created, so that a killed writer leaves no unrecorded
        // file. It is recorded by a single write, because threads share the marker.
        if let Some(mut marker) = self.marker.as_ref() {
            marker.write_all(format!("{name}\n").as_bytes()).map_err(RecordError::unwritable("create", &path))?;
        }
        Ok(path)
    }

    /// Renames the folder to the target, which must not exist.
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

    /// Returns the names of the files in the folder.
    pub(super) fn names(&self) -> Result<BTreeSet<String>, RecordError> {
        noted(&self.partial)
    }

    /// Keeps the folder when `self` is dropped; returns its lock.
    pub(super) fn release(&mut self) -> Option<File> {
        self.marker.take()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The lock is released last, so that no other process uses the folder while it is removed.
        if let Some(_lock) = self.marker.take() {
            abandon(&self.partial);
        }
    }
}

/// Removes the files of a [`ResultFolder`](super::ResultFolder) of this process from `partial`, its
/// [`path`](super::ResultFolder::path): for a process that ends without dropping the folder.
pub fn abandon(partial: &Path) {
    // Errors are ignored: the next run with this target removes the remaining files.
    let _ = clear(partial);
    let _ = fs::remove_file(partial.join(MARKER));
    // A directory with other files is not empty, so that it is not removed.
    let _ = fs::remove_dir(partial);
}

/// Creates and locks a folder next to `target` that has no files of Tidegate.
fn claim(target: &Path) -> Result<(PathBuf, File), RecordError> {
    for partial in candidates(target, "partial") {
        let created = match fs::create_dir(&partial) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(RecordError::unwritable("create", &partial)(error));
            }
            created => created.is_ok(),
        };
        let claimed = claim_folder(target, &partial);
        if created && claimed.is_err() {
            // Without the lock only an empty folder may be removed: another process may have claimed it.
            let _ = fs::remove_dir(&partial);
        }
        match claimed {
            Ok(Some(marker)) => return Ok((partial, marker)),
            Ok(None) => {}
            // The owner of the folder has renamed or removed it in the meantime.
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

/// Locks `partial`; returns `None` if the name is in use.
fn claim_folder(target: &Path, partial: &Path) -> Result<Option<File>, RecordError> {
    if !found(partial)?.is_some_and(|found| found.is_dir()) {
        return Ok(None);
    }
    let path = partial.join(MARKER);
    let marked = || Ok::<bool, RecordError>(found(&path)?.is_some_and(|found| found.is_file()));
    // The owner of the folder may have created the marker between the first two checks, so that the marker is checked
    // again.
    if !marked()? && !is_empty_folder(partial)? && !marked()? {
        return Ok(None);
    }
    // The owner may rename the folder at any time, also in exchange for an earlier result, in which no marker may be
    // created: a marker is created only in an empty folder, and only once.
    let mut options = File::options();
    options.read(true).append(true);
    if !marked()? {
        options.create_new(true);
    }
    let marker = match options.open(&path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
            return Err(RecordError::Busy { path: target.to_owned() });
        }
        marker => marker.map_err(RecordError::unwritable("create", &path))?,
    };
    lock(&marker, &path, target)?;
    // If the owner finished between these calls and another writer started, the locked marker has been deleted.
    if !is_at(&marker, &path).map_err(RecordError::unreadable(&path))? {
        return Err(RecordError::Busy { path: target.to_owned() });
    }
    clear(partial)?;
    if earlier::names(partial)?.iter().any(|name| name != MARKER) {
        // The folder of a killed run contains other files: remove the marker and leave the folder to the user.
        fs::remove_file(&path).map_err(RecordError::unwritable("remove", &path))?;
        return Ok(None);
    }
    if marker.metadata().map_err(RecordError::unreadable(&path))?.len() > 0 {
        marker.set_len(0).map_err(RecordError::unwritable("create", &path))?;
    }
    Ok(Some(marker))
}

/// Checks that no other process writes to `target`, after `ours` is locked: of two concurrent processes, at most one
/// continues.
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
    // The target is checked last: a writer renames its folder to the target, and holds its lock until the replacement
    // is complete.
    others.push(target.to_owned());
    for other in others {
        let path = other.join(MARKER);
        if let Ok(marker) = File::open(&path) {
            lock(&marker, &path, target)?;
        }
    }
    Ok(())
}

/// Locks the `marker` at `path`, which belongs to the result at `target`.
fn lock(marker: &File, path: &Path, target: &Path) -> Result<(), RecordError> {
    match marker.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => Err(RecordError::Busy { path: target.to_owned() }),
        // On a file system without locks, the user must exclude concurrent writers.
        Err(fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(fs::TryLockError::Error(error)) => Err(RecordError::unwritable("lock", path)(error)),
    }
}

/// Returns the names of the files that a writer recorded in the marker of the folder `partial`.
fn noted(partial: &Path) -> Result<BTreeSet<String>, RecordError> {
    let path = partial.join(MARKER);
    let text = fs::read_to_string(&path).map_err(RecordError::unreadable(&path))?;
    Ok(text.lines().filter(|name| crate::manifest::is_plain(name)).map(str::to_owned).collect())
}

/// Removes only the files of a writer from the folder `partial`, except its marker.
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
