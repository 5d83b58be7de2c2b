//! `tidegate reproduce`: the papers' experiments, each check beside the paper's number.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use record::files::{Earlier, check_files, write_files};
use reproduce::{Choice, Experiment, Found, Trial, choose, print};
use std::path::{Path, PathBuf};

/// Rerun the papers' experiments, each check beside the paper's number.
#[derive(Debug, clap::Args)]
pub struct ReproduceArgs {
    /// Papers or single experiments, such as `bg` or `bg/fig1.4`; all without.
    #[arg(value_name = "PAPER[/EXPERIMENT]")]
    experiments: Vec<String>,
    /// List ids, titles and expected seconds instead.
    #[arg(long)]
    list: bool,
    /// Shorten what is long, and say what was shortened.
    #[arg(long)]
    quick: bool,
    /// Rerun the checks under the alternatives of every choice that the source leaves open.
    #[arg(long)]
    open_choices: bool,
    /// Write the pictures of experiments that draw some into this folder, as SVG.
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
    /// No progress.
    #[arg(long, short)]
    quiet: bool,
}

/// The content kind of a folder of pictures in its list of files.
const PICTURES: &str = "reproduce --plots";

/// Runs the command: 0 if every check holds, 1 if one fails, 2 for an experiment that is not known.
///
/// # Errors
/// An experiment that is not known; a folder for pictures that does not do.
pub fn command(args: &ReproduceArgs) -> Result<Exit, Failure> {
    let chosen = choose(&args.experiments)?;
    if args.list {
        output::print(&if args.json { print::list_json(&chosen) } else { print::list(&chosen) })?;
        return Ok(Exit::Done);
    }
    if let Some(folder) = &args.plots {
        // What is wrong with the folder is told before hours of work.
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
    // An alternative to what we chose may well fail: that is what it is shown for.
    Ok(if results.iter().all(Found::passes) { Exit::Done } else { Exit::CheckFailed })
}

/// Writes what an experiment drew, beside the pictures of others.
fn plots(folder: &Path, trial: &Trial) -> Result<(), Failure> {
    let names: Vec<String> = trial.plots.iter().map(|(name, _)| format!("{name}.svg")).collect();
    let pictures = trial.plots.iter().map(|(_, picture)| picture.as_bytes());
    let files: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(pictures).collect();
    if files.is_empty() { Ok(()) } else { Ok(write_files(folder, PICTURES, &files, Earlier::Kept, false)?) }
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
