//! A run with its files: from the lowered scenario to a complete result folder.

use crate::error::LabError;
use crate::explained;
use crate::ranks::{agree, failed};
use crate::recognise::other_than_scenario;
use crate::recorder::Recorder;
use crate::runs::vary::Override;
use crate::simulate::{self, ActiveRun, FinishedRun, RunContext, RunOptions};
use crate::stop::StopFlag;
use model::{Ranks, Watcher};
use record::flows::FctFormat;
use record::folder::ResultFolder;
use record::summary::ScenarioIdentity;
use scenario::{Lowered, Scenario, ScenarioErrors};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::quoted;

/// A valid, lowered scenario, ready to run.
#[derive(Debug)]
pub struct Run {
    /// The lowered scenario. Callers may only change values of its setup that do not affect results, such as the number
    /// of threads.
    pub lowered: Lowered,
    scenario: Scenario,
    path: PathBuf,
    set: Vec<Override>,
    ranks: Option<Arc<dyn Ranks>>,
}

/// Source of a scenario.
#[derive(Clone, Debug)]
pub enum Source {
    /// A scenario file.
    File(PathBuf),
    /// A text; paths in it are relative to the working directory.
    Text {
        /// The scenario.
        text: String,
        /// Name of the scenario in errors.
        name: String,
    },
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Source {
        Source::File(path.to_owned())
    }
}

/// Creates a folder for a result, before the run.
///
/// # Errors
/// [`LabError::Target`] if the folder is unusable.
pub fn folder(target: &Path) -> Result<ResultFolder, LabError> {
    ResultFolder::create(target).map_err(|error| LabError::Target { target: target.to_owned(), error })
}

/// Reads the scenario at `path` with the overrides `set` and `seed`.
///
/// # Errors
/// [`LabError::Scenario`] with all errors, [`LabError::NotAScenario`].
pub fn read(path: &Path, set: &[Override], seed: Option<u64>) -> Result<Scenario, LabError> {
    Scenario::read(path, &pairs(set), seed).map_err(|errors| other_than_scenario(path).unwrap_or(wrong(errors, path)))
}

fn pairs(set: &[Override]) -> Vec<(String, String)> {
    set.iter().map(|set| (set.key.clone(), set.value.clone())).collect()
}

fn wrong(errors: ScenarioErrors, path: &Path) -> LabError {
    LabError::Scenario { errors, path: path.to_owned() }
}

impl Run {
    /// Reads and lowers the scenario at `path` with the overrides `set` and `seed`.
    ///
    /// # Errors
    /// [`LabError::Scenario`] with all errors, [`LabError::NotAScenario`].
    pub fn read(path: &Path, set: &[Override], seed: Option<u64>, stop: &StopFlag) -> Result<Run, LabError> {
        Run::lowered(read(path, set, seed)?, path, set, stop)
    }

    /// Calls [`Run::read`] or [`Run::parse`], by the kind of source.
    ///
    /// # Errors
    /// Those of the called function.
    pub fn of(source: &Source, set: &[Override], seed: Option<u64>, stop: &StopFlag) -> Result<Run, LabError> {
        match source {
            Source::File(path) => Run::read(path, set, seed, stop),
            Source::Text { text, name } => Run::parse(text, name, set, seed, stop),
        }
    }

    /// Like [`Run::read`], from the text of a scenario that errors call `name`; paths in the text are relative to the
    /// working directory.
    ///
    /// # Errors
    /// [`LabError::Scenario`] with all errors.
    pub fn parse(
        text: &str,
        name: &str,
        set: &[Override],
        seed: Option<u64>,
        stop: &StopFlag,
    ) -> Result<Run, LabError> {
        let path = Path::new(name);
        let scenario = Scenario::parse(text, name, Path::new(""), &pairs(set), seed);
        Run::lowered(scenario.map_err(|errors| wrong(errors, path))?, path, set, stop)
    }

    fn lowered(scenario: Scenario, path: &Path, set: &[Override], stop: &StopFlag) -> Result<Run, LabError> {
        let _signals_blocked = stop.block_signals();
        let lowered = scenario.lower().map_err(|errors| wrong(errors, path))?;
        Ok(Run { lowered, scenario, path: path.to_owned(), set: set.to_vec(), ranks: None })
    }

    /// Turns this run into a run over several ranks, each of which has read the same scenario. The first rank has the
    /// folder and the watcher, and returns the result.
    pub fn over(&mut self, ranks: Arc<dyn Ranks>) {
        self.ranks = Some(ranks);
    }

    /// Runs to the end, or until `watcher` or `stop` ends the run. The files appear in `folder` atomically. The results
    /// hash in the summary covers the files; without files, it covers the summary.
    ///
    /// # Errors
    /// If the network cannot be built or writing fails.
    pub fn produce(
        self,
        folder: Option<ResultFolder>,
        watcher: &mut dyn Watcher,
        options: RunOptions,
        stop: &StopFlag,
    ) -> Result<FinishedRun, LabError> {
        let mut begun = self.begin(folder, stop)?;
        begun.run(watcher);
        begun.finish(watcher, options)
    }

