//! Consistency of the rows of each port.

use super::findings::{Findings, Scope, finding};
use super::lists::list;
use crate::device::{Device, Port};
use crate::error::FindingKind;
use fabric::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use text::numbers::counted;

/// Returns the key that assigns the profile of a priority group.
pub(super) fn group_key(device: &Device<'_>, port: &Port, group: u8) -> String {
    let bound = device.config(port).groups.get(&(port.name.clone(), group));
    bound.map_or_else(|| format!("BUFFER_PG|{}|{group}", port.name), |bound| format!("{}.profile", bound.key))
}

/// Advice for [`missing_xoff`].
pub(super) const OWN_XOFF: &str = "the headroom of its cable in bytes";

/// Returns the key of the `xoff` that the profile of a priority group lacks, if name and pool say that it is lossless.
pub(super) fn missing_xoff(device: &Device<'_>, port: &Port, group: u8) -> Option<String> {
    let config = device.config(port);
    let name = &config.groups.get(&(port.name.clone(), group))?.name;
    let profile = config.profiles.get(name).filter(|profile| profile.lossless_queue == Some(true))?;
    profile.xoff.is_none().then(|| format!("BUFFER_PROFILE|{}.xoff", fabric::visible(name)))
}

/// Returns the key that assigns the profile of a queue.
pub(super) fn queue_key(device: &Device<'_>, port: &Port, queue: u8) -> String {
    let bound = device.config(port).queues.get(&(port.name.clone(), queue));
    bound.map_or_else(|| format!("BUFFER_QUEUE|{}|{queue}", port.name), |bound| format!("{}.profile", bound.key))
}

/// Returns the key of a port's `pfc_enable`.
pub(super) fn pfc_key(device: &Device<'_>, port: &Port) -> String {
    let row = device.config(port).qos.get(&port.name);
    let key = row.map_or_else(|| format!("PORT_QOS_MAP|{}", port.name), |row| row.key.clone());
    format!("{key}.pfc_enable")
}

/// Returns the name of a queue's profile, for messages.
pub(super) fn queue_profile(device: &Device<'_>, port: &Port, queue: u8) -> String {
    let bound = device.config(port).queues.get(&(port.name.clone(), queue));
    bound.map_or_else(|| "no profile".to_owned(), |bound| format!("profile {}", bound.name))
}

/// Returns the number of priority groups of a port whose profile the switch computes.
pub(super) fn computed(device: &Device<'_>, port: &Port) -> u64 {
    let config = device.config(port);
    let is_computed =
        |group: &u8| config.groups.get(&(port.name.clone(), *group)).is_some_and(|bound| config.computes(&bound.name));
    (0..8u8).filter(is_computed).count() as u64
}

/// Returns the profile of each paused queue (by PFC) for which neither the profile's nor the pool's name contains
/// "lossless" or "lossy".
pub(super) fn unnamed<'a>(device: &Device<'a>, port: &Port) -> impl Iterator<Item = &'a str> {
    let config = device.config(port);
    let queues = port.stops.iter().fold(0, |bits, stops| bits | stops) & port.unnamed_queues;
    let name = port.name.clone();
    let bound = move |queue: u8| config.queues.get(&(name.clone(), queue)).map(|bound| bound.name.as_str());
    (0..32u8).filter(move |queue| queues >> queue & 1 == 1).filter_map(bound)
}

/// Returns the switches that have `pfc_enable` and no priority group with a lossless profile.
///
/// SONiC's buffer manager (`buffermgrd`) adds these groups to the configuration when ports come up, so a file that was
/// saved earlier has none of them.
pub(super) fn without_lossless_groups(device: &Device<'_>) -> BTreeSet<NodeId> {
    let mut by_switch: BTreeMap<NodeId, (u8, u8)> = BTreeMap::new();
    for (_, port) in device.ports() {
        let (enabled, profiles) = by_switch.entry(port.node).or_default();
        (*enabled, *profiles) = (*enabled | port.enabled, *profiles | port.lossless_profiles);
    }
    by_switch.retain(|_, (enabled, profiles)| *enabled != 0 && *profiles == 0);
    by_switch.into_keys().collect()
}

