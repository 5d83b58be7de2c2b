//! Merge of a fragment with the configuration of a platform: replaced entries, the merged configuration, and notes for
//! the operator.

use super::buffers::{Buffers, PlatformBuffers};
use super::model::{self, Config, RANGED, entries, named, number, range};
use super::{EGRESS_LOSSLESS, SonicError};
use crate::export::factorise::UnsupportedSwitch;
use crate::export::view::SwitchView;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Entries of the platform that overlap those of a fragment.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    /// Keys, as `TABLE|entry`.
    pub keys: Vec<String>,
    /// Operations of a JSON Patch (RFC 6902) that replaces each range by one entry per port and number, with the
    /// platform's own fields. It changes nothing else and empties no table, which SONiC's config updater would reject.
    pub steps: Vec<Value>,
}

/// Returns a JSON Patch operation (RFC 6902) on an entry of a table: `add` if `added` has a value, else `remove`.
fn step(table: &str, entry: &str, added: Option<&Value>) -> Value {
    let path = format!("/{table}/{}", entry.replace('~', "~0").replace('/', "~1"));
    match added {
        Some(value) => json!({ "op": "add", "path": path, "value": value }),
        None => json!({ "op": "remove", "path": path }),
    }
}

/// Returns the ranges of the platform's tables that share a number with a different key of the fragment; SONiC's
/// `config` rejects both together. Adds entries to the fragment for the numbers of a range that it does not set.
pub(super) fn replace_overlaps(platform: &Config, fragment: &mut Config) -> Replaced {
    let mut replaced = Replaced::default();
    for (table, most) in RANGED {
        let Some(ours) = fragment.get_mut(table).and_then(Value::as_object_mut) else { continue };
        let keys: BTreeSet<String> = ours.keys().cloned().collect();
        for (name, fields) in entries(platform, table) {
            let Some((ports, low, high)) = range(name, most) else { continue };
            let single = |port: &str, number: u8| format!("{port}|{number}");
            let covered = |port: &&str| (low..=high).any(|number| keys.contains(&single(port, number)));
            let is_one = ports.len() == 1 && low == high;
            if is_one || !ports.iter().any(covered) {
                continue;
            }
            replaced.keys.push(format!("{table}|{name}"));
            replaced.steps.push(step(table, name, None));
            for (port, number) in ports.iter().flat_map(|port| (low..=high).map(move |number| (port, number))) {
                let key = single(port, number);
                replaced.steps.push(step(table, &key, Some(fields)));
                let entry = ours.entry(key).or_insert_with(|| json!({}));
                let Some(entry) = entry.as_object_mut() else { continue };
                for (key, value) in fields.as_object().into_iter().flatten() {
                    entry.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
        }
    }
    replaced
}

/// Returns the interfaces of a switch. Ports outside the fabric are left to the platform.
pub(super) fn interfaces(view: &SwitchView) -> BTreeSet<&str> {
    view.ports().iter().map(|port| port.interface.as_str()).collect()
}

/// Merges the fragment into the platform's configuration without the replaced entries, and checks the result against
/// the rules of SONiC's models.
///
/// # Errors
/// [`SonicError::Platform`] with the rule that the merged configuration violates,
/// [`SonicError::UnsupportedSwitch`] if a pool is
/// exceeded.
pub(super) fn check_merged(
    view: &SwitchView,
    fragment: &Config,
    replaced: &Replaced,
    given: &PlatformBuffers<'_>,
) -> Result<Config, SonicError> {
    let mut merged = given.platform.map_or_else(Config::new, |platform| platform.config.clone());
    for key in &replaced.keys {
        let Some((table, name)) = key.split_once('|') else { continue };
        if let Some(all) = merged.get_mut(table).and_then(Value::as_object_mut) {
            all.remove(name);
        }
    }
    model::merge(&mut merged, fragment);
    if given.platform.is_none_or(super::Platform::defines_egress_elsewhere) {
        let profiles = merged.get_mut("BUFFER_PROFILE").and_then(Value::as_object_mut);
        let usual = json!({ "pool": "egress_lossless_pool", "size": "0" });
        profiles.map(|all| all.entry(EGRESS_LOSSLESS).or_insert(usual));
    }
    let ours = interfaces(view);
    let mut broken = model::check(&merged, Some(&ours));
    broken.extend(model::check_lossless(&merged, Some(&ours)));
    broken.extend(model::check_headroom(&merged, Some(&ours)));
    if let Some(violation) = broken.into_iter().next() {
        return Err(SonicError::Platform(violation.into()));
    }
    if let Some(over) = model::check_pools(&merged, given.share_headroom).into_iter().next() {
        return Err(UnsupportedSwitch::Pool { switch: view.name().to_owned(), why: over }.into());
    }
    Ok(merged)
}

/// Shortens the polling interval of a fragment to the shortest time in the platform's remaining `PFC_WD` rows,
/// including its own polling interval, because the whole switch has one interval. Returns a note with these rows.
pub(super) fn shorten_poll(platform: &Config, fragment: &mut Config, name: &str) -> Option<String> {
    let watchdog = fragment.get_mut("PFC_WD")?.as_object_mut()?;
    let own = number(watchdog.get("GLOBAL")?, "POLL_INTERVAL")?;
    let stay = entries(platform, "PFC_WD").filter(|(row, _)| *row == "GLOBAL" || !watchdog.contains_key(*row));
    let fields = ["POLL_INTERVAL", "detection_time", "restoration_time"];
    let times = stay.flat_map(|(row, of)| fields.map(|field| Some((number(of, field)?, row, field)))).flatten();
    // A time below SONiC's minimum interval does not shorten the interval: such a row is reported as invalid elsewhere.
    let shorter: Vec<_> = times.filter(|(ms, ..)| (super::LEAST_POLL_MS..own).contains(ms)).collect();
    let poll = shorter.iter().map(|(ms, ..)| *ms).min()?;
    watchdog.insert("GLOBAL".to_owned(), json!({ "POLL_INTERVAL": poll.to_string() }));
    let rows: Vec<String> = shorter.iter().map(|(ms, row, field)| format!("{row} ({field} {ms})")).collect();
    Some(format!(
        "{name}: POLL_INTERVAL is {poll} ms, not {own}, because of PFC_WD rows of the platform that stay: {}",
        rows.join(", ")
    ))
}

/// Formats as "X and 3 more".
fn and_more<T: std::fmt::Display>(all: &[T]) -> String {
    match all {
        [] => String::new(),
        [one] => one.to_string(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// Returns the entries of the platform with fields that the fragment overrides, by table.
fn overridden(platform: &Config, fragment: &Config) -> Vec<String> {
    let changed = fragment.iter().map(|(table, all)| {
        let differs = |(key, fields): &(&String, &Value)| {
            let known = platform.get(table).and_then(|known| known.get(key.as_str()));
            let other = |known: &Value| {
                let fields = fields.as_object().into_iter().flatten();
                fields.into_iter().any(|(field, value)| known.get(field).is_some_and(|old| old != value))
            };
            known.is_some_and(other)
        };
        let keys = all.as_object().into_iter().flatten().filter(differs);
        (table, keys.map(|(key, _)| key).collect::<Vec<_>>())
    });
    changed.filter(|(_, keys)| !keys.is_empty()).map(|(table, keys)| format!("{table}|{}", and_more(&keys))).collect()
}

/// Returns the DSCPs that are lossless at a port, one bit each: those with a traffic class that maps to a priority
/// group in `pfc_enable`.
fn lossless_dscps(config: &Config, port: &str) -> u64 {
    let lossless = || {
        let maps = config.get("PORT_QOS_MAP")?.get(port)?;
        let map = |field: &str, table: &str| config.get(table)?.get(named(maps, field)?)?.as_object();
        let classes = map("dscp_to_tc_map", "DSCP_TO_TC_MAP")?;
        let groups = map("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP")?;
        let paused: Vec<&str> = model::text(maps, "pfc_enable")?.split(',').collect();
        let is_lossless = |class: &Value| {
            let group = class.as_str().and_then(|class| groups.get(class)?.as_str());
            group.is_some_and(|group| paused.contains(&group))
        };
        let dscps = classes.iter().filter(|(_, class)| is_lossless(class)).filter_map(|(dscp, _)| dscp.parse().ok());
        Some(dscps.filter(|&dscp: &u32| dscp < 64).fold(0, |bits, dscp| bits | 1 << dscp))
    };
    lossless().unwrap_or(0)
}

/// Returns the DSCPs that are lossless at a port with the platform's configuration and lossy with the fragment, a bit
/// each.
pub(super) fn lost_dscps(view: &SwitchView, platform: &Config, merged: &Config) -> u64 {
    let lost = |port: &&str| lossless_dscps(platform, port) & !lossless_dscps(merged, port);
    interfaces(view).iter().fold(0, |bits, port| bits | lost(port))
}

/// Returns the note about groups and queues that are lossless until now, and that the fragment makes lossy.
pub(super) fn made_lossy(switch: &str, keys: &[String]) -> Option<String> {
    let keys = (!keys.is_empty()).then(|| and_more(keys))?;
    Some(format!(
        "{switch}: makes lossy, for these rules have no lossless tag with their priority: {keys}. They are lossless in \
         the platform's file"
    ))
}

/// Returns notes about DSCPs that are lossless with the platform's configuration and lossy with the fragment, by ports.
fn turning_lossy(view: &SwitchView, platform: &Config, merged: &Config) -> Vec<String> {
    let mut ports: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for port in interfaces(view) {
        let lost = lossless_dscps(platform, port) & !lossless_dscps(merged, port);
        ports.entry(lost).or_default().push(port);
    }
    ports.remove(&0);
    let note = |(lost, ports): (&u64, &Vec<&str>)| {
        let dscps: Vec<String> =
            (0..64).filter(|dscp| lost >> dscp & 1 == 1).map(|dscp: u8| dscp.to_string()).collect();
        format!(
            "{}: lossless until now and lossy with the fragment: DSCP {} at {}",
            view.name(),
            dscps.join(", "),
            and_more(ports)
        )
    };
    ports.iter().map(note).collect()
}

/// Returns notes about changes to the platform; `merged` is the platform with the fragment.
pub(super) fn notes(
    view: &SwitchView,
    fragment: &Config,
    merged: &Config,
    made: (&Replaced, &Buffers),
    given: &PlatformBuffers<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let (replaced, buffers) = made;
    let Some(platform) = given.platform else { return notes };
    let name = view.name();
    let changed = overridden(&platform.config, fragment);
    if !changed.is_empty() {
        notes.push(format!("{name}: overrides fields of {}", changed.join("; ")));
    }
    if !replaced.keys.is_empty() {
        notes.push(format!(
            "{name}: replaces {}: apply {name}.patch.json first (config apply-patch), for SONiC refuses ranges that \
             overlap",
            replaced.keys.join(", ")
        ));
    }
    notes.extend(turning_lossy(view, &platform.config, merged));
    for (profile, field) in &buffers.unknown_fields {
        notes.push(format!(
            "{name}: BUFFER_PROFILE|{profile} has the field `{field}`, which SONiC does not have: profiles made \
             from it are without it"
        ));
    }
    let computed: Vec<&String> = buffers.computed_by_switch.iter().collect();
    if !computed.is_empty() {
        notes.push(format!(
            "{name}: the switch computes the headroom of {} (dynamic buffer model), and the fragment replaces it by \
             fixed values{}; a change of speed, cable or MTU then needs a new export",
            and_more(&computed),
            if buffers.published.iter().any(|one| one.dynamic.is_some()) {
                ", not below the computed ones"
            } else {
                ": compare them with show buffer information before loading"
            }
        ));
    }
    for (table, what) in [("BUFFER_POOL", "the sizes of pools"), ("PORT", "the names of ports")] {
        if !platform.has(table) {
            notes.push(format!("{name}: the platform's file has no {table}: {what} are not checked"));
        }
    }
    let profiles: BTreeSet<&str> = buffers.queues.values().filter_map(|fields| named(fields, "profile")).collect();
    for (profile, limit) in profiles.into_iter().filter_map(|one| Some((one, model::queue_limit(merged, one)?))) {
        notes.push(format!(
            "{name}: lossless queues have BUFFER_PROFILE|{profile} with {limit}: they drop what exceeds it. A lossless \
             queue needs dynamic_th 7 or more (no limit), or static_th as large as its pool"
        ));
    }
    for (key, kind) in model::foreign_lossy(&platform.config) {
        notes.push(format!(
            "{name}: {key}: its pool has {kind} thresholds. The platform's file has it before the merge, and it \
             concerns lossy frames; whether the ASIC accepts it is not checked"
        ));
    }
    notes.extend(shared_headroom(name, merged));
    let queues = model::ports_of(&platform.config, "BUFFER_QUEUE", 15);
    let ours = interfaces(view);
    if !queues.is_empty() && queues.is_disjoint(&ours) {
        notes.push(format!("{name}: BUFFER_QUEUE of the platform's file names none of the fabric's ports"));
    }
    notes
}

/// Returns notes that compare the headroom of all groups with the shared headroom pool.
fn shared_headroom(name: &str, merged: &Config) -> Vec<String> {
    let pools: Map<String, Value> = merged.get("BUFFER_POOL").and_then(Value::as_object).cloned().unwrap_or_default();
    let uses = model::pool_uses(merged);
    let note = |(pool, used): (&String, &model::PoolUse)| {
        let shared = match pools.get(pool).and_then(|fields| number(fields, "xoff")).filter(|xoff| *xoff > 0) {
            Some(size) => format!("the shared headroom pool has {size} B"),
            None => "the file has no size of the shared headroom pool".to_owned(),
        };
        format!("{name}: xoff of all groups of {pool} adds up to {} B; {shared}", used.xoff)
    };
    uses.iter().filter(|(_, used)| used.xoff > 0).map(note).collect()
}
