//! A comparison as a table with one column per variant.

use super::metrics::Metric;
use super::row::{
    ABOUT_COVERAGE, ABOUT_EQUAL_RUNS, ABOUT_FEW, ABOUT_SEEDS, Group, Row, SignificanceTest, groups, warnings,
};
use super::vary::VariedKey;
use std::collections::BTreeSet;
use text::numbers::grouped;
use text::{Layout, table};

/// If there are more columns than this, variants are rows instead.
const MAX_COLUMNS: usize = 5;
/// Symbol for a difference that is not statistically significant.
const NOISE: &str = "~";
/// Maximum number of reasons listed for undecided differences; the reasons for size ranges and labels repeat those for
/// all flows.
const MOST_REASONS: usize = 4;
/// Symbol for values over different sets of flows.
const UNDECIDED: &str = "!";

/// Returns the table with means over seeds. Omits metrics that no run has and, unless `all`, metrics that are zero in
/// all runs.
pub fn text(varied: &[VariedKey], rows: &[Row], metrics: &[Metric], all: bool) -> String {
    let groups = groups(rows);
    let Some(base) = groups.first() else { return String::new() };
    let several = groups.iter().any(|group| group.rows.len() > 1);
    let metrics = shown(rows, metrics, all);
    let judge = SignificanceTest::of(&groups, metrics.iter().copied());
    let (mut marked, mut undecided, mut has_common, mut has_few) = (false, Vec::new(), false, false);
    // One list per metric, then one for the checks; each begins with its name.
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
    for &metric in &metrics {
        let why: Vec<Option<String>> = groups.iter().map(|group| group.undecided(base, metric)).collect();
        let is_undecided = why.iter().any(Option::is_some);
        for why in why.iter().flatten() {
            if !undecided.contains(why) {
                undecided.push(why.clone());
            }
        }
        let mut mark = |noise: Option<bool>, of: &str| {
            marked |= noise == Some(true);
            match (noise, several) {
                _ if !of.is_empty() => format!(" {of}"),
                (Some(true), _) => format!(" {NOISE}"),
                (_, true) => "  ".to_owned(),
                _ => String::new(),
            }
        };
        let cells = groups.iter().enumerate().map(|(at, group)| {
            let noise = group.within_noise(base, metric, &judge).filter(|_| at > 0);
            let of = if why[at].is_some() || (at == 0 && is_undecided) { UNDECIDED } else { "" };
            format!("{}{}", group.cell(metric), mark(noise, of))
        });
        let cells: Vec<String> = cells.collect();
        let is_few = |row: &Row| {
            let values = row.coverage(metric).map(|of| of.completed).filter(|&count| count > 0);
            values.zip(metric.least_values()).is_some_and(|(count, least)| count < least)
        };
        has_few |= rows.iter().any(is_few);
        lists.push(std::iter::once(metric.title.clone()).chain(cells).collect());
        if is_undecided && groups.iter().any(|group| !group.common_samples(metric).is_empty()) {
            has_common = true;
            let cells: Vec<String> = groups
                .iter()
                .enumerate()
                .map(|(at, group)| {
                    let noise = group.common_within_noise(base, metric, &judge).filter(|_| at > 0);
                    format!("{}{}", group.common_cell(metric), mark(noise, ""))
                })
                .collect();
            lists.push(std::iter::once(format!("{}, common flows", metric.title)).chain(cells).collect());
        }
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
                "{NOISE} within the noise: seed by seed, its difference to the first {first} may be chance (Student's \
                 t; over all differences of the table, at most 5 % of those without {NOISE} are expected to be \
                 chance)\n"
            ),
            false if groups.len() > 1 && undecided.is_empty() => {
                format!("no difference to the first {first} is within the noise\n")
            }
            false => String::new(),
        });
    }
    if groups.iter().any(|group| metrics.iter().any(|metric| group.coverage(metric).is_some_and(|of| !of.is_whole()))) {
        text.push_str(&format!("{ABOUT_COVERAGE}\n"));
    }
    if !undecided.is_empty() {
        text.push_str(&format!(
            "{UNDECIDED} undecided: the values are of different sets of completed flows, and mostly the slow ones are \
             missing: {}\n",
            undecided[..undecided.len().min(MOST_REASONS)].join("; ")
        ));
        text.push_str("  a longer duration lets them complete; --until-decided extends it\n");
    }
    if has_common {
        let flows: Vec<String> = groups.iter().map(|group| grouped(group.common_flows())).take(1).collect();
        let flows = flows.concat();
        text.push_str(&format!("common flows: the {flows} that completed in all of these, seed by seed\n"));
    }
    if has_few {
        text.push_str(&format!("{ABOUT_FEW}\n"));
    }
    text + &warnings(&groups)
}

/// Returns the metrics to show. If all flows are in one size range, the metrics of that range equal those of all flows
/// and are omitted.
pub(crate) fn shown<'a>(rows: &[Row], metrics: &'a [Metric], all: bool) -> Vec<&'a Metric> {
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
