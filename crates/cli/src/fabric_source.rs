//! Reads the fabric that the command line specifies: a topology file, a scenario, or a kind of fabric with its
//! parameters.

use crate::failure::Failure;
use crate::interrupt;
use crate::output;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use fabric::files::{self, FileError, Format, NamePattern, NotText, Options, Roles};
use fabric::{Fabric, FabricError, LinkSpec, NodeId, Subject};
use lab::{Override, Run};
use model::parameters::{Buffer, FlowControl, Setup, SwitchOverride, SwitchParameters};
use protocols::reaction::Reaction;
use scenario::{KnownFormat, Scenario, ScenarioErrors, keys};
use std::collections::BTreeMap;
use std::path::Path;
use units::{Bytes, Rate, Time};

/// Flags for the keys of `[fabric]`. A flag has the name of its scenario key, with dashes instead of underscores. The
/// help texts are generated from the table of keys.
#[derive(Clone, Debug, Default)]
pub struct FabricFlags {
    /// Values of the flags by key: `k`, `link.rate`, `link.host.delay`.
    values: BTreeMap<String, String>,
}

/// Keys of `[fabric.link]`, which are also valid in the tables of the tiers.
const LINK_KEYS: [&str; 4] = ["rate", "delay", "loss", "bit_error_rate"];
const TIERS: [&str; 3] = ["host", "edge", "core"];

/// Returns flag, key and help text of every flag. A key that several kinds of fabric have is one flag; its help
/// combines the meanings.
fn flags() -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    let of_kinds = keys::keys().filter(|key| key.section == "fabric");
    for key in of_kinds.filter(|key| !["kind", "file", "format", "link"].contains(&key.name)) {
        let help = format!("{} ({})", key.meaning, key.variants.join(", "));
        match found.iter_mut().find(|(_, name, _)| name == key.name) {
            Some((.., known)) => *known = format!("{known}; {help}"),
            None => found.push((key.name.replace('_', "-"), key.name.to_owned(), help)),
        }
    }
    let of_links = |name: &str| keys::keys().find(|key| key.section == "fabric.link" && key.name == name);
    let meaning = |name: &str| of_links(name).map_or("", |key| key.meaning);
    for name in LINK_KEYS {
        let help = format!("Of every link: {}", meaning(name));
        found.push((name.replace('_', "-"), format!("link.{name}"), help));
    }
    for tier in TIERS {
        for name in ["rate", "delay"] {
            let help = format!("{} of: {}", if name == "rate" { "Rate" } else { "Delay" }, meaning(tier));
            found.push((format!("{tier}-{name}"), format!("link.{tier}.{name}"), help));
        }
    }
    found
}

fn argument((flag, key, help): (String, String, String), heading: &'static str) -> Arg {
    let of_nodes = OF_NODES.contains(&key.as_str());
    let argument = Arg::new(key).long(flag).help(help).help_heading(heading);
    match of_nodes {
        true => argument.value_name("NAME").action(ArgAction::Append),
        false => argument.value_name("VALUE"),
    }
}

/// Returns the value of a flag; the values of a repeated flag are joined by commas.
fn value_of(matches: &ArgMatches, key: &str) -> Option<String> {
    let values: Vec<&str> = matches.get_many::<String>(key)?.map(String::as_str).collect();
    Some(values.join(","))
}

impl FabricFlags {
    /// Returns the link given by `--rate` and either `--delay` or the argument `delay`; `None` if rate or delay is
    /// missing.
    ///
    /// # Errors
    /// A value is invalid, the delay is zero or is given twice, or a flag describes a whole fabric.
    pub fn lone_link(&self, delay: Option<Time>) -> Result<Option<LinkSpec>, Failure> {
        let of_link = |key: &&String| ["link.rate", "link.delay"].contains(&key.as_str());
        if let Some(key) = self.values.keys().find(|key| !of_link(key)) {
            let flag = key.replace('_', "-").replace("link.", "");
            return Err(Failure::input(format!("--{flag} does not apply to a single link"), "name a kind of fabric"));
        }
        let Options { link, .. } = options(self)?;
        let twice = self.values.contains_key("link.delay") && delay.is_some();
        let delay = delay.unwrap_or(link.delay);
        if twice || (self.values.contains_key("link.delay") && delay == Time::ZERO) {
            let message = if twice { "--length and --delay say the same" } else { "--delay: a link takes time" };
            return Err(Failure::input(message, "write one of --length 300m and --delay 1500ns"));
        }
        Ok((self.values.contains_key("link.rate") && delay > Time::ZERO).then_some(LinkSpec { delay, ..link }))
    }
}

