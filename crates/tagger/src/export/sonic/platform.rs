//! Existing configuration of a platform: the buffer and QoS tables of its `config_db.json`.

use super::model::{self, Config, check, entries, text};
use fabric::sonic::{TableFault, cable_lengths};
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Time};

/// Cable delay per metre.
pub(super) const DELAY_PER_METRE: Time = Time::from_ns(5);

/// File of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformFile {
    /// `config_db.json`.
    Config,
    /// `pg_profile_lookup.ini`.
    PgProfile,
}

/// Fault in a file of a platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {what}")]
pub struct PlatformError {
    /// File with the fault.
    pub file: PlatformFile,
    /// Line or key.
    pub key: String,
    /// Description of the fault.
    pub what: String,
}

impl PlatformError {
    pub(super) fn of_config(key: String, what: String) -> PlatformError {
        PlatformError { file: PlatformFile::Config, key, what }
    }

    pub(super) fn of_rows(key: String, what: String) -> PlatformError {
        PlatformError { file: PlatformFile::PgProfile, key, what }
    }
}

impl From<TableFault> for PlatformError {
    fn from(fault: TableFault) -> PlatformError {
        PlatformError::of_config(fault.key, format!("{}: write {}", fault.message, fault.help))
    }
}

impl From<model::Violation> for PlatformError {
    fn from(violation: model::Violation) -> PlatformError {
        PlatformError::of_config(violation.key, violation.rule)
    }
}

/// Tables that are read: those of QoS, of buffers, and of the ports that use them.
const READ: [&str; 24] = [
    "ASIC_TABLE",
    "BUFFER_PG",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_QUEUE",
    "CABLE_LENGTH",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "DEVICE_METADATA",
    "DOT1P_TO_TC_MAP",
    "DSCP_TO_TC_MAP",
    "LOSSLESS_TRAFFIC_PATTERN",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "PERIPHERAL_TABLE",
    "PFC_WD",
    "PORT",
    "PORT_PERIPHERAL_TABLE",
    "PORT_QOS_MAP",
    "QUEUE",
    "SCHEDULER",
    "TC_TO_DSCP_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "WRED_PROFILE",
];

/// Configuration of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    pub(super) config: Config,
    /// Tables that the export does not use.
    others: Config,
}

impl Platform {
    /// Reads a `config_db.json`, or the part of one that has buffers. Other tables are ignored.
    ///
    /// # Errors
    /// If the file is no JSON object of tables; else the first violated rule of SONiC's models in entries without
    /// ports. Entries of ports are checked with the switch, because the fabric may not contain all ports.
    pub fn parse(text: &str) -> Result<Platform, PlatformError> {
        let wrong = |key: String, what: &str| PlatformError::of_config(key, what.to_owned());
        let parsed: serde_json::Value = serde_json::from_str(text)
            .map_err(|error| wrong(format!("line {}, column {}", error.line(), error.column()), "this is no JSON"))?;
        let serde_json::Value::Object(tables) = parsed else {
            return Err(wrong("line 1".to_owned(), "a JSON object of tables is expected"));
        };
        let (config, others): (Config, Config) =
            tables.into_iter().partition(|(table, _)| READ.contains(&table.as_str()));
        for (table, all) in &config {
            let Some(all) = all.as_object() else {
                return Err(wrong(table.clone(), "a table is an object of entries"));
            };
            if let Some((name, _)) = all.iter().find(|(_, fields)| !fields.is_object()) {
                return Err(wrong(format!("{table}|{}", fabric::visible(name)), "an entry is an object of fields"));
            }
        }
        let platform = Platform { config, others };
        if !entries(&platform.config, "BUFFER_PG").chain(entries(&platform.config, "BUFFER_PROFILE")).any(|_| true) {
            return Err(wrong("BUFFER_PROFILE".to_owned(), "the file has neither BUFFER_PROFILE nor BUFFER_PG"));
        }
        if let Some(violation) = check(&platform.config, Some(&BTreeSet::new())).into_iter().next() {
            return Err(violation.into());
        }
        Ok(platform)
    }

