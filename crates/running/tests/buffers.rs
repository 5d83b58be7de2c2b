//! Pools, profiles and WRED with which a lossless group or queue drops, one fault each.

mod common;

use common::{Files, judge, leaf_spine, read, topology};
use running::{FindingKind, PathSet, Report};
use serde_json::{Value, json};

const PROFILE: &str = "pg_lossless_100000_40m_profile";

fn changed(change: impl Fn(&mut Value)) -> Files {
    let mut files = leaf_spine(3, 2, 1);
    change(&mut files[1].1);
    files
}

/// Gives the profile of lossless queues a dynamic threshold, and the pool too.
fn make_dynamic(file: &mut Value, exponent: &str) {
    file["BUFFER_POOL"]["egress_lossless_pool"]["mode"] = "dynamic".into();
    let profile = &mut file["BUFFER_PROFILE"]["egress_lossless_profile"];
    remove(profile, "static_th");
    profile["dynamic_th"] = exponent.into();
}

fn judged(change: impl Fn(&mut Value)) -> Report {
    judge(&changed(change), PathSet::Shortest)
}

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "{key}");
}

/// Returns the keys of findings about buffers; all are in the changed file.
fn keys(report: &Report) -> Vec<&str> {
    let found: Vec<_> = report.findings.iter().filter(|it| it.kind == FindingKind::Buffer).collect();
    assert!(found.iter().all(|it| it.file == "leaf-01.json"), "{found:#?}");
    found.iter().map(|it| it.key.as_str()).collect()
}

/// A lossless profile in the lossy pool: the pool is the wrong one, and the advice names the pool that suits. If the
/// mode of the pool is wrong, no pool suits.
#[test]
fn advice_for_a_threshold_of_the_other_kind_names_the_pool_too() {
    let other = judged(|file| file["BUFFER_PROFILE"]["egress_lossless_profile"]["pool"] = "egress_lossy_pool".into());
    let advice = |report: &Report| {
        let key = "BUFFER_PROFILE|egress_lossless_profile.static_th";
        report.findings.iter().find(|it| it.key == key).map(|it| it.instead.clone()).expect("a finding")
    };
    let start = "dynamic_th, as the mode of the pool; or";
    let pool = "the pool egress_lossless_pool, whose mode suits the threshold";
    assert_eq!(advice(&other), format!("{start} {pool}"));
    let mode = judged(|file| file["BUFFER_POOL"]["egress_lossless_pool"]["mode"] = "dynamic".into());
    assert_eq!(advice(&mode), format!("{start} the other mode of egress_lossless_pool"));
}

#[test]
fn a_static_threshold_below_the_headroom_of_its_accounts_is_a_finding() {
    for low in ["10", "1000"] {
        let report = judged(|file| file["BUFFER_PROFILE"]["egress_lossless_profile"]["static_th"] = low.into());
        assert_eq!(keys(&report), ["BUFFER_PROFILE|egress_lossless_profile.static_th"]);
        assert_eq!(report.findings.len(), 1, "{:#?}", report.findings);
    }
    // A threshold below the size of the pool, as in published files, is an assumption of the report and no finding.
    let quarter = judged(|file| file["BUFFER_PROFILE"]["egress_lossless_profile"]["static_th"] = "3995680".into());
    assert!(quarter.safe(), "{:#?}", quarter.findings);
    let said = "lossless queues hold all frames of their accounts: leaf-01.json \
                BUFFER_PROFILE|egress_lossless_profile.static_th is 3,995,680 of 33,004,032 bytes of the pool";
    assert!(quarter.assumptions.iter().any(|it| it == said), "{:#?}", quarter.assumptions);
    let dynamic = judged(|file| make_dynamic(file, "0"));
    assert!(dynamic.safe(), "{:#?}", dynamic.findings);
    assert!(dynamic.assumptions.iter().any(|it| it.contains("egress_lossless_profile.dynamic_th is 0")));
    let unlimited = judged(|file| make_dynamic(file, "7"));
    assert!(!unlimited.assumptions.iter().any(|it| it.starts_with("lossless queues hold")));
}

