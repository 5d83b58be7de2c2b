//! Tests that `tidegate why` reports the cause, port and time of each loss and each pause.

use crate::common::{Ran, Scratch, run};
use record::trace::{TraceEvent, TraceRow, read_trace};
use std::path::Path;
use text::numbers::{instant, span_ps};

/// Runs a scenario with a full trace. Returns the result folder and the rows of the trace.
fn traced(scratch: &Scratch, name: &str, scenario: &str) -> (String, Vec<TraceRow>) {
    let file = scratch.file(&format!("{name}.toml"), scenario);
    let out = scratch.path(name);
    let ran = run(&["run", &file, "--out", &out, "--quiet"]);
    assert!(matches!(ran.code, Some(0 | 1)), "{name}: {}", ran.err);
    let rows = read_trace(&Path::new(&out).join("trace.parquet")).expect("a trace");
    (out, rows)
}

fn why(out: &str, what: &str, of: &str) -> String {
    let ran = run(&["why", out, what, of]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.out
}

/// Returns the number of the first packet that was lost because of `cause`, and the time of the loss as text.
fn first_lost(rows: &[TraceRow], cause: &str) -> (String, String) {
    let by = |row: &&TraceRow| matches!(&row.event, TraceEvent::Dropped { cause: found, .. } if found == cause);
    let row = rows.iter().find(by).unwrap_or_else(|| panic!("nothing was lost by: {cause}"));
    (row.packet.expect("a packet").number.to_string(), instant(row.at))
}

const FOUR_TO_ONE: &str = r#"
duration = "200us"
[fabric]
kind = "single-switch"
hosts = 5
link = { rate = "100Gbps", delay = "500ns" }
[host]
transport = { kind = "roce" }
[[traffic]]
kind = "incast"
fan_in = 4
receiver = "H1"
size = "100KB"
[record]
trace = {}
"#;

#[test]
fn every_cause_of_loss_is_reported_with_location_and_time() {
    let scratch = Scratch::new("why-losses");
    let with = |switch: &str| FOUR_TO_ONE.replace("[host]", &format!("[switch]\n{switch}\n[host]"));
    let link = |more: &str| FOUR_TO_ONE.replace("\"500ns\"", &format!("\"500ns\", {more}"));
    let failing = "[[fail]]\nlink = [\"S1\", \"H1\"]\nat = \"5us\"\n";
    let line = "[fabric]\nkind = \"line\"\nswitches = 3\nhosts_per_switch = 1\nlink = { rate = \"100Gbps\", delay = \
        \"500ns\" }\n";
    let two_hops = format!(
        "duration = \"100us\"\n{line}[host]\nttl = 1\n[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H3\"]]\nsize \
         = \"10KB\"\n[record]\ntrace = {{}}\n"
    );
    let bounce = |queue: &str, more: &str| {
        let more = format!("kind = \"bounce\"{more}");
        BOUNCE.replace("bounce = \"4 packets\"", &format!("bounce = \"{queue}\"")).replace("kind = \"bounce\"", &more)
    };
    let cases: Vec<(&str, String, Vec<&str>)> = vec![
        (
            "queue full",
            with("queue = \"10 packets\""),
            vec!["lost at S1", "queue of S1:0 towards H1", "10 frames", "of flow"],
        ),
        (
            "lossless queue full",
            with(
                "buffer = \"1MB\"\nflow_control = { kind = \"pfc\", priorities = [3], xoff = \"20KB\", headroom = \
                 \"1KB\" }",
            ),
            vec!["lost at S1 although its class is lossless", "frames received at S1:", "waited for S1:0 towards H1"],
        ),
        ("link loss", link("loss = 0.02"), vec!["the link from", "to S1 (S1:", "configured loss"]),
        ("bit error", link("bit_error_rate = 1e-6"), vec!["the link from", "bit error on", "checksum"]),
        ("ttl expired", two_hops.clone(), vec!["lost at S2", "time to live"]),
        ("link down", format!("{FOUR_TO_ONE}{failing}"), vec!["link", "failed", "5us"]),
        ("no route", format!("{FOUR_TO_ONE}{failing}"), vec!["lost at S1", "no live port leads", "ingress port S1:"]),
        ("bounce queue full", bounce("2 packets", ""), vec!["lost at", "towards", "bounce queue full"]),
        ("bounce limit", bounce("100 packets", ", limit = 1"), vec!["lost at", "towards", "bounce limit"]),
    ];
    for (cause, scenario, words) in cases {
        let (out, rows) = traced(&scratch, &cause.replace(' ', "-"), &scenario);
        let (packet, at) = first_lost(&rows, cause);
        let output = why(&out, "--packet", &packet);
        let loss = output.lines().find(|line| line.contains("is lost")).unwrap_or_else(|| panic!("{cause}: {output}"));
        assert!(loss.contains(&at), "{cause} at {at}: {output}");
        for word in words {
            assert!(output.contains(word), "{cause}: `{word}` is missing in\n{output}");
        }
        let json: serde_json::Value =
            serde_json::from_str(&run(&["why", &out, "--packet", &packet, "--json"]).out).expect("JSON");
        assert_eq!(json["outcome"], format!("lost: {cause}"));
    }
}

/// Four flows to H5 in a line of three switches: the port S3:0 to H5 is congested, and pauses propagate back to H1 and
/// H2.
const ROW: &str = r#"
duration = "100us"
[fabric]
kind = "line"
switches = 3
hosts_per_switch = 2
link = { rate = "100Gbps", delay = "500ns" }
[switch]
buffer = "1MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "20KB" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H5"], ["H2", "H5"], ["H3", "H5"], ["H6", "H5"]]
size = "150KB"
[record]
trace = {}
"#;

