//! Published headroom of a platform for lossless priority groups: profiles of its configuration, rows of its
//! `pg_profile_lookup.ini`, and the values that its dynamic buffer model computes.

use super::model::{RANGED, bare, entries, named, number, range, text};
use super::pg_profile::{PgRow, length};
use super::platform::{DELAY_PER_METRE, Platform, PlatformError};
use super::{INGRESS_LOSSLESS, PlatformBuffers};
use crate::export::view::PortView;
use fabric::sonic::{AsicTables, BufferModel, DynamicHeadroom, PortInputs, computes_headroom, uses_dynamic_model};
use serde_json::{Map, Value, json};

/// SONiC's default MTU in bytes, for ports whose row has none.
const DEFAULT_MTU: u64 = 9_100;

/// Profile of the platform for a lossless group.
pub(super) struct Base {
    /// Fields as in the platform.
    fields: Map<String, Value>,
    /// Headroom in bytes.
    pub xoff: u64,
    /// Line of the `pg_profile_lookup.ini`, if it is the source.
    pub line: Option<usize>,
    /// Name of the profile with these fields.
    pub name: String,
    /// Source of the published headroom: a line of the file, a profile, or the inputs of the dynamic buffer model.
    pub location: String,
    /// Profile of the dynamic buffer model with its terms, if it is the source.
    pub dynamic: Option<DynamicHeadroom>,
}

impl Base {
    fn of_row(row: &PgRow, speed: u64, pool: &Pool) -> Base {
        let threshold = if pool.is_static { "static_th" } else { "dynamic_th" };
        let mut fields = Map::new();
        fields.insert("pool".to_owned(), pool.name.clone().into());
        let numbers = [("size", row.size), ("xon", row.xon), ("xoff", row.xoff)];
        fields.extend(numbers.map(|(field, bytes)| (field.to_owned(), bytes.to_string().into())));
        fields.insert(threshold.to_owned(), row.threshold.to_string().into());
        fields.extend(row.xon_offset.map(|offset| ("xon_offset".to_owned(), offset.to_string().into())));
        Base {
            fields,
            xoff: row.xoff,
            line: Some(row.line),
            location: format!("line {} of pg_profile_lookup.ini", row.line),
            name: platform_name(speed, &row.cable),
            dynamic: None,
        }
    }

    fn of_profile(name: &str, fields: &Value) -> Option<Base> {
        Some(Base {
            fields: fields.as_object()?.clone(),
            xoff: number(fields, "xoff")?,
            line: None,
            location: format!("BUFFER_PROFILE|{name}"),
            name: name.to_owned(),
            dynamic: None,
        })
    }

    /// Returns the fields that SONiC's model does not have.
    pub fn unknown_fields(&self) -> impl Iterator<Item = &String> {
        self.fields.keys().filter(|field| !PROFILE_FIELDS.contains(&field.as_str()))
    }

    /// Returns the fields of a profile with this `xoff` in bytes. If `size` includes the headroom, it grows equally.
    ///
    /// # Errors
    /// If `xoff` differs and the switch computes size or threshold of the profile.
    pub fn with(&self, xoff: u64) -> Result<Map<String, Value>, PlatformError> {
        let mut fields = self.fields.clone();
        if xoff == self.xoff {
            return Ok(fields);
        }
        fields.retain(|field, _| PROFILE_FIELDS.contains(&field.as_str()));
        let of = |field: &str| number(&Value::Object(self.fields.clone()), field);
        let lacks = |what: &str| {
            let what = format!(
                "it has xoff {} B and no {what}, so no profile with the computed xoff of {xoff} B can be made of it",
                self.xoff
            );
            PlatformError::of_config(format!("BUFFER_PROFILE|{}", self.name), what)
        };
        let size = of("size").ok_or_else(|| lacks("`size` (dynamic headroom)"))?;
        if !fields.contains_key("static_th") && !fields.contains_key("dynamic_th") {
            return Err(lacks("threshold"));
        }
        if size >= of("xon").unwrap_or(0).saturating_add(self.xoff) {
            let size = size.saturating_sub(self.xoff).saturating_add(xoff);
            fields.insert("size".to_owned(), size.to_string().into());
        }
        fields.insert("xoff".to_owned(), xoff.to_string().into());
        Ok(fields)
    }
}

