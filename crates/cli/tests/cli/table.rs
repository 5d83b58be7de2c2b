//! Tests of the tables of a result: labels, units, CSV output.

use crate::common::{Scratch, run, tidegate};
use record::table::TableReader;
use std::path::Path;

/// A scenario with two traffic entries, one of them with a label, and with all recordings.
const SCENARIO: &str = r#"
name = "mice and elephants"
duration = "300us"
[fabric]
kind = "single-switch"
hosts = 6
link = { rate = "100Gbps", delay = "500ns" }
[switch]
buffer = "1MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "20KB" }
[host]
transport = { kind = "roce" }
[[traffic]]
kind = "incast"
label = "elephants, all"
fan_in = 4
receiver = "H1"
size = "400KB"
[[traffic]]
kind = "pairs"
label = "mice"
pairs = [["H2", "H6"], ["H3", "H6"]]
size = "10KB"
[record]
queues = { every = "10us" }
links = { every = "10us" }
throughput = { every = "10us" }
control = { every = "10us" }
pauses = true
trace = {}
[measure]
reordering = true
"#;

fn made(scratch: &Scratch) -> (String, String, serde_json::Value) {
    let (file, out) = (scratch.file("scenario.toml", SCENARIO), scratch.path("out"));
    let ran = run(&["run", &file, "--out", &out, "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    (file, out, serde_json::from_str(&ran.out).expect("JSON"))
}

#[test]
fn labels_stand_in_the_summary_the_tables_and_the_comparison() {
    let scratch = Scratch::new("table-labels");
    let (file, out, summary) = made(&scratch);
    let of = &summary["flows"]["by_traffic"];
    assert_eq!((&of[0]["label"], &of[1]["label"]), (&"elephants, all".into(), &"mice".into()));
    let payload: u64 = (0..2).map(|at| of[at]["payload_bytes"].as_u64().expect("bytes")).sum();
    assert_eq!(summary["goodput"]["payload_bytes"], payload);
    let flows = run(&["table", &out, "flows"]).out;
    let mut lines = flows.lines();
    assert!(lines.next().is_some_and(|header| header.starts_with("flow,traffic,label,src_host,")), "{flows}");
    let (mice, elephants): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains(",1,mice,"));
    assert_eq!((mice.len(), elephants.len()), (2, 4));
    assert!(elephants.iter().all(|line| line.contains(",0,\"elephants, all\",")), "{flows}");
    let shown = run(&["run", &file]).out;
    assert!(shown.contains("by label") && shown.contains("  mice "), "{shown}");

    let vary = ["compare", &file, "--vary", "traffic.0.size=100KB,400KB", "--quiet"];
    let metrics = ["--metric", "fct-mean@mice,fct-p99@mice", "--metric", "completed", "--json"];
    let ran = run(&[&vary[..4], &metrics[..]].concat());
    let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let printed = &value["runs"][1]["metrics"];
    assert_eq!(printed["fct_mean_ns@mice"], of[1]["fct_ns"]["mean"]);
    // A metric given by its exact name selects only this metric (and no others with this prefix).
    assert_eq!((&printed["completed"], printed.as_object().map(|all| all.len())), (&6.into(), Some(3)));
    let wrong = run(&[&vary[..], &["--metric", "fct@mouse"]].concat());
    assert!(wrong.code == Some(2) && wrong.err.contains("fct-mean@mice"), "{}", wrong.err);
    let table = run(&[&vary[..4], &["--out", &scratch.path("compared")]].concat());
    assert!(table.out.contains("FCT mean, mice"), "{}", table.out);
    let csv = std::fs::read_to_string(scratch.path("compared/compare.csv")).expect("a table");
    assert!(csv.lines().next().is_some_and(|header| header.contains(",goodput_bps@mice,")), "{csv}");
    let sweep = run(&["sweep", &file, "--vary", "traffic.0.size=100KB,400KB", "--out", &scratch.path("swept")]);
    assert_eq!(sweep.code, Some(0), "{}", sweep.err);
    let csv = run(&["table", &scratch.path("swept"), "sweep"]).out;
    assert!(csv.contains(",fct_p99_ns@mice,") && csv.lines().count() == 3, "{csv}");
    // If the only traffic entry has no label, no metric is split by label.
    let alone = SCENARIO.replace("label = \"elephants, all\"\n", "");
    let alone = format!("{}[record]\n", alone.split("[[traffic]]\nkind = \"pairs\"").next().expect("a part"));
    let ran = run(&["run", &scratch.file("alone.toml", &alone), "--json"]);
    assert!(!ran.out.is_empty() && !ran.out.contains("\"label\""), "{}", ran.err);
}

#[test]
fn every_column_states_unit_and_meaning_and_every_file_its_run() {
    let scratch = Scratch::new("table-metadata");
    let (_, out, summary) = made(&scratch);
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(&out).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "parquet") {
            continue;
        }
        seen.push(path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned());
        let reader = TableReader::open(&path).expect("a table");
        for column in reader.columns() {
            assert!(column.meaning.is_some(), "{}: {} says nothing", path.display(), column.name);
            assert!(column.unit.is_some(), "{}: {} has no unit", path.display(), column.name);
        }
        let identity = &summary["scenario"];
        for (key, field) in [("scenario", "name"), ("scenario_hash", "hash"), ("version", "version")] {
            let printed = reader.about().iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
            assert_eq!(printed, identity[field].as_str(), "{}", path.display());
        }
        assert!(reader.about().contains(&("seed".to_owned(), identity["seed"].to_string())));
    }
    seen.sort();
    let expected = ["control", "flows", "links", "ports", "queues", "reordering", "throughput", "trace"];
    assert_eq!(seen, expected);
}

