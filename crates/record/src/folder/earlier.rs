//! What stands where a result is to stand, and how it gives way.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::names::{MARKER, RESULT, SUMMARY_FILE, TIMING_FILE};
use crate::error::RecordError;
use crate::file::sibling;
use crate::manifest::{MANIFEST_FILE, Manifest, Standing, found};

/// Marks the folder of an earlier result that was moved aside to be replaced.
const REPLACED: &str = ".tidegate-replaced";

/// An earlier result, or an empty folder.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// Names of what somebody else put there.
    pub foreign: BTreeSet<String>,
    /// It is all of a run that was not interrupted.
    pub whole: bool,
}

impl Earlier {
    /// What stands at `target`; `None` where nothing does.
    ///
    /// # Errors
    /// [`RecordError::Occupied`] where it is no result, [`RecordError::NotOurs`] where files of the result were
    /// changed.
    pub fn at(target: &Path) -> Result<Option<Earlier>, RecordError> {
        let Some(kind) = found(target)? else { return Ok(None) };
        let occupied = || RecordError::Occupied { path: target.to_owned() };
        if kind.is_symlink() {
            let why = "is a symbolic link: name the folder that it leads to";
            return Err(RecordError::NotOurs { path: target.to_owned(), why });
        }
        if !kind.is_dir() {
            return Err(occupied());
        }
        let mut foreign = names(target)?;
        foreign.retain(|name| !is_implied(target, name));
        let Some(manifest) = Manifest::read(target)? else {
            let ours = |name: &String| [MARKER, REPLACED].contains(&name.as_str());
            return if names(target)?.iter().all(ours) { Ok(Some(Earlier::default())) } else { Err(occupied()) };
        };
        if manifest.kind() != RESULT {
            return Err(occupied());
        }
        let mut whole = !is_partial(target);
        for name in manifest.names() {
            foreign.remove(name);
            match manifest.standing(target, name)? {
                Standing::Ours => {}
                Standing::Free => whole = false,
                Standing::Changed | Standing::Foreign => {
                    let why = "was changed since Tidegate wrote it: move it away, or name another folder";
                    return Err(RecordError::NotOurs { path: target.join(name), why });
                }
            }
        }
        Ok(Some(Earlier { foreign, whole }))
    }
}

/// Whether the file `name` of the result in `folder` is ours without being listed. The list would differ between
/// machines if `timing.json` were in it. What has gone since the folder was read is nobody's.
fn is_implied(folder: &Path, name: &str) -> bool {
    let implied = [TIMING_FILE, MANIFEST_FILE, MARKER, REPLACED].contains(&name);
    implied && found(&folder.join(name)).is_ok_and(|found| found.is_none_or(|found| found.is_file()))
}

/// Whether the result in `folder` says that its run was interrupted.
fn is_partial(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join(SUMMARY_FILE)).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    summary["partial"] == true
}

/// Names beside `target` for something of ours: `run.partial`, `run.partial-2` and so on, in case that somebody uses
/// them.
pub(super) fn candidates(target: &Path, suffix: &str) -> impl Iterator<Item = PathBuf> {
    (1u32..).map(move |number| match number {
        1 => sibling(target, &format!(".{suffix}")),
        _ => sibling(target, &format!(".{suffix}-{number}")),
    })
}

/// Names of all that is in `folder`. One that is not UTF-8 is none of ours, and is given so that it equals none.
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

/// Renames `partial` to `target`; an earlier result there gives way, and what is not ours in it stays at its place.
///
/// # Errors
/// [`RecordError::Unwritable`]; the target is then as it was.
pub(super) fn replace(partial: &Path, target: &Path) -> Result<(), RecordError> {
    let create = RecordError::unwritable("create", target);
    if found(target)?.is_none() {
        return fs::rename(partial, target).map_err(create);
    }
    let aside = aside(target)?;
    if let Err(error) = fs::rename(partial, target) {
        let _ = fs::rename(&aside, target).and_then(|()| fs::remove_file(target.join(REPLACED)));
        return Err(create(error));
    }
    retire(&aside, target)
}

/// Moves the earlier result away from `target`.
fn aside(target: &Path) -> Result<PathBuf, RecordError> {
    let replace = || RecordError::unwritable("replace", target);
    // Marked before it is moved: only what is marked is ever put back or removed.
    fs::write(target.join(REPLACED), b"").map_err(replace())?;
    for aside in candidates(target, "replaced") {
        if found(&aside)?.is_none() {
            fs::rename(target, &aside).map_err(replace())?;
            return Ok(aside);
        }
    }
    Err(RecordError::Occupied { path: target.to_owned() })
}

/// Removes the files of a result that was replaced, once what is not ours in it stands in its successor.
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
            // It came into the old result in the instant of its replacement: it stays beside the new one.
            let why = "could not be moved into the new result, which has a file of this name";
            return Err(RecordError::NotOurs { path: from, why });
        }
        fs::rename(&from, &to).map_err(RecordError::unwritable("move", &from))?;
    }
    let listed = ours.iter().flat_map(Manifest::names);
    // In this order: killed in between, what is left is still known as ours.
    for name in listed.chain([TIMING_FILE, MANIFEST_FILE, MARKER, REPLACED]) {
        let path = aside.join(name);
        if found(&path)?.is_some_and(|found| found.is_file()) {
            gone(fs::remove_file(&path)).map_err(RecordError::unwritable("remove", &path))?;
        }
    }
    gone(fs::remove_dir(aside)).map_err(RecordError::unwritable("remove", aside))
}

/// Another writer of the same target retires what it finds, too: what it has removed is gone, as was wanted.
pub(super) fn gone(removed: std::io::Result<()>) -> std::io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// An earlier writer that was killed between its two renames leaves the old result beside an empty place:
/// put it back. Killed after them, it leaves rubbish.
pub(super) fn restore_interrupted_replacement(target: &Path) -> Result<(), RecordError> {
    for aside in candidates(target, "replaced") {
        if found(&aside)?.is_none() {
            break;
        }
        if !found(&aside.join(REPLACED)).is_ok_and(|marker| marker.is_some_and(|marker| marker.is_file())) {
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
    Ok(())
}
