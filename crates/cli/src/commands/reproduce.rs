//! `tidegate reproduce`: runs the experiments of papers and prints each check beside the published number.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use lab::sweep::{Shard, parse_shard};
use record::files::{PreviousFiles, check_files, write_files};
use reproduce::errata::errata;
use reproduce::{Choice, Experiment, Found, Trial, choose, print};
use std::path::{Path, PathBuf};

/// Rerun the papers' experiments, with each check beside the published number.
#[derive(Debug, clap::Args)]
pub struct ReproduceArgs {
    /// Papers or single experiments, such as `bg` or `bg/fig1.4`; default: all.
    #[arg(value_name = "PAPER[/EXPERIMENT]")]
    pub(super) experiments: Vec<String>,
    /// List ids, titles and expected run times in seconds.
    #[arg(long)]
    list: bool,
    /// List errors in the papers, with the commands that print the evidence.
    #[arg(long, conflicts_with_all = ["experiments", "list", "quick", "open_choices", "search", "mutate", "plots"])]
    errata: bool,
    /// Shorten long experiments and report what was shortened.
    #[arg(long)]
    pub(super) quick: bool,
    /// Rerun the checks with each alternative of the choices that the source leaves open.
    #[arg(long)]
    open_choices: bool,
    /// Judge the claims of one paper at many settings of all its open choices jointly, and report the setting that
    /// satisfies most claims, and pairs of claims that no setting satisfies together. Results are kept in the folder
    /// of --out: the same command goes on after an interruption.
    #[arg(long, conflicts_with_all = ["list", "quick", "open_choices", "plots"])]
    pub(super) search: bool,
    /// Change each numeric parameter of the papers' scenarios by -20 % and +20 %, one at a time, and report which
    /// changes make a claim fail that holds otherwise. With --quick, runs are shortened.
    #[arg(long, conflicts_with_all = ["list", "open_choices", "plots", "search"], requires = "experiments")]
    pub(super) mutate: bool,
    /// Number of settings of a search; default: 100. 0: only the conclusion of the settings judged so far.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=10_000_000))]
    pub(super) points: Option<u64>,
    /// Judge only part I of N of the points of a search (from 1); parts may run in parallel, on one machine or several
    /// with a common folder.
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    pub(super) shard: Option<Shard>,
    /// Parallel settings of a search or mutations, one thread each; default: the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,
    /// Folder of a search; default: results/PAPER-search.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Write the drawings of the experiments into this folder as SVG.
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Print only one JSON object on standard output.
    #[arg(long)]
    pub(super) json: bool,
    /// Print no progress.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// Kind of the content in the manifest of a folder of drawings.
const PICTURES: &str = "reproduce --plots";

/// Runs the command. Exit code 0: every check passes; 1: a check fails; 2: an experiment is unknown.
///
/// # Errors
/// If an experiment is unknown, or the folder for drawings is unusable.
pub fn command(args: &ReproduceArgs) -> Result<Exit, Failure> {
    if args.search {
        return super::reproduce_search::command(args);
    }
    for (option, given) in
        [("--points", args.points.is_some()), ("--shard", args.shard.is_some()), ("--out", args.out.is_some())]
    {
        if given {
            return Err(Failure::input(format!("{option} belongs to --search"), "remove it, or add --search"));
        }
    }
    if args.jobs.is_some() && !args.mutate {
        let help = "without them, experiments run one after the other";
        return Err(Failure::input("--jobs belongs to --search or --mutate", help));
    }
    if args.errata {
        output::print(&if args.json { errata().json() } else { errata().text() })?;
        return Ok(Exit::Done);
    }
    if args.mutate {
        return super::reproduce_mutate::command(args);
    }
    let chosen = choose(&args.experiments)?;
    if args.list {
        output::print(&if args.json { print::list_json(&chosen) } else { print::list(&chosen) })?;
        return Ok(Exit::Done);
    }
    if let Some(folder) = &args.plots {
        // Check the folder first, so that its errors are reported before hours of simulation.
        check_files(folder, PICTURES, [], false)?;
    }
    let mut results = Vec::new();
    for experiment in chosen {
        let mut result = one(experiment, args, None)?;
        if let Some(folder) = &args.plots {
            plots(folder, &result.trial)?;
        }
        if args.open_choices {
            for choice in experiment.choices {
                for &value in choice.alternatives {
                    let under = one(experiment, args, Some((choice, value)))?;
                    result.under.push((format!("{} = {value}", choice.key), under));
                }
            }
        }
        if !args.json {
            output::show(&print::result(&result, output::paint()))?;
        }
        results.push(result);
    }
    if args.json {
        output::print(&print::json(&results))?;
    } else {
        output::show(&print::totals(&results))?;
    }
    // Checks under alternatives to our choices are printed for comparison, and do not affect the exit code.
    Ok(if results.iter().all(Found::passes) { Exit::Done } else { Exit::CheckFailed })
}

/// Writes the drawings of an experiment into the folder, which may have drawings of other experiments.
fn plots(folder: &Path, trial: &Trial) -> Result<(), Failure> {
    let names: Vec<String> = trial.plots.iter().map(|(name, _)| format!("{name}.svg")).collect();
    let pictures = trial.plots.iter().map(|(_, picture)| picture.as_bytes());
    let files: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(pictures).collect();
    if files.is_empty() { Ok(()) } else { Ok(write_files(folder, PICTURES, &files, PreviousFiles::Kept, false)?) }
}

fn one(
    experiment: &'static Experiment,
    args: &ReproduceArgs,
    choice: Option<(&'static Choice, &'static str)>,
) -> Result<Found, Failure> {
    if !args.quiet && output::errors_are_watched() {
        let what = choice.map_or(String::new(), |(choice, value)| format!(", {} = {value}", choice.key));
        let seconds = if args.quick { experiment.quick_seconds } else { experiment.seconds };
        output::note(&format!("{}{what}: about {seconds} s ...", experiment.id));
    }
    Ok(reproduce::run(experiment, args.quick, choice)?)
}
