//! `tidegate tagger rules`: generates rules for a fabric and its expected lossless paths.

use super::marks::FEWER_TAGS;
use super::paths::{PathChoice, parse_paths, write_list};
use super::source::read_text;
use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags, TunnelArgs};
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use crate::progress::waiting;
use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, FabricBuilder, NodeId, NodeKind};
use record::file::write_file;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use tagger::paths::{ExpectedPaths, PathError, PathList, PathSource, Routes, SubnetNames, TreeRoots};
use tagger::rules::{MAX_LOSSLESS_PRIORITIES, RuleTable};
use tagger::{Algorithm, Report, Request, clos_rule, generate};
use text::numbers::{counted, grouped};
use text::{Layout, csv_cell, table};
use verify::{RuleFile, Verifier};

/// Generate rules by which the expected paths are lossless, and under which no forwarding can deadlock.
#[derive(Debug, clap::Args)]
pub struct RulesArgs {
    /// A topology file, a scenario, or a kind of fabric with its numbers.
    #[arg(value_name = "FILE|SCENARIO|KIND")]
    source: String,
    #[command(flatten)]
    flags: FabricFlags,
    #[command(flatten)]
    tunnels: TunnelArgs,
    /// The paths that must be lossless; several add up. shortest: all shortest ones. up-down: up the tiers and down
    /// again. bounces=K: those, with up to K bounces. n-shortest=N: the N shortest of each pair of hosts. trees: a tree
    /// of shortest paths towards each switch; trees=servers: towards each server. random=N: N random ones. file:F: one
    /// per line, names of nodes from host to host. routes:F: those of forwarding tables, JSON. fdbs:F: those of
    /// OpenSM's opensm.fdbs, with --subnet.
    #[arg(long, required = true, value_name = "PATHS", value_parser = parse_paths)]
    paths: Vec<PathChoice>,
    /// Algorithm for the tags [default: clos for up-down and bounces, else merge]
    #[arg(long, value_enum)]
    algorithm: Option<TagAlgorithm>,
    /// Lossless classes: their number, or their names: 2, or storage,training.
    #[arg(long, value_name = "N|NAMES", default_value = "1", value_parser = parse_classes)]
    classes: Classes,
    /// Write the rules to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the expected paths to this file, one per line: `tagger verify --paths file:FILE` reads them. There may be
    /// many.
    #[arg(long, value_name = "FILE")]
    paths_out: Option<PathBuf>,
    /// Overwrite files with other contents.
    #[arg(long)]
    force: bool,
    /// For fdbs: the output of ibnetdiscover, which maps GUIDs and LIDs to nodes.
    #[arg(long, value_name = "FILE")]
    subnet: Option<PathBuf>,
    /// Seed of random paths.
    #[arg(long, default_value_t = 1)]
    paths_seed: u64,
    /// Threads that compute trees [default: number of cores]. The rules do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Show no progress, and print nothing.
    #[arg(long, short)]
    quiet: bool,
    /// Print the needs of each switch as CSV.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Classes(Vec<String>);

fn parse_classes(text: &str) -> Result<Classes, String> {
    if let Ok(count) = text.parse::<u8>() {
        let name = |number: u8| if count == 1 { "default".to_owned() } else { format!("class{number}") };
        return if count == 0 { Err("at least one".to_owned()) } else { Ok(Classes((1..=count).map(name).collect())) };
    }
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    let twice = names.iter().enumerate().any(|(at, name)| names[..at].contains(name));
    if names.iter().any(|name| fabric::check_name(name).is_err()) || twice {
        return Err("write a number, or different names with commas between them".to_owned());
    }
    Ok(Classes(names))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TagAlgorithm {
    /// The tag increases at each bounce: fabrics with tiers (the Clos rule)
    Clos,
    /// The tag increases at each hop (Tagger, Algorithm 1)
    #[value(alias = "hops")]
    OnePerHop,
    /// The tags of each hop, merged greedily (Tagger, Algorithm 2)
    Merge,
    /// As few tags as the search finds: never more than merge, for small fabrics proved minimal
    Fewest,
}

/// Result of the rule generation.
struct GeneratedRules {
    table: RuleTable,
    report: Option<Report>,
    /// Lower bound on the number of lossless tags of any rules for these paths, and its reason.
    bound: Option<(u8, String)>,
}

/// Runs the command.
///
/// # Errors
/// If the fabric is invalid, paths are invalid or do not fit the fabric, or a file cannot be written.
pub fn command(args: &RulesArgs) -> Result<Exit, Failure> {
    let fabric = fabric_source::find(&args.source, &args.flags, None)?.fabric;
    args.tunnels.check(&args.source, &fabric)?;
    fabric_source::require_traffic(&args.source, &fabric)?;
    for output in args.out.iter().chain(&args.paths_out) {
        fabric_source::check_output(Path::new(&args.source), output)?;
    }
    let bar = waiting("finding tags", !args.quiet && !args.json);
    let made = make(args, &fabric);
    bar.finish_and_clear();
    let made = made?;
    let text = made.table.write(&fabric);
    if args.paths.iter().any(|paths| matches!(paths, PathChoice::Bounces(_)))
        && let Some(lost) = lossy_shortest_path(args, &fabric, &made, &text)?
    {
        output::note(&format!(
            "{}: nothing is written: without any failure a shortest path turns lossy\n  {lost}\n  --paths shortest \
             beside the others makes shortest paths lossless; if a tier is wrong, --ignore, --host and --switch say \
             which nodes are servers (tidegate fabric show lists tiers)",
            args.source
        ));
        return Ok(Exit::CheckFailed);
    }
    if let Some(path) = &args.paths_out {
        let sources = args.paths.iter().map(|one| source(args, &fabric, one)).collect::<Result<_, _>>()?;
        write_list(&fabric, &ExpectedPaths { sources }, path, args.force)?;
    }
    if let Some(path) = &args.out {
        write_file(path, text.as_bytes(), args.force).map_err(Failure::of_output)?;
    }
    if args.csv && !args.quiet {
        warning(&made.table).iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    }
    let shown = match (args.json, args.csv, args.quiet) {
        (true, ..) => format!("{:#}\n", as_json(&fabric, &made)),
        (_, true, _) => as_csv(&fabric, &made.table),
        (.., true) => String::new(),
        _ => as_text(args, &fabric, &made),
    };
    output::print(&shown).map(|()| Exit::Done)
}

/// Maximum product of the numbers of hosts and links up to which the command verifies that shortest paths are lossless;
/// the verification takes a few seconds at this limit.
const MOST_WORK: u64 = 100_000_000;

/// Returns the first shortest path between hosts that is lossy under these rules although no link has failed, as found
/// by the verifier. If tiers are wrong, ordinary hops count as bounces, which rules for a limited number of bounces do
/// not keep lossless.
fn lossy_shortest_path(
    args: &RulesArgs,
    fabric: &Fabric,
    made: &GeneratedRules,
    text: &str,
) -> Result<Option<String>, Failure> {
    let wrong = |error: String| Failure::Input { message: error, help: None };
    // The Clos rule depends only on tiers, so two hosts represent all hosts that are linked to the same switches.
    let one_each = made.report.is_none().then(|| one_host_each(fabric)).transpose().map_err(&wrong)?;
    let (fabric, text) = match &one_each {
        None => (fabric, text.to_owned()),
        Some(fewer) => (fewer, make(args, fewer)?.table.write(fewer)),
    };
    if fabric.hosts().len() as u64 * fabric.links().len() as u64 > MOST_WORK {
        output::decision(&format!(
            "{}: whether shortest paths stay lossless was not proved, which takes minutes of a fabric of this size: \
             tidegate tagger verify --routing shortest does",
            args.source
        ));
        return Ok(None);
    }
    let rules = RuleFile::parse(text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    let mut verifier = Verifier::new(fabric, &rules).map_err(|error| wrong(error.to_string()))?;
    let routes = Forwarding::build(fabric, Mode::ShortestPath).map_err(|error| wrong(error.to_string()))?;
    verifier.expect_routes(&routes);
    Ok(verifier.lost().first().map(ToString::to_string))
}

/// Returns the fabric with at most two hosts of each group of hosts that are linked to the same nodes: two, so that
/// there is a path between hosts even if all hosts are linked to the same switches.
fn one_host_each(fabric: &Fabric) -> Result<Fabric, String> {
    let mut known: BTreeMap<Vec<NodeId>, u8> = BTreeMap::new();
    let mut builder = FabricBuilder::new(fabric.kind());
    let mut new_id: Vec<Option<NodeId>> = vec![None; fabric.nodes().len()];
    for node in fabric.node_ids() {
        let mut peers: Vec<NodeId> = fabric.ports(node).iter().map(|port| port.peer).collect();
        peers.sort_unstable();
        let is_host = fabric.node(node).kind == NodeKind::Host && !fabric.node(node).relay;
        let count = known.entry(if is_host { peers } else { vec![node] }).or_default();
        *count = count.saturating_add(1);
        if !is_host || *count <= 2 {
            new_id[node.index()] = Some(builder.add(fabric.node(node).clone()));
        }
    }
    for link in fabric.links() {
        if let (Some(a), Some(b)) = (new_id[link.a.node.index()], new_id[link.b.node.index()]) {
            builder.connect(a, b, link.spec());
        }
    }
    builder.build().map_err(|error| error.to_string())
}

/// Returns a warning if the rules are correct, but need more lossless tags than any switch supports.
fn warning(table: &RuleTable) -> Option<String> {
    let tags = table.lossless_tags.len();
    (tags > MAX_LOSSLESS_PRIORITIES).then(|| {
        format!(
            "{tags} lossless tags need a priority each, and PFC has 8, one of which must stay lossy: switches carry at \
             most {MAX_LOSSLESS_PRIORITIES}, some fewer (tidegate tagger budget); {FEWER_TAGS}"
        )
    })
}

fn make(args: &RulesArgs, fabric: &Fabric) -> Result<GeneratedRules, Failure> {
    let classes = &args.classes.0;
    let bounces = match args.paths.as_slice() {
        [PathChoice::Bounces(bounces)] => Some(*bounces),
        _ => None,
    };
    let how = args.algorithm.unwrap_or(if bounces.is_some() { TagAlgorithm::Clos } else { TagAlgorithm::Merge });
    if how == TagAlgorithm::Clos {
        let Some(bounces) = bounces else {
            return Err(Failure::input(
                "--algorithm clos makes paths with up to K bounces lossless, and no others",
                "write --paths up-down or --paths bounces=K, or --algorithm merge",
            ));
        };
        let table = clos_rule(fabric, bounces, classes).map_err(|error| wrong(&error))?;
        let why =
            "a packet that goes to and fro between two switches bounces each time, and no two bounces may share a tag";
        let bound = (classes.len() == 1).then(|| (bounces.saturating_add(1), why.to_owned()));
        return Ok(GeneratedRules { table, report: None, bound });
    }
    let sources = args.paths.iter().map(|one| source(args, fabric, one)).collect::<Result<_, _>>()?;
    let algorithm = match how {
        TagAlgorithm::OnePerHop => Algorithm::OnePerHop,
        TagAlgorithm::Fewest => Algorithm::Fewest,
        TagAlgorithm::Clos | TagAlgorithm::Merge => Algorithm::Merge,
    };
    let threads = args.threads.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from);
    let request = Request { algorithm, classes: classes.clone(), threads, ..Request::new(ExpectedPaths { sources }) };
    let made = generate(fabric, &request).map_err(|error| wrong(&error))?;
    let bound = (classes.len() == 1).then(|| (made.report.lower_bound, "for the expected paths".to_owned()));
    Ok(GeneratedRules { table: made.table, report: Some(made.report), bound })
}

fn wrong(error: &tagger::TaggerError) -> Failure {
    Failure::Input { message: error.to_string(), help: None }
}

fn source(args: &RulesArgs, fabric: &Fabric, expected: &PathChoice) -> Result<PathSource, Failure> {
    Ok(match expected {
        PathChoice::Shortest => PathSource::AllShortest { limit: None },
        PathChoice::Bounces(bounces) => PathSource::UpDown { bounces: *bounces },
        PathChoice::NShortest(paths) => PathSource::NShortest { paths: *paths },
        PathChoice::Trees => PathSource::Trees { roots: TreeRoots::Switches, seed: None },
        PathChoice::ServerTrees => PathSource::Trees { roots: TreeRoots::Servers, seed: None },
        PathChoice::Random(count) => PathSource::Random { count: *count, max_switches: 16, seed: args.paths_seed },
        PathChoice::File(path) => {
            let list = PathList::read(fabric, &read_text(path)?).map_err(at(path))?;
            if list.is_empty() {
                return Err(Failure::no_path(path));
            }
            PathSource::List(list)
        }
        PathChoice::Routes(path) => PathSource::Tables(Routes::read_json(fabric, &read_text(path)?).map_err(at(path))?),
        PathChoice::Fdbs(path) => {
            let Some(subnet) = &args.subnet else {
                let help = "name the file that ibnetdiscover printed: --subnet FILE";
                return Err(Failure::input("--paths fdbs: LIDs and GUIDs stand for unknown nodes", help));
            };
            let names = SubnetNames::read_ibnetdiscover(fabric, &read_text(subnet)?).map_err(at(subnet))?;
            PathSource::Tables(Routes::read_fdbs(fabric, &read_text(path)?, &names).map_err(at(path))?)
        }
    })
}

/// Returns a function that converts an error in the file `path` to a failure with the file name.
fn at(path: &Path) -> impl Fn(PathError) -> Failure + '_ {
    move |error| Failure::Input { message: format!("{}: {error}", path.display()), help: None }
}

/// Numbers of ports and rules of a switch.
struct Count {
    node: NodeId,
    ports: usize,
    /// Number of rules, counted as (tag, ingress port, egress port).
    single: u64,
    entries: usize,
}

fn counts(fabric: &Fabric, table: &RuleTable) -> Vec<Count> {
    let of = |switch: &tagger::rules::SwitchRules| {
        let pairs = |rule: &tagger::rules::Rule| (rule.in_ports.len() * rule.out_ports.len()) as u64;
        let single = switch.rules.iter().map(pairs).sum();
        Count { node: switch.node, ports: fabric.ports(switch.node).len(), single, entries: switch.rules.len() }
    };
    table.switches().iter().map(of).collect()
}

fn as_csv(fabric: &Fabric, table: &RuleTable) -> String {
    let row = |count: Count| {
        let (name, tier) = (csv_cell(fabric.name(count.node)), fabric.node(count.node).tier);
        format!("{name},{tier},{},{},{}\n", count.ports, count.single, count.entries)
    };
    let rows: String = counts(fabric, table).into_iter().map(row).collect();
    format!("switch,tier,ports,rules,tcam_entries\n{rows}")
}

fn as_json(fabric: &Fabric, made: &GeneratedRules) -> Value {
    let GeneratedRules { table, report, bound } = made;
    let of = |count: Count| {
        json!({
            "switch": fabric.name(count.node), "ports": count.ports, "rules": count.single,
                    "tcam_entries": count.entries,
        })
    };
    let class = |class: &tagger::rules::Class| json!({ "name": class.name, "first_tag": class.first_tag });
    json!({
        "fabric": { "kind": fabric.kind(), "switches": fabric.switches().count(), "hosts": fabric.hosts().len(),
            "links": fabric.links().len() },
        "paths": table.generated_by.paths, "algorithm": table.generated_by.algorithm,
        "lossless_tags": table.lossless_tags, "bound": bound.as_ref().map(|(tags, _)| tags),
        "optimal": bound.as_ref().map(|&(tags, _)| usize::from(tags) == table.lossless_tags.len()),
        "warnings": warning(table).into_iter().collect::<Vec<_>>(),
        "classes": table.classes.iter().map(class).collect::<Vec<_>>(),
        "longest_path_switches": report.map(|report| report.longest_path_switches),
        "switches": counts(fabric, table).into_iter().map(of).collect::<Vec<_>>(),
    })
}

fn as_text(args: &RulesArgs, fabric: &Fabric, made: &GeneratedRules) -> String {
    let GeneratedRules { table: rules, report, bound } = made;
    let tags: Vec<String> = rules.lossless_tags.iter().map(u8::to_string).collect();
    let classes: Vec<String> =
        rules.classes.iter().map(|class| format!("{} enters with tag {}", class.name, class.first_tag)).collect();
    let (switches, hosts) = (fabric.switches().count() as u64, fabric.hosts().len() as u64);
    let mut text = format!(
        "{}  {} switches, {}, {}\n",
        styled(fabric.kind(), Style::Strong),
        grouped(switches),
        counted(hosts, "host"),
        counted(fabric.links().len() as u64, "link")
    );
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<10} {value}\n"));
    line("paths", rules.generated_by.paths.clone());
    line("algorithm", rules.generated_by.algorithm.clone());
    let lossless = counted(rules.lossless_tags.len() as u64, "lossless tag");
    line("tags", format!("{lossless} ({}), each with a queue and a priority of its own", tags.join(", ")));
    if let Some(warning) = warning(rules) {
        line("warning", styled(&warning, Style::Caution));
    }
    match bound {
        Some((least, why)) if usize::from(*least) == rules.lossless_tags.len() => {
            line("bound", format!("{least}: no rules do with fewer ({why})"));
        }
        Some((least, why)) => line("bound", format!("{least} at least ({why})")),
        None => {}
    }
    line("classes", classes.join(", "));
    if let Some(report) = report {
        line("longest", format!("a path with {} switches", report.longest_path_switches));
    }
    text.push('\n');
    text.push_str(&by_kind(fabric, rules));
    match &args.out {
        Some(path) => text.push_str(&written(path)),
        None => text.push_str("\nnothing was written: --out FILE keeps the rules\n"),
    }
    text
}

