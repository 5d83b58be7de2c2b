//! `tidegate schedule verify`: checks time slots and gate control lists.

use super::others::{self, GateParameters};
use super::source::NetworkSource;
use crate::commands::tagger::read_text;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use std::path::PathBuf;
use text::numbers::counted;
use units::Time;
use verify::gates::{Gates, Judgement, follow, judge};

/// Check slots and gates: paths, links, gates and deadlines, frame by frame until the schedule repeats.
///
/// The check shares no code with the scheduler. Exit code 0: every check passes; 1: a check failed; 2: the input is
/// invalid.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// Schedule of tidegate schedule --to json, or gates of any origin: `tc taprio` commands in NODE.sh, IEEE 802.1Qcw
    /// in NODE.json, or a folder of such files or of tsnkit's tables.
    #[arg(value_name = "SCHEDULE")]
    schedule: PathBuf,
    #[command(flatten)]
    on: NetworkSource,
    /// Gates without a schedule: file of the streams, with the start of each.
    #[arg(long, value_name = "STREAMS")]
    streams: Option<PathBuf>,
    /// Gates without a schedule: class of the streams, 0 to 7 [default: 7]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=7))]
    class: Option<u8>,
    /// Gates without a schedule: switch delay from the last bit of a frame to its earliest transmission [default: 0, or
    /// that of tsnkit's network]
    #[arg(long, value_name = "TIME")]
    processing: Option<Time>,
    /// Gates without a schedule: count the frame length alone as cost on the wire, without preamble and gap.
    #[arg(long)]
    frame_only: bool,
    /// Print nothing; the exit code has the result.
    #[arg(long, short)]
    quiet: bool,
    /// Print only one JSON object on standard output.
    #[arg(long)]
    json: bool,
}

/// Maximum number of faults printed per check.
const SHOWN: usize = 10;

/// Runs the command.
///
/// # Errors
/// If the schedule or the fabric is invalid.
pub fn command(args: &VerifyArgs) -> Result<Exit, Failure> {
    let (fabric, of_tsnkit) = args.on.read()?;
    let name = args.schedule.display();
    let beside = GateParameters {
        streams: args.streams.as_deref(),
        class: args.class.unwrap_or(7),
        processing: args.processing.or(of_tsnkit).unwrap_or(Time::ZERO),
        frame_only: args.frame_only || of_tsnkit.is_some(),
    };
    if let Some(lists) = others::read(&args.schedule, &fabric, &beside)? {
        return show_judgement(args, &follow(&lists, &fabric), lists.streams(), lists.ports());
    }
    for (option, is_given) in [
        ("--streams", args.streams.is_some()),
        ("--class", args.class.is_some()),
        ("--processing", args.processing.is_some()),
        ("--frame-only", args.frame_only),
    ] {
        if is_given {
            let message = format!("{option}: has no effect on {name}, a schedule that states it");
            return Err(Failure::input(message, "leave it out: it is for gates without a schedule"));
        }
    }
    let gates = Gates::parse(&read_text(&args.schedule)?).map_err(|error| {
        let help = "schedules are written by tidegate schedule --to json";
        Failure::input(error.in_file(&name.to_string()), help)
    })?;
    show_judgement(args, &judge(&gates, &fabric), gates.streams(), gates.ports())
}

fn show_judgement(args: &VerifyArgs, found: &Judgement, streams: usize, ports: usize) -> Result<Exit, Failure> {
    let name = args.schedule.display();
    if args.json {
        output::print(&format!("{:#}\n", found.value()))?;
    } else if !args.quiet {
        let (streams, ports) = (counted(streams as u64, "stream"), counted(ports as u64, "port"));
        output::show(&format!("{name}: {streams}, gates of {ports}\n{}", as_text(found)))?;
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
    let jitter = match found.jitter_ps {
        0 => String::new(),
        ps => format!(", jitter up to {}", Time::from_ps(ps)),
    };
    text.push_str(&format!("{frames} followed; the longest wait is {wait}, the longest way {latency}{jitter}\n"));
    for warning in found.warnings.iter().take(SHOWN) {
        text.push_str(&format!("{}: {warning}\n", styled("warning", Style::Caution)));
    }
    text
}
