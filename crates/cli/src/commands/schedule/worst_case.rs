//! `tidegate schedule worst-case`: computes the worst-case delays of periodic streams without time slots.

use super::source::{NetworkSource, wrong};
use crate::commands::tagger::read_text;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use schedule::protocol::WireCost;
use schedule::streams::{Listed, StreamsError, links, on_fabric, parse_with_classes};
use schedule::worst::{Control, WorstCaseError, summary, worst_cases};
use schedule::{Link, Problem, tsnkit};
use std::path::PathBuf;
use units::Time;

/// Compute the worst delay and jitter of periodic streams without slots over all release phases.
///
/// For each stream of the highest class: an upper bound with proof, phases as a witness, and whether the bound is the
/// exact worst case. Exit code 0: all bounds are within the deadlines; 1: a bound exceeds a deadline; 2: the input is
/// invalid.
#[derive(Debug, clap::Args)]
pub struct WorstCaseArgs {
    /// Streams: a TOML file with one table per stream, each with an optional class, or a CSV file of tsnkit.
    #[arg(value_name = "STREAMS")]
    streams: PathBuf,
    #[command(flatten)]
    on: NetworkSource,
    /// Protection of the highest class from frames of the lower class.
    #[arg(long, value_enum, value_name = "HOW", default_value = "strict")]
    control: ControlName,
    /// Switch delay from the last bit of a frame to its earliest transmission [default: 0, or that of tsnkit's network]
    #[arg(long, value_name = "TIME")]
    processing: Option<Time>,
    /// Count the frame length alone as cost on the wire, without preamble and gap, as the DTSCoE thesis and tsnkit do.
    #[arg(long)]
    frame_only: bool,
    /// Print the scenario that simulates the witness of this stream, for `tidegate run`; the fabric must be a file.
    #[arg(long, value_name = "STREAM", conflicts_with_all = ["frame_only", "processing", "tsnkit_network"])]
    scenario: Option<String>,
    /// Print one JSON object, with the phases of each witness; times are in picoseconds.
    #[arg(long, conflicts_with = "scenario")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ControlName {
    /// Strict priority without preemption
    Strict,
    /// Switches preempt frames of the lower class (IEEE 802.1Qbu, 802.3br)
    Preemption,
    /// Preemption at any byte, at no cost
    IdealPreemption,
}

/// Maximum number of streams: the search effort is divided among them.
const MOST_STREAMS: usize = 1000;

/// Runs the command.
///
/// # Errors
/// If the streams or the fabric are invalid, or the delay of a stream is unbounded.
pub fn command(args: &WorstCaseArgs) -> Result<Exit, Failure> {
    let (fabric, of_tsnkit) = args.on.read()?;
    let path = &args.streams;
    let text = read_text(path)?;
    let csv = path.extension().is_some_and(|extension| extension == "csv");
    let listed = if csv { tsnkit::streams(&text) } else { parse_with_classes(&text) };
    let listed = listed.map_err(|error| wrong(path, &error))?;
    if listed.len() > MOST_STREAMS {
        let message = format!("{}: it has {} streams, and {MOST_STREAMS} are the most", path.display(), listed.len());
        return Err(Failure::input(message, "divide the streams by the links that they share"));
    }
    if let Some(stream) = listed.iter().find(|stream| stream.start.is_some()) {
        let message = format!("stream `{}` has a `start`, and worst-case is about all of them", stream.name);
        return Err(wrong(path, &StreamsError { line: stream.line, message }));
    }
    let streams = on_fabric(&fabric, &listed).map_err(|error| wrong(path, &error))?;
    let wire = if args.frame_only || of_tsnkit.is_some() { WireCost::FrameOnly } else { WireCost::Ethernet };
    let processing = args.processing.or(of_tsnkit).unwrap_or(Time::ZERO);
    if processing > Time::from_s(1) {
        return Err(Failure::input("--processing is at most 1s", "write less"));
    }
    let grid = Time::from_ps(1);
    let problem = Problem { links: links(&fabric), streams, wire, processing, grid, max_cycle: Time::MAX };
    let classes: Vec<u8> = listed.iter().map(|stream| stream.class.unwrap_or(7)).collect();
    let control = match args.control {
        ControlName::Strict => Control::Strict,
        ControlName::Preemption => Control::Preemption,
        ControlName::IdealPreemption => Control::IdealPreemption,
    };
    let found = worst_cases(&problem, &classes, control)
        .map_err(|error| wrong(path, &StreamsError { line: 0, message: shown(&error, &problem.links) }))?;
    let Some(name) = &args.scenario else {
        if args.json {
            output::print(&format!("{:#}\n", summary::value(&problem, &found, control)))?;
        } else {
            output::show(&summary::shown(&problem, &found))?;
        }
        let late = found.iter().any(|case| case.may_be_late(&problem));
        return Ok(if late { Exit::CheckFailed } else { Exit::Done });
    };
    let Some(case) = found.iter().find(|case| &problem.streams[case.stream].name == name) else {
        let message = format!("--scenario: the highest class has no stream `{name}`");
        return Err(Failure::input(message, "write a name of the first column"));
    };
    let file = args.on.file()?;
    let ends: Vec<(String, String)> = listed.iter().map(ends).collect();
    output::print(&summary::scenario(&problem, &classes, &ends, case, control, &file))?;
    Ok(Exit::Done)
}

fn ends(stream: &Listed) -> (String, String) {
    (stream.nodes[0].clone(), stream.nodes[stream.nodes.len() - 1].clone())
}

fn shown(error: &WorstCaseError, links: &[Link]) -> String {
    match *error {
        WorstCaseError::Classes(_) => error.to_string(),
        WorstCaseError::Cycle(link) => {
            let Link { node, port, .. } = &links[link];
            format!("{error}, from which frames reach port {port} of {node}: their delays have no proven bound")
        }
        WorstCaseError::Overload(link) => {
            let Link { node, port, .. } = &links[link];
            format!("{error}, port {port} of {node}: their delays have no proven bound")
        }
    }
}
