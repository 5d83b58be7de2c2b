//! Existing content at the target of a result, and its replacement.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::names::{MARKER, RESULT, SUMMARY_FILE, TIMING_FILE};
use crate::error::RecordError;
use crate::file::sibling;
use crate::manifest::{MANIFEST_FILE, Manifest, PathState, found};

/// Name of the marker in an earlier result that was renamed for its replacement.
const REPLACED: &str = ".tidegate-replaced";

/// The existing content at a target: an earlier result, or an empty folder.
#[derive(Debug, Default)]
pub(super) struct PreviousResult {
    /// Names of files that Tidegate did not write.
    pub foreign: BTreeSet<String>,
    /// Whether the result is complete and its run was not interrupted.
    pub whole: bool,
}

impl PreviousResult {
    /// Examines `target`; `None` if it does not exist.
    ///
    /// # Errors
    /// [`RecordError::Occupied`] if it is not a result, [`RecordError::NotOurs`] if files of the result were changed.
    pub fn at(target: &Path) -> Result<Option<PreviousResult>, RecordError> {
        let Some(kind) = found(target)? else { return Ok(None) };
        let occupied = || RecordError::Occupied { path: target.to_owned() };
        if kind.is_symlink() {
            let why = "is a symbolic link: name its target folder";
            return Err(RecordError::NotOurs { path: target.to_owned(), why });
        }
        if !kind.is_dir() {
            return Err(occupied());
        }
        let mut foreign = names(target)?;
        foreign.retain(|name| !is_implied(target, name));
        let Some(manifest) = Manifest::read(target)? else {
            let ours = |name: &String| [MARKER, REPLACED].contains(&name.as_str());
            return if names(target)?.iter().all(ours) { Ok(Some(PreviousResult::default())) } else { Err(occupied()) };
        };
        if manifest.kind() != RESULT {
            return Err(occupied());
        }
        let mut whole = !is_partial(target);
        for name in manifest.names() {
            foreign.remove(name);
            match manifest.standing(target, name)? {
                PathState::Ours => {}
                // If a file is missing, the result is incomplete, so that it may be replaced.
                PathState::Free => whole = false,
                PathState::Changed | PathState::Foreign => {
                    let why = "was modified since Tidegate wrote it: move it away, or name another folder";
                    return Err(RecordError::NotOurs { path: target.join(name), why });
                }
            }
        }
        Ok(Some(PreviousResult { foreign, whole }))
    }
}

/// Returns `true` for files of Tidegate that are not in the manifest. `timing.json` is not listed, because the manifest
/// would then depend on the machine. A file that was removed in the meantime counts, too.
fn is_implied(folder: &Path, name: &str) -> bool {
    let implied = [TIMING_FILE, MANIFEST_FILE, MARKER, REPLACED].contains(&name);
    implied && found(&folder.join(name)).is_ok_and(|found| found.is_none_or(|found| found.is_file()))
}

/// Returns `true` if the result in `folder` is of an interrupted run.
fn is_partial(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join(SUMMARY_FILE)).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    summary["partial"] == true
}

/// Returns the candidate names next to `target`: `run.partial`, `run.partial-2` and so on, because some may be in use.
pub(super) fn candidates(target: &Path, suffix: &str) -> impl Iterator<Item = PathBuf> {
    (1u32..).map(move |number| match number {
        1 => sibling(target, &format!(".{suffix}")),
        _ => sibling(target, &format!(".{suffix}-{number}")),
    })
}

/// Returns the names of all entries of `folder`. A name that is not UTF-8 is converted to a name that Tidegate does not
/// use.
pub(super) fn names(folder: &Path) -> Result<BTreeSet<String>, RecordError> {
    let entries = fs::read_dir(folder).map_err(RecordError::unreadable(folder))?;
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(RecordError::unreadable(folder))
    };
    entries.map(name).collect()
}

pub(super) fn is_empty_folder(path: &Path) -> Result<bool, RecordError> {
    Ok(fs::read_dir(path).map_err(RecordError::unreadable(path))?.next().is_none())
}

/// Renames `partial` to `target`. An earlier result is replaced; files that Tidegate did not write are moved from it to
/// the new result.
///
/// Where the system can exchange two folders in one step (Linux), there is no time at which `target` is missing.
///
/// # Errors
/// [`RecordError::Unwritable`]; the target is then unchanged, unless the new result is already there.
pub(super) fn replace(partial: &Path, target: &Path) -> Result<(), RecordError> {
    replace_by(exchange, partial, target)
}

