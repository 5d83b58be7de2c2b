//! `tidegate schedule`: computes time slots for periodic streams, and their gate control lists.

use crate::exit::Exit;
use crate::failure::Failure;

mod make;
mod others;
mod source;
mod verify;
mod worst_case;

/// Compute time slots for periodic streams, in which no frame waits, and their gate lists (IEEE 802.1Qbv).
///
/// Exit code 0: all streams have slots; 1: some have none, and the conflicting links and streams are listed; 2: the
/// input is invalid.
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
    WorstCase(Box<worst_case::WorstCaseArgs>),
}

/// Runs the command.
///
/// # Errors
/// If the streams, the fabric or the schedule are invalid, or an output cannot be written.
pub fn command(args: &ScheduleArgs) -> Result<Exit, Failure> {
    match &args.action {
        Some(Action::Verify(args)) => verify::command(args),
        Some(Action::WorstCase(args)) => worst_case::command(args),
        None => make::command(&args.make),
    }
}
