//! `tidegate trim`: trimming switches.

use crate::exit::Exit;
use crate::failure::Failure;

mod export;
mod targets;

/// Trimming on real switches.
#[derive(Debug, clap::Args)]
pub struct TrimArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Export(export::ExportArgs),
}

/// Runs the command.
///
/// # Errors
/// A scenario that is wrong, or whose switches do what no such switch can.
pub fn command(args: &TrimArgs) -> Result<Exit, Failure> {
    match &args.action {
        Action::Export(args) => export::command(args),
    }
}
