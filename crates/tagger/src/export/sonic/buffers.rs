//! Priority groups and queues of lossless priorities, one entry each, and what of the platform's they replace.

use super::model::{self, Config, RANGED, entries, is_lossy, named, number, range, text};
use super::pg_profile::{PgRow, PgTable, length};
use super::platform::{Platform, PlatformError};
use super::{Settings, SonicError};
use crate::export::factorise::Misfit;
use crate::export::view::{PortView, SwitchView};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use units::{Rate, Time};

/// The profile of lossless queues in SONiC's templates.
const EGRESS_LOSSLESS: &str = "egress_lossless_profile";
/// The pool of lossless groups there.
const INGRESS_LOSSLESS: &str = "ingress_lossless_pool";

/// Buffers of a switch's platform, as given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// The configuration that it has.
    pub platform: Option<&'a Platform>,
    /// Its `pg_profile_lookup.ini`.
    pub rows: Option<&'a PgTable>,
    /// Write the computed headroom where the platform publishes more.
    pub below: bool,
    /// Accept a shared headroom pool that is smaller than the headroom of all groups.
    pub share_headroom: bool,
}

/// The headroom of a kind of port beside what the platform publishes for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Published {
    /// Of the port.
    pub rate: Rate,
    /// Of its cable, one way.
    pub delay: Time,
    /// As computed, in bytes.
    pub computed: u64,
    /// As published.
    pub published: u64,
    /// As written.
    pub written: u64,
    /// Where it is published: a line of the file, or a profile.
    pub place: String,
}

/// Tables of buffers for one switch.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    pub profiles: Map<String, Value>,
    pub groups: Map<String, Value>,
    pub queues: Map<String, Value>,
    pub published: BTreeSet<Published>,
}

/// Profile of the platform for a port, in bytes.
struct Base {
    size: u64,
    xon: u64,
    xoff: u64,
    xon_offset: Option<u64>,
    threshold: (&'static str, String),
    pool: String,
    place: String,
    /// The platform's own name for it.
    name: String,
}

impl Base {
    fn of_row(row: &PgRow, speed: u64, pool: String, static_pool: bool) -> Base {
        let key = if static_pool { "static_th" } else { "dynamic_th" };
        Base {
            size: row.size,
            xon: row.xon,
            xoff: row.xoff,
            xon_offset: row.xon_offset,
            threshold: (key, row.threshold.to_string()),
            pool,
            place: format!("line {} of pg_profile_lookup.ini", row.line),
            // As SONiC's buffer manager calls it.
            name: format!("pg_lossless_{speed}_{}_profile", row.cable),
        }
    }

    fn of_profile(name: &str, fields: &Value) -> Option<Base> {
        let key = if fields.get("static_th").is_some() { "static_th" } else { "dynamic_th" };
        Some(Base {
            size: number(fields, "size")?,
            xon: number(fields, "xon").unwrap_or(0),
            xoff: number(fields, "xoff")?,
            xon_offset: number(fields, "xon_offset"),
            threshold: (key, text(fields, key)?.to_owned()),
            pool: named(fields, "pool")?.to_owned(),
            place: format!("BUFFER_PROFILE|{name}"),
            name: name.to_owned(),
        })
    }

    /// The fields of a profile with at least `xoff`: where `size` holds the headroom, it grows by as much.
    fn with(&self, xoff: u64) -> Value {
        let holds = self.size >= self.xon.saturating_add(self.xoff);
        let size = if holds { self.size.saturating_sub(self.xoff).saturating_add(xoff) } else { self.size };
        let mut fields = json!({
            "pool": self.pool, "size": size.to_string(), "xon": self.xon.to_string(), "xoff": xoff.to_string(),
        });
        fields[self.threshold.0] = self.threshold.1.clone().into();
        if let Some(offset) = self.xon_offset {
            fields["xon_offset"] = offset.to_string().into();
        }
        fields
    }
}

impl Platform {
    /// The profile of the entry of a table that covers one of these numbers at a port, whose profile `suits`.
    fn profile_of(
        &self,
        (table, most): (&str, u8),
        port: &str,
        numbers: &[u8],
        suits: impl Fn(&str) -> bool,
    ) -> Option<&str> {
        entries(&self.config, table).find_map(|(key, fields)| {
            let (ports, low, high) = range(key, most)?;
            let covers = ports.contains(&port) && numbers.iter().any(|number| (low..=high).contains(number));
            named(fields, "profile").filter(|profile| covers && suits(profile))
        })
    }

