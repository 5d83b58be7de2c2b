//! Priority groups and queues of lossless priorities, one entry per priority, and their profiles.

use super::fragment::Published;
use super::model::{RANGED, entries, is_lossy, named, range, room_below_xoff, text};
use super::pg_profile::{PgTable, length};
use super::platform::{Platform, PlatformError};
use super::published::{base, computed_by_switch, unpublished};
use super::{EGRESS_LOSSLESS, Settings};
use crate::export::view::{PortView, SwitchView};
use fabric::sonic::AsicTables;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Buffer configuration of a switch's platform, as given.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlatformBuffers<'a> {
    /// Existing configuration.
    pub platform: Option<&'a Platform>,
    /// The platform's `pg_profile_lookup.ini`.
    pub rows: Option<&'a PgTable>,
    /// Properties of the ASIC for the dynamic buffer model, if the platform's configuration has no `ASIC_TABLE`.
    pub asic: Option<&'a AsicTables>,
    /// Use the computed headroom even if the platform publishes more.
    pub below: bool,
    /// Accept a shared headroom pool that is smaller than the sum of the headroom of all groups.
    pub share_headroom: bool,
}

/// Buffer tables of one switch.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    /// `BUFFER_PROFILE` of groups.
    pub profiles: Map<String, Value>,
    /// `BUFFER_PG`.
    pub groups: Map<String, Value>,
    /// `BUFFER_QUEUE`.
    pub queues: Map<String, Value>,
    /// Computed and published headroom.
    pub published: BTreeSet<Published>,
    /// Entries of the platform for which the switch computes the headroom.
    pub computed_by_switch: BTreeSet<String>,
    /// Profiles of the platform and their fields that SONiC's model does not have.
    pub unknown_fields: BTreeSet<(String, String)>,
}

impl Buffers {
    /// Adds a profile under the first name that neither the platform nor this switch uses for a profile with other
    /// fields, because ports outside the fabric use the platform's profiles too. Returns the name.
    fn add_profile(&mut self, platform: Option<&Platform>, names: &[String], fields: Map<String, Value>) -> String {
        let fields = Value::Object(fields);
        let is_free = |name: &String| {
            let known = [self.profiles.get(name), platform.and_then(|platform| platform.profile(name))];
            known.into_iter().flatten().all(|known| *known == fields)
        };
        let numbered = |number: usize| names.last().map_or(String::new(), |last| format!("{last}_{number}"));
        let name = names.iter().find(|name| is_free(name)).cloned();
        let name = name.or_else(|| (2..).map(numbered).find(|name| is_free(name))).unwrap_or_default();
        self.profiles.insert(name.clone(), fields);
        name
    }

    /// Adds the profile of a group and returns its name.
    fn profile(
        &mut self,
        port: &PortView,
        priority: u8,
        settings: &Settings,
        given: &PlatformBuffers<'_>,
    ) -> Result<String, PlatformError> {
        let computed = port.headroom_bytes;
        let Some(base) = base(port, priority, given)? else {
            let fields = unpublished(computed, settings.xon_bytes, settings.dynamic_th, given.platform)?;
            return Ok(self.add_profile(given.platform, &[format!("tagger_lossless_{computed}_profile")], fields));
        };
        let written = if given.below { computed } else { computed.max(base.xoff) };
        let fields = base.with(written)?;
        self.unknown_fields.extend(base.unknown_fields().map(|field| {
            let shown = |text: &str| fabric::visible(text).to_string();
            (shown(&base.name), shown(field))
        }));
        let below = given.platform.zip(base.line).and_then(|(platform, line)| {
            let made = Value::Object(fields.clone());
            let (pool, why) = room_below_xoff(&platform.config, &made)?;
            let what = format!("does not fit the platform: its BUFFER_POOL|{pool}.xoff {why}");
            Some(PlatformError::of_rows(format!("line {line}"), what))
        });
        if let Some(error) = below {
            return Err(error);
        }
        let (speed, cable) = (port.rate.as_bps() / 1_000_000, length(port.delay));
        let mut names = vec![format!("tagger_lossless_{speed}_{cable}_{written}_profile")];
        if written == base.xoff {
            names.insert(0, base.name);
        }
        self.published.insert(Published {
            rate: port.rate,
            delay: port.delay,
            computed,
            published: base.xoff,
            written,
            location: base.location,
            dynamic: base.dynamic,
        });
        Ok(self.add_profile(given.platform, &names, fields))
    }
}

/// Returns the platform's profile for lossless queues of a port.
///
/// # Errors
/// If the platform has queues but no lossless profile for them.
fn egress_profile<'a>(
    port: &PortView,
    priorities: &[u8],
    platform: Option<&'a Platform>,
) -> Result<&'a str, PlatformError> {
    let Some(platform) = platform else { return Ok(EGRESS_LOSSLESS) };
    let config = &platform.config;
    let (table, most) = RANGED[1];
    let own = entries(config, table).find_map(|(key, fields)| {
        let (ports, low, high) = range(key, most)?;
        let covers = ports.contains(&port.interface.as_str()) && priorities.iter().any(|at| (low..=high).contains(at));
        named(fields, "profile").filter(|profile| covers && !is_lossy(config, profile))
    });
    let usual = || entries(config, "BUFFER_PROFILE").map(|(name, _)| name).find(|name| *name == EGRESS_LOSSLESS);
    let egress = |fields: &Value| {
        let pool = named(fields, "pool").and_then(|pool| config.get("BUFFER_POOL")?.get(pool));
        pool.and_then(|pool| text(pool, "type")) == Some("egress")
    };
    let any = || {
        let suits = |(name, fields): &(&str, &Value)| egress(fields) && !is_lossy(config, name);
        entries(config, "BUFFER_PROFILE").find(suits).map(|(name, _)| name)
    };
    let elsewhere = || platform.defines_egress_elsewhere().then_some(EGRESS_LOSSLESS);
    own.or_else(usual).or_else(any).or_else(elsewhere).ok_or_else(|| {
        let what = "the platform has no lossless profile for a lossless queue".to_owned();
        PlatformError::of_config(format!("BUFFER_QUEUE|{}", port.interface), what)
    })
}

/// Returns one group and one queue per lossless priority of each port.
///
/// # Errors
/// If the platform's file has no row for a speed and cable, if a profile cannot be extended to more headroom, or if the
/// platform has no lossless profile for queues.
pub(super) fn buffers(
    view: &SwitchView,
    lossless: &[Vec<u8>],
    settings: &Settings,
    given: &PlatformBuffers<'_>,
) -> Result<Buffers, PlatformError> {
    let mut made = Buffers::default();
    for (port, priorities) in view.ports().iter().zip(lossless).filter(|(_, priorities)| !priorities.is_empty()) {
        let of_port = |error: PlatformError| PlatformError {
            what: format!("{}, for {} of {}", error.what, port.interface, view.name()),
            ..error
        };
        let queue = egress_profile(port, priorities, given.platform)?;
        for &priority in priorities {
            let profile = made.profile(port, priority, settings, given).map_err(of_port)?;
            let computed = given.platform.and_then(|all| computed_by_switch(all, &port.interface, priority));
            made.computed_by_switch.extend(computed);
            let key = format!("{}|{priority}", port.interface);
            made.groups.insert(key.clone(), json!({ "profile": profile }));
            made.queues.insert(key, json!({ "profile": queue }));
        }
    }
    Ok(made)
}
