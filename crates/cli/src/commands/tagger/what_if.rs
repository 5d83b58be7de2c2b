//! `tidegate tagger what-if`: computes the effects of the failure of each link.

use super::source::RulesOnFabric;
use crate::exit::Exit;
use crate::fabric_source::TunnelArgs;
use crate::failure::Failure;
use crate::names::port_shown;
use crate::output::{self, Style, styled};
use crate::progress::count_progress_bar;
use fabric::routing::{Forwarding, Mode};
use fabric::{Fabric, LinkId};
use serde_json::{Value, json};
use tagger::operate::what_if::{Effect, LinkFailureEffects, WhatIf};
use text::numbers::{counted, grouped};
use text::{Layout, table};

/// Print for each link between switches the traffic that becomes lossy if it fails: before routing has converged, while
/// its two ends send packets around it, and afterwards.
#[derive(Debug, clap::Args)]
pub struct WhatIfArgs {
    #[command(flatten)]
    on: RulesOnFabric,
    #[command(flatten)]
    tunnels: TunnelArgs,
    /// Routing of packets.
    #[arg(long, value_name = "MODE", value_enum, default_value = "shortest")]
    routing: Routing,
    /// Only this link, by its two ends: T1,L1. All links between the two, one after the other.
    #[arg(long, value_name = "A,B")]
    link: Option<String>,
    /// Print every link, not only those with effects.
    #[arg(long)]
    all: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Routing {
    /// All shortest paths
    Shortest,
    /// Never up again after a step down
    UpDown,
}

/// Runs the command.
///
/// # Errors
/// If the rules, the fabric or the link are invalid.
pub fn command(args: &WhatIfArgs) -> Result<Exit, Failure> {
    let (fabric, rules) = args.on.read()?;
    args.tunnels.check(&args.on.source, &fabric)?;
    let wrong =
        |error: fabric::routing::RoutingError| Failure::Input { message: format!("--routing: {error}"), help: None };
    let mode = match args.routing {
        Routing::Shortest => Mode::ShortestPath,
        Routing::UpDown => Mode::UpDown { root: None },
    };
    let routes = Forwarding::build(&fabric, mode).map_err(wrong)?;
    let links = match &args.link {
        None => WhatIf::links(&fabric),
        Some(ends) => between(&fabric, ends)?,
    };
    let bar = count_progress_bar(links.len() as u64, "links", !args.quiet && !args.json);
    let mut question = WhatIf::new(&fabric, &rules, &routes);
    let mut verdicts = Vec::with_capacity(links.len());
    for link in links {
        verdicts.push(question.fails(link).map_err(wrong)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let text =
        if args.json { format!("{:#}\n", as_json(&fabric, &verdicts)) } else { as_text(args, &fabric, &verdicts) };
    output::show(&text).map(|()| Exit::Done)
}

fn between(fabric: &Fabric, ends: &str) -> Result<Vec<LinkId>, Failure> {
    let form = || Failure::input(format!("--link {ends}: not two ends"), "write their names, as in T1,L1");
    let (a, b) = ends.split_once(',').ok_or_else(form)?;
    let node = |name: &str| {
        let help = "tidegate fabric show --json lists nodes and links";
        fabric.find(name).ok_or_else(|| Failure::input(format!("--link: the fabric has no node `{name}`"), help))
    };
    let (from, to) = (node(a.trim())?, node(b.trim())?);
    let links: Vec<LinkId> = fabric.ports(from).iter().filter(|port| port.peer == to).map(|port| port.link).collect();
    if links.is_empty() {
        return Err(Failure::Input { message: format!("--link: no link connects `{a}` and `{b}`"), help: None });
    }
    Ok(links)
}

/// Formats a link with its ports, such as "T1:4 - L1:0".
fn name(fabric: &Fabric, link: LinkId) -> String {
    let link = fabric.link(link);
    let end = |end: fabric::End| format!("{}:{}", fabric.name(end.node), port_shown(fabric, end.node, end.port));
    format!("{} - {}", end(link.a), end(link.b))
}

fn path(fabric: &Fabric, effect: &Effect) -> Vec<String> {
    effect.example.iter().flatten().map(|&node| fabric.name(node).to_owned()).collect()
}

fn harmless(verdict: &LinkFailureEffects) -> bool {
    [&verdict.local, &verdict.converged].iter().all(|effect| (effect.lossy, effect.cut, effect.looping) == (0, 0, 0))
}

fn as_text(args: &WhatIfArgs, fabric: &Fabric, verdicts: &[LinkFailureEffects]) -> String {
    let costly = verdicts.iter().filter(|verdict| !harmless(verdict)).count() as u64;
    let percent = |effect: &Effect| {
        if effect.lossy == 0 { String::new() } else { format!("{:.1} %", effect.lossy_per_million as f64 / 1e4) }
    };
    let row = |verdict: &LinkFailureEffects| {
        let (local, after) = (&verdict.local, &verdict.converged);
        let example = if local.example.is_some() { path(fabric, local) } else { path(fabric, after) };
        let link = name(fabric, verdict.link);
        let counts = [local.lossy, after.lossy, after.cut].map(grouped);
        let [first, later, cut] = counts;
        vec![link, first, percent(local), later, percent(after), cut, example.join(" ")]
    };
    let rows: Vec<Vec<String>> = verdicts.iter().filter(|verdict| args.all || !harmless(verdict)).map(row).collect();
    let mut text = format!(
        "{}: {}{}, each failing alone: {} of them {} lossless traffic lossy, or cut it off\n",
        styled(&args.on.rules.display().to_string(), Style::Strong),
        counted(verdicts.len() as u64, "link"),
        // A link given by `--link` may lead to a host with several ports.
        if args.link.is_none() { " between switches" } else { "" },
        grouped(costly),
        if costly == 1 { "makes" } else { "make" },
    );
    if !rows.is_empty() {
        let header = [
            "link",
            "lossy pairs at once",
            "their packets",
            "after",
            "packets",
            "cut off",
            "example, up to the switch",
        ];
        text.push_str(&table(&header, &rows, 1, Layout::Fitting, 2));
        text.push_str(
            "at once: before routing has converged, packets go round the link at its ends; after: with routes computed \
             anew\n",
        );
    }
    text
}

fn as_json(fabric: &Fabric, verdicts: &[LinkFailureEffects]) -> Value {
    let effect = |effect: &Effect| {
        json!({
            "lossy_pairs": effect.lossy, "lossy_packets_per_million": effect.lossy_per_million, "cut_pairs": effect.cut,
            "looping_pairs": effect.looping, "example": effect.example.as_ref().map(|_| path(fabric, effect)),
        })
    };
    let one = |verdict: &LinkFailureEffects| {
        let link = fabric.link(verdict.link);
        json!({
            "link": verdict.link, "a": { "node": fabric.name(link.a.node), "port": link.a.port },
            "b": { "node": fabric.name(link.b.node), "port": link.b.port },
            "local": effect(&verdict.local), "converged": effect(&verdict.converged),
        })
    };
    json!({ "links": verdicts.iter().map(one).collect::<Vec<_>>() })
}
