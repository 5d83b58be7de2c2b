//! Rules of SONiC's YANG models for QoS, buffers and the watchdog, and the additional check of its `config` command:
//! ranges of one port must not overlap. Written after the models `sonic-buffer-pg`, `sonic-buffer-queue`,
//! `sonic-buffer-profile`, `sonic-pfcwd`, `sonic-port-qos-map`, `sonic-scheduler` and those of the maps; other tables
//! are ignored.

use fabric::sonic::{HeadroomLimit, room_after_xoff};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Configuration: tables of entries of fields.
pub type Config = Map<String, Value>;

/// Violated rule, with its location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{key}: {rule}")]
pub struct Violation {
    /// `TABLE|entry` or `TABLE|entry.field`.
    pub key: String,
    /// Rule that is violated.
    pub rule: String,
}

/// Maps, with the highest key and value of SONiC's models. ASICs with more queues need other models.
const MAPS: [(&str, u64, u64); 7] = [
    ("DSCP_TO_TC_MAP", 63, 15),
    ("DOT1P_TO_TC_MAP", 7, 15),
    ("TC_TO_DSCP_MAP", 15, 63),
    ("TC_TO_QUEUE_MAP", 15, 9),
    ("TC_TO_PRIORITY_GROUP_MAP", 15, 7),
    ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", 7, 7),
    ("MAP_PFC_PRIORITY_TO_QUEUE", 7, 7),
];
/// Fields of `PORT_QOS_MAP`, with the map that each references.
const BINDINGS: [(&str, &str); 7] = [
    ("dscp_to_tc_map", "DSCP_TO_TC_MAP"),
    ("dot1p_to_tc_map", "DOT1P_TO_TC_MAP"),
    ("tc_to_dscp_map", "TC_TO_DSCP_MAP"),
    ("tc_to_queue_map", "TC_TO_QUEUE_MAP"),
    ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
    ("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
    ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
];
/// Profile of a priority group for which the switch computes the headroom itself (dynamic buffer model).
pub(super) const NO_PROFILE: &str = "NULL";
/// Tables with keys of ports and a range, with the highest number.
pub(super) const RANGED: [(&str, u8); 3] = [("BUFFER_PG", 7), ("BUFFER_QUEUE", 15), ("QUEUE", 15)];

/// Returns the entries of a table.
pub(super) fn entries<'a>(config: &'a Config, table: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let found = config.get(table).and_then(Value::as_object);
    found.into_iter().flatten().map(|(name, fields)| (name.as_str(), fields))
}

/// Returns a field as text.
pub(super) fn text<'a>(fields: &'a Value, key: &str) -> Option<&'a str> {
    fields.get(key).and_then(Value::as_str)
}

/// Returns a field as a number, which `config_db.json` stores as text.
pub(super) fn number(fields: &Value, key: &str) -> Option<u64> {
    let value = fields.get(key)?;
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns the name in a reference: images before 202106 wrote `[TABLE|name]`.
pub(super) fn bare(reference: &str) -> &str {
    let inner = reference.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    inner.map_or(reference, |inner| inner.rsplit('|').next().unwrap_or(inner))
}

/// Returns the name in a field that references an entry.
pub(super) fn named<'a>(fields: &'a Value, key: &str) -> Option<&'a str> {
    text(fields, key).map(bare)
}

/// Returns the ports of a ranged key, even if its numbers are invalid.
fn ports_in(key: &str) -> impl Iterator<Item = &str> {
    key.rsplit_once('|').map_or(key, |(ports, _)| ports).split(',')
}

/// Returns ports and numbers (first and last) of a key `Ethernet0|3-4` or `Ethernet0,Ethernet4|3`.
pub(super) fn range(key: &str, most: u8) -> Option<(Vec<&str>, u8, u8)> {
    let (ports, numbers) = key.rsplit_once('|')?;
    let one = |text: &str| text.parse::<u8>().ok().filter(|&number| number <= most && text.len() <= 2);
    let (low, high) = match numbers.split_once('-') {
        Some((low, high)) => (one(low)?, one(high)?),
        None => (one(numbers)?, one(numbers)?),
    };
    (low <= high).then(|| (ports.split(',').collect(), low, high))
}

