//! `reproduce --search`: varies all unspecified parameters (open choices) of a paper jointly, and judges its claims at
//! each setting.
//!
//! ```text
//!  Space: open choices x alternatives --point number--> setting --judge--> claims --> points*.jsonl
//!                                                         all points*.jsonl of a folder --> SearchReport
//! ```
//!
//! Failed claims of a figure are attributed to an open choice only if one setting satisfies all claims of the figure.

mod folder;
mod report;

pub use folder::{SearchFailure, SearchFolder};
pub use report::SearchReport;

use crate::check::{Check, Outcome};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One alternative value of an open choice.
#[derive(Debug)]
pub struct Alternative {
    /// Value in the words of the paper.
    pub label: &'static str,
    /// Keys of the scenario with their values in TOML syntax.
    pub changes: &'static [(&'static str, &'static str)],
}

/// An open choice: a parameter that a paper does not specify, or specifies in contradictory ways.
#[derive(Debug)]
pub struct OpenChoice {
    /// Name, unique in the space.
    pub name: &'static str,
    /// Section or table that leaves the choice open, or that contradicts another section.
    pub source: &'static str,
    /// At least two alternatives; the first is the value that the experiments use.
    pub alternatives: &'static [Alternative],
}

/// All open choices of a paper, and the claims that depend on them.
#[derive(Debug)]
pub struct Space {
    /// Name of the paper, as in `reproduce PAPER`.
    pub paper: &'static str,
    /// Choices that are varied jointly.
    pub choices: &'static [OpenChoice],
    /// Judges all claims at one setting.
    pub judge: fn(&Setting) -> Result<Vec<Claim>, Failure>,
}

/// A claim of the paper, compared with the measurement at one setting.
#[derive(Debug)]
pub struct Claim {
    /// Figure or equation of the paper.
    pub figure: &'static str,
    /// Comparison with the paper's number. A claim has the same name at each setting.
    pub check: Check,
}

/// One combination of alternatives, with one alternative of each choice.
#[derive(Debug)]
pub struct Setting {
    space: &'static Space,
    /// Index of the alternative of each choice.
    chosen: Vec<usize>,
}

impl Setting {
    fn pairs(&self) -> impl Iterator<Item = (&'static OpenChoice, &'static Alternative)> {
        self.space.choices.iter().zip(&self.chosen).map(|(choice, &at)| (choice, &choice.alternatives[at]))
    }

    /// Returns the label of the alternative that the choice `name` has; empty for an unknown name.
    pub fn label(&self, name: &str) -> &'static str {
        self.pairs().find(|(choice, _)| choice.name == name).map_or("", |(_, alternative)| alternative.label)
    }

    /// Returns the overrides of all choices.
    pub fn changes(&self) -> Vec<(&'static str, String)> {
        let all = self.pairs().flat_map(|(_, alternative)| alternative.changes);
        all.map(|&(key, value)| (key, value.to_owned())).collect()
    }
}

/// The result of one point, which is a line of a `points*.jsonl` file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// Number of the point.
    pub point: u64,
    /// Label of the alternative of each choice, by name of the choice.
    pub setting: BTreeMap<String, String>,
    /// Claims in the order in which they are judged.
    pub claims: Vec<ClaimResult>,
}

/// A judged claim of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// Figure or equation of the paper.
    pub figure: String,
    /// Name of the claim.
    pub claim: String,
    /// Unit of both numbers.
    pub unit: String,
    /// Relation required of `ours` to `paper`.
    pub relation: String,
    /// The paper's number.
    pub paper: f64,
    /// Measured number; `None` if there is no finite number.
    pub ours: Option<f64>,
    /// Whether the relation holds.
    pub pass: bool,
}

impl Space {
    /// Returns the number of settings.
    pub fn settings(&self) -> u64 {
        self.choices.iter().map(|choice| choice.alternatives.len() as u64).product()
    }

    /// Returns the setting of a point. Point 0 has the first alternative of each choice. The first
    /// [`settings`](Space::settings) points are all different; later points repeat them.
    pub fn setting(&'static self, point: u64) -> Setting {
        let settings = self.settings();
        // Consecutive points differ by `step` in the enumeration of all settings. The golden ratio makes them differ in
        // most choices.
        let step = coprime_near(settings, (settings as f64 * 0.618_033_988_75) as u64);
        let mut index = (u128::from(point) * u128::from(step) % u128::from(settings)) as u64;
        let chosen = self.choices.iter().map(|choice| {
            let count = choice.alternatives.len() as u64;
            let at = index % count;
            index /= count;
            at as usize
        });
        Setting { space: self, chosen: chosen.collect() }
    }

