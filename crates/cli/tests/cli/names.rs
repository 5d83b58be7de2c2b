//! Names of ports and switches in generated configurations are those in the fabric's file; if a name is invalid, it is
//! an error.

use crate::common::{Ran, Scratch, example, run};
use serde_json::Value;

/// Generates the rules for a folder of `config_db.json` files; returns the path of the rule file.
fn rules(scratch: &Scratch, fabric: &str) -> String {
    let path = scratch.path("rules.json");
    let ran = run(&["tagger", "rules", fabric, "--paths", "bounces=1", "--quiet", "--force", "--out", &path]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    path
}

fn export(rules: &str, fabric: &str, format: &str, more: &[&str]) -> Ran {
    run(&[["tagger", "export", rules, "--fabric", fabric, "--to", format].as_slice(), more].concat())
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map_or(Vec::new(), |object| object.keys().map(String::as_str).collect())
}

/// Every export format uses the port names in the fabric's file, also for ports towards hosts.
#[test]
fn every_exporter_uses_the_names_that_the_file_states() {
    let scratch = Scratch::new("names-export");
    let fabric = example("sonic");
    let rules = rules(&scratch, &fabric);
    let sonic: Value = serde_json::from_str(&export(&rules, &fabric, "sonic", &["--only", "tor-1"]).out).unwrap();
    assert_eq!(keys(&sonic["PORT_QOS_MAP"]), ["Ethernet0", "Ethernet240", "Ethernet248", "Ethernet8"]);
    // Frames from hosts may have only tag 1, so the ports towards hosts share a DSCP map, which differs from that of
    // the uplinks.
    let map = |port: &str| sonic["PORT_QOS_MAP"][port]["dscp_to_tc_map"].as_str().unwrap().to_owned();
    assert_eq!((map("Ethernet0"), map("Ethernet240")), (map("Ethernet8"), map("Ethernet248")));
    assert_ne!(map("Ethernet0"), map("Ethernet240"));
    let acl: Value = serde_json::from_str(&export(&rules, &fabric, "acl", &["--only", "tor-1"]).out).unwrap();
    assert_eq!(
        acl["ACL_TABLE"]["TAGGER"]["ports"],
        serde_json::json!(["Ethernet240", "Ethernet248", "Ethernet0", "Ethernet8"])
    );
    let nft = export(&rules, &fabric, "nftables", &["--only", "tor-2"]);
    assert!(nft.out.contains("\"Ethernet16\" : goto group_2"), "{}{}", nft.out, nft.err);
    assert!(nft.out.contains("qdisc replace dev Ethernet16 root") && !nft.out.contains("\"Ethernet8\""), "{}", nft.out);
    let csv = export(&rules, &fabric, "csv", &["--only", "tor-1"]).out;
    assert!(csv.contains("tor-1,1,2,Ethernet0,0,Ethernet240,1\n"), "{csv}");
    // EOS has no port Ethernet0 (exit code 2).
    assert_eq!(export(&rules, &fabric, "eos", &[]).code, Some(2));
    let renamed = export(&rules, &fabric, "nftables", &["--only", "tor-2", "--interface", "swp{digits}s0"]);
    assert!(renamed.out.contains("\"swp16s0\" : goto group_2"), "{}", renamed.err);
}

/// Every format that supports port names preserves them. Rules for one fabric are rejected for a fabric with other
/// cables or other port names.
#[test]
fn another_fabric_is_refused_and_so_is_one_whose_ports_have_other_names() {
    let scratch = Scratch::new("names-other");
    let fabric = example("sonic");
    let rules = rules(&scratch, &fabric);
    let folder = scratch.path("again");
    let ran = run(&["fabric", "convert", &fabric, &folder, "--to", "config-db"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let again = export(&rules, &folder, "sonic", &[]);
    assert_eq!((again.code, again.out), (Some(0), export(&rules, &fabric, "sonic", &[]).out), "{}", again.err);
    let tor = std::fs::read_to_string(scratch.0.join("again/tor-1.json")).unwrap();
    std::fs::write(scratch.0.join("again/tor-1.json"), tor.replace("\"Ethernet8\"", "\"Ethernet16\"")).unwrap();
    for format in ["sonic", "table"] {
        let other = export(&rules, &folder, format, &[]);
        assert!(other.code == Some(2) && other.out.is_empty(), "{}", other.out);
        assert!(
            other.err.contains("another fabric: port 3 of `tor-1` is `Ethernet8` there and `Ethernet16` here"),
            "{}",
            other.err
        );
    }
    let proof = run(&["tagger", "verify", &rules, "--fabric", &folder]);
    assert!(proof.code == Some(2) && proof.err.contains("another fabric"), "{}", proof.err);
}

#[test]
fn without_names_an_export_shows_what_a_pattern_would_make_of_them() {
    let scratch = Scratch::new("names-none");
    let fabric = scratch.path("leaf-spine.json");
    let build = ["fabric", "build", "leaf-spine", "--leaves", "2", "--spines", "2", "--hosts-per-leaf", "2"];
    let ran = run(&[build.as_slice(), &["--rate", "100Gbps", "--delay", "500ns", "--out", &fabric]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rules = rules(&scratch, &fabric);
    for (format, pattern, shown) in [
        ("sonic", "Ethernet{port*4}", "Ethernet0 to H1, Ethernet4 to H2, Ethernet8 to S1, Ethernet12 to S2"),
        ("acl", "Ethernet{port*4}", "Ethernet0 to H1"),
        ("eos", "Ethernet{port+1}", "Ethernet1 to H1, Ethernet2 to H2"),
        ("nftables", "swp{port+1}", "swp1 to H1, swp2 to H2"),
    ] {
        let ran = export(&rules, &fabric, format, &[]);
        assert!(ran.code == Some(2) && ran.out.is_empty(), "{format}: {}", ran.out);
        assert!(ran.err.contains("port 0 of `L1` has no name") && ran.err.contains(shown), "{format}: {}", ran.err);
        assert!(ran.err.contains(&format!("--interface '{pattern}'")), "{format}: {}", ran.err);
        let named = export(&rules, &fabric, format, &["--interface", pattern, "--only", "S1"]);
        assert_eq!(named.code, Some(0), "{format}: {}", named.err);
        assert!(named.err.contains("hold it against the cables"), "{format}: {}", named.err);
    }
    assert_eq!(export(&rules, &fabric, "table", &[]).code, Some(0), "a listing configures nothing");
}

/// A port name that the target's grammar does not permit is an error that names the port, unless `--interface` renames
/// it.
#[test]
fn names_of_another_system_are_refused_or_renamed() {
    let scratch = Scratch::new("names-foreign");
    let lab = "topology:\n  nodes:\n    t1: {kind: ceos}\n    h1: {kind: linux}\n    h2: {kind: linux}\n  links:\n    \
               - endpoints: [\"t1:eth3\", \"h1:eth1\"]\n    - endpoints: [\"t1:eth1\", \"h2:eth1\"]\n";
    let lab = scratch.file("lab.clab.yml", lab);
    let fabric = scratch.path("lab.json");
    let ran = run(&["fabric", "convert", &lab, &fabric, "--rate", "10Gbps", "--delay", "500ns"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rules = rules(&scratch, &fabric);
    let refused = export(&rules, &fabric, "sonic", &[]);
    assert!(
        refused.code == Some(2) && refused.err.contains("port 0 of `t1`, to h1: `eth3` is no name there"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("{digits}"), "{}", refused.err);
    let idle = export(&rules, &fabric, "sonic", &["--interface", "Ethernet{port*4}"]);
    assert!(idle.code == Some(2) && idle.err.contains("names all ports, as eth3 of `t1`"), "{}", idle.err);
    let renamed = export(&rules, &fabric, "sonic", &["--interface", "Ethernet{digits*4-4}"]);
    let config: Value = serde_json::from_str(&renamed.out).unwrap();
    assert_eq!(keys(&config["PORT_QOS_MAP"]), ["Ethernet0", "Ethernet8"]);
}

/// Names with control characters are rejected by every command: a line break could inject a line into an nftables file.
#[test]
fn names_that_act_are_refused_by_every_command_and_never_painted() {
    let scratch = Scratch::new("names-hostile");
    let graph = |name: &str, port: &str| {
        let (name, port) = (Value::from(name), Value::from(port));
        format!(
            "{{\"nodes\":[{{\"id\":{name},\"kind\":\"switch\"}},{{\"id\":\"h1\"}},{{\"id\":\"h2\"}}],\"links\":[\
             {{\"source\":{name},\"target\":\"h1\",\"source_port\":{port},\"rate\":\"1Gbps\",\"delay\":\"1us\"}},\
             {{\"source\":{name},\"target\":\"h2\",\"source_port\":\"p2\",\"rate\":\"1Gbps\",\"delay\":\"1us\"}}]}}"
        )
    };
    for (name, port) in
        [("S1\nflush ruleset\n#", "p1"), ("S1\u{1b}[2J", "p1"), ("S1", "p1\nreload now"), ("S1\u{202e}", "p1")]
    {
        let fabric = scratch.file("hostile.json", &graph(name, port));
        let out = scratch.path("out.json");
        for command in [
            ["fabric", "show", &fabric].as_slice(),
            &["fabric", "check", &fabric],
            &["fabric", "convert", &fabric, &out],
            &["tagger", "rules", &fabric, "--paths", "up-down"],
        ] {
            let ran = run(command);
            assert!(ran.code == Some(2) && ran.out.is_empty(), "{command:?} {}", ran.out);
            assert!(ran.err.contains("it has the character U+"), "{}", ran.err);
            assert!(ran.err.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", ran.err);
        }
    }
    // Control characters in names are escaped in error messages.
    let text = graph("S1", "p1").replace("\"target\":\"h2\"", "\"target\":\"x\\u001b[2J\"");
    let ran = run(&["fabric", "show", &scratch.file("painted.json", &text)]);
    assert!(ran.code == Some(2) && !ran.err.contains('\u{1b}') && ran.err.contains("x\\u{1b}[2J"), "{:?}", ran.err);
    // A name that can be displayed may still be invalid as a port name of the target system, or as a file name.
    let fabric = scratch.file("odd.json", &graph("../S1", "p\" . \"q"));
    let rules = rules(&scratch, &fabric);
    for format in ["sonic", "acl", "nftables", "eos"] {
        let ran = export(&rules, &fabric, format, &[]);
        assert!(ran.code == Some(2) && ran.out.is_empty() && ran.err.contains("is no name there"), "{}", ran.err);
    }
    let out = scratch.path("listing");
    assert_eq!(export(&rules, &fabric, "csv", &["--out", &out]).code, Some(0));
    assert_eq!(scratch.names("listing"), ["NOTES.txt", "_._S1.csv", "tidegate.sha256"]);
    assert_eq!(run(&["fabric", "convert", &fabric, &scratch.path("db"), "--to", "config-db"]).code, Some(0));
    assert_eq!(scratch.names("db"), ["_._S1.json", "tidegate.sha256"]);
}
