//! netlab topologies (`topology.yml`): `nodes` as a list of names or a map, `links` in the forms of netlab (`r1-r2`,
//! `[r1, r2]`, `{r1: ..., r2: ...}`, `{interfaces: [{node: r1}, {node: r2}]}`), also in groups (`members`), in
//! aggregated links (`lag: {members}`), and in the `links` of a VLAN or VRF. `links` is a list or a map of lists. Keys
//! may be hierarchical: `defaults.device` is `device` in `defaults`.
//!
//! A node with `role: host`, or with the device `linux` and no other role, is a host; any other node is a switch.
//! `role`, `device` and `group` may name a layer. A link with one node is a stub and is skipped; a link with three or
//! more becomes a bridge between them. The attribute `ifname` of an interface names its port. The files state neither
//! rates nor delays.

use super::error::FileError;
use super::plain::{Options, ParsedNode, ParsedTopology, counted, fail, named_like_a_host, reason_from};
use super::yaml;
use crate::decision::Subject;
use crate::{Fabric, NodeKind};
use yaml_rust2::Yaml;

/// Attributes of links, from netlab and its modules.
#[rustfmt::skip]
const LINK_KEYS: [&str; 43] = [
    "interfaces", "prefix", "type", "mtu", "name", "role", "group", "vlan", "vrf", "bgp", "ospf", "isis",
    "eigrp", "rip", "ripv2", "babel", "mpls", "ldp", "dhcp", "gateway", "pool", "unnumbered", "ipv4", "ipv6",
    "linkindex", "shutdown", "stp", "lag", "evpn", "vxlan", "sr", "srv6", "bfd", "disable", "graph", "clab", "libvirt",
    "bridge", "ra", "routing", "tc", "pim", "firewall",
];

/// Blocks of a topology that define neither nodes nor links: settings, and defaults of configuration modules.
#[rustfmt::skip]
const BLOCKS: [&str; 51] = [
    "defaults", "nodes", "links", "groups", "vlans", "vrfs", "addressing", "module", "plugin", "prefix", "tools",
    "validate", "provider", "message", "name", "version", "bgp", "ospf", "isis", "eigrp", "rip", "ripv2", "babel",
    "mpls", "ldp", "dhcp", "gateway", "vlan", "vrf", "vxlan", "evpn", "sr", "srv6", "stp", "lag", "bfd", "ra",
    "routing", "pim", "firewall", "libvirt", "clab", "external", "mgmt", "pools", "graph", "files", "config",
    "configlets", "multilab", "_merge",
];

/// Known attributes of nodes, from netlab and its modules, except `include` and `clone`, which generate further nodes.
#[rustfmt::skip]
const NODE_KEYS: [&str; 57] = [
    "name", "interfaces", "module", "device", "box", "image", "id", "config", "group", "groups", "role", "mgmt", "mtu",
    "loopback", "provider", "cpu", "memory", "unmanaged", "hostname", "af", "ipv4", "ipv6", "vlans", "vrfs", "vlan",
    "vrf", "bgp", "ospf", "isis", "eigrp", "rip", "ripv2", "babel", "mpls", "ldp", "dhcp", "gateway", "evpn", "vxlan",
    "sr", "srv6", "bfd", "stp", "lag", "routing", "pim", "firewall", "ra", "clab", "libvirt", "graph", "tools", "files",
    "configlets", "external", "_daemon", "_daemon_parent",
];

/// Returns the value at a path of keys. A file may also write the path as one key with dots.
fn at<'y>(table: &'y Yaml, path: &[&str]) -> &'y Yaml {
    let found = (1..=path.len()).rev().map(|end| match yaml::get(table, &path[..end].join(".")) {
        value if end == path.len() => value,
        value => at(value, &path[end..]),
    });
    found.into_iter().find(|value| !value.is_badvalue()).unwrap_or(&Yaml::BadValue)
}

/// Returns the blocks that are not read although they may define nodes or links.
fn unread_blocks(document: &Yaml) -> Vec<String> {
    let keys = yaml::entries(document).into_iter().filter_map(|(key, _)| text(key));
    let is_known = |key: &str| BLOCKS.contains(&key.split('.').next().unwrap_or_default());
    keys.filter(|key| !is_known(key)).collect()
}

/// Returns all links of a topology with their locations.
fn all_links(document: &Yaml) -> Result<Vec<(String, &Yaml)>, FileError> {
    let mut found = links("links", yaml::get(document, "links"))?;
    for block in ["vlans", "vrfs"] {
        for (name, value) in yaml::entries(yaml::get(document, block)) {
            let name = text(name).unwrap_or_default();
            found.extend(links(&format!("{block}.{name}.links"), yaml::get(value, "links"))?);
        }
        // The path `vlans.red.links` may also be written as one key.
        for (key, value) in yaml::entries(document) {
            let Some(key) = text(key).filter(|key| key.starts_with(&format!("{block}."))) else { continue };
            match key.ends_with(".links") {
                true => found.extend(links(&key, value)?),
                false => found.extend(links(&format!("{key}.links"), yaml::get(value, "links"))?),
            }
        }
    }
    Ok(found)
}

