//! Conclusions of a search: the best setting, claims that no setting satisfies, and pairs of claims that no setting
//! satisfies together.

use super::{ClaimResult, PointResult, Space};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use text::numbers::counted;
use text::{Layout, table};

/// Maximum number of pairs of claims that the text lists; the JSON output has all pairs.
const LISTED_PAIRS: usize = 20;

/// Conclusions of a search. The JSON output has the fields in this order.
#[derive(Debug, Serialize)]
pub struct SearchReport {
    /// Name of the paper.
    pub search: &'static str,
    /// [Version](Space::revision) of the judgement.
    pub revision: u32,
    /// Number of settings of the space.
    pub settings: u64,
    /// Number of settings that were judged.
    pub judged: usize,
    /// Number of settings that were dismissed after a part of their runs, and the reason.
    pub dismissed: usize,
    /// Reason for which settings are dismissed.
    pub dismissal: &'static str,
    /// Number of incomplete lines, which interrupted runs have left; the points of these lines are not judged.
    pub cut_lines: usize,
    /// The point whose setting satisfies most claims; of several such points, the first.
    pub best: Option<PointResult>,
    /// Number of claims of the best setting.
    pub claims: usize,
    /// Number of claims that are judged at all settings. Only promising settings are judged on the others.
    pub common_claims: usize,
    /// Claims of each figure.
    pub figures: Vec<FigureReport>,
    /// Claims that no setting satisfies, of those that are judged at all settings.
    pub never: Vec<String>,
    /// Pairs of claims that no setting satisfies together, although some setting satisfies each, of those that are
    /// judged at all settings.
    pub excluded_pairs: Vec<[String; 2]>,
}

/// Claims of one figure.
#[derive(Debug, Serialize)]
pub struct FigureReport {
    /// Figure of the paper.
    pub figure: String,
    /// Number of claims of the figure.
    pub claims: usize,
    /// Number of settings that are judged on them.
    pub judged: usize,
    /// Largest number of these claims that one setting satisfies.
    pub most: usize,
    /// The first point whose setting satisfies this number of claims.
    pub point: u64,
    /// Number of settings that satisfy all claims of the figure. If it is not 0, claims that fail at other settings
    /// depend on an open choice.
    pub whole: usize,
}

impl SearchReport {
    /// Computes the report from the results, by point. Points from the number of settings on repeat earlier settings
    /// and are ignored.
    pub fn new(space: &'static Space, results: &BTreeMap<u64, PointResult>, cut_lines: usize) -> SearchReport {
        let results = results.values().filter(|it| it.point < space.settings());
        let (results, dismissed): (Vec<&PointResult>, Vec<_>) = results.partition(|it| !it.claims.is_empty());
        // Of several results with equally many satisfied claims, the first.
        let best = results.iter().rev().max_by_key(|it| it.passes()).map(|it| (*it).clone());
        let all: Vec<&str> = best.iter().flat_map(|it| &it.claims).map(|claim| claim.claim.as_str()).collect();
        let is_common = |name: &&str| results.iter().all(|it| it.claims.iter().any(|claim| claim.claim == *name));
        let names: Vec<&str> = all.iter().copied().filter(is_common).collect();
        // Per claim: a bit for each result, set if the claim holds at this setting.
        let holds: Vec<Vec<u64>> = names.iter().map(|name| bits(&results, name)).collect();
        let never = |at: &usize| holds[*at].iter().all(|&word| word == 0);
        let together = |a: &[u64], b: &[u64]| a.iter().zip(b).any(|(a, b)| a & b != 0);
        let mut excluded_pairs = Vec::new();
        let possible: Vec<usize> = (0..names.len()).filter(|at| !never(at)).collect();
        for (index, &a) in possible.iter().enumerate() {
            for &b in &possible[index + 1..] {
                if !together(&holds[a], &holds[b]) {
                    excluded_pairs.push([names[a].to_owned(), names[b].to_owned()]);
                }
            }
        }
        SearchReport {
            search: space.paper,
            revision: space.revision,
            settings: space.settings(),
            judged: results.len(),
            dismissed: dismissed.len(),
            dismissal: space.dismissal,
            cut_lines,
            claims: all.len(),
            common_claims: names.len(),
            figures: figures(&results),
            never: (0..names.len()).filter(never).map(|at| names[at].to_owned()).collect(),
            excluded_pairs,
            best,
        }
    }

