//! Metrics of one run, and of groups of runs that differ only in their seed.

use super::flows::{CommonFlowMetrics, CompletedFlows};
use super::metrics::{self, Measured, Metric, Population};
use super::significance;
use super::statistics::{Confidence, interval};
use super::vary::{Variant, VariedKey};
use record::Coverage;
use record::flows::Unfinished;
use record::summary::{Check, Summary};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use text::numbers::{counted, grouped, size};

/// One completed run.
#[derive(Debug)]
pub struct Row {
    /// Values of the varied keys.
    pub variant: Variant,
    /// Seed of the run.
    pub seed: u64,
    /// Whether the run was interrupted.
    pub partial: bool,
    /// Checks of the run.
    pub checks: Vec<Check>,
    /// Warnings of the run.
    pub warnings: Vec<String>,
    /// See [`Summary::results_hash`].
    pub results_hash: String,
    /// Values in the order of [`metrics::all`].
    values: Vec<Measured>,
    /// Values by label, in the order of the metrics of a label.
    of_labels: BTreeMap<String, Vec<Measured>>,
    pub(crate) unfinished: Option<Unfinished>,
    /// Labels of the traffic entries, if any.
    pub(crate) traffic_names: Vec<String>,
    /// Completed flows of the run, if they are stored.
    pub(crate) flows: Option<CompletedFlows>,
    /// Metrics over the flows that all runs with this seed completed, if the sets of completed flows differ.
    pub(crate) common: Option<CommonFlowMetrics>,
}

impl Row {
    /// Creates the row of `summary`.
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
            unfinished: summary.flows.unfinished.clone(),
            traffic_names: Vec::new(),
            flows: None,
            common: None,
        }
    }

    fn measured(&self, metric: &Metric) -> Option<Measured> {
        let values = match &metric.label {
            Some(label) => self.of_labels.get(label)?,
            None => &self.values,
        };
        values.get(metric.at).copied()
    }

    /// Returns the coverage of a metric; `None` if the metric has no population.
    pub fn coverage(&self, metric: &Metric) -> Option<Coverage> {
        self.measured(metric)?.coverage
    }

    /// Returns a metric over the flows that all runs with its seed completed; `None` if it is not available or not
    /// needed.
    pub fn common_value(&self, metric: &Metric) -> Option<f64> {
        let common = self.common.as_ref().filter(|_| metric.of == Population::Flows)?;
        let values = match &metric.label {
            Some(label) => common.of_labels.get(label)?,
            None => &common.values,
        };
        values.get(metric.at)?.value
    }

    /// Returns whether the metric is comparable with that of another run: in both runs it covers all flows that
    /// started. Otherwise the slowest flows are missing, which may reverse the order of the two runs, even if both lack
    /// the same flows.
    fn is_comparable(&self, other: &Row, metric: &Metric) -> bool {
        let (Some(own), Some(others)) = (self.coverage(metric), other.coverage(metric)) else { return true };
        if own.is_whole() && others.is_whole() {
            return true;
        }
        match metric.of {
            Population::Network => true,
            Population::Flows | Population::Requests => false,
            // The measurement interval of goodput ends with the last flow completion, so that the sets of completed
            // flows must be equal.
            Population::Payload => match (&self.flows, &other.flows) {
                (Some(own), Some(others)) => own.are_those_of(others),
                _ => false,
            },
            // Iterations are sequential, so that equal counts imply equal sets.
            Population::Iterations => own == others,
        }
    }

    /// Returns the value of a metric; `None` if the run has none.
    pub fn value(&self, metric: &Metric) -> Option<f64> {
        self.measured(metric)?.value
    }

    /// Returns whether some flows of the measurement interval are unfinished at the end of the run.
    pub fn has_unfinished(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Returns whether every check passed.
    pub fn passes(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }

    /// Returns the names of the failed checks, or `ok`.
    pub fn verdict(&self) -> String {
        let failed: Vec<&str> =
            self.checks.iter().filter(|check| !check.pass).map(|check| check.name.as_str()).collect();
        let verdict = if failed.is_empty() { "ok".to_owned() } else { format!("FAIL: {}", failed.join(", ")) };
        if self.partial { format!("{verdict} (partial)") } else { verdict }
    }

    /// Returns the coverage of each metric that has a population.
    pub fn coverage_json(&self, metrics: &[Metric]) -> Map<String, Value> {
        let of_metric = |metric: &Metric| {
            let Coverage { completed, started } = self.coverage(metric)?;
            Some((metric.column(), json!({ "completed": completed, "started": started })))
        };
        metrics.iter().filter_map(of_metric).collect()
    }

    /// Returns the metrics in JSON; counts are whole numbers.
    pub fn json(&self, metrics: &[Metric]) -> Map<String, Value> {
        metrics.iter().map(|metric| (metric.column(), metric.json(self.value(metric)))).collect()
    }
}

