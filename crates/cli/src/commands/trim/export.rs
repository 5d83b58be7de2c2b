//! `tidegate trim export`: the trimming of a scenario in the language of a switch.

use super::targets::{Trimming, nvue, sonic};
use crate::arguments::{self, ScenarioArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use model::parameters::{Buffer, Overload, QueueLimit, Scheduler};
use protocols::trim::{HeaderFull, Scheme, Victim};
use serde_json::json;

/// Write the trimming of a scenario in the language of a switch.
///
/// The configuration goes to standard output; what of the scenario such a switch cannot do, to standard error.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// The language.
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Format,
    /// DSCP of trimmed packets, 0 to 63; without it that of captures, eight times the class of headers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=63))]
    dscp: Option<u8>,
    /// sonic: numbers between two ports, as in Ethernet0, Ethernet4.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=16))]
    lanes: u16,
    /// Print one JSON object on standard output, and nothing else: the configuration and the notes.
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
/// A scenario that is wrong, or does not trim as such a switch can at all.
pub fn command(args: &ExportArgs) -> Result<Exit, Failure> {
    let path = &args.scenario.scenario;
    let scenario = arguments::read(path, &args.scenario.set, None)?;
    let setup = arguments::lower(&scenario, path)?.setup;
    let (trimming, mut notes) = trimming(&setup, args.dscp)?;
    let (text, more) = match args.to {
        Format::Sonic => sonic(&trimming, args.lanes),
        Format::Nvue => nvue(&trimming),
    };
    notes.extend(more);
    if args.json {
        output::print(&format!("{:#}\n", json!({ "configuration": text, "notes": notes })))?;
    } else {
        output::print(&text)?;
        notes.iter().for_each(|note| output::note(&format!("note: {note}")));
    }
    Ok(Exit::Done)
}

/// What a scenario says of trimming, and what no switch of today does of it.
fn trimming(setup: &model::parameters::Setup, dscp: Option<u8>) -> Result<(Trimming, Vec<String>), Failure> {
    let Overload::Trim { trim, header_queue, .. } = setup.switch.overload else {
        let help = "write switch.overload = { kind = \"trim\", header_full = \"drop\" }";
        return Err(Failure::input("the switches of this scenario do not trim", help));
    };
    if trim.scheme != Scheme::OwnQueue {
        let message = "these switches forward trimmed packets in a queue of their own: neither do they keep headers in the \
                       queue of the data (cut-payload) nor send them back to their source (sfc)";
        return Err(Failure::input(message, "write switch.overload.kind = \"trim\""));
    }
    let fabric = &setup.fabric;
    let switches: Vec<_> =
        fabric.switches().filter(|&node| trim.tiers >> fabric.node(node).tier.min(7) & 1 == 1).collect();
    let ports = switches.iter().map(|&node| fabric.ports(node).len()).max().unwrap_or(0);
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
        say("a trimmed packet that finds no room is dropped there; the scenario sends it back to its source".to_owned());
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
            "they trim where a shared buffer admits no more; the scenario has queues of a fixed size, written as a static \
             threshold, and a header queue of {room}, which the profile of that queue would have to say"
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
        ports,
        buffer: setup.switch.buffer,
        mtu_bytes: setup.host.mtu_bytes,
    };
    Ok((trimming, notes))
}