/// Exponent of alpha from which SAI treats a dynamic threshold as infinite (`SAI_BUFFER_ALPHA_INFINITY` of the public
/// SAI implementation for Spectrum). SONiC's templates for Spectrum use 7 for lossless queues and 3 for lossy ones.
const NO_LIMIT: i64 = 7;

/// Returns the drop threshold of a queue profile as `field value`: `dynamic_th` below 7, or `static_th` below the size
/// of its pool. `None` if there is no limit or the file does not state one.
pub(super) fn queue_limit(config: &Config, profile: &str) -> Option<String> {
    let fields = config.get("BUFFER_PROFILE")?.get(profile)?;
    if let Some(alpha) = text(fields, "dynamic_th").and_then(|alpha| alpha.parse::<i64>().ok()) {
        return (alpha < NO_LIMIT).then(|| format!("dynamic_th {alpha}"));
    }
    let bytes = number(fields, "static_th")?;
    let size = number(config.get("BUFFER_POOL")?.get(named(fields, "pool")?)?, "size")?;
    (bytes < size).then(|| format!("static_th {bytes}"))
}

/// Returns whether a queue profile is for lossy traffic. In the platform's templates the name of the profile or of its
/// pool contains "lossy" or "lossless"; if neither does, a profile with a queue limit is lossy.
pub(super) fn is_lossy(config: &Config, profile: &str) -> bool {
    let fields = config.get("BUFFER_PROFILE").and_then(|all| all.get(profile));
    let pool = fields.and_then(|fields| named(fields, "pool")).unwrap_or_default();
    let names_contain = |word: &str| profile.contains(word) || pool.contains(word);
    names_contain("lossy") || (!names_contain("lossless") && queue_limit(config, profile).is_some())
}

/// Returns the field of a threshold whose kind is not that of the profile's pool, and the kind of the pool.
fn foreign_threshold(config: &Config, fields: &Value) -> Option<(&'static str, &'static str)> {
    let pool = config.get("BUFFER_POOL")?.get(named(fields, "pool")?)?;
    match (text(pool, "mode")?, fields.get("dynamic_th"), fields.get("static_th")) {
        ("static", Some(_), None) => Some(("dynamic_th", "static")),
        ("dynamic", None, Some(_)) => Some(("static_th", "dynamic")),
        _ => None,
    }
}

/// Returns whether a profile is for lossy frames by its own name, else by that of its pool, and has no `xoff`.
fn drops(name: &str, fields: &Value) -> bool {
    let pool = named(fields, "pool").unwrap_or_default();
    let is_named = name.contains("lossy") || (!name.contains("lossless") && pool.contains("lossy"));
    is_named && fields.get("xoff").is_none()
}

/// Returns the lossy profiles with a threshold of another kind than their pool: key, and kind of the pool.
pub(super) fn foreign_lossy(config: &Config) -> Vec<(String, &'static str)> {
    let lossy = entries(config, "BUFFER_PROFILE").filter(|(name, fields)| drops(name, fields));
    let foreign = lossy.filter_map(|(name, fields)| {
        let (field, kind) = foreign_threshold(config, fields)?;
        Some((format!("BUFFER_PROFILE|{name}.{field}"), kind))
    });
    foreign.collect()
}

/// Ports whose entries are checked; `None` for all.
pub type Ports<'a> = Option<&'a BTreeSet<&'a str>>;

struct Check<'a> {
    config: &'a Config,
    ports: Ports<'a>,
    found: Vec<Violation>,
}

