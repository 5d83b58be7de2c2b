//! Check of the headroom of lossless accounts against the headroom that their cables need.
//!
//! `xoff` of the profile is the number of bytes that an account may accept after it sent a PAUSE. These bytes are part
//! of the profile's own `size`; if the pool has an `xoff`, they are part of this shared headroom, which also limits
//! each account. If the switch computes the headroom (dynamic buffer model), the computed value replaces `xoff`. On
//! such a switch, fixed profiles must also have at least the headroom of the model.

use super::dynamic::{ComputedHeadroom, Models};
use super::findings::{Findings, finding};
use super::links::{Attribute, Differences};
use super::ports::group_key;
use crate::device::{Device, Port};
use crate::error::{Finding, FindingKind};
use crate::options::Conditions;
use crate::read::{Pool, Profile, SwitchConfig};
use fabric::sonic::{DynamicHeadroom, HeadroomLimit, room_after_xoff};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use text::numbers::{counted, grouped};
use units::Time;

/// Propagation in glass: 5 ns per metre.
const DELAY_PER_METRE: Time = Time::from_ns(5);

/// Pool of the profiles that a switch computes.
const LOSSLESS_POOL: &str = "ingress_lossless_pool";

/// An account whose profile has too little headroom. `needs` is the required headroom in bytes.
struct HeadroomShortage {
    key: String,
    port: String,
    needs: u64,
    /// Text such as "40 m of cable".
    cable: String,
}

/// Headroom in bytes that a cable needs; `by_model` as the dynamic buffer model computes it.
struct Need {
    bytes: u64,
    /// Text such as "40 m of cable".
    cable: String,
    by_model: Option<DynamicHeadroom>,
}

