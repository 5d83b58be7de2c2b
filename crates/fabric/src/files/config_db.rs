//! SONiC's `config_db.json`: what each switch knows of its neighbours.
//!
//! One file describes one switch: its name (`DEVICE_METADATA.localhost.hostname`), its neighbours by port
//! (`DEVICE_NEIGHBOR`), their types (`DEVICE_NEIGHBOR_METADATA`, which give tiers: `ToRRouter` 1, `LeafRouter` 2,
//! `SpineRouter` 3, `UpperSpineRouter` 4; `Server` is a host), speeds in Mbps (`PORT`) and cable lengths in metres
//! (`CABLE_LENGTH`, at 5 ns a metre). A fabric is a list of such objects, or a folder of such files. A link that both
//! ends know counts once. Where the neighbour's own file is there, its `PORT` table says which ports it has; a file may
//! call them by their `alias`.

use super::error::FileError;
use super::plain::{Options, Plain, PlainEnd, fail, port_label, said_by};
use crate::names::visible;
use crate::{Fabric, Link, LinkSpec, NodeId, NodeKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use units::{Rate, Time};

/// Light in glass: 5 ns a metre.
const DELAY_PER_METRE: Time = Time::from_ns(5);

/// A longer cable than this is a typing error.
const MAX_METRES: u64 = 1_000_000;

/// The unit of `PORT.speed`, in bits a second.
const MBPS: u64 = 1_000_000;

type Object = Map<String, Value>;

fn table<'a>(switch: &'a Object, name: &str) -> Option<&'a Object> {
    switch.get(name).and_then(Value::as_object)
}

fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Reads one object, or a list of them.
///
/// # Errors
/// [`FileError::Element`] with the place of a syntax error or the element (`tor1.DEVICE_NEIGHBOR.Ethernet0`) that is
/// wrong, two switches that disagree about a cable among them; [`FileError::Fabric`] if it is no network.
pub fn read_config_db(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let value: Value = serde_json::from_str(content.trim_start_matches('\u{feff}')).or_else(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        fail(place, format!("not valid JSON: {error}"))
    })?;
    let switches = match value {
        Value::Array(switches) => switches,
        value => vec![value],
    };
    let mut plain = Plain::default();
    // What is known of each port: the port it is connected to, and who says so.
    let mut cables: BTreeMap<PlainEnd, PlainEnd> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, switch) in switches.iter().enumerate() {
        let Value::Object(switch) = switch else { return fail(format!("[{index}]"), "must be an object") };
        let localhost = table(switch, "DEVICE_METADATA").and_then(|metadata| table(metadata, "localhost"));
        let Some(localhost) = localhost else {
            return fail(format!("[{index}]"), "has no DEVICE_METADATA.localhost");
        };
        let Some(name) = text(localhost, "hostname") else {
            return fail(format!("[{index}].DEVICE_METADATA.localhost"), "has no hostname");
        };
        let node = plain.node_or_new(name);
        node.kind = Some(NodeKind::Switch);
        node.why = "has a config_db of its own".to_owned();
        node.tier = text(localhost, "type").and_then(tier_of).or(node.tier);
        found.push((name, switch));
    }
    let ports_of: BTreeMap<&str, &Object> =
        found.iter().filter_map(|(name, switch)| Some((*name, table(switch, "PORT")?))).collect();
    for (name, switch) in found {
        let metadata = table(switch, "DEVICE_NEIGHBOR_METADATA");
        let mut neighbors: Vec<(&String, &Value)> = table(switch, "DEVICE_NEIGHBOR").into_iter().flatten().collect();
        neighbors.sort_by_key(|(port, _)| natural(port));
        for (port, neighbor) in neighbors {
            let place = format!("{name}.DEVICE_NEIGHBOR.{port}");
            let Some(neighbor) = neighbor.as_object() else { return fail(place, "must be an object") };
            let (Some(peer), Some(peer_port)) = (text(neighbor, "name"), text(neighbor, "port")) else {
                return fail(place, "must have the `name` of the neighbour and its `port`");
            };
            let kind = metadata.and_then(|all| table(all, peer)).and_then(|one| text(one, "type"));
            let node = plain.node_or_new(peer);
            if let (None, Some(kind)) = (node.kind, kind) {
                node.kind = role_of(kind);
                node.why = node.kind.map_or(String::new(), |_| said_by("type", kind));
            }
            if node.kind == Some(NodeKind::Switch) {
                node.tier = node.tier.or(kind.and_then(tier_of));
            }
            let own =
                |node: &str, port: &str| own_name(&ports_of, node, port).map_or_else(|what| fail(&place, what), Ok);
            let (port, peer_port) = (&own(name, port)?, own(peer, peer_port)?);
            let (here, there) = ((name.to_owned(), port.clone()), (peer.to_owned(), peer_port.clone()));
            match cables.get(&here) {
                Some(known) if *known == there => continue, // its other end has told already
                Some(known) => {
                    return fail(
                        place,
                        format!("says {peer} {peer_port}, but {} {} says it is connected here", known.0, known.1),
                    );
                }
                None => {}
            }
            if let Some(known) = cables.insert(there.clone(), here.clone()) {
                let (other, other_port) = known;
                return fail(place, format!("{peer} {peer_port} is connected to {other} {other_port} already"));
            }
            cables.insert(here.clone(), there.clone());
            let spec = spec(switch, name, port, options.link)?;
            // Both ends exist by now.
            plain.connect(&here, &there, spec).or_else(|id| fail(place, format!("`{id}` is no node")))?;
        }
    }
    plain.assemble(options)
}

