//! A run with its files: from what was lowered to a result that stands whole in its folder.

use crate::arguments::{Override, quoted};
use crate::execute::{self, All, Finished};
use crate::failure::Failure;
use crate::interrupt;
use crate::recorder::Recorder;
use crate::render::explain;
use model::Watcher;
use record::flows::FctFormat;
use record::folder::ResultFolder;
use scenario::{Lowered, Scenario};
use std::path::Path;
use units::Time;

/// Where a scenario came from.
pub struct Origin<'a> {
    /// Its file.
    pub path: &'a Path,
    /// As read.
    pub scenario: &'a Scenario,
    /// What the command line changed.
    pub set: &'a [Override],
}

/// What a result does not depend on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Tell the watcher of payload this often where the scenario does not ask for it.
    pub payload_every: Option<Time>,
    /// Other runs share the process: its CPU time says nothing about this one.
    pub shared: bool,
    /// A run that was interrupted leaves no files.
    pub whole_only: bool,
}

/// A folder for results that `--out` named.
///
/// # Errors
/// A place that does not do, before anything has run.
pub fn folder(target: &Path) -> Result<ResultFolder, Failure> {
    ResultFolder::create(target).map_err(|error| Failure::Target { target: target.to_owned(), error })
}

/// Runs what was lowered and leaves its files in `folder`, whole or not at all. The summary's hash is that
/// of the files, or of itself where there are none.
///
/// # Errors
/// A setup that makes no network; a disk that fails.
pub fn produce(
    origin: &Origin<'_>,
    lowered: Lowered,
    folder: Option<ResultFolder>,
    watcher: &mut dyn Watcher,
    way: Way,
) -> Result<Finished, Failure> {
    let _unfinished = folder.as_ref().map(|folder| interrupt::unfinished(folder.path()));
    let prepare = |folder: ResultFolder| {
        let _deaf = interrupt::deaf();
        let recorder = Recorder::create(&folder, &lowered, fct_format(origin.scenario, origin.path))?;
        for (name, content) in result_files(origin.scenario, &lowered, origin.set) {
            folder.write(name, content.as_bytes())?;
        }
        Ok::<_, Failure>((folder, recorder))
    };
    let (folder, mut recorder) = folder.map(prepare).transpose()?.unzip();
    let Lowered { name, hash, mut setup, expect_deadlock, warnings, .. } = lowered;
    setup.record.throughput_every = setup.record.throughput_every.or(way.payload_every);
    let identity = execute::identity(&name, &hash, setup.seed);
    let mut watchers: Vec<&mut dyn Watcher> = vec![&mut *watcher];
    watchers.extend(recorder.as_mut().map(|recorder| recorder as &mut dyn Watcher));
    let mut finished = execute::simulate(setup, expect_deadlock, identity, origin.path, &mut All(watchers))?;
    let summary = &mut finished.summary;
    summary.warnings.splice(0..0, warnings.iter().map(ToString::to_string));
    if way.shared {
        let timing = &mut finished.timing;
        (timing.cpu_s, timing.packet_hops_per_cpu_s, timing.events_per_cpu_s) = (None, None, None);
    }
    recorder.map_or(Ok(()), Recorder::close)?;
    match folder {
        Some(folder) if !(way.whole_only && summary.partial) => {
            finished.folder = Some(folder.finish(summary, &finished.timing)?);
        }
        _ => summary.results_hash = execute::summary_hash(summary),
    }
    Ok(finished)
}

/// The scenario as it was and every value in force: files of every result.
fn result_files(scenario: &Scenario, lowered: &Lowered, set: &[Override]) -> Vec<(&'static str, String)> {
    let mut text = String::new();
    for change in set.iter().filter(|change| change.key != "threads") {
        text.push_str(&format!(
            "# changed on the command line: --set {}\n",
            quoted(&format!("{}={}", change.key, change.value))
        ));
    }
    text.push_str(scenario.text());
    vec![("scenario.toml", text), ("explain.txt", explain::text(lowered))]
}

/// A replayed flow file decides in which of the field's two forms its completion times are written: five
/// columns are conweave's, six HPCC's, which is also the form without a replay.
fn fct_format(scenario: &Scenario, path: &Path) -> FctFormat {
    let folder = path.parent().unwrap_or(Path::new(""));
    let replayed = |key: &str| key.starts_with("traffic.") && key.ends_with(".file");
    let five = scenario.explain().iter().filter(|value| replayed(&value.key)).any(|value| {
        let text = std::fs::read_to_string(folder.join(&value.value)).unwrap_or_default();
        // The first line is the number of flows.
        let flow = text.lines().filter(|line| !line.trim().is_empty()).nth(1);
        flow.is_some_and(|line| line.split_whitespace().count() == 5)
    });
    if five { FctFormat::Conweave } else { FctFormat::Hpcc }
}
