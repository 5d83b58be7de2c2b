//! Reader of the QoS tables of `config_db.json` files, one per switch.
//!
//! | table | content |
//! |---|---|
//! | `DSCP_TO_TC_MAP`, `TC_TO_QUEUE_MAP`, `TC_TO_PRIORITY_GROUP_MAP`, `TC_TO_DSCP_MAP` | the maps by name |
//! | `MAP_PFC_PRIORITY_TO_QUEUE`, `PFC_PRIORITY_TO_PRIORITY_GROUP_MAP` | the maps by name |
//! | `PORT_QOS_MAP` | maps of a port, or of all (`global`); `pfc_enable`, `pfcwd_sw_enable` |
//! | `BUFFER_POOL`, `BUFFER_PROFILE`, `BUFFER_PG`, `BUFFER_QUEUE` | profiles of priority groups and queues |
//! | `PORT`, `CABLE_LENGTH` | speed, MTU, state, length |
//! | `SCHEDULER`, `QUEUE`, `WRED_PROFILE` | scheduling of the queues of a port, and marking |
//! | `PFC_WD` | times of the watchdog |
//! | `LOSSLESS_TRAFFIC_PATTERN`, `DEFAULT_LOSSLESS_BUFFER_PARAMETER` | parameters of computed headroom |
//! | `ASIC_TABLE`, `PERIPHERAL_TABLE`, `PORT_PERIPHERAL_TABLE` | ASIC and gearboxes, for computed headroom |
//! | `TUNNEL`, `MUX_CABLE`, `PEER_SWITCH` | dual ToR |
//!
//! References are `AZURE` or, in older versions, `[DSCP_TO_TC_MAP|AZURE]`; a key may name several ports
//! (`Ethernet0,Ethernet4|3-4`). Faults, each with file and key: a reference to a missing row, an incomplete map, a
//! profile without its pool, a length without unit. Findings: a field that is in neither this reader nor SONiC's YANG
//! models, a table whose name is nearly that of one that is read, and a value that SONiC refuses although it can be
//! judged. The report lists the tables that are not read.

mod buffers;
mod known;
mod maps;
mod neighbours;
mod ports;
mod reader;
mod references;
mod spelling;
mod values;

use crate::error::{Fault, Finding, FindingKind};
pub(crate) use buffers::COMPUTED;
use fabric::files::{check_neighbours, is_blank, parse_json, text_of};
use fabric::sonic::{AsicTables, BufferModel, TableFault, uses_dynamic_model};
pub(crate) use maps::table_of;
use reader::{Object, Reader};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::Rate;

/// A map of a QoS table: from DSCPs, traffic classes or priorities to traffic classes, queues, groups or DSCPs.
pub(crate) type QosMap = BTreeMap<u8, u8>;

/// The tables of one switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchConfig {
    /// Name of the file.
    pub file: String,
    /// `DEVICE_METADATA|localhost.hostname`.
    pub name: String,
    /// `type` and `subtype` of `DEVICE_METADATA|localhost`.
    pub(crate) role: String,
    /// Platform by `hwsku` of `DEVICE_METADATA|localhost`; empty if the file does not state it.
    pub(crate) hwsku: String,
    /// Tables of the file that are not read.
    pub unread: Vec<String>,
    /// Tables whose rows are compared between switches of a role.
    pub(crate) compared: Arc<Object>,
    /// Findings about unknown tables and fields, and about values that SONiC refuses.
    pub findings: Vec<Finding>,
    /// Entries of `DEVICE_NEIGHBOR` without an entry of the port that they lead to.
    pub(crate) one_sided: Vec<String>,
    pub(crate) maps: BTreeMap<&'static str, BTreeMap<String, QosMap>>,
    pub(crate) ports: BTreeMap<String, PortConfig>,
    pub(crate) cables: BTreeMap<String, Cable>,
    pub(crate) qos: BTreeMap<String, PortQos>,
    pub(crate) watchdog: Watchdog,
    pub(crate) pools: BTreeMap<String, Pool>,
    pub(crate) profiles: BTreeMap<String, Profile>,
    pub(crate) groups: BTreeMap<(String, u8), ProfileReference>,
    pub(crate) queues: BTreeMap<(String, u8), ProfileReference>,
    pub(crate) schedulers: BTreeMap<String, Scheduling>,
    pub(crate) scheduled: BTreeMap<(String, u8), ProfileReference>,
    /// Rate limits (`pir`) of whole ports from `PORT_QOS_MAP.scheduler`, in bytes per second.
    pub(crate) port_limits: BTreeMap<String, u64>,
    pub(crate) wred: BTreeMap<String, Wred>,
    /// `wred_profile` by port and queue.
    pub(crate) marked: BTreeMap<(String, u8), ProfileReference>,
    pub(crate) tunnel: Option<Tunnel>,
    pub(crate) mux: BTreeMap<String, Mux>,
    pub(crate) peer: Option<String>,
    /// Inputs of the dynamic buffer model, if the switch uses it.
    pub(crate) dynamic: Option<DynamicInputs>,
    /// Whether `buffer_model` is `traditional`: the switch computes no headroom, whatever its profiles are.
    pub(crate) traditional: bool,
}

