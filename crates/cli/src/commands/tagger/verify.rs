//! `tidegate tagger verify`: proves that rules cannot deadlock and that expected paths are lossless.

use super::device::{DeviceArgs, DeviceVerdict};
use super::paths::{PathChoice, parse_paths_or_file};
use crate::commands::fabric::counterexample::Simulated;
use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags, TunnelArgs};
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use crate::progress::{PATIENCE, count_progress_bar, waiting};
use fabric::Fabric;
use fabric::routing::{Forwarding, Mode};
use indicatif::ProgressBar;
use running::QueueBinding;
use serde_json::{Value, json};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Instant;
use text::numbers::{counted, counted_as, grouped};
use verify::{Check, EgressQueue, RuleFile, Scheduler, Switches, TreeRoots, Verdict, Verifier};

/// Prove that Tagger rules cannot deadlock under any forwarding, and that expected paths stay lossless.
///
/// The proof shares no code with the generator of rules. Exit code 0: all checks pass; 1: a check failed; 2: invalid
/// input.
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
    #[command(flatten)]
    tunnels: TunnelArgs,
    /// The paths that must be lossless; several add up. shortest: all shortest ones. up-down: up the tiers and down
    /// again. bounces=K: those, with up to K bounces. trees: a tree of shortest paths towards each switch, by the
    /// lowest ports; trees=servers: towards each server. FILE or file:FILE: names of nodes from source to destination,
    /// one path per line. All but those of a file are computed independently of the generator.
    #[arg(long, value_name = "PATHS", value_parser = parse_paths_or_file)]
    paths: Vec<PathChoice>,
    /// All paths of this routing between hosts must be lossless.
    #[arg(long, value_name = "MODE")]
    routing: Option<Routing>,
    #[command(flatten)]
    switches: SwitchArgs,
    #[command(flatten)]
    device: DeviceArgs,
    /// Show no progress, and print nothing.
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

/// Behaviour of the switches.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct SwitchArgs {
    /// Egress queue of frames with a changed tag: new-tag, as Tagger requires, or arriving-tag, the default of
    /// switches, with which any loop of links can deadlock, with or without rules.
    #[arg(long, value_enum, value_name = "QUEUE", default_value = "new-tag")]
    egress: Egress,
    /// Scheduler of egress ports: share (WRR, DRR), with which the lossy class has a share of each link, or strict,
    /// with which other classes can starve it, and with it the lossless accounts that contain its frames.
    #[arg(long, value_enum, value_name = "SCHEDULER", default_value = "share")]
    scheduler: Scheduling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Egress {
    NewTag,
    ArrivingTag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Scheduling {
    Share,
    Strict,
}

impl SwitchArgs {
    /// Returns the behaviour of the switches, as the verifier's type.
    pub fn switches(self) -> Switches {
        let egress = match self.egress {
            Egress::NewTag => EgressQueue::NewTag,
            Egress::ArrivingTag => EgressQueue::ArrivingTag,
        };
        let scheduler = match self.scheduler {
            Scheduling::Share => Scheduler::Share,
            Scheduling::Strict => Scheduler::Strict,
        };
        Switches { egress, scheduler }
    }
}

/// Routing with paths that are all expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Routing {
    /// All shortest paths
    Shortest,
    /// Never up again after a step down
    UpDown,
    /// One path per destination by fat-tree tables
    TwoLevel,
}

