//! Tests that `tidegate why --pauses` reports the port that caused each pause, the total pause times, and the flows
//! that waited.

use crate::common::{Scratch, run};
use record::trace::{TraceEvent, TraceRow, read_trace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn experiment(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// Runs a scenario with a full trace. Returns the result folder, the JSON of `why --pauses`, and the summary.
fn blame(scratch: &Scratch, name: &str, scenario: &str, changes: &[&str]) -> (String, Value, Value) {
    let out = scratch.path(name);
    let mut arguments = vec!["run", scenario, "--out", &out, "--quiet", "--set", "record.trace={}"];
    changes.iter().for_each(|change| arguments.extend(["--set", change]));
    let ran = run(&arguments);
    assert!(matches!(ran.code, Some(0 | 1)), "{name}: {}", ran.err);
    let output = run(&["why", &out, "--pauses", "--json"]);
    assert_eq!(output.code, Some(0), "{name}: {}", output.err);
    let summary = std::fs::read_to_string(Path::new(&out).join("summary.json")).expect("a summary");
    let output = serde_json::from_str(&output.out).expect("JSON");
    (out, output, serde_json::from_str(&summary).expect("JSON"))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key} in {value:#}"))
}

fn sum(values: &[Value], key: &str) -> u64 {
    values.iter().map(|value| value[key].as_u64().expect("a number")).sum()
}

/// Returns the hosts, then the flows, that have this role with respect to a root cause.
fn who(cause: &Value, role: &str) -> Vec<String> {
    let of = |key: &str, name: &str| {
        let all = list(cause, key).iter().filter(|one| one["role"] == role);
        all.map(|one| one[name].as_str().map_or_else(|| one[name].to_string(), str::to_owned)).collect::<Vec<_>>()
    };
    [of("hosts", "host"), of("flows", "flow")].concat()
}

/// Checks that every pause is counted once by port, once by root cause, and once in the tree of its root cause; and
/// that the total pause time equals that in the summary.
fn adds_up(output: &Value, summary: &Value) {
    let causes = list(output, "causes");
    for key in ["stops", "stopped_ps"] {
        let all = output[key].as_u64().expect("a number");
        assert!(all > 0);
        assert_eq!(sum(list(output, "ports"), key), all, "{key} by port");
        assert_eq!(sum(causes, key), all, "{key} by cause");
        for cause in causes {
            assert_eq!(cause[key].as_u64(), Some(sum(list(cause, "tree"), key)), "{key}: {cause:#}");
        }
    }
    assert_eq!(summary["pauses"]["total_ps"], output["stopped_ps"]);
    // The summary lists only the busiest ports; its pause times of ports exclude holds of single flows.
    for port in list(&summary["links"], "busiest") {
        let name = format!("{}:{}", port["node"].as_str().expect("a name"), port["port"]);
        let ours = list(output, "ports").iter().filter(|one| one["port"] == name.as_str() && one["of"].is_null());
        let ours: u64 = ours.map(|one| one["stopped_ps"].as_u64().expect("a time")).sum();
        assert_eq!(port["paused_ps"], ours, "{name}");
    }
}

/// H1 and H2 send to H7, each over a different spine, so that L3's port to H7 (L3:0) is congested. H3 sends to H4 over
/// one of these spines. Under every flow control, L3:0 is the root cause, and H3 is its victim: it is paused although
/// its flow does not cross L3:0. Exceptions: FLORAX pauses single flows, and not that of H3; per-destination
/// backpressure pauses frames to H7, and H3 sends to H4.
#[test]
fn the_bystander_is_the_victim_of_the_receivers_port() {
    let scratch = Scratch::new("blame-family");
    let by_output = |kind: &str, more: &str| {
        let control = format!("{{ kind = \"{kind}\", upper = 0.25, lower = 0.2425{more} }}");
        format!("switch={{ queue = \"400KB\", flow_control = {control} }}")
    };
    let kinds = [
        ("pfc", "switch.flow_control.xoff=100KB".to_owned()),
        ("pause", "switch.flow_control={ kind = \"pause\", xoff = \"100KB\" }".to_owned()),
        ("pause-at-output", by_output("pause-at-output", ", expiry = \"330us\"")),
        ("destination", by_output("destination", "")),
        ("florax", by_output("florax", "")),
        ("cbfc", "switch.flow_control={ kind = \"cbfc\", priorities = [3] }".to_owned()),
    ];
    for (kind, change) in kinds {
        let changes = [change.as_str(), "duration=1100us", "measure.warm_up=0s"];
        let (_, output, summary) = blame(&scratch, kind, &experiment("bg/fig1.2.toml"), &changes);
        adds_up(&output, &summary);
        let root = &list(&output, "causes")[0];
        assert_eq!((&root["kind"], &root["ports"][0]), (&"congested".into(), &"L3:0".into()), "{kind}: {root:#}");
        let share =
            root["stopped_ps"].as_u64().expect("a time") as f64 / output["stopped_ps"].as_f64().expect("a time");
        assert!(share > 0.999, "{kind}: {share} of the time is the receiver's port's");
        assert_eq!(list(root, "tree").iter().map(|branch| branch["depth"].as_u64()).max(), Some(Some(3)), "{kind}");
        let victims = who(root, "victim");
        match kind {
            "florax" | "destination" => assert!(victims.is_empty(), "{kind}: {victims:?}"),
            _ => assert_eq!(victims, ["H3", "2"], "{kind}"),
        }
        assert_eq!(who(root, "contributor"), ["H1", "H2", "0", "1"], "{kind}");
        assert!(who(root, "not traced").is_empty());
        // The path of a pause continues with the port that the previous port pauses: the spine's port (S1:2 or S2:2),
        // then the leaf's port (L1:3 or L1:4), then a host.
        for branch in list(root, "tree") {
            let path: Vec<&str> = list(branch, "path").iter().map(|port| port.as_str().expect("a port")).collect();
            let expected: &[&str] = if path[0] == "S1:2" { &["S1:2", "L1:3"] } else { &["S2:2", "L1:4"] };
            assert_eq!(&path[..path.len().min(2)], &expected[..path.len().min(2)], "{kind}");
            assert!(path.len() < 3 || path[2].starts_with('H'), "{kind}: {path:?}");
        }
    }
}

/// Computes the paused intervals of each port from trace rows: a pause lasts until it expires or a resume takes effect.
fn stopped(rows: &[TraceRow]) -> BTreeMap<(u32, u16), Vec<(u64, u64)>> {
    let mut commands: BTreeMap<(u32, u16), Vec<(u64, u64)>> = BTreeMap::new();
    for row in rows {
        match row.event {
            TraceEvent::Paused { port, from, until, .. } => {
                commands.entry((row.node, port)).or_default().push((from.as_ps(), until.as_ps()));
            }
            TraceEvent::Resumed { port, from, .. } => {
                commands.entry((row.node, port)).or_default().push((from.as_ps(), from.as_ps()));
            }
            _ => {}
        }
    }
    // A pause or resume is in effect until the next event of the port.
    for all in commands.values_mut() {
        for at in 1..all.len() {
            let next = all[at].0;
            all[at - 1].1 = all[at - 1].1.min(next);
        }
    }
    commands
}

/// Random flows in a leaf-spine fabric, with several ports congested at a time. The time that the frames of each flow
/// waited at paused ports must equal the time computed from the trace by brute force.
#[test]
fn waits_agree_with_brute_force() {
    let scratch = Scratch::new("blame-random");
    let scenario = r#"
duration = "150us"
[fabric]
kind = "leaf-spine"
leaves = 3
spines = 2
hosts_per_leaf = 3
link = { rate = "100Gbps", delay = "500ns" }
[switch]
buffer = "1MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "15KB" }
[host]
transport = { kind = "roce" }
[[traffic]]
kind = "poisson"
load = 0.9
sizes = "web-search"
[[traffic]]
kind = "incast"
fan_in = 6
receiver = "H5"
size = "60KB"
"#;
    let file = scratch.file("random.toml", scenario);
    for seed in ["1", "2", "3"] {
        let (out, output, summary) = blame(&scratch, seed, &file, &[&format!("seed={seed}")]);
        adds_up(&output, &summary);
        let rows = read_trace(&Path::new(&out).join("trace.parquet")).expect("a trace");
        let stopped = stopped(&rows);
        let end = summary["simulated_ps"].as_u64().expect("a time");
        let mut expected: BTreeMap<(u64, bool), u64> = BTreeMap::new();
        let mut queued: BTreeMap<u64, (&TraceRow, u16)> = BTreeMap::new();
        let mut wait = |row: &TraceRow, port: u16, until: u64| {
            let packet = row.packet.expect("a packet");
            let during = stopped.get(&(row.node, port)).into_iter().flatten();
            let waited = during.map(|&(a, b)| b.min(until).saturating_sub(a.max(row.at.as_ps()))).sum::<u64>();
            if waited > 0 && packet.class == 3 {
                let reply = packet.kind != record::trace::PacketKind::Data;
                *expected.entry((packet.flow, reply)).or_default() += waited;
            }
        };
        for row in &rows {
            match row.event {
                TraceEvent::Queued { port, .. } => {
                    queued.insert(row.packet.expect("a packet").number, (row, port));
                }
                TraceEvent::Started { .. } => {
                    if let Some((joined, port)) = queued.remove(&row.packet.expect("a packet").number) {
                        wait(joined, port, row.at.as_ps());
                    }
                }
                _ => {}
            }
        }
        queued.values().for_each(|&(joined, port)| wait(joined, port, end));
        let mut found: BTreeMap<(u64, bool), u64> = BTreeMap::new();
        for flow in list(&output, "causes").iter().flat_map(|cause| list(cause, "flows")) {
            let key = (flow["flow"].as_u64().expect("a flow"), flow["replies"].as_bool().expect("a flag"));
            *found.entry(key).or_default() += flow["waited_ps"].as_u64().expect("a time");
        }
        assert!(found.len() > 4, "seed {seed}: {found:?}");
        assert_eq!(found, expected, "seed {seed}");
        assert!(list(&output, "causes").len() > 1, "seed {seed}: one cause only");
    }
}

#[test]
fn a_circle_a_mad_card_and_few_credits_are_causes_of_their_own() {
    let scratch = Scratch::new("blame-causes");
    let (_, output, _) = blame(&scratch, "ring", &crate::common::example("deadlock-ring.toml"), &[]);
    let cycle = list(&output, "causes").iter().find(|cause| cause["kind"] == "cycle").expect("a cycle");
    let ports: Vec<&str> = list(cycle, "ports").iter().map(|port| port.as_str().expect("a port")).collect();
    assert_eq!(ports.len(), 4, "{ports:?}");
    assert!((1..=4).all(|switch| ports.iter().any(|port| port.starts_with(&format!("S{switch}:")))), "{ports:?}");
    assert_eq!(who(cycle, "contributor"), ["H1", "H2", "H3", "H4", "0", "1", "2", "3"]);

    let (out, output, summary) = blame(&scratch, "storm", &crate::common::example("pause-storm.toml"), &[]);
    let host = list(&output, "causes").iter().find(|cause| cause["kind"] == "host").expect("a host with a pause storm");
    assert_eq!(host["node"], "H3");
    assert_eq!(who(host, "victim"), ["1"], "what goes past it");
    assert_eq!(who(host, "contributor"), ["H1", "0"], "what goes to it");
    // H3 sends a pause storm; the watchdog of the switch port towards H3 detects it.
    let storm = &summary["pause_storms"]["ports"][0];
    let port = format!("{}:{}", storm["node"].as_str().expect("a name"), storm["port"]);
    let output = run(&["why", &out, "--port", &port]).out;
    assert!(output.contains("its watchdog detects a pause storm (class 3)"), "{output}");
    assert!(output.contains("H3 requested it: a host, at which the chain ends"), "{output}");
    let rows = read_trace(&Path::new(&out).join("trace.parquet")).expect("a trace");
    let lost =
        rows.iter().find(|row| matches!(&row.event, TraceEvent::Dropped { cause, .. } if cause == "pause storm"));
    let packet = lost.and_then(|row| row.packet).expect("a packet that was lost");
    let output = run(&["why", &out, "--packet", &packet.number.to_string()]).out;
    assert!(
        output.contains("the watchdog drops frames") && output.contains("towards H3, which was stopped for too long"),
        "{output}"
    );

    let few = [
        "switch.flow_control={ kind = \"cbfc\", priorities = [3], credits = \"2KB\" }",
        "duration=1100us",
        "measure.warm_up=0s",
    ];
    let (_, output, summary) = blame(&scratch, "few", &experiment("bg/fig1.2.toml"), &few);
    adds_up(&output, &summary);
    assert!(list(&output, "causes").iter().all(|cause| cause["kind"] == "credits"), "{output:#}");
}

#[test]
fn who_is_held_in_one_flow_does_not_stand_still() {
    let scratch = Scratch::new("blame-held");
    let florax = "switch={ queue = \"400KB\", flow_control = { kind = \"florax\" } }";
    let changes = [florax, "duration=1100us"];
    let (out, output, summary) = blame(&scratch, "florax", &experiment("bg/fig1.2.toml"), &changes);
    adds_up(&output, &summary);
    let text = run(&["why", &out, "--pauses"]).out;
    assert!(text.contains("held back 1 time") && !text.contains("stopped 1 time"), "{text}");
}

#[test]
fn untraced_events_are_reported() {
    let scratch = Scratch::new("blame-bad");
    let out = scratch.path("untraced");
    let scenario = experiment("bg/fig1.2.toml");
    let short = ["run", &scenario, "--quiet", "--set", "duration=1100us", "--out"];
    assert_eq!(run(&[&short[..], &[&out]].concat()).code, Some(0));
    let ran = run(&["why", &out, "--pauses"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("not traced") && ran.err.contains("switch on [record] trace"), "{}", ran.err);

    let some = scratch.path("some");
    assert_eq!(run(&[&short[..], &[&some, "--set", "record.trace={ flows = [0] }"]].concat()).code, Some(0));
    let ran = run(&["why", &some, "--pauses"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("The trace has frames of 1 of 3 flows"), "{}", ran.out);
    // The victim is known although its flow is not traced: the congested port leads to the receiver H7 only, and H3
    // sends to another host.
    assert!(ran.out.lines().any(|line| line.contains("victim") && line.contains("H3")), "{}", ran.out);
}
