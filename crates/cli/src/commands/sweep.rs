//! `tidegate sweep`: a grid or a list of runs that survives being killed.

use crate::arguments::{self, Override, quoted};
use crate::commands::run;
use crate::execute::Live;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::{RunProgress, count_bar};
use crate::result::{self, Origin, Way};
use crate::runs::metrics;
use crate::runs::pool;
use crate::runs::row::Row;
use crate::runs::vary::{Seeds, Vary, all_seeds, parse_seeds, parse_vary};
use crate::{interrupt, output};
use plan::{Plan, Point};
use record::RecordError;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use store::Store;

mod plan;
mod show;
mod store;
mod table;

/// Run a scenario under a grid or a list of values and seeds, on all cores. Killed at any moment, it goes on with
/// --resume: nothing is lost, and nothing runs twice.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub struct SweepArgs {
    /// A sweep (a TOML file that names a `scenario`), or a scenario whose keys --vary names.
    #[arg(value_name = "SWEEP|SCENARIO")]
    file: PathBuf,
    /// A key and its values; several keys make a grid: `--vary host.transport.kind=roce,dcqcn --vary fabric.k=4,8`.
    #[arg(long, value_name = "KEY=A,B,C", value_parser = parse_vary)]
    vary: Vec<Vary>,
    /// Change a value for all runs.
    #[arg(long, value_name = "KEY=VALUE", value_parser = arguments::parse_override)]
    set: Vec<Override>,
    /// Seeds, such as 1..10 (both ends included) or 1,2,5; every combination runs under each of them.
    #[arg(long, value_name = "SEEDS", value_parser = parse_seeds)]
    seeds: Vec<Seeds>,
    /// Runs at a time, each on one thread; as many as there are cores without.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Do only the I-th of N parts, from 1: parts may run at the same time, on one machine or several.
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    shard: Option<Shard>,
    /// Go on in a folder that holds a sweep: what is complete there is kept, the rest runs.
    #[arg(long)]
    resume: bool,
    /// The folder: runs/HASH of each run, and sweep.parquet with a row a run; results/NAME-sweep without.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What to show, by the beginning of its name, such as fct, drops, pause, max-queue; the main metrics without.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    metric: Vec<String>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
    /// No progress and no table: errors and the exit code only.
    #[arg(long, short)]
    quiet: bool,
}

const EXITS: &str = "\
Exit codes: 0 every run is complete and its checks hold; 1 a check failed; 2 the input is wrong, or a run could
not be made of it; 3 the machine failed (disk, memory); 130 interrupted. Whatever the code, complete runs stay
and --resume goes on from them.";

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub part: usize,
    /// At least `part`.
    pub of: usize,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((part, of)) if (1..=of).contains(&part) && of <= 100_000 => Ok(Shard { part, of }),
        _ => Err("write which part of how many, like 1/4".to_owned()),
    }
}

/// What became of one run.
#[derive(Debug)]
pub enum Outcome {
    /// It stands in its folder; found there, or run now.
    Complete {
        /// Its numbers.
        row: Row,
        /// Whether it was there before.
        found: bool,
    },
    /// It could not be made.
    Failed(Failure),
    /// Nobody has run it yet: another part's, or after an interrupt.
    Open,
}

/// Runs the command.
///
/// # Errors
/// Wrong input, found before anything runs; a folder that does not do; a table that cannot be written.
pub fn command(args: &SweepArgs) -> Result<Exit, Failure> {
    let metrics = metrics::of_summaries(&args.metric)?;
    let plan = Plan::of(&args.file, &args.set, &args.vary, &all_seeds(&args.seeds)?)?;
    let points = plan.points(args.jobs)?;
    // From here on there is something to leave behind.
    interrupt::listen();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results").join(format!("{}-sweep", plan.stem)));
    let store = Store::open(&out, args.resume, args.shard, &plan.manifest())?;
    let outcomes = run_all(args, &plan, &points, &store);
    let told = show::Told { plan: &plan, points: &points, outcomes: &outcomes, out: &out };
    // What is complete is told of even where the table cannot be written.
    let written = store.exclusively(|| table::write(&out.join(table::FILE), &plan.varied, &points, &outcomes));
    if args.json {
        output::print(&format!("{:#}\n", told.json(&metrics)))?;
    } else if !args.quiet {
        output::print(&told.text(&metrics, !args.metric.is_empty()))?;
    }
    written?;
    Ok(exit(args, &outcomes))
}

fn exit(args: &SweepArgs, outcomes: &[Outcome]) -> Exit {
    if interrupt::interrupted() {
        return Exit::Interrupted;
    }
    let own = outcomes.iter().enumerate().filter(|(at, _)| is_own(args.shard, *at));
    let worst = own.map(|(_, outcome)| match outcome {
        Outcome::Complete { row, .. } => run::exit_of(false, row.passes()),
        Outcome::Failed(failure) => failure.exit(),
        // Nothing but a failed disk keeps a run from starting.
        Outcome::Open => Exit::Machine,
    });
    worst.max().unwrap_or(Exit::Done)
}

