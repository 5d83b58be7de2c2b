//! Tests exports for real environments: IPv6, cable lengths that differ at the two ends of a link, buffer profiles of
//! platforms, watchdog times.

use crate::common::{Ran, Scratch, example, run};
use serde_json::{Value, json};

/// Generates rules for the SONiC example with `bounces` bounces, and exports them with the given options. Returns the
/// outcome of the export and the folder of the `config_db` fragments.
fn exported(scratch: &Scratch, bounces: u8, options: &[&str]) -> (Ran, String) {
    let (fabric, rules, folder) = (example("sonic"), scratch.path("rules.json"), scratch.path("out"));
    let paths = format!("bounces={bounces}");
    let made = run(&["tagger", "rules", &fabric, "--paths", &paths, "--quiet", "--force", "--out", &rules]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let words = ["tagger", "export", &rules, "--fabric", &fabric, "--to", "sonic", "--out", &folder, "--force"];
    (run(&[&words, options].concat()), folder)
}

fn read(folder: &str, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(format!("{folder}/{file}")).expect(file)).expect("JSON")
}

fn notes(folder: &str) -> String {
    std::fs::read_to_string(format!("{folder}/NOTES.txt")).expect("notes")
}

/// The nftables export has one rule per DSCP, because a set lookup of the port concatenated with `ip6 dscp` never
/// matches.
#[test]
fn nftables_matches_ipv6_by_one_rule_a_dscp() {
    let scratch = Scratch::new("exports-ipv6");
    let (fabric, rules) = (example("sonic"), scratch.path("rules.json"));
    run(&["tagger", "rules", &fabric, "--paths", "bounces=1", "--quiet", "--force", "--out", &rules]);
    for (options, said) in [(&[][..], "VLAN interface of its port"), (&["--bridge"], "Behind two tags")] {
        let folder = scratch.path("nft");
        let words =
            ["tagger", "export", &rules, "--fabric", &fabric, "--to", "nftables", "--out", &folder, "--keep", "48:7"];
        let ran = run(&[&words, options].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let text = std::fs::read_to_string(format!("{folder}/leaf-1.nft")).unwrap();
        for dscp in [26, 34] {
            for ip in ["ip", "ip6"] {
                assert!(text.contains(&format!("\t\t{ip} dscp {dscp} iifname vmap @arrivals_{dscp}\n")), "{text}");
            }
        }
        assert!(text.contains("\t\tip6 dscp 48 goto keep_48\n") && !text.contains(" . "), "{text}");
        assert_eq!(text.contains("\t\tmeta protocol != { ip, ip6 } meta priority set 1:1\n"), !options.is_empty());
        assert!(notes(&folder).contains(said) && notes(&folder).contains("802.1ad"), "{}", notes(&folder));
    }
}

/// Writes two switch files that state different cable lengths (5 m and 300 m) for the same link; returns their folder.
fn two_ends(scratch: &Scratch, folder: &str, order: [&str; 2]) -> String {
    let at = scratch.path(folder);
    std::fs::create_dir_all(&at).unwrap();
    let ends = [
        ("tor-1", "ToRRouter", "leaf-1", "LeafRouter", "srv-1", "5m"),
        ("leaf-1", "LeafRouter", "tor-1", "ToRRouter", "srv-2", "300m"),
    ];
    for (file, (name, kind, peer, peer_kind, host, cable)) in order.iter().zip(ends) {
        let config = json!({
            "DEVICE_METADATA": { "localhost": { "hostname": name, "type": kind } },
            "PORT": { "Ethernet0": { "speed": "100000" }, "Ethernet4": { "speed": "100000" } },
            "DEVICE_NEIGHBOR": {
                "Ethernet0": { "name": peer, "port": "Ethernet0" }, "Ethernet4": { "name": host, "port": "eth0" },
            },
            "DEVICE_NEIGHBOR_METADATA": { peer: { "type": peer_kind }, host: { "type": "Server" } },
            "CABLE_LENGTH": { "AZURE": { "Ethernet0": cable, "Ethernet4": "5m" } },
        });
        std::fs::write(format!("{at}/{file}.json"), config.to_string()).unwrap();
    }
    at
}

/// The headroom at each end of a link is computed from the cable length in the file of that end, whatever the order of
/// the files.
#[test]
fn headroom_is_of_each_ends_own_cable() {
    let scratch = Scratch::new("exports-ends");
    let mut found = Vec::new();
    for order in [["a", "b"], ["b", "a"]] {
        let fabric = two_ends(&scratch, &order.concat(), order);
        let (rules, folder) = (scratch.path("r.json"), scratch.path(&format!("out-{}", order[0])));
        let made = run(&["tagger", "rules", &fabric, "--paths", "bounces=1", "--quiet", "--force", "--out", &rules]);
        assert_eq!(made.code, Some(0), "{}", made.err);
        let ran = run(&["tagger", "export", &rules, "--fabric", &fabric, "--to", "sonic", "--out", &folder]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let profile = |switch: &str| {
            let config = read(&folder, &format!("{switch}.json"));
            config["BUFFER_PG"]["Ethernet0|3"]["profile"].as_str().unwrap().to_owned()
        };
        assert!(notes(&folder).contains("each end has the headroom of its own"), "{}", notes(&folder));
        found.push((profile("tor-1"), profile("leaf-1")));
    }
    let ends = ("tagger_lossless_53601_profile".to_owned(), "tagger_lossless_90396_profile".to_owned());
    assert_eq!(found, [ends.clone(), ends]);
}

/// The platform's entries `3-4` are replaced by one entry per lossless priority, and the headroom that the platform
/// publishes is a minimum.
#[test]
fn a_platforms_ranges_are_replaced_and_its_headroom_is_a_floor() {
    let scratch = Scratch::new("exports-platform");
    let (platform, rows) = (example("sonic-platform/tor-1.json"), example("sonic-platform/pg_profile_lookup.ini"));
    let with = ["--only", "tor-1", "--platform", &platform, "--pg-profile", &rows];
    let (ran, folder) = exported(&scratch, 2, &with);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let config = read(&folder, "tor-1.json");
    for priority in 3..=5 {
        let key = format!("Ethernet240|{priority}");
        assert_eq!(config["BUFFER_PG"][&key]["profile"], "pg_lossless_400000_40m_profile");
        assert_eq!(config["BUFFER_QUEUE"][&key]["profile"], "egress_lossless_profile");
    }
    assert_eq!(config["BUFFER_QUEUE"]["Ethernet240|6"]["profile"], "egress_lossy_profile");
    let profile = &config["BUFFER_PROFILE"]["pg_lossless_400000_40m_profile"];
    assert_eq!((&profile["xoff"], &profile["size"]), (&"283136".into(), &"1792".into()));
    let removed = read(&folder, "tor-1.patch.json");
    assert!(removed.as_array().unwrap().contains(&json!({ "op": "remove", "path": "/BUFFER_PG/Ethernet240|3-4" })));
    let said = notes(&folder);
    for part in [
        "tor-1: replaces BUFFER_PG|Ethernet0|3-4",
        "tor-1: overrides fields of PORT_QOS_MAP|Ethernet0",
        "177,485 less than the 283,136 of line 6 of pg_profile_lookup.ini; written 283,136",
        "frame that holds the pause back",
        "Omits, and so leaves as they are",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // One bounce needs only priorities 3 and 4; they have separate entries, too.
    let (_, folder) = exported(&scratch, 1, &with);
    let config = read(&folder, "tor-1.json");
    let keys: Vec<&String> = config["BUFFER_PG"].as_object().unwrap().keys().collect();
    assert!(keys.iter().all(|key| !key.contains('-')), "{keys:?}");

    let (ran, folder) = exported(&scratch, 2, &[with.as_slice(), &["--below-platform"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let config = read(&folder, "tor-1.json");
    assert_eq!(config["BUFFER_PG"]["Ethernet240|3"]["profile"], "tagger_lossless_400000_40m_105651_profile");
    assert!(notes(&folder).contains("--below-platform: headroom is as computed"));
}

/// The poll interval of the PFC watchdog is the smaller of its detection time (400 ms) and its restoration time (200
/// ms).
#[test]
fn the_watchdog_polls_no_later_than_either_time() {
    let scratch = Scratch::new("exports-watchdog");
    let (ran, folder) = exported(&scratch, 1, &["--detection-ms", "400", "--restoration-ms", "200"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let watchdog = &read(&folder, "leaf-1.json")["PFC_WD"];
    assert_eq!(watchdog["GLOBAL"]["POLL_INTERVAL"], "200");
    assert_eq!(watchdog["Ethernet0"], json!({ "action": "drop", "detection_time": "400", "restoration_time": "200" }));
}

#[test]
fn files_of_another_platform_are_refused_with_file_and_key() {
    let scratch = Scratch::new("exports-refused");
    let platform = std::fs::read_to_string(example("sonic-platform/tor-1.json")).unwrap();
    let rows = std::fs::read_to_string(example("sonic-platform/pg_profile_lookup.ini")).unwrap();
    let refused = |platform: &str, rows: &str, code: i32, said: &str| {
        let (platform, rows) = (scratch.file("tor-1.json", platform), scratch.file("rows.ini", rows));
        let (ran, _) = exported(&scratch, 2, &["--only", "tor-1", "--platform", &platform, "--pg-profile", &rows]);
        assert_eq!(ran.code, Some(code), "{said}: {}", ran.err);
        assert!(ran.err.replace("\n  ", " ").contains(said), "{said}: {}", ran.err);
    };
    refused(&platform, &rows, 0, "");
    let changed = |from: &str, to: &str| platform.replacen(from, to, 1);
    refused(
        &changed("\"pool\": \"ingress_lossless_pool\", \"size\": \"0\", ", "\"size\": \"0\", "),
        &rows,
        2,
        "tor-1.json: BUFFER_PROFILE|ingress_lossy_profile: it has no `pool`",
    );
    refused(
        &changed("\"egress_lossy_pool\": {", "\"other_pool\": {"),
        &rows,
        2,
        "tor-1.json: BUFFER_PROFILE|egress_lossy_profile.pool: BUFFER_POOL has no `egress_lossy_pool`",
    );
    refused(
        &changed("\"Ethernet0|5-6\"", "\"Ethernet0|4-6\""),
        &rows,
        2,
        "tor-1.json: BUFFER_QUEUE|Ethernet0|4-6: overlaps BUFFER_QUEUE|Ethernet0|3-4",
    );
    refused(
        &changed("\"Ethernet240\": \"40m\"", "\"Ethernet240\": \"40\""),
        &rows,
        2,
        "tor-1.json: CABLE_LENGTH|AZURE.Ethernet240: is \"40\": no length in metres",
    );
    refused(
        &changed("\"hostname\": \"tor-1\"", "\"hostname\": \"tor-9\""),
        &rows,
        2,
        "configuration of the switch `tor-9`",
    );
    refused(
        &changed("\"xoff\": \"4194304\"", "\"xoff\": \"1000000\""),
        &rows,
        1,
        "tor-1 does not fit: BUFFER_POOL|ingress_lossless_pool.xoff: 1000000 B",
    );
    refused(&platform, &rows.replace("  400000   40m", "  400000   40"), 2, "rows.ini: line 6: cable `40`");
    refused(
        &platform,
        &rows.replace("  400000   40m", "  400000   80m"),
        2,
        "rows.ini: speed 400000, cable 40m: the platform has no such row: its cables at 400000 are 80m, 300m, for \
         Ethernet240 of tor-1",
    );
    refused(&platform, "10000 5m 1 2 3 4\n", 2, "rows.ini: speed 400000: the platform has no such row");
    let empty = scratch.path("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let (ran, _) = exported(&scratch, 2, &["--platform", &empty]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("no file of it has the switch `leaf-1`"), "{}", ran.err);
}

/// `fabric headroom --published` compares every published median with the computed headroom and SONiC's formula.
#[test]
fn our_headroom_is_compared_with_published_rows() {
    let ran = run(&["fabric", "headroom", "--published", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rows: Value = serde_json::from_str(&ran.out).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 9);
    let row = rows.iter().find(|row| row["rate_bps"] == 100_000_000_000u64 && row["cable"] == "300m").unwrap();
    let values = ["headroom_bytes", "sonic_bytes", "published_median_bytes"].map(|key| row[key].as_u64().unwrap());
    assert_eq!(values, [90_313, 80_896, 165_888]);
    let refused = run(&["fabric", "headroom", "--published", "--rate", "100Gbps", "--delay", "1us"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
}
