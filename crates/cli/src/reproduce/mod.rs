//! `tidegate reproduce`: the papers' experiments.

use crate::exit::Exit;

/// Rerun the papers' experiments, each check beside the paper's number.
#[derive(Debug, clap::Args)]
pub struct ReproduceArgs {
    /// Papers or single experiments, such as `bg` or `bg/fig1.4`; all without.
    #[arg(value_name = "PAPER[/EXPERIMENT]")]
    pub experiments: Vec<String>,
    /// List ids, titles and expected seconds instead.
    #[arg(long)]
    pub list: bool,
    /// Shorten what is long, and say what was shortened.
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// No progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Runs the command.
pub fn command(args: &ReproduceArgs) -> Exit {
    eprintln!("no experiment is known yet: {:?}", args.experiments);
    Exit::BadInput
}
