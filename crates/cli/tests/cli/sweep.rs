//! Tests of `tidegate sweep`.

use crate::common::{Ran, Scratch, run, tidegate};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A scenario whose run takes a few milliseconds of real time; the seed determines the arrival times of flows.
const TINY: &str = r#"name = "tiny"
duration = "60us"

[fabric]
kind = "single-switch"
hosts = 6
link = { rate = "10Gbps", delay = "1us" }

[switch]
buffer = "1MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "20KB" }

[[traffic]]
kind = "poisson"
sizes = { uniform = ["2KB", "10KB"] }
load = 0.6
"#;

fn tiny(scratch: &Scratch) -> String {
    scratch.file("tiny.toml", TINY)
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Twelve flows between two leaves with four spines. The only random choice is the spine of each flow, by ECMP hash.
const HASHED: &str = r#"name = "hashed"
duration = "300us"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 4
hosts_per_leaf = 6
link = { rate = "10Gbps", delay = "1us" }

[[traffic]]
kind = "pairs"
pairs = [["H1", "H7"], ["H2", "H8"], ["H3", "H9"], ["H4", "H10"], ["H5", "H11"], ["H6", "H12"]]
size = "100KB"
"#;

/// The seed of a run determines by ECMP hash which flows share a link. If the scenario fixes the hash seed, no random
/// choice remains, and the sweep prints a note that all seeds gave equal runs.
#[test]
fn seeds_change_hashes_and_a_sweep_with_ineffective_seeds_warns() {
    let scratch = Scratch::new("hashed");
    let scenario = scratch.file("hashed.toml", HASHED);
    let printed = |out: &str, more: &[&str]| {
        let out = scratch.path(out);
        let sweep = ["sweep", &scenario, "--seeds", "1..5", "--out", &out];
        let shown = run(&[sweep.as_slice(), more].concat());
        assert_eq!(shown.code, Some(0), "{}", shown.err);
        let listed =
            run(&[["sweep", &scenario, "--seeds", "1..5", "--out", &out, "--resume", "--json"].as_slice(), more]
                .concat());
        let results = parse(&listed.out)["results"].as_array().unwrap().clone();
        let means: std::collections::BTreeSet<String> =
            results.iter().map(|run| run["metrics"]["fct_mean_ns"].to_string()).collect();
        (shown.out, means.len())
    };
    let (text, different) = printed("seeded", &[]);
    assert!(different > 1 && !text.contains("all seeds gave equal runs"), "{different}: {text}");
    let (text, different) = printed("fixed", &["--set", "routing.hash_seed=7"]);
    assert!(different == 1 && text.contains("note: all seeds gave equal runs"), "{different}: {text}");
}

/// Returns the complete runs by name, with file attributes that change if the run is executed again.
fn complete(scratch: &Scratch, out: &str) -> BTreeMap<String, (u64, i64, i64)> {
    let Ok(runs) = std::fs::read_dir(scratch.0.join(out).join("runs")) else { return BTreeMap::new() };
    let entries = runs.map(|entry| entry.unwrap());
    let whole = entries.filter(|entry| !entry.file_name().to_str().unwrap().contains('.'));
    let written = |entry: std::fs::DirEntry| {
        let file = std::fs::metadata(entry.path().join("summary.json")).unwrap();
        (entry.file_name().to_str().unwrap().to_owned(), (file.ino(), file.mtime(), file.mtime_nsec()))
    };
    whole.map(written).collect()
}

#[test]
fn two_hundred_runs_killed_twenty_times_are_two_hundred_runs() {
    let scratch = Scratch::new("killed");
    let scenario = tiny(&scratch);
    let out = scratch.path("out");
    let vary = ["--vary", "traffic.0.load=0.3,0.6", "--vary", "switch.flow_control.xoff=20KB,50KB", "--seeds", "1..50"];
    let sweep = [["sweep", &scenario, "--quiet", "--resume", "--out", &out].as_slice(), &vary].concat();
    let mut moments = units::random::Stream::new(20, 0, 0);
    let (mut before, mut in_the_middle) = (BTreeMap::new(), 0);
    for kill in 0..20 {
        let mut child = tidegate().args(&sweep).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        if kill % 4 == 0 {
            // Kill the sweep before its first run is complete, or while it scans the existing runs.
            std::thread::sleep(Duration::from_micros(moments.below(15_000)));
        } else {
            // Kill the sweep at a random time after `more` further runs have completed. The number is limited, so that
            // runs remain for the later kills.
            let more = moments.below((200 - before.len() as u64) / (2 * (20 - kill)) + 1) as usize;
            while complete(&scratch, "out").len() < before.len() + more && child.try_wait().unwrap().is_none() {}
            std::thread::sleep(Duration::from_micros(moments.below(2_500)));
        }
        child.kill().unwrap();
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.code().is_none(), "killed {kill} times it came to an end: {ended:?}");
        let after = complete(&scratch, "out");
        for (name, written) in &before {
            assert_eq!(after.get(name), Some(written), "{name} is lost or was run twice");
        }
        in_the_middle += usize::from(after.len() > before.len() && after.len() < 200);
        before = after;
    }
    assert!(in_the_middle >= 3, "kills fell between runs: {in_the_middle}");
    let ran = run(&sweep);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let after = complete(&scratch, "out");
    assert!(before.iter().all(|(name, written)| after.get(name) == Some(written)), "nothing ran twice");
    assert_eq!((after.len(), scratch.names("out/runs").len()), (200, 200), "no leftovers");
    let table = record::table::read_table(&scratch.0.join("out/sweep.parquet")).unwrap();
    assert_eq!(table.rows, 200);

    // Each run's folder is byte-identical to the result of a single `tidegate run`.
    let printed = parse(&run(&[sweep.as_slice(), &["--json"]].concat()).out);
    assert_eq!((&printed["complete"], &printed["found"]), (&Value::from(200), &Value::from(200)));
    let alone = scratch.path("alone");
    for result in printed["results"].as_array().unwrap() {
        let set = |key: &str| format!("{key}={}", result["set"][key].as_str().unwrap());
        let (load, xoff) = (set("traffic.0.load"), set("switch.flow_control.xoff"));
        let seed = result["seed"].to_string();
        let ran = run(&["run", &scenario, "--set", &load, "--set", &xoff, "--seed", &seed, "--quiet", "--out", &alone]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let name = format!("out/runs/{}", result["run"].as_str().unwrap());
        assert_eq!(scratch.names(&name), scratch.names("alone"));
        assert!(scratch.result(&name) == scratch.result("alone"), "{load} {xoff} {seed}");
    }
}

#[test]
fn a_file_describes_a_list_and_a_grid() {
    let scratch = Scratch::new("sweep-file");
    tiny(&scratch);
    let text = r#"scenario = "tiny.toml"
seeds = "1..3"
set = { duration = "40us" }

[vary]
traffic.0.load = [0.3, 0.6]

[[run]]
switch.buffer = "1MB"
switch.flow_control.xoff = "20KB"

[[run]]
switch.buffer = "2MB"
switch.flow_control.xoff = "50KB"
"#;
    let sweep = scratch.file("both.toml", text);
    let out = scratch.path("out");
    let ran = run(&["sweep", &sweep, "--out", &out]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let header = ran.out.lines().next().unwrap();
    for part in ["switch.buffer", "switch.flow_control.xoff", "traffic.0.load", "runs", "FCT mean", "checks"] {
        assert!(header.contains(part), "{part} in {header}");
    }
    let lines: Vec<Vec<&str>> =
        ran.out.lines().skip(1).take(4).map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(lines[0], ["1MB", "20KB", "0.3", "3"]);
    assert_eq!(lines[3], ["2MB", "50KB", "0.6", "3"]);
    assert!(ran.out.contains(" ± ") && ran.out.contains("95 % confidence interval over the seeds"), "{}", ran.out);
    assert!(ran.out.contains("12: 12 complete\n"), "{}", ran.out);

    let table = record::table::read_table(&scratch.0.join("out/sweep.parquet")).unwrap();
    assert_eq!(table.rows, 12);
    let sizes = table.u64s("switch.buffer_bytes").unwrap();
    assert_eq!((sizes[0], sizes[11]), (Some(1_000_000), Some(2_000_000)));
    assert_eq!(table.f64s("traffic.0.load").unwrap()[5], Some(0.6));
    assert_eq!(table.u64s("seed").unwrap()[..4], [Some(1), Some(2), Some(3), Some(1)]);
    assert!(table.f64s("fct_mean_ns").unwrap().iter().all(|value| value.is_some_and(|value| value > 0.0)));

    // Two more seeds: complete runs are kept, and `--seeds` overrides the seeds in the sweep file.
    let ran = run(&["sweep", &sweep, "--out", &out, "--seeds", "1..4", "--resume", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let printed = parse(&ran.out);
    let counts = [&printed["runs"], &printed["complete"], &printed["found"], &printed["open"]].map(Value::as_u64);
    assert_eq!(counts, [Some(16), Some(16), Some(12), Some(0)]);
    assert_eq!(printed["groups"][0]["metrics"]["fct_mean_ns"]["runs"], 4);
}

#[test]
fn the_example_runs_as_it_is() {
    let scratch = Scratch::new("sweep-example");
    let sweep = crate::common::example("sweep/xoff-dcqcn.toml");
    let ran = run(&["sweep", &sweep, "--seeds", "1,2", "--out", &scratch.path("out")]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert!(ran.out.contains("8: 8 complete") && ran.out.contains("{ kind = \"ecn\""), "{}", ran.out);
}

#[test]
fn a_failed_run_is_reported_and_neither_it_nor_a_failed_check_stops_another() {
    let scratch = Scratch::new("sweep-fails");
    let scenario = tiny(&scratch);
    let out = scratch.path("out");
    let sweep = ["sweep", &scenario, "--seeds", "1..6", "--out", &out];
    // A file of the user has the name of a run's folder: this run fails, and the others are executed.
    assert_eq!(run(&sweep).code, Some(0));
    let names = scratch.names("out/runs");
    let location = scratch.0.join("out/runs").join(&names[2]);
    std::fs::remove_dir_all(&location).unwrap();
    std::fs::write(&location, "years").unwrap();
    std::fs::remove_dir_all(scratch.0.join("out/runs").join(&names[4])).unwrap();
    let ran = run(&[&sweep, ["--resume"].as_slice()].concat());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.starts_with("error: seed=") && ran.err.contains(&names[2]), "{}", ran.err);
    assert!(ran.out.contains("6: 5 complete, 4 of them from an earlier command, 1 failed"), "{}", ran.out);
    assert!(ran.out.contains("the same command and --resume"), "{}", ran.out);
    assert_eq!(std::fs::read_to_string(&location).unwrap(), "years");

    let headroom = ["--vary", "switch.flow_control.headroom=100B,auto", "--set", "switch.flow_control.xoff=4KB"];
    let fails = scratch.path("fails");
    let ran = run(&[["sweep", &scenario, "--seeds", "1..3", "--out", &fails].as_slice(), &headroom].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{}", ran.out);
    assert!(ran.out.contains("FAIL: lossless") && ran.out.contains("6: 6 complete"), "{}", ran.out);
}

#[test]
fn incomplete_copies_are_reported_and_other_results_stay_usable() {
    let scratch = Scratch::new("sweep-half");
    let scenario = tiny(&scratch);
    let out = scratch.path("out");
    let sweep = ["sweep", &scenario, "--seeds", "1..5", "--out", &out];
    assert_eq!(run(&sweep).code, Some(0));
    let names = scratch.names("out/runs");
    let at = |name: &str, file: &str| scratch.0.join("out/runs").join(name).join(file);
    std::fs::remove_file(at(&names[0], "flows.parquet")).unwrap();
    std::fs::remove_file(at(&names[1], "summary.json")).unwrap();
    std::fs::write(at(&names[2], "summary.json"), "{ \"scen").unwrap();
    std::fs::remove_dir_all(at(&names[3], "")).unwrap();
    std::fs::create_dir(at(&names[3], "")).unwrap();
    for entry in std::fs::read_dir(at(&names[4], "")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), at(&names[3], "").join(entry.file_name())).unwrap();
    }
    let ran = run(&[&sweep, ["--resume"].as_slice()].concat());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    for (name, said) in
        names.iter().zip(["do not match", "has no summary.json", "summary.json: EOF", "the result of another run"])
    {
        let printed = ran.err.lines().any(|line| line.contains(name.as_str()) && line.contains(said));
        assert!(printed, "{name} {said}: {}", ran.err);
    }
    assert!(ran.out.contains("5: 1 complete, 1 of them from an earlier command, 4 failed"), "{}", ran.out);
    assert_eq!(record::table::read_table(&scratch.0.join("out/sweep.parquet")).unwrap().rows, 1);
}

/// With a link delay of 40 us no flow completes; with 1 us only the two flows of 50 KB complete, not the flow of 1 MB.
#[test]
fn rows_with_different_sets_of_completed_flows_are_not_ranked() {
    let scratch = Scratch::new("sweep-truncated");
    let poisson = "kind = \"poisson\"\nsizes = { uniform = [\"2KB\", \"10KB\"] }\nload = 0.6\n";
    let short = "kind = \"pairs\"\npairs = [[\"H1\", \"H3\"], [\"H2\", \"H4\"]]\nsize = \"50KB\"\n";
    let long = "[[traffic]]\nkind = \"pairs\"\npairs = [[\"H1\", \"H4\"]]\nsize = \"1MB\"\n";
    let text = TINY.replace("60us", "100us").replace(poisson, &format!("{short}{long}"));
    let file = scratch.file("truncated.toml", &text);
    let out = scratch.path("sweep");
    let swept = run(&["sweep", &file, "--vary", "fabric.link.delay=1us,40us", "--metric", "fct", "--out", &out]);
    assert_eq!(swept.code, Some(0), "{}", swept.err);
    for part in
        ["[2/3]", "[0/3]", "undecided: rows with different sets of completed flows", "1us: 1 of 3 flows unfinished"]
    {
        assert!(swept.out.contains(part), "{part}: {}", swept.out);
    }
    let page = scratch.path("sweep.html");
    assert_eq!(run(&["report", &out, "--out", &page, "-q"]).code, Some(0));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("\"started\"") && page.contains("\"completed\""), "the page knows how many completed");
}

fn refused(arguments: &[&str], said: &[&str]) {
    let ran = run(arguments);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    said.iter().for_each(|part| assert!(ran.err.contains(part), "`{part}` is missing in {}", ran.err));
}

#[test]
fn bad_input_is_reported_with_its_location_before_anything_runs() {
    let scratch = Scratch::new("sweep-bad");
    let scenario = tiny(&scratch);
    let out = scratch.path("out");
    let with = |more: &[&str], said: &[&str]| {
        refused(&[&["sweep", &scenario, "--out", &out], more].concat(), said);
    };
    with(&["--vary", "fabric.hots=4,8"], &["--vary fabric.hots=4", "unknown key `hots`", "did you mean `hosts`"]);
    with(&["--vary", "fabric.hosts=4,8x"], &["--vary fabric.hosts=8x", "whole number"]);
    with(&[], &["no key is varied", "--vary", "--seeds"]);
    with(&["--seeds", "9..1"], &["9..1", "write 1..10"]);
    with(&["--seeds", "1..3", "--seeds", "3"], &["duplicate seed 3"]);
    with(&["--vary", "seed=1,2"], &["`seed`", "--seeds 1..10"]);
    with(&["--vary", "switch.buffer=1MB,1000KB"], &["buffer=1MB", "buffer=1000KB", "the same run"]);
    with(&["--vary", "fabric.hosts=4,5", "--vary", "fabric.hosts=6"], &["varied twice"]);
    with(&["--vary", "fabric.hosts=4,5", "--shard", "3/2"], &["--shard", "1/4"]);
    with(&["--seeds", "1..3", "--metric", "speed"], &["no metric is called `speed`", "fct-mean"]);
    with(&["--seeds", "1..2000000"], &["1..2000000"]);
    let text = "scenario = \"tiny.toml\"\n[vary]\nfabric.hosts = [4, 5]\nfabric.sise = [1]\n";
    let sweep = scratch.file("sweep.toml", text);
    refused(&["sweep", &sweep, "--out", &out], &["sweep.toml:4:15", "fabric.sise=1", "unknown key `sise`"]);
    let sweep = scratch.file("missing.toml", "scenario = \"gone.toml\"\nseeds = 1\n");
    refused(&["sweep", &sweep, "--out", &out], &["gone.toml", "cannot read"]);
    assert_eq!(scratch.names(""), ["missing.toml", "sweep.toml", "tiny.toml"], "nothing is left behind");
}

#[test]
fn a_folder_of_something_else_or_of_another_version_is_refused_and_left_alone() {
    let scratch = Scratch::new("sweep-folder");
    let scenario = tiny(&scratch);
    let out = scratch.path("out");
    let sweep = ["sweep", &scenario, "--seeds", "1..2", "--quiet", "--out", &out];
    let resume = [sweep.as_slice(), &["--resume"]].concat();
    assert_eq!(run(&sweep).code, Some(0));
    refused(&sweep, &["already has a sweep", "--resume"]);
    let manifest = scratch.0.join("out/sweep.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let other = text.replace(&format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION")), "\"version\": \"0.0.1\"");
    assert_ne!(text, other);
    std::fs::write(&manifest, &other).unwrap();
    let before = complete(&scratch, "out");
    refused(&resume, &["sweep.json", "tidegate 0.0.1", "name another folder"]);
    std::fs::write(&manifest, "{").unwrap();
    refused(&resume, &["sweep.json", "not the file of a sweep"]);
    std::fs::remove_file(&manifest).unwrap();
    refused(&resume, &["is not the folder of a sweep", "no sweep.json"]);
    assert_eq!(complete(&scratch, "out"), before);
    // A sweep that was killed before its first run left only an incomplete temporary file: the folder can be used
    // again.
    std::fs::remove_dir_all(scratch.0.join("out/runs")).unwrap();
    std::fs::remove_file(scratch.0.join("out/sweep.parquet")).unwrap();
    std::fs::write(scratch.0.join("out/.tidegate-0123456789abcdef.tmp"), "{ \"ver").unwrap();
    assert_eq!(run(&sweep).code, Some(0));
}

