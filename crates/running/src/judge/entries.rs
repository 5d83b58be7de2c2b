//! Map entries that determine the treatment of a frame.

use crate::device::{Device, Port};
use crate::read::{SwitchConfig, table_of};

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
    /// File and key.
    pub fn location(&self) -> String {
        format!("{} {}", self.config.file, self.key())
    }
}

/// Returns the entry of a port's map.
pub(super) fn entry<'a>(device: &Device<'a>, port: &Port, field: &'static str, at: u8) -> Option<Entry<'a>> {
    let config = device.config(port);
    let row = |name: &str| config.qos.get(name).and_then(|qos| qos.maps.get(field));
    let map = row(&port.name).or_else(|| row("global"))?;
    Some(Entry { config, table: table_of(field), map: map.clone(), at })
}

/// Returns the entry of a tunnel's map.
pub(super) fn tunnel_entry<'a>(device: &Device<'a>, port: &Port, field: &'static str, at: u8) -> Option<Entry<'a>> {
    let config = device.config(port);
    let map = config.tunnel.as_ref()?.maps.get(field)?;
    Some(Entry { config, table: table_of(field), map: map.clone(), at })
}
