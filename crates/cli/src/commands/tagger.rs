//! `tidegate tagger`: generates and checks rules that prevent PFC deadlocks.

use crate::exit::Exit;
use crate::failure::Failure;

mod budget;
mod device;
mod diff;
mod explain;
mod export;
pub mod headroom;
mod marks;
mod paths;
mod profile;
mod rules;
mod source;
mod verify;
mod what_if;

pub use source::read_text;

/// Generate and check tag rules that prevent PFC deadlocks: packets carry tags, and switches rewrite them.
#[derive(Debug, clap::Args)]
pub struct TaggerArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Rules(Box<rules::RulesArgs>),
    Export(Box<export::ExportArgs>),
    Explain(Box<explain::ExplainArgs>),
    Diff(Box<diff::DiffArgs>),
    WhatIf(Box<what_if::WhatIfArgs>),
    Budget(Box<budget::BudgetArgs>),
    Verify(verify::VerifyArgs),
}

/// Runs the command.
///
/// # Errors
/// If a file is invalid, or disk or memory fails.
pub fn command(args: &TaggerArgs) -> Result<Exit, Failure> {
    match &args.action {
        Action::Rules(args) => rules::command(args),
        Action::Export(args) => export::command(args),
        Action::Explain(args) => explain::command(args),
        Action::Diff(args) => diff::command(args),
        Action::WhatIf(args) => what_if::command(args),
        Action::Budget(args) => budget::command(args),
        Action::Verify(args) => verify::command(args),
    }
}
