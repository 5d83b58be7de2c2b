//! `tidegate tagger`: rules under which PFC cannot deadlock.

use crate::exit::Exit;
use crate::failure::Failure;

mod verify;

/// Rules under which PFC cannot deadlock: tags that packets carry and switches rewrite.
#[derive(Debug, clap::Args)]
pub struct TaggerArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Verify(verify::VerifyArgs),
}

/// Runs the command.
///
/// # Errors
/// Files that are wrong; a machine that fails.
pub fn command(args: &TaggerArgs) -> Result<Exit, Failure> {
    match &args.action {
        Action::Verify(args) => verify::command(args),
    }
}
