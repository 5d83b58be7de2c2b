//! If many switches agree and one differs, the findings name that one, and values that may be right are hints.

mod common;

use common::{Files, judge, leaf_spine};
use running::{FindingKind, PathSet, Report};
use serde_json::Value;

fn changed(name: &str, change: impl Fn(&mut Value)) -> Report {
    let mut files = leaf_spine(6, 3, 1);
    let file = files.iter_mut().find(|(file, _)| file == &format!("{name}.json")).unwrap();
    change(&mut file.1);
    judge(&files, PathSet::Shortest)
}

fn files_of(report: &Report) -> Vec<&str> {
    let mut files: Vec<&str> = report.findings.iter().map(|finding| finding.file.as_str()).collect();
    files.dedup();
    files
}

fn each(file: &mut Value, table: &str, change: impl Fn(&mut Value)) {
    file[table].as_object_mut().unwrap().values_mut().for_each(change);
}

#[test]
fn the_end_of_a_link_that_differs_from_all_others_is_named() {
    type Case = (&'static str, &'static str, fn(&mut Value));
    let cases: [Case; 7] = [
        ("spine-1", ".mtu", |file| each(file, "PORT", |row| row["mtu"] = "1500".into())),
        ("spine-1", ".mtu", |file| each(file, "PORT", |row| row["mtu"] = "9216".into())),
        ("leaf-03", ".mtu", |file| each(file, "PORT", |row| row["mtu"] = "9216".into())),
        ("spine-1", ".speed", |file| each(file, "PORT", |row| drop(row.as_object_mut().unwrap().remove("speed")))),
        ("leaf-03", "CABLE_LENGTH|AZURE.Ethernet", |file| {
            file["CABLE_LENGTH"]["AZURE"]["Ethernet4"] = "20000m".into();
        }),
        ("spine-1", "CABLE_LENGTH|AZURE.Ethernet", |file| {
            each(&mut file["CABLE_LENGTH"], "AZURE", |length| *length = "20000m".into());
        }),
        ("leaf-03", "CABLE_LENGTH|AZURE.Ethernet", |file| file["CABLE_LENGTH"]["AZURE"]["Ethernet4"] = "10m".into()),
    ];
    for (name, key, change) in cases {
        let report = changed(name, change);
        assert_eq!(files_of(&report), [format!("{name}.json")], "{:#?}", report.findings);
        let named = |kind| {
            let mut of_kind = report.findings.iter().filter(move |it| it.kind == kind);
            of_kind.any(|it| it.key.contains(key))
        };
        assert!(named(FindingKind::Neighbours), "{name} {key}: {:#?}", report.findings);
    }
}

