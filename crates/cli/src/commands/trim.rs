//! `tidegate trim`: writes configurations for switches with packet trimming.

use crate::exit::Exit;
use crate::failure::Failure;

mod export;
mod targets;

/// Configure packet trimming on real switches.
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
/// If the scenario is invalid, or has a trimming configuration that no real switch supports.
pub fn command(args: &TrimArgs) -> Result<Exit, Failure> {
    match &args.action {
        Action::Export(args) => export::command(args),
    }
}
