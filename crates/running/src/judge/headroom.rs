//! Whether lossless accounts have the room that their cables need.
//!
//! `xoff` of the profile is what an account may take after it paused. It lies in the profile's own `size`, or, where
//! the pool has an `xoff`, in the shared headroom pool, of which no account can take more than all.

use super::findings::{Findings, finding};
use super::ports::group_key;
use crate::device::{Device, Port};
use crate::error::FindingKind;
use crate::options::Conditions;
use crate::read::{COMPUTED, Profile, SwitchConfig};
use std::collections::BTreeMap;
use text::numbers::grouped;
use units::Time;

/// Light in glass: 5 ns a metre.
const DELAY_PER_METRE: Time = Time::from_ns(5);

/// An account whose profile is too small.
struct Short {
    key: String,
    port: String,
    needs: u64,
    metres: u64,
}

pub(super) fn judge(device: &Device<'_>, needed: &dyn Fn(&Conditions) -> u64, findings: &mut Findings) {
    // By switch and profile: how many accounts use it, and those for which it is too small.
    let mut users: BTreeMap<(&str, &str), (u64, Vec<Short>)> = BTreeMap::new();
    let mut configs: BTreeMap<&str, &SwitchConfig> = BTreeMap::new();
    let mut known: Vec<(Conditions, u64)> = Vec::new();
    for (number, port) in device.ports() {
        let config = device.config(port);
        configs.insert(&config.name, config);
        check_length(config, port, findings);
        let conditions = conditions(device, number, port);
        let needs = match known.iter().find(|(same, _)| *same == conditions) {
            Some((_, needs)) => *needs,
            None => {
                known.push((conditions, needed(&conditions)));
                known[known.len() - 1].1
            }
        };
        for group in (0..8u8).filter(|&group| port.lossless >> group & 1 == 1) {
            let Some(bound) = config.groups.get(&(port.name.clone(), group)) else { continue };
            let Some(profile) = config.profiles.get(&bound.name).filter(|_| bound.name != COMPUTED) else { continue };
            let (uses, short) = users.entry((&config.name, &bound.name)).or_default();
            *uses += 1;
            if usable(config, profile) < needs {
                let metres = conditions.delay.as_ps() / DELAY_PER_METRE.as_ps();
                short.push(Short { key: group_key(device, port, group), port: port.name.clone(), needs, metres });
            }
        }
    }
    for ((switch, name), (uses, short)) in users {
        let config = configs[switch];
        let profile = &config.profiles[name];
        let usable = usable(config, profile);
        let of_profile = short.len() as u64 == uses;
        for short in short {
            let why = format!(
                "{} of headroom ({}), and {} with {} m of cable needs {}",
                grouped(usable),
                basis(config, profile),
                short.port,
                short.metres,
                grouped(short.needs)
            );
            let instead = format!("at least {} bytes", short.needs);
            let (key, instead) = match of_profile {
                true => (format!("BUFFER_PROFILE|{name}.xoff"), instead),
                false => (short.key, format!("a profile with {instead}")),
            };
            findings.add(finding(FindingKind::Headroom, config, key, why, instead));
        }
    }
}

/// A connected port of a file that states lengths must have one.
fn check_length(config: &SwitchConfig, port: &Port, findings: &mut Findings) {
    let length = config.cables.get(&port.name);
    if config.cables.is_empty() || length.is_some_and(|cable| cable.metres > 0) {
        return;
    }
    let key = length.map_or_else(|| format!("CABLE_LENGTH|AZURE.{}", port.name), |cable| cable.key.clone());
    let why = "the port has a neighbour and no length: SONiC gives it no lossless headroom".to_owned();
    findings.add(finding(FindingKind::Headroom, config, key, why, "the length of the cable, as 40m".to_owned()));
}

/// The bytes that an account can take after it paused.
fn usable(config: &SwitchConfig, profile: &Profile) -> u64 {
    let xoff = profile.xoff.unwrap_or(0);
    match config.pools.get(&profile.pool).and_then(|pool| pool.shared_headroom) {
        Some(shared) => xoff.min(shared),
        None => xoff.min(profile.size),
    }
}

/// What bounds it.
fn basis(config: &SwitchConfig, profile: &Profile) -> String {
    let xoff = profile.xoff.unwrap_or(0);
    match config.pools.get(&profile.pool).and_then(|pool| pool.shared_headroom) {
        Some(shared) if shared < xoff => format!("xoff of BUFFER_POOL|{}", profile.pool),
        None if profile.size < xoff => format!("size, and BUFFER_POOL|{} has no shared xoff", profile.pool),
        _ => "xoff".to_owned(),
    }
}

fn conditions(device: &Device<'_>, number: u32, port: &Port) -> Conditions {
    let config = device.config(port);
    let link = device.fabric.link(device.fabric.ports(port.node)[usize::from(port.index)].link);
    let row = config.ports[&port.name];
    let peer = device.peer(number).map(|(_, peer)| (device.config(peer), peer));
    let other_row = peer.map(|(config, peer)| config.ports[&peer.name]);
    let own = config.cables.get(&port.name).map(|cable| cable.metres);
    let other = peer.and_then(|(config, peer)| config.cables.get(&peer.name)).map(|cable| cable.metres);
    let delay = own.max(other).filter(|metres| *metres > 0).map_or(link.delay, |metres| DELAY_PER_METRE * metres);
    let rate = row.rate.or(other_row.and_then(|row| row.rate)).unwrap_or(link.rate);
    let mtu = row.mtu.max(other_row.map_or(0, |row| row.mtu));
    Conditions { rate, delay, mtu, priorities: port.enabled.count_ones() as u8 }
}
