//! Lossless profiles that do not belong to their port: the name states another speed or cable, or ports of the same
//! speed and cable have more headroom.
//!
//! SONiC's buffer manager names a profile after speed and cable, `pg_lossless_100000_40m_profile`. A profile that
//! remains after a change of the port has the headroom of the old one.

use super::findings::{Findings, finding};
use super::ports::group_key;
use crate::device::{Device, Port};
use crate::error::FindingKind;
use crate::read::SwitchConfig;
use std::collections::BTreeMap;
use text::numbers::grouped;

const BPS_PER_MBPS: u64 = 1_000_000;

/// Speed in Mbps, length in metres and MTU in bytes of a port.
type Medium = (u64, u64, u64);

/// Speed in Mbps and length in metres that the name of a profile states.
fn stated(profile: &str) -> Option<(u64, u64)> {
    let mut parts = profile.strip_prefix("pg_lossless_")?.split('_');
    let speed = parts.next()?.parse().ok()?;
    Some((speed, parts.next()?.strip_suffix('m')?.parse().ok()?))
}

/// Returns the values that a switch states for a port.
fn own(config: &SwitchConfig, port: &Port) -> Option<Medium> {
    let row = config.ports.get(&port.name)?;
    let metres = config.cables.get(&port.name)?.metres;
    Some((row.rate?.as_bps() / BPS_PER_MBPS, metres, row.mtu)).filter(|(_, metres, _)| *metres > 0)
}

/// Returns the lossless groups of a port that have a fixed profile with `xoff`: group, name and bytes.
fn fixed<'a>(config: &'a SwitchConfig, port: &Port) -> Vec<(u8, &'a str, u64)> {
    let groups = (0..8u8).filter(|group| port.lossless >> group & 1 == 1);
    let fixed = groups.filter_map(|group| {
        let bound = config.groups.get(&(port.name.clone(), group))?;
        let name = Some(bound.name.as_str()).filter(|name| !config.computes(name))?;
        Some((group, name, config.profiles.get(name)?.xoff?))
    });
    fixed.collect()
}

pub(super) fn judge(device: &Device<'_>, findings: &mut Findings) {
    judge_names(device, findings);
    judge_equals(device, findings);
}

fn judge_names(device: &Device<'_>, findings: &mut Findings) {
    for (_, port) in device.ports() {
        let config = device.config(port);
        let Some((speed, metres, _)) = own(config, port) else { continue };
        for (group, name, _) in fixed(config, port) {
            let Some((stated_speed, stated_metres)) = stated(name).filter(|stated| *stated != (speed, metres)) else {
                continue;
            };
            let why = format!(
                "profile {name} is for {stated_speed} Mbps and {stated_metres} m by its name, and {} has {speed} Mbps \
                 and {metres} m",
                port.name
            );
            let instead = format!("the platform's profile for {speed} Mbps and {metres} m");
            findings.add(finding(FindingKind::Headroom, config, group_key(device, port, group), why, instead));
        }
    }
}

/// Platform of a switch, or its name if the file does not state one: headroom differs between platforms.
fn platform(config: &SwitchConfig) -> &str {
    if config.hwsku.is_empty() { &config.name } else { &config.hwsku }
}

fn judge_equals(device: &Device<'_>, findings: &mut Findings) {
    // Largest headroom and its profile, by platform and properties of the port.
    let mut most: BTreeMap<(&str, Medium), (u64, &str, &str)> = BTreeMap::new();
    let accounts = || {
        device.ports().flat_map(|(_, port)| {
            let config = device.config(port);
            let of = own(config, port);
            fixed(config, port).into_iter().filter_map(move |(_, name, xoff)| Some((config, port, of?, name, xoff)))
        })
    };
    for (config, _, of, name, xoff) in accounts() {
        let largest = most.entry((platform(config), of)).or_insert((xoff, name, &config.file));
        if largest.0 < xoff {
            *largest = (xoff, name, &config.file);
        }
    }
    for (config, port, of, name, xoff) in accounts() {
        let (largest, other, file) = most[&(platform(config), of)];
        if xoff < largest {
            let why = format!(
                "{} bytes at {}, and BUFFER_PROFILE|{other} of {file} has {} for the same speed, cable and MTU ({} \
                 Mbps, {} m, {} bytes)",
                grouped(xoff),
                port.name,
                grouped(largest),
                of.0,
                of.1,
                of.2
            );
            let key = format!("BUFFER_PROFILE|{name}.xoff");
            let instead = format!("at least {largest} bytes");
            findings.add(finding(FindingKind::Headroom, config, key, why, instead));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::stated;

    #[test]
    fn names_state_speed_and_cable() {
        assert_eq!(stated("pg_lossless_100000_40m_profile"), Some((100_000, 40)));
        assert_eq!(stated("pg_lossless_400000_5m_8lane_profile"), Some((400_000, 5)));
        for other in
            ["pg_lossless_profile", "ingress_lossless_profile", "pg_lossless_100000_profile", "pg_lossless_x_5m"]
        {
            assert_eq!(stated(other), None, "{other}");
        }
    }
}