#[test]
fn every_pause_is_explained_and_traced_to_the_congested_port() {
    let scratch = Scratch::new("why-pauses");
    let (out, rows) = traced(&scratch, "row", ROW);
    let ports = record::trace::read_ports(&Path::new(&out).join("ports.parquet")).expect("ports");
    let mut hosts_behind_two_switches = 0;
    let mut explained_pauses = 0;
    for port in &ports {
        let output = why(&out, "--port", &format!("{}:{}", port.name, port.port));
        let mut stopped = false;
        for row in rows.iter().filter(|row| row.node == port.node) {
            let TraceEvent::Paused { port: at, from, .. } = row.event else { continue };
            if at != port.port || output.contains("more times") {
                continue;
            }
            (stopped, explained_pauses) = (true, explained_pauses + 1);
            // The explanation lists each pause with its start and class.
            let line = output.lines().find(|line| line.contains(&instant(from)) && line.contains("is stopped (class"));
            assert!(line.is_some_and(|line| line.contains("class 3")), "{from} at {}:{at}\n{output}", port.name);
        }
        assert_eq!(stopped, output.contains("is stopped (class"), "{output}");
        // Each explanation of a pause ends at a congested port that is not paused, or at an account that has drained.
        let stops = output.matches("is stopped (class").count();
        let roots = output.matches("which was not stopped: that is the congested port").count();
        let drained = output.matches("no frame of it was left").count();
        assert_eq!(stops, roots + drained, "{output}");
        hosts_behind_two_switches += usize::from(
            port.host
                && output.contains("S1 stopped it at")
                && output.contains("S2 stopped it")
                && output.contains("S3 stopped it")
                && output.contains("S3:0 towards H5, which was not stopped"),
        );
    }
    assert!(explained_pauses > 10, "{explained_pauses}");
    assert!(hosts_behind_two_switches > 0, "pauses spread over three switches to a host");
}

