//! `docs/claims.md` has a table for each paper: claim, number in the paper, our number, outcome, class. It is generated
//! from the output of `scripts/red.sh` in `target/red/full/`: `UPDATE_DOCS=1 cargo test -p tidegate --test cli claims`
//! rewrites the tables of the papers in that folder. Without the variable, the test checks that the failed checks in
//! the tables and their classes equal those in `experiments/red-full.txt`, and that every experiment has rows.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Serialises the tests: one may rewrite the page while the other reads it.
static PAGE: Mutex<()> = Mutex::new(());

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the class of each expected failure in `experiments/red-full.txt`, by experiment and check.
fn listed() -> BTreeMap<(String, String), String> {
    let text = fs::read_to_string(root().join("experiments/red-full.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (key, because) = line.split_once(" | ").unwrap_or((line, "unclassified"));
        let (experiment, check) = key.split_once(": ").unwrap();
        let class = because.split(" | ").next().unwrap();
        ((cell(experiment), cell(check)), class.to_owned())
    });
    lines.collect()
}

/// Escapes a text for use in a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "/")
}

/// Formats six significant digits without trailing zeros.
fn number(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (5 - value.abs().log10().floor() as i32).clamp(0, 9) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn marks(paper: &str) -> (String, String) {
    (
        format!("<!-- claims: {paper} begin (generated, see crates/cli/tests/cli/claims.rs) -->\n"),
        format!("<!-- claims: {paper} end -->\n"),
    )
}

/// Returns the table of a paper from the JSON output of `reproduce --json`.
fn table(document: &Value, listed: &BTreeMap<(String, String), String>) -> String {
    let (mut rows, mut held, mut judged) = (String::new(), 0, 0);
    for experiment in document["experiments"].as_array().unwrap() {
        let id = experiment["id"].as_str().unwrap();
        for check in experiment["checks"].as_array().unwrap() {
            let name = check["name"].as_str().unwrap();
            let unit = check["unit"].as_str().unwrap();
            // A check that was not judged has no measured number, and possibly no number of the paper.
            let figure = |key: &str| check[key].as_f64().map(number).unwrap_or_default();
            let relation = match check["relation"].as_str().unwrap() {
                "=" => String::new(),
                sign => format!("{sign} "),
            };
            let within = match figure("tolerance").as_str() {
                "" | "0" => String::new(),
                tolerance => format!(" ± {tolerance}"),
            };
            judged += u32::from(!check["pass"].is_null());
            held += u32::from(check["pass"] == true);
            let class = listed.get(&(cell(id), cell(name))).map_or("unclassified", String::as_str);
            let (verdict, class) = match check["pass"].as_bool() {
                Some(true) => ("holds", ""),
                Some(false) => ("**red**", class),
                None => ("not judged", check["not_judged"].as_str().unwrap_or_default()),
            };
            // Writing to a String cannot fail.
            let _ = writeln!(
                rows,
                "| {} | {} | {unit} | {relation}{}{within} | {} | {verdict} | {class} |",
                cell(id),
                cell(name),
                figure("paper"),
                figure("ours"),
                class = cell(class),
            );
        }
    }
    format!(
        "\n{held} of {judged} checks hold.\n\n\
         | experiment | claim | unit | source | ours | verdict | class or reason |\n\
         |---|---|---|---|---|---|---|\n{rows}\n"
    )
}

/// Returns all papers with experiments, in order.
fn papers() -> Vec<&'static str> {
    let paper = |experiment: &reproduce::Experiment| experiment.id.split_once('/').unwrap().0;
    let mut papers: Vec<&str> = reproduce::experiments().map(paper).collect();
    let mut known = BTreeSet::new();
    papers.retain(|paper| known.insert(*paper));
    papers
}

/// Returns the table of a paper, as it is on the page.
fn section<'a>(text: &'a str, paper: &str) -> &'a str {
    let (begin, end) = marks(paper);
    let (_, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("docs/claims.md has no section for {paper}"));
    rest.split_once(&end).unwrap().0
}

/// Returns the experiments of `ids` that have no row in any table.
fn without_rows<'a>(text: &str, ids: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let has_row = |id: &str| text.lines().any(|line| line.starts_with(&format!("| {} | ", cell(id))));
    ids.filter(|id| !has_row(id)).collect()
}

fn update(text: &mut String, listed: &BTreeMap<(String, String), String>) {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let Ok(folder) = fs::read_dir(target.join("red/full")) else { return };
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
        let paper = file.file_stem().unwrap().to_str().unwrap();
        let (begin, end) = marks(paper);
        // Skip the outputs of single experiments (PAPER-EXPERIMENT.json): the page has a section per paper only.
        let Some((before, rest)) = text.split_once(&begin) else { continue };
        let (_, after) = rest.split_once(&end).unwrap();
        let document = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        *text = format!("{before}{begin}{}{end}{after}", table(&document, listed));
    }
}

