//! Tests of `tidegate tagger`: rules, export, explain, diff, what-if, budget, and rejected inputs.

use crate::common::{Ran, Scratch, example, run};
use serde_json::{Value, json};

const CLOS: [&str; 13] = [
    "--tors-per-pod",
    "2",
    "--leaves-per-pod",
    "2",
    "--spines",
    "2",
    "--hosts-per-tor",
    "4",
    "--rate",
    "100Gbps",
    "--delay",
    "500ns",
    "--pods",
];

/// Writes a Clos fabric with `pods` pods to a file.
fn fabric(scratch: &Scratch, pods: &str) -> String {
    let path = scratch.path(&format!("clos{pods}.json"));
    let ran = run(&[["fabric", "build", "clos"].as_slice(), &CLOS, &[pods, "--out", &path]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    path
}

fn tagger(arguments: &[&str]) -> Ran {
    run(&[&["tagger"], arguments].concat())
}

fn rules(scratch: &Scratch, fabric: &str, name: &str, more: &[&str]) -> String {
    let path = scratch.path(name);
    let ran = tagger(&[["rules", fabric, "--quiet", "--force", "--out", &path].as_slice(), more].concat());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    path
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err))
}

#[test]
fn rules_are_counted_bounded_and_proved() {
    let scratch = Scratch::new("tagger-rules");
    let fabric = fabric(&scratch, "2");
    let shown = tagger(&["rules", &fabric, "--paths", "bounces=1"]);
    assert!(
        shown.out.contains("2 lossless tags (1, 2)") && shown.out.contains("no rules do with fewer"),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("nothing was written"), "{}", shown.out);
    let facts = parsed(&tagger(&["rules", &fabric, "--paths", "bounces=1", "--json"]));
    assert_eq!((&facts["optimal"], &facts["lossless_tags"]), (&json!(true), &json!([1, 2])));
    let csv = tagger(&["rules", &fabric, "--paths", "up-down", "--csv"]);
    assert_eq!(csv.out.lines().count(), 11, "{}", csv.out);
    for more in [["--paths", "bounces=1"], ["--paths", "shortest"], ["--paths", "trees"], ["--paths", "n-shortest=2"]] {
        let file = rules(&scratch, &fabric, "r.json", &more);
        let proof = tagger(&["verify", &file, "--fabric", &fabric, "--routing", "shortest"]);
        // Trees, or two paths per pair of hosts, do not include all shortest paths, so some shortest paths are lossy
        // and the proof fails; but the rules cannot deadlock.
        let everything = ["bounces=1", "shortest"].contains(&more[1]);
        assert_eq!(proof.code == Some(0), everything, "{more:?} {}", proof.out);
        assert!(proof.out.contains("ok    no-cycle"), "{}", proof.out);
    }
    // First, path sets that the verifier generates itself. Then path sets that it cannot generate, given as a list of
    // paths.
    let own = ["--paths", "trees", "--paths", "trees=servers", "--paths", "shortest", "--paths", "bounces=1"];
    let file = rules(&scratch, &fabric, "own.json", &own);
    let proof = tagger(&[["verify", &file, "--fabric", &fabric].as_slice(), &own].concat());
    assert!(proof.code == Some(0) && proof.out.contains("ok    expected-paths-lossless"), "{}{}", proof.out, proof.err);
    let quiet = tagger(&["verify", &file, "--fabric", &fabric, "--paths", "bounces=2", "--quiet"]);
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (Some(1), "", ""));
    for paths in ["n-shortest=2", "random=20"] {
        let list = scratch.path("list.txt");
        let file = rules(&scratch, &fabric, "listed.json", &["--paths", paths, "--paths-out", &list]);
        let refused = tagger(&["verify", &file, "--fabric", &fabric, "--paths", paths]);
        assert!(refused.code == Some(2) && refused.err.contains("--paths-out FILE"), "{}", refused.err);
        let proof = parsed(&tagger(&["verify", &file, "--fabric", &fabric, "--paths", &list, "--json"]));
        assert_eq!((&proof["pass"], &proof["paths"]), (&json!(true), &json!([format!("file:{list}")])));
        let lines = std::fs::read_to_string(&list).unwrap().lines().count();
        assert_eq!(proof["verdict"]["counts"]["paths"], json!(lines));
    }
    let named = rules(&scratch, &fabric, "c.json", &["--paths", "bounces=1", "--classes", "storage,training"]);
    let ran = tagger(&["explain", &named, "--fabric", &fabric, "--class", "training", "H1", "T1", "L1", "T2", "H5"]);
    assert!(ran.out.contains("2 -> 2") && ran.out.contains("lossless all the way"), "{}", ran.out);
}

