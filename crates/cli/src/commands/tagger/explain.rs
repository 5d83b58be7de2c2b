//! `tidegate tagger explain`: traces the tag of a packet along one path.

use super::source::{RulesOnFabric, first_tag};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::port_shown;
use crate::output::{self, Style, styled};
use fabric::{Fabric, PortIndex};
use serde_json::{Value, json};
use tagger::PortSet;
use tagger::operate::trace::{Hop, steps, trace};
use tagger::rules::{LOSSY_TAG, RuleTable};
use text::{Layout, table};

/// Trace one path tag by tag, and print the rule that matched at each switch.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    on: RulesOnFabric,
    /// The path: names of nodes from end to end, such as H1 T1 L1 T2 H5. NAME:PORT selects the egress port of a node
    /// with parallel links. A path may turn back and loop, as packets do when links fail.
    #[arg(value_name = "NODE", required = true, num_args = 1..)]
    path: Vec<String>,
    /// The class of the packet [default: the first]
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// If the rules, the fabric or the path are invalid.
pub fn command(args: &ExplainArgs) -> Result<Exit, Failure> {
    let (fabric, rules) = args.on.read()?;
    let tag = first_tag(&rules, args.class.as_deref())?;
    let path = steps(&fabric, &args.path)
        .map_err(|error| Failure::input(error.to_string(), "tidegate fabric show --json lists nodes and links"))?;
    let hops = trace(&rules, &path, tag);
    let text =
        if args.json { format!("{:#}\n", as_json(&fabric, &rules, &hops)) } else { as_text(&fabric, &rules, &hops) };
    output::show(&text).map(|()| Exit::Done)
}

/// Formats a port with its peer, such as "3 (S1)" or "Ethernet248 (S1)".
fn port(fabric: &Fabric, hop: &Hop, port: PortIndex) -> String {
    let peer = fabric.ports(hop.step.node)[usize::from(port)].peer;
    format!("{} ({})", port_shown(fabric, hop.step.node, port), fabric.name(peer))
}

/// Formats a set of ports as ranges, such as "0-3,7".
pub fn ports(set: &PortSet) -> String {
    let all: Vec<PortIndex> = set.iter().collect();
    let range = |run: &[PortIndex]| match run {
        [only] => only.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    all.chunk_by(|a, b| a + 1 == *b).map(range).collect::<Vec<_>>().join(",")
}

fn shown(tag: u8) -> String {
    if tag == LOSSY_TAG { "lossy".to_owned() } else { tag.to_string() }
}

fn as_text(fabric: &Fabric, rules: &RuleTable, hops: &[Hop]) -> String {
    let row = |hop: &Hop| {
        let rule = match hop.rule {
            _ if hop.tag == LOSSY_TAG => "stays lossy".to_owned(),
            None => "no rule: lossy".to_owned(),
            Some(at) => {
                let rule = &rules.rules_of(hop.step.node)[at];
                let (ins, outs) = (ports(&rule.in_ports), ports(&rule.out_ports));
                format!("#{at}: tag {} in {ins} out {outs} -> {}", rule.tag, shown(rule.new_tag))
            }
        };
        let change = format!("{} -> {}", shown(hop.tag), shown(hop.new_tag));
        let (from, to) = (port(fabric, hop, hop.step.in_port), port(fabric, hop, hop.step.out_port));
        vec![fabric.name(hop.step.node).to_owned(), from, to, change, rule]
    };
    let rows: Vec<Vec<String>> = hops.iter().map(row).collect();
    let mut text = table(&["switch", "in", "out", "tag", "rule"], &rows, 5, Layout::Fitting, 0);
    text.push_str(&match hops.iter().find(|hop| hop.new_tag == LOSSY_TAG) {
        None => format!("{}\n", styled("lossless all the way", Style::Good)),
        Some(hop) => {
            let verdict = format!("lossy from {} on", fabric.name(hop.step.node));
            format!("{}\n", styled(&verdict, Style::Caution))
        }
    });
    text
}

fn as_json(fabric: &Fabric, rules: &RuleTable, hops: &[Hop]) -> Value {
    let one = |hop: &Hop| {
        let rule = hop.rule.map(|at| {
            let rule = &rules.rules_of(hop.step.node)[at];
            let list = |set: &PortSet| set.iter().collect::<Vec<_>>();
            json!({
                "index": at, "tag": rule.tag, "in": list(&rule.in_ports), "out": list(&rule.out_ports),
                "new_tag": rule.new_tag,
            })
        });
        json!({
            "switch": fabric.name(hop.step.node), "in": hop.step.in_port, "out": hop.step.out_port, "tag": hop.tag,
            "new_tag": hop.new_tag, "rule": rule,
        })
    };
    let lossless = hops.iter().all(|hop| hop.new_tag != LOSSY_TAG);
    json!({ "lossless": lossless, "hops": hops.iter().map(one).collect::<Vec<_>>() })
}
