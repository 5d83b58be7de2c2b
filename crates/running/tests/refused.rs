//! Values that SONiC refuses, one or two in a healthy configuration: each is reported with file and key.

mod common;

use common::{Files, judge, leaf_spine, read, texts};
use running::{FindingKind, PathSet};
use serde_json::{Value, json};

const PROFILE: &str = "pg_lossless_100000_40m_profile";

fn changed(change: impl Fn(&mut Value)) -> Files {
    let mut files = leaf_spine(3, 2, 1);
    change(&mut files[1].1);
    files
}

/// Returns the keys of the findings in the changed file, or those of all faults.
fn reported(change: impl Fn(&mut Value)) -> Vec<String> {
    let files = changed(change);
    let found: Vec<(String, String)> = match running::read(&texts(&files)) {
        Err(faults) => faults.into_iter().map(|it| (it.file, it.key)).collect(),
        Ok(_) => judge(&files, PathSet::Shortest).findings.into_iter().map(|it| (it.file, it.key)).collect(),
    };
    found.into_iter().filter(|(file, _)| file == "leaf-01.json").map(|(_, key)| key).collect()
}

fn set(file: &mut Value, table: &str, row: &str, fields: &Value) {
    for (field, value) in fields.as_object().unwrap() {
        match value.is_null() {
            true => _ = file[table][row].as_object_mut().unwrap().remove(field),
            false => file[table][row][field] = value.clone(),
        }
    }
}

