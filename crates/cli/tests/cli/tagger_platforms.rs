//! SONiC exports with platform configurations that differ from the example: without a hostname, with ends of a link
//! that state only some properties, with options of other formats. Also verifies switches that run the default export.

use crate::common::{Ran, Scratch, example, run};
use crate::running::config::{Files, leaf_spine, texts};
use serde_json::{Value, json};
use tagger::export::sonic::{Config, merge};

/// Generates rules for one bounce for the SONiC example; returns the paths of the fabric and of the rules.
fn rules(scratch: &Scratch) -> (String, String) {
    let (fabric, rules) = (example("sonic"), scratch.path("rules.json"));
    let made = run(&["tagger", "rules", &fabric, "--paths", "bounces=1", "--quiet", "--force", "--out", &rules]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    (fabric, rules)
}

fn exported(scratch: &Scratch, options: &[&str]) -> Ran {
    let (fabric, rules) = rules(scratch);
    run(&[&["tagger", "export", &rules, "--fabric", &fabric], options].concat())
}

fn read(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect(path)).expect("JSON")
}

/// `--platform` is a file, or a folder with a file, that does not state the hostname: its cable lengths apply.
#[test]
fn cables_of_a_file_without_a_hostname_count() {
    let scratch = Scratch::new("platforms-nameless");
    let mut platform = read(&example("sonic-platform/tor-1.json"));
    platform.as_object_mut().unwrap().remove("DEVICE_METADATA");
    platform["CABLE_LENGTH"]["AZURE"]["Ethernet240"] = "2000m".into();
    let folder = scratch.path("folder");
    std::fs::create_dir_all(&folder).unwrap();
    let file = format!("{folder}/tor-1.json");
    std::fs::write(&file, platform.to_string()).unwrap();
    for given in [&file, &folder] {
        let ran = exported(
            &scratch,
            &["--to", "sonic", "--json", "--only", "tor-1", "--platform", given, "--share-headroom"],
        );
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let made: Value = serde_json::from_str(&ran.out).unwrap();
        let config = &made["switches"]["tor-1"];
        let xoff = |port: &str| {
            let profile = config["BUFFER_PG"][format!("{port}|3")]["profile"].as_str().unwrap();
            config["BUFFER_PROFILE"][profile]["xoff"].as_str().unwrap().parse::<u64>().unwrap()
        };
        // Ethernet240 has a cable of 2000 m: 2 x 10 us x 400 Gbps = 1,000,000 bytes in flight. The others have 40 m,
        // for which the platform publishes a headroom of 283,136 bytes.
        assert!((1_000_000..1_200_000).contains(&xoff("Ethernet240")), "{}", xoff("Ethernet240"));
        assert_eq!(xoff("Ethernet248"), 283_136);
    }
}

