//! Switches that compute their headroom: the dynamic buffer model.

mod common;

use common::{Files, leaf_spine, needed, read, topology};
use fabric::sonic::{AsicTables, read_asic_tables};
use running::{Fault, FindingKind, Options, PathSet, QueueBinding, Report};
use serde_json::{Value, json};

fn asic() -> AsicTables {
    let table = r#"{"ASIC_TABLE": {"MELLANOX-SPECTRUM-2": {"cell_size": "144", "pipeline_latency": "19",
                    "mac_phy_delay": "0.8", "peer_response_time": "3.8"}}}"#;
    AsicTables::of(&read_asic_tables(table).unwrap()).unwrap().unwrap()
}

/// Returns two leaves and two spines with the dynamic buffer model.
fn dynamic() -> Files {
    common::dynamic(leaf_spine(2, 2, 1))
}

fn judged(files: &Files, asic: Option<&AsicTables>) -> Result<Report, Vec<Fault>> {
    let configs = read(files);
    let options = Options {
        binding: QueueBinding::Egress,
        paths: PathSet::Shortest,
        headroom: &needed,
        asic,
        accepted_strict: 0,
    };
    running::judge(&topology(files), &configs, &options)
}

fn changed(change: impl Fn(&mut Value)) -> Report {
    let mut files = dynamic();
    change(&mut files[1].1);
    judged(&files, Some(&asic())).unwrap()
}

#[test]
fn the_computed_headroom_is_reported_with_its_terms() {
    let report = judged(&dynamic(), Some(&asic())).unwrap();
    assert!(report.safe(), "{:#?}", report.findings);
    // Expected (cable in m, headroom in bytes, groups) at 100 Gbps and MTU 9100: ports with 5 m to servers and with 40
    // m between switches, two groups each.
    let found: Vec<(u64, u64, u64)> =
        report.computed.iter().map(|one| (one.headroom.port.metres, one.headroom.xoff, one.groups)).collect();
    assert_eq!(found, [(5, 108_544, 4), (40, 121_856, 16)]);
    let terms = |at: usize| report.computed[at].headroom.terms.iter().map(|term| term.bytes).sum::<u64>();
    assert_eq!([terms(0), terms(1)], [108_544, 121_856]);
    let said = "lossless frames have at most 1,024 bytes, and at most 100 % of them are of 64 bytes: \
                LOSSLESS_TRAFFIC_PATTERN|AZURE of 4 switches";
    assert!(report.assumptions.iter().any(|line| line == said), "{:#?}", report.assumptions);
}

#[test]
fn without_the_asic_the_headroom_is_an_assumption() {
    let report = judged(&dynamic(), None).unwrap();
    assert!(report.safe() && report.computed.is_empty());
    let said = "the switch computes enough headroom for 20 priority groups: it is not judged without ASIC_TABLE \
                (--asic-table)";
    assert!(report.assumptions.iter().any(|line| line == said), "{:#?}", report.assumptions);
}

#[test]
fn the_traditional_model_computes_no_headroom() {
    for asic in [None, Some(&asic())] {
        let mut files = dynamic();
        for (_, file) in &mut files {
            file["DEVICE_METADATA"]["localhost"]["buffer_model"] = "traditional".into();
        }
        let report = judged(&files, asic).unwrap();
        // Two leaves with one host and two spines each, and two spines with two leaves each.
        let keys: Vec<(FindingKind, &str, &str)> =
            report.findings.iter().map(|one| (one.kind, one.file.as_str(), one.key.as_str())).collect();
        assert_eq!(keys.len(), 10, "{keys:#?}");
        let first = (FindingKind::Headroom, "leaf-00.json", "BUFFER_PG|Ethernet0|3-4.profile");
        assert_eq!(keys[0], first);
        let why = "group 3 of Ethernet0 has the profile NULL, whose headroom only the dynamic buffer model computes, \
                   and DEVICE_METADATA|localhost.buffer_model is traditional: the group has no headroom (and 1 more)";
        assert_eq!(report.findings[0].why, why);
        assert!(report.computed.is_empty() && !report.assumptions.iter().any(|line| line.contains("computes enough")));
    }
}

#[test]
fn a_shorter_cable_at_one_end_makes_the_computed_headroom_too_small() {
    let report = changed(|file| file["CABLE_LENGTH"]["AZURE"]["Ethernet4"] = "5m".into());
    let finding = report.findings.iter().find(|one| one.kind == FindingKind::Headroom).unwrap();
    assert_eq!((finding.file.as_str(), finding.key.as_str()), ("leaf-01.json", "BUFFER_PG|Ethernet4|3-4.profile"));
    let why = "the switch computes 108,544 of headroom from 5 m and an MTU of 9100; 40 m of cable and an MTU of 9100 \
               need 121,856 (and 1 more)";
    assert_eq!(finding.why, why);
}

#[test]
fn a_fixed_profile_below_the_model_is_a_finding() {
    let fixed = |xoff: u64| {
        changed(|file| {
            let size = (xoff + 19_456).to_string();
            file["BUFFER_PROFILE"]["own"] = json!({"pool": "ingress_lossless_pool", "xon": "19456",
                "xoff": xoff.to_string(), "size": size, "dynamic_th": "0"});
            file["BUFFER_PG"]["Ethernet4|3-4"]["profile"] = "own".into();
        })
    };
    assert!(fixed(121_856).safe(), "{:#?}", fixed(121_856).findings);
    let short = fixed(121_855);
    let why = "121,855 of headroom (xoff), and Ethernet4 with 40 m of cable and the ASIC MELLANOX-SPECTRUM-2 needs \
               121,856 (and 1 more)";
    assert_eq!(short.findings.iter().map(|one| one.why.as_str()).collect::<Vec<_>>(), [why]);
}

#[test]
fn a_profile_of_type_dynamic_is_lossless_and_a_small_shared_headroom_a_finding() {
    let report = changed(|file| {
        file["BUFFER_PROFILE"]["steep"] =
            json!({"pool": "ingress_lossless_pool", "headroom_type": "dynamic", "dynamic_th": "-2"});
        file["BUFFER_PG"]["Ethernet4|3-4"]["profile"] = "steep".into();
    });
    assert!(report.safe(), "{:#?}", report.findings);
    let report = changed(|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] = "110000".into());
    let keys: Vec<&str> = report.findings.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["BUFFER_POOL|ingress_lossless_pool.xoff"]);
    assert!(report.findings[0].why.starts_with("110,000 of headroom for all priority groups of the pool"));
}

#[test]
fn missing_inputs_are_faults_with_file_and_key() {
    for (table, field, key) in [
        ("LOSSLESS_TRAFFIC_PATTERN", "", "LOSSLESS_TRAFFIC_PATTERN"),
        ("LOSSLESS_TRAFFIC_PATTERN", "mtu", "LOSSLESS_TRAFFIC_PATTERN|AZURE.mtu"),
        ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "", "DEFAULT_LOSSLESS_BUFFER_PARAMETER"),
        ("PORT", "lanes", "PORT|Ethernet4.lanes"),
    ] {
        let mut files = dynamic();
        let file = &mut files[1].1;
        if field.is_empty() {
            file.as_object_mut().unwrap().remove(table);
        } else {
            let row = if table == "PORT" { "Ethernet4" } else { "AZURE" };
            file[table][row].as_object_mut().unwrap().remove(field);
        }
        let faults = judged(&files, Some(&asic())).unwrap_err();
        let found: Vec<(&str, &str)> = faults.iter().map(|one| (one.file.as_str(), one.key.as_str())).collect();
        assert_eq!(found, [("leaf-01.json", key)]);
    }
}