#[test]
fn parts_share_a_folder_and_together_make_the_whole() {
    let scratch = Scratch::new("shards");
    let scenario = tiny(&scratch);
    let (out, whole) = (scratch.path("out"), scratch.path("whole"));
    let sweep = |out: &str, more: &[&str]| {
        let mut command = tidegate();
        command.args(["sweep", &scenario, "--vary", "traffic.0.load=0.2,0.4,0.6", "--seeds", "1..5", "--json"]);
        command.args(["--out", out]).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let ended = |child: std::process::Child| Ran::from(child.wait_with_output().unwrap());
    let parts = ["1/3", "2/3", "3/3"].map(|part| sweep(&out, &["--shard", part])).map(ended);
    for part in &parts {
        assert_eq!((part.code, part.err.as_str()), (Some(0), ""), "{}", part.out);
        assert!(parse(&part.out)["complete"].as_u64().unwrap() >= 5);
    }
    let all = ended(sweep(&out, &["--resume"]));
    assert_eq!(parse(&all.out)["found"], 15, "{}", all.err);
    assert_eq!(ended(sweep(&whole, &["--jobs", "1"])).code, Some(0));
    assert_eq!(scratch.names("out/runs"), scratch.names("whole/runs"));
    let table = |out: &str| std::fs::read(scratch.0.join(out).join("sweep.parquet")).unwrap();
    assert!(table("out") == table("whole"), "the same runs make the same table");
}

#[test]
fn two_sweeps_do_not_share_a_folder_and_an_interrupt_keeps_what_is_complete() {
    let scratch = Scratch::new("sweep-interrupt");
    let text = TINY.replace("duration = \"60us\"", "duration = \"20s\"");
    let scenario = scratch.file("tiny.toml", &text);
    let out = scratch.path("out");
    let vary = ["--vary", "duration=60us,20s", "--jobs", "1", "--out", &out];
    let mut command = tidegate();
    command.args(["sweep", &scenario]).args(vary).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    #[expect(clippy::disallowed_methods, reason = "what hangs is found by the clock")]
    let started = Instant::now();
    while complete(&scratch, "out").is_empty() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    refused(&[["sweep", &scenario].as_slice(), &vary, &["--resume"]].concat(), &["is locked by another sweep"]);
    let ran = crate::common::interrupt(child, &scratch.0.join("out/sweep.json"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(130), ""), "{}", ran.out);
    assert!(ran.out.contains("2: 1 complete, 1 not yet run"), "{}", ran.out);
    assert_eq!(scratch.names("out/runs").len(), 1, "half a run is no result");
    assert_eq!(record::table::read_table(&scratch.0.join("out/sweep.parquet")).unwrap().rows, 1);
}

#[test]
fn a_disk_that_fails_costs_the_runs_that_need_it() {
    let scratch = Scratch::new("sweep-disk");
    // With the second value of the varied key, queues are recorded, and the table exceeds the file size limit of 16 KB
    // that the shell sets.
    let scenario = tiny(&scratch);
    let out = scratch.path("out");
    let script = "trap '' XFSZ; ulimit -f 32; exec \"$0\" \"$@\"";
    let sweep = [env!("CARGO_BIN_EXE_tidegate"), "sweep", &scenario, "--out", &out];
    let vary = ["--vary", "record.queues=false,{ every = \"1ns\" }", "--jobs", "1"];
    let ran: Ran = Command::new("sh").args(["-c", script]).args(sweep).args(vary).output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("record.queues={ every") && ran.err.contains("queues.parquet"), "{}", ran.err);
    assert!(ran.out.contains("2: 1 complete, 1 failed"), "{}", ran.out);
    assert_eq!(scratch.names("out/runs").len(), 1);
    let ran: Ran = tidegate().args(&sweep[1..]).args(vary).arg("--resume").output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("2: 2 complete, 1 of them from an earlier command"), "{}", ran.out);
}
