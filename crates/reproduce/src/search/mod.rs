//! `reproduce --search`: varies all unspecified parameters (open choices) of a paper jointly, and judges its claims at
//! each setting.
//!
//! ```text
//!  Space: open choices x alternatives --point number--> setting --judge--> claims --> points*.jsonl
//!    ^ walk, then coordinate descent from the best setting (plan)                         |
//!    +------------------------------------------------------------------------------------+--> SearchReport
//! ```
//!
//! Settings that differ only in the choice [`Space::judged_together`] share their runs, and form a group: they are
//! judged together.
//!
//! Failed claims of a figure are attributed to an open choice only if one setting satisfies all claims of the figure.

mod folder;
mod plan;
mod report;

pub use folder::{SearchFailure, SearchFolder};
pub use plan::{GroupScore, JudgeGroups, follow};
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
    /// Name of the choice that changes the evaluation of runs but not the runs, if any. It must be the last choice.
    pub judged_together: Option<&'static str>,
    /// Settings that a search judges first, each by the labels of the choices that differ from the first alternative.
    pub starts: &'static [&'static [(&'static str, &'static str)]],
    /// Version of [`judge`](Space::judge). Results of different versions are not comparable.
    pub revision: u32,
    /// Reason for which settings are dismissed after a part of their runs.
    pub dismissal: &'static str,
    /// Judges the claims at a setting, and at the settings with other alternatives of
    /// [`judged_together`](Space::judged_together), of which some may be left out. Without any, the setting is
    /// dismissed.
    pub judge: fn(&Setting) -> Result<Vec<Judged>, Failure>,
}

/// Claims at one alternative of [`Space::judged_together`].
#[derive(Debug)]
pub struct Judged {
    /// Index of the alternative; 0 without such a choice.
    pub alternative: usize,
    /// All judged claims.
    pub claims: Vec<Claim>,
}

/// A claim of the paper, compared with the measurement at one setting.
#[derive(Clone, Debug)]
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

/// The result of one point. A line of a `points*.jsonl` file is an array of the points of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// Number of the point.
    pub point: u64,
    /// Label of the alternative of each choice, by name of the choice.
    pub setting: BTreeMap<String, String>,
    /// Claims in the order in which they are judged. None if the setting was [dismissed](Space::dismissal).
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

    /// Returns the choices that change runs.
    fn varied(&self) -> &'static [OpenChoice] {
        &self.choices[..self.choices.len() - usize::from(self.judged_together.is_some())]
    }

    /// Returns the number of groups of settings with common runs.
    pub fn groups(&self) -> u64 {
        self.varied().iter().map(|choice| choice.alternatives.len() as u64).product()
    }

    /// Returns the distance of consecutive points in the enumeration of all groups, which is coprime to their number.
    /// The golden ratio makes consecutive points differ in most choices.
    fn step(&self) -> u64 {
        let groups = self.groups();
        coprime_near(groups, (groups as f64 * 0.618_033_988_75) as u64)
    }

    /// Returns the setting of a point. Point 0 has the first alternative of each choice. The first
    /// [`groups`](Space::groups) points are the groups of settings with common runs; the point of another alternative
    /// of [`judged_together`](Space::judged_together) is larger by a multiple of this number. The first
    /// [`settings`](Space::settings) points are all different; later points repeat them.
    pub fn setting(&'static self, point: u64) -> Setting {
        let groups = self.groups();
        let mut index = (u128::from(point % groups) * u128::from(self.step()) % u128::from(groups)) as u64;
        let mut digit = |choice: &OpenChoice| {
            let count = choice.alternatives.len() as u64;
            let at = index % count;
            index /= count;
            at as usize
        };
        let mut chosen: Vec<usize> = self.varied().iter().map(&mut digit).collect();
        let together = (point / groups % (self.settings() / groups)) as usize;
        chosen.extend(self.judged_together.map(|_| together));
        Setting { space: self, chosen }
    }

    /// Returns the groups of [`starts`](Space::starts). A unit test ensures that their choices and labels exist.
    fn start_groups(&'static self) -> Vec<u64> {
        let groups = self.groups();
        let inverse = inverse(self.step(), groups);
        let of_labels = |labels: &&[(&str, &str)]| {
            let (mut index, mut weight) = (0, 1);
            for choice in self.varied() {
                let label = labels.iter().find(|(name, _)| *name == choice.name).map(|(_, label)| *label);
                let at = choice.alternatives.iter().position(|it| Some(it.label) == label).unwrap_or(0);
                index += at as u64 * weight;
                weight *= choice.alternatives.len() as u64;
            }
            (u128::from(index) * u128::from(inverse) % u128::from(groups)) as u64
        };
        self.starts.iter().map(of_labels).collect()
    }

    /// Returns the groups that differ from `group` in the choice number `choice` only.
    fn neighbours(&'static self, group: u64, choice: usize) -> Vec<u64> {
        let (groups, chosen) = (self.groups(), self.setting(group).chosen);
        let weight: u64 = self.varied()[..choice].iter().map(|it| it.alternatives.len() as u64).product();
        // The index of a setting is `group` times the step: a change of the index by `weight` changes the group by the
        // inverse of the step times this number.
        let inverse = inverse(self.step(), groups);
        let (own, count) = (chosen[choice], self.varied()[choice].alternatives.len());
        let moved = |at: usize| {
            let change = (at as i128 - own as i128) * i128::from(weight) * i128::from(inverse);
            (i128::from(group) + change).rem_euclid(i128::from(groups)) as u64
        };
        (0..count).filter(|&at| at != own).map(moved).collect()
    }

    /// Judges the claims of a group of settings with common runs.
    ///
    /// # Errors
    /// If a setting does not describe a valid network, or if a claim is not judged, which is an error in the space.
    pub fn judge(&'static self, group: u64) -> Result<Vec<PointResult>, Failure> {
        let of_alternative = |Judged { alternative, claims }: Judged| {
            if let Some(Claim { check, .. }) = claims.iter().find(|claim| claim.check.not_judged.is_some()) {
                return Err(Failure::input(format!("`{}` is not judged", check.name), "a search judges every claim"));
            }
            let point = group % self.groups() + alternative as u64 * self.groups();
            Ok(PointResult {
                point,
                setting: self
                    .setting(point)
                    .pairs()
                    .map(|(choice, it)| (choice.name.to_owned(), it.label.to_owned()))
                    .collect(),
                claims: claims.iter().map(ClaimResult::of).collect(),
            })
        };
        let judged = (self.judge)(&self.setting(group))?;
        let dismissed = judged.is_empty().then(|| Judged { alternative: 0, claims: Vec::new() });
        judged.into_iter().chain(dismissed).map(of_alternative).collect()
    }
}

