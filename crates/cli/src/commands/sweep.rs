//! `tidegate sweep`: runs a grid or a list of parameter values; an interrupted sweep can be resumed.

use crate::commands::run;
use crate::exit::Exit;
use crate::failure::{Failure, lab_words};
use crate::progress::count_bar;
use crate::{interrupt, output};
use indicatif::ProgressBar;
use lab::sweep::{Plan, Progress, RunOutcome, Shard, Sweep, SweepFolder, SweepReport, SweepRun, parse_shard};
use lab::vary::{Seeds, VariedKey, all_seeds, parse_seeds, parse_vary};
use lab::{LabError, Override, metrics, parse_override, sweep};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Run a scenario for a grid or a list of values and seeds, on all cores. After an interruption --resume completes the
/// sweep without repeating complete runs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub struct SweepArgs {
    /// Sweep (a TOML file with the key `scenario`), or scenario whose keys --vary names.
    #[arg(value_name = "SWEEP|SCENARIO")]
    file: PathBuf,
    /// Key and its values; several keys form a grid: `--vary host.transport.kind=roce,dcqcn --vary fabric.k=4,8`.
    #[arg(long, value_name = "KEY=A,B,C", value_parser = parse_vary)]
    vary: Vec<VariedKey>,
    /// Set a key in all runs.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
    set: Vec<Override>,
    /// Seeds, such as 1..10 (inclusive) or 1,2,5; every combination runs with each seed.
    #[arg(long, value_name = "SEEDS", value_parser = parse_seeds)]
    seeds: Vec<Seeds>,
    /// Parallel runs, one thread each; default: the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Run only part I of N (from 1); parts may run in parallel, on one machine or several.
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    shard: Option<Shard>,
    /// Continue a sweep in its folder: keep complete runs, and run the rest.
    #[arg(long)]
    resume: bool,
    /// Output directory: runs/HASH per run, and sweep.parquet with one row per run; default: results/NAME-sweep.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Metrics to print: a name (fct-p99), a prefix (fct, drops), or fct@LABEL for the traffic with this label;
    /// default: the main metrics. --list-metrics lists all.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    metric: Vec<String>,
    /// List the metrics of this sweep and exit.
    #[arg(long)]
    list_metrics: bool,
    /// Print only one JSON object on standard output.
    #[arg(long)]
    json: bool,
    /// Print no progress and no table, only errors.
    #[arg(long, short)]
    quiet: bool,
}

const EXITS: &str = "\
Exit codes: 0 every run is complete and its checks hold; 1 a check failed; 2 the input is wrong, or a run could
not be made of it; 3 disk or memory failed; 130 interrupted. Whatever the code, complete runs stay
and --resume goes on from them.";

/// Runs the command.
///
/// # Errors
/// Invalid input, which is detected before the first run; an unusable folder; or a table that cannot be written.
pub fn command(args: &SweepArgs) -> Result<Exit, Failure> {
    let seeds = all_seeds(&args.seeds).map_err(LabError::from)?;
    let plan = Plan::of(&args.file, &args.set, &args.vary, &seeds)?;
    let points = plan.points(args.jobs, interrupt::stop())?;
    if args.list_metrics {
        output::show(&metrics::list(&sweep::labels(&points)))?;
        return Ok(Exit::Done);
    }
    let metrics = metrics::swept(&args.metric, &sweep::labels(&points)).map_err(LabError::from)?;
    // From here on, an interruption must leave a valid sweep folder instead of ending the process at once.
    interrupt::listen();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results").join(format!("{}-sweep", plan.stem)));
    let store = SweepFolder::open(&out, args.resume, args.shard, &plan.manifest())?;
    let sweep = Sweep { plan: &plan, points: &points, store: &store, shard: args.shard, jobs: args.jobs };
    let outcomes = run_all(&sweep, !args.quiet && output::errors_are_watched());
    let message = lab_words::message;
    let sweep_report = SweepReport { plan: &plan, points: &points, outcomes: &outcomes, out: &out, message };
    // Print the results of the complete runs before the error of the table, if it cannot be written.
    let written = sweep.write_table(&out, &outcomes);
    if args.json {
        output::print(&format!("{:#}\n", sweep_report.json(&metrics)))?;
    } else if !args.quiet {
        output::show(&sweep_report.text(&metrics, !args.metric.is_empty()))?;
    }
    written?;
    Ok(exit(args, &outcomes))
}

fn exit(args: &SweepArgs, outcomes: &[RunOutcome]) -> Exit {
    if interrupt::stop().is_set() {
        return Exit::Interrupted;
    }
    let own = outcomes.iter().enumerate().filter(|(at, _)| args.shard.is_none_or(|shard| shard.has(*at)));
    let worst = own.map(|(_, outcome)| match outcome {
        RunOutcome::Complete { row, .. } => run::exit_of(false, row.passes()),
        RunOutcome::Failed(error) => lab_words::exit(error),
        // A run was not started only if the disk failed.
        RunOutcome::Open => Exit::Machine,
    });
    worst.max().unwrap_or(Exit::Done)
}

/// Executes the incomplete runs with a progress bar, and prints failures as they occur.
fn run_all(sweep: &Sweep<'_>, visible: bool) -> Vec<RunOutcome> {
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

fn report(plan: &Plan, point: &SweepRun, outcome: &RunOutcome) {
    if let RunOutcome::Failed(error) = outcome {
        output::note(&format!("error: {}: {}", point.variant.title(&plan.varied), lab_words::message(error)));
    }
}
