//! `tidegate tagger export`: writes rules as switch configurations.

use super::headroom::HeadroomArgs;
use super::marks::{MarkArgs, Trusted};
use super::profile::{self, Profile};
use super::source::{RulesOnFabric, read_text};
use super::verify::SwitchArgs;
use crate::exit::Exit;
use crate::fabric_source::{self, Found};
use crate::failure::Failure;
use crate::interfaces::{InterfaceArgs, wrong};
use crate::names::file_name;
use crate::output;
use crate::progress::count_progress_bar;
use clap::ValueEnum;
use fabric::{Fabric, NodeId};
use platform::Platforms;
use record::files::NewFiles;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tagger::export::sonic::{self, Config, Published, Settings, SonicError};
use tagger::export::{Dialect, Interfaces, Marks, SwitchView, UnsupportedSwitch, acl, eos, listing, nftables};
use tagger::on_all_cores_with;
use tagger::rules::{LOSSY_TAG, RuleTable};
use target::TargetArgs;

mod merged;
mod platform;
mod target;
mod write;

/// Write rules as configurations of switches.
///
/// Nothing is written unless every switch fits, and the rules are proved first. Exit code 0: done; 1: a switch does not
/// fit ("needs ACL"), or the rules can deadlock; 2: invalid input.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    on: RulesOnFabric,
    /// The output format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Format,
    /// Only these switches [default: all]
    #[arg(id = "only", long = "only", value_name = "NAME")]
    switches: Vec<String>,
    /// Write a file per switch into this folder, and NOTES.txt with instructions for loading them.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrite files in that folder that tidegate did not write for this format, or that were changed since.
    #[arg(long, requires = "out")]
    force: bool,
    /// An ASIC's limits, a TOML file: its traffic classes and ports.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    #[command(flatten)]
    marks: MarkArgs,
    #[command(flatten)]
    interfaces: InterfaceArgs,
    #[command(flatten)]
    headroom: HeadroomArgs,
    #[command(flatten)]
    target: TargetArgs,
    /// Tags that hosts may send, in configurations of switches: first tags of classes, so that other marks of hosts are
    /// lossy; or any tag of the rules [default: first]
    #[arg(long, value_enum, value_name = "TAGS")]
    trust_hosts: Option<Trusted>,
    #[command(flatten)]
    assumed: SwitchArgs,
    /// sonic: write although the configurations of --platform have findings of `tidegate fabric check --running` with
    /// the fragments that they do not have without. NOTES.txt lists them.
    #[arg(long, requires = "platform")]
    accept_findings: bool,
    /// Do not prove the rules first.
    #[arg(long)]
    unproved: bool,
    /// Print only errors.
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object on standard output, and nothing else there: switches, notes, and misfits.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One object per switch: its ports with their names, and a line per rule with port numbers
    Json,
    /// One line per rule
    Csv,
    /// SONiC: QoS maps, PFC, watchdog and headroom, a fragment of config_db.json per switch
    Sonic,
    /// A rewriting ACL in SONiC's format, for builds that support it
    Acl,
    /// Linux: a file for nft -f and one for tc -batch per switch
    Nftables,
    /// Arista EOS, as documented in its guides
    Eos,
}

impl Format {
    /// Returns the name of the format, as the value of `--to`.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
    /// Returns whether the format is a listing: it contains the rules unchanged and configures nothing.
    fn lists(self) -> bool {
        matches!(self, Format::Table | Format::Json | Format::Csv)
    }
    /// Returns whether the format configures PFC.
    fn pauses(self) -> bool {
        matches!(self, Format::Sonic | Format::Eos)
    }
    /// Returns the grammar of the port names in this format.
    fn dialect(self) -> Dialect {
        match self {
            Format::Table | Format::Json | Format::Csv => Dialect::Listing,
            Format::Sonic | Format::Acl => Dialect::Sonic,
            Format::Nftables => Dialect::Linux,
            Format::Eos => Dialect::Eos,
        }
    }
}

/// An output file for a switch.
struct SwitchFile {
    name: String,
    /// Content of the file; empty once the content has been written to a folder or to standard output.
    text: String,
    /// Whether the file is a JSON patch, which must be applied before the switch's other file is loaded.
    is_patch: bool,
}

impl SwitchFile {
    fn new(view: &SwitchView, suffix: &str, text: String) -> SwitchFile {
        SwitchFile { name: file_name(view.name(), suffix), text, is_patch: false }
    }
}

