//! Messages, help and exit codes for errors of `lab`.

use crate::exit::Exit;
use crate::recognise::instead_of_a_scenario;
use lab::{FolderError, LabError, PlanError};
use text::quoted;

/// Returns the error message.
pub fn message(error: &LabError) -> String {
    match error {
        LabError::Target { .. } => format!("--out {error}"),
        error => error.to_string(),
    }
}

/// Returns the hint for the `help:` line: how the user can correct the input.
pub fn help(error: &LabError) -> Option<String> {
    Some(match error {
        LabError::NotAScenario { path, kind } => instead_of_a_scenario(path, *kind),
        LabError::Plan(error) => of_plan(error),
        LabError::Folder(error) => of_folder(error).to_owned(),
        LabError::WithoutMpi { .. } => {
            "build it with `--features mpi` (docs/guide/many-machines.md), or start one process".to_owned()
        }
        LabError::NoMpi => "see what the launcher says, or start one process without it".to_owned(),
        LabError::OtherRun { .. } => {
            "start the same command, of one version, with the same files, at every rank".to_owned()
        }
        LabError::Scenario { .. }
        | LabError::Unreadable { .. }
        | LabError::NotText { .. }
        | LabError::Model { .. }
        | LabError::Target { .. }
        | LabError::Record(_)
        | LabError::OtherRank { .. }
        | LabError::Broken => return None,
    })
}

fn of_plan(error: &PlanError) -> String {
    match error {
        PlanError::VariedTwice { key, values } => {
            let all = quoted(&format!("{key}={}", values.join(",")));
            return format!("write all its values in one: --vary {all}");
        }
        PlanError::NoSuchValue { known, .. } => return format!("one of {}", known.join(", ")),
        PlanError::Metric { known, .. } => return format!("one of {}", known.join(", ")),
        PlanError::SeedTwice { .. } => "write each seed once",
        PlanError::NothingVaried { .. } => {
            "add --vary KEY=A,B or --seeds 1..10, or name a sweep: a file with a `scenario` key"
        }
        PlanError::NotVaried { .. } => "write seeds = \"1..10\" or --seeds 1..10; results do not depend on threads",
        PlanError::TooMany { most: lab::MOST_COMPARED } => "vary fewer values, or use tidegate sweep",
        PlanError::TooMany { .. } => "vary fewer values",
        PlanError::SameRun { .. } => "leave out one of them, or a key that changes no result",
        PlanError::Changed { .. } => "sweep it again",
    }
    .to_owned()
}

const fn of_folder(error: &FolderError) -> &'static str {
    match error {
        FolderError::OtherVersion { .. } => "name another folder: results of two versions are not one sweep",
        FolderError::Taken { .. } => "go on with --resume, or name another folder with --out",
        FolderError::NotASweep { .. } => "name a new or an empty folder",
        FolderError::BadManifest { .. } => "name another folder, or remove this one",
        FolderError::Busy { .. } => "wait for it, or name another folder with --out",
    }
}

/// Returns the exit code.
pub fn exit(error: &LabError) -> Exit {
    match error {
        LabError::Record(error) | LabError::Target { error, .. } if error.is_machine_failure() => Exit::Machine,
        LabError::Broken | LabError::NoMpi => Exit::Machine,
        _ => Exit::BadInput,
    }
}