    /// Returns the report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "search of the open choices of {}: {} of {} judged, {}",
            self.search,
            self.judged,
            counted(self.settings, "setting"),
            counted(self.common_claims as u64, "claim"),
        );
        if self.dismissed != 0 {
            let _ = writeln!(out, "{} more dismissed: {}", self.dismissed, self.dismissal);
        }
        if self.cut_lines != 0 {
            let _ = writeln!(out, "{} that an interruption cut: judged again", counted(self.cut_lines as u64, "line"));
        }
        let Some(best) = &self.best else { return out + "no setting is judged yet: nothing follows\n" };
        let _ = writeln!(out, "\nbest setting, point {}: {} of {} claims", best.point, best.passes(), self.claims);
        for (choice, label) in &best.setting {
            let _ = writeln!(out, "  {choice}: {label}");
        }
        let failed: Vec<&ClaimResult> = best.claims.iter().filter(|claim| !claim.pass).collect();
        list(&mut out, "claims that it does not satisfy", failed.iter().map(|it| it.line()));
        let rows: Vec<Vec<String>> = self
            .figures
            .iter()
            .map(|it| {
                let numbers = [it.claims as u64, it.judged as u64, it.most as u64, it.point, it.whole as u64];
                std::iter::once(it.figure.clone()).chain(numbers.map(|number| number.to_string())).collect()
            })
            .collect();
        let columns = ["figure", "claims", "judged settings", "most by one setting", "its point", "settings with all"];
        out += "\nfailed claims of a figure are open choices only if one setting satisfies all of the figure\n";
        out += &table(&columns, &rows, 1, Layout::Fixed, 2);
        list(&mut out, "claims that no setting satisfies", self.never.iter().cloned());
        let pairs = self.excluded_pairs.iter().map(|[a, b]| format!("{a}\n      and  {b}"));
        list(&mut out, "pairs of claims that no setting satisfies together", pairs.clone().take(LISTED_PAIRS));
        if let Some(more @ 1..) = self.excluded_pairs.len().checked_sub(LISTED_PAIRS) {
            let _ = writeln!(out, "  and {}: --json lists all", counted(more as u64, "more pair"));
        }
        out
    }
}

impl ClaimResult {
    fn line(&self) -> String {
        let ours = self.ours.map_or_else(|| "none".to_owned(), |ours| ours.to_string());
        let unit = if self.unit == "1" { String::new() } else { format!(" {}", self.unit) };
        format!("{}: {ours}{unit}, required {} {}", self.claim, self.relation, self.paper)
    }
}

fn list(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        let _ = writeln!(out, "\n{title}: none");
        return;
    }
    let _ = writeln!(out, "\n{title}:");
    for line in lines {
        let _ = writeln!(out, "  - {line}");
    }
}

/// Returns a bit for each result, set if the claim `name` holds in this result.
fn bits(results: &[&PointResult], name: &str) -> Vec<u64> {
    let mut words = vec![0; results.len().div_ceil(64)];
    for (at, result) in results.iter().enumerate() {
        let holds = result.claims.iter().any(|claim| claim.claim == name && claim.pass);
        words[at / 64] |= u64::from(holds) << (at % 64);
    }
    words
}