fn is_own(shard: Option<Shard>, at: usize) -> bool {
    shard.is_none_or(|shard| at % shard.of + 1 == shard.part)
}

/// What is there is looked at first, so that the time left is that of the runs to be made.
fn run_all(args: &SweepArgs, plan: &Plan, points: &[Point], store: &Store) -> Vec<Outcome> {
    let threads = pool::threads(args.jobs, points.len());
    let found = pool::each(points.iter().collect(), threads, |point| ControlFlow::Continue(store.find(point)));
    let mut outcomes: Vec<Outcome> = points.iter().map(|_| Outcome::Open).collect();
    found.results.into_iter().for_each(|(at, outcome)| outcomes[at] = outcome);
    let open = |at: &usize| is_own(args.shard, *at) && matches!(outcomes[*at], Outcome::Open);
    let open: Vec<usize> = if found.stopped { Vec::new() } else { (0..points.len()).filter(open).collect() };
    let bar = count_bar(open.len() as u64, !args.quiet && output::errors_are_watched());
    for (point, outcome) in points.iter().zip(&outcomes) {
        report(plan, point, outcome);
    }
    let ran = pool::each(open.clone(), threads, |at| {
        let point = &points[at];
        let outcome = run_one(plan, point, store, threads > 1);
        bar.suspend(|| report(plan, point, &outcome));
        bar.inc(1);
        // On a full disk all that follow would fail too.
        if is_disk_full(&outcome) { ControlFlow::Break(outcome) } else { ControlFlow::Continue(outcome) }
    });
    bar.finish_and_clear();
    for (which, outcome) in ran.results {
        outcomes[open[which]] = outcome;
    }
    // Other parts went on meanwhile.
    for (point, outcome) in points.iter().zip(&mut outcomes) {
        if args.shard.is_some() && matches!(outcome, Outcome::Open) {
            *outcome = store.find(point);
        }
    }
    outcomes
}

fn report(plan: &Plan, point: &Point, outcome: &Outcome) {
    if let Outcome::Failed(failure) = outcome {
        output::note(&format!("error: {}: {failure}", point.variant.title(&plan.varied)));
    }
}

fn is_disk_full(outcome: &Outcome) -> bool {
    let Outcome::Failed(Failure::Record(RecordError::Unwritable { source, .. })) = outcome else { return false };
    matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn run_one(plan: &Plan, point: &Point, store: &Store, shared: bool) -> Outcome {
    // A fault of ours in one run must not take the others with it.
    let ran = catch_unwind(AssertUnwindSafe(|| attempt(plan, point, &store.folder(point), shared)));
    match ran {
        Ok(Ok(Some(row))) => Outcome::Complete { row, found: false },
        Ok(Ok(None)) => Outcome::Open,
        Ok(Err(failure)) => Outcome::Failed(failure),
        Err(_) => Outcome::Failed(Failure::Broken),
    }
}

/// `None` for a run that was interrupted: half a run is no result of a sweep.
fn attempt(plan: &Plan, point: &Point, target: &Path, shared: bool) -> Result<Option<Row>, Failure> {
    let set = point.variant.overrides(&plan.set, &plan.varied);
    let scenario = arguments::read(&plan.scenario, &set, point.variant.seed)?;
    let mut lowered = arguments::lower(&scenario, &plan.scenario)?;
    if lowered.hash != point.scenario_hash {
        let scenario = quoted(&plan.scenario.display().to_string());
        return Err(Failure::input(
            format!("{scenario} or a file of it changed while the sweep ran"),
            "sweep it again",
        ));
    }
    lowered.setup.threads = 1;
    let folder = result::folder(target)?;
    let mut live = Live(RunProgress::new(lowered.setup.duration, false));
    let origin = Origin { path: &plan.scenario, scenario: &scenario, set: &set };
    let way = Way { payload_every: None, shared, whole_only: true };
    let finished = result::produce(&origin, lowered, Some(folder), &mut live, way)?;
    Ok((!finished.summary.partial).then(|| Row::new(point.variant.clone(), &finished.summary, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_together_the_whole() {
        let parts = [1, 2, 3].map(|part| Some(Shard { part, of: 3 }));
        for at in 0..100 {
            assert_eq!(parts.iter().filter(|part| is_own(**part, at)).count(), 1);
        }
        assert_eq!(parse_shard("2/3"), Ok(Shard { part: 2, of: 3 }));
        for wrong in ["", "1", "0/3", "4/3", "a/b", "1/0"] {
            assert!(parse_shard(wrong).unwrap_err().contains("1/4"), "{wrong}");
        }
    }
}
