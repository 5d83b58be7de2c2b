//! Settings of a switch that differ from those of most switches of its role. Such a value may be right: it is a hint,
//! not a finding.

use super::candidates::role;
use crate::device::Device;
use crate::error::{Finding, FindingKind};
use crate::read::SwitchConfig;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A value is usual if at least this number of switches have it, and at most a third as many have other values.
const LEAST_ALIKE: usize = 3;
const LEAST_RATIO: usize = 3;

/// A row of a table at a switch; `None` if the switch does not have it.
type Row<'a> = (&'a SwitchConfig, Option<&'a Map<String, Value>>);

/// Returns the settings that differ from those of most switches with the same role and platform, except those that
/// `findings` name.
pub(super) fn hints(device: &Device<'_>, findings: &[Finding]) -> Vec<Finding> {
    let named: BTreeSet<(&str, &str)> = findings.iter().map(|it| (it.file.as_str(), it.key.as_str())).collect();
    let mut roles: BTreeMap<_, Vec<&SwitchConfig>> = BTreeMap::new();
    for config in device.configs() {
        roles.entry((role(device, config), &config.hwsku)).or_default().push(config);
    }
    let mut found = Vec::new();
    for switches in roles.values().filter(|switches| switches.len() > LEAST_ALIKE) {
        let mut rows: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (table, all) in switches.iter().flat_map(|config| config.compared.iter()) {
            rows.extend(all.as_object().into_iter().flatten().map(|(row, _)| (table.as_str(), row.as_str())));
        }
        for (table, row) in rows {
            let port = row.split('|').next().unwrap_or_default();
            let is_of_port = switches.iter().any(|config| config.ports.contains_key(port));
            let has_port = |config: &&&SwitchConfig| !is_of_port || config.ports.contains_key(port);
            let users: Vec<Row<'_>> =
                switches.iter().filter(has_port).map(|config| (*config, config.row(table, row))).collect();
            if users.len() <= LEAST_ALIKE {
                continue;
            }
            let mut add = |key: String, (file, why, instead): (&str, String, String)| {
                let (kind, file, key) = (FindingKind::Outlier, file.to_owned(), fabric::visible(&key));
                found.push(Finding::new(kind, file, key, why, instead));
            };
            let rows = differing(&users, |fields| fields.map_or("no such row", |_| "the row").to_owned());
            rows.into_iter().for_each(|hint| add(format!("{table}|{row}"), hint));
            let users: Vec<Row<'_>> = users.into_iter().filter(|(_, fields)| fields.is_some()).collect();
            let fields: BTreeSet<&String> =
                users.iter().filter_map(|(_, fields)| *fields).flat_map(Map::keys).collect();
            for field in fields {
                let text = |fields: Option<&Map<String, Value>>| match fields.and_then(|fields| fields.get(field)) {
                    Some(value) => fabric::visible(&value.to_string()),
                    None => "no such field".to_owned(),
                };
                differing(&users, text).into_iter().for_each(|hint| add(format!("{table}|{row}.{field}"), hint));
            }
        }
    }
    found.retain(|hint| !named.contains(&(hint.file.as_str(), hint.key.as_str())));
    found.sort();
    found
}

/// Returns the files whose text for a row is not the usual one, each with the reason and the advice.
fn differing<'a>(
    users: &[Row<'a>],
    text: impl Fn(Option<&Map<String, Value>>) -> String,
) -> Vec<(&'a str, String, String)> {
    let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (config, fields) in users {
        files.entry(text(*fields)).or_default().push(&config.file);
    }
    let Some((usual, alike)) = files.iter().max_by_key(|(_, files)| files.len()) else { return Vec::new() };
    let (alike, all) = (alike.len(), users.len());
    if alike < LEAST_ALIKE || (all - alike) * LEAST_RATIO > alike {
        return Vec::new();
    }
    let instead = if usual.starts_with("no such") { "leave it out, unless a row refers to it" } else { usual };
    let others = files.iter().filter(|(value, _)| *value != usual);
    let why = |value: &str| format!("{value} here; {alike} of {all} switches of this role and platform have {usual}");
    let of_value = |(value, files): (&String, &Vec<&'a str>)| -> Vec<(&'a str, String, String)> {
        files.iter().map(|file| (*file, why(value), instead.to_owned())).collect()
    };
    others.flat_map(of_value).collect()
}
