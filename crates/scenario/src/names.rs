//! Names of hosts and nodes in a scenario.

use crate::document::Value;
use crate::section::{Read, Wrong, list, show, text, whole};
use crate::suggest;
use fabric::Fabric;

/// A host as named in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostName {
    Number(u64),
    Name(String),
    /// Range of host numbers; the first and the last number are included.
    Range(u64, u64),
}

impl HostName {
    pub fn parse(value: &Value) -> Result<HostName, Wrong> {
        match value {
            Value::Integer(_) => whole(value, 0..=u64::from(u32::MAX)).map(|(number, _)| HostName::Number(number)),
            Value::Text(text) => {
                let range = text.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                Ok(range.map_or_else(|| HostName::Name(text.clone()), |(from, to)| HostName::Range(from, to)))
            }
            other => {
                let help = "write a name like \"H1\" or a number from 0".to_owned();
                Err((format!("{} is not a host", show(other)), Some(help)))
            }
        }
    }
}

impl std::fmt::Display for HostName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HostName::Number(number) => write!(f, "{number}"),
            HostName::Name(name) => f.write_str(name),
            HostName::Range(from, to) => write!(f, "{from}-{to}"),
        }
    }
}

/// Reads one host.
pub(crate) fn host(value: &Value) -> Read<HostName> {
    let host = HostName::parse(value)?;
    let text = host.to_string();
    match host {
        HostName::Range(..) => Err((format!("`{text}` is not one host"), None)),
        host => Ok((host, text)),
    }
}

/// Reads a list of hosts.
pub(crate) fn hosts_list(value: &Value) -> Read<Vec<HostName>> {
    let hosts = list(value, "[\"H1\", \"H2\"]")?.iter().map(|item| HostName::parse(&item.value));
    let hosts = hosts.collect::<Result<Vec<_>, _>>()?;
    let text = hosts.iter().map(HostName::to_string).collect::<Vec<_>>().join(" ");
    Ok((hosts, text))
}

/// Reads a list of node names; `example` shows the syntax in errors.
pub(crate) fn names(value: &Value, example: &str) -> Read<Vec<String>> {
    let names = list(value, example)?.iter().map(|item| text(&item.value, "the name of a node"));
    let names = names.collect::<Result<Vec<String>, _>>()?;
    Ok((names.clone(), names.join(" ")))
}

/// Suggests a node with a similar name.
pub(crate) fn near_node(fabric: &Fabric, name: &str) -> Option<String> {
    let known = fabric.nodes().iter().take(10_000).map(|node| node.name.as_str());
    suggest::nearest(name, known).map(|near| format!("did you mean `{near}`?"))
}
