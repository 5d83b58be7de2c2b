//! Order of the tables of a fragment: each row after the rows that its leafrefs name.
//!
//! A JSON object has no order, but `sonic-cfggen` writes its tables to the database in the order of the file, and a
//! reader of the file loads it from top to bottom.

use super::fragment::Fragment;
use serde_json::Value;

/// Tables of a fragment in load order: maps, profiles, their users, schedulers, then the bindings of ports. PFC is
/// enabled (`PORT_QOS_MAP`) after priority groups and queues have their profiles; the watchdog comes last.
const LOAD_ORDER: [&str; 13] = [
    "DSCP_TO_TC_MAP",
    "TC_TO_DSCP_MAP",
    "TC_TO_QUEUE_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "SCHEDULER",
    "QUEUE",
    "PORT_QOS_MAP",
    "PFC_WD",
];

impl Fragment {
    /// Returns the text of the fragment, with its tables in load order.
    pub fn text(&self) -> String {
        let Some(tables) = self.config.as_object() else { return format!("{:#}\n", self.config) };
        // A test requires a rank for each table that a fragment can have.
        let rank = |name: &str| LOAD_ORDER.iter().position(|table| *table == name).unwrap_or(LOAD_ORDER.len());
        let mut sorted: Vec<(&String, &Value)> = tables.iter().collect();
        sorted.sort_by_key(|(name, _)| rank(name));
        let table = |(name, rows): (&String, &Value)| {
            format!("  {}: {}", Value::from(name.as_str()), format!("{rows:#}").replace('\n', "\n  "))
        };
        format!("{{\n{}\n}}\n", sorted.into_iter().map(table).collect::<Vec<_>>().join(",\n"))
    }
}

/// Note about the order of the steps.
pub(super) fn note() -> String {
    format!(
        "Order: 1. the patch of a switch, if there is one; 2. its fragment. In the patch each range is removed before \
         the entries for its numbers are added, and these name profiles that the switch has. The tables of a fragment \
         follow SONiC's leafrefs: BUFFER_POOL (the platform's), {}. config apply-patch sorts its steps itself; other \
         tools need this order.",
        LOAD_ORDER.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::PlatformBuffers;
    use super::super::tests::{leaf, made, made_for, platform};
    use super::*;

    fn platform_config() -> Value {
        serde_json::from_str(&platform()).unwrap()
    }

    /// Fragments for a platform, for a platform whose `pg_profile_lookup.ini` has a larger `xoff` than its buffer
    /// profiles, and without a platform.
    fn fragments() -> [Fragment; 3] {
        let (view, marks) = leaf();
        let row = "400000 40m 18796 0 500000 1\n";
        [
            made(&platform(), None, false).unwrap(),
            made(&platform(), Some(row), false).unwrap(),
            made_for(&view, &marks, &PlatformBuffers::default()).unwrap(),
        ]
    }

    /// Leafrefs of SONiC's YANG models: table, field, and the table that it references.
    const LEAFREFS: [(&str, &str, &str); 12] = [
        ("BUFFER_PROFILE", "pool", "BUFFER_POOL"),
        ("BUFFER_PG", "profile", "BUFFER_PROFILE"),
        ("BUFFER_QUEUE", "profile", "BUFFER_PROFILE"),
        ("QUEUE", "scheduler", "SCHEDULER"),
        ("QUEUE", "wred_profile", "WRED_PROFILE"),
        ("PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP"),
        ("PORT_QOS_MAP", "tc_to_dscp_map", "TC_TO_DSCP_MAP"),
        ("PORT_QOS_MAP", "tc_to_queue_map", "TC_TO_QUEUE_MAP"),
        ("PORT_QOS_MAP", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
        ("PORT_QOS_MAP", "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
        ("PORT_QOS_MAP", "pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
        ("PORT_QOS_MAP", "scheduler", "SCHEDULER"),
    ];

    #[test]
    fn a_row_is_written_after_the_rows_that_it_names() {
        let mut compared = 0;
        for fragment in fragments() {
            let text = fragment.text();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), fragment.config);
            let at = |table: &str| text.find(&format!("\n  \"{table}\": {{"));
            for (table, field, of) in LEAFREFS {
                for (key, row) in fragment.config[table].as_object().into_iter().flatten() {
                    let Some(name) = row.get(field).and_then(Value::as_str) else { continue };
                    compared += 1;
                    if fragment.config[of].get(name).is_some() {
                        assert!(at(of) < at(table), "{table}|{key}.{field}: {of}|{name} is written later\n{text}");
                    } else {
                        let there = platform_config()[of].get(name).is_some();
                        // Without a platform's file, NOTES.txt lists the profile and the pool that the platform must
                        // define.
                        let must = ["egress_lossless_profile", "ingress_lossless_pool"].contains(&name);
                        assert!(there || must, "{table}|{key}.{field}: no {of}|{name}");
                    }
                }
            }
            for table in fragment.config.as_object().unwrap().keys() {
                assert!(LOAD_ORDER.contains(&table.as_str()), "{table} has no rank");
            }
        }
        assert!(compared > 100, "{compared}");
    }

    #[test]
    fn the_steps_of_a_patch_keep_every_state_valid() {
        let mut patched = 0;
        for fragment in fragments() {
            let Some(steps) = fragment.patch.as_ref().and_then(Value::as_array) else { continue };
            let mut config = platform_config();
            for step in steps {
                let path: Vec<&str> = step["path"].as_str().unwrap()[1..].split('/').collect();
                let rows = config[path[0]].as_object_mut().unwrap();
                match step["op"].as_str().unwrap() {
                    "remove" => assert!(rows.remove(path[1]).is_some(), "{step}"),
                    _ => assert!(rows.insert(path[1].to_owned(), step["value"].clone()).is_none(), "{step}"),
                }
                patched += 1;
                // After each step no table is empty, no row refers to a missing row, and no two rows share a number of
                // the same port.
                assert!(!config[path[0]].as_object().unwrap().is_empty(), "{step}");
                let mut numbers = std::collections::BTreeSet::new();
                for (key, row) in config[path[0]].as_object().unwrap() {
                    let profile = row["profile"].as_str().unwrap();
                    assert!(config["BUFFER_PROFILE"].get(profile).is_some(), "{step}: {key} {profile}");
                    let (ports, range) = key.rsplit_once('|').unwrap();
                    let (low, high) = range.split_once('-').unwrap_or((range, range));
                    for number in low.parse::<u8>().unwrap()..=high.parse().unwrap() {
                        for port in ports.split(',') {
                            assert!(numbers.insert((port.to_owned(), number)), "{step}: {port} {number} twice");
                        }
                    }
                }
            }
        }
        assert!(patched > 10, "{patched}");
    }
}
