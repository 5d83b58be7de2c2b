//! A folder of configurations: a file or two for each switch, and what to know before loading them.

use crate::failure::Failure;
use crate::names::distinct;
use record::files::{Earlier, write_files};
use std::path::Path;

/// Where configurations go, and what there they may take the place of.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// What its list of files calls it, such as `tagger export --to sonic`.
    pub kind: &'a str,
    /// These are all switches that there are: those of an earlier export must not stay, lest somebody loads them.
    pub whole: bool,
    /// Overwrite what Tidegate did not write.
    pub force: bool,
}

/// Writes (switch, file, text) into a folder, and `NOTES.txt` beside them.
///
/// # Errors
/// A folder that cannot be written, or holds such files that are not ours; two switches whose files would have one
/// name.
pub fn write_folder(place: Place<'_>, files: &[(&str, &str, &str)], notes: &[String]) -> Result<(), Failure> {
    distinct(files.iter().map(|&(switch, file, _)| (switch, file)))?;
    let notes: String = notes.iter().map(|note| format!("- {note}\n")).collect();
    let mut all: Vec<(&str, &[u8])> = files.iter().map(|&(_, file, text)| (file, text.as_bytes())).collect();
    all.push(("NOTES.txt", notes.as_bytes()));
    let earlier = if place.whole { Earlier::Removed } else { Earlier::Kept };
    write_files(place.folder, place.kind, &all, earlier, place.force).map_err(Failure::of_output)
}
