//! NetworkX node-link JSON.
//!
//! ```json
//! {"nodes": [{"id": "leaf1", "kind": "switch", "tier": 1}, {"id": "h1"}],
//!  "links": [{"source": "h1", "target": "leaf1", "rate": "100Gbps", "delay": "500ns"}]}
//! ```
//!
//! `links` may be called `edges`; an id is a string or a number. Optional per node: `name` (default: the id), `kind`,
//! `type` or `role` (`host`, `server`, `client`, `compute`, `endpoint`, `nic` or `hca` is a host, anything else a
//! switch), `tier`, `relay`. Optional per link: `rate`, `delay`, `loss`, `bit_error_rate`, and the names of its ports,
//! `source_port` and `target_port`. A directed graph is rejected. [`files`](super) has the rules for unstated
//! properties. `"graph": {"shared_ports": ["H1 eth0"]}` lists server ports that two switches reach (dual ToR).

use super::error::FileError;
use super::plain::ports_follow_links;
use super::plain::{Options, ParsedNode, ParsedTopology, counted, fail, kind_of, reason_from, shared_ports_text};
use crate::decision::Subject;
use crate::{Fabric, LinkSpec, NodeId, NodeKind};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::str::FromStr;

fn list<'a>(graph: &'a Map<String, Value>, names: &[&str]) -> Result<(String, &'a Vec<Value>), FileError> {
    for &name in names {
        match graph.get(name) {
            Some(Value::Array(items)) => return Ok((name.to_owned(), items)),
            Some(_) => return fail(name, "must be an array"),
            None => {}
        }
    }
    fail("top level", format!("`{}` is missing: expected `nodes` and `links` (or `edges`)", names[0]))
}

