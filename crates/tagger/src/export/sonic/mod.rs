//! SONiC: QoS maps, PFC, watchdog and headroom of one switch as a fragment of `config_db.json`.
//!
//! | step of Tagger | object |
//! |---|---|
//! | arriving tag and ingress port -> traffic class | `DSCP_TO_TC_MAP`, by `PORT_QOS_MAP` of the ingress port |
//! | ingress queue and PAUSE priority by the arriving tag | `TC_TO_PRIORITY_GROUP_MAP` |
//! | rewrite | `TC_TO_DSCP_MAP`, by `PORT_QOS_MAP` of the egress port (202211 and later) |
//! | egress queue by the new tag | `TC_TO_QUEUE_MAP`, likewise |
//! | PAUSE of priority p stops queue p | `MAP_PFC_PRIORITY_TO_QUEUE` |
//! | the lossy queue drains whatever the others do | `SCHEDULER` (DWRR), by `QUEUE` of each port |
//! | headroom, and no drops in lossless queues | `BUFFER_PG`, `BUFFER_PROFILE`, `BUFFER_QUEUE`, an entry a priority |
//!
//! The schema is that of the public sources; it was not loaded on hardware. With the configuration of a platform the
//! fragment is laid over it, and both together are held to the rules of SONiC's models ([`check`]) before anything is
//! written.

mod buffers;
mod model;
mod pg_profile;
mod platform;
#[cfg(test)]
mod tests;

pub use buffers::{Given, Published};
pub use model::{Config, PoolUse, Violation, check, check_lossless, check_pools, merge, pool_uses};
pub use pg_profile::{PgRow, PgTable};
pub use platform::{OwnCables, Platform, PlatformError};

use super::dialect::Dialect;
use super::factorise::{Misfit, QueueBinding, factorise};
use super::marks::Marks;
use super::view::SwitchView;
use fabric::PortIndex;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The name of maps that all ports share.
const SHARED: &str = "TAGGER";

/// Which lossless priorities the software watchdog looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watchdog {
    /// None: no `PFC_WD` at all.
    Off,
    /// Those of the tags that packets enter the fabric with, as SONiC's own remapping for two ToRs has it.
    First,
    /// All.
    All,
}

/// What the maps leave open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where the ASIC takes `TC_TO_QUEUE_MAP` from.
    pub binding: QueueBinding,
    /// The watchdog.
    pub watchdog: Watchdog,
    /// Tags that packets enter the fabric with.
    pub first_tags: Vec<crate::rules::Tag>,
    /// How long a queue is held before the watchdog acts, 100 to 5000 ms.
    pub detection_ms: u32,
    /// How long it must be free before the watchdog lets go, 100 to 60000 ms.
    pub restoration_ms: u32,
    /// XON stands this much above an empty priority group.
    pub xon_bytes: u64,
    /// Threshold of the shared pool, as the exponent of alpha.
    pub dynamic_th: i8,
}

impl Settings {
    /// How often the watchdog looks: no later than it must act, or may let go.
    fn poll_ms(&self) -> u32 {
        self.detection_ms.min(self.restoration_ms).min(MOST_POLL_MS)
    }
}

/// The most that `POLL_INTERVAL` may be, in milliseconds (sonic-pfcwd.yang).
const MOST_POLL_MS: u32 = 1_000;

/// Why there is no fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SonicError {
    /// The switch does not fit.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The platform's files are wrong, or those of another one.
    #[error(transparent)]
    Platform(#[from] PlatformError),
}

/// Output for a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Tables to load over those of the platform.
    pub config: Value,
    /// A JSON patch (RFC 6902) that removes the platform's entries that overlap; to be applied first.
    pub removal: Option<Value>,
    /// Notes about this switch.
    pub notes: Vec<String>,
    /// Headroom beside what the platform publishes, by kind of port.
    pub published: Vec<Published>,
}

