//! SIGINT (Ctrl-C) and SIGTERM in any phase of a run: the process exits soon, and leaves a complete or partial result
//! or none.

use crate::common::{Ran, Scratch, tidegate};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time after which the process counts as hanging: far above the intended second, so that a busy machine does not fail
/// the test.
const HANGS: Duration = Duration::from_secs(20);

fn start(scenario: &str, more: &[&str]) -> Child {
    let mut command = tidegate();
    command.args(["run", scenario]).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

fn wait_for(path: &Path, child: &mut Child) {
    #[expect(clippy::disallowed_methods, reason = "what hangs is found by the clock")]
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < 6 * HANGS, "{} never appears", path.display());
        assert!(child.try_wait().expect("a child").is_none(), "it ended before {} appeared", path.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).stderr(Stdio::null()).status();
    sent.expect("kill");
}

/// Waits until the child process exits, and returns its output; panics if the process hangs.
fn end(mut child: Child, what: &str) -> Ran {
    #[expect(clippy::disallowed_methods, reason = "what hangs is found by the clock")]
    let started = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if started.elapsed() > HANGS {
            child.kill().expect("kill");
            panic!("{what}: it does not hear");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("its end").into()
}

/// Runs the scenario `text`, sends SIGINT or SIGTERM during the simulation, and checks that a valid partial result
/// remains.
fn stops_on_interrupt(name: &str, text: &str) {
    let scratch = Scratch::new(&format!("heard-{name}"));
    let scenario = scratch.file("it.toml", text);
    for (which, threads) in [("INT", "1"), ("TERM", "2")] {
        let out = scratch.path(which);
        let mut child = start(&scenario, &["--out", &out, "--threads", threads]);
        wait_for(&scratch.0.join(format!("{which}.partial")), &mut child);
        std::thread::sleep(Duration::from_millis(700));
        signal(&child, which);
        let ran = end(child, &format!("{name}, {which}"));
        assert_eq!(ran.code, Some(130), "{name}, {which}: {}{}", ran.out, ran.err);
        let summary = std::fs::read_to_string(scratch.0.join(which).join("summary.json")).expect("a partial result");
        let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
        assert_eq!((&summary["partial"], &summary["packets"]["closed"]), (&true.into(), &true.into()), "{name}");
        assert!(!scratch.0.join(format!("{which}.partial")).exists());
    }
}

const SWITCH: &str = r#"
[fabric]
kind = "single-switch"
hosts = 3
link = { rate = "100Gbps", delay = "1us" }

[switch]
buffer = "4MB"

[[traffic]]
kind = "incast"
fan_in = 2
size = "endless"

[measure]
warm_up = "0s"
"#;

#[test]
fn while_it_samples_every_picosecond() {
    let record = "[record]\nqueues = { every = \"1ps\" }\nthroughput = { every = \"1ps\" }\npauses = true\n";
    stops_on_interrupt("picoseconds", &format!("duration = \"1ms\"\n{SWITCH}{record}"));
}

#[test]
fn while_flows_never_end() {
    stops_on_interrupt("endless", &format!("duration = \"100s\"\n{SWITCH}[record]\nqueues = false\n"));
}

/// The link delay of 500 ms would permit synchronisation windows of half a second: the run must be interrupted within
/// one.
#[test]
fn while_a_window_is_long() {
    let text = SWITCH.replace("delay = \"1us\"", "delay = \"500ms\"");
    stops_on_interrupt(
        "long-window",
        &format!("duration = \"100s\"\n{text}[host]\ntransport = {{ kind = \"datagram\" }}\n"),
    );
}

#[test]
fn while_flows_come_and_go() {
    let text = SWITCH.replace(
        "size = \"endless\"",
        "size = \"endless\"\n\n[[traffic]]\nkind = \"poisson\"\nload = 0.5\nsizes = \"1KB\"\n",
    );
    stops_on_interrupt("short-flows", &format!("duration = \"100s\"\n{text}"));
}

fn huge() -> String {
    let fabric = "kind = \"fat-tree\"\nk = 32";
    SWITCH.replace("kind = \"single-switch\"\nhosts = 3", fabric).replace("fan_in = 2", "fan_in = 500")
}

/// A signal while the network is being built: no result remains or, if the run had started, a partial result.
#[test]
fn while_it_builds_a_huge_fabric() {
    let scratch = Scratch::new("heard-building");
    let scenario = scratch.file("it.toml", &format!("duration = \"1s\"\n{}", huge()));
    for (which, wait_ms) in [("TERM", Some(100)), ("INT", Some(600)), ("TERM", None), ("INT", None)] {
        let mut child = start(&scenario, &["--out", &scratch.path("out")]);
        match wait_ms {
            Some(ms) => std::thread::sleep(Duration::from_millis(ms)),
            None => wait_for(&scratch.0.join("out.partial"), &mut child),
        }
        signal(&child, which);
        let ran = end(child, &format!("building, {which}"));
        // A signal before the handler is installed kills the process (no exit code); afterwards the exit code is 130.
        assert!(matches!(ran.code, None | Some(130)), "{:?} {}{}", ran.code, ran.out, ran.err);
        if scratch.0.join("out").exists() {
            assert!(ran.out.contains("PARTIAL"), "{}", ran.out);
            assert!(scratch.names("out").contains(&"summary.json".to_owned()));
            std::fs::remove_dir_all(scratch.0.join("out")).expect("a folder");
        }
        assert_eq!(scratch.names(""), ["it.toml"], "{}", ran.err);
    }
}

/// After one signal, a result that is being written is completed; after a second signal, it may be absent.
#[test]
fn while_it_writes_the_result() {
    let scratch = Scratch::new("heard-writing");
    let record = "[record]\nqueues = { every = \"1ns\" }\n";
    let scenario = scratch.file("it.toml", &format!("duration = \"2ms\"\n{SWITCH}{record}"));
    for signals in [1, 2] {
        let mut child = start(&scenario, &["--out", &scratch.path("out")]);
        // `summary.json` exists while the files are hashed and renamed. On a fast machine the test may miss this phase.
        let writes = || scratch.0.join("out.partial/summary.json").exists();
        while !writes() && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..signals {
            signal(&child, "INT");
            std::thread::sleep(Duration::from_millis(20));
        }
        let ran = end(child, "writing");
        assert!(matches!(ran.code, Some(0 | 130)), "{:?} {}", ran.code, ran.err);
        assert!(!scratch.0.join("out.partial").exists(), "{}", ran.err);
        let whole = scratch.0.join("out/summary.json").exists();
        assert!(whole || (ran.code == Some(130) && signals == 2), "{:?} {}", ran.code, ran.err);
    }
}

#[test]
fn a_second_signal_ends_at_once_and_keeps_the_earlier_result() {
    let scratch = Scratch::new("heard-twice");
    let short = scratch.file("short.toml", &format!("duration = \"10us\"\n{SWITCH}"));
    let out = scratch.path("out");
    assert_eq!(end(start(&short, &["--out", &out]), "a short run").code, Some(0));
    let before = scratch.result("out");
    let long =
        scratch.file("long.toml", &format!("duration = \"100s\"\n{SWITCH}[record]\nqueues = {{ every = \"1us\" }}\n"));
    let mut child = start(&long, &["--out", &out]);
    wait_for(&scratch.0.join("out.partial"), &mut child);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    signal(&child, "TERM");
    let ran = end(child, "twice");
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    assert!(scratch.result("out") == before, "the earlier result is as it was");
    // The operating system may have merged the two signals, or the run may have ended after the first; in both cases a
    // partial result exists in `out.interrupted`.
    if scratch.0.join("out.interrupted").exists() {
        std::fs::remove_dir_all(scratch.0.join("out.interrupted")).expect("a folder");
    } else {
        assert!(ran.err.contains("interrupted again"), "{}", ran.err);
    }
    assert_eq!(scratch.names(""), ["long.toml", "out", "short.toml"]);
}