#[test]
fn an_egress_pool_below_the_headroom_of_its_queues_is_a_finding() {
    for bytes in ["0", "20000"] {
        let small = judged(|file| file["BUFFER_POOL"]["egress_lossless_pool"]["size"] = bytes.into());
        assert_eq!(keys(&small), ["BUFFER_POOL|egress_lossless_pool.size"], "{bytes}");
        assert!(small.findings[0].why.contains("of headroom: it drops"), "{:#?}", small.findings);
        // With a dynamic threshold the finding is the same for any alpha, because the pool has too few bytes.
        let dynamic = judged(|file| {
            file["BUFFER_POOL"]["egress_lossless_pool"] = json!({ "type": "egress", "mode": "dynamic", "size": bytes });
            let profile = &mut file["BUFFER_PROFILE"]["egress_lossless_profile"];
            remove(profile, "static_th");
            profile["dynamic_th"] = "7".into();
        });
        assert!(keys(&dynamic).contains(&"BUFFER_POOL|egress_lossless_pool.size"), "{:#?}", dynamic.findings);
    }
    let enough = judged(|file| file["BUFFER_POOL"]["egress_lossless_pool"]["size"] = "20000000".into());
    assert!(enough.safe(), "{:#?}", enough.findings);
}

#[test]
fn a_limit_of_a_whole_port_is_an_assumption() {
    let limited = |pir: &str| {
        judged(|file| {
            file["SCHEDULER"]["shaper"] = json!({ "type": "STRICT", "meter_type": "bytes", "pir": pir });
            file["PORT_QOS_MAP"]["Ethernet4"]["scheduler"] = "shaper".into();
        })
    };
    let said = "1 port with a pir by PORT_QOS_MAP.scheduler drains below the rate of the link, as Ethernet4 of ";
    let slow = limited("1000");
    assert!(slow.assumptions.iter().any(|it| it.starts_with(said)), "{:#?}", slow.assumptions);
    // A limit above the rate of the link has no effect.
    assert!(!limited("1000000000000").assumptions.iter().any(|it| it.contains("PORT_QOS_MAP.scheduler")));
}

#[test]
fn wred_that_drops_in_a_lossless_queue_is_a_finding() {
    let wred = |fields: Value| {
        judged(|file| {
            file["WRED_PROFILE"]["W"] = fields.clone();
            file["QUEUE"]["Ethernet4|3"]["wred_profile"] = "W".into();
        })
    };
    let drops = wred(json!({ "wred_green_enable": "true", "ecn": "ecn_none", "green_drop_probability": "100" }));
    assert_eq!(keys(&drops), ["QUEUE|Ethernet4|3.wred_profile"]);
    let silent = wred(json!({ "wred_green_enable": "true", "green_drop_probability": "100" }));
    assert_eq!(keys(&silent), ["QUEUE|Ethernet4|3.wred_profile"]);
    let other = wred(json!({ "wred_green_enable": "true", "wred_red_enable": "true", "ecn": "ecn_green" }));
    assert!(other.findings[0].why.contains("red"), "{:#?}", other.findings);
    let why = "queue 3 of Ethernet4 is lossless, and WRED_PROFILE|W (ecn_green) drops red frames above 70,000 bytes, \
               ECN-capable or not";
    let mut precise = json!({ "wred_green_enable": "true", "wred_red_enable": "true", "ecn": "ecn_green" });
    precise["red_min_threshold"] = "70000".into();
    assert_eq!(wred(precise).findings[0].why, why);
    let all = wred(json!({ "wred_green_enable": "true", "green_min_threshold": "70000", "ecn": "ecn_all" }));
    assert!(all.safe(), "{:#?}", all.findings);
    let said = "frames in 30 lossless queues are ECN-capable: WRED marks these and drops others, leaf-00.json \
                WRED_PROFILE|AZURE_LOSSLESS (ecn_all): green frames above 1,048,576 bytes (and 5 profiles more)";
    assert!(all.assumptions.iter().any(|it| it == said), "{:#?}", all.assumptions);
    assert!(wred(json!({ "wred_green_enable": "false", "ecn": "ecn_none" })).safe());
    assert!(wred(json!({ "wred_green_enable": "true", "ecn": "ecn_green_yellow" })).safe());
    // WRED that drops in a lossy queue is no finding.
    let lossy = judged(|file| {
        file["WRED_PROFILE"]["W"] = json!({ "wred_green_enable": "true", "ecn": "ecn_none" });
        file["QUEUE"]["Ethernet4|0"]["wred_profile"] = "W".into();
    });
    assert!(lossy.safe(), "{:#?}", lossy.findings);
}

