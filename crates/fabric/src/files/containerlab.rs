//! containerlab topologies: `topology: {nodes: {leaf1: {kind: ...}}, links: [{endpoints: ["leaf1:e1-1", ...]}]}`.
//!
//! The kind of a node determines its role: containers and virtual machines that run applications (`linux`,
//! `generic_vm`, `ext-container` and others) are hosts, all other kinds are switches. A `linux` node with a router
//! image is a switch, and other `linux` nodes may be switches (see `assemble`). The label `tidegate-kind: switch` (or
//! `host`) has precedence. As in containerlab, the kind is inherited from the node, its group, the group of the
//! `defaults`, or the `defaults`, in that order; the group from the node, its kind or the `defaults`; labels and image
//! from the node, its group, its kind or the `defaults`. Merge keys (`<<`) are followed. The group or the label `role`
//! may name the layer of a switch.
//!
//! Links are read in the brief form (`endpoints` as strings `node:interface`) and the extended one (`type: veth`, maps
//! with `node` and `interface`). Links that end outside of the lab (`type: host`, `mgmt-net`, `macvlan`, `dummy`,
//! `vxlan`) are skipped. The files state neither rates nor delays.

use super::error::FileError;
use super::plain::{Options, ParsedNode, ParsedTopology, counted, fail, port_label, reason_from};
use super::yaml;
use crate::decision::Subject;
use crate::{Fabric, NodeKind};
use std::fmt::Write as _;
use yaml_rust2::Yaml;

