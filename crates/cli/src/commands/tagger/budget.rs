//! `tidegate tagger budget`: checks that the switches have the resources that the rules need.

use super::headroom::HeadroomArgs;
use super::marks::MarkArgs;
use super::profile::{self, Profile};
use super::source::RulesOnFabric;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use serde_json::{Value, json};
use std::path::PathBuf;
use tagger::export::{Cable, Dialect, Interfaces, SwitchView};
use tagger::operate::budget::{Excess, Needs};
use text::numbers::grouped;
use text::{Layout, table};
use units::Bytes;

/// Check that the switches can carry the rules: total headroom against the buffer, and lossless priorities, TCAM
/// entries, traffic classes and ports against the limits of an ASIC.
///
/// Exit code 0: every switch fits; 1: a switch does not fit; 2: invalid input.
#[derive(Debug, clap::Args)]
pub struct BudgetArgs {
    #[command(flatten)]
    on: RulesOnFabric,
    /// The ASIC's limits, a TOML file such as examples/asic/trident2.toml. Missing limits are not checked.
    #[arg(long, value_name = "FILE")]
    profile: PathBuf,
    /// Only these switches.
    #[arg(id = "only", long = "only", value_name = "NAME")]
    switches: Vec<String>,
    #[command(flatten)]
    headroom: HeadroomArgs,
    #[command(flatten)]
    marks: MarkArgs,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

/// Maximum number of switches that a text table lists one by one; more switches are grouped by equal needs.
const MANY: usize = 40;

/// Runs the command.
///
/// # Errors
/// If the rules, the fabric, the profile or the marks are invalid.
pub fn command(args: &BudgetArgs) -> Result<Exit, Failure> {
    let (fabric, rules) = args.on.read()?;
    let profile = profile::read(&args.profile)?;
    let marks = args.marks.marks(&rules, Some(&profile))?;
    let names = Interfaces::of_fabric(Dialect::Listing);
    super::export::check_names(&fabric, &args.switches)?;
    let first_tags: Vec<_> = rules.classes.iter().map(|class| class.first_tag).collect();
    let mut all: Vec<(Needs, Vec<Excess>)> = Vec::new();
    let cable = |link: &fabric::Link| Cable {
        rate: link.rate,
        delay: link.delay,
        headroom_bytes: args.headroom.bytes(link.rate, link.delay, marks.lossless().len()),
    };
    for view in SwitchView::all(&fabric, &rules, &names, cable) {
        let view = view.map_err(crate::interfaces::wrong)?.trusting_hosts_with(&first_tags);
        if args.switches.is_empty() || args.switches.iter().any(|name| name == view.name()) {
            let needs = Needs::of(&view, &marks);
            let excess = needs.excess(&profile.limits);
            all.push((needs, excess));
        }
    }
    let text = if args.json { format!("{:#}\n", as_json(&profile, &all)) } else { as_text(&profile, &all) };
    output::show(&text)?;
    Ok(if all.iter().all(|(_, excess)| excess.is_empty()) { Exit::Done } else { Exit::CheckFailed })
}

fn as_json(profile: &Profile, all: &[(Needs, Vec<Excess>)]) -> Value {
    let one = |(needs, excess): &(Needs, Vec<Excess>)| {
        let over = |one: &Excess| json!({ "what": one.what, "needs": one.needs, "limit": one.limit });
        json!({
            "switch": needs.switch, "ports": needs.ports, "headroom_bytes": needs.headroom_bytes,
            "lossless_priorities": needs.lossless_priorities, "tcam_entries": needs.tcam_entries,
            "traffic_classes": needs.traffic_classes, "excess": excess.iter().map(over).collect::<Vec<_>>(),
        })
    };
    let limits = &profile.limits;
    json!({
        "profile": { "name": profile.name, "source": profile.source, "buffer_bytes": limits.buffer_bytes,
            "lossless_priorities": limits.lossless_priorities, "tcam_entries": limits.tcam_entries,
            "traffic_classes": limits.traffic_classes, "ports": limits.ports },
        "fits": all.iter().all(|(_, excess)| excess.is_empty()),
        "switches": all.iter().map(one).collect::<Vec<_>>(),
    })
}

fn row(name: String, needs: &Needs, verdict: String) -> Vec<String> {
    let Needs { headroom_bytes, lossless_priorities, tcam_entries, traffic_classes, ports, .. } = *needs;
    let numbers = [ports, headroom_bytes, lossless_priorities, tcam_entries, traffic_classes].map(grouped);
    let [ports, headroom, priorities, entries, classes] = numbers;
    vec![name, verdict, ports, headroom, priorities, entries, classes]
}

fn as_text(profile: &Profile, all: &[(Needs, Vec<Excess>)]) -> String {
    let mut text = format!("{}  {}\n", styled(&profile.name, Style::Strong), profile.source);
    let limits = &profile.limits;
    let limit = |limit: Option<u64>| limit.map_or("any".to_owned(), grouped);
    let mut rows = vec![vec![
        "limit".to_owned(),
        String::new(),
        limit(limits.ports),
        limit(limits.buffer_bytes),
        limit(limits.lossless_priorities),
        limit(limits.tcam_entries),
        limit(limits.traffic_classes),
    ]];
    let verdict = |excess: &[Excess]| if excess.is_empty() { "fits".to_owned() } else { "too much".to_owned() };
    if all.len() <= MANY {
        rows.extend(all.iter().map(|(needs, excess)| row(needs.switch.clone(), needs, verdict(excess))));
    } else {
        // Switches with equal needs share one row.
        let mut kinds: Vec<(&(Needs, Vec<Excess>), u64)> = Vec::new();
        for one in all {
            let same = |known: &Needs| Needs { switch: one.0.switch.clone(), ..known.clone() } == one.0;
            match kinds.iter_mut().find(|((known, _), _)| same(known)) {
                Some((_, count)) => *count += 1,
                None => kinds.push((one, 1)),
            }
        }
        rows.extend(kinds.iter().map(|((needs, excess), count)| {
            let name =
                if *count == 1 { needs.switch.clone() } else { format!("{} and {} more", needs.switch, count - 1) };
            row(name, needs, verdict(excess))
        }));
    }
    let header = ["switch", "", "ports", "headroom bytes", "lossless prio.", "TCAM entries", "traffic classes"];
    text.push_str(&table(&header, &rows, 2, Layout::Fitting, 2));
    for (needs, excess) in all.iter().filter(|(_, excess)| !excess.is_empty()).take(MANY) {
        for one in excess {
            let (name, mark) = (&needs.switch, styled("too much", Style::Bad));
            text.push_str(&format!("{mark}  {name}: {} {} of {}\n", one.what, grouped(one.needs), grouped(one.limit)));
        }
    }
    let over = all.iter().filter(|(_, excess)| !excess.is_empty()).count();
    if over > MANY {
        text.push_str(&format!("and so on: {over} switches in all\n"));
    }
    let most = all.iter().map(|(needs, _)| needs.headroom_bytes).max().unwrap_or(0);
    if let Some(buffer) = limits.buffer_bytes {
        let share = most * 100 / buffer.max(1);
        text.push_str(&format!(
            "headroom takes up to {share} % of the buffer ({} of {})\n",
            Bytes(most),
            Bytes(buffer)
        ));
    }
    text
}