impl Check<'_> {
    fn judges(&self, port: &str) -> bool {
        self.ports.is_none_or(|ports| ports.contains(port))
    }

    fn wrong(&mut self, key: String, rule: impl Into<String>) {
        self.found.push(Violation { key, rule: rule.into() });
    }

    /// Checks a reference to an entry of a table. A table that is missing may be in another file.
    fn refers(&mut self, key: String, table: &str, name: &str) {
        let known = self.config.get(table).is_none_or(|all| all.get(name).is_some());
        if !known {
            self.wrong(key, format!("{table} has no `{name}`"));
        }
    }

    fn within(&mut self, table: &str, entry: &str, fields: &Value, field: &str, range: std::ops::RangeInclusive<u64>) {
        if fields.get(field).is_some() && !number(fields, field).is_some_and(|number| range.contains(&number)) {
            let rule = format!("a whole number from {} to {}", range.start(), range.end());
            self.wrong(format!("{table}|{entry}.{field}"), rule);
        }
    }

    fn one_of(&mut self, table: &str, entry: &str, fields: &Value, field: &str, all: &[&str]) {
        if fields.get(field).is_some() && !text(fields, field).is_some_and(|value| all.contains(&value)) {
            self.wrong(format!("{table}|{entry}.{field}"), format!("one of {}", all.join(", ")));
        }
    }

    fn maps(&mut self) {
        for (table, most_key, most_value) in MAPS {
            for (name, fields) in entries(self.config, table) {
                for (key, value) in fields.as_object().into_iter().flatten() {
                    let good = |text: &str, most| text.parse::<u64>().is_ok_and(|number| number <= most);
                    if !good(key, most_key) || !value.as_str().is_some_and(|value| good(value, most_value)) {
                        let rule = format!("maps 0 to {most_key} to 0 to {most_value}, and this is {value}");
                        self.wrong(format!("{table}|{name}.{}", fabric::visible(key)), rule);
                    }
                }
            }
        }
        for (port, fields) in entries(self.config, "PORT_QOS_MAP") {
            if port != "global" && !self.judges(port) {
                continue;
            }
            let own = |field: &str| format!("PORT_QOS_MAP|{port}.{field}");
            if port != "global" {
                self.refers(format!("PORT_QOS_MAP|{port}"), "PORT", port);
            }
            for (field, table) in BINDINGS {
                if let Some(name) = named(fields, field) {
                    self.refers(own(field), table, name);
                }
            }
            for field in ["pfc_enable", "pfcwd_sw_enable"] {
                if fields.get(field).is_some() && text(fields, field).and_then(priorities).is_none() {
                    self.wrong(own(field), "priorities 0 to 7 with commas between, or the empty text");
                }
            }
        }
    }

    fn ranges(&mut self) {
        for (table, most) in RANGED {
            let mut known: BTreeMap<&str, Vec<(u8, u8, &str)>> = BTreeMap::new();
            for (name, fields) in entries(self.config, table) {
                let key = format!("{table}|{name}");
                let judged = self.ports;
                if !ports_in(name).any(|port| self.judges(port)) {
                    continue;
                }
                let Some((ports, low, high)) = range(name, most) else {
                    self.wrong(key, format!("a port, and a number or range of 0 to {most}, as in Ethernet0|3"));
                    continue;
                };
                for port in ports.into_iter().filter(|port| judged.is_none_or(|all| all.contains(port))) {
                    self.refers(key.clone(), "PORT", port);
                    let of_port = known.entry(port).or_default();
                    if let Some((.., other)) = of_port.iter().find(|other| other.0 <= high && low <= other.1) {
                        let rule = format!("overlaps {table}|{other}: no two entries of a port share a number");
                        self.wrong(key.clone(), rule);
                    }
                    of_port.push((low, high, name));
                }
                let (field, target) =
                    if table == "QUEUE" { ("scheduler", "SCHEDULER") } else { ("profile", "BUFFER_PROFILE") };
                match named(fields, field) {
                    Some(NO_PROFILE) if table == "BUFFER_PG" => {}
                    Some(profile) => self.refers(format!("{key}.{field}"), target, profile),
                    None if table == "QUEUE" => {}
                    None => self.wrong(key, "it has no `profile`"),
                }
            }
        }
    }

    fn buffers(&mut self) {
        for (name, fields) in entries(self.config, "BUFFER_POOL") {
            self.one_of("BUFFER_POOL", name, fields, "type", &["ingress", "egress", "both"]);
            self.one_of("BUFFER_POOL", name, fields, "mode", &["static", "dynamic"]);
            for field in ["size", "xoff"] {
                self.within("BUFFER_POOL", name, fields, field, 0..=u64::MAX);
            }
        }
        for (name, fields) in entries(self.config, "BUFFER_PROFILE") {
            let key = |field: &str| format!("BUFFER_PROFILE|{name}.{field}");
            let Some(pool) = named(fields, "pool") else {
                self.wrong(format!("BUFFER_PROFILE|{name}"), "it has no `pool`");
                continue;
            };
            self.refers(key("pool"), "BUFFER_POOL", pool);
            for field in ["size", "xon", "xoff", "xon_offset", "static_th"] {
                self.within("BUFFER_PROFILE", name, fields, field, 0..=u64::MAX);
            }
            let dynamic = fields.get("dynamic_th");
            if dynamic.is_some_and(|th| th.as_str().is_none_or(|th| th.parse::<i32>().is_err())) {
                self.wrong(key("dynamic_th"), "a whole number: the exponent of alpha");
            }
            if fields.get("size").is_none() {
                // The switch computes the size of a profile of the dynamic buffer model.
                if text(fields, "headroom_type") != Some("dynamic") {
                    self.wrong(format!("BUFFER_PROFILE|{name}"), "it has no `size`");
                }
            }
            if dynamic.is_some() && fields.get("static_th").is_some() {
                self.wrong(key("static_th"), "beside `dynamic_th`: a profile has one of them");
            }
            // Published templates have such lossy profiles; they are in the notes.
            if let Some((field, kind)) = foreign_threshold(self.config, fields).filter(|_| !drops(name, fields)) {
                self.wrong(key(field), format!("its pool has {kind} thresholds"));
            }
        }
        for (name, fields) in entries(self.config, "SCHEDULER") {
            self.one_of("SCHEDULER", name, fields, "type", &["DWRR", "WRR", "STRICT"]);
            self.within("SCHEDULER", name, fields, "weight", 1..=100);
        }
    }

    fn watchdog(&mut self) {
        let all = self.config.get("PFC_WD");
        let poll = all.and_then(|all| number(all.get("GLOBAL")?, "POLL_INTERVAL"));
        for (name, fields) in entries(self.config, "PFC_WD") {
            if name == "GLOBAL" {
                self.within("PFC_WD", name, fields, "POLL_INTERVAL", 100..=1_000);
                continue;
            }
            if !self.judges(name) {
                continue;
            }
            self.refers(format!("PFC_WD|{name}"), "PORT", name);
            self.one_of("PFC_WD", name, fields, "action", &["drop", "forward", "alert"]);
            self.within("PFC_WD", name, fields, "detection_time", 100..=5_000);
            self.within("PFC_WD", name, fields, "restoration_time", 100..=60_000);
            for field in ["detection_time", "restoration_time"] {
                if let Some((time, poll)) = number(fields, field).zip(poll).filter(|(time, poll)| time < poll) {
                    let rule = format!("{time} is below POLL_INTERVAL, {poll}");
                    self.wrong(format!("PFC_WD|{name}.{field}"), rule);
                }
            }
        }
    }
}

