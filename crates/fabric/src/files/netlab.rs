//! netlab topologies (`topology.yml`): `nodes` as a list of names or a map, `links` in the forms of netlab (`r1-r2`,
//! `[r1, r2]`, `{r1: ..., r2: ...}`, `{interfaces: [{node: r1}, {node: r2}]}`), also in groups (`members`), in
//! aggregated links (`lag: {members}`), and in the `links` of a VLAN or VRF. `links` is a list or a map of lists. Keys
//! may be hierarchical: `defaults.device` is `device` in `defaults`.
//!
//! A node with `role: host`, or with the device `linux` and no other role, is a host; any other node is a switch.
//! `role`, `device` and `group` may name a layer. A link with one node is a stub and is skipped; a link with three or
//! more becomes a bridge between them. The attribute `ifname` of an interface names its port. `bandwidth` of a link, or
//! of a group of links, is its rate in kbps, the unit in which netlab configures interfaces. The files state no delays.
//!
//! A key of a link that is neither a node nor an attribute is an error if its value is that of an interface, a map or
//! nothing. `defaults.attributes` declares attributes of links and interfaces of the user's own.

use super::error::FileError;
use super::plain::{Options, ParsedNode, ParsedTopology, counted, fail, named_like_a_host, reason_from};
use super::yaml;
use crate::decision::Subject;
use crate::{Fabric, NodeKind};
use units::Rate;
use yaml_rust2::Yaml;

/// Attributes of links, from netlab and its modules.
#[rustfmt::skip]
const LINK_KEYS: [&str; 48] = [
    "interfaces", "prefix", "type", "mtu", "name", "role", "group", "vlan", "vrf", "bgp", "ospf", "isis",
    "eigrp", "rip", "ripv2", "babel", "mpls", "ldp", "dhcp", "gateway", "pool", "unnumbered", "ipv4", "ipv6",
    "linkindex", "shutdown", "stp", "lag", "evpn", "vxlan", "sr", "srv6", "bfd", "disable", "graph", "clab", "libvirt",
    "bridge", "ra", "routing", "tc", "pim", "firewall", "bandwidth", "vlan_name", "parentindex", "tunnel", "provider",
];

/// Attributes of interfaces that are none of links.
const INTERFACE_KEYS: [&str; 4] = ["node", "ifname", "ifindex", "mac"];

/// Attributes of links that are none of interfaces, or that are read only at the link.
const ONLY_OF_LINKS: [&str; 4] = ["interfaces", "bandwidth", "disable", "prefix"];

/// The ends of a link in expanded topologies of old releases, beside the nodes.
const OLD_ENDS: [&str; 2] = ["left", "right"];

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

/// Returns whether the user declares an attribute of this kind, `link` or `interface`, in `defaults.attributes`, or in
/// the `defaults.link_attr` of old releases.
fn is_declared(document: &Yaml, kind: &str, key: &str) -> bool {
    let declared = at(document, &["defaults", "attributes", kind]);
    let old = at(document, &["defaults", "link_attr"]);
    let names = declared.as_vec().into_iter().chain(old.as_vec()).flatten().filter_map(text);
    let names = names.chain(yaml::entries(declared).into_iter().filter_map(|(name, _)| text(name)));
    let first = key.split('.').next().unwrap_or_default();
    names.chain(yaml::entries(old).into_iter().filter_map(|(name, _)| text(name))).any(|name| name == first)
}

/// Returns the unknown attributes of the interfaces of a link, with their locations.
fn unknown_of_interfaces(document: &Yaml, location: &str, link: &Yaml, plain: &ParsedTopology) -> Vec<String> {
    let listed = |location: &str, all: &'_ [Yaml]| -> Vec<(String, Yaml)> {
        all.iter().enumerate().map(|(at, one)| (format!("{location}[{at}]"), one.clone())).collect()
    };
    let interfaces = match (link, yaml::get(link, "interfaces")) {
        (Yaml::Array(all), _) => listed(location, all),
        (_, Yaml::Array(all)) => listed(&format!("{location}.interfaces"), all),
        _ => {
            let of_nodes = yaml::entries(link).into_iter().filter_map(|(key, value)| Some((text(key)?, value)));
            let of_nodes = of_nodes.filter(|(key, _)| plain.has(key));
            of_nodes.map(|(key, value)| (format!("{location}.{key}"), value.clone())).collect()
        }
    };
    let is_known = |key: &str| {
        let first = key.split('.').next().unwrap_or_default();
        let of_netlab = INTERFACE_KEYS.contains(&first) || LINK_KEYS.contains(&first);
        (of_netlab && !ONLY_OF_LINKS.contains(&first))
            || first.starts_with('_')
            || ["link", "interface"].iter().any(|kind| is_declared(document, kind, key))
    };
    let unknown = interfaces.iter().flat_map(|(location, interface)| {
        let keys = yaml::entries(interface).into_iter().filter_map(|(key, _)| text(key));
        keys.filter(|key| !is_known(key)).map(move |key| format!("{location}.{key}"))
    });
    unknown.collect()
}

