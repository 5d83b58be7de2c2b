//! Tests of `tidegate compare`.

use crate::common::{SMALL, Scratch, run, tidegate};
use serde_json::Value;
use std::process::Stdio;

#[test]
fn a_table_with_a_column_for_each_run() {
    let scratch = Scratch::new("columns");
    let scenario = scratch.file("small.toml", SMALL);
    let vary = ["--vary", "traffic.0.fan_in=2,7", "--vary", "switch.marking=none,{ kind = \"ecn\", k_min = \"10KB\" }"];
    let ran = run(&[&["compare", scenario.as_str()], vary.as_slice()].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let row = |name: &str| -> Vec<String> {
        let line =
            ran.out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}:\n{}", ran.out));
        line[name.len()..].split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("traffic.0.fan_in"), ["2", "2", "7", "7"]);
    assert_eq!(row("flows completed"), ["2", "2", "7", "7"]);
    assert_eq!(row("checks"), ["ok"; 4]);
    let marked = row("ECN marks");
    assert!(marked[0] == "0" && marked[1] != "0" && marked[2] == "0" && marked[3] != "0", "{marked:?}");
    // All flows have the same size (100 KB), so the table has no rows by flow size.
    assert!(!ran.out.contains("100KB"), "{}", ran.out);
    assert_eq!(scratch.names(""), ["small.toml"]);
}

