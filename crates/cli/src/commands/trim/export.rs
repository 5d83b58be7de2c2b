//! `tidegate trim export`: writes the trimming parameters of a scenario as switch configuration.

use super::targets::{self, Trimming};
use crate::arguments::ScenarioArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interfaces::{InterfaceArgs, wrong};
use crate::interrupt;
use crate::names::file_name;
use crate::output;
use crate::output_folder::{OutputFolder, write_folder};
use fabric::{Fabric, NodeId, PortIndex};
use lab::Run;
use model::parameters::{Buffer, Overload, QueueLimit, Scheduler, SwitchOverride};
use protocols::trim::{HeaderDestination, HeaderFull, Victim};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tagger::export::{Dialect, Interfaces};
use text::numbers::counted;

/// Write the trimming of a scenario as switch configuration.
///
/// The configuration is printed on standard output, one object or section per trimming switch; features of the scenario
/// that such a switch does not support are listed on standard error. Ports have the names of the fabric's file.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Output format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Format,
    /// DSCP of trimmed packets, 0 to 63; default: that of captures, 8 times the class of headers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=63))]
    dscp: Option<u8>,
    /// Only this switch; may be repeated; default: all that trim.
    #[arg(id = "only", long = "only", value_name = "NAME")]
    switches: Vec<String>,
    /// Write one file per switch into this folder, and NOTES.txt with notes on loading them.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrite files in that folder that tidegate did not write in this format, or that were changed since.
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    interfaces: InterfaceArgs,
    /// Print only one JSON object on standard output: configurations by switch, and notes.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// SONiC (202505 and later): a fragment of config_db.json
    Sonic,
    /// Cumulus Linux (5.14 and later): NVUE commands
    Nvue,
}

/// Runs the command.
///
/// # Errors
/// If the scenario is invalid, or has a trimming configuration that no switch of this kind supports.
pub fn command(args: &ExportArgs) -> Result<Exit, Failure> {
    let setup = Run::of(&args.scenario.source()?, &args.scenario.set, None, interrupt::stop())?.lowered.setup;
    let (trimming, mut notes) = trimming(&setup, args.dscp)?;
    let fabric = &setup.fabric;
    let switches = chosen(args, fabric, &trimming.switches)?;
    let dialect = match args.to {
        Format::Sonic => Dialect::Sonic,
        Format::Nvue => Dialect::Nvue,
    };
    let names = args.interfaces.interfaces(fabric, None, dialect, &switches)?;
    let buffers = SwitchOverride::resolve(&setup.overrides, &setup.switch);
    let own = |node| Trimming { buffer: buffers.get(&node).unwrap_or(&setup.switch).buffer, ..trimming.clone() };
    let configured = switches.iter().map(|&node| {
        let ports = ports(fabric, node, &names)?;
        let text = match args.to {
            Format::Sonic => targets::sonic(&own(node), &ports),
            Format::Nvue => targets::nvue(&own(node), &ports),
        };
        Ok((fabric.name(node), text))
    });
    let configured = configured.collect::<Result<Vec<_>, Failure>>()?;
    for note in switches.iter().flat_map(|&node| match args.to {
        Format::Sonic => targets::sonic_notes(&own(node)),
        Format::Nvue => targets::nvue_notes(&own(node)),
    }) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes.extend(args.interfaces.note(fabric, &names, &switches));
    let by_switch = || {
        let value = |text: &str| match args.to {
            Format::Sonic => serde_json::from_str(text).unwrap_or(Value::Null),
            Format::Nvue => Value::from(text),
        };
        configured.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect::<Map<_, _>>()
    };
    if let Some(folder) = &args.out {
        let suffix = if args.to == Format::Sonic { ".json" } else { ".nv" };
        let files: Vec<String> = configured.iter().map(|(name, _)| file_name(name, suffix)).collect();
        let all: Vec<_> =
            configured.iter().zip(&files).map(|((name, text), file)| (*name, file.as_str(), text.as_str())).collect();
        let kind = match args.to {
            Format::Sonic => "trim export --to sonic",
            Format::Nvue => "trim export --to nvue",
        };
        let output = OutputFolder { folder, kind, whole: args.switches.is_empty(), force: args.force };
        write_folder(output, &all, &notes)?;
    }
    if args.json {
        output::print(&format!("{:#}\n", json!({ "switches": by_switch(), "notes": notes })))?;
        return Ok(Exit::Done);
    }
    match (&args.out, configured.as_slice(), args.to) {
        (Some(folder), ..) => {
            let count = counted(configured.len() as u64, "file");
            output::note(&format!("{}: {count}, and NOTES.txt to read before loading them", folder.display()));
            return Ok(Exit::Done);
        }
        (None, [(_, text)], _) => output::print(text)?,
        (None, _, Format::Sonic) => output::print(&format!("{:#}\n", Value::Object(by_switch())))?,
        (None, _, Format::Nvue) => {
            let sections = configured.iter().map(|(name, text)| format!("# {name}\n{text}"));
            output::print(&sections.collect::<Vec<_>>().join("\n"))?;
        }
    }
    notes.iter().for_each(|note| output::note(&format!("note: {note}")));
    Ok(Exit::Done)
}