#[test]
fn waits_add_up_and_name_the_flows_ahead() {
    let scratch = Scratch::new("why-waits");
    let (out, rows) = traced(&scratch, "row", ROW);
    // Select the packet with the longest queueing delay at a port.
    let waited = |row: &&TraceRow| match row.event {
        TraceEvent::Started { since, .. } => row.at - since,
        _ => units::Time::ZERO,
    };
    let longest = rows.iter().max_by_key(waited).expect("a wait");
    let packet = longest.packet.expect("a packet");
    let output = why(&out, "--packet", &packet.number.to_string());
    assert!(
        output.contains(&format!("waits {}", span_ps(waited(&longest).as_ps()))) && output.contains("of flow"),
        "{output}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&run(&["why", &out, "--packet", &packet.number.to_string(), "--json"]).out).expect("JSON");
    let of = |name: &str| {
        rows.iter().find(|row| row.packet.is_some_and(|p| p.number == packet.number) && row.event.name() == name)
    };
    let (made, done) = (of("created").expect("made").at, of("delivered").expect("delivered").at);
    let spent = ["serialisation_ps", "propagation_ps", "behind_others_ps", "stopped_ps"]
        .map(|key| json[key].as_u64().expect("a time"));
    assert_eq!(spent.iter().sum::<u64>(), (done - made).as_ps(), "{json:#}");
    let flow = why(&out, "--flow", "0");
    assert!(
        flow.contains("is complete after") && flow.contains("stopped") && flow.contains("The last packet to arrive"),
        "{flow}"
    );
}

/// An express frame of 500 B (H2, class 7) preempts a frame of 1500 B (H1, class 0) at the switch port to H3.
const PREEMPTION: &str = r#"
duration = "900us"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "100Mbps", delay = "50ns" }
[switch]
preemption = { express = [7] }
[record]
trace = {}
[[traffic]]
kind = "pairs"
pairs = [["H1", "H3"]]
process = "periodic"
period = "10ms"
phase = "20us"
frame = "1500B"
class = 0
[[traffic]]
kind = "pairs"
pairs = [["H2", "H3"]]
process = "periodic"
period = "10ms"
phase = "150us"
frame = "500B"
class = 7
"#;

/// The preempted frame is delayed by the express frame (500 bytes), 20 bytes of preamble and gap, and 24 bytes of
/// fragment overhead: 544 bytes x 8 / 100 Mbps = 43.52 us.
#[test]
fn the_time_between_fragments_is_part_of_what_a_packet_took() {
    let scratch = Scratch::new("why-preemption");
    let (file, out) = (scratch.file("preemption.toml", PREEMPTION), scratch.path("out"));
    assert_eq!(run(&["run", &file, "--out", &out, "--quiet"]).code, Some(0));
    let output = why(&out, "--packet", "0");
    assert!(output.contains("it was preempted: the fragments arrive 43.52us later"), "{output}");
    assert!(output.contains("284.9us after it was first seen") && output.contains("43.52us interrupted."), "{output}");
    let json: serde_json::Value =
        serde_json::from_str(&run(&["why", &out, "--packet", "0", "--json"]).out).expect("JSON");
    let spent = ["serialisation_ps", "propagation_ps", "interrupted_ps", "behind_others_ps", "stopped_ps"]
        .map(|key| &json[key]);
    assert_eq!(spent.map(|it| it.as_u64().expect("a time")).iter().sum::<u64>(), 284_900_000, "{json:#}");
}

const BOUNCE: &str = r#"
duration = "200us"
[fabric]
kind = "line"
switches = 3
hosts_per_switch = 2
link = { rate = "100Gbps", delay = "500ns" }
[switch]
queue = { normal = "8 packets", bounce = "4 packets" }
overload = { kind = "bounce" }
[host]
transport = { kind = "datagram", rate = "100Gbps" }
[[traffic]]
kind = "pairs"
pairs = [["H1", "H5"], ["H2", "H5"], ["H3", "H5"], ["H4", "H5"], ["H6", "H5"]]
size = "300KB"
[record]
trace = {}
"#;

#[test]
fn bounces_are_a_timeline() {
    let scratch = Scratch::new("why-bounces");
    let (out, rows) = traced(&scratch, "bounce", BOUNCE);
    let bounces = |row: &&TraceRow| match row.event {
        TraceEvent::Bounced { bounces, .. } => bounces,
        _ => 0,
    };
    let most = rows.iter().max_by_key(bounces).expect("rows");
    assert!(bounces(&most) > 1, "nothing bounced twice");
    let output = why(&out, "--packet", &most.packet.expect("a packet").number.to_string());
    assert!(output.matches("is bounced at").count() >= usize::from(bounces(&most)), "{output}");
    assert!(output.contains(&format!("(number {})", bounces(&most))) && output.contains(&instant(most.at)), "{output}");
}