#[test]
fn every_value_that_sonic_refuses_is_reported_with_its_key() {
    for (table, row, fields, field) in [
        ("BUFFER_PROFILE", PROFILE, json!({ "static_th": "70000" }), "static_th"),
        ("BUFFER_PROFILE", PROFILE, json!({ "dynamic_th": null }), "dynamic_th"),
        ("BUFFER_PROFILE", "egress_lossless_profile", json!({ "static_th": null }), "static_th"),
        ("BUFFER_PROFILE", "ingress_lossy_profile", json!({ "dynamic_th": null }), "dynamic_th"),
        ("BUFFER_PROFILE", "ingress_lossy_profile", json!({ "static_th": "70000" }), "static_th"),
        ("BUFFER_PROFILE", PROFILE, json!({ "static_th": "70000", "dynamic_th": null }), "static_th"),
        ("BUFFER_PROFILE", PROFILE, json!({ "dynamic_th": "9" }), "dynamic_th"),
        ("BUFFER_PROFILE", PROFILE, json!({ "dynamic_th": "-9" }), "dynamic_th"),
        ("BUFFER_PROFILE", "ingress_lossy_profile", json!({ "size": null }), "size"),
        ("BUFFER_PROFILE", PROFILE, json!({ "headroom_type": "fixed" }), "headroom_type"),
        ("BUFFER_PROFILE", PROFILE, json!({ "xon_offset": "-1" }), "xon_offset"),
        ("BUFFER_POOL", "ingress_lossless_pool", json!({ "mode": "Dynamic" }), "mode"),
        ("BUFFER_POOL", "ingress_lossless_pool", json!({ "xoff": "1M" }), "xoff"),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "green_min_threshold": "2097153" }), "green_max_threshold"),
        (
            "WRED_PROFILE",
            "AZURE_LOSSLESS",
            json!({ "yellow_min_threshold": "2", "yellow_max_threshold": "1" }),
            "yellow_max_threshold",
        ),
        (
            "WRED_PROFILE",
            "AZURE_LOSSLESS",
            json!({ "red_min_threshold": "2", "red_max_threshold": "1" }),
            "red_max_threshold",
        ),
        (
            "WRED_PROFILE",
            "AZURE_LOSSLESS",
            json!({ "ecn_red_min_threshold": "2", "ecn_red_max_threshold": "1" }),
            "ecn_red_max_threshold",
        ),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "green_drop_probability": "101" }), "green_drop_probability"),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "red_drop_probability": "200" }), "red_drop_probability"),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "yellow_min_threshold": "1k" }), "yellow_min_threshold"),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "ecn_red_mark_probability": "101" }), "ecn_red_mark_probability"),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "wred_red_enable": "yes" }), "wred_red_enable"),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "ecn": "ecn_blue" }), "ecn"),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "green_min_treshold": "1" }), "green_min_treshold"),
        ("WRED_PROFILE", "AZURE_LOSSLESS", json!({ "ecn_green_min": "1" }), "ecn_green_min"),
        ("SCHEDULER", "scheduler.0", json!({ "cir": "2000000", "pir": "1000000" }), "pir"),
        ("SCHEDULER", "scheduler.0", json!({ "weight": "0" }), "weight"),
        ("SCHEDULER", "scheduler.0", json!({ "weight": "101" }), "weight"),
        ("SCHEDULER", "scheduler.0", json!({ "priority": "10" }), "priority"),
        ("SCHEDULER", "scheduler.0", json!({ "cbs": "8192" }), "cbs"),
        ("SCHEDULER", "scheduler.0", json!({ "pbs": "8192" }), "pbs"),
        ("SCHEDULER", "scheduler.0", json!({ "cir": "1", "pir": "1", "cbs": "9", "pbs": "8" }), "pbs"),
        ("SCHEDULER", "scheduler.0", json!({ "type": "dwrr" }), "type"),
        ("SCHEDULER", "scheduler.0", json!({ "wieght": "3" }), "wieght"),
        ("PORT_QOS_MAP", "Ethernet4", json!({ "pfc_enable": "3, 4" }), "pfc_enable"),
        ("PORT_QOS_MAP", "Ethernet4", json!({ "pfcwd_sw_enable": "3 ,4" }), "pfcwd_sw_enable"),
        ("PORT_QOS_MAP", "Ethernet4", json!({ "pfc_enable": "3;4" }), "pfc_enable"),
        ("PORT_QOS_MAP", "Ethernet4", json!({ "pfc_enable": "3,8" }), "pfc_enable"),
        ("PFC_WD", "GLOBAL", json!({ "POLL_INTERVAL": "99" }), "POLL_INTERVAL"),
        ("PFC_WD", "Ethernet4", json!({ "action": "none" }), "action"),
        ("PFC_WD", "Ethernet4", json!({ "detection_time": "5001" }), "detection_time"),
        ("PFC_WD", "Ethernet4", json!({ "restoration_time": "60001" }), "restoration_time"),
        ("PFC_WD", "Ethernet4", json!({ "pfc_stat_history": "on" }), "pfc_stat_history"),
        ("TC_TO_QUEUE_MAP", "AZURE", json!({ "8": "10" }), "8"),
        ("TC_TO_QUEUE_MAP", "AZURE", json!({ "16": "0" }), "16"),
        ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", json!({ "8": "8" }), "8"),
        ("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", json!({ "7": "8" }), "7"),
        ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", json!({ "8": "0" }), "8"),
        ("DSCP_TO_TC_MAP", "AZURE", json!({ "64": "1" }), "64"),
        ("DSCP_TO_TC_MAP", "AZURE", json!({ "63": "16" }), "63"),
        ("PORT", "Ethernet4", json!({ "mtu": "9217" }), "mtu"),
        ("DEVICE_METADATA", "localhost", json!({ "type": "TorRouter" }), "type"),
        ("DEVICE_METADATA", "localhost", json!({ "subtype": "DualTor" }), "subtype"),
        ("DEVICE_METADATA", "localhost", json!({ "buffer_model": "static" }), "buffer_model"),
        ("DEVICE_METADATA", "localhost", json!({ "buffer_modl": "dynamic" }), "buffer_modl"),
        ("CABLE_LENGTH", "AZURE", json!({ "Ethernet4": "40 m" }), "Ethernet4"),
    ] {
        let keys = reported(|file| set(file, table, row, &fields));
        assert!(keys.contains(&format!("{table}|{row}.{field}")), "{table}|{row} {fields}: {keys:?}");
    }
}

