//! Tests of `tidegate schedule`: time slots, gate control lists, exports, verification, rejected inputs.

use crate::common::{Ran, Scratch, example, run};

const STREAM: &str = "[[stream]]\nname = \"a\"\nfrom = \"rru0\"\nto = \"bbu\"\nperiod = \"1920ns\"\nframe = \"600B\"\n";

fn schedule(words: &[&str]) -> Ran {
    let fabric = example("schedule/fronthaul.json");
    run(&[&["schedule"], words, &["--fabric", &fabric]].concat())
}

#[test]
fn what_every_scheduler_makes_is_judged_to_hold() {
    let scratch = Scratch::new("schedule-holds");
    let streams = example("schedule/cpri.toml");
    for by in ["central", "dtscoe", "dtscoe-tightest", "per-hop"] {
        for more in [[].as_slice(), &["--frame-only"], &["--guard-frame", "100B", "--processing", "100ns"]] {
            let file = scratch.path("schedule.json");
            let words =
                [&[streams.as_str(), "--algorithm", by, "--to", "json", "--out", &file, "--force"], more].concat();
            let made = schedule(&words);
            assert_eq!(made.code, Some(0), "{by} {more:?}: {}", made.err);
            let judged = schedule(&["verify", &file]);
            assert_eq!(judged.code, Some(0), "{by} {more:?}: {}", judged.out);
            // Per-hop schedules let frames wait in queues, and frames in the same queue may be sent in another order: a
            // hint says so.
            assert_eq!(judged.out.contains("a queue for each is needed"), by == "per-hop", "{by}: {}", judged.out);
        }
    }
}

#[test]
fn a_schedule_that_was_tampered_with_is_exit_code_1() {
    let scratch = Scratch::new("schedule-tampered");
    let file = scratch.path("schedule.json");
    let streams = example("schedule/cpri.toml");
    assert_eq!(schedule(&[&streams, "--to", "json", "--out", &file]).code, Some(0));
    let text = std::fs::read_to_string(&file).unwrap();
    let other = scratch.file("other.json", &text.replacen("\"start_ps\": 0", "\"start_ps\": 30000", 1));
    let judged = schedule(&["verify", &other]);
    assert_eq!(judged.code, Some(1), "{}", judged.out);
    assert!(judged.out.contains("FAIL  order") && judged.out.contains("cpri0"), "{}", judged.out);
}

#[test]
fn a_stream_that_does_not_fit_is_reported_with_the_link_and_its_users() {
    let ran = schedule(&[&example("schedule/too-much.toml")]);
    assert_eq!(ran.code, Some(1));
    for said in ["no slot for `cpri8`", "port 4 of `sw1`", "`cpri0` at", "every 640ns"] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
}