/// Fields of a profile (sonic-buffer-profile.yang).
const PROFILE_FIELDS: [&str; 9] =
    ["pool", "size", "xon", "xoff", "xon_offset", "dynamic_th", "static_th", "headroom_type", "packet_discard_action"];

/// Returns the profile name of SONiC's buffer manager for a speed in Mbit/s and a cable.
fn platform_name(speed: u64, cable: &str) -> String {
    format!("pg_lossless_{speed}_{cable}_profile")
}

/// Pool for lossless groups.
struct Pool {
    name: String,
    is_static: bool,
}

impl Pool {
    /// Returns the pool of a profile of the platform, or else the platform's pool for lossless groups, or else the
    /// usual one.
    fn new(own: Option<&Base>, platform: Option<&Platform>) -> Pool {
        let own = own.and_then(|own| own.fields.get("pool")?.as_str());
        let own = own.map(|pool| bare(pool).to_owned());
        let name = own.or_else(|| platform?.pool("ingress", INGRESS_LOSSLESS).map(str::to_owned));
        let name = name.unwrap_or_else(|| INGRESS_LOSSLESS.to_owned());
        let fields = platform.and_then(|platform| platform.config.get("BUFFER_POOL")?.get(&name));
        let is_static = fields.and_then(|fields| text(fields, "mode")) == Some("static");
        Pool { name, is_static }
    }
}

/// Returns the profile of the platform's configuration for a priority of a port: that of its group, else the one with
/// the largest `xoff` of the port's groups, else the one named after its speed and cable, which SONiC's buffer manager
/// would choose.
fn own(platform: &Platform, port: &PortView, priority: u8) -> Option<Base> {
    let (table, most) = RANGED[0];
    let of_name = |name: &str| Base::of_profile(name, platform.profile(name)?);
    let groups = || {
        entries(&platform.config, table).filter_map(|(key, fields)| {
            let (ports, low, high) = range(key, most)?;
            let base = ports.contains(&port.interface.as_str()).then(|| of_name(named(fields, "profile")?))??;
            Some(((low..=high).contains(&priority), base))
        })
    };
    let covering = groups().find(|(covers, _)| *covers).map(|(_, base)| base);
    covering
        .or_else(|| groups().map(|(_, base)| base).max_by_key(|base| base.xoff))
        .or_else(|| of_name(&platform_name(port.rate.as_bps() / 1_000_000, &length(port.delay))))
}

/// Returns the profile that the dynamic buffer model computes for a priority of a port.
///
/// # Errors
/// A missing or invalid input, with its key; a pool with static thresholds.
fn dynamic(platform: &Platform, port: &PortView, priority: u8, asic: &AsicTables) -> Result<Base, PlatformError> {
    let config = &platform.config;
    let model = BufferModel::of(config)?;
    let row = config.get("PORT").and_then(|ports| ports.get(&port.interface));
    let lanes = row.and_then(|row| text(row, "lanes"));
    let Some(lanes) = lanes else {
        let what = "is missing: the dynamic buffer model needs the number of lanes".to_owned();
        return Err(PlatformError::of_config(format!("PORT|{}.lanes", port.interface), what));
    };
    let metres = port.delay.as_ps().div_ceil(DELAY_PER_METRE.as_ps());
    let computed = DynamicHeadroom::of(
        asic,
        &model,
        PortInputs {
            mbps: port.rate.as_bps() / 1_000_000,
            metres,
            mtu: row.and_then(|row| number(row, "mtu")).unwrap_or(DEFAULT_MTU),
            lanes: 1 + lanes.matches(',').count() as u64,
        },
    );
    let pool = lossless_pool(Some(platform))?;
    let profile = group_profile(platform, &port.interface, priority).and_then(|(_, name)| platform.profile(name));
    let threshold = profile.and_then(|profile| text(profile, "dynamic_th")?.parse().ok());
    let mut fields = Map::new();
    fields.insert("pool".to_owned(), pool.name.into());
    let numbers = [("size", computed.size), ("xon", computed.xon), ("xoff", computed.xoff)];
    fields.extend(numbers.map(|(field, bytes)| (field.to_owned(), bytes.to_string().into())));
    fields.insert("dynamic_th".to_owned(), threshold.unwrap_or(model.default_threshold).to_string().into());
    Ok(Base {
        fields,
        xoff: computed.xoff,
        line: None,
        location: format!("the dynamic buffer model (ASIC_TABLE|{}, {})", asic.name, model.key),
        // A new name is needed, because the switch reserves the names of profiles that it computes itself.
        name: format!("tagger_lossless_{}_{}_{}_profile", computed.port.mbps, length(port.delay), computed.xoff),
        dynamic: Some(computed),
    })
}

