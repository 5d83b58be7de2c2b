//! Search for the setting that causes findings: a map entry, a reference to a map, or a `pfc_enable`, whose value
//! differs from that of switches of the same role.
//!
//! Each candidate value is tried: the changed configuration is judged. If the check then has fewer findings and no new
//! one, the setting is the cause of the findings that disappeared. Only such values are given as advice.

use super::change::{Change, Setting};
use super::collect;
use super::findings::Conflict;
use super::ports::{list, pfc_key};
use crate::device::{Device, Port};
use crate::error::{Finding, FindingKind};
use crate::options::Options;
use crate::read::{SwitchConfig, table_of};
use fabric::Fabric;
use std::collections::{BTreeMap, BTreeSet};

/// Limits of the number of trials: the total, and the product of trials and waits of the fabric, which is proportional
/// to the run time.
const MOST_TRIALS: u64 = 64;
const MOST_TRIED_WAITS: u64 = 300_000;
const LEAST_TRIALS: u64 = 4;

const PORT_FIELDS: [&str; 6] =
    ["dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "tc_to_dscp_map", "pfc_to_queue_map", "pfc_to_pg_map"];
const TUNNEL_FIELDS: [&str; 4] =
    ["decap_dscp_to_tc_map", "decap_tc_to_pg_map", "encap_tc_to_dscp_map", "encap_tc_to_queue_map"];

/// Returns the most frequent value other than `own`, unless it is rarer than `own`: the value, the number of its users,
/// the number of all users, and the difference to the number of users of `own`.
fn other<'v, V: Ord>(values: &'v BTreeMap<V, usize>, own: &V) -> Option<(&'v V, usize, usize, usize)> {
    let of_own = values.get(own).copied().unwrap_or(0);
    let others = values.iter().filter(|(value, count)| *value != own && **count >= of_own);
    let (value, count) = others.max_by_key(|(_, count)| **count)?;
    Some((value, *count, values.values().sum(), count - of_own))
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
    list(priorities.into()).replace(' ', "")
}

/// Returns the settings of these files that differ from switches of the same role, and each `pfc_enable` that differs
/// from that of the other end of the link.
fn candidates(device: &Device<'_>, configs: &[SwitchConfig], files: &BTreeSet<String>) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    for config in configs.iter().filter(|config| files.contains(&config.file)) {
        let own_role = role(device, config);
        let same_role: Vec<&SwitchConfig> = configs.iter().filter(|other| role(device, other) == own_role).collect();
        for (&table, maps) in &config.maps {
            for (name, map) in maps {
                for (&at, &own) in map {
                    let mut values: BTreeMap<u8, usize> = BTreeMap::new();
                    let value_of = |other: &&SwitchConfig| other.maps.get(table)?.get(name)?.get(&at).copied();
                    same_role.iter().filter_map(value_of).for_each(|value| *values.entry(value).or_default() += 1);
                    let Some((&value, count, all, margin)) = other(&values, &own) else { continue };
                    found.push(Change {
                        file: config.file.clone(),
                        key: format!("{table}|{name}.{at}"),
                        instead: format!("\"{value}\""),
                        like: format!("{count} of {all} switches of this role have {value} here"),
                        margin,
                        setting: Setting::Entry { table, map: name.clone(), at, value },
                    });
                }
            }
        }
        found.extend(tunnel_candidates(config, &same_role));
    }
    found.extend(port_candidates(device, files));
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
    let Some((maps, count, all, margin)) = other(&values, &tunnel.maps) else { return Vec::new() };
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
        Change { file: config.file.clone(), key, instead, like, margin, setting: Setting::TunnelMaps(setting) }
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