#[test]
fn many_runs_are_rows_and_their_files_are_those_of_single_runs() {
    let scratch = Scratch::new("rows");
    let scenario = scratch.file("small.toml", SMALL);
    let out = scratch.path("out");
    let arguments = ["compare", &scenario, "--vary", "traffic.0.fan_in=2,4,6", "--seed", "1,2", "--out", &out];
    let ran = run(&[arguments.as_slice(), &["--metric", "completed,drops", "--jobs", "2"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let line = |name: &str| ran.out.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert_eq!(line("seed").matches("2 seeds").count(), 3, "{}", ran.out);
    // With both seeds all flows complete: the confidence intervals have the width 0, and 2 and 6 completed flows differ
    // significantly.
    let completed = line("flows completed").split_once("2.0 ± 0.0").unwrap().1;
    assert!(completed.contains("6.0 ± 0.0") && !completed.contains('~'), "{}", ran.out);
    // No run drops a frame, so the drops with fan-in 4 and 6 do not differ from those with fan-in 2.
    assert_eq!(line("drops").matches('~').count(), 2, "{}", ran.out);
    assert!(line("~ within the noise").contains("the first column may be chance"), "{}", ran.out);
    assert!(line("mean ±").contains("95 % confidence"), "{}", ran.out);
    let folders = scratch.names("out");
    assert_eq!((folders.len(), folders[2].as_str()), (8, "03_fan_in=4_seed=1"));

    let single = scratch.path("single");
    let set = ["--set", "traffic.0.fan_in=4", "--seed", "1"];
    assert_eq!(run(&[&["run", &scenario, "--quiet", "--out", &single], set.as_slice()].concat()).code, Some(0));
    assert!(scratch.result("single") == scratch.result("out/03_fan_in=4_seed=1"));

    let csv = std::fs::read_to_string(scratch.0.join("out/compare.csv")).unwrap();
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((lines.len(), lines[0][0], lines[0][1]), (7, "traffic.0.fan_in", "seed"));
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
    let column = lines[0].iter().position(|name| *name == "completed").unwrap();
    assert_eq!(lines[1..].iter().map(|line| line[column]).collect::<Vec<_>>(), ["2", "2", "4", "4", "6", "6"]);
    assert!(lines[0].contains(&"fct_mean_ns") && lines[0].contains(&"goodput_bps"));
}

#[test]
fn json_is_one_object_and_does_not_depend_on_the_jobs() {
    let scratch = Scratch::new("json");
    let scenario = scratch.file("small.toml", SMALL);
    let with = |jobs: &str| run(&["compare", &scenario, "--vary", "traffic.0.fan_in=2,3,4", "--json", "--jobs", jobs]);
    let (one, three) = (with("1"), with("3"));
    assert_eq!((one.code, one.err.as_str()), (Some(0), ""));
    assert_eq!(one.out, three.out);
    let value: Value = serde_json::from_str(&one.out).unwrap();
    let runs = value["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    assert_eq!(runs[1]["set"]["traffic.0.fan_in"], "3");
    assert_eq!((&runs[1]["metrics"]["completed"], &runs[1]["pass"]), (&Value::from(3), &Value::Bool(true)));
    // With one seed there is no confidence interval, and no significance.
    let completed = &value["groups"][1]["metrics"]["completed"];
    assert!(completed["half_width_95"].is_null() && completed["within_noise"].is_null(), "{completed}");
}

#[test]
fn many_values_are_rows_and_noise_is_marked_where_seeds_differ() {
    let scratch = Scratch::new("noise");
    let scenario = scratch.file("small.toml", SMALL);
    // The number of ECN marks depends on the seed. Values of k_max around 40 KB that differ by 1 % make no significant
    // difference (marked `~`); with a k_max of 10001 B the number of marks differs significantly.
    let k_max = "switch.marking.k_max=40KB,40100B,40200B,40300B,40400B,10001B";
    let ran = run(&["compare", &scenario, "--vary", k_max, "--seeds", "1..4", "--metric", "marks,completed"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let rows: Vec<&str> = ran.out.lines().take(7).collect();
    assert!(rows[0].contains("switch.marking.k_max") && rows[0].contains("ECN marks"), "{}", ran.out);
    assert!(rows[2].matches('~').count() == 2, "marks and completions of 40100B: {}", ran.out);
    assert!(rows[6].matches('~').count() == 1, "marks of 10001B differ, completions do not: {}", ran.out);
    assert!(ran.out.contains("the first row may be chance"), "{}", ran.out);
}

#[test]
fn one_failed_check_fails_the_comparison_and_is_named() {
    let scratch = Scratch::new("fails");
    let scenario = scratch.file("small.toml", SMALL);
    let ran = run(&["compare", &scenario, "--vary", "switch.flow_control.headroom=1KB,auto"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let last = ran.out.lines().find(|line| line.starts_with("checks")).unwrap();
    assert!(last.contains("FAIL: lossless") && last.ends_with("ok"), "{}", ran.out);
}

#[test]
fn an_interrupted_run_keeps_its_partial_result_and_reports_it() {
    let scratch = Scratch::new("interrupt");
    let scenario = scratch.file("endless.toml", &crate::common::endless());
    let mut command = tidegate();
    command.args([
        "compare",
        &scenario,
        "--vary",
        "traffic.0.fan_in=2,3",
        "--jobs",
        "1",
        "--out",
        &scratch.path("out"),
    ]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ran = crate::common::interrupt(child, &scratch.0.join("out/02_fan_in=3.partial"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(130), ""), "{}", ran.out);
    assert!(ran.out.contains("(partial)"), "{}", ran.out);
    assert_eq!(
        scratch.names("out"),
        ["01_fan_in=2", "compare.csv", "tidegate.sha256"],
        "what has not begun is not there"
    );
    let summary = std::fs::read_to_string(scratch.0.join("out/01_fan_in=2/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((&summary["partial"], &summary["packets"]["closed"]), (&Value::Bool(true), &Value::Bool(true)));
}

/// No switch marks ECN: runs with DCQCN warn of this, runs with RoCE do not. `compare` and `sweep` must print the
/// warning once, with the number of runs.
#[test]
fn warnings_of_runs_follow_the_table() {
    let scratch = Scratch::new("warned");
    let scenario = "duration = \"100us\"\n[fabric]\nkind = \"single-switch\"\nhosts = 3\n\
         link = { rate = \"100Gbps\", delay = \"500ns\" }\n[switch]\n\
         flow_control = { kind = \"pfc\", priorities = [3] }\n\
         [host]\ntransport = \"roce\"\n[[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n";
    let file = scratch.file("unmarked.toml", scenario);
    let vary = ["--vary", "host.transport=roce,dcqcn", "--seeds", "1,2"];
    for command in ["compare", "sweep"] {
        let out = scratch.path(command);
        let output = crate::common::run(&[&[command, &file, "--out", &out], &vary[..]].concat()).out;
        let warned: Vec<&str> = output.lines().filter(|line| line.starts_with("warning: ")).collect();
        let [one] = warned[..] else { panic!("{output}") };
        assert!(one.contains("no switch marks") && one.ends_with("(2 of 4 runs, dcqcn)"), "{one}");
        let output =
            crate::common::run(&[&[command, &file, "--json", "--out", &(out + "-json")], &vary[..]].concat()).out;
        assert_eq!(output.matches("no switch marks").count(), 2, "{output}");
    }
}

/// No flow completes within 40 us. `--until-decided` extends the duration to 160 us, in which all flows complete, so
/// that the columns can be ranked.
#[test]
fn until_decided_extends_the_runs_until_their_flows_are_complete() {
    let scratch = Scratch::new("until-decided");
    let scenario = scratch.file(
        "short.toml",
        "duration = \"40us\"\n[fabric]\nkind = \"single-switch\"\nhosts = 4\nlink = { rate = \"10Gbps\", delay = \
         \"1us\" }\n[switch]\nbuffer = \"2MB\"\n[host]\ntransport = \"tcp\"\n[[traffic]]\nkind = \"incast\"\nfan_in = \
         3\nsize = \"50KB\"\n",
    );
    let vary = ["compare", &scenario, "--vary", "host.transport.initial_window=3KB,14KB", "--metric", "fct-mean"];
    let short = run(&vary);
    assert!(short.code == Some(0) && !short.out.contains("FCT mean"), "{}{}", short.out, short.err);
    assert!(short.out.contains("no flow can complete"), "{}", short.out);
    let decided = run(&[vary.as_slice(), &["--until-decided", "5%"]].concat());
    assert_eq!(decided.code, Some(0), "{}", decided.err);
    let said = "--until-decided: duration 160us";
    assert!(decided.out.contains(said) || decided.err.contains(said), "{}{}", decided.out, decided.err);
    assert!(decided.out.contains("FCT mean"), "{}", decided.out);
    let listed = run(&[vary.as_slice(), &["--list-metrics"]].concat());
    for metric in ["fct-mean", "unfinished", "drops"] {
        assert!(listed.out.lines().any(|line| line.split_whitespace().next() == Some(metric)), "{metric}");
    }
}
