//! Reproduction of experiments from papers. Each check compares a measured number with a number from the paper.
//!
//! ```text
//!  experiments/<paper>/<name>.toml --include_str!--> Trial::run (sweeps, overrides) --> checks, tables
//!  registry: id, title, source, seconds, open choices, fn(&mut Trial)
//! ```

mod bg;
mod check;
mod deadlock;
mod dtscoe;
mod equations;
pub mod errata;
mod failure;
mod florax;
mod growth;
pub mod mutation;
mod pabo;
mod papers;
mod physics;
mod plot;
pub mod print;
mod rates;
mod red;
mod registry;
pub mod search;
mod tagger;
mod trial;
mod trim;

pub use check::{Check, Kind, Outcome, Relation};
pub use failure::Failure;
pub use papers::{SPACES, experiments};
pub use print::Result as Found;
pub use registry::{Choice, Experiment, Source};
use std::time::Instant;
pub use trial::Trial;

/// Runs an experiment, shortened if `quick` is set, optionally with one alternative value of an unspecified parameter.
///
/// # Errors
/// If a scenario is invalid or does not describe a valid network, which is an error in this crate or in the
/// alternative.
pub fn run(
    experiment: &'static Experiment,
    quick: bool,
    choice: Option<(&'static Choice, &'static str)>,
) -> Result<Found, Failure> {
    #[expect(clippy::disallowed_methods, reason = "how long it took is printed, and is no result")]
    let started = Instant::now();
    let mut trial = Trial::new(quick, choice);
    (experiment.run)(&mut trial)?;
    Ok(Found { experiment, seconds: started.elapsed().as_secs_f64(), trial, under: Vec::new() })
}

/// Returns the experiments with these names (of papers or of single experiments) in run order; all if `names` is empty.
///
/// # Errors
/// [`Failure::Unknown`] for a name that is neither a paper nor an experiment.
pub fn choose(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let fits = |experiment: &Experiment, name: &str| {
        let name = name.trim_end_matches('/');
        experiment.id == name || experiment.id.split_once('/').is_some_and(|(paper, _)| paper == name)
    };
    for name in names {
        if !experiments().any(|experiment| fits(experiment, name)) {
            return Err(Failure::Unknown { name: name.clone(), known: known(name) });
        }
    }
    let wanted = |experiment: &&Experiment| names.is_empty() || names.iter().any(|name| fits(experiment, name));
    Ok(experiments().filter(wanted).collect())
}

/// Returns the available names as a sentence for the error: the experiments of the paper that `name` begins with, or
/// all papers.
fn known(name: &str) -> String {
    let paper = |id: &'static str| id.split_once('/').map_or(id, |(paper, _)| paper);
    let paper_name = name.split('/').next().unwrap_or_default();
    let of_paper: Vec<&str> =
        experiments().map(|experiment| experiment.id).filter(|id| paper(id) == paper_name).collect();
    if !of_paper.is_empty() {
        return format!("there are {}", of_paper.join(", "));
    }
    let mut papers: Vec<&str> = experiments().map(|experiment| paper(experiment.id)).collect();
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
            [
                "bg/fig1.1",
                "bg/fig1.2",
                "bg/fig1.3",
                "bg/fig1.4",
                "bg/fig1.6",
                "bg/fig1.7",
                "bg/fig1.9",
                "bg/fig1.10",
                "bg/family"
            ]
        );
        assert_eq!(ids(&[]).unwrap().len(), experiments().count());
        assert!(ids(&["bg/fig1"]).is_err(), "a part of a name is not a name");
        assert!(ids(&["bg", "nothing"]).unwrap_err().to_string().contains("`nothing`"));
        assert!(known("deadlock/star").starts_with("there are deadlock/ring"), "{}", known("deadlock/star"));
        assert!(known("nothing").starts_with("there are bg, pabo, physics, deadlock,"), "{}", known("nothing"));
    }

    /// `tidegate run` can run each scenario of each experiment unchanged.
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

    /// Runs the fast experiments in shortened form, and checks the JSON object that `reproduce` prints.
    #[test]
    fn quick_experiments_hold_and_print_the_promised_object() {
        let results: Vec<Found> = ["physics/lone-flow", "deadlock/ring"]
            .iter()
            .map(|id| run(choose(&[(*id).to_owned()]).unwrap()[0], true, None).unwrap())
            .collect();
        assert!(results.iter().all(Found::passes), "{}", print::json(&results));
        let value: serde_json::Value = serde_json::from_str(&print::json(&results)).unwrap();
        let first = &value["experiments"][0];
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&value), ["experiments", "version"]);
        assert_eq!(keys(first), ["checks", "id", "pass", "seconds", "source", "title"]);
        let check = [
            "judged",
            "kind",
            "known",
            "name",
            "not_judged",
            "note",
            "ours",
            "paper",
            "pass",
            "relation",
            "tolerance",
            "unit",
        ];
        assert_eq!(keys(&first["checks"][0]), check);
    }
}
