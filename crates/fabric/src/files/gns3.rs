//! GNS3 projects (`.gns3`). `topology.nodes` and `topology.links` are read in both forms. In the current form, nodes
//! have `node_id`, `name` and `node_type`, and links have two `nodes` (`node_id`, `adapter_number`, `port_number`, and
//! the port name in `label.text`). In the form up to version 1, nodes have `id`, `label.text`, `type` and `ports`, and
//! links have `source_node_id`, `source_port_id`, `destination_node_id` and `destination_port_id`.
//!
//! A `vpcs` or `traceng` node is a host; `docker`, `qemu`, `virtualbox` and `vmware` nodes run servers or routers (see
//! `assemble`); clouds and NAT nodes are outside of the project and skipped; any other node is a switch. The files
//! state neither rates nor delays; the `filters` of a link, with which GNS3 delays or drops packets, are not read.

use super::error::FileError;
use super::plain::{Options, ParsedEnd, ParsedNode, ParsedTopology, counted, fail, reason_from};
use crate::decision::Subject;
use crate::names::visible;
use crate::{Fabric, NodeKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const OUTSIDE: [&str; 2] = ["cloud", "nat"];
const HOSTS: [&str; 2] = ["vpcs", "traceng"];
const MACHINES: [&str; 4] = ["docker", "qemu", "virtualbox", "vmware"];

/// Types of nodes that forward: emulated routers, and built-in devices.
const SWITCHES: [&str; 6] = ["dynamips", "iou", "ethernet_switch", "ethernet_hub", "frame_relay_switch", "atm_switch"];

/// Known keys at the top level of a project and in `topology`.
#[rustfmt::skip]
const KEYS: [&[&str]; 2] = [
    &["auto_close", "auto_open", "auto_start", "drawing_grid_size", "grid_size", "name", "project_id", "revision",
      "scene_height", "scene_width", "show_grid", "show_interface_labels", "show_layers", "snap_to_grid", "supplier",
      "topology", "type", "variables", "version", "zoom", "resources_type", "created_at", "created_by", "updated_at",
      "status", "path", "filename", "readme", "author", "description"],
    &["nodes", "links", "computes", "drawings", "servers", "notes", "ellipses", "rectangles", "images", "templates"],
];

/// Known keys of a link.
#[rustfmt::skip]
const LINK_KEYS: [&str; 14] = [
    "link_id", "nodes", "suspend", "link_style", "style", "link_type", "capture_file_name", "capture_file_path",
    "capture_compute_id", "capturing", "project_id", "markers", "id", "description",
];

/// Known keys of a node, in both forms. Keys with the id of an emulator (`qemu_id`) are also known.
#[rustfmt::skip]
const NODE_KEYS: [&str; 40] = [
    "name", "node_type", "type", "label", "ports", "properties", "project_id", "compute_id", "node_directory",
    "command_line", "console", "console_host", "console_type", "console_auto_start", "console_resolution",
    "console_http_port", "console_http_path", "aux", "aux_type", "status", "symbol", "default_symbol", "hover_symbol",
    "width", "height", "x", "y", "z", "locked", "tags", "port_name_format", "port_segment_size", "first_port_name",
    "custom_adapters", "linked_clone", "linked_base", "description", "layers", "id", "usage",
];

/// Known keys of a link of the form up to version 1.
const OLD_LINK_KEYS: [&str; 4] = ["source_node_id", "source_port_id", "destination_node_id", "destination_port_id"];

/// Returns the locations of keys that are not in `known`.
fn unknown_keys(location: &str, value: &Value, known: impl Fn(&str) -> bool) -> Vec<String> {
    let keys = value.as_object().into_iter().flatten().map(|(key, _)| key);
    let dot = if location.is_empty() { "" } else { "." };
    keys.filter(|key| !known(key)).map(|key| format!("{location}{dot}{key}")).collect()
}

/// Returns an id, which is a string or a number.
fn id_in(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn text_in<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// Returns id, name and type of a node.
fn described(node: &Value) -> Option<(String, &str, &str)> {
    let label = || node.get("label").and_then(|label| text_in(label, "text"));
    let id = id_in(node, "node_id").or_else(|| id_in(node, "id"))?;
    Some((id, text_in(node, "name").or_else(label)?, text_in(node, "node_type").or(text_in(node, "type"))?))
}

/// Returns the two ends of a link. For the form up to version 1, `ports` has the port names by node id and port id.
fn ends(link: &Value, ports: &BTreeMap<(String, String), String>) -> Option<(ParsedEnd, ParsedEnd)> {
    let old = |node: &str, port: &str| {
        let end = (id_in(link, node)?, id_in(link, port)?);
        let name = ports.get(&end).cloned().unwrap_or_default();
        Some((end.0, name))
    };
    let Some([a, b]) = link.get("nodes").and_then(Value::as_array).map(Vec::as_slice) else {
        let source = old("source_node_id", "source_port_id")?;
        return Some((source, old("destination_node_id", "destination_port_id")?));
    };
    let end = |end: &Value| -> Option<ParsedEnd> {
        let label = end.get("label").and_then(|label| text_in(label, "text")).filter(|text| !text.is_empty());
        let number = |key: &str| end.get(key).and_then(Value::as_u64);
        let numbers = || Some(format!("{}/{}", number("adapter_number")?, number("port_number")?));
        Some((id_in(end, "node_id")?, label.map(str::to_owned).or_else(numbers).unwrap_or_default()))
    };
    Some((end(a)?, end(b)?))
}

/// Reads a project.
///
/// # Errors
/// [`FileError::Element`] with the location of a syntax error or the invalid element (`topology.links[3]`);
/// [`FileError::Fabric`] if it is not a network.
pub fn read_gns3(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let document: Value = serde_json::from_str(content).or_else(|error| {
        fail(format!("line {}, column {}", error.line(), error.column()), format!("not valid JSON: {error}"))
    })?;
    let list = |key: &str| document.get("topology").and_then(|topology| topology.get(key)).and_then(Value::as_array);
    let mut unread = unknown_keys("", &document, |key| KEYS[0].contains(&key));
    if let Some(topology) = document.get("topology") {
        unread.extend(unknown_keys("topology", topology, |key| KEYS[1].contains(&key)));
    }
    let missing = |key: &str| match unread.is_empty() {
        true => fail(format!("topology.{key}"), "is missing"),
        false => fail(format!("topology.{key}"), format!("is missing, and not read: {}", visible(&unread.join(", ")))),
    };
    let Some(nodes) = list("nodes") else { return missing("nodes") };
    let Some(links) = list("links") else { return missing("links") };
    let mut plain = ParsedTopology::default();
    let (mut outside, mut unknown_kinds) = (Vec::new(), Vec::new());
    let mut outside_ids = BTreeSet::new();
    let mut ports = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let Some((id, name, kind)) = described(node) else {
            return fail(format!("topology.nodes[{index}]"), "must have `node_id`, `name` and `node_type`");
        };
        let is_known = |key: &str| key.ends_with("_id") || NODE_KEYS.contains(&key);
        unread.extend(unknown_keys(&format!("nodes[{index}]"), node, is_known));
        for port in node.get("ports").and_then(Value::as_array).into_iter().flatten() {
            if let (Some(port_id), Some(name)) = (id_in(port, "id"), text_in(port, "name")) {
                ports.insert((id.clone(), port_id), name.to_owned());
            }
        }
        let kind = kind.to_ascii_lowercase();
        if OUTSIDE.contains(&kind.as_str()) {
            outside.push(name.to_owned());
            outside_ids.insert(id);
            continue;
        }
        let may_forward = MACHINES.contains(&kind.as_str());
        let is_host = may_forward || HOSTS.contains(&kind.as_str());
        // In the form up to version 1 the type is a class name, such as `EthernetSwitch` or `C7200`, which is not
        // checked.
        let has_present_form = node.get("node_type").is_some();
        if !is_host && has_present_form && !SWITCHES.contains(&kind.as_str()) {
            unknown_kinds.push(format!("{name} ({kind})"));
        }
        let kind_of_node = Some(if is_host { NodeKind::Host } else { NodeKind::Switch });
        let (name, why) = (name.to_owned(), reason_from("node_type", &kind));
        if !plain.add(ParsedNode { id, name, kind: kind_of_node, why, may_forward, ..ParsedNode::default() }) {
            return fail(format!("topology.nodes[{index}].node_id"), "duplicate id");
        }
    }
    let mut suspended = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let location = format!("topology.links[{index}]");
        let is_empty = |key: &str| match link.get(key) {
            Some(Value::Object(of)) => of.is_empty(),
            value => value.is_none_or(Value::is_null),
        };
        let is_known = |key: &str| {
            let other = key == "filters" && is_empty(key);
            other || LINK_KEYS.contains(&key) || OLD_LINK_KEYS.contains(&key)
        };
        unread.extend(unknown_keys(&format!("links[{index}]"), link, is_known));
        if link.get("suspend") == Some(&Value::Bool(true)) {
            suspended.push(format!("links[{index}]"));
            continue;
        }
        let Some((a, b)) = ends(link, &ports) else {
            return fail(location, "must have `nodes`: two ends, each with a `node_id`");
        };
        if [&a, &b].iter().any(|end| outside_ids.contains(&end.0)) {
            continue;
        }
        plain.connect(&a, &b, options.link).or_else(|id| fail(location, format!("`{id}` is the id of no node")))?;
    }
    plain.decide(
        Subject::LeftOut,
        |count| format!("{} outside of the project left out", counted(count, "node")),
        outside,
    );
    plain.decide(Subject::LeftOut, |count| format!("{} left out", counted(count, "suspended link")), suspended);
    let text = |count| match count {
        1 => "1 node of an unknown type is a switch".to_owned(),
        _ => format!("{count} nodes of unknown types are switches"),
    };
    plain.decide(Subject::Roles, text, unknown_kinds);
    plain.decide(Subject::Unread, |count| format!("{} not read", counted(count, "key")), unread);
    plain.assemble(options)
}
