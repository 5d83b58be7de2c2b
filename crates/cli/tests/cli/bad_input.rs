//! Invalid input of any kind: exit code 2, the location, what to write instead, and no incomplete output.

use crate::common::{SMALL, Scratch, run};

/// Runs the scenario `text` with an output folder. It must be rejected, the error must contain all texts of `said`, and
/// nothing may be written.
fn refused(name: &str, text: &str, said: &[&str]) {
    let scratch = Scratch::new(name);
    let scenario = scratch.file("bad.toml", text);
    check(&scratch, &["run", &scenario, "--out", &scratch.path("out")], said);
}

fn check(scratch: &Scratch, arguments: &[&str], said: &[&str]) {
    let before = scratch.names("");
    let ran = run(arguments);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    assert!(ran.err.starts_with("error: ") && !ran.err.contains("panicked"), "{}", ran.err);
    for part in said {
        assert!(ran.err.contains(part), "`{part}` is missing in\n{}", ran.err);
    }
    assert_eq!(scratch.names(""), before, "nothing is left behind");
}

#[test]
fn a_misspelt_key() {
    refused("key", &SMALL.replace("buffer =", "bufer ="), &["bad.toml:12:1", "bufer", "buffer"]);
}

#[test]
fn a_wrong_unit() {
    refused(
        "unit",
        &SMALL.replace("\"1us\" }\n\n[switch]", "\"1parsec\" }\n\n[switch]"),
        &["bad.toml:9:", "parsec", "ps, ns, us, ms, s"],
    );
}

#[test]
fn a_negative_rate() {
    refused("rate", &SMALL.replace("100Gbps", "-100Gbps"), &["bad.toml:9:", "negative", "100Gbps"]);
}

#[test]
fn no_toml_at_all() {
    refused("toml", "duration = = 1\n", &["bad.toml:1:12", "TOML"]);
    refused("empty", "", &["bad.toml", "duration", "[fabric]", "[[traffic]]"]);
}

#[test]
fn several_errors_are_all_reported() {
    let text = SMALL.replace("leaves = 2", "leaves = 0.5").replace("fan_in = 7", "fan_in = \"x\"");
    refused("several", &text, &["bad.toml:6:", "bad.toml:21:"]);
}

#[test]
fn a_buffer_smaller_than_its_headroom() {
    refused("headroom", &SMALL.replace("4MB", "100KB"), &["bad.toml:12:", "smaller than its headroom", "or more"]);
}

#[test]
fn a_link_without_delay() {
    refused("delay", &SMALL.replace("delay = \"1us\"", "delay = \"0ns\""), &["bad.toml:9:", "delay above zero", "1ns"]);
}

#[test]
fn a_host_that_the_fabric_does_not_have() {
    refused("host", &SMALL.replace("\"H1\"", "\"H99\""), &["bad.toml:22:", "H99"]);
    refused("number", &SMALL.replace("\"H1\"", "99"), &["bad.toml:22:", "99"]);
}

#[test]
fn a_host_cut_off_by_a_link_that_never_works() {
    let text = format!("{SMALL}\n[[fail]]\nlink = [\"H1\", \"L1\"]\n");
    refused("cut", &text, &["bad.toml:", "H1", "no route"]);
}

const TOPOLOGY: &str = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
const FLOWS: &str = "2\n0 1 3 100 1000 0\n1 2 3 100 1000 0.00001\n";
const REPLAY: &str = r#"duration = "100us"
[fabric]
kind = "file"
file = "topology.txt"
[[traffic]]
kind = "replay"
file = "flow.txt"
"#;

fn replay(name: &str, topology: &str, flows: &str, said: &[&str]) {
    let scratch = Scratch::new(name);
    let scenario = scratch.file("bad.toml", REPLAY);
    scratch.file("topology.txt", topology);
    scratch.file("flow.txt", flows);
    check(&scratch, &["run", &scenario, "--out", &scratch.path("out")], said);
}