    /// Starts the run for execution step by step; its files will be in `folder`.
    ///
    /// # Errors
    /// As [`Run::produce`]; ranks with different scenarios.
    pub fn begin(self, folder: Option<ResultFolder>, stop: &StopFlag) -> Result<ActiveRun, LabError> {
        let Run { lowered, scenario, path, set, ranks } = self;
        let identity = simulate::identity(&lowered.name, &lowered.hash, lowered.setup.seed);
        let prepare = |folder: ResultFolder| {
            let _signals_blocked = stop.block_signals();
            let recorder = Recorder::create(&folder, &lowered, &identity, fct_format(&scenario, &path))?;
            for (name, content) in result_files(&scenario, &lowered, &set) {
                folder.write(name, content.as_bytes())?;
            }
            Ok::<_, LabError>((folder, recorder))
        };
        let unfinished = folder.as_ref().map(|folder| stop.unfinished(folder.path()));
        let mut files = folder.map(prepare).transpose();
        if let Some(ranks) = &ranks {
            files = match files {
                Ok(files) => agree(&**ranks, Some(&described(&identity, &lowered))).map(|()| files),
                Err(error) => Err(failed(&**ranks, error)),
            };
        }
        let files = files?;
        let labels = lowered.labels().to_vec();
        let Lowered { setup, expect_deadlock, warnings, .. } = lowered;
        let warnings = warnings.iter().map(ToString::to_string).collect();
        ActiveRun::new(
            setup,
            RunContext { expect_deadlock, identity, labels, warnings, path },
            files,
            unfinished,
            stop,
            ranks,
        )
    }
}

/// Returns the description of the run on which all ranks must agree: the program, the scenario with its overrides, and
/// the files that it names.
fn described(identity: &ScenarioIdentity, lowered: &Lowered) -> String {
    let ScenarioIdentity { name, hash, seed, version } = identity;
    let fabric = &lowered.setup.fabric;
    let (nodes, links, flows) = (fabric.nodes().len(), fabric.links().len(), lowered.setup.traffic.flows.len());
    let build = crate::ranks::build();
    format!(
        "{name} (scenario {hash:.12}, seed {seed}, {nodes} nodes, {links} links, {flows} flows, tidegate {version}, \
         build {build})"
    )
}

/// Returns the files of every result: the scenario, and every effective value.
fn result_files(scenario: &Scenario, lowered: &Lowered, set: &[Override]) -> Vec<(&'static str, String)> {
    let mut text = String::new();
    for change in set.iter().filter(|change| change.key != "threads") {
        text.push_str(&format!(
            "# changed on the command line: --set {}\n",
            quoted(&format!("{}={}", change.key, change.value))
        ));
    }
    text.push_str(scenario.text());
    vec![("scenario.toml", text), ("explain.txt", explained::text(lowered))]
}

/// Returns the format of `fct.txt`, determined by the replayed flow file: conweave's if its lines have five columns,
/// HPCC's if they have six or if there is no replay.
fn fct_format(scenario: &Scenario, path: &Path) -> FctFormat {
    let folder = path.parent().unwrap_or(Path::new(""));
    let replayed = |key: &str| key.starts_with("traffic.") && key.ends_with(".file");
    let five = scenario.explain().iter().filter(|value| replayed(&value.key)).any(|value| {
        let text = std::fs::read_to_string(folder.join(&value.value)).unwrap_or_default();
        // The first line has the number of flows.
        let flow = text.lines().filter(|line| !line.trim().is_empty()).nth(1);
        flow.is_some_and(|line| line.split_whitespace().count() == 5)
    });
    if five { FctFormat::Conweave } else { FctFormat::Hpcc }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        name = "one incast"
        duration = "1us"
        fabric = { kind = "single-switch", hosts = 2, link = { rate = "10Gbps", delay = "1us" } }
        traffic = [{ kind = "incast", fan_in = 1, size = "1KB" }]
    "#;

    #[test]
    fn the_agreement_of_ranks_distinguishes_versions_scenarios_and_seeds() {
        let lowered = |seed| Run::parse(SCENARIO, "it.toml", &[], Some(seed), &StopFlag::default()).unwrap().lowered;
        let (here, other) = (lowered(1), lowered(2));
        let identity = simulate::identity(&here.name, &here.hash, 1);
        let description = described(&identity, &here);
        let newer = ScenarioIdentity { version: "9.9.9".to_owned(), ..identity.clone() };
        let changed = ScenarioIdentity { hash: "0123456789abcdef".to_owned(), ..identity.clone() };
        let seeded = simulate::identity(&other.name, &other.hash, 2);
        for different in [described(&newer, &here), described(&changed, &here), described(&seeded, &other)] {
            assert_ne!(different, description);
        }
        // Another build of the same version is a different program: the description includes the hash of the
        // executable.
        let build = description.split("build ").nth(1).unwrap().trim_end_matches(')');
        assert!(build.len() == 8 && !build.starts_with("e3b0c442"), "the hash of nothing: {description}");
    }
}