/// Reports accounts with less headroom than their cable needs. Returns the headroom that switches compute.
pub(super) fn judge(
    device: &Device<'_>,
    needed: &dyn Fn(&Conditions) -> u64,
    models: &Models<'_>,
    findings: &mut Findings,
) -> Vec<ComputedHeadroom> {
    let mut computed: BTreeMap<DynamicHeadroom, u64> = BTreeMap::new();
    // Number of accounts, and the accounts with a shortage, by switch and profile.
    let mut users: BTreeMap<(&str, &str), (u64, Vec<HeadroomShortage>)> = BTreeMap::new();
    let mut configs: BTreeMap<&str, &SwitchConfig> = BTreeMap::new();
    let mut known: Vec<(Conditions, u64)> = Vec::new();
    // Profiles of one pool may share one key, and only the first finding of a key is shown, so the account with the
    // largest need is added first.
    let mut found: Vec<(u64, Finding)> = Vec::new();
    let differences = [Attribute::Length, Attribute::Mtu].map(|attribute| Differences::of(device, attribute));
    for (number, port) in device.ports() {
        let config = device.config(port);
        configs.insert(&config.name, config);
        check_length(config, port, findings);
        check_model(device, port, findings);
        let Some(cable) = cabled(device, number, port, &differences) else { continue };
        let mut need = |conditions: Conditions, cable: String| {
            let needs = match known.iter().find(|(same, _)| *same == conditions) {
                Some((_, needs)) => *needs,
                None => {
                    known.push((conditions, needed(&conditions)));
                    known[known.len() - 1].1
                }
            };
            let by_model = models.needed(config, &port.name, &conditions);
            let (bytes, cable) = match &by_model {
                Some(model) if model.xoff > needs => (model.xoff, format!("{cable} and the ASIC {}", model.asic)),
                _ => (needs, cable),
            };
            Need { bytes, cable, by_model }
        };
        let doubtful = cable.doubtful.map(|it| (need(it.conditions, it.cable), it.config, it.key));
        let Need { bytes: needs, cable, by_model } = need(cable.conditions, cable.cable);
        // A value of one end that is probably wrong must not demand more of the other end.
        let mut doubt = |has: u64, needs: u64, cable: &str, group: u8, (of, key): (&SwitchConfig, &String)| {
            let why = format!(
                "with this value {} {} needs {} bytes of headroom for {cable}, and {} has {}",
                config.file,
                port.name,
                grouped(needs),
                group_key(device, port, group),
                grouped(has)
            );
            let instead = format!("the value of the other end, or there a profile with at least {needs} bytes");
            found.push((needs, finding(FindingKind::Headroom, of, key.clone(), why, instead)));
        };
        for group in (0..8u8).filter(|&group| port.lossless >> group & 1 == 1) {
            let Some(bound) = config.groups.get(&(port.name.clone(), group)) else { continue };
            if config.computes(&bound.name) {
                let Some((own, model)) = models.computed(config, &port.name).zip(by_model.as_ref()) else { continue };
                let key = group_key(device, port, group);
                if !check_computed(config, &bound.name, key, &own, model, findings)
                    && let Some((Need { cable, by_model: Some(more), .. }, of, key)) = &doubtful
                    && own.xoff < more.xoff
                {
                    doubt(own.xoff, more.xoff, cable, group, (of, key));
                }
                *computed.entry(own).or_default() += 1;
                continue;
            }
            let Some(profile) = config.profiles.get(&bound.name) else { continue };
            let (uses, short) = users.entry((&config.name, &bound.name)).or_default();
            *uses += 1;
            let usable = usable(config, profile).0;
            if let Some((more, of, key)) = doubtful.as_ref().filter(|(more, ..)| usable >= needs && usable < more.bytes)
            {
                doubt(usable, more.bytes, &more.cable, group, (of, key));
            }
            if usable < needs {
                let cable = cable.clone();
                short.push(HeadroomShortage {
                    key: group_key(device, port, group),
                    port: port.name.clone(),
                    needs,
                    cable,
                });
            }
        }
    }
    for ((switch, name), (uses, short)) in users {
        let config = configs[switch];
        let profile = &config.profiles[name];
        let (usable, bound) = usable(config, profile);
        let pool = &profile.pool;
        let basis = match bound {
            HeadroomLimit::Xoff => "xoff".to_owned(),
            HeadroomLimit::Size => format!("size, and BUFFER_POOL|{pool} has no shared xoff"),
            HeadroomLimit::Shared => format!("xoff of BUFFER_POOL|{pool}"),
        };
        let of_profile = short.len() as u64 == uses;
        for short in short {
            let why = format!(
                "{} of headroom ({basis}), and {} with {} needs {}",
                grouped(usable),
                short.port,
                short.cable,
                grouped(short.needs)
            );
            let instead = format!("at least {} bytes", short.needs);
            // A second value that must be increased as well, if any.
            let and = match (&bound, config.pools.get(pool).and_then(|pool| pool.shared_headroom)) {
                (HeadroomLimit::Xoff, None) if profile.size < short.needs => ", in size too",
                (HeadroomLimit::Xoff, Some(shared)) if shared < short.needs => ", in xoff of the pool too",
                (HeadroomLimit::Size | HeadroomLimit::Shared, _) if profile.xoff.unwrap_or(0) < short.needs => {
                    ", in xoff of the profile too"
                }
                _ => "",
            };
            // If `size` is only the guaranteed minimum (Broadcom), the pool's `xoff` is missing.
            let or = match bound {
                HeadroomLimit::Size => format!(", or a shared headroom, BUFFER_POOL|{pool}.xoff"),
                HeadroomLimit::Xoff | HeadroomLimit::Shared => String::new(),
            };
            let (key, instead) = match (of_profile, &bound) {
                (_, HeadroomLimit::Shared) => (format!("BUFFER_POOL|{pool}.xoff"), format!("{instead}{and}")),
                (true, HeadroomLimit::Size) => (format!("BUFFER_PROFILE|{name}.size"), format!("{instead}{and}{or}")),
                (true, HeadroomLimit::Xoff) => (format!("BUFFER_PROFILE|{name}.xoff"), format!("{instead}{and}")),
                (false, HeadroomLimit::Size) => (short.key, format!("a profile with a size of {instead}{and}{or}")),
                (false, HeadroomLimit::Xoff) => (short.key, format!("a profile with {instead}{and}")),
            };
            found.push((short.needs, finding(FindingKind::Headroom, config, key, why, instead)));
        }
    }
    found.sort_by_key(|(needs, _)| Reverse(*needs));
    found.into_iter().for_each(|(_, finding)| findings.add(finding));
    computed.into_iter().map(|(headroom, groups)| ComputedHeadroom { headroom, groups }).collect()
}

