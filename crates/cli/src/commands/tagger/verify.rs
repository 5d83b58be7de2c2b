//! `tidegate tagger verify`: are these rules safe, and are the expected paths lossless?

use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags};
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use crate::render::numbers::{counted, counted_as, grouped};
use fabric::routing::{Forwarding, Mode};
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use verify::{Check, RuleFile, Verdict, Verifier};

/// Prove that Tagger rules cannot deadlock, whatever the forwarding does, and that expected paths stay lossless.
///
/// The proof is made by code of its own, apart from what generates rules. Exit code 0: everything holds; 1: a check
/// failed; 2: the input is wrong.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The rule file.
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// The fabric: a topology file, a scenario, or a kind of fabric with its numbers.
    #[arg(long = "fabric", value_name = "FILE|SCENARIO|KIND")]
    source: String,
    #[command(flatten)]
    flags: FabricFlags,
    /// Paths that must be lossless: names of nodes from source to destination, a path a line.
    #[arg(long, value_name = "FILE")]
    paths: Option<PathBuf>,
    /// Everything that this routing does between hosts must be lossless.
    #[arg(long, value_name = "MODE")]
    routing: Option<Expected>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

/// Routing whose ways are all expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Expected {
    /// All shortest paths
    Shortest,
    /// Never up again after a step down
    UpDown,
    /// One path a destination by fat-tree tables
    TwoLevel,
}

/// Runs the command.
///
/// # Errors
/// Rules, paths or a fabric that are wrong by themselves or do not belong together.
pub fn command(args: &VerifyArgs) -> Result<Exit, Failure> {
    let found = fabric_source::find(&args.source, &args.flags, None)?;
    let bytes = std::fs::read(&args.rules).map_err(|error| Failure::unreadable(&args.rules, &error))?;
    let in_rules = |error| Failure::of_verifier(&args.rules, &error);
    let rules = RuleFile::parse(&bytes).map_err(in_rules)?;
    drop(bytes);
    let mut verifier = Verifier::new(&found.fabric, &rules).map_err(in_rules)?;
    if let Some(path) = &args.paths {
        let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
        verifier.expect_list(BufReader::new(file)).map_err(|error| Failure::of_verifier(path, &error))?;
    }
    if let Some(routing) = args.routing {
        let mode = match routing {
            Expected::Shortest => Mode::ShortestPath,
            Expected::UpDown => Mode::UpDown { root: None },
            Expected::TwoLevel => Mode::TwoLevel,
        };
        let routes = Forwarding::build(&found.fabric, mode)
            .map_err(|error| Failure::Input { message: format!("--routing: {error}"), help: None })?;
        verifier.expect_routes(&routes);
    }
    let verdict = verifier.finish();
    let text = if args.json { format!("{:#}\n", as_json(args, &verdict)) } else { as_text(args, &rules, &verdict) };
    output::print(&text)?;
    Ok(if verdict.pass() { Exit::Done } else { Exit::CheckFailed })
}

fn as_json(args: &VerifyArgs, verdict: &Verdict) -> Value {
    json!({
        "rules": args.rules, "fabric": args.source, "paths": args.paths, "pass": verdict.pass(), "verdict": verdict,
    })
}

fn as_text(args: &VerifyArgs, rules: &RuleFile, verdict: &Verdict) -> String {
    let counts = &verdict.counts;
    let name = args.rules.display().to_string();
    let mut text = format!(
        "{}: {} on {}, {}, {}\n",
        styled(&name, Style::Strong),
        counted(counts.rules, "rule"),
        counted_as(rules.switches.len() as u64, "switch", "switches"),
        counted(rules.lossless_tags.len() as u64, "lossless tag"),
        counted_as(rules.classes.len() as u64, "class", "classes")
    );
    for check in &verdict.checks {
        let mark = if check.pass { styled("ok  ", Style::Good) } else { styled("FAIL", Style::Bad) };
        text += &format!("  {mark}  {}: {}\n", check.name, finding(check, verdict));
        for line in refutation(check, verdict).lines() {
            text += &format!("        {line}\n");
        }
    }
    if args.paths.is_none() && args.routing.is_none() {
        let hint = styled("hint", Style::Caution);
        text += &format!("  {hint}  no --paths and no --routing: whether anything is lossless was not asked\n");
    }
    text
}

/// What holds, and for how much; or what does not.
fn finding(check: &Check, verdict: &Verdict) -> String {
    let counts = &verdict.counts;
    let size = |queues, dependencies| {
        let dependencies = counted_as(dependencies, "dependency", "dependencies");
        format!("{} ({}, {dependencies})", check.meaning, counted(queues, "queue"))
    };
    match (check.name, check.pass) {
        ("no-cycle", true) => size(counts.queues, counts.dependencies),
        ("no-cycle", false) => "queues can wait for each other in a circle".to_owned(),
        ("no-reachable-cycle", true) => size(counts.reachable_queues, counts.reachable_dependencies),
        ("no-reachable-cycle", false) => {
            "so can those that frames reach which enter with the first tag of their class".to_owned()
        }
        ("expected-paths-lossless", true) if counts.paths > 0 => {
            format!("{} ({})", check.meaning, counted(counts.paths, "path"))
        }
        ("expected-paths-lossless", false) => match counts.lost {
            1 => "an expected path turns lossy".to_owned(),
            more => format!("{} expected paths turn lossy", grouped(more)),
        },
        (_, true) => check.meaning.to_owned(),
        (_, false) => "a frame could come from a higher tag to a lower one".to_owned(),
    }
}

/// What refutes a check, link by link.
fn refutation(check: &Check, verdict: &Verdict) -> String {
    let cycle = |cycle: &Option<verify::Cycle>| cycle.as_ref().map_or(String::new(), ToString::to_string);
    match check.name {
        _ if check.pass => String::new(),
        "tags-never-decrease" => verdict.decrease.as_ref().map_or(String::new(), ToString::to_string),
        "no-cycle" => cycle(&verdict.cycle),
        // Mostly the same one, which need not be read twice.
        "no-reachable-cycle" if verdict.reachable_cycle == verdict.cycle => "the same circle\n".to_owned(),
        "no-reachable-cycle" => cycle(&verdict.reachable_cycle),
        _ => verdict.lost.iter().map(|lost| format!("{lost}\n")).collect(),
    }
}