/// Returns alternative maps and alternative `pfc_enable` values of ports.
fn port_candidates(device: &Device<'_>, files: &BTreeSet<String>) -> Vec<Change> {
    let map_of = |port: &Port, field: &str| {
        let qos = device.config(port).qos.get(&port.name)?;
        qos.maps.get(field).cloned()
    };
    let mut maps: BTreeMap<(PortKind<'_>, &str), BTreeMap<Option<String>, usize>> = BTreeMap::new();
    let mut enabled: BTreeMap<PortKind<'_>, BTreeMap<u8, usize>> = BTreeMap::new();
    for (number, port) in device.ports() {
        let kind = port_kind(device, number, port);
        *enabled.entry(kind).or_default().entry(port.enabled).or_default() += 1;
        for field in PORT_FIELDS {
            *maps.entry((kind, field)).or_default().entry(map_of(port, field)).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for (number, port) in device.ports().filter(|(_, port)| files.contains(&device.config(port).file)) {
        let (config, kind) = (device.config(port), port_kind(device, number, port));
        let Some(row) = config.qos.get(&port.name).map(|qos| qos.key.clone()) else { continue };
        for field in PORT_FIELDS {
            let own = map_of(port, field);
            let Some((map, count, all, margin)) = other(&maps[&(kind, field)], &own) else { continue };
            if map.as_ref().is_some_and(|map| !config.maps[table_of(field)].contains_key(map)) {
                continue;
            }
            let instead = map.as_ref().map_or("no such field".to_owned(), |map| format!("\"{map}\""));
            found.push(Change {
                file: config.file.clone(),
                key: format!("{row}.{field}"),
                like: format!("{count} of {all} ports of this kind have {instead} here"),
                instead,
                margin,
                setting: Setting::PortMap { row: row.clone(), field, map: map.clone() },
            });
        }
        let mut pfc = |priorities: u8, like: String, margin: usize| {
            found.push(Change {
                file: config.file.clone(),
                key: pfc_key(device, port),
                instead: format!("\"{}\"", quoted(priorities)),
                like,
                margin,
                setting: Setting::PfcEnable { row: row.clone(), priorities },
            });
        };
        if let Some((&priorities, count, all, margin)) = other(&enabled[&kind], &port.enabled) {
            let like = format!("{count} of {all} ports of this kind have \"{}\" here", quoted(priorities));
            pfc(priorities, like, margin);
        }
        if let Some((_, peer)) = device.peer(number).filter(|(_, peer)| peer.enabled != port.enabled) {
            let like = format!("the other end has \"{}\"", quoted(peer.enabled));
            pfc(peer.enabled, like, 0);
        }
    }
    found
}

/// Kind, file and key of a finding.
type FindingKey = (FindingKind, String, String);

fn key_of(finding: &Finding) -> FindingKey {
    (finding.kind, finding.file.clone(), finding.key.clone())
}

/// Returns the change that removes each finding, if one is found. Also returns the trial limit if the search reached it
/// before all causes were found.
pub(super) fn search(
    fabric: &Fabric,
    configs: &[SwitchConfig],
    options: &Options<'_>,
    first: &[Conflict],
    waits: u64,
) -> (Vec<Option<Change>>, Option<u64>) {
    let mut causes: Vec<Option<Change>> = vec![None; first.len()];
    let mut configs = configs.to_vec();
    let mut current: Vec<Conflict> = first.to_vec();
    let limit = (MOST_TRIED_WAITS / waits.max(1)).clamp(LEAST_TRIALS, MOST_TRIALS);
    let (mut trials, mut untried) = (limit, false);
    while current.iter().any(|conflict| !conflict.switches.is_empty()) {
        let Ok(device) = Device::new(fabric, &configs, options.binding) else { break };
        let switches = current.iter().flat_map(|conflict| &conflict.switches).chain(device.detours.keys());
        let names: BTreeSet<&str> = switches.map(|node| fabric.name(*node)).collect();
        let files = configs.iter().filter(|config| names.contains(config.name.as_str()));
        let mut tried = candidates(&device, &configs, &files.map(|config| config.file.clone()).collect());
        // Candidates with the largest majority first; the sort is stable.
        tried.sort_by_key(|change| std::cmp::Reverse(change.margin));
        let before: BTreeSet<FindingKey> = current.iter().map(|conflict| key_of(&conflict.finding)).collect();
        let mut best: Option<(Change, Vec<SwitchConfig>, Vec<Conflict>)> = None;
        for change in tried {
            if trials == 0 {
                untried = true;
                break;
            }
            trials -= 1;
            let changed = change.applied(&configs);
            let Ok(judged) = collect(fabric, &changed, options) else { continue };
            let after = judged.findings.0;
            let fewest = best.as_ref().map_or(current.len(), |(.., best)| best.len());
            if after.len() < fewest && after.iter().all(|conflict| before.contains(&key_of(&conflict.finding))) {
                let done = after.iter().all(|conflict| conflict.switches.is_empty());
                best = Some((change, changed, after));
                if done {
                    break;
                }
            }
        }
        let Some((change, changed, after)) = best else { break };
        let left: BTreeSet<&Finding> = after.iter().map(|conflict| &conflict.finding).collect();
        for (conflict, cause) in first.iter().zip(&mut causes) {
            if cause.is_none() && !conflict.switches.is_empty() && !left.contains(&conflict.finding) {
                *cause = Some(change.clone());
            }
        }
        (configs, current) = (changed, after);
    }
    let is_open = |(conflict, cause): (&Conflict, &Option<Change>)| cause.is_none() && !conflict.switches.is_empty();
    let open = first.iter().zip(&causes).any(is_open);
    (causes, Some(limit).filter(|_| untried && open))
}