    fn profile(&self, name: &str) -> Option<&Value> {
        self.config.get("BUFFER_PROFILE")?.get(name)
    }

    /// Its pool for lossless groups or queues: the one of the usual name, or the first of this direction that is not
    /// for lossy traffic.
    fn pool(&self, direction: &str, usual: &str) -> Option<&str> {
        let fits = |fields: &Value| text(fields, "type").is_some_and(|kind| kind == direction || kind == "both");
        let all = || entries(&self.config, "BUFFER_POOL");
        let usual = all().find(|(name, _)| *name == usual);
        usual.or_else(|| all().find(|(name, fields)| fits(fields) && !name.contains("lossy"))).map(|(name, _)| name)
    }
}

/// The headroom that the platform publishes for a port.
fn base(port: &PortView, priorities: &[u8], given: &Given<'_>) -> Result<Option<Base>, PlatformError> {
    let own = given.platform.and_then(|platform| {
        let has_xoff = |name: &str| platform.profile(name).is_some_and(|fields| fields.get("xoff").is_some());
        let name = platform.profile_of(RANGED_GROUPS, &port.interface, priorities, has_xoff)?;
        Base::of_profile(name, platform.profile(name)?)
    });
    let Some(rows) = given.rows else { return Ok(own) };
    let row = rows.row(port.rate, port.delay)?;
    let pool = own.as_ref().map(|own| own.pool.clone());
    let pool = pool.or_else(|| given.platform?.pool("ingress", INGRESS_LOSSLESS).map(str::to_owned));
    let pool = pool.unwrap_or_else(|| INGRESS_LOSSLESS.to_owned());
    let of_pool = given.platform.and_then(|platform| platform.config.get("BUFFER_POOL")?.get(&pool));
    let static_pool = of_pool.and_then(|pool| text(pool, "mode")) == Some("static");
    let of_row = Base::of_row(row, port.rate.as_bps() / 1_000_000, pool, static_pool);
    // A profile above the published row counts as it is.
    Ok(Some(own.filter(|own| own.xoff > of_row.xoff).unwrap_or(of_row)))
}

const RANGED_GROUPS: (&str, u8) = RANGED[0];
const RANGED_QUEUES: (&str, u8) = RANGED[1];

/// Nothing, or a part of a configuration without anything of egress: the rest defines the usual profile.
fn defines_egress_elsewhere(platform: Option<&Platform>) -> bool {
    platform.is_none_or(|platform| !platform.has("BUFFER_QUEUE") && !platform.has("BUFFER_POOL"))
}

/// The profile of lossless queues of a port.
fn egress_profile<'a>(
    port: &PortView,
    priorities: &[u8],
    platform: Option<&'a Platform>,
) -> Result<&'a str, PlatformError> {
    let Some(platform) = platform else { return Ok(EGRESS_LOSSLESS) };
    let config = &platform.config;
    let lossless = |name: &str| !is_lossy(config, name);
    if let Some(own) = platform.profile_of(RANGED_QUEUES, &port.interface, priorities, lossless) {
        return Ok(own);
    }
    if let Some((name, _)) = entries(config, "BUFFER_PROFILE").find(|(name, _)| *name == EGRESS_LOSSLESS) {
        return Ok(name);
    }
    let egress = |fields: &Value| {
        let pool = named(fields, "pool").and_then(|pool| config.get("BUFFER_POOL")?.get(pool));
        pool.and_then(|pool| text(pool, "type")) == Some("egress")
    };
    let found = entries(config, "BUFFER_PROFILE").find(|(name, fields)| egress(fields) && !is_lossy(config, name));
    match found {
        Some((name, _)) => Ok(name),
        None if defines_egress_elsewhere(Some(platform)) => Ok(EGRESS_LOSSLESS),
        None => Err(PlatformError {
            key: format!("BUFFER_QUEUE|{}", port.interface),
            what: "the platform has no lossless profile for a lossless queue".to_owned(),
        }),
    }
}

