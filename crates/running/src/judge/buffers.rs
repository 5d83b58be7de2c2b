//! Check of the pools, profiles and WRED settings of lossless groups and queues.

use super::findings::{Findings, finding};
use super::headroom::pools;
use super::ports::{group_key, queue_key};
use crate::device::{Device, Port};
use crate::error::FindingKind;
use crate::paths::ReachableWaits;
use crate::read::{Pool, Profile, ProfileReference, SwitchConfig, Threshold, WredColour};
use std::collections::{BTreeMap, BTreeSet};
use text::numbers::{counted, grouped};

/// Exponent `dynamic_th` from which ASICs treat the threshold as unlimited.
const UNLIMITED: i64 = 7;

/// Returns the bitmask of the queues of a port that PFC pauses, except queues with a lossy profile.
fn lossless_queues(port: &Port) -> u32 {
    let stopped = port.stops.iter().fold(0, |bits, stops| bits | stops);
    stopped & (port.lossless_queues | port.unnamed_queues)
}

/// Profiles of the lossless groups and queues of a port, with name, and whether they are of a group.
fn lossless_profiles<'a>(device: &Device<'a>, port: &Port) -> Vec<(&'a str, &'a Profile, bool)> {
    let config = device.config(port);
    let at = |number: u8| (port.name.clone(), number);
    let groups = (0..8u8).filter(|group| port.lossless >> group & 1 == 1).map(|group| config.groups.get(&at(group)));
    let queues = lossless_queues(port);
    let queues = (0..32u8).filter(|queue| queues >> queue & 1 == 1).map(|queue| config.queues.get(&at(queue)));
    let named = groups.map(|bound| (bound, true)).chain(queues.map(|bound| (bound, false)));
    let profile = |(bound, is_group): (Option<&'a ProfileReference>, bool)| {
        let name = bound?.name.as_str();
        Some((name, config.profiles.get(name)?, is_group))
    };
    named.filter_map(profile).collect()
}

/// Text such as `green frames above 1,048,576 bytes and red frames`.
fn frames_of(colours: &[WredColour]) -> String {
    let frames = |colour: &WredColour| match colour.from {
        Some(bytes) => format!("{} frames above {} bytes", colour.name, grouped(bytes)),
        None => format!("{} frames", colour.name),
    };
    colours.iter().map(frames).collect::<Vec<_>>().join(" and ")
}

pub(super) fn judge(device: &Device<'_>, reached: &ReachableWaits, findings: &mut Findings) {
    for (_, port) in device.ports() {
        let config = device.config(port);
        for (name, profile, is_group) in lossless_profiles(device, port) {
            let key = |field: &str| format!("BUFFER_PROFILE|{name}.{field}");
            // A pool of the other direction is another finding.
            let pool = config.pools.get(&profile.pool);
            let suits = pool.is_some_and(|pool| if is_group { pool.ingress } else { pool.egress });
            if let Some(field) = profile.foreign_threshold(config).filter(|_| suits) {
                let why = format!(
                    "{} has this profile for lossless frames, and its pool {} has thresholds of the other kind: \
                     SONiC passes both to the ASIC, which refuses them or follows one",
                    port.name, profile.pool
                );
                let instead = if field == "static_th" { "dynamic_th" } else { "static_th" };
                // The threshold, the pool or its mode may be the wrong one.
                let of_kind = |pool: &Pool| pool.is_static == (field == "static_th");
                let suits = |pool: &Pool| of_kind(pool) && if is_group { pool.ingress } else { pool.egress };
                let other = config.pools.iter().find(|(_, pool)| suits(pool)).map_or_else(
                    || format!("the other mode of {}", profile.pool),
                    |(name, _)| format!("the pool {name}, whose mode suits the threshold"),
                );
                let instead = format!("{instead}, as the mode of the pool; or {other}");
                findings.add(finding(FindingKind::Buffer, config, key(field), why, instead));
            }
            if profile.trims {
                let why = format!("{} has this profile for lossless frames, which it trims when full", port.name);
                let key = key("packet_discard_action");
                findings.add(finding(FindingKind::Buffer, config, key, why, "drop".to_owned()));
            }
        }
        for queue in (0..32u8).filter(|queue| lossless_queues(port) >> queue & 1 == 1) {
            let Some(marked) = config.marked.get(&(port.name.clone(), queue)) else { continue };
            let Some(wred) = config.wred.get(&marked.name).filter(|wred| !wred.drops.is_empty()) else { continue };
            let why = format!(
                "queue {queue} of {} is lossless, and WRED_PROFILE|{} ({}) drops {}, ECN-capable or not",
                port.name,
                marked.name,
                wred.ecn,
                frames_of(&wred.drops)
            );
            let key = format!("{}.wred_profile", marked.key);
            let instead = "a profile with ecn of ecn_all, or none".to_owned();
            findings.add(finding(FindingKind::Buffer, config, key, why, instead));
        }
    }
    judge_directions(device, findings);
    judge_thresholds(device, reached, findings);
    for (config, name, _) in pools(device).filter(|(config, _, pool)| pool.size.is_none() && config.dynamic.is_none()) {
        let why = "is missing, and the switch computes no pool: nothing says that it holds what its profiles reserve";
        let key = format!("BUFFER_POOL|{name}.size");
        findings.add(finding(FindingKind::Buffer, config, key, why.to_owned(), "the size in bytes".to_owned()));
    }
}