/// Reports each of `switches` once.
fn report_without_groups(device: &Device<'_>, switches: &BTreeSet<NodeId>, findings: &mut Findings) {
    for node in switches {
        let enabled = || device.ports().filter(|(_, port)| port.node == *node && port.enabled != 0);
        let Some((_, first)) = enabled().next() else { continue };
        let priorities = enabled().fold(0, |bits, (_, port)| bits | port.enabled);
        let why = format!(
            "pfc_enable has {} at {}, and no priority group of the switch has a lossless profile: all of them drop. \
             SONiC's buffer manager adds lossless groups when ports come up; a file that was saved before lacks them",
            list(priorities.into()),
            counted(enabled().count() as u64, "port")
        );
        let instead = "the file after `config save` with all ports up, or a profile with xoff for each of these groups";
        let key = "BUFFER_PG".to_owned();
        findings.add(finding(FindingKind::Mismatch, device.config(first), key, why, instead.to_owned()));
    }
}

pub(super) fn judge(device: &Device<'_>, without_groups: &BTreeSet<NodeId>, findings: &mut Findings) {
    report_without_groups(device, without_groups, findings);
    for (_, port) in device.ports() {
        let config = device.config(port);
        // One wrong map entry can cause several mismatches.
        let mut mismatch = |key: String, why: String, instead: String| {
            let elsewhere = format!("at {}, {why}", fabric::visible(&config.name));
            let finding = finding(FindingKind::Mismatch, config, key, why, instead);
            findings.conflict(finding, elsewhere, Scope::of_port(port));
        };
        for group in (0..8u8).filter(|&group| port.sends[usize::from(group)] != 0) {
            if port.lossless_profiles >> group & 1 == 0 && !without_groups.contains(&port.node) {
                let priorities = list(port.sends[usize::from(group)].into());
                let why = format!(
                    "pfc_enable has {priorities}, and group {group} of {} has no lossless profile: it drops and never \
                     pauses",
                    port.name
                );
                match missing_xoff(device, port, group) {
                    Some(key) => mismatch(key, why, OWN_XOFF.to_owned()),
                    None => {
                        let instead = format!("a profile with xoff, or pfc_enable without {priorities}");
                        mismatch(group_key(device, port, group), why, instead);
                    }
                }
            }
        }
        for group in (0..8u8).filter(|&group| port.lossless_profiles >> group & 1 == 1) {
            if port.sends[usize::from(group)] == 0 {
                let why = format!(
                    "group {group} of {} has a lossless profile, and no enabled priority pauses for it",
                    port.name
                );
                let instead = format!("a list with {group}, or a lossy profile for the group");
                mismatch(pfc_key(device, port), why, instead);
            }
        }
        let stopped = port.stops.iter().fold(0, |bits, stops| bits | stops);
        for queue in (0..32u8).filter(|&queue| port.lossless_queues >> queue & 1 == 1) {
            if stopped >> queue & 1 == 0 {
                let why = format!("queue {queue} of {} is lossless, and no enabled priority stops it", port.name);
                let instead = format!("a lossy profile, or a priority in pfc_enable that stops queue {queue}");
                mismatch(queue_key(device, port, queue), why, instead);
            }
        }
        for queue in (0..32u8).filter(|&queue| stopped >> queue & 1 == 1) {
            // If the profile's name contains neither "lossless" nor "lossy", the report states an assumption instead.
            if (port.lossless_queues | port.unnamed_queues) >> queue & 1 == 0 {
                let profile = queue_profile(device, port, queue);
                let why = format!("PFC stops queue {queue} of {}, which has {profile}: it drops when full", port.name);
                let instead = "an egress profile of a lossless pool".to_owned();
                mismatch(queue_key(device, port, queue), why, instead);
            }
        }
    }
}
