//! Ports that the topology lacks because `DEVICE_NEIGHBOR` has no entry for them: nothing judges them.

use super::SwitchConfig;
use super::reader::Reader;
use crate::error::{Finding, FindingKind};
use fabric::sonic::{Neighbour, neighbours};
use serde_json::Value;
use text::numbers::counted;

/// Reports a file without entries in `DEVICE_NEIGHBOR` although its ports enable PFC, and devices of
/// `DEVICE_NEIGHBOR_METADATA` without an entry. SONiC's minigraph parser writes the second table from the first.
pub(super) fn check(reader: &mut Reader<'_>, switch: &SwitchConfig) {
    let peers: Vec<&str> = neighbours(reader.object).flatten().map(|Neighbour { peer, .. }| peer).collect();
    let mut report = |key: String, why: String, instead: &str| {
        let (kind, file, key) = (FindingKind::Neighbours, reader.file.to_owned(), fabric::visible(&key));
        reader.findings.push(Finding { kind, file, key, why, instead: instead.to_owned() });
    };
    let enabled = switch.qos.values().filter(|port| port.pfc_enable != 0).count() as u64;
    if peers.is_empty() && enabled > 0 {
        let enabled = counted(enabled, "port");
        let why = format!("has no entry, and {enabled} with pfc_enable are not judged");
        report("DEVICE_NEIGHBOR".to_owned(), why, "an entry for each port with a cable");
        return;
    }
    let devices = reader.object.get("DEVICE_NEIGHBOR_METADATA").and_then(Value::as_object);
    for device in devices.into_iter().flatten().map(|(name, _)| name) {
        let is_device = |peer: &&str| is_same_host(peer, device);
        if !peers.iter().any(is_device) && !is_same_host(&switch.name, device) {
            let why =
                "no entry of DEVICE_NEIGHBOR leads to this device: its port is not judged, or has another neighbour";
            report(format!("DEVICE_NEIGHBOR_METADATA|{device}"), why.to_owned(), "an entry for its port, or no row");
        }
    }
}

/// Whether two names are equal, or one is the fully qualified form of the other.
fn is_same_host(one: &str, other: &str) -> bool {
    let qualifies = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
    one == other || qualifies(one, other) || qualifies(other, one)
}