/// Users of a profile: the key of the first priority group and of the first queue that reference it.
#[derive(Default)]
struct Users {
    groups: Option<String>,
    queues: Option<String>,
}

/// Reports profiles of priority groups that belong to an egress pool, and profiles of queues that belong to an ingress
/// pool. The finding names the reference if the profile also has users of the pool's direction; else the profile if the
/// pool has other profiles of its own direction; else the pool.
fn judge_directions(device: &Device<'_>, findings: &mut Findings) {
    let mut users: BTreeMap<(&str, &str), (&SwitchConfig, Users)> = BTreeMap::new();
    for (_, port) in device.ports() {
        let config = device.config(port);
        let mut add = |name: &str, key: String, is_group: bool| {
            let Some((name, _)) = config.profiles.get_key_value(name) else { return };
            let (_, users) = users.entry((&config.name, name)).or_insert_with(|| (config, Users::default()));
            let of = if is_group { &mut users.groups } else { &mut users.queues };
            of.get_or_insert(key);
        };
        for group in 0..8u8 {
            if let Some(bound) = config.groups.get(&(port.name.clone(), group)) {
                add(&bound.name, group_key(device, port, group), true);
            }
        }
        for queue in 0..32u8 {
            if let Some(bound) = config.queues.get(&(port.name.clone(), queue)) {
                add(&bound.name, queue_key(device, port, queue), false);
            }
        }
    }
    let pool_of = |config: &SwitchConfig, name: &str| {
        let profile = &config.profiles[name];
        config.pools.get(&profile.pool).map(|pool| (profile.pool.clone(), *pool))
    };
    // Pools that some profile uses in the direction of the pool.
    let fits = |(&(switch, name), (config, users)): (&(&str, &str), &(&SwitchConfig, Users))| {
        let (pool, row) = pool_of(config, name)?;
        let used = (users.groups.is_some() && row.ingress) || (users.queues.is_some() && row.egress);
        used.then(|| (switch.to_owned(), pool))
    };
    let fitting: BTreeSet<(String, String)> = users.iter().filter_map(fits).collect();
    for ((switch, name), (config, users)) in &users {
        let Some((pool, row)) = pool_of(config, name) else { continue };
        let wrong = [
            (&users.groups, row.ingress, "priority groups", "ingress"),
            (&users.queues, row.egress, "queues", "egress"),
        ];
        for (user, allowed, of, direction) in wrong {
            let Some(user) = user.as_ref().filter(|_| !allowed) else { continue };
            let other = if direction == "ingress" { "egress" } else { "ingress" };
            let why = format!("profile {name} of {of} ({user}) is in pool {pool}, which is of type {other}");
            let (key, instead) = if users.groups.is_some() && users.queues.is_some() {
                (user.clone(), format!("a profile of an {direction} pool"))
            } else if fitting.contains(&((*switch).to_owned(), pool.clone())) {
                (format!("BUFFER_PROFILE|{name}.pool"), format!("the name of an {direction} pool"))
            } else {
                (format!("BUFFER_POOL|{pool}.type"), format!("{direction}, or both"))
            };
            findings.add(finding(FindingKind::Buffer, config, key, why, instead));
        }
    }
}

