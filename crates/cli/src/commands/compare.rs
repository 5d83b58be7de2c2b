//! `tidegate compare`: the same workload under each value, side by side.

use crate::arguments::{self, ScenarioArgs};
use crate::commands::run;
use crate::execute::{All, Finished, Live};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::{RunProgress, count_bar};
use crate::result::{self, Origin, Way};
use crate::runs::metrics::{self, Metric, Watch};
use crate::runs::pool;
use crate::runs::row::Row;
use crate::runs::vary::{Seeds, Variant, Vary, all_seeds, check_distinct, parse_seeds, parse_vary, placed, variants};
use crate::{interrupt, output};
use record::files::{Earlier, check_files, write_files};
use record::folder::ResultFolder;
use std::ops::ControlFlow;
use std::path::PathBuf;
use units::Time;

mod show;

/// More runs than this are a sweep.
const MAX_RUNS: usize = 1000;
/// The table of all runs, and what the list of the folder's files calls the folder.
const TABLE: &str = "compare.csv";
const KIND: &str = "compare";

/// Run the same scenario under each value of one or more keys, and set the results side by side.
#[derive(Debug, clap::Args)]
#[command(after_help = run::EXITS)]
pub struct CompareArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// A key and its values; several keys are combined: `--vary host.transport.kind=roce,dcqcn --vary fabric.k=4,8`.
    #[arg(long, value_name = "KEY=A,B,C", required = true, value_parser = parse_vary)]
    vary: Vec<Vary>,
    /// Seeds, such as 1..10 (both ends included) or 1,2,5; every combination runs under each of them, and
    /// differences to the first that are within the noise are marked.
    #[arg(long, alias = "seed", value_name = "SEEDS", value_parser = parse_seeds)]
    seeds: Vec<Seeds>,
    /// What to show, by the beginning of its name, such as fct, drops, pause, goodput, max-queue; the main
    /// metrics without.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    metric: Vec<String>,
    /// Runs at a time; as many as there are cores without.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Write every result into a folder of its own below this one, and compare.csv beside them.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
    /// No progress and no table: errors and the exit code only.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// Wrong input, found before anything runs; a machine that fails.
pub fn command(args: &CompareArgs) -> Result<Exit, Failure> {
    let metrics = metrics::chosen(&args.metric).map_err(|name| metrics::unknown(&name, &metrics::all()))?;
    check_distinct(&args.vary)?;
    let seeds = all_seeds(&args.seeds)?;
    let count = args.vary.iter().try_fold(seeds.len().max(1), |count, vary| count.checked_mul(vary.values.len()));
    if count.is_none_or(|count| count > MAX_RUNS) {
        return Err(Failure::input(
            format!("that is more than {MAX_RUNS} runs"),
            "vary fewer values, or use tidegate sweep",
        ));
    }
    let variants = variants(&args.vary, &seeds);
    let name = check(args, &variants)?;
    // From here on there is something to leave behind.
    interrupt::listen();
    let folders = folders(args, &variants)?;
    if let Some(out) = &args.out {
        check_files(out, KIND, [TABLE], false)?;
    }
    let (rows, stopped) = run_all(args, variants, folders)?;
    report(args, &name, &rows, &metrics)?;
    let worst = rows.iter().map(|row| run::exit_of(row.partial, row.passes())).max().unwrap_or(Exit::Done);
    Ok(if stopped { Exit::Interrupted } else { worst })
}

/// Every variant is read and lowered before the first runs: a mistake in the last must not cost hours.
fn check(args: &CompareArgs, variants: &[Variant]) -> Result<String, Failure> {
    let path = &args.scenario.scenario;
    let mut name = String::new();
    for variant in variants {
        let scenario = arguments::read(path, &variant.overrides(&args.scenario.set, &args.vary), variant.seed);
        let lowered = scenario.and_then(|scenario| arguments::lower(&scenario, path));
        name = lowered.map_err(|failure| placed(failure, &args.vary))?.name;
    }
    Ok(name)
}

fn folders(args: &CompareArgs, variants: &[Variant]) -> Result<Vec<Option<ResultFolder>>, Failure> {
    let folder = |(at, variant): (usize, &Variant)| {
        let target = args.out.as_ref().map(|out| out.join(variant.folder(at, &args.vary)));
        target.as_deref().map(result::folder).transpose()
    };
    variants.iter().enumerate().map(folder).collect()
}

/// A run that waits for a thread.
struct Job {
    variant: Variant,
    folder: Option<ResultFolder>,
}

/// All runs, on as many threads as there are cores, in the order of `variants`; and whether somebody wanted
/// an end.
fn run_all(
    args: &CompareArgs,
    variants: Vec<Variant>,
    folders: Vec<Option<ResultFolder>>,
) -> Result<(Vec<Row>, bool), Failure> {
    let threads = pool::threads(args.jobs, variants.len());
    let bar = count_bar(variants.len() as u64, !args.quiet && output::errors_are_watched());
    let jobs = variants.into_iter().zip(folders).map(|(variant, folder)| Job { variant, folder }).collect();
    let done = pool::each(jobs, threads, |job| {
        let row = run_one(args, job, threads > 1);
        bar.inc(1);
        if row.is_ok() { ControlFlow::Continue(row) } else { ControlFlow::Break(row) }
    });
    bar.finish_and_clear();
    let rows = done.results.into_iter().map(|(_, row)| row).collect::<Result<Vec<Row>, Failure>>()?;
    Ok((rows, done.stopped))
}

fn run_one(args: &CompareArgs, job: Job, shared: bool) -> Result<Row, Failure> {
    let path = &args.scenario.scenario;
    let set = job.variant.overrides(&args.scenario.set, &args.vary);
    let scenario = arguments::read(path, &set, job.variant.seed)?;
    let mut lowered = arguments::lower(&scenario, path)?;
    let setup = &mut lowered.setup;
    setup.threads = 1;
    let period = || metrics::period(setup.warm_up, setup.duration).max(Time::from_ps(1));
    let period = setup.record.throughput_every.unwrap_or_else(period);
    let (warm_up, duration) = (setup.warm_up, setup.duration);
    let (mut live, mut watch) = (Live(RunProgress::new(duration, false)), Watch::new(warm_up, period));
    let origin = Origin { path, scenario: &scenario, set: &set };
    let way = Way { payload_every: Some(period), shared, whole_only: false };
    let mut watchers = All(vec![&mut live, &mut watch]);
    let Finished { summary, .. } = result::produce(&origin, lowered, job.folder, &mut watchers, way)?;
    Ok(Row::new(job.variant, &summary, Some(&watch)))
}

fn report(args: &CompareArgs, name: &str, rows: &[Row], metrics: &[Metric]) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        let table = show::csv(&args.vary, rows, &metrics::all());
        write_files(out, KIND, &[(TABLE, table.as_bytes())], Earlier::Kept, false)?;
    }
    if args.json {
        return output::print(&format!("{:#}\n", show::json(name, &args.vary, rows, metrics)));
    }
    if !args.quiet {
        output::print(&show::text(&args.vary, rows, metrics, !args.metric.is_empty()))?;
    }
    Ok(())
}
