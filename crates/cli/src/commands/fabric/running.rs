//! `tidegate fabric check --running`: checks the QoS configuration of running switches.

use super::counterexample::{self, Simulated};
use super::grouped::{self, Group};
use super::heading;
use crate::asic_table;
use crate::commands::tagger::headroom::sonic::Sonic;
use crate::exit::Exit;
use crate::fabric_source::{self, FabricFlags, Found};
use crate::failure::Failure;
use crate::output::{self, Style, styled};
use crate::output_folder::begin;
use fabric::files::{NamePattern, parse_json};
use fabric::{Fabric, NodeId, PortIndex};
use protocols::headroom::{self, Cells, Headroom};
use protocols::reaction::Reaction;
use record::file::write_file;
use running::reproduce::counterexamples;
use running::{Binding, Conditions, Fault, FaultOrigin, Finding, Options, PathSet, QueueBinding, Report, SwitchConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use tagger::rules::{Class, GeneratedBy, Rule, RuleTable, SwitchRules};
use text::numbers::{counted, counted_as, grouped};
use units::Time;

/// Maximum number of faults that an error lists.
const MOST_SHOWN: usize = 20;

/// Seed of the random paths of the flows in a load scenario.
pub const LOAD_SEED: u64 = 1;

/// Options of the check of a running configuration.
#[derive(Clone, Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("running-output").multiple(true)))]
pub struct RunningFlags {
    /// Check the QoS configuration of running SONiC switches: a folder of `config_db.json` files, one per switch. The
    /// default topology is the one that the files describe.
    #[arg(long, value_name = "DIR", conflicts_with = "pfc", help_heading = "Running configuration")]
    pub running: Option<PathBuf>,
    /// Paths that frames may take. shortest: all shortest paths without failures; bounces=K: up and down the tiers with
    /// at most K bounces; any: all paths that do not leave by the port of arrival.
    #[arg(long, requires = "running", value_name = "PATHS", value_parser = path_set, default_value = "shortest")]
    #[arg(help_heading = "Running configuration")]
    forwarding: Forwarding,
    /// Port whose TC_TO_QUEUE_MAP the ASIC uses: the egress port or the ingress port of the frame.
    #[arg(long, requires = "running", value_enum, value_name = "PORT", default_value = "egress")]
    #[arg(help_heading = "Running configuration")]
    queue_map: QueueMap,
    /// Time from the arrival of a PAUSE until the neighbour stops, for the headroom of cables: standard (the limit of
    /// IEEE 802.3, 31B.3.7, by rate), or a time like 500ns or "60 quanta".
    #[arg(long, requires = "running", value_name = "TIME", default_value = "standard")]
    #[arg(help_heading = "Running configuration")]
    reaction: Reaction,
    /// ASIC of the switches that compute their headroom (dynamic buffer model of Mellanox): asic_table.json, and
    /// peripheral_table.json if there are gearboxes. Without it, this headroom is an assumption.
    #[arg(long, requires = "running", value_name = "FILE", help_heading = "Running configuration")]
    asic_table: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Running configuration")]
    accepted: AcceptedQueues,
    /// Write the rule table that the switches implement to this file, for `tidegate tagger verify`. The tag of a frame
    /// is the priority group that counts it.
    #[arg(long, requires = "running", value_name = "FILE", help_heading = "Running configuration")]
    #[arg(group = "running-output")]
    rules_out: Option<PathBuf>,
    /// Write scenarios of the cycle and of a starved queue into this folder, and simulate them. Without a cycle, write
    /// one with flows on random paths, which must not deadlock.
    #[arg(long, requires = "running", value_name = "DIR", help_heading = "Running configuration")]
    #[arg(group = "running-output")]
    counterexample: Option<PathBuf>,
    /// Overwrite files that tidegate did not write.
    #[arg(long, requires = "running-output", help_heading = "Running configuration")]
    force: bool,
}

/// Queues whose strict priority is accepted.
#[derive(Clone, Debug, clap::Args)]
pub struct AcceptedQueues {
    /// With --running: accept that this queue has strict priority above lossless queues, as one for congestion
    /// notifications (CNP): an assumption instead of a finding. Repeatable.
    #[arg(long, requires = "running", value_name = "QUEUE")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=31))]
    accept_strict: Vec<u8>,
}

impl AcceptedQueues {
    /// Returns the queues as a bitmask.
    pub fn bits(&self) -> u32 {
        self.accept_strict.iter().fold(0, |bits, queue| bits | 1 << queue)
    }
}

/// A set of paths that frames may take, and its text on the command line.
#[derive(Clone, Debug)]
struct Forwarding(PathSet, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum QueueMap {
    Egress,
    Ingress,
}

impl QueueMap {
    /// Converts to the corresponding type of the library.
    pub fn binding(self) -> QueueBinding {
        match self {
            QueueMap::Egress => QueueBinding::Egress,
            QueueMap::Ingress => QueueBinding::Ingress,
        }
    }
}

fn path_set(text: &str) -> Result<Forwarding, String> {
    let paths = match text.strip_prefix("bounces=") {
        Some(bounces) => {
            let bounces = bounces.parse().ok().filter(|bounces| *bounces <= 16);
            PathSet::Bounces(bounces.ok_or("bounces=K has a K from 0 to 16")?)
        }
        None => match text {
            "shortest" => PathSet::Shortest,
            "any" => PathSet::Any,
            _ => return Err("one of shortest, bounces=K, any".to_owned()),
        },
    };
    Ok(Forwarding(paths, text.to_owned()))
}

/// Returns the headroom in bytes that SONiC's buffer manager reserves for a port with such a cable, with all latencies
/// of the ASIC set to zero.
pub fn needed(conditions: &Conditions, reaction: Reaction) -> u64 {
    let Conditions { rate, delay, mtu, priorities } = *conditions;
    let ours = Headroom::of(rate, delay, &headroom::Conditions::new(mtu, reaction, priorities.into()));
    Sonic::of(rate, delay, mtu, &Cells::BYTES, Time::ZERO, &ours).xoff
}

/// Formats a finding: file, key, kind, the reason, and the value to write instead.
pub fn finding_line(finding: &Finding) -> String {
    let Finding { kind, file, key, why, instead, .. } = finding;
    let instead = if instead.is_empty() { String::new() } else { format!(" (write: {instead})") };
    format!("{file}: {key}: {}: {why}{instead}", kind.name())
}

/// Returns whether a file is the configuration of a switch that `ignored` matches.
fn is_ignored(text: &str, ignored: &[NamePattern]) -> bool {
    let hostname = || {
        let config: Value = parse_json(text).ok()?;
        config.get("DEVICE_METADATA")?.get("localhost")?.get("hostname")?.as_str().map(str::to_owned)
    };
    !ignored.is_empty() && hostname().is_some_and(|name| ignored.iter().any(|pattern| pattern.matches(&name)))
}

/// Reads the configuration files of a folder, or a single file, except files of switches that `ignored` matches.
///
/// # Errors
/// An unreadable folder, and faults in its files.
pub fn read_configs(folder: &Path, ignored: &[NamePattern]) -> Result<Vec<SwitchConfig>, Failure> {
    let unreadable = |path: &Path, error: &std::io::Error| Failure::unreadable(path, error);
    let mut paths = vec![folder.to_owned()];
    if folder.is_dir() {
        let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
        paths = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(|error| unreadable(folder, &error))?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
    }
    if paths.is_empty() {
        let message = format!("{}: a folder without .json files", folder.display());
        return Err(Failure::input(message, "name a folder with the config_db.json of each switch"));
    }
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    let mut left = scenario::MAX_TREE_BYTES;
    for path in paths {
        // Findings contain file names relative to the folder; the heading of the report shows the folder.
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        match scenario::read_at_most(&path, left) {
            Ok(bytes) => {
                left -= bytes.len() as u64;
                if !is_ignored(&String::from_utf8_lossy(&bytes), ignored) {
                    files.push((name, bytes));
                }
            }
            Err(error) => {
                let (key, message) = ("(file)".to_owned(), format!("cannot read it: {error}"));
                faults.push(Fault { file: name, key, message, help: readable(error.kind()).to_owned() });
            }
        }
    }
    let read = running::read_bytes(&files);
    if faults.is_empty() {
        return read.map_err(|faults| failure(folder, &faults));
    }
    faults.extend(read.err().unwrap_or_default());
    Err(failure(folder, &faults))
}

/// Returns the advice for a configuration that cannot be read.
fn readable(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::PermissionDenied => "a file that this user may read",
        ErrorKind::NotFound => "an existing file: this is a symbolic link without a target, or a removed file",
        ErrorKind::IsADirectory => "a file, or a folder whose name does not end in .json",
        ErrorKind::FileTooLarge => "a folder with the config_db.json of each switch alone",
        _ => "a regular file that can be read",
    }
}

/// Formats faults of configurations as one error: each with file, key and the value to write instead, those of one form
/// once with the number of the others.
pub fn failure(folder: &Path, faults: &[Fault]) -> Failure {
    let folder = if folder.is_dir() { folder } else { folder.parent().unwrap_or(Path::new("")) };
    let shown = |fault: &Fault| {
        let location = match running::origin(fault) {
            FaultOrigin::File => format!("{}: {}", folder.join(&fault.file).display(), fault.key),
            FaultOrigin::Folder => format!("{}: {}", folder.display(), fault.key),
            FaultOrigin::Option => fault.key.clone(),
        };
        format!("{location}: {} (write: {})", fault.message, fault.help)
    };
    let groups = grouped::groups(faults);
    let lines = groups.iter().take(MOST_SHOWN).map(|group| {
        let others = group.others().map_or(String::new(), |line| format!("\n  {line}"));
        shown(group.first()) + &others
    });
    let mut message = lines.collect::<Vec<_>>().join("\nerror: ");
    match groups.iter().skip(MOST_SHOWN).map(Group::len).sum() {
        0 => {}
        more => message += &format!("\nerror: {more} more"),
    }
    Failure::Input { message, help: None }
}

/// Returns an error of the topology after the unknown keys of the configurations, which may be its cause.
fn after_unknown_keys(folder: &Path, configs: &[SwitchConfig], error: Failure) -> Failure {
    match (error, failure(folder, &running::unknown_keys(configs))) {
        (Failure::Input { message, help }, Failure::Input { message: unknown, .. }) if !unknown.is_empty() => {
            Failure::Input { message: format!("{unknown}\nerror: {message}"), help }
        }
        (error, _) => error,
    }
}

/// Egress ports, by (tag, ingress port, new tag).
type Egresses = BTreeMap<(u8, PortIndex, u8), Vec<PortIndex>>;

/// Writes the tag rules that the switches implement to `path`. Returns the number of rules, or the reason why rules
/// cannot express the configuration.
///
/// # Errors
/// If the output file cannot be written.
fn write_rules(
    fabric: &Fabric,
    folder: &Path,
    binding: &Binding<'_>,
    path: &Path,
    force: bool,
) -> Result<Result<u64, String>, Failure> {
    let found = match binding.rules() {
        Ok(found) if found.tags.is_empty() => return Ok(Err("no priority group is lossless".to_owned())),
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    // Rules with equal tag, ingress port and new tag become one rule with several egress ports.
    let mut switches: BTreeMap<NodeId, Egresses> = BTreeMap::new();
    for rule in found.rules {
        let of_switch = switches.entry(rule.node).or_default();
        of_switch.entry((rule.tag, rule.ingress, rule.new_tag)).or_default().push(rule.egress);
    }
    let rule = |((tag, ingress, new_tag), egress): ((u8, PortIndex, u8), Vec<PortIndex>)| Rule {
        tag,
        in_ports: [ingress].into_iter().collect(),
        out_ports: egress.into_iter().collect(),
        new_tag,
    };
    let switches = switches.into_iter();
    let switches = switches.map(|(node, rules)| SwitchRules { node, rules: rules.into_iter().map(rule).collect() });
    let class = |&first_tag: &u8| Class { name: format!("priority group {first_tag}"), first_tag };
    let by = GeneratedBy { algorithm: "running".to_owned(), paths: folder.display().to_string() };
    let classes = found.first.iter().map(class).collect();
    let table = RuleTable::new(fabric, by, found.tags, classes, switches.collect());
    write_file(path, table.write(fabric).as_bytes(), force).map_err(Failure::of_output)?;
    Ok(Ok(table.len() as u64))
}

/// Checks that an output folder is neither the folder of the configurations nor below it: the next check would read the
/// output as a configuration.
///
/// # Errors
/// If the output folder is the folder of the configurations, or below it.
pub fn check_other_folder(configs: &Path, output: &Path) -> Result<(), Failure> {
    // The output folder may not exist yet: use its first existing parent.
    let exists = output.ancestors().find_map(|folder| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        folder.canonicalize().ok()
    });
    match (configs.canonicalize(), exists) {
        (Ok(configs), Some(output_folder)) if configs.is_dir() && output_folder.starts_with(&configs) => {
            let message = format!("{}: is in the folder of --running, and nothing was written", output.display());
            Err(Failure::input(message, "name another folder: the next check would read the output as a configuration"))
        }
        _ => Ok(()),
    }
}

/// Returns the folder as a source that cannot be taken for a kind of fabric, such as `leaf-spine`.
fn path_of(folder: &Path) -> String {
    match (folder.components().next(), folder.components().count()) {
        (Some(Component::Normal(_)), 1) => Path::new(".").join(folder).display().to_string(),
        _ => folder.display().to_string(),
    }
}

/// Runs the check.
///
/// # Errors
/// Like [`read_configs`]; also an invalid topology, a topology without these switches, an output in the folder of the
/// configurations, or an output that cannot be written.
pub fn check(source: Option<&str>, flags: &FabricFlags, asked: &RunningFlags, json: bool) -> Result<Exit, Failure> {
    let Some(folder) = &asked.running else { return Err(Failure::input("no --running", "name a folder")) };
    let configs = read_configs(folder, &fabric_source::ignored(flags))?;
    let source = source.map_or_else(|| path_of(folder), str::to_owned);
    // An unknown table may be the reason why a file has no links.
    let found =
        fabric_source::find(&source, flags, None).map_err(|error| after_unknown_keys(folder, &configs, error))?;
    let queues = asked.queue_map.binding();
    let headroom = |conditions: &Conditions| needed(conditions, asked.reaction);
    let asic = asic_table::read(&asked.asic_table)?;
    let accepted_strict = asked.accepted.bits();
    let paths = asked.forwarding.0;
    let options = Options { binding: queues, paths, headroom: &headroom, asic: asic.as_ref(), accepted_strict };
    let in_folder = |faults: Vec<Fault>| failure(folder, &faults);
    let rules_folder = asked.rules_out.as_deref().map(|path| path.parent().unwrap_or(path));
    for output in asked.counterexample.as_deref().into_iter().chain(rules_folder) {
        check_other_folder(folder, output)?;
    }
    // Open the output folder before the check, so that an unusable folder is reported before anything is written.
    let output = asked.counterexample.as_deref().map(|folder| counterexample::output_folder(folder, asked.force));
    let new = output.as_ref().map(begin).transpose()?;
    let report = running::judge(&found.fabric, &configs, &options).map_err(in_folder)?;
    let mut rules = None;
    if let Some(path) = &asked.rules_out {
        let binding = Binding::new(&found.fabric, &configs, queues).map_err(in_folder)?;
        rules = Some(write_rules(&found.fabric, folder, &binding, path, asked.force)?);
    }
    let mut simulated = None;
    if let Some((output, new)) = output.zip(new) {
        let examples = counterexamples(&found.fabric, &configs, queues, asked.forwarding.0, LOAD_SEED);
        let examples = examples.map_err(in_folder)?;
        simulated = Some(counterexample::simulate(&found.fabric, examples, &output, new, !json)?);
    }
    if json {
        let simulated = simulated.as_deref();
        output::print(&format!("{:#}\n", as_json(&source, folder, asked, &report, rules.as_ref(), simulated)))?;
    } else {
        let mut text = as_text(&source, folder, &found, &report);
        text += &match (&asked.rules_out, &rules) {
            (Some(path), Some(Ok(count))) => {
                format!("  {}  {} in {}\n", styled("ok  ", Style::Good), counted(*count, "rule"), path.display())
            }
            (_, Some(Err(why))) => format!("  {}  no rules written: {why}\n", styled("FAIL", Style::Bad)),
            _ => String::new(),
        };
        text.extend(simulated.iter().flatten().map(Simulated::line));
        output::show(&text)?;
    }
    if simulated.iter().flatten().any(|one| one.interrupted) {
        return Ok(Exit::Interrupted);
    }
    let written = rules.is_none_or(|rules| rules.is_ok());
    Ok(if report.safe() && written { Exit::Done } else { Exit::CheckFailed })
}

fn as_json(
    source: &str,
    folder: &Path,
    asked: &RunningFlags,
    report: &Report,
    rules: Option<&Result<u64, String>>,
    simulated: Option<&[Simulated]>,
) -> Value {
    let inexpressible = rules.and_then(|rules| rules.as_ref().err());
    json!({
        "rules": rules.and_then(|rules| rules.as_ref().ok()), "rules_inexpressible": inexpressible,
        "source": source, "running": folder, "forwarding": asked.forwarding.1, "safe": report.safe(),
        "deadlock_free": (report.counts.accounts > 0).then(|| !report.can_deadlock()), "report": report,
        "counterexamples": simulated.map(|simulated| simulated.iter().map(Simulated::json).collect::<Vec<_>>()),
    })
}

fn as_text(source: &str, folder: &Path, found: &Found, report: &Report) -> String {
    let counts = &report.counts;
    let mut text = heading(source, found);
    let size = format!(
        "{}: {}, {}, {} with {}",
        folder.display(),
        counted_as(counts.switches, "switch", "switches"),
        counted(counts.ports, "port"),
        counted(counts.accounts, "lossless account"),
        counted_as(counts.dependencies, "dependency", "dependencies")
    );
    text += &format!("  {}\n", styled(&size, Style::Faint));
    let (ok, fail) = (styled("ok  ", Style::Good), styled("FAIL", Style::Bad));
    match report.cycle.len() as u64 {
        // If frames of hosts are counted in no lossless account, there are no buffer dependencies, and "cannot
        // deadlock" would be vacuously true.
        0 if counts.accounts == 0 => {
            let none = styled("none", Style::Caution);
            text += &format!("  {none}  deadlock is not judged: frames of hosts come to no lossless account\n");
        }
        0 => text += &format!("  {ok}  it cannot deadlock: no lossless accounts wait for each other in a cycle\n"),
        many => {
            let accounts = counted(many, "lossless account");
            text += &format!("  {fail}  it can deadlock: {accounts} wait for each other in a cycle\n");
        }
    }
    let links: Vec<String> = report.cycle.iter().map(ToString::to_string).collect();
    let width = links.iter().map(|link| link.chars().count()).max().unwrap_or(0);
    for (link, text_of) in report.cycle.iter().zip(&links) {
        let priorities: Vec<String> = link.priorities.iter().map(u8::to_string).collect();
        let tunnel = if link.enters_tunnel { ", and on through the tunnel" } else { "" };
        text += &format!("        {text_of:width$}  priority {}{tunnel}\n", priorities.join(", "));
    }
    for group in grouped::groups(&report.findings) {
        text += &format!("  {fail}  {}\n", finding_line(group.first()));
        group.others().iter().for_each(|line| text += &format!("        {line}\n"));
    }
    for group in grouped::groups(&report.hints) {
        text += &format!("  {}  {}\n", styled("hint", Style::Caution), finding_line(group.first()));
        group.others().iter().for_each(|line| text += &format!("        {line}\n"));
    }
    if let Some(trials) = report.search_limit {
        let hint = styled("hint", Style::Caution);
        text += &format!(
            "  {hint}  the search for causes ended after {trials} trials, its limit in a fabric of this size: findings \
             without a value may have their cause in one setting\n"
        );
    }
    if report.safe() {
        text += &format!("  {ok}  no lossy hop, mismatch, missing headroom, starvation or refused watchdog time\n");
    }
    for assumption in &report.assumptions {
        text += &format!("  {}  {assumption}\n", styled("if  ", Style::Caution));
    }
    for computed in &report.computed {
        let groups = counted(computed.groups, "priority group");
        let headroom = &computed.headroom;
        text += &format!(
            "  {}  {} bytes of headroom, computed by the switch for {groups} ({}):\n",
            styled("note", Style::Faint),
            grouped(headroom.xoff),
            asic_table::inputs(headroom)
        );
        headroom.lines().iter().for_each(|line| text += &format!("        {line}\n"));
    }
    if !report.unread.is_empty() {
        let tables: Vec<&str> = report.unread.keys().map(String::as_str).collect();
        text += &format!("  {}  tables that are not read: {}\n", styled("hint", Style::Caution), tables.join(", "));
    }
    text
}