/// Reports a priority group whose computed headroom, or whose pool's shared headroom, is below the need of its cable.
/// Returns whether the computed headroom is.
fn check_computed(
    config: &SwitchConfig,
    profile: &str,
    key: String,
    own: &DynamicHeadroom,
    needs: &DynamicHeadroom,
    findings: &mut Findings,
) -> bool {
    let needed =
        format!("{} m of cable and an MTU of {} need {}", needs.port.metres, needs.port.mtu, grouped(needs.xoff));
    if own.xoff < needs.xoff {
        let why = format!(
            "the switch computes {} of headroom from {} m and an MTU of {}; {needed}",
            grouped(own.xoff),
            own.port.metres,
            own.port.mtu
        );
        let instead = "speed, cable length and MTU of the peer port at this end".to_owned();
        findings.add(finding(FindingKind::Headroom, config, key.clone(), why, instead));
    }
    let pool = config.profiles.get(profile).map_or(LOSSLESS_POOL, |profile| &profile.pool);
    let shared = config.pools.get(pool).and_then(|pool| pool.shared_headroom);
    if let Some(shared) = shared.filter(|shared| (1..needs.xoff).contains(shared)) {
        let why = format!("{} of headroom for all priority groups of the pool, and {needed}", grouped(shared));
        let (key, instead) = (format!("BUFFER_POOL|{pool}.xoff"), format!("at least {} bytes", needs.xoff));
        findings.add(finding(FindingKind::Headroom, config, key, why, instead));
    }
    own.xoff < needs.xoff
}

/// Reports lossless groups whose profile only the dynamic buffer model fills in, at a switch with the traditional one.
fn check_model(device: &Device<'_>, port: &Port, findings: &mut Findings) {
    let config = device.config(port);
    for group in (0..8u8).filter(|&group| config.traditional && port.lossless >> group & 1 == 1) {
        let Some(bound) = config.groups.get(&(port.name.clone(), group)) else { continue };
        if !config.computes(&bound.name) {
            continue;
        }
        let why = format!(
            "group {group} of {} has the profile {}, whose headroom only the dynamic buffer model computes, and \
             DEVICE_METADATA|localhost.buffer_model is traditional: the group has no headroom",
            port.name,
            fabric::visible(&bound.name)
        );
        let instead = "a profile with xoff, or buffer_model dynamic".to_owned();
        findings.add(finding(FindingKind::Headroom, config, group_key(device, port, group), why, instead));
    }
}

/// Reports connected ports without a length. If the file has no length at all, only ports with a lossless account
/// count.
fn check_length(config: &SwitchConfig, port: &Port, findings: &mut Findings) {
    let length = config.cables.get(&port.name);
    if length.is_some_and(|cable| cable.metres > 0) {
        return;
    }
    if config.cables.is_empty() {
        if port.lossless != 0 {
            let why = format!("no port has a length: SONiC gives {} no lossless headroom", port.name);
            let instead = "a row with the length of the cable of each port, as 40m".to_owned();
            findings.add(finding(FindingKind::Headroom, config, "CABLE_LENGTH".to_owned(), why, instead));
        }
        return;
    }
    let key = length.map_or_else(|| format!("CABLE_LENGTH|AZURE.{}", port.name), |cable| cable.key.clone());
    let why = "the port has a neighbour and no length: SONiC gives it no lossless headroom".to_owned();
    findings.add(finding(FindingKind::Headroom, config, key, why, "the length of the cable, as 40m".to_owned()));
}

