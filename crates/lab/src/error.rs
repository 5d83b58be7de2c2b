//! Why there is no result.

use crate::recognise::Kind;
use record::RecordError;
use scenario::ScenarioErrors;
use std::path::PathBuf;

/// Everything that keeps a run, a comparison or a sweep from its result.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The scenario is wrong.
    #[error("{errors}")]
    Scenario {
        /// What is wrong.
        errors: ScenarioErrors,
        /// Its file; errors may be about files that it names.
        path: PathBuf,
    },
    /// Something else than a scenario was named.
    #[error("{path} is {kind}, not a scenario", path = path.display())]
    NotAScenario {
        /// As it was named.
        path: PathBuf,
        /// What it is.
        kind: Kind,
    },
    /// A file cannot be read.
    #[error("{path}: cannot read it: {source}", path = path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is no text.
    #[error("{path}:{line}: not UTF-8 text", path = path.display())]
    NotText {
        /// Which.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
    },
    /// The network cannot be built.
    #[error("{path}: {error}", path = path.display())]
    Model {
        /// The scenario.
        path: PathBuf,
        /// Why.
        error: model::ModelError,
    },
    /// A folder for results does not do.
    #[error("{target}: {error}", target = target.display())]
    Target {
        /// As it was named.
        target: PathBuf,
        /// Why.
        error: RecordError,
    },
    /// Files could not be written or read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// What was asked for is no set of runs.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The folder of a sweep does not do.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A run over several ranks, of which not all are about to make the same one.
    #[error("rank {rank} is about to run {theirs}, and rank 0 {ours}")]
    OtherRun {
        /// The first that differs.
        rank: usize,
        /// What rank 0 runs.
        ours: String,
        /// What this one runs.
        theirs: String,
    },
    /// Another rank said why there is no run.
    #[error("rank {rank} cannot go on")]
    OtherRank {
        /// Which.
        rank: usize,
    },
    /// Several processes were started together, and this program cannot join them.
    #[error("this is one of {processes} processes that were started together, but it was built without MPI")]
    WithoutMpi {
        /// How many.
        processes: usize,
    },
    /// MPI did not begin.
    #[error("MPI could not be started in this process")]
    NoMpi,
    /// A run ended in a panic, which is a mistake of ours.
    #[error("the run broke off: a fault of tidegate, whose message is above; please report it")]
    Broken,
}

/// What is wrong with a set of runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The second would silently win.
    #[error("`{key}` is varied twice")]
    VariedTwice {
        /// As in a scenario.
        key: String,
        /// The values of both.
        values: Vec<String>,
    },
    /// An axis of a sweep has no value of this name.
    #[error("the axis `{axis}` has no value {value}")]
    NoSuchValue {
        /// The axis.
        axis: String,
        /// As it was written.
        value: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A run would be made twice.
    #[error("the seed {seed} stands twice")]
    SeedTwice {
        /// It.
        seed: u64,
    },
    /// There are no two runs.
    #[error("{path}: nothing is varied", path = path.display())]
    NothingVaried {
        /// The scenario or the sweep.
        path: PathBuf,
    },
    /// A seed is not varied as a key, and threads change no result.
    #[error("`{key}` is not varied like other keys")]
    NotVaried {
        /// `seed` or `threads`.
        key: String,
    },
    /// That is a slip.
    #[error("that is more than {most} runs")]
    TooMany {
        /// As many are fine.
        most: usize,
    },
    /// Two of them have the same results.
    #[error("{first} and {second} are the same run")]
    SameRun {
        /// What it sets.
        first: String,
        /// What it sets.
        second: String,
    },
    /// Runs that were to differ in a value alone would differ in more.
    #[error("{file} or a file of it changed while the sweep ran", file = text::quoted(&path.display().to_string()))]
    Changed {
        /// The scenario.
        path: PathBuf,
    },
    /// There is no such number of a run.
    #[error("no metric is called `{name}`")]
    Metric {
        /// As asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
}

/// What is wrong with the folder of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// Results of two versions are not one sweep.
    #[error("{file}: this sweep is of tidegate {theirs}, and this is {ours}", file = file.display())]
    OtherVersion {
        /// Its file.
        file: PathBuf,
        /// Of the folder.
        theirs: String,
        /// Of this library.
        ours: String,
    },
    /// It would go on, which nobody asked for.
    #[error("{path} holds a sweep already", path = path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// It is something else's.
    #[error("{path} exists and is not the folder of a sweep (it has no {manifest})", path = path.display())]
    NotASweep {
        /// The folder.
        path: PathBuf,
        /// The file that it would have.
        manifest: &'static str,
    },
    /// The file that says what the sweep is says something else.
    #[error("{file}: not the file of a sweep", file = file.display())]
    BadManifest {
        /// It.
        file: PathBuf,
    },
    /// Another process, or another part of the same name.
    #[error("another sweep is at work in {path}", path = path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
}