#[test]
fn every_table_becomes_csv_and_files_of_the_user_stay() {
    let scratch = Scratch::new("table-csv");
    let (_, out, _) = made(&scratch);
    let listed = run(&["table", &out]).out;
    assert!(
        listed.contains("flows, 6 rows") && listed.contains("completion time: delivered_ps - start_ps"),
        "{listed}"
    );
    let folder = scratch.path("csv");
    assert_eq!(run(&["table", &out, "--out", &folder]).code, Some(0));
    let names =
        ["control", "flows", "links", "pauses", "ports", "queues", "reordering", "summary", "throughput", "trace"];
    for name in names {
        let text = std::fs::read_to_string(Path::new(&folder).join(format!("{name}.csv"))).expect(name);
        assert_eq!(text, run(&["table", &out, name]).out, "{name}");
        assert!(text.lines().count() > 1, "{name}: {text}");
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name}: {listed}");
    }
    assert_eq!(run(&["table", &out, "--out", &folder]).code, Some(0), "its own files are replaced");
    let into_itself = run(&["table", &out, "--out", &out, "--force"]);
    assert!(
        into_itself.code == Some(2) && into_itself.err.contains("such as one in the result"),
        "{}",
        into_itself.err
    );
    // If one table cannot be read, no file of the output folder is changed.
    let before = |name: &str| std::fs::read(Path::new(&folder).join(name)).expect(name);
    let (control, whole) = (before("control.csv"), std::fs::read(format!("{out}/queues.parquet")).expect("a table"));
    std::fs::write(format!("{out}/queues.parquet"), &whole[..whole.len() / 2]).expect("a file");
    let (damaged, new) = (run(&["table", &out, "--out", &folder]), scratch.path("new"));
    assert!(damaged.code == Some(2) && before("control.csv") == control, "{}", damaged.err);
    assert!(run(&["table", &out, "--out", &new]).code == Some(2) && !Path::new(&new).exists());
    assert!(!Path::new(&format!("{new}.partial")).exists());
    std::fs::write(format!("{out}/queues.parquet"), &whole).expect("a file");
    let mine = Path::new(&folder).join("flows.csv");
    std::fs::write(&mine, "mine").expect("a file");
    let again = run(&["table", &out, "--out", &folder]);
    assert!(again.code == Some(2) && again.err.contains("--force"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(&mine).expect("text"), "mine");
    assert_eq!(run(&["table", &out, "flows", "--out", mine.to_str().expect("UTF-8"), "--force"]).code, Some(0));
    assert_ne!(std::fs::read_to_string(&mine).expect("text"), "mine");
    let wrong = run(&["table", &out, "flow"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("one of control, flows, links"), "{}", wrong.err);
    std::fs::create_dir(scratch.path("empty")).expect("a folder");
    let empty = run(&["table", &scratch.path("empty")]);
    assert!(empty.code == Some(2) && empty.err.contains("has no table"), "{}", empty.err);
}

/// Text for humans is wrapped at the terminal width (COLUMNS); only a single longer word may exceed it.
#[test]
fn lines_are_as_long_as_the_screen_is_wide() {
    let scratch = Scratch::new("table-width");
    let (file, out, _) = made(&scratch);
    let long = scratch.file("long.toml", &SCENARIO.replace("\"H6\"", "\"H5\""));
    let commands: [&[&str]; 8] = [
        &["run", &file],
        &["compare", &long, "--vary", "traffic.0.fan_in=1,2,3,4", "--vary", "traffic.0.size=100KB,400KB"],
        &["mechanisms"],
        &["new"],
        &["table", &out],
        &["why", &out, "--flow", "0"],
        &["why", &out, "--pauses"],
        &["fabric", "show", "fat-tree", "--k", "8", "--rate", "100Gbps", "--delay", "500ns"],
    ];
    for arguments in commands {
        let wide = tidegate().args(arguments).output().expect("it starts");
        let wide = String::from_utf8(wide.stdout).expect("UTF-8");
        for columns in [60, 80, 200] {
            let shown = tidegate().env("COLUMNS", columns.to_string()).args(arguments).output().expect("it starts");
            let shown = String::from_utf8(shown.stdout).expect("UTF-8");
            assert!(!shown.is_empty(), "{arguments:?}");
            for line in shown.lines().filter(|line| line.chars().count() > columns) {
                let word = line.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
                assert!(word + 16 > columns, "{arguments:?} at {columns}: {line}");
            }
            if !arguments.contains(&"run") && wide.lines().all(|line| line.chars().count() <= columns) {
                assert_eq!(shown, wide, "{arguments:?} at {columns}: what fits stays as it is");
            }
        }
    }
    let json = tidegate().env("COLUMNS", "30").args(["run", &file, "--explain", "--json"]).output().expect("it starts");
    let plain = tidegate().args(["run", &file, "--explain", "--json"]).output().expect("it starts");
    assert_eq!(json.stdout, plain.stdout, "JSON is for programs");
}