/// The fragment of a switch whose platform is `given`.
///
/// # Errors
/// [`Misfit`] if its rules do not fit the traffic classes, a name is none of SONiC's, or a buffer pool is exceeded;
/// [`PlatformError`] if the platform has no profile for a port, or both together break a rule of SONiC's models.
pub fn fragment(
    view: &SwitchView,
    marks: &Marks,
    settings: &Settings,
    given: &Given<'_>,
) -> Result<Fragment, SonicError> {
    let mut config = maps(view, marks, settings)?;
    let lossless = view.lossless_priorities(marks);
    let made = buffers::buffers(view, &lossless, settings, given)?;
    config.insert("BUFFER_PROFILE".to_owned(), made.profiles.into());
    config.insert("BUFFER_PG".to_owned(), made.groups.into());
    config.insert("BUFFER_QUEUE".to_owned(), made.queues.into());
    let removed =
        given.platform.map_or_else(Vec::new, |platform| buffers::replace_overlaps(&platform.config, &mut config));
    let merged = buffers::check_merged(view, &config, &removed, given)?;
    let mut notes = notes(view, marks, settings)?;
    notes.extend(buffers::notes(view, &config, &merged, &removed, given));
    let removal = (!removed.is_empty()).then(|| removed.iter().map(|key| removal(key)).collect());
    Ok(Fragment { config: config.into(), removal, notes, published: made.published.into_iter().collect() })
}

/// One step of a JSON patch.
fn removal(key: &str) -> Value {
    let path = key.replace('~', "~0").replace('/', "~1").replacen('|', "/", 1);
    json!({ "op": "remove", "path": format!("/{path}") })
}

/// The fragment of a switch of which no platform is known.
///
/// # Errors
/// As [`fragment`].
pub fn config_db(view: &SwitchView, marks: &Marks, settings: &Settings) -> Result<Value, SonicError> {
    fragment(view, marks, settings, &Given::default()).map(|fragment| fragment.config)
}

/// All but buffers.
fn maps(view: &SwitchView, marks: &Marks, settings: &Settings) -> Result<Map<String, Value>, Misfit> {
    Misfit::of_names(view, Dialect::Sonic)?;
    let factors = factorise(view, marks, settings.binding)?;
    let mut tables = Map::new();
    let classes = || 0..marks.traffic_classes();
    let class_of = |port| (0..64).map(|dscp| factors.class_of(marks, dscp, port)).collect();
    let ingress = Shared::new(view, "TAGGER_IN", class_of);
    let leaves_as = |port| classes().map(|class| factors.leaves_as(marks, class, port)).collect();
    let egress = Shared::new(view, "TAGGER_OUT", leaves_as);
    tables.insert("DSCP_TO_TC_MAP".to_owned(), ingress.tables(|&class| class));
    tables.insert("TC_TO_DSCP_MAP".to_owned(), egress.tables(|&(dscp, _)| dscp));
    tables.insert("TC_TO_QUEUE_MAP".to_owned(), egress.tables(|&(_, queue)| queue));
    let groups = numbered(classes().map(|class| factors.priority_group(marks, class)));
    tables.insert("TC_TO_PRIORITY_GROUP_MAP".to_owned(), json!({ SHARED: groups }));
    let all: Map<String, Value> = (0..8).map(|p: u8| (p.to_string(), p.to_string().into())).collect();
    tables.insert("MAP_PFC_PRIORITY_TO_QUEUE".to_owned(), json!({ SHARED: all }));
    let lossless = marks.lossless().iter().map(|mark| mark.priority.to_string());
    let lossless: Map<String, Value> = lossless.map(|p| (p.clone(), p.into())).collect();
    tables.insert("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP".to_owned(), json!({ SHARED: lossless }));
    let lossless = view.lossless_priorities(marks);
    let watched: Vec<Vec<u8>> = lossless.iter().map(|lossless| watched(lossless, marks, settings)).collect();
    let ports = view.port_numbers().map(|port| {
        let mut maps = json!({
            "dscp_to_tc_map": ingress.name(port), "tc_to_pg_map": SHARED,
            "tc_to_dscp_map": egress.name(port), "tc_to_queue_map": egress.name(port),
            "pfc_to_queue_map": SHARED, "pfc_to_pg_map": SHARED,
        });
        for (key, priorities) in [("pfc_enable", &lossless), ("pfcwd_sw_enable", &watched)] {
            // Said of none too: what the platform says would stay otherwise.
            maps[key] = list(&priorities[usize::from(port)]).into();
        }
        (view.interface(port).to_owned(), maps)
    });
    tables.insert("PORT_QOS_MAP".to_owned(), ports.collect::<Map<_, _>>().into());
    add_watchdog(&mut tables, view, &watched, settings);
    add_scheduler(&mut tables, view, marks);
    Ok(tables)
}

