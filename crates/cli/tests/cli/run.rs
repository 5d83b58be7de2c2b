//! Tests of `tidegate run`: output, files and exit codes.

use crate::common::{SMALL, Scratch, example, run, tidegate};
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("one JSON value, not {error}:\n{text}"))
}

#[test]
fn a_result_holds_every_file_and_nothing_half_written() {
    let scratch = Scratch::new("files");
    let scenario = scratch.file("small.toml", SMALL);
    let ran = run(&["run", &scenario, "--out", &scratch.path("out/deep")]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    assert_eq!(ran.err, "");
    let expected = [
        "explain.txt",
        "fct.txt",
        "flows.parquet",
        "links.parquet",
        "pfc.txt",
        "ports.parquet",
        "queues.parquet",
        "scenario.toml",
        "summary.json",
        "throughput.parquet",
        "tidegate.sha256",
        "timing.json",
    ];
    assert_eq!(scratch.names("out/deep"), expected);
    assert_eq!(scratch.names("out"), ["deep"]);
    let read = |name: &str| std::fs::read_to_string(scratch.0.join("out/deep").join(name)).unwrap();
    assert_eq!(read("scenario.toml"), SMALL);
    assert_eq!(read("fct.txt").lines().count(), 7);
    assert!(read("pfc.txt").lines().all(|line| line.split(' ').count() == 5) && read("pfc.txt").lines().count() > 0);
    assert!(read("explain.txt").contains("switch.flow_control.xoff"));

    let summary = json(&read("summary.json"));
    let hash = summary["results_hash"].as_str().unwrap();
    let folder = scratch.0.join("out/deep");
    assert_eq!(record::results_hash::results_hash(&folder).unwrap(), hash);
    assert_eq!(summary["scenario"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&summary["partial"], &summary["flows"]["completed"]), (&Value::Bool(false), &Value::from(7)));
    for part in
        ["fabric ", "traffic ", "simulated ", "packets ", "bytes ", "completion ", "slowdown ", "pauses ", "checks "]
    {
        assert!(ran.out.lines().any(|line| line.starts_with(part)), "{part}is missing in\n{}", ran.out);
    }
    assert!(ran.out.contains(hash) && ran.out.contains("packet-hops") && ran.out.contains("--seed 1"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "no colours in a pipe");
    let timing = json(&read("timing.json"));
    assert!(timing["wall_s"].as_f64().unwrap() > 0.0 && timing["threads"] == 1);
}

#[test]
fn the_same_scenario_and_seed_give_the_same_bytes_on_any_number_of_threads() {
    let scratch = Scratch::new("threads");
    let scenario = scratch.file("small.toml", SMALL);
    let web_search = example("web-search-dcqcn.toml");
    for (name, scenario, set) in [("small", &scenario, "seed=7"), ("web", &web_search, "duration=1500us")] {
        let result = |folder: &str, threads: &str, set: &str| {
            let folder = format!("{name}-{folder}");
            let mut arguments = vec!["run", scenario, "--quiet", "--threads", threads, "--set", set];
            if name == "web" {
                arguments.extend(["--set", "measure.end=1400us", "--set", "traffic.0.stop=1200us"]);
                arguments.extend(["--set", "traffic.1.start=500us"]);
            }
            let out = scratch.path(&folder);
            let ran = run(&[arguments.as_slice(), &["--out", &out]].concat());
            assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
            scratch.result(&folder)
        };
        let first = result("1", "1", set);
        assert!(first.iter().any(|(name, bytes)| name == "flows.parquet" && bytes.len() > 500));
        for (folder, threads) in [("again", "1"), ("2", "2"), ("3", "3")] {
            let other = result(folder, threads, set);
            for ((name, bytes), (other_name, other_bytes)) in first.iter().zip(&other) {
                assert_eq!(name, other_name);
                assert!(bytes == other_bytes, "{name} differs on {threads} threads");
            }
            assert_eq!(first.len(), other.len());
        }
    }
}

#[test]
fn another_seed_gives_another_result() {
    let scenario = example("web-search-dcqcn.toml");
    let hash = |seed: &str| {
        let ran = run(&["run", &scenario, "--json", "--seed", seed]);
        json(&ran.out)["results_hash"].as_str().unwrap().to_owned()
    };
    assert_eq!(hash("1"), hash("1"));
    assert_ne!(hash("1"), hash("2"));
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let scratch = Scratch::new("json");
    let scenario = scratch.file("small.toml", SMALL);
    let ran = run(&["run", &scenario, "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let summary = json(&ran.out);
    for key in ["scenario", "packets", "bytes", "flows", "pauses", "deadlock", "checks", "event_counts", "simulated_ps"]
    {
        assert!(summary.get(key).is_some(), "{key}");
    }
    assert_eq!(scratch.names(""), ["small.toml"], "without --out nothing is written");
}

#[test]
fn explain_prints_values_and_runs_nothing() {
    let scratch = Scratch::new("explain");
    let scenario = scratch.file("small.toml", SMALL);
    let out = scratch.path("out");
    let ran = run(&["run", &scenario, "--explain", "--set", "fabric.leaves=3", "--out", &out]);
    assert_eq!(ran.code, Some(0));
    let line = |key: &str| ran.out.lines().find(|line| line.split_whitespace().next() == Some(key)).unwrap_or("");
    assert!(line("fabric.leaves").contains("command line"), "{}", ran.out);
    assert!(line("switch.buffer").contains("line 12"), "{}", ran.out);
    assert!(
        line("switch.flow_control.quanta").contains("65535") && line("switch.flow_control.quanta").contains("default")
    );
    assert!(!std::path::Path::new(&out).exists());
    let ran = run(&["run", &scenario, "--explain", "--json"]);
    assert!(json(&ran.out)["values"].as_array().unwrap().len() > 20);
}

#[test]
fn an_earlier_result_is_replaced_and_anything_else_is_not() {
    let scratch = Scratch::new("replace");
    let scenario = scratch.file("small.toml", SMALL);
    let out = scratch.path("out");
    for seed in ["1", "2"] {
        assert_eq!(run(&["run", &scenario, "-q", "--seed", seed, "--out", &out]).code, Some(0));
    }
    let summary = std::fs::read_to_string(scratch.0.join("out/summary.json")).unwrap();
    assert_eq!(json(&summary)["scenario"]["seed"], 2);
    std::fs::create_dir(scratch.0.join("mine")).unwrap();
    let mine = scratch.file("mine/thesis.txt", "years");
    let ran = run(&["run", &scenario, "--out", &scratch.path("mine")]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("mine exists and is not a Tidegate result"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(mine).unwrap(), "years");
}

#[test]
fn a_failed_check_is_named_and_is_exit_code_1() {
    let scratch = Scratch::new("check");
    // A headroom of 1 KB is too small for the link, so frames of the lossless class are dropped, and the check
    // "lossless" fails.
    let scenario = scratch.file("small.toml", &SMALL.replace("xoff = \"50KB\"", "xoff = \"50KB\", headroom = \"1KB\""));
    let out = scratch.path("out");
    let ran = run(&["run", &scenario, "--out", &out]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("FAIL  lossless"), "{}", ran.out);
    assert!(ran.out.contains("frames may be lost"), "the warning is shown:\n{}", ran.out);
    let summary = json(&std::fs::read_to_string(scratch.0.join("out/summary.json")).unwrap());
    assert!(summary["checks"].as_array().unwrap().iter().any(|check| check["pass"] == false));
}

#[test]
fn interrupted_it_leaves_a_valid_partial_result_and_exits_130() {
    let scratch = Scratch::new("interrupt");
    let scenario = scratch.file("small.toml", &crate::common::endless());
    let mut command = tidegate();
    command.args(["run", &scenario, "--out", &scratch.path("out")]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = crate::common::interrupt(command.spawn().unwrap(), &scratch.0.join("out.partial"));
    assert_eq!(ran.code, Some(130), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("PARTIAL"), "{}", ran.out);
    assert_eq!(scratch.names(""), ["out", "small.toml"]);
    let summary = json(&std::fs::read_to_string(scratch.0.join("out/summary.json")).unwrap());
    assert_eq!(summary["partial"], true);
    let simulated = summary["simulated_ps"].as_u64().unwrap();
    assert!(simulated > 0 && simulated < 20_000_000_000_000, "{simulated}");
    assert_eq!(summary["packets"]["closed"], true);
    let flows = record::flows::read_flows(&scratch.0.join("out/flows.parquet")).unwrap();
    assert!(flows.len() == 7 && flows.iter().all(|flow| flow.delivered_ps.is_none()));
}

#[test]
fn a_disk_that_fails_is_exit_code_3_and_leaves_nothing() {
    let scratch = Scratch::new("disk");
    // With a queue sample every 10 ns, `queues.parquet` exceeds the file size limit of 16 KB that the shell sets.
    let text = SMALL.replace("queues = { every = \"1us\" }", "queues = { every = \"10ns\" }");
    let scenario = scratch.file("small.toml", &text);
    let script = "trap '' XFSZ; ulimit -f 32; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_tidegate"), "run", &scenario, "--out", &scratch.path("out")]);
    let ran: crate::common::Ran = command.output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("cannot write") || ran.err.contains("parquet"), "{}", ran.err);
    assert_eq!(scratch.names(""), ["small.toml"]);
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let mut child =
        tidegate().args(["mechanisms", "tcp"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran: crate::common::Ran = child.wait_with_output().unwrap().into();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    if let Ok(mut full) = full {
        if full.write_all(b"x").is_ok() {
            return;
        }
        let output = tidegate().args(["mechanisms"]).stdout(full).output().unwrap();
        let ran: crate::common::Ran = output.into();
        assert_eq!(ran.code, Some(3));
        assert!(ran.err.contains("cannot write to standard output"), "{}", ran.err);
    }
}

#[test]
fn completion_times_have_the_form_of_the_flow_file() {
    let scratch = Scratch::new("forms");
    scratch.file("topology.txt", "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n");
    let scenario = "duration = \"100us\"\nfabric = { kind = \"file\", file = \"topology.txt\" }\n[[traffic]]\nkind = \
        \"replay\"\nfile = \"flow.txt\"\n";
    let scenario = scratch.file("replay.toml", scenario);
    for (flows, form, first) in [
        ("1\n0 2 3 100 1000 0\n", record::flows::FctFormat::Hpcc, "0b000001 0b000201 "),
        ("1\n0 2 3 1000 0\n", record::flows::FctFormat::Conweave, "0 2 "),
    ] {
        scratch.file("flow.txt", flows);
        let ran = run(&["run", &scenario, "-q", "--out", &scratch.path("out")]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let fct = std::fs::read_to_string(scratch.0.join("out/fct.txt")).unwrap();
        assert!(fct.starts_with(first), "{fct}");
        let lines = record::flows::read_fct(&fct, form).unwrap();
        assert_eq!((lines.len(), lines[0].src_host, lines[0].dst_host, lines[0].size_bytes), (1, 0, 2, 1000));
    }
}

#[test]
fn a_file_that_begins_with_a_byte_order_mark_runs() {
    let scratch = Scratch::new("bom");
    let scenario = scratch.file("small.toml", &format!("\u{feff}{SMALL}"));
    assert_eq!(run(&["run", &scenario, "-q"]).code, Some(0));
}

#[test]
fn the_deadlock_check_in_the_summary_names_switches_as_the_screen_does() {
    let ring = crate::common::example("deadlock-ring.toml");
    let (printed, screen) = (json(&run(&["run", &ring, "--json"]).out), run(&["run", &ring]).out);
    let checks = printed["checks"].as_array().unwrap();
    let detail = checks.iter().find(|check| check["name"] == "deadlock").unwrap()["detail"].as_str().unwrap();
    let cycle = printed["deadlock"]["cycle"].as_array().unwrap();
    assert!(cycle.len() >= 3, "{printed}");
    for edge in cycle {
        let queue = format!("{} port {} class {}", edge["node"].as_str().unwrap(), edge["port"], edge["class"]);
        let peer = format!("is paused by {}", edge["peer"].as_str().unwrap());
        assert!(detail.contains(&queue) && detail.contains(&peer), "{queue} {peer}: {detail}");
        assert!(screen.contains(&format!("{queue} {peer}")), "{screen}");
    }
    assert!(!detail.contains("node "), "{detail}");
}

/// With `--json`, warnings are both in the JSON and on standard error.
#[test]
fn warnings_are_reported_on_standard_error_and_in_the_summary() {
    let scratch = Scratch::new("warned");
    let text = "duration = \"20us\"\n[fabric]\nkind = \"single-switch\"\nhosts = 3\n\
                link = { rate = \"100Gbps\", delay = \"500ns\" }\n[host]\ntransport = \"ndp\"\n\
                [[traffic]]\nkind = \"incast\"\nfan_in = 2\nsize = \"9KB\"\n";
    let scenario = scratch.file("ndp.toml", text);
    for arguments in [&["run", &scenario, "--json"][..], &["run", &scenario]] {
        let ran = run(arguments);
        assert!(ran.err.contains("warning: host.transport: NDP's receivers"), "{}", ran.err);
        assert!(ran.out.contains("no switch trims"), "{}", ran.out);
    }
    let summary = json(&run(&["run", &scenario, "--json"]).out);
    assert!(summary["warnings"][0].as_str().unwrap().contains("no switch trims"), "{}", summary["warnings"]);
    assert_eq!(run(&["run", &scenario, "--quiet"]).err, "");
}

#[test]
fn former_names_of_keys_on_the_command_line_warn_or_are_refused_with_the_present_one() {
    let scratch = Scratch::new("run-former");
    let scenario = scratch.file("small.toml", SMALL);
    let out = scratch.path("out");
    let ran = run(&["run", &scenario, "--set", "host.disobedient=[]", "--json", "--out", &out]);
    assert!(json(&ran.out)["warnings"].to_string().contains("former name"), "{}{}", ran.out, ran.err);
    let both = ["run", &scenario, "--set", "host.disobedient=[]", "--set", "host.ignore_pause=[]", "--explain"];
    let ran = run(&both);
    assert!(ran.code == Some(2) && ran.err.contains("are names of one key"), "{}{}", ran.out, ran.err);
    let vary = ["--vary", "host.disobedient=[],[]", "--vary", "host.ignore_pause=[]"];
    let ran = run(&[["compare", &scenario].as_slice(), &vary].concat());
    assert!(ran.code == Some(2) && ran.err.contains("host."), "{}{}", ran.out, ran.err);
}