/// Reads a topology.
///
/// # Errors
/// [`FileError::Element`] with the position of a syntax error or invalid element (`links[3]`); [`FileError::Fabric`]
/// if it is not a network.
pub fn read_netlab(content: &str, options: &Options) -> Result<Fabric, FileError> {
    let document = yaml::read(content)?;
    let default = text(at(&document, &["defaults", "device"]));
    let mut plain = ParsedTopology::default();
    let mut unread = unread_blocks(&document);
    for (name, node) in nodes(&document)? {
        let keys = yaml::entries(node).into_iter().filter_map(|(key, _)| text(key));
        let is_known = |key: &str| NODE_KEYS.contains(&key.split('.').next().unwrap_or_default());
        unread.extend(keys.filter(|key| !is_known(key)).map(|key| format!("nodes.{name}.{key}")));
        let node = described(&document, &name, node, default.as_deref());
        if !plain.add(node) {
            return fail("nodes", format!("duplicate node `{name}`"));
        }
    }
    let links = all_links(&document)?;
    let (mut stubs, mut bridges, mut disabled) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (location, link)) in links.into_iter().enumerate() {
        let ends = ends(link, &plain);
        if let Yaml::Hash(_) = link {
            let keys = yaml::entries(link).into_iter().filter_map(|(key, _)| text(key));
            // `bgp.role` is an attribute of a netlab module, so only the part before the dot is compared.
            let is_known = |key: &str| plain.has(key) || LINK_KEYS.contains(&key.split('.').next().unwrap_or_default());
            unread.extend(keys.filter(|key| !is_known(key)).map(|key| format!("{location}.{key}")));
        }
        if ends.is_empty() {
            return fail(location, "names no node: write `r1-r2`, [r1, r2] or {r1: , r2: }");
        }
        if let Some((unknown, _)) = ends.iter().find(|(node, _)| !plain.has(node)) {
            return fail(location, format!("`{unknown}` is no node"));
        }
        if let Yaml::Boolean(true) = yaml::get(link, "disable") {
            disabled.push(ends.iter().map(|(node, _)| node.as_str()).collect::<Vec<_>>().join("-"));
            continue;
        }
        match ends.as_slice() {
            [(node, _)] => stubs.push(node.clone()),
            [a, b] => {
                plain.connect(a, b, options.link).or_else(|id| fail(location, format!("`{id}` is no node")))?;
            }
            several => {
                let name = format!("bridge-{}", index + 1);
                let (kind, why) = (Some(NodeKind::Switch), format!("a link of {} nodes", several.len()));
                if !plain.add(ParsedNode { id: name.clone(), name: name.clone(), kind, why, ..ParsedNode::default() }) {
                    return fail(location, format!("a node is called `{name}`, the name of the bridge of this link"));
                }
                bridges.push(name.clone());
                for end in several {
                    plain
                        .connect(end, &(name.clone(), String::new()), options.link)
                        .or_else(|id| fail(&location, format!("`{id}` is no node")))?;
                }
            }
        }
    }
    plain.decide(
        Subject::Roles,
        |count| match count {
            1 => "1 link of three or more nodes is a bridge".to_owned(),
            _ => format!("{count} links of three or more nodes are bridges"),
        },
        bridges,
    );
    plain.decide(Subject::LeftOut, |count| format!("{} of one node left out", counted(count, "link")), stubs);
    plain.decide(Subject::LeftOut, |count| format!("{} with `disable` left out", counted(count, "link")), disabled);
    plain.decide(Subject::Unread, |count| format!("{} not read", counted(count, "unknown key")), unread);
    plain.assemble(options)
}

