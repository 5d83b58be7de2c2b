//! What a file is that was given where another kind belongs, so that the answer helps.

use crate::arguments::quoted;
use crate::failure::Failure;
use fabric::files::{Format, detect};
use record::folder::{SUMMARY_FILE, is_result};
use scenario::SweepFile;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// No more of a file is looked at.
const MOST_BYTES: u64 = 1 << 20;

/// What there is that users take for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The folder of a run.
    Result,
    /// A file of such a folder.
    ResultFile,
    /// The folder of a sweep.
    Sweeps,
    /// Any other folder.
    Folder,
    /// The file of a sweep.
    Sweep,
    /// A scenario.
    Scenario,
    /// Rules of Tagger.
    Rules,
    /// A fabric.
    Topology(Format),
}

/// What stands at `path`, as far as one can tell.
pub fn recognise(path: &Path) -> Option<Kind> {
    if path.is_dir() {
        return Some(match () {
            () if is_result(path) => Kind::Result,
            () if path.join("sweep.json").is_file() && path.join("runs").is_dir() => Kind::Sweeps,
            () => Kind::Folder,
        });
    }
    // A pipe or a device would wait, or be read away from who needs it.
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let beside = || path.parent().is_some_and(|folder| folder.join(SUMMARY_FILE).is_file());
    // Parquet and pcapng.
    if bytes.starts_with(b"PAR1") || bytes.starts_with(b"\x0a\x0d\x0d\x0a") {
        return beside().then_some(Kind::ResultFile);
    }
    let text = String::from_utf8(bytes).ok()?;
    let start = text.trim_start();
    if start.starts_with('{') {
        if text.contains("\"results_hash\"") {
            return Some(Kind::ResultFile);
        }
        if text.contains("\"lossless_tags\"") {
            return Some(Kind::Rules);
        }
    }
    if SweepFile::recognise(&text) {
        return Some(Kind::Sweep);
    }
    let key = |line: &str| {
        ["[fabric", "fabric.", "fabric =", "[[traffic]]", "traffic ="].iter().any(|it| line.starts_with(it))
    };
    if text.lines().any(|line| key(line.trim_start())) {
        return Some(Kind::Scenario);
    }
    detect(&path.to_string_lossy(), &text).map(Kind::Topology)
}

/// The answer where a scenario was wanted, if something else was named.
pub fn not_a_scenario(path: &Path) -> Option<Failure> {
    let (name, word) = (path.display(), quoted(&path.display().to_string()));
    let quoted_below = |file: &str| quoted(&path.join(file).display().to_string());
    let (what, help) = match recognise(path)? {
        Kind::Scenario => return None,
        Kind::Result => (
            "the folder of a result",
            format!(
                "look at it with tidegate report {word}, or run its scenario again: tidegate run {}",
                quoted_below("scenario.toml")
            ),
        ),
        Kind::ResultFile => ("a file of a result", "name a scenario, a TOML file; tidegate new writes one".to_owned()),
        Kind::Sweeps => (
            "the folder of a sweep",
            format!("look at it with tidegate report {word}, or go on with tidegate sweep SWEEP --resume --out {word}"),
        ),
        Kind::Folder => ("a folder", "name a scenario, a TOML file; tidegate new writes one".to_owned()),
        Kind::Sweep => ("a sweep", format!("run it with tidegate sweep {word}")),
        Kind::Rules => (
            "a file of Tagger's rules",
            "a scenario names it: switch.tags = { kind = \"tagger\", rules = \"...\" }; tidegate tagger verify proves it".to_owned(),
        ),
        Kind::Topology(_) => (
            "a topology",
            format!(
                "a scenario names it: fabric = {{ kind = \"file\", file = {:?} }}; look at it with tidegate fabric show {word}",
                path.display().to_string()
            ),
        ),
    };
    Some(Failure::input(format!("{name} is {what}, not a scenario"), help))
}

/// The answer where the folder of a result was wanted, if something else was named.
pub fn not_a_result(path: &Path) -> Option<Failure> {
    let (name, word) = (path.display(), quoted(&path.display().to_string()));
    let (what, help) = match recognise(path)? {
        Kind::Result | Kind::Folder => return None,
        Kind::Sweeps => ("the folder of a sweep", format!("name the folder of one run, below {name}/runs")),
        Kind::ResultFile => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            ("a file of a result", format!("name its folder: {}", folder.display()))
        }
        Kind::Scenario => {
            let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let out = quoted(&format!("results/{stem}"));
            ("a scenario", format!("run it first, tidegate run {word} --out {out}, and then name {out}"))
        }
        Kind::Sweep => ("a sweep", format!("run it first, tidegate sweep {word}, and then name its folder")),
        Kind::Rules => ("a file of Tagger's rules", "name a folder that tidegate run --out made".to_owned()),
        Kind::Topology(_) => ("a topology", format!("look at it with tidegate fabric show {word}")),
    };
    Some(Failure::input(format!("{name} is {what}, not the folder of a result"), help))
}
