//! Findings name both switches and the key to change; input that was not judged is never reported as safe.

mod common;

use common::{Files, judge, leaf_spine, read, topology};
use fabric::files::{Options as FileOptions, join_config_db, read_config_db};
use fabric::{Fabric, LinkSpec};
use running::{Finding, FindingKind, PathSet, Report};
use serde_json::{Value, json};
use units::{Rate, Time};

const PROFILE: &str = "pg_lossless_100000_40m_profile";

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some(), "{key}");
}

fn changed(name: &str, change: impl Fn(&mut Value)) -> Files {
    let mut files = leaf_spine(3, 2, 1);
    let file = files.iter_mut().find(|(file, _)| file == &format!("{name}.json")).unwrap();
    change(&mut file.1);
    files
}

fn all(change: impl Fn(&mut Value)) -> Files {
    let mut files = leaf_spine(3, 2, 1);
    files.iter_mut().for_each(|(_, file)| change(file));
    files
}

fn judged(files: &Files) -> Report {
    judge(files, PathSet::Shortest)
}

fn of_kind(report: &Report, kind: FindingKind) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| finding.kind == kind).collect()
}

/// Returns the finding of this kind; fails if there is not exactly one.
fn only(files: &Files, kind: FindingKind) -> Finding {
    let report = judged(files);
    let found = of_kind(&report, kind);
    assert_eq!(found.len(), 1, "{:#?}", report.findings);
    found[0].clone()
}

/// Returns the fault of files that the check rejects.
fn refused(files: &Files) -> String {
    refused_on(&topology(files), files)
}

fn refused_on(fabric: &Fabric, files: &Files) -> String {
    let configs = read(files);
    let options = common::options(PathSet::Shortest);
    let faults = running::judge(fabric, &configs, &options).map_or_else(|faults| faults, |report| panic!("{report:?}"));
    assert_eq!(faults.len(), 1, "{faults:#?}");
    faults[0].to_string()
}

/// Returns the topology as the command reads it: links without a length have a delay of 500 ns, and each leaf without a
/// server gets one host.
fn assuming(files: &Files) -> Fabric {
    let text = join_config_db(files.iter().map(|(_, value)| value.to_string()));
    let assumed = Some(LinkSpec::new(Rate::from_gbps(100), Time::from_ns(500)));
    let stated = FileOptions::new(LinkSpec::new(Rate::MIN, Time::ZERO));
    read_config_db(&text, &FileOptions { assumed, hosts_per_switch: 1, ..stated }).unwrap()
}

/// Returns the first number of the advice.
fn number(finding: &Finding) -> String {
    finding.instead.split_whitespace().find(|word| word.parse::<u64>().is_ok()).unwrap().to_owned()
}

