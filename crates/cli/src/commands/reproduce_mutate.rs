//! `tidegate reproduce --mutate`: changes the parameters of papers, and reports which changes a claim catches.

use super::reproduce::ReproduceArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::count_bar;
use crate::{interrupt, output};
use lab::pool;
use reproduce::mutation::{MutationReport, Paper};
use std::ops::ControlFlow;

/// Runs the mutations. Exit code 0 also if no claim catches some of them, because the command only measures this.
///
/// # Errors
/// An unknown paper, or an error of an experiment with the unchanged model.
pub fn command(args: &ReproduceArgs) -> Result<Exit, Failure> {
    interrupt::listen();
    let mut reports = Vec::new();
    for name in &args.experiments {
        if interrupt::stop().is_set() {
            break;
        }
        if !args.quiet {
            output::note(&format!("{name}: runs with the unchanged model ..."));
        }
        let paper = Paper::run(name, args.quick)?;
        let mutations = paper.mutations();
        let bar = count_bar(mutations.len() as u64, !args.quiet && output::errors_are_watched());
        let threads = pool::threads(args.jobs, mutations.len());
        let done = pool::each(mutations.clone(), threads, interrupt::stop(), |mutation| {
            let effect = paper.judge(&mutation);
            bar.inc(1);
            ControlFlow::Continue(effect)
        });
        bar.finish_and_clear();
        let effects = done.results.into_iter().map(|(at, effect)| (mutations[at].clone(), effect)).collect();
        let report = MutationReport::new(&paper, effects, mutations.len());
        if !args.json {
            output::show(&report.text())?;
        }
        reports.push(report);
    }
    if args.json {
        output::print(&format!("{}\n", serde_json::to_string_pretty(&reports).unwrap_or_default()))?;
    }
    Ok(if interrupt::stop().is_set() { Exit::Interrupted } else { Exit::Done })
}
