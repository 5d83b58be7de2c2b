//! The numbers of a run among others, and of runs that differ in their seed alone.

use super::metrics::{self, Metric};
use super::statistics::{Confidence, interval};
use super::vary::{Variant, Vary};
use record::summary::{Check, Summary};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One run that was made.
#[derive(Debug)]
pub struct Row {
    /// What was varied.
    pub variant: Variant,
    /// The seed that it ran under.
    pub seed: u64,
    /// Whether it was interrupted.
    pub partial: bool,
    /// What was checked.
    pub checks: Vec<Check>,
    /// What the run warns of.
    pub warnings: Vec<String>,
    /// See [`Summary::results_hash`].
    pub results_hash: String,
    /// In the order of [`metrics::all`].
    values: Vec<Option<f64>>,
    /// The same by label, in the order of the metrics of one.
    of_labels: BTreeMap<String, Vec<Option<f64>>>,
}

impl Row {
    /// What `summary` says.
    pub fn new(variant: Variant, summary: &Summary) -> Row {
        Row {
            variant,
            seed: summary.scenario.seed,
            partial: summary.partial,
            checks: summary.checks.clone(),
            warnings: summary.warnings.clone(),
            results_hash: summary.results_hash.clone(),
            values: metrics::measure(summary),
            of_labels: metrics::measure_labels(summary),
        }
    }

    /// Its value of a metric, where it has one.
    pub fn value(&self, metric: &Metric) -> Option<f64> {
        let values = match &metric.label {
            Some(label) => self.of_labels.get(label)?,
            None => &self.values,
        };
        values.get(metric.at).copied().flatten()
    }

    /// Whether every check held.
    pub fn passes(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }

    /// Which checks failed.
    pub fn verdict(&self) -> String {
        let failed: Vec<&str> =
            self.checks.iter().filter(|check| !check.pass).map(|check| check.name.as_str()).collect();
        let verdict = if failed.is_empty() { "ok".to_owned() } else { format!("FAIL: {}", failed.join(", ")) };
        if self.partial { format!("{verdict} (partial)") } else { verdict }
    }

    /// Its metrics in JSON: whole where they count.
    pub fn json(&self, metrics: &[Metric]) -> Map<String, Value> {
        metrics.iter().map(|metric| (metric.column(), metric.json(self.value(metric)))).collect()
    }
}

/// Runs of the same values under different seeds.
pub struct Group<'a> {
    /// At least one.
    pub rows: Vec<&'a Row>,
}

/// Rows that stand together and differ in their seed alone.
pub fn groups<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for row in rows {
        match groups.last_mut() {
            Some(group) if group.values() == row.variant.values => group.rows.push(row),
            _ => groups.push(Group { rows: vec![row] }),
        }
    }
    groups
}

/// Kinds of warnings that are told below a table.
const MOST_WARNINGS: usize = 6;
/// Combinations that are named with a warning.
const MOST_NAMED: usize = 3;