/// Reports lossless queues whose `static_th`, or whose pool's `size`, is below the headroom of the accounts that feed
/// them: such a queue drops frames that arrive after the PAUSE.
fn judge_thresholds(device: &Device<'_>, reached: &ReachableWaits, findings: &mut Findings) {
    let mut accounts: BTreeMap<(u32, u8), BTreeSet<(u32, u8)>> = BTreeMap::new();
    for wait in &reached.waits {
        accounts.entry((wait.egress, wait.queue)).or_default().insert((wait.ingress, wait.group));
    }
    let (mut found, mut small_pools) = (BTreeMap::new(), BTreeMap::new());
    for ((number, queue), accounts) in accounts {
        let Some(port) = device.port(number).filter(|port| lossless_queues(port) >> queue & 1 == 1) else { continue };
        let config = device.config(port);
        let Some(bound) = config.queues.get(&(port.name.clone(), queue)) else { continue };
        let Some(profile) = config.profiles.get(&bound.name) else { continue };
        // Sum of the headroom of the accounts, per pool at most its shared headroom.
        let mut headroom: BTreeMap<&str, u64> = BTreeMap::new();
        for (ingress, group) in accounts {
            let Some(ingress) = device.port(ingress).filter(|port| port.lossless >> group & 1 == 1) else { continue };
            let bound = config.groups.get(&(ingress.name.clone(), group));
            let Some(profile) = bound.and_then(|bound| config.profiles.get(&bound.name)) else { continue };
            let of_pool = headroom.entry(&profile.pool).or_default();
            *of_pool = of_pool.saturating_add(profile.xoff.unwrap_or(0));
        }
        let shared = |pool: &str| config.pools.get(pool).and_then(|pool| pool.shared_headroom).unwrap_or(u64::MAX);
        let needs = headroom.iter().fold(0u64, |sum, (pool, xoff)| sum.saturating_add((*xoff).min(shared(pool))));
        let pool_bytes = config.pools.get(&profile.pool).and_then(|pool| pool.size);
        if let Some(size) = pool_bytes.filter(|&size| size < needs) {
            let at =
                small_pools.entry((&config.name, &profile.pool)).or_insert((config, needs, &port.name, queue, size));
            if at.1 < needs {
                *at = (config, needs, &port.name, queue, size);
            }
            // A larger threshold has no effect if the pool is too small.
            continue;
        }
        let Some(Threshold::Static(threshold)) = profile.threshold else { continue };
        if threshold.saturating_add(profile.size) < needs {
            let at = found.entry((&config.name, &bound.name)).or_insert((config, needs, &port.name, queue, threshold));
            if at.1 < needs {
                *at = (config, needs, &port.name, queue, threshold);
            }
        }
    }
    let why = |limit_bytes: u64, needs: u64, port: &str, queue: u8| {
        format!(
            "{} bytes, and the accounts whose frames wait in queue {queue} of {port} have {} of headroom: it drops \
             what arrives after their PAUSE",
            grouped(limit_bytes),
            grouped(needs)
        )
    };
    for ((_, pool), (config, needs, port, queue, size)) in small_pools {
        let key = format!("BUFFER_POOL|{pool}.size");
        let instead = format!("at least {}", grouped(needs));
        findings.add(finding(FindingKind::Buffer, config, key, why(size, needs, port, queue), instead));
    }
    for ((_, name), (config, needs, port, queue, threshold)) in found {
        let why = why(threshold, needs, port, queue);
        let instead = "the size of the pool".to_owned();
        let key = format!("BUFFER_PROFILE|{name}.static_th");
        findings.add(finding(FindingKind::Buffer, config, key, why, instead));
    }
}

/// Returns the assumption about lossy profiles with a threshold of another kind than their pool. Published templates
/// have them.
fn foreign_thresholds(device: &Device<'_>) -> Option<String> {
    let mut found: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for config in device.configs() {
        for (name, profile) in &config.profiles {
            let Some(field) = profile.foreign_threshold(config).filter(|_| !profile.is_lossless()) else { continue };
            let text = format!("{} BUFFER_PROFILE|{name}.{field} in {}", config.file, profile.pool);
            found.insert((&config.name, name), text);
        }
    }
    let first = found.values().next()?;
    let others = match found.len() as u64 - 1 {
        0 => String::new(),
        more => format!(" (and {} more)", counted(more, "profile")),
    };
    Some(format!("the ASIC accepts thresholds of another kind than the pool's for lossy frames: {first}{others}"))
}