/// Returns the bytes that an account can accept after it sent a PAUSE, and the configuration value that limits them.
fn usable(config: &SwitchConfig, profile: &Profile) -> (u64, HeadroomLimit) {
    let shared = config.pools.get(&profile.pool).and_then(|pool| pool.shared_headroom);
    room_after_xoff(profile.xoff.unwrap_or(0), profile.size, shared)
}

/// The cable of a port.
struct PortCable<'a> {
    conditions: Conditions,
    /// Text such as "40 m of cable", or the delay of the topology.
    cable: String,
    doubtful: Option<DoubtfulCable<'a>>,
}

/// The cable of a port with a greater length or MTU that one end states, and that is probably wrong.
struct DoubtfulCable<'a> {
    conditions: Conditions,
    cable: String,
    /// The file and the key of the value.
    config: &'a SwitchConfig,
    key: String,
}

/// Returns the cable of a port; `None` if neither file nor topology has a length or delay, for which there is another
/// finding.
fn cabled<'a>(
    device: &'a Device<'_>,
    number: u32,
    port: &Port,
    [lengths, mtus]: &[Differences<'_>; 2],
) -> Option<PortCable<'a>> {
    let config = device.config(port);
    let link = device.fabric.link(device.fabric.ports(port.node)[usize::from(port.index)].link);
    let row = config.ports[&port.name];
    let peer = device.peer(number).map(|(at, peer)| (at, device.config(peer), peer));
    let other_row = peer.map(|(_, config, peer)| config.ports[&peer.name]);
    let own = config.cables.get(&port.name).map(|cable| cable.metres);
    let other = peer.and_then(|(_, config, peer)| config.cables.get(&peer.name)).map(|cable| cable.metres);
    let rate = row.rate.or(other_row.and_then(|row| row.rate)).unwrap_or(link.rate);
    let of = |metres: Option<u64>, mtu: u64| {
        let (delay, cable) = match metres.filter(|metres| *metres > 0) {
            Some(metres) => (DELAY_PER_METRE * metres, format!("{metres} m of cable")),
            None if device.fabric.assumes_links() => return None,
            None => (link.delay, format!("a delay of {}", link.delay)),
        };
        Some((Conditions { rate, delay, mtu, priorities: port.enabled.count_ones() as u8 }, cable))
    };
    let (metres, mtu) = (own.max(other), row.mtu.max(other_row.map_or(0, |row| row.mtu)));
    let (mut agreed_metres, mut agreed_mtu, mut doubtful) = (metres, mtu, None);
    if let Some((at, of_peer, peer)) = peer {
        let outlier = |of: &Differences<'_>, is_greater_here: bool| {
            let (number, config, name) =
                if is_greater_here { (number, config, &port.name) } else { (at, of_peer, &peer.name) };
            of.is_refuted(number).then(|| (config, of.attribute().key(config, name)))
        };
        let other_mtu = of_peer.ports[&peer.name].mtu;
        if let Some(at) = outlier(mtus, row.mtu > other_mtu) {
            (agreed_mtu, doubtful) = (row.mtu.min(other_mtu), Some(at));
        }
        // A length of 0 is a port without a cable.
        if let Some(at) = outlier(lengths, own > other).filter(|_| own.min(other) > Some(0)) {
            (agreed_metres, doubtful) = (own.min(other), Some(at));
        }
    }
    let doubtful = doubtful.zip(of(metres, mtu)).map(|((config, key), (conditions, cable))| DoubtfulCable {
        conditions,
        cable,
        config,
        key,
    });
    let (conditions, cable) = of(agreed_metres, agreed_mtu)?;
    Some(PortCable { conditions, cable, doubtful })
}