#[test]
fn keys_of_rows_that_sonic_refuses_are_reported() {
    let renamed = |table: &str, from: &str, to: &str| {
        reported(|file| {
            let rows = file[table].as_object_mut().unwrap();
            let row = rows.remove(from).unwrap();
            rows.insert(to.to_owned(), row);
        })
    };
    assert_eq!(renamed("BUFFER_PG", "Ethernet4|3-4", "Ethernet4|3,4"), ["BUFFER_PG|Ethernet4|3,4"]);
    assert_eq!(renamed("BUFFER_QUEUE", "Ethernet4|3-4", "Ethernet4|3 -4"), ["BUFFER_QUEUE|Ethernet4|3 -4"]);
    assert_eq!(renamed("BUFFER_QUEUE", "Ethernet4|5-6", "Ethernet4|5-16"), ["BUFFER_QUEUE|Ethernet4|5-16"]);
    assert_eq!(reported(|file| file["TC_TO_DSCP_MAP"] = json!({ "_own": { "0": "0" } })), ["TC_TO_DSCP_MAP|_own"]);
    let long = "A".repeat(33);
    assert_eq!(reported(|file| file["WRED_PROFILE"][&long] = json!({})), [format!("WRED_PROFILE|{long}")]);
    assert_eq!(reported(|file| file["CABLE_LENGTH"]["my row"] = json!({})), ["CABLE_LENGTH|my row"]);
}

#[test]
fn a_table_that_is_nearly_one_that_is_read_is_a_finding() {
    let renamed = |from: &str, to: &str| {
        let files = changed(|file| {
            let rows = file.as_object_mut().unwrap().remove(from).unwrap();
            file[to] = rows;
        });
        let found: Vec<String> = match running::read(&texts(&files)) {
            Ok(configs) => configs[1].findings.iter().map(|it| it.key.clone()).collect(),
            Err(faults) => faults.into_iter().map(|it| it.key).collect(),
        };
        found
    };
    assert_eq!(renamed("PFC_WD", "PFC_WDD"), ["PFC_WDD"]);
    assert_eq!(renamed("CABLE_LENGTH", "CABLE_LENGHT"), ["CABLE_LENGHT"]);
    assert_eq!(renamed("BUFFER_PG", "buffer_pg"), ["buffer_pg"]);
    let kinds = read(&changed(|file| file["BUFFER_PROFIL"] = json!({})));
    let [finding] = &kinds[1].findings[..] else { panic!("{:?}", kinds[1].findings) };
    assert_eq!((finding.kind, finding.instead.as_str()), (FindingKind::UnknownKey, "BUFFER_PROFILE, or leave it out"));
    // Where the table is missing, the fault names the other one.
    let refused = |from: &str, to: &str| {
        let files = changed(|file| {
            let rows = file.as_object_mut().unwrap().remove(from).unwrap();
            file[to] = rows;
        });
        // The first fault is the unknown table, if its name is nearly that of one that is read.
        let faults = running::read(&texts(&files)).unwrap_err();
        assert_eq!(faults[0].key == to, to != "DSCP_TO_FC_MAP", "{faults:#?}");
        faults.into_iter().find(|fault| fault.key != to).unwrap().message
    };
    let message = "is missing: the file has no QoS, and the file has PORT_QOS_MAPS, which nothing reads";
    assert_eq!(refused("PORT_QOS_MAP", "PORT_QOS_MAPS"), message);
    let message = "DSCP_TO_TC_MAP has no `AZURE`, and the file has DSCP_TO_TC_MAPS, which nothing reads";
    assert_eq!(refused("DSCP_TO_TC_MAP", "DSCP_TO_TC_MAPS"), message);
    let message = refused("BUFFER_PROFILE", "buffer_profile");
    assert!(message.ends_with("`, and the file has buffer_profile, which nothing reads"), "{message}");
    // SONiC has a table of this name.
    let message = "DSCP_TO_TC_MAP has no `AZURE`";
    assert_eq!(refused("DSCP_TO_TC_MAP", "DSCP_TO_FC_MAP"), message);
    // Tables of SONiC that are not read stay a hint.
    let report = judge(&changed(|file| file["DSCP_TO_FC_MAP"] = json!({})), PathSet::Shortest);
    assert!(report.safe() && report.unread.contains_key("DSCP_TO_FC_MAP"), "{report:#?}");
}

