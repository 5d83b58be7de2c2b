//! `tidegate schedule`: time slots for periodic streams, and gates for them.

use crate::exit::Exit;
use crate::failure::Failure;

mod make;
mod others;
mod source;
mod verify;

/// Find time slots for periodic streams, so that no frame of theirs waits, and gates (IEEE 802.1Qbv) for them.
///
/// Exit code 0: all streams have slots; 1: some have none, and the links and streams in their way are told; 2: the
/// input is wrong.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ScheduleArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    make: make::MakeArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Verify(Box<verify::VerifyArgs>),
}

/// Runs the command.
///
/// # Errors
/// Streams, a fabric or a schedule that are wrong; a place that cannot be written.
pub fn command(args: &ScheduleArgs) -> Result<Exit, Failure> {
    match &args.action {
        Some(Action::Verify(args)) => verify::command(args),
        None => make::command(&args.make),
    }
}