/// Parses "3,4" or the empty text.
fn priorities(text: &str) -> Option<Vec<u8>> {
    let one = |text: &str| (text.len() == 1).then(|| text.parse().ok().filter(|&priority| priority <= 7)).flatten();
    if text.is_empty() { Some(Vec::new()) } else { text.split(',').map(one).collect() }
}

/// Returns the rules that a configuration violates at these ports and in entries without ports, by table. References
/// into missing tables are not checked.
pub fn check(config: &Config, ports: Ports<'_>) -> Vec<Violation> {
    let mut check = Check { config, ports, found: Vec::new() };
    check.maps();
    check.ranges();
    check.buffers();
    check.watchdog();
    check.found
}

/// Returns the violations of lossless priorities at these ports: no priority group with `xoff`, or a queue that may
/// drop. A group or queue without an entry is a violation.
pub fn check_lossless(config: &Config, ports: Ports<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    let covering = |table: &str, most, port: &str, number: u8| {
        entries(config, table).find_map(|(name, fields)| {
            let (ports, low, high) = range(name, most)?;
            let covers = ports.contains(&port) && (low..=high).contains(&number);
            covers.then(|| (format!("{table}|{name}"), named(fields, "profile").unwrap_or_default()))
        })
    };
    let judged = entries(config, "PORT_QOS_MAP").filter(|(port, _)| ports.is_none_or(|ports| ports.contains(port)));
    for (port, fields) in judged {
        for priority in text(fields, "pfc_enable").and_then(priorities).unwrap_or_default() {
            let group = covering("BUFFER_PG", 7, port, priority);
            let has_xoff = |profile: &str| {
                let profile = config.get("BUFFER_PROFILE").and_then(|all| all.get(profile));
                profile.is_some_and(|fields| {
                    fields.get("xoff").is_some() || text(fields, "headroom_type") == Some("dynamic")
                })
            };
            let mut wrong = |key: String, rule: String| found.push(Violation { key, rule });
            match group {
                None => wrong(format!("BUFFER_PG|{port}|{priority}"), "a lossless priority without a group".to_owned()),
                Some((key, profile)) if !has_xoff(profile) => {
                    wrong(key, format!("`{profile}` has no `xoff`, and priority {priority} is lossless"));
                }
                Some(_) => {}
            }
            let to_queue = named(fields, "pfc_to_queue_map")
                .and_then(|map| number(config.get("MAP_PFC_PRIORITY_TO_QUEUE")?.get(map)?, &priority.to_string()));
            let queue = to_queue.map_or(priority, |queue| queue as u8);
            match covering("BUFFER_QUEUE", 15, port, queue) {
                None => wrong(format!("BUFFER_QUEUE|{port}|{queue}"), "a lossless queue without a profile".to_owned()),
                Some((key, profile)) if is_lossy(config, profile) => {
                    wrong(key, format!("`{profile}` is lossy, and queue {queue} is lossless"));
                }
                Some(_) => {}
            }
        }
    }
    found
}

