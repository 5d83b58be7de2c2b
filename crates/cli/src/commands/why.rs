//! `tidegate why`: what happened to a packet, a flow or a port of a traced run, in sentences; and all its pauses, by
//! the port that caused them.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use explain::{Blame, Slowest, Story, Trace};
use std::path::PathBuf;
use units::Bytes;

/// Say where a packet, a flow or a port of a traced run lost its time, and who caused it; or who caused every pause.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The scenario of the run chooses what is traced: [record] trace = { flows = [0] }, or trace = {} for everything.
Numbers of flows are those of flows.parquet; `--flow` names the packets of a flow.")]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub struct WhyArgs {
    /// The folder of the result.
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// A flow: what its packets waited for, which were lost, which came last.
    #[arg(long, value_name = "N", group = "what")]
    flow: Option<u64>,
    /// A packet: where it spent its time, hop by hop.
    #[arg(long, value_name = "N", group = "what")]
    packet: Option<u64>,
    /// A port, as S1:3, as S1:H2 (towards H2), or as H2 (its only port): who stopped it, and what was lost there.
    #[arg(long, value_name = "PORT", group = "what")]
    port: Option<String>,
    /// Every pause of the run, by the congested port that caused it: whom it stopped, over whom, and who waited.
    #[arg(long, group = "what")]
    pauses: bool,
    /// The N slowest flows by slowdown, those that never ended first: where to begin. Needs no trace.
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
/// A folder that is no whole result of this version, or has no trace; numbers and names that are not in it.
pub fn command(args: &WhyArgs) -> Result<Exit, Failure> {
    if args.pauses {
        let blame = Blame::read(&args.result)?;
        output::show(&if args.json { format!("{:#}\n", blame.json()) } else { blame.text(output::paint()) })?;
        return Ok(Exit::Done);
    }
    if let Some(most) = args.slowest {
        let found = Slowest::read(&args.result, most, args.up_to.map_or(u64::MAX, |bytes| bytes.0))?;
        let folder = args.result.display().to_string();
        output::print(&if args.json { format!("{:#}\n", found.json()) } else { found.text(&folder) })?;
        return Ok(Exit::Done);
    }
    let trace = Trace::read(&args.result)?;
    let story: Story = match (args.flow, args.packet, &args.port) {
        (Some(flow), ..) => explain::flow(&trace, flow)?,
        (_, Some(packet), _) => explain::packet(&trace, packet)?,
        (.., Some(port)) => explain::port(&trace, port)?,
        // The group requires one of them.
        (None, None, None) => {
            return Err(Failure::input("nothing is asked", "write --slowest, --flow, --packet, --port or --pauses"));
        }
    };
    output::show(&if args.json { format!("{:#}\n", story.json()) } else { story.text(output::paint()) })?;
    Ok(Exit::Done)
}