/// Node names that denote an endpoint outside of the lab in the brief form of a link.
const OUTSIDE: [&str; 7] = ["host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "veth-stitch", "dummy"];

/// Kinds that run applications, from the list of kinds in containerlab's manual.
const HOST_KINDS: [&str; 8] =
    ["linux", "host", "generic_vm", "ext-container", "k8s-kind", "ostinato", "keysight_ixia-c-one", "ixia-c-one"];

/// Kinds that forward, from the same list, with the former names.
#[rustfmt::skip]
const SWITCH_KINDS: [&str; 79] = [
    "nokia_srlinux", "srl", "nokia_sros", "nokia_srsim", "vr-sros", "vr-nokia_sros", "arista_ceos", "ceos",
    "arista_veos", "vr-veos", "vr-arista_veos", "juniper_crpd", "crpd", "juniper_vmx", "vr-vmx", "vr-juniper_vmx",
    "juniper_vqfx",
    "vr-vqfx", "vr-juniper_vqfx", "juniper_vsrx", "vr-vsrx", "vr-juniper_vsrx", "juniper_vjunosrouter",
    "juniper_vjunosswitch", "juniper_vjunosevolved", "juniper_cjunosevolved", "vr-vjunosrouter", "vr-vjunosswitch",
    "vr-vjunosevolved", "cisco_xrd", "xrd", "cisco_xrv", "vr-xrv", "vr-cisco_xrv", "cisco_xrv9k", "vr-xrv9k",
    "vr-cisco_xrv9k", "cisco_csr1000v", "vr-csr", "vr-cisco_csr1000v", "cisco_n9kv", "vr-n9kv", "vr-cisco_n9kv",
    "cisco_c8000", "cisco_c8000v", "vr-c8000v", "cisco_cat9kv", "vr-cat9kv", "cisco_iol", "cisco_vios", "cisco_ftdv",
    "cisco_asav", "cisco_sdwan", "cumulus_cvx", "cvx", "aruba_aoscx", "vr-aoscx", "vr-aruba_aoscx", "sonic-vs",
    "sonic-vm", "dell_ftosv", "vr-ftosv", "vr-dell_ftosv", "dell_sonic", "mikrotik_ros", "vr-ros", "vr-mikrotik_ros",
    "huawei_vrp", "ipinfusion_ocnos", "openbsd", "freebsd", "6wind_vsr", "rare", "openwrt", "arrcus_arcos", "fdio_vpp",
    "vyosnetworks_vyos", "bridge", "ovs-bridge",
];

/// Words in the names of images that forward: routing suites and network operating systems that run as `linux`.
#[rustfmt::skip]
const ROUTER_IMAGES: [&str; 14] = [
    "frr", "frrouting", "quagga", "bird", "vyos", "gobgp", "openbgpd", "cumulus", "cvx", "sonic", "dent", "openwrt",
    "mikrotik", "holo",
];

/// Label that overrides the kind of a node.
const LABEL: &str = "tidegate-kind";

/// Known keys at the top level of a file and in `topology`.
const KEYS: [&[&str]; 2] =
    [&["name", "prefix", "mgmt", "settings", "debug", "topology"], &["nodes", "links", "kinds", "defaults", "groups"]];

/// Known keys of a link.
const LINK_KEYS: [&str; 14] = [
    "endpoints",
    "endpoint",
    "type",
    "mtu",
    "vars",
    "labels",
    "host-interface",
    "mode",
    "remote",
    "vni",
    "udp-port",
    "dst-port",
    "src-port",
    "ipv4",
];

/// Known keys of nodes, kinds, groups and defaults, from containerlab's manual.
#[rustfmt::skip]
const NODE_KEYS: [&str; 58] = [
    "kind", "image", "image-pull-policy", "type", "group", "labels", "startup-config", "startup-delay",
    "enforce-startup-config", "suppress-startup-config", "auto-remove", "restart-policy", "exec", "binds", "devices",
    "cap-add", "ports", "env", "env-files", "user", "entrypoint", "cmd", "license", "mgmt-ipv4", "mgmt_ipv4",
    "mgmt-ipv6", "mgmt_ipv6", "network-mode", "runtime", "cpu", "cpu-set", "memory", "shm-size", "sandbox", "kernel",
    "extras", "config", "stages", "healthcheck", "aliases", "dns", "certificate", "components", "wait-for", "tmpfs",
    "sysctls", "credentials", "publish", "position", "pos", "link-apply-timeout", "restart", "version", "mtu", "vars",
    "privileged", "security-opt", "ulimits",
];

/// Reads a topology.
///
/// # Errors
/// [`FileError::Element`] with the position of a syntax error or invalid element (`links[3]`), or for a template that
/// is not filled in; [`FileError::Fabric`] if it is not a network.
pub fn read_containerlab(content: &str, options: &Options) -> Result<Fabric, FileError> {
    if let Some(error) = template(content) {
        return Err(error);
    }
    let document = yaml::read(content)?;
    let topology = yaml::get(&document, "topology");
    let nodes = yaml::entries(yaml::get(topology, "nodes"));
    if nodes.is_empty() {
        return fail("topology.nodes", "is missing: expected `topology:` with `nodes:` and `links:`");
    }
    let mut plain = ParsedTopology::default();
    let (mut unread, mut unknown_kinds) = (Vec::new(), Vec::new());
    for (value, known) in [&document, topology].into_iter().zip(KEYS) {
        unread.extend(unknown_keys(value, known));
    }
    for table in ["kinds", "groups"].map(|key| yaml::get(topology, key)) {
        unread.extend(yaml::entries(table).into_iter().flat_map(|(_, settings)| unknown_keys(settings, &NODE_KEYS)));
    }
    unread.extend(unknown_keys(yaml::get(topology, "defaults"), &NODE_KEYS));
    for (name, node) in nodes {
        unread.extend(unknown_keys(node, &NODE_KEYS));
        let Some(name) = scalar(name) else { return fail("topology.nodes", "a node's name must be a text") };
        let node = role(topology, &name, node)?;
        if node.why.starts_with("kind ") && !has_known_kind(&node) {
            unknown_kinds.push(format!("{name} ({})", node.why));
        }
        if !plain.add(node) {
            return fail("topology.nodes", format!("`{name}` occurs twice"));
        }
    }
    if plain.all_are_hosts() && plain.len() > 2 {
        let help = format!("give those that forward the label `{LABEL}: switch`, or another kind, like bridge");
        return fail("topology.nodes", format!("all are hosts by their kind, through which nothing passes: {help}"));
    }
    let none = Vec::new();
    let links = match yaml::get(topology, "links") {
        Yaml::Array(links) => links,
        Yaml::BadValue | Yaml::Null => &none,
        _ => return fail("topology.links", "must be a list"),
    };
    let mut outside = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let location = format!("topology.links[{index}]");
        unread.extend(unknown_keys(link, &LINK_KEYS));
        match ends(&location, link, &plain)? {
            None => outside.push(format!("links[{index}]")),
            Some((a, b)) => {
                if let Err(id) = plain.connect(&a, &b, options.link) {
                    return fail(location, format!("`{id}` is no node"));
                }
            }
        }
    }
    let text = |count| format!("{} outside of the lab left out", counted(count, "link"));
    plain.decide(Subject::LeftOut, text, outside);
    let text = |count| match count {
        1 => "1 node of an unknown kind is a switch".to_owned(),
        _ => format!("{count} nodes of unknown kinds are switches"),
    };
    plain.decide(Subject::Roles, text, unknown_kinds);
    unread.sort();
    unread.dedup();
    plain.decide(Subject::Unread, |count| format!("{} not read", counted(count, "unknown key")), unread);
    plain.assemble(options)
}

