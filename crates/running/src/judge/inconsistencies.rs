//! Choice of the map entry that a finding names if several lead to one conflict: the entry that differs from most
//! files.

use crate::device::{Device, Port};
use crate::read::{SwitchConfig, table_of};
use std::collections::BTreeMap;

/// An entry of a map in a file: table, name of the map, key.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub config: &'a SwitchConfig,
    pub table: &'static str,
    pub map: String,
    pub at: u8,
}

impl Entry<'_> {
    pub fn key(&self) -> String {
        format!("{}|{}.{}", self.table, self.map, self.at)
    }
}

/// Number of files by value, for each entry.
pub(super) struct MajorityValues<'a>(BTreeMap<(&'static str, &'a str, u8), BTreeMap<Option<u8>, usize>>);

impl<'a> MajorityValues<'a> {
    pub fn new(configs: &'a [SwitchConfig]) -> MajorityValues<'a> {
        let mut votes: BTreeMap<_, BTreeMap<Option<u8>, usize>> = BTreeMap::new();
        for config in configs {
            for (&table, maps) in &config.maps {
                for (name, map) in maps {
                    for (&key, &value) in map {
                        *votes.entry((table, name.as_str(), key)).or_default().entry(Some(value)).or_default() += 1;
                    }
                }
            }
        }
        MajorityValues(votes)
    }

    /// Returns the value of more than half of the files, if this file has another.
    pub fn usual(&self, entry: &Entry<'_>) -> Option<u8> {
        let values = self.0.get(&(entry.table, entry.map.as_str(), entry.at))?;
        let own = entry.config.maps[entry.table].get(&entry.map)?.get(&entry.at).copied();
        let files: usize = values.values().sum();
        let (usual, count) = values.iter().max_by_key(|(_, count)| **count)?;
        (count * 2 > files && *usual != own).then_some(*usual).flatten()
    }

    /// Returns the first of these entries that differs from most files, with their value.
    pub fn odd<'e>(&self, entries: impl IntoIterator<Item = Option<Entry<'e>>>) -> Option<(Entry<'e>, u8)> {
        entries.into_iter().flatten().find_map(|entry| self.usual(&entry).map(|usual| (entry, usual)))
    }
}

/// The entry of a port's map.
pub(super) fn entry<'a>(device: &Device<'a>, port: &Port, field: &'static str, at: u8) -> Option<Entry<'a>> {
    let config = device.config(port);
    let row = |name: &str| config.qos.get(name).and_then(|qos| qos.maps.get(field));
    let map = row(&port.name).or_else(|| row("global"))?;
    Some(Entry { config, table: table_of(field), map: map.clone(), at })
}

/// The entry of a tunnel's map.
pub(super) fn tunnel_entry<'a>(device: &Device<'a>, port: &Port, field: &'static str, at: u8) -> Option<Entry<'a>> {
    let config = device.config(port);
    let map = config.tunnel.as_ref()?.maps.get(field)?;
    Some(Entry { config, table: table_of(field), map: map.clone(), at })
}