/// Sum of the reservations of all groups and queues of a pool, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// Sum of `size`.
    pub size: u64,
    /// Sum of `xoff` of profiles whose `size` does not include it.
    pub xoff: u64,
}

/// Returns the use of each pool by `BUFFER_PG` and `BUFFER_QUEUE`.
pub fn pool_uses(config: &Config) -> BTreeMap<String, PoolUse> {
    let mut found: BTreeMap<String, PoolUse> = BTreeMap::new();
    for (table, most) in &RANGED[..2] {
        for (name, fields) in entries(config, table) {
            let profile = named(fields, "profile").and_then(|name| config.get("BUFFER_PROFILE")?.get(name));
            let Some((profile, (ports, low, high))) = profile.zip(range(name, *most)) else { continue };
            let Some(pool) = named(profile, "pool") else { continue };
            let count = ports.len() as u64 * u64::from(high - low + 1);
            let of = |field: &str| number(profile, field).unwrap_or(0);
            let apart = of("size") < of("xoff").saturating_add(of("xon"));
            let of_pool = found.entry(pool.to_owned()).or_default();
            of_pool.size = of_pool.size.saturating_add(of("size").saturating_mul(count));
            if apart {
                of_pool.xoff = of_pool.xoff.saturating_add(of("xoff").saturating_mul(count));
            }
        }
    }
    found
}

