//! Writes a folder of switch configurations: one or two files per switch, and notes on loading them.

use crate::failure::Failure;
use crate::names::distinct;
use record::files::{NewFiles, PreviousFiles};
use std::path::Path;

/// Output folder for configurations, and whether files may be replaced.
#[derive(Clone, Copy, Debug)]
pub struct OutputFolder<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// Kind of the content in the folder's manifest, such as `tagger export --to sonic`.
    pub kind: &'a str,
    /// Set if the export covers all switches. Then files of an earlier export are removed, so that outdated ones are
    /// not loaded.
    pub whole: bool,
    /// Whether to overwrite files that Tidegate did not write.
    pub force: bool,
}

/// Opens the folder for new files, which are passed to [`finish`].
///
/// # Errors
/// The folder cannot be written, or has files of another kind.
pub fn begin<'a>(output: &OutputFolder<'a>) -> Result<NewFiles<'a>, Failure> {
    NewFiles::open(output.folder, output.kind, output.force).map_err(Failure::of_output)
}

/// Commits the files, given as (switch, file), and writes `NOTES.txt`.
///
/// # Errors
/// The folder cannot be written, or two switches have the same file name.
pub fn finish<'a>(
    output: &OutputFolder<'_>,
    new: NewFiles<'_>,
    files: impl Iterator<Item = (&'a str, &'a str)>,
    notes: &[String],
) -> Result<(), Failure> {
    distinct(files)?;
    let notes: String = notes.iter().map(|note| format!("- {note}\n")).collect();
    let earlier = if output.whole { PreviousFiles::Removed } else { PreviousFiles::Kept };
    new.add("NOTES.txt", notes.as_bytes()).and_then(|()| new.commit(earlier)).map_err(Failure::of_output)
}

/// Writes the files (switch, file, text) and `NOTES.txt` to a folder.
///
/// # Errors
/// The folder cannot be written, or has files with these names that Tidegate did not write; or two switches have the
/// same file name.
pub fn write_folder(output: OutputFolder<'_>, files: &[(&str, &str, &str)], notes: &[String]) -> Result<(), Failure> {
    let new = begin(&output)?;
    files.iter().try_for_each(|(_, file, text)| new.add(file, text.as_bytes())).map_err(Failure::of_output)?;
    finish(&output, new, files.iter().map(|&(switch, file, _)| (switch, file)), notes)
}