#[test]
fn the_files_are_right_to_begin_with() {
    let scratch = Scratch::new("right");
    let scenario = scratch.file("good.toml", REPLAY);
    scratch.file("topology.txt", TOPOLOGY);
    scratch.file("flow.txt", FLOWS);
    let ran = run(&["run", &scenario, "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn a_disconnected_fabric() {
    let apart = "6 2 5\n3 4\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n5 4 1Gbps 1us 0\n";
    replay("disconnected", apart, FLOWS, &["topology.txt", "not connected", "no path leads from"]);
    replay(
        "too-few",
        &TOPOLOGY.replace("4 1 3", "5 1 3"),
        FLOWS,
        &["topology.txt:1", "3 links cannot connect 5 nodes"],
    );
    let scratch = Scratch::new("apart");
    let file = scratch.file("topology.txt", apart);
    check(&scratch, &["fabric", "check", &file], &["topology.txt: ", "not connected", "help: "]);
}

#[test]
fn a_truncated_topology() {
    replay("topology", "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gb", FLOWS, &["topology.txt:4"]);
}

#[test]
fn a_truncated_flow_file() {
    replay("flows", TOPOLOGY, "3\n0 1 3 100 1000 0\n1 2 3 1", &["flow.txt:3"]);
}

#[test]
fn a_host_id_out_of_range() {
    replay("range", TOPOLOGY, "1\n0 9 3 100 1000 0\n", &["flow.txt:2", "9"]);
}

#[test]
fn a_link_of_a_file_without_delay() {
    replay("zero", &TOPOLOGY.replace("1 3 100Gbps 1us", "1 3 100Gbps 0us"), FLOWS, &["topology.txt", "above zero"]);
    let scratch = Scratch::new("zero-check");
    let file = scratch.file("topology.txt", &TOPOLOGY.replace("1 3 100Gbps 1us", "1 3 100Gbps 0us"));
    check(&scratch, &["fabric", "check", &file], &["topology.txt:4: ", "above zero", "like 1000ns"]);
}

#[test]
fn an_output_folder_that_cannot_be() {
    let scratch = Scratch::new("out");
    let scenario = scratch.file("small.toml", SMALL);
    let file = scratch.file("file", "");
    check(&scratch, &["run", &scenario, "--out", &format!("{file}/out")], &["--out ", "file/out", "cannot create"]);
    check(&scratch, &["run", &scenario, "--out", &file], &["--out ", "is not a Tidegate result"]);
    check(&scratch, &["run", &scenario, "--out", "/proc/tidegate"], &["--out /proc/tidegate", "cannot create"]);
    let compare = ["compare", &scenario, "--vary", "seed=1,2", "--out", &format!("{file}/out")];
    check(&scratch, &compare, &["--out ", "cannot create"]);
}

#[test]
fn files_that_are_not_there() {
    let scratch = Scratch::new("missing");
    check(&scratch, &["run", &scratch.path("no.toml")], &["no.toml", "No such file"]);
    check(&scratch, &["fabric", "show", &scratch.path("no.txt")], &["no.txt", "No such file"]);
    check(&scratch, &["run", &scratch.file("replay.toml", REPLAY)][..], &["topology.txt", "No such file"]);
}

#[test]
fn overrides_and_arguments() {
    let scratch = Scratch::new("override");
    let scenario = scratch.file("small.toml", SMALL);
    check(&scratch, &["run", &scenario, "--set", "fabric.leafs=3"], &["--set fabric.leafs=3", "leaves"]);
    check(&scratch, &["run", &scenario, "--set", "traffic.4.size=3KB"], &["--set traffic.4.size=3KB", "0"]);
    check(&scratch, &["run", &scenario, "--set", "seed"], &["fabric.k=8"]);
    check(&scratch, &["run", &scenario, "--threads", "0"], &["1..=1024"]);
    check(&scratch, &["compare", &scenario, "--vary", "fabric.leaves=2,x"], &["--vary fabric.leaves=x"]);
    check(&scratch, &["compare", &scenario, "--vary", "seed=1", "--metric", "speed"], &["speed", "fct-mean"]);
    check(
        &scratch,
        &["compare", &scenario, "--vary", "seed=1", "--vary", "seed=2"],
        &["varied twice", "--vary seed=1,2"],
    );
    check(&scratch, &["mechanisms", "magic"], &["magic", "dcqcn"]);
    check(&scratch, &["mechanisms", "pcf"], &["`pcf`", "did you mean `pfc`?"]);
    let whole = "a seed is a whole number from 0 to 18446744073709551615";
    check(&scratch, &["run", &scenario, "--seed", "-1"], &["'-1'", whole]);
    check(&scratch, &["run", &scenario, "--seed", "x"], &["'x'", whole]);
    check(&scratch, &["run", &scenario, "--set", "record.trace=true"], &["not a table", "trace = { flows = [0] }"]);
    check(&scratch, &["run", &scenario, "--set", "record.capture=[\"H1\"]"], &["capture = [{ port = \"H1\" }]"]);
    check(&scratch, &["run", &scenario, "--set", "record.capture=\"H1\""], &["capture = [{ port = \"H1\" }]"]);
    check(
        &scratch,
        &["fabric", "build", "fat-tree", "--k", "5", "--rate", "1Gbps", "--delay", "1us"],
        &["--k", "even"],
    );
    check(&scratch, &["fabric", "build", "fat-tree"], &["--k", "--rate", "--delay"]);
    check(&scratch, &["fabric", "build", "ring", "--switches", "3"], &["--hosts-per-switch", "--rate"]);
    check(&scratch, &["fabric", "show", "fat-three"], &["fat-tree"]);
}

#[test]
fn files_and_folders_that_are_not_there_or_say_nothing() {
    let scratch = Scratch::new("absent");
    let absent = scratch.path("absent");
    check(&scratch, &["sweep", &absent, "--seeds", "1..2"], &["absent: cannot read it"]);
    check(&scratch, &["why", &absent, "--flow", "1"], &["absent: no such folder", "tidegate run --out"]);
    let scenario = scratch.file("small.toml", SMALL);
    let vary = "switch.buffer=4MB,2";
    check(&scratch, &["compare", &scenario, "--vary", vary], &["--vary switch.buffer=2", "has no unit"]);
    let pair = ["single-switch", "--hosts", "2", "--rate", "100Gbps", "--delay", "1us"];
    let paths = format!("file:{}", scratch.file("paths.txt", "# none\n"));
    let out = scratch.path("rules.json");
    let rules = [["tagger", "rules", "--out", &out, "--paths", &paths].as_slice(), &pair].concat();
    check(&scratch, &rules, &["paths.txt: no path stands in it", "one a line"]);
    let rules = scratch.file("none.json", "{}");
    let budget = [["tagger", "what-if", &rules, "--fabric"].as_slice(), &pair].concat();
    check(&scratch, &budget, &["none.json: line 1", "tagger rules --out"]);
}