/// What a person must know before loading the fragment of this switch.
///
/// # Errors
/// [`Misfit`] as [`config_db`].
pub fn notes(view: &SwitchView, marks: &Marks, settings: &Settings) -> Result<Vec<String>, Misfit> {
    let factors = factorise(view, marks, settings.binding)?;
    let used = 1 + factors.kept.len() + factors.groups.len();
    let mut notes = vec![format!("{}: {used} of {} traffic classes", view.name(), marks.traffic_classes())];
    let by_egress = factors.classes_by_egress(marks);
    if !by_egress.is_empty() {
        let classes: Vec<String> = by_egress.iter().map(u8::to_string).collect();
        notes.push(format!(
            "{}: the queue of traffic class {} depends on the egress port: right only where TC_TO_QUEUE_MAP binds at \
             egress",
            view.name(),
            classes.join(", ")
        ));
    }
    Ok(notes)
}

/// Notes about all switches of an export, `given` one of them.
pub fn general_notes(marks: &Marks, given: &Given<'_>) -> Vec<String> {
    let mut notes = notes_of_maps(marks);
    if given.rows.is_none() && given.platform.is_none() {
        notes.push(
            "Nothing is known of the platform (--platform, --pg-profile). xoff is computed from rate, cable and --mtu, \
             and most platforms publish more in pg_profile_lookup.ini: compare before loading. size is xoff + xon, as \
             where a group holds its own headroom; on Broadcom size is the guaranteed minimum, and xoff lies in a \
             shared headroom pool. BUFFER_PROFILE names the pool ingress_lossless_pool and BUFFER_QUEUE the profile \
             egress_lossless_profile, which the platform must define. Its ranges that overlap, such as Ethernet0|3-4 \
             beside Ethernet0|3, must be removed first: SONiC refuses both together."
                .to_owned(),
        );
    } else if given.rows.is_none() {
        notes.push(
            "No pg_profile_lookup.ini was given (--pg-profile): a port whose BUFFER_PG has no lossless profile in the \
             platform's file gets the computed headroom, with size = xoff + xon."
                .to_owned(),
        );
    }
    if given.below {
        notes.push(
            "--below-platform: headroom is as computed even where the platform publishes more. Less than the hardware \
             needs loses lossless packets."
                .to_owned(),
        );
    }
    if given.share_headroom {
        notes.push(
            "--share-headroom: the shared headroom pool may be smaller than the headroom of all groups. When many of \
             them fill it at once, lossless packets are lost."
                .to_owned(),
        );
    }
    notes
}

fn notes_of_maps(marks: &Marks) -> Vec<String> {
    let kept: Vec<String> = marks.kept().iter().map(|kept| kept.dscp.to_string()).collect();
    let but = if kept.is_empty() { String::new() } else { format!(" but {}", kept.join(", ")) };
    vec![
        "The schema is that of SONiC's public sources; no switch was configured with it.".to_owned(),
        "TC_TO_DSCP_MAP on a port needs SONiC 202211 or later.".to_owned(),
        "Whether TC_TO_QUEUE_MAP binds at the ingress or at the egress port depends on the ASIC: these maps assume \
         what --queue-map says. With the other binding packets of a new tag wait in the queue of the old one, and a \
         PAUSE for the new one does not stop them: they are lost, and any loop of links can deadlock."
            .to_owned(),
        "SCHEDULER and QUEUE give all queues in use equal shares (DWRR). Keep a share for the lossy queue: packets \
         that turn lossy there count against a lossless priority group, and under strict priority another class can \
         stop that group for ever."
            .to_owned(),
        format!(
            "TC_TO_DSCP_MAP remarks every packet of its class: untagged packets of every DSCP{but} leave with DSCP {}. \
             Give others a class of their own with --keep.",
            marks.lossy().dscp
        ),
"Overrides, for every port of the fabric: all fields of PORT_QOS_MAP that stand in the fragment; `scheduler` in \
         QUEUE for each queue in use; `profile` in BUFFER_PG and BUFFER_QUEUE for each lossless priority; PFC_WD, with \
         POLL_INTERVAL for the whole switch."
            .to_owned(),
        "Omits, and so leaves as they are: ports without a cable in the fabric, BUFFER_POOL, profiles of egress \
         queues, groups and queues of lossy priorities, WRED_PROFILE and `wred_profile` in QUEUE (marks for DCQCN), \
         maps of 802.1p, of tunnels and of MPLS, DEVICE_METADATA."
            .to_owned(),
    ]
}