/// Returns the claims by figure, sorted by the name of the figure.
fn figures(results: &[&PointResult]) -> Vec<FigureReport> {
    let mut figures: Vec<FigureReport> = Vec::new();
    for result in results {
        let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        for claim in &result.claims {
            let [all, held] = counts.entry(&claim.figure).or_default();
            *all += 1;
            *held += usize::from(claim.pass);
        }
        for (figure, [claims, most]) in counts {
            let whole = usize::from(most == claims);
            match figures.iter_mut().find(|it| it.figure == figure) {
                Some(known) => {
                    known.judged += 1;
                    known.whole += whole;
                    if most > known.most {
                        (known.most, known.point) = (most, result.point);
                    }
                }
                None => {
                    let (figure, point) = (figure.to_owned(), result.point);
                    figures.push(FigureReport { figure, claims, judged: 1, most, point, whole });
                }
            }
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::SPACES;

    /// Makes the result of a point with four claims, two of figure 1 and two of figure 2. A claim holds if its element
    /// of `holds` is 1.
    fn point(point: u64, holds: [u8; 4]) -> (u64, PointResult) {
        let claims = holds.iter().enumerate().map(|(at, &pass)| ClaimResult {
            figure: (at / 2 + 1).to_string(),
            claim: format!("claim {at}"),
            unit: "Gbps".to_owned(),
            relation: "<".to_owned(),
            paper: 1.0,
            ours: Some(2.0),
            pass: pass == 1,
        });
        (point, PointResult { point, setting: BTreeMap::new(), claims: claims.collect() })
    }

    #[test]
    fn best_setting_whole_figures_and_excluded_pairs() {
        let results = [point(0, [1, 0, 0, 0]), point(4, [0, 1, 1, 0]), point(7, [1, 1, 0, 0]), point(9, [0, 0, 1, 0])];
        let report = SearchReport::new(SPACES[0], &results.into_iter().collect(), 0);
        let best = report.best.as_ref().unwrap();
        assert_eq!(
            (report.judged, best.point, report.claims, report.common_claims),
            (4, 4, 4, 4),
            "the first of two with two claims"
        );
        let figures: Vec<_> =
            report.figures.iter().map(|it| (it.claims, it.judged, it.most, it.point, it.whole)).collect();
        assert_eq!(figures, [(2, 4, 2, 7, 1), (2, 4, 1, 4, 0)]);
        assert_eq!(report.never, ["claim 3"]);
        assert_eq!(report.excluded_pairs, [["claim 0", "claim 2"]]);
        let text = report.text();
        assert!(text.contains("best setting, point 4: 2 of 4 claims"), "{text}");
        assert!(text.contains("claim 3: 2 Gbps, required < 1"), "{text}");
    }

    /// Claims of a later stage, which only some settings are judged on, belong to no pair, and are not claims that no
    /// setting satisfies.
    #[test]
    fn pairs_are_of_claims_that_all_settings_are_judged_on() {
        let mut results: BTreeMap<u64, PointResult> =
            [point(0, [1, 0, 0, 1]), point(4, [0, 1, 1, 0]), point(9, [1, 0, 0, 0])].into_iter().collect();
        results.get_mut(&9).unwrap().claims.truncate(2);
        let report = SearchReport::new(SPACES[0], &results, 0);
        assert_eq!((report.claims, report.common_claims), (4, 2));
        assert_eq!(report.excluded_pairs, [["claim 0", "claim 1"]]);
        assert!(report.never.is_empty());
        let figures: Vec<_> = report.figures.iter().map(|it| (it.judged, it.most)).collect();
        assert_eq!(figures, [(3, 1), (2, 1)]);
    }

    #[test]
    fn dismissed_settings_are_counted_apart() {
        let mut results: BTreeMap<u64, PointResult> = [point(0, [1, 0, 0, 1]), point(4, [0; 4])].into_iter().collect();
        results.get_mut(&4).unwrap().claims.clear();
        let report = SearchReport::new(SPACES[0], &results, 0);
        assert_eq!((report.judged, report.dismissed, report.common_claims), (1, 1, 4));
        assert!(report.text().contains("\n1 more dismissed: "), "{}", report.text());
    }

    #[test]
    fn nothing_follows_from_no_setting() {
        let report = SearchReport::new(SPACES[0], &BTreeMap::new(), 0);
        assert!(report.text().ends_with("nothing follows\n"));
        // A point that repeats a setting is ignored.
        let repeated = [point(0, [1; 4]), point(SPACES[0].settings(), [1; 4])];
        assert_eq!(SearchReport::new(SPACES[0], &repeated.into_iter().collect(), 0).judged, 1);
    }
}