impl FabricFlags {
    /// Returns these flags with `delay` as the delay of links without one in the kind or file.
    ///
    /// # Errors
    /// A flag also sets the delay of links.
    pub fn with_cables(&self, source: &str, delay: Time) -> Result<FabricFlags, Failure> {
        if let Some(key) = self.values.keys().find(|key| key.ends_with("delay")) {
            let flag =
                if key == "link.delay" { "delay".to_owned() } else { key.replace("link.", "").replace('.', "-") };
            let message = format!("--length and --{flag} both say how long cables are");
            return Err(Failure::input(message, "write one of them"));
        }
        let mut with = self.clone();
        if !source.ends_with(".toml") {
            with.values.insert("link.delay".to_owned(), format!("{}ps", delay.as_ps()));
        }
        Ok(with)
    }
}

impl clap::FromArgMatches for FabricFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let value = |(_, key, _): (String, String, String)| value_of(matches, &key).map(|value| (key, value));
        Ok(FabricFlags { values: flags().into_iter().filter_map(value).collect() })
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for FabricFlags {
    fn augment_args(command: Command) -> Command {
        let heading = "The fabric's numbers";
        flags().into_iter().fold(command, |command, flag| command.arg(argument(flag, heading)))
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Flags for properties that a topology file may not state.
#[derive(Clone, Debug, Default)]
pub struct FileFlags(pub FabricFlags);

/// Keys of properties that a topology file may not state.
const OF_FILES: [&str; 11] = [
    "link.rate",
    "link.delay",
    "link.loss",
    "link.bit_error_rate",
    "hosts_per_switch",
    "ignore",
    "host",
    "switch",
    "hosts_on",
    "relay",
    "default_loss",
];

/// Keys with node names as values; their flags may be repeated.
const OF_NODES: [&str; 4] = ["ignore", "host", "switch", "hosts_on"];

/// Link assumed for a file that does not state link properties, in commands about the structure of the fabric.
const ASSUMED_LINK: LinkSpec = LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500));

impl clap::FromArgMatches for FileFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let of_files = flags().into_iter().map(|(_, key, _)| key).filter(|key| OF_FILES.contains(&key.as_str()));
        let value = |key: String| value_of(matches, &key).map(|value| (key, value));
        Ok(FileFlags(FabricFlags { values: of_files.filter_map(value).collect() }))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for FileFlags {
    fn augment_args(command: Command) -> Command {
        let heading = "What a file leaves open";
        let of_files = flags().into_iter().filter(|(_, key, _)| OF_FILES.contains(&key.as_str()));
        of_files.fold(command, |command, flag| command.arg(argument(flag, heading)))
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Returns the kinds of fabric that have a generator: those of a scenario except `file`.
pub fn kinds() -> Vec<&'static str> {
    let link = keys::keys().find(|key| key.section == "fabric" && key.name == "link");
    link.map_or(Vec::new(), |key| key.variants.to_vec())
}

/// Parses the name of a format on the command line.
pub fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    let names = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.title()));
    PossibleValuesParser::new(names).map(|name| Format::named(&name).unwrap_or(Format::Hpcc))
}

/// A fabric and its source.
pub struct Found {
    /// The fabric.
    pub fabric: Fabric,
    /// Format of the file; `None` if the fabric was not read from a file.
    pub format: Option<Format>,
    /// Properties of the switches; `None` if the fabric was not read from a scenario.
    pub switches: Option<Switches>,
}

impl Found {
    /// Returns this fabric if the source or the user states the rate and delay of every link.
    ///
    /// # Errors
    /// Like [`check_stated`].
    pub fn stated(self) -> Result<Found, Failure> {
        check_stated(&self.fabric).map(|()| self)
    }
}

