//! Check for attributes of a link that differ between its two ends.

use super::findings::{Findings, finding};
use super::ports::{list, pfc_key};
use crate::device::Device;
use crate::error::FindingKind;
use crate::read::{PortConfig, SwitchConfig};
use std::collections::BTreeMap;

/// Number of ports between switches by value of `pfc_enable`.
fn enabled(device: &Device<'_>) -> BTreeMap<u8, usize> {
    let mut values = BTreeMap::new();
    for (_, port) in device.ports().filter(|(number, _)| device.peer(*number).is_some()) {
        *values.entry(port.enabled).or_default() += 1;
    }
    values
}

pub(super) fn judge(device: &Device<'_>, findings: &mut Findings) {
    let enabled = enabled(device);
    let all: usize = enabled.values().sum();
    let is_usual = |value: u8| 2 * enabled[&value] > all;
    for (number, port) in device.ports() {
        let Some((_, peer)) = device.peer(number) else { continue };
        let (config, other) = (device.config(port), device.config(peer));
        let there = format!("{} {}", other.file, peer.name);
        let missing = peer.enabled & !port.enabled;
        if missing != 0 {
            let missing = list(missing.into());
            let most = if is_usual(port.enabled) { " and most ports between switches do" } else { " does" };
            let more = format!(
                "enables PFC for {missing}, and {} {}{most} not: it ignores and sends no such PAUSE",
                config.file, port.name
            );
            let fewer =
                format!("{there} enables PFC for {missing}, and this end does not: it ignores and sends no such PAUSE");
            let nodes = vec![port.node, peer.node];
            // The finding names the end whose value differs from that of most ports.
            let (config, key, why, elsewhere) = match is_usual(port.enabled) {
                true => (other, pfc_key(device, peer), more, fewer),
                false => (config, pfc_key(device, port), fewer, format!("{there} {more}")),
            };
            let finding = finding(FindingKind::Neighbours, config, key, why, String::new());
            findings.conflict(finding, elsewhere, nodes);
        }
        let mut disagree = |key: String, why: String, instead: String| {
            findings.add(finding(FindingKind::Neighbours, config, key, why, instead));
        };
        // A difference is reported once, at the end whose value is rarer among the ports of its file.
        let (row, peer_row) = (config.ports[&port.name], other.ports[&peer.name]);
        let ours = |here: usize, there: usize| (here, &config.file, &port.name) < (there, &other.file, &peer.name);
        let alike = |config: &SwitchConfig, same: &dyn Fn(&PortConfig) -> bool| {
            config.ports.values().filter(|row| same(row)).count()
        };
        let rates = |config, rate| alike(config, &|row: &PortConfig| row.rate == rate);
        if row.rate != peer_row.rate && ours(rates(config, row.rate), rates(other, peer_row.rate)) {
            let rate = |row: PortConfig| row.rate.map_or("none".to_owned(), |rate| rate.to_string());
            let why = format!("the speed is {} here and {} at {there}", rate(row), rate(peer_row));
            disagree(format!("PORT|{}.speed", port.name), why, "one speed at both ends".to_owned());
        }
        let mtus = |config, mtu| alike(config, &|row: &PortConfig| row.mtu == mtu);
        if row.mtu != peer_row.mtu && ours(mtus(config, row.mtu), mtus(other, peer_row.mtu)) {
            let why = format!("the MTU is {} here and {} at {there}: the smaller end drops", row.mtu, peer_row.mtu);
            disagree(format!("PORT|{}.mtu", port.name), why, "one MTU at both ends".to_owned());
        }
        let lengths = (config.cables.get(&port.name), other.cables.get(&peer.name));
        let same =
            |config: &SwitchConfig, metres| config.cables.values().filter(|cable| cable.metres == metres).count();
        if let (Some(here), Some(cable)) = lengths
            && here.metres != cable.metres
            && ours(same(config, here.metres), same(other, cable.metres))
        {
            let why = format!("{} m here, {} m at {there} ({})", here.metres, cable.metres, cable.key);
            disagree(here.key.clone(), why, "the length of the cable at both ends".to_owned());
        }
    }
}