#[test]
fn a_profile_of_the_other_direction_is_found_at_reference_profile_or_pool() {
    let pool = judged(|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["type"] = "egress".into());
    assert_eq!(keys(&pool), ["BUFFER_POOL|ingress_lossless_pool.type"]);
    let profile = judged(|file| file["BUFFER_PROFILE"][PROFILE]["pool"] = "egress_lossless_pool".into());
    assert_eq!(keys(&profile), [format!("BUFFER_PROFILE|{PROFILE}.pool")]);
    let queue = judged(|file| file["BUFFER_QUEUE"]["Ethernet4|3-4"]["profile"] = PROFILE.into());
    assert_eq!(keys(&queue), ["BUFFER_QUEUE|Ethernet4|3-4.profile"]);
    let group = judged(|file| file["BUFFER_PG"]["Ethernet4|0"]["profile"] = "egress_lossy_profile".into());
    assert_eq!(keys(&group), ["BUFFER_PG|Ethernet4|0.profile"]);
    let both = judged(|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["type"] = "both".into());
    assert!(both.safe(), "{:#?}", both.findings);
}

#[test]
fn a_pool_without_size_or_type_is_not_passed_over() {
    let size = judged(|file| remove(&mut file["BUFFER_POOL"]["ingress_lossless_pool"], "size"));
    assert_eq!(keys(&size), ["BUFFER_POOL|ingress_lossless_pool.size"]);
    let computed = judge(
        &changed(|file| {
            remove(&mut file["BUFFER_POOL"]["ingress_lossless_pool"], "size");
            file["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic".into();
        }),
        PathSet::Shortest,
    );
    assert!(computed.safe(), "{:#?}", computed.findings);
    let said = "the switch computes the size of 1 pool, which holds all that its profiles reserve: not judged";
    assert!(computed.assumptions.iter().any(|it| it == said), "{:#?}", computed.assumptions);
    for field in ["type", "mode"] {
        let files = changed(|file| remove(&mut file["BUFFER_POOL"]["ingress_lossless_pool"], field));
        let texts: Vec<(String, String)> =
            files.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        let faults = running::read(&texts).unwrap_err();
        let found: Vec<String> = faults.iter().map(|fault| format!("{}: {}", fault.file, fault.key)).collect();
        assert_eq!(found, [format!("leaf-01.json: BUFFER_POOL|ingress_lossless_pool.{field}")]);
    }
}

#[test]
fn trimming_in_a_lossless_queue_or_group_is_a_finding() {
    for profile in ["egress_lossless_profile", PROFILE] {
        let report = judged(|file| file["BUFFER_PROFILE"][profile]["packet_discard_action"] = "trim".into());
        assert_eq!(keys(&report), [format!("BUFFER_PROFILE|{profile}.packet_discard_action")]);
    }
    let lossy = judged(|file| file["BUFFER_PROFILE"]["egress_lossy_profile"]["packet_discard_action"] = "trim".into());
    assert!(lossy.safe(), "{:#?}", lossy.findings);
}

#[test]
fn asymmetric_pfc_is_an_assumption() {
    let files = changed(|file| file["PORT"]["Ethernet4"]["pfc_asym"] = "on".into());
    let options = common::options(PathSet::Shortest);
    let report = running::judge(&topology(&files), &read(&files), &options).unwrap();
    assert!(report.safe(), "{:#?}", report.findings);
    let said = "no neighbour pauses a priority outside of pfc_enable, which 1 port with pfc_asym obeys, leaf-01.json \
                Ethernet4";
    assert!(report.assumptions.iter().any(|it| it == said), "{:#?}", report.assumptions);
}