fn written(path: &Path) -> String {
    let file = path.display();
    format!("\n{file}: prove it with tidegate tagger verify, translate it with tidegate tagger export\n")
}

/// Formats the rule counts of switches, one line per group of switches with equal counts.
fn by_kind(fabric: &Fabric, rules: &RuleTable) -> String {
    let mut kinds: BTreeMap<(u8, usize, u64, usize), (NodeId, u64)> = BTreeMap::new();
    for count in counts(fabric, rules) {
        let key = (fabric.node(count.node).tier, count.ports, count.single, count.entries);
        kinds.entry(key).or_insert((count.node, 0)).1 += 1;
    }
    // If there are many groups, show only the first and the last twelve.
    let all: Vec<_> = kinds.into_iter().collect();
    let shown: Vec<_> =
        if all.len() > 24 { all.iter().take(12).chain(&all[all.len() - 12..]).collect() } else { all.iter().collect() };
    let row = |&&((tier, ports, single, entries), (node, count)): &&((u8, usize, u64, usize), (NodeId, u64))| {
        let name = fabric.name(node);
        let name = if count == 1 { name.to_owned() } else { format!("{name} and {} like it", grouped(count - 1)) };
        vec![name, tier.to_string(), ports.to_string(), grouped(single), grouped(entries as u64)]
    };
    let rows: Vec<Vec<String>> = shown.iter().map(row).collect();
    let mut text = table(&["switches", "tier", "ports", "rules", "TCAM entries"], &rows, 1, Layout::Fitting, 2);
    if all.len() > shown.len() {
        text.push_str(&format!("  and {} kinds between them: --csv lists every switch\n", all.len() - shown.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_read_as_written() {
        assert_eq!(parse_classes("1"), Ok(Classes(vec!["default".to_owned()])));
        assert_eq!(parse_classes("2").unwrap().0, ["class1", "class2"]);
        assert_eq!(parse_classes("storage, training").unwrap().0, ["storage", "training"]);
        for wrong in ["0", "", "a,a", "a,"] {
            assert!(parse_classes(wrong).is_err(), "{wrong}");
        }
    }
}
