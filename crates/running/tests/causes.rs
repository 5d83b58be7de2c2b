//! Findings about the treatment of frames name the setting that causes them, whichever file contains it. Their advice
//! lists only values with which the check no longer has the finding.

mod common;

use common::{Files, dual_tor, judge, leaf_spine};
use running::{PathSet, Report};
use serde_json::{Value, json};

fn changed(mut files: Files, name: &str, change: impl Fn(&mut Value)) -> Report {
    change(&mut files.iter_mut().find(|(file, _)| file == name).unwrap().1);
    judge(&files, PathSet::Shortest)
}

/// Returns file, key and advice of each finding.
fn found(report: &Report) -> Vec<(&str, &str, &str)> {
    report.findings.iter().map(|it| (it.file.as_str(), it.key.as_str(), it.instead.as_str())).collect()
}

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "{key}");
}

#[test]
fn a_wrong_map_of_a_tunnel_is_named_and_not_the_maps_of_the_next_switch() {
    let report = changed(dual_tor(true), "tor-a.json", |file| {
        file["TUNNEL"]["MuxTunnel0"]["encap_tc_to_queue_map"] = "AZURE".into();
    });
    let key = "TUNNEL|MuxTunnel0.encap_tc_to_queue_map";
    assert_eq!(found(&report), [("tor-a.json", key, "\"AZURE_TUNNEL\"")], "{:#?}", report.findings);
}

#[test]
fn a_missing_map_of_a_tunnel_is_named() {
    let report = changed(dual_tor(true), "tor-a.json", |file| {
        remove(&mut file["TUNNEL"]["MuxTunnel0"], "decap_tc_to_pg_map");
    });
    let key = "TUNNEL|MuxTunnel0.decap_tc_to_pg_map";
    assert_eq!(found(&report), [("tor-a.json", key, "\"AZURE_TUNNEL\"")], "{:#?}", report.findings);
}

#[test]
fn a_tunnel_without_all_of_its_maps_is_one_finding() {
    let fields = ["decap_dscp_to_tc_map", "decap_tc_to_pg_map", "encap_tc_to_dscp_map", "encap_tc_to_queue_map"];
    let report = changed(dual_tor(true), "tor-b.json", |file| {
        fields.iter().for_each(|field| remove(&mut file["TUNNEL"]["MuxTunnel0"], field));
    });
    assert!(!report.findings.is_empty());
    for finding in &report.findings {
        assert_eq!((finding.file.as_str(), finding.key.as_str()), ("tor-b.json", "TUNNEL|MuxTunnel0"), "{finding:#?}");
        assert!(fields.iter().all(|field| finding.instead.contains(&format!("{field} \"AZURE_TUNNEL\""))));
    }
}

#[test]
fn pfc_enable_of_one_end_is_named_and_no_map() {
    let report = changed(dual_tor(true), "t1-1.json", |file| {
        file["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3,4".into();
    });
    assert!(!report.findings.is_empty());
    for finding in found(&report) {
        assert_eq!(finding, ("t1-1.json", "PORT_QOS_MAP|Ethernet0.pfc_enable", "\"2,3,4,6\""));
    }
}

#[test]
fn the_map_that_wrote_the_dscp_is_named() {
    let files = || leaf_spine(4, 2, 2);
    let rewrites = |file: &mut Value, values: [u8; 8]| {
        file["TC_TO_DSCP_MAP"] = json!({ "AZURE": common::numbered(&values) });
        file["PORT_QOS_MAP"]["Ethernet8"]["tc_to_dscp_map"] = "AZURE".into();
    };
    let report = changed(files(), "leaf-01.json", |file| rewrites(file, [0; 8]));
    let expected = ("leaf-01.json", "PORT_QOS_MAP|Ethernet8.tc_to_dscp_map", "no such field");
    assert!(!report.findings.is_empty() && found(&report).iter().all(|it| *it == expected), "{:#?}", report.findings);
    // An unchanged configuration with a single leaf has no finding.
    let report = changed(leaf_spine(1, 2, 2), "spine-0.json", |_| {});
    assert!(report.safe());
}

#[test]
fn without_a_verified_value_the_finding_names_all_entries_and_gives_no_advice() {
    let mut files = leaf_spine(2, 1, 2);
    // Every leaf has the map, so no other switch of the role suggests another value.
    for (_, file) in files.iter_mut().filter(|(name, _)| name.starts_with("leaf")) {
        file["TC_TO_DSCP_MAP"] = json!({ "AZURE": common::numbered(&[0; 8]) });
        file["PORT_QOS_MAP"]["Ethernet8"]["tc_to_dscp_map"] = "AZURE".into();
    }
    let report = judge(&files, PathSet::Shortest);
    assert!(!report.findings.is_empty());
    for finding in &report.findings {
        assert!(finding.key.starts_with("TC_TO_DSCP_MAP|AZURE."), "{finding:#?}");
        assert!(finding.why.contains("spine-0.json DSCP_TO_TC_MAP|AZURE.0"), "{finding:#?}");
        assert_eq!(finding.instead, "", "{finding:#?}");
    }
}

#[test]
fn files_of_a_switch_with_several_asics_have_no_other_fault() {
    let mut files = leaf_spine(3, 2, 1);
    files.insert(0, ("a.json".into(), json!({ "DEVICE_METADATA": { "localhost": { "hostname": "leaf-00" } } })));
    files[1].1["DEVICE_METADATA"]["localhost"]["asic_name"] = "asic0".into();
    let faults = running::read(&common::texts(&files)).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:#?}");
    assert!(faults[0].message.ends_with("asic0 of a switch with several ASICs"), "{faults:#?}");
}

#[test]
fn tables_of_port_channels_are_not_called_unread() {
    let mut files = leaf_spine(3, 2, 1);
    let file = &mut files[0].1;
    file["PORTCHANNEL"] = json!({ "PortChannel1": {} });
    file["PORTCHANNEL_MEMBER"] = json!({ "PortChannel1|Ethernet4": {} });
    assert_eq!(judge(&files, PathSet::Shortest).unread.len(), 0);
}

#[test]
fn the_report_states_that_the_search_ended_at_its_limit() {
    let mut files = leaf_spine(5, 1, 1);
    // Every leaf has the map that writes DSCP 0, so no other switch of the role suggests another value.
    for (name, file) in files.iter_mut().filter(|(name, _)| name.starts_with("leaf")) {
        file["TC_TO_DSCP_MAP"] = json!({ "AZURE": common::numbered(&[0; 8]) });
        file["PORT_QOS_MAP"]["Ethernet4"]["tc_to_dscp_map"] = "AZURE".into();
        // Values of two of five leaves that affect no finding: there are more candidates than trials.
        if ["leaf-00.json", "leaf-01.json"].contains(&name.as_str()) {
            (10..60u8).filter(|dscp| ![46, 48].contains(dscp)).for_each(|dscp| {
                file["DSCP_TO_TC_MAP"]["AZURE"][dscp.to_string()] = "0".into();
            });
        }
    }
    let report = judge(&files, PathSet::Shortest);
    assert!(report.findings.iter().any(|it| it.instead.is_empty()), "{:#?}", report.findings);
    assert_eq!(report.search_limit, Some(64));
    let few = judge(&leaf_spine(2, 1, 2), PathSet::Shortest);
    assert_eq!(few.search_limit, None);
}
