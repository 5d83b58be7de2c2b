//! Tests of `tidegate reproduce --search`.

use crate::common::{Scratch, run};
use serde_json::Value;
use std::fs;

#[test]
fn a_search_keeps_its_points_and_draws_its_conclusion_from_all() {
    let scratch = Scratch::new("search");
    let out = scratch.path("eccp");
    let search = |more: &[&str]| {
        let fixed = ["reproduce", "--search", "eccp", "--points", "1", "--out", &out, "--json"];
        run(&[&fixed, more].concat())
    };
    let first = search(&[]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    let report: Value = serde_json::from_str(&first.out).unwrap();
    assert_eq!((&report["judged"], &report["best"]["point"]), (&1.into(), &0.into()));
    let claims = report["best"]["claims"].as_array().unwrap();
    assert_eq!(report["claims"], claims.len());
    assert_eq!(report["never"].as_array().unwrap().len(), claims.iter().filter(|it| it["pass"] == false).count());
    let file = format!("{out}/points-1-of-1.jsonl");
    let line = fs::read_to_string(&file).unwrap();
    // A point that is already judged is not judged again, even by a run of another shard.
    let again = search(&["--shard", "1/3"]);
    assert_eq!((again.code, &again.out), (Some(0), &first.out), "{}", again.err);
    assert!(again.err.contains("1 points; 1 are judged already"), "{}", again.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), line);
    let conclusion = run(&["reproduce", "--search", "eccp", "--points", "0", "--out", &out, "--json"]);
    assert_eq!((conclusion.code, &conclusion.out), (Some(0), &first.out), "no points print the conclusion");
    fs::write(&file, line.replace("eccp", "x").replace("\"point\":0", "\"point\":\"0\"")).unwrap();
    let damaged = search(&[]);
    assert_eq!(damaged.code, Some(2));
    assert!(damaged.err.contains("points-1-of-1.jsonl:1: "), "{}", damaged.err);
}

#[test]
fn papers_without_a_search_and_other_folders_are_refused() {
    let scratch = Scratch::new("search-refused");
    let refused = |arguments: &[&str], message: &str| {
        let ran = run(&[&["reproduce"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.err.contains(message), "{arguments:?}: {}", ran.err);
    };
    refused(&["--search", "pabo"], "there is no search of the open choices of `pabo`");
    refused(&["--search"], "--search takes one paper");
    refused(&["--points", "3", "eccp"], "--search");
    scratch.file("notes.txt", "");
    refused(&["--search", "eccp", "--out", &scratch.path("")], "none of them is search.json");
}
