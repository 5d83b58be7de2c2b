//! Sums of profiles, pools and limits: overcommitted pools, strict queues whose limits together reach the rate,
//! profiles with neutral names.

mod common;

use common::{Files, judge, leaf_spine};
use running::{FindingKind, PathSet, Report};
use serde_json::{Value, json};

fn changed(change: impl Fn(&mut Value)) -> Report {
    let mut files: Files = leaf_spine(2, 2, 1);
    change(&mut files[1].1);
    judge(&files, PathSet::Shortest)
}

/// Returns file, key and kind of each finding.
fn keys(report: &Report) -> Vec<(&str, &str, FindingKind)> {
    report.findings.iter().map(|it| (it.file.as_str(), it.key.as_str(), it.kind)).collect()
}

#[test]
fn a_pool_smaller_than_what_its_profiles_reserve_is_a_finding() {
    let small = changed(|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["size"] = "1000".into());
    let key = "BUFFER_POOL|ingress_lossless_pool.size";
    assert_eq!(keys(&small), [("leaf-01.json", key, FindingKind::Headroom)]);
    // The pool must hold the sum over two priorities each of one port with 5 m and two ports with 40 m of cable.
    let sum = small.findings[0].instead.split_whitespace().nth(2).unwrap().parse::<u64>().unwrap();
    let with =
        |size: u64| changed(|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["size"] = size.to_string().into());
    assert!(with(sum).safe());
    assert_eq!(keys(&with(sum - 1)), [("leaf-01.json", key, FindingKind::Headroom)]);
    let of_profiles: u64 = 2 * (1..=3).map(|port| if port == 1 { size(5) } else { size(40) }).sum::<u64>();
    assert_eq!(sum, of_profiles);
}

fn size(metres: u64) -> u64 {
    let files = leaf_spine(2, 2, 1);
    let size = &files[1].1["BUFFER_PROFILE"][format!("pg_lossless_100000_{metres}m_profile")]["size"];
    size.as_str().unwrap().parse().unwrap()
}

#[test]
fn shared_headroom_for_a_part_of_the_accounts_is_an_assumption() {
    let shared = |bytes: &str| changed(|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] = bytes.into());
    let assumed =
        |report: &Report| report.assumptions.iter().find(|it| it.contains("all need their headroom")).cloned();
    let one = shared("100000");
    assert!(one.safe(), "{:#?}", one.findings);
    let line = assumed(&one).unwrap();
    let begin = "the accounts of a pool do not all need their headroom at once: leaf-01.json \
                 BUFFER_POOL|ingress_lossless_pool.xoff has 100,000 bytes for ";
    assert!(line.starts_with(begin) && line.ends_with(" of 6 accounts"), "{line}");
    assert_eq!(assumed(&shared("10000000")), None);
}

/// Gives queues 5 and 6 strict priority and these rate limits, in bytes per second; the port rate is 12.5e9 bytes/s.
fn strict(limits: [&str; 2]) -> Report {
    changed(|file| {
        for (queue, limit) in [5, 6].into_iter().zip(limits) {
            file["SCHEDULER"][format!("strict.{queue}")] =
                json!({ "type": "STRICT", "meter_type": "bytes", "pir": limit });
            for port in ["Ethernet0", "Ethernet4", "Ethernet8"] {
                file["QUEUE"][format!("{port}|{queue}")] = json!({ "scheduler": format!("strict.{queue}") });
            }
        }
    })
}

#[test]
fn strict_queues_whose_limits_together_reach_the_rate_starve_the_others() {
    assert!(strict(["6000000000", "6000000000"]).safe());
    let both = strict(["7500000000", "7500000000"]);
    assert_eq!(keys(&both), [("leaf-01.json", "SCHEDULER|strict.5.pir", FindingKind::Starvation)]);
    let why = &both.findings[0].why;
    let begin = "queues 5, 6 of Ethernet4 have strict priority, and their pir add up to 15,000,000,000 bytes/s of the \
                 port's 12,500,000,000: while they send, queue 3 waits";
    assert!(why.starts_with(begin), "{why}");
    let one = strict(["7500000000", "12500000000"]);
    assert_eq!(keys(&one), [("leaf-01.json", "SCHEDULER|strict.6.type", FindingKind::Starvation)]);
}

