//! Numeric parameters of the scenarios of a trial: collected, or one of them changed.

mod scale;

use scale::scaled;
use scenario::{Lowered, Origin, Scenario};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

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

/// Returns `true` if a change by `percent` gives another valid number for this value.
pub(crate) fn can_change(value: &str, percent: i32) -> bool {
    scaled(value, percent).is_some()
}
