//! Help texts for a file of the wrong kind.

use crate::failure::Failure;
use explain::ExplainError;
use lab::{PathKind, recognise};
use std::path::Path;
use text::quoted;

/// Returns the help text for a path of kind `kind` that was given instead of a scenario.
pub fn instead_of_a_scenario(path: &Path, kind: PathKind) -> String {
    let (word, quoted_below) =
        (quoted(&path.display().to_string()), |file: &str| quoted(&path.join(file).display().to_string()));
    match kind {
        PathKind::Result => format!(
            "display it with tidegate report {word}, or run its scenario again: tidegate run {}",
            quoted_below("scenario.toml")
        ),
        PathKind::Scenario | PathKind::ResultFile | PathKind::Folder => {
            "name a scenario, a TOML file; tidegate new writes one".to_owned()
        }
        PathKind::Sweeps => {
            format!(
                "display it with tidegate report {word}, or continue it with tidegate sweep SWEEP --resume --out {word}"
            )
        }
        PathKind::Sweep => format!("run it with tidegate sweep {word}"),
        PathKind::Rules => {
            "a scenario names it: switch.tags = { kind = \"tagger\", rules = \"...\" }; tidegate tagger \
                        verify proves it"
                .to_owned()
        }
        PathKind::Topology(_) => format!(
            "a scenario names it: fabric = {{ kind = \"file\", file = {:?} }}; display it with tidegate fabric show \
             {word}",
            path.display().to_string()
        ),
    }
}

/// Returns the help text for a path of kind `kind` that was given instead of a result folder.
pub fn instead_of_a_result(path: &Path, kind: PathKind) -> String {
    let (name, word) = (path.display(), quoted(&path.display().to_string()));
    match kind {
        PathKind::Sweeps => format!("name the folder of one run, below {name}/runs"),
        PathKind::ResultFile => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            format!("name its folder: {}", folder.display())
        }
        PathKind::Scenario => {
            let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let out = quoted(&format!("results/{stem}"));
            format!("run it first, tidegate run {word} --out {out}, and then name {out}")
        }
        PathKind::Sweep => format!("run it first, tidegate sweep {word}, and then name its folder"),
        PathKind::Result | PathKind::Folder | PathKind::Rules => {
            "name a folder that tidegate run --out made".to_owned()
        }
        PathKind::Topology(_) => format!("display it with tidegate fabric show {word}"),
    }
}

/// Returns the error if `path` is a file of another kind that was given instead of a result folder.
pub fn not_a_result(path: &Path) -> Option<Failure> {
    let kind = recognise(path).filter(|kind| !matches!(kind, PathKind::Result | PathKind::Folder))?;
    Some(ExplainError::NotAResult { path: path.to_owned(), kind }.into())
}
