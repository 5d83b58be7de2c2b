//! Ports that the topology lacks because `DEVICE_NEIGHBOR` has no entry for them: nothing judges them.

use super::SwitchConfig;
use super::reader::Reader;
use crate::error::{Finding, FindingKind};
use fabric::sonic::{Neighbour, neighbours};
use fabric::{nearest_name, visible};
use serde_json::Value;
use std::collections::BTreeSet;
use text::numbers::counted;

/// Reports a file without entries in `DEVICE_NEIGHBOR` although its ports enable PFC, and devices of
/// `DEVICE_NEIGHBOR_METADATA` without an entry. SONiC's minigraph parser writes the second table from the first.
/// `hosts`: the host names of all files.
pub(super) fn check(reader: &mut Reader<'_>, switch: &SwitchConfig, hosts: &BTreeSet<&str>) {
    let peers: Vec<&str> = neighbours(reader.object).flatten().map(|Neighbour { peer, .. }| peer).collect();
    let mut report = |key: String, why: String, instead: &str| {
        let (kind, file, key) = (FindingKind::Neighbours, reader.file.to_owned(), fabric::visible(&key));
        reader.findings.push(Finding::new(kind, file, key, why, instead.to_owned()));
    };
    let enabled = switch.qos.values().filter(|port| port.pfc_enable != 0).count() as u64;
    if peers.is_empty() && enabled > 0 {
        let enabled = counted(enabled, "port");
        let why = format!("has no entry, and {enabled} with pfc_enable are not judged");
        report("DEVICE_NEIGHBOR".to_owned(), why, "an entry for each port with a cable");
        return;
    }
    let devices = reader.object.get("DEVICE_NEIGHBOR_METADATA").and_then(Value::as_object);
    let devices: Vec<&String> = devices.into_iter().flatten().map(|(name, _)| name).collect();
    let undescribed = |peer: &&str| !devices.iter().any(|device| is_same_host(peer, device));
    for device in &devices {
        let is_device = |peer: &&str| is_same_host(peer, device);
        if peers.iter().any(is_device) || is_same_host(&switch.name, device) {
            continue;
        }
        let row = format!("DEVICE_NEIGHBOR_METADATA|{device}");
        // Of two near names the one of a switch is right, and otherwise that of the device.
        match nearest_name(device, peers.iter().copied().filter(undescribed)) {
            Some(peer) if hosts.contains(peer) => {
                let why = format!(
                    "no entry of DEVICE_NEIGHBOR leads to this device, and no row is about `{}`",
                    visible(peer)
                );
                report(row, why, &visible(peer));
            }
            Some(peer) => {
                let entry = neighbours(reader.object).flatten().find(|entry| entry.peer == peer);
                let key = entry.map_or_else(|| row.clone(), |entry| format!("DEVICE_NEIGHBOR|{}", entry.row));
                let why = format!(
                    "leads to `{}`, which has no row in DEVICE_NEIGHBOR_METADATA; no entry leads to {}",
                    visible(peer),
                    visible(device)
                );
                report(key, why, &visible(device));
            }
            None if hosts.iter().any(|host| is_same_host(host, device)) => {
                let why = format!("no entry leads to {}, a switch with a file of its own", visible(device));
                report("DEVICE_NEIGHBOR".to_owned(), why, "an entry for its port");
            }
            None => {
                let why = "no entry of DEVICE_NEIGHBOR leads to this device: its port is not judged, or has another \
                           neighbour";
                report(row, why.to_owned(), "an entry for its port, or no row");
            }
        }
    }
}

/// Whether two names are equal, or one is the fully qualified form of the other.
fn is_same_host(one: &str, other: &str) -> bool {
    let qualifies = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
    one == other || qualifies(one, other) || qualifies(other, one)
}
