//! `tidegate reproduce`: the papers' experiments, each check beside the paper's number.
//!
//! ```text
//!  experiments/<paper>/<name>.toml --include_str!--> Trial::run (sweeps, overrides) --> checks, tables
//!  registry: id, title, source, seconds, open choices, fn(&mut Trial)
//! ```

mod bg;
mod check;
mod deadlock;
mod florax;
mod growth;
mod lines;
mod pabo;
mod physics;
mod plot;
mod print;
mod red;
mod registry;
mod tagger;
mod trial;
mod trim;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use record::files::{Earlier, check_files, write_files};
use registry::Experiment;
use std::path::{Path, PathBuf};
use std::time::Instant;
use trial::Trial;

/// Rerun the papers' experiments, each check beside the paper's number.
#[derive(Debug, clap::Args)]
pub struct ReproduceArgs {
    /// Papers or single experiments, such as `bg` or `bg/fig1.4`; all without.
    #[arg(value_name = "PAPER[/EXPERIMENT]")]
    pub experiments: Vec<String>,
    /// List ids, titles and expected seconds instead.
    #[arg(long)]
    pub list: bool,
    /// Shorten what is long, and say what was shortened.
    #[arg(long)]
    pub quick: bool,
    /// Rerun the checks under the alternatives of every choice that the source leaves open.
    #[arg(long)]
    pub open_choices: bool,
    /// Write the pictures of experiments that draw some into this folder, as SVG.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// No progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What the list of files in a folder of pictures calls it.
const PICTURES: &str = "reproduce --plots";

/// Runs the command: 0 if every check holds, 1 if one fails, 2 for an experiment that is not known.
pub fn command(args: &ReproduceArgs) -> Exit {
    match reproduce(args) {
        Ok(exit) => exit,
        Err(failure) => {
            failure.report();
            failure.exit()
        }
    }
}

fn reproduce(args: &ReproduceArgs) -> Result<Exit, Failure> {
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
            output::print(&print::result(&result))?;
        }
        results.push(result);
    }
    if args.json {
        output::print(&print::json(&results))?;
    } else {
        output::print(&print::totals(&results))?;
    }
    // An alternative to what we chose may well fail: that is what it is shown for.
    Ok(if results.iter().all(print::Result::passes) { Exit::Done } else { Exit::CheckFailed })
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
    choice: Option<(&'static registry::Choice, &'static str)>,
) -> Result<print::Result, Failure> {
    if !args.quiet && output::errors_are_watched() {
        let what = choice.map_or(String::new(), |(choice, value)| format!(", {} = {value}", choice.key));
        let seconds = if args.quick { experiment.quick_seconds } else { experiment.seconds };
        output::note(&format!("{}{what}: about {seconds} s ...", experiment.id));
    }
    let started = Instant::now();
    let mut trial = Trial::new(args.quick, choice);
    (experiment.run)(&mut trial)?;
    Ok(print::Result { experiment, seconds: started.elapsed().as_secs_f64(), trial, under: Vec::new() })
}

/// The experiments that these arguments name, in the registry's order.
fn choose(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let fits = |experiment: &Experiment, name: &str| {
        let name = name.trim_end_matches('/');
        experiment.id == name || experiment.id.split_once('/').is_some_and(|(paper, _)| paper == name)
    };
    for name in names {
        if !registry::experiments().any(|experiment| fits(experiment, name)) {
            return Err(Failure::input(format!("there is no experiment `{name}`"), known(name)));
        }
    }
    let wanted = |experiment: &&Experiment| names.is_empty() || names.iter().any(|name| fits(experiment, name));
    Ok(registry::experiments().filter(wanted).collect())
}

/// What there is instead of `name`: the experiments of its paper, or the papers.
fn known(name: &str) -> String {
    let paper = |id: &'static str| id.split_once('/').map_or(id, |(paper, _)| paper);
    let asked = name.split('/').next().unwrap_or_default();
    let of_paper: Vec<&str> =
        registry::experiments().map(|experiment| experiment.id).filter(|id| paper(id) == asked).collect();
    if !of_paper.is_empty() {
        return format!("there are {}", of_paper.join(", "));
    }
    let mut papers: Vec<&str> = registry::experiments().map(|experiment| paper(experiment.id)).collect();
    papers.dedup();
    format!("there are {}; `reproduce --list` has their experiments", papers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paper_or_an_experiment_is_chosen_by_name() {
        let ids = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            choose(&names).map(|chosen| chosen.iter().map(|experiment| experiment.id).collect::<Vec<_>>())
        };
        assert_eq!(ids(&["bg/fig1.4"]).unwrap(), ["bg/fig1.4"]);
        assert_eq!(
            ids(&["bg"]).unwrap(),
            ["bg/fig1.1", "bg/fig1.2", "bg/fig1.3", "bg/fig1.4", "bg/fig1.7", "bg/family"]
        );
        assert_eq!(ids(&[]).unwrap().len(), registry::experiments().count());
        assert!(ids(&["bg/fig1"]).is_err(), "a part of a name is not a name");
        assert!(ids(&["bg", "nothing"]).unwrap_err().to_string().contains("`nothing`"));
        assert!(known("deadlock/star").starts_with("there are deadlock/ring"), "{}", known("deadlock/star"));
        assert!(known("nothing").starts_with("there are bg, pabo, physics, deadlock,"), "{}", known("nothing"));
    }

    /// Each scenario of each experiment is one that `tidegate run` takes as it stands.
    #[test]
    fn scenarios_stand_alone() {
        for source in registry::SCENARIOS {
            let scenario = scenario::Scenario::parse_with(
                source.text,
                source.name,
                "".as_ref(),
                &[],
                None,
                Box::new(registry::load),
            );
            let lowered = scenario.and_then(|scenario| scenario.lower());
            assert!(lowered.is_ok(), "{}: {}", source.name, lowered.unwrap_err());
        }
    }

    /// The fast ones in their shortened form: what `reproduce` promises, and the JSON that it prints.
    #[test]
    fn quick_experiments_hold_and_print_the_promised_object() {
        let args = ReproduceArgs {
            experiments: Vec::new(),
            list: false,
            quick: true,
            open_choices: false,
            plots: None,
            json: true,
            quiet: true,
        };
        let results: Vec<print::Result> = ["physics/lone-flow", "deadlock/ring"]
            .iter()
            .map(|id| one(choose(&[(*id).to_owned()]).unwrap()[0], &args, None).unwrap())
            .collect();
        assert!(results.iter().all(print::Result::passes), "{}", print::json(&results));
        let value: serde_json::Value = serde_json::from_str(&print::json(&results)).unwrap();
        let first = &value["experiments"][0];
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&value), ["experiments", "version"]);
        assert_eq!(keys(first), ["checks", "id", "pass", "seconds", "source", "title"]);
        let check =
            ["judged", "known", "name", "not_judged", "note", "ours", "paper", "pass", "relation", "tolerance", "unit"];
        assert_eq!(keys(&first["checks"][0]), check);
    }
}
