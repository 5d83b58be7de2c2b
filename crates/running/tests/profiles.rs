//! Lossless profiles that do not belong to the speed and cable of their port.

mod common;

use common::{Files, judge, leaf_spine};
use running::{FindingKind, PathSet};
use serde_json::{Value, json};

const PROFILE: &str = "pg_lossless_100000_40m_profile";

/// Returns the keys and reasons of findings about headroom, with the file.
fn found(files: &Files) -> Vec<(String, String, String)> {
    let findings = judge(files, PathSet::Shortest).findings.into_iter();
    let headroom = findings.filter(|it| it.kind == FindingKind::Headroom);
    headroom.map(|it| (it.file, it.key, it.why)).collect()
}

fn changed(change: impl Fn(&mut Value)) -> Vec<(String, String, String)> {
    let mut files = leaf_spine(3, 2, 1);
    change(&mut files[1].1);
    found(&files)
}

/// A profile for 400 Gbps with more headroom than any port needs, at one port of 100 Gbps.
fn with_profile(file: &mut Value, name: &str) {
    file["BUFFER_PROFILE"][name] = json!({ "pool": "ingress_lossless_pool", "xon": "19456", "xoff": "57516",
        "size": "76972", "dynamic_th": "0" });
    file["BUFFER_PG"]["Ethernet4|3-4"]["profile"] = name.into();
}

/// Returns the assumptions that begin with `start`.
fn assumed(files: &Files, start: &str) -> Vec<String> {
    let all = judge(files, PathSet::Shortest).assumptions.into_iter();
    all.filter(|text| text.starts_with(start)).collect()
}

#[test]
fn a_profile_named_after_a_slower_or_shorter_link_is_a_finding() {
    for (name, speed, metres) in
        [("pg_lossless_50000_40m_profile", 50_000, 40), ("pg_lossless_100000_5m_profile", 100_000, 5)]
    {
        let found = changed(|file| with_profile(file, name));
        let [(file, key, why)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((file.as_str(), key.as_str()), ("leaf-01.json", "BUFFER_PG|Ethernet4|3-4.profile"));
        let said = format!(
            "profile {name} is for {speed} Mbps and {metres} m by its name, and Ethernet4 has 100000 Mbps and 40 m"
        );
        assert!(why.starts_with(&said), "{why}");
    }
    assert_eq!(changed(|file| with_profile(file, "own_profile")), []);
}

#[test]
fn a_profile_named_after_a_longer_link_is_stated() {
    let mut files = leaf_spine(3, 2, 1);
    with_profile(&mut files[1].1, "pg_lossless_100000_300m_profile");
    assert_eq!(found(&files), []);
    let stated = assumed(&files, "profiles named after a faster or longer link");
    let [text] = &stated[..] else { panic!("{stated:?}") };
    assert!(text.contains("leaf-01.json Ethernet4 with pg_lossless_100000_300m_profile"), "{text}");
}

#[test]
fn less_headroom_than_at_equal_ports_is_stated() {
    const START: &str = "headroom may differ between equal ports";
    let more = |files: &mut Files, at: usize| files[at].1["BUFFER_PROFILE"][PROFILE]["xoff"] = "70000".into();
    let mut files = leaf_spine(3, 2, 1);
    assert_eq!(assumed(&files, START), [""; 0]);
    (0..files.len()).filter(|at| *at != 1).for_each(|at| more(&mut files, at));
    assert_eq!(found(&files), []);
    let stated = assumed(&files, START);
    let [text] = &stated[..] else { panic!("{stated:?}") };
    assert!(text.contains("leaf-01.json Ethernet4 has 57,516 bytes") && text.contains("10 of 12 ports with"), "{text}");
    // Other platforms have other headroom.
    files[1].1["DEVICE_METADATA"]["localhost"]["hwsku"] = "OTHER".into();
    assert_eq!(assumed(&files, START), [""; 0]);
}
