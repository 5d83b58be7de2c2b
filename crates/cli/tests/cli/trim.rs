//! Tests of `tidegate trim export`, and of the output of a run with trimming switches.

use crate::common::{Scratch, example, run};
use std::path::Path;

/// Compares the text with a file in `tests/trim/`. `UPDATE_TRIM=1 cargo test -p tidegate --test cli trim` rewrites the
/// files.
fn kept(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trim").join(name);
    if std::env::var_os("UPDATE_TRIM").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{name}: run this test with UPDATE_TRIM=1\n{text}");
}

#[test]
fn a_scenario_becomes_configuration_of_a_switch() {
    let scenario = example("trim-shared-buffer.toml");
    let names = [("sonic", "sonic.json", "Ethernet{port*4}"), ("nvue", "nvue.txt", "swp{port+1}")];
    for (format, file, names) in names {
        let to = ["trim", "export", &scenario, "--to", format, "--interface", names];
        let ran = run(&[to.as_slice(), &["--only", "L1"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        kept(file, &ran.out);
        kept(&format!("{file}.notes"), &ran.err);
        let ran = run(&[to.as_slice(), &["--json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(json["switches"].as_object().map(serde_json::Map::len), Some(5), "every switch that trims");
        assert!(json["notes"].as_array().is_some_and(|notes| !notes.is_empty()) && ran.err.is_empty());
    }
}

#[test]
fn each_switch_gets_the_threshold_of_its_own() {
    let scenario = example("trim-shared-buffer.toml");
    let own = "switch.override=[{ switches = [\"L2\"], egress = \"1/32\" }]";
    let to = ["trim", "export", &scenario, "--to", "sonic", "--interface", "Ethernet{port*4}", "--json", "--set", own];
    let ran = run(&to);
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let alpha = |switch: &str| json["switches"][switch]["BUFFER_PROFILE"]["egress_trim_profile"]["dynamic_th"].clone();
    assert_eq!((alpha("L1"), alpha("L2")), ("-1".into(), "-5".into()), "{}", ran.out);
}

#[test]
fn unsupported_features_of_a_switch_are_reported() {
    let scenario = example("trim-shared-buffer.toml");
    let with = |set: &[&str]| {
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
        run(&[&["trim", "export", &scenario, "--to", "sonic", "--interface", "Ethernet{port*4}"], &set[..]].concat())
    };
    for (set, output) in [
        ("switch.overload.header_full=return", "is dropped there; the scenario sends it back"),
        ("switch.overload.victim=coin", "the packet that arrives is trimmed there"),
        ("switch.overload.tiers=[1]", "only switches of the tiers that trim take this: "),
        ("switch.egress_threshold=0.3", "is no power of two"),
        ("switch.overload.size=64B", "trimmed to 64 bytes, and the example of SONiC's schema has 128"),
    ] {
        let ran = with(&[set]);
        assert!(ran.code == Some(0) && ran.err.contains(output), "{set}: {}", ran.err);
    }
    for (set, output) in [
        ("switch.overload={ kind = \"sfc\", header_class = 6 }", "nor send them back"),
        ("switch.overload=drop", "do not trim"),
    ] {
        let ran = with(&[set]);
        assert!(ran.code == Some(2) && ran.out.is_empty() && ran.err.contains(output), "{set}: {}", ran.err);
    }
}

/// The fabric is a folder of `config_db.json` files: in the export, each switch has the port names of its own file.
#[test]
fn ports_that_trim_have_the_names_of_the_file() {
    let scratch = Scratch::new("trim-names");
    let folder = example("sonic");
    let scenario = std::fs::read_to_string(example("trim-shared-buffer.toml")).unwrap();
    let (before, rest) = scenario.split_once("[fabric]").unwrap();
    let (_, after) = rest.split_once("[switch]").unwrap();
    let fabric = format!("[fabric]\nkind = \"file\"\nfile = \"{folder}\"\n\n[switch]");
    let text = format!("{before}{fabric}{after}").replace("fan_in = 16", "fan_in = 3");
    let scenario = scratch.file("trim.toml", &text);
    let (sonic, nvue) = (scratch.path("sonic"), scratch.path("nvue"));
    for (format, out) in [("sonic", &sonic), ("nvue", &nvue)] {
        let ran = run(&["trim", "export", &scenario, "--to", format, "--out", out]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let tor: serde_json::Value =
        serde_json::from_slice(&std::fs::read(scratch.0.join("sonic/tor-1.json")).unwrap()).unwrap();
    let queues: Vec<&str> = tor["BUFFER_QUEUE"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(queues, ["Ethernet0|3", "Ethernet240|3", "Ethernet248|3", "Ethernet8|3"]);
    let leaf = std::fs::read_to_string(scratch.0.join("nvue/leaf-2.nv")).unwrap();
    assert!(leaf.contains("nv set interface Ethernet0,Ethernet32,Ethernet96,Ethernet160 packet-trim"), "{leaf}");
    assert!(scratch.0.join("nvue/NOTES.txt").exists());
    let unnamed = run(&["trim", "export", &example("trim-shared-buffer.toml"), "--to", "sonic"]);
    assert!(
        unnamed.code == Some(2) && unnamed.out.is_empty() && unnamed.err.contains("has no name"),
        "{}",
        unnamed.err
    );
    let idle = run(&["trim", "export", &scenario, "--to", "sonic", "--interface", "Ethernet{port*4}"]);
    assert!(idle.code == Some(2) && idle.err.contains("names all ports"), "{}", idle.err);
}

/// `why --packet` states the port and time at which the packet was trimmed, and the delay components sum to the total
/// delay.
#[test]
fn why_locates_the_trim_of_a_packet() {
    let scratch = Scratch::new("trim-why");
    let out = scratch.path("out");
    let ran = run(&["run", &example("trim-shared-buffer.toml"), "--out", &out, "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let summary: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let trims = &summary["trims"];
    assert!(trims["trims"].as_u64() > Some(0) && trims["trims"] == summary["event_counts"]["trims"], "{trims}");
    let text = run(&["run", &example("trim-shared-buffer.toml")]).out;
    assert!(text.contains("of payload cut; ") && text.contains("most at "), "{text}");
    // Try the packet numbers of the trace until one is a trimmed packet.
    let cut = (0..4000).find_map(|number| {
        let ran = run(&["why", &out, "--packet", &number.to_string()]);
        (ran.code == Some(0) && ran.out.contains("its header is forwarded")).then_some(ran.out)
    });
    let story = cut.expect("a packet that was cut");
    assert!(story.contains("exceeds the queue of ") && story.contains("its header is delivered to"), "{story}");
}

/// Regression: the return path of a trimmed header starts at a switch, which has no ingress port for it. Up-down
/// routing looked up that port and panicked.
#[test]
fn headers_go_back_to_their_source_under_up_down_routing() {
    let scratch = Scratch::new("trim-up-down");
    let scenario = |overload: &str| {
        format!(
            "duration = \"20us\"\n[fabric]\nkind = \"leaf-spine\"\nleaves = 3\nspines = 1\nhosts_per_leaf = 3\n\
             link = {{ rate = \"25Gbps\", delay = \"100ns\" }}\n[routing]\nmode = \"up-down\"\n[switch]\n\
             queue = \"8 packets\"\noverload = {{ {overload} }}\n[[traffic]]\nkind = \"incast\"\nreceiver = \"H1\"\n\
             fan_in = 8\nsize = \"1MB\"\n"
        )
    };
    for overload in ["kind = \"sfc\", watermark = \"4 packets\"", "kind = \"trim\", header_queue = \"2 packets\""] {
        let file = scratch.file("up-down.toml", &scenario(overload));
        let ran = run(&["run", &file, "--json"]);
        assert_eq!(ran.code, Some(0), "{overload}: {}", ran.err);
        let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        assert!(json["packets"]["returned_to_source"].as_u64().is_some_and(|returned| returned > 0), "{overload}");
    }
}