/// Runs the command.
///
/// # Errors
/// If the rules, paths or fabric are invalid or do not match each other.
pub fn command(args: &VerifyArgs) -> Result<Exit, Failure> {
    let fabric = fabric_source::find(&args.source, &args.flags, None)?.fabric;
    args.tunnels.check(&args.source, &fabric)?;
    let output = args.device.open()?;
    let visible = !args.quiet && !args.json;
    let bar = waiting("reading the rules", visible);
    let read = read(&args.rules, &fabric);
    bar.finish_and_clear();
    let (rules, mut verifier) = read?;
    let device = args.device.verdict(&fabric, &rules, &fabric_source::ignored(&args.flags))?;
    // The scheduler is not taken from the configuration: the check "lossless-accounts-drain" covers it.
    let on = device
        .as_ref()
        .map_or(args.switches.switches(), |device| Switches { egress: device.egress, ..Switches::default() });
    verifier = verifier.on(on);
    for paths in &args.paths {
        expect(&mut verifier, &fabric, paths, visible)?;
    }
    if let Some(routing) = args.routing {
        let mode = match routing {
            Routing::Shortest => Mode::ShortestPath,
            Routing::UpDown => Mode::UpDown { root: None },
            Routing::TwoLevel => Mode::TwoLevel,
        };
        fabric_source::require_traffic("--routing", &fabric)?;
        expect_routing(&mut verifier, &fabric, mode, "--routing")?;
    }
    let bar = waiting("looking for cycles", visible);
    let mut verdict = verifier.finish();
    bar.finish_and_clear();
    if let Some(device) = &device {
        verdict.checks.extend(device.checks.iter().map(|(check, _)| *check));
    }
    let simulated = args.device.counterexamples(&fabric, &fabric_source::ignored(&args.flags), output, visible)?;
    let text = match (args.json, args.quiet) {
        (true, _) => {
            let mut object = as_json(args, &fabric, &verdict, device.as_ref());
            if args.device.counterexample.is_some() {
                object["counterexamples"] = simulated.iter().map(Simulated::json).collect();
            }
            format!("{object:#}\n")
        }
        (_, true) => String::new(),
        _ => {
            let lines = simulated.iter().map(Simulated::line);
            as_text(args, &fabric, &rules, &verdict, device.as_ref()) + &lines.collect::<String>()
        }
    };
    output::show(&text)?;
    if simulated.iter().any(|one| one.interrupted) {
        return Ok(Exit::Interrupted);
    }
    Ok(if verdict.pass() { Exit::Done } else { Exit::CheckFailed })
}

fn read<'f>(path: &Path, fabric: &'f Fabric) -> Result<(RuleFile, Verifier<'f>), Failure> {
    let read = scenario::read_at_most(path, scenario::MAX_TREE_BYTES);
    let bytes = fabric_source::text(path, read.map_err(|error| Failure::unreadable(path, &error))?)?.into_bytes();
    let in_rules = |error| Failure::of_verifier(path, &error);
    let rules = RuleFile::parse(&bytes).map_err(in_rules)?;
    drop(bytes);
    let verifier = Verifier::new(fabric, &rules).map_err(in_rules)?;
    Ok((rules, verifier))
}

fn expect(verifier: &mut Verifier<'_>, fabric: &Fabric, paths: &PathChoice, visible: bool) -> Result<(), Failure> {
    let wrong = |fault| Failure::Input { message: format!("--paths: {fault}"), help: None };
    if !matches!(paths, PathChoice::File(_)) {
        fabric_source::require_traffic("--paths", fabric)?;
    }
    match paths {
        PathChoice::Shortest => expect_routing(verifier, fabric, Mode::ShortestPath, "--paths"),
        PathChoice::Bounces(bounces) => verifier.expect_bounces(*bounces).map_err(wrong),
        PathChoice::Trees => trees(verifier, TreeRoots::Switches, visible).map_err(wrong),
        PathChoice::ServerTrees => trees(verifier, TreeRoots::Servers, visible).map_err(wrong),
        PathChoice::File(path) => {
            // The list is read line by line, with a limit per line, so that the number of lines is not limited.
            let file = scenario::open(path).map_err(|error| Failure::unreadable(path, &error))?;
            match verifier.expect_list(BufReader::new(file)).map_err(|error| Failure::of_verifier(path, &error))? {
                0 => Err(Failure::no_path(path)),
                _ => Ok(()),
            }
        }
        PathChoice::NShortest(_) | PathChoice::Random(_) | PathChoice::Routes(_) | PathChoice::Fdbs(_) => {
            Err(Failure::input("--paths: the verifier cannot make these itself", "list them in a file"))
        }
    }
}

fn expect_routing(verifier: &mut Verifier<'_>, fabric: &Fabric, mode: Mode, option: &str) -> Result<(), Failure> {
    let routes = Forwarding::build(fabric, mode)
        .map_err(|error| Failure::Input { message: format!("{option}: {error}"), help: None })?;
    verifier.expect_routes(&routes);
    Ok(())
}

/// Computes trees with a progress bar, because large fabrics take seconds.
fn trees(verifier: &mut Verifier<'_>, roots: TreeRoots, visible: bool) -> Result<(), verify::PathFault> {
    #[expect(clippy::disallowed_methods, reason = "progress for whoever watches")]
    let (started, mut bar) = (Instant::now(), None::<ProgressBar>);
    let done = verifier.expect_trees(roots, |done, all| {
        if bar.is_none() && started.elapsed() > PATIENCE {
            bar = Some(count_progress_bar(all, "trees", visible));
        }
        bar.iter().for_each(|bar| bar.set_position(done));
    });
    bar.iter().for_each(ProgressBar::finish_and_clear);
    done
}