#[test]
fn a_stream_that_waits_beyond_its_deadline_is_reported() {
    let scratch = Scratch::new("schedule-late");
    let text = std::fs::read_to_string(example("schedule/cpri.toml")).unwrap();
    let file = scratch.file("streams.toml", &text.replace("deadline = \"2us\"", "deadline = \"500ns\""));
    assert_eq!(schedule(&[&file]).code, Some(0));
    let ran = schedule(&[&file, "--algorithm", "per-hop"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("no slot for `cpri6`: its frames would wait on their way"), "{}", ran.out);
}

#[test]
fn what_we_did_not_write_is_not_overwritten() {
    let scratch = Scratch::new("schedule-overwrites");
    let streams = example("schedule/cpri.toml");
    for to in ["json", "svg"] {
        let file = scratch.file("mine", "mine");
        let ran = schedule(&[&streams, "--to", to, "--out", &file]);
        assert_eq!((ran.code, std::fs::read_to_string(&file).unwrap().as_str()), (Some(2), "mine"), "{to}");
        assert!(ran.err.contains("--force"), "{}", ran.err);
    }
    for to in ["taprio", "qcw"] {
        let folder = scratch.path(to);
        assert_eq!(schedule(&[&streams, "--to", to, "--out", &folder]).code, Some(0));
        // Files that Tidegate wrote may be overwritten if they are unchanged. A changed file is not overwritten.
        assert_eq!(schedule(&[&streams, "--to", to, "--out", &folder]).code, Some(0));
        let names = scratch.names(to);
        let changed = names.iter().find(|name| name.starts_with("sw4")).unwrap();
        std::fs::write(format!("{folder}/{changed}"), "mine").unwrap();
        assert_eq!(schedule(&[&streams, "--to", to, "--out", &folder]).code, Some(2), "{to}");
    }
}

#[test]
fn wrong_streams_are_refused_with_their_line() {
    let scratch = Scratch::new("schedule-refused");
    let twice = format!("{STREAM}{STREAM}");
    let coprime = format!("{STREAM}{}", STREAM.replace("\"a\"", "\"b\"").replace("1920ns", "1921001ps"));
    let rows: [(&str, &str, &str); 14] = [
        ("frame = \"600B\"", "frame = \"60000B\"", ":1: stream `a`: a frame of 60000 bytes keeps port 0 of rru0 busy"),
        ("period = \"1920ns\"", "period = \"1ns\"", ":1: stream `a`: a frame of 600 bytes"),
        ("period = \"1920ns\"", "period = \"0ns\"", ":5: a period is above zero"),
        ("period = \"1920ns\"", "period = \"fast\"", ":5: period: "),
        ("frame = \"600B\"", "frame = \"63B\"", ":6: a frame has 64 to 65535 bytes"),
        ("frame = \"600B\"", "frame = 600", ":6: invalid type"),
        ("to = \"bbu\"", "to = \"pool\"", ":1: stream `a`: the fabric has no node `pool`"),
        ("to = \"bbu\"", "to = \"sw4\"", ":1: stream `a`: its ends must be hosts"),
        ("to = \"bbu\"", "to = \"rru0\"", ":1: stream `a` goes from `rru0` to itself"),
        ("to = \"bbu\"\n", "", ":1: stream `a` needs `from` and `to`, or a `path`"),
        (
            "from = \"rru0\"\nto = \"bbu\"",
            "path = [\"rru0\", \"sw3\", \"bbu\"]",
            ":1: stream `a` has no path: no link joins `rru0` and `sw3`",
        ),
        ("name = \"a\"", "name = \"a\"\ndeadline = \"1ns\"", ":1: stream `a`: a frame takes 394.56ns"),
        (STREAM, &twice, ":8: stream `a` occurs twice"),
        (STREAM, &coprime, ":7: the periods up to that of stream `b` have no common multiple of at most 100ms"),
    ];
    for (good, bad, said) in rows {
        let file = scratch.file("streams.toml", &STREAM.replace(good, bad));
        let ran = schedule(&[&file]);
        assert_eq!(ran.code, Some(2), "{bad}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(said), "{bad}: {}", ran.err);
    }
    assert_eq!(schedule(&[&scratch.file("streams.toml", STREAM)]).code, Some(0));
    let ran = schedule(&["verify", &scratch.file("schedule.json", "{\n \"format\": 7}")]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("schedule.json:2:"), "{}", ran.err);
}

/// Returns the list of streams in the file `streams`, with the start times of the file `schedule`.
fn started(streams: &str, schedule: &str) -> String {
    let mut text = std::fs::read_to_string(streams).unwrap();
    let json = std::fs::read_to_string(schedule).unwrap();
    for part in json.split("\"name\": \"").skip(1) {
        let name = part.split('"').next().unwrap();
        let start = part.split("\"start_ps\": ").nth(1).unwrap().split(|c: char| !c.is_ascii_digit()).next().unwrap();
        let at = format!("name = \"{name}\"\n");
        assert!(text.contains(&at));
        text = text.replace(&at, &format!("{at}start = \"{start}ps\"\n"));
    }
    text
}

#[test]
fn gates_without_slots_of_any_origin_are_followed() {
    let scratch = Scratch::new("schedule-followed");
    let streams = example("schedule/cpri.toml");
    let file = scratch.path("schedule.json");
    assert_eq!(schedule(&[&streams, "--to", "json", "--out", &file]).code, Some(0));
    let with_starts = scratch.file("streams.toml", &started(&streams, &file));
    for to in ["taprio", "qcw"] {
        let folder = scratch.path(to);
        assert_eq!(schedule(&[&streams, "--to", to, "--out", &folder]).code, Some(0));
        let judged = schedule(&["verify", &folder, "--streams", &with_starts]);
        assert_eq!(judged.code, Some(0), "{to}: {}{}", judged.out, judged.err);
        assert!(judged.out.contains("8 streams, gates of 12 ports"), "{}", judged.out);
        assert!(judged.out.contains("the longest wait is 0ps, the longest way 442.56ns"), "{}", judged.out);
        // The streams have no `start`, and class 6 instead of 7: their frames find closed gates.
        let judged = schedule(&["verify", &folder, "--streams", &streams, "--class", "6"]);
        assert_eq!(judged.code, Some(1), "{to}: {}", judged.out);
        let judged = schedule(&["verify", &folder]);
        assert_eq!(judged.code, Some(2));
        assert!(judged.err.contains("name them with --streams"), "{}", judged.err);
        let name = scratch.names(to).into_iter().find(|name| name.starts_with("sw4")).unwrap();
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let (from, into, said) = match to {
            "taprio" => ("S 80 ", "S 8x ", format!("{name}:6: `8x` is no mask")),
            _ => ("\"gate-states-value\": 128", "\"gate-states-value\": 1280", format!("{name}:20:")),
        };
        let bad = scratch.file(&name, &text.replacen(from, into, 1));
        let judged = schedule(&["verify", &bad, "--streams", &with_starts]);
        assert_eq!(judged.code, Some(2), "{}", judged.out);
        assert!(judged.err.contains(&said), "{}", judged.err);
        let nobody = scratch.file(&name.replace("sw4", "sw9"), &text);
        let judged = schedule(&["verify", &nobody, "--streams", &with_starts]);
        assert!(judged.err.contains("node `sw9`: the fabric has none of this name"), "{}", judged.err);
    }
}

/// If a file with gate control lists were skipped, its gates would appear to be always open. Therefore IEEE 802.1Qcw as
/// XML is rejected, as a single file and in a folder with files that are read.
#[test]
fn gates_as_xml_are_refused() {
    let scratch = Scratch::new("schedule-xml");
    let streams = example("schedule/cpri.toml");
    let file = scratch.path("schedule.json");
    assert_eq!(schedule(&[&streams, "--to", "json", "--out", &file]).code, Some(0));
    let with_starts = scratch.file("streams.toml", &started(&streams, &file));
    let folder = scratch.path("qcw");
    assert_eq!(schedule(&[&streams, "--to", "qcw", "--out", &folder]).code, Some(0));
    let verify = |path: &str| schedule(&["verify", path, "--streams", &with_starts]);
    assert_eq!(verify(&folder).code, Some(0));
    let xml = "<interfaces xmlns=\"urn:ietf:params:xml:ns:yang:ietf-interfaces\"><interface><name>p0</name>\
               <bridge-port><gate-parameter-table><gate-enabled>true</gate-enabled></gate-parameter-table>\
               </bridge-port></interface></interfaces>";
    for name in ["sw4.xml", "other.xml"] {
        let alone = scratch.file(name, xml);
        std::fs::copy(&alone, format!("{folder}/{name}")).unwrap();
        for path in [&alone, &folder] {
            let ran = verify(path);
            assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
            let said = format!("{name}: the file is not read: gates are in NODE.sh (taprio) or NODE.json");
            assert!(ran.err.replace("\n  ", " ").contains(&said), "{}", ran.err);
        }
        std::fs::remove_file(format!("{folder}/{name}")).unwrap();
    }
}

/// Network of tsnkit: switches 0 and 1, host 2 at switch 0, host 3 at switch 1; 1 bit/ns, processing delay 2,000 ns.
const NETWORK: &str = "link,q_num,rate,t_proc,t_prop
\"(0, 1)\",8,1,2000,0
\"(1, 0)\",8,1,2000,0
\"(0, 2)\",8,1,2000,0
\"(2, 0)\",8,1,2000,0
\"(1, 3)\",8,1,2000,0
\"(3, 1)\",8,1,2000,0
";

#[test]
fn tables_of_tsnkit_are_read_and_written() {
    let scratch = Scratch::new("schedule-tsnkit");
    let network = scratch.file("topo.csv", NETWORK);
    let streams =
        "stream,src,dst,size,period,deadline,jitter\n0,2,[3],100,100000,100000,0\n1,2,[3],200,200000,200000,0\n";
    let streams = scratch.file("task.csv", streams);
    let tables = scratch.path("tables");
    let words = ["schedule", &streams, "--tsnkit-network", &network, "--grid", "100ns"];
    let ran = run(&[words.as_slice(), &["--to", "tsnkit", "--out", &tables]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let read = |name: &str| std::fs::read_to_string(format!("{tables}/tidegate-{name}.csv")).unwrap();
    // At 1 bit/ns a frame of 100 bytes takes 800 ns; it leaves switch 0 after another 2,000 ns of processing: at 2,800
    // ns.
    assert_eq!(read("OFFSET"), "stream,frame,offset\n0,0,0\n1,0,800\n");
    assert!(read("GCL").contains("\"(0, 1)\",7,2800,3600,200000\n"), "{}", read("GCL"));
    assert!(read("GCL").contains("\"(0, 1)\",7,102800,103600,200000\n"), "{}", read("GCL"));
    assert!(read("ROUTE").ends_with("1,\"(2, 0)\"\n1,\"(0, 1)\"\n1,\"(1, 3)\"\n"), "{}", read("ROUTE"));
    let judged = run(&["schedule", "verify", &tables, "--tsnkit-network", &network, "--streams", &streams]);
    assert_eq!(judged.code, Some(0), "{}{}", judged.out, judged.err);
    assert!(judged.out.contains("2 streams, gates of 3 ports"), "{}", judged.out);
    let gates = format!("{tables}/tidegate-GCL.csv");
    std::fs::write(&gates, read("GCL").replace(",7,2800,3600,", ",7,2900,3600,")).unwrap();
    let judged = run(&["schedule", "verify", &tables, "--tsnkit-network", &network, "--streams", &streams]);
    assert_eq!(judged.code, Some(1), "{}", judged.out);
    std::fs::write(&gates, read("GCL").replace(",7,2900,3600,", ",9,2900,3600,")).unwrap();
    let judged = run(&["schedule", "verify", &tables, "--tsnkit-network", &network, "--streams", &streams]);
    assert_eq!(judged.code, Some(2), "{}", judged.out);
    assert!(judged.err.contains("GCL.csv:") && judged.err.contains("expected a queue of 0 to 7"), "{}", judged.err);
    let one_way = scratch.file("one.csv", &NETWORK.replace("\"(3, 1)\",8,1,2000,0\n", ""));
    let ran = run(&["schedule", &streams, "--tsnkit-network", &one_way]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("one.csv:6: the link (1, 3) is not the same as (3, 1)"), "{}", ran.err);
}

/// Every list of streams in docs/guide/schedule.md is valid.
#[test]
fn streams_of_the_documentation() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/schedule.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut read = 0;
    for part in page.split("```toml\n").skip(1) {
        let snippet = part.split("```").next().unwrap();
        // Skip `[[gates]]`, which are part of scenarios and not of lists of streams.
        if snippet.starts_with("[[gates]]") {
            continue;
        }
        let streams = schedule::streams::parse(snippet).unwrap_or_else(|error| panic!("{error:?}\n{snippet}"));
        assert!(!streams.is_empty(), "{snippet}");
        read += 1;
    }
    assert!(read > 0);
}

/// Hosts a and c at a switch whose ports are named swp1 and swp2.
const NAMED: &str = r#"{"nodes": [
{"id": "sw1", "kind": "switch"}, {"id": "a", "kind": "host"}, {"id": "c", "kind": "host"}],
"links": [
{"source": "a", "target": "sw1", "rate": "1Gbps", "delay": "100ns", "source_port": "eth0", "target_port": "swp1"},
{"source": "sw1", "target": "c", "rate": "1Gbps", "delay": "100ns", "source_port": "swp2", "target_port": "eth0"}]}
"#;
/// The gate of class 7 is open from 4 to 9 us. A frame of 500 bytes arrives at the switch at 4.164 us and takes 4.16 us
/// on the wire, so it fits.
const SCRIPT: &str = "#!/bin/sh\ntc qdisc replace dev swp2 parent root handle 100 taprio num_tc 8 \
    map 0 1 2 3 4 5 6 7 \\\n  queues 1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 base-time 0 \\\n  \
    sched-entry S 7f 4000 sched-entry S 80 5000 sched-entry S 7f 991000 \\\n  clockid CLOCK_TAI\n";

#[test]
fn gates_of_scripts_are_judged_by_port_names_and_assumptions_are_reported() {
    let scratch = Scratch::new("schedule-scripts");
    let fabric = scratch.file("plant.json", NAMED);
    let stream = "[[stream]]\nname = \"s\"\nfrom = \"a\"\nto = \"c\"\nperiod = \"1ms\"\nframe = \"500B\"\n";
    let streams = scratch.file("streams.toml", stream);
    let started = scratch.file("started.toml", &format!("{stream}start = \"0s\"\n"));
    let verify = |script: &str, streams: &str| {
        let script = scratch.file("sw1.sh", script);
        run(&["schedule", "verify", &script, "--fabric", &fabric, "--streams", streams])
    };
    let held = verify(SCRIPT, &started);
    assert_eq!((held.code, held.out.contains("without `start`")), (Some(0), false), "{}{}", held.out, held.err);
    let assumed = verify(&SCRIPT.replace("CLOCK_TAI\n", "CLOCK_TAI || true # as before\n"), &streams);
    assert_eq!(assumed.code, Some(0), "{}{}", assumed.out, assumed.err);
    let warning = "warning: 1 stream without `start` is taken to start when the first cycle begins\n";
    assert!(assumed.out.contains(warning), "{}", assumed.out);
    let dropped = verify(&SCRIPT.replace("clockid", "max-sdu 0 0 0 0 0 0 0 200 clockid"), &started);
    assert_eq!(dropped.code, Some(1), "{}{}", dropped.out, dropped.err);
    let why = "FAIL  max-sdu: no frame is longer than the max-sdu of its class\n        port swp2 of `sw1`: frames of \
               `s` have 500 bytes, and the max-sdu of class 7 drops those above 218\n";
    assert!(dropped.out.contains(why), "{}", dropped.out);
    let short = verify(&SCRIPT.replace("S 80 5000", "S 80 2000").replace("991000", "994000"), &started);
    assert_eq!(short.code, Some(1), "{}", short.out);
    let why = "port swp2 of `sw1`: the gate of class 7 never opens for 4.064us: a frame of `s`\n";
    assert!(short.out.contains(why), "{}", short.out);
    let port = verify(&SCRIPT.replace("dev swp2", "dev swp9"), &started);
    assert_eq!(port.code, Some(2), "{}", port.out);
    let why = "sw1.sh:2: `sw1` has no port `swp9`: it has swp1, swp2";
    assert!(port.err.contains(why) && !port.err.contains("files are called"), "{}", port.err);
    for (script, why) in [
        (SCRIPT.replace("tc qdisc", "false && tc qdisc"), "sw1.sh:2: `false` always fails"),
        (
            SCRIPT.replace("S 80 5000", "S 128 5000"),
            "sw1.sh:4: `sched-entry` with the mask `128`: masks are hexadecimal",
        ),
        (
            format!("{SCRIPT}tc qdisc replace dev swp2 parent 100:8 netem loss 50%\n"),
            "sw1.sh:6: `netem` below the gates of `swp2` (`parent 100:8`)",
        ),
    ] {
        let refused = verify(&script, &started);
        assert_eq!(refused.code, Some(2), "{}", refused.out);
        assert!(refused.err.contains(why), "{}", refused.err);
    }
    let folder = scratch.path("gates");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(format!("{folder}/a.sh"), SCRIPT.replace("swp2", "eth0").replace("TAI", "MONOTONIC")).unwrap();
    std::fs::write(format!("{folder}/sw1.sh"), SCRIPT).unwrap();
    let clocks = run(&["schedule", "verify", &folder, "--fabric", &fabric, "--streams", &started]);
    assert_eq!(clocks.code, Some(2), "{}", clocks.out);
    let why = "sw1.sh:2: `clockid CLOCK_TAI` here, CLOCK_MONOTONIC at `eth0` of `a`";
    assert!(clocks.err.contains(why), "{}", clocks.err);
}

#[test]
fn the_simulator_meets_the_witness_of_a_worst_case() {
    let scratch = Scratch::new("schedule-worst-case");
    let streams = example("schedule/cpri.toml");
    let ran = schedule(&["worst-case", &streams, "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    for (stream, name) in [(0, "cpri0"), (4, "cpri4"), (6, "cpri6")] {
        let case = &found["streams"][stream];
        assert_eq!((&case["name"], &case["delay_exact"]), (&name.into(), &true.into()));
        let printed = schedule(&["worst-case", &streams, "--scenario", name]);
        assert_eq!(printed.code, Some(0), "{}", printed.err);
        let ran = run(&["run", &scratch.file("witness.toml", &printed.out), "--json"]);
        let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let seen = &summary["jitter"][stream];
        assert_eq!(seen["max_delay_ps"], case["witness"]["delay_ps"], "{name}");
        assert_eq!(seen["jitter_ps"], case["witness"]["jitter_ps"], "{name}");
    }
}

#[test]
fn a_worst_case_without_a_proof_is_refused() {
    let scratch = Scratch::new("schedule-worst-case-refused");
    let more = |key: &str| format!("{STREAM}{key}\n");
    let three =
        [7, 6, 5].map(|class| STREAM.replace("\"a\"", &format!("\"s{class}\"")) + &format!("class = {class}\n"));
    let rows = [
        (more("start = \"1ns\""), "stream `a` has a `start`"),
        (more("class = 8"), ":7: a class is 0 to 7"),
        (three.concat(), "the streams have 3 classes"),
        (STREAM.replace("1920ns", "48ns"), "need the whole rate of a link, port 0 of rru0"),
    ];
    for (text, said) in rows {
        let ran = schedule(&["worst-case", &scratch.file("streams.toml", &text)]);
        assert_eq!(ran.code, Some(2), "{said}: {}", ran.out);
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    let late = scratch.file("streams.toml", &more("deadline = \"300ns\""));
    assert_eq!(schedule(&["worst-case", &late]).code, Some(1));
    let ran = schedule(&[&scratch.file("streams.toml", &more("class = 5"))]);
    assert!(ran.err.contains("only schedule worst-case uses"), "{}", ran.err);
}

#[test]
fn options_without_effect_are_refused() {
    let scratch = Scratch::new("schedule-no-effect");
    let streams = example("schedule/cpri.toml");
    let rows: [(&[&str], &str); 5] = [
        (&["--offload"], "--offload: has no effect without --to taprio"),
        (&["--offload", "--to", "qcw"], "--offload: has no effect without --to taprio"),
        (&["--base-time", "5"], "--base-time: has no effect without --to taprio or --to qcw"),
        (&["--base-time", "0", "--to", "svg"], "--base-time: has no effect"),
        (&["--base-time", "5", "--to", "tsnkit"], "--base-time: has no effect"),
    ];
    for (words, said) in rows {
        let ran = schedule(&[&[streams.as_str()], words].concat());
        assert!(ran.code == Some(2) && ran.out.is_empty() && ran.err.contains(said), "{words:?}: {}", ran.err);
    }
    assert_eq!(schedule(&[&streams, "--to", "qcw", "--base-time", "5"]).code, Some(0));
    let file = scratch.path("schedule.json");
    assert_eq!(schedule(&[&streams, "--to", "json", "--out", &file]).code, Some(0));
    let given: [&[&str]; 4] =
        [&["--streams", &streams], &["--class", "7"], &["--processing", "1ns"], &["--frame-only"]];
    for words in given {
        let ran = schedule(&[&["verify", file.as_str()], words].concat());
        let said = format!("{}: has no effect on ", words[0]);
        assert!(ran.code == Some(2) && ran.err.contains(&said), "{words:?}: {}", ran.err);
    }
}

#[test]
fn a_wrong_interval_is_reported_with_its_port_and_cycle() {
    let scratch = Scratch::new("schedule-interval");
    let (streams, file, gates) = (example("schedule/cpri.toml"), scratch.path("schedule.json"), scratch.path("gates"));
    assert_eq!(schedule(&[&streams, "--to", "json", "--out", &file]).code, Some(0));
    let mut value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let entry = &mut value["gates"][0]["entries"][0]["interval_ps"];
    *entry = (entry.as_u64().unwrap() + 1_500).into();
    let ran = schedule(&["verify", &scratch.file("other.json", &value.to_string())]);
    let said = "gates of port 0 of `rru0`: its intervals add up to 641.5 ns, 1.5 ns more than its cycle of 640 ns";
    assert!(ran.code == Some(2) && ran.err.contains(said), "{}", ran.err);
    // One interval of a script, and the clock of all.
    assert_eq!(schedule(&[&streams, "--to", "taprio", "--out", &gates]).code, Some(0));
    for entry in std::fs::read_dir(&gates).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap().replace("CLOCK_TAI", "CLOCK_REALTIME");
        let interval = text.split("sched-entry S ").nth(1).unwrap_or("").split(' ').nth(1).unwrap_or("").to_owned();
        let text = match path.ends_with("sw3.sh") {
            true => text.replacen(&format!(" {interval} "), &format!(" {}0 ", interval), 1),
            false => text,
        };
        std::fs::write(&path, text).unwrap();
    }
    let ran = schedule(&["verify", &gates, "--streams", &streams]);
    let flat = ran.out.replace("\n  ", " ");
    for said in [
        "`clockid CLOCK_REALTIME` at `eth0` of `rru0` (and 11 more lists): it jumps with leap seconds",
        "of `sw3` is ",
        " ns more than the 1920 ns of 7 of 12 lists: one of its intervals may be wrong",
    ] {
        assert!(flat.contains(said), "{said}: {flat}");
    }
}
