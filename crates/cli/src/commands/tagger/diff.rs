//! `tidegate tagger diff`: compares deployed rules with new rules, and plans the migration.

use super::source::read_rules;
use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags};
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use fabric::PortIndex;
use serde_json::{Value, json};
use std::path::PathBuf;
use tagger::export::gather;
use tagger::operate::diff::{Change, Diff, Presence, Side, Single, SwitchDiff, diff};
use text::numbers::counted;
use text::{Layout, table};

/// Compare deployed rules with new ones, and print an order of changes in which no mixture of the two can deadlock.
///
/// Exit code 0: such an order exists; 1: the new rules can deadlock by themselves; 2: invalid input.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// The deployed rules.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new rules.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// The fabric of the new rules.
    #[arg(long = "fabric", value_name = "FILE|SCENARIO|KIND")]
    source: String,
    #[command(flatten)]
    flags: FabricFlags,
    /// The fabric of the deployed rules, if it differs: before pods or links were added. Ports correspond by switch and
    /// number.
    #[arg(long, value_name = "FILE|SCENARIO")]
    old_fabric: Option<String>,
    /// Print every rule, not only the counts.
    #[arg(long)]
    rules: bool,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// If the rules or the fabrics are invalid.
pub fn command(args: &DiffArgs) -> Result<Exit, Failure> {
    let fabric = fabric_source::find(&args.source, &args.flags, None)?.fabric;
    let before = match &args.old_fabric {
        None => None,
        Some(source) => Some(fabric_source::find(source, &FabricFlags::default(), None)?.fabric),
    };
    let before = before.as_ref().unwrap_or(&fabric);
    let old = read_rules(&args.old, before).map_err(|failure| match (failure, &args.old_fabric) {
        (Failure::Input { message, help }, None) => {
            let changed = "if the fabric has changed, name the old one with --old-fabric";
            Failure::input(message, help.map_or(changed.to_owned(), |help| format!("{changed}; {help}")))
        }
        (failure, _) => failure,
    })?;
    let new = read_rules(&args.new, &fabric)?;
    let found = diff(Side { fabric: before, table: &old }, Side { fabric: &fabric, table: &new });
    let text = if args.json { format!("{:#}\n", as_json(&found)) } else { as_text(args, &found) };
    output::show(&text)?;
    Ok(if found.new_is_unsafe { Exit::CheckFailed } else { Exit::Done })
}

fn first_of(switch: &SwitchDiff) -> &[Single] {
    &switch.first
}

/// Returns the rules to add: rules that are only in the new table, and the new form of changed rules whose old form was
/// removed first.
fn added(switch: &SwitchDiff) -> Vec<Single> {
    let back = switch.changed.iter().filter(|change| went(switch, change));
    let mut all: Vec<Single> = back
        .map(|&Change { matches: (tag, i, o), to, .. }| (tag, i, o, to))
        .chain(switch.added.iter().copied())
        .collect();
    all.sort_unstable();
    all
}

/// Returns the changed rules that are replaced in place, because their old form need not be removed first.
fn changed(switch: &SwitchDiff) -> Vec<Single> {
    let stay = switch.changed.iter().filter(|change| !went(switch, change));
    stay.map(|&Change { matches: (tag, i, o), to, .. }| (tag, i, o, to)).collect()
}

fn went(switch: &SwitchDiff, change: &Change) -> bool {
    let (tag, in_port, out_port) = change.matches;
    switch.first.binary_search(&(tag, in_port, out_port, change.from)).is_ok()
}

/// A step of the migration: action, reason, and a function that returns the rules of a switch in this step.
type Step = (&'static str, &'static str, fn(&SwitchDiff) -> Vec<Single>);

fn plan(found: &Diff) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    if found.needs_a_pause() {
        let why = "with the new rules these would close a cycle, or their port leads elsewhere: without them the \
            packets are lossy; then wait until packets that were under way have left";
        steps.push(("take out first", why, |switch| first_of(switch).to_vec()));
    }
    steps.push(("add", "on all switches, in any order", added));
    steps.push(("change", "on all switches, in any order", changed));
    steps.push(("take out", "once nothing is sent by the old ways any more", |switch| switch.removed.clone()));
    let any = |step: &Step| found.switches.iter().any(|switch| !step.2(switch).is_empty());
    steps.into_iter().filter(any).collect()
}