    /// Judges the claims at a point.
    ///
    /// # Errors
    /// If a setting does not describe a valid network, or if a claim is not judged, which is an error in the space.
    pub fn judge(&'static self, point: u64) -> Result<PointResult, Failure> {
        let setting = self.setting(point);
        let claims = (self.judge)(&setting)?;
        if let Some(Claim { check, .. }) = claims.iter().find(|claim| claim.check.not_judged.is_some()) {
            return Err(Failure::input(format!("`{}` is not judged", check.name), "a search judges every claim"));
        }
        Ok(PointResult {
            point,
            setting: setting.pairs().map(|(choice, it)| (choice.name.to_owned(), it.label.to_owned())).collect(),
            claims: claims.iter().map(ClaimResult::of).collect(),
        })
    }
}

impl ClaimResult {
    fn of(claim: &Claim) -> ClaimResult {
        let Check { name, unit, paper, relation, ours, .. } = &claim.check;
        ClaimResult {
            figure: claim.figure.to_owned(),
            claim: name.clone(),
            unit: (*unit).to_owned(),
            relation: relation.sign().to_owned(),
            paper: *paper,
            ours: ours.is_finite().then_some(*ours),
            pass: claim.check.outcome() == Outcome::Holds,
        }
    }
}

/// Returns the first number from `start` on (at least 1) that is coprime to `count`.
fn coprime_near(count: u64, start: u64) -> u64 {
    fn divisor(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { divisor(b, a % b) }
    }
    (start.max(1)..).find(|&step| divisor(step, count) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::SPACES;
    use crate::rates::ECCP_SPACE;
    use crate::registry::ECCP_DUMBBELL;
    use std::collections::BTreeSet;

    static SMALL: Space = Space {
        paper: "small",
        choices: &[
            OpenChoice {
                name: "a",
                source: "",
                alternatives: &[
                    Alternative { label: "0", changes: &[("a", "0")] },
                    Alternative { label: "1", changes: &[("a", "1")] },
                ],
            },
            OpenChoice {
                name: "b",
                source: "",
                alternatives: &[
                    Alternative { label: "x", changes: &[] },
                    Alternative { label: "y", changes: &[("b", "\"y\"")] },
                    Alternative { label: "z", changes: &[("b", "\"z\"")] },
                ],
            },
        ],
        judge: |_| Ok(Vec::new()),
    };

    #[test]
    fn points_visit_each_setting_once() {
        for space in SPACES.iter().copied().chain([&SMALL]) {
            let visited = space.settings().min(20_000);
            let seen: BTreeSet<Vec<usize>> = (0..visited).map(|point| space.setting(point).chosen).collect();
            assert_eq!(seen.len() as u64, visited, "{}", space.paper);
            assert!(space.setting(0).chosen.iter().all(|&at| at == 0));
        }
        let last = SMALL.setting(SMALL.settings());
        assert_eq!((last.label("a"), last.label("b"), last.label("c")), ("0", "x", ""), "the walk begins again");
    }

    /// Each alternative is valid in combination with the first alternatives of the other choices.
    #[test]
    fn alternatives_name_keys_of_the_scenario() {
        for choice in ECCP_SPACE.choices {
            for alternative in choice.alternatives {
                let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
                let overrides: Vec<_> = alternative.changes.iter().map(own).collect();
                let (text, name) = (ECCP_DUMBBELL.text, ECCP_DUMBBELL.name);
                let load = Box::new(crate::registry::load);
                let read = scenario::Scenario::parse_with(text, name, "".as_ref(), &overrides, None, load);
                assert!(read.is_ok(), "{} = {}: {}", choice.name, alternative.label, read.unwrap_err());
            }
        }
    }

    #[test]
    fn each_choice_has_a_name_and_alternatives() {
        for space in SPACES {
            assert!(space.choices.len() >= 10, "{}", space.paper);
            let names: BTreeSet<&str> = space.choices.iter().map(|choice| choice.name).collect();
            assert_eq!(names.len(), space.choices.len());
            for choice in space.choices {
                let labels: BTreeSet<&str> = choice.alternatives.iter().map(|it| it.label).collect();
                assert!(labels.len() >= 2 && labels.len() == choice.alternatives.len(), "{}", choice.name);
                assert!(!choice.source.is_empty(), "{}", choice.name);
            }
        }
    }
}
