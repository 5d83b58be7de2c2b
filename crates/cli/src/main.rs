//! The `tidegate` command: arguments in, text and files out.

mod arguments;
mod asic_table;
mod commands;
mod exit;
mod fabric_source;
mod failure;
mod interfaces;
mod interrupt;
mod memory;
mod names;
mod output;
mod output_folder;
mod progress;
mod recognise;
mod render;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use exit::Exit;
use failure::Failure;
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "tidegate", version)]
#[command(about = "Packet-level simulator and toolbox for lossless Ethernet: PFC, RoCE congestion control, deadlock \
    prevention, TSN")]
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
    /// Print a Lua dissector for Wireshark and tshark that decodes the packet types of tidegate captures.
    Dissector,
    Completions(commands::shell::CompletionsArgs),
    Man(commands::shell::ManArgs),
}

/// Returns true if `--quiet` is set for the command or one of its subcommands.
fn is_quiet(matches: &ArgMatches) -> bool {
    let own = matches.try_get_one::<bool>("quiet").ok().flatten().copied().unwrap_or(false);
    own || matches.subcommand().is_some_and(|(_, below)| is_quiet(below))
}

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    output::set_quiet(is_quiet(&matches));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let done = match cli.command {
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
        interrupt::wait_if_ending();
        failure.report();
        failure.exit()
    })
    .into()
}