/// Demand on a pool.
#[derive(Default)]
struct PoolUse {
    /// Bytes that profiles of groups and queues reserve.
    size: u64,
    /// Sum of `xoff` over all lossless accounts, in bytes.
    xoff: u64,
    accounts: u64,
}

/// Returns the demand of connected ports on each pool, by switch and pool.
fn uses<'a>(device: &Device<'a>) -> BTreeMap<(&'a str, &'a str), (&'a SwitchConfig, PoolUse)> {
    let mut uses: BTreeMap<_, (&SwitchConfig, PoolUse)> = BTreeMap::new();
    for (_, port) in device.ports() {
        let config = device.config(port);
        let groups = (0..8u8).map(|group| (config.groups.get(&(port.name.clone(), group)), port.lossless >> group & 1));
        let queues = (0..32u8).map(|queue| (config.queues.get(&(port.name.clone(), queue)), 0));
        for (bound, lossless) in groups.chain(queues) {
            let Some(profile) = bound.and_then(|bound| config.profiles.get(&bound.name)) else { continue };
            let at = (config.name.as_str(), profile.pool.as_str());
            let (_, of_pool) = uses.entry(at).or_insert_with(|| (config, PoolUse::default()));
            of_pool.size = of_pool.size.saturating_add(profile.size);
            of_pool.xoff = of_pool.xoff.saturating_add(profile.xoff.filter(|_| lossless == 1).unwrap_or(0));
            of_pool.accounts += u64::from(lossless);
        }
    }
    uses
}

/// Returns the pools that connected ports use.
pub(super) fn pools<'a>(device: &Device<'a>) -> impl Iterator<Item = (&'a SwitchConfig, &'a str, Pool)> {
    let uses = uses(device).into_iter();
    uses.filter_map(|((_, name), (config, _))| Some((config, name, *config.pools.get(name)?)))
}

/// Reports pools whose profiles reserve more bytes than the pool's size.
pub(super) fn judge_pools(device: &Device<'_>, findings: &mut Findings) {
    for ((_, name), (config, of_pool)) in uses(device) {
        let Some(size) = config.pools.get(name).and_then(|pool| pool.size).filter(|size| of_pool.size > *size) else {
            continue;
        };
        let why = format!(
            "{} bytes, and the size of all groups and queues of connected ports adds up to {}",
            grouped(size),
            grouped(of_pool.size)
        );
        let instead = format!("at least {} bytes, or smaller profiles", of_pool.size);
        findings.add(finding(FindingKind::Headroom, config, format!("BUFFER_POOL|{name}.size"), why, instead));
    }
}

/// Returns the assumption about shared headroom that is smaller than the sum over all accounts, which SONiC allows.
pub(super) fn shared(device: &Device<'_>) -> Option<String> {
    let uses = uses(device);
    let over = uses.iter().filter_map(|((_, name), (config, of_pool))| {
        let shared = config.pools.get(*name)?.shared_headroom.filter(|shared| of_pool.xoff > *shared)?;
        Some((shared, *name, config, of_pool))
    });
    let over: Vec<_> = over.collect();
    // Pool with the smallest ratio of shared headroom to the sum of `xoff`, in millionths.
    let part = |shared: u64, of: &PoolUse| u128::from(shared) * 1_000_000 / u128::from(of.xoff.max(1));
    let (shared, name, config, of_pool) = over.iter().min_by_key(|(shared, .., of)| part(*shared, of))?;
    let others = match over.len() as u64 - 1 {
        0 => String::new(),
        more => format!(" (and {} more)", counted(more, "pool")),
    };
    Some(format!(
        "the accounts of a pool do not all need their headroom at once: {} BUFFER_POOL|{name}.xoff has {} bytes for {} \
         of {}{others}",
        config.file,
        grouped(*shared),
        grouped(of_pool.xoff),
        counted(of_pool.accounts, "account")
    ))
}
