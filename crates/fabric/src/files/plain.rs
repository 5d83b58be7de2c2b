//! Nodes and links of a graph file, from which `assemble` builds the fabric.

use super::error::FileError;
use super::roles::Roles;
use super::text::shown;
use crate::decision::{Decision, Subject};
use crate::names::visible;
use crate::{Fabric, LinkSpec, NodeId, NodeKind};
use std::collections::HashMap;
use units::{Rate, Time};

/// Values for properties that a graph file does not state.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Default properties of links. [`Rate::MIN`] and a delay of zero mean no default.
    pub link: LinkSpec,
    /// Rate and delay of links for which neither the file nor `link` has a value; their use is reported as a decision
    /// of the reader. If `None`, a link without a value is an error.
    pub assumed: Option<LinkSpec>,
    /// Hosts to attach to each leaf if the file has no hosts; with 0, a file without hosts is an error.
    pub hosts_per_switch: u16,
    /// The user's decisions about nodes.
    pub roles: Roles,
}

impl Options {
    /// Creates options with these link properties; all other options are unset.
    pub const fn new(link: LinkSpec) -> Options {
        Options { link, assumed: None, hosts_per_switch: 0, roles: Roles::NONE }
    }

    /// No options set: unstated properties are errors.
    pub const NONE: Options = Options::new(LinkSpec::new(Rate::MIN, Time::ZERO));
}

/// Node of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParsedNode {
    /// Node id that links refer to.
    pub id: String,
    pub name: String,
    pub kind: Option<NodeKind>,
    /// Source of the kind, in the file's words: "kind linux".
    pub why: String,
    pub tier: Option<u8>,
    /// Text of the file that may name the layer of a switch: a group or role.
    pub label: String,
    /// Location and value of each unknown kind: "tor.DEVICE_NEIGHBOR_METADATA.x.type `Foo`".
    pub unknown_kind: Option<String>,
    pub relay: bool,
    /// The kind is shared by servers and software routers: a node with several links may be a switch.
    pub may_forward: bool,
}

/// Link of a file.
#[derive(Clone, Debug)]
pub(crate) struct ParsedLink {
    pub a: NodeId,
    pub a_port: String,
    pub b: NodeId,
    pub b_port: String,
    pub spec: LinkSpec,
}

/// End of a link: the node's id, and the port's name or "".
pub(crate) type ParsedEnd = (String, String);

/// Nodes and links of a file, in file order.
#[derive(Debug, Default)]
pub(crate) struct ParsedTopology {
    pub(super) nodes: Vec<ParsedNode>,
    pub(super) by_id: HashMap<String, NodeId>,
    pub(super) links: Vec<ParsedLink>,
    /// Decisions that the format's reader made.
    pub(super) decisions: Vec<Decision>,
}

/// Formats `1 node`, `2 nodes`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Text of the decision about server ports that are connected to two switches.
pub(super) fn shared_ports_text(count: u64) -> String {
    format!("{}: a server port that two switches reach", counted(count, "Y cable"))
}

pub(crate) fn fail<T>(location: impl Into<String>, message: impl Into<String>) -> Result<T, FileError> {
    Err(FileError::Element { location: location.into(), message: message.into() })
}

pub(crate) fn fail_line<T>(line: usize, message: impl Into<String>) -> Result<T, FileError> {
    Err(FileError::Line { line, message: message.into() })
}

impl ParsedTopology {
    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `true` if every node is known to be a host.
    pub fn all_are_hosts(&self) -> bool {
        self.nodes.iter().all(|node| node.kind == Some(NodeKind::Host) && !node.may_forward)
    }

    /// Records a decision about nodes or cables; does nothing if `names` is empty.
    pub fn decide(&mut self, subject: Subject, text: impl FnOnce(u64) -> String, names: Vec<String>) {
        if !names.is_empty() {
            self.decisions.push(Decision { subject, text: text(names.len() as u64), names });
        }
    }

    /// Adds a node; returns `false` if the id exists.
    pub fn add(&mut self, node: ParsedNode) -> bool {
        let id = NodeId(self.nodes.len() as u32);
        if self.by_id.insert(node.id.clone(), id).is_some() {
            return false;
        }
        self.nodes.push(node);
        true
    }

    /// Returns `true` if a node has this id.
    pub fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Returns the kind of a node, if read so far.
    pub fn kind_of(&self, id: &str) -> Option<NodeKind> {
        self.nodes[self.by_id.get(id)?.index()].kind
    }

    /// Returns the node with this id for modification.
    pub fn node_mut(&mut self, id: &str) -> Option<&mut ParsedNode> {
        let node = *self.by_id.get(id)?;
        self.nodes.get_mut(node.index())
    }

    /// Returns the node with this id. If it does not exist, adds it with the id as its name.
    pub fn node_or_new(&mut self, id: &str) -> &mut ParsedNode {
        if !self.by_id.contains_key(id) {
            self.add(ParsedNode { id: id.to_owned(), name: id.to_owned(), ..ParsedNode::default() });
        }
        let node = self.by_id[id];
        &mut self.nodes[node.index()]
    }

    /// Adds a link. Fails with the first of the two ids that has no node.
    pub fn connect(&mut self, a: &ParsedEnd, b: &ParsedEnd, spec: LinkSpec) -> Result<(), String> {
        let (Some(&from), Some(&to)) = (self.by_id.get(&a.0), self.by_id.get(&b.0)) else {
            return Err(if self.by_id.contains_key(&a.0) { b.0.clone() } else { a.0.clone() });
        };
        self.links.push(ParsedLink { a: from, a_port: a.1.clone(), b: to, b_port: b.1.clone(), spec });
        Ok(())
    }
}

/// Words that denote a host; any other word denotes a switch.
const HOST_WORDS: [&str; 7] = ["host", "server", "endpoint", "nic", "client", "compute", "hca"];

/// Converts the text of a kind, type or role attribute to a node kind.
pub(crate) fn kind_of(text: &str) -> NodeKind {
    let host = HOST_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    if host { NodeKind::Host } else { NodeKind::Switch }
}

/// Returns the reason for a kind that an attribute of the file states, such as `kind linux`.
pub(crate) fn reason_from(key: &str, word: &str) -> String {
    format!("{key} {}", visible(&shown(word)))
}

/// Returns `true` if the last word of a name is a host word followed by a number.
pub(super) fn named_like_a_host(name: &str) -> bool {
    const SEPARATORS: [char; 3] = ['-', '_', '.'];
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let word = letters.trim_end_matches(SEPARATORS).rsplit(SEPARATORS).next().unwrap_or_default();
    let hosts = ["h", "host", "server", "servers", "srv", "client"];
    letters.len() < name.len() && hosts.iter().any(|host| word.eq_ignore_ascii_case(host))
}

/// Returns a port name for formats that require one: the name in the fabric, or a generated name that is unique at the
/// node.
pub(crate) fn port_label(fabric: &Fabric, node: NodeId, port: u16, made: impl FnOnce(u16) -> String) -> String {
    if let Some(name) = fabric.port_name(node, port) {
        return name.to_owned();
    }
    let mut made = made(port);
    while fabric.port_named(node, &made).is_some() {
        made.push('x');
    }
    made
}

/// Returns `true` if at all nodes the ports are in the order of the links. Writers of formats without port numbers
/// require that order.
pub(crate) fn ports_follow_links(fabric: &Fabric) -> bool {
    fabric.node_ids().all(|node: NodeId| fabric.ports(node).windows(2).all(|pair| pair[0].link <= pair[1].link))
}