#[test]
fn sonic_files_appear_with_their_notes_and_nothing_where_a_switch_does_not_fit() {
    let scratch = Scratch::new("tagger-export");
    let fabric = fabric(&scratch, "2");
    let file = rules(&scratch, &fabric, "r.json", &["--paths", "bounces=1"]);
    let to = |format: &str, out: &str, more: &[&str]| {
        let (out, names) = (scratch.path(out), if format == "sonic" { "Ethernet{port*4}" } else { "Ethernet{port+1}" });
        let to = ["export", &file, "--fabric", &fabric, "--to", format, "--out", &out, "--interface", names];
        tagger(&[to.as_slice(), more].concat())
    };
    assert_eq!(to("sonic", "sonic", &[]).code, Some(0));
    assert_eq!(scratch.names("sonic").len(), 12, "ten switches, the notes, and the list of files");
    let leaf: Value = serde_json::from_slice(&std::fs::read(scratch.0.join("sonic/L1.json")).unwrap()).unwrap();
    assert_eq!(leaf["PORT_QOS_MAP"]["Ethernet12"]["pfc_enable"], "3,4");
    let notes = std::fs::read_to_string(scratch.0.join("sonic/NOTES.txt")).unwrap();
    assert!(notes.contains("binds at the ingress or at the egress port depends on the ASIC"), "{notes}");
    assert!(notes.contains("L1: the queue of traffic class"), "{notes}");

    let misfit = to("sonic", "tight", &["--traffic-classes", "4"]);
    assert_eq!(misfit.code, Some(1));
    assert!(misfit.err.contains("L1 needs ACL") && misfit.err.contains("need 5 traffic classes"), "{}", misfit.err);
    let binding = to("sonic", "tight", &["--queue-map", "ingress"]);
    assert!(binding.code == Some(1) && binding.err.contains("L1 needs ACL"), "{}", binding.err);
    let eos = to("eos", "tight", &[]);
    assert!(eos.code == Some(1) && eos.err.contains("T1 does not fit EOS"), "{}", eos.err);
    let said = "T1 does not fit EOS: 3 groups of (tag, ingress port) are treated differently by port, such as tag 1 \
                from Ethernet5: tag 1 to Ethernet1, tag 2 to Ethernet6. EOS documents one queue";
    assert!(eos.err.replace("\n  ", " ").contains(said), "{}", eos.err);
    assert!(!scratch.0.join("tight").exists(), "nothing is written");
    assert_eq!(to("eos", "spine", &["--only", "S1"]).code, Some(0));
    assert_eq!(scratch.names("spine"), ["NOTES.txt", "S1.eos", "tidegate.sha256"]);
    let output = parsed(&to("eos", "eos", &["--only", "S1", "--json"]));
    let written = std::fs::read_to_string(scratch.0.join("eos/S1.eos")).unwrap();
    assert_eq!(output["switches"]["S1"], Value::from(written), "the object and the file are the same");
    assert_eq!(to("nftables", "linux", &["--only", "T1"]).code, Some(0));
    assert_eq!(scratch.names("linux"), ["NOTES.txt", "T1.nft", "T1.tc", "tidegate.sha256"]);

    // Rules that do not change the tag at a bounce can deadlock: they are not exported.
    let text = std::fs::read_to_string(&file).unwrap().replace("\"new_tag\": 2", "\"new_tag\": 1");
    let unsafe_rules = scratch.file("unsafe.json", &text);
    let ran = tagger(&["export", &unsafe_rules, "--fabric", &fabric, "--to", "table"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("can deadlock"), "{}", ran.err);
}

/// The rules are proved only for switches that select the queue by the new tag and do not starve the lossy class.
/// Exports for other switches are rejected.
#[test]
fn rules_are_proved_and_exported_for_the_switches_at_hand() {
    let scratch = Scratch::new("tagger-switches");
    let fabric = fabric(&scratch, "2");
    let file = rules(&scratch, &fabric, "r.json", &["--paths", "bounces=1"]);
    let verify = |more: &[&str]| tagger(&[&["verify", &file, "--fabric", &fabric], more].concat());
    let proved = verify(&[]);
    assert!(proved.code == Some(0) && proved.out.contains("switches that queue by the new tag"), "{}", proved.out);
    let arriving = verify(&["--egress", "arriving-tag"]);
    assert_eq!(arriving.code, Some(1));
    assert!(arriving.out.contains("FAIL  no-reachable-cycle") && arriving.out.contains("tag 1"), "{}", arriving.out);
    let json = parsed(&verify(&["--egress", "arriving-tag", "--json"]));
    assert_eq!((&json["pass"], &json["verdict"]["switches"]["egress"]), (&json!(false), &json!("arriving-tag")));
    assert_eq!(json["verdict"]["reachable_cycle"]["links"].as_array().map(Vec::len), Some(4));
    let strict = verify(&["--scheduler", "strict"]);
    assert_eq!(strict.code, Some(1));
    assert!(
        strict.out.contains("FAIL  lossy-queue-drains") && strict.out.contains("no rule matches"),
        "{}",
        strict.out
    );
    let export = |to: &str, more: &[&str]| {
        tagger(&[&["export", &file, "--fabric", &fabric, "--to", to, "--out", &scratch.path("out")], more].concat())
    };
    for (more, says) in [
        (["--egress", "arriving-tag"], "queue by the arriving tag can deadlock, with or without these rules"),
        (["--scheduler", "strict"], "can stop a lossless queue for ever"),
    ] {
        let refused = export("sonic", &more);
        assert!(refused.code == Some(1) && refused.err.contains(says), "{}", refused.err);
        assert!(!scratch.0.join("out").exists());
    }
    for to in ["sonic", "acl"] {
        let exported = export(to, &["--force", "--interface", "Ethernet{port*4}"]);
        assert_eq!(exported.code, Some(0), "{}", exported.err);
        let notes = std::fs::read_to_string(scratch.0.join("out/NOTES.txt")).unwrap();
        assert!(notes.contains("any loop of links can deadlock, here with tag 1 "), "{notes}");
        assert!(notes.contains("under strict priority") || notes.contains("not strict priority"), "{notes}");
    }
}

/// Listings of many switches are rendered in batches: standard output, the JSON object and the folder must have equal
/// content.
#[test]
fn a_listing_of_many_switches_is_the_same_on_the_screen_in_an_object_and_in_a_folder() {
    let scratch = Scratch::new("tagger-listing");
    let fabric = fabric(&scratch, "17");
    let file = rules(&scratch, &fabric, "r.json", &["--paths", "bounces=1"]);
    let export = |more: &[&str]| tagger(&[&["export", &file, "--fabric", &fabric, "--unproved"], more].concat());
    let output = |more: &[&str]| {
        let output = parsed(&export(&[more, &["--json"]].concat()));
        assert_eq!(output["misfits"], json!([]));
        assert_eq!(output["notes"].as_array().unwrap().len(), usize::from(more.contains(&"--interface")), "{more:?}");
        output["switches"].clone()
    };
    let shown = export(&["--to", "json"]);
    let by_switch = parsed(&shown);
    assert_eq!(by_switch.as_object().unwrap().len(), 70);
    assert_eq!(output(&["--to", "json"]), by_switch);
    let leaf = &by_switch["L1"];
    assert_eq!(leaf["ports"][2], json!({ "port": 2, "interface": "2", "peer": "S1", "peer_port": 0 }));
    let rules = leaf["rules"].as_array().unwrap();
    let bounce = json!({ "tag": 1, "in": 2, "out": 3, "new_tag": 2 });
    assert!(rules.contains(&bounce), "{leaf}");

    let named = ["--to", "csv", "--interface", "swp{port+1}"];
    let (csv, by_switch) = (export(&named).out, output(&named));
    let (header, _) = csv.split_once('\n').unwrap();
    let texts = by_switch.as_object().unwrap().values().map(|text| text.as_str().unwrap());
    let lines: Vec<&str> = texts.flat_map(|text| text.lines().filter(|&line| line != header)).collect();
    assert_eq!((csv.lines().count(), csv.lines().skip(1).collect::<Vec<_>>()), (1 + lines.len(), lines));

    let out = scratch.path("listed");
    let by_switch = output(&["--to", "table", "--out", &out]);
    assert_eq!(scratch.names("listed").len(), 72, "the switches, the notes, and the list of files");
    let written = std::fs::read_to_string(scratch.0.join("listed/T34.txt")).unwrap();
    assert_eq!(by_switch["T34"], Value::from(written));
}

/// SONiC's priority remapping for dual ToR, with two ToRs and two T1 switches. A packet for a server whose link is down
/// is sent up again by the ToR; from there on it uses priority 2 instead of 3, or 6 instead of 4.
#[test]
fn two_tors_deadlock_without_tags_and_not_with_those_that_sonic_ships() {
    let scratch = Scratch::new("tagger-dual");
    let node = |id: &str, kind: &str, tier: u8| json!({ "id": id, "kind": kind, "tier": tier });
    let nodes = ["server1", "server2", "up1", "up2"].map(|id| node(id, "host", 0)).into_iter();
    let switches = [("T0a", 1), ("T0b", 1), ("T1a", 2), ("T1b", 2)].map(|(id, tier)| node(id, "switch", tier));
    let links = [
        ("server1", "T0a"),
        ("server2", "T0b"),
        ("T0a", "T1a"),
        ("T0a", "T1b"),
        ("T0b", "T1a"),
        ("T0b", "T1b"),
        ("up1", "T1a"),
        ("up2", "T1b"),
    ];
    let links = links.map(|(a, b)| json!({ "source": a, "target": b, "rate": "100Gbps", "delay": "500ns" }));
    let graph = json!({ "directed": false, "nodes": nodes.chain(switches).collect::<Vec<_>>(), "links": links });
    let fabric = scratch.file("dual.json", &graph.to_string());
    let paths = scratch.file("bounced.txt", "up1 T1a T0a T1b T0b server2\nup2 T1b T0b T1a T0a server1\n");
    let without = run(&["fabric", "check", &fabric, "--pfc", "--paths", &paths]);
    assert_eq!(without.code, Some(1), "{}{}", without.out, without.err);
    for algorithm in ["clos", "merge", "fewest"] {
        let made = ["--paths", "bounces=1", "--classes", "2", "--algorithm", algorithm];
        let file = rules(&scratch, &fabric, "made.json", &made);
        let proof = tagger(&["verify", &file, "--fabric", &fabric, "--paths", "bounces=1", "--paths", &paths]);
        assert_eq!(proof.code, Some(0), "{algorithm}: {}{}", proof.out, proof.err);
    }

    // Generates rules for one class, and duplicates them for two classes: tags 1 and 3 for class `three`, 2 and 4 for
    // class `four`.
    let one = rules(&scratch, &fabric, "one.json", &["--paths", "bounces=1"]);
    let mut file: Value = serde_json::from_slice(&std::fs::read(&one).unwrap()).unwrap();
    file["lossless_tags"] = json!([1, 2, 3, 4]);
    file["classes"] = json!([{ "name": "three", "first_tag": 1 }, { "name": "four", "first_tag": 2 }]);
    for switch in file["switches"].as_array_mut().unwrap() {
        let single = switch["rules"].as_array().unwrap().clone();
        let of_class = |class: u64| {
            single.iter().cloned().map(move |mut rule| {
                for key in ["tag", "new_tag"] {
                    rule[key] = json!(rule[key].as_u64().unwrap() * 2 - 1 + class);
                }
                rule
            })
        };
        switch["rules"] = of_class(0).chain(of_class(1)).collect::<Vec<_>>().into();
    }
    let both = scratch.file("both.json", &file.to_string());
    let proof = tagger(&["verify", &both, "--fabric", &fabric, "--paths", &paths]);
    assert_eq!(proof.code, Some(0), "{}{}", proof.out, proof.err);

    let marks = ["--tag", "1=3:3", "--tag", "2=4:4", "--tag", "3=2:2:1", "--tag", "4=6:6:2", "--lossy", "8:0"];
    let to = [
        "export",
        &both,
        "--fabric",
        &fabric,
        "--to",
        "sonic",
        "--watchdog",
        "first",
        "--interface",
        "Ethernet{port*4}",
        "--json",
    ];
    let export = tagger(&[to.as_slice(), &marks].concat());
    assert_eq!(export.code, Some(0), "{}{}", export.out, export.err);
    let config = &parsed(&export)["switches"]["T0a"];
    // Ports of T0a towards its server, towards T1a, and towards T1b.
    let (server, first, second) = ("Ethernet0", "Ethernet4", "Ethernet8");
    let port = |name: &str| &config["PORT_QOS_MAP"][name];
    let lookup =
        |table: &str, name: &Value, key: &Value| config[table][name.as_str().unwrap()][key.as_str().unwrap()].clone();
    let treated = |dscp: &str, from: &str, to: &str| {
        let class = lookup("DSCP_TO_TC_MAP", &port(from)["dscp_to_tc_map"], &json!(dscp));
        let group = lookup("TC_TO_PRIORITY_GROUP_MAP", &port(from)["tc_to_pg_map"], &class);
        let queue = lookup("TC_TO_QUEUE_MAP", &port(to)["tc_to_queue_map"], &class);
        [group, lookup("TC_TO_DSCP_MAP", &port(to)["tc_to_dscp_map"], &class), queue]
    };
    assert_eq!(treated("3", first, second), ["3", "2", "2"]);
    assert_eq!(treated("4", second, first), ["4", "6", "6"]);
    assert_eq!(treated("3", server, first), ["3", "3", "3"]);
    assert_eq!(treated("2", first, server), ["2", "3", "3"]);
    assert_eq!(treated("2", first, second), ["2", "8", "0"]);
    assert_eq!((&port(first)["pfc_enable"], &port(first)["pfcwd_sw_enable"]), (&json!("2,3,4,6"), &json!("3,4")));
    assert_eq!(port(server)["pfc_enable"], "3,4");
}

#[test]
fn a_pod_more_only_adds_and_another_algorithm_takes_out_first() {
    let scratch = Scratch::new("tagger-diff");
    let (two, three) = (fabric(&scratch, "2"), fabric(&scratch, "3"));
    let old = rules(&scratch, &two, "old.json", &["--paths", "bounces=1"]);
    let new = rules(&scratch, &three, "new.json", &["--paths", "bounces=1"]);
    let ran = tagger(&["diff", &old, &new, "--fabric", &three, "--old-fabric", &two]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("1. add ") && !ran.out.contains("2. "), "{}", ran.out);
    assert!(tagger(&["diff", &old, &old, "--fabric", &two]).out.contains("the rules are the same"));
    let merged = rules(&scratch, &two, "merged.json", &["--paths", "bounces=1", "--algorithm", "merge"]);
    let facts = parsed(&tagger(&["diff", &old, &merged, "--fabric", &two, "--json"]));
    assert_eq!((&facts["needs_a_pause"], &facts["steps"][0]["step"]), (&json!(true), &json!("take out first")));
    let wrong = tagger(&["diff", &old, &new, "--fabric", &three]);
    assert!(wrong.code == Some(2) && wrong.err.contains("--old-fabric"), "{}", wrong.err);
}

#[test]
fn what_if_and_budget_answer_in_text_and_json() {
    let scratch = Scratch::new("tagger-what-if");
    let fabric = fabric(&scratch, "2");
    let file = rules(&scratch, &fabric, "r.json", &["--paths", "bounces=1"]);
    let all = parsed(&tagger(&["what-if", &file, "--fabric", &fabric, "--json"]));
    assert_eq!(all["links"].as_array().unwrap().len(), 16);
    assert!(all["links"].as_array().unwrap().iter().all(|link| link["converged"]["lossy_pairs"] == 0));
    let one = tagger(&["what-if", &file, "--fabric", &fabric, "--link", "T1,L1"]);
    assert!(one.out.contains("T1:4 - L1:0") && one.out.contains("48"), "{}", one.out);
    let profile = example("asic/trident2.toml");
    let fits = tagger(&["budget", &file, "--fabric", &fabric, "--profile", &profile]);
    assert!(fits.code == Some(0) && fits.out.contains("of the buffer"), "{}{}", fits.out, fits.err);
    let small = scratch.file("small.toml", "name = \"small\"\nsource = \"a test\"\nbuffer = \"100KB\"\n");
    let over = tagger(&["budget", &file, "--fabric", &fabric, "--profile", &small]);
    assert!(over.code == Some(1) && over.out.contains("too much  T1: headroom in bytes"), "{}", over.out);
}

/// PFC has eight priorities, of which lossy traffic needs one: at most seven lossless tags can be exported.
#[test]
fn more_tags_than_priorities_are_warned_of_listed_and_not_exported() {
    let scratch = Scratch::new("tagger-priorities");
    let fabric = fabric(&scratch, "2");
    let shown = tagger(&["rules", &fabric, "--paths", "bounces=9"]);
    assert!(shown.code == Some(0) && shown.out.contains("warning"), "{}", shown.out);
    assert!(
        shown.out.contains("10 lossless tags need a priority each") && shown.out.contains("at most 7"),
        "{}",
        shown.out
    );
    let facts = parsed(&tagger(&["rules", &fabric, "--paths", "bounces=9", "--json"]));
    assert!(facts["warnings"][0].as_str().is_some_and(|warning| warning.contains("bounces + classes")), "{facts}");
    assert_eq!(facts["lossless_tags"].as_array().map(Vec::len), Some(10));
    let csv = tagger(&["rules", &fabric, "--paths", "bounces=9", "--csv"]);
    assert!(csv.out.starts_with("switch,tier") && csv.err.starts_with("warning: 10 lossless tags"), "{}", csv.err);
    for few in ["bounces=6", "bounces=1"] {
        let ran = tagger(&["rules", &fabric, "--paths", few]);
        assert!(!ran.out.contains("warning"), "{}", ran.out);
        assert_eq!(parsed(&tagger(&["rules", &fabric, "--paths", few, "--json"]))["warnings"], json!([]));
    }

    let ten = rules(&scratch, &fabric, "ten.json", &["--paths", "bounces=9"]);
    assert_eq!(tagger(&["verify", &ten, "--fabric", &fabric, "--paths", "bounces=9"]).code, Some(0));
    let to = |file: &str, format: &str, more: &[&str]| {
        tagger(&[&["export", file, "--fabric", &fabric, "--to", format], more].concat())
    };
    let all = parsed(&to(&ten, "json", &[]));
    let one = parsed(&to(&ten, "json", &["--only", "L1"]));
    assert_eq!((all.as_object().unwrap().len(), &all["L1"]), (10, &one), "one object by switch, or the switch alone");
    let csv = to(&ten, "csv", &[]).out;
    assert_eq!(csv.lines().filter(|line| line.starts_with("switch,")).count(), 1, "one header for all");
    for format in ["table", "json", "csv"] {
        let listed = to(&ten, format, &["--only", "L1"]);
        assert!(listed.code == Some(0) && listed.out.contains("10"), "{format}: {}", listed.err);
    }
    let profile = example("asic/trident2.toml");
    let budget = tagger(&["budget", &ten, "--fabric", &fabric, "--profile", &profile]);
    for refused in ["sonic", "eos", "acl", "nftables"].map(|format| to(&ten, format, &[])).into_iter().chain([budget]) {
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
        assert!(
            refused.err.contains("at most 7 tags fit") && refused.err.contains("bounces + classes"),
            "{}",
            refused.err
        );
    }

    // With seven tags, no priority remains for control traffic. The operator must state this choice by `--tag` options.
    let seven = rules(&scratch, &fabric, "seven.json", &["--paths", "bounces=6"]);
    let unstated = to(&seven, "sonic", &["--only", "S1"]);
    assert!(unstated.code == Some(2) && unstated.err.contains("--tag TAG=DSCP:PRIORITY"), "{}", unstated.err);
    let marks: Vec<String> = (1..=7).map(|tag| format!("{tag}={}:{tag}", 8 * tag + 2)).collect();
    let marks: Vec<&str> = marks.iter().flat_map(|mark| ["--tag", mark]).collect();
    for format in ["sonic", "eos"] {
        let one = ["--only", "S1", "--interface", "Ethernet{port+1}"];
        let fits = to(&seven, format, &[one.as_slice(), marks.as_slice()].concat());
        assert_eq!(fits.code, Some(0), "{}", fits.err);
        // The ASIC supports only three lossless priorities.
        let more = [one.as_slice(), &["--profile", &profile], marks.as_slice()].concat();
        let over = to(&seven, format, &more);
        assert_eq!((over.code, over.out.as_str()), (Some(1), ""), "{}", over.err);
        assert!(
            over.err.contains("S1 does not fit: a port of it needs 7 lossless priorities, and the ASIC has 3"),
            "{}",
            over.err
        );
    }
}

#[test]
fn bad_input_is_exit_code_2_with_the_element_named() {
    let scratch = Scratch::new("tagger-bad");
    let fabric = fabric(&scratch, "2");
    let file = rules(&scratch, &fabric, "r.json", &["--paths", "bounces=1"]);
    let refused = |arguments: &[&str], says: &str| {
        let ran = tagger(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?} {}", ran.err);
        assert!(ran.err.contains(says), "{arguments:?}: {}", ran.err);
    };
    let list = |text: &str| format!("file:{}", scratch.file("paths.txt", text));
    refused(&["rules", &fabric, "--paths", &list("H1 T1 L3 T3 H9\n")], "paths.txt: line 1");
    refused(&["rules", &fabric, "--paths", &list("\nH1 T1 L1 T1 H2\n")], "line 2");
    refused(&["rules", &fabric, "--paths", &list("H1 T1 L9 T2 H5\n")], "L9");
    refused(&["rules", &fabric, "--paths", "shortest", "--algorithm", "clos"], "--paths up-down");
    let apart = r#"{"nodes": [{"id": "h1"}, {"id": "h2"}, {"id": "a", "kind": "switch"}, {"id": "b", "kind": "switch"}],
        "links": [{"source": "h1", "target": "a"}, {"source": "h2", "target": "b"}]}"#;
    let apart = scratch.file("apart.json", apart);
    refused(&["rules", &apart, "--rate", "1Gbps", "--delay", "1us", "--paths", "shortest"], "not connected");

    let on = |command: &'static str| [command, file.as_str(), "--fabric", fabric.as_str()];
    refused(&[on("explain").as_slice(), &["H1", "T1", "L3", "H9"]].concat(), "no link leads from `T1` to `L3`");
    refused(&[on("explain").as_slice(), &["H1", "T1", "H99"]].concat(), "`H99`");
    refused(&[on("explain").as_slice(), &["--class", "x", "H1", "T1", "H2"]].concat(), "no class `x`");
    refused(&[on("what-if").as_slice(), &["--link", "T1,S1"]].concat(), "no link connects `T1` and `S1`");
    let export =
        |more: &[&str], says: &str| refused(&[on("export").as_slice(), &["--to", "sonic"], more].concat(), says);
    export(&["--only", "T9"], "no switch `T9`");
    export(&["--tag", "1=26:3"], "tag 2 has no DSCP");
    export(&["--tag", "1=26:3", "--tag", "2=26:4"], "DSCP 26 stands for tag 1 and for tag 2");
    export(&["--traffic-classes", "0"], "1..=16");
    export(&["--interface", "Ethernet"], "{port}");
    export(&["--interfaces", &scratch.file("i.csv", "T1,9,Ethernet9\n")], "i.csv: line 1: switch `T1` has no port `9`");
    let names = ["--interface", "Ethernet{port*4}", "--interfaces", &scratch.file("j.csv", "T1,0,Ethernet4\n")];
    export(&names, "ports 0 and 1 are both called `Ethernet4`");
    let narrow = scratch.file("narrow.toml", "name = \"n\"\nsource = \"s\"\nports = 4\n");
    export(&["--profile", &narrow], "switch `T1` has 6 ports, and the profile's bitmap has 4");
    let typo = scratch.file("typo.toml", "name = \"n\"\nsource = \"s\"\nbufer = \"1MB\"\n");
    export(&["--profile", &typo], "typo.toml:3");
    let other = self::fabric(&scratch, "3");
    refused(&["export", &file, "--fabric", &other, "--to", "table"], "another fabric");
    refused(&["export", &scratch.file("no.json", "{"), "--fabric", &fabric, "--to", "table"], "no.json: line 1");

    let line = |name: &str| json!({ "id": name, "kind": "switch", "tier": if name == "s" { 2 } else { 1 } });
    let link = |a: &str, b: &str| json!({ "source": a, "target": b, "rate": "1Gbps", "delay": "1us" });
    let links = [link("h1", "a"), link("h2", "b"), link("a", "s"), link("a", "s"), link("b", "s")];
    let nodes = [json!({ "id": "h1" }), json!({ "id": "h2" }), line("a"), line("b"), line("s")];
    let parallel =
        scratch.file("parallel.json", &json!({ "multigraph": true, "nodes": nodes, "links": links }).to_string());
    let of_parallel = rules(&scratch, &parallel, "p.json", &["--paths", "up-down"]);
    let path = ["explain", of_parallel.as_str(), "--fabric", parallel.as_str(), "h1", "a", "s", "b", "h2"];
    refused(&path, "ports 1, 2 of `a` lead to `s`");
    refused(
        &["rules", &parallel, "--paths", &list("h1 a s b h2\n")],
        "several links join `a` and `s`, by ports 1 to 2",
    );
    let of_list = scratch.file("listed.txt", "h1 a s b h2\n");
    refused(&["verify", &of_parallel, "--fabric", &parallel, "--paths", &of_list], "joined by 2 parallel links");
    let mut twice = json!({ "nodes": nodes, "links": links });
    for (link, port) in [(0, 0), (2, 0), (3, 1)] {
        let end = if link == 0 { "target_port" } else { "source_port" };
        twice["links"][link][end] = json!(port);
    }
    let twice = scratch.file("twice.json", &twice.to_string());
    refused(&["rules", &twice, "--paths", "up-down"], "port `0` of `a` has two links");

    // Rule files that every command rejects.
    let good = std::fs::read_to_string(&file).unwrap();
    let ports = good.find("\"in\": [0, 1]").expect("a rule of L1");
    let changed = |name: &str, from: &str, to: &str| {
        scratch.file(name, &(good[..ports].to_owned() + &good[ports..].replacen(from, to, 1)))
    };
    let unknown = changed("unknown.json", "[0, 1]", "[0, 99]");
    let repeated = changed("repeated.json", "[0, 1]", "[0, 1, 0]");
    let named = changed("named.json", "[0, 1]", "[\"Ethernet0\"]");
    let profile = example("asic/trident2.toml");
    for (wrong, says) in
        [(&unknown, "port 99"), (&repeated, "port 0"), (&named, "\"Ethernet0\""), (&file, "another fabric")]
    {
        let on = if wrong == &file { &other } else { &fabric };
        let on = |command, more: &[&str]| refused(&[&[command, wrong.as_str(), "--fabric", on], more].concat(), says);
        on("verify", &[]);
        on("explain", &["H1", "T1", "H2"]);
        on("what-if", &[]);
        on("budget", &["--profile", &profile]);
        on("export", &["--to", "sonic"]);
        refused(&["diff", wrong, wrong, "--fabric", if wrong == &file { &other } else { &fabric }], says);
    }
    let nothing = scratch.file("nothing.txt", "# no path\n");
    refused(&["rules", &fabric, "--paths", &format!("file:{nothing}")], "nothing.txt: no path stands in it");
    refused(&["verify", &file, "--fabric", &fabric, "--paths", &nothing], "nothing.txt: no path stands in it");
    let checked = run(&["fabric", "check", &fabric, "--pfc", "--paths", &nothing]);
    assert!(checked.code == Some(2) && checked.err.contains("nothing.txt: no path stands in it"), "{}", checked.err);
}

