//! Lossless profiles that may not belong to their port: the name states another speed or cable, or ports of the same
//! speed and cable have more headroom.
//!
//! SONiC's buffer manager names a profile after speed and cable, `pg_lossless_100000_40m_profile`. A profile that
//! remains after a change of the port has the headroom of the old one.

use super::findings::{Findings, finding};
use super::links::{Attribute, Differences};
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

/// Reports profiles whose name states a lower speed or a shorter cable than the port has. If the other end states
/// another length, and the length of this port is probably wrong, the finding is at the length.
pub(super) fn judge(device: &Device<'_>, findings: &mut Findings) {
    let lengths = Differences::of(device, Attribute::Length);
    let by_length = |it: &Misnamed<'_>| it.stated.0 >= it.own.0 && lengths.is_refuted(it.number);
    for misnamed in misnamed(device).filter(|it| !it.covers_port() && !by_length(it)) {
        let Misnamed { config, port, group, profile, stated, own, .. } = misnamed;
        let why = format!(
            "profile {profile} is for {} Mbps and {} m by its name, and {} has {} Mbps and {} m",
            stated.0, stated.1, port.name, own.0, own.1
        );
        let instead = format!("the platform's profile for {} Mbps and {} m", own.0, own.1);
        findings.add(finding(FindingKind::Headroom, config, group_key(device, port, group), why, instead));
    }
}

/// A group with a profile whose name states another speed (Mbps) or cable (m) than its port has.
struct Misnamed<'d> {
    config: &'d SwitchConfig,
    /// Number of the port in the device.
    number: u32,
    port: &'d Port,
    group: u8,
    profile: &'d str,
    stated: (u64, u64),
    own: (u64, u64),
}

impl Misnamed<'_> {
    /// Whether the stated speed and cable are at least those of the port.
    const fn covers_port(&self) -> bool {
        self.stated.0 >= self.own.0 && self.stated.1 >= self.own.1
    }
}

fn misnamed<'d>(device: &'d Device<'_>) -> impl Iterator<Item = Misnamed<'d>> {
    device.ports().flat_map(|(number, port)| {
        let config = device.config(port);
        let own = own(config, port).map(|(speed, metres, _)| (speed, metres));
        fixed(config, port).into_iter().filter_map(move |(group, profile, _)| {
            let (stated, own) = (stated(profile)?, own?);
            (stated != own).then_some(Misnamed { config, number, port, group, profile, stated, own })
        })
    })
}

/// Platform of a switch, or its name if the file does not state one: headroom differs between platforms.
fn platform(config: &SwitchConfig) -> &str {
    if config.hwsku.is_empty() { &config.name } else { &config.hwsku }
}

/// Returns the assumptions about profiles that may be right: named after a faster or longer link than that of their
/// port, or with another headroom than most ports with the same group, speed, cable and MTU. Ports of one speed may
/// differ in lanes and gearboxes, which the files do not state.
pub(super) fn assumptions(device: &Device<'_>) -> Vec<String> {
    let more = |count: usize| if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
    let mut list = Vec::new();
    let larger: Vec<Misnamed> = misnamed(device).filter(Misnamed::covers_port).collect();
    if let Some(first) = larger.first() {
        list.push(format!(
            "profiles named after a faster or longer link fit their ports: {} {} with {}{}",
            first.config.file,
            first.port.name,
            first.profile,
            more(larger.len())
        ));
    }
    // Number of accounts by headroom, by platform, group and properties of the port.
    let mut values: BTreeMap<(&str, u8, Medium), BTreeMap<u64, usize>> = BTreeMap::new();
    let accounts = || {
        device.ports().flat_map(|(_, port)| {
            let config = device.config(port);
            let of = own(config, port);
            let fixed = fixed(config, port).into_iter();
            fixed
                .filter_map(move |(group, name, xoff)| Some(((platform(config), group, of?), config, port, name, xoff)))
        })
    };
    for (key, .., xoff) in accounts() {
        *values.entry(key).or_default().entry(xoff).or_default() += 1;
    }
    // The usual value is the most frequent one, of equally frequent ones the largest.
    let usual = |key: &(&str, u8, Medium)| {
        values[key].iter().max_by_key(|(xoff, count)| (**count, **xoff)).map_or((0, 0), |(x, n)| (*x, *n))
    };
    let others: Vec<_> = accounts().filter(|(key, .., xoff)| *xoff != usual(key).0).collect();
    if let Some((key, config, port, name, xoff)) = others.first() {
        let (bytes, count) = usual(key);
        let (speed, metres, mtu) = key.2;
        list.push(format!(
            "headroom may differ between equal ports: {} {} has {} bytes ({name}), and {count} of {} ports with \
             {speed} Mbps, {metres} m and MTU {mtu} have {} for this group{}",
            config.file,
            port.name,
            grouped(*xoff),
            values[key].values().sum::<usize>(),
            grouped(bytes),
            more(others.len())
        ));
    }
    list
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
