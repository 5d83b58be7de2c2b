//! Tests of `tidegate fabric check --pfc` and `tidegate tagger verify`.

use crate::common::{Scratch, example, run};
use serde_json::Value;

/// The Clos fabric of the Tagger paper (Fig. 2): two pods of two ToRs and two leaves, two spines, 16 hosts.
const CLOS: [&str; 15] = [
    "clos",
    "--pods",
    "2",
    "--tors-per-pod",
    "2",
    "--leaves-per-pod",
    "2",
    "--spines",
    "2",
    "--hosts-per-tor",
    "4",
    "--rate",
    "40Gbps",
    "--delay",
    "1us",
];
/// The two flows of Tagger's Fig. 3, green and blue; each bounces once.
const BOUNCED: &str = "H9 T3 L3 S2 L2 S1 L1 T1 H1\nH5 T2 L2 S1 L3 S2 L4 T4 H13\n";

fn check(more: &[&str]) -> crate::common::Ran {
    run(&[["fabric", "check"].as_slice(), &CLOS, &["--pfc"], more].concat())
}

#[test]
fn two_bounced_flows_close_the_circle_of_the_paper() {
    let healthy = check(&[]);
    assert_eq!(healthy.code, Some(0), "{}", healthy.err);
    assert!(healthy.out.contains("shortest paths: 48 lossless queues with 88 dependencies"), "{}", healthy.out);
    assert!(healthy.out.contains("ok    it cannot deadlock under PFC"), "{}", healthy.out);

    let scratch = Scratch::new("pfc");
    let paths = scratch.file("bounced.txt", BOUNCED);
    let ran = check(&["--paths", &paths]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    for line in [
        "FAIL  it can deadlock under PFC: 4 queues wait for each other in a circle (no circle is shorter than this)",
        "        L3:3 -> S2:2  waits for S2 -> L2: frames for H1\n",
        "        S2:1 -> L2:3  waits for L2 -> S1: frames for H1\n",
        "        L2:2 -> S1:1  waits for S1 -> L3: frames for H13\n",
        "        S1:2 -> L3:2  waits for L3 -> S2: frames for H13\n",
    ] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
    // One of the flows alone causes no cyclic buffer dependency.
    for flow in BOUNCED.lines() {
        let alone = scratch.file("alone.txt", flow);
        assert_eq!(check(&["--paths", &alone]).code, Some(0), "{flow}");
    }
    let json: Value = serde_json::from_str(&check(&["--paths", &paths, "--json"]).out).unwrap();
    assert_eq!(
        (&json["deadlock_free"], &json["routing"], &json["shortest"]),
        (&false.into(), &Value::Null, &true.into())
    );
    let cycle = json["cycle"].as_array().unwrap();
    assert_eq!(
        (cycle.len(), &cycle[0]["link"]["from"], &cycle[0]["destinations"]),
        (4, &"L2".into(), &serde_json::json!(["H13"]))
    );
}

#[test]
fn routing_failures_and_bounces_are_choices() {
    assert_eq!(check(&["--routing", "up-down", "--fail", "L2-T1", "--fail", "L3-T4"]).code, Some(0));
    assert_eq!(check(&["--routing", "two-level"]).code, Some(0));
    let bounced = check(&["--bounces", "1", "--json"]);
    let json: Value = serde_json::from_str(&bounced.out).unwrap();
    assert_eq!((bounced.code, &json["bounces"], &json["routing"]), (Some(1), &1.into(), &"shortest".into()));
    // The failed link disconnects H1: this is reported as a hint, and is not a deadlock.
    let ran = check(&["--fail", "H1-T1"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("hint  no route leads from host `H"), "{}", ran.out);

    let ring = [
        "fabric",
        "check",
        "ring",
        "--switches",
        "5",
        "--hosts-per-switch",
        "1",
        "--rate",
        "1Gbps",
        "--delay",
        "1us",
        "--pfc",
    ];
    assert_eq!(run(&ring).code, Some(1));
    assert_eq!(run(&[ring.as_slice(), &["--routing", "up-down"]].concat()).code, Some(0));
    assert_eq!(run(&["fabric", "check", &example("deadlock-ring.toml"), "--pfc"]).code, Some(1));
}

#[test]
fn what_the_question_cannot_mean_is_refused() {
    let scratch = Scratch::new("pfc-bad");
    let loops = scratch.file("loop.txt", "# comment\nH1 T1 L1 T2 L2 T1\n");
    let table: [(&[&str], &str); 8] = [
        (&["--fail", "L2-T9"], "error: --fail L2-T9: the fabric has no node `T9`"),
        (&["--fail", "T1-T2"], "error: --fail T1-T2: no link joins `T1` and `T2`"),
        (&["--fail", "T1"], "error: --fail T1: `T1` is no link: write `A-B`"),
        (&["--routing", "best"], "possible values: shortest, up-down, two-level"),
        (&["--bounces", "99"], "99 is not in 0..=16"),
        (&["--paths", &loops], "loop.txt:2: the path comes to `T1` twice"),
        (&["--paths", "/nowhere/paths.txt"], "/nowhere/paths.txt: cannot read it"),
        (&["--paths", &loops, "--bounces", "1"], "cannot be used with"),
    ];
    for (arguments, message) in table {
        let ran = check(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{message}\n{}", ran.err);
    }
    let without = run(&[["fabric", "check"].as_slice(), &CLOS, &["--bounces", "1"]].concat());
    assert!(without.code == Some(2) && without.err.contains("--pfc"), "{}", without.err);
}

/// A chain of three switches with one host each. Peers by port: S1: 0 = H1, 1 = S2; S2: 0 = H2, 1 = S1, 2 = S3; S3: 0 =
/// H3, 1 = S2.
const LINE: [&str; 9] = ["line", "--switches", "3", "--hosts-per-switch", "1", "--rate", "10Gbps", "--delay", "1us"];

/// Returns a rule file for [`LINE`], in which the middle switch has the rules `s2`.
fn rules(s2: &str) -> String {
    let ends =
        r#"[ {"tag": 1, "in": [0], "out": [1], "new_tag": 1}, {"tag": 1, "in": [1], "out": [0], "new_tag": 1} ]"#;
    format!(
        r#"{{ "format": "tidegate-tagger-rules", "version": 1,
  "fabric": {{ "kind": "line", "switches": 3, "hosts": 3, "links": 5, "hash": "HASH" }},
  "generated_by": {{ "algorithm": "hand", "paths": "shortest" }},
  "lossless_tags": [1], "lossy_tag": 0, "classes": [ {{ "name": "default", "first_tag": 1 }} ],
  "switches": [ {{ "name": "S1", "rules": {ends} }}, {{ "name": "S2", "rules": {s2} }},
            {{ "name": "S3", "rules": {ends} }} ] }}"#
    )
}

const MIDDLE: &str = r#"[ {"tag": 1, "in": [0], "out": [1, 2], "new_tag": 1},
    {"tag": 1, "in": [1], "out": [0, 2], "new_tag": 1},
    {"tag": 1, "in": [2], "out": [0, 1], "new_tag": 1} ]"#;
