//! The `tidegate` command: arguments in, a readable answer or files out.

mod arguments;
mod commands;
mod exit;
mod fabric_source;
mod failure;
mod hand_over;
mod interfaces;
mod interrupt;
mod memory;
mod names;
mod output;
mod progress;
mod recognise;
mod render;

use clap::{CommandFactory, Parser, Subcommand};
use exit::Exit;
use failure::Failure;
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "tidegate", version, about = "A laboratory for Ethernet that must not lose packets")]
#[command(after_help = "Start with: tidegate new incast && tidegate run incast.toml")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(commands::run::RunArgs),
    Compare(commands::compare::CompareArgs),
    Sweep(commands::sweep::SweepArgs),
    Report(commands::report::ReportArgs),
    Table(commands::table::TableArgs),
    Fluid(commands::fluid::FluidArgs),
    Fabric(commands::fabric::FabricArgs),
    Tagger(commands::tagger::TaggerArgs),
    Trim(commands::trim::TrimArgs),
    Schedule(Box<commands::schedule::ScheduleArgs>),
    New(commands::new::NewArgs),
    Import(commands::import::ImportArgs),
    Mechanisms(commands::mechanisms::MechanismsArgs),
    Reproduce(commands::reproduce::ReproduceArgs),
    Why(commands::why::WhyArgs),
    /// Print a dissector for Wireshark and tshark, in Lua: it names what captures hold beyond what they know.
    Dissector,
    Completions(commands::shell::CompletionsArgs),
    Man(commands::shell::ManArgs),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => commands::run::command(&args),
        Command::Compare(args) => commands::compare::command(&args),
        Command::Sweep(args) => commands::sweep::command(&args),
        Command::Report(args) => commands::report::command(&args),
        Command::Table(args) => commands::table::command(&args),
        Command::Fluid(args) => commands::fluid::command(&args),
        Command::Fabric(args) => commands::fabric::command(&args),
        Command::Tagger(args) => commands::tagger::command(&args),
        Command::Trim(args) => commands::trim::command(&args),
        Command::Schedule(args) => commands::schedule::command(&args),
        Command::New(args) => commands::new::command(&args),
        Command::Import(args) => commands::import::command(&args),
        Command::Mechanisms(args) => commands::mechanisms::command(&args),
        Command::Why(args) => commands::why::command(&args),
        Command::Dissector => output::print(record::pcapng::DISSECTOR).map(|()| Exit::Done),
        Command::Completions(args) => commands::shell::completions(&args, Cli::command()),
        Command::Man(args) => commands::shell::man(&args, Cli::command()),
        Command::Reproduce(args) => commands::reproduce::command(&args),
    };
    done.unwrap_or_else(|failure: Failure| -> Exit {
        failure.report();
        failure.exit()
    })
    .into()
}