#[test]
fn a_deadlock_is_reported_as_a_cycle() {
    let scratch = Scratch::new("why-circle");
    let text = std::fs::read_to_string(crate::common::example("deadlock-ring.toml")).expect("an example");
    let with_trace = if text.contains("[record]") {
        text.replace("[record]", "[record]\ntrace = {}")
    } else {
        text + "\n[record]\ntrace = {}\n"
    };
    let (out, _) = traced(&scratch, "ring", &with_trace);
    let ports = record::trace::read_ports(&Path::new(&out).join("ports.parquet")).expect("ports");
    let circles = ports.iter().filter(|port| !port.host).filter(|port| {
        why(&out, "--port", &format!("{}:{}", port.name, port.port))
            .contains("closes a cycle of stops: a deadlock unless it drains")
    });
    assert!(circles.count() >= 4, "every switch of the ring has a port that waits for itself");
}

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "`{word}` is missing in\n{}", ran.err);
    }
}

#[test]
fn errors_of_bad_input_state_the_correct_input() {
    let scratch = Scratch::new("why-bad");
    let (out, _) = traced(&scratch, "good", FOUR_TO_ONE);
    refused(&run(&["why", &out]), &["--flow", "--packet", "--port"]);
    refused(&run(&["why", &out, "--flow", "4"]), &["--flow 4", "it holds flows 0, 1, 2, 3"]);
    refused(&run(&["why", &out, "--packet", "99999999"]), &["--packet 99999999", "packets 0 to"]);
    refused(&run(&["why", &out, "--port", "S7:1"]), &["no node `S7`", "H1"]);
    refused(&run(&["why", &out, "--port", "S1:9"]), &["no port `9`", "S1:0 towards H1"]);
    refused(&run(&["why", &out, "--port", "S1"]), &["several ports", "S1:4 towards H5"]);
    refused(
        &run(&["why", &scratch.path("nothing"), "--flow", "0"]),
        &["nothing", "no such folder", "tidegate run --out"],
    );

    let plain = scratch.file("plain.toml", &FOUR_TO_ONE.replace("trace = {}", ""));
    let untraced = scratch.path("untraced");
    assert_eq!(run(&["run", &plain, "--out", &untraced, "--quiet"]).code, Some(0));
    refused(&run(&["why", &untraced, "--flow", "0"]), &["not traced", "switch on [record] trace"]);

    let some = scratch.file("some.toml", &FOUR_TO_ONE.replace("trace = {}", "trace = { flows = [2] }"));
    let chosen = scratch.path("chosen");
    assert_eq!(run(&["run", &some, "--out", &chosen, "--quiet"]).code, Some(0));
    refused(
        &run(&["why", &chosen, "--flow", "1"]),
        &["flow was not traced", "flows 2", "add 1 to [record] trace.flows"],
    );

    // An incomplete copy of a result (a summary and a truncated trace) is rejected.
    let read = |name: &str| std::fs::read(Path::new(&out).join(name)).expect("a file");
    let summary = String::from_utf8(read("summary.json")).expect("text");
    let half = scratch.0.join("half");
    std::fs::create_dir(&half).expect("a folder");
    std::fs::write(half.join("summary.json"), &summary).expect("a file");
    std::fs::write(half.join("trace.parquet"), &read("trace.parquet")[..100]).expect("a file");
    refused(&run(&["why", half.to_str().expect("UTF-8"), "--flow", "0"]), &["half", "results_hash"]);
}

/// The result is complete, but its summary states another version.
#[test]
fn a_result_of_another_version_is_refused() {
    let scratch = Scratch::new("why-version");
    let (out, _) = traced(&scratch, "old", FOUR_TO_ONE);
    let file = Path::new(&out).join("summary.json");
    let text = std::fs::read_to_string(&file).expect("a summary");
    let ours = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&ours), "{text}");
    let hash = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        value["results_hash"].as_str().expect("a hash").to_owned()
    };
    let text = text.replace(&ours, "\"version\": \"0.0.1\"");
    std::fs::write(&file, &text).expect("a file");
    let right = record::results_hash::results_hash(Path::new(&out)).expect("a hash");
    std::fs::write(&file, text.replace(&hash(&text), &right)).expect("a file");
    refused(&run(&["why", &out, "--flow", "0"]), &["a result of tidegate 0.0.1", "run its scenario again"]);
}