/// A rule whose port sets also match frames that leave through their ingress port.
const SLOPPY: &str = r#"[ {"tag": 1, "in": [0, 1, 2], "out": [0, 1, 2], "new_tag": 1} ]"#;

/// Returns the hash of the fabric [`LINE`], which is taken from the error for a wrong hash.
fn hash(scratch: &Scratch) -> String {
    let file = scratch.file("wrong.json", &rules(MIDDLE).replace("HASH", "0000000000000000"));
    let ran = verify(&file, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    let (_, rest) = ran
        .err
        .split_once("the rules are for another fabric: they have hash 0000000000000000, this one has ")
        .expect(&ran.err);
    rest.split_whitespace().next().unwrap().to_owned()
}

fn verify(rules: &str, more: &[&str]) -> crate::common::Ran {
    run(&[["tagger", "verify", rules, "--fabric"].as_slice(), &LINE, more].concat())
}

#[test]
fn rules_are_proved_or_refuted() {
    let scratch = Scratch::new("verify");
    let hash = hash(&scratch);
    let good = scratch.file("good.json", &rules(MIDDLE).replace("HASH", &hash));
    let paths = scratch.file("paths.txt", "H1 S1 S2 S3 H3\nS3 S2\nH2 S2 S1 H1\n");
    let ran = verify(&good, &["--paths", &paths, "--routing", "shortest"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for line in [
        "good.json: 7 rules on 3 switches, 1 lossless tag, 1 class\n",
        "  ok    tags-never-decrease: ",
        "however frames are forwarded (7 queues, 6 dependencies)\n",
        "for every class (3 paths)\n",
    ] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
    assert!(!ran.out.contains("hint"));
    assert!(verify(&good, &[]).out.contains("hint  without --paths and --routing"));

    let sloppy = scratch.file("sloppy.json", &rules(SLOPPY).replace("HASH", &hash));
    // If only one switch sends frames back through their ingress port, there is no cycle.
    assert_eq!(verify(&sloppy, &["--paths", &paths]).code, Some(0));
}

#[test]
fn a_refuted_rule_set_prints_circle_or_path() {
    let scratch = Scratch::new("refuted");
    let hash = hash(&scratch);
    let all = rules(SLOPPY).replace("HASH", &hash).replace("\"in\": [1], \"out\": [0]", "\"in\": [1], \"out\": [0, 1]");
    let file = scratch.file("circle.json", &all);
    let ran = verify(&file, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("        S2:1 -> S1:1  tag 1\n        S1:1 -> S2:1  tag 1\n"), "{}", ran.out);
    assert!(
        ran.out.contains("FAIL  no-reachable-cycle") && ran.out.contains("        the same circle\n"),
        "{}",
        ran.out
    );

    let fewer = MIDDLE.replace("[0, 2]", "[0]");
    let file = scratch.file("lossy.json", &rules(&fewer).replace("HASH", &hash));
    let ran = verify(&file, &["--paths", &scratch.file("paths.txt", "H2 S2 S1 H1\nH1 S1 S2 S3 H3\n")]);
    assert_eq!(ran.code, Some(1));
    let path = "an expected path turns lossy\n        line 2, class default: `S2` has no rule that keeps tag 1 \
        lossless from port 1 to port 2\n          H1:0 -> S1:0  tag 1\n          S1:1 -> S2:1  tag 1\n          S2:2 \
        -> S3:1  lossy\n";
    assert!(ran.out.contains(path), "{}", ran.out);
    let json: Value = serde_json::from_str(&verify(&file, &["--routing", "shortest", "--json"]).out).unwrap();
    assert_eq!((&json["pass"], &json["verdict"]["counts"]["lost"]), (&false.into(), &1.into()));
    let links = json["verdict"]["lost"][0]["links"].as_array().unwrap();
    assert_eq!((links.len(), &links[2]["tag"]), (3, &Value::Null));
}

#[test]
fn rules_that_say_nothing_are_refused_with_their_place() {
    let scratch = Scratch::new("refused");
    let hash = hash(&scratch);
    let good = rules(MIDDLE).replace("HASH", &hash);
    let table = [
        (good.replace("\"S2\"", "\"S9\""), "bad.json: the fabric has no switch `S9`"),
        (
            good.replace("[0, 2]", "[0, 7]"),
            "bad.json: switch `S2`, rule 2: `out` names port 7, but the switch has 3, counted from 0",
        ),
        (good.replace("[0, 2]", "[0, 0]"), "bad.json: switch `S2`, rule 2: `out` names port 0 twice"),
        (
            good.replace("\"version\": 1", "\"version\": 9"),
            "bad.json: this is no rule file: `version` is 9, expected 1",
        ),
        (good.replace("\"version\": 1,", "\"version\": 1"), "bad.json:2:3: expected `,` or `}`"),
        (good.replace("\"tag\": 1, \"in\": [0], \"out\": [1, 2]", "\"tag\": 1, \"out\": [1, 2]"), "missing field `in`"),
    ];
    for (text, message) in table {
        let ran = verify(&scratch.file("bad.json", &text), &[]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
        assert!(ran.err.contains(message), "{message}\n{}", ran.err);
    }
    let good = scratch.file("good.json", &good);
    let ran = verify(&good, &["--paths", &scratch.file("paths.txt", "H1 S1 S3 H3\n")]);
    assert!(ran.code == Some(2) && ran.err.contains("paths.txt:1: no link joins `S1` and `S3`"), "{}", ran.err);
    let other = run(&[
        "tagger",
        "verify",
        &good,
        "--fabric",
        "ring",
        "--switches",
        "4",
        "--hosts-per-switch",
        "1",
        "--rate",
        "1Gbps",
        "--delay",
        "1us",
    ]);
    assert!(other.code == Some(2) && other.err.contains("they have switches 3, this one has 4"), "{}", other.err);
}

/// A fabric with one host has no paths between hosts: commands that check such paths reject it.
#[test]
fn a_fabric_with_one_host_is_refused_where_paths_are_checked() {
    let scratch = Scratch::new("one-host");
    let text = "topology:\n  nodes:\n    leaf1: {kind: ceos}\n    leaf2: {kind: ceos}\n    spine1: {kind: ceos}\n    \
                a: {kind: linux}\n    b: {kind: linux}\n  links:\n    - endpoints: [\"a:1\", \"leaf1:1\"]\n    \
                - endpoints: [\"b:1\", \"leaf2:1\"]\n    - endpoints: [\"leaf1:2\", \"spine1:1\"]\n    \
                - endpoints: [\"leaf2:2\", \"spine1:2\"]\n";
    let fabric = scratch.file("one.clab.yml", &text.replace("b: {kind: linux}", "b: {kind: ceos}"));
    let refused = |arguments: &[&str]| {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.out);
        let message = "1 host: without traffic between hosts there is nothing to check";
        assert!(ran.err.contains(message), "{arguments:?}: {}", ran.err);
    };
    refused(&["fabric", "check", &fabric, "--pfc"]);
    refused(&["tagger", "rules", &fabric, "--paths", "up-down"]);
}
