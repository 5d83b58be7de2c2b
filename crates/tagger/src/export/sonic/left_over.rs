//! Priority groups and queues of a platform that are lossless, and whose priority is lossy with the rules: earlier
//! rules had more tags, or other marks. Without PFC they drop, and reserve headroom nevertheless, so the fragment gives
//! them lossy profiles.

use super::model::{Config, NO_PROFILE, RANGED, entries, is_lossy, named, number, range, text};
use super::platform::PlatformError;
use crate::export::view::SwitchView;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Names of the lossy profiles in SONiC's templates.
const INGRESS_LOSSY: &str = "ingress_lossy_profile";
const EGRESS_LOSSY: &str = "egress_lossy_profile";

/// A table of priority groups or queues.
struct Table<'a> {
    platform: &'a Config,
    name: &'static str,
    most: u8,
}

impl<'a> Table<'a> {
    fn profile(&self, name: &str) -> Option<&'a Value> {
        self.platform.get("BUFFER_PROFILE")?.get(name)
    }

    fn is_groups(&self) -> bool {
        self.name == RANGED[0].0
    }

    /// Returns ports, numbers and profile of each entry.
    fn rows(&self) -> impl Iterator<Item = (Vec<&'a str>, u8, u8, &'a str)> {
        let most = self.most;
        entries(self.platform, self.name).filter_map(move |(key, fields)| {
            let (ports, low, high) = range(key, most)?;
            Some((ports, low, high, named(fields, "profile")?))
        })
    }

    /// Whether a profile is for lossy frames: it has no `xoff`, or is lossy by its name or limit.
    fn is_lossy(&self, name: &str) -> bool {
        let Some(fields) = self.profile(name) else { return false };
        match self.is_groups() {
            true => fields.get("xoff").is_none() && text(fields, "headroom_type") != Some("dynamic"),
            false => is_lossy(self.platform, name),
        }
    }

    /// Whether the platform treats a number of a port as lossless by this profile.
    fn is_lossless(&self, port: &str, at: u8, name: &str) -> bool {
        if self.is_groups() {
            return name == NO_PROFILE || (self.profile(name).is_some() && !self.is_lossy(name));
        }
        let is_known = self.profile(name).is_some();
        let pool = || named(self.profile(name)?, "pool");
        let says_so = name.contains("lossless") || pool().is_some_and(|pool| pool.contains("lossless"));
        is_known && !self.is_lossy(name) && (says_so || self.is_stopped(port, at))
    }

    /// Whether PFC of the platform stops a queue.
    fn is_stopped(&self, port: &str, queue: u8) -> bool {
        let Some(fields) = self.platform.get("PORT_QOS_MAP").and_then(|rows| rows.get(port)) else { return false };
        let map =
            named(fields, "pfc_to_queue_map").and_then(|map| self.platform.get("MAP_PFC_PRIORITY_TO_QUEUE")?.get(map));
        let queue_of = |priority: &str| {
            let mapped = map.and_then(|map| number(map, priority));
            mapped.or_else(|| priority.parse().ok())
        };
        let enabled = text(fields, "pfc_enable").unwrap_or_default();
        enabled.split(',').any(|priority| queue_of(priority.trim()) == Some(queue.into()))
    }

    /// Returns a lossy profile for a port: the one that it has, that other ports have, or that templates define.
    fn lossy_profile(&self, port: &str) -> Option<&'a str> {
        let used = || self.rows().filter(|(.., profile)| self.is_lossy(profile));
        let own = used().find(|(ports, ..)| ports.contains(&port)).map(|(.., profile)| profile);
        let other = || used().map(|(.., profile)| profile).next();
        let usual = if self.is_groups() { INGRESS_LOSSY } else { EGRESS_LOSSY };
        let template = || {
            let profiles = entries(self.platform, "BUFFER_PROFILE").map(|(name, _)| name);
            profiles.into_iter().find(|name| *name == usual && self.is_lossy(name))
        };
        own.or_else(other).or_else(template)
    }
}

/// Adds entries with lossy profiles to the fragment for the groups and queues of these ports that would stay lossless.
/// Returns the keys with the profiles. `lossless`: the lossless priorities of each port.
///
/// # Errors
/// If the platform has no lossy profile for one.
pub(super) fn make_lossy(
    view: &SwitchView,
    lossless: &[Vec<u8>],
    platform: &Config,
    fragment: &mut Config,
) -> Result<Vec<String>, PlatformError> {
    let mut made = Vec::new();
    for (name, most) in [RANGED[0], RANGED[1]] {
        let table = Table { platform, name, most };
        // Numbers of each port that stay lossless.
        let mut left: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
        for (ports, low, high, profile) in table.rows() {
            for (port, lossless) in view.ports().iter().zip(lossless) {
                let interface = port.interface.as_str();
                if !ports.contains(&interface) {
                    continue;
                }
                let numbers = (low..=high).filter(|at| !lossless.contains(at));
                let stays = numbers.filter(|&at| table.is_lossless(interface, at, profile));
                left.entry(interface).or_default().extend(stays);
            }
        }
        for (port, number) in left.into_iter().flat_map(|(port, of)| of.into_iter().map(move |at| (port, at))) {
            let key = format!("{port}|{number}");
            let Some(profile) = table.lossy_profile(port) else {
                let of = if table.is_groups() { INGRESS_LOSSY } else { EGRESS_LOSSY };
                let what = format!(
                    "is lossless in the platform's file and lossy with these rules, and no profile of it is lossy: \
                     define one, as {of}, or remove the entry first"
                );
                return Err(PlatformError::of_config(format!("{name}|{key}"), what));
            };
            let rows = fragment.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if let Some(rows) = rows.as_object_mut() {
                rows.insert(key.clone(), json!({ "profile": profile }));
                made.push(format!("{name}|{key} ({profile})"));
            }
        }
    }
    Ok(made)
}