/// Returns the assumptions about buffer settings that the check does not cover.
pub(super) fn assumptions(device: &Device<'_>) -> Vec<String> {
    let mut list = Vec::new();
    let computed = pools(device).filter(|(config, _, pool)| pool.size.is_none() && config.dynamic.is_some()).count();
    if computed > 0 {
        let (pools, holds) = (counted(computed as u64, "pool"), if computed == 1 { "holds" } else { "hold" });
        let of = if computed == 1 { "its profiles reserve" } else { "their profiles reserve" };
        list.push(format!("the switch computes the size of {pools}, which {holds} all that {of}: not judged"));
    }
    // Queues with a threshold below the pool size, as in published files.
    let mut limited: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for (_, port) in device.ports() {
        let config = device.config(port);
        for queue in (0..32u8).filter(|queue| lossless_queues(port) >> queue & 1 == 1) {
            let Some(bound) = config.queues.get(&(port.name.clone(), queue)) else { continue };
            let Some(profile) = config.profiles.get(&bound.name) else { continue };
            let size = config.pools.get(&profile.pool).and_then(|pool| pool.size);
            let text = match (profile.threshold, size) {
                (Some(Threshold::Static(bytes)), Some(size)) if bytes.saturating_add(profile.size) < size => {
                    format!("static_th is {} of {} bytes of the pool", grouped(bytes), grouped(size))
                }
                (Some(Threshold::Dynamic(exponent)), _) if exponent < UNLIMITED => format!("dynamic_th is {exponent}"),
                _ => continue,
            };
            let text = format!("{} BUFFER_PROFILE|{}.{text}", config.file, bound.name);
            limited.entry((&config.name, &bound.name)).or_insert(text);
        }
    }
    list.extend(foreign_thresholds(device));
    if let Some(first) = limited.values().next() {
        let others = match limited.len() as u64 - 1 {
            0 => String::new(),
            more => format!(" (and {} more)", counted(more, "profile")),
        };
        list.push(format!("lossless queues hold all frames of their accounts: {first}{others}"));
    }
    // WRED that ECN-marks ECN-capable frames drops all other frames.
    let mut marking: BTreeMap<(&str, &str), String> = BTreeMap::new();
    let mut marked_queues = 0u64;
    for (_, port) in device.ports() {
        let config = device.config(port);
        for queue in (0..32u8).filter(|queue| lossless_queues(port) >> queue & 1 == 1) {
            let Some(bound) = config.marked.get(&(port.name.clone(), queue)) else { continue };
            let Some(wred) = config.wred.get(&bound.name).filter(|wred| !wred.marks.is_empty()) else { continue };
            marked_queues += 1;
            let text =
                || format!("{} WRED_PROFILE|{} ({}): {}", config.file, bound.name, wred.ecn, frames_of(&wred.marks));
            marking.entry((&config.name, &bound.name)).or_insert_with(text);
        }
    }
    if let Some(first) = marking.values().next() {
        let others = match marking.len() as u64 - 1 {
            0 => String::new(),
            more => format!(" (and {} more)", counted(more, "profile")),
        };
        let queues = counted(marked_queues, "lossless queue");
        list.push(format!("frames in {queues} are ECN-capable: WRED marks these and drops others, {first}{others}"));
    }
    let asymmetric = |(_, port): &(u32, &Port)| device.config(port).ports[&port.name].asymmetric;
    let asymmetric: Vec<&Port> = device.ports().filter(asymmetric).map(|(_, port)| port).collect();
    if let Some(first) = asymmetric.first() {
        let count = asymmetric.len() as u64;
        let (ports, obey) = (counted(count, "port"), if count == 1 { "obeys" } else { "obey" });
        list.push(format!(
            "no neighbour pauses a priority outside of pfc_enable, which {ports} with pfc_asym {obey}, {} {}",
            device.config(first).file,
            first.name
        ));
    }
    list
}
