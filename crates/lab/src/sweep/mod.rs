//! A sweep: a grid or a list of runs in a folder. An interrupted sweep resumes: complete runs are kept, the others run.
//!
//! ```text
//! Plan::of -> points, each with its hash -> Store::open -> run: found | complete | failed | open -> table
//! ```

mod plan;
mod show;
mod store;
mod table;

use crate::error::{LabError, PlanError};
use crate::run::{self, Run};
use crate::runs::metrics::add_labels;
use crate::runs::pool;
use crate::runs::row::Row;
use crate::simulate::RunOptions;
use crate::stop::StopFlag;
use model::NullWatcher;
pub use plan::{Plan, SweepRun};
use record::RecordError;
pub use show::SweepReport;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
pub use store::{RUNS, SweepFolder};
pub use table::FILE as TABLE_FILE;

/// A shard of a sweep: every `of`-th run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the shard, from 1.
    pub part: usize,
    /// Number of shards; at least `part`.
    pub of: usize,
}

impl Shard {
    /// Returns whether the run with this index, from 0, is in this shard.
    pub fn has(self, at: usize) -> bool {
        at % self.of + 1 == self.part
    }
}

/// Parses `1/4`.
///
/// # Errors
/// A message with the valid form.
pub fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((part, of)) if (1..=of).contains(&part) && of <= 100_000 => Ok(Shard { part, of }),
        _ => Err("write part and number of parts, like 1/4".to_owned()),
    }
}

/// Result of one run.
#[derive(Debug)]
pub enum RunOutcome {
    /// The result folder of the run is complete.
    Complete {
        /// Metrics of the run.
        row: Box<Row>,
        /// `true` if the result existed before this sweep started.
        found: bool,
    },
    /// The run failed.
    Failed(LabError),
    /// The run was not executed: it belongs to another shard, or the sweep was stopped.
    Open,
}

/// Progress reports of a running sweep.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Existing results were examined.
    Found {
        /// Every run, in the order of the points.
        outcomes: &'a [RunOutcome],
        /// Number of runs to execute.
        open: usize,
    },
    /// A run ended; reported on the thread of the run.
    Ran {
        /// The run.
        point: &'a SweepRun,
        /// Result of the run.
        outcome: &'a RunOutcome,
    },
}

/// A sweep and its options.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Runs of the plan.
    pub points: &'a [SweepRun],
    /// Folder of the runs.
    pub store: &'a SweepFolder,
    /// The shard to execute; `None` for all runs.
    pub shard: Option<Shard>,
    /// Number of concurrent runs, one thread each; by default the number of cores.
    pub jobs: Option<u16>,
}

impl Sweep<'_> {
    /// Executes every missing run of the shard. Returns the results in the order of the points. Existing results are
    /// examined first, so that the estimate of the remaining time covers only missing runs. A failed run does not end
    /// the sweep, unless the disk is full.
    pub fn run(&self, stop: &StopFlag, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Vec<RunOutcome> {
        let Sweep { plan, points, store, .. } = *self;
        let threads = pool::threads(self.jobs, points.len());
        let found =
            pool::each(points.iter().collect(), threads, stop, |point| ControlFlow::Continue(store.find(point)));
        let mut outcomes: Vec<RunOutcome> = points.iter().map(|_| RunOutcome::Open).collect();
        found.results.into_iter().for_each(|(at, outcome)| outcomes[at] = outcome);
        let open =
            |at: &usize| self.shard.is_none_or(|shard| shard.has(*at)) && matches!(outcomes[*at], RunOutcome::Open);
        let open: Vec<usize> = if found.stopped { Vec::new() } else { (0..points.len()).filter(open).collect() };
        progress(Progress::Found { outcomes: &outcomes, open: open.len() });
        let ran = pool::each(open.clone(), threads, stop, |at| {
            let point = &points[at];
            let outcome = run_one(plan, point, store, threads > 1, stop);
            progress(Progress::Ran { point, outcome: &outcome });
            // If the disk is full, all further runs would fail, too.
            if is_disk_full(&outcome) { ControlFlow::Break(outcome) } else { ControlFlow::Continue(outcome) }
        });
        for (which, outcome) in ran.results {
            outcomes[open[which]] = outcome;
        }
        // Other processes with other shards may have completed runs in the meantime.
        for (point, outcome) in points.iter().zip(&mut outcomes) {
            if self.shard.is_some() && matches!(outcome, RunOutcome::Open) {
                *outcome = store.find(point);
            }
        }
        outcomes
    }

    /// Writes every complete run as a row of [`TABLE_FILE`] in `out`, the folder of the store.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_table(&self, out: &Path, outcomes: &[RunOutcome]) -> Result<(), LabError> {
        let write = || table::write(&out.join(table::FILE), &self.plan.varied, self.points, outcomes);
        self.store.exclusively(write)
    }
}

/// Returns the labels of the traffic entries of `points`, each once.
pub fn labels(points: &[SweepRun]) -> Vec<String> {
    let mut all = Vec::new();
    points.iter().for_each(|point| add_labels(&mut all, &point.labels));
    all
}

fn is_disk_full(outcome: &RunOutcome) -> bool {
    let RunOutcome::Failed(LabError::Record(RecordError::Unwritable { source, .. })) = outcome else { return false };
    matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn run_one(plan: &Plan, point: &SweepRun, store: &SweepFolder, shared: bool, stop: &StopFlag) -> RunOutcome {
    // A panic in one run must not end the others.
    let ran = catch_unwind(AssertUnwindSafe(|| attempt(plan, point, &store.folder(point), shared, stop)));
    match ran {
        Ok(Ok(Some(row))) => RunOutcome::Complete { row: Box::new(row), found: false },
        Ok(Ok(None)) => RunOutcome::Open,
        Ok(Err(error)) => RunOutcome::Failed(error),
        Err(_) => RunOutcome::Failed(LabError::Broken),
    }
}

/// Executes one run. Returns `None` if it was stopped, because an incomplete run is no result of a sweep.
fn attempt(
    plan: &Plan,
    point: &SweepRun,
    target: &Path,
    shared: bool,
    stop: &StopFlag,
) -> Result<Option<Row>, LabError> {
    let set = point.variant.overrides(&plan.set, &plan.varied);
    let mut run = Run::read(&plan.scenario, &set, point.variant.seed, stop)?;
    if run.lowered.hash != point.scenario_hash {
        return Err(PlanError::Changed { path: plan.scenario.clone() }.into());
    }
    // One thread per run, because the runs of a sweep are concurrent.
    run.lowered.setup.threads = 1;
    let folder = run::folder(target)?;
    let options = RunOptions { shared, whole_only: true };
    let finished = run.produce(Some(folder), &mut NullWatcher, options, stop)?;
    Ok((!finished.summary.partial).then(|| Row::new(point.variant.clone(), &finished.summary)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_together_the_whole() {
        let parts = [1, 2, 3].map(|part| Shard { part, of: 3 });
        for at in 0..100 {
            assert_eq!(parts.iter().filter(|part| part.has(at)).count(), 1);
        }
        assert_eq!(parse_shard("2/3"), Ok(Shard { part: 2, of: 3 }));
        for wrong in ["", "1", "0/3", "4/3", "a/b", "1/0"] {
            assert!(parse_shard(wrong).unwrap_err().contains("1/4"), "{wrong}");
        }
    }
}
