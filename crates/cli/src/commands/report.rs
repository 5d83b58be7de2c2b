//! `tidegate report`: writes results as one HTML page.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::recognise::not_a_result;
use record::file::{sealed, write_file};
use record::folder::is_result;
use report::{ReportError, Run};
use std::path::{Path, PathBuf};
use text::numbers::counted;

/// Maximum number of runs on one page: more would make the figures unreadable.
const MAX_RUNS: usize = 24;

/// Write results as one self-contained HTML page: numbers, completion times, queues, pauses, checks.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Result folders of `run`, `compare` or `sweep`.
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Output file.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Overwrite a file that is not a tidegate report, or that was changed since.
    #[arg(long)]
    force: bool,
    /// Title of the page; default: the names of the scenarios, or of the sweep's folder.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Print only errors.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// If a folder has no result of this version, or the page cannot be written.
pub fn command(args: &ReportArgs) -> Result<Exit, Failure> {
    if let [folder] = &args.folders[..]
        && report::is_sweep(folder)
    {
        let sweep = report::read_sweep(folder).map_err(|error| failure(folder, error))?;
        let name = folder.file_name().map_or("sweep".to_owned(), |name| name.to_string_lossy().into_owned());
        let page = report::sweep_page(args.title.as_ref().unwrap_or(&name), &sweep);
        return written(args, page, &counted(sweep.rows.len() as u64, "combination"));
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in &args.folders {
        let found = results_in(folder);
        if found.is_empty() {
            let none = || {
                Failure::input(
                    format!("{} holds no result of tidegate", folder.display()),
                    "name a folder that `tidegate run --out`, `compare --out` or `sweep --out` made",
                )
            };
            return Err(not_a_result(folder).unwrap_or_else(none));
        }
        folders.extend(found);
    }
    if folders.len() > MAX_RUNS {
        return Err(Failure::input(
            format!("{} results: a page shows at most {MAX_RUNS} side by side", folders.len()),
            "name some of the folders below; of a sweep name the folder that holds its sweep.parquet",
        ));
    }
    let labels = report::labels(&folders);
    let mut runs = Vec::new();
    for (folder, label) in folders.iter().zip(&labels) {
        runs.push(report::read_run(folder, label).map_err(|error| failure(folder, error))?);
    }
    for run in runs.iter().filter(|_| !args.quiet) {
        run.damage.iter().for_each(|what| output::note(&format!("warning: {}: {what}", run.folder)));
    }
    let title = args.title.clone().unwrap_or_else(|| title_of(&runs));
    written(args, report::page(&title, &runs), &counted(runs.len() as u64, "run"))
}

/// Writes the page to `--out`, and prints a line that describes its content as `what`.
fn written(args: &ReportArgs, page: String, what: &str) -> Result<Exit, Failure> {
    let page = sealed(page);
    write_file(&args.out, page.as_bytes(), args.force).map_err(Failure::of_output)?;
    if !args.quiet {
        let size = units::Bytes(page.len() as u64);
        output::note(&format!("{}: {what}, {size}", args.out.display()));
    }
    Ok(Exit::Done)
}

/// Returns the result folders that `folder` stands for: itself, the results in it, or the results in its subfolder
/// `runs`.
fn results_in(folder: &Path) -> Vec<PathBuf> {
    if is_result(folder) {
        return vec![folder.to_owned()];
    }
    let below = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_result(path)).collect();
        found.sort();
        found
    };
    let found = below(folder);
    if found.is_empty() { below(&folder.join("runs")) } else { found }
}

fn title_of(runs: &[Run]) -> String {
    let mut names: Vec<&str> = runs.iter().map(|run| run.summary.scenario.name.as_str()).collect();
    names.dedup();
    names.join(", ")
}

fn failure(folder: &Path, error: ReportError) -> Failure {
    let help = match &error {
        ReportError::OtherVersion { .. } => "a result and its report come from the same version",
        _ => return Failure::Input { message: format!("{}: {error}", folder.display()), help: None },
    };
    Failure::input(error.to_string(), help)
}