fn as_json(args: &VerifyArgs, fabric: &Fabric, verdict: &Verdict, device: Option<&DeviceVerdict>) -> Value {
    let paths: Vec<String> = args.paths.iter().map(PathChoice::to_string).collect();
    let mut object = json!({
        "rules": args.rules, "fabric": args.source, "paths": paths, "pass": verdict.pass(), "verdict": verdict,
        "tunnels_checked": fabric_source::tunnels_checked(fabric),
    });
    if let Some(device) = device {
        let refuted =
            device.checks.iter().filter_map(|(check, why)| Some((check.name.to_owned(), why.clone()?.into())));
        let refuted: serde_json::Map<String, Value> = refuted.collect();
        object["device"] = json!({ "running": args.device.running, "queue_map": args.device.queue_map.binding(),
            "hops": device.hops, "refuted": refuted, "assumptions": device.assumptions });
    }
    object
}

fn as_text(
    args: &VerifyArgs,
    fabric: &Fabric,
    rules: &RuleFile,
    verdict: &Verdict,
    device: Option<&DeviceVerdict>,
) -> String {
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
        let of_device = device.and_then(|device| device.checks.iter().find(|(other, _)| other.name == check.name));
        for line in of_device.and_then(|(_, why)| why.clone()).unwrap_or(refutation(check, verdict)).lines() {
            text += &format!("        {line}\n");
        }
    }
    let switches = match (&args.device.running, device) {
        (Some(folder), Some(device)) => {
            let hops = counted_as(device.hops, "pair of tag and ports", "pairs of tag and ports");
            let queues = match args.device.queue_map.binding() {
                QueueBinding::Egress => "egress",
                QueueBinding::Ingress => "ingress",
            };
            format!(
                "switches that run {} ({hops}) and take TC_TO_QUEUE_MAP from the {queues} port (--queue-map); their \
                 hosts receive all frames",
                folder.display()
            )
        }
        _ => switches_text(verdict.switches),
    };
    text += &format!("  {}  {switches}\n", styled("for ", Style::Caution));
    for assumption in device.iter().flat_map(|device| &device.assumptions) {
        text += &format!("  {}  {assumption}\n", styled("if  ", Style::Caution));
    }
    if fabric.has_shared_ports() {
        let tunnels = "frames that take no tunnel between the ToRs of a pair (--without-tunnels): \
                       tidegate fabric check --running judges tunnels";
        text += &format!("  {}  {tunnels}\n", styled("for ", Style::Caution));
    }
    if args.paths.is_empty() && args.routing.is_none() {
        let hint = styled("hint", Style::Caution);
        text += &format!("  {hint}  without --paths and --routing no path is checked for losslessness\n");
    }
    text
}

/// Describes the behaviour of the switches for which the rules were verified.
fn switches_text(switches: Switches) -> String {
    let egress = match switches.egress {
        EgressQueue::NewTag => "the new tag (--egress)",
        EgressQueue::ArrivingTag => "the arriving tag",
    };
    let scheduler = match switches.scheduler {
        Scheduler::Share => "give the lossy class a share of each link (--scheduler)",
        Scheduler::Strict => "serve classes by strict priority",
    };
    format!("switches that queue by {egress} and {scheduler}")
}

/// Describes the result of a check; if it passed, with the number of checked elements.
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
        ("switches-carry-out-rules", false) => "a switch does something else than its rule".to_owned(),
        ("lossless-accounts-drain", false) => "a lossless account can wait for ever".to_owned(),
        ("lossy-queue-drains", false) => {
            "a frame that turns lossy can wait for ever behind classes of higher priority".to_owned()
        }
        (_, true) => check.meaning.to_owned(),
        (_, false) => "a frame could come from a higher tag to a lower one".to_owned(),
    }
}

/// Returns the counterexample of a failed check, link by link; an empty text for other checks.
fn refutation(check: &Check, verdict: &Verdict) -> String {
    let cycle = |cycle: &Option<verify::Cycle>| cycle.as_ref().map_or(String::new(), ToString::to_string);
    match check.name {
        _ if check.pass => String::new(),
        "tags-never-decrease" => verdict.decrease.as_ref().map_or(String::new(), ToString::to_string),
        "no-cycle" => cycle(&verdict.cycle),
        // Usually the reachable cycle equals the cycle of the check "no-cycle": do not print it twice.
        "no-reachable-cycle" if verdict.reachable_cycle == verdict.cycle => "the same circle\n".to_owned(),
        "no-reachable-cycle" => cycle(&verdict.reachable_cycle),
        "lossy-queue-drains" => verdict.stranded.as_ref().map_or(String::new(), ToString::to_string),
        "expected-paths-lossless" => verdict.lost.iter().map(|lost| format!("{lost}\n")).collect(),
        _ => String::new(),
    }
}
