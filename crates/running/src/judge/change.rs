//! A candidate change to one configuration file.

use crate::read::SwitchConfig;
use std::collections::BTreeMap;

/// A setting, and the value to which it changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Setting {
    Entry { table: &'static str, map: String, at: u8, value: u8 },
    PortMap { row: String, field: &'static str, map: Option<String> },
    PfcEnable { row: String, priorities: u8 },
    TunnelMaps(BTreeMap<&'static str, String>),
}

/// A change to one file, suggested by the settings of other files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub file: String,
    pub key: String,
    /// The value to write.
    pub instead: String,
    /// Text such as `30 of 32 switches of this role have "3"`.
    pub like: String,
    /// Number of ports or switches with the suggested value minus those with the current value.
    pub margin: usize,
    pub setting: Setting,
}

impl Change {
    /// Returns the configurations with this change.
    pub fn applied(&self, configs: &[SwitchConfig]) -> Vec<SwitchConfig> {
        let mut configs = configs.to_vec();
        let Some(config) = configs.iter_mut().find(|config| config.file == self.file) else { return configs };
        match &self.setting {
            Setting::Entry { table, map, at, value } => {
                if let Some(map) = config.maps.get_mut(table).and_then(|maps| maps.get_mut(map)) {
                    map.insert(*at, *value);
                }
            }
            Setting::PortMap { row, field, map } => {
                for qos in config.qos.values_mut().filter(|qos| qos.key == *row) {
                    match map {
                        Some(map) => drop(qos.maps.insert(field, map.clone())),
                        None => drop(qos.maps.remove(field)),
                    }
                }
            }
            Setting::PfcEnable { row, priorities } => {
                config.qos.values_mut().filter(|qos| qos.key == *row).for_each(|qos| qos.pfc_enable = *priorities);
            }
            Setting::TunnelMaps(maps) => {
                if let Some(tunnel) = &mut config.tunnel {
                    tunnel.maps.clone_from(maps);
                }
            }
        }
        configs
    }
}