/// Maps that several ports share, by name. Most ports of a switch are alike, so a map is written once and not compared
/// as it is written.
struct Shared<T> {
    names: Vec<String>,
    by_name: BTreeMap<String, Vec<T>>,
}

impl<T: PartialEq> Shared<T> {
    fn new(view: &SwitchView, prefix: &str, of_port: impl Fn(PortIndex) -> Vec<T>) -> Shared<T> {
        let mut distinct: Vec<Vec<T>> = Vec::new();
        let mut names = Vec::new();
        for port in view.port_numbers() {
            let values = of_port(port);
            let at = distinct.iter().position(|known| *known == values).unwrap_or_else(|| {
                distinct.push(values);
                distinct.len() - 1
            });
            names.push(format!("{prefix}_{}", at + 1));
        }
        let named = distinct.into_iter().enumerate().map(|(at, values)| (format!("{prefix}_{}", at + 1), values));
        Shared { names, by_name: named.collect() }
    }
    fn name(&self, port: PortIndex) -> &str {
        &self.names[usize::from(port)]
    }
    fn tables(&self, part: impl Fn(&T) -> u8) -> Value {
        let table = |(name, values): (&String, &Vec<T>)| (name.clone(), numbered(values.iter().map(&part)));
        self.by_name.iter().map(table).collect::<Map<_, _>>().into()
    }
}

/// A map from 0, 1, 2, ... to these.
fn numbered(values: impl Iterator<Item = u8>) -> Value {
    values.enumerate().map(|(at, value)| (at.to_string(), value.to_string().into())).collect::<Map<_, _>>().into()
}

/// "2,3,4".
fn list(priorities: &[u8]) -> String {
    priorities.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// Those of a port's lossless priorities that the watchdog looks at.
fn watched(lossless: &[u8], marks: &Marks, settings: &Settings) -> Vec<u8> {
    let first: Vec<u8> = settings.first_tags.iter().map(|&tag| marks.priority(tag)).collect();
    let is_watched = |priority: &u8| match settings.watchdog {
        Watchdog::Off => false,
        Watchdog::First => first.contains(priority),
        Watchdog::All => true,
    };
    lossless.iter().copied().filter(is_watched).collect()
}

fn add_watchdog(tables: &mut Map<String, Value>, view: &SwitchView, watched: &[Vec<u8>], settings: &Settings) {
    let mut found = Map::new();
    for port in view.port_numbers().filter(|&port| !watched[usize::from(port)].is_empty()) {
        let times = json!({
            "action": "drop", "detection_time": settings.detection_ms.to_string(),
            "restoration_time": settings.restoration_ms.to_string(),
        });
        found.insert(view.interface(port).to_owned(), times);
    }
    if !found.is_empty() {
        found.insert("GLOBAL".to_owned(), json!({ "POLL_INTERVAL": settings.poll_ms().to_string() }));
        tables.insert("PFC_WD".to_owned(), found.into());
    }
}

/// Equal shares for all queues in use: under strict priority the lossy queue could be starved, and packets that turned
/// lossy would hold the lossless priority group that they came by.
fn add_scheduler(tables: &mut Map<String, Value>, view: &SwitchView, marks: &Marks) {
    tables.insert("SCHEDULER".to_owned(), json!({ SHARED: { "type": "DWRR", "weight": "1" } }));
    let queues = view
        .port_numbers()
        .flat_map(|port| marks.queues().into_iter().map(move |queue| format!("{}|{queue}", view.interface(port))));
    let queues: Map<String, Value> = queues.map(|queue| (queue, json!({ "scheduler": SHARED }))).collect();
    tables.insert("QUEUE".to_owned(), queues.into());
}
