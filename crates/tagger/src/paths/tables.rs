//! Paths from forwarding tables.
//!
//! Two formats are read: JSON routes, and `opensm.fdbs` as written by OpenSM. In JSON routes, `ports` may list several
//! ports (ECMP); paths through all of them are generated:
//!
//! ```json
//! { "format": "tidegate-routes", "version": 1,
//!   "routes": [ { "switch": "T1", "destination": "H5", "ports": [4, 5] } ] }
//! ```

use super::error::PathError;
use super::expand::{SwitchPath, record, show};
use super::path::Visitor;
use super::trees::Senders;
use crate::graph::TaggedGraph;
use crate::ports::Ports;
use fabric::{Fabric, NodeId, PortIndex};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Egress ports by switch and destination host.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routes {
    /// Egress ports (ascending) by destination and switch. The destination is the outer key because paths are generated
    /// one destination at a time.
    entries: BTreeMap<NodeId, BTreeMap<NodeId, Vec<PortIndex>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRoutes {
    format: String,
    version: u32,
    routes: Vec<RawRoute>,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRoute {
    switch: String,
    destination: String,
    ports: Vec<u64>,
}

impl Routes {
    /// Reads JSON routes.
    ///
    /// # Errors
    /// [`PathError::Element`] that names the invalid element.
    pub fn read_json(fabric: &Fabric, text: &str) -> Result<Routes, PathError> {
        let wrong = |location: String, message: String| PathError::Element { location, message };
        let raw: RawRoutes = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
            let message = error.to_string().split(" at line ").next().unwrap_or_default().to_owned();
            wrong(format!("line {}, column {}", error.line(), error.column()), message)
        })?;
        if raw.format != "tidegate-routes" || raw.version != 1 {
            let message = format!("`{}` version {}: expected `tidegate-routes` version 1", raw.format, raw.version);
            return Err(wrong("format".to_owned(), message));
        }
        let mut routes = Routes::default();
        for (index, route) in raw.routes.iter().enumerate() {
            let location = |key: &str| format!("routes[{index}].{key}");
            let find = |key: &str, name: &str| {
                let missing = || wrong(location(key), format!("the fabric has no node `{name}`"));
                fabric.find(name).ok_or_else(missing)
            };
            let switch = find("switch", &route.switch)?;
            if !fabric.node(switch).forwards() {
                return Err(wrong(location("switch"), format!("`{}` is a host that does not forward", route.switch)));
            }
            let destination = find("destination", &route.destination)?;
            if fabric.host_index(destination).is_none() {
                return Err(wrong(location("destination"), format!("`{}` is no host", route.destination)));
            }
            let ports = fabric.ports(switch).len();
            if route.ports.is_empty() {
                return Err(wrong(location("ports"), "no port: leave the route out if there is none".to_owned()));
            }
            if routes.entries.get(&destination).is_some_and(|entries| entries.contains_key(&switch)) {
                let message = format!(
                    "`{}` has a route to `{}` already: list all its ports in one",
                    route.switch, route.destination
                );
                return Err(wrong(format!("routes[{index}]"), message));
            }
            for (at, &port) in route.ports.iter().enumerate() {
                if route.ports[..at].contains(&port) {
                    return Err(wrong(location("ports"), format!("port {port} of `{}` occurs twice", route.switch)));
                }
                if port >= ports as u64 {
                    let message = format!("`{}` has no port {port}: it has {ports}, counted from 0", route.switch);
                    return Err(wrong(location("ports"), message));
                }
                routes.add(switch, destination, port as PortIndex);
            }
        }
        Ok(routes)
    }

    /// Reads an `opensm.fdbs`: blocks that start with `dump_ucast_routes: Switch 0x...` and have one line `0xLID : port
    /// : hops : optimal` per destination. `names` maps GUIDs and LIDs to nodes, and InfiniBand port numbers to ports.
    /// LIDs of switches and destinations without a path are skipped.
    ///
    /// # Errors
    /// [`PathError::Line`] for a switch or port that the fabric does not have.
    pub fn read_fdbs(fabric: &Fabric, text: &str, names: &SubnetNames) -> Result<Routes, PathError> {
        let mut routes = Routes::default();
        let mut switch = None;
        for (index, line) in text.lines().enumerate() {
            let wrong = |message: String| PathError::Line { line: index + 1, message };
            if let Some((_, rest)) = line.split_once("Switch 0x") {
                let digits: &str = rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
                let guid = u64::from_str_radix(digits, 16).map_err(|_| wrong(format!("`0x{digits}` is no GUID")))?;
                let unknown = || wrong(format!("no switch with GUID 0x{guid:016x} in the subnet's names"));
                switch = Some(*names.guids.get(&guid).ok_or_else(unknown)?);
                continue;
            }
            let mut fields = line.split(':').map(str::trim);
            let Some(lid) = fields.next().and_then(|text| text.strip_prefix("0x")) else { continue };
            let lid = u16::from_str_radix(lid, 16).map_err(|_| wrong(format!("`0x{lid}` is no LID")))?;
            let Some(Ok(number)) = fields.next().map(str::parse::<u16>) else { continue };
            let Some(switch) = switch else {
                return Err(wrong("a route before any `dump_ucast_routes: Switch`".to_owned()));
            };
            let Some(&destination) = names.lids.get(&lid).filter(|node| fabric.host_index(**node).is_some()) else {
                continue;
            };
            // Port 0 is the switch itself, port 255 means that there is no path.
            if number == 0 || number == 255 {
                continue;
            }
            let unknown = || wrong(format!("`{}` has no port {number} in the subnet's names", fabric.name(switch)));
            let port = *names.ports.get(&(switch, number)).ok_or_else(unknown)?;
            routes.add(switch, destination, port);
        }
        Ok(routes)
    }

    /// Adds an egress port of a switch for packets to a host.
    pub fn add(&mut self, switch: NodeId, destination: NodeId, port: PortIndex) {
        let ports = self.entries.entry(destination).or_default().entry(switch).or_default();
        if let Err(at) = ports.binary_search(&port) {
            ports.insert(at, port);
        }
    }

    pub(super) fn visit(&self, fabric: &Fabric, visitor: &mut Visitor) -> Result<(), PathError> {
        let ports = Ports::new(fabric);
        let mut out_ports = Vec::new();
        self.for_each(&ports, &mut |path| show(&ports, path, &mut out_ports, visitor))
    }

    pub(super) fn record(&self, graph: &mut TaggedGraph) -> Result<(), PathError> {
        let ports = graph.ports;
        // Hosts of one switch can have different routes: a packet to another host of the switch leaves by that host's
        // port.
        let mut senders = Senders::new(ports);
        self.for_each(ports, &mut |path| {
            record(graph, &mut senders, path);
            true
        })?;
        senders.finish(graph);
        Ok(())
    }

    /// Follows the tables from every switch with hosts, and from every relaying host, to every destination.
    fn for_each(&self, ports: &Ports, each: &mut dyn FnMut(&SwitchPath) -> bool) -> Result<(), PathError> {
        let fabric = ports.fabric;
        let senders = Senders::new(ports);
        let starts: Vec<u32> = (0..fabric.nodes().len() as u32)
            .filter(|&node| fabric.node(NodeId(node)).forwards())
            .filter(|&node| senders.at(ports, node) || fabric.host_index(NodeId(node)).is_some())
            .collect();
        for (&destination, table) in &self.entries {
            let mut walk = Walk { ports, table, destination, source: 0, nodes: Vec::new(), out: Vec::new() };
            for &start in starts.iter().filter(|&&start| start != destination.0) {
                walk.source = start;
                if !walk.extend(start, each)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

struct Walk<'a, 'f> {
    ports: &'a Ports<'f>,
    table: &'a BTreeMap<NodeId, Vec<PortIndex>>,
    destination: NodeId,
    source: u32,
    nodes: Vec<u32>,
    out: Vec<u32>,
}

impl Walk<'_, '_> {
    fn extend(&mut self, at: u32, each: &mut dyn FnMut(&SwitchPath) -> bool) -> Result<bool, PathError> {
        let fabric = self.ports.fabric;
        let name = |node: u32| fabric.name(NodeId(node)).to_owned();
        if self.nodes.contains(&at) {
            let (from, to) = (name(self.source), name(self.destination.0));
            return Err(PathError::Loop { from, to, at: name(at) });
        }
        if at == self.destination.0 {
            return Ok(each(&SwitchPath { source: self.source, out: &self.out, exits: &[] }));
        }
        let Some(choices) = self.table.get(&NodeId(at)) else {
            return Err(PathError::NoPath { from: name(at), to: name(self.destination.0) });
        };
        self.nodes.push(at);
        for &port in choices {
            let out = self.ports.first[at as usize] + u32::from(port);
            let far = self.ports.peer[out as usize];
            let node = self.ports.node[far as usize];
            let go_on = if self.ports.forwards(far) {
                self.out.push(out);
                let go_on = self.extend(node, each);
                self.out.pop();
                go_on?
            } else if node == self.destination.0 {
                each(&SwitchPath { source: self.source, out: &self.out, exits: &[out] })
            } else {
                let (from, to) = (name(at), name(self.destination.0));
                return Err(PathError::NoPath { from, to });
            };
            if !go_on {
                return Ok(false);
            }
        }
        self.nodes.pop();
        Ok(true)
    }
}

/// Mapping of the GUIDs, LIDs and port numbers of an InfiniBand subnet to nodes and ports of a fabric.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SubnetNames {
    guids: BTreeMap<u64, NodeId>,
    lids: BTreeMap<u16, NodeId>,
    ports: BTreeMap<(NodeId, u16), PortIndex>,
}

impl SubnetNames {
    /// Reads the output of `ibnetdiscover`. A node is matched by the description in quotes after `#`, or else by the
    /// node's own identifier. If several ports of a switch lead to the same node, they are matched with the ports of
    /// the fabric in ascending order.
    ///
    /// # Errors
    /// [`PathError::Line`] for a node or link that the fabric does not have.
    pub fn read_ibnetdiscover(fabric: &Fabric, text: &str) -> Result<SubnetNames, PathError> {
        let mut names = SubnetNames::default();
        let mut guid = None;
        let mut at: Option<NodeId> = None;
        let mut used: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = |message: String| PathError::Line { line: index + 1, message };
            let (before, comment) = line.split_once('#').unwrap_or((line, ""));
            let quoted = |text: &str, nth: usize| text.split('"').nth(2 * nth + 1).map(str::to_owned);
            let lid = |text: &str| {
                let mut words = text.split_whitespace().skip_while(|&word| word != "lid").skip(1);
                words.next().and_then(|word| word.parse::<u16>().ok())
            };
            let find = |identifier: Option<String>| {
                // The description of a host often has further text after its name: "H5 HCA-1".
                let described = quoted(comment, 0).unwrap_or_default();
                let word = described.split_whitespace().next().unwrap_or_default();
                let identifier = identifier.unwrap_or_default();
                let known = [described.as_str(), word, &identifier].into_iter().find_map(|name| fabric.find(name));
                let name = if described.is_empty() { &identifier } else { &described };
                known.ok_or_else(|| wrong(format!("the fabric has no node `{name}`")))
            };
            if let Some(rest) = before.strip_prefix("switchguid=0x").or_else(|| before.strip_prefix("caguid=0x")) {
                let digits = rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
                guid = u64::from_str_radix(digits, 16).ok();
            } else if before.starts_with("Switch") || before.starts_with("Ca") {
                let node = find(quoted(before, 0))?;
                at = Some(node);
                if let Some(guid) = guid.take() {
                    names.guids.insert(guid, node);
                }
                if let Some(lid) = lid(comment) {
                    names.lids.insert(lid, node);
                }
            } else if let (Some(node), Some(rest)) = (at, before.strip_prefix('[')) {
                let number: u16 = (rest.split(']').next().and_then(|number| number.parse().ok()))
                    .ok_or_else(|| wrong("expected `[port] \"node\"[port]`".to_owned()))?;
                let peer = find(quoted(before, 0))?;
                let nth = used.entry((node, peer)).or_default();
                let links = fabric.ports(node).iter().enumerate().filter(|(_, port)| port.peer == peer);
                let port = links.map(|(port, _)| port as PortIndex).nth(*nth);
                *nth += 1;
                let (here, there) = (fabric.name(node), fabric.name(peer));
                let port =
                    port.ok_or_else(|| wrong(format!("the fabric has no such link of `{here}` to `{there}`")))?;
                names.ports.insert((node, number), port);
                // The LID of a host is also stated at the links that lead to it.
                if fabric.host_index(peer).is_some()
                    && let Some(lid) = lid(comment)
                {
                    names.lids.insert(lid, peer);
                }
            }
        }
        Ok(names)
    }
}
