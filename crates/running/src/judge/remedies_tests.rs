//! A cause that all findings share is the first trial.

use super::*;
use crate::common::{Files, leaf_spine, numbered, options, read, topology};
use crate::options::PathSet;
use serde_json::Value;

/// Returns whether one trial finds the cause of all findings of a spine with eight ports, and its keys.
fn in_one_trial(change: impl Fn(&mut Value)) -> Vec<String> {
    let mut files: Files = leaf_spine(8, 4, 2);
    change(&mut files.iter_mut().find(|(name, _)| name == "spine-1.json").unwrap().1);
    let (fabric, configs, options) = (topology(&files), read(&files), options(PathSet::Shortest));
    let judged = collect(&fabric, &configs, &options).unwrap();
    let first = &judged.findings.0;
    assert!(first.len() > 8, "{}", first.len());
    let found = search(&fabric, &configs, &options, first, 1);
    assert_eq!(found.limit, None);
    let parts = found.of_findings.iter().map(|cause| cause.as_ref().expect("a cause").parts.iter());
    let keys: BTreeSet<String> = parts.flatten().map(|part| part.key.clone()).collect();
    keys.into_iter().collect()
}

/// A change of the profile of a row equals the edit of the file, and findings that remain have the key of the row.
#[test]
fn a_changed_profile_stays_in_its_row() {
    for (table, lossy) in [("BUFFER_PG", "ingress_lossy_profile"), ("BUFFER_QUEUE", "egress_lossy_profile")] {
        let right: Files = leaf_spine(4, 2, 2);
        let mut wrong = right.clone();
        wrong[1].1[table]["Ethernet8|3-4"]["profile"] = lossy.into();
        let (fabric, configs, options) = (topology(&wrong), read(&wrong), options(PathSet::Shortest));
        let device = Device::new(&fabric, &configs, options.binding).unwrap();
        let changes = candidates(&device, &configs, &BTreeSet::from(["leaf-01.json".to_owned()]));
        let key = format!("{table}|Ethernet8|3-4.profile");
        let of_row: Vec<&Change> = changes.iter().filter(|change| change.parts[0].key == key).collect();
        let [change] = of_row[..] else { panic!("{changes:#?}") };
        let (changed, right) = (change.applied(&configs), read(&right));
        assert_ne!((&configs[1].groups, &configs[1].queues), (&right[1].groups, &right[1].queues));
        assert_eq!((&changed[1].groups, &changed[1].queues), (&right[1].groups, &right[1].queues));
    }
}

fn each_port(file: &mut Value, table: &str, change: impl Fn(&mut Value)) {
    let rows = file[table].as_object_mut().unwrap();
    rows.iter_mut().filter(|(port, _)| port.starts_with("Ethernet")).for_each(|(_, row)| change(row));
}

#[test]
fn a_wrong_map_of_all_ports_is_one_trial() {
    assert_eq!(in_one_trial(|file| file["TC_TO_QUEUE_MAP"]["AZURE"]["3"] = "1".into()), ["TC_TO_QUEUE_MAP|AZURE.3"]);
    let key = ["DSCP_TO_TC_MAP|AZURE.3"];
    assert_eq!(in_one_trial(|file| file["DSCP_TO_TC_MAP"]["AZURE"]["3"] = "1".into()), key);
    let key = ["MAP_PFC_PRIORITY_TO_QUEUE|AZURE.3"];
    assert_eq!(in_one_trial(|file| file["MAP_PFC_PRIORITY_TO_QUEUE"]["AZURE"]["3"] = "2".into()), key);
}

#[test]
fn one_wrong_value_of_all_ports_is_one_trial() {
    let keys = |table: &str, end: &str| {
        let mut keys: Vec<String> = (0..8).map(|port| format!("{table}|Ethernet{}{end}", 4 * port)).collect();
        keys.sort();
        keys
    };
    let enabled = in_one_trial(|file| each_port(file, "PORT_QOS_MAP", |row| row["pfc_enable"] = "3".into()));
    assert_eq!(enabled, keys("PORT_QOS_MAP", ".pfc_enable"));
    let maps = in_one_trial(|file| {
        file["TC_TO_PRIORITY_GROUP_MAP"]["OTHER"] = numbered(&[0; 8]);
        each_port(file, "PORT_QOS_MAP", |row| row["tc_to_pg_map"] = "OTHER".into());
    });
    assert_eq!(maps, keys("PORT_QOS_MAP", ".tc_to_pg_map"));
}
