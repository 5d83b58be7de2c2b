//! Settings of a file that differ from those of switches of the same role: candidates for the cause of findings.

use super::change::{Change, Part, Rows, Setting};
use super::lists::list;
use super::ports::pfc_key;
use crate::device::{Device, Port};
use crate::read::{SwitchConfig, table_of};
use std::collections::{BTreeMap, BTreeSet};

const PORT_FIELDS: [&str; 6] =
    ["dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "tc_to_dscp_map", "pfc_to_queue_map", "pfc_to_pg_map"];
const TUNNEL_FIELDS: [&str; 4] =
    ["decap_dscp_to_tc_map", "decap_tc_to_pg_map", "encap_tc_to_dscp_map", "encap_tc_to_queue_map"];

/// The most frequent value other than one's own.
struct Usual<'v, V> {
    value: &'v V,
    /// Number of its users.
    count: usize,
    /// Number of all users.
    all: usize,
    /// Difference to the number of users of the own value.
    margin: usize,
}

/// Returns the most frequent value other than `own`, unless it is rarer than `own`.
fn other<'v, V: Ord>(values: &'v BTreeMap<V, usize>, own: &V) -> Option<Usual<'v, V>> {
    let of_own = values.get(own).copied().unwrap_or(0);
    let others = values.iter().filter(|(value, count)| *value != own && **count >= of_own);
    let (value, count) = others.max_by_key(|(_, count)| **count)?;
    Some(Usual { value, count: *count, all: values.values().sum(), margin: count - of_own })
}

/// Role of a switch: its tier, and its type in SONiC.
pub(super) fn role<'a>(device: &Device<'a>, config: &'a SwitchConfig) -> (Option<u8>, &'a str) {
    let tier = device.fabric.find(&config.name).map(|node| device.fabric.node(node).tier);
    (tier, &config.role)
}

/// Role of a port's switch, and role of the neighbour; `None` if the neighbour is a host.
type PortKind<'a> = ((Option<u8>, &'a str), Option<(Option<u8>, &'a str)>);

fn port_kind<'a>(device: &Device<'a>, number: u32, port: &Port) -> PortKind<'a> {
    let of = |port: &Port| role(device, device.config(port));
    (of(port), device.peer(number).map(|(_, peer)| of(peer)))
}

fn quoted(priorities: u8) -> String {
    format!("\"{}\"", list(priorities.into()).replace(' ', ""))
}

/// Returns the settings of these files that differ from switches of the same role, and each `pfc_enable` that differs
/// from that of the other end of the link. A value that several ports of a file should have is also one change of all
/// of them.
pub(super) fn candidates(device: &Device<'_>, configs: &[SwitchConfig], files: &BTreeSet<String>) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    for config in configs.iter().filter(|config| files.contains(&config.file)) {
        let own_role = role(device, config);
        let same_role: Vec<&SwitchConfig> = configs.iter().filter(|other| role(device, other) == own_role).collect();
        for (&table, maps) in &config.maps {
            for (name, map) in maps {
                for (&at, own) in map {
                    let mut values: BTreeMap<u8, usize> = BTreeMap::new();
                    let value_of = |other: &&SwitchConfig| other.maps.get(table)?.get(name)?.get(&at).copied();
                    same_role.iter().filter_map(value_of).for_each(|value| *values.entry(value).or_default() += 1);
                    let Some(Usual { value, count, all, margin }) = other(&values, own) else { continue };
                    let part = Part {
                        key: format!("{table}|{name}.{at}"),
                        instead: format!("\"{value}\""),
                        like: format!("{count} of {all} switches of this role have {value} here"),
                        port: None,
                        setting: Setting::Entry { table, map: name.clone(), at, value: *value },
                    };
                    found.push(Change { file: config.file.clone(), margin, parts: vec![part] });
                }
            }
        }
        found.extend(tunnel_candidates(config, &same_role));
    }
    let of_ports = port_candidates(device, files);
    found.extend(joined(&of_ports));
    found.extend(of_ports.into_iter().map(|(_, change)| change));
    found
}