#[test]
fn headroom_is_missed_at_the_value_that_bounds_it() {
    let bounded = |size: &'static str, shared: Option<&'static str>| {
        changed("spine-0", |file| {
            file["BUFFER_PROFILE"][PROFILE]["size"] = size.into();
            file["BUFFER_PROFILE"][PROFILE]["xon"] = "0".into();
            if let Some(shared) = shared {
                file["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] = shared.into();
            }
        })
    };
    // As in Broadcom's rows, `size` is below `xoff`, but the pool has no shared headroom.
    let of_size = only(&bounded("1000", None), FindingKind::Headroom);
    assert_eq!(of_size.key, format!("BUFFER_PROFILE|{PROFILE}.size"));
    assert!(
        of_size.why.starts_with("1,000 of headroom (size, and BUFFER_POOL|ingress_lossless_pool has no shared xoff)")
    );
    assert!(of_size.instead.ends_with(" bytes, or a shared headroom, BUFFER_POOL|ingress_lossless_pool.xoff"));
    let needs = number(&of_size);
    let obeyed = |change: &dyn Fn(&mut Value)| {
        let mut files = bounded("1000", None);
        change(&mut files.iter_mut().find(|(file, _)| file == "spine-0.json").unwrap().1);
        judged(&files).findings
    };
    let in_size = obeyed(&|file| file["BUFFER_PROFILE"][PROFILE]["size"] = needs.clone().into());
    assert_eq!(in_size, []);
    let in_pool = obeyed(&|file| file["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] = needs.clone().into());
    assert_eq!(in_pool, []);
    let of_pool = only(&bounded("1000", Some("2000")), FindingKind::Headroom);
    assert_eq!(of_pool.key, "BUFFER_POOL|ingress_lossless_pool.xoff");
    assert_eq!(of_pool.instead, format!("at least {needs} bytes"));
    let of_xoff = |size: &'static str| {
        only(
            &changed("spine-0", |file| {
                file["BUFFER_PROFILE"][PROFILE]["xoff"] = "3000".into();
                file["BUFFER_PROFILE"][PROFILE]["xon"] = "0".into();
                file["BUFFER_PROFILE"][PROFILE]["size"] = size.into();
            }),
            FindingKind::Headroom,
        )
    };
    assert_eq!(of_xoff("100000").key, format!("BUFFER_PROFILE|{PROFILE}.xoff"));
    assert_eq!(of_xoff("100000").instead, format!("at least {needs} bytes"));
    assert_eq!(of_xoff("4000").instead, format!("at least {needs} bytes, in size too"));
}

#[test]
fn files_without_a_length_are_reported_and_no_cable_is_assumed() {
    for table in [None, Some("CABLE_LENGHT")] {
        let files = all(|file| {
            let lengths = file["CABLE_LENGTH"].clone();
            remove(file, "CABLE_LENGTH");
            if let Some(misspelt) = table {
                file[misspelt] = lengths;
            }
        });
        let report = judged(&files);
        let found = of_kind(&report, FindingKind::Headroom);
        assert_eq!(found.len(), 5, "one a file: {:#?}", report.findings);
        for finding in found {
            assert_eq!(finding.key, "CABLE_LENGTH");
            assert!(finding.why.starts_with("no port has a length: SONiC gives Ethernet0 no lossless headroom"));
        }
        // Headroom of one byte is too little for any cable, so a cable with an assumed delay would also be a finding.
        let short = |mut files: Files| {
            files.iter_mut().for_each(|(_, file)| file["BUFFER_PROFILE"][PROFILE]["xoff"] = "1".into());
            let options = common::options(PathSet::Shortest);
            running::judge(&assuming(&files), &read(&files), &options).unwrap()
        };
        let needs_more = |report: &Report| {
            of_kind(report, FindingKind::Headroom)
                .iter()
                .filter(|it| it.why.contains(" of headroom (xoff), and "))
                .count()
        };
        assert!(needs_more(&short(leaf_spine(3, 2, 1))) > 0, "the files with lengths");
        let assumed = short(files);
        assert_eq!(of_kind(&assumed, FindingKind::Headroom).len(), 5, "{:#?}", assumed.findings);
        assert_eq!(needs_more(&assumed), 0, "{:#?}", assumed.findings);
    }
}

#[test]
fn a_watched_priority_wants_a_row_of_the_watchdog() {
    for misspelt in [None, Some("PFCWD")] {
        let files = all(|file| {
            let rows = file["PFC_WD"].clone();
            remove(file, "PFC_WD");
            if let Some(misspelt) = misspelt {
                file[misspelt] = rows;
            }
        });
        let report = judged(&files);
        let found = of_kind(&report, FindingKind::Watchdog);
        assert_eq!(found.len(), 5, "one a file: {:#?}", report.findings);
        assert_eq!(found[0].key, "PFC_WD");
        let refers = misspelt.map_or(String::new(), |name| format!("; the file has {name}, which nothing reads"));
        let why = format!("no port has a row, and pfcwd_sw_enable of Ethernet0 names priorities{refers} (and 2 more)");
        assert_eq!(found[0].why, why);
        assert_eq!(report.findings[0].kind == FindingKind::UnknownKey, misspelt.is_some(), "{:#?}", report.findings);
    }
    let unwatched = all(|file| {
        remove(file, "PFC_WD");
        let rows = file["PORT_QOS_MAP"].as_object_mut().unwrap();
        rows.values_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("pfcwd_sw_enable")));
    });
    assert!(judged(&unwatched).safe());
}

#[test]
fn the_end_of_a_link_whose_pfc_enable_is_rarer_is_named() {
    let more = only(
        &changed("spine-0", |file| {
            file["PORT_QOS_MAP"]["Ethernet4"]["pfc_enable"] = "3,4,5".into();
            file["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"]["5"] = "5".into();
        }),
        FindingKind::Neighbours,
    );
    assert_eq!((more.file.as_str(), more.key.as_str()), ("spine-0.json", "PORT_QOS_MAP|Ethernet4.pfc_enable"));
    assert_eq!(more.instead, "\"3,4\"");
    assert!(more.why.starts_with("enables PFC for 5, and leaf-01.json Ethernet4 and most ports"), "{}", more.why);
    let fewer = only(
        &changed("spine-0", |file| file["PORT_QOS_MAP"]["Ethernet4"]["pfc_enable"] = "3".into()),
        FindingKind::Neighbours,
    );
    assert_eq!((fewer.file.as_str(), fewer.key.as_str()), ("spine-0.json", "PORT_QOS_MAP|Ethernet4.pfc_enable"));
    assert_eq!(fewer.instead, "\"3,4\"");
}

