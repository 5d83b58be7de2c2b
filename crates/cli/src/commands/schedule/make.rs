//! `tidegate schedule STREAMS`: computes transmission slots and gate control lists (IEEE 802.1Qbv) of periodic streams.

use super::source::{NetworkSource, wrong};
use crate::commands::tagger::read_text;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::{file_name, port_shown};
use crate::output::{self, Style, styled};
use crate::output_folder::{OutputFolder, write_folder};
use fabric::{Fabric, NodeId};
use record::file::{sealed, write_file};
use schedule::export::GateFormat;
use schedule::gates::{GateList, GateOptions, gates};
use schedule::offline::{central, first_come, per_hop};
use schedule::protocol::WireCost;
use schedule::streams::{StreamsError, links, on_fabric, parse};
use schedule::{Problem, Schedule, SlotStrategy, export, summary, tsnkit};
use std::path::{Path, PathBuf};
use text::numbers::counted;
use units::{Bytes, Time};

/// Arguments of `tidegate schedule STREAMS`.
#[derive(Debug, clap::Args)]
pub struct MakeArgs {
    /// Streams: a TOML file with one table per stream, or a CSV file of tsnkit.
    #[arg(value_name = "STREAMS", required = true)]
    streams: Option<PathBuf>,
    #[command(flatten)]
    on: NetworkSource,
    /// Scheduling algorithm.
    #[arg(long, alias = "by", value_enum, value_name = "NAME", default_value = "central")]
    algorithm: ScheduleAlgorithm,
    /// Traffic class of the streams, 0 to 7.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u8).range(0..=7))]
    class: u8,
    /// Switch delay from the last bit of a frame to its earliest transmission [default: 0, or that of tsnkit's network]
    #[arg(long, value_name = "TIME")]
    processing: Option<Time>,
    /// Granularity of start times of sources.
    #[arg(long, value_name = "TIME", default_value = "1ns")]
    grid: Time,
    /// Longest allowed cycle, the least common multiple of the periods.
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    max_cycle: Time,
    /// Close all gates before each slot for the duration of a frame of this size, for switches that start frames that
    /// cannot end before their gate closes.
    #[arg(long, value_name = "BYTES")]
    guard_frame: Option<Bytes>,
    /// Count the frame length alone as cost on the wire, without preamble and gap, as the DTSCoE thesis and tsnkit do.
    #[arg(long)]
    frame_only: bool,
    /// Output format; default: a summary.
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    /// Output file, or output folder for formats with several files.
    #[arg(long, value_name = "PATH", requires = "to")]
    out: Option<PathBuf>,
    /// Overwrite files that tidegate did not write or that were changed since.
    #[arg(long, requires = "out")]
    force: bool,
    /// With --to taprio: offload the gates to the network cards.
    #[arg(long)]
    offload: bool,
    /// With --to taprio or qcw: start of the first cycle, in nanoseconds of TAI [default: 0]
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    base_time: Option<u64>,
    /// Print the summary as one JSON object.
    #[arg(long, conflicts_with = "to")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ScheduleAlgorithm {
    /// All streams together; exact if few streams depend on each other
    Central,
    /// DTSCoE: hop by hop, one stream after the other in the order of the file
    Dtscoe,
    /// DTSCoE with the slot that wastes the least time for others instead of the earliest
    DtscoeTightest,
    /// Each node on its own; frames wait in queues
    PerHop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The schedule, for tidegate schedule verify and other programs
    Json,
    /// A drawing of the gates over the cycle
    Svg,
    /// Linux tc commands, one file per node
    Taprio,
    /// IEEE 802.1Qcw, one JSON file per node
    Qcw,
    /// Tables of tsnkit's simulator
    Tsnkit,
}