/// Returns alternative maps of a tunnel: each field on its own, and all fields together.
fn tunnel_candidates(config: &SwitchConfig, same_role: &[&SwitchConfig]) -> Vec<Change> {
    let Some(tunnel) = &config.tunnel else { return Vec::new() };
    let mut values: BTreeMap<BTreeMap<&'static str, String>, usize> = BTreeMap::new();
    same_role
        .iter()
        .filter_map(|other| other.tunnel.as_ref())
        .for_each(|of| *values.entry(of.maps.clone()).or_default() += 1);
    let Some(Usual { value: maps, count, all, margin }) = other(&values, &tunnel.maps) else { return Vec::new() };
    let exists = |(field, map): (&&'static str, &String)| config.maps[table_of(field)].contains_key(map);
    if !maps.iter().all(exists) {
        return Vec::new();
    }
    let change = |fields: &[&'static str], setting: BTreeMap<&'static str, String>| {
        let value = |field: &str| maps.get(field).map_or("no such field".to_owned(), |map| format!("\"{map}\""));
        let (key, instead) = match fields {
            [field] => (format!("{}.{field}", tunnel.key), value(field)),
            fields => {
                let values: Vec<String> = fields.iter().map(|field| format!("{field} {}", value(field))).collect();
                (tunnel.key.clone(), values.join(", "))
            }
        };
        let like = format!("{count} of {all} switches of this role have {instead} here");
        let part = Part { key, instead, like, port: None, setting: Setting::TunnelMaps(setting) };
        Change { file: config.file.clone(), margin, parts: vec![part] }
    };
    let differing: Vec<&'static str> =
        TUNNEL_FIELDS.into_iter().filter(|field| maps.get(field) != tunnel.maps.get(field)).collect();
    let mut found = Vec::new();
    for field in &differing {
        let mut setting = tunnel.maps.clone();
        match maps.get(field) {
            Some(map) => drop(setting.insert(field, map.clone())),
            None => drop(setting.remove(field)),
        }
        found.push(change(&[field], setting));
    }
    if differing.len() > 1 {
        found.push(change(&differing, maps.clone()));
    }
    found
}

/// Setting of a port and its suggested value: equal ones of several ports of a file have one cause.
type Suggestion = (&'static str, String);

/// Returns the changes of several ports of a file to one value.
fn joined(changes: &[(Suggestion, Change)]) -> Vec<Change> {
    let mut by_value: BTreeMap<(&str, &Suggestion), Vec<&Change>> = BTreeMap::new();
    for (suggestion, change) in changes {
        by_value.entry((&change.file, suggestion)).or_default().push(change);
    }
    let join = |changes: Vec<&Change>| {
        let margin = changes.iter().map(|change| change.margin).min()?;
        let parts: Vec<Part> = changes.iter().flat_map(|change| change.parts.iter().cloned()).collect();
        (changes.len() > 1).then(|| Change { file: changes[0].file.clone(), margin, parts })
    };
    by_value.into_values().filter_map(join).collect()
}

/// Values of a setting at the ports of a kind.
type ByKind<'a, V> = BTreeMap<PortKind<'a>, BTreeMap<V, usize>>;

/// Returns alternative maps, `pfc_enable` values, and rows of buffers of ports.
fn port_candidates(device: &Device<'_>, files: &BTreeSet<String>) -> Vec<(Suggestion, Change)> {
    let map_of = |port: &Port, field: &str| {
        let qos = device.config(port).qos.get(&port.name)?;
        qos.maps.get(field).cloned()
    };
    let mut maps: BTreeMap<(PortKind<'_>, &str), BTreeMap<Option<String>, usize>> = BTreeMap::new();
    let mut enabled: ByKind<'_, u8> = BTreeMap::new();
    let mut lossless: BTreeMap<Rows, ByKind<'_, u32>> = BTreeMap::new();
    for (number, port) in device.ports() {
        let kind = port_kind(device, number, port);
        *enabled.entry(kind).or_default().entry(port.enabled).or_default() += 1;
        for field in PORT_FIELDS {
            *maps.entry((kind, field)).or_default().entry(map_of(port, field)).or_default() += 1;
        }
        for rows in Rows::ALL {
            let values = lossless.entry(rows).or_default().entry(kind).or_default();
            *values.entry(rows.lossless(port)).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for (number, port) in device.ports().filter(|(_, port)| files.contains(&device.config(port).file)) {
        let (config, kind) = (device.config(port), port_kind(device, number, port));
        let at = Some((port.node, port.index));
        let mut add = |suggestion: Suggestion, margin: usize, part: Part| {
            found.push((suggestion, Change { file: config.file.clone(), margin, parts: vec![part] }));
        };
        for rows in Rows::ALL {
            let Some(usual) = other(&lossless[&rows][&kind], &rows.lossless(port)) else { continue };
            let wanted = match *usual.value {
                0 => format!("no lossless {}", rows.noun()),
                value => format!("lossless {} {}", rows.noun(), list(value)),
            };
            let Some((key, instead, setting)) = rows.change(device, port, *usual.value) else { continue };
            let like = format!("{} of {} ports of this kind have {wanted}", usual.count, usual.all);
            add((rows.table(), usual.value.to_string()), usual.margin, Part { key, instead, like, port: at, setting });
        }
        let Some(row) = config.qos.get(&port.name).map(|qos| qos.key.clone()) else { continue };
        for field in PORT_FIELDS {
            let own = map_of(port, field);
            let Some(Usual { value: map, count, all, margin }) = other(&maps[&(kind, field)], &own) else { continue };
            if map.as_ref().is_some_and(|map| !config.maps[table_of(field)].contains_key(map)) {
                continue;
            }
            let instead = map.as_ref().map_or("no such field".to_owned(), |map| format!("\"{map}\""));
            let key = format!("{row}.{field}");
            let like = format!("{count} of {all} ports of this kind have {instead} here");
            let setting = Setting::PortMap { row: row.clone(), field, map: map.clone() };
            add((field, instead.clone()), margin, Part { key, instead, like, port: at, setting });
        }
        let mut pfc = |priorities: u8, like: String, margin: usize| {
            let (key, instead) = (pfc_key(device, port), quoted(priorities));
            let setting = Setting::PfcEnable { row: row.clone(), priorities };
            add(("pfc_enable", instead.clone()), margin, Part { key, instead, like, port: at, setting });
        };
        let usual = other(&enabled[&kind], &port.enabled);
        if let Some(Usual { value, count, all, margin }) = usual {
            pfc(*value, format!("{count} of {all} ports of this kind have {} here", quoted(*value)), margin);
        }
        if let Some((_, peer)) = device.peer(number).filter(|(_, peer)| peer.enabled != port.enabled) {
            pfc(peer.enabled, format!("the other end has {}", quoted(peer.enabled)), 0);
        }
    }
    found
}