/// Rendered output for several switches.
#[derive(Default)]
struct Written {
    /// Files, each with the name of its switch.
    files: Vec<(String, SwitchFile)>,
    notes: Vec<String>,
    misfits: Vec<UnsupportedSwitch>,
    published: BTreeSet<Published>,
    /// Merged configurations (`--platform` with the fragments), by name of the switch.
    merged: BTreeMap<String, Config>,
    /// DSCPs that are lossless at a port of a platform and lossy with its fragment, a bit each.
    lost_dscps: u64,
}

/// Checks that the fabric has switches with these names.
///
/// # Errors
/// If the fabric lacks a switch; the error names the first.
pub fn check_names(fabric: &Fabric, names: &[String]) -> Result<(), Failure> {
    let forwards = |name: &&String| fabric.find(name).is_some_and(|node| fabric.node(node).forwards());
    match names.iter().find(|name| !forwards(name)) {
        None => Ok(()),
        Some(name) => {
            let help = "tidegate fabric show --json lists the nodes";
            Err(Failure::input(format!("--only: the fabric has no switch `{name}`"), help))
        }
    }
}

/// Whether the ports of the switches have the names of SONiC: the file is SONiC's, or a port is `Ethernet0`, which no
/// other system has. Topologies in other formats state names of SONiC, too.
fn has_names_of_sonic(found: &Found) -> bool {
    let fabric = &found.fabric;
    found.format == Some(fabric::files::Format::ConfigDb)
        || fabric.switches().any(|node| fabric.port_named(node, "Ethernet0").is_some())
}

/// Runs the command.
///
/// # Errors
/// If the rules, the fabric, the marks or the names are invalid, or a folder cannot be written.
pub fn command(args: &ExportArgs) -> Result<Exit, Failure> {
    args.target.check(args.to)?;
    check_listing(args)?;
    let (found, rules) = args.on.read_found()?;
    let of_file = has_names_of_sonic(&found).then_some(Dialect::Sonic);
    let fabric = found.fabric;
    check_names(&fabric, &args.switches)?;
    if args.to == Format::Sonic {
        // The headroom is computed from link rates and delays, so these must be stated.
        fabric_source::check_stated(&fabric)?;
    }
    let profile = args.profile.as_deref().map(profile::read).transpose()?;
    check_ports(&fabric, profile.as_ref())?;
    let assumed = args.assumed.switches();
    let proof = (!args.unproved).then(|| prove(args, &fabric, assumed)).transpose()?;
    if let Some(verdict) = proof.filter(|verdict| !verdict.pass()) {
        output::note(&format!("{}: {}, so nothing is written", args.on.rules.display(), failure_reason(&verdict)));
        output::note(&format!("tidegate tagger verify{} shows how", options(assumed)));
        return Ok(Exit::CheckFailed);
    }
    // A listing contains the tags themselves, and needs no priorities for them.
    let marks = (!args.to.lists()).then(|| args.marks.marks(&rules, profile.as_ref())).transpose()?;
    let priorities = profile.as_ref().and_then(|profile| profile.limits.lossless_priorities);
    let mut job = Job::new(args, (&fabric, of_file), &rules, marks.as_ref(), priorities)?;
    job.otherwise = otherwise(args, &fabric)?;
    job.judgement = merged::judge(&job)?;
    if let Some(judgement) = &job.judgement
        && judgement.refuses(args)?
    {
        return Ok(Exit::CheckFailed);
    }
    let written = write::write(&job)?;
    if written.misfits.is_empty() {
        return Ok(Exit::Done);
    }
    for misfit in written.misfits.iter().take(20) {
        output::note(&format!("{}: {misfit}", args.on.rules.display()));
    }
    output::note(&match written.misfits.len() {
        1 => "nothing is written: one switch does not fit".to_owned(),
        count => format!("nothing is written: {count} switches do not fit"),
    });
    Ok(Exit::CheckFailed)
}

/// Checks that no option is given that a listing would ignore: a listing contains the rules with their tags, unchanged.
///
/// # Errors
/// If an option for marks or for the tags of hosts is given; the error names the first.
fn check_listing(args: &ExportArgs) -> Result<(), Failure> {
    let given = [
        ("--trust-hosts", args.trust_hosts.is_some()),
        ("--tag", !args.marks.tags.is_empty()),
        ("--keep", !args.marks.keep.is_empty()),
        ("--traffic-classes", args.marks.traffic_classes.is_some()),
    ];
    match given.iter().find(|(_, given)| *given && args.to.lists()) {
        None => Ok(()),
        Some((option, _)) => {
            let message = format!("{option}: an export --to {} lists the rules unchanged", args.to.name());
            Err(Failure::input(message, "leave it out, or export --to sonic, acl, nftables or eos"))
        }
    }
}

