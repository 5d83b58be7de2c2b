//! Lossless frames that are longer than the MTU of a port on their path: the switch drops them.

use super::findings::{Findings, finding};
use super::links::{Attribute, Differences};
use crate::device::{Device, Port};
use crate::error::FindingKind;
use crate::paths::ReachableWaits;
use std::collections::BTreeMap;
use text::numbers::{counted, grouped};

fn mtu(device: &Device<'_>, port: &Port) -> u64 {
    device.config(port).ports[&port.name].mtu
}

/// Returns the ports to hosts with their MTUs.
fn of_hosts<'d>(device: &'d Device<'_>) -> impl Iterator<Item = (&'d Port, u64)> {
    device.ports().filter(|(number, _)| device.peer(*number).is_none()).map(|(_, port)| (port, mtu(device, port)))
}

/// Reports ports to hosts, and ports between switches, with which a lossless frame of a host exceeds the MTU of the
/// next link between switches. Links whose ends differ are reported by themselves.
pub(super) fn judge(device: &Device<'_>, reached: &ReachableWaits, findings: &mut Findings) {
    let longest = of_hosts(device).map(|(_, mtu)| mtu).max().unwrap_or(0);
    let mut by_mtu: BTreeMap<u64, usize> = BTreeMap::new();
    for (_, port) in device.ports().filter(|(number, _)| device.peer(*number).is_some()) {
        *by_mtu.entry(mtu(device, port)).or_default() += 1;
    }
    let is_usual = |mtu: u64| 2 * by_mtu.get(&mtu).copied().unwrap_or(0) > by_mtu.values().sum();
    let differing = Differences::of(device, Attribute::Mtu);
    for wait in &reached.waits {
        let (Some(ingress), Some(egress)) = (device.port(wait.ingress), device.port(wait.egress)) else { continue };
        let is_lossless = ingress.lossless >> wait.group & 1 == 1;
        if !is_lossless || device.peer(wait.egress).is_none() {
            continue;
        }
        if differing.contains(wait.ingress) || differing.contains(wait.egress) {
            continue;
        }
        let (from, to) = (mtu(device, ingress).min(longest), mtu(device, egress));
        if from <= to {
            continue;
        }
        let from_host = device.peer(wait.ingress).is_none();
        let why = format!(
            "frames of lossless group {} have up to {} bytes at {}, and {} drops those above {}",
            wait.group,
            grouped(from),
            ingress.name,
            egress.name,
            grouped(to)
        );
        let (port, instead) = match from_host && is_usual(to) {
            true => (ingress, format!("at most {to}, the MTU of the links between switches")),
            false => (egress, format!("at least {from} at both ends, or at most {to} at the ports to hosts")),
        };
        let (config, key) = (device.config(port), format!("PORT|{}.mtu", port.name));
        findings.add(finding(FindingKind::LossyHop, config, key, why, instead));
    }
}

/// Returns the assumption about ports to hosts with a smaller MTU than others: a transport between two hosts uses the
/// smaller MTU of both.
pub(super) fn assumption(device: &Device<'_>) -> Option<String> {
    // Longer frames pass no link between switches.
    let links = device.ports().filter(|(number, _)| device.peer(*number).is_some());
    let most = links.map(|(_, port)| mtu(device, port)).max().unwrap_or(u64::MAX);
    let longest = of_hosts(device).map(|(_, mtu)| mtu).max()?.min(most);
    let smaller: Vec<(&Port, u64)> = of_hosts(device).filter(|(_, mtu)| *mtu < longest).collect();
    let (first, mtu) = smaller.first()?;
    Some(format!(
        "hosts send no lossless frame above the MTU of the receiver's port: {} to hosts with less than {} bytes, {} {} \
         with {}",
        counted(smaller.len() as u64, "port"),
        grouped(longest),
        device.config(first).file,
        first.name,
        grouped(*mtu)
    ))
}
