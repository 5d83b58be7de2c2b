//! Tests of `tidegate fabric check --running` and `tagger verify --running`: exit codes, the rules that a configuration
//! implements, counterexamples.

#[path = "../../../running/tests/common/mod.rs"]
pub mod config;

use crate::common::{Scratch, run};
use config::{Files, leaf_spine, texts};
use serde_json::{Value, json};

fn folder(scratch: &Scratch, name: &str, files: &Files) -> String {
    std::fs::create_dir_all(scratch.path(name)).unwrap();
    for (file, text) in texts(files) {
        std::fs::write(scratch.0.join(name).join(file), text).unwrap();
    }
    scratch.path(name)
}

#[test]
fn exit_codes_distinguish_safe_unsafe_and_wrong_input() {
    let scratch = Scratch::new("running-codes");
    let safe = run(&["fabric", "check", "--running", &crate::common::example("running/dual-tor"), "--json"]);
    assert_eq!(safe.code, Some(0), "{}{}", safe.out, safe.err);
    let value: Value = serde_json::from_str(&safe.out).unwrap();
    assert!(value["safe"] == true && value["deadlock_free"] == true, "{value:#}");
    let refuted = run(&["fabric", "check", "--running", &crate::common::example("running/no-remap"), "--json"]);
    let value: Value = serde_json::from_str(&refuted.out).unwrap();
    assert_eq!((refuted.code, value["report"]["cycle"].as_array().unwrap().len()), (Some(1), 4));
    let mut files = leaf_spine(2, 2, 1);
    files[0].1["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "40".into();
    let wrong = run(&["fabric", "check", "--running", &folder(&scratch, "unit", &files)]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("unit/leaf-00.json: CABLE_LENGTH|AZURE.Ethernet0: is \"40\""), "{}", wrong.err);
    let files = leaf_spine(2, 2, 1)[..3].to_vec();
    let missing = run(&["fabric", "check", "--running", &folder(&scratch, "missing", &files)]);
    assert_eq!(missing.code, Some(2));
    let said = "missing/leaf-00.json: DEVICE_NEIGHBOR: Ethernet8 leads to the switch `spine-1`, and no file of the \
                folder has its configuration (write: the config_db.json of spine-1 in the folder; --ignore spine-1";
    assert!(missing.err.replace("\n  ", " ").contains(said), "{}", missing.err);
    let left_out = run(&["fabric", "check", "--running", &scratch.path("missing"), "--ignore", "spine-1"]);
    assert_eq!(left_out.code, Some(0), "{}{}", left_out.out, left_out.err);
    assert!(left_out.out.contains("2 ports without a neighbour are not judged"), "{}", left_out.out);
    // A switch with several ASICs has one file per ASIC with the same hostname: the check refuses it unless it is
    // ignored.
    let mut files = leaf_spine(3, 2, 1);
    for (_, file) in &mut files[..1] {
        file["DEVICE_METADATA"]["localhost"]["asic_name"] = "asic0".into();
    }
    let mut second = files[0].clone();
    second.0 = "leaf-00-1.json".to_owned();
    second.1["DEVICE_METADATA"]["localhost"]["asic_name"] = "asic1".into();
    for table in
        ["PORT", "DEVICE_NEIGHBOR", "CABLE_LENGTH", "PORT_QOS_MAP", "PFC_WD", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE"]
    {
        second.1[table] = json!({});
    }
    second.1["PORT"]["Ethernet100"] = json!({ "speed": "100000" });
    files.push(second);
    let asics = folder(&scratch, "asics", &files);
    let refused = run(&["fabric", "check", "--running", &asics]);
    let said = "leaf-00.json: DEVICE_METADATA|localhost.hostname: `leaf-00` is also the name of leaf-00-1.json: this \
                is asic0 of a switch with several ASICs (write: one ASIC per switch; --ignore leaf-00";
    assert!(refused.code == Some(2) && refused.err.replace("\n  ", " ").contains(said), "{}", refused.err);
    let left_out = run(&["fabric", "check", "--running", &asics, "--ignore", "leaf-00"]);
    assert_eq!(left_out.code, Some(0), "{}{}", left_out.out, left_out.err);
    // Only one server is left, so no host sends to another, and nothing is checked. Exit code 2; with a finding about
    // another key 1, and deadlock is "not judged" instead of excluded.
    let mut files = leaf_spine(2, 2, 1);
    for (_, file) in &mut files {
        let servers = file["DEVICE_NEIGHBOR"].as_object_mut().unwrap();
        servers.retain(|_, row| row["name"] != "srv-01-0");
        file["DEVICE_NEIGHBOR_METADATA"].as_object_mut().unwrap().remove("srv-01-0");
    }
    let nothing = run(&["fabric", "check", "--running", &folder(&scratch, "nothing", &files)]);
    assert_eq!(nothing.code, Some(2), "{}", nothing.out);
    assert!(nothing.err.contains("not judged: 1 port to hosts, and no host sends to another"), "{}", nothing.err);
    files[0].1["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = "50".into();
    let nothing = run(&["fabric", "check", "--running", &folder(&scratch, "finding", &files)]);
    assert_eq!(nothing.code, Some(1), "{}{}", nothing.out, nothing.err);
    assert!(nothing.out.contains("deadlock is not judged") && !nothing.out.contains("ok    it"), "{}", nothing.out);
    let nothing = run(&["fabric", "check", "--running", &scratch.path("finding"), "--json"]);
    let value: Value = serde_json::from_str(&nothing.out).unwrap();
    assert!(value["deadlock_free"].is_null() && value["safe"] == false, "{value:#}");
    for (_, file) in &mut files {
        let servers = file["DEVICE_NEIGHBOR"].as_object_mut().unwrap();
        servers.retain(|_, row| !row["name"].as_str().unwrap().starts_with("srv"));
    }
    let attached = run(&["fabric", "check", "--running", &folder(&scratch, "attached", &files)]);
    assert_eq!(attached.code, Some(2), "{}", attached.out);
    assert!(attached.err.contains("DEVICE_NEIGHBOR: no file has a server"), "{}", attached.err);
    let empty = run(&["fabric", "check", "--running", &folder(&scratch, "empty", &Files::new())]);
    assert!(empty.code == Some(2) && empty.err.contains("a folder without .json files"), "{}", empty.err);
    let neither = run(&["fabric", "check", "--reaction", "500ns"]);
    assert_eq!(neither.code, Some(2));
    let any =
        run(&["fabric", "check", "--running", &crate::common::example("running/dual-tor"), "--forwarding", "any"]);
    assert_eq!(any.code, Some(1), "one priority and any path: {}", any.out);
}

#[test]
fn findings_of_one_form_are_one_group_and_json_has_all() {
    let scratch = Scratch::new("running-groups");
    let mut files = leaf_spine(6, 2, 1);
    for (_, file) in &mut files {
        file["QUEUE"] = json!({});
    }
    let running = folder(&scratch, "queues", &files);
    let shown = run(&["fabric", "check", "--running", &running]);
    let lines: Vec<&str> = shown.out.lines().filter(|line| line.contains("FAIL")).collect();
    assert!(shown.code == Some(1) && lines.len() <= 2, "{}", shown.out);
    assert!(lines[0].contains("QUEUE|Ethernet0|3.scheduler: starvation: queue 3 has no scheduler"), "{}", shown.out);
    let json = run(&["fabric", "check", "--running", &running, "--json"]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    let all = value["report"]["findings"].as_array().unwrap().len();
    let said = format!("and {} findings of this form: leaf-00.json: QUEUE|Ethernet0|4.scheduler, ", all - 1);
    assert!(all > 40 && shown.out.replace("\n  ", " ").contains(&said), "{all}: {}", shown.out);
}

#[test]
fn the_rules_that_a_device_implements_are_written_verified_and_held_against_it() {
    let scratch = Scratch::new("running-rules");
    let mut files = leaf_spine(3, 2, 1);
    let healthy = folder(&scratch, "healthy", &files);
    let rules = scratch.path("rules.json");
    let written = run(&["fabric", "check", "--running", &healthy, "--rules-out", &rules]);
    assert!(written.code == Some(0) && written.out.contains(" rules in "), "{}{}", written.out, written.err);
    // The unchanged switches never rewrite tags, so a frame keeps its priority on every path, and any loop of links is
    // a cyclic buffer dependency.
    let verify = |folder: &str| {
        let tags = ["--tag", "3=3:3", "--tag", "4=4:4"];
        let arguments = ["tagger", "verify", &rules, "--fabric", &healthy, "--paths", "shortest", "--running", folder];
        run(&[&arguments[..], &tags].concat())
    };
    let of_healthy = verify(&healthy);
    assert_eq!(of_healthy.code, Some(1), "{}", of_healthy.out);
    for line in ["ok    switches-carry-out-rules", "ok    lossless-accounts-drain", "FAIL  no-cycle"] {
        assert!(of_healthy.out.contains(line), "{line}: {}", of_healthy.out);
    }
    files[1].1["TC_TO_QUEUE_MAP"]["AZURE"]["3"] = "4".into();
    files[2].1["SCHEDULER"]["scheduler.0"] = json!({ "type": "STRICT" });
    let of_faulty = verify(&folder(&scratch, "faulty", &files)).out;
    let differs = "leaf-01: tag 3 (DSCP 3) from Ethernet0 to Ethernet4: it waits in queue 4, which the PAUSE of group \
                   4 stops, and its new tag 3 has priority 3";
    assert!(of_faulty.contains("FAIL  switches-carry-out-rules") && of_faulty.contains(differs), "{of_faulty}");
    let starves = "leaf-02: tag 3 (DSCP 3) from Ethernet0 to Ethernet0: it waits in queue 3, which queue 0 of strict \
                   priority can keep waiting for ever, and with it priority group 3 of that ingress port";
    assert!(of_faulty.contains("FAIL  lossless-accounts-drain") && of_faulty.contains(starves), "{of_faulty}");
    // The egress queue of a lossless priority between two switches gets a lossy profile.
    let mut files = leaf_spine(3, 2, 1);
    files[1].1["BUFFER_QUEUE"]["Ethernet4|3-4"]["profile"] = "egress_lossy_profile".into();
    let of_lossy = verify(&folder(&scratch, "lossy-uplink", &files)).out;
    let drops = "leaf-01: tag 3 (DSCP 3) from Ethernet0 to Ethernet4: it waits in queue 3, whose profile drops, and a \
                 rule keeps it lossless";
    assert!(of_lossy.contains("FAIL  switches-carry-out-rules") && of_lossy.contains(drops), "{of_lossy}");
    let assumed = "headroom, pools, thresholds and WRED are judged by tidegate fabric check --running";
    assert!(of_healthy.out.replace("\n  ", " ").contains(assumed), "{}", of_healthy.out);
    let inexpressible = ["fabric", "check", "--running", &scratch.path("lossy-uplink"), "--rules-out", &rules];
    let refused = run(&[&inexpressible[..], &["--force"]].concat());
    assert!(refused.out.contains("no rules written: leaf-01: DSCP 3 from Ethernet0 to Ethernet4: waits in queue 3"));
    let tunnel = run(&[
        "fabric",
        "check",
        "--running",
        &crate::common::example("running/dual-tor"),
        "--rules-out",
        &scratch.path("tunnel.json"),
    ]);
    assert!(tunnel.code == Some(1) && tunnel.out.contains("no rules written: tor-a: frames enter a tunnel"));
    assert!(!scratch.0.join("tunnel.json").exists());
}

#[test]
fn dscps_of_no_tag_queues_without_a_share_and_the_queue_map_of_a_device_are_looked_up() {
    let scratch = Scratch::new("running-device");
    let healthy = leaf_spine(3, 2, 1);
    let (fabric, rules) = (folder(&scratch, "healthy", &healthy), scratch.path("rules.json"));
    assert_eq!(run(&["fabric", "check", "--running", &fabric, "--rules-out", &rules]).code, Some(0));
    let verify = |name: &str, change: &dyn Fn(&mut Value), more: &[&str]| {
        let mut files = healthy.clone();
        change(&mut files[1].1);
        let folder = folder(&scratch, name, &files);
        let arguments = ["tagger", "verify", &rules, "--fabric", &fabric, "--running", &folder];
        let ran = run(&[&arguments[..], &["--tag", "3=3:3", "--tag", "4=4:4"], more].concat());
        assert!(matches!(ran.code, Some(0 | 1)), "{}{}", ran.out, ran.err);
        ran.out
    };
    let same = verify("same", &|_| {}, &[]);
    assert!(
        same.contains("ok    switches-carry-out-rules") && same.contains("ok    lossless-accounts-drain"),
        "{same}"
    );
    assert!(same.contains("and take TC_TO_QUEUE_MAP from the egress port (--queue-map)"), "{same}");
    // Frames with DSCP 20, which no tag has, are counted in the account of tag 3, but wait in the queue of tag 4.
    let other = |file: &mut Value| {
        file["DSCP_TO_TC_MAP"]["AZURE"]["20"] = "5".into();
        file["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["5"] = "3".into();
        file["TC_TO_QUEUE_MAP"]["AZURE"]["5"] = "4".into();
    };
    let out = verify("dscp", &other, &[]);
    let why = "leaf-01: DSCP 20, which is no tag's, from Ethernet0 to Ethernet4: it counts in group 0 of the next \
               switch, which drops, and its new tag 3 has priority 3";
    assert!(out.contains("FAIL  switches-carry-out-rules") && out.contains(why), "{out}");
    // Frames with DSCP 20 are counted in the lossless priority group 6, which no tag has.
    let sixth = |file: &mut Value| {
        file["DSCP_TO_TC_MAP"]["AZURE"]["20"] = "6".into();
        file["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["6"] = "6".into();
        file["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"]["6"] = "6".into();
        file["BUFFER_PG"]["Ethernet0|6"] = file["BUFFER_PG"]["Ethernet0|3-4"].clone();
        file["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3,4,6".into();
    };
    let out = verify("group", &sixth, &[]);
    let why = "leaf-01: DSCP 20, which is no tag's, from Ethernet0 to Ethernet0: it counts in lossless group 6, which \
               no tag has";
    assert!(out.contains(why), "{out}");
    let unscheduled = |file: &mut Value| drop(file["QUEUE"].as_object_mut().unwrap().remove("Ethernet4|3"));
    let out = verify("scheduler", &unscheduled, &[]);
    let why = "leaf-01: tag 3 (DSCP 3) from Ethernet0 to Ethernet4: it waits in queue 3, which has no scheduler";
    assert!(out.contains("FAIL  lossless-accounts-drain") && out.contains(why), "{out}");
    // Ethernet4 has a TC_TO_QUEUE_MAP of its own, which swaps queues 3 and 4. `--queue-map` selects whether the map of
    // the egress port or of the ingress port applies.
    let maps = |file: &mut Value| {
        let mut swapped = file["TC_TO_QUEUE_MAP"]["AZURE"].clone();
        (swapped["3"], swapped["4"]) = ("4".into(), "3".into());
        file["TC_TO_QUEUE_MAP"]["SWAPPED"] = swapped;
        file["PORT_QOS_MAP"]["Ethernet4"]["tc_to_queue_map"] = "SWAPPED".into();
    };
    let location =
        |out: &str| out.lines().find(|line| line.contains("leaf-01: tag 3")).unwrap_or(out).trim().to_owned();
    let egress = location(&verify("egress", &maps, &[]));
    assert!(egress.contains(" to Ethernet4: it waits in queue 4"), "{egress}");
    let out = verify("ingress", &maps, &["--queue-map", "ingress"]);
    let ingress = location(&out);
    assert!(ingress.contains("from Ethernet4 to ") && ingress.contains(": it waits in queue 4"), "{ingress}");
    assert!(out.contains("and take TC_TO_QUEUE_MAP from the ingress port (--queue-map)"), "{out}");
}

#[test]
fn tunnels_of_a_dual_tor_pair_are_judged_by_running_alone() {
    let scratch = Scratch::new("running-tunnels");
    let (pair, rules) = (crate::common::example("running/dual-tor"), scratch.path("rules.json"));
    let generate = ["tagger", "rules", &pair, "--paths", "bounces=1", "--quiet", "--out", &rules];
    let verify = ["tagger", "verify", &rules, "--fabric", &pair, "--paths", "bounces=1"];
    let refused = run(&generate);
    let said = "a dual-ToR fabric: frames for a standby ToR take a tunnel to the other one";
    assert!(refused.code == Some(2) && refused.err.replace("\n  ", " ").contains(said), "{}", refused.err);
    assert!(refused.err.contains("tidegate fabric check --running DIR") && !scratch.0.join("rules.json").exists());
    let generated = run(&[&generate[..], &["--without-tunnels"]].concat());
    assert_eq!(generated.code, Some(0), "{}", generated.err);
    let refused = run(&verify);
    assert!(refused.code == Some(2) && refused.err.contains("--without-tunnels"), "{}", refused.err);
    let verified = run(&[&verify[..], &["--without-tunnels"]].concat());
    assert!(verified.code == Some(0), "{}{}", verified.out, verified.err);
    assert!(verified.out.contains("for   frames that take no tunnel between the ToRs of a pair"), "{}", verified.out);
    let plain = run(&["fabric", "check", &pair, "--pfc"]);
    assert!(plain.out.contains("the tunnels between the ToRs of a pair are not judged"), "{}", plain.out);
}

#[test]
fn a_folder_with_the_name_of_a_kind_of_fabric_is_read() {
    let scratch = Scratch::new("running-kind");
    folder(&scratch, "leaf-spine", &leaf_spine(2, 1, 1));
    let mut check = crate::common::tidegate();
    let out = check.args(["fabric", "check", "--running", "leaf-spine"]).current_dir(&scratch.0).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn bad_input_exits_with_2_and_names_file_and_key() {
    let scratch = Scratch::new("running-bad-input");
    let refused = |name: &str, change: fn(&mut Value), said: &str| {
        let mut files = leaf_spine(2, 1, 1);
        change(&mut files[1].1);
        let ran = run(&["fabric", "check", "--running", &folder(&scratch, name, &files)]);
        let said = format!("{name}/leaf-01.json: {said}");
        assert!(ran.code == Some(2) && ran.out.is_empty(), "{name}: {}{}", ran.out, ran.err);
        assert!(ran.err.replace("\n  ", " ").contains(&said), "{name}: {}", ran.err);
    };
    let claims = "DEVICE_NEIGHBOR|Ethernet4: leads to spine-0 Ethernet0, and spine-0.json: ";
    refused("claimed", |file| file["DEVICE_NEIGHBOR"]["Ethernet4"]["port"] = "Ethernet0".into(), claims);
    let hole = |file: &mut Value| drop(file["DSCP_TO_TC_MAP"]["AZURE"].as_object_mut().unwrap().remove("17"));
    refused("hole", hole, "DSCP_TO_TC_MAP|AZURE.17: is missing: the map has a hole");
    let pool = |file: &mut Value| drop(file["BUFFER_POOL"].as_object_mut().unwrap().remove("egress_lossy_pool"));
    refused("pool", pool, "BUFFER_PROFILE|egress_lossy_profile.pool: BUFFER_POOL has no `egress_lossy_pool`");
    let unit = |file: &mut Value| file["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "40".into();
    refused("unit", unit, "CABLE_LENGTH|AZURE.Ethernet0: is \"40\": no length in metres");
    // The file given by `--pg-profile` has no row for the port speed of the switch (400 Gbps).
    let (sonic, rules) = (crate::common::example("sonic"), scratch.path("rules.json"));
    assert_eq!(run(&["tagger", "rules", &sonic, "--paths", "bounces=1", "--quiet", "--out", &rules]).code, Some(0));
    let other = scratch.file("other.ini", "10000 5m 18432 0 32256 1 2288\n");
    let platform = crate::common::example("sonic-platform/tor-1.json");
    let export = ["tagger", "export", &rules, "--fabric", &sonic, "--to", "sonic", "--only", "tor-1"];
    let with = ["--platform", &platform, "--pg-profile", &other, "--out", &scratch.path("fragments")];
    let ran = run(&[&export[..], &with].concat());
    let said = "other.ini: speed 400000: the platform has no such row";
    assert!(ran.code == Some(2) && ran.err.contains(said) && !scratch.0.join("fragments").exists(), "{}", ran.err);
}

#[test]
fn errors_of_one_form_are_one_with_their_number_and_unknown_tables_come_first() {
    let scratch = Scratch::new("running-errors");
    let mut files = leaf_spine(6, 2, 1);
    for (_, file) in &mut files {
        file["SCHEDULER"]["scheduler.0"]["type"] = "FIFO".into();
    }
    files[3].1["PORT"]["Ethernet4"]["mtu"] = "long".into();
    files[4].1["PFC_WDD"] = json!({});
    let wrong = run(&["fabric", "check", "--running", &folder(&scratch, "forms", &files)]);
    let errors: Vec<&str> = wrong.err.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(wrong.code == Some(2) && errors.len() == 3, "{}", wrong.err);
    assert!(errors[0].contains("leaf-04.json: PFC_WDD: "), "{}", wrong.err);
    let said = "  and 7 errors of this form: leaf-01.json: SCHEDULER|scheduler.0.type, leaf-02.json: ";
    assert!(wrong.err.contains(said) && wrong.err.contains("leaf-03.json: PORT|Ethernet4.mtu: "), "{}", wrong.err);
    // A misspelt table of links is printed before the error of the topology, with file and key.
    let mut files = leaf_spine(3, 2, 1);
    for (_, file) in &mut files {
        let links = file.as_object_mut().unwrap().remove("DEVICE_NEIGHBOR").unwrap();
        file["DEVICE_NEIGHBORS"] = links;
    }
    let wrong = run(&["fabric", "check", "--running", &folder(&scratch, "links", &files)]);
    let first = wrong.err.find("leaf-00.json: DEVICE_NEIGHBORS: SONiC has no table of this name").unwrap();
    let second = wrong.err.find("no path leads from `leaf-00`").unwrap();
    let said = "5 files without a table DEVICE_NEIGHBOR: leaf-00.json,";
    assert!(first < second && wrong.err.contains(said), "{}", wrong.err);
}

#[test]
fn an_error_of_a_folder_begins_with_file_and_key() {
    let scratch = Scratch::new("running-folder");
    let mut files = leaf_spine(4, 2, 1);
    files[5].1["PORT"]["Ethernet0"]["speed"] = "400000".into();
    let wrong = run(&["fabric", "check", &folder(&scratch, "speed", &files)]);
    let said = "speed/spine-1.json: PORT|Ethernet0.speed: is \"400000\", and leaf-00.json: PORT|Ethernet8.speed at the \
                other end of the cable is \"100000\"; 7 of 8 ports from LeafRouter to ToRRouter have \"100000\" \
                (write: \"100000\")";
    assert!(wrong.code == Some(2) && wrong.err.replace("\n  ", " ").contains(said), "{}", wrong.err);
    let mut files = leaf_spine(4, 2, 1);
    files[3].1["DEVICE_NEIGHBOR"]["Ethernet8"]["port"] = "Ethernet13".into();
    let wrong = run(&["fabric", "check", &folder(&scratch, "port", &files)]);
    let said = "port/leaf-03.json: DEVICE_NEIGHBOR|Ethernet8: leads to spine-1 Ethernet13: spine-1 has no port";
    assert!(wrong.err.contains(said) && wrong.err.contains("(write: Ethernet12)"), "{}", wrong.err);
}

#[test]
fn an_accepted_queue_is_an_assumption_and_a_hint_changes_no_exit_code() {
    let scratch = Scratch::new("running-accepted");
    let mut files = leaf_spine(5, 2, 1);
    for (_, file) in &mut files {
        file["SCHEDULER"]["strict"] = json!({ "type": "STRICT" });
        for (key, row) in file["QUEUE"].as_object_mut().unwrap() {
            if key.ends_with("|6") {
                row["scheduler"] = "strict".into();
            }
        }
    }
    files[2].1["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "1".into();
    let running = folder(&scratch, "files", &files);
    let check = |options: &[&str]| run(&[&["fabric", "check", "--running", &running], options].concat());
    assert_eq!(check(&[]).code, Some(1));
    let accepted = check(&["--accept-strict", "6"]);
    assert_eq!(accepted.code, Some(0), "{}{}", accepted.out, accepted.err);
    let flat = accepted.out.replace("\n  ", " ");
    for said in [
        "if    accepted: queue 6 has strict priority above lossless queues at ",
        "hint  leaf-02.json: WRED_PROFILE|AZURE_LOSSLESS.green_min_threshold: outlier: \"1\" here; 4 of 5 switches of",
    ] {
        assert!(flat.contains(said), "{said}: {flat}");
    }
    let json: Value = serde_json::from_str(&check(&["--accept-strict", "6", "--json"]).out).unwrap();
    assert_eq!(json["report"]["hints"].as_array().unwrap().len(), 1, "{json:#}");
    let refused = check(&["--accept-strict", "5"]);
    let said = "error: --accept-strict 5: no such queue has strict priority above a lossless queue (write: ";
    assert!(refused.code == Some(2) && refused.err.contains(said), "{}", refused.err);
    // `tagger verify` accepts the same queues.
    let rules = scratch.path("rules.json");
    let written = check(&["--accept-strict", "6", "--rules-out", &rules]);
    assert_eq!(written.code, Some(0), "{}{}", written.out, written.err);
    let verify = |options: &[&str]| {
        let tags = ["--tag", "3=3:3", "--tag", "4=4:4"];
        let arguments = ["tagger", "verify", &rules, "--fabric", &running, "--running", &running];
        run(&[&arguments[..], &tags, options].concat())
    };
    let starved = verify(&[]).out;
    assert!(starved.contains("FAIL  lossless-accounts-drain"), "{starved}");
    let drains = verify(&["--accept-strict", "6"]).out;
    assert!(drains.contains("ok    lossless-accounts-drain"), "{drains}");
    assert!(drains.contains("accepted: queue 6 has strict priority above lossless queues at "), "{drains}");
    let refused = verify(&["--accept-strict", "5"]);
    assert!(refused.code == Some(2) && refused.err.contains(said), "{}", refused.err);
}
