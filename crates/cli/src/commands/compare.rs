//! `tidegate compare`: runs a scenario with each value of some keys, and compares the results side by side.

use crate::arguments::ScenarioArgs;
use crate::commands::run;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::count_bar;
use crate::{interrupt, output};
use lab::metrics::{self, Metric};
use lab::row::Row;
use lab::vary::{Seeds, VariedKey, all_seeds, parse_seeds, parse_vary};
use lab::{Comparison, LabError};
use record::files::{PreviousFiles, check_files, write_files};
use std::path::PathBuf;

/// File name of the table of all runs, and the kind of the output folder in its manifest.
const TABLE: &str = "compare.csv";
const KIND: &str = "compare";

/// Run a scenario for each value of one or more keys, and print the results side by side.
#[derive(Debug, clap::Args)]
#[command(after_help = run::EXITS)]
pub struct CompareArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Key and its values; several keys are combined: `--vary host.transport.kind=roce,dcqcn --vary fabric.k=4,8`.
    #[arg(long, value_name = "KEY=A,B,C", required = true, value_parser = parse_vary)]
    vary: Vec<VariedKey>,
    /// Seeds, such as 1..10 (inclusive) or 1,2,5; every combination runs with each seed, and differences to the first
    /// combination that are within the noise are marked.
    #[arg(long, alias = "seed", value_name = "SEEDS", value_parser = parse_seeds)]
    seeds: Vec<Seeds>,
    /// Metrics to print: a name (fct-p99), a prefix (fct, pause), or fct@LABEL for the traffic with this label;
    /// default: the main metrics. --list-metrics lists all.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    metric: Vec<String>,
    /// List the metrics of this scenario and exit.
    #[arg(long)]
    list_metrics: bool,
    /// Extend the runs until the comparison is decided: up to 16 times the duration while flows are unfinished, then up
    /// to 4 times as many seeds until each mean completion time differs significantly from the first or the uncertainty
    /// of the difference is at most this percentage of the first. Only flows that start within the scenario's duration
    /// are measured.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, conflicts_with = "out")]
    until_decided: Option<f64>,
    /// Parallel runs; default: the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Output directory: one folder per result, and compare.csv.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print only one JSON object on standard output.
    #[arg(long)]
    json: bool,
    /// Print no progress and no table, only errors.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// Invalid input, which is detected before the first run; a failure of disk or memory.
pub fn command(args: &CompareArgs) -> Result<Exit, Failure> {
    let seeds = all_seeds(&args.seeds).map_err(LabError::from)?;
    let (source, stop) = (args.scenario.source()?, interrupt::stop());
    let comparison = Comparison::of(&source, &args.scenario.set, &args.vary, &seeds, stop)?;
    if args.list_metrics {
        output::show(&metrics::list(&comparison.labels))?;
        return Ok(Exit::Done);
    }
    let metrics = metrics::chosen(&args.metric, &comparison.labels).map_err(LabError::from)?;
    // From here on, an interruption must leave a valid partial result instead of ending the process at once.
    interrupt::listen();
    let folders = args.out.as_deref().map(|out| comparison.folders(out)).transpose()?;
    if let Some(out) = &args.out {
        check_files(out, KIND, [TABLE], false)?;
    }
    let bar = count_bar(comparison.runs() as u64, !args.quiet && output::errors_are_watched());
    let requested = comparison.extent();
    let ran = match args.until_decided {
        None => comparison.run(folders, args.jobs, stop, &|| bar.inc(1)).map(|rows| (comparison, rows)),
        Some(share) => comparison.run_until_decided(share, args.jobs, stop, &|| bar.inc(1)),
    };
    bar.finish_and_clear();
    let (comparison, (rows, stopped)) = ran?;
    if !args.quiet && comparison.extent() != requested {
        output::note(&format!("--until-decided: {} in place of {requested}", comparison.extent()));
    }
    report(args, &comparison, &rows, &metrics)?;
    let worst = rows.iter().map(|row| run::exit_of(row.partial, row.passes())).max().unwrap_or(Exit::Done);
    Ok(if stopped { Exit::Interrupted } else { worst })
}

/// Parses a percentage of the mean such as `5%` (above 0 % and at most 100 %), and returns it as a fraction.
fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    percent
        .filter(|percent| *percent > 0.0 && *percent <= 100.0)
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "write a share of the mean from 0% to 100%, like 5%".to_owned())
}

fn report(args: &CompareArgs, comparison: &Comparison, rows: &[Row], metrics: &[Metric]) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        let table = comparison.csv(rows);
        write_files(out, KIND, &[(TABLE, table.as_bytes())], PreviousFiles::Kept, false)?;
    }
    if args.json {
        return output::print(&format!("{:#}\n", comparison.json(rows, metrics)));
    }
    if !args.quiet {
        output::show(&comparison.text(rows, metrics, !args.metric.is_empty()))?;
    }
    Ok(())
}
