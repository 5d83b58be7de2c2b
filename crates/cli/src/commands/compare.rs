//! `tidegate compare`: the same workload under each value, side by side.

use crate::arguments::ScenarioArgs;
use crate::commands::run;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::count_bar;
use crate::{interrupt, output};
use lab::metrics::{self, Metric};
use lab::row::Row;
use lab::vary::{Seeds, Vary, all_seeds, parse_seeds, parse_vary};
use lab::{Comparison, LabError};
use record::files::{Earlier, check_files, write_files};
use std::path::PathBuf;

/// The table of all runs, and what the list of the folder's files calls the folder.
const TABLE: &str = "compare.csv";
const KIND: &str = "compare";

/// Run the same scenario under each value of one or more keys, and set the results side by side.
#[derive(Debug, clap::Args)]
#[command(after_help = run::EXITS)]
pub struct CompareArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// A key and its values; several keys are combined: `--vary host.transport.kind=roce,dcqcn --vary fabric.k=4,8`.
    #[arg(long, value_name = "KEY=A,B,C", required = true, value_parser = parse_vary)]
    vary: Vec<Vary>,
    /// Seeds, such as 1..10 (both ends included) or 1,2,5; every combination runs under each of them, and
    /// differences to the first that are within the noise are marked.
    #[arg(long, alias = "seed", value_name = "SEEDS", value_parser = parse_seeds)]
    seeds: Vec<Seeds>,
    /// What to show: a metric by its name (fct-p99), several by the beginning of theirs (fct, pause), or fct@LABEL of
    /// traffic with this label; the main metrics without. --list-metrics lists them.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    metric: Vec<String>,
    /// List the metrics of this scenario, and run nothing.
    #[arg(long)]
    list_metrics: bool,
    /// While flows are unfinished, run up to 16 times as long; then, while the mean completion time neither differs by
    /// more than chance nor is its difference known to this share, under up to 4 times as many seeds. Measured are the
    /// flows that start within the scenario's own duration.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, conflicts_with = "out")]
    until_decided: Option<f64>,
    /// Runs at a time; as many as there are cores without.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Write every result into a folder of its own below this one, and compare.csv beside them.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
    /// No progress and no table: errors and the exit code only.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// Wrong input, found before anything runs; a machine that fails.
pub fn command(args: &CompareArgs) -> Result<Exit, Failure> {
    let seeds = all_seeds(&args.seeds).map_err(LabError::from)?;
    let (source, stop) = (args.scenario.source()?, interrupt::stop());
    let comparison = Comparison::of(&source, &args.scenario.set, &args.vary, &seeds, stop)?;
    if args.list_metrics {
        output::show(&metrics::list(&comparison.labels))?;
        return Ok(Exit::Done);
    }
    let metrics = metrics::chosen(&args.metric, &comparison.labels).map_err(LabError::from)?;
    // From here on there is something to leave behind.
    interrupt::listen();
    let folders = args.out.as_deref().map(|out| comparison.folders(out)).transpose()?;
    if let Some(out) = &args.out {
        check_files(out, KIND, [TABLE], false)?;
    }
    let bar = count_bar(comparison.runs() as u64, !args.quiet && output::errors_are_watched());
    let asked = comparison.extent();
    let ran = match args.until_decided {
        None => comparison.run(folders, args.jobs, stop, &|| bar.inc(1)).map(|rows| (comparison, rows)),
        Some(share) => comparison.run_until_decided(share, args.jobs, stop, &|| bar.inc(1)),
    };
    bar.finish_and_clear();
    let (comparison, (rows, stopped)) = ran?;
    if !args.quiet && comparison.extent() != asked {
        output::note(&format!("--until-decided: {} in place of {asked}", comparison.extent()));
    }
    report(args, &comparison, &rows, &metrics)?;
    let worst = rows.iter().map(|row| run::exit_of(row.partial, row.passes())).max().unwrap_or(Exit::Done);
    Ok(if stopped { Exit::Interrupted } else { worst })
}

/// Parses `5%`.
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
        write_files(out, KIND, &[(TABLE, table.as_bytes())], Earlier::Kept, false)?;
    }
    if args.json {
        return output::print(&format!("{:#}\n", comparison.json(rows, metrics)));
    }
    if !args.quiet {
        output::show(&comparison.text(rows, metrics, !args.metric.is_empty()))?;
    }
    Ok(())
}