/// One group and one queue for each lossless priority of each port.
pub fn buffers(
    view: &SwitchView,
    lossless: &[Vec<u8>],
    settings: &Settings,
    given: &Given<'_>,
) -> Result<Buffers, PlatformError> {
    let mut made = Buffers::default();
    for (port, priorities) in view.ports().iter().zip(lossless).filter(|(_, priorities)| !priorities.is_empty()) {
        let computed = port.headroom_bytes;
        let of_port = |error: PlatformError| PlatformError {
            what: format!("{}, for {} of {}", error.what, port.interface, view.name()),
            ..error
        };
        let (name, fields) = match base(port, priorities, given).map_err(of_port)? {
            None => {
                let fields = json!({
                    "pool": INGRESS_LOSSLESS, "xoff": computed.to_string(), "xon": settings.xon_bytes.to_string(),
                    "size": (computed + settings.xon_bytes).to_string(),
                    "dynamic_th": settings.dynamic_th.to_string(),
                });
                (format!("tagger_lossless_{computed}_profile"), fields)
            }
            Some(base) => {
                let written = if given.below { computed } else { computed.max(base.xoff) };
                made.published.insert(Published {
                    rate: port.rate,
                    delay: port.delay,
                    computed,
                    published: base.xoff,
                    written,
                    place: base.place.clone(),
                });
                let (speed, cable) = (port.rate.as_bps() / 1_000_000, length(port.delay));
                let own = (written == base.xoff).then(|| base.name.clone());
                (
                    own.unwrap_or_else(|| format!("tagger_lossless_{speed}_{cable}_{written}_profile")),
                    base.with(written),
                )
            }
        };
        made.profiles.insert(name.clone(), fields);
        let queue = egress_profile(port, priorities, given.platform)?;
        for priority in priorities {
            let key = format!("{}|{priority}", port.interface);
            made.groups.insert(key.clone(), json!({ "profile": name }));
            made.queues.insert(key, json!({ "profile": queue }));
        }
    }
    Ok(made)
}

/// Entries of a platform's table that overlap those of a fragment without being the same: they must go before it comes.
/// Numbers of a range that the fragment does not set get entries of their own in it.
pub fn replace_overlaps(platform: &Config, fragment: &mut Config) -> Vec<String> {
    let mut removed = Vec::new();
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
            removed.push(format!("{table}|{name}"));
            for (port, number) in ports.iter().flat_map(|port| (low..=high).map(move |number| (port, number))) {
                let entry = ours.entry(single(port, number)).or_insert_with(|| json!({}));
                let Some(entry) = entry.as_object_mut() else { continue };
                for (key, value) in fields.as_object().into_iter().flatten() {
                    entry.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
        }
    }
    removed
}

