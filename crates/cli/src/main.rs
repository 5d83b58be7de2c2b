//! The `tidegate` command: arguments in, a readable answer or files out.

mod exit;
mod reproduce;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "tidegate", version, about = "A laboratory for Ethernet that must not lose packets")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::ReproduceArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Reproduce(args) => reproduce::command(&args),
    }
    .into()
}
