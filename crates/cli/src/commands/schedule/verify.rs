//! `tidegate schedule verify`: do these slots and gates hold?

use super::source::OnFabric;
use crate::commands::tagger::read_text;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use std::path::PathBuf;
use text::numbers::counted;
use units::Time;
use verify::gates::{Gates, Judgement, judge};

/// Judge slots and gates: paths, wires, gates and deadlines, frame by frame until everything repeats.
///
/// The check shares no code with what makes schedules. Exit code 0: everything holds; 1: a check failed; 2: the input
/// is wrong.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The schedule, as tidegate schedule --to json writes it.
    #[arg(value_name = "SCHEDULE")]
    schedule: PathBuf,
    #[command(flatten)]
    on: OnFabric,
    /// Print nothing: the exit code says it.
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

/// Faults of a check that are printed.
const SHOWN: usize = 10;

/// Runs the command.
///
/// # Errors
/// A schedule or a fabric that is wrong.
pub fn command(args: &VerifyArgs) -> Result<Exit, Failure> {
    let (fabric, _) = args.on.read()?;
    let name = args.schedule.display();
    let gates = Gates::parse(&read_text(&args.schedule)?).map_err(|error| {
        let help = "schedules are written by tidegate schedule --to json";
        Failure::input(error.in_file(&name.to_string()), help)
    })?;
    let found = judge(&gates, &fabric);
    if args.json {
        output::print(&format!("{:#}\n", found.value()))?;
    } else if !args.quiet {
        let (streams, ports) = (counted(gates.streams() as u64, "stream"), counted(gates.ports() as u64, "port"));
        output::print(&format!("{name}: {streams}, gates of {ports}\n{}", as_text(&found)))?;
    }
    Ok(if found.pass() { Exit::Done } else { Exit::CheckFailed })
}

fn as_text(found: &Judgement) -> String {
    let mut text = String::new();
    for check in &found.checks {
        let mark = if check.faults.is_empty() { styled("ok  ", Style::Good) } else { styled("FAIL", Style::Bad) };
        text.push_str(&format!("  {mark}  {}: {}\n", check.name, check.claim));
        for fault in check.faults.iter().take(SHOWN) {
            text.push_str(&format!("        {fault}\n"));
        }
        if check.faults.len() > SHOWN {
            text.push_str(&format!("        and {} more\n", check.faults.len() - SHOWN));
        }
    }
    let (wait, latency) = (Time::from_ps(found.longest_wait_ps), Time::from_ps(found.longest_latency_ps));
    let frames = counted(found.frames, "frame");
    text.push_str(&format!("{frames} followed; the longest wait is {wait}, the longest way {latency}\n"));
    for warning in found.warnings.iter().take(SHOWN) {
        text.push_str(&format!("{}: {warning}\n", styled("warning", Style::Caution)));
    }
    text
}