/// What a switch itself calls a port that a file names: by its name, or by its alias.
fn own_name(ports_of: &BTreeMap<&str, &Object>, node: &str, port: &str) -> Result<String, String> {
    let Some(ports) = ports_of.get(node) else { return Ok(port.to_owned()) };
    if ports.contains_key(port) {
        return Ok(port.to_owned());
    }
    let called = |value: &Value| value.as_object().and_then(|one| text(one, "alias")) == Some(port);
    let mut named = ports.iter().filter(|(_, value)| called(value)).map(|(name, _)| name);
    match (named.next(), named.next()) {
        (Some(name), None) => Ok(name.clone()),
        (Some(name), Some(other)) => Err(format!("`{port}` is the alias of both {name} and {other} of {node}")),
        (None, _) => Err(format!("{node} has no port `{}`: its file lists the ports in PORT", visible(port))),
    }
}

/// What a neighbour of this type is: `Server` and its kin are hosts, what has a tier is a switch.
fn role_of(kind: &str) -> Option<NodeKind> {
    match kind.to_ascii_lowercase().ends_with("server") {
        true => Some(NodeKind::Host),
        false => tier_of(kind).map(|_| NodeKind::Switch),
    }
}

/// The height of `ToRRouter`, `BackEndToRRouter`, `LeafRouter`, `SpineRouter`, `UpperSpineRouter` ...
fn tier_of(kind: &str) -> Option<u8> {
    let kind = kind.to_ascii_lowercase();
    // "tor" alone is also a part of "storage" and "monitor".
    let tiers = [("torrouter", 1), ("leaf", 2), ("upperspine", 4), ("spine", 3)];
    let known = tiers.iter().find(|(word, _)| kind.contains(word)).map(|(_, tier)| *tier);
    known.or((kind == "tor").then_some(1))
}

/// Orders Ethernet4 before Ethernet12.
fn natural(name: &str) -> (String, u64, String) {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (letters.to_owned(), name[letters.len()..].parse().unwrap_or(0), name.to_owned())
}

fn spec(switch: &Object, name: &str, port: &str, default: LinkSpec) -> Result<LinkSpec, FileError> {
    let mut spec = default;
    if let Some(speed) = table(switch, "PORT").and_then(|ports| table(ports, port)).and_then(|port| port.get("speed")) {
        let mbps = speed.as_u64().or_else(|| speed.as_str()?.parse().ok());
        match mbps.and_then(|mbps| Rate::from_bps(mbps.checked_mul(MBPS)?)) {
            Some(rate) => spec.rate = rate,
            None => return fail(format!("{name}.PORT.{port}.speed"), "must be a number of Mbps, like \"100000\""),
        }
    }
    let lengths = table(switch, "CABLE_LENGTH").into_iter().flat_map(|profiles| profiles.values());
    if let Some(length) = lengths.filter_map(Value::as_object).find_map(|profile| text(profile, port)) {
        let metres = length.strip_suffix('m').and_then(|metres| metres.trim().parse::<u64>().ok());
        match metres.filter(|&metres| metres <= MAX_METRES) {
            // 0m is SONiC's word for a port without a cable.
            Some(0) => {}
            Some(metres) => spec.delay = DELAY_PER_METRE * metres,
            None => return fail(format!("{name}.CABLE_LENGTH.{port}"), "must be a length like \"40m\""),
        }
    }
    Ok(spec)
}