#[test]
fn red_checks_of_the_tables_are_those_of_the_list() {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join("docs/claims.md");
    let mut text = fs::read_to_string(&path).unwrap();
    let listed = listed();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        update(&mut text, &listed);
        fs::write(&path, &text).unwrap();
    }
    for paper in papers() {
        let section = section(&text, paper);
        let cells = section.lines().map(|line| line.split(" | ").collect::<Vec<_>>());
        let red: BTreeMap<(String, String), String> = cells
            .filter(|cells| cells.len() == 7 && cells[5] == "**red**")
            .map(|cells| {
                let class = cells[6].trim_end_matches(" |").to_owned();
                ((cells[0].trim_start_matches("| ").to_owned(), cells[1].to_owned()), class)
            })
            .collect();
        let of_paper = |key: &&(String, String)| key.0.split('/').next() == Some(paper);
        let wanted: BTreeMap<_, _> =
            listed.keys().filter(of_paper).map(|key| (key.clone(), listed[key].clone())).collect();
        let how = format!("run scripts/red.sh {paper}, then UPDATE_DOCS=1 cargo test -p tidegate --test cli claims");
        assert_eq!(red, wanted, "docs/claims.md and experiments/red-full.txt differ: {how}");
    }
}

/// The previous test notices a missing row of a failed check, but not of a passed check. Therefore each experiment must
/// have at least one row.
#[test]
fn every_experiment_has_its_rows() {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(root().join("docs/claims.md")).unwrap();
    for paper in papers() {
        let of_paper = reproduce::experiments().map(|experiment| experiment.id);
        let of_paper = of_paper.filter(|id| id.split_once('/').unwrap().0 == paper);
        let missing = without_rows(section(&text, paper), of_paper);
        let how = format!("run scripts/red.sh {paper}, then UPDATE_DOCS=1 cargo test -p tidegate --test cli claims");
        assert!(missing.is_empty(), "docs/claims.md has no row of {}: {how}", missing.join(", "));
    }
}

#[test]
fn the_readme_states_the_sum_of_all_papers() {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(root().join("docs/claims.md")).unwrap();
    let (mut holding, mut all) = (0, 0);
    for line in text.lines().filter_map(|line| line.strip_suffix(" checks hold.")) {
        let (part, of) = line.split_once(" of ").unwrap();
        holding += part.parse::<u32>().unwrap();
        all += of.parse::<u32>().unwrap();
    }
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&format!("{holding} of {all} checks")), "README.md: {holding} of {all} checks hold");
}

#[test]
fn an_experiment_without_rows_is_found() {
    let text = "| bg/fig1.1 | a | % | 1 | 1 | holds |  |\n| bg/fig1.10 | b | % | 1 | 1 | holds |  |\n";
    assert_eq!(without_rows(text, ["bg/fig1.1", "bg/fig1.9", "bg/fig1.10"].into_iter()), ["bg/fig1.9"]);
    assert_eq!(without_rows(text, ["bg/fig1"].into_iter()), ["bg/fig1"], "a part of a name is not a name");
}

#[test]
fn a_check_becomes_a_row() {
    let document = serde_json::json!({ "experiments": [{ "id": "pabo/drop", "checks": [
        { "name": "a | b", "unit": "%", "paper": 12.5, "relation": "=", "tolerance": 0.5, "ours": 12.0, "pass": true },
        { "name": "c", "unit": "", "paper": 0.0, "relation": "<", "tolerance": 0.0, "ours": 1234567.0, "pass": false },
        { "name": "d", "unit": "", "paper": 1.0, "relation": ">=", "tolerance": 0.0,
      "ours": 0.00012345678, "pass": null },
    ] }] });
    let listed = BTreeMap::from([(("pabo/drop".to_owned(), "c".to_owned()), "open choice".to_owned())]);
    let text = table(&document, &listed);
    assert!(text.starts_with("\n1 of 2 checks hold.\n"), "{text}");
    for row in [
        "| pabo/drop | a / b | % | 12.5 ± 0.5 | 12 | holds |  |\n",
        "| pabo/drop | c |  | < 0 | 1234567 | **red** | open choice |\n",
        "| pabo/drop | d |  | >= 1 | 0.000123457 | not judged |  |\n",
    ] {
        assert!(text.contains(row), "{row}{text}");
    }
    assert!(table(&document, &BTreeMap::new()).contains("| **red** | unclassified |\n"));
}