/// The cable lengths at the two ends of a link are compared even if only one end states the speed.
#[test]
fn each_value_that_both_ends_state_is_compared() {
    let scratch = Scratch::new("platforms-ends");
    let fabric = scratch.path("fabric");
    std::fs::create_dir_all(&fabric).unwrap();
    let ends = [
        ("tor-1", "ToRRouter", "leaf-1", "LeafRouter", "srv-1", "40m", json!({})),
        ("leaf-1", "LeafRouter", "tor-1", "ToRRouter", "srv-2", "300m", json!({ "speed": "100000" })),
    ];
    for (name, kind, peer, peer_kind, host, cable, port) in ends {
        let config = json!({
            "DEVICE_METADATA": { "localhost": { "hostname": name, "type": kind } },
            "PORT": { "Ethernet0": port, "Ethernet4": { "speed": "100000" } },
            "DEVICE_NEIGHBOR": {
                "Ethernet0": { "name": peer, "port": "Ethernet0" }, "Ethernet4": { "name": host, "port": "eth0" },
            },
            "DEVICE_NEIGHBOR_METADATA": { peer: { "type": peer_kind }, host: { "type": "Server" } },
            "CABLE_LENGTH": { "AZURE": { "Ethernet0": cable, "Ethernet4": "5m" } },
        });
        std::fs::write(format!("{fabric}/{name}.json"), config.to_string()).unwrap();
    }
    let rules = scratch.path("r.json");
    let made = run(&["tagger", "rules", &fabric, "--paths", "bounces=1", "--quiet", "--out", &rules]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let ran = run(&["tagger", "export", &rules, "--fabric", &fabric, "--to", "sonic", "--json"]);
    let made: Value = serde_json::from_str(&ran.out).unwrap();
    let notes: Vec<&str> = made["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let said = notes.iter().find(|note| note.contains("one of them is wrong")).expect("a note");
    assert!(said.contains("states a cable of ") && !said.contains("bps"), "{said}");
}

#[test]
fn an_object_has_a_patch_beside_its_switches() {
    let scratch = Scratch::new("platforms-patch");
    let platform = example("sonic-platform/tor-1.json");
    let ran = exported(&scratch, &["--to", "sonic", "--json", "--only", "tor-1", "--platform", &platform]);
    let made: Value = serde_json::from_str(&ran.out).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((keys(&made["switches"]), keys(&made["patches"])), (vec!["tor-1".into()], vec!["tor-1".into()]));
    assert!(made["patches"]["tor-1"].as_array().unwrap().iter().any(|step| step["op"] == "remove"));
    let shown = exported(&scratch, &["--to", "sonic", "--only", "tor-1", "--platform", &platform]);
    let shown: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(keys(&shown), ["tor-1.json", "tor-1.patch.json"]);
}

#[test]
fn options_of_another_format_are_refused() {
    let scratch = Scratch::new("platforms-options");
    for (options, said) in [
        (&["--to", "nftables", "--platform", "/nonexist"][..], "--platform: an export --to nftables does not use it"),
        (&["--to", "nftables", "--pg-profile", "/nonexist"], "--pg-profile: an export --to nftables does not use it"),
        (&["--to", "acl", "--queue-map", "egress"], "--queue-map: an export --to acl does not use it"),
        (&["--to", "eos", "--detection-ms", "200"], "--detection-ms: an export --to eos does not use it"),
        (&["--to", "sonic", "--bridge"], "--bridge: an export --to sonic does not use it"),
        (&["--to", "sonic", "--below-platform"], "--below-platform: no file states the headroom of the platform"),
        (&["--to", "sonic", "--share-headroom"], "--platform"),
        (&["--to", "sonic", "--asic-table", "/nonexist"], "--platform"),
        (&["--to", "csv", "--trust-hosts", "any"], "--trust-hosts: an export --to csv lists the rules unchanged"),
        (&["--to", "json", "--trust-hosts", "first"], "--trust-hosts: an export --to json lists the rules unchanged"),
        (&["--to", "table", "--tag", "1=26:3"], "--tag: an export --to table lists the rules unchanged"),
    ] {
        let ran = exported(&scratch, options);
        assert_eq!(ran.code, Some(2), "{options:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.replace("\n  ", " ").contains(said), "{options:?}: {}", ran.err);
    }
}

/// Exports the rules, merges the fragments into the example's switch configurations, and returns their folder.
fn loaded(scratch: &Scratch, options: &[&str]) -> String {
    let (out, folder) = (scratch.path("out"), scratch.path("running"));
    let ran = exported(scratch, &[&["--to", "sonic", "--force", "--out", &out], options].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    std::fs::create_dir_all(&folder).unwrap();
    let as_config = |value: Value| -> Config { value.as_object().unwrap().clone() };
    for name in ["leaf-1", "leaf-2", "tor-1", "tor-2", "tor-3", "tor-4"] {
        let mut config = as_config(read(&example(&format!("sonic/{name}.json"))));
        let platform = json!({
            "BUFFER_POOL": {
                "ingress_lossless_pool": { "type": "ingress", "mode": "dynamic", "size": "33554432" },
                "egress_lossless_pool": { "type": "egress", "mode": "static", "size": "33554432" },
            },
            "BUFFER_PROFILE": {
                "egress_lossless_profile":
                    { "pool": "egress_lossless_pool", "size": "0", "static_th": "33554432" },
            },
        });
        merge(&mut config, &as_config(platform));
        merge(&mut config, &as_config(read(&format!("{out}/{name}.json"))));
        std::fs::write(format!("{folder}/{name}.json"), Value::from(config).to_string()).unwrap();
    }
    folder
}

#[test]
fn a_default_export_is_proved_on_switches_that_run_it() {
    let scratch = Scratch::new("platforms-proof");
    for trusted in ["first", "any"] {
        let folder = loaded(&scratch, &["--trust-hosts", trusted]);
        let verify = |more: &[&str]| {
            let (fabric, rules) = (example("sonic"), scratch.path("rules.json"));
            let words = ["tagger", "verify", &rules, "--fabric", &fabric, "--paths", "bounces=1", "--running", &folder];
            run(&[&words, more].concat())
        };
        for asked in ["first", "any"] {
            let ran = verify(&["--trust-hosts", asked]);
            assert_eq!(ran.code, Some(i32::from(asked != trusted)), "{trusted} {asked}: {}{}", ran.out, ran.err);
        }
        // Without `--trust-hosts`, the configuration is verified with `first`.
        assert_eq!(verify(&[]).code, Some(i32::from(trusted != "first")));
        for (tags, said) in [
            (&["--tag=1=26:3", "--tag=2=34:4", "--tag=9=50:6"][..], "no lossless tag 9"),
            (&["--tag=1=26:3", "--tag=2=34:4", "--tag=1=10:1"], "tag 1 stands for DSCP 26"),
            (&["--tag=1=26:3", "--tag=2=34:4:1"], "--tag 2: the tag that hosts see is not judged"),
            (&["--tag=1=26:3"], "tag 2 has no DSCP"),
        ] {
            let ran = verify(tags);
            assert!(ran.code == Some(2) && ran.err.replace("\n  ", " ").contains(said), "{tags:?}: {}", ran.err);
        }
    }
}

#[test]
fn rules_of_a_fabric_with_other_flags_are_refused_with_the_flags() {
    let scratch = Scratch::new("platforms-flags");
    let (fabric, rules) = rules(&scratch);
    for command in [&["export", "--to", "csv"][..], &["verify"]] {
        let words = ["tagger", command[0], &rules, "--fabric", &fabric, "--ignore", "srv-8"];
        let ran = run(&[&words, &command[1..]].concat());
        assert_eq!(ran.code, Some(2), "{command:?}");
        assert!(ran.err.contains("--ignore, --host, --switch"), "{}", ran.err);
    }
}

/// The switch computes its own headroom (dynamic buffer model): the exported headroom is at least the computed
/// headroom, whose terms are in the notes. Without the ASIC table, the export is rejected.
#[test]
fn the_headroom_of_the_dynamic_buffer_model_is_a_minimum() {
    let scratch = Scratch::new("platforms-dynamic");
    let mut platform = read(&example("sonic-platform/tor-1.json"));
    platform["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic".into();
    platform["LOSSLESS_TRAFFIC_PATTERN"] = json!({ "AZURE": { "mtu": "1024", "small_packet_percentage": "100" } });
    platform["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = json!({ "AZURE": { "default_dynamic_th": "0" } });
    platform["BUFFER_PROFILE"].as_object_mut().unwrap().retain(|name, _| !name.starts_with("pg_lossless"));
    for (key, group) in platform["BUFFER_PG"].as_object_mut().unwrap() {
        if key.ends_with("3-4") {
            group["profile"] = "NULL".into();
        }
    }
    for (_, port) in platform["PORT"].as_object_mut().unwrap() {
        port["lanes"] = "1,2,3,4,5,6,7,8".into();
    }
    let file = scratch.file("tor-1.json", &platform.to_string());
    let with = |options: &[&str]| {
        let all = [&["--to", "sonic", "--json", "--only", "tor-1", "--platform", file.as_str()], options].concat();
        exported(&scratch, &all)
    };
    let refused = with(&[]);
    let said = "tor-1.json: ASIC_TABLE: is missing: the switch computes the headroom from it";
    assert!(refused.code == Some(2) && refused.err.replace("\n  ", " ").contains(said), "{}", refused.err);
    let asic = example("sonic-platform/asic_table.json");
    let ran = with(&["--asic-table", &asic, "--share-headroom"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let made: Value = serde_json::from_str(&ran.out).unwrap();
    let config = &made["switches"]["tor-1"];
    let profile = config["BUFFER_PG"]["Ethernet240|3"]["profile"].as_str().unwrap();
    assert_eq!(config["BUFFER_PROFILE"][profile]["xoff"], "265216");
    let notes: Vec<&str> = made["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let note = notes.iter().find(|note| note.contains("400000 Mbit/s, 40 m")).expect("a note with the terms");
    assert!(note.contains("response of the neighbour       57920"), "{note}");
    // Rejected: a file without an ASIC table, and two files with the same table.
    for (files, said) in [
        (vec![example("sonic-platform/tor-1.json")], "the file has neither ASIC_TABLE nor PERIPHERAL_TABLE"),
        (vec![asic.clone(), asic], "ASIC_TABLE is in another file of --asic-table too"),
    ] {
        let options: Vec<&str> = files.iter().flat_map(|file| ["--asic-table", file.as_str()]).collect();
        let ran = with(&options);
        assert!(ran.code == Some(2) && ran.err.replace("\n  ", " ").contains(said), "{}", ran.err);
    }
}

/// Exports rules for one bounce with the configurations `files` as fabric and as platform.
fn merged(scratch: &Scratch, files: &Files, options: &[&str]) -> Ran {
    let (folder, rules) = (scratch.path("running"), scratch.path("rules.json"));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in texts(files) {
        std::fs::write(format!("{folder}/{file}"), text).unwrap();
    }
    let made = run(&["tagger", "rules", &folder, "--paths", "bounces=1", "--quiet", "--force", "--out", &rules]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let words = ["tagger", "export", &rules, "--fabric", &folder, "--to", "sonic", "--platform", &folder];
    run(&[&words, options].concat())
}

#[test]
fn merged_configurations_are_judged_by_all_rules_of_the_fabric_check() {
    let scratch = Scratch::new("platforms-judged");
    let out = scratch.path("out");
    let notes = || std::fs::read_to_string(format!("{out}/NOTES.txt")).unwrap();
    let said = "The merged configurations of 5 switches are judged as tidegate fabric check --running does";
    let safe = merged(&scratch, &leaf_spine(3, 2, 1), &["--out", &out]);
    assert_eq!(safe.code, Some(0), "{}", safe.err);
    assert!(notes().contains(said) && !notes().contains("Finding that"), "{}", notes());
    // The notes list the finding that existed before the merge and remains (a misspelt key), and the number of findings
    // that the merge removes (the lossy profile of queue 3, which the export overwrites).
    let mut files = leaf_spine(3, 2, 1);
    files[0].1["PORT"]["Ethernet4"]["speeed"] = "1".into();
    files[1].1["BUFFER_QUEUE"]["Ethernet4|3-4"]["profile"] = "egress_lossy_profile".into();
    let known = merged(&scratch, &files, &["--force", "--out", &out]);
    assert_eq!(known.code, Some(0), "{}", known.err);
    let said = "Finding that existed before the merge, and remains: leaf-00.json: PORT|Ethernet4.speeed: unknown-key";
    assert!(notes().contains(said) && !notes().contains("merge creates"), "{}", notes());
    assert!(notes().contains("The merge removes 1 finding of that check."), "{}", notes());
    // The export uses other priorities than the platform. Priority groups 3 and 4 of the platform become lossy, and a
    // queue with WRED drops becomes lossless.
    let mut files = leaf_spine(3, 2, 1);
    files[0].1["WRED_PROFILE"]["DROPS"] = json!({ "ecn": "ecn_none", "wred_green_enable": "true" });
    files[0].1["QUEUE"]["Ethernet0|1"]["wred_profile"] = "DROPS".into();
    let tags = ["--tag", "1=8:1", "--tag", "2=16:2", "--force", "--out", &out];
    let refused = merged(&scratch, &files, &tags);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    let flat = refused.err.replace("\n  ", " ");
    for said in [
        "the merge creates 1 finding, so nothing is written:",
        "leaf-00.json: QUEUE|Ethernet0|1.wred_profile: buffer: queue 1 of Ethernet0 is lossless, and",
        "--accept-findings writes the files",
    ] {
        assert!(flat.contains(said), "{said}: {flat}");
    }
    assert!(notes().contains("speeed"), "the earlier export is untouched");
    let accepted = merged(&scratch, &files, &[&tags[..], &["--accept-findings"]].concat());
    assert_eq!(accepted.code, Some(0), "{}", accepted.err);
    assert!(notes().contains("Finding that the merge creates: leaf-00.json: QUEUE|Ethernet0|1"), "{}", notes());
    // The screen has the numbers, with the file that has the text.
    let counts = format!("{out}/NOTES.txt: 1 finding that the merge creates, 2 DSCPs become lossy");
    assert!(accepted.err.replace("\n  ", " ").contains(&counts), "{}", accepted.err);
    assert!(notes().contains("makes lossy, for these rules have no lossless tag with their priority: BUFFER_PG|"));
    let json = merged(&scratch, &files, &["--tag", "1=8:1", "--tag", "2=16:2", "--json", "--only", "leaf-00"]);
    let object: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, object["findings"]["created"].as_array().unwrap().len()), (Some(1), 1), "{object:#}");
    assert_eq!(object["switches"], json!({}));
}

#[test]
fn merged_configurations_that_are_not_judged_are_named() {
    let scratch = Scratch::new("platforms-unjudged");
    let platform = example("sonic-platform/tor-1.json");
    let ran = exported(&scratch, &["--to", "sonic", "--json", "--only", "tor-1", "--platform", &platform]);
    let made: Value = serde_json::from_str(&ran.out).unwrap();
    let said = "are not judged as tidegate fabric check --running does: --platform has the configuration of 1 of 6 \
                switches; a folder has one for each";
    assert!(made["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().contains(said)), "{made:#}");
    let mut files = leaf_spine(3, 2, 1);
    files[0].1.as_object_mut().unwrap().remove("PORT_QOS_MAP");
    let before = merged(&scratch, &files, &["--json"]);
    assert_eq!(before.code, Some(0), "{}", before.err);
    let said = "Before the merge the configurations cannot be judged, so that every finding counts as created: \
                leaf-00.json: PORT_QOS_MAP: is missing";
    assert!(before.out.contains(said), "{}", before.out);
}

/// Without the pools or ports of the platform, checks of the merge are over nothing.
#[test]
fn a_platform_without_pools_or_ports_is_a_finding() {
    let scratch = Scratch::new("platforms-partial");
    let out = scratch.path("out");
    for (table, said) in [
        ("BUFFER_POOL", "tor-1.json: BUFFER_POOL: is missing, and whether pools hold what their profiles reserve, and"),
        ("PORT", "tor-1.json: PORT: is missing, and whether the switch has the ports of the fragment, is not checked"),
    ] {
        let mut platform = read(&example("sonic-platform/tor-1.json"));
        platform.as_object_mut().unwrap().remove(table);
        if table == "BUFFER_POOL" {
            platform.as_object_mut().unwrap().remove("BUFFER_QUEUE");
        }
        let file = scratch.file("tor-1.json", &platform.to_string());
        let options = ["--to", "sonic", "--only", "tor-1", "--platform", &file, "--force", "--out", &out];
        let refused = exported(&scratch, &options);
        assert!(refused.code == Some(1), "{table}: {}", refused.err);
        assert!(refused.err.replace("\n  ", " ").contains(said), "{table}: {}", refused.err);
        assert!(!std::path::Path::new(&out).exists(), "nothing is written");
        let accepted = exported(&scratch, &[&options[..], &["--accept-findings"]].concat());
        assert_eq!(accepted.code, Some(0), "{table}: {}", accepted.err);
        let notes = std::fs::read_to_string(format!("{out}/NOTES.txt")).unwrap();
        assert!(notes.contains(&format!("Finding that the merge creates: {said}")), "{notes}");
        assert!(accepted.err.contains("the merged configurations are not judged"), "{}", accepted.err);
        std::fs::remove_dir_all(&out).unwrap();
    }
}

/// A file without a hostname is the platform of every switch, and all of them are judged together.
#[test]
fn one_file_for_all_switches_is_judged_as_a_whole() {
    let scratch = Scratch::new("platforms-one-file");
    let files = leaf_spine(3, 3, 1);
    let mut one = files[0].1.clone();
    one["DEVICE_METADATA"]["localhost"].as_object_mut().unwrap().remove("hostname");
    one["PORT"]["Ethernet12"]["speeed"] = "1".into();
    let platform = scratch.file("platform.json", &one.to_string());
    let folder = scratch.path("fabric");
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in texts(&files) {
        std::fs::write(format!("{folder}/{file}"), text).unwrap();
    }
    let rules = scratch.path("rules.json");
    let made = run(&["tagger", "rules", &folder, "--paths", "bounces=1", "--quiet", "--force", "--out", &rules]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let out = scratch.path("out");
    let words = ["tagger", "export", &rules, "--fabric", &folder, "--to", "sonic", "--platform", &platform];
    let ran = run(&[&words[..], &["--out", &out]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let notes = std::fs::read_to_string(format!("{out}/NOTES.txt")).unwrap();
    assert!(notes.contains("The merged configurations of 6 switches are judged as tidegate fabric check"), "{notes}");
    let remains = "and remains: platform.json (leaf-00): PORT|Ethernet12.speeed: unknown-key";
    assert!(notes.contains(remains), "{notes}");
}

/// EOS numbers ports from 1; a file of SONiC numbers lanes from 0.
#[test]
fn names_of_sonic_are_refused_in_eos_and_mapped() {
    let scratch = Scratch::new("platforms-eos");
    let eos = |options: &[&str]| exported(&scratch, &[&["--to", "eos", "--only", "leaf-1"][..], options].concat());
    let refused = eos(&[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    let flat = refused.err.replace("\n  ", " ");
    for said in ["port `Ethernet0` of `leaf-1` has the name of SONiC", "--interface 'Ethernet{digits/8+1}/1'"] {
        assert!(flat.contains(said), "{flat}");
    }
    // The names of SONiC in a topology of another format.
    let (fabric, rules) = rules(&scratch);
    let converted = scratch.path("fabric.csv");
    let ran = run(&["fabric", "convert", &fabric, &converted, "--to", "link-csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let of_csv =
        run(&["tagger", "export", &rules, "--fabric", &converted, "--unproved", "--to", "eos", "--only", "leaf-1"]);
    let said = "port `Ethernet0` of `leaf-1` has the name of SONiC";
    assert!(of_csv.code == Some(2) && of_csv.err.replace("\n  ", " ").contains(said), "{}", of_csv.err);
    let mapped = eos(&["--interface", "Ethernet{digits/32+1}/1"]);
    assert_eq!(mapped.code, Some(0), "{}", mapped.err);
    let interfaces: Vec<&str> = mapped.out.lines().filter(|line| line.starts_with("interface ")).collect();
    let names = [1, 2, 4, 6].map(|number| format!("interface Ethernet{number}/1"));
    assert_eq!(interfaces, names);
    // The names have gaps if the pattern divides by less than the lanes between the ports.
    assert!(!mapped.err.contains("lanes apart"), "{}", mapped.err);
    let gaps = eos(&["--interface", "Ethernet{digits/4+1}/1"]);
    let said = "warning: --interface Ethernet{digits/4+1}/1: the ports of leaf-1 are 8 lanes apart, and the pattern \
                divides by 4: Ethernet1/1 to";
    assert!(gaps.code == Some(0) && gaps.err.contains(said), "{}", gaps.err);
    assert!(gaps.err.contains("the pattern is Ethernet{digits/8+1}/1"), "{}", gaps.err);
    let rest = eos(&["--interface", "Ethernet{digits/64+1}/1"]);
    let said = ["port `Ethernet32` of `leaf-1`", "32 / 64 has a remainder"];
    assert!(rest.code == Some(2) && said.iter().all(|said| rest.err.contains(said)), "{}", rest.err);
}