/// Returns the switches to write: those with trimming and, if `--only` is given, named by it.
fn chosen(args: &ExportArgs, fabric: &Fabric, trimming: &[NodeId]) -> Result<Vec<NodeId>, Failure> {
    let find = |name: &str| trimming.iter().copied().find(|&node| fabric.name(node) == name);
    if let Some(name) = args.switches.iter().find(|name| find(name).is_none()) {
        let names: Vec<&str> = trimming.iter().take(8).map(|&node| fabric.name(node)).collect();
        let more = if trimming.len() > 8 { " ..." } else { "" };
        let help = format!("those that trim are {}{more}", names.join(", "));
        return Err(Failure::input(format!("--only: no switch `{name}` trims"), help));
    }
    let wanted =
        |node: &NodeId| args.switches.is_empty() || args.switches.iter().any(|name| fabric.name(*node) == name);
    Ok(trimming.iter().copied().filter(wanted).collect())
}

/// Returns the interface names of a switch.
fn ports(fabric: &Fabric, node: NodeId, names: &Interfaces) -> Result<Vec<String>, Failure> {
    let all = 0..fabric.ports(node).len() as PortIndex;
    all.map(|port| names.name(fabric, node, port).map_err(wrong)).collect()
}

/// Returns the trimming parameters of a scenario, and notes on properties of the scenario that no current switch
/// supports.
fn trimming(setup: &model::parameters::Setup, dscp: Option<u8>) -> Result<(Trimming, Vec<String>), Failure> {
    let Overload::Trim { trim, header_queue, .. } = setup.switch.overload else {
        let help = "write switch.overload = { kind = \"trim\", header_full = \"drop\" }";
        return Err(Failure::input("the switches of this scenario do not trim", help));
    };
    if trim.scheme != HeaderDestination::OwnQueue {
        let message = "these switches forward trimmed packets in a queue of their own: neither do they keep headers in \
            the queue of the data (cut-payload) nor send them back to their source (sfc)";
        return Err(Failure::input(message, "write switch.overload.kind = \"trim\""));
    }
    let fabric = &setup.fabric;
    let switches: Vec<_> =
        fabric.switches().filter(|&node| trim.tiers >> fabric.node(node).tier.min(7) & 1 == 1).collect();
    let mut used: Vec<u8> = setup.traffic.flows.iter().map(|flow| flow.class).collect();
    used.extend(setup.traffic.arrivals.iter().map(|arrivals| arrivals.class));
    used.retain(|&class| trim.classes & (1 << class) != 0);
    used.sort_unstable();
    used.dedup();
    let mut notes = Vec::new();
    let mut say = |note: String| notes.push(note);
    if trim.tiers != 0xff {
        let names: Vec<&str> = switches.iter().take(8).map(|&node| fabric.name(node)).collect();
        let rest = switches.len().saturating_sub(names.len());
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        say(format!("only switches of the tiers that trim take this: {}{more}", names.join(", ")));
    }
    if trim.full == HeaderFull::Return {
        let note = "a trimmed packet that finds no room is dropped there; the scenario sends it back to its source";
        say(note.to_owned());
    }
    if trim.victim != Victim::Arriving {
        say("the packet that arrives is trimmed there; the scenario trims that at the tail of the queue, too"
            .to_owned());
    }
    if matches!(setup.switch.buffer, Buffer::PerQueue { .. }) {
        let room = match header_queue {
            QueueLimit::Packets(packets) => format!("{packets} packets"),
            QueueLimit::Bytes(bytes) => units::Bytes(bytes).to_string(),
        };
        say(format!(
            "they trim where a shared buffer admits no more; the scenario has queues of a fixed size, written as a \
             static threshold, and a header queue of {room}, which the profile of that queue would have to say"
        ));
    }
    if setup.switch.scheduler != Scheduler::Strict {
        say("the weights of the scheduler are not part of this: set those of the queues, too".to_owned());
    }
    let trimming = Trimming {
        size_bytes: trim.size_bytes,
        dscp: dscp.unwrap_or(trim.header_class << 3),
        header_class: trim.header_class,
        classes: used,
        switches,
        buffer: setup.switch.buffer,
        mtu_bytes: setup.host.mtu_bytes,
    };
    Ok((trimming, notes))
}
