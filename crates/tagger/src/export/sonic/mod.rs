//! Export to SONiC: QoS maps, PFC, watchdog and headroom of one switch as a fragment of `config_db.json`.
//!
//! | step of Tagger | object |
//! |---|---|
//! | arriving tag and ingress port -> traffic class | `DSCP_TO_TC_MAP`, by `PORT_QOS_MAP` of the ingress port |
//! | ingress queue and PAUSE priority by the arriving tag | `TC_TO_PRIORITY_GROUP_MAP` |
//! | rewrite | `TC_TO_DSCP_MAP`, by `PORT_QOS_MAP` of the egress port (202211 and later) |
//! | egress queue by the new tag | `TC_TO_QUEUE_MAP`, likewise |
//! | PAUSE of priority p stops queue p | `MAP_PFC_PRIORITY_TO_QUEUE` |
//! | the lossy queue drains independently of other queues | `SCHEDULER` (DWRR), by `QUEUE` of each port |
//! | headroom, and no drops in lossless queues | `BUFFER_PG`, `BUFFER_PROFILE`, `BUFFER_QUEUE`, per priority |
//!
//! The schema follows the public sources; it was not loaded on hardware. If the configuration of a platform is given,
//! the fragment is merged into it, and the result is checked against the rules of SONiC's models ([`check`]) before
//! anything is written.

mod buffers;
#[cfg(test)]
mod dynamic_tests;
mod fragment;
mod laid_over;
mod left_over;
#[cfg(test)]
mod left_over_tests;
pub(super) mod model;
mod notes;
mod order;
mod pg_profile;
mod platform;
#[cfg(test)]
mod platform_tests;
mod published;
mod references;
#[cfg(test)]
mod tests;

pub use buffers::PlatformBuffers;
pub use fragment::{Fragment, Published};
pub use model::{
    Config, PoolUse, Ports, Violation, check, check_headroom, check_lossless, check_pools, merge, pool_uses,
};
pub use notes::{general_notes, notes};
pub use pg_profile::{PgRow, PgTable};
pub use platform::{OwnCables, Platform, PlatformError, PlatformFile};

use super::dialect::Dialect;
use super::factorise::{QueueBinding, UnsupportedSwitch, factorise};
use super::marks::Marks;
use super::view::SwitchView;
use fabric::PortIndex;
use references::ReferenceForm;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Name of maps that all ports share.
const SHARED: &str = "TAGGER";
/// Profile of lossless queues in SONiC's templates.
const EGRESS_LOSSLESS: &str = "egress_lossless_profile";
/// Pool of lossless groups in SONiC's templates.
const INGRESS_LOSSLESS: &str = "ingress_lossless_pool";

/// Lossless priorities that the software watchdog monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watchdog {
    /// None: no `PFC_WD` table.
    Off,
    /// Priorities of the classes' first tags (packets without a bounce), as in SONiC's own remapping for two ToRs.
    First,
    /// All lossless priorities.
    All,
}

/// Settings that the maps do not determine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Port at which the ASIC binds `TC_TO_QUEUE_MAP`.
    pub binding: QueueBinding,
    /// Priorities that the watchdog monitors.
    pub watchdog: Watchdog,
    /// Initial tag of each lossless class: the tag with which hosts send.
    pub first_tags: Vec<crate::rules::Tag>,
    /// Time that a queue is paused before the watchdog acts, 100 to 5000 ms.
    pub detection_ms: u32,
    /// Time that the queue must be free before the watchdog restores it, 100 to 60000 ms.
    pub restoration_ms: u32,
    /// XON threshold: occupancy of a priority group in bytes, field `xon` of a buffer profile.
    pub xon_bytes: u64,
    /// Threshold of the shared pool, as the exponent of alpha.
    pub dynamic_th: i8,
}

impl Settings {
    /// Returns the polling interval of the watchdog in ms: at most the detection and restoration times.
    fn poll_ms(&self) -> u32 {
        self.detection_ms.min(self.restoration_ms).min(MOST_POLL_MS)
    }
}

/// Maximum and minimum of `POLL_INTERVAL` in milliseconds (sonic-pfcwd.yang).
const MOST_POLL_MS: u32 = 1_000;
const LEAST_POLL_MS: u64 = 100;

