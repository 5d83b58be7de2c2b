//! Verifies that a folder is a complete result.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::names::{MARKER, SUMMARY_FILE};
use crate::error::RecordError;
use crate::manifest::{MANIFEST_FILE, Manifest, PathState};
use crate::results_hash::hashes;
use crate::summary::Summary;

/// Returns `true` if `folder` is a Tidegate result: it has a `summary.json` with a `results_hash`. The file name alone
/// is too common to identify a result.
pub fn is_result(folder: &Path) -> bool {
    let mut text = String::new();
    let read = File::open(folder.join(SUMMARY_FILE)).and_then(|mut file| file.read_to_string(&mut text));
    read.is_ok() && text.contains("\"results_hash\"")
}

/// Checks all files of the result at `folder` against its hash, and returns its summary. Other files are ignored.
///
/// # Errors
/// [`RecordError::Damaged`] if files are missing, truncated or changed, as in an incomplete copy;
/// [`RecordError::Json`], [`RecordError::Unreadable`].
pub fn read_verified(folder: &Path) -> Result<Summary, RecordError> {
    let damaged = |what: String| RecordError::Damaged { path: folder.to_owned(), what };
    let file = folder.join(SUMMARY_FILE);
    if !file.is_file() {
        return Err(damaged(format!("it has no {SUMMARY_FILE}")));
    }
    let summary = Summary::read(&file)?;
    let Some(manifest) = Manifest::read(folder)? else {
        return Err(damaged(format!("it has no {MANIFEST_FILE}, which lists the files of its results_hash")));
    };
    let wrong = |what: &str| damaged(format!("its files do not match the results_hash of its {SUMMARY_FILE}: {what}"));
    let names = manifest.names();
    if let Some(missing) = names.iter().find(|name| !folder.join(name).is_file()) {
        return Err(wrong(&format!("{missing} is missing")));
    }
    if hashes(folder, &names)?.0 != summary.results_hash {
        for name in &names {
            if manifest.standing(folder, name)? == PathState::Changed {
                return Err(wrong(&format!("{name} was modified")));
            }
        }
        return Err(wrong("a file was added to or removed from their list"));
    }
    // A writer that was killed after its rename leaves its marker in a complete result.
    let marker = folder.join(MARKER);
    if let Ok(file) = File::open(&marker)
        && file.try_lock().is_ok()
    {
        let _ = fs::remove_file(&marker);
    }
    Ok(summary)
}
