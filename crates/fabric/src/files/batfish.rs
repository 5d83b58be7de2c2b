//! Batfish's `layer1_topology.json`: `{"edges": [{"node1": {"hostname": "leaf1", "interfaceName": "Ethernet1"},
//! "node2": {...}}]}`. An edge may appear once or in both directions. The files state neither rates, delays nor hosts.

use super::claims::Claims;
use super::error::FileError;
use super::plain::{Options, ParsedEnd, ParsedTopology, counted, fail};
use crate::{Fabric, Subject};
use serde_json::Value;
use std::collections::BTreeSet;

/// Reads a topology.
///
/// # Errors
/// [`FileError::Element`] with the location of a syntax error or the invalid element (`edges[3].node1`);
/// [`FileError::Fabric`] if it is not a network.
pub fn read_batfish(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let document: Value = serde_json::from_str(content).or_else(|error| {
        fail(format!("line {}, column {}", error.line(), error.column()), format!("not valid JSON: {error}"))
    })?;
    let Some(edges) = document.get("edges").and_then(Value::as_array) else {
        return fail("top level", "`edges` is missing: a list of objects with `node1` and `node2`");
    };
    let mut ends: Vec<(ParsedEnd, ParsedEnd)> = Vec::new();
    for (index, edge) in edges.iter().enumerate() {
        let end = |key: &str| {
            let text = |name| edge.get(key)?.get(name)?.as_str().map(str::to_owned);
            let location = || format!("edges[{index}].{key}");
            // Host names are case-insensitive in Batfish.
            text("hostname").map(|name| name.to_lowercase()).zip(text("interfaceName")).map_or_else(
                || fail(location(), "must be an object with `hostname` and `interfaceName`"),
                Ok::<ParsedEnd, FileError>,
            )
        };
        ends.push((end("node1")?, end("node2")?));
    }
    let mut claims = Claims::default();
    for (index, (a, b)) in ends.iter().enumerate() {
        claims.add(format!("edges[{index}]"), a, b);
    }
    claims.check()?;
    let mut plain = ParsedTopology::default();
    let mut known: BTreeSet<(&ParsedEnd, &ParsedEnd)> = BTreeSet::new();
    for (index, (a, b)) in ends.iter().enumerate() {
        if known.contains(&(a, b)) {
            continue;
        }
        plain.node_or_new(&a.0);
        plain.node_or_new(&b.0);
        plain.connect(a, b, options.link).or_else(|id| fail(format!("edges[{index}]"), format!("no `{id}`")))?;
        known.extend([(a, b), (b, a)]);
    }
    let keys = document.as_object().into_iter().flatten().map(|(key, _)| key);
    let of_edges = edges.iter().filter_map(Value::as_object).flatten().map(|(key, _)| key);
    let known = ["edges", "node1", "node2"];
    let unread: BTreeSet<&String> = keys.chain(of_edges).filter(|key| !known.contains(&key.as_str())).collect();
    let unread = unread.into_iter().cloned().collect();
    plain.decide(Subject::Unread, |count| format!("{} not read", counted(count, "unknown key")), unread);
    plain.assemble(options)
}
