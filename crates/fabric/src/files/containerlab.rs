//! containerlab topologies: `topology: {nodes: {leaf1: {kind: ...}}, links: [{endpoints: ["leaf1:e1-1", ...]}]}`.
//!
//! A node of kind `linux` with one link is a host, other `linux` nodes and those without a kind are guessed as
//! [`files`](super) says, and any other kind is a switch. Both ways of writing a link are read: `endpoints` as
//! texts `node:interface`, and as maps with `node` and `interface`. The files state neither rates nor delays.

use super::FileError;
use super::plain::{Options, Plain, PlainNode, fail, port_label};
use crate::{Fabric, NodeKind};
use std::collections::HashMap;
use std::fmt::Write as _;
use yaml_rust2::{Yaml, YamlLoader};

/// What containerlab itself stands for: no nodes of the lab.
const OUTSIDE: [&str; 5] = ["host", "mgmt-net", "macvlan", "vxlan", "dummy"];

/// Aliases of aliases grow without end in memory; a handful cannot.
const MAX_ALIASES: usize = 16;

/// Reads a topology.
///
/// # Errors
/// [`FileError::Element`] with the place of a syntax error or the element (`links[3]`) that is wrong;
/// [`FileError::Fabric`] if it is no network.
pub fn read_containerlab(content: &str, options: &Options) -> Result<Fabric, FileError> {
    if content.matches(" *").count() > MAX_ALIASES {
        return fail("top level", format!("has more than {MAX_ALIASES} aliases: expand them"));
    }
    let documents = YamlLoader::load_from_str(content.trim_start_matches('\u{feff}')).or_else(|error| {
        let at = error.marker();
        fail(format!("line {}, column {}", at.line(), at.col() + 1), format!("not valid YAML: {}", error.info()))
    })?;
    let topology = documents.first().map_or(&Yaml::BadValue, |document| &document["topology"]);
    let Yaml::Hash(nodes) = &topology["nodes"] else {
        return fail("topology.nodes", "is missing: expected `topology:` with `nodes:` and `links:`");
    };
    let default_kind = topology["defaults"]["kind"].as_str();
    let mut kinds: HashMap<String, String> = HashMap::new();
    let mut plain = Plain::default();
    for (name, node) in nodes {
        let Some(name) = scalar(name) else { return fail("topology.nodes", "a node's name must be a text") };
        let kind = node["kind"].as_str().or(default_kind);
        if let Some(kind) = kind {
            kinds.insert(name.clone(), kind.to_owned());
        }
        let fixed = kind.filter(|&kind| kind != "linux").map(|kind| match kind {
            "host" => NodeKind::Host,
            _ => NodeKind::Switch,
        });
        plain.add(PlainNode { id: name.clone(), name, kind: fixed, ..PlainNode::default() });
    }
    let none = Vec::new();
    let links = match &topology["links"] {
        Yaml::Array(links) => links,
        Yaml::BadValue | Yaml::Null => &none,
        _ => return fail("topology.links", "must be a list"),
    };
    let mut degrees: HashMap<String, u32> = HashMap::new();
    for (index, link) in links.iter().enumerate() {
        let place = format!("topology.links[{index}]");
        let Some([a, b]) = link["endpoints"].as_vec().map(Vec::as_slice) else {
            return fail(place, "must have `endpoints`: two of them, like [\"leaf1:e1-1\", \"spine1:e1-1\"]");
        };
        let (a, b) = (endpoint(&place, a)?, endpoint(&place, b)?);
        for (node, _) in [&a, &b] {
            *degrees.entry(node.clone()).or_default() += 1;
        }
        if let Err(id) = plain.connect(&a, &b, options.link) {
            let outside = OUTSIDE.contains(&id.as_str());
            let why = if outside { "stands for the machine under the lab: leave the link out" } else { "is no node" };
            return fail(place, format!("`{id}` {why}"));
        }
    }
    let hosts = kinds.iter().filter(|(name, kind)| *kind == "linux" && degrees.get(*name) == Some(&1));
    for (name, _) in hosts {
        if let Some(node) = plain.node_mut(name) {
            node.kind = Some(NodeKind::Host);
        }
    }
    plain.assemble(options)
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
        value => scalar(&value["node"]).zip(scalar(&value["interface"])),
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