/// Reason why no fragment can be generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SonicError {
    /// The rules of the switch do not fit.
    #[error(transparent)]
    UnsupportedSwitch(#[from] UnsupportedSwitch),
    /// The platform's files are invalid or belong to another platform.
    #[error(transparent)]
    Platform(#[from] PlatformError),
}

/// Returns the fragment of a switch with the platform `given`.
///
/// # Errors
/// [`UnsupportedSwitch`] if the rules do not fit the traffic classes, a name is invalid in SONiC, or a buffer pool is
/// exceeded;
/// [`PlatformError`] if the platform has no profile for a port, or the merged configuration violates a rule of SONiC's
/// models.
pub fn fragment(
    view: &SwitchView,
    marks: &Marks,
    settings: &Settings,
    given: &PlatformBuffers<'_>,
) -> Result<Fragment, SonicError> {
    if let Some(platform) = given.platform {
        platform.check_ports(&laid_over::interfaces(view))?;
    }
    let mut config = maps(view, marks, settings)?;
    let lossless = view.lossless_priorities(marks);
    let made = buffers::buffers(view, &lossless, settings, given)?;
    for (table, entries) in
        [("BUFFER_PROFILE", &made.profiles), ("BUFFER_PG", &made.groups), ("BUFFER_QUEUE", &made.queues)]
    {
        config.insert(table.to_owned(), entries.clone().into());
    }
    let platform = given.platform.map(|platform| &platform.config);
    let made_lossy = platform.map(|platform| left_over::make_lossy(view, &lossless, platform, &mut config));
    let made_lossy = made_lossy.transpose()?.unwrap_or_default();
    let poll = platform.and_then(|platform| laid_over::shorten_poll(platform, &mut config, view.name()));
    let mut replaced = platform.map(|platform| laid_over::replace_overlaps(platform, &mut config)).unwrap_or_default();
    if let Some(form) = platform.map(ReferenceForm::of) {
        form.write(&mut config);
        form.write_steps(&mut replaced.steps);
    }
    let merged = laid_over::check_merged(view, &config, &replaced, given)?;
    let mut notes = notes(view, marks, settings)?;
    notes.extend(poll);
    notes.extend(laid_over::made_lossy(view.name(), &made_lossy));
    let lost_dscps = platform.map_or(0, |platform| laid_over::lost_dscps(view, platform, &merged));
    notes.extend(laid_over::notes(view, &config, &merged, (&replaced, &made), given));
    let patch = (!replaced.steps.is_empty()).then(|| replaced.steps.into());
    let merged = given.platform.map(|platform| platform.with(merged));
    let published = made.published.into_iter().collect();
    Ok(Fragment { config: config.into(), patch, merged, notes, published, lost_dscps })
}

/// Returns all tables except buffers.
fn maps(view: &SwitchView, marks: &Marks, settings: &Settings) -> Result<Map<String, Value>, UnsupportedSwitch> {
    UnsupportedSwitch::of_names(view, Dialect::Sonic)?;
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
            // An empty list is written too; otherwise the platform's value would remain.
            maps[key] = list(&priorities[usize::from(port)]).into();
        }
        (view.interface(port).to_owned(), maps)
    });
    tables.insert("PORT_QOS_MAP".to_owned(), ports.collect::<Map<_, _>>().into());
    add_watchdog(&mut tables, view, &watched, settings);
    add_scheduler(&mut tables, view, marks);
    Ok(tables)
}

/// Maps shared by several ports, by name. Most ports of a switch have equal maps, so each map is built once.
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

/// Returns a map from 0, 1, 2, ... to the values.
fn numbered(values: impl Iterator<Item = u8>) -> Value {
    values.enumerate().map(|(at, value)| (at.to_string(), value.to_string().into())).collect::<Map<_, _>>().into()
}

/// Formats as "2,3,4".
fn list(priorities: &[u8]) -> String {
    priorities.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// Returns the lossless priorities of a port that the watchdog monitors.
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

/// Adds equal shares for all queues in use. Under strict priority the lossy queue could starve, and packets that became
/// lossy would occupy the lossless priority group at their ingress port.
fn add_scheduler(tables: &mut Map<String, Value>, view: &SwitchView, marks: &Marks) {
    tables.insert("SCHEDULER".to_owned(), json!({ SHARED: { "type": "DWRR", "weight": "1" } }));
    let queues = view
        .port_numbers()
        .flat_map(|port| marks.queues().into_iter().map(move |queue| format!("{}|{queue}", view.interface(port))));
    let queues: Map<String, Value> = queues.map(|queue| (queue, json!({ "scheduler": SHARED }))).collect();
    tables.insert("QUEUE".to_owned(), queues.into());
}
