//! Rule file: JSON, one rule per line, in canonical order.

use super::{Class, GeneratedBy, LOSSY_TAG, MAX_TAG, Rule, RuleTable, SwitchRules, Tag};
use fabric::tags::PortSet;
use fabric::{Fabric, NameFault, NodeId, PortIndex};
use serde::Deserialize;
use std::fmt::Write;

const FORMAT: &str = "tidegate-tagger-rules";
const VERSION: u32 = 1;

/// Reason why a text is not a valid rule file for this fabric.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFileError {
    /// The text is not JSON, or a key is missing, invalid or of the wrong type.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line number, from 1.
        line: usize,
        /// Column number, from 1.
        column: usize,
        /// Message of the parser.
        message: String,
    },
    /// The file has another format, or a newer version.
    #[error("this is `{found}` version {version}: expected `{FORMAT}` version {VERSION}")]
    Format {
        /// `format` of the file.
        found: String,
        /// `version` of the file.
        version: u32,
    },
    /// The rules are for another fabric.
    #[error(
        "these rules are for another fabric: {theirs} with hash {their_hash}, but this one is {ours} with hash \
         {our_hash}; generate rules for this fabric"
    )]
    OtherFabric {
        /// Kind and size of the fabric for which the rules were generated.
        theirs: String,
        /// Hash of the fabric for which the rules were generated.
        their_hash: String,
        /// Kind and size of the given fabric.
        ours: String,
        /// Hash of the given fabric.
        our_hash: String,
    },
    /// The rules are for a fabric with other port names.
    #[error(
        "these rules are for another fabric: port {port} of `{switch}` is {theirs} there and {ours} here; generate \
         rules for this fabric"
    )]
    OtherPorts {
        /// The switch.
        switch: String,
        /// The first port that differs.
        port: usize,
        /// Name of the port in the file.
        theirs: String,
        /// Name of the port in the given fabric.
        ours: String,
    },
    /// A text contains characters that could control a terminal.
    #[error("{location}: {fault}")]
    Text {
        /// Path of the element, like `switches[0].rules[2].tag`.
        location: String,
        /// Rule for valid names that the text violates.
        fault: NameFault,
    },
    /// The fabric does not have this switch.
    #[error("switches[{index}]: the fabric has no node `{name}`")]
    UnknownSwitch {
        /// Position in `switches`, from 0.
        index: usize,
        /// Name, as written.
        name: String,
    },
    /// The node is a host that does not forward, which cannot have rules.
    #[error("switches[{index}]: `{name}` is a host that does not forward: rules belong to switches")]
    NotAForwarder {
        /// Position in `switches`, from 0.
        index: usize,
        /// Name, as written.
        name: String,
    },
    /// The switch appears more than once.
    #[error("switches[{index}]: `{name}` occurs twice: put all its rules into one entry")]
    SwitchTwice {
        /// Position in `switches`, from 0.
        index: usize,
        /// Name, as written.
        name: String,
    },
    /// The switch does not have this port.
    #[error("switch `{switch}`, rules[{rule}].{side}: no port {port}: it has {ports}, counted from 0")]
    UnknownPort {
        /// The switch.
        switch: String,
        /// Position in its `rules`, from 0.
        rule: usize,
        /// "in" or "out".
        side: &'static str,
        /// The port.
        port: u64,
        /// Number of ports of the switch.
        ports: usize,
    },
    /// A rule has no ingress or no egress port.
    #[error("switch `{switch}`, rules[{rule}].{side}: no port is named, so the rule can never match")]
    NoPort {
        /// The switch.
        switch: String,
        /// Position in its `rules`, from 0.
        rule: usize,
        /// "in" or "out".
        side: &'static str,
    },
    /// A port is repeated in the ingress or egress ports of a rule.
    #[error("switch `{switch}`, rules[{rule}].{side}: port {port} occurs twice")]
    PortTwice {
        /// The switch.
        switch: String,
        /// Position in its `rules`, from 0.
        rule: usize,
        /// "in" or "out".
        side: &'static str,
        /// The port.
        port: u64,
    },
    /// A tag is outside 1..=62, or not in `lossless_tags`.
    #[error("{location}: tag {tag} is out of range: {expected}")]
    TagOutOfRange {
        /// Path of the element, like `switches[0].rules[2].tag`.
        location: String,
        /// The tag.
        tag: u64,
        /// Valid values.
        expected: String,
    },
    /// Two rules match the same packet and assign different tags.
    #[error(
        "switch `{switch}`: rules[{first}] and rules[{second}] contradict each other: a packet with tag {tag} from \
         port {in_port} to port {out_port} would get both {new_tag} and {other_tag}"
    )]
    Contradiction {
        /// The switch.
        switch: String,
        /// Index of the first rule, from 0.
        first: usize,
        /// Index of the second rule, from 0.
        second: usize,
        /// Tag that both match.
        tag: Tag,
        /// Ingress port that both match.
        in_port: PortIndex,
        /// Egress port that both match.
        out_port: PortIndex,
        /// New tag of the first rule.
        new_tag: Tag,
        /// New tag of the second rule.
        other_tag: Tag,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    format: String,
    version: u32,
    fabric: RawFabric,
    generated_by: RawGeneratedBy,
    lossless_tags: Vec<u64>,
    lossy_tag: u64,
    classes: Vec<RawClass>,
    switches: Vec<RawSwitch>,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFabric {
    kind: String,
    switches: u64,
    hosts: u64,
    links: u64,
    hash: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGeneratedBy {
    algorithm: String,
    paths: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClass {
    name: String,
    first_tag: u64,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSwitch {
    name: String,
    /// Port names in the fabric's file, "" for unnamed ports; omitted if no port has a name.
    #[serde(default)]
    ports: Vec<String>,
    rules: Vec<RawRule>,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    tag: u64,
    #[serde(rename = "in")]
    in_ports: Vec<u64>,
    #[serde(rename = "out")]
    out_ports: Vec<u64>,
    new_tag: u64,
}
/// Minimal header, to distinguish a file of another format from an invalid rule file.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// Returns the fingerprint of a fabric: 64-bit FNV-1a over its links in order, as 16 hexadecimal digits. Each link is
/// hashed as `a_name:a_port-b_name:b_port` and a line feed; a named port is `number=name`. Rules are valid for every
/// fabric with the same links, names and ports, independent of link rates.
pub fn fabric_hash(fabric: &Fabric) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut text = String::new();
    for link in fabric.links() {
        text.clear();
        for (end, after) in [(link.a, '-'), (link.b, '\n')] {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}:{}", fabric.name(end.node), end.port);
            if let Some(name) = fabric.port_name(end.node, end.port) {
                let _ = write!(text, "={name}");
            }
            text.push(after);
        }
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

fn forwarders(fabric: &Fabric) -> u64 {
    fabric.switches().count() as u64
}

impl RuleTable {
    /// Reads a rule file for this fabric.
    ///
    /// # Errors
    /// [`RuleFileError`] that names the invalid element: not a rule file, rules for another fabric, unknown switches or
    /// ports, tags out of range, contradicting rules.
    pub fn read(fabric: &Fabric, text: &str) -> Result<RuleTable, RuleFileError> {
        let text = text.trim_start_matches('\u{feff}');
        let syntax = |error: serde_json::Error| {
            let (line, column, message) = (error.line(), error.column(), error.to_string());
            // The message ends with line and column, which the error states separately.
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            RuleFileError::Syntax { line, column, message }
        };
        let head: Head = serde_json::from_str(text).map_err(syntax)?;
        if head.format != FORMAT || head.version != VERSION {
            return Err(RuleFileError::Format { found: head.format, version: head.version });
        }
        let raw: RawFile = serde_json::from_str(text).map_err(syntax)?;
        debug_assert_eq!((raw.format.as_str(), raw.version), (FORMAT, VERSION));
        check_texts(&raw)?;
        check_ports(fabric, &raw)?;
        check_fabric(fabric, &raw.fabric)?;
        let lossless_tags = lossless_tags(&raw)?;
        let classes = (raw.classes.into_iter().enumerate())
            .map(|(index, class)| {
                let location = || format!("classes[{index}].first_tag");
                Ok(Class { name: class.name, first_tag: known(class.first_tag, &lossless_tags, location)? })
            })
            .collect::<Result<_, RuleFileError>>()?;
        let mut seen = vec![false; fabric.nodes().len()];
        let mut switches = Vec::with_capacity(raw.switches.len());
        for (index, switch) in raw.switches.into_iter().enumerate() {
            let name = switch.name;
            let Some(node) = fabric.find(&name) else { return Err(RuleFileError::UnknownSwitch { index, name }) };
            if !fabric.node(node).forwards() {
                return Err(RuleFileError::NotAForwarder { index, name });
            }
            if std::mem::replace(&mut seen[node.index()], true) {
                return Err(RuleFileError::SwitchTwice { index, name });
            }
            let rules = read_rules(fabric, node, &switch.rules, &lossless_tags)?;
            check_contradictions(&name, fabric.ports(node).len(), &rules)?;
            switches.push(SwitchRules { node, rules });
        }
        let generated_by = GeneratedBy { algorithm: raw.generated_by.algorithm, paths: raw.generated_by.paths };
        Ok(RuleTable::new(fabric, generated_by, lossless_tags, classes, switches))
    }

    /// Writes the rule file. Equal tables give identical bytes.
    pub fn write(&self, fabric: &Fabric) -> String {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let (switches, hosts, links) = (forwarders(fabric), fabric.hosts().len(), fabric.links().len());
        let mut out = format!("{{ \"format\": \"{FORMAT}\", \"version\": {VERSION},\n");
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "  \"fabric\": {{ \"kind\": {}, \"switches\": {switches}, \"hosts\": {hosts}, \"links\": {links}, \
             \"hash\": \"{}\" }},\n  \"generated_by\": {{ \"algorithm\": {}, \"paths\": {} }},\n  \"lossless_tags\": \
             {:?}, \"lossy_tag\": {LOSSY_TAG},\n  \"classes\": [",
            quote(fabric.kind()),
            fabric_hash(fabric),
            quote(&self.generated_by.algorithm),
            quote(&self.generated_by.paths),
            self.lossless_tags,
        );
        for (index, class) in self.classes.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(out, "{comma} {{ \"name\": {}, \"first_tag\": {} }}", quote(&class.name), class.first_tag);
        }
        out.push_str(" ],\n  \"switches\": [");
        for (index, switch) in self.switches.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(out, "{comma}\n    {{ \"name\": {}, ", quote(fabric.name(switch.node)));
            let names = port_names(fabric, switch.node);
            if !names.is_empty() {
                let _ = write!(out, "\"ports\": {}, ", serde_json::Value::from(names));
            }
            out.push_str("\"rules\": [");
            for (index, rule) in switch.rules.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                let _ = write!(
                    out,
                    "{comma}\n      {{ \"tag\": {}, \"in\": {}, \"out\": {}, \"new_tag\": {} }}",
                    rule.tag,
                    list(&rule.in_ports),
                    list(&rule.out_ports),
                    rule.new_tag
                );
            }
            out.push_str(" ] }");
        }
        out.push_str(" ] }\n");
        out
    }
}

