//! `tidegate reproduce --search`: judges the claims of a paper at many settings of its open choices.

use super::reproduce::ReproduceArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::count_bar;
use crate::{interrupt, output};
use lab::pool;
use lab::sweep::Shard;
use reproduce::SPACES;
use reproduce::search::{GroupScore, PointResult, SearchFolder, SearchReport, Space, follow};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Number of points to judge if `--points` is not given.
const POINTS: u64 = 100;

/// Runs the search. The exit code is 0 even if claims fail, because a search only measures them.
///
/// # Errors
/// If the paper has no search, the folder is unusable, or judging a setting fails.
pub fn command(args: &ReproduceArgs) -> Result<Exit, Failure> {
    let space = space(&args.experiments)?;
    let points = args.points.unwrap_or(POINTS);
    let (part, parts) = args.shard.map_or((1, 1), |Shard { part, of }| (part, of));
    // From here on, an interruption must leave only complete lines in the files of the search.
    interrupt::listen();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results").join(format!("{}-search", space.paper)));
    let folder = SearchFolder::open(&out, space, (part, parts))?;
    let (found, _) = folder.results()?;
    if !args.quiet {
        let known = if found.is_empty() { String::new() } else { format!("; {} are judged already", found.len()) };
        output::note(&format!("{}: {points} points{known}", out.display()));
    }
    judge(space, &folder, (part, parts), points, found, args)?;
    let (results, cut) = folder.results()?;
    let report = SearchReport::new(space, &results, cut);
    if args.json {
        output::print(&format!("{}\n", text_of(&report)))?;
    } else {
        output::show(&report.text())?;
    }
    Ok(if interrupt::stop().is_set() { Exit::Interrupted } else { Exit::Done })
}

fn text_of(report: &SearchReport) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default()
}

fn space(names: &[String]) -> Result<&'static Space, Failure> {
    let known: Vec<&str> = SPACES.iter().map(|space| space.paper).collect();
    let help = format!("papers with a search: {}", known.join(", "));
    match names {
        [name] => SPACES
            .iter()
            .copied()
            .find(|space| space.paper == *name)
            .ok_or_else(|| Failure::input(format!("there is no search of the open choices of `{name}`"), help)),
        _ => Err(Failure::input("--search takes one paper", help)),
    }
}

/// Judges the points of a part with a progress bar, and stops at the first error. `found` has the results by point so
/// far.
fn judge(
    space: &'static Space,
    folder: &SearchFolder,
    (part, parts): (usize, usize),
    points: u64,
    found: BTreeMap<u64, PointResult>,
    args: &ReproduceArgs,
) -> Result<(), Failure> {
    let bar = count_bar(points / parts as u64, !args.quiet && output::errors_are_watched());
    // Results by group: passed claims and judged points.
    let mut scores: BTreeMap<u64, GroupScore> = BTreeMap::new();
    for (point, result) in &found {
        add_score(&mut scores, point % space.groups(), result);
    }
    let mut evaluate = |groups: &[u64]| -> Result<Option<Vec<GroupScore>>, Failure> {
        let open: Vec<u64> = groups.iter().copied().filter(|group| !scores.contains_key(group)).collect();
        let threads = pool::threads(args.jobs, open.len());
        let done = pool::each(open, threads, interrupt::stop(), |group| {
            let judged = space.judge(group).map_err(Failure::from);
            let result = judged.and_then(|results| folder.add(&results).map(|()| results).map_err(Failure::from));
            if result.is_ok() { ControlFlow::Continue((group, result)) } else { ControlFlow::Break((group, result)) }
        });
        for (_, (group, results)) in done.results {
            results?.iter().for_each(|result| add_score(&mut scores, group, result));
        }
        // A group without a score was not judged because of an interruption.
        let of_groups: Option<Vec<GroupScore>> = groups.iter().map(|group| scores.get(group).copied()).collect();
        bar.inc(of_groups.iter().flatten().map(|score| score.points).sum());
        Ok(of_groups)
    };
    let followed = follow(space, (part, parts), points, &mut evaluate);
    bar.finish_and_clear();
    followed
}

fn add_score(scores: &mut BTreeMap<u64, GroupScore>, group: u64, result: &PointResult) {
    let score = scores.entry(group).or_insert(GroupScore { passes: 0, points: 0 });
    score.passes = score.passes.max(result.passes());
    score.points += 1;
}
