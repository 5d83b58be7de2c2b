//! Every key in every variant of its table, from the key tables that generate readers and documentation.

use scenario::keys::{self, Default};
use std::fmt;

/// A key in one variant of its table.
pub struct KeyLocation {
    /// Path of the key, such as `switch.flow_control.xoff`.
    pub path: String,
    /// Path of the table, such as `switch.flow_control`.
    pub section: &'static str,
    /// Name of the key, such as `xoff`.
    pub name: &'static str,
    /// Variant of the table, in most tables its `kind`.
    pub variant: Option<&'static str>,
    /// Type of the value in words; empty for parameters of transports.
    pub value: &'static str,
    pub default: Default,
    /// Example value in TOML.
    pub example: &'static str,
}

impl fmt::Display for KeyLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path)?;
        self.variant.map_or(Ok(()), |variant| write!(formatter, " ({variant})"))
    }
}

/// Returns the section in the key table for a table path.
fn table(path: &str) -> &str {
    match path {
        "fabric.link.host" | "fabric.link.edge" | "fabric.link.core" => "fabric.link.tier",
        path => path,
    }
}

/// Returns every location except keys whose values are tables; keys inside these tables have locations of their own.
pub fn all() -> Vec<KeyLocation> {
    let mut locations = Vec::new();
    for key in keys::keys() {
        let path = key.path();
        if keys::keys().any(|other| other.section == table(&path)) {
            continue;
        }
        let variants: Vec<Option<&'static str>> = match key.variants {
            [] => vec![None],
            variants => variants.iter().copied().map(Some).collect(),
        };
        locations.extend(variants.into_iter().map(|variant| KeyLocation {
            path: path.clone(),
            section: key.section,
            name: key.name,
            variant,
            value: key.value,
            default: key.default,
            example: key.example,
        }));
    }
    for transport in keys::transports() {
        locations.extend(transport.parameters.iter().map(|parameter| KeyLocation {
            path: format!("host.transport.{}", parameter.key),
            section: "host.transport",
            name: parameter.key,
            variant: Some(transport.kind),
            value: "",
            default: parameter.default,
            example: "",
        }));
    }
    locations
}
