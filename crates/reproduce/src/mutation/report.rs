//! Report of the mutations of one paper.

use super::{Effect, Mutation, Paper};
use crate::parameters::CHANGES_PERCENT;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use text::{Layout, table};

/// Result of all mutations of one paper.
#[derive(Debug, Serialize)]
pub struct MutationReport {
    paper: String,
    quick: bool,
    /// Number of claims that hold with the unchanged parameters.
    claims: usize,
    caught: usize,
    not_caught: usize,
    /// Number of mutations without an effect on any result.
    no_effect: usize,
    refused: usize,
    /// Number of mutations that were not run because the program was interrupted.
    not_run: usize,
    mutations: Vec<Mutated>,
}

#[derive(Debug, Serialize)]
struct Mutated {
    #[serde(flatten)]
    mutation: Mutation,
    /// Values of the parameter in the unchanged scenarios of the paper.
    values: Vec<String>,
    #[serde(flatten)]
    effect: Effect,
}

impl MutationReport {
    /// Creates the report. `effects` contains the mutations that were run, out of `planned` mutations.
    pub fn new(paper: &Paper, effects: Vec<(Mutation, Effect)>, planned: usize) -> MutationReport {
        let not_run = planned - effects.len();
        let count = |wanted: fn(&Effect) -> bool| effects.iter().filter(|(_, effect)| wanted(effect)).count();
        let caught = count(|effect| matches!(effect, Effect::Caught { .. }));
        let not_caught = count(|effect| matches!(effect, Effect::NotCaught));
        let no_effect = count(|effect| matches!(effect, Effect::None));
        let refused = count(|effect| matches!(effect, Effect::Refused { .. }));
        let mutated = |(mutation, effect): (Mutation, Effect)| {
            let values = paper.values(&mutation.key).into_iter().collect();
            Mutated { mutation, values, effect }
        };
        let mutations = effects.into_iter().map(mutated).collect();
        let (claims, quick, paper) = (paper.claims(), paper.quick, paper.name.clone());
        MutationReport { paper, quick, claims, caught, not_caught, no_effect, refused, not_run, mutations }
    }

    /// Returns the report as text: a table with one row per parameter, and the proportion of mutations that make a
    /// claim fail, among those that have an effect and are not refused.
    pub fn text(&self) -> String {
        let mut rows: BTreeMap<&str, (&[String], BTreeMap<i32, &Effect>)> = BTreeMap::new();
        for mutated in &self.mutations {
            let row = rows.entry(&mutated.mutation.key).or_insert((&mutated.values, BTreeMap::new()));
            row.1.insert(mutated.mutation.percent, &mutated.effect);
        }
        let cell = |effect: Option<&&Effect>| match effect {
            Some(Effect::Caught { experiment, .. }) => experiment.clone(),
            Some(Effect::NotCaught) => "NOT CAUGHT".to_owned(),
            Some(Effect::None) => "no effect".to_owned(),
            Some(Effect::Refused { .. }) => "refused".to_owned(),
            None => "-".to_owned(),
        };
        let value = |values: &[String]| match values {
            [one] => one.clone(),
            [first, .., last] => format!("{first} ... {last}, {} values", values.len()),
            [] => String::new(),
        };
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .map(|(key, (values, effects))| {
                let cells = CHANGES_PERCENT.map(|percent| cell(effects.get(&percent)));
                [key.to_owned(), value(values)].into_iter().chain(cells).collect()
            })
            .collect();
        let mut text = table(&["parameter", "value", "-20 %", "+20 %"], &rows, 4, Layout::Fixed, 0);
        for mutated in &self.mutations {
            if let Effect::Refused { error } = &mutated.effect {
                let Mutation { key, percent } = &mutated.mutation;
                let _ = writeln!(text, "refused: {key} {percent:+} %: {}", error.lines().next().unwrap_or_default());
            }
        }
        let judged = self.caught + self.not_caught;
        let share = if judged > 0 { 100.0 * self.caught as f64 / judged as f64 } else { 0.0 };
        let _ = writeln!(
            text,
            "{}: {} of {judged} mutations with an effect make one of {} claims fail ({share:.0} %); {} without an \
             effect, {} refused{}",
            self.paper,
            self.caught,
            self.claims,
            self.no_effect,
            self.refused,
            if self.quick { "; shortened runs" } else { "" },
        );
        if self.not_run > 0 {
            let _ = writeln!(text, "{} mutations were not run: interrupted", self.not_run);
        }
        text
    }
}
