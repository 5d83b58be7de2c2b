//! A folder of configurations: a file or two for each switch, and what to know before loading them.

use crate::failure::Failure;
use crate::names::distinct;
use record::files::{Earlier, NewFiles};
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

/// Files that grow in a place, to be handed to [`finish`].
///
/// # Errors
/// A folder that cannot be written, or holds files of another kind.
pub fn begin<'a>(place: &Place<'a>) -> Result<NewFiles<'a>, Failure> {
    NewFiles::open(place.folder, place.kind, place.force).map_err(Failure::of_output)
}

/// Gives such files, as (switch, file), their names, and `NOTES.txt` beside them.
///
/// # Errors
/// A folder that cannot be written; two switches whose files would have one name.
pub fn finish<'a>(
    place: &Place<'_>,
    new: NewFiles<'_>,
    files: impl Iterator<Item = (&'a str, &'a str)>,
    notes: &[String],
) -> Result<(), Failure> {
    distinct(files)?;
    let notes: String = notes.iter().map(|note| format!("- {note}\n")).collect();
    let earlier = if place.whole { Earlier::Removed } else { Earlier::Kept };
    new.add("NOTES.txt", notes.as_bytes()).and_then(|()| new.commit(earlier)).map_err(Failure::of_output)
}

/// Writes (switch, file, text) into a folder, and `NOTES.txt` beside them.
///
/// # Errors
/// A folder that cannot be written, or holds such files that are not ours; two switches whose files would have one
/// name.
pub fn write_folder(place: Place<'_>, files: &[(&str, &str, &str)], notes: &[String]) -> Result<(), Failure> {
    let new = begin(&place)?;
    files.iter().try_for_each(|(_, file, text)| new.add(file, text.as_bytes())).map_err(Failure::of_output)?;
    finish(&place, new, files.iter().map(|&(switch, file, _)| (switch, file)), notes)
}
