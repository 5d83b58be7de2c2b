//! Arguments that several commands take.

use lab::{Override, parse_override};
use std::path::PathBuf;

/// A scenario and what the command line changes in it.
#[derive(Clone, Debug, clap::Args)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file.
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Change a value: `--set fabric.k=8 --set traffic.0.load=0.5`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
    pub set: Vec<Override>,
}