#[test]
fn a_queue_profile_with_an_unclear_name_is_assumed_lossless_and_reported() {
    let renamed = changed(|file| {
        file["BUFFER_POOL"]["egress_pool"] = json!({ "type": "egress", "mode": "static", "size": "33004032" });
        file["BUFFER_PROFILE"]["q3"] = json!({ "pool": "egress_pool", "size": "0", "static_th": "33004032" });
        file["BUFFER_QUEUE"]["Ethernet4|3-4"]["profile"] = "q3".into();
    });
    assert!(renamed.safe(), "{:#?}", renamed.findings);
    let said = "lossless: 2 queues with a profile named neither lossless nor lossy, such as q3";
    assert!(renamed.assumptions.iter().any(|it| it == said), "{:#?}", renamed.assumptions);
    // The name of the pool, which contains "lossy", makes the profile lossy.
    let lossy = changed(|file| {
        file["BUFFER_PROFILE"]["q3"] = json!({ "pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3" });
        file["BUFFER_QUEUE"]["Ethernet4|3-4"]["profile"] = "q3".into();
    });
    assert!(
        keys(&lossy).iter().all(|(file, key, _)| *file == "leaf-01.json" && key.contains("BUFFER_QUEUE|Ethernet4"))
    );
    assert!(!lossy.safe());
}

#[test]
fn a_limit_of_a_lossless_queue_is_an_assumption_or_drains_the_headroom_too_late() {
    let with = |pir: &str, watched: bool| {
        let mut files = leaf_spine(3, 2, 1);
        let file = &mut files.iter_mut().find(|(name, _)| name == "spine-0.json").unwrap().1;
        file["SCHEDULER"]["slow"] = json!({ "type": "DWRR", "weight": "15", "pir": pir });
        file["QUEUE"]["Ethernet4|3"]["scheduler"] = "slow".into();
        if !watched {
            for (_, file) in &mut files {
                let rows = file["PORT_QOS_MAP"].as_object_mut().unwrap();
                rows.values_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("pfcwd_sw_enable")));
            }
        }
        judge(&files, PathSet::Shortest)
    };
    let said = "1 lossless queue with a pir drains below the rate of the port, as queue 3 of spine-0.json Ethernet4 at \
                1,000,000 of 12,500,000,000 bytes/s: the loss of throughput at paused switches is not judged";
    let slow = with("1000000", true);
    assert!(slow.safe(), "{:#?}", slow.findings);
    assert!(slow.assumptions.iter().any(|it| it == said), "{:#?}", slow.assumptions);
    let at_rate = with("12500000000", true);
    assert!(at_rate.safe() && at_rate.assumptions.iter().all(|it| !it.contains("pir")), "{:#?}", at_rate.assumptions);
    // 57,516 bytes of headroom at 100,000 bytes/s take 575 ms, longer than the detection time of the leaves' watchdogs
    // (400 ms).
    let late = with("100000", true);
    assert_eq!(late.findings.len(), 1, "{:#?}", late.findings);
    let finding = &late.findings[0];
    assert_eq!((finding.file.as_str(), finding.key.as_str()), ("spine-0.json", "SCHEDULER|slow.pir"));
    let why = "queue 3 of Ethernet4 sends at most 100,000 bytes/s: a PAUSE of lossless group 3 of Ethernet0 lasts up \
               to 575 ms, and the watchdog of leaf-00 Ethernet4 acts after 400 ms and drops its frames (and 1 more)";
    assert_eq!((finding.kind, finding.why.as_str()), (FindingKind::Starvation, why));
    assert!(with("100000", false).safe());
}
