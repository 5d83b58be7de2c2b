//! Mutation testing of the claims: changes one numeric parameter of a paper's scenarios by 20 %, and checks whether a
//! claim then fails.
//!
//! ```text
//!  unchanged run of each experiment --> claims that hold, numeric parameters
//!  each parameter x {-20 %, +20 %}  --> experiments that have it, the fastest first, until one of these claims fails
//! ```
//!
//! A parameter that no claim depends on is either irrelevant to the paper, or not tested by the claims.

mod report;
mod scale;

use crate::check::{Kind, Outcome};
use crate::registry::Experiment;
use crate::trial::Trial;
use crate::{Failure, choose};
pub use report::MutationReport;
use scale::scaled;
use scenario::{Lowered, Origin, Scenario};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Relative changes of a parameter, in percent.
pub const CHANGES_PERCENT: [i32; 2] = [-20, 20];

/// Prefixes of keys that are no quantities of the model: duration, threads, measurement, and the seed of ECMP hashing.
const NOT_MUTATED: [&str; 7] = ["duration", "until", "threads", "measure.", "record.", "check.", "routing.hash_seed"];
const NAMES: [&str; 7] = ["seed", "class", "priority", "priorities", "port", "dst_port", "egress_class"];

/// Handling of the numeric parameters of a trial's scenarios.
#[derive(Debug)]
pub(crate) enum Parameters {
    /// Scenarios run unchanged.
    Unchanged,
    /// Scenarios run unchanged, and their numeric parameters are collected.
    Listed {
        /// A default is a parameter of the paper if its source starts with this text.
        citation: &'static str,
        /// Distinct values of each parameter in all scenarios, by key.
        found: RefCell<BTreeMap<String, BTreeSet<String>>>,
    },
    /// One parameter is changed in every scenario that has it.
    Mutated {
        /// The parameter and its relative change.
        mutation: Mutation,
        /// A default is a parameter of the paper if its source starts with this text.
        citation: &'static str,
    },
}

impl Parameters {
    /// With [`Parameters::Listed`], collects the parameters of a scenario. With [`Parameters::Mutated`], returns the
    /// override of the changed parameter, if the scenario has this parameter.
    pub(crate) fn change(&self, scenario: &Scenario, lowered: &Lowered) -> Option<(String, String)> {
        match self {
            Parameters::Unchanged => None,
            Parameters::Listed { citation, found } => {
                let mut found = found.borrow_mut();
                for (key, value) in numeric(scenario, lowered, citation) {
                    found.entry(key).or_default().insert(value);
                }
                None
            }
            Parameters::Mutated { mutation, citation } => {
                let (key, value) =
                    numeric(scenario, lowered, citation).into_iter().find(|(key, _)| *key == mutation.key)?;
                Some((key, scaled(&value, mutation.percent)?))
            }
        }
    }
}

/// Returns the numeric parameters of a scenario, as (key, value): those that the scenario sets, and those whose default
/// has a source that starts with `citation`.
fn numeric(scenario: &Scenario, lowered: &Lowered, citation: &str) -> Vec<(String, String)> {
    let is_cited = |origin: &Origin| match origin {
        Origin::Default { source } => !citation.is_empty() && source.starts_with(citation),
        _ => false,
    };
    let cited = lowered.explain.iter().filter(|entry| is_cited(&entry.origin));
    let cited = cited.map(|entry| (entry.key.clone(), entry.value.clone()));
    let is_quantity = |key: &str| {
        let last = key.rsplit('.').next().unwrap_or(key);
        let is_name = NAMES.contains(&last) || last.ends_with("_class") || last.ends_with("_priority");
        !is_name && !NOT_MUTATED.iter().any(|excluded| key.starts_with(excluded))
    };
    let mut all: Vec<(String, String)> = scenario.written();
    all.extend(cited);
    all.retain(|(key, value)| {
        is_quantity(key) && CHANGES_PERCENT.iter().any(|&percent| scaled(value, percent).is_some())
    });
    all
}

/// Change of one parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mutation {
    /// Key of the parameter, as in `--set`.
    pub key: String,
    /// Relative change, in percent.
    pub percent: i32,
}

/// Effect of a mutation on the claims of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "effect")]
pub enum Effect {
    /// A claim that holds with the unchanged parameters fails.
    Caught {
        /// Id of the experiment: `paper/experiment`.
        experiment: String,
        /// Name of the claim that fails.
        claim: String,
    },
    /// No claim that holds with the unchanged parameters fails.
    NotCaught,
    /// No claim fails, but an experiment returns an error (such as an invalid scenario) or panics.
    Refused {
        /// Error of the first such experiment.
        error: String,
    },
}

/// Results of one experiment with unchanged parameters: claims that hold, and values by parameter.
#[derive(Debug)]
struct Baseline {
    experiment: &'static Experiment,
    holding: BTreeSet<String>,
    parameters: BTreeMap<String, BTreeSet<String>>,
}

/// Results of the experiments of a paper with unchanged parameters.
#[derive(Debug)]
pub struct Paper {
    /// Name of the paper, the first part of the ids of its experiments.
    pub name: String,
    quick: bool,
    citation: &'static str,
    /// In ascending order of the wall-clock duration.
    baselines: Vec<Baseline>,
}