pub(super) fn replace_by(
    exchange: impl Fn(&Path, &Path) -> std::io::Result<()>,
    partial: &Path,
    target: &Path,
) -> Result<(), RecordError> {
    let create = RecordError::unwritable("create", target);
    if found(target)?.is_none() {
        return fs::rename(partial, target).map_err(create);
    }
    // A killed writer may have left its marker in the earlier result, which would look like a folder in use.
    gone(fs::remove_file(target.join(MARKER))).map_err(RecordError::unwritable("replace", target))?;
    // The marker is written first, because only marked folders are restored or removed.
    let marker = target.join(REPLACED);
    fs::write(&marker, b"").map_err(RecordError::unwritable("replace", target))?;
    match exchange(partial, target) {
        // Other writers may use the name of an empty temporary folder, so that its last file is removed elsewhere.
        Ok(()) => return retire(&aside(partial, target)?, target),
        Err(error) if error.kind() == ErrorKind::Unsupported => {}
        Err(error) => {
            let _ = fs::remove_file(&marker);
            return Err(create(error));
        }
    }
    let aside = aside(target, target)?;
    if let Err(error) = fs::rename(partial, target) {
        let _ = fs::rename(&aside, target).and_then(|()| fs::remove_file(target.join(REPLACED)));
        return Err(create(error));
    }
    retire(&aside, target)
}

/// Exchanges two folders in one step.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if the operating system or the file system cannot do it.
fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(|error| match error {
            Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => ErrorKind::Unsupported.into(),
            error => error.into(),
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (one, other);
        Err(ErrorKind::Unsupported.into())
    }
}

/// Renames the earlier result of `target`, which has the marker and is at `path`, to a candidate name.
fn aside(path: &Path, target: &Path) -> Result<PathBuf, RecordError> {
    for aside in candidates(target, "replaced") {
        if found(&aside)?.is_none() {
            fs::rename(path, &aside).map_err(RecordError::unwritable("replace", target))?;
            return Ok(aside);
        }
    }
    Err(RecordError::Occupied { path: target.to_owned() })
}

/// Moves files that Tidegate did not write from a replaced result to the new one, and removes the files of the replaced
/// result.
fn retire(aside: &Path, target: &Path) -> Result<(), RecordError> {
    let ours = Manifest::read(aside)?;
    let is_ours = |name: &str| ours.as_ref().is_some_and(|ours| ours.lists(name));
    let entries = match fs::read_dir(aside) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(RecordError::unreadable(aside))?,
    };
    for entry in entries {
        let name = entry.map_err(RecordError::unreadable(aside))?.file_name();
        let known = name.to_str().is_some_and(|name| is_implied(aside, name) || is_ours(name));
        let (from, to) = (aside.join(&name), target.join(&name));
        if known {
            continue;
        }
        if found(&to)?.is_some() {
            // A file that was created during the replacement stays in the old folder.
            let why = "could not be moved into the new result, which has a file of this name";
            return Err(RecordError::NotOurs { path: from, why });
        }
        fs::rename(&from, &to).map_err(RecordError::unwritable("move", &from))?;
    }
    let listed = ours.iter().flat_map(Manifest::names);
    // Files are removed in this order, so that the remaining folder is recognised if the process is killed in between.
    for name in listed.chain([TIMING_FILE, MANIFEST_FILE, MARKER, REPLACED]) {
        let path = aside.join(name);
        if found(&path)?.is_some_and(|found| found.is_file()) {
            gone(fs::remove_file(&path)).map_err(RecordError::unwritable("remove", &path))?;
        }
    }
    gone(fs::remove_dir(aside)).map_err(RecordError::unwritable("remove", aside))
}

/// Ignores `NotFound`, because another writer with this target may have removed the file.
pub(super) fn gone(removed: std::io::Result<()>) -> std::io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Restores the earlier result if its writer was killed between the two renames of a replacement; removes the earlier
/// result if the writer was killed after the new result was at the target.
pub(super) fn restore_interrupted_replacement(target: &Path) -> Result<(), RecordError> {
    let is_file = |path: &Path| found(path).is_ok_and(|found| found.is_some_and(|found| found.is_file()));
    // After an exchange the earlier result has the name of the temporary folder.
    for suffix in ["replaced", "partial"] {
        for aside in candidates(target, suffix) {
            if found(&aside)?.is_none() {
                break;
            }
            if suffix == "replaced" && found(target)?.is_some() && is_empty_folder(&aside).unwrap_or(false) {
                // The writer was killed before the last step of a removal.
                gone(fs::remove_dir(&aside)).map_err(RecordError::unwritable("remove", &aside))?;
                continue;
            }
            let is_in_use = suffix == "partial" && is_file(&aside.join(MARKER));
            if !is_file(&aside.join(REPLACED)) || is_in_use {
                continue;
            }
            if found(target)?.is_some() {
                retire(&aside, target)?;
            } else {
                let restore = || RecordError::unwritable("restore", target);
                fs::rename(&aside, target).map_err(restore())?;
                fs::remove_file(target.join(REPLACED)).map_err(restore())?;
            }
        }
    }
    Ok(())
}