/// Returns whether the node, which has its role from its kind, has a kind of containerlab's manual.
fn has_known_kind(node: &ParsedNode) -> bool {
    SWITCH_KINDS.iter().chain(&HOST_KINDS).any(|kind| node.why == reason_from("kind", kind))
}

/// Returns the error for a template, which contains `{{ }}` or `{% %}`.
fn template(content: &str) -> Option<FileError> {
    let code = |line: &str| line.trim_start().starts_with('#');
    let line = content.lines().position(|line| !code(line) && is_template(line))?;
    let message = "a template: make the topology of it first".to_owned();
    Some(FileError::Element { location: format!("line {}", line + 1), message })
}

fn is_template(text: &str) -> bool {
    let has = |open, close| text.find(open).is_some_and(|at| text[at..].contains(close));
    has("{{", "}}") || has("{%", "%}")
}

/// Returns the keys of a map that are not in `known`.
fn unknown_keys(value: &Yaml, known: &[&str]) -> Vec<String> {
    let Yaml::Hash(map) = value else { return Vec::new() };
    let keys = map.iter().filter_map(|(key, _)| scalar(key));
    // `x-...` and `.name` define YAML anchors that other elements refer to, and `<<` merges such an anchor.
    let is_anchor = |key: &str| key.starts_with("x-") || key.starts_with(['.', '<']);
    keys.filter(|key| !known.contains(&key.as_str()) && !is_anchor(key)).collect()
}

/// Endpoint of a link: node and interface.
type Endpoint = (String, String);

/// Returns the two endpoints of a link; `None` if one endpoint is outside of the lab.
fn ends(location: &str, link: &Yaml, plain: &ParsedTopology) -> Result<Option<(Endpoint, Endpoint)>, FileError> {
    match yaml::get(link, "type").as_str() {
        None | Some("veth") => {}
        Some(kind) if OUTSIDE.contains(&kind) => return Ok(None),
        Some(kind) => {
            return fail(format!("{location}.type"), format!("`{kind}` is no type of link: veth, host, dummy ..."));
        }
    }
    let Some([a, b]) = yaml::get(link, "endpoints").as_vec().map(Vec::as_slice) else {
        return fail(location, "must have `endpoints`: two of them, like [\"leaf1:e1-1\", \"spine1:e1-1\"]");
    };
    let (a, b) = (endpoint(location, a)?, endpoint(location, b)?);
    let is_outside = |end: &Endpoint| OUTSIDE.contains(&end.0.as_str()) && !plain.has(&end.0);
    Ok((!is_outside(&a) && !is_outside(&b)).then_some((a, b)))
}

/// Returns `true` if the image name contains the name of a routing suite and no word for a tool of that suite.
fn is_router_image(image: &str) -> bool {
    let lower = image.to_ascii_lowercase();
    let repository = lower.rsplit_once(':').map_or(&lower[..], |(name, _)| name);
    let words: Vec<&str> = repository.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_tool = words.iter().any(|word| ["mgmt", "exporter", "test", "tests", "client"].contains(word));
    !is_tool && words.iter().any(|word| ROUTER_IMAGES.contains(word))
}

