//! `tidegate schedule STREAMS`: from streams to slots and gates.

use super::source::{OnFabric, wrong};
use crate::commands::tagger::read_text;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hand_over::{Place, write_folder};
use crate::names::{file_name, port_shown};
use crate::output::{self, Style, styled};
use fabric::{Fabric, NodeId};
use record::file::{sealed, write_file};
use schedule::gates::{GateList, GateOptions, gates};
use schedule::offline::{central, first_come, per_hop};
use schedule::protocol::WireCost;
use schedule::streams::{Listed, StreamsError, links, on_fabric, parse};
use schedule::{Problem, ProblemError, Rejection, Schedule, export, tsnkit};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use text::numbers::counted;
use text::{Layout, table};
use units::{Bytes, Time};

/// Streams, and what to do with them.
#[derive(Debug, clap::Args)]
pub struct MakeArgs {
    /// The streams: a TOML file with a table each, or a CSV file of tsnkit.
    #[arg(value_name = "STREAMS", required = true)]
    streams: Option<PathBuf>,
    #[command(flatten)]
    on: OnFabric,
    /// Who finds the slots.
    #[arg(long, value_enum, value_name = "WHO", default_value = "central")]
    by: By,
    /// The class of the streams, 0 to 7.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u8).range(0..=7))]
    class: u8,
    /// From a frame's last bit until a switch may send it on [default: 0, or that of tsnkit's network]
    #[arg(long, value_name = "TIME")]
    processing: Option<Time>,
    /// Sources start at multiples of this.
    #[arg(long, value_name = "TIME", default_value = "1ns")]
    grid: Time,
    /// The longest common multiple of the periods that is allowed.
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    max_cycle: Time,
    /// Shut all gates ahead of each slot for a frame of this size, for switches that start frames which do not end
    /// before their gate closes.
    #[arg(long, value_name = "BYTES")]
    guard_frame: Option<Bytes>,
    /// A frame costs a wire its own length alone, without preamble and gap, as the DTSCoE thesis and tsnkit count.
    #[arg(long)]
    frame_only: bool,
    /// Write it in this form in place of a summary.
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    /// Write into this file, or where there are several, this folder.
    #[arg(long, value_name = "PATH", requires = "to")]
    out: Option<PathBuf>,
    /// Overwrite what is there and tidegate did not write, or what was changed since.
    #[arg(long, requires = "out")]
    force: bool,
    /// taprio: have network cards run the gates.
    #[arg(long)]
    offload: bool,
    /// taprio and qcw: when the first cycle begins, in nanoseconds of TAI.
    #[arg(long, value_name = "NS", default_value_t = 0)]
    base_time: u64,
    /// Print the summary as one JSON object.
    #[arg(long, conflicts_with = "to")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// One that sees all streams: exact where few hang together
    Central,
    /// The nodes, one stream after the other in the order of the list: what DTSCoE's reservation gives
    Dtscoe,
    /// Each node for itself; frames wait
    PerHop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The schedule, for tidegate schedule verify and other programs
    Json,
    /// A picture of the gates over the cycle
    Svg,
    /// Linux: tc commands, a file for each node
    Taprio,
    /// IEEE 802.1Qcw, a JSON file for each node
    Qcw,
    /// The tables of tsnkit's simulator
    Tsnkit,
}

/// Runs the command.
///
/// # Errors
/// Streams or a fabric that are wrong, and what a format cannot say.
pub fn command(args: &MakeArgs) -> Result<Exit, Failure> {
    let (fabric, of_tsnkit) = args.on.read()?;
    // Asked for by the parser, unless there is a subcommand.
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
    problem.check().map_err(|error| wrong(path, &with_line(&error, &listed)))?;
    let found = match args.by {
        By::Central => central(&problem),
        By::Dtscoe => first_come(&problem),
        By::PerHop => per_hop(&problem),
    };
    let options = GateOptions { class: args.class, guard_bytes: args.guard_frame.map_or(0, Bytes::get) };
    let lists = gates(&problem, &found, options);
    match args.to {
        None if args.json => output::print(&format!("{:#}\n", as_json(&problem, &found, &lists)))?,
        None => output::print(&as_text(&problem, &found, &lists))?,
        Some(format) => {
            write(args, format, &fabric, (&problem, &found, &lists))?;
            rejections(&problem, &found).iter().for_each(|line| output::note(line));
        }
    }
    Ok(if found.rejected.is_empty() { Exit::Done } else { Exit::CheckFailed })
}