/// What the runs of a table warn of, a line a kind: a table that looks well may compare what nobody meant to. Warnings
/// that differ in their numbers alone are one kind, told by the first of them.
pub fn warnings(groups: &[Group<'_>]) -> String {
    let kind = |text: &str| text.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    let mut kinds: Vec<(String, &str, usize, Vec<String>)> = Vec::new();
    for group in groups {
        for row in &group.rows {
            for text in &row.warnings {
                let kind = kind(text);
                let at = kinds.iter().position(|known| known.0 == kind).unwrap_or_else(|| {
                    kinds.push((kind, text, 0, Vec::new()));
                    kinds.len() - 1
                });
                let (_, _, runs, named) = &mut kinds[at];
                *runs += 1;
                let name = group.values().join(" ");
                if !named.contains(&name) {
                    named.push(name);
                }
            }
        }
    }
    let runs: usize = groups.iter().map(|group| group.rows.len()).sum();
    let mut told = String::new();
    for (_, text, warned, named) in kinds.iter().take(MOST_WARNINGS) {
        let more = if named.len() > MOST_NAMED { ", ..." } else { "" };
        let named = named[..named.len().min(MOST_NAMED)].join(", ");
        let of =
            if *warned == runs { "all runs".to_owned() } else { format!("{warned} of {runs} runs, {named}{more}") };
        told.push_str(&format!("warning: {text} ({of})\n"));
    }
    if kinds.len() > MOST_WARNINGS {
        told.push_str(&format!("and {} more kinds of warnings, see --json\n", kinds.len() - MOST_WARNINGS));
    }
    told
}

impl Group<'_> {
    /// What was varied.
    pub fn values(&self) -> &[String] {
        &self.rows[0].variant.values
    }

    /// The metric in every run that has it.
    pub fn samples(&self, metric: &Metric) -> Vec<f64> {
        self.rows.iter().filter_map(|row| row.value(metric)).collect()
    }

    /// Whether its seeds, several of them, all gave the same run: no metric of any differs.
    pub fn is_one_run(&self) -> bool {
        let values = |row: &Row| (&row.values, &row.of_labels) == (&self.rows[0].values, &self.rows[0].of_labels);
        self.rows.len() > 1 && self.rows.iter().all(|row| values(row))
    }

    /// `mean ± half the width of its 95 % interval`, as far as there are several values.
    pub fn cell(&self, metric: &Metric) -> String {
        let samples = self.samples(metric);
        if samples.is_empty() {
            return "-".to_owned();
        }
        let interval = interval(&samples, Confidence::P95);
        let mut cell = metric.unit.show_mean(interval.mean, samples.len());
        if samples.len() > 1 {
            cell.push_str(&format!(" ± {}", metric.unit.show_mean(interval.half, samples.len())));
        }
        if samples.len() < self.rows.len() {
            cell.push_str(&format!(" ({} of {})", samples.len(), self.rows.len()));
        }
        cell
    }

    /// Whether the difference to `base` may be nothing but chance: the mean of the differences seed by seed,
    /// with Student's t at 95 %, may be zero. `None` with fewer than two seeds in common.
    pub fn within_noise(&self, base: &Group<'_>, metric: &Metric) -> Option<bool> {
        let of_base: BTreeMap<u64, f64> =
            base.rows.iter().filter_map(|row| Some((row.seed, row.value(metric)?))).collect();
        let differences = self.rows.iter().filter_map(|row| Some(row.value(metric)? - of_base.get(&row.seed)?));
        let differences: Vec<f64> = differences.collect();
        let interval = interval(&differences, Confidence::P95);
        (differences.len() > 1).then_some(interval.mean.abs() <= interval.half)
    }

    /// Which checks failed, and in how many runs.
    pub fn verdict(&self) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.rows.iter().for_each(|row| *counts.entry(row.verdict()).or_default() += 1);
        let word = |(verdict, count): (&String, &usize)| match (self.rows.len(), *count) {
            (all, count) if all == count => verdict.clone(),
            (all, count) => format!("{verdict} ({count} of {all})"),
        };
        let failed: Vec<String> = counts.iter().filter(|(verdict, _)| verdict.as_str() != "ok").map(word).collect();
        if failed.is_empty() { "ok".to_owned() } else { failed.join("; ") }
    }

    /// Values, seeds, and of each metric the mean with half its 95 % interval; with `base`, whether it differs
    /// from that by more than chance.
    pub fn json(&self, varied: &[Vary], metrics: &[Metric], base: Option<&Group<'_>>) -> Value {
        let of_metric = |metric: &Metric| {
            let samples = self.samples(metric);
            let found = (!samples.is_empty()).then(|| interval(&samples, Confidence::P95));
            let half = found.map(|interval| interval.half).filter(|half| half.is_finite());
            let mut value = json!({
                "runs": samples.len(), "mean": found.map(|interval| interval.mean), "half_width_95": half,
            });
            if let Some(base) = base {
                value["within_noise"] = self.within_noise(base, metric).into();
            }
            (metric.column(), value)
        };
        json!({
            "set": set(varied, self.values()), "seeds": self.rows.iter().map(|row| row.seed).collect::<Vec<_>>(),
            "pass": self.rows.iter().all(|row| row.passes()),
            "metrics": metrics.iter().map(of_metric).collect::<Map<String, Value>>(),
        })
    }
}

/// What a variant sets, by key.
pub fn set(varied: &[Vary], values: &[String]) -> Map<String, Value> {
    varied.iter().zip(values).map(|(vary, value)| (vary.key.clone(), json!(value))).collect()
}

/// What stands below numbers of seeds that did not matter.
pub const ABOUT_EQUAL_RUNS: &str = "every seed gave the same run: nothing in it is drawn at random, so there is no \
    spread to tell chance from, and one seed is enough";

/// What the numbers of a table over several seeds are.
pub const ABOUT_SEEDS: &str = "mean ± half its 95 % confidence interval over the seeds (Student's t)";

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(hops: &[(&str, u64, u64)]) -> Vec<Row> {
        let row = |(value, seed, packet_hops): &(&str, u64, u64)| {
            let mut summary = Summary { packet_hops: *packet_hops, ..Summary::default() };
            summary.scenario.seed = *seed;
            Row::new(Variant { values: vec![(*value).to_owned()], seed: Some(*seed) }, &summary)
        };
        hops.iter().map(row).collect()
    }

    #[test]
    fn a_difference_counts_when_it_stands_out_seed_by_seed() {
        let hops = metrics::chosen(&["packet-hops".to_owned()], &[]).unwrap();
        // The seeds differ by far more than the values; c differs from a by two in every one of them.
        let rows = rows(&[
            ("a", 1, 100),
            ("a", 2, 900),
            ("a", 3, 500),
            ("b", 1, 120),
            ("b", 2, 890),
            ("b", 3, 495),
            ("c", 1, 102),
            ("c", 2, 903),
            ("c", 3, 502),
            ("d", 1, 7),
        ]);
        let groups = groups(&rows);
        let against_a = |at: usize| groups[at].within_noise(&groups[0], &hops[0]);
        assert_eq!((0..4).map(against_a).collect::<Vec<_>>(), [Some(true), Some(true), Some(false), None]);
        // 500 and t(2) 400 / sqrt(3).
        assert_eq!(groups[0].cell(&hops[0]), "500.0 ± 993.7");
        assert_eq!((groups[3].cell(&hops[0]), groups[3].verdict()), ("7".to_owned(), "ok".to_owned()));
        let told = groups[2].json(&[], &hops, Some(&groups[0]));
        assert_eq!(told["metrics"]["packet_hops"]["within_noise"], false);
        assert_eq!(told["seeds"], json!([1, 2, 3]));
        assert!(groups.iter().all(|group| !group.is_one_run()), "they differ, or there is one");
    }

    #[test]
    fn seeds_that_change_nothing_are_one_run() {
        let rows = rows(&[("a", 1, 100), ("a", 2, 100), ("b", 1, 100), ("b", 2, 101), ("c", 1, 100)]);
        let told: Vec<bool> = groups(&rows).iter().map(Group::is_one_run).collect();
        assert_eq!(told, [true, false, false]);
    }
}
