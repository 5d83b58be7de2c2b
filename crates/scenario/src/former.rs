//! Deprecated names of keys, which are accepted for one version.

use crate::document::{Item, Table, Value};

/// Table, deprecated name and present name of each renamed key. A table is given by its present path, without array
/// indices.
const FORMER: &[(&str, &str, &str)] = &[
    ("", "agreement", "committed_rate"),
    ("check", "storm", "bounce_storm"),
    ("check.bounce_storm", "looks", "samples"),
    ("host", "disobedient", "ignore_pause"),
    ("host", "hears_trims", "trim_aware"),
    ("host", "on_stop", "on_pause"),
    ("measure", "utilisation", "queue_utilisation"),
    ("switch", "egress", "egress_threshold"),
    ("switch.override", "egress", "egress_threshold"),
    ("switch.watchdog", "detect", "detection_time"),
    ("switch.watchdog", "restore", "restoration_time"),
    ("traffic", "frame_longest", "frame_max"),
    ("traffic", "pieces", "chunks"),
    ("traffic", "pieces_in_flight", "chunks_in_flight"),
    ("traffic", "service", "service_time"),
    ("traffic", "session", "persistent_connection"),
    ("traffic", "think", "think_time"),
];

/// Table and name of each removed key, with advice.
const REMOVED: &[(&str, &str, &str)] = &[
    ("host", "resend_bounced", "hosts always send bounced frames again: delete the key"),
    ("host", "takes_back", "hosts always send bounced frames again: delete the key"),
];

/// Returns the advice for a removed key of the table `table`.
pub(crate) fn removed(table: &str, key: &str) -> Option<&'static str> {
    REMOVED.iter().find(|(of, name, _)| *of == table && *name == key).map(|(.., advice)| *advice)
}

/// Returns the path of each deprecated key, and the path of the key that replaces it.
pub fn former_names() -> impl Iterator<Item = (String, String)> {
    FORMER.iter().map(|(table, former, present)| (join(table, former), join(table, present)))
}

/// Returns a key path, as in `--set`, with the present names of its keys.
pub fn present_key(path: &str) -> String {
    let mut table = String::new();
    let present = |segment: &str| {
        let now = find(&table, segment).map_or_else(|| segment.to_owned(), |former| former.present.to_owned());
        table = join(&table, &now);
        now
    };
    path.split('.').map(str::trim).map(present).collect::<Vec<_>>().join(".")
}

/// A key that was written with its deprecated name.
#[derive(Clone, Debug)]
pub(crate) struct FormerKey {
    /// Path of the table of the key, without array indices.
    table: String,
    former: &'static str,
    /// Present name of the key.
    pub present: &'static str,
}

impl FormerKey {
    /// The path of the key, as in `--set`.
    pub fn path(&self) -> String {
        join(&self.table, self.present)
    }

    /// Returns the warning about the deprecated name.
    pub fn warning(&self) -> String {
        format!("`{}` is the former name of this key, which the next version refuses", self.former)
    }

    /// Returns the error for a table that has both names.
    pub fn duplicate(&self) -> String {
        format!("`{}` and its former name `{}` are both given", self.present, self.former)
    }
}

/// Returns the key of the table `table` whose deprecated name is `key`.
pub(crate) fn find(table: &str, key: &str) -> Option<FormerKey> {
    let found = FORMER.iter().find(|(of, former, _)| *of == table && *former == key)?;
    Some(FormerKey { table: table.to_owned(), former: found.1, present: found.2 })
}

/// Appends `key` to the path of its table, unless `key` is an array index.
pub(crate) fn join(table: &str, key: &str) -> String {
    match table {
        _ if key.bytes().all(|digit| digit.is_ascii_digit()) => table.to_owned(),
        "" => key.to_owned(),
        _ => format!("{table}.{key}"),
    }
}

/// Renames the deprecated keys of `table`, whose path is `path`, and of all nested tables. For each, it calls `found`
/// with the key, its entry, and whether the table also has the present name.
pub(crate) fn rename(table: &mut Table, path: &str, found: &mut impl FnMut(FormerKey, &Item, bool)) {
    for at in 0..table.entries.len() {
        if let Some(former) = find(path, &table.entries[at].key) {
            let duplicate = table.get(former.present).is_some();
            let entry = &mut table.entries[at];
            former.present.clone_into(&mut entry.key);
            found(former, &entry.item, duplicate);
        }
        let entry = &mut table.entries[at];
        rename_in(&mut entry.item.value, &join(path, &entry.key), found);
    }
}

pub(crate) fn rename_in(value: &mut Value, path: &str, found: &mut impl FnMut(FormerKey, &Item, bool)) {
    match value {
        Value::Table(table) => rename(table, path, found),
        Value::Array(items) => items.iter_mut().for_each(|item| rename_in(&mut item.value, path, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn paths_get_present_names() {
        assert_eq!(present_key("host.disobedient"), "host.ignore_pause");
        assert_eq!(present_key("agreement.0.rate"), "committed_rate.0.rate");
        assert_eq!(present_key("check.storm.looks"), "check.bounce_storm.samples");
        assert_eq!(present_key("switch.overload.utilisation"), "switch.overload.utilisation");
    }

    #[test]
    fn former_names_lead_to_keys_and_are_none() {
        let exists = |table: &str, name: &str| keys::keys().any(|key| key.section == table && key.name == name);
        for &(table, former, present) in FORMER {
            assert!(exists(table, present), "{table}: {present}");
            assert!(!exists(table, former), "{table}: {former}");
        }
        for &(table, name, _) in REMOVED {
            assert!(!exists(table, name), "{table}: {name}");
        }
        let text = "duration = \"1ms\"\nhost.resend_bounced = true\n[fabric]\nkind = \"single-switch\"\nhosts = 2\n";
        let errors =
            crate::Scenario::parse(text, "a.toml", std::path::Path::new(""), &[], None).unwrap_err().to_string();
        assert!(errors.contains("key `resend_bounced` in `host` has been removed"), "{errors}");
    }
}
