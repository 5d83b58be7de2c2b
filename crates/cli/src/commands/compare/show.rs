//! A comparison as a table, as CSV and as JSON.

use super::metrics::{Metric, Watch};
use super::variants::{Variant, Vary};
use crate::render::table::{Layout, table};
use record::summary::Summary;
use serde_json::{Map, Value, json};

/// With more runs than this a run is a row, not a column.
const MAX_COLUMNS: usize = 5;

/// One run that was made.
pub struct Row {
    /// What was varied.
    pub variant: Variant,
    /// Its facts.
    pub summary: Summary,
    /// And those that no summary holds.
    pub watch: Watch,
}

/// Which checks failed.
fn verdict(summary: &Summary) -> String {
    let failed: Vec<&str> =
        summary.checks.iter().filter(|check| !check.pass).map(|check| check.name.as_str()).collect();
    let verdict = if failed.is_empty() { "ok".to_owned() } else { format!("FAIL: {}", failed.join(", ")) };
    if summary.partial { format!("{verdict} (partial)") } else { verdict }
}

/// The names of what is varied.
fn keys(varied: &[Vary], rows: &[Row]) -> Vec<String> {
    let seeds = rows.iter().any(|row| row.variant.seed.is_some());
    varied.iter().map(|vary| vary.key.clone()).chain(seeds.then(|| "seed".to_owned())).collect()
}

fn values(row: &Row) -> Vec<String> {
    row.variant.values.iter().cloned().chain(row.variant.seed.map(|seed| seed.to_string())).collect()
}

/// The table for a person; metrics that no run has are left out, and those that are zero everywhere
/// unless `all`.
pub fn text(varied: &[Vary], rows: &[Row], metrics: &[Metric], all: bool) -> String {
    let values_of = |metric: &Metric| rows.iter().map(|row| metric.value(&row.summary, &row.watch)).collect::<Vec<_>>();
    // Where all flows are of one size, the group says what the line above it says.
    let group = |metric: &&Metric| metric.is_mean_of_group() && values_of(metric).iter().any(Option::is_some);
    let groups = metrics.iter().filter(group).count();
    let has = |metric: &&Metric| {
        let values = values_of(metric);
        let something = values.iter().flatten().any(|&value| all || value != 0.0);
        something && (groups > 1 || !metric.is_of_group())
    };
    let metrics: Vec<&Metric> = metrics.iter().filter(has).collect();
    let cell = |metric: &Metric, row: &Row| {
        metric.value(&row.summary, &row.watch).map_or("-".to_owned(), |value| metric.unit.show(value))
    };
    // One list per metric, then the verdict: each begins with its name.
    let mut lists: Vec<Vec<String>> = Vec::new();
    for (at, key) in keys(varied, rows).into_iter().enumerate() {
        lists.push(std::iter::once(key).chain(rows.iter().map(|row| values(row)[at].clone())).collect());
    }
    let heads = lists.len();
    for metric in metrics {
        lists.push(std::iter::once(metric.title.clone()).chain(rows.iter().map(|row| cell(metric, row))).collect());
    }
    lists.push(std::iter::once("checks".to_owned()).chain(rows.iter().map(|row| verdict(&row.summary))).collect());
    if rows.len() <= MAX_COLUMNS {
        let mut text = table(&[], &lists, 1, Layout::Fixed, 0);
        if heads > 0 {
            let at = text.match_indices('\n').nth(heads - 1).map_or(text.len(), |(at, _)| at + 1);
            text.insert(at, '\n');
        }
        return text;
    }
    let header: Vec<&str> = lists.iter().map(|list| list[0].as_str()).collect();
    let lines: Vec<Vec<String>> =
        (1..=rows.len()).map(|at| lists.iter().map(|list| list[at].clone()).collect()).collect();
    table(&header, &lines, heads, Layout::Fixed, 0)
}

/// One line a run under one of names.
pub fn csv(varied: &[Vary], rows: &[Row], metrics: &[Metric]) -> String {
    let quoted = |text: &str| {
        if text.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let mut header = keys(varied, rows);
    header.extend(metrics.iter().map(Metric::column));
    header.push("checks".to_owned());
    let mut text = header.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
    for row in rows {
        let mut cells = values(row);
        let number =
            |metric: &Metric| metric.value(&row.summary, &row.watch).map_or(String::new(), |value| value.to_string());
        cells.extend(metrics.iter().map(number));
        cells.push(verdict(&row.summary));
        text.push_str(&(cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n"));
    }
    text
}

/// One object: what was varied, and each run with its numbers and its checks.
pub fn json(scenario: &str, varied: &[Vary], rows: &[Row], metrics: &[Metric]) -> Value {
    let run = |row: &Row| {
        let set: Map<String, Value> =
            varied.iter().zip(&row.variant.values).map(|(vary, value)| (vary.key.clone(), json!(value))).collect();
        let number = |metric: &Metric| (metric.column(), metric.json(&row.summary, &row.watch));
        json!({
            "set": set, "seed": row.summary.scenario.seed, "partial": row.summary.partial, "pass": row.summary.passes(),
            "metrics": metrics.iter().map(number).collect::<Map<String, Value>>(),
            "checks": row.summary.checks, "results_hash": row.summary.results_hash,
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"), "scenario": scenario,
        "vary": varied.iter().map(|vary| json!({ "key": vary.key, "values": vary.values })).collect::<Vec<_>>(),
        "runs": rows.iter().map(run).collect::<Vec<_>>(),
    })
}
