//! containerlab topologies: `topology: {nodes: {leaf1: {kind: ...}}, links: [{endpoints: ["leaf1:e1-1", ...]}]}`.
//!
//! The node's kind decides what it is, however many links it has: a container or virtual machine that runs
//! applications (`linux`, `generic_vm`, `ext-container` and the like) is a host, through which nothing passes, any
//! other kind is a switch. The label `tidegate-kind: switch` (or `host`) says otherwise, for a `linux` node that runs a
//! router. As in containerlab itself, kind and labels come from the node, its `group`, its kind (labels only) or the
//! `defaults`, in that order; merge keys (`<<`) are followed. A node without a kind is guessed as [`files`](super)
//! says. Both ways of writing a link are read: `endpoints` as texts `node:interface`, and as maps with `node` and
//! `interface`. The files state neither rates nor delays.

use super::error::FileError;
use super::plain::{Options, Plain, PlainNode, fail, port_label, said_by};
use super::yaml;
use crate::{Fabric, NodeKind};
use std::fmt::Write as _;
use yaml_rust2::Yaml;

/// What containerlab itself stands for: no nodes of the lab.
const OUTSIDE: [&str; 5] = ["host", "mgmt-net", "macvlan", "vxlan", "dummy"];

/// Kinds that run applications, after the list of kinds in containerlab's manual.
const HOST_KINDS: [&str; 8] =
    ["linux", "host", "generic_vm", "ext-container", "k8s-kind", "ostinato", "keysight_ixia-c-one", "ixia-c-one"];

/// The label by which a node says itself what it is.
const LABEL: &str = "tidegate-kind";

/// Reads a topology.
///
/// # Errors
/// [`FileError::Element`] with the place of a syntax error or the element (`links[3]`) that is wrong;
/// [`FileError::Fabric`] if it is no network.
pub fn read_containerlab(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let document = yaml::read(content)?;
    let topology = yaml::get(&document, "topology");
    let nodes = yaml::entries(yaml::get(topology, "nodes"));
    if nodes.is_empty() {
        return fail("topology.nodes", "is missing: expected `topology:` with `nodes:` and `links:`");
    }
    let mut plain = Plain::default();
    for (name, node) in nodes {
        let Some(name) = scalar(name) else { return fail("topology.nodes", "a node's name must be a text") };
        let (kind, why) = role(topology, &name, node)?;
        if !plain.add(PlainNode { id: name.clone(), name: name.clone(), kind, why, ..PlainNode::default() }) {
            return fail("topology.nodes", format!("`{name}` stands twice"));
        }
    }
    if plain.all_are(NodeKind::Host) && plain.len() > 2 {
        let help = format!("give those that forward the label `{LABEL}: switch`, or another kind, like bridge");
        return fail("topology.nodes", format!("all are hosts by their kind, through which nothing passes: {help}"));
    }
    let none = Vec::new();
    let links = match yaml::get(topology, "links") {
        Yaml::Array(links) => links,
        Yaml::BadValue | Yaml::Null => &none,
        _ => return fail("topology.links", "must be a list"),
    };
    for (index, link) in links.iter().enumerate() {
        let place = format!("topology.links[{index}]");
        let Some([a, b]) = yaml::get(link, "endpoints").as_vec().map(Vec::as_slice) else {
            return fail(place, "must have `endpoints`: two of them, like [\"leaf1:e1-1\", \"spine1:e1-1\"]");
        };
        let (a, b) = (endpoint(&place, a)?, endpoint(&place, b)?);
        if let Err(id) = plain.connect(&a, &b, options.link) {
            let outside = OUTSIDE.contains(&id.as_str());
            let why = if outside { "stands for the machine under the lab: leave the link out" } else { "is no node" };
            return fail(place, format!("`{id}` {why}"));
        }
    }
    plain.assemble(options)
}

/// What a node is, and why.
fn role(topology: &Yaml, name: &str, node: &Yaml) -> Result<(Option<NodeKind>, String), FileError> {
    let (groups, kinds) = (yaml::get(topology, "groups"), yaml::get(topology, "kinds"));
    let defaults = yaml::get(topology, "defaults");
    let group = yaml::get(node, "group").as_str().map_or(&Yaml::BadValue, |group| yaml::get(groups, group));
    let kind = [node, group, defaults].into_iter().find_map(|place| scalar(yaml::get(place, "kind")));
    let of_kind = kind.as_deref().map_or(&Yaml::BadValue, |kind| yaml::get(kinds, kind));
    let labelled = |place| scalar(yaml::get(yaml::get(place, "labels"), LABEL));
    match [node, group, of_kind, defaults].into_iter().find_map(labelled) {
        Some(label) => match label.as_str() {
            "host" => Ok((Some(NodeKind::Host), said_by(LABEL, &label))),
            "switch" => Ok((Some(NodeKind::Switch), said_by(LABEL, &label))),
            _ => fail(format!("topology.nodes.{name}.labels.{LABEL}"), "must be host or switch"),
        },
        None => Ok(match kind {
            Some(kind) if HOST_KINDS.contains(&kind.as_str()) => (Some(NodeKind::Host), said_by("kind", &kind)),
            Some(kind) => (Some(NodeKind::Switch), said_by("kind", &kind)),
            None => (None, String::new()),
        }),
    }
}

fn scalar(value: &Yaml) -> Option<String> {
    match value {
        Yaml::String(text) | Yaml::Real(text) => Some(text.clone()),
        Yaml::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

fn endpoint(place: &str, value: &Yaml) -> Result<(String, String), FileError> {
    let parts = match value {
        Yaml::String(text) => text.split_once(':').map(|(node, port)| (node.to_owned(), port.to_owned())),
        value => scalar(yaml::get(value, "node")).zip(scalar(yaml::get(value, "interface"))),
    };
    let parts = parts.filter(|(node, port)| !node.is_empty() && !port.is_empty());
    parts.map_or_else(|| fail(place, "an endpoint is `node:interface`, or a map with `node` and `interface`"), Ok)
}

/// A plain scalar of YAML, in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes a topology: Linux containers for all nodes, ready to be given other kinds.
pub fn write_containerlab(fabric: &Fabric) -> String {
    let mut text = String::from("name: tidegate\ntopology:\n  nodes:\n");
    for node in fabric.nodes() {
        let kind = if node.kind == NodeKind::Host { "linux" } else { "bridge" };
        let _ = writeln!(text, "    {}: {{kind: {kind}}}", quoted(&node.name));
    }
    text.push_str("  links:\n");
    for link in fabric.links() {
        let end = |end: crate::graph::End| {
            let port = port_label(fabric, end.node, end.port, |port| format!("eth{}", port + 1));
            match fabric.name(end.node) {
                // Behind the first colon the interface begins.
                name if name.contains(':') => format!("{{node: {}, interface: {}}}", quoted(name), quoted(&port)),
                name => quoted(&format!("{name}:{port}")),
            }
        };
        let _ = writeln!(text, "    - endpoints: [{}, {}]", end(link.a), end(link.b));
    }
    text
}