fn list(ports: &PortSet) -> String {
    format!("{:?}", ports.iter().collect::<Vec<_>>())
}

/// Returns the names of a switch's ports in the fabric's file, "" for unnamed ports; empty if no port has a name.
fn port_names(fabric: &Fabric, node: NodeId) -> Vec<&str> {
    let ports = 0..fabric.ports(node).len() as PortIndex;
    let names: Vec<&str> = ports.map(|port| fabric.port_name(node, port).unwrap_or_default()).collect();
    if names.iter().all(|name| name.is_empty()) { Vec::new() } else { names }
}

/// Checks the texts of the file for control characters, because they are printed to terminals.
fn check_texts(raw: &RawFile) -> Result<(), RuleFileError> {
    let by = &raw.generated_by;
    let mut texts = vec![
        ("fabric.kind".to_owned(), raw.fabric.kind.as_str()),
        ("fabric.hash".to_owned(), &raw.fabric.hash),
        ("generated_by.algorithm".to_owned(), &by.algorithm),
        ("generated_by.paths".to_owned(), &by.paths),
    ];
    texts
        .extend(raw.classes.iter().enumerate().map(|(at, class)| (format!("classes[{at}].name"), class.name.as_str())));
    for (at, switch) in raw.switches.iter().enumerate() {
        texts.push((format!("switches[{at}].name"), &switch.name));
        texts.extend(switch.ports.iter().map(|port| (format!("switches[{at}].ports"), port.as_str())));
    }
    let hidden = texts.into_iter().find_map(|(location, text)| match fabric::check_name(text) {
        Err(fault @ NameFault::Invisible { .. }) => Some(RuleFileError::Text { location, fault }),
        _ => None,
    });
    hidden.map_or(Ok(()), Err)
}

