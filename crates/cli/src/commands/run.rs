//! `tidegate run`: one simulation.

use crate::arguments::{self, Override, ScenarioArgs, quoted};
use crate::execute::{self, All, Finished, Live};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output;
use crate::progress::RunProgress;
use crate::recorder::Recorder;
use crate::render::{explain, summary};
use model::Watcher;
use record::flows::FctFormat;
use record::folder::ResultFolder;
use record::summary::Summary;
use scenario::{Lowered, Scenario};
use std::path::{Path, PathBuf};

/// Run one simulation: a readable summary, and files in the folder that --out names.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub struct RunArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Seed of every random stream, instead of the scenario's.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Threads, instead of the scenario's; results are the same for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Write the result into this folder, which appears whole or not at all. An earlier result is replaced.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print every value in force with where it comes from, and do not run.
    #[arg(long)]
    explain: bool,
    /// Print summary.json on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
    /// No progress and no summary: errors and the exit code only.
    #[arg(long, short)]
    quiet: bool,
}

/// What the exit codes of a run mean.
pub const EXITS: &str = "\
Exit codes: 0 done and every check holds; 1 a check failed (a lossless class lost a frame, a deadlock that
the scenario did not expect); 2 the input is wrong; 3 the machine failed (disk, memory); 130 interrupted,
with a valid partial result.";

/// Runs the command.
///
/// # Errors
/// Wrong input, and a machine that fails.
pub fn command(args: &RunArgs) -> Result<Exit, Failure> {
    let path = &args.scenario.scenario;
    let scenario = arguments::read(path, &args.scenario.set, args.seed)?;
    let mut lowered = arguments::lower(&scenario, path)?;
    if let Some(threads) = args.threads {
        // Not an override: what results hold must not depend on it.
        lowered.setup.threads = threads.into();
    }
    if args.explain {
        let text = if args.json { format!("{:#}\n", explain::json(&lowered)) } else { explain::text(&lowered) };
        return output::print(&text).map(|()| Exit::Done);
    }
    let result = match &args.out {
        None => None,
        Some(target) => {
            let wrong = |error| Failure::Target { target: target.clone(), error };
            let folder = ResultFolder::create(target).map_err(wrong)?;
            let recorder = Recorder::create(&folder, &lowered, fct_format(&scenario, path)).map_err(wrong)?;
            Some((folder, recorder))
        }
    };
    let Described { about, extra } = Described::of(args, &scenario, &lowered);
    let Lowered { name, hash, setup, expect_deadlock, warnings, .. } = lowered;
    let identity = execute::identity(&name, &hash, setup.seed);
    interrupt::listen();
    let mut live = Live(RunProgress::new(setup.duration, !args.quiet && output::errors_are_watched()));
    let (folder, mut recorder) = result.unzip();
    let mut watchers: Vec<&mut dyn Watcher> = vec![&mut live];
    watchers.extend(recorder.as_mut().map(|recorder| recorder as &mut dyn Watcher));
    let finished = execute::simulate(setup, expect_deadlock, identity, path, &mut All(watchers));
    live.0.clear();
    let Finished { summary: mut found, timing } = finished?;
    found.warnings.splice(0..0, warnings.iter().map(ToString::to_string));
    recorder.map_or(Ok(()), Recorder::close)?;
    match folder {
        Some(folder) => {
            for (name, content) in &extra {
                folder.write(name, content.as_bytes())?;
            }
            folder.finish(&mut found, &timing)?;
        }
        None => found.results_hash = execute::summary_hash(&found),
    }
    if args.json {
        output::print(&found.to_json())?;
    } else if !args.quiet {
        output::print(&summary::text(&found, &timing, &about.view()))?;
    }
    Ok(exit(&found))
}

/// What a summary means for the shell.
pub fn exit(summary: &Summary) -> Exit {
    match (summary.partial, summary.passes()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::CheckFailed,
    }
}

/// What must be known before the run takes the setup with it.
struct Described {
    about: Owned,
    /// Name and content of the files that do not depend on the run.
    extra: Vec<(&'static str, String)>,
}

/// [`summary::About`] with texts of its own.
struct Owned {
    description: Option<String>,
    fabric: String,
    traffic: Vec<String>,
    command: String,
    folder: Option<String>,
}

impl Owned {
    fn view(&self) -> summary::About<'_> {
        summary::About {
            description: self.description.as_deref(),
            fabric: &self.fabric,
            traffic: &self.traffic,
            command: &self.command,
            folder: self.folder.clone(),
        }
    }
}

impl Described {
    fn of(args: &RunArgs, scenario: &Scenario, lowered: &Lowered) -> Described {
        let about = Owned {
            description: lowered.description.clone(),
            fabric: lowered.fabric_text.clone(),
            traffic: lowered.traffic_text.clone(),
            command: again(&args.scenario.scenario, &args.scenario.set, lowered.setup.seed),
            folder: args.out.as_ref().map(|out| out.display().to_string()),
        };
        let extra = match &args.out {
            None => Vec::new(),
            Some(_) => result_files(scenario, lowered, &args.scenario.set),
        };
        Described { about, extra }
    }
}

/// The scenario as it was and every value in force: files of every result.
pub fn result_files(scenario: &Scenario, lowered: &Lowered, set: &[Override]) -> Vec<(&'static str, String)> {
    let mut text = String::new();
    for change in set.iter().filter(|change| change.key != "threads") {
        text.push_str(&format!(
            "# changed on the command line: --set {}\n",
            quoted(&format!("{}={}", change.key, change.value))
        ));
    }
    text.push_str(scenario.text());
    vec![("scenario.toml", text), ("explain.txt", explain::text(lowered))]
}

/// The command that gives the same result again.
fn again(path: &Path, set: &[Override], seed: u64) -> String {
    let mut command = format!("tidegate run {}", quoted(&path.display().to_string()));
    for change in set {
        command.push_str(&format!(" --set {}", quoted(&format!("{}={}", change.key, change.value))));
    }
    command.push_str(&format!(" --seed {seed}"));
    command
}

/// A replayed flow file decides in which of the field's two forms its completion times are written: five
/// columns are conweave's, six HPCC's, which is also the form without a replay.
pub fn fct_format(scenario: &Scenario, path: &Path) -> FctFormat {
    let folder = path.parent().unwrap_or(Path::new(""));
    let replayed = |key: &str| key.starts_with("traffic.") && key.ends_with(".file");
    let five = scenario.explain().iter().filter(|value| replayed(&value.key)).any(|value| {
        let text = std::fs::read_to_string(folder.join(&value.value)).unwrap_or_default();
        // The first line is the number of flows.
        let flow = text.lines().filter(|line| !line.trim().is_empty()).nth(1);
        flow.is_some_and(|line| line.split_whitespace().count() == 5)
    });
    if five { FctFormat::Conweave } else { FctFormat::Hpcc }
}