#[test]
fn paths_of_forwarding_tables_and_the_fewest_tags() {
    let scratch = Scratch::new("tagger-routes");
    let fabric = fabric(&scratch, "2");
    let route = |switch: &str, port: u16| json!({ "switch": switch, "destination": "H5", "ports": [port] });
    let mut all = vec![route("T1", 4), route("L1", 1), route("T2", 0), route("L2", 1), route("S1", 1), route("S2", 1)];
    all.extend([route("T3", 4), route("T4", 4), route("L3", 2), route("L4", 2)]);
    let file = json!({ "format": "tidegate-routes", "version": 1, "routes": all });
    let routes = format!("routes:{}", scratch.file("routes.json", &file.to_string()));
    let made = parsed(&tagger(&["rules", &fabric, "--paths", &routes, "--json"]));
    assert_eq!((&made["lossless_tags"], &made["optimal"]), (&json!([1]), &json!(true)));
    let wrong = format!("routes:{}", scratch.file("wrong.json", &file.to_string().replace("\"L1\"", "\"L9\"")));
    let ran = tagger(&["rules", &fabric, "--paths", &wrong]);
    assert!(ran.code == Some(2) && ran.err.contains("wrong.json: routes[1].switch"), "{}", ran.err);
    let ran = tagger(&["rules", &fabric, "--paths", "fdbs:opensm.fdbs"]);
    assert!(ran.code == Some(2) && ran.err.contains("--subnet"), "{}", ran.err);

    let tags = |algorithm: &str| {
        let made = tagger(&["rules", &fabric, "--paths", "bounces=1", "--algorithm", algorithm, "--json"]);
        parsed(&made)["lossless_tags"].as_array().expect("tags").len()
    };
    assert_eq!((tags("merge"), tags("fewest"), tags("clos")), (3, 2, 2));
}