#[test]
fn the_advice_for_an_unknown_field_has_the_field_that_was_meant() {
    let advice = |table: &str, row: &str, field: &str| {
        let configs = read(&changed(|file| file[table][row][field] = "x".into()));
        let of = |it: &&running::Finding| it.key.ends_with(field);
        configs[1].findings.iter().find(of).expect(field).instead.clone()
    };
    assert_eq!(advice("QUEUE", "Ethernet0|3", "wred_profil"), "wred_profile, or leave it out");
    let known = "one of speed, mtu, admin_status, pfc_asym";
    assert_eq!(advice("PORT", "Ethernet0", "descriptin"), "description, or leave it out");
    assert_eq!(advice("PORT", "Ethernet0", "colour"), format!("{known}, or leave it out"));
}

#[test]
fn the_defaults_of_sonic_count() {
    for fields in [json!({}), json!({ "type": "DWRR" }), json!({ "weight": "15" })] {
        assert_eq!(
            reported(|file| file["SCHEDULER"]["scheduler.1"] = fields.clone()),
            Vec::<String>::new(),
            "{fields}"
        );
    }
    // A limit is one with the default type too.
    let pir = reported(|file| file["SCHEDULER"]["scheduler.1"] = json!({ "cir": "100", "pir": "100" }));
    assert_eq!(pir.iter().filter(|key| !key.ends_with(".pir")).count(), 0, "{pir:?}");
    assert_eq!(
        reported(|file| set(
            file,
            "WRED_PROFILE",
            "AZURE_LOSSLESS",
            &json!({ "ecn_green_min_threshold": "1",
        "ecn_green_max_threshold": "2", "ecn_green_mark_probability": "100" })
        )),
        Vec::<String>::new()
    );
    // A port without admin_status is down.
    let down =
        judge(&changed(|file| set(file, "PORT", "Ethernet4", &json!({ "admin_status": null }))), PathSet::Shortest);
    assert!(
        down.assumptions.iter().any(|it| it.starts_with("1 connected port that admin_status has down carries traffic"))
    );
}

#[test]
fn a_threshold_of_another_kind_than_the_pool_is_a_finding_of_lossless_frames() {
    let report = |change: fn(&mut Value)| judge(&changed(change), PathSet::Shortest);
    let queue = report(|file| {
        set(file, "BUFFER_PROFILE", "egress_lossless_profile", &json!({ "static_th": null, "dynamic_th": "7" }));
    });
    let keys: Vec<&str> = queue.findings.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["BUFFER_PROFILE|egress_lossless_profile.dynamic_th"]);
    // Published templates have it for lossy frames.
    let lossy = report(|file| {
        set(file, "BUFFER_PROFILE", "ingress_lossy_profile", &json!({ "static_th": "33004032", "dynamic_th": null }));
    });
    assert!(lossy.safe(), "{:#?}", lossy.findings);
    let said = "the ASIC accepts thresholds of another kind than the pool's for lossy frames: leaf-01.json \
                BUFFER_PROFILE|ingress_lossy_profile.static_th in ingress_lossless_pool";
    assert!(lossy.assumptions.iter().any(|it| it == said), "{:#?}", lossy.assumptions);
}