/// The error with the line of its stream.
fn with_line(error: &ProblemError, listed: &[Listed]) -> StreamsError {
    let (ProblemError::NoPath { stream }
    | ProblemError::LongerThanPeriod { stream, .. }
    | ProblemError::Deadline { stream, .. }
    | ProblemError::Cycle { stream, .. }
    | ProblemError::Frames { stream, .. }) = error;
    let line = listed.iter().find(|one| &one.name == stream).map_or(0, |one| one.line);
    StreamsError { line, message: error.to_string() }
}

/// What a node calls the port of a link.
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
    let (kind, files) = match format {
        Format::Tsnkit => ("schedule --to tsnkit", tables(fabric, problem, found)?),
        Format::Qcw => ("schedule --to qcw", by_node(args, fabric, made, true)),
        _ => ("schedule --to taprio", by_node(args, fabric, made, false)),
    };
    match &args.out {
        Some(folder) => {
            let all: Vec<_> =
                files.iter().map(|(node, file, text)| (node.as_str(), file.as_str(), text.as_str())).collect();
            let place = Place { folder, kind, whole: true, force: args.force };
            write_folder(place, &all, &notes(args, problem))?;
            output::note(&format!("{}: {}", folder.display(), counted(all.len() as u64, "file")));
            Ok(())
        }
        None => output::print(&files.iter().map(|(_, file, text)| format!("# {file}\n{text}")).collect::<String>()),
    }
}

fn tables(fabric: &Fabric, problem: &Problem, found: &Schedule) -> Result<Vec<(String, String, String)>, Failure> {
    let peer = |link: &schedule::Link| {
        let node = fabric.find(&link.node).unwrap_or(NodeId(0));
        fabric.name(fabric.ports(node)[usize::from(link.port)].peer).to_owned()
    };
    let peers: Vec<String> = problem.links.iter().map(peer).collect();
    let tables = export::tsnkit(problem, found, &peers)
        .map_err(|error| Failure::input(error.to_string(), "--grid 100ns suits tsnkit's simulator"))?;
    Ok(tables.into_iter().map(|(file, text)| (file.to_owned(), file.to_owned(), text)).collect())
}

/// A file for each node that has gates.
fn by_node(
    args: &MakeArgs,
    fabric: &Fabric,
    (problem, _, lists): Made<'_>,
    qcw: bool,
) -> Vec<(String, String, String)> {
    let same = |a: &GateList, b: &GateList| problem.links[a.link].node == problem.links[b.link].node;
    let one = |lists: &[GateList]| {
        let node = problem.links[lists[0].link].node.clone();
        let named = |list: &GateList| interface(fabric, problem, list.link);
        let (file, text) = if qcw {
            let all: Vec<Value> = lists.iter().map(|list| export::qcw(list, &named(list), args.base_time)).collect();
            let all = json!({ "ietf-interfaces:interfaces": { "interface": all } });
            (file_name(&node, ".json"), format!("{all:#}\n"))
        } else {
            let all = lists.iter().map(|list| export::taprio(list, &named(list), args.base_time, args.offload));
            (file_name(&node, ".sh"), all.collect::<Vec<_>>().join("\n"))
        };
        (node, file, text)
    };
    lists.chunk_by(same).map(one).collect()
}

fn notes(args: &MakeArgs, problem: &Problem) -> Vec<String> {
    let mut notes = vec![
        format!("the streams are of class {}; a port opens its gate alone in their slots", args.class),
        "all nodes and sources begin their cycles at the same instant: their clocks must agree (IEEE 802.1AS)".into(),
        "ports that the fabric's file does not name are called eth0, eth1 ... by their numbers".into(),
    ];
    if args.guard_frame.is_none() {
        notes.push(
            "no frame may start that does not end before its gate closes (802.1Q clause 8.6.8.4); for ports that do \
             not see to that use --guard-frame"
                .to_owned(),
        );
    }
    if problem.wire == WireCost::FrameOnly {
        notes.push("slots are as long as frames alone: a real wire needs 20 bytes more for each".to_owned());
    }
    notes
}

