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
//!
//! The schema is that of the public sources; it was not loaded on hardware.

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

/// The fragment of a switch.
///
/// # Errors
/// [`Misfit`] if its rules do not fit the traffic classes, or a name is none of SONiC's.
pub fn config_db(view: &SwitchView, marks: &Marks, settings: &Settings) -> Result<Value, Misfit> {
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
            let priorities = &priorities[usize::from(port)];
            if !priorities.is_empty() {
                maps[key] = list(priorities).into();
            }
        }
        (view.interface(port).to_owned(), maps)
    });
    tables.insert("PORT_QOS_MAP".to_owned(), ports.collect::<Map<_, _>>().into());
    add_watchdog(&mut tables, view, &watched, settings);
    add_headroom(&mut tables, view, &lossless, settings);
    add_scheduler(&mut tables, view, marks);
    Ok(tables.into())
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

/// What holds for all switches of an export.
pub fn general_notes(marks: &Marks) -> Vec<String> {
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
        "BUFFER_PROFILE names the pool ingress_lossless_pool, which the platform's own buffer configuration must \
         define."
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
        found.insert("GLOBAL".to_owned(), json!({ "POLL_INTERVAL": settings.detection_ms.to_string() }));
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

fn add_headroom(tables: &mut Map<String, Value>, view: &SwitchView, lossless: &[Vec<u8>], settings: &Settings) {
    let (mut profiles, mut groups) = (Map::new(), Map::new());
    for (port, priorities) in view.port_numbers().zip(lossless) {
        let headroom = view.ports()[usize::from(port)].headroom_bytes;
        let profile = format!("tagger_lossless_{headroom}_profile");
        for range in ranges(priorities) {
            groups.insert(format!("{}|{range}", view.interface(port)), json!({ "profile": profile }));
            let content = json!({
                "pool": "ingress_lossless_pool", "xoff": headroom.to_string(), "xon": settings.xon_bytes.to_string(),
                "size": (headroom + settings.xon_bytes).to_string(), "dynamic_th": settings.dynamic_th.to_string(),
            });
            profiles.insert(profile.clone(), content);
        }
    }
    tables.insert("BUFFER_PROFILE".to_owned(), profiles.into());
    tables.insert("BUFFER_PG".to_owned(), groups.into());
}

/// Ascending numbers as SONiC writes them: "2-4", "6".
fn ranges(numbers: &[u8]) -> Vec<String> {
    let chunks = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = |chunk: &[u8]| match chunk {
        [only] => only.to_string(),
        _ => format!("{}-{}", chunk[0], chunk[chunk.len() - 1]),
    };
    chunks.map(text).collect()
}
