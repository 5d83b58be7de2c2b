//! `tidegate fluid`: solves fluid models of congestion control.

mod draw;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output;
use lab::equations::{self, FixedPointReport, PacketMeasurement, Solved};
use lab::{LabError, Override, Run, parse_override};
use record::files::{PreviousFiles, check_files, write_files};
use scenario::FluidFile;
use std::path::{Path, PathBuf};

/// Kind of the output folder in its manifest.
const KIND: &str = "fluid";

/// Solve a fluid model of congestion control: rates and queue by differential equations, and their convergence.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub struct FluidArgs {
    /// Model, a TOML file; docs/fluid.md describes its keys.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Change a value: `--set model.gain=0.01 --set flow.0.count=10`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
    set: Vec<Override>,
    /// Analyse the fixed point: characteristic roots, round trips with this verdict, conditions of the thesis.
    #[arg(long)]
    stability: bool,
    /// Also run this scenario and compare its packets with the model.
    #[arg(long, value_name = "SCENARIO")]
    packets: Option<PathBuf>,
    /// Write series.csv and summary.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Draw rates and queue into this folder as SVG, with those of --packets.
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// With --plots: draw one column of the series over another, such as queue_bytes,rate_0_bps; a name with `'`
    /// appended is its slope, as in rate_0_bps,rate_0_bps'.
    #[arg(long, value_name = "X,Y", requires = "plots")]
    phase: Vec<String>,
    /// Overwrite files that tidegate did not write.
    #[arg(long)]
    force: bool,
    /// Print all effective values with their origin, and do not solve.
    #[arg(long)]
    explain: bool,
    /// Print only one JSON object on standard output.
    #[arg(long)]
    json: bool,
    /// Print only errors.
    #[arg(long, short)]
    quiet: bool,
}

/// Meaning of the exit codes.
const EXITS: &str = "\
Exit codes: 0 done; 1 the solution ends early: a variable diverges, or no step is short enough; 2 the input is
wrong; 3 disk or memory failed.";

/// Runs the command.
///
/// # Errors
/// Invalid input; a failure of disk or memory.
pub fn command(args: &FluidArgs) -> Result<Exit, Failure> {
    let overrides: Vec<(String, String)> = args.set.iter().map(|set| (set.key.clone(), set.value.clone())).collect();
    let wrong = |errors| LabError::Scenario { errors, path: args.file.clone() };
    let file = FluidFile::read(&args.file, &overrides).map_err(wrong)?;
    if args.explain {
        let explained = if args.json { equations::explained_json(&file) } else { equations::explained(&file) };
        return output::show(&explained).map(|()| Exit::Done);
    }
    let phases = phases(&args.phase, &file)?;
    let run = args.packets.as_deref().map(|path| Run::read(path, &[], None, interrupt::stop())).transpose()?;
    for folder in args.out.iter().chain(&args.plots) {
        // Output folders are checked before the model is solved, so that errors are reported before the long
        // computation.
        check_files(folder, KIND, [], args.force).map_err(Failure::of_output)?;
    }
    let solved = Solved::of(&file);
    let rest = args.stability.then(|| FixedPointReport::of(&file));
    let beside = args.packets.as_deref().zip(run).map(|(path, run)| {
        let packets = PacketMeasurement::of(run.lowered.setup, path, interrupt::stop())?;
        let differ = equations::differences(&file, &packets, &run.lowered.explain);
        Ok::<_, LabError>((packets, differ))
    });
    let beside = beside.transpose()?;
    let shown = || beside.as_ref().map(|(packets, differ)| (packets, &differ[..]));
    let json = equations::json(&file, &solved, rest.as_ref(), shown());
    if let Some(folder) = &args.out {
        write(folder, &[("series.csv", solved.csv().as_bytes()), ("summary.json", json.as_bytes())], args.force)?;
    }
    if let Some(folder) = &args.plots {
        let pictures = draw::pictures(&file, &solved, beside.as_ref().map(|(packets, _)| packets), &phases);
        let files = pictures.iter().map(|(name, picture)| (name.as_str(), picture.as_bytes()));
        write(folder, &files.collect::<Vec<_>>(), args.force)?;
    }
    if args.json {
        output::print(&json)?;
    } else if !args.quiet {
        output::show(&equations::summary(&file, &solved, rest.as_ref(), shown()))?;
    }
    match &solved.failed {
        Some(error) => {
            output::note(&format!("error: {}: {error}", args.file.display()));
            Ok(Exit::CheckFailed)
        }
        None => Ok(Exit::Done),
    }
}

fn write(folder: &Path, files: &[(&str, &[u8])], force: bool) -> Result<(), Failure> {
    write_files(folder, KIND, files, PreviousFiles::Kept, force).map_err(Failure::of_output)
}

/// Parses the values of `--phase`, pairs of column names.
fn phases(requested: &[String], file: &FluidFile) -> Result<Vec<[String; 2]>, Failure> {
    let names = Solved::names(&*file.model());
    let known = |name: &str| names.iter().any(|known| known == name.strip_suffix('\'').unwrap_or(name));
    let help = || format!("columns are {}; with ' behind it, the slope", names.join(", "));
    let pair = |text: &String| {
        let pair = text.split_once(',').map(|(x, y)| [x.trim().to_owned(), y.trim().to_owned()]);
        match pair {
            Some(pair) if pair.iter().all(|name| known(name)) => Ok(pair),
            _ => Err(Failure::input(format!("--phase {text}: two columns of the series are needed"), help())),
        }
    };
    requested.iter().map(pair).collect()
}
