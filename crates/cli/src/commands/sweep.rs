//! `tidegate sweep`: a grid or a list of runs that survives being killed.

use crate::commands::run;
use crate::exit::Exit;
use crate::failure::{Failure, lab_words};
use crate::progress::count_bar;
use crate::{interrupt, output};
use indicatif::ProgressBar;
use lab::sweep::{Outcome, Plan, Point, Progress, Shard, Store, Sweep, Told, parse_shard};
use lab::vary::{Seeds, Vary, all_seeds, parse_seeds, parse_vary};
use lab::{LabError, Override, metrics, parse_override, sweep};
use std::path::PathBuf;
use std::sync::OnceLock;

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
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
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
    /// What to show: a metric by its name (fct-p99), several by the beginning of theirs (fct, drops), or fct@LABEL of
    /// traffic with this label; the main metrics without. --list-metrics lists them.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    metric: Vec<String>,
    /// List the metrics of this sweep, and run nothing.
    #[arg(long)]
    list_metrics: bool,
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

/// Runs the command.
///
/// # Errors
/// Wrong input, found before anything runs; a folder that does not do; a table that cannot be written.
pub fn command(args: &SweepArgs) -> Result<Exit, Failure> {
    let seeds = all_seeds(&args.seeds).map_err(LabError::from)?;
    let plan = Plan::of(&args.file, &args.set, &args.vary, &seeds)?;
    let points = plan.points(args.jobs, interrupt::stop())?;
    if args.list_metrics {
        output::show(&metrics::list(&sweep::labels(&points)))?;
        return Ok(Exit::Done);
    }
    let metrics = metrics::swept(&args.metric, &sweep::labels(&points)).map_err(LabError::from)?;
    // From here on there is something to leave behind.
    interrupt::listen();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results").join(format!("{}-sweep", plan.stem)));
    let store = Store::open(&out, args.resume, args.shard, &plan.manifest())?;
    let sweep = Sweep { plan: &plan, points: &points, store: &store, shard: args.shard, jobs: args.jobs };
    let outcomes = run_all(&sweep, !args.quiet && output::errors_are_watched());
    let message = lab_words::message;
    let told = Told { plan: &plan, points: &points, outcomes: &outcomes, out: &out, message };
    // What is complete is told of even where the table cannot be written.
    let written = sweep.write_table(&out, &outcomes);
    if args.json {
        output::print(&format!("{:#}\n", told.json(&metrics)))?;
    } else if !args.quiet {
        output::show(&told.text(&metrics, !args.metric.is_empty()))?;
    }
    written?;
    Ok(exit(args, &outcomes))
}

fn exit(args: &SweepArgs, outcomes: &[Outcome]) -> Exit {
    if interrupt::stop().is_asked() {
        return Exit::Interrupted;
    }
    let own = outcomes.iter().enumerate().filter(|(at, _)| args.shard.is_none_or(|shard| shard.has(*at)));
    let worst = own.map(|(_, outcome)| match outcome {
        Outcome::Complete { row, .. } => run::exit_of(false, row.passes()),
        Outcome::Failed(error) => lab_words::exit(error),
        // Nothing but a failed disk keeps a run from starting.
        Outcome::Open => Exit::Machine,
    });
    worst.max().unwrap_or(Exit::Done)
}

/// Makes the runs, with a bar for those that were not there; what fails is told at once.
fn run_all(sweep: &Sweep<'_>, visible: bool) -> Vec<Outcome> {
    let bar: OnceLock<ProgressBar> = OnceLock::new();
    let outcomes = sweep.run(interrupt::stop(), &|progress| match progress {
        Progress::Found { outcomes, open } => {
            bar.get_or_init(|| count_bar(open as u64, visible));
            sweep.points.iter().zip(outcomes).for_each(|(point, outcome)| report(sweep.plan, point, outcome));
        }
        Progress::Ran { point, outcome } => {
            let Some(bar) = bar.get() else { return };
            bar.suspend(|| report(sweep.plan, point, outcome));
            bar.inc(1);
        }
    });
    bar.get().inspect(|bar| bar.finish_and_clear());
    outcomes
}

fn report(plan: &Plan, point: &Point, outcome: &Outcome) {
    if let Outcome::Failed(error) = outcome {
        output::note(&format!("error: {}: {}", point.variant.title(&plan.varied), lab_words::message(error)));
    }
}