/// Returns the verdict on the rules for switches with the behaviour `on`. The verifier is independent of the generator.
fn prove(args: &ExportArgs, fabric: &Fabric, on: verify::Switches) -> Result<verify::Verdict, Failure> {
    let text = read_text(&args.on.rules)?;
    let wrong = |error| Failure::Input { message: format!("{}: {error}", args.on.rules.display()), help: None };
    let rules = verify::RuleFile::parse(text.as_bytes()).map_err(wrong)?;
    Ok(verify::Verifier::new(fabric, &rules).map_err(wrong)?.on(on).finish())
}

/// Returns the reason why rules with this verdict are not exported.
fn failure_reason(verdict: &verify::Verdict) -> &'static str {
    let only_starves = verdict.checks.iter().all(|check| check.pass || check.name == "lossy-queue-drains");
    match (only_starves, verdict.switches.egress) {
        (true, _) => "under strict priority a frame that turns lossy can stop a lossless queue for ever",
        (_, verify::EgressQueue::ArrivingTag) => {
            "switches that queue by the arriving tag can deadlock, with or without these rules"
        }
        _ => "these rules can deadlock",
    }
}

/// Returns the command-line options for the properties of `switches` that differ from the defaults.
fn options(switches: verify::Switches) -> String {
    let egress = if switches.egress == verify::EgressQueue::ArrivingTag { " --egress arriving-tag" } else { "" };
    let strict = if switches.scheduler == verify::Scheduler::Strict { " --scheduler strict" } else { "" };
    format!("{egress}{strict}")
}

/// Returns a note about the deadlock that is possible if switches queue by the arriving tag. The formats assume
/// queueing by the new tag; `None` if other formats are written, or no deadlock is possible.
fn otherwise(args: &ExportArgs, fabric: &Fabric) -> Result<Option<String>, Failure> {
    if !matches!(args.to, Format::Sonic | Format::Acl | Format::Eos) || args.unproved {
        return Ok(None);
    }
    let arriving = verify::Switches { egress: verify::EgressQueue::ArrivingTag, ..verify::Switches::default() };
    let verdict = prove(args, fabric, arriving)?;
    Ok(verdict.reachable_cycle.map(|cycle| {
        let links: Vec<String> = cycle.links.iter().map(ToString::to_string).collect();
        let tag = cycle.links.first().and_then(|link| link.tag).unwrap_or_default();
        format!(
            "These rules are proved for switches whose egress queue follows the new tag. A switch that queues by the \
             arriving tag does not only lose packets: any loop of links can deadlock, here with tag {tag} {}.",
            links.join(", ")
        )
    }))
}

fn check_ports(fabric: &Fabric, profile: Option<&Profile>) -> Result<(), Failure> {
    let Some(most) = profile.and_then(|profile| profile.limits.ports) else { return Ok(()) };
    match fabric.switches().find(|&node| fabric.ports(node).len() as u64 > most) {
        None => Ok(()),
        Some(node) => {
            let (name, ports) = (fabric.name(node), fabric.ports(node).len());
            let message = format!("switch `{name}` has {ports} ports, and the profile's bitmap has {most}");
            Err(Failure::Input { message, help: None })
        }
    }
}

/// Returns the switches to write, sorted by name: those of `--only`, or all switches and every host with rules.
fn chosen(args: &ExportArgs, fabric: &Fabric, rules: &RuleTable) -> Vec<NodeId> {
    let ruled = rules.switches().iter().filter(|switch| !switch.rules.is_empty()).map(|switch| switch.node);
    let mut nodes: Vec<NodeId> = fabric.switches().chain(ruled).collect();
    let wanted = |name: &str| args.switches.is_empty() || args.switches.iter().any(|one| one == name);
    nodes.retain(|&node| wanted(fabric.name(node)));
    nodes.sort_unstable_by_key(|&node| fabric.name(node));
    nodes.dedup();
    nodes
}

