//! Errors of runs, comparisons and sweeps.

use crate::recognise::PathKind;
use record::RecordError;
use scenario::ScenarioErrors;
use std::path::PathBuf;

/// An error that prevents the result of a run, a comparison or a sweep.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The scenario is invalid.
    #[error("{errors}")]
    Scenario {
        /// All errors.
        errors: ScenarioErrors,
        /// File of the scenario; errors may concern files that the scenario names.
        path: PathBuf,
    },
    /// The file is not a scenario.
    #[error("{path} is {kind}, not a scenario", path = path.display())]
    NotAScenario {
        /// The path as given.
        path: PathBuf,
        /// The recognised kind of file or folder.
        kind: PathKind,
    },
    /// A file cannot be read.
    #[error("{path}: cannot read it: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is not text.
    #[error("{path}:{line}: not UTF-8 text", path = path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The network cannot be built.
    #[error("{path}: {error}", path = path.display())]
    Model {
        /// The scenario.
        path: PathBuf,
        /// The cause.
        error: model::ModelError,
    },
    /// The folder for results cannot be used.
    #[error("{target}: {error}", target = target.display())]
    Target {
        /// The path as given.
        target: PathBuf,
        /// The cause.
        error: RecordError,
    },
    /// Files could not be written or read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The set of runs is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The folder of a sweep cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Ranks are about to execute different runs.
    #[error("rank {rank} has another run than rank 0: {theirs} instead of {ours}")]
    OtherRun {
        /// The first rank that differs.
        rank: usize,
        /// The run of rank 0.
        ours: String,
        /// The run of this rank.
        theirs: String,
    },
    /// Another rank reported the error.
    #[error("rank {rank} reported an error")]
    OtherRank {
        /// The rank.
        rank: usize,
    },
    /// Several processes were started by MPI, but this program was built without it.
    #[error("{processes} processes were started together, but this program was built without MPI")]
    WithoutMpi {
        /// Number of processes.
        processes: usize,
    },
    /// MPI initialisation failed.
    #[error("MPI could not be started in this process")]
    NoMpi,
    /// A run panicked, which is a bug.
    #[error("the run was aborted by a bug of tidegate (message above); please report it")]
    Broken,
}

/// An error in a set of runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// One key is varied twice; the second would silently take precedence.
    #[error("`{key}` is varied twice")]
    VariedTwice {
        /// The key, as in a scenario.
        key: String,
        /// The values given for each of the two.
        values: Vec<String>,
    },
    /// An axis of a sweep has no such value.
    #[error("the axis `{axis}` has no value {value}")]
    NoSuchValue {
        /// The axis.
        axis: String,
        /// The value as written.
        value: String,
        /// The values of the axis.
        known: Vec<String>,
    },
    /// A seed is listed twice.
    #[error("duplicate seed {seed}")]
    SeedTwice {
        /// The seed.
        seed: u64,
    },
    /// No key is varied.
    #[error("{path}: no key is varied", path = path.display())]
    NothingVaried {
        /// The scenario or the sweep.
        path: PathBuf,
    },
    /// The key cannot be varied: seeds have a separate option, and the number of threads changes no result.
    #[error("`{key}` is not varied like other keys")]
    NotVaried {
        /// `seed` or `threads`.
        key: String,
    },
    /// More runs than the limit, which is probably a mistake.
    #[error("that is more than {most} runs")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// Two runs have the same scenario and seed, so that their results are equal.
    #[error("{first} and {second} are the same run")]
    SameRun {
        /// Overrides of the first run.
        first: String,
        /// Overrides of the second run.
        second: String,
    },
    /// The scenario changed during the sweep, so that runs would differ in more than the varied values.
    #[error("{file} or a file that it uses changed during the sweep", file = text::quoted(&path.display().to_string()))]
    Changed {
        /// The scenario.
        path: PathBuf,
    },
    /// No metric has this name.
    #[error("no metric is called `{name}`")]
    Metric {
        /// The requested name.
        name: String,
        /// The available metrics.
        known: Vec<String>,
    },
}

/// An error of the folder of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// The sweep was made by another version.
    #[error("{file}: this sweep is of tidegate {theirs}, and this is {ours}", file = file.display())]
    OtherVersion {
        /// File of the sweep.
        file: PathBuf,
        /// Version that made the folder.
        theirs: String,
        /// Version of this library.
        ours: String,
    },
    /// The folder contains a sweep, and `resume` was not requested.
    #[error("{path} already has a sweep", path = path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is not that of a sweep.
    #[error("{path} exists and is not the folder of a sweep (it has no {manifest})", path = path.display())]
    NotASweep {
        /// The folder.
        path: PathBuf,
        /// The missing file.
        manifest: &'static str,
    },
    /// The manifest of the sweep is malformed.
    #[error("{file}: not the file of a sweep", file = file.display())]
    BadManifest {
        /// The manifest.
        file: PathBuf,
    },
    /// Another process runs this sweep or this shard.
    #[error("{path} is locked by another sweep", path = path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
}
