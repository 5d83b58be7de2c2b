//! `tidegate run`: runs one simulation.

use crate::arguments::ScenarioArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output;
use crate::progress::RunProgress;
use crate::render::summary;
use lab::{FinishedRun, Override, Run, RunOptions};
use model::Ranks;
use record::summary::Summary;
use scenario::Lowered;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::quoted;

/// Run one simulation, print a summary, and write result files with --out.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub struct RunArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Seed of all random streams, instead of that of the scenario.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_seed)]
    seed: Option<u64>,
    /// Number of threads, instead of that of the scenario; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Output directory, written atomically. Replaces an earlier result, but an interrupted run never replaces a
    /// complete result; files that tidegate did not write remain.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print all effective values with their origin, and do not run.
    #[arg(long)]
    explain: bool,
    /// Print only summary.json on standard output.
    #[arg(long)]
    json: bool,
    /// Print no progress and no summary, only errors.
    #[arg(long, short)]
    quiet: bool,
}

/// Parses a seed.
fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

/// Help text on the exit codes of a run.
pub const EXITS: &str = "\
Exit codes: 0 done and every check holds; 1 a check failed (a lossless class lost a frame, a deadlock that
the scenario did not expect); 2 the input is wrong; 3 disk or memory failed; 130 interrupted,
with a valid partial result.";

/// Runs the command.
///
/// # Errors
/// Invalid input; a failure of disk or memory.
pub fn command(args: &RunArgs) -> Result<Exit, Failure> {
    lab::ranks::with_ranks(interrupt::stop(), |ranks| one_of(args, ranks))?
}

/// Executes the run or, with several ranks, this rank's part of it. Only rank 0 prints.
fn one_of(args: &RunArgs, ranks: Option<Arc<dyn Ranks>>) -> Result<Exit, Failure> {
    let leads = ranks.as_ref().is_none_or(|ranks| ranks.rank() == 0);
    let read = || {
        let mut run = Run::of(&args.scenario.source()?, &args.scenario.set, args.seed, interrupt::stop())?;
        if let Some(threads) = args.threads {
            // The number of threads is not an override: results list all overrides, but must not depend on the number
            // of threads.
            run.lowered.setup.threads = threads.into();
        }
        if args.explain {
            return Ok((run, None));
        }
        // From here on, an interruption must leave a valid partial result instead of ending the process at once.
        interrupt::listen();
        let folder = args.out.as_deref().filter(|_| leads).map(lab::folder).transpose()?;
        Ok((run, folder))
    };
    // The other ranks wait until all ranks agree to start, so an error on this rank must be sent to them.
    let with_name = |failure| {
        let others = ranks.as_ref().filter(|_| !args.explain).and_then(|ranks| lab::ranks::agree(&**ranks, None).err());
        others.map_or(failure, Failure::Lab)
    };
    let (mut run, folder) = read().map_err(with_name)?;
    let lowered = &run.lowered;
    if args.explain {
        let text =
            if args.json { format!("{:#}\n", lab::explained_json(lowered)) } else { lab::explained_text(lowered) };
        return if leads { output::show(&text).map(|()| Exit::Done) } else { Ok(Exit::Done) };
    }
    let about = Described::of(args, lowered);
    let watched = leads && !args.quiet && output::errors_are_watched();
    let mut live = RunProgress::new(lowered.setup.duration, watched);
    ranks.into_iter().for_each(|ranks| run.over(ranks));
    let mut begun = run.begin(folder, interrupt::stop())?;
    if let Some(warning) = begun.simulation().cut().filter(|_| leads && !args.quiet).and_then(|cut| cut.warning()) {
        output::note(&format!("warning: {warning}"));
    }
    begun.run(&mut live);
    let finished = begun.finish(&mut live, RunOptions::default());
    live.clear();
    if !leads {
        return finished.map(|_| Exit::Done).map_err(Failure::Lab);
    }
    let FinishedRun { summary: found, timing, folder } = finished?;
    if let (Some(requested), Some(folder)) = (&args.out, &folder)
        && folder.components().ne(requested.components())
    {
        // A partial result does not replace a complete one: it was written to another folder.
        output::note(&format!(
            "{} holds a whole result and stays; that of this interrupted run is in {}",
            requested.display(),
            folder.display()
        ));
    }
    // On a terminal, the printed summary contains the warnings already.
    if !args.quiet && (args.json || !output::output_is_watched()) {
        found.warnings.iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    }
    if args.json {
        output::print(&found.to_json())?;
    } else if !args.quiet {
        output::show(&summary::text(&found, &timing, &about.view(folder.as_deref())))?;
    }
    Ok(exit(&found))
}

/// Returns the exit code for the summary of a run.
pub fn exit(summary: &Summary) -> Exit {
    exit_of(summary.partial, summary.passes())
}

/// Returns the exit code of a run: `partial` if it was interrupted, `passes` if all its checks passed.
pub fn exit_of(partial: bool, passes: bool) -> Exit {
    match (partial, passes) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::CheckFailed,
    }
}

/// Properties of the run that the printed summary needs, copied before the simulation takes ownership of the setup.
struct Described {
    description: Option<String>,
    fabric: String,
    traffic: Vec<String>,
    command: String,
}

impl Described {
    fn of(args: &RunArgs, lowered: &Lowered) -> Described {
        Described {
            description: lowered.description.clone(),
            fabric: lowered.fabric_text.clone(),
            traffic: lowered.traffic_text.clone(),
            command: again(&args.scenario.scenario, &args.scenario.set, lowered.setup.seed),
        }
    }

    fn view(&self, folder: Option<&Path>) -> summary::RunFacts<'_> {
        summary::RunFacts {
            description: self.description.as_deref(),
            fabric: &self.fabric,
            traffic: &self.traffic,
            command: &self.command,
            folder: folder.map(|folder| folder.display().to_string()),
        }
    }
}

/// Returns a command line that reproduces the result.
fn again(path: &Path, set: &[Override], seed: u64) -> String {
    let mut command = format!("tidegate run {}", quoted(&path.display().to_string()));
    for change in set {
        command.push_str(&format!(" --set {}", quoted(&format!("{}={}", change.key, change.value))));
    }
    command.push_str(&format!(" --seed {seed}"));
    command
}
