//! Recognises the kind of a file or folder that was given in place of another, for specific error messages.

use crate::error::LabError;
use fabric::files::{Format, detect};
use record::folder::{SUMMARY_FILE, is_result};
use scenario::SweepFile;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Maximum number of bytes of a file that are examined.
const MOST_BYTES: u64 = 1 << 20;

/// Kinds of files and folders that users may confuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// The folder of a run.
    Result,
    /// A file in the folder of a run.
    ResultFile,
    /// The folder of a sweep.
    Sweeps,
    /// A folder of another kind.
    Folder,
    /// The file of a sweep.
    Sweep,
    /// A scenario.
    Scenario,
    /// Tag rules of Tagger.
    Rules,
    /// A fabric.
    Topology(Format),
}

impl fmt::Display for PathKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PathKind::Result => "the folder of a result",
            PathKind::ResultFile => "a file of a result",
            PathKind::Sweeps => "the folder of a sweep",
            PathKind::Folder => "a folder",
            PathKind::Sweep => "a sweep",
            PathKind::Scenario => "a scenario",
            PathKind::Rules => "a file of Tagger's rules",
            PathKind::Topology(_) => "a topology",
        })
    }
}

/// Returns the kind of `path`, if it is recognised.
pub fn recognise(path: &Path) -> Option<PathKind> {
    if path.is_dir() {
        return Some(match () {
            () if is_result(path) => PathKind::Result,
            () if path.join("sweep.json").is_file() && path.join("runs").is_dir() => PathKind::Sweeps,
            () => PathKind::Folder,
        });
    }
    // Reading a pipe or a device could block, or take data from its reader.
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let beside = || path.parent().is_some_and(|folder| folder.join(SUMMARY_FILE).is_file());
    // Magic numbers of Parquet and pcapng.
    if bytes.starts_with(b"PAR1") || bytes.starts_with(b"\x0a\x0d\x0d\x0a") {
        return beside().then_some(PathKind::ResultFile);
    }
    let text = String::from_utf8(bytes).ok()?;
    let start = text.trim_start();
    if start.starts_with('{') {
        if text.contains("\"results_hash\"") {
            return Some(PathKind::ResultFile);
        }
        if text.contains("\"lossless_tags\"") {
            return Some(PathKind::Rules);
        }
    }
    if SweepFile::recognise(&text) {
        return Some(PathKind::Sweep);
    }
    let key = |line: &str| {
        ["[fabric", "fabric.", "fabric =", "[[traffic]]", "traffic ="].iter().any(|it| line.starts_with(it))
    };
    if text.lines().any(|line| key(line.trim_start())) {
        return Some(PathKind::Scenario);
    }
    detect(&path.to_string_lossy(), &text).map(PathKind::Topology)
}

/// Returns an error if `path` is recognised as anything other than a scenario.
pub(crate) fn other_than_scenario(path: &Path) -> Option<LabError> {
    let kind = recognise(path).filter(|kind| *kind != PathKind::Scenario)?;
    Some(LabError::NotAScenario { path: path.to_owned(), kind })
}
