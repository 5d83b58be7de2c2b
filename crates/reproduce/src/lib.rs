//! Reproduction of experiments from papers. Each check compares a measured number with a number from the paper.
//!
//! ```text
//!  experiments/<paper>/<name>.toml --include_str!--> Trial::run (sweeps, overrides) --> checks, tables
//!  registry: id, title, source, seconds, open choices, fn(&mut Trial)
//! ```

mod bg;
mod check;
mod deadlock;
mod digest;
mod dtscoe;
mod equations;
pub mod errata;
mod failure;
mod florax;
mod growth;
pub mod mutation;
mod pabo;
mod papers;
mod parameters;
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
pub use papers::{SPACES, choose, experiments};
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
    // Lists of expected failures and mutations identify claims by name.
    debug_assert!(trial.has_unique_claims(), "{}: two claims have one name", experiment.id);
    Ok(Found { experiment, seconds: started.elapsed().as_secs_f64(), trial, under: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::known;

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
        for found in &results {
            let kinds = || found.trial.checks.iter().map(|check| check.kind);
            assert!(kinds().any(|kind| kind == Kind::Claim), "{} judges no claim", found.experiment.id);
            assert!(kinds().any(|kind| kind == Kind::Consistency), "{} has negative controls", found.experiment.id);
        }
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