/// Checks that the port names in the file equal those of the fabric.
fn check_ports(fabric: &Fabric, raw: &RawFile) -> Result<(), RuleFileError> {
    let shown = |name: Option<&str>| match name {
        None | Some("") => "without a name".to_owned(),
        Some(name) => format!("`{name}`"),
    };
    for switch in &raw.switches {
        // An unknown switch is reported when its rules are read.
        let Some(node) = fabric.find(&switch.name) else { continue };
        let ours = port_names(fabric, node);
        let at = |names: &[&str], port: usize| names.get(port).copied().unwrap_or_default().to_owned();
        let theirs: Vec<&str> = switch.ports.iter().map(String::as_str).collect();
        if let Some(port) = (0..ours.len().max(theirs.len())).find(|&port| at(&ours, port) != at(&theirs, port)) {
            let (theirs, ours) = (shown(theirs.get(port).copied()), shown(ours.get(port).copied()));
            return Err(RuleFileError::OtherPorts { switch: switch.name.clone(), port, theirs, ours });
        }
    }
    Ok(())
}

fn check_fabric(fabric: &Fabric, raw: &RawFabric) -> Result<(), RuleFileError> {
    let ours = (forwarders(fabric), fabric.hosts().len() as u64, fabric.links().len() as u64);
    let our_hash = fabric_hash(fabric);
    if raw.hash == our_hash && (raw.switches, raw.hosts, raw.links) == ours {
        return Ok(());
    }
    let describe = |kind: &str, (switches, hosts, links): (u64, u64, u64)| {
        format!("a {kind} of {switches} switches, {hosts} hosts and {links} links")
    };
    Err(RuleFileError::OtherFabric {
        theirs: describe(&raw.kind, (raw.switches, raw.hosts, raw.links)),
        their_hash: raw.hash.clone(),
        ours: describe(fabric.kind(), ours),
        our_hash,
    })
}