/// An export: its inputs and its intermediate results.
struct Job<'a> {
    args: &'a ExportArgs,
    fabric: &'a Fabric,
    rules: &'a RuleTable,
    marks: Option<&'a Marks>,
    /// Number of lossless priorities that the ASIC supports.
    priorities: Option<u64>,
    switches: Vec<NodeId>,
    names: Interfaces,
    settings: Settings,
    platforms: Platforms,
    /// Note about switches that queue by the arriving tag; see [`otherwise`].
    otherwise: Option<String>,
    /// Judgement of the merged configurations of `--platform`.
    judgement: Option<merged::Judgement>,
}

impl<'a> Job<'a> {
    fn new(
        args: &'a ExportArgs,
        (fabric, of_file): (&'a Fabric, Option<Dialect>),
        rules: &'a RuleTable,
        marks: Option<&'a Marks>,
        priorities: Option<u64>,
    ) -> Result<Job<'a>, Failure> {
        let switches = chosen(args, fabric, rules);
        let names = args.interfaces.interfaces(fabric, of_file, args.to.dialect(), &switches)?;
        let warning = args.interfaces.warning(fabric, &names, args.to.dialect(), &switches);
        warning.iter().for_each(|warning| output::note(&format!("warning: {warning}")));
        let settings = args
            .target
            .settings(rules.classes.iter().map(|class| class.first_tag).collect(), 2 * args.headroom.mtu().get());
        let platforms = match args.to {
            Format::Sonic => Platforms::read(&args.target, &args.on.source, fabric, &switches)?,
            _ => Platforms::default(),
        };
        let (otherwise, judgement) = (None, None);
        Ok(Job { args, fabric, rules, marks, priorities, switches, names, settings, platforms, otherwise, judgement })
    }

    /// Returns the notes that are not about single switches.
    fn notes(&self) -> Vec<String> {
        let general = self.marks.into_iter().flat_map(|marks| general_notes(self, marks));
        let ends = if self.args.to == Format::Sonic { self.platforms.disagreements(self.fabric) } else { Vec::new() };
        let tunnels = self.fabric.has_shared_ports().then(|| {
            "A dual-ToR fabric: the rules do not describe the tunnels between the ToRs of a pair, and this export has \
             no maps for them. Check the merged configuration: tidegate fabric check --running DIR."
                .to_owned()
        });
        general
            .chain(tunnels)
            .chain(ends)
            .chain(self.otherwise.clone())
            .chain(self.judgement.iter().flat_map(merged::Judgement::notes))
            .chain(self.args.interfaces.warning(self.fabric, &self.names, self.args.to.dialect(), &self.switches))
            .chain(self.args.interfaces.note(self.fabric, &self.names, &self.switches))
            .collect()
    }

    /// Renders the files of these switches. Writes them to `new`, if given; keeps their content in the result if
    /// `keep`.
    fn render(&self, switches: &[NodeId], new: Option<&NewFiles<'_>>, keep: bool) -> Result<Written, Failure> {
        let Job { args, marks, settings, .. } = self;
        let priorities_in_use = marks.map_or(1, |marks| marks.lossless().len());
        let bar = count_progress_bar(switches.len() as u64, "switches", !args.quiet && !args.json);
        let of_switch = |buffer: &mut String, &node: &NodeId| {
            let cable = |interface: &str, link: &fabric::Link| {
                self.platforms.cable(self.fabric.name(node), interface, link, &args.headroom, priorities_in_use)
            };
            let view = SwitchView::of(self.fabric, node, self.rules.rules_of(node), &self.names, cable);
            let trusts = args.trust_hosts != Some(Trusted::Any) && !args.to.lists();
            let view = view.map_err(wrong)?;
            let view = if trusts { view.trusting_hosts_with(&settings.first_tags) } else { view };
            let mut made = match marks {
                None => Ok(SwitchExport {
                    files: listed(args.to, &view, std::mem::take(buffer)),
                    ..SwitchExport::default()
                }),
                Some(marks) => match within(&view, marks, self.priorities.filter(|_| args.to.pauses()))
                    .map_err(SonicError::from)
                    .and_then(|()| one(args, &view, marks, settings, &self.platforms))
                {
                    Ok(made) => Ok(made),
                    Err(SonicError::UnsupportedSwitch(misfit)) => Err(misfit),
                    Err(SonicError::Platform(error)) => return Err(self.platforms.failure(view.name(), &error)),
                },
            };
            for file in made.iter_mut().flat_map(|made| &mut made.files) {
                new.map_or(Ok(()), |new| new.add(&file.name, file.text.as_bytes())).map_err(Failure::of_output)?;
                if !keep {
                    *buffer = std::mem::take(&mut file.text);
                }
            }
            bar.inc(1);
            Ok::<_, Failure>((view.name().to_owned(), made))
        };
        let mut written = Written::default();
        for made in on_all_cores_with(switches, of_switch) {
            match made? {
                (switch, Ok(made)) => {
                    written.files.extend(made.files.into_iter().map(|file| (switch.clone(), file)));
                    written.notes.extend(made.notes);
                    written.published.extend(made.published);
                    written.lost_dscps |= made.lost_dscps;
                    written.merged.extend(made.merged.map(|merged| (switch, merged)));
                }
                (_, Err(misfit)) => written.misfits.push(misfit),
            }
        }
        bar.finish_and_clear();
        Ok(written)
    }
}