/// One file a switch: its name, and its `config_db.json` as far as it tells the fabric. Ports that have no name are
/// called `Ethernet<4 * number>`, those of hosts `eth<number>`.
///
/// # Errors
/// [`FileError::NotExpressible`] for a name with a `|`, which separates the parts of a key in SONiC's database; for a
/// link between two hosts, slower than 1 Mbps, or longer than a reader believes.
pub fn write_config_db(fabric: &Fabric) -> Result<Vec<(String, String)>, FileError> {
    let ports = fabric
        .node_ids()
        .flat_map(|node| (0..fabric.ports(node).len() as u16).filter_map(move |port| fabric.port_name(node, port)));
    let mut names = fabric.nodes().iter().map(|node| node.name.as_str()).chain(ports);
    if let Some(name) = names.find(|name| name.contains('|')) {
        return Err(FileError::NotExpressible { what: format!("the name `{name}`, which has a `|`") });
    }
    fabric.links().iter().try_for_each(|link| expressible(fabric, link))?;
    let kind = |node: NodeId| match fabric.node(node) {
        crate::Node { kind: NodeKind::Host, .. } => "Server",
        node => ["ToRRouter", "LeafRouter", "SpineRouter"][usize::from(node.tier.clamp(1, 3)) - 1],
    };
    let label = |node: NodeId, port: u16| {
        let host = fabric.node(node).kind == NodeKind::Host;
        port_label(fabric, node, port, |port| {
            if host { format!("eth{port}") } else { format!("Ethernet{}", u32::from(port) * 4) }
        })
    };
    let file = |switch: NodeId| {
        let (mut neighbors, mut metadata) = (Object::new(), Object::new());
        let (mut ports, mut lengths) = (Object::new(), Object::new());
        for (number, port) in fabric.ports(switch).iter().enumerate() {
            let (name, peer) = (label(switch, number as u16), fabric.name(port.peer));
            let link = fabric.link(port.link);
            neighbors.insert(name.clone(), json!({ "name": peer, "port": label(port.peer, port.peer_port) }));
            metadata.insert(peer.to_owned(), json!({ "type": kind(port.peer) }));
            ports.insert(name.clone(), json!({ "speed": (link.rate.as_bps() / MBPS).to_string() }));
            lengths.insert(name, format!("{}m", metres(link)).into());
        }
        let file = json!({
            "DEVICE_METADATA": { "localhost": { "hostname": fabric.name(switch), "type": kind(switch) } },
            "DEVICE_NEIGHBOR": neighbors,
            "DEVICE_NEIGHBOR_METADATA": metadata,
            "PORT": ports,
            "CABLE_LENGTH": { "AZURE": lengths },
        });
        (fabric.name(switch).to_owned(), format!("{file:#}\n"))
    };
    Ok(fabric.switches().map(file).collect())
}

/// The cable as long as its delay, in whole metres.
fn metres(link: &Link) -> u64 {
    link.delay.as_ps().div_ceil(DELAY_PER_METRE.as_ps())
}

fn expressible(fabric: &Fabric, link: &Link) -> Result<(), FileError> {
    let ends = [link.a, link.b].map(|end| fabric.node(end.node));
    let why = match () {
        () if ends.iter().all(|node| node.kind == NodeKind::Host) => "only switches have files",
        () if link.rate.as_bps() < MBPS => "a speed is a number of Mbps",
        () if metres(link) > MAX_METRES => "no cable is longer than 1000 km, 5 ms",
        () => return Ok(()),
    };
    let what = format!(
        "the link of {} and {} between `{}` and `{}`: {why}",
        link.rate, link.delay, ends[0].name, ends[1].name
    );
    Err(FileError::NotExpressible { what })
}
