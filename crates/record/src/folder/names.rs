//! Names of files in a result folder.

/// Marks an unfinished result and lists its files. Its lock distinguishes a killed writer from a running one.
pub(super) const MARKER: &str = ".tidegate-partial";

/// Kind of a result folder in its list of files.
pub(crate) const RESULT: &str = "result";
/// The file that makes a folder a result.
pub const SUMMARY_FILE: &str = "summary.json";
/// Measurements of the machine; the only file outside the results hash.
pub const TIMING_FILE: &str = "timing.json";
