//! Mutation testing of the claims: changes one numeric parameter of a paper's scenarios by 20 %, and checks whether a
//! claim then fails.
//!
//! ```text
//!  unchanged run of each experiment --> claims that hold, numeric parameters
//!  each parameter x {-20 %, +20 %}  --> experiments that have it, the fastest first, until one of these claims fails
//! ```
//!
//! A parameter without an effect on any result is not a parameter of a claim, and is counted apart. A parameter with an
//! effect that no claim depends on is not tested by the claims.

mod report;

use crate::check::{Kind, Outcome};
use crate::digest;
use crate::failure::Failure;
use crate::papers::choose;
pub use crate::parameters::Mutation;
use crate::parameters::{CHANGES_PERCENT, Parameters, can_change};
use crate::registry::Experiment;
use crate::trial::Trial;
pub use report::MutationReport;
use serde::Serialize;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

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
    /// The results of an experiment differ, and no claim that holds with the unchanged parameters fails.
    NotCaught,
    /// Every experiment with this parameter has the same results as with the unchanged parameters: no claim depends on
    /// it.
    None,
    /// At least one experiment with this parameter returns an error (such as an invalid scenario) or panics, and every
    /// other one has the same results as with the unchanged parameters.
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
    digest: u64,
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
        digest::start();
        (experiment.run)(&mut trial)?;
        let Parameters::Listed { found, .. } = trial.parameters() else { unreachable!("set two lines above") };
        let parameters = found.borrow().clone();
        let (holding, digest) = (claims(&trial, Outcome::Holds), digest::of(&trial));
        Ok(Baseline { experiment, holding, digest, parameters })
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
            let possible =
                CHANGES_PERCENT.into_iter().filter(|&percent| values.iter().any(|value| can_change(value, percent)));
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
        let (mut refused, mut is_judged, mut is_equal) = (None, false, true);
        let with_parameter = self.baselines.iter().filter(|baseline| baseline.parameters.contains_key(&mutation.key));
        for baseline in with_parameter {
            let (mutation, citation) = (mutation.clone(), self.citation);
            let parameters = Parameters::Mutated { mutation, citation };
            let mut trial = Trial::with_parameters(self.quick, parameters);
            // An experiment may panic, because it may assume properties of its unchanged scenarios, such as a number
            // of samples.
            digest::start();
            let result = catch_unwind(AssertUnwindSafe(|| (baseline.experiment.run)(&mut trial)));
            match result {
                Ok(Ok(())) => is_judged = true,
                Ok(Err(failure)) => {
                    refused.get_or_insert_with(|| format!("{}: {failure}", baseline.experiment.id));
                    continue;
                }
                Err(_) => {
                    refused.get_or_insert_with(|| format!("{}: ends with a panic", baseline.experiment.id));
                    continue;
                }
            }
            is_equal &= digest::of(&trial) == baseline.digest;
            let failing = claims(&trial, Outcome::Fails);
            if let Some(claim) = baseline.holding.intersection(&failing).next() {
                return Effect::Caught { experiment: baseline.experiment.id.to_owned(), claim: claim.clone() };
            }
        }
        match refused {
            Some(error) if is_equal => Effect::Refused { error },
            None if is_judged && is_equal => Effect::None,
            _ => Effect::NotCaught,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of classes and the duration are not mutated.
    /// The completion time of one flow over one link depends on the payload of its frames.
    #[test]
    fn a_changed_payload_is_caught_and_a_name_is_not_mutated() {
        let paper = Paper::run("physics/lone-flow", true).unwrap();
        let mutations = paper.mutations();
        assert!(mutations.iter().all(|mutation| !mutation.key.ends_with("class") && mutation.key != "duration"));
        let payload = Mutation { key: "host.transport.payload".to_owned(), percent: -20 };
        assert!(mutations.contains(&payload), "{mutations:?}");
        assert!(matches!(paper.judge(&payload), Effect::Caught { .. }), "{:?}", paper.judge(&payload));
        // The experiment measures one flow, so a parameter of lost frames has no effect.
        let timeout = mutations.iter().find(|mutation| mutation.key == "host.transport.timeout");
        assert_eq!(timeout.map(|mutation| paper.judge(mutation)), Some(Effect::None), "{mutations:?}");
        let unknown = Mutation { key: "host.transport.none".to_owned(), percent: -20 };
        assert_eq!(paper.judge(&unknown), Effect::NotCaught);
    }

    static REFUSING: Experiment = Experiment {
        id: "physics/refusing",
        title: "",
        source: "",
        seconds: 0,
        quick_seconds: 0,
        choices: &[],
        run: |_| Err(Failure::input("refused", "")),
    };

    /// A mutation that one experiment refuses and that changes no result of the others has no known effect.
    #[test]
    fn a_refusal_beside_unchanged_results_is_not_an_effect() {
        let mut paper = Paper::run("physics/lone-flow", true).unwrap();
        let parameters = paper.baselines[0].parameters.clone();
        let refusing = Baseline { experiment: &REFUSING, holding: BTreeSet::new(), digest: 0, parameters };
        paper.baselines.push(refusing);
        let timeout = Mutation { key: "host.transport.timeout".to_owned(), percent: -20 };
        let error = "physics/refusing: refused".to_owned();
        assert_eq!(paper.judge(&timeout), Effect::Refused { error });
        // Other results than those of the baseline are an effect.
        paper.baselines[0].digest ^= 1;
        assert_eq!(paper.judge(&timeout), Effect::NotCaught);
        let payload = Mutation { key: "host.transport.payload".to_owned(), percent: -20 };
        assert!(matches!(paper.judge(&payload), Effect::Caught { .. }));
    }
}