    /// Checks the entries for these ports against the rules of SONiC's models.
    ///
    /// # Errors
    /// The first rule that they violate.
    pub(super) fn check_ports(&self, ports: &BTreeSet<&str>) -> Result<(), PlatformError> {
        check(&self.config, Some(ports)).into_iter().next().map_or(Ok(()), |violation| Err(violation.into()))
    }

    /// Returns the name of the switch, if stated.
    pub fn hostname(&self) -> Option<&str> {
        text(self.config.get("DEVICE_METADATA")?.get("localhost")?, "hostname")
    }

    /// Returns all tables of the file.
    pub fn tables(&self) -> Config {
        self.with(self.config.clone())
    }

    /// Adds the tables that the export does not use to the merged tables.
    pub(super) fn with(&self, mut merged: Config) -> Config {
        merged.extend(self.others.clone());
        merged
    }

    /// Returns whether the file has a table that the export uses.
    pub fn has(&self, table: &str) -> bool {
        self.config.contains_key(table)
    }

    pub(super) fn profile(&self, name: &str) -> Option<&serde_json::Value> {
        self.config.get("BUFFER_PROFILE")?.get(name)
    }

    /// Returns the pool for lossless groups or queues: the one with the usual name, or the first of this direction that
    /// is not for lossy traffic.
    pub(super) fn pool(&self, direction: &str, usual: &str) -> Option<&str> {
        let fits =
            |fields: &serde_json::Value| text(fields, "type").is_some_and(|kind| kind == direction || kind == "both");
        let all = || entries(&self.config, "BUFFER_POOL");
        let usual = all().find(|(name, _)| *name == usual);
        usual.or_else(|| all().find(|(name, fields)| fits(fields) && !name.contains("lossy"))).map(|(name, _)| name)
    }

    /// Returns whether the file has no egress tables: it is part of a configuration, and the rest defines the usual
    /// profile.
    pub(super) fn defines_egress_elsewhere(&self) -> bool {
        !self.has("BUFFER_QUEUE") && !self.has("BUFFER_POOL")
    }
}

/// Speed and cable of the ports of one switch, as stated in its own `config_db.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnCables {
    /// Name of the switch, if stated.
    pub hostname: Option<String>,
    speeds: BTreeMap<String, Rate>,
    delays: BTreeMap<String, Time>,
}

impl OwnCables {
    /// Reads `DEVICE_METADATA`, `PORT` and `CABLE_LENGTH`. `None` if the text is no JSON object.
    ///
    /// # Errors
    /// If a speed is no rate, or a length has no unit. A length of `0m` means a port without cable.
    pub fn parse(text: &str) -> Result<Option<OwnCables>, PlatformError> {
        let Ok(serde_json::Value::Object(config)) = serde_json::from_str(text) else { return Ok(None) };
        let hostname = config.get("DEVICE_METADATA").and_then(|all| self::text(all.get("localhost")?, "hostname"));
        let mut found = OwnCables { hostname: hostname.map(str::to_owned), ..OwnCables::default() };
        for (port, fields) in entries(&config, "PORT") {
            if fields.get("speed").is_some() {
                let rate =
                    model::number(fields, "speed").and_then(|speed| Rate::from_bps(speed.checked_mul(1_000_000)?));
                let key = || format!("PORT|{}.speed", fabric::visible(port));
                let wrong = || PlatformError::of_config(key(), "a speed in Mbit/s is expected".to_owned());
                found.speeds.insert(port.to_owned(), rate.ok_or_else(wrong)?);
            }
        }
        for length in cable_lengths(&config) {
            let length = length?;
            if length.metres > 0 {
                found.delays.insert(length.port.to_owned(), DELAY_PER_METRE * length.metres);
            }
        }
        Ok(Some(found))
    }

    /// Adds the ports of another file of this switch: a switch with several ASICs has one file per ASIC.
    pub fn extend(&mut self, other: OwnCables) {
        self.speeds.extend(other.speeds);
        self.delays.extend(other.delays);
    }

    /// Returns the speed of a port, if stated.
    pub fn speed(&self, port: &str) -> Option<Rate> {
        self.speeds.get(port).copied()
    }

    /// Returns the one-way delay of a port's cable, at 5 ns per metre, if its length is stated.
    pub fn delay(&self, port: &str) -> Option<Time> {
        self.delays.get(port).copied()
    }
}