/// Returns the text with which the source of a default starts if the default is taken from `paper`; empty for papers
/// that define no mechanism.
fn citation(paper: &str) -> &'static str {
    match paper.split('/').next().unwrap_or(paper) {
        "bg" | "eccp" | "hetflow" | "dtscoe" | "fluid" => "thesis",
        "pabo" => "PABO",
        "tagger" => "Tagger",
        "trim" => "Popa et al.",
        "florax" => "FLORAX",
        "irn" => "IRN",
        _ => "",
    }
}

/// Returns the names of the claims with this outcome.
fn claims(trial: &Trial, outcome: Outcome) -> BTreeSet<String> {
    let wanted = trial.checks.iter().filter(|check| check.kind == Kind::Claim && check.outcome() == outcome);
    wanted.map(|check| check.name.clone()).collect()
}

impl Paper {
    fn baseline(experiment: &'static Experiment, quick: bool, citation: &'static str) -> Result<Baseline, Failure> {
        let mut trial = Trial::with_parameters(quick, Parameters::Listed { citation, found: RefCell::default() });
        (experiment.run)(&mut trial)?;
        let Parameters::Listed { found, .. } = trial.parameters() else { unreachable!("set two lines above") };
        let parameters = found.borrow().clone();
        Ok(Baseline { experiment, holding: claims(&trial, Outcome::Holds), parameters })
    }

    /// Runs the experiments with unchanged parameters. `name` is the name of a paper, or the id of one experiment.
    ///
    /// # Errors
    /// An unknown name, or an error of an experiment.
    pub fn run(name: &str, quick: bool) -> Result<Paper, Failure> {
        let citation = citation(name);
        let experiments = choose(&[name.to_owned()])?;
        let mut baselines = experiments
            .into_iter()
            .map(|experiment| Paper::baseline(experiment, quick, citation))
            .collect::<Result<Vec<_>, _>>()?;
        let seconds = |of: &Baseline| if quick { of.experiment.quick_seconds } else { of.experiment.seconds };
        baselines.sort_by_key(seconds);
        Ok(Paper { name: name.to_owned(), quick, citation, baselines })
    }

    /// Returns all mutations, ordered by key.
    pub fn mutations(&self) -> Vec<Mutation> {
        let mut all: BTreeSet<Mutation> = BTreeSet::new();
        for (key, values) in self.baselines.iter().flat_map(|baseline| &baseline.parameters) {
            let possible = CHANGES_PERCENT
                .into_iter()
                .filter(|&percent| values.iter().any(|value| scaled(value, percent).is_some()));
            all.extend(possible.map(|percent| Mutation { key: key.clone(), percent }));
        }
        all.into_iter().collect()
    }

    /// Returns the number of claims that hold with the unchanged parameters.
    pub fn claims(&self) -> usize {
        self.baselines.iter().map(|baseline| baseline.holding.len()).sum()
    }

    /// Returns the values of a parameter in the unchanged scenarios.
    fn values(&self, key: &str) -> BTreeSet<String> {
        self.baselines.iter().filter_map(|baseline| baseline.parameters.get(key)).flatten().cloned().collect()
    }

    /// Runs those experiments whose scenarios have the parameter, with `mutation` applied, until a claim fails that
    /// holds without it.
    pub fn judge(&self, mutation: &Mutation) -> Effect {
        let mut refused = None;
        let with_parameter = self.baselines.iter().filter(|baseline| baseline.parameters.contains_key(&mutation.key));
        for baseline in with_parameter {
            let (mutation, citation) = (mutation.clone(), self.citation);
            let parameters = Parameters::Mutated { mutation, citation };
            let mut trial = Trial::with_parameters(self.quick, parameters);
            // An experiment may panic, because it may assume properties of its unchanged scenarios, such as a number
            // of samples.
            let result = catch_unwind(AssertUnwindSafe(|| (baseline.experiment.run)(&mut trial)));
            match result {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => {
                    refused.get_or_insert_with(|| format!("{}: {failure}", baseline.experiment.id));
                    continue;
                }
                Err(_) => {
                    refused.get_or_insert_with(|| format!("{}: ends with a panic", baseline.experiment.id));
                    continue;
                }
            }
            let failing = claims(&trial, Outcome::Fails);
            if let Some(claim) = baseline.holding.intersection(&failing).next() {
                return Effect::Caught { experiment: baseline.experiment.id.to_owned(), claim: claim.clone() };
            }
        }
        refused.map_or(Effect::NotCaught, |error| Effect::Refused { error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One flow between two hosts: its completion time depends on the rate of the links, so reducing the rate by 20 %
    /// makes a claim fail. Keys of classes and the duration are not mutated.
    #[test]
    fn a_changed_link_rate_is_caught_and_a_name_is_not_mutated() {
        let paper = Paper::run("physics/lone-flow", true).unwrap();
        let mutations = paper.mutations();
        assert!(mutations.iter().all(|mutation| !mutation.key.ends_with("class") && mutation.key != "duration"));
        let rate = Mutation { key: "fabric.link.rate".to_owned(), percent: -20 };
        assert!(mutations.contains(&rate), "{mutations:?}");
        assert!(matches!(paper.judge(&rate), Effect::Caught { .. }), "{:?}", paper.judge(&rate));
    }
}