#[test]
fn wrong_choices_are_reported_with_their_line() {
    let scratch = Scratch::new("why-choices");
    for (choice, words) in [
        ("trace = { flows = [4] }", vec!["flow 4 does not exist", "0 to 3"]),
        ("trace = { flows = [\"3-1\"] }", vec!["`3-1` is not a flow"]),
        ("trace = { ports = [\"S1:8\"] }", vec!["`S1` has no port `8`", "S1:0 to H1"]),
        ("trace = { ports = [\"S2\"] }", vec!["no node `S2`"]),
        ("trace = { from = \"2us\", until = \"1us\" }", vec!["nothing lies between 2us and 1us"]),
        ("trace = { flow = [1] }", vec!["unknown key `flow`", "did you mean `flows`?"]),
        ("capture = [{ port = \"S1\" }]", vec!["`S1` has several ports"]),
        ("capture = [{ port = \"H1\" }, { port = \"H1:0\" }]", vec!["captured twice"]),
        ("capture = [{ port = \"H1\", direction = \"inn\" }]", vec!["did you mean `in`?"]),
    ] {
        let file = scratch.file("choice.toml", &FOUR_TO_ONE.replace("trace = {}", choice));
        let mut words = words;
        words.push("choice.toml:15:");
        refused(&run(&["run", &file]), &words);
    }
}

/// `--slowest`, which needs no trace, lists unfinished flows first, then flows by descending slowdown; `--up-to` limits
/// the flow size.
#[test]
fn the_slowest_flows_are_found_without_a_trace() {
    let scratch = Scratch::new("slowest");
    let scenario = "duration = \"40us\"\n[fabric]\nkind = \"single-switch\"\nhosts = 4\n\
         link = { rate = \"100Gbps\", delay = \"500ns\" }\n[host]\ntransport = \"roce\"\n\
         [[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H4\"], [\"H2\", \"H4\"]]\nsize = \"100KB\"\n\
         [[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H3\"]]\nsize = \"9KB\"\n\
         [[traffic]]\nkind = \"pairs\"\npairs = [[\"H2\", \"H3\"]]\nsize = \"5MB\"\n";
    let file = scratch.file("four.toml", scenario);
    let out = scratch.path("it's `four`");
    assert_eq!(run(&["run", &file, "--out", &out, "--quiet"]).code, Some(0));
    let output = run(&["why", &out, "--slowest"]).out;
    let command = format!("tidegate why {} --flow ", text::quoted(&out));
    assert!(command.contains("it'\\''s `four`'") && output.contains(&command), "a command to be copied: {output}");
    let asked = |more: &[&str]| run(&[&["why", &out, "--slowest"], more].concat());
    let json: serde_json::Value = serde_json::from_str(&asked(&["3", "--json"]).out).unwrap();
    assert_eq!(json["of"], 4);
    let flows = json["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 3);
    assert_eq!(
        (flows[0]["size_bytes"].as_u64(), flows[0]["fct_ps"].as_u64()),
        (Some(5_000_000), None),
        "it never ended"
    );
    let slowdown = |at: usize| flows[at]["slowdown"].as_f64().unwrap();
    assert!(slowdown(1) >= slowdown(2) && slowdown(2) > 1.2, "{json}");
    let text = asked(&["--up-to", "10KB"]).out;
    assert!(text.starts_with("the slowest of 1 flow\n") && text.contains("9KB") && !text.contains("100KB"), "{text}");
    assert_eq!(asked(&["--up-to", "1KB"]).out, "the slowest of 0 flows\n");
    assert_eq!(run(&["why", &out, "--up-to", "1KB"]).code, Some(2), "a size of what?");
}