impl SwitchConfig {
    /// Returns the fields of a row of a table that is compared between switches.
    pub(crate) fn row(&self, table: &str, row: &str) -> Option<&Object> {
        self.compared.get(table)?.get(row)?.as_object()
    }

    /// Whether the switch computes the headroom of a profile.
    pub(crate) fn computes(&self, profile: &str) -> bool {
        profile == COMPUTED || self.profiles.get(profile).is_some_and(|profile| profile.computed)
    }
}

/// Inputs of the dynamic buffer model. A missing model is a fault only if the headroom could be computed otherwise.
#[derive(Clone, Debug)]
pub(crate) struct DynamicInputs {
    pub asic: Option<AsicTables>,
    pub model: Result<BufferModel, TableFault>,
}

/// A row of `PORT`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortConfig {
    pub rate: Option<Rate>,
    pub mtu: u64,
    pub up: bool,
    pub lanes: Option<u64>,
    /// Whether the port obeys PFC of all priorities, not only of those in `pfc_enable`.
    pub asymmetric: bool,
}

/// A row of `CABLE_LENGTH` for one port: the length and its key.
#[derive(Clone, Debug)]
pub(crate) struct Cable {
    pub metres: u64,
    pub key: String,
}

/// A row of `PORT_QOS_MAP`.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortQos {
    pub key: String,
    /// Map name by field.
    pub maps: BTreeMap<&'static str, String>,
    /// Bitmasks of the priorities of `pfc_enable` and of `pfcwd_sw_enable`.
    pub pfc_enable: u8,
    pub watched: u8,
}

/// `PFC_WD`: times in ms, not yet checked against SONiC's ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watchdog {
    pub poll_interval: Option<u64>,
    pub ports: BTreeMap<String, WatchdogPort>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct WatchdogPort {
    pub key: String,
    pub detection: Option<u64>,
    pub restoration: Option<u64>,
    pub action: Option<String>,
}

/// A row of `BUFFER_POOL`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    /// Bytes; `None` if the switch computes it.
    pub size: Option<u64>,
    /// Shared headroom of an ingress pool, in bytes, above 0; `None` if it has none.
    pub shared_headroom: Option<u64>,
    /// Whether profiles of priority groups (`ingress`) and profiles of queues (`egress`) may use this pool.
    pub ingress: bool,
    pub egress: bool,
    pub is_static: bool,
}

/// Limit of the bytes that a queue or priority group may occupy in the shared part of its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threshold {
    /// Bytes.
    Static(u64),
    /// Exponent of alpha: the limit is alpha times the free bytes of the pool.
    Dynamic(i64),
}