/// Returns the rate that a link or its group states.
fn rate_of(location: &str, link: &ParsedLinkText<'_>) -> Result<Option<Rate>, FileError> {
    let kbps = match (yaml::get(link.yaml, "bandwidth"), link.bandwidth) {
        (Yaml::BadValue | Yaml::Null, of_group) => of_group,
        (own, _) => Some(own),
    };
    let Some(value) = kbps else { return Ok(None) };
    let kbps = value.as_i64().and_then(|kbps| u64::try_from(kbps).ok()).and_then(|kbps| kbps.checked_mul(1_000));
    match kbps.and_then(Rate::from_bps) {
        Some(rate) => Ok(Some(rate)),
        None => fail(location, "`bandwidth` must be a number of kbps, like 100000000 for 100 Gbps"),
    }
}

/// A link of a file.
struct ParsedLinkText<'y> {
    location: String,
    yaml: &'y Yaml,
    /// `bandwidth` of the group that has the link as a member.
    bandwidth: Option<&'y Yaml>,
}

/// Returns all links of a topology. Adds the attributes of aggregated links that are not read to `unread`.
fn all_links<'y>(document: &'y Yaml, unread: &mut Vec<String>) -> Result<Vec<ParsedLinkText<'y>>, FileError> {
    let mut links = |location: &str, value: &'y Yaml| links(location, value, None, unread);
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
    let links = all_links(&document, &mut unread)?;
    let (mut stubs, mut bridges, mut disabled) = (Vec::new(), Vec::new(), Vec::new());
    for (index, parsed) in links.into_iter().enumerate() {
        let (location, link) = (parsed.location.clone(), parsed.yaml);
        let ends = ends(link, &plain);
        // `bgp.role` is an attribute of a netlab module, so only the part before the dot is compared.
        let is_known = |key: &str| {
            plain.has(key)
                || LINK_KEYS.contains(&key.split('.').next().unwrap_or_default())
                || key.starts_with('_')
                || is_declared(&document, "link", key)
        };
        for (key, value) in yaml::entries(link).into_iter().filter_map(|(key, value)| Some((text(key)?, value))) {
            if is_known(&key) {
                continue;
            }
            if matches!(value, Yaml::Hash(_) | Yaml::Null) && !OLD_ENDS.contains(&key.as_str()) {
                let declare = "an attribute of your own is declared in `defaults.attributes.link`";
                return fail(location, format!("`{key}` is no node, and no attribute of a link: {declare}"));
            }
            unread.push(format!("{location}.{key}"));
        }
        unread.extend(unknown_of_interfaces(&document, &location, link, &plain));
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
        let mut spec = options.link;
        spec.rate = rate_of(&location, &parsed)?.unwrap_or(spec.rate);
        match ends.as_slice() {
            [(node, _)] => stubs.push(node.clone()),
            [a, b] => {
                plain.connect(a, b, spec).or_else(|id| fail(location, format!("`{id}` is no node")))?;
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
                        .connect(end, &(name.clone(), String::new()), spec)
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

/// Returns the links in a list or map, including the links in groups and aggregated links. `bandwidth`: that of the
/// group.
fn links<'y>(
    location: &str,
    value: &'y Yaml,
    bandwidth: Option<&'y Yaml>,
    unread: &mut Vec<String>,
) -> Result<Vec<ParsedLinkText<'y>>, FileError> {
    let mut found = Vec::new();
    let items = match value {
        Yaml::Array(items) => items,
        Yaml::BadValue | Yaml::Null => return Ok(found),
        Yaml::Hash(_) => {
            for (name, value) in yaml::entries(value) {
                let location = format!("{location}.{}", text(name).unwrap_or_default());
                found.extend(links(&location, value, bandwidth, unread)?);
            }
            return Ok(found);
        }
        _ => return fail(location, "must be a list of links, or a map of such lists"),
    };
    for (index, link) in items.iter().enumerate() {
        let location = format!("{location}[{index}]");
        let of_lag = at(link, &["lag", "members"]);
        let own = Some(yaml::get(link, "bandwidth")).filter(|value| !value.is_badvalue());
        match (yaml::get(link, "members"), of_lag) {
            (Yaml::BadValue, Yaml::BadValue) => found.push(ParsedLinkText { location, yaml: link, bandwidth }),
            (Yaml::BadValue, members) => {
                // The bandwidth of an aggregated link is not that of its members.
                unread.extend(own.map(|_| format!("{location}.bandwidth")));
                found.extend(links(&format!("{location}.lag.members"), members, None, unread)?);
            }
            (members, _) => found.extend(links(&format!("{location}.members"), members, own.or(bandwidth), unread)?),
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
