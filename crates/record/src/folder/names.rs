//! Names of files that the parts of a result folder share.

/// Marks a folder as the unfinished work of this crate, and names the files in it that are ours; its lock
/// tells a killed writer from a living one.
pub(super) const MARKER: &str = ".tidegate-partial";

/// What the list of a result's files calls its folder.
pub(crate) const RESULT: &str = "result";
/// The file that makes a folder a result.
pub const SUMMARY_FILE: &str = "summary.json";
/// What depends on the machine; the only file outside the results hash.
pub const TIMING_FILE: &str = "timing.json";
