//! Runs every example and checks that its outcome is as stated in the first lines of the example.

use crate::common::{example, run};
use serde_json::Value;

/// Runs an example, which must exit with `code`; returns its summary as text and as JSON.
fn both(name: &str, code: i32) -> (String, Value) {
    let scenario = example(name);
    let (text, json) = (run(&["run", &scenario]), run(&["run", &scenario, "--json"]));
    assert_eq!((text.code, json.code), (Some(code), Some(code)), "{}{}", text.out, text.err);
    assert_eq!(text.err, json.err);
    // Only examples that demonstrate the effect of a warning may print this warning.
    let warned = match name {
        "partial-pfc.toml" => "outside flow control",
        "link-failure.toml" => "2 frames of lossless classes were lost with links that had failed",
        "pause-storm.toml" => "watchdogs found 1 pause storm",
        _ => "",
    };
    assert!(text.err.contains(warned) && text.err.is_empty() == warned.is_empty(), "{name}: {}", text.err);
    let summary: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((&summary["packets"]["closed"], &summary["partial"]), (&Value::Bool(true), &Value::Bool(false)));
    assert!(summary["bytes"]["delivered"].as_u64().expect("bytes") > 0);
    assert!(text.out.contains(summary["results_hash"].as_str().expect("a hash")), "both are the same run");
    (text.out, summary)
}

#[test]
fn every_example_runs_and_all_its_checks_hold() {
    let folder = example("");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("examples")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 6, "{names:?}");
    names.extend(["replay/scenario.toml", "htsim/scenario.toml"].map(str::to_owned));
    for name in names {
        both(&name, 0);
    }
}

#[test]
fn the_ring_deadlocks_and_the_cycle_is_reported_by_names() {
    let (text, summary) = both("deadlock-ring.toml", 0);
    let closed = summary["deadlock"]["closed_ps"].as_u64().expect("a time");
    assert!(closed > 0 && closed < summary["simulated_ps"].as_u64().expect("a time"));
    let cycle = summary["deadlock"]["cycle"].as_array().expect("a cycle");
    assert_eq!(cycle.len(), 4);
    assert!(text.lines().any(|line| line.starts_with("deadlock      closed at ")), "{text}");
    for edge in cycle {
        let (node, port, peer) = (&edge["node"], &edge["port"], &edge["peer"]);
        let said = format!("{} port {port} class 3 is paused by {}", node.as_str().unwrap(), peer.as_str().unwrap());
        assert!(text.contains(&said), "{said}:\n{text}");
    }
}

#[test]
fn an_unexpected_deadlock_fails_and_without_a_link_of_the_ring_there_is_none() {
    let scenario = example("deadlock-ring.toml");
    let text = std::fs::read_to_string(&scenario).expect("the example").replace("expect = \"deadlock\"", "");
    let scratch = crate::common::Scratch::new("ring");
    let unexpected = scratch.file("unexpected.toml", &text);
    let ran = run(&["run", &unexpected]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("FAIL  deadlock"), "{}", ran.out);
    let open = scratch.file("open.toml", &text.replace("\"from H3\", \"from H4\"", "\"from H3\""));
    let ran = run(&["run", &open]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("closed at"), "{}", ran.out);
}