/// A row of `BUFFER_PROFILE`.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub pool: String,
    pub size: u64,
    /// Bytes; only lossless profiles of priority groups have it.
    pub xoff: Option<u64>,
    /// Whether the switch computes its headroom.
    pub computed: bool,
    /// Whether the names of profile and pool classify a queue as lossless; `None` if neither contains "lossless" or
    /// "lossy".
    pub lossless_queue: Option<bool>,
    /// `None`: the row has neither `static_th` nor `dynamic_th`.
    pub threshold: Option<Threshold>,
    /// Whether frames that exceed the threshold are trimmed.
    pub trims: bool,
}

impl Profile {
    /// Whether it is for lossless frames: it has an `xoff`, or its name says so.
    pub fn is_lossless(&self) -> bool {
        self.xoff.is_some() || self.lossless_queue == Some(true)
    }

    /// Returns the field of a threshold whose kind is not that of the pool.
    pub fn foreign_threshold(&self, config: &SwitchConfig) -> Option<&'static str> {
        let pool = config.pools.get(&self.pool)?;
        match (self.threshold?, pool.is_static) {
            (Threshold::Static(_), false) => Some("static_th"),
            (Threshold::Dynamic(_), true) => Some("dynamic_th"),
            _ => None,
        }
    }
}

/// A row of `WRED_PROFILE`, with the colours for which WRED is enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wred {
    /// Value of `ecn`; `ecn_none` if the row has none.
    pub ecn: String,
    /// Colours of which all frames are dropped, ECN-capable or not.
    pub drops: Vec<WredColour>,
    /// Colours of which ECN-capable frames are marked and other frames are dropped.
    pub marks: Vec<WredColour>,
}

/// A colour of a row of `WRED_PROFILE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WredColour {
    pub name: &'static str,
    /// Queue length in bytes above which frames are dropped or ECN-marked; `None` if the row does not state it.
    pub from: Option<u64>,
}

/// Reference of a priority group or queue to a profile or scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProfileReference {
    pub key: String,
    /// `NULL` for a profile that the switch computes.
    pub name: String,
}

/// A row of `SCHEDULER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// Strict priority; `limit` is the peak rate in bytes per second.
    Strict { limit: Option<u64> },
    /// Weighted share: WRR or DWRR; `limit` as for strict priority.
    Share { limit: Option<u64> },
}

/// The tunnel to the other ToR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tunnel {
    pub key: String,
    /// DSCP mode `uniform`: the DSCP is copied to the outer header on encapsulation, and back on decapsulation.
    pub uniform: bool,
    pub maps: BTreeMap<&'static str, String>,
}

/// A row of `MUX_CABLE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mux {
    /// Whether frames to the server may have to take the tunnel to the other ToR.
    pub may_be_standby: bool,
    /// Whether this ToR may deliver frames to the server.
    pub may_be_active: bool,
}

