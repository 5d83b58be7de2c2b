//! GNS3 projects (`.gns3`): `topology.nodes` with `node_id`, `name` and `node_type`, `topology.links` with two
//! `nodes`, each with `node_id`, `adapter_number`, `port_number` and the name of the port as `label.text`.
//!
//! A `vpcs` or `traceng` node is a host; `docker`, `qemu`, `virtualbox` and `vmware` nodes run servers and routers
//! ([`assemble`](super::assemble)); clouds and NAT nodes are the machine outside of the project, and left out; any other
//! node is a switch. The files state neither rates nor delays.

use super::error::FileError;
use super::plain::{Options, Plain, PlainEnd, PlainNode, counted, fail, said_by};
use crate::decision::Subject;
use crate::{Fabric, NodeKind};
use serde_json::Value;
use std::collections::BTreeSet;

const OUTSIDE: [&str; 2] = ["cloud", "nat"];
const HOSTS: [&str; 2] = ["vpcs", "traceng"];
const MACHINES: [&str; 4] = ["docker", "qemu", "virtualbox", "vmware"];

/// Reads a project.
///
/// # Errors
/// [`FileError::Element`] with the place of a syntax error or the element (`topology.links[3]`) that is wrong;
/// [`FileError::Fabric`] if it is no network.
pub fn read_gns3(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let document: Value = serde_json::from_str(content).or_else(|error| {
        fail(format!("line {}, column {}", error.line(), error.column()), format!("not valid JSON: {error}"))
    })?;
    let list = |key: &str| document.get("topology").and_then(|topology| topology.get(key)).and_then(Value::as_array);
    let Some(nodes) = list("nodes") else { return fail("topology.nodes", "is missing") };
    let Some(links) = list("links") else { return fail("topology.links", "is missing") };
    let mut plain = Plain::default();
    let mut outside = Vec::new();
    let mut outside_ids = BTreeSet::new();
    for (index, node) in nodes.iter().enumerate() {
        let text = |key: &str| node.get(key).and_then(Value::as_str);
        let (Some(id), Some(name), Some(kind)) = (text("node_id"), text("name"), text("node_type")) else {
            return fail(format!("topology.nodes[{index}]"), "must have `node_id`, `name` and `node_type`");
        };
        if OUTSIDE.contains(&kind) {
            outside.push(name.to_owned());
            outside_ids.insert(id);
            continue;
        }
        let may_forward = MACHINES.contains(&kind);
        let is_host = may_forward || HOSTS.contains(&kind);
        let kind_of_node = Some(if is_host { NodeKind::Host } else { NodeKind::Switch });
        let (id, name, why) = (id.to_owned(), name.to_owned(), said_by("node_type", kind));
        if !plain.add(PlainNode { id, name, kind: kind_of_node, why, may_forward, ..PlainNode::default() }) {
            return fail(format!("topology.nodes[{index}].node_id"), "stands twice");
        }
    }
    for (index, link) in links.iter().enumerate() {
        let place = format!("topology.links[{index}]");
        let Some([a, b]) = link.get("nodes").and_then(Value::as_array).map(Vec::as_slice) else {
            return fail(place, "must have `nodes`: the two ends");
        };
        let end = |end: &Value| -> Option<PlainEnd> {
            let id = end.get("node_id")?.as_str()?.to_owned();
            let label = end.get("label").and_then(|label| label.get("text")?.as_str()).filter(|text| !text.is_empty());
            let number = |key: &str| end.get(key).and_then(Value::as_u64);
            let numbers = || Some(format!("{}/{}", number("adapter_number")?, number("port_number")?));
            Some((id, label.map(str::to_owned).or_else(numbers).unwrap_or_default()))
        };
        let (Some(a), Some(b)) = (end(a), end(b)) else { return fail(place, "each end must have a `node_id`") };
        if [&a, &b].iter().any(|end| outside_ids.contains(end.0.as_str())) {
            continue;
        }
        plain.connect(&a, &b, options.link).or_else(|id| fail(place, format!("`{id}` is the id of no node")))?;
    }
    plain.decide(
        Subject::LeftOut,
        |count| format!("{} outside of the project left out", counted(count, "node")),
        outside,
    );
    plain.assemble(options)
}
