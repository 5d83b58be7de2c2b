//! Translates a configuration of HPCC's simulator to a scenario, with notes on everything that is not carried over.

use super::hpcc::{Entry, HpccConfig, Value, error};
use super::hpcc_ecmp;
use super::hpcc_keys::KeyTreatment;
use crate::error::{ScenarioError, ScenarioErrors};
use fabric::{Fabric, NodeId};
use protocols::describe::Family;
use protocols::transport::MECHANISMS;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use traffic::{Flow, Start};
use units::{Rate, Time};

/// Start of traffic in the HPCC simulator, by convention; the times of link failures in its configuration are relative
/// to this start.
const START: Time = Time::from_s(2);

/// The files of the configuration, and options of the import.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Topology of the configuration.
    pub fabric: &'a Fabric,
    /// Flows of the configuration, with the times of their file.
    pub flows: &'a [Flow],
    /// Path of the topology file to write in the scenario.
    pub topology_file: &'a str,
    /// Path of the flow file to write in the scenario.
    pub flow_file: &'a str,
    /// Kind of transport that overrides `CC_MODE`.
    pub transport: Option<&'a str>,
    /// Keys to ignore although their values or names would otherwise be refused.
    pub ignore: &'a [String],
    /// Write the ECMP paths of the HPCC simulator as explicit paths of the flows.
    pub keeps_paths: bool,
}

/// Result of the translation for one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStatus {
    /// Carried over to the scenario.
    Carried,
    /// Left out, because it has no effect on the result.
    Irrelevant,
    /// Left out on request, though the result may depend on it.
    Ignored,
    /// Refused: no scenario is written.
    Refused,
}

impl KeyStatus {
    /// Returns the status in one word.
    pub fn name(self) -> &'static str {
        match self {
            KeyStatus::Carried => "carried",
            KeyStatus::Irrelevant => "irrelevant",
            KeyStatus::Ignored => "ignored",
            KeyStatus::Refused => "refused",
        }
    }
}

/// Status of one key of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyReport {
    /// Line of the key.
    pub line: u64,
    /// Name of the key.
    pub key: String,
    /// Status of the key.
    pub fate: KeyStatus,
    /// The reason, or the difference from the original; may be empty for a carried key.
    pub note: String,
}

/// A scenario translated from a configuration of the HPCC simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Text of the scenario, with the notes as comments.
    pub text: String,
    /// Keys that were not carried over, and the consequences.
    pub notes: Vec<String>,
}