/// Checks that the source or the user states the rate and delay of every link.
///
/// # Errors
/// The rate or delay of a link is only assumed, so a result computed from it would be meaningless.
pub fn check_stated(fabric: &Fabric) -> Result<(), Failure> {
    let assumed = |decision: &&fabric::Decision| decision.subject == Subject::AssumedLinks;
    match fabric.decisions().iter().find(assumed) {
        None => Ok(()),
        Some(decision) => {
            let message = format!("{}, but the result depends on it", decision.line());
            Err(Failure::input(message, "pass --rate and --delay for links that state none"))
        }
    }
}

/// Properties of switches in a scenario.
pub struct Switches {
    /// Shared buffer of each switch in bytes; `None` if each queue has its own buffer.
    pub buffer: Option<Bytes>,
    /// Number of lossless classes, 1 to 8: the classes of PFC or credit-based flow control, otherwise 1, because no
    /// other flow control distinguishes classes.
    pub lossless_classes: u8,
    /// Shared buffer, in bytes, of each switch with an override.
    pub buffers: BTreeMap<NodeId, Bytes>,
    /// Size of the largest frame of the traffic.
    pub mtu: Bytes,
    /// Reaction time of neighbours to PAUSE or PFC; `None` with other flow controls.
    pub reaction: Option<Reaction>,
    /// Switches without flow control, ascending.
    pub outside: Vec<NodeId>,
}

impl Switches {
    fn of(setup: &Setup) -> Switches {
        let shared = |switch: &SwitchParameters| match switch.buffer {
            Buffer::Shared { bytes, .. } => Some(Bytes(bytes)),
            Buffer::PerQueue { .. } => None,
        };
        let own = SwitchOverride::resolve(&setup.overrides, &setup.switch);
        let buffers = own.iter().filter_map(|(&node, switch)| Some((node, shared(switch)?))).collect();
        let lossless_classes = match setup.switch.flow_control {
            FlowControl::Pfc(_) | FlowControl::Credit(_) => setup.switch.flow_control.lossless().count_ones() as u8,
            _ => 1,
        };
        let mtu = Bytes(setup.host.mtu_bytes.into());
        let reaction = setup.switch.flow_control.reaction();
        Switches {
            buffer: shared(&setup.switch),
            buffers,
            lossless_classes,
            mtu,
            reaction,
            outside: setup.without_flow_control.clone(),
        }
    }
}

/// Checks that writing `output` does not overwrite the source file `input`.
///
/// # Errors
/// Both paths refer to the same file. Even --force does not permit this.
pub fn check_output(input: &Path, output: &Path) -> Result<(), Failure> {
    match (input.canonicalize(), output.canonicalize()) {
        (Ok(from), Ok(to)) if from == to => {
            let message = format!("{} is the input itself, and nothing was written", output.display());
            Err(Failure::input(message, "name another file for what is written"))
        }
        _ => Ok(()),
    }
}

/// Returns the fabric of a topology file, a scenario (`.toml`) or a kind with its parameters.
///
/// # Errors
/// An invalid file or parameter.
pub fn find(source: &str, flags: &FabricFlags, format: Option<Format>) -> Result<Found, Failure> {
    let path = Path::new(source);
    if kinds().contains(&source) {
        return generate(source, flags).map(|fabric| Found { fabric, format: None, switches: None });
    }
    if path.extension().is_some_and(|extension| extension == "toml") {
        let sets: Vec<Override> = flags
            .values
            .iter()
            .map(|(key, value)| Override { key: format!("fabric.{key}"), value: value.clone() })
            .collect();
        let setup = Run::read(path, &sets, None, interrupt::stop())?.lowered.setup;
        let switches = Some(Switches::of(&setup));
        return Ok(Found { fabric: setup.fabric, format: None, switches });
    }
    if !path.exists() && !source.contains(['/', '.']) {
        let help = format!("name a topology file, a scenario, or one of {}", kinds().join(", "));
        return Err(Failure::input(format!("`{source}` is no file and no kind of fabric"), help));
    }
    read_file(path, flags, format)
}