/// Runs the command.
///
/// # Errors
/// If the streams or the fabric are invalid, or the format cannot express the schedule.
pub fn command(args: &MakeArgs) -> Result<Exit, Failure> {
    let of_gates = [Some(Format::Taprio), Some(Format::Qcw)];
    for (option, is_given, formats, named) in [
        ("--offload", args.offload, &of_gates[..1], "--to taprio"),
        ("--base-time", args.base_time.is_some(), &of_gates, "--to taprio or --to qcw"),
    ] {
        if is_given && !formats.contains(&args.to) {
            let message = format!("{option}: has no effect without {named}");
            return Err(Failure::input(message, format!("leave it out, or add {named}")));
        }
    }
    let (fabric, of_tsnkit) = args.on.read()?;
    // The argument parser ensures that STREAMS is given unless there is a subcommand.
    let path = args.streams.as_deref().unwrap_or(Path::new(""));
    let text = read_text(path)?;
    let csv = path.extension().is_some_and(|extension| extension == "csv");
    let listed = if csv { tsnkit::streams(&text) } else { parse(&text) }.map_err(|error| wrong(path, &error))?;
    let streams = on_fabric(&fabric, &listed).map_err(|error| wrong(path, &error))?;
    if args.grid == Time::ZERO {
        return Err(Failure::input("--grid: it is above zero", "write --grid 1ns"));
    }
    let wire = if args.frame_only || of_tsnkit.is_some() { WireCost::FrameOnly } else { WireCost::Ethernet };
    let processing = args.processing.or(of_tsnkit).unwrap_or(Time::ZERO);
    if processing > Time::from_s(1) || args.max_cycle > Time::from_s(3600) {
        return Err(Failure::input("--processing is at most 1s, and --max-cycle at most an hour", "write less"));
    }
    let (grid, max_cycle) = (args.grid, args.max_cycle);
    let problem = Problem { links: links(&fabric), streams, wire, processing, grid, max_cycle };
    problem.check().map_err(|error| wrong(path, &StreamsError::of(&error, &listed)))?;
    let found = match args.algorithm {
        ScheduleAlgorithm::Central => central(&problem),
        ScheduleAlgorithm::Dtscoe => first_come(&problem, SlotStrategy::Earliest),
        ScheduleAlgorithm::DtscoeTightest => first_come(&problem, SlotStrategy::Tightest),
        ScheduleAlgorithm::PerHop => per_hop(&problem),
    };
    let options = GateOptions { class: args.class, guard_bytes: args.guard_frame.map_or(0, Bytes::get) };
    let lists = gates(&problem, &found, options);
    match args.to {
        None if args.json => output::print(&format!("{:#}\n", summary::value(&problem, &found, &lists)))?,
        None => output::show(&summary::shown(&problem, &found, &lists, painted))?,
        Some(format) => {
            write(args, format, &fabric, (&problem, &found, &lists))?;
            summary::rejections(&problem, &found).iter().for_each(|line| output::note(line));
        }
    }
    Ok(if found.rejected.is_empty() { Exit::Done } else { Exit::CheckFailed })
}

fn painted(verdict: &str, all: bool) -> String {
    styled(verdict, if all { Style::Good } else { Style::Bad })
}

/// Returns the interface name of the port that sends on `link`.
fn interface(fabric: &Fabric, problem: &Problem, link: usize) -> String {
    let link = &problem.links[link];
    let node = fabric.find(&link.node).unwrap_or(NodeId(0));
    match fabric.port_name(node, link.port) {
        Some(_) => port_shown(fabric, node, link.port),
        None => format!("eth{}", link.port),
    }
}

type Made<'a> = (&'a Problem, &'a Schedule, &'a [GateList]);

fn write(args: &MakeArgs, format: Format, fabric: &Fabric, made: Made<'_>) -> Result<(), Failure> {
    let (problem, found, lists) = made;
    let single = match format {
        Format::Json => Some(schedule::file::write(problem, found, lists, args.class)),
        Format::Svg => Some(sealed(schedule::svg::svg(problem, lists, args.class))),
        _ => None,
    };
    if let Some(text) = single {
        return match &args.out {
            Some(path) => write_file(path, text.as_bytes(), args.force).map_err(Failure::of_output),
            None => output::print(&text),
        };
    }
    if format == Format::Taprio {
        for list in lists {
            let link = &problem.links[list.link];
            if let Some(why) = export::taprio_refuses(list, link.rate) {
                let port = interface(fabric, problem, list.link);
                let message = format!("{port} of `{}`: {why}, which Linux refuses", link.node);
                return Err(Failure::input(message, "longer slots or another --grid, or --to qcw"));
            }
        }
    }
    let of_nodes = |words: GateFormat, ending: &str| -> Vec<(String, String, String)> {
        let named = |link| interface(fabric, problem, link);
        let nodes = export::by_node(problem, lists, words, args.base_time.unwrap_or(0), named).into_iter();
        nodes.map(|(node, text)| (node.clone(), file_name(&node, ending), text)).collect()
    };
    let (kind, files) = match format {
        Format::Tsnkit => ("schedule --to tsnkit", tables(fabric, problem, found)?),
        Format::Qcw => ("schedule --to qcw", of_nodes(GateFormat::Qcw, ".json")),
        _ => ("schedule --to taprio", of_nodes(GateFormat::Taprio { offload: args.offload }, ".sh")),
    };
    match &args.out {
        Some(folder) => {
            let all: Vec<_> =
                files.iter().map(|(node, file, text)| (node.as_str(), file.as_str(), text.as_str())).collect();
            let output = OutputFolder { folder, kind, whole: true, force: args.force };
            write_folder(output, &all, &export::notes(problem, args.class, args.guard_frame.is_some()))?;
            output::note(&format!("{}: {}", folder.display(), counted(all.len() as u64, "file")));
            Ok(())
        }
        None => output::print(&files.iter().map(|(_, file, text)| format!("# {file}\n{text}")).collect::<String>()),
    }
}

fn tables(fabric: &Fabric, problem: &Problem, found: &Schedule) -> Result<Vec<(String, String, String)>, Failure> {
    let tables = export::tsnkit(problem, found, &export::peers(fabric, problem))
        .map_err(|error| Failure::input(error.to_string(), "--grid 100ns suits tsnkit's simulator"))?;
    Ok(tables.into_iter().map(|(file, text)| (file.to_owned(), file.to_owned(), text)).collect())
}
