//! Settings of a switch that differ from those of most switches of its role. Such a value may be right: it is a hint,
//! not a finding.

use super::remedies::role;
use crate::device::Device;
use crate::error::{Finding, FindingKind};
use crate::read::SwitchConfig;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A value is usual if at least this number of switches have it, and at most a third as many have other values.
const LEAST_ALIKE: usize = 3;
const LEAST_RATIO: usize = 3;

/// A row of a table, with the switch that has it.
type Row<'a> = (&'a SwitchConfig, &'a Map<String, Value>);

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
        let mut rows: BTreeMap<(&str, &str), Vec<Row<'_>>> = BTreeMap::new();
        for config in switches {
            for (table, all) in config.compared.iter() {
                for (row, fields) in all.as_object().into_iter().flatten() {
                    let fields = fields.as_object().map(|fields| (*config, fields));
                    rows.entry((table, row)).or_default().extend(fields);
                }
            }
        }
        for ((table, row), users) in rows.iter().filter(|(_, users)| users.len() > LEAST_ALIKE) {
            let fields: BTreeSet<&String> = users.iter().flat_map(|(_, fields)| fields.keys()).collect();
            for field in fields {
                let differing = differing(users, field).into_iter();
                found.extend(differing.map(|(file, why, instead)| Finding {
                    kind: FindingKind::Outlier,
                    file: file.to_owned(),
                    key: fabric::visible(&format!("{table}|{row}.{field}")),
                    why,
                    instead,
                }));
            }
        }
    }
    found.retain(|hint| !named.contains(&(hint.file.as_str(), hint.key.as_str())));
    found.sort();
    found
}

/// Returns the files whose value of a field is not the usual one, each with the reason and the usual value.
fn differing<'a>(users: &[(&'a SwitchConfig, &Map<String, Value>)], field: &str) -> Vec<(&'a str, String, String)> {
    let first = users[0].1.get(field);
    if users.iter().all(|(_, fields)| fields.get(field) == first) {
        return Vec::new();
    }
    let text =
        |value: Option<&Value>| value.map_or("no such field".to_owned(), |value| fabric::visible(&value.to_string()));
    let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (config, fields) in users {
        files.entry(text(fields.get(field))).or_default().push(&config.file);
    }
    let Some((usual, alike)) = files.iter().max_by_key(|(_, files)| files.len()) else { return Vec::new() };
    let (alike, all) = (alike.len(), users.len());
    if alike < LEAST_ALIKE || (all - alike) * LEAST_RATIO > alike {
        return Vec::new();
    }
    let others = files.iter().filter(|(value, _)| *value != usual);
    let why = |value: &str| format!("{value} here; {alike} of {all} switches of this role and platform have {usual}");
    others.flat_map(|(value, files)| files.iter().map(move |file| (*file, why(value), usual.clone()))).collect()
}