#[test]
fn a_wrong_length_requires_no_headroom_at_the_other_end() {
    let report = changed("spine-1", |file| file["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "20000m".into());
    let headroom: Vec<_> = report.findings.iter().filter(|it| it.kind == FindingKind::Headroom).collect();
    // The profile of Ethernet0, which its name states for 40 m, is no finding.
    let [finding] = &headroom[..] else { panic!("{headroom:#?}") };
    assert_eq!((finding.file.as_str(), finding.key.as_str()), ("spine-1.json", "CABLE_LENGTH|AZURE.Ethernet0"));
    assert!(finding.why.contains("with this value leaf-00.json Ethernet8 needs"), "{}", finding.why);
    assert!(
        finding.instead.starts_with("the value of the other end, or there a profile with at least"),
        "{finding:#?}"
    );
}

#[test]
fn a_value_that_one_switch_of_many_has_is_a_hint() {
    let hints = |report: &Report| -> Vec<(String, String, String)> {
        assert!(report.safe(), "{:#?}", report.findings);
        report.hints.iter().map(|it| (it.file.clone(), it.key.clone(), it.instead.clone())).collect()
    };
    assert_eq!(hints(&judge(&leaf_spine(6, 4, 1), PathSet::Shortest)), []);
    let hint = |key: &str, usual: &str| vec![("leaf-03.json".to_owned(), key.to_owned(), usual.to_owned())];
    let report = changed("leaf-03", |file| file["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "9".into());
    assert_eq!(hints(&report), hint("WRED_PROFILE|AZURE_LOSSLESS.green_min_threshold", "\"1048576\""));
    assert_eq!(report.hints[0].why, "\"9\" here; 5 of 6 switches of this role and platform have \"1048576\"");
    let report = changed("leaf-03", |file| file["DSCP_TO_TC_MAP"]["AZURE"]["20"] = "0".into());
    assert_eq!(hints(&report), hint("DSCP_TO_TC_MAP|AZURE.20", "\"1\""));
    let report = changed("leaf-03", |file| drop(file["QUEUE"].as_object_mut().unwrap().remove("Ethernet4|0")));
    let missing: Vec<_> = report.hints.iter().filter(|it| it.key == "QUEUE|Ethernet4|0").collect();
    assert!(missing.len() == 1 && missing[0].why.starts_with("no such row here; 5 of 6 "), "{report:#?}");
    let more = changed("leaf-03", |file| file["WRED_PROFILE"]["AZURE_LOSSLESS"]["colour"] = "9".into());
    assert!(more.hints.iter().all(|it| it.instead != "no such field"), "{more:#?}");
    // Of three spines none is usual, and a setting that a finding names is not also a hint.
    let report = changed("spine-1", |file| file["SCHEDULER"]["scheduler.0"]["weight"] = "20".into());
    assert_eq!(hints(&report), []);
    let report = changed("leaf-03", |file| file["PFC_WD"]["Ethernet4"]["detection_time"] = "50".into());
    assert_eq!((report.findings.len(), report.hints.len()), (1, 0), "{report:#?}");
}

#[test]
fn a_misspelt_key_is_the_first_finding() {
    let report = changed("leaf-03", |file| {
        let rows = file.as_object_mut().unwrap().remove("BUFFER_PG").unwrap();
        file["BUFFER_PGS"] = rows;
        file["ACL_TABLE"] = serde_json::json!({});
    });
    assert_eq!((report.findings[0].kind, report.findings[0].key.as_str()), (FindingKind::UnknownKey, "BUFFER_PGS"));
    assert!(report.findings.len() > 2, "{:#?}", report.findings);
    for finding in &report.findings[1..] {
        let refers = finding.why.contains("the file has BUFFER_PGS, which nothing reads");
        assert_eq!(refers, finding.key.starts_with("BUFFER_PG"), "{finding:#?}");
    }
}

fn named(files: &Files) -> Vec<String> {
    let faults = running::read(&common::texts(files)).unwrap_err();
    faults.iter().map(|it| format!("{}: {} -> {}", it.file, it.key, it.help)).collect()
}

/// Changes an entry of `DEVICE_NEIGHBOR` of leaf-03, which is by right `spine-1`, `Ethernet12`.
fn neighbour(name: &str, port: &str) -> Vec<String> {
    let mut files = leaf_spine(6, 3, 1);
    files[3].1["DEVICE_NEIGHBOR"]["Ethernet8"] = serde_json::json!({ "name": name, "port": port });
    named(&files)
}

#[test]
fn the_entry_of_a_neighbour_without_a_counterpart_is_named_with_the_port_that_was_meant() {
    let key = "leaf-03.json: DEVICE_NEIGHBOR|Ethernet8 ->";
    // A port that another leaf has, one that does not exist, another switch, and a switch without a file.
    assert_eq!(neighbour("spine-1", "Ethernet8"), [format!("{key} Ethernet12")]);
    assert_eq!(neighbour("spine-1", "Ethernet13"), [format!("{key} Ethernet12")]);
    assert_eq!(neighbour("spine-2", "Ethernet8"), [format!("{key} the port that the cable leads to")]);
    assert_eq!(neighbour("spine-11", "Ethernet12"), [format!("{key} spine-1 Ethernet12")]);
    // The entry at the spine is wrong: it leads to the port of a server, or to none.
    for (port, meant) in [("Ethernet0", "Ethernet8"), ("Ethernet7", "Ethernet8")] {
        let mut files = leaf_spine(6, 3, 1);
        files[7].1["DEVICE_NEIGHBOR"]["Ethernet12"]["port"] = port.into();
        assert_eq!(named(&files), [format!("spine-1.json: DEVICE_NEIGHBOR|Ethernet12 -> {meant}")]);
    }
    // A wrong host name, also that of another switch whose file is read later.
    for name in ["leaf-99", "leaf-05"] {
        let mut files = leaf_spine(6, 3, 1);
        files[3].1["DEVICE_METADATA"]["localhost"]["hostname"] = name.into();
        assert_eq!(named(&files), ["leaf-03.json: DEVICE_METADATA|localhost.hostname -> leaf-03"]);
    }
}

#[test]
fn fully_qualified_host_names_match_short_ones() {
    let (short, mut long, mut neighbours) = (leaf_spine(4, 2, 1), leaf_spine(4, 2, 1), leaf_spine(4, 2, 1));
    let qualified = |name: &Value| format!("{}.dc.example", name.as_str().unwrap()).into();
    for (_, file) in &mut long {
        file["DEVICE_METADATA"]["localhost"]["hostname"] = qualified(&file["DEVICE_METADATA"]["localhost"]["hostname"]);
    }
    for (_, file) in &mut neighbours {
        each(file, "DEVICE_NEIGHBOR", |row| {
            if !row["name"].as_str().unwrap().starts_with("srv") {
                row["name"] = qualified(&row["name"]);
            }
        });
    }
    let counts = judge(&short, PathSet::Shortest).counts;
    for files in [long, neighbours] {
        let report = judge(&files, PathSet::Shortest);
        assert_eq!((report.counts, report.safe()), (counts, true), "{:#?}", report.findings);
        let fabric = common::topology(&files);
        let line = fabric.decisions().iter().find(|it| it.text.contains("another domain")).expect("a decision").line();
        assert!(line.starts_with("6 names of neighbours without or with another domain"), "{line}");
    }
}

#[test]
fn strict_priority_of_one_queue_is_accepted_and_no_other() {
    // DSCP 48 waits in queue 6, and DSCP 46 in queue 5.
    let strict = |queues: &[u8]| {
        let mut files = leaf_spine(3, 2, 1);
        for (_, file) in &mut files {
            file["SCHEDULER"]["strict"] = serde_json::json!({ "type": "STRICT" });
            for (key, row) in file["QUEUE"].as_object_mut().unwrap() {
                if queues.iter().any(|queue| key.ends_with(&format!("|{queue}"))) {
                    row["scheduler"] = "strict".into();
                }
            }
        }
        files
    };
    let judged = |queues: &[u8], accepted_strict: u32| {
        let files = strict(queues);
        let (fabric, configs) = (common::topology(&files), common::read(&files));
        let (binding, paths) = (running::QueueBinding::Egress, PathSet::Shortest);
        let options = running::Options { binding, paths, headroom: &common::needed, asic: None, accepted_strict };
        running::judge(&fabric, &configs, &options)
    };
    assert!(!judged(&[6], 0).unwrap().safe());
    let accepted = judged(&[6], 1 << 6).unwrap();
    assert!(accepted.safe(), "{:#?}", accepted.findings);
    let said = "accepted: queue 6 has strict priority above lossless queues at 15 ports, leaf-00.json Ethernet0, and";
    assert!(accepted.assumptions.iter().any(|line| line.starts_with(said)), "{:#?}", accepted.assumptions);
    let other = judged(&[5, 6], 1 << 6).unwrap();
    assert!(!other.safe() && other.findings.iter().all(|it| it.why.contains("queue 5")), "{:#?}", other.findings);
    let faults = judged(&[6], 1 << 6 | 1 << 2).unwrap_err();
    assert_eq!(faults[0].key, "--accept-strict 2", "{faults:#?}");
    assert!(faults[0].message.starts_with("no such queue has strict priority above"), "{faults:#?}");
}

/// Without forwarding all pairs of two ports count, and no port is paired with itself.
#[test]
fn the_binding_accepts_queues_above_frames_of_another_port() {
    // Queue 6 of Ethernet0 of leaf-00 alone is strict, and the lossless accounts of `ingress` are the only ones there.
    let accepted = |ingress: &str| {
        let mut files = leaf_spine(3, 2, 1);
        let file = &mut files[0].1;
        file["SCHEDULER"]["strict"] = serde_json::json!({ "type": "STRICT" });
        file["QUEUE"]["Ethernet0|6"]["scheduler"] = "strict".into();
        for port in ["Ethernet0", "Ethernet4", "Ethernet8"].into_iter().filter(|port| *port != ingress) {
            file["BUFFER_PG"][format!("{port}|3-4")]["profile"] = "ingress_lossy_profile".into();
        }
        let (fabric, configs) = (common::topology(&files), common::read(&files));
        let binding = running::Binding::new(&fabric, &configs, running::QueueBinding::Egress).unwrap();
        binding.with_accepted_strict(1 << 6).accepted_strict()
    };
    let lines = accepted("Ethernet4").unwrap();
    let said = "accepted: queue 6 has strict priority above lossless queues at 1 port, leaf-00.json Ethernet0, and";
    assert!(lines.len() == 1 && lines[0].starts_with(said), "{lines:#?}");
    assert_eq!(accepted("Ethernet0").unwrap_err().key, "--accept-strict 6");
}

/// Two strict queues with limits of 7.5 of 12.5 GB/s each: an accepted one still counts in the sum for the other.
#[test]
fn the_limit_of_an_accepted_queue_counts_for_the_others() {
    let mut files = leaf_spine(3, 2, 1);
    for (_, file) in &mut files {
        file["SCHEDULER"]["limited"] = serde_json::json!({ "type": "STRICT", "pir": "7500000000" });
        for (key, row) in file["QUEUE"].as_object_mut().unwrap() {
            if key.ends_with("|5") || key.ends_with("|6") {
                row["scheduler"] = "limited".into();
            }
        }
    }
    let (fabric, configs) = (common::topology(&files), common::read(&files));
    for accepted_strict in [0, 1 << 6, 1 << 5] {
        let options = running::Options { accepted_strict, ..common::options(PathSet::Shortest) };
        let report = running::judge(&fabric, &configs, &options).unwrap();
        let is_sum = |why: &str| why.starts_with("queues 5, 6 of ") && why.contains("add up to 15,000,000,000 bytes/s");
        assert!(report.findings.iter().any(|it| is_sum(&it.why)), "{accepted_strict}: {:#?}", report.findings);
    }
    let options = running::Options { accepted_strict: 1 << 5 | 1 << 6, ..common::options(PathSet::Shortest) };
    assert!(running::judge(&fabric, &configs, &options).unwrap().safe());
}

/// Without evidence for one of two lengths the greater one counts at both ends, whatever the order of the files.
#[test]
fn without_evidence_the_longer_length_counts() {
    for (leaf, spine) in [("500m", "300m"), ("300m", "500m")] {
        let mut files = leaf_spine(2, 1, 1);
        // Two ends have 40 m, and the others one value each: none is that of most ports. The profile's name states no
        // length.
        for (_, file) in &mut files {
            let text = file.to_string().replace("pg_lossless_100000_40m_profile", "pg_lossless_own_profile");
            *file = serde_json::from_str(&text).unwrap();
        }
        let end = |files: &mut Files, name: &str, length: &str| {
            let file = files.iter_mut().find(|(file, _)| file == name).unwrap();
            file.1["CABLE_LENGTH"]["AZURE"]["Ethernet4"] = length.into();
        };
        end(&mut files, "leaf-01.json", leaf);
        end(&mut files, "spine-0.json", spine);
        let report = judge(&files, PathSet::Shortest);
        let needs = |file: &str| {
            let of_cable = |it: &running::Finding| it.file == file && it.why.contains("with 500 m of cable needs");
            report.findings.iter().any(of_cable)
        };
        assert!(needs("leaf-01.json") && needs("spine-0.json"), "{leaf} {spine}: {:#?}", report.findings);
    }
}