/// Why streams have no slots: link, and who holds what there.
fn rejections(problem: &Problem, found: &Schedule) -> Vec<String> {
    const HOLDERS: usize = 8;
    let one = |rejection: &Rejection| {
        let Rejection { stream, link, late, holders } = rejection;
        let (name, link) = (&problem.streams[*stream].name, &problem.links[*link]);
        if *late {
            return format!("no slot for `{name}`: its frames would wait on their way, and come after the deadline");
        }
        let holder = |(stream, slot): &(usize, schedule::Slot)| {
            let name = &problem.streams[*stream].name;
            format!("`{name}` at {} for {} every {}", slot.start(), slot.length(), slot.period())
        };
        let listed: Vec<String> = holders.iter().take(HOLDERS).map(holder).collect();
        let more = holders.len().saturating_sub(HOLDERS);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let held = if listed.is_empty() { "nobody".to_owned() } else { listed.join(", ") };
        format!(
            "no slot for `{name}`: no start is free on its path up to port {} of `{}`, held by {held}{more}",
            link.port, link.node
        )
    };
    found.rejected.iter().map(one).collect()
}

/// When a frame starts, how long it is on its way, and how long it waits.
fn way(problem: &Problem, stream: usize, starts: &[Time]) -> (Time, Time, Time) {
    let spec = &problem.streams[stream];
    let last = starts.len() - 1;
    let latency = starts[last] + problem.passage(spec, spec.path[last]) - starts[0];
    (starts[0], latency, latency.saturating_sub(problem.latency(spec)))
}

fn as_text(problem: &Problem, found: &Schedule, lists: &[GateList]) -> String {
    const ROWS: usize = 40;
    let with = problem.streams.iter().zip(&found.starts).enumerate();
    let row = |(stream, (spec, starts)): (usize, (&schedule::StreamSpec, &Option<Vec<Time>>))| {
        let (start, latency, wait) = way(problem, stream, starts.as_ref()?);
        let times = [spec.period, start, latency, wait].map(|time| time.to_string());
        let [period, start, latency, wait] = times;
        Some(vec![spec.name.clone(), period, Bytes(spec.frame_bytes).to_string(), start, latency, wait])
    };
    let rows: Vec<Vec<String>> = with.filter_map(row).take(ROWS).collect();
    let mut text = table(&["stream", "period", "frame", "start", "latency", "waits"], &rows, 1, Layout::Fixed, 0);
    let accepted = found.accepted();
    if accepted > ROWS {
        text.push_str(&format!("and {} more streams\n", accepted - ROWS));
    }
    let cycle = lists.iter().map(|list| list.cycle).max().unwrap_or(Time::ZERO);
    let most = lists.iter().map(|list| list.entries.len()).max().unwrap_or(0);
    let ports = counted(lists.len() as u64, "port");
    text.push_str(&format!("gates of {ports}, at most {most} states a port; the longest cycle is {cycle}\n"));
    let all = problem.streams.len();
    let verdict = format!("{accepted} of {all} streams have slots");
    let style = if accepted == all { Style::Good } else { Style::Bad };
    text.push_str(&format!("{}\n", styled(&verdict, style)));
    if found.most && accepted < all {
        text.push_str("no more can have any: every schedule that can matter was tried\n");
    }
    for line in rejections(problem, found) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn as_json(problem: &Problem, found: &Schedule, lists: &[GateList]) -> Value {
    let stream = |(stream, (spec, starts)): (usize, (&schedule::StreamSpec, &Option<Vec<Time>>))| match starts {
        None => json!({ "name": spec.name, "slots": false }),
        Some(starts) => {
            let (start, latency, wait) = way(problem, stream, starts);
            json!({
                "name": spec.name, "slots": true, "start_ps": start.as_ps(), "latency_ps": latency.as_ps(),
                "wait_ps": wait.as_ps(),
            })
        }
    };
    let states = |list: &GateList| {
        let link = &problem.links[list.link];
        json!({ "node": link.node, "port": link.port, "cycle_ps": list.cycle.as_ps(), "states": list.entries.len() })
    };
    json!({
        "accepted": found.accepted(), "streams": problem.streams.len(), "most_proved": found.most,
        "slots": problem.streams.iter().zip(&found.starts).enumerate().map(stream).collect::<Vec<_>>(),
        "gates": lists.iter().map(states).collect::<Vec<_>>(),
        "why_not": rejections(problem, found),
    })
}