/// Generates a fabric of a kind.
///
/// # Errors
/// A parameter is missing, belongs to another kind, or is out of range.
pub fn generate(kind: &str, flags: &FabricFlags) -> Result<Fabric, Failure> {
    if !kinds().contains(&kind) {
        let help = format!("one of {}", kinds().join(", "));
        return Err(Failure::input(format!("`{kind}` is no kind of fabric"), help));
    }
    // A minimal valid scenario, whose fabric is defined by the overrides.
    let text =
        "duration = \"1ps\"\nswitch = { queue = \"1 packets\" }\n[[traffic]]\nkind = \"permutation\"\nsize = \"1B\"\n";
    let mut overrides = vec![("fabric.kind".to_owned(), kind.to_owned())];
    overrides.extend(flags.values.iter().map(|(key, value)| (format!("fabric.{key}"), value.clone())));
    let found = Scenario::parse(text, "fabric", Path::new(""), &overrides, None).and_then(|scenario| scenario.fabric());
    found.map_err(|errors| in_flags(kind, &errors))
}

/// Replaces keys with flags in the errors of overrides.
fn in_flags(kind: &str, errors: &ScenarioErrors) -> Failure {
    let flag_of = |key: &str| {
        let key = key.strip_prefix("fabric.")?;
        flags().into_iter().find(|(_, name, _)| name == key).map(|(flag, ..)| flag)
    };
    let mut messages = Vec::new();
    let mut help = None;
    let mut no_link = false;
    for error in &errors.errors {
        // One message covers all missing link parameters.
        if error.message.contains("needs `link`") || error.message.contains(" have no ") {
            no_link = true;
            continue;
        }
        // Messages about missing keys have the form "`section` needs `key`".
        let missing = error.message.split('`').nth(3).filter(|_| error.message.contains("needs"));
        let location = flag_of(&error.key).or_else(|| flag_of(&format!("{}.{}", error.key, missing.unwrap_or(""))));
        messages.push(match location {
            Some(flag) if missing.is_none() => format!("--{flag}: {}", error.message),
            Some(flag) => format!("a {kind} needs --{flag}"),
            None => error.message.clone(),
        });
        if missing.is_none() {
            help = help.or_else(|| error.help.clone());
        }
    }
    if no_link {
        messages.push(format!("a {kind} needs --rate and --delay of its links"));
        help = help.or_else(|| {
            Some("write --rate 100Gbps --delay 500ns, or those of a tier, like --host-rate 25Gbps".to_owned())
        });
    }
    messages.dedup();
    Failure::Input { message: messages.join("\nerror: "), help }
}

/// Reads a topology file.
///
/// # Errors
/// An invalid file; the error has the file name and line.
pub fn read_file(path: &Path, flags: &FabricFlags, format: Option<Format>) -> Result<Found, Failure> {
    let name = path.display().to_string();
    if let Some(key) = flags.values.keys().find(|key| !OF_FILES.contains(&key.as_str())) {
        let flag = key.replace('_', "-").replace("link.", "");
        return Err(Failure::input(
            format!("--{flag} does not apply to a file"),
            "leave it out, or name a kind of fabric",
        ));
    }
    let bytes = scenario::from_disk(path).map_err(|error| Failure::unreadable(path, &error))?;
    let content = text(path, bytes)?;
    let wrong = |error: FileError| file_failure(&name, &content, &error);
    let known = scenario::known_format(content.as_bytes());
    if let Some(known) = known.filter(|known| !matches!(known, KnownFormat::Topology(_))) {
        return Err(Failure::Input { message: format!("{name}:1: this is {known}, not a topology"), help: None });
    }
    let (relay, loss): (bool, f64) = (parsed(flags, "relay", false)?, parsed(flags, "default_loss", 0.0)?);
    let Some(format) = format.or_else(|| files::detect(&name, &content)) else {
        return Err(wrong(FileError::UnknownFormat { path: name.clone() }));
    };
    let fabric = format.read(&content, &options(flags)?);
    if let Ok(fabric) = &fabric {
        say_decisions(&name, fabric);
    }
    let fabric = fabric.map(|fabric| if relay { fabric.with_relaying_hosts() } else { fabric });
    let fabric = fabric.map(|fabric| fabric.with_default_loss(loss));
    fabric.map(|fabric| Found { fabric, format: Some(format), switches: None }).map_err(wrong)
}