impl PointResult {
    /// Returns the number of claims that hold.
    pub fn passes(&self) -> usize {
        self.claims.iter().filter(|claim| claim.pass).count()
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

/// Returns the inverse of `number` modulo `count`, to which it must be coprime.
fn inverse(number: u64, count: u64) -> u64 {
    let (mut rest, mut factor) = ([i128::from(count), i128::from(number % count)], [0_i128, 1]);
    while rest[1] != 0 {
        let quotient = rest[0] / rest[1];
        rest = [rest[1], rest[0] - quotient * rest[1]];
        factor = [factor[1], factor[0] - quotient * factor[1]];
    }
    factor[0].rem_euclid(i128::from(count)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::SPACES;
    use crate::rates::ECCP_SPACE;
    use crate::registry::ECCP_DUMBBELL;
    use std::collections::BTreeSet;

    pub(super) static SMALL: Space = Space {
        paper: "small",
        judged_together: None,
        starts: &[&[("a", "1"), ("b", "z")]],
        revision: 1,
        dismissal: "",
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
    fn neighbours_differ_in_one_choice() {
        for space in [&SMALL, SPACES[0]] {
            for group in (0..space.groups()).step_by(1 + space.groups() as usize / 50) {
                let own = space.setting(group).chosen;
                for (choice, it) in space.varied().iter().enumerate() {
                    let others: Vec<Vec<usize>> =
                        space.neighbours(group, choice).iter().map(|&other| space.setting(other).chosen).collect();
                    let expected = (0..it.alternatives.len()).filter(|&at| at != own[choice]).map(|at| {
                        let mut other = own.clone();
                        other[choice] = at;
                        other
                    });
                    assert_eq!(others, expected.collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn starts_are_settings_of_the_space() {
        assert_eq!(
            SMALL.start_groups().iter().map(|&group| SMALL.setting(group).chosen.clone()).next(),
            Some(vec![1, 2])
        );
        for space in SPACES {
            for (labels, group) in space.starts.iter().zip(space.start_groups()) {
                let setting = space.setting(group);
                for (name, label) in *labels {
                    assert_eq!(setting.label(name), *label, "{}: {name}", space.paper);
                }
                let changed = setting.chosen.iter().filter(|&&at| at != 0).count();
                assert_eq!(changed, labels.len(), "the others have the first alternative");
            }
        }
    }

    /// Points that differ by the number of groups differ in the last choice only, and repeat after the last one.
    #[test]
    fn settings_that_are_judged_together_have_one_group() {
        let (space, point) = (SPACES[0], 12_345);
        let of = |times: u64| space.setting(point + times * space.groups()).chosen;
        let last = space.choices.len() - 1;
        let count = space.choices[last].alternatives.len();
        for times in 0..count {
            assert_eq!(of(times as u64)[..last], of(0)[..last]);
            assert_eq!(of(times as u64)[last], times);
        }
        assert_eq!(of(count as u64), of(0));
        assert_eq!(space.judged_together, Some(space.choices[last].name));
    }

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