/// The platform's configuration without what is removed, with the fragment over it; held to the rules of SONiC's
/// models.
///
/// # Errors
/// [`SonicError::Platform`] with what the merged configuration breaks, [`SonicError::Misfit`] if a pool is exceeded.
pub fn check_merged(
    view: &SwitchView,
    fragment: &Config,
    removed: &[String],
    given: &Given<'_>,
) -> Result<Config, SonicError> {
    let mut merged = given.platform.map_or_else(Config::new, |platform| platform.config.clone());
    for key in removed {
        let Some((table, name)) = key.split_once('|') else { continue };
        if let Some(all) = merged.get_mut(table).and_then(Value::as_object_mut) {
            all.remove(name);
        }
    }
    model::merge(&mut merged, fragment);
    if defines_egress_elsewhere(given.platform) {
        let profiles = merged.get_mut("BUFFER_PROFILE").and_then(Value::as_object_mut);
        let usual = json!({ "pool": "egress_lossless_pool", "size": "0" });
        profiles.map(|all| all.entry(EGRESS_LOSSLESS).or_insert(usual));
    }
    let mut broken = model::check(&merged);
    broken.extend(model::check_lossless(&merged));
    // Ports that are not of this fabric are the platform's own business.
    let ours: BTreeSet<&str> = view.ports().iter().map(|port| port.interface.as_str()).collect();
    let foreign = |violation: &model::Violation| {
        let key = violation.key.split('|').nth(1).unwrap_or_default().split('.').next().unwrap_or_default();
        key.starts_with("Ethernet") && !ours.contains(key)
    };
    if let Some(violation) = broken.into_iter().find(|violation| !foreign(violation)) {
        return Err(SonicError::Platform(violation.into()));
    }
    if let Some(over) = model::check_pools(&merged, given.share_headroom).into_iter().next() {
        return Err(Misfit::Pool { switch: view.name().to_owned(), why: over }.into());
    }
    Ok(merged)
}

/// Entries of the platform that the fragment overrides or removes; `merged` is both together.
pub fn notes(
    view: &SwitchView,
    fragment: &Config,
    merged: &Config,
    removed: &[String],
    given: &Given<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(platform) = given.platform else { return notes };
    let name = view.name();
    let mut changed = Vec::new();
    for (table, all) in fragment {
        let differs = |(key, fields): &(&String, &Value)| {
            let known = platform.config.get(table).and_then(|known| known.get(key.as_str()));
            let other = |known: &Value| {
                fields
                    .as_object()
                    .into_iter()
                    .flatten()
                    .any(|(field, value)| known.get(field).is_some_and(|old| old != value))
            };
            known.is_some_and(other)
        };
        let keys: Vec<&String> = all.as_object().into_iter().flatten().filter(differs).map(|(key, _)| key).collect();
        if let Some(first) = keys.first() {
            let more = if keys.len() == 1 { String::new() } else { format!(" and {} more", keys.len() - 1) };
            changed.push(format!("{table}|{first}{more}"));
        }
    }
    if !changed.is_empty() {
        notes.push(format!("{name}: overrides fields of {}", changed.join("; ")));
    }
    if !removed.is_empty() {
        notes.push(format!(
            "{name}: replaces {}: apply {name}.remove.json first (config apply-patch), for SONiC refuses ranges that \
             overlap",
            removed.join(", ")
        ));
    }
    for (table, what) in [("BUFFER_POOL", "the sizes of pools"), ("PORT", "the names of ports")] {
        if !platform.has(table) {
            notes.push(format!("{name}: the platform's file has no {table}: {what} are not checked"));
        }
    }
    let uses = model::pool_uses(merged);
    for (pool, used) in uses.iter().filter(|(_, used)| used.xoff > 0) {
        let size = merged.get("BUFFER_POOL").and_then(|pools| number(pools.get(pool)?, "xoff"));
        let shared = match size {
            Some(size) => format!("the shared headroom pool has {size} B"),
            None => "how large the shared headroom pool is, the file does not say".to_owned(),
        };
        notes.push(format!("{name}: xoff of all groups of {pool} adds up to {} B; {shared}", used.xoff));
    }
    let queues = model::ports_of(&platform.config, "BUFFER_QUEUE", 15);
    if !queues.is_empty() && !queues.iter().any(|port| view.ports().iter().any(|own| own.interface == **port)) {
        notes.push(format!("{name}: BUFFER_QUEUE of the platform's file names none of the fabric's ports"));
    }
    notes
}