fn text(value: &Yaml) -> Option<String> {
    match value {
        Yaml::String(text) | Yaml::Real(text) => Some(text.clone()),
        Yaml::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

fn device(value: &Yaml) -> Option<String> {
    text(yaml::get(value, "device"))
}

/// Returns links with their locations, including the links in groups and aggregated links.
fn links<'y>(location: &str, value: &'y Yaml) -> Result<Vec<(String, &'y Yaml)>, FileError> {
    let mut found = Vec::new();
    let items = match value {
        Yaml::Array(items) => items,
        Yaml::BadValue | Yaml::Null => return Ok(found),
        Yaml::Hash(_) => {
            for (name, value) in yaml::entries(value) {
                found.extend(links(&format!("{location}.{}", text(name).unwrap_or_default()), value)?);
            }
            return Ok(found);
        }
        _ => return fail(location, "must be a list of links, or a map of such lists"),
    };
    for (index, link) in items.iter().enumerate() {
        let location = format!("{location}[{index}]");
        let of_lag = at(link, &["lag", "members"]);
        match (yaml::get(link, "members"), of_lag) {
            (Yaml::BadValue, Yaml::BadValue) => found.push((location, link)),
            (Yaml::BadValue, members) => found.extend(links(&format!("{location}.lag.members"), members)?),
            (members, _) => found.extend(links(&format!("{location}.members"), members)?),
        }
    }
    Ok(found)
}

/// Returns the names and attributes of all nodes.
fn nodes(document: &Yaml) -> Result<Vec<(String, &Yaml)>, FileError> {
    let named = |name: &Yaml| text(name).map_or_else(|| fail("nodes", "a node's name must be a text"), Ok);
    match yaml::get(document, "nodes") {
        Yaml::Array(nodes) => nodes
            .iter()
            .map(|node| match node {
                Yaml::Hash(_) => Ok((named(yaml::get(node, "name"))?, node)),
                name => Ok((named(name)?, &Yaml::Null)),
            })
            .collect(),
        map @ Yaml::Hash(_) => yaml::entries(map).into_iter().map(|(name, node)| Ok((named(name)?, node))).collect(),
        _ if !yaml::get(document, "fabric").is_badvalue() => {
            let help = "read the expanded topology, which `netlab create -o yaml` writes";
            fail("fabric", format!("netlab's plugin makes nodes and links of this block, which is not read: {help}"))
        }
        _ => fail("nodes", "is missing: a list of names, or a map"),
    }
}

fn described(document: &Yaml, name: &str, node: &Yaml, default: Option<&str>) -> ParsedNode {
    let groups = yaml::entries(yaml::get(document, "groups"));
    let is_member = |group: &Yaml| {
        // A group is a map with the key `members`, or a list of members.
        let members = group.as_vec().or_else(|| yaml::get(group, "members").as_vec());
        members.is_some_and(|all| all.iter().any(|one| text(one).as_deref() == Some(name)))
    };
    let of_group = groups.iter().find(|(_, group)| is_member(group));
    let group_name = of_group.and_then(|(group, _)| text(group)).or_else(|| text(yaml::get(node, "group")));
    let own_device = device(node).or_else(|| device(of_group?.1));
    let device = own_device.clone().or_else(|| default.map(str::to_owned)).unwrap_or_default();
    let role = text(yaml::get(node, "role")).or_else(|| text(yaml::get(of_group?.1, "role")));
    let (kind, why, may_forward) = match (role.as_deref(), device.as_str()) {
        (Some("host"), _) => (NodeKind::Host, reason_from("role", "host"), false),
        (Some(role), _) => (NodeKind::Switch, reason_from("role", role), false),
        (None, "linux") => (NodeKind::Host, reason_from("device", "linux"), true),
        (None, "") => (NodeKind::Switch, "no role of a host".to_owned(), false),
        // The default device applies only to nodes that do not otherwise indicate their kind.
        (None, _) if own_device.is_none() && named_like_a_host(name) => {
            (NodeKind::Host, "named like a host".to_owned(), false)
        }
        (None, device) => (NodeKind::Switch, reason_from("device", device), false),
    };
    let label = [group_name.unwrap_or_default(), role.unwrap_or_default()].join(" ");
    ParsedNode {
        id: name.to_owned(),
        name: name.to_owned(),
        kind: Some(kind),
        why,
        label,
        may_forward,
        ..ParsedNode::default()
    }
}

/// Node at the end of a link, and the name of its port (`ifname`); empty if the file does not state it.
type End = (String, String);

/// Returns the ends of a link.
fn ends(link: &Yaml, plain: &ParsedTopology) -> Vec<End> {
    let unnamed = |node: String| (node, String::new());
    match link {
        Yaml::String(text) if plain.has(text) => vec![unnamed(text.clone())],
        Yaml::String(text) => text.split('-').map(|name| unnamed(name.trim().to_owned())).collect(),
        Yaml::Array(nodes) => nodes.iter().filter_map(end_of).collect(),
        Yaml::Hash(_) => match yaml::get(link, "interfaces") {
            Yaml::Array(nodes) => nodes.iter().filter_map(end_of).collect(),
            // Keys of a link that are not nodes are attributes.
            _ => yaml::entries(link)
                .into_iter()
                .filter_map(|(key, value)| Some((text(key)?, port_name(value))))
                .filter(|(node, _)| plain.has(node))
                .collect(),
        },
        _ => Vec::new(),
    }
}

/// Returns the node in a string, or in the `node` of a map, with its port.
fn end_of(value: &Yaml) -> Option<End> {
    Some((text(value).or_else(|| text(yaml::get(value, "node")))?, port_name(value)))
}

/// Returns the attribute `ifname` of an interface; empty if there is none.
fn port_name(interface: &Yaml) -> String {
    text(yaml::get(interface, "ifname")).unwrap_or_default()
}