/// The files and notes of one switch.
#[derive(Default)]
struct SwitchExport {
    files: Vec<SwitchFile>,
    notes: Vec<String>,
    published: Vec<Published>,
    merged: Option<Config>,
    lost_dscps: u64,
}

/// Checks that the ASIC supports as many lossless priorities as the ports of the switch need.
fn within(view: &SwitchView, marks: &Marks, limit: Option<u64>) -> Result<(), UnsupportedSwitch> {
    let (switch, priorities) = (view.name().to_owned(), view.most_lossless_priorities(marks));
    match limit.filter(|&limit| priorities as u64 > limit) {
        Some(limit) => Err(UnsupportedSwitch::Priorities { switch, priorities, limit }),
        None => Ok(()),
    }
}

/// Returns the listing of a switch, with its rules unchanged; reuses the memory of `text`.
fn listed(format: Format, view: &SwitchView, mut text: String) -> Vec<SwitchFile> {
    text.clear();
    let suffix = match format {
        Format::Csv => {
            text.push_str(listing::CSV_HEADER);
            listing::csv(&mut text, view);
            ".csv"
        }
        Format::Json => {
            listing::json(&mut text, view);
            ".json"
        }
        _ => {
            listing::table(&mut text, view, LOSSY_TAG);
            ".txt"
        }
    };
    vec![SwitchFile::new(view, suffix, text)]
}

/// Returns the configuration files of a switch, with notes.
fn one(
    args: &ExportArgs,
    view: &SwitchView,
    marks: &Marks,
    settings: &Settings,
    platforms: &Platforms,
) -> Result<SwitchExport, SonicError> {
    let plain = |text: String, suffix: &str| vec![SwitchFile::new(view, suffix, text)];
    let pretty = |value: Value| format!("{value:#}\n");
    let files = match args.to {
        Format::Table | Format::Csv | Format::Json => listed(args.to, view, String::new()),
        Format::Sonic => {
            let made = sonic::fragment(view, marks, settings, &platforms.given(view.name()))?;
            let mut files = plain(made.text(), ".json");
            let patch = made.patch.map(|patch| SwitchFile::new(view, ".patch.json", pretty(patch)));
            files.extend(patch.map(|patch| SwitchFile { is_patch: true, ..patch }));
            let (notes, published, merged, lost_dscps) = (made.notes, made.published, made.merged, made.lost_dscps);
            return Ok(SwitchExport { files, notes, published, merged, lost_dscps });
        }
        Format::Acl => plain(pretty(acl::config_db(view, marks)?), ".json"),
        Format::Eos => plain(eos::config(view, marks)?, ".eos"),
        Format::Nftables => {
            let rules = SwitchFile::new(view, ".nft", nftables::ruleset(view, marks, args.target.family())?);
            vec![rules, SwitchFile::new(view, ".tc", nftables::queues(view, marks)?)]
        }
    };
    Ok(SwitchExport { files, ..SwitchExport::default() })
}

fn general_notes(job: &Job<'_>, marks: &Marks) -> Vec<String> {
    let Job { args, settings, platforms, .. } = job;
    match args.to {
        Format::Sonic => sonic::general_notes(marks, settings, &platforms.in_general()),
        Format::Acl => vec![acl::WARNING.to_owned()],
        Format::Eos => vec![eos::WARNING.to_owned()],
        Format::Nftables => nftables::notes(marks, args.target.family()),
        Format::Table | Format::Json | Format::Csv => Vec::new(),
    }
}