fn lossless_tags(raw: &RawFile) -> Result<Vec<Tag>, RuleFileError> {
    let wrong = |location: String, tag, expected: &str| {
        Err(RuleFileError::TagOutOfRange { location, tag, expected: expected.to_owned() })
    };
    if raw.lossy_tag != u64::from(LOSSY_TAG) {
        return wrong("lossy_tag".to_owned(), raw.lossy_tag, "the lossy tag is 0");
    }
    let mut tags: Vec<Tag> = Vec::with_capacity(raw.lossless_tags.len());
    for (index, &tag) in raw.lossless_tags.iter().enumerate() {
        let location = format!("lossless_tags[{index}]");
        match Tag::try_from(tag) {
            Ok(small) if (1..=MAX_TAG).contains(&small) => {
                if tags.last().is_some_and(|&last| last >= small) {
                    return wrong(location, tag, "tags must ascend");
                }
                tags.push(small);
            }
            _ => return wrong(location, tag, "a lossless tag is one of 1..62"),
        }
    }
    Ok(tags)
}

fn known(tag: u64, lossless: &[Tag], location: impl Fn() -> String) -> Result<Tag, RuleFileError> {
    match Tag::try_from(tag) {
        Ok(small) if lossless.contains(&small) => Ok(small),
        _ => {
            let expected = format!("`lossless_tags` has {lossless:?}");
            Err(RuleFileError::TagOutOfRange { location: location(), tag, expected })
        }
    }
}