/// Runs with equal varied values and different seeds.
pub struct Group<'a> {
    /// Rows of the runs; never empty.
    pub rows: Vec<&'a Row>,
}

/// Groups adjacent rows that differ only in their seed.
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

/// Maximum number of distinct warnings below a table.
const MOST_WARNINGS: usize = 6;
/// Maximum number of value combinations listed with a warning.
const MOST_NAMED: usize = 3;

/// Returns the warnings of the runs of a table, because even plausible results may be invalid. Warnings that differ
/// only in numbers are shown once, with the numbers of the first.
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
    let mut warnings_text = String::new();
    for (_, text, warned, named) in kinds.iter().take(MOST_WARNINGS) {
        let more = if named.len() > MOST_NAMED { ", ..." } else { "" };
        let named = named[..named.len().min(MOST_NAMED)].join(", ");
        let of =
            if *warned == runs { "all runs".to_owned() } else { format!("{warned} of {runs} runs, {named}{more}") };
        warnings_text.push_str(&format!("warning: {text} ({of})\n"));
    }
    if kinds.len() > MOST_WARNINGS {
        warnings_text.push_str(&format!("and {} more kinds of warnings, see --json\n", kinds.len() - MOST_WARNINGS));
    }
    warnings_text
}

impl Group<'_> {
    /// Returns the values of the varied keys.
    pub fn values(&self) -> &[String] {
        &self.rows[0].variant.values
    }

    /// Returns the values of the metric in all runs that have it.
    pub fn samples(&self, metric: &Metric) -> Vec<f64> {
        self.rows.iter().filter_map(|row| row.value(metric)).collect()
    }

    /// Returns whether there are several seeds and all metrics are equal for all of them.
    pub fn is_one_run(&self) -> bool {
        let values = |row: &Row| (&row.values, &row.of_labels) == (&self.rows[0].values, &self.rows[0].of_labels);
        self.rows.len() > 1 && self.rows.iter().all(|row| values(row))
    }

    /// Returns the values of the metric over the flows that all runs with the same seed completed, for all runs that
    /// have it.
    pub fn common_samples(&self, metric: &Metric) -> Vec<f64> {
        self.rows.iter().filter_map(|row| row.common_value(metric)).collect()
    }

    /// Returns the coverage of the metric, summed over all runs of the group.
    pub fn coverage(&self, metric: &Metric) -> Option<Coverage> {
        self.rows.iter().map(|row| row.coverage(metric)).sum()
    }

    /// Returns the number of flows in the common metrics, summed over all runs of the group.
    pub fn common_flows(&self) -> u64 {
        self.rows.iter().filter_map(|row| row.common.as_ref()).map(|common| common.flows).sum()
    }

    /// Returns `mean ± half-width of the 95 % confidence interval`, the latter for several values. If the metric is a
    /// statistic of completed flows and some are unfinished, `[completed/started]` follows.
    pub fn cell(&self, metric: &Metric) -> String {
        let mut cell = self.cell_of(&self.samples(metric), metric);
        if let Some(Coverage { completed, started }) = self.coverage(metric).filter(|of| !of.is_whole()) {
            cell.push_str(&format!(" [{}/{}]", grouped(completed), grouped(started)));
        }
        cell
    }

    /// Like [`Group::cell`], over the flows that all runs with the same seed completed.
    pub fn common_cell(&self, metric: &Metric) -> String {
        self.cell_of(&self.common_samples(metric), metric)
    }

    fn cell_of(&self, samples: &[f64], metric: &Metric) -> String {
        if samples.is_empty() {
            return "-".to_owned();
        }
        let interval = interval(samples, Confidence::P95);
        let mut cell = match samples.len() {
            1 => metric.unit.show_mean(interval.mean, 1),
            count if interval.half == 0.0 => {
                let [mean, half] = [interval.mean, 0.0].map(|value| metric.unit.show_mean(value, count));
                format!("{mean} ± {half}")
            }
            _ => metric.unit.show_interval(interval.mean, interval.half),
        };
        if samples.len() < self.rows.len() {
            cell.push_str(&format!(" ({} of {})", samples.len(), self.rows.len()));
        }
        cell
    }

    /// Returns the reason why the metric is not comparable with that of `base`: for some seed, the two runs cover
    /// different sets of flows, requests or iterations. `None` if they are comparable.
    pub fn undecided(&self, base: &Group<'_>, metric: &Metric) -> Option<String> {
        if self.values() == base.values() {
            return None;
        }
        let differs = |row: &&Row| base.rows.iter().any(|of| of.seed == row.seed && !row.is_comparable(of, metric));
        self.rows.iter().any(differs).then(|| {
            let what = match metric.of {
                Population::Requests => "request",
                Population::Iterations => "iteration",
                Population::Network | Population::Flows | Population::Payload => "flow",
            };
            let unfinished = |group: &Group<'_>| group.unfinished(metric, what);
            match [unfinished(base), unfinished(self)] {
                [Some(first), Some(second)] => format!("{first}; {second}"),
                [Some(one), None] | [None, Some(one)] => one,
                [None, None] => "different flows completed".to_owned(),
            }
        })
    }

    /// Returns a description of the unfinished flows of any label; `None` if there are none.
    pub fn unfinished_flows(&self) -> Option<String> {
        let all = metrics::all();
        self.unfinished(all.iter().find(|metric| metric.of == Population::Flows)?, "flow")
    }

    /// Returns, for example, `dcqcn: 20 of 247 flows unfinished, mostly above 3MB`; `None` if there are none.
    fn unfinished(&self, metric: &Metric, what: &str) -> Option<String> {
        let of = self.coverage(metric).filter(|of| !of.is_whole())?;
        let sizes = Unfinished::merged(self.rows.iter().filter_map(|row| row.unfinished.as_ref()));
        let above = sizes.filter(|of| metric.is_of_flows() && metric.label.is_none() && of.size_p25_bytes > 0);
        let above = above.map_or(String::new(), |of| format!(", mostly above {}", size(of.size_p25_bytes)));
        let (count, all) = (grouped(of.unfinished()), counted(of.started, what));
        Some(format!("{}: {count} of {all} unfinished{above}", self.values().join(" ")))
    }

    /// Returns the paired differences of the metric `value` from `base`, one per common seed.
    fn differences(&self, base: &Group<'_>, value: impl Fn(&Row) -> Option<f64>) -> Vec<f64> {
        let of_base: BTreeMap<u64, f64> = base.rows.iter().filter_map(|row| Some((row.seed, value(row)?))).collect();
        self.rows.iter().filter_map(|row| Some(value(row)? - of_base.get(&row.seed)?)).collect()
    }

    /// Returns the p value of the difference from `base`; `None` if the metric is not comparable, or with fewer than
    /// two common seeds.
    fn p_value(&self, base: &Group<'_>, metric: &Metric) -> Option<f64> {
        if self.undecided(base, metric).is_some() {
            return None;
        }
        significance::p_value(&self.differences(base, |row| row.value(metric)))
    }

    fn common_p_value(&self, base: &Group<'_>, metric: &Metric) -> Option<f64> {
        significance::p_value(&self.differences(base, |row| row.common_value(metric)))
    }

    /// Returns whether the difference from `base` is not statistically significant, by a paired t test over seeds at
    /// the level of `judge`. `None` with fewer than two common seeds, or if the sets of flows differ.
    pub fn within_noise(&self, base: &Group<'_>, metric: &Metric, judge: &SignificanceTest) -> Option<bool> {
        self.p_value(base, metric).map(|p| p > judge.threshold)
    }

    /// Returns whether the difference from `base` is statistically significant, or the half-width of its 95 %
    /// confidence interval is at most `share` of the mean of `base`.
    pub fn is_known_to(&self, base: &Group<'_>, metric: &Metric, judge: &SignificanceTest, share: f64) -> bool {
        let differences = self.differences(base, |row| row.value(metric));
        let mean = interval(&base.samples(metric), Confidence::P95).mean;
        let is_narrow = interval(&differences, Confidence::P95).half <= share * mean.abs();
        is_narrow || self.within_noise(base, metric, judge) == Some(false)
    }

    /// Like [`Group::within_noise`], over the flows that all runs with the same seed completed.
    pub fn common_within_noise(&self, base: &Group<'_>, metric: &Metric, judge: &SignificanceTest) -> Option<bool> {
        self.common_p_value(base, metric).map(|p| p > judge.threshold)
    }

    /// Returns the failed checks with the number of runs that failed each, or `ok`.
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

    /// Returns values, seeds, and the mean of each metric with the half-width of its 95 % confidence interval; with
    /// `base`, also the significance of the difference.
    pub fn json(
        &self,
        varied: &[VariedKey],
        metrics: &[Metric],
        base: Option<(&Group<'_>, &SignificanceTest)>,
    ) -> Value {
        let described = |samples: &[f64]| {
            let found = (!samples.is_empty()).then(|| interval(samples, Confidence::P95));
            let half = found.map(|interval| interval.half).filter(|half| half.is_finite());
            json!({ "runs": samples.len(), "mean": found.map(|interval| interval.mean), "half_width_95": half })
        };
        let of_metric = |metric: &Metric| {
            let mut value = described(&self.samples(metric));
            if let Some(Coverage { completed, started }) = self.coverage(metric) {
                (value["completed"], value["started"]) = (completed.into(), started.into());
            }
            if let Some((base, judge)) = base {
                value["within_noise"] = self.within_noise(base, metric, judge).into();
                if let Some(why) = self.undecided(base, metric) {
                    value["undecided"] = why.into();
                }
                let common = self.common_samples(metric);
                if !common.is_empty() {
                    value["common"] = described(&common);
                    value["common"]["flows"] = self.common_flows().into();
                    value["common"]["within_noise"] = self.common_within_noise(base, metric, judge).into();
                }
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

/// Significance level for the differences of a table, corrected for multiple comparisons.
#[derive(Clone, Copy, Debug)]
pub struct SignificanceTest {
    threshold: f64,
}

impl SignificanceTest {
    /// Computes the significance level from all differences of `groups` from the first group in `metrics`, except those
    /// that are zero for every seed.
    pub fn of<'a>(groups: &[Group<'_>], metrics: impl IntoIterator<Item = &'a Metric>) -> SignificanceTest {
        let mut found = Vec::new();
        if let Some((base, others)) = groups.split_first() {
            for metric in metrics {
                let of = |group: &Group<'_>| [group.p_value(base, metric), group.common_p_value(base, metric)];
                found.extend(others.iter().flat_map(of).flatten().filter(|p| *p < 1.0));
            }
        }
        SignificanceTest { threshold: significance::threshold(found) }
    }
}

/// Returns the values of a variant by key.
pub fn set(varied: &[VariedKey], values: &[String]) -> Map<String, Value> {
    varied.iter().zip(values).map(|(vary, value)| (vary.key.clone(), json!(value))).collect()
}

/// Note for tables in which all seeds gave equal results.
pub const ABOUT_EQUAL_RUNS: &str =
    "all seeds gave equal runs: the scenario has no random choices, and one seed is sufficient";

/// Note on means over several seeds.
pub const ABOUT_SEEDS: &str = "mean ± half its 95 % confidence interval over the seeds (Student's t)";

/// Note on the brackets that follow a value.
pub const ABOUT_COVERAGE: &str = "[completed/started]: of the completed flows only; goodput counts every byte \
    that arrived";

/// Note on quantiles of small samples.
pub const ABOUT_FEW: &str = "p99 of fewer than 100 values and p99.9 of fewer than 1,000 are the maximum";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::flows::{FlowLedger, set_common};
    use model::Watcher;
    use record::flows::{FlowRecord, FlowStatistics};

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
        // The metric differs far more between seeds than between variants; c differs from a by 2 for every seed.
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
        let judge = SignificanceTest::of(&groups, &hops);
        let against_a = |at: usize| groups[at].within_noise(&groups[0], &hops[0], &judge);
        assert_eq!((0..4).map(against_a).collect::<Vec<_>>(), [Some(true), Some(true), Some(false), None]);
        // Mean 500, half-width t(2 degrees of freedom) x 400 / sqrt(3).
        assert_eq!(groups[0].cell(&hops[0]), "500 ± 990");
        assert_eq!((groups[3].cell(&hops[0]), groups[3].verdict()), ("7".to_owned(), "ok".to_owned()));
        let group_json = groups[2].json(&[], &hops, Some((&groups[0], &judge)));
        assert_eq!(group_json["metrics"]["packet_hops"]["within_noise"], false);
        assert_eq!(group_json["seeds"], json!([1, 2, 3]));
        assert!(groups.iter().all(|group| !group.is_one_run()), "they differ, or there is one");
    }

    /// Returns a run with stored flows that have these FCTs in us; `None` is an unfinished flow.
    fn run_of_flows(value: &str, seed: u64, fct_us: &[Option<u64>]) -> Row {
        let mut ledger = FlowLedger::of_runs(4);
        let mut statistics = FlowStatistics::new();
        for (flow, fct_us) in (0..).zip(fct_us) {
            let (size_bytes, delivered_ps) =
                (if flow < 3 { 1_000 } else { 5_000_000 }, fct_us.map(|us| us * 1_000_000));
            let record = FlowRecord { flow, size_bytes, delivered_ps, baseline_fct_ps: 1, ..FlowRecord::default() };
            statistics.push(&record);
            ledger.flow(&record);
        }
        let mut summary = Summary { flows: statistics.summary(), ..Summary::default() };
        summary.scenario.seed = seed;
        let variant = Variant { values: vec![value.to_owned()], seed: Some(seed) };
        Row { flows: ledger.completed(&summary), ..Row::new(variant, &summary) }
    }

    /// Over completed flows, the first column has the smaller mean, because its slowest flow is unfinished. Over the
    /// flows that both columns completed, it has the larger mean.
    #[test]
    fn means_over_different_sets_of_flows_are_undecided() {
        let (some, last) = (|us| Some(us), Some(900));
        let mut rows = vec![
            run_of_flows("dcqcn", 1, &[some(100), some(110), some(120), None]),
            run_of_flows("dcqcn", 2, &[some(101), some(110), some(121), None]),
            run_of_flows("hpcc", 1, &[some(50), some(60), some(70), last]),
            run_of_flows("hpcc", 2, &[some(51), some(60), some(70), last]),
        ];
        set_common(&mut rows);
        let mean = metrics::chosen(&["fct-mean".to_owned()], &[]).unwrap();
        let groups = groups(&rows);
        let judge = SignificanceTest::of(&groups, &mean);
        let [base, other] = &groups[..] else { panic!() };
        assert!(base.samples(&mean[0])[0] < other.samples(&mean[0])[0], "the raw means have the wrong order");
        assert_eq!(other.within_noise(base, &mean[0], &judge), None);
        let why = "dcqcn: 2 of 8 flows unfinished, mostly above 3MB";
        assert_eq!(other.undecided(base, &mean[0]).as_deref(), Some(why));
        assert_eq!(other.common_samples(&mean[0])[0], 60_000.0);
        assert_eq!(base.common_samples(&mean[0])[0], 110_000.0);
        assert_eq!(other.common_within_noise(base, &mean[0], &judge), Some(false));
        assert!(
            base.cell(&mean[0]).ends_with("[6/8]") && !other.cell(&mean[0]).contains('['),
            "{}",
            base.cell(&mean[0])
        );
        let metric_json = other.json(&[], &mean, Some((base, &judge)))["metrics"]["fct_mean_ns"].clone();
        assert!(metric_json["within_noise"].is_null() && metric_json["undecided"] == why, "{metric_json}");
        assert_eq!((&metric_json["common"]["flows"], &metric_json["started"]), (&json!(6), &json!(8)));
        let text = super::super::side_by_side::text(&[], &rows, &mean, true);
        assert!(text.contains("FCT mean, common flows") && text.contains(why) && !text.contains('~'), "{text}");
        // Metrics of size ranges without unfinished flows remain comparable.
        let small = metrics::chosen(&["fct-mean-to-10KB".to_owned()], &[]).unwrap();
        assert_eq!(other.within_noise(base, &small[0], &SignificanceTest::of(&groups, &small)), Some(false));
    }

    #[test]
    fn seeds_that_change_nothing_are_one_run() {
        let rows = rows(&[("a", 1, 100), ("a", 2, 100), ("b", 1, 100), ("b", 2, 101), ("c", 1, 100)]);
        let one_run: Vec<bool> = groups(&rows).iter().map(Group::is_one_run).collect();
        assert_eq!(one_run, [true, false, false]);
    }
}
