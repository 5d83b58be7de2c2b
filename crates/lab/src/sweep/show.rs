//! Output of a sweep as text and JSON: means over seeds, and missing runs.

use super::plan::{Plan, SweepRun};
use super::store::RUNS;
use super::{RunOutcome, TABLE_FILE};
use crate::error::LabError;
use crate::runs::metrics::Metric;
use crate::runs::row::{ABOUT_COVERAGE, ABOUT_EQUAL_RUNS, ABOUT_SEEDS, Group, groups, set, warnings};
use serde_json::{Value, json};
use std::path::Path;
use text::numbers::counted;
use text::{Layout, table as draw};

/// Maximum number of value combinations in the text.
const MAX_LINES: usize = 40;
/// Maximum number of value combinations whose unfinished flows are listed.
const MAX_UNDECIDED: usize = 4;
/// Maximum number of characters of a value in the table.
const MAX_VALUE: usize = 28;

/// Shortens a value for the table.
fn cut(value: &str) -> String {
    match value.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => format!("{}...", &value[..at]),
        None => value.to_owned(),
    }
}

/// A sweep and its results, for output.
#[derive(Clone, Copy, Debug)]
pub struct SweepReport<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Every run.
    pub points: &'a [SweepRun],
    /// The result of each run.
    pub outcomes: &'a [RunOutcome],
    /// The folder of the sweep.
    pub out: &'a Path,
    /// Function that formats the error of a failed run.
    pub message: fn(&LabError) -> String,
}

/// Number of runs by result.
#[derive(Default)]
struct Counts {
    complete: u64,
    found: u64,
    failed: u64,
    open: u64,
}

impl SweepReport<'_> {
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for outcome in self.outcomes {
            match outcome {
                RunOutcome::Complete { found, .. } => {
                    counts.complete += 1;
                    counts.found += u64::from(*found);
                }
                RunOutcome::Failed(_) => counts.failed += 1,
                RunOutcome::Open => counts.open += 1,
            }
        }
        counts
    }

    fn groups(&self) -> Vec<Group<'_>> {
        groups(self.outcomes.iter().filter_map(|outcome| match outcome {
            RunOutcome::Complete { row, .. } => Some(&**row),
            RunOutcome::Failed(_) | RunOutcome::Open => None,
        }))
    }

    /// Returns a line for every combination of values, then counts of complete and missing runs. Metrics that are zero
    /// in all runs are omitted unless `all`.
    pub fn text(&self, metrics: &[Metric], all: bool) -> String {
        let groups = self.groups();
        let is_shown = |metric: &&Metric| {
            groups.iter().any(|group| group.samples(metric).iter().any(|&value| all || value != 0.0))
        };
        let metrics: Vec<&Metric> = metrics.iter().filter(is_shown).collect();
        let mut header: Vec<&str> = self.plan.varied.iter().map(|vary| vary.key.as_str()).collect();
        let left = header.len();
        header.push("runs");
        header.extend(metrics.iter().map(|metric| metric.title.as_str()));
        header.push("checks");
        let line = |group: &Group<'_>| {
            let mut cells: Vec<String> = group.values().iter().map(|value| cut(value)).collect();
            cells.push(group.rows.len().to_string());
            cells.extend(metrics.iter().map(|metric| group.cell(metric)));
            cells.push(group.verdict());
            cells
        };
        let lines: Vec<Vec<String>> = groups.iter().take(MAX_LINES).map(line).collect();
        let mut text = String::new();
        if !lines.is_empty() {
            text.push_str(&draw(&header, &lines, left, Layout::Fitting, 0));
            if groups.len() > MAX_LINES {
                text.push_str(&format!("and {} more combinations, see {}\n", groups.len() - MAX_LINES, TABLE_FILE));
            }
            if groups.iter().any(|group| group.rows.len() > 1) {
                text.push_str(&format!("{ABOUT_SEEDS}\n"));
            }
            let is_cut =
                |group: &Group<'_>| metrics.iter().any(|of| group.coverage(of).is_some_and(|of| !of.is_whole()));
            if groups.iter().any(is_cut) {
                text.push_str(&format!("{ABOUT_COVERAGE}\n"));
                let why = groups.iter().filter_map(|group| group.unfinished_flows());
                let why: Vec<String> = why.take(MAX_UNDECIDED).collect();
                text.push_str(&format!(
                    "undecided: rows with different sets of completed flows cannot be compared, since mostly the slow \
                     ones are missing: {}\n",
                    why.join("; ")
                ));
            }
            let equal = groups.iter().filter(|group| group.is_one_run()).count();
            let several = groups.iter().filter(|group| group.rows.len() > 1).count();
            if equal > 0 && equal == several {
                text.push_str(&format!("note: {ABOUT_EQUAL_RUNS}\n"));
            } else if equal > 0 {
                let of = counted(several as u64, "combination");
                text.push_str(&format!("note: in {equal} of {of} {ABOUT_EQUAL_RUNS}\n"));
            }
            text.push_str(&warnings(&groups));
            text.push('\n');
        }
        let counts = self.counts();
        text.push_str(&format!("runs    {}: {} complete", self.points.len(), counts.complete));
        let others = [
            (counts.found, "of them from an earlier command"),
            (counts.failed, "failed"),
            (counts.open, "not yet run"),
        ];
        for (count, what) in others.into_iter().filter(|(count, _)| *count > 0) {
            text.push_str(&format!(", {count} {what}"));
        }
        let out = self.out.display();
        text.push_str(&format!("\ntable   {out}/{}\n", TABLE_FILE));
        if counts.failed + counts.open > 0 {
            let open = counted(counts.failed + counts.open, "run");
            text.push_str(&format!("        {open} missing: continue with the same command and --resume\n"));
        }
        text
    }

    /// Returns one JSON object: the varied keys, means over seeds, and every missing run.
    pub fn json(&self, metrics: &[Metric]) -> Value {
        let varied = &self.plan.varied;
        let of_runs =
            |is: fn(&RunOutcome) -> bool| self.points.iter().zip(self.outcomes).filter(move |(_, outcome)| is(outcome));
        let failed = of_runs(|outcome| matches!(outcome, RunOutcome::Failed(_))).map(|(point, outcome)| {
            let message = if let RunOutcome::Failed(error) = outcome { (self.message)(error) } else { String::new() };
            json!({
                "run": point.id, "set": set(varied, &point.variant.values), "seed": point.seed, "message": message,
                "command": self.plan.command(point),
            })
        });
        let runs = of_runs(|outcome| matches!(outcome, RunOutcome::Complete { .. })).filter_map(|(point, outcome)| {
            let RunOutcome::Complete { row, found } = outcome else { return None };
            Some(json!({
                "run": point.id, "set": set(varied, &row.variant.values), "seed": row.seed, "found": found,
                "pass": row.passes(), "metrics": row.json(metrics),
                "coverage": row.coverage_json(metrics), "warnings": row.warnings,
                "results_hash": row.results_hash,
            }))
        });
        let counts = self.counts();
        let mut value = self.plan.manifest();
        value["folder"] = self.out.join(RUNS).display().to_string().into();
        value["table"] = self.out.join(TABLE_FILE).display().to_string().into();
        value["complete"] = counts.complete.into();
        value["found"] = counts.found.into();
        value["open"] = counts.open.into();
        value["failed"] = failed.collect::<Vec<_>>().into();
        let of_group = |group: &Group<'_>| group.json(varied, metrics, None);
        value["groups"] = self.groups().iter().map(of_group).collect::<Vec<_>>().into();
        value["results"] = runs.collect::<Vec<_>>().into();
        value
    }
}
