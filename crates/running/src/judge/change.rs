//! A candidate change to one configuration file.

use super::lists::{list, ranges};
use crate::device::{Device, Port};
use crate::read::{ProfileReference, SwitchConfig};
use fabric::{NodeId, PortIndex};
use std::collections::{BTreeMap, BTreeSet};

/// A setting, and the value to which it changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Setting {
    Entry {
        table: &'static str,
        map: String,
        at: u8,
        value: u8,
    },
    PortMap {
        row: String,
        field: &'static str,
        map: Option<String>,
    },
    PfcEnable {
        row: String,
        priorities: u8,
    },
    /// Profiles of priority groups or queues of a port; `None`: no row.
    Profiles {
        rows: Rows,
        /// Key of the row that assigns the profiles.
        row: String,
        port: String,
        profiles: BTreeMap<u8, Option<String>>,
    },
    TunnelMaps(BTreeMap<&'static str, String>),
}

/// A change to one file, suggested by the settings of other files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub file: String,
    /// Number of ports or switches with the suggested value minus those with the current value.
    pub margin: usize,
    /// The settings that change: one, or one per port.
    pub parts: Vec<Part>,
}

/// Result of the search for causes.
pub(super) struct Causes {
    /// The change that removes each finding, if one is found.
    pub of_findings: Vec<Option<Change>>,
    /// The trial limit, if the search reached it before all causes were found.
    pub limit: Option<u64>,
}

/// A setting that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub key: String,
    /// The value to write.
    pub instead: String,
    /// Text such as `30 of 32 switches of this role have "3"`.
    pub like: String,
    /// The port whose row changes; `None` if several ports use the setting.
    pub port: Option<(NodeId, PortIndex)>,
    pub setting: Setting,
}

/// A table of rows that assign profiles to numbers of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rows {
    Groups,
    Queues,
}

impl Rows {
    pub const ALL: [Rows; 2] = [Rows::Groups, Rows::Queues];

    pub const fn table(self) -> &'static str {
        match self {
            Rows::Groups => "BUFFER_PG",
            Rows::Queues => "BUFFER_QUEUE",
        }
    }

    pub const fn noun(self) -> &'static str {
        match self {
            Rows::Groups => "groups",
            Rows::Queues => "queues",
        }
    }

    /// Returns the bitmask of the numbers with a lossless profile.
    pub fn lossless(self, port: &Port) -> u32 {
        match self {
            Rows::Groups => port.lossless_profiles.into(),
            Rows::Queues => port.lossless_queues,
        }
    }

    fn of(self, config: &SwitchConfig) -> &BTreeMap<(String, u8), ProfileReference> {
        match self {
            Rows::Groups => &config.groups,
            Rows::Queues => &config.queues,
        }
    }

    /// Returns the change of a port's rows with which the numbers of `wanted` are lossless and no others: the key, the
    /// advice, and the setting. `None` if no profile for them is in use at such a port of this switch.
    pub fn change(self, device: &Device<'_>, port: &Port, wanted: u32) -> Option<(String, String, Setting)> {
        let config = device.config(port);
        let rows = self.of(config);
        let bound = |number: u8| rows.get(&(port.name.clone(), number));
        let numbers = |bits: u32| (0..32u8).filter(move |number| bits >> number & 1 == 1);
        let own = self.lossless(port);
        let (missing, extra) = (wanted & !own, own & !wanted);
        let is_like = |other: &&Port| {
            let cable = |port: &Port| config.cables.get(&port.name).map(|cable| cable.metres);
            self == Rows::Queues || (other.rate, cable(other)) == (port.rate, cable(port))
        };
        // Profiles of other ports of the switch for these numbers.
        let of_others = |bits: u32, is_lossless: bool| {
            let ports = device.ports_of(config).filter(is_like).filter(|other| other.name != port.name);
            let profiles = ports.flat_map(|other| {
                let bits = if is_lossless { self.lossless(other) } else { !self.lossless(other) } & bits;
                numbers(bits).filter_map(|number| rows.get(&(other.name.clone(), number)))
            });
            profiles.map(|bound| bound.name.clone()).next()
        };
        let lossless = numbers(own & wanted).find_map(bound).map(|bound| bound.name.clone());
        let lossless = lossless.or_else(|| of_others(wanted, true));
        let lossy = of_others(extra, false);
        if missing != 0 && lossless.is_none() {
            return None;
        }
        let profiles = numbers(missing).map(|number| (number, lossless.clone()));
        let profiles: BTreeMap<u8, Option<String>> =
            profiles.chain(numbers(extra).map(|number| (number, lossy.clone()))).collect();
        let setting =
            |row: &str| Setting::Profiles { rows: self, row: row.to_owned(), port: port.name.clone(), profiles };
        // A row whose numbers are all wrong has the wrong profile; otherwise it has wrong numbers.
        let keys: BTreeSet<&String> = numbers(missing | extra).filter_map(bound).map(|bound| &bound.key).collect();
        let only_wrong = |key: &&String| {
            let of_row = rows.iter().filter(|((of, _), bound)| *of == port.name && bound.key == **key);
            of_row.into_iter().all(|((_, number), _)| (missing | extra) >> number & 1 == 1)
        };
        let all_bound = numbers(missing).all(|number| bound(number).is_some());
        if let [key] = keys.iter().copied().collect::<Vec<_>>()[..]
            && only_wrong(&key)
            && all_bound
            && (missing == 0 || extra == 0)
        {
            let profile = if missing == 0 { lossy.unwrap_or_else(|| "a lossy profile".to_owned()) } else { lossless? };
            return Some((format!("{key}.profile"), profile, setting(key)));
        }
        let range = ranges(wanted);
        Some(match numbers(own).find_map(bound) {
            Some(row) => {
                let names = row.key.rsplit_once('|').map_or(row.key.as_str(), |(names, _)| names);
                let instead = if wanted == 0 { "no such row".to_owned() } else { format!("{names}|{range}") };
                (row.key.clone(), instead, setting(&row.key))
            }
            None => {
                let key = format!("{}|{}|{range}", self.table(), port.name);
                let instead = format!("a row for {} {} with profile {}", self.noun(), list(wanted), lossless?);
                let setting = setting(&key);
                (key, instead, setting)
            }
        })
    }
}

impl Change {
    /// Returns the configurations with this change.
    pub fn applied(&self, configs: &[SwitchConfig]) -> Vec<SwitchConfig> {
        let mut configs = configs.to_vec();
        let Some(config) = configs.iter_mut().find(|config| config.file == self.file) else { return configs };
        self.parts.iter().for_each(|part| part.apply(config));
        configs
    }
}

impl Part {
    fn apply(&self, config: &mut SwitchConfig) {
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
            Setting::Profiles { rows, row, port, profiles } => {
                let bound = match rows {
                    Rows::Groups => &mut config.groups,
                    Rows::Queues => &mut config.queues,
                };
                for (number, profile) in profiles {
                    let at = (port.clone(), *number);
                    match profile {
                        Some(name) => {
                            drop(bound.insert(at, ProfileReference { key: row.clone(), name: name.clone() }));
                        }
                        None => drop(bound.remove(&at)),
                    }
                }
            }
            Setting::TunnelMaps(maps) => {
                if let Some(tunnel) = &mut config.tunnel {
                    tunnel.maps.clone_from(maps);
                }
            }
        }
    }
}
