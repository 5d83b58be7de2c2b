//! Names of files in a result folder.

/// The marker of an unfinished result, which lists its files. The lock on it distinguishes a running writer from a
/// killed one.
pub(super) const MARKER: &str = ".tidegate-partial";

/// Kind of a result folder in its manifest.
pub(crate) const RESULT: &str = "result";
/// The file that identifies a folder as a result.
pub const SUMMARY_FILE: &str = "summary.json";
/// Measurements that depend on the machine; the only file that the results hash excludes.
pub const TIMING_FILE: &str = "timing.json";
