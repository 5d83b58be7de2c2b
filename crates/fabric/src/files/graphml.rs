//! GraphML of NetworkX, Gephi and the Internet Topology Zoo.
//!
//! Attributes have the same meaning as in [node-link JSON](super::read_node_link). `label` is used as the name if no
//! two nodes share it, and the Zoo's `LinkSpeedRaw` (bits per second) as the rate. The port names are `sourceport` and
//! `targetport` of an edge, as in the standard.

use super::error::FileError;
use super::plain::{Options, ParsedNode, ParsedTopology, counted, fail, kind_of, reason_from};
use super::text::spec_of;
use crate::{Fabric, Subject};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

/// Attributes that [`write_graphml`] declares: key, element, type.
const KEYS: [(&str, &str, &str); 8] = [
    ("name", "node", "string"),
    ("kind", "node", "string"),
    ("tier", "node", "int"),
    ("relay", "node", "boolean"),
    ("rate", "edge", "string"),
    ("delay", "edge", "string"),
    ("loss", "edge", "double"),
    ("bit_error_rate", "edge", "double"),
];

/// Attributes that are read.
const READ: [&str; 14] = [
    "name",
    "label",
    "kind",
    "type",
    "role",
    "group",
    "layer",
    "tier",
    "relay",
    "rate",
    "delay",
    "loss",
    "bit_error_rate",
    "LinkSpeedRaw",
];

/// Maximum number of attributes per element. The XML parser compares each attribute with all previous ones.
const MAX_ATTRIBUTES: usize = 1_000;

/// Returns the line of the first element with more than `MAX_ATTRIBUTES` attributes. A `<` starts a new element.
fn overloaded(content: &str) -> Option<usize> {
    let bytes = content.as_bytes();
    let mut attributes = 0;
    for (at, pair) in bytes.windows(2).enumerate() {
        match pair {
            [b'<', _] => attributes = 0,
            [b'=', b'"' | b'\''] => attributes += 1,
            _ => {}
        }
        if attributes > MAX_ATTRIBUTES {
            return Some(1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count());
        }
    }
    None
}

fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// Reads a graph.
///
/// # Errors
/// [`FileError::Element`] with the position of a syntax error or invalid element (`edge 3`); [`FileError::Fabric`] if
/// it is not a network.
pub fn read_graphml(content: &str, options: &Options) -> Result<Fabric, FileError> {
    if let Some(line) = overloaded(content) {
        return fail(format!("line {line}"), format!("an element has more than {MAX_ATTRIBUTES} attributes"));
    }
    let document = Document::parse(content.trim_start_matches('\u{feff}')).or_else(|error| {
        let at = error.pos();
        fail(format!("line {}, column {}", at.row, at.col), format!("not valid XML: {error}"))
    })?;
    let root = document.root_element();
    let Some(graph) = children(root, "graph").next() else {
        return fail("top level", "must be <graphml> with a <graph>");
    };
    // GraphML refers to attributes by key ids (usually d0, d1 ...), which the `key` elements map to names.
    let keys: HashMap<&str, &str> = children(root, "key")
        .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name").or(key.attribute("id"))?)))
        .collect();
    let data = |element: Node<'_, '_>| -> BTreeMap<String, String> {
        let pairs = children(element, "data").filter_map(|data| {
            let key = data.attribute("key")?;
            let name = keys.get(key).copied().unwrap_or(key);
            Some((name.to_owned(), data.text().unwrap_or_default().trim().to_owned()))
        });
        pairs.filter(|(_, text)| !text.is_empty()).collect()
    };
    let mut labels = HashSet::new();
    let mut shared = HashSet::new();
    for node in children(graph, "node") {
        if let Some(label) = data(node).remove("label")
            && !labels.insert(label.clone())
        {
            shared.insert(label);
        }
    }
    let mut plain = ParsedTopology::default();
    let of_elements = children(root, "key").filter(|key| matches!(key.attribute("for"), Some("node" | "edge" | "all")));
    let unread: BTreeSet<String> = of_elements
        .filter_map(|key| key.attribute("attr.name").or(key.attribute("id")))
        .filter(|name| !READ.contains(name))
        .map(str::to_owned)
        .collect();
    plain.decide(
        Subject::Unread,
        |count| format!("{} not read", counted(count, "attribute")),
        unread.into_iter().collect(),
    );
    for (index, node) in children(graph, "node").enumerate() {
        let location = format!("node {index}");
        let Some(id) = node.attribute("id") else { return fail(location, "has no `id`") };
        let data = data(node);
        let label = data.get("label").filter(|label| !shared.contains(*label));
        let name = data.get("name").or(label).cloned().unwrap_or_else(|| id.to_owned());
        let stated = ["kind", "type", "role"].iter().find_map(|&key| Some((key, data.get(key)?)));
        // The Zoo's `type` of a node is the source of its map position, not its kind.
        let stated = stated.filter(|(_, word)| !word.contains(' '));
        let (kind, why) =
            stated.map_or((None, String::new()), |(key, word)| (Some(kind_of(word)), reason_from(key, word)));
        let tier = match data.get("tier").map(|text| (text, text.parse::<u8>())) {
            None => None,
            Some((_, Ok(tier))) => Some(tier),
            Some((text, Err(_))) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => None,
            Some(_) => return fail(format!("{location}.tier"), "must be 0..255"),
        };
        let words = ["kind", "type", "role", "group", "layer", "tier"].iter().filter_map(|&key| data.get(key).cloned());
        let label = words.filter(|word| !word.contains(' ')).collect::<Vec<_>>().join(" ");
        let relay = data.get("relay").is_some_and(|text| text.eq_ignore_ascii_case("true"));
        if !plain.add(ParsedNode { id: id.to_owned(), name, kind, why, tier, relay, label, ..ParsedNode::default() }) {
            return fail(location, format!("the id `{id}` occurs twice"));
        }
    }
    let directed = graph.attribute("edgedefault") == Some("directed");
    for (index, edge) in children(graph, "edge").enumerate() {
        let location = format!("edge {index}");
        if edge.attribute("directed").map_or(directed, |value| value == "true") {
            return fail(
                location,
                "is directed: a link here carries both directions; write edgedefault=\"undirected\" (networkx: \
                 `to_undirected()`)",
            );
        }
        let end = |key: &'static str, port: &'static str| match edge.attribute(key) {
            None => fail(&location, format!("has no `{key}`: the id of a node")),
            Some(id) => Ok((id.to_owned(), edge.attribute(port).unwrap_or_default().to_owned())),
        };
        let (source, target) = (end("source", "sourceport")?, end("target", "targetport")?);
        let data = data(edge);
        let raw_speed = || {
            let bps = data.get("LinkSpeedRaw")?.parse::<f64>().ok().filter(|bps| (1.0..1e18).contains(bps))?;
            Some(format!("{}bps", bps as u64))
        };
        let attribute = |key: &str| match key {
            "rate" => data.get("rate").cloned().or_else(raw_speed),
            key => data.get(key).cloned(),
        };
        let spec = spec_of(&location, attribute, options.link)?;
        if let Err(id) = plain.connect(&source, &target, spec) {
            return fail(location, format!("`{id}` is not the id of a node"));
        }
    }
    plain.assemble(options)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes a graph with all attributes. [`read_graphml`] restores the fabric including ports, except for the fabric's
/// kind and characters that XML cannot represent.
pub fn write_graphml(fabric: &Fabric) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (key, of, kind) in KEYS {
        let _ = writeln!(text, "  <key id=\"{key}\" for=\"{of}\" attr.name=\"{key}\" attr.type=\"{kind}\"/>");
    }
    text.push_str("  <graph edgedefault=\"undirected\">\n");
    for (index, node) in fabric.nodes().iter().enumerate() {
        let kind = if node.kind == crate::NodeKind::Host { "host" } else { "switch" };
        let relay = if node.relay { "<data key=\"relay\">true</data>" } else { "" };
        let (name, tier) = (escaped(&node.name), node.tier);
        let _ = writeln!(
            text,
            "    <node id=\"n{index}\"><data key=\"name\">{name}</data><data key=\"kind\">{kind}</data><data \
             key=\"tier\">{tier}</data>{relay}</node>"
        );
    }
    for link in fabric.links() {
        let port = |attribute: &str, end: crate::graph::End| {
            let name = fabric.port_name(end.node, end.port).map(escaped);
            name.map_or(String::new(), |name| format!(" {attribute}=\"{name}\""))
        };
        let number = |key: &str, value: f64| {
            if value == 0.0 { String::new() } else { format!("<data key=\"{key}\">{value}</data>") }
        };
        let _ = writeln!(
            text,
            "    <edge source=\"n{}\" target=\"n{}\"{}{}><data key=\"rate\">{}</data><data \
             key=\"delay\">{}</data>{}{}</edge>",
            link.a.node.0,
            link.b.node.0,
            port("sourceport", link.a),
            port("targetport", link.b),
            link.rate,
            link.delay,
            number("loss", link.loss),
            number("bit_error_rate", link.bit_error_rate),
        );
    }
    text.push_str("  </graph>\n</graphml>\n");
    text
}