/// Returns the pools that are overbooked: by the `size` of all groups and queues, or by the `xoff` of all in a shared
/// headroom pool, unless `sharing_headroom`.
pub fn check_pools(config: &Config, sharing_headroom: bool) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, used) in pool_uses(config) {
        let Some(pool) = config.get("BUFFER_POOL").and_then(|pools| pools.get(&name)) else { continue };
        let mut over = |field: &str, used: u64, of: &str| {
            if let Some(size) = number(pool, field).filter(|&size| used > size) {
                let rule = format!("{size} B, and {of} of all groups and queues of the pool add up to {used} B");
                found.push(Violation { key: format!("BUFFER_POOL|{name}.{field}"), rule });
            }
        };
        over("size", used.size, "`size`");
        // An `xoff` of 0 means no shared headroom.
        if !sharing_headroom && number(pool, "xoff") != Some(0) {
            over("xoff", used.xoff, "`xoff`");
        }
    }
    found
}

/// Returns the buffer pools that leave lossless priority groups of these ports less headroom than the `xoff` of their
/// buffer profile ([`room_after_xoff`]).
pub fn check_headroom(config: &Config, ports: Ports<'_>) -> Vec<Violation> {
    let mut found = BTreeSet::new();
    let (table, most) = RANGED[0];
    for (name, fields) in entries(config, table) {
        let Some((of, ..)) = range(name, most) else { continue };
        if !of.iter().any(|port| ports.is_none_or(|ports| ports.contains(port))) {
            continue;
        }
        let Some(profile) = named(fields, "profile") else { continue };
        let Some(fields) = config.get("BUFFER_PROFILE").and_then(|all| all.get(profile)) else { continue };
        if let Some((pool, rule)) = room_below_xoff(config, fields) {
            let rule = format!("{rule}, for BUFFER_PROFILE|{profile}");
            found.insert(Violation { key: format!("BUFFER_POOL|{pool}.xoff"), rule });
        }
    }
    found.into_iter().collect()
}

/// If the headroom of this profile's priority groups is below its `xoff`, returns the buffer pool and the reason.
pub(super) fn room_below_xoff<'a>(config: &Config, profile: &'a Value) -> Option<(&'a str, String)> {
    let pool = named(profile, "pool")?;
    let xoff = number(profile, "xoff")?;
    let size = number(profile, "size")?;
    let shared = number(config.get("BUFFER_POOL")?.get(pool)?, "xoff");
    let rule = match room_after_xoff(xoff, size, shared) {
        (_, HeadroomLimit::Xoff) => return None,
        (room, HeadroomLimit::Shared) => format!("{room} B, less than xoff {xoff} B of one group"),
        (room, HeadroomLimit::Size) => {
            let value = if shared.is_some() { "is 0" } else { "is missing" };
            format!("{value}, and size {room} B is the headroom then: less than xoff {xoff} B")
        }
    };
    Some((pool, rule))
}

/// Merges `other` into `config`, field by field, like `config load`.
pub fn merge(config: &mut Config, other: &Config) {
    for (table, entries) in other {
        let Some(entries) = entries.as_object() else { continue };
        let all = config.entry(table.clone()).or_insert_with(|| Value::Object(Map::new()));
        let Some(all) = all.as_object_mut() else { continue };
        for (name, fields) in entries {
            match (all.get_mut(name).and_then(Value::as_object_mut), fields.as_object()) {
                (Some(known), Some(fields)) => {
                    known.extend(fields.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
                _ => _ = all.insert(name.clone(), fields.clone()),
            }
        }
    }
}

/// Returns the ports named in a ranged table of a configuration.
pub(super) fn ports_of<'a>(config: &'a Config, table: &str, most: u8) -> BTreeSet<&'a str> {
    entries(config, table).filter_map(|(name, _)| range(name, most)).flat_map(|(ports, ..)| ports).collect()
}