/// Returns the content of a file as text.
///
/// # Errors
/// The file is empty, or it is not UTF-8; the error has line and byte.
pub fn text(path: &Path, content: Vec<u8>) -> Result<String, Failure> {
    let failure = |message: String| Failure::Input { message, help: None };
    let wrong = |fault: NotText| failure(format!("{}:{}: {fault}", path.display(), fault.line));
    if files::is_blank(files::text_of(&content).map_err(wrong)?) {
        return Err(failure(format!("{}: empty file", path.display())));
    }
    // `text_of` has already checked that the content is UTF-8.
    Ok(String::from_utf8(content).unwrap_or_default())
}

/// Parses the value of a flag; `default` if the flag is missing.
fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    flags: &FabricFlags,
    key: &str,
    default: T,
) -> Result<T, Failure> {
    let Some(text) = flags.values.get(key) else { return Ok(default) };
    let flag = key.replace("link.", "").replace('_', "-");
    text.parse().map_err(|error| Failure::Input { message: format!("--{flag}: {error}"), help: None })
}

/// Prints the decisions of a file reader, one per line, each with the flags that override it.
fn say_decisions(name: &str, fabric: &Fabric) {
    for decision in fabric.decisions() {
        let option = match decision.subject {
            Subject::AssumedLinks => " (--rate, --delay)",
            Subject::AttachedHosts => " (--hosts-per-switch, --hosts-on)",
            Subject::Roles => " (--host, --switch)",
            Subject::HighHosts => " (--ignore)",
            Subject::LeftOut | Subject::SharedPorts | Subject::Tiers | Subject::Unread | Subject::CableEnds => "",
        };
        output::decision(&format!("{name}: {}{option}", decision.line()));
    }
}

/// Returns the node name patterns in the value of a flag.
fn patterns(flags: &FabricFlags, key: &str) -> Vec<NamePattern> {
    let names = flags.values.get(key).map_or("", String::as_str).split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).map(NamePattern::new).collect()
}

/// Returns the patterns of nodes that `--ignore` skips.
pub fn ignored(flags: &FabricFlags) -> Vec<NamePattern> {
    patterns(flags, "ignore")
}

/// Returns the reader's options from the flags. Defaults: an assumed link, and one host per leaf if the file has no
/// hosts.
fn options(flags: &FabricFlags) -> Result<Options, Failure> {
    let mut link = LinkSpec::new(parsed(flags, "link.rate", Rate::MIN)?, parsed(flags, "link.delay", Time::ZERO)?);
    link.loss = parsed(flags, "link.loss", 0.0)?;
    link.bit_error_rate = parsed(flags, "link.bit_error_rate", 0.0)?;
    let roles = Roles {
        ignore: ignored(flags),
        host: patterns(flags, "host"),
        switch: patterns(flags, "switch"),
        hosts_on: patterns(flags, "hosts_on"),
    };
    let hosts_per_switch = parsed(flags, "hosts_per_switch", 1)?;
    Ok(Options { link, assumed: Some(ASSUMED_LINK), hosts_per_switch, roles })
}

/// Divides a location in a folder into the file and the key in it: `leaf1.json.PORT.Ethernet0` is `PORT|Ethernet0` of
/// `leaf1.json`. `None` if the location begins with no file of the folder.
fn in_folder(folder: &Path, location: &str) -> Option<(String, String)> {
    let ends = [".json", ".txt"].into_iter().flat_map(|ending| location.match_indices(ending));
    let end = ends.map(|(at, ending)| at + ending.len()).find(|&end| folder.join(&location[..end]).is_file())?;
    let (file, key) = (folder.join(&location[..end]), location[end..].trim_start_matches(['.', ',', ' ']));
    let is_table = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let key = match key.split_once('.') {
        Some((table, row)) if is_table(table) => format!("{table}|{row}"),
        _ => key.to_owned(),
    };
    Some((file.display().to_string(), key))
}

