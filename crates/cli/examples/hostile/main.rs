//! Attacks on `tidegate`: malformed inputs for every reader and command, and random scenarios on one, two and three
//! threads. One seed always makes one attack. `scripts/hostile.sh` builds and runs it; see CONTRIBUTING.md.

mod attacks;
#[path = "../../../../fuzz/checks/mod.rs"]
mod checks;
#[path = "../../../../fuzz/checks/committed.rs"]
mod committed;
mod corpus;
mod inputs;
mod mutate;
mod process;
mod readers;
mod report;
mod runs;
mod scenarios;
mod traffic;

use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Parser)]
#[command(
    about = "Attacks on tidegate: mutated inputs over every reader and command, random scenarios on 1, 2 and 3 threads"
)]
#[command(after_help = "Exit codes: 0 nothing found; 1 something found, each with the command that runs it alone.")]
struct Args {
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of mutated inputs.
    #[arg(long, default_value_t = 20_000)]
    inputs: u64,
    /// Number of random scenarios.
    #[arg(long, default_value_t = 2_000)]
    scenarios: u64,
    /// Number of mutated inputs per fuzz target, within a process.
    #[arg(long, default_value_t = 20_000)]
    readers: u64,
    /// Parallel runs; default: the number of cores.
    #[arg(long)]
    jobs: Option<usize>,
    /// Run only the input of this number.
    #[arg(long, value_name = "NUMBER", conflicts_with = "scenario")]
    input: Option<u64>,
    /// Run only the scenario of this number.
    #[arg(long, value_name = "NUMBER")]
    scenario: Option<u64>,
    /// Run only this input of a fuzz target, and print it if its check fails.
    #[arg(long, value_name = "TARGET:NUMBER")]
    reader: Option<String>,
    /// Another build of tidegate; its results must be equal for every scenario that both run.
    #[arg(long, value_name = "BINARY")]
    against: Option<PathBuf>,
    /// Working folder; findings remain in its folder `found`.
    #[arg(long, value_name = "DIR", default_value = "target/hostile")]
    folder: PathBuf,
}

/// Settings that all cases share.
pub struct Field {
    /// Path of the command under test.
    pub tidegate: PathBuf,
    /// Path of another build. Both builds must have equal results.
    pub against: Option<PathBuf>,
    /// Working folder.
    pub folder: PathBuf,
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of parallel runs.
    pub jobs: usize,
}

fn main() -> ExitCode {
    let args = Args::parse();
    // This program is target/debug/examples/hostile: the command under test is target/debug/tidegate.
    let own = std::env::current_exe().expect("a path of ours");
    let tidegate = own.ancestors().nth(2).expect("a target folder").join("tidegate");
    assert!(tidegate.is_file(), "{}: build it first, as scripts/hostile.sh does", tidegate.display());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let _ = std::fs::remove_dir_all(&args.folder);
    std::fs::create_dir_all(&args.folder).unwrap_or_else(|error| panic!("{}: {error}", args.folder.display()));
    let folder = args.folder.canonicalize().expect("a folder that is there");
    if let Some(wanted) = &args.reader {
        return readers::one(&folder, args.seed, wanted);
    }
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let against = args.against.map(|path| path.canonicalize().expect("the other build"));
    let field = Field { tidegate, against, folder, seed: args.seed, jobs };
    let only = |all: u64, one: Option<u64>, other: Option<u64>| match (one, other) {
        (Some(number), _) => number..number + 1,
        (None, Some(_)) => 0..0,
        (None, None) => 0..all,
    };
    let mut found = report::Report::new(args.seed);
    if args.input.is_none() && args.scenario.is_none() {
        readers::attack(&field, args.readers, &mut found);
    }
    inputs::attack(&field, &root, only(args.inputs, args.input, args.scenario), &mut found);
    runs::attack(&field, only(args.scenarios, args.scenario, args.input), &mut found);
    found.print();
    if found.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs `each` for all numbers on `jobs` threads, and returns the results in the order of the numbers.
pub fn spread<T: Send>(
    what: &str,
    jobs: usize,
    numbers: std::ops::Range<u64>,
    each: impl Fn(u64) -> T + Sync,
) -> Vec<T> {
    let (count, next) = (numbers.end - numbers.start, AtomicU64::new(numbers.start));
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return done;
            }
            done.push((number, each(number)));
            let so_far = number - numbers.start + 1;
            if so_far.is_multiple_of((count / 20).max(1)) {
                eprintln!("{what}: {so_far} of {count}");
            }
        }
    };
    let mut all: Vec<(u64, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker that ends")).collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, one)| one).collect()
}
