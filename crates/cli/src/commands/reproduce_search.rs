//! `tidegate reproduce --search`: judges the claims of a paper at many settings of its open choices.

use super::reproduce::ReproduceArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::count_bar;
use crate::{interrupt, output};
use lab::pool;
use lab::sweep::Shard;
use reproduce::SPACES;
use reproduce::search::{SearchFolder, SearchReport, Space};
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
    let own = |point: &u64| args.shard.is_none_or(|shard| shard.has(*point as usize));
    let open: Vec<u64> =
        (0..points.min(space.settings())).filter(|point| own(point) && !found.contains_key(point)).collect();
    if !args.quiet {
        let known = if found.is_empty() { String::new() } else { format!("; {} are judged already", found.len()) };
        output::note(&format!("{}: {} points to judge{known}", out.display(), open.len()));
    }
    judge(space, &folder, open, args)?;
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

/// Judges the open points with a progress bar; stops at the first error.
fn judge(space: &'static Space, folder: &SearchFolder, open: Vec<u64>, args: &ReproduceArgs) -> Result<(), Failure> {
    let bar = count_bar(open.len() as u64, !args.quiet && output::errors_are_watched());
    let threads = pool::threads(args.jobs, open.len());
    let done = pool::each(open, threads, interrupt::stop(), |point| {
        let result = space.judge(point).map_err(Failure::from).and_then(|result| Ok(folder.add(&result)?));
        bar.inc(1);
        if result.is_ok() { ControlFlow::Continue(result) } else { ControlFlow::Break(result) }
    });
    bar.finish_and_clear();
    done.results.into_iter().try_for_each(|(_, result)| result)
}