/// Adds the file name to an error, and the line if it is known.
fn file_failure(name: &str, content: &str, error: &FileError) -> Failure {
    let link_line = |link: u32| {
        // An HPCC file has two header lines, then one link per line.
        let hpcc = files::detect(name, content) == Some(Format::Hpcc);
        let mut lines = content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.nth(link as usize + 2).filter(|_| hpcc).map(|(line, _)| line + 1)
    };
    let (line, message) = match error {
        FileError::Line { line, message } => (Some(*line), message.clone()),
        FileError::Fabric(
            inner @ (FabricError::ZeroDelay { link, .. }
            | FabricError::SelfLoop { link, .. }
            | FabricError::NotAProbability { link, .. }
            | FabricError::UnknownNode { link, .. }),
        ) => (link_line(*link), inner.to_string()),
        FileError::UnknownFormat { .. } => (None, "no topology file".to_owned()),
        FileError::Element { location, message } => match in_folder(Path::new(name), location) {
            Some((file, key)) => {
                let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
                return Failure::Input { message: format!("{file}: {key}{message}"), help: None };
            }
            None => (None, error.to_string()),
        },
        other => (None, other.to_string()),
    };
    let location = line.map_or(name.to_owned(), |line| format!("{name}:{line}"));
    let help = match error {
        FileError::Fabric(FabricError::ZeroDelay { .. }) => "write the delay in the file",
        FileError::Fabric(FabricError::Disconnected { .. })
        | FileError::Unread { error: FabricError::Disconnected { .. }, .. } => {
            "add the missing link, or leave nodes out with --ignore"
        }
        FileError::Element { location, .. } if location == "nodes" => {
            "--hosts-per-switch 1 attaches hosts to leaves, --host NAME says which nodes are hosts"
        }
        FileError::UnknownFormat { .. } => {
            "--from says which of the formats it is; an HPCC topology begins with `<nodes> <switches> <links>`, a \
             NetworkX node-link file is a JSON object with `nodes` and `links`"
        }
        _ => return Failure::Input { message: format!("{location}: {message}"), help: None },
    };
    Failure::input(format!("{location}: {message}"), help)
}

/// Requires traffic between hosts, without which every statement about their paths is vacuous. `location` is the source
/// of the fabric or the option that names the paths.
///
/// # Errors
/// If the fabric has fewer than two hosts.
pub fn require_traffic(location: &str, fabric: &Fabric) -> Result<(), Failure> {
    let count = fabric.hosts().len();
    if count >= 2 {
        return Ok(());
    }
    let hosts = if count == 1 { "1 host" } else { "0 hosts" };
    let message = format!("{location}: {hosts}: without traffic between hosts there is nothing to check");
    Err(Failure::input(message, "name hosts with --host NAME or --hosts-on PATTERN"))
}

/// Returns the JSON value `tunnels_checked` of a proof that does not include tunnels: `false` for a fabric with dual
/// ToR, `None` for a fabric without tunnels.
pub fn tunnels_checked(fabric: &Fabric) -> Option<bool> {
    fabric.has_shared_ports().then_some(false)
}

/// Flag that excludes dual-ToR tunnels from a proof.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct TunnelArgs {
    /// Fabrics with Y cables (dual ToR): leave the tunnels between the ToRs of a pair out of the proof. Only
    /// `fabric check --running` reads their maps.
    #[arg(long)]
    pub without_tunnels: bool,
}

impl TunnelArgs {
    /// Returns an error for a fabric with dual-ToR tunnels unless the flag excludes them.
    ///
    /// # Errors
    /// The fabric has Y cables, and `--without-tunnels` is not set.
    pub fn check(self, source: &str, fabric: &Fabric) -> Result<(), Failure> {
        if self.without_tunnels || !fabric.has_shared_ports() {
            return Ok(());
        }
        let message = format!(
            "{source}: a dual-ToR fabric: frames for a standby ToR take a tunnel to the other one, whose maps \
             (encap_tc_to_dscp_map, encap_tc_to_queue_map, decap_tc_to_pg_map) change priority and queue, and rules do \
             not describe them"
        );
        let help = "check the tunnels with: tidegate fabric check --running DIR; then add --without-tunnels here";
        Err(Failure::input(message, help))
    }
}
