//! Runs random scenarios on one, two and three threads. The results must be equal, and no check may fail except those
//! in `Drawn::honest`.

use crate::process::{self, Ran};
use crate::report::{Fault, Report};
use crate::scenarios::{self, Drawn};
use crate::{Field, spread};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::Path;
use units::random::Stream;
use units::random::purpose;

/// Number of drafts of a scenario that may be rejected; if all are rejected, the case counts as rejected.
const DRAFTS: u64 = 25;

/// Outcome of one random scenario.
struct Case {
    ran: Ran,
    fault: Option<String>,
    notes: Vec<String>,
    kinds: BTreeSet<String>,
}

/// Runs the random scenarios with these numbers.
pub fn attack(field: &Field, numbers: Range<u64>, report: &mut Report) {
    const KIND: &str = "random scenarios";
    let cases = spread("scenarios", field.jobs, numbers.clone(), |number| one(field, number));
    for (number, case) in numbers.zip(cases) {
        report.count(KIND, case.ran.code, case.ran.took);
        case.kinds.into_iter().for_each(|kind| report.ran_with(kind));
        case.notes.into_iter().for_each(|note| report.note(note));
        if let Some(what) = case.fault {
            let again = format!("--scenario {number}");
            let command = "tidegate run scenario.toml --threads 1, 2 and 3".to_owned();
            report.fault(KIND, Fault { again, command, what });
        }
    }
}

fn one(field: &Field, number: u64) -> Case {
    let mut stream = Stream::new(field.seed, number, purpose("hostile scenario"));
    let folder = field.folder.join(format!("scenario-{number}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder of ours");
    let mut notes = Vec::new();
    let mut draft = 0;
    let (drawn, ran) = loop {
        let drawn = scenarios::draw(&mut stream);
        fs::write(folder.join("scenario.toml"), &drawn.text).expect("a file of ours");
        let ran = run(field, &folder, 1);
        draft += 1;
        if ran.code != Some(2) || draft == DRAFTS {
            break (drawn, ran);
        }
        notes.push(format!("refused: {}", refusal(&ran.err)));
    };
    let kinds = if ran.is_done() { kinds(&drawn.text) } else { BTreeSet::new() };
    let fault = fault(field, &folder, &drawn, &ran, &mut notes);
    match &fault {
        Some(what) => {
            let found = field.folder.join("found").join(format!("scenario-{number}"));
            fs::create_dir_all(&found).expect("a folder of ours");
            fs::write(found.join("scenario.toml"), &drawn.text).expect("a file of ours");
            fs::write(found.join("FAULT"), format!("{what}\n")).expect("a file of ours");
        }
        None if ran.code == Some(1) => notes.push("a check failed for an honest reason".to_owned()),
        None => {}
    }
    let _ = fs::remove_dir_all(&folder);
    Case { ran, fault, notes, kinds }
}

/// Returns the values of the keys `kind` and `process` in a scenario.
fn kinds(text: &str) -> BTreeSet<String> {
    let named = |key: &str| -> BTreeSet<String> {
        text.split(key).skip(1).filter_map(|rest| Some(rest.split('"').next()?.to_owned())).collect()
    };
    let mut kinds: BTreeSet<String> = named("kind = \"");
    kinds.extend(named("process = \"").into_iter().map(|process| format!("{process} frames")));
    kinds
}

fn run(field: &Field, folder: &Path, threads: usize) -> Ran {
    run_build(&field.tidegate, folder, threads, &format!("on-{threads}"))
}

fn run_build(tidegate: &Path, folder: &Path, threads: usize, out: &str) -> Ran {
    let line = format!("run scenario.toml --quiet --threads {threads} --out {out}");
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    process::run(tidegate, folder, &words)
}

/// Runs the other build, if one is given, and returns the difference between its result and `first`.
fn differs(field: &Field, folder: &Path, ran: &Ran, first: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let other = run_build(field.against.as_deref()?, folder, 1, "on-other");
    if other.code != ran.code {
        return Some(format!("exit code {:?}, {:?} from the other build", ran.code, other.code));
    }
    let tree = process::tree(&folder.join("on-other"));
    let name = first.keys().chain(tree.keys()).find(|&name| first.get(name) != tree.get(name))?;
    Some(format!("{name} differs from what the other build writes"))
}

fn fault(field: &Field, folder: &Path, drawn: &Drawn, ran: &Ran, notes: &mut Vec<String>) -> Option<String> {
    if let Some(fault) = ran.fault() {
        return Some(fault);
    }
    if !ran.is_done() {
        notes.push(format!("exit code {:?}, not compared", ran.code));
        return None;
    }
    let first = process::tree(&folder.join("on-1"));
    if let Some(fault) = differs(field, folder, ran, &first) {
        return Some(fault);
    }
    for threads in [2, 3] {
        let other = run(field, folder, threads);
        if let Some(fault) = other.fault() {
            return Some(format!("on {threads} threads: {fault}"));
        }
        if other.code == Some(130) {
            notes.push(format!("stopped on {threads} threads, not compared"));
            continue;
        }
        let tree = process::tree(&folder.join(format!("on-{threads}")));
        if let Some(name) = first.keys().chain(tree.keys()).find(|&name| first.get(name) != tree.get(name)) {
            return Some(format!("{name} differs between 1 and {threads} threads"));
        }
        if other.code != ran.code {
            return Some(format!("exit code {:?} on 1 thread, {:?} on {threads}", ran.code, other.code));
        }
    }
    (ran.code == Some(1)).then(|| red(&first, drawn, notes)).flatten()
}

/// Returns a failed check that is not among those that the scenario may fail.
fn red(files: &BTreeMap<String, Vec<u8>>, drawn: &Drawn, notes: &mut Vec<String>) -> Option<String> {
    let summary: serde_json::Value = serde_json::from_slice(files.get("summary.json")?).ok()?;
    let failed = summary["checks"].as_array().into_iter().flatten().filter(|check| check["pass"] == false);
    let failed: Vec<(&str, &str)> =
        failed.map(|check| (check["name"].as_str().unwrap_or("?"), check["detail"].as_str().unwrap_or("?"))).collect();
    if failed.is_empty() {
        return Some("exit code 1, and every check holds".to_owned());
    }
    for (name, detail) in &failed {
        match drawn.honest.iter().find(|(check, _)| check == name) {
            Some((_, reason)) => notes.push(format!("{name} failed: {reason}")),
            None => return Some(format!("{name} failed: {detail}")),
        }
    }
    None
}

/// Returns the error message without the parts that differ between scenarios, so that equal errors are counted
/// together.
fn refusal(err: &str) -> String {
    let line = err.lines().next().unwrap_or_default();
    let line = line.rsplit_once(".toml:").map_or(line, |(_, rest)| rest);
    line.chars().map(|c| if c.is_ascii_digit() { 'N' } else { c }).take(140).collect()
}