/// Reads files, given as pairs of name and text. A file may hold an array of switches.
///
/// # Errors
/// All faults of all files.
pub fn read(files: &[(String, String)]) -> Result<Vec<SwitchConfig>, Vec<Fault>> {
    let (mut switches, mut faults): (Vec<SwitchConfig>, Vec<Fault>) = (Vec::new(), Vec::new());
    let mut objects: Vec<(String, Value)> = Vec::new();
    for (file, text) in files {
        if is_blank(text) {
            faults.push(unreadable(file, "(file)", "empty file".to_owned()));
            continue;
        }
        match parse_json(text) {
            Ok(Value::Array(list)) => {
                objects.extend(list.into_iter().enumerate().map(|(at, one)| (format!("{file}[{at}]"), one)));
            }
            Ok(one) => objects.push((file.clone(), one)),
            Err(error) => {
                let location = format!(" at line {} column {}", error.line(), error.column());
                let message = fabric::visible(error.to_string().trim_end_matches(&location));
                let place = format!("line {}, column {}", error.line(), error.column());
                faults.push(unreadable(file, &place, format!("not valid JSON: {message}")));
            }
        }
    }
    let several_asics = several_asics(&objects, &mut faults);
    let hosts: BTreeSet<&str> = objects.iter().filter_map(|(_, object)| localhost(object, "hostname")).collect();
    // Rows of DEVICE_NEIGHBOR, by file, whose port has another fault.
    let mut explained: BTreeSet<(&str, String)> = BTreeSet::new();
    for (file, object) in &objects {
        if several_asics.contains(localhost(object, "hostname").unwrap_or_default()) {
            continue;
        }
        match object.as_object() {
            Some(object) => {
                let of_file = read_switch(file, object, &hosts, &mut switches, &mut faults);
                explained.extend(of_file.into_iter().map(|key| (file.as_str(), key)));
            }
            None => faults.push(Fault {
                file: file.clone(),
                key: "(file)".to_owned(),
                message: "is no object".to_owned(),
                help: "the config_db.json of a switch".to_owned(),
            }),
        }
    }
    let is_whole = |object: &Value| !several_asics.contains(localhost(object, "hostname").unwrap_or_default());
    let whole = objects.iter().filter(|(_, object)| is_whole(object));
    let files: Vec<(&str, &Object)> =
        whole.filter_map(|(file, object)| Some((file.as_str(), object.as_object()?))).collect();
    let neighbours = check_neighbours(&files);
    for (file, key) in neighbours.one_sided {
        switches.iter_mut().filter(|switch| switch.file == file).for_each(|switch| switch.one_sided.push(key.clone()));
    }
    faults.extend(maps::check_pfc(&switches));
    faults.extend(neighbours.faults.into_iter().filter(|fault| !explained.contains(&(&fault.file, fault.key.clone()))));
    if faults.is_empty() { Ok(switches) } else { Err(after_unknown_keys(&switches, faults)) }
}

/// Reads files like [`read`], given as pairs of name and content.
///
/// # Errors
/// All faults of all files. A file that is not UTF-8 text is a fault at its first wrong byte.
pub fn read_bytes(files: &[(String, Vec<u8>)]) -> Result<Vec<SwitchConfig>, Vec<Fault>> {
    let (mut texts, mut faults) = (Vec::new(), Vec::new());
    for (file, content) in files {
        match text_of(content) {
            Ok(text) => texts.push((file.clone(), text.to_owned())),
            Err(wrong) => {
                let place = format!("line {}, byte {}", wrong.line, wrong.offset);
                faults.push(unreadable(file, &place, "not UTF-8 text".to_owned()));
            }
        }
    }
    match read(&texts) {
        Ok(switches) if faults.is_empty() => Ok(switches),
        Ok(_) => Err(faults),
        Err(others) => Err(faults.into_iter().chain(others).collect()),
    }
}

/// Returns the fault of a file whose tables cannot be read.
fn unreadable(file: &str, key: &str, message: String) -> Fault {
    let help = "one JSON object, as `config save` writes".to_owned();
    Fault { file: file.to_owned(), key: key.to_owned(), message, help }
}

/// Returns the unknown keys of the files as faults, before `faults`, whose cause they may be.
pub(crate) fn after_unknown_keys(configs: &[SwitchConfig], faults: Vec<Fault>) -> Vec<Fault> {
    unknown_keys(configs).into_iter().chain(faults).collect()
}

/// Returns the unknown keys of all files, for input that cannot be judged.
pub fn unknown_keys(configs: &[SwitchConfig]) -> Vec<Fault> {
    let all = configs.iter().flat_map(|config| &config.findings);
    let unknown = all.filter(|finding| finding.kind == FindingKind::UnknownKey).cloned();
    unknown.map(|Finding { file, key, why, instead, .. }| Fault { file, key, message: why, help: instead }).collect()
}

/// Returns a field of `DEVICE_METADATA|localhost`.
fn localhost<'v>(object: &'v Value, field: &str) -> Option<&'v str> {
    object.get("DEVICE_METADATA")?.get("localhost")?.get(field)?.as_str()
}

