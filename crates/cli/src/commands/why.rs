//! `tidegate why`: reports the causes of the delays of packets, flows and ports in a traced run, and the causes of all
//! pauses by congested port.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use explain::{Explanation, PauseCauses, Slowest, Trace};
use std::path::PathBuf;
use units::Bytes;

/// Explain the delay of a packet, a flow or a port in a traced run and its causes, or the causes of all pauses.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The scenario selects the traced packets: [record] trace = { flows = [0] }, or trace = {} for all.
Flow numbers are those of flows.parquet; `--flow` lists the packets of a flow.")]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub struct WhyArgs {
    /// Result folder.
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Flow: causes of its packets' waiting times, losses, and last packets.
    #[arg(long, value_name = "N", group = "what")]
    flow: Option<u64>,
    /// Packet: time spent at each hop.
    #[arg(long, value_name = "N", group = "what")]
    packet: Option<u64>,
    /// Port as S1:3, as S1:H2 (towards H2), or as H2 (its only port): causes of its pauses, and losses.
    #[arg(long, value_name = "PORT", group = "what")]
    port: Option<String>,
    /// All pauses of the run, by the congested port that caused them: paused ports, and delayed hosts and flows.
    #[arg(long, group = "what")]
    pauses: bool,
    /// The N slowest flows by slowdown (default: 10), unfinished flows first. Needs no trace.
    #[arg(long, value_name = "N", group = "what", num_args = 0..=1, default_missing_value = "10")]
    slowest: Option<usize>,
    /// Only flows of at most this size.
    #[arg(long, value_name = "SIZE", requires = "slowest")]
    up_to: Option<Bytes>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// If the folder has no complete result of this version or no trace, or a number or name is unknown.
pub fn command(args: &WhyArgs) -> Result<Exit, Failure> {
    if args.pauses {
        let pause_causes = PauseCauses::read(&args.result)?;
        output::show(&if args.json {
            format!("{:#}\n", pause_causes.json())
        } else {
            pause_causes.text(output::paint())
        })?;
        return Ok(Exit::Done);
    }
    if let Some(most) = args.slowest {
        let found = Slowest::read(&args.result, most, args.up_to.map_or(u64::MAX, |bytes| bytes.0))?;
        let folder = args.result.display().to_string();
        output::print(&if args.json { format!("{:#}\n", found.json()) } else { found.text(&folder) })?;
        return Ok(Exit::Done);
    }
    let trace = Trace::read(&args.result)?;
    let explanation: Explanation = match (args.flow, args.packet, &args.port) {
        (Some(flow), ..) => explain::flow(&trace, flow)?,
        (_, Some(packet), _) => explain::packet(&trace, packet)?,
        (.., Some(port)) => explain::port(&trace, port)?,
        // Unreachable: clap requires one of these options.
        (None, None, None) => {
            return Err(Failure::input("nothing is asked", "write --slowest, --flow, --packet, --port or --pauses"));
        }
    };
    output::show(&if args.json { format!("{:#}\n", explanation.json()) } else { explanation.text(output::paint()) })?;
    Ok(Exit::Done)
}