/// Returns the headroom that the platform publishes for a priority of a port: the largest of profile, row and computed
/// value of the dynamic buffer model.
///
/// # Errors
/// If the platform's file has no row for a speed and cable; if the model lacks an input. Without `ASIC_TABLE` another
/// published value suffices.
pub(super) fn base(port: &PortView, priority: u8, given: &PlatformBuffers<'_>) -> Result<Option<Base>, PlatformError> {
    let own = given.platform.and_then(|platform| own(platform, port, priority));
    let row = match given.rows {
        Some(rows) => {
            let pool = Pool::new(own.as_ref(), given.platform);
            Some(Base::of_row(rows.row(port.rate, port.delay)?, port.rate.as_bps() / 1_000_000, &pool))
        }
        None => None,
    };
    let known = match (own, row) {
        (Some(own), Some(row)) if own.xoff > row.xoff => Some(own),
        // At equal headroom the operator's other fields are kept.
        (Some(own), Some(row)) if own.xoff == row.xoff => Some(Base { location: row.location, ..own }),
        (own, row) => row.or(own),
    };
    let Some(platform) = given.platform.filter(|platform| uses_dynamic_model(&platform.config)) else {
        return Ok(known);
    };
    let of_file = AsicTables::of(&platform.config)?;
    let Some(asic) = of_file.as_ref().or(given.asic) else {
        if known.is_some() || given.below {
            return Ok(known);
        }
        let what = "is missing: the switch computes the headroom from it (dynamic buffer model). Give it by \
                    --asic-table, or accept less by --below-platform";
        return Err(PlatformError::of_config("ASIC_TABLE".to_owned(), what.to_owned()));
    };
    let computed = dynamic(platform, port, priority, asic)?;
    Ok(Some(known.filter(|known| known.xoff >= computed.xoff).unwrap_or(computed)))
}

/// Returns the platform's pool for lossless groups.
///
/// # Errors
/// If the pool has static thresholds, for which no value is given.
fn lossless_pool(platform: Option<&Platform>) -> Result<Pool, PlatformError> {
    let pool = Pool::new(None, platform);
    if pool.is_static {
        let what = "its thresholds are static, and no file has one for lossless groups: --pg-profile";
        return Err(PlatformError::of_config(format!("BUFFER_POOL|{}.mode", pool.name), what.to_owned()));
    }
    Ok(pool)
}

/// Returns the fields of a profile with this headroom, if the platform publishes none, in its pool for lossless groups.
///
/// # Errors
/// If the pool has static thresholds, for which no value is given.
pub(super) fn unpublished(
    xoff: u64,
    xon: u64,
    dynamic_th: i8,
    platform: Option<&Platform>,
) -> Result<Map<String, Value>, PlatformError> {
    let pool = lossless_pool(platform)?;
    let fields = json!({
        "pool": pool.name, "xoff": xoff.to_string(), "xon": xon.to_string(), "size": (xoff + xon).to_string(),
        "dynamic_th": dynamic_th.to_string(),
    });
    Ok(fields.as_object().cloned().unwrap_or_default())
}

/// Returns the platform's entry for a group, and the name of its profile.
fn group_profile<'a>(platform: &'a Platform, port: &str, priority: u8) -> Option<(&'a str, &'a str)> {
    let (table, most) = RANGED[0];
    entries(&platform.config, table).find_map(|(key, fields)| {
        let (ports, low, high) = range(key, most)?;
        let covers = ports.contains(&port) && (low..=high).contains(&priority);
        Some((key, named(fields, "profile").filter(|_| covers)?))
    })
}

/// Returns the platform's entry for a group for which the switch computes the headroom (dynamic buffer model).
pub(super) fn computed_by_switch(platform: &Platform, port: &str, priority: u8) -> Option<String> {
    let (key, profile) = group_profile(platform, port, priority)?;
    let is_computed = uses_dynamic_model(&platform.config) && computes_headroom(&platform.config, profile);
    is_computed.then(|| format!("{}|{key}", RANGED[0].0))
}