fn read_rules(fabric: &Fabric, node: NodeId, raw: &[RawRule], lossless: &[Tag]) -> Result<Vec<Rule>, RuleFileError> {
    let ports = fabric.ports(node).len();
    let set = |rule: usize, side: &'static str, list: &[u64]| -> Result<PortSet, RuleFileError> {
        let switch = || fabric.name(node).to_owned();
        if list.is_empty() {
            return Err(RuleFileError::NoPort { switch: switch(), rule, side });
        }
        if let Some(&port) = list.iter().find(|&&port| port >= ports as u64) {
            return Err(RuleFileError::UnknownPort { switch: switch(), rule, side, port, ports });
        }
        let set: PortSet = list.iter().map(|&port| port as PortIndex).collect();
        if set.len() < list.len() {
            let twice = (1..list.len()).find(|&at| list[..at].contains(&list[at])).unwrap_or_default();
            return Err(RuleFileError::PortTwice { switch: switch(), rule, side, port: list[twice] });
        }
        Ok(set)
    };
    let read = |(index, rule): (usize, &RawRule)| {
        let location = |key: &str| format!("switch `{}`, rules[{index}].{key}", fabric.name(node));
        let new_tag = match rule.new_tag {
            0 => LOSSY_TAG,
            tag => known(tag, lossless, || location("new_tag"))?,
        };
        Ok(Rule {
            tag: known(rule.tag, lossless, || location("tag"))?,
            in_ports: set(index, "in", &rule.in_ports)?,
            out_ports: set(index, "out", &rule.out_ports)?,
            new_tag,
        })
    };
    raw.iter().enumerate().map(read).collect()
}

/// Checks for contradicting rules. For each tag, a table of ports x ports has the rule of each (ingress, egress) pair,
/// so that the check takes time linear in the number of unmerged rules.
fn check_contradictions(switch: &str, ports: usize, rules: &[Rule]) -> Result<(), RuleFileError> {
    const NOBODY: u32 = u32::MAX;
    let mut order: Vec<usize> = (0..rules.len()).collect();
    order.sort_by_key(|&index| rules[index].tag);
    let contradiction = |first: usize, second: usize, in_port, out_port| {
        let (first, second) = (first.min(second), first.max(second));
        let (one, other) = (&rules[first], &rules[second]);
        let (tag, new_tag, other_tag) = (one.tag, one.new_tag, other.new_tag);
        let switch = switch.to_owned();
        RuleFileError::Contradiction { switch, first, second, tag, in_port, out_port, new_tag, other_tag }
    };
    for group in order.chunk_by(|&a, &b| rules[a].tag == rules[b].tag) {
        // For few rules, comparing all pairs is cheaper than the table. The limit on the number of ports bounds the
        // table's memory.
        if group.len() * group.len() <= ports * ports || ports > 4096 {
            for (position, &a) in group.iter().enumerate() {
                let (one, rest) = (&rules[a], &group[position + 1..]);
                for &b in rest.iter().filter(|&&b| rules[b].new_tag != one.new_tag) {
                    let common = |x: &PortSet, y: &PortSet| x.iter().find(|&port| y.contains(port));
                    let in_port = common(&one.in_ports, &rules[b].in_ports);
                    let out_port = common(&one.out_ports, &rules[b].out_ports);
                    if let (Some(in_port), Some(out_port)) = (in_port, out_port) {
                        return Err(contradiction(a, b, in_port, out_port));
                    }
                }
            }
            continue;
        }
        let mut claimed = vec![NOBODY; ports * ports];
        for &index in group {
            for in_port in rules[index].in_ports.iter() {
                for out_port in rules[index].out_ports.iter() {
                    let claim = &mut claimed[usize::from(in_port) * ports + usize::from(out_port)];
                    if *claim == NOBODY {
                        *claim = index as u32;
                    } else if rules[*claim as usize].new_tag != rules[index].new_tag {
                        return Err(contradiction(*claim as usize, index, in_port, out_port));
                    }
                }
            }
        }
    }
    Ok(())
}