/// Writes `text` as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            // Writing to a String cannot fail.
            c if c.is_control() => drop(write!(quoted, "\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes `text` on one line, safe for a TOML comment and a terminal: control characters are escaped.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

pub(super) struct Writer<'a> {
    config: &'a HpccConfig,
    pub(super) inputs: Inputs<'a>,
    /// Kind of the transport; `None` after an error.
    kind: Option<&'a str>,
    pub(super) notes: Vec<String>,
    pub(super) errors: Vec<ScenarioError>,
}

impl HpccConfig {
    /// Translates this configuration to a scenario.
    ///
    /// # Errors
    /// A congestion control or load balancer that Tidegate does not have and that `inputs` neither replaces nor
    /// ignores; an unknown key; values that do not fit the topology; no flow that starts before the end of the run.
    pub fn scenario(&self, inputs: Inputs<'_>) -> Result<Imported, ScenarioErrors> {
        self.account(inputs).0
    }

    /// Returns the scenario and the status of each key, in file order.
    pub fn account(&self, inputs: Inputs<'_>) -> (Result<Imported, ScenarioErrors>, Vec<KeyReport>) {
        let mut writer = Writer::new(self, inputs);
        let made = writer.scenario();
        let errors = made.as_ref().err().map_or(&[][..], |errors| &errors.errors);
        let of_file = |entry: &Entry| {
            let refused = errors.iter().find(|error| error.key == entry.key);
            let prefix = format!("{}:{}: {}: ", self.file, entry.line, entry.key);
            let noted =
                || writer.notes.iter().filter_map(|note| note.strip_prefix(&prefix)).collect::<Vec<_>>().join("; ");
            let of_others = "a parameter of controls that do not carry the flows here";
            let (fate, note) = match (refused, entry.known.map(|known| known.fate)) {
                _ if inputs.ignore.contains(&entry.key) => (KeyStatus::Ignored, "ignored by --ignore".to_owned()),
                (Some(error), _) => (KeyStatus::Refused, error.message.clone()),
                (None, Some(KeyTreatment::Dropped(why))) => (KeyStatus::Irrelevant, why.to_owned()),
                (None, Some(KeyTreatment::Of(kinds))) if writer.kind.is_none_or(|kind| !kinds.contains(&kind)) => {
                    (KeyStatus::Irrelevant, of_others.to_owned())
                }
                (None, _) => (KeyStatus::Carried, noted()),
            };
            KeyReport { line: entry.line, key: entry.key.clone(), fate, note: on_one_line(&note) }
        };
        let accounts = self.entries.iter().map(of_file).collect();
        (made, accounts)
    }
}

impl<'a> Writer<'a> {
    fn new(config: &'a HpccConfig, inputs: Inputs<'a>) -> Self {
        Writer { config, inputs, kind: None, notes: config.remarks.clone(), errors: Vec::new() }
    }

    fn scenario(&mut self) -> Result<Imported, ScenarioErrors> {
        let (inputs, writer) = (self.inputs, self);
        let transport = writer.transport();
        writer.kind = transport;
        writer.unknown();
        writer.balancing();
        let (origin, duration, until) = writer.times();
        let switch = writer.switch();
        writer.acknowledgements();
        let failure = writer.failure(origin);
        writer.dropped(transport);
        let transport = transport.map(|kind| (kind, writer.transport_keys(kind)));
        let Some((kind, keys)) = transport.filter(|_| writer.errors.is_empty()) else {
            return Err(ScenarioErrors { errors: std::mem::take(&mut writer.errors) });
        };
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# Made from {} of HPCC's simulator.", on_one_line(&writer.config.file));
        let notes: Vec<String> = writer.notes.iter().map(|note| on_one_line(note)).collect();
        if !notes.is_empty() {
            text.push_str("# Ignored, or different from the original:\n");
            for note in &notes {
                let _ = writeln!(text, "# - {note}");
            }
        }
        let _ = writeln!(
            text,
            "name = {}\nduration = \"{duration}\"\n{until}",
            quoted(&format!("{} of HPCC", writer.config.file))
        );
        let _ = writeln!(text, "[fabric]\nkind = \"file\"\nformat = \"hpcc\"\nfile = {}", quoted(inputs.topology_file));
        text.push_str(&writer.loss());
        let _ = writeln!(text, "[switch]\n{switch}");
        let _ = writeln!(text, "[host.transport]\nkind = {}\n{keys}", quoted(kind));
        text.push_str(&failure);
        let (names, paths) = if inputs.keeps_paths { writer.paths()? } else { Default::default() };
        let _ = writeln!(
            text,
            "[[traffic]]\nkind = \"replay\"\nfile = {}\ntime_origin = \"{origin}\"\n{names}",
            quoted(inputs.flow_file)
        );
        text.push_str("# The columns of pfc.txt.\n[record]\npauses = true\n");
        text.push_str(&paths);
        Ok(Imported { text, notes })
    }
}

impl<'a> Writer<'a> {
    /// Writes the key `paths` of the replay, and the [[path]] entries.
    ///
    /// # Errors
    /// A host with several links, because the HPCC simulator selects the host's link by another hash than the links of
    /// switches. A flow without a path.
    fn paths(&self) -> Result<(String, String), ScenarioErrors> {
        let Inputs { fabric, flows, .. } = self.inputs;
        let wrong = |message: String, help: Option<&str>| ScenarioErrors {
            errors: vec![error(&self.config.file, 0, "TOPOLOGY_FILE", message, help.map(str::to_owned))],
        };
        if let Some(&host) = fabric.hosts().iter().find(|&&host| fabric.ports(host).len() > 1) {
            let message = format!(
                "--paths: host `{}` has several links, and its choice among them is unknown",
                fabric.name(host)
            );
            return Err(wrong(message, Some("remove --paths: flows are then routed by the hash of Tidegate")));
        }
        let paths = hpcc_ecmp::paths(fabric, flows)
            .ok_or_else(|| wrong("a flow has no path from its source to its destination".to_owned(), None))?;
        let mut entries =
            String::from("# Paths of data by the ECMP of HPCC's simulator. Replies are routed by Tidegate.\n");
        let (mut numbers, mut names) = (BTreeMap::new(), Vec::new());
        for path in paths {
            let next = numbers.len();
            let number = *numbers.entry(path.clone()).or_insert_with(|| {
                let nodes: Vec<String> = path.iter().map(|&node| quoted(fabric.name(node))).collect();
                // Writing to a String cannot fail.
                let _ = writeln!(entries, "[[path]]\nname = \"path {next}\"\nnodes = [{}]", nodes.join(", "));
                next
            });
            names.push(format!("\"path {number}\""));
        }
        Ok((format!("paths = [{}]\n", names.join(", ")), entries))
    }

    /// Returns the entry of `key`, unless `key` is absent or on the list of ignored keys.
    pub(super) fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.config.find(key).filter(|_| !self.inputs.ignore.iter().any(|ignored| ignored == key))
    }

    /// Adds a note for each ignored key, and an error for each unknown key that is not ignored.
    fn unknown(&mut self) {
        for key in self.inputs.ignore {
            match self.config.find(key) {
                Some(_) if matches!(key.as_str(), "TOPOLOGY_FILE" | "FLOW_FILE") => {
                    let help = "--topology FILE and --flows FILE name other files";
                    self.fail(key, format!("--ignore {key}: no scenario can do without the file"), Some(help));
                }
                Some(entry) => {
                    let (file, line) = (&self.config.file, entry.line);
                    self.notes.push(format!("{file}:{line}: {key}: ignored by --ignore"));
                }
                None => self.fail(key, format!("--ignore {key}: the configuration has no such key"), None),
            }
        }
        let ignore = self.inputs.ignore;
        for (key, line) in self.config.unknown().filter(|(key, _)| !ignore.iter().any(|ignored| ignored == key)) {
            let shown: String = key.chars().take(40).collect();
            let message = format!("{shown}: not a key of this family of simulators: its effect is unknown");
            let help = Some(format!("--ignore {shown} ignores it"));
            self.errors.push(error(&self.config.file, line, key, on_one_line(&message), help));
        }
    }

    /// Refuses load balancers other than ECMP per flow.
    fn balancing(&mut self) {
        let name = match self.whole("LB_MODE", 0) {
            0 => return,
            2 => "DRILL",
            3 => "CONGA",
            6 => "LetFlow",
            9 => "ConWeave",
            _ => "none that its simulator names",
        };
        let message = format!("LB_MODE {} is {name}, which Tidegate does not have", self.whole("LB_MODE", 0));
        let help = "--ignore LB_MODE runs it with flow ECMP (LB_MODE 0); routing.spread = \"packet\" sprays packets";
        self.fail("LB_MODE", message, Some(help));
    }

    /// Returns the TOML line with the loss rate of links whose own loss rate is 0.
    fn loss(&self) -> String {
        match self.entry("ERROR_RATE_PER_LINK").map(|entry| &entry.value) {
            Some(Value::Share(share)) if *share > 0.0 => format!("default_loss = {share:?}\n\n"),
            _ => "\n".to_owned(),
        }
    }

    pub(super) fn fail(&mut self, key: &str, message: String, help: Option<&str>) {
        let line = self.entry(key).map_or(0, |entry| entry.line);
        self.errors.push(error(&self.config.file, line, key, message, help.map(str::to_owned)));
    }

    pub(super) fn note(&mut self, key: &str, note: &str) {
        let file = &self.config.file;
        self.notes.push(match self.entry(key) {
            Some(entry) => format!("{file}:{}: {key}: {note}", entry.line),
            None => format!("{file}: {key}: {note}"),
        });
    }

    pub(super) fn whole(&self, key: &str, default: u64) -> u64 {
        match self.entry(key).map(|entry| &entry.value) {
            Some(Value::Whole(number)) => *number,
            _ => default,
        }
    }

    pub(super) fn switched(&self, key: &str, default: bool) -> bool {
        match self.entry(key).map(|entry| &entry.value) {
            Some(Value::Switch(on)) => *on,
            _ => default,
        }
    }

    pub(super) fn time(&self, key: &str, default: Time) -> Time {
        match self.entry(key).map(|entry| &entry.value) {
            Some(Value::Time(time)) => *time,
            _ => default,
        }
    }

    pub(super) fn rate(&self, key: &str, default: Rate) -> Rate {
        match self.entry(key).map(|entry| &entry.value) {
            Some(Value::Rate(rate)) => *rate,
            _ => default,
        }
    }

    pub(super) fn payload_bytes(&self) -> u64 {
        self.whole("PACKET_PAYLOAD_SIZE", 1000)
    }

    /// Selects the kind of transport: the importer's option, or the counterpart of `CC_MODE`.
    fn transport(&mut self) -> Option<&'a str> {
        let mode = self.whole("CC_MODE", 1);
        let (name, translated) = match mode {
            1 => ("DCQCN", Some("dcqcn")),
            3 => ("HPCC", Some("hpcc")),
            7 => ("TIMELY", Some("timely")),
            8 => ("DCTCP by rate", Some("dctcp-rate")),
            10 => ("HPCC-PINT", None),
            _ => ("none that its simulator names", None),
        };
        if let Some(kind) = self.inputs.transport {
            if !MECHANISMS.iter().any(|mechanism| mechanism.family == Family::Transport && mechanism.kind == kind) {
                self.fail("CC_MODE", format!("`{kind}` is not a transport"), Some("`tidegate mechanisms` lists them"));
                return None;
            }
            if translated != Some(kind) {
                self.note(
                    "CC_MODE",
                    &format!("{mode}, {name}: `{kind}` carries the flows instead, with its own control"),
                );
            }
            return Some(kind);
        }
        if translated.is_none() {
            let message = format!("CC_MODE {mode} is {name}, which Tidegate does not have");
            let help = "choose a replacement: --transport dcqcn uses the marks of this configuration, roce has no \
                        control except PFC";
            self.fail("CC_MODE", message, Some(help));
        }
        translated
    }

    /// Returns the time of the input files that becomes time 0 of the scenario (2 s, or 0 if a flow starts earlier),
    /// the duration, and the TOML line of a further end condition, or an empty text.
    fn times(&mut self) -> (Time, Time, &'static str) {
        let of_flows = "until = \"flows done\"\n";
        let stops = self.entry("SIMULATOR_STOP_TIME").map(|entry| &entry.value);
        let (stop, until) = match (stops, self.entry("FLOWGEN_STOP_TIME").map(|entry| &entry.value)) {
            (Some(Value::Never), _) | (None, Some(Value::Never)) => {
                self.note("SIMULATOR_STOP_TIME", "never: the run ends when all flows are complete, or after 1000s");
                (Time::from_s(1000), of_flows)
            }
            // conweave runs on after `FLOWGEN_STOP_TIME` until all flows are complete.
            (None, Some(&Value::Time(stop))) => (stop.saturating_add(Time::from_ms(100)), of_flows),
            _ => (self.time("SIMULATOR_STOP_TIME", Time::from_ms(3010)), ""),
        };
        let first = self.inputs.flows.iter().filter_map(|flow| match flow.start {
            Start::At(at) => Some(at),
            Start::After { .. } => None,
        });
        let first = first.min().unwrap_or(START);
        if stop <= first {
            let message = format!("the simulation ends at {stop}, before its first flow starts at {first}");
            self.fail(
                "SIMULATOR_STOP_TIME",
                message,
                Some("flows start at 2 s by convention: write 4.00, for example"),
            );
        }
        let origin = if first >= START { START } else { Time::ZERO };
        (origin, stop.saturating_sub(origin), until)
    }

    fn acknowledgements(&mut self) {
        if self.switched("ACK_HIGH_PRIO", false) {
            self.note(
                "ACK_HIGH_PRIO",
                "in both simulators hosts send acknowledgements before data, and switches do not; a pause of the \
                 data's class stops acknowledgements at hosts here, not there",
            );
        }
    }

    fn failure(&mut self, origin: Time) -> String {
        let Some(&Value::Down(after_us, a, b)) = self.entry("LINK_DOWN").map(|entry| &entry.value) else {
            return String::new();
        };
        if after_us == 0 {
            return String::new();
        }
        let fabric = self.inputs.fabric;
        let node = |id: u64| u32::try_from(id).ok().filter(|&id| (id as usize) < fabric.nodes().len()).map(NodeId);
        let link = node(a).zip(node(b)).filter(|&(a, b)| fabric.link_between(a, b).is_some());
        let at = Time::from_us(1).as_ps().checked_mul(after_us).map(|ps| START.saturating_add(Time::from_ps(ps)));
        let (Some((a, b)), Some(at)) = (link, at) else {
            let message = format!("LINK_DOWN: no link between nodes {a} and {b}, or an invalid time");
            self.fail("LINK_DOWN", message, Some("0 0 0 means no failure"));
            return String::new();
        };
        self.note(
            "LINK_DOWN",
            if self.inputs.keeps_paths {
                "all switches have new routes immediately there; here data keeps its path with --paths"
            } else {
                "all switches have new routes immediately there; here each avoids the link by live ports \
                 (routing.reroute)"
            },
        );
        let (a, b) = (quoted(fabric.name(a)), quoted(fabric.name(b)));
        let at = at.saturating_sub(origin);
        format!("[routing]\nreroute = \"local\"\n\n[[fail]]\nlink = [{a}, {b}]\nat = \"{at}\"\n\n")
    }

    /// Adds a note for each key that is dropped.
    fn dropped(&mut self, transport: Option<&str>) {
        let lossy = !self.switched("ENABLE_PFC", true);
        if self.switched("L2_BACK_TO_ZERO", false) && lossy {
            let message = "L2_BACK_TO_ZERO 1 without PFC: after a loss a sender restarts its chunk there; here it goes \
                           back to the missing packet";
            self.fail("L2_BACK_TO_ZERO", message.to_owned(), Some("--ignore L2_BACK_TO_ZERO"));
        } else if self.switched("L2_BACK_TO_ZERO", false) {
            self.note(
                "L2_BACK_TO_ZERO",
                "after a loss a sender restarts its chunk there; here it goes back to the missing packet",
            );
        } else if self.entry("L2_CHUNK_SIZE").is_some() {
            self.note("L2_CHUNK_SIZE", "chunks are used with L2_BACK_TO_ZERO only: the result does not depend on it");
        }
        if !self.switched("RATE_BOUND", true) {
            let message = "RATE_BOUND 0: senders ignore their rates there and are limited by windows only; here they \
                           obey the rates";
            self.fail("RATE_BOUND", message.to_owned(), Some("--ignore RATE_BOUND runs it with rates"));
        }
        let mut grouped: Vec<(&str, Vec<String>)> = Vec::new();
        let instead = "a parameter of controls that do not carry the flows here";
        for entry in &self.config.entries {
            let why = match entry.known.map(|known| known.fate) {
                // Unknown keys were handled before: each is refused, or ignored on request.
                None => continue,
                Some(KeyTreatment::Written) => continue,
                Some(KeyTreatment::Of(kinds)) if transport.is_none_or(|kind| kinds.contains(&kind)) => continue,
                Some(KeyTreatment::Of(_)) => instead,
                Some(KeyTreatment::Dropped(why)) => why,
            };
            let key_and_line = format!("{} (line {})", entry.key.chars().take(40).collect::<String>(), entry.line);
            match grouped.iter_mut().find(|group| group.0 == why) {
                Some(group) => group.1.push(key_and_line),
                None => grouped.push((why, vec![key_and_line])),
            }
        }
        let file = &self.config.file;
        self.notes.extend(grouped.into_iter().map(|(why, keys)| format!("{file}: {}: {why}", keys.join(", "))));
    }
}

#[cfg(test)]
#[path = "hpcc_tests.rs"]
mod tests;