/// Returns an id or name: a string unchanged, a number as written.
fn identity(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the kind of a node and the reason, which names the attribute that states the kind.
fn kind_in(node: &Map<String, Value>) -> (Option<NodeKind>, String) {
    let stated = ["kind", "type", "role"].iter().find_map(|&key| Some((key, node.get(key)?.as_str()?)));
    stated.map_or((None, String::new()), |(key, word)| (Some(kind_of(word)), reason_from(key, word)))
}

/// Node attributes that may name its layer.
const LABELS: [&str; 6] = ["kind", "type", "role", "group", "layer", "tier"];

const NODE_KEYS: [&str; 9] = ["id", "name", "kind", "type", "role", "group", "layer", "tier", "relay"];

/// `key` and `weight` are attributes of NetworkX's multigraphs and algorithms.
const LINK_KEYS: [&str; 10] =
    ["source", "target", "source_port", "target_port", "rate", "delay", "loss", "bit_error_rate", "key", "weight"];

const GRAPH_KEYS: [&str; 6] = ["directed", "multigraph", "graph", "nodes", "links", "edges"];

/// Graph attribute with the kind of the fabric (its generator), which [`write_node_link`] writes for human readers.
const KIND: &str = "kind";

/// Graph attribute with the server ports that are connected to two switches (dual ToR).
const SHARED_PORTS: &str = "shared_ports";

/// Reads a graph.
///
/// # Errors
/// [`FileError::Element`] with the location of a syntax error or the invalid element (`links[3].rate`);
/// [`FileError::Fabric`] if it is not a network.
pub fn read_node_link(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let graph: Value = serde_json::from_str(content.trim_start_matches('\u{feff}')).map_err(|error| {
        let location = format!("line {}, column {}", error.line(), error.column());
        FileError::Element { location, message: format!("not valid JSON: {error}") }
    })?;
    let Value::Object(graph) = &graph else {
        return fail("top level", "must be an object with `nodes` and `links` (or `edges`)");
    };
    if graph.get("directed").and_then(Value::as_bool) == Some(true) {
        return fail("directed", "must be false: a link here carries both directions (networkx: `to_undirected()`)");
    }
    let (_, nodes) = list(graph, &["nodes"])?;
    let (links_name, links) = list(graph, &["links", "edges"])?;
    let mut plain = ParsedTopology::default();
    let mut unread = BTreeSet::new();
    for (index, value) in nodes.iter().enumerate() {
        let location = format!("nodes[{index}]");
        let Value::Object(node) = value else { return fail(location, "must be an object with an `id`") };
        let Some(id) = identity(node.get("id")) else {
            return fail(location, "has no `id`: a text or a number that links refer to");
        };
        let name = identity(node.get("name")).unwrap_or_else(|| id.clone());
        let (kind, why) = kind_in(node);
        let word = |key: &str| match node.get(key)? {
            Value::String(text) => Some(text.clone()),
            // A number in `layer` is a layer, but a number in `group` is a colour for drawing.
            Value::Number(number) => Some(format!("{key} {number}")),
            _ => None,
        };
        let label = LABELS.iter().filter_map(|&key| word(key)).collect::<Vec<_>>().join(" ");
        unread.extend(node.keys().filter(|key| !NODE_KEYS.contains(&key.as_str())).map(|key| format!("nodes.{key}")));
        let tier = match node.get("tier") {
            None => None,
            Some(Value::String(text)) if text.parse::<u8>().is_err() => None,
            Some(value) => {
                let number = value.as_u64().and_then(|tier| u8::try_from(tier).ok());
                let number = number.or_else(|| value.as_str()?.parse().ok());
                Some(number.ok_or_else(|| FileError::Element {
                    location: format!("{location}.tier"),
                    message: "must be 0..255".to_owned(),
                })?)
            }
        };
        let relay = match node.get("relay") {
            None | Some(Value::Bool(false)) => false,
            Some(Value::Bool(true)) if kind == Some(NodeKind::Host) => true,
            Some(_) => return fail(format!("{location}.relay"), "must be true or false, and true only at a host"),
        };
        if !plain.add(ParsedNode { id: id.clone(), name, kind, why, tier, relay, label, ..ParsedNode::default() }) {
            return fail(location, format!("the id `{id}` occurs twice"));
        }
    }
    for (index, value) in links.iter().enumerate() {
        let location = format!("{links_name}[{index}]");
        let Value::Object(link) = value else {
            return fail(location, "must be an object with `source` and `target`");
        };
        let end = |key: &str| match identity(link.get(key)) {
            None => fail(&location, format!("has no `{key}`: the id of a node")),
            Some(id) => {
                let port = identity(link.get(&format!("{key}_port")));
                Ok((id, port.unwrap_or_default()))
            }
        };
        let (source, target) = (end("source")?, end("target")?);
        unread.extend(link.keys().filter(|key| !LINK_KEYS.contains(&key.as_str())).map(|key| format!("links.{key}")));
        let spec = link_spec(&location, link, options.link)?;
        if let Err(id) = plain.connect(&source, &target, spec) {
            let key = if id == source.0 { "source" } else { "target" };
            return fail(format!("{location}.{key}"), format!("`{id}` is not the id of a node"));
        }
    }
    unread.extend(graph.keys().filter(|key| !GRAPH_KEYS.contains(&key.as_str())).cloned());
    let attributes = graph.get("graph").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    unread.extend(attributes.filter(|key| *key != KIND && *key != SHARED_PORTS).map(|key| format!("graph.{key}")));
    if let Some(shared) = graph.get("graph").and_then(|attributes| attributes.get(SHARED_PORTS)) {
        let names: Option<Vec<String>> =
            shared.as_array().and_then(|list| list.iter().map(|name| Some(name.as_str()?.to_owned())).collect());
        let Some(names) = names else { return fail(format!("graph.{SHARED_PORTS}"), "must be a list of texts") };
        plain.decide(Subject::SharedPorts, shared_ports_text, names);
    }
    let text = |count| format!("{} not read", counted(count, "attribute"));
    plain.decide(Subject::Unread, text, unread.into_iter().collect());
    plain.assemble(options)
}

fn link_spec(location: &str, link: &Map<String, Value>, mut spec: LinkSpec) -> Result<LinkSpec, FileError> {
    fn quantity<T: FromStr<Err: Display>>(location: &str, key: &str, value: &Value) -> Result<T, FileError> {
        match value.as_str() {
            None => fail(format!("{location}.{key}"), "must be a text with a unit, like \"100Gbps\" or \"500ns\""),
            Some(text) => text.parse().or_else(|error: T::Err| fail(format!("{location}.{key}"), error.to_string())),
        }
    }
    if let Some(value) = link.get("rate") {
        spec.rate = quantity(location, "rate", value)?;
    }
    if let Some(value) = link.get("delay") {
        spec.delay = quantity(location, "delay", value)?;
    }
    for (key, field) in [("loss", &mut spec.loss), ("bit_error_rate", &mut spec.bit_error_rate)] {
        if let Some(value) = link.get(key) {
            match value.as_f64().filter(|value| (0.0..=1.0).contains(value)) {
                Some(value) => *field = value,
                None => return fail(format!("{location}.{key}"), "must be a number between 0 and 1"),
            }
        }
    }
    Ok(spec)
}

/// Writes a graph with all attributes, one node or link per line. [`read_node_link`] restores the fabric, ports
/// included.
pub fn write_node_link(fabric: &Fabric) -> String {
    debug_assert!(ports_follow_links(fabric));
    let parallel = fabric.node_ids().any(|node| {
        let mut peers: Vec<NodeId> = fabric.ports(node).iter().map(|port| port.peer).collect();
        peers.sort_unstable();
        peers.windows(2).any(|pair| pair[0] == pair[1])
    });
    let nodes = fabric.nodes().iter().map(|node| {
        let mut value = json!({ "id": node.name, "kind": node.kind, "tier": node.tier });
        if node.relay {
            value["relay"] = true.into();
        }
        value.to_string()
    });
    let mut seen: HashMap<(NodeId, NodeId), u32> = HashMap::new();
    let links: Vec<String> = (fabric.links().iter())
        .map(|link| {
            let (a, b) = (link.a.node, link.b.node);
            let mut value = json!({
                "source": fabric.name(a), "target": fabric.name(b),
                "rate": link.rate.to_string(), "delay": link.delay.to_string(),
            });
            for (key, end) in [("source_port", link.a), ("target_port", link.b)] {
                if let Some(name) = fabric.port_name(end.node, end.port) {
                    value[key] = name.into();
                }
            }
            for (key, number) in [("loss", link.loss), ("bit_error_rate", link.bit_error_rate)] {
                if number != 0.0 {
                    value[key] = number.into();
                }
            }
            if parallel {
                // NetworkX distinguishes parallel edges by key.
                let count = seen.entry((a.min(b), a.max(b))).or_insert(0);
                value["key"] = (*count).into();
                *count += 1;
            }
            value.to_string()
        })
        .collect();
    let nodes: Vec<String> = nodes.collect();
    let mut attributes = json!({ KIND: fabric.kind() });
    if fabric.has_shared_ports() {
        let shared = fabric.decisions().iter().filter(|decision| decision.subject == Subject::SharedPorts);
        attributes[SHARED_PORTS] = shared.flat_map(|decision| decision.names.clone()).collect::<Vec<String>>().into();
    }
    format!(
        "{{\"directed\": false, \"multigraph\": {parallel}, \"graph\": {},\n\"nodes\": [\n{}\n],\n\"links\": [\n{}\n\
         ]}}\n",
        attributes,
        nodes.join(",\n"),
        links.join(",\n")
    )
}