/// Returns a node with its kind and the reason for it.
fn role(topology: &Yaml, name: &str, node: &Yaml) -> Result<ParsedNode, FileError> {
    let (groups, kinds) = (yaml::get(topology, "groups"), yaml::get(topology, "kinds"));
    let defaults = yaml::get(topology, "defaults");
    let first = |locations: &[&Yaml], key: &str| locations.iter().find_map(|location| scalar(yaml::get(location, key)));
    let settings = |table, name: Option<String>| name.map_or(&Yaml::BadValue, |name| yaml::get(table, &name));
    let own_group = settings(groups, scalar(yaml::get(node, "group")));
    let default_group = settings(groups, scalar(yaml::get(defaults, "group")));
    let kind = first(&[node, own_group, default_group, defaults], "kind");
    let of_kind = settings(kinds, kind.clone());
    let group_name = first(&[node, of_kind, defaults], "group");
    let group = settings(groups, group_name.clone());
    let locations = [node, group, of_kind, defaults];
    let labelled =
        |label| locations.into_iter().find_map(|location| scalar(yaml::get(yaml::get(location, "labels"), label)));
    let image = first(&locations, "image").unwrap_or_default();
    let label = group_name.into_iter().chain(labelled("role")).collect::<Vec<_>>().join(" ");
    let found = ParsedNode { id: name.to_owned(), name: name.to_owned(), label, ..ParsedNode::default() };
    let with = |kind, why| Ok(ParsedNode { kind: Some(kind), why, ..found.clone() });
    match (labelled(LABEL), kind) {
        (Some(label), _) if label == "host" => with(NodeKind::Host, reason_from(LABEL, &label)),
        (Some(label), _) if label == "switch" => with(NodeKind::Switch, reason_from(LABEL, &label)),
        (Some(_), _) => fail(format!("topology.nodes.{name}.labels.{LABEL}"), "must be host or switch"),
        (None, Some(kind)) if HOST_KINDS.contains(&kind.as_str()) => {
            if is_router_image(&image) {
                return with(NodeKind::Switch, reason_from("image", &image));
            }
            let (why, may_forward) = (reason_from("kind", &kind), kind == "linux");
            Ok(ParsedNode { kind: Some(NodeKind::Host), why, may_forward, ..found })
        }
        (None, Some(kind)) => with(NodeKind::Switch, reason_from("kind", &kind)),
        (None, None) => Ok(found),
    }
}

fn scalar(value: &Yaml) -> Option<String> {
    match value {
        Yaml::String(text) | Yaml::Real(text) => Some(text.clone()),
        Yaml::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

fn endpoint(location: &str, value: &Yaml) -> Result<(String, String), FileError> {
    let parts = match value {
        Yaml::String(text) => text.split_once(':').map(|(node, port)| (node.to_owned(), port.to_owned())),
        value => scalar(yaml::get(value, "node")).zip(scalar(yaml::get(value, "interface"))),
    };
    let parts = parts.filter(|(node, port)| !node.is_empty() && !port.is_empty());
    parts.map_or_else(|| fail(location, "an endpoint is `node:interface`, or a map with `node` and `interface`"), Ok)
}

/// Formats a string as a quoted YAML scalar.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes a topology with hosts as Linux containers and switches as bridges, whose kinds the user can replace.
///
/// # Errors
/// [`FileError::NotExpressible`] for a name that the reader would reject as a template.
pub fn write_containerlab(fabric: &Fabric) -> Result<String, FileError> {
    let mut text = String::from("name: tidegate\ntopology:\n  nodes:\n");
    for node in fabric.nodes() {
        let kind = if node.kind == NodeKind::Host { "linux" } else { "bridge" };
        // A Linux node with several links could otherwise be read as a router.
        let label = if node.kind == NodeKind::Host { format!(", labels: {{{LABEL}: host}}") } else { String::new() };
        let _ = writeln!(text, "    {}: {{kind: {kind}{label}}}", quoted(&node.name));
    }
    text.push_str("  links:\n");
    for link in fabric.links() {
        let end = |end: crate::graph::End| {
            let port = port_label(fabric, end.node, end.port, |port| format!("eth{}", port + 1));
            match fabric.name(end.node) {
                // The parser takes the text after the first colon as the interface, so a node name with a colon needs
                // the extended form.
                name if name.contains(':') => format!("{{node: {}, interface: {}}}", quoted(name), quoted(&port)),
                name => quoted(&format!("{name}:{port}")),
            }
        };
        let _ = writeln!(text, "    - endpoints: [{}, {}]", end(link.a), end(link.b));
    }
    match text.lines().find(|line| is_template(line)) {
        None => Ok(text),
        Some(line) => {
            Err(FileError::NotExpressible { what: format!("`{}`, which a reader takes for a template", line.trim()) })
        }
    }
}