/// Returns the names of switches with several files, one per ASIC. Each further file of such a switch is one fault,
/// which replaces all other faults of these files, because their tables are not those of a whole switch.
fn several_asics<'v>(objects: &'v [(String, Value)], faults: &mut Vec<Fault>) -> BTreeSet<&'v str> {
    let mut files: BTreeMap<&str, Vec<(&str, Option<&str>)>> = BTreeMap::new();
    for (file, object) in objects {
        let Some(name) = localhost(object, "hostname").filter(|name| !name.is_empty()) else { continue };
        let asic = localhost(object, "asic_name").or(localhost(object, "asic_id"));
        files.entry(name).or_default().push((file, asic));
    }
    files.retain(|_, files| files.len() > 1 && files.iter().any(|(_, asic)| asic.is_some()));
    for (name, files) in &files {
        let (name, other) = (fabric::visible(name), files[0].0);
        for (file, asic) in &files[1..] {
            let asic = asic.map_or_else(|| "a file".to_owned(), fabric::visible);
            faults.push(Fault {
                file: (*file).to_owned(),
                key: "DEVICE_METADATA|localhost.hostname".to_owned(),
                message: format!("`{name}` is also the name of {other}: this is {asic} of a switch with several ASICs"),
                help: format!("one ASIC per switch; --ignore {name} leaves the switch and its files out"),
            });
        }
    }
    files.into_keys().collect()
}

/// Reads the file of a switch. `hosts`: the host names of all files. Returns the rows of `DEVICE_NEIGHBOR` about ports
/// with a fault.
fn read_switch(
    file: &str,
    object: &Object,
    hosts: &BTreeSet<&str>,
    switches: &mut Vec<SwitchConfig>,
    faults: &mut Vec<Fault>,
) -> BTreeSet<String> {
    let mut reader = Reader::new(file, object);
    let localhost = object.get("DEVICE_METADATA").and_then(|table| table.get("localhost"));
    let text = |field: &str| localhost.and_then(|row| row.get(field)).and_then(Value::as_str).unwrap_or_default();
    let (name, role) = (text("hostname"), format!("{} {}", text("type"), text("subtype")));
    let hwsku = text("hwsku").to_owned();
    let (file_name, name_text) = (file.to_owned(), name.to_owned());
    let mut switch = SwitchConfig { file: file_name, name: name_text, role, hwsku, ..SwitchConfig::default() };
    if name.is_empty() {
        reader.fault("DEVICE_METADATA|localhost.hostname", "is missing", "the name of the switch");
    }
    if reader.ports.is_empty() {
        reader.fault("PORT", "is missing or empty", "the ports of the switch");
    }
    if !object.contains_key("PORT_QOS_MAP") {
        let near = spelling::of_near_name(object, "PORT_QOS_MAP");
        let message = format!("is missing: the file has no QoS{near}");
        reader.fault("PORT_QOS_MAP", message, "the running config_db.json");
    }
    let compared = known::compared().filter_map(|table| Some((table.to_owned(), object.get(table)?.clone())));
    switch.compared = Arc::new(compared.collect());
    switch.unread = object
        .keys()
        .filter(|table| !spelling::tables().any(|read| read == table.as_str()))
        .map(|table| fabric::visible(table))
        .collect();
    spelling::check_tables(&mut reader);
    values::check_metadata(&mut reader);
    maps::read(&mut reader, &mut switch);
    ports::read(&mut reader, &mut switch);
    buffers::read(&mut reader, &mut switch);
    maps::check(&mut reader, &switch);
    neighbours::check(&mut reader, &switch, hosts);
    let explained = references::check_ports(&mut reader);
    switch.traditional = text("buffer_model") == "traditional";
    if uses_dynamic_model(object) {
        let asic = AsicTables::of(object).unwrap_or_else(|fault| {
            reader.fault(fault.key, fault.message, fault.help);
            None
        });
        switch.dynamic = Some(DynamicInputs { asic, model: BufferModel::of(object) });
    }
    switch.findings = std::mem::take(&mut reader.findings);
    faults.append(&mut reader.faults);
    switches.push(switch);
    explained
}
