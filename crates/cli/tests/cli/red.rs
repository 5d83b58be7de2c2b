//! Runs `scripts/red.sh` with a program that prints prepared results in place of `reproduce`: the script must report
//! every difference between the failed checks and the list of expected failures.
#![cfg(unix)]

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns experiment and check of the first FLORAX entries in a list of expected failures.
fn listed(list: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("experiments").join(list)).unwrap();
    let keys = text.lines().filter(|line| line.starts_with("florax/")).map(|line| line.split(" | ").next().unwrap());
    keys.map(|key| key.split_once(": ").unwrap()).map(|(id, check)| (id.to_owned(), check.to_owned())).collect()
}

/// Returns an experiment with one check as JSON, with the keys in the order of `reproduce --json`: the experiment's id
/// precedes the checks, and a check's name precedes its result.
fn entry(id: &str, check: &str, pass: Option<bool>) -> String {
    let [id, check, pass] = [json!(id), json!(check), json!(pass)].map(|value| value.to_string());
    format!(
        "{{\n  \"id\": {id},\n  \"pass\": false,\n  \"checks\": [\n{{\n  \"name\": {check},\n  \"pass\": {pass},\n  \
         \"known\": null\n}}\n]\n}}"
    )
}

/// Runs the script with a `reproduce` that prints these experiments; returns exit code and output.
fn held(name: &str, arguments: &[&str], experiments: &[String]) -> (i32, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("red").join(name);
    fs::create_dir_all(&folder).unwrap();
    let document = format!("{{\n  \"experiments\": [\n{}\n]\n}}\n", experiments.join(",\n"));
    serde_json::from_str::<serde_json::Value>(&document).unwrap();
    fs::write(folder.join("printed.json"), document).unwrap();
    let program = folder.join("program");
    fs::write(&program, format!("#!/bin/sh\ncat '{}'\nexit 1\n", folder.join("printed.json").display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new("bash")
        .arg(root().join("scripts/red.sh"))
        .args(arguments)
        .env("TIDEGATE", &program)
        .env("CARGO_TARGET_DIR", &folder)
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn exactly_the_listed_checks_may_fail() {
    for (list, arguments) in [("red-full.txt", &["florax"][..]), ("red.txt", &["--quick", "florax"])] {
        let listed = listed(list);
        let red = || listed.iter().map(|(id, check)| entry(id, check, Some(false)));
        let good = || entry("florax/fig1", "a \"quoted\" claim: it holds", Some(true));
        let (code, text) = held(list, arguments, &red().chain([good()]).collect::<Vec<_>>());
        assert_eq!(code, 0, "{text}");
        assert!(text.starts_with(&format!("1 hold, {} fail, 0 are not judged\n", listed.len())), "{text}");
        assert!(text.ends_with(&format!("experiments/{list} is exact\n")), "{text}");
        let classified = text.lines().filter_map(|line| line.strip_prefix("known to fail, ")?.split_once(": "));
        assert_eq!(classified.map(|(_, count)| count.parse::<usize>().unwrap()).sum::<usize>(), listed.len(), "{text}");

        let new = entry("florax/fig1", "a \"quoted\" claim: it holds", Some(false));
        let (code, text) = held(list, arguments, &red().chain([new]).collect::<Vec<_>>());
        assert_eq!(code, 1, "{text}");
        let printed = "fails, and is not in the list: florax/fig1: a \"quoted\" claim: it holds\n";
        assert!(text.ends_with(printed), "{text}");
    }
}

#[test]
fn what_holds_or_is_not_judged_or_is_no_check_leaves_the_list() {
    let listed = listed("red.txt");
    let first = format!("{}: {}", listed[0].0, listed[0].1);
    for (pass, printed) in [(Some(true), "holds"), (None, "not judged")] {
        let outcomes = listed.iter().enumerate();
        let outcomes = outcomes.map(|(index, (id, check))| {
            let pass = if index == 0 { pass } else { Some(false) };
            entry(id, check, pass)
        });
        let (code, text) = held("leaves", &["--quick", "florax"], &outcomes.collect::<Vec<_>>());
        assert_eq!(code, 1, "{text}");
        assert!(text.ends_with(&format!("\n{printed}, and must leave the list: {first}\n")), "{text}");
        assert_eq!(text.starts_with(&format!("not judged: {first}\n")), pass.is_none(), "{text}");
    }
    let red = listed.iter().skip(1).map(|(id, check)| entry(id, check, Some(false)));
    let (code, text) = held("leaves", &["--quick", "florax"], &red.collect::<Vec<_>>());
    assert_eq!(code, 1, "{text}");
    assert!(text.ends_with(&format!("\nis no check, and must leave the list: {first}\n")), "{text}");
}