#[test]
fn findings_along_a_path_name_both_switches() {
    let lossy = only(
        &changed("spine-0", |file| file["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "4".into()),
        FindingKind::LossyHop,
    );
    let why = "at leaf-00, DSCP 3 from Ethernet0 to Ethernet4 counts in lossless group 3; at spine-0 Ethernet0 it \
               arrives as DSCP 3 in group 3, which drops";
    assert!(lossy.why.starts_with(why), "{}", lossy.why);
    let swapped = changed("leaf-00", |file| {
        file["MAP_PFC_PRIORITY_TO_QUEUE"]["AZURE"]["3"] = "4".into();
        file["MAP_PFC_PRIORITY_TO_QUEUE"]["AZURE"]["4"] = "3".into();
    });
    let found = judged(&swapped).findings;
    let why = "at leaf-00, DSCP 3 from Ethernet0 to Ethernet4 waits in queue 3; at spine-0 Ethernet0 it fills \
               group 3, whose PAUSE of priority 3 stops queue 4 of leaf-00";
    assert!(found.iter().any(|finding| finding.why.starts_with(why)), "{found:#?}");
}

#[test]
fn files_in_which_nothing_is_lossless_are_not_called_safe() {
    // A single server sends no frames, because it has no destination.
    let servers = |mut files: Files, of: usize| {
        for (_, file) in files.iter_mut().skip(of) {
            let neighbours = file["DEVICE_NEIGHBOR"].as_object_mut().unwrap();
            neighbours.retain(|_, row| !row["name"].as_str().unwrap().starts_with("srv"));
            file["DEVICE_NEIGHBOR_METADATA"].as_object_mut().unwrap().retain(|name, _| !name.starts_with("srv"));
        }
        files
    };
    let one = refused(&servers(leaf_spine(3, 2, 1), 1));
    assert_eq!(one, "(topology): DEVICE_NEIGHBOR: not judged: 1 port to hosts, and no host sends to another");
    let lossy = refused(&all(|file| {
        let ports: Vec<String> = file["PORT"].as_object().unwrap().keys().cloned().collect();
        for port in ports {
            let row = file["PORT_QOS_MAP"][&port].as_object_mut().unwrap();
            row.insert("pfc_enable".to_owned(), "".into());
            row.remove("pfcwd_sw_enable");
            file["BUFFER_PG"][format!("{port}|3-4")] = json!({ "profile": "ingress_lossy_profile" });
            file["BUFFER_QUEUE"][format!("{port}|3-4")] = json!({ "profile": "egress_lossy_profile" });
        }
    }));
    assert_eq!(lossy, "(all files): PORT_QOS_MAP: not judged: frames of hosts come to no lossless account");
    // If no file has a server, the topology reader attaches hosts to ports that are in no file.
    let without = servers(leaf_spine(3, 2, 1), 0);
    let attached = refused_on(&assuming(&without), &without);
    assert!(attached.starts_with("(topology): DEVICE_NEIGHBOR: no file has a server"), "{attached}");
}

#[test]
fn counts_of_one_are_singular() {
    let one = changed("leaf-00", |file| {
        file["PORT"]["Ethernet4"]["admin_status"] = "down".into();
        file["PORT"]["Ethernet12"] = file["PORT"]["Ethernet0"].clone();
    });
    let assumptions = judged(&one).assumptions;
    for line in [
        "1 connected port that admin_status has down carries traffic, leaf-00.json Ethernet4",
        "1 port without a neighbour is not judged, leaf-00.json Ethernet12",
    ] {
        assert!(assumptions.iter().any(|it| it == line), "{line}: {assumptions:#?}");
    }
}

#[test]
fn a_file_that_was_saved_before_the_ports_came_up_has_one_finding() {
    let files = all(|file| {
        file["BUFFER_PG"].as_object_mut().unwrap().retain(|key, _| !key.ends_with("|3-4"));
        let profiles = file["BUFFER_PROFILE"].as_object_mut().unwrap();
        profiles.retain(|name, _| !name.starts_with("pg_lossless"));
    });
    let report = judged(&files);
    let found: Vec<String> = report.findings.iter().map(|it| format!("{}: {}", it.file, it.key)).collect();
    let expected =
        ["leaf-00", "leaf-01", "leaf-02", "spine-0", "spine-1"].map(|name| format!("{name}.json: BUFFER_PG"));
    assert_eq!(found, expected, "{:#?}", report.findings);
    let Finding { why, instead, .. } = &report.findings[0];
    assert!(why.starts_with("pfc_enable has 3, 4 at 3 ports, and no priority group of the switch"), "{why}");
    assert!(instead.starts_with("the file after `config save`"), "{instead}");
}

/// `xof` is nearly `xon` and `xoff`: the field that the row does not have is meant. The mismatch is at the profile.
#[test]
fn a_profile_without_xoff_is_reported_at_its_row() {
    let found = |change: fn(&mut Value)| {
        let report = judged(&changed("leaf-00", |file| change(&mut file["BUFFER_PROFILE"][PROFILE])));
        report.findings.into_iter().map(|it| (it.key, it.why, it.instead)).collect::<Vec<_>>()
    };
    let missing = found(|row| remove(row, "xoff"));
    let key = format!("BUFFER_PROFILE|{PROFILE}.xoff");
    let is_own = |it: &(String, String, String)| it.0 == key && it.2 == "the headroom of its cable in bytes";
    assert!(!missing.is_empty() && missing.iter().all(is_own), "{missing:#?}");
    let misspelt = found(|row| {
        row["xof"] = row["xoff"].clone();
        remove(row, "xoff");
    });
    assert_eq!(misspelt[0].2, "xoff, or leave it out", "{misspelt:#?}");
    let refers = format!("; the file has BUFFER_PROFILE|{PROFILE}.xof, which nothing reads");
    assert!(misspelt[1].0 == key && misspelt[1].1.contains(&refers), "{misspelt:#?}");
}

/// Nothing judges a port without an entry in `DEVICE_NEIGHBOR`: entries that other tables imply are findings.
#[test]
fn missing_entries_of_neighbours_are_findings() {
    let found = |change: fn(&mut Value)| {
        let report = judged(&changed("leaf-00", change));
        of_kind(&report, FindingKind::Neighbours).into_iter().map(|it| it.key.clone()).collect::<Vec<_>>()
    };
    assert_eq!(found(|_| ()), Vec::<String>::new());
    assert_eq!(found(|file| remove(file, "DEVICE_NEIGHBOR")), ["DEVICE_NEIGHBOR"]);
    let server = ["DEVICE_NEIGHBOR_METADATA|srv-00-0"];
    assert_eq!(found(|file| remove(&mut file["DEVICE_NEIGHBOR"], "Ethernet0")), server);
    let entry = ["DEVICE_NEIGHBOR|Ethernet0"];
    assert_eq!(found(|file| file["DEVICE_NEIGHBOR"]["Ethernet0"]["name"] = "srv-01-0".into()), entry);
    assert_eq!(found(|file| file["DEVICE_NEIGHBOR"]["Ethernet0"]["name"] = "another".into()), server);
    // The fully qualified name of the device is another form of the same name.
    assert_eq!(found(|file| file["DEVICE_NEIGHBOR"]["Ethernet0"]["name"] = "srv-00-0.dc.example".into()), [""; 0]);
}

/// An entry without one at the other end is a cable, with an assumption.
#[test]
fn an_entry_at_one_end_is_stated() {
    let report = judged(&changed("spine-0", |file| remove(&mut file["DEVICE_NEIGHBOR"], "Ethernet0")));
    let stated = "1 cable with an entry in DEVICE_NEIGHBOR at one end only: leaf-00.json DEVICE_NEIGHBOR|Ethernet4";
    assert!(report.assumptions.iter().any(|it| it == stated), "{:#?}", report.assumptions);
    assert!(!judged(&leaf_spine(3, 2, 1)).assumptions.iter().any(|it| it.contains("at one end only")));
}

/// A profile that is too small for the length of its port is a consequence if the length is wrong.
#[test]
fn a_wrong_length_is_reported_without_the_profiles_of_its_port() {
    let report = judged(&changed("leaf-00", |file| file["CABLE_LENGTH"]["AZURE"]["Ethernet4"] = "300m".into()));
    let keys: Vec<&str> = report.findings.iter().map(|it| it.key.as_str()).collect();
    assert!(keys.iter().all(|key| *key == "CABLE_LENGTH|AZURE.Ethernet4"), "{:#?}", report.findings);
}