fn as_text(args: &DiffArgs, found: &Diff) -> String {
    if found.is_empty() {
        return "the rules are the same\n".to_owned();
    }
    let mut text = String::new();
    if found.new_is_unsafe {
        let name = args.new.display();
        let verdict = format!("{name} can deadlock by itself: see tidegate tagger verify");
        return format!("{}\n", styled(&verdict, Style::Bad));
    }
    let rows: Vec<Vec<String>> = found.switches.iter().filter(|switch| !switch.is_empty()).map(row).collect();
    let header = ["switch", "", "first out", "added", "changed", "removed", "unchanged"];
    text.push_str(&table(&header, &rows, 2, Layout::Fitting, 0));
    let unchanged = found.switches.iter().filter(|switch| switch.is_empty()).count();
    text.push_str(&format!("switches without any change: {unchanged}\n"));
    for switch in &found.switches {
        for (port, was, is) in &switch.recabled {
            text.push_str(&format!("port {port} of {} led to {was} and leads to {is} now\n", switch.name));
        }
    }
    text.push_str("\nIn this order nothing can deadlock at any moment, whatever mixture of old and new is in force:\n");
    for (number, (what, why, rules)) in plan(found).iter().enumerate() {
        let of = |switch: &SwitchDiff| rules(switch).len() as u64;
        let count: u64 = found.switches.iter().map(of).sum();
        let switches: Vec<&str> =
            found.switches.iter().filter(|switch| of(switch) > 0).map(|switch| switch.name.as_str()).collect();
        text.push_str(&format!("{}. {what} {}: {why}\n   at {}\n", number + 1, counted(count, "rule"), few(&switches)));
        if args.rules {
            for switch in &found.switches {
                for entry in gather(rules(switch)) {
                    text.push_str(&format!(
                        "     {}: tag {} in {} out {} -> {}\n",
                        switch.name,
                        entry.tag,
                        list(&entry.ingress),
                        list(&entry.egress),
                        entry.shown
                    ));
                }
            }
        }
    }
    text
}

fn list(ports: &[PortIndex]) -> String {
    super::explain::ports(&ports.iter().copied().collect())
}

fn few(names: &[&str]) -> String {
    match names {
        [a, b, c, d, rest @ ..] if rest.len() > 1 => format!("{a}, {b}, {c}, {d} and {} more", rest.len()),
        all => all.join(", "),
    }
}

fn row(switch: &SwitchDiff) -> Vec<String> {
    let presence = match switch.presence {
        Presence::Kept => "",
        Presence::New => "new",
        Presence::Gone => "gone",
    };
    let counts =
        [switch.first.len(), added(switch).len(), changed(switch).len(), switch.removed.len(), switch.unchanged];
    let mut row = vec![switch.name.clone(), presence.to_owned()];
    row.extend(counts.iter().map(usize::to_string));
    row
}

fn as_json(found: &Diff) -> Value {
    let rules = |rules: Vec<Single>| {
        let one = |entry: tagger::export::Entry| {
            let (tag, ingress, egress) = (entry.tag, entry.ingress, entry.egress);
            json!({ "tag": tag, "in": ingress, "out": egress, "new_tag": entry.shown })
        };
        gather(rules).into_iter().map(one).collect::<Vec<_>>()
    };
    let step = |(what, why, of): &Step| {
        let at = |switch: &SwitchDiff| json!({ "switch": switch.name, "rules": rules(of(switch)) });
        let switches = found.switches.iter().filter(|switch| !of(switch).is_empty());
        json!({ "step": what, "why": why, "switches": switches.map(at).collect::<Vec<_>>() })
    };
    let recabled = found.switches.iter().flat_map(|switch| {
        let one = |(port, was, is): &(PortIndex, String, String)| {
            json!({ "switch": switch.name, "port": port, "was": was, "is": is })
        };
        switch.recabled.iter().map(one)
    });
    json!({
        "same": found.is_empty(), "new_is_unsafe": found.new_is_unsafe, "needs_a_pause": found.needs_a_pause(),
        "recabled": recabled.collect::<Vec<_>>(),
        "unchanged_switches": found.switches.iter().filter(|switch| switch.is_empty()).count(),
        "steps": plan(found).iter().map(step).collect::<Vec<_>>(),
    })
}
