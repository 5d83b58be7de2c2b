//! A comparison as a table.

use super::metrics::Metric;
use super::row::{ABOUT_EQUAL_RUNS, ABOUT_SEEDS, Group, Row, groups, warnings};
use super::vary::Vary;
use std::collections::BTreeSet;
use text::{Layout, table};

/// With more of them than this, one is a row and not a column.
const MAX_COLUMNS: usize = 5;
/// Marks a difference that may be chance.
const NOISE: &str = "~";

/// The table for a person, seeds put together; metrics that no run has are left out, and those that are zero
/// everywhere unless `all`.
pub fn text(varied: &[Vary], rows: &[Row], metrics: &[Metric], all: bool) -> String {
    let groups = groups(rows);
    let Some(base) = groups.first() else { return String::new() };
    let several = groups.iter().any(|group| group.rows.len() > 1);
    let metrics = shown(rows, metrics, all);
    let mut marked = false;
    // One list per metric, then the verdict: each begins with its name.
    let mut lists: Vec<Vec<String>> = Vec::new();
    for (at, vary) in varied.iter().enumerate() {
        let values = groups.iter().map(|group| group.values()[at].clone());
        lists.push(std::iter::once(vary.key.clone()).chain(values).collect());
    }
    if several || rows.iter().any(|row| row.variant.seed.is_some()) {
        let seeds = groups.iter().map(|group| match group.rows[..] {
            [row] => row.seed.to_string(),
            ref rows => format!("{} seeds", rows.len()),
        });
        lists.push(std::iter::once("seed".to_owned()).chain(seeds).collect());
    }
    let heads = lists.len();
    for metric in metrics {
        let cells = groups.iter().enumerate().map(|(at, group)| {
            let noise = at > 0 && group.within_noise(base, metric) == Some(true);
            marked |= noise;
            let mark = match (several, noise) {
                (false, _) => "",
                (true, false) => "  ",
                (true, true) => " ~",
            };
            format!("{}{mark}", group.cell(metric))
        });
        lists.push(std::iter::once(metric.title.clone()).chain(cells).collect());
    }
    lists.push(std::iter::once("checks".to_owned()).chain(groups.iter().map(Group::verdict)).collect());
    let mut text = if groups.len() <= MAX_COLUMNS { columns(&lists, heads) } else { lines(&lists, heads) };
    if several {
        let first = if groups.len() <= MAX_COLUMNS { "column" } else { "row" };
        text.push_str(&format!("\n{ABOUT_SEEDS}\n"));
        if groups.iter().all(|group| group.is_one_run() || group.rows.len() == 1) {
            text.push_str(&format!("note: {ABOUT_EQUAL_RUNS}\n"));
        }
        text.push_str(&match marked {
            true => format!(
                "{NOISE} within the noise: seed by seed, its difference to the first {first} may be zero at 95 % \
                 confidence\n"
            ),
            false if groups.len() > 1 => format!("no difference to the first {first} is within the noise\n"),
            false => String::new(),
        });
    }
    text + &warnings(&groups)
}

/// Where all flows are of one size, the group of that size says what the line above it says.
fn shown<'a>(rows: &[Row], metrics: &'a [Metric], all: bool) -> Vec<&'a Metric> {
    let values = |metric: &Metric| rows.iter().filter_map(|row| row.value(metric)).collect::<Vec<_>>();
    let sizes = metrics.iter().filter(|metric| !values(metric).is_empty()).filter_map(|metric| metric.size_group());
    let sizes = sizes.collect::<BTreeSet<usize>>().len();
    let has = |metric: &&Metric| {
        let something = values(metric).iter().any(|&value| all || value != 0.0);
        something && (sizes > 1 || metric.size_group().is_none())
    };
    metrics.iter().filter(has).collect()
}

fn columns(lists: &[Vec<String>], heads: usize) -> String {
    let mut lists = lists.to_vec();
    if heads > 0 {
        lists.insert(heads, vec![String::new(); lists[0].len()]);
    }
    table(&[], &lists, 1, Layout::Fitting, 0)
}

fn lines(lists: &[Vec<String>], heads: usize) -> String {
    let header: Vec<&str> = lists.iter().map(|list| list[0].as_str()).collect();
    let count = lists.iter().map(Vec::len).min().unwrap_or(1);
    let lines: Vec<Vec<String>> = (1..count).map(|at| lists.iter().map(|list| list[at].clone()).collect()).collect();
    table(&header, &lines, heads, Layout::Fitting, 0)
}
