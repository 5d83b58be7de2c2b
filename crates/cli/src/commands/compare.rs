//! `tidegate compare`: the same workload under each value, side by side.

use crate::arguments::{self, ScenarioArgs, quoted};
use crate::commands::run;
use crate::execute::{All, Finished, Live};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::{RunProgress, count_bar};
use crate::result::{self, Origin, Way};
use crate::{interrupt, output};
use metrics::{Metric, Watch};
use record::file::write_whole;
use record::folder::ResultFolder;
use show::Row;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use units::Time;
use variants::{Variant, Vary, parse_vary, variants};

mod metrics;
mod show;
mod variants;

/// More runs than this are a sweep.
const MAX_RUNS: usize = 1000;

/// Run the same scenario under each value of one or more keys, and set the results side by side.
#[derive(Debug, clap::Args)]
#[command(after_help = run::EXITS)]
pub struct CompareArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// A key and its values; several keys are combined: `--vary host.transport.kind=roce,dcqcn --vary fabric.k=4,8`.
    #[arg(long, value_name = "KEY=A,B,C", required = true, value_parser = parse_vary)]
    vary: Vec<Vary>,
    /// Seeds; every combination runs under each of them.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    seed: Vec<u64>,
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
    let metrics = metrics::chosen(&args.metric).map_err(|name| {
        let known: Vec<String> = metrics::all().into_iter().map(|metric| metric.name).collect();
        Failure::input(format!("no metric is called `{name}`"), format!("one of {}", known.join(", ")))
    })?;
    for (at, vary) in args.vary.iter().enumerate() {
        if let Some(first) = args.vary[..at].iter().find(|first| first.key == vary.key) {
            let all = [first.values.as_slice(), &vary.values].concat().join(",");
            let help = format!("write all its values in one: --vary {}", quoted(&format!("{}={all}", vary.key)));
            return Err(Failure::input(format!("`{}` is varied twice", vary.key), help));
        }
    }
    let count = args.vary.iter().try_fold(args.seed.len().max(1), |count, vary| count.checked_mul(vary.values.len()));
    if count.is_none_or(|count| count > MAX_RUNS) {
        return Err(Failure::input(format!("that is more than {MAX_RUNS} runs"), "vary fewer values"));
    }
    let variants = variants(&args.vary, &args.seed);
    let name = check(args, &variants)?;
    // From here on there is something to leave behind.
    interrupt::listen();
    let folders = folders(args, &variants)?;
    let (rows, stopped) = run_all(args, variants, folders)?;
    report(args, &name, &rows, &metrics)?;
    let worst = rows.iter().map(|row| run::exit(&row.summary)).max().unwrap_or(Exit::Done);
    Ok(if stopped { Exit::Interrupted } else { worst })
}

/// Every variant is read and lowered before the first runs: a mistake in the last must not cost hours.
fn check(args: &CompareArgs, variants: &[Variant]) -> Result<String, Failure> {
    let path = &args.scenario.scenario;
    let mut name = String::new();
    for variant in variants {
        let scenario = arguments::read(path, &variant.overrides(&args.scenario.set, &args.vary), variant.seed)?;
        name = arguments::lower(&scenario, path)?.name;
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
    at: usize,
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
    let count = variants.len();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.jobs.map_or(cores, usize::from).min(count);
    let jobs = variants.into_iter().zip(folders).enumerate().map(|(at, (variant, folder))| Job { at, variant, folder });
    // Taken from the end.
    let jobs: Mutex<Vec<Job>> = Mutex::new(jobs.rev().collect());
    let done: Mutex<Vec<(usize, Result<Row, Failure>)>> = Mutex::new(Vec::new());
    let (failed, started) = (AtomicBool::new(false), AtomicUsize::new(0));
    let bar = count_bar(count as u64, !args.quiet && output::errors_are_watched());
    let work = || {
        while !interrupt::interrupted() && !failed.load(Ordering::Relaxed) {
            let Some(job) = lock(&jobs).pop() else { return };
            started.fetch_add(1, Ordering::Relaxed);
            let at = job.at;
            let row = run_one(args, job, threads > 1);
            failed.fetch_or(row.is_err(), Ordering::Relaxed);
            lock(&done).push((at, row));
            bar.inc(1);
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    bar.finish_and_clear();
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    let rows = done.into_iter().map(|(_, row)| row).collect::<Result<Vec<Row>, Failure>>()?;
    Ok((rows, started.into_inner() < count || interrupt::interrupted()))
}

/// A thread that panicked ends the process anyway.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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
    let way = Way { payload_every: Some(period), shared };
    let mut watchers = All(vec![&mut live, &mut watch]);
    let Finished { summary, .. } = result::produce(&origin, lowered, job.folder, &mut watchers, way)?;
    Ok(Row { variant: job.variant, summary, watch })
}

fn report(args: &CompareArgs, name: &str, rows: &[Row], metrics: &[Metric]) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        write_whole(&out.join("compare.csv"), show::csv(&args.vary, rows, &metrics::all()).as_bytes())?;
    }
    if args.json {
        return output::print(&format!("{:#}\n", show::json(name, &args.vary, rows, metrics)));
    }
    if !args.quiet {
        output::print(&show::text(&args.vary, rows, metrics, !args.metric.is_empty()))?;
    }
    Ok(())
}
