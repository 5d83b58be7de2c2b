//! `docs/claims.md` has a table for each paper: claim, number in the paper, our number, outcome, class. It is generated
//! from the output of `scripts/red.sh` in `target/red/full/`: `UPDATE_DOCS=1 cargo test -p tidegate --test cli claims`
//! rewrites the tables of the papers in that folder. Without the variable, the test checks that the failed checks in
//! the tables and their classes equal those in `experiments/red-full.txt`, and that every experiment has a claim.

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

/// Numbers of checks: those that hold, and those that were judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    held: u32,
    judged: u32,
}

impl std::ops::AddAssign for Held {
    fn add_assign(&mut self, other: Held) {
        self.held += other.held;
        self.judged += other.judged;
    }
}

/// Returns the line with the numbers of claims and consistency checks.
fn totals([claims, consistency]: [Held; 2]) -> String {
    let rest = match consistency.judged {
        0 => String::new(),
        judged => format!(", and {} of {judged} consistency checks", consistency.held),
    };
    format!("{} of {} claims hold{rest}.", claims.held, claims.judged)
}

/// Parses a line of [`totals`].
fn parse_totals(line: &str) -> Option<[Held; 2]> {
    let pair = |text: &str| {
        let (held, judged) = text.split_once(" of ")?;
        Some(Held { held: held.parse().ok()?, judged: judged.parse().ok()? })
    };
    let (claims, rest) = line.strip_suffix('.')?.split_once(" claims hold")?;
    let rest = rest.strip_prefix(", and ").and_then(|rest| rest.strip_suffix(" consistency checks"));
    Some([pair(claims)?, rest.and_then(pair).unwrap_or_default()])
}

/// Returns the table of a paper from the JSON output of `reproduce --json`.
fn table(document: &Value, listed: &BTreeMap<(String, String), String>) -> String {
    let (mut rows, mut counts) = (String::new(), [Held::default(); 2]);
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
            let own = check["kind"] == "consistency";
            counts[usize::from(own)] +=
                Held { held: u32::from(check["pass"] == true), judged: u32::from(!check["pass"].is_null()) };
            let shown = if own { format!("({})", cell(name)) } else { cell(name) };
            let class = listed.get(&(cell(id), cell(name))).map_or("unclassified", String::as_str);
            let (verdict, class) = match check["pass"].as_bool() {
                Some(true) => ("holds", ""),
                Some(false) => ("**red**", class),
                None => ("not judged", check["not_judged"].as_str().unwrap_or_default()),
            };
            // Writing to a String cannot fail.
            let _ = writeln!(
                rows,
                "| {} | {shown} | {unit} | {relation}{}{within} | {} | {verdict} | {class} |",
                cell(id),
                figure("paper"),
                figure("ours"),
                class = cell(class),
            );
        }
    }
    format!(
        "\n{}\n\n\
         | experiment | claim | unit | source | ours | verdict | class or reason |\n\
         |---|---|---|---|---|---|---|\n{rows}\n",
        totals(counts)
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

/// Returns the name of a row's check, without the brackets of a consistency check.
fn name_of(shown: &str) -> &str {
    shown.strip_prefix('(').and_then(|name| name.strip_suffix(')')).unwrap_or(shown)
}

/// Returns the experiments of `ids` that have no claim in any table.
fn without_claims<'a>(text: &str, ids: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let is_claim = |line: &str, id: &str| {
        let shown = line.strip_prefix(&format!("| {} | ", cell(id))).and_then(|rest| rest.split(" | ").next());
        shown.is_some_and(|shown| name_of(shown) == shown)
    };
    ids.filter(|id| !text.lines().any(|line| is_claim(line, id))).collect()
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

/// Returns the page with the class of the list in each row of a failed check.
fn with_classes(text: &str, listed: &BTreeMap<(String, String), String>) -> String {
    let row = |line: &str| {
        let mut cells: Vec<&str> = line.split(" | ").collect();
        let class = (cells.len() == 7 && cells[5] == "**red**").then(|| {
            let key = (cells[0].trim_start_matches("| ").to_owned(), name_of(cells[1]).to_owned());
            listed.get(&key).map_or("unclassified".to_owned(), |class| cell(class))
        });
        let class = class.map(|class| class + " |");
        if let Some(class) = &class {
            cells[6] = class;
        }
        cells.join(" | ") + "\n"
    };
    text.lines().map(row).collect()
}

#[test]
fn a_row_gets_the_class_of_the_list() {
    let key = |check: &str| ("pabo/drop".to_owned(), check.to_owned());
    let listed = BTreeMap::from([(key("a"), "unknown".to_owned())]);
    let text =
        "# Claims\n| pabo/drop | a | % | 1 | 2 | **red** | open choice |\n| pabo/drop | b | % | 1 | 1 | holds |  |\n";
    assert_eq!(with_classes(text, &listed), text.replace("open choice", "unknown"));
    assert!(with_classes(text, &BTreeMap::new()).contains("| **red** | unclassified |\n"));
}

#[test]
fn red_checks_of_the_tables_are_those_of_the_list() {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join("docs/claims.md");
    let mut text = fs::read_to_string(&path).unwrap();
    let listed = listed();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        update(&mut text, &listed);
        text = with_classes(&text, &listed);
        fs::write(&path, &text).unwrap();
    }
    for paper in papers() {
        let section = section(&text, paper);
        let cells = section.lines().map(|line| line.split(" | ").collect::<Vec<_>>());
        let red: BTreeMap<(String, String), String> = cells
            .filter(|cells| cells.len() == 7 && cells[5] == "**red**")
            .map(|cells| {
                let class = cells[6].trim_end_matches(" |").to_owned();
                ((cells[0].trim_start_matches("| ").to_owned(), name_of(cells[1]).to_owned()), class)
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
/// have at least one row with a claim of its source.
/// Experiments that only test the project's own estimator against known input.
const NO_CLAIM: [&str; 1] = ["tagger/table1"];

#[test]
fn every_experiment_has_a_claim() {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(root().join("docs/claims.md")).unwrap();
    for paper in papers() {
        let of_paper = reproduce::experiments().map(|experiment| experiment.id);
        let of_paper = of_paper.filter(|id| id.split_once('/').unwrap().0 == paper);
        let of_paper = of_paper.filter(|id| !NO_CLAIM.contains(id));
        let missing = without_claims(section(&text, paper), of_paper);
        let how = format!("run scripts/red.sh {paper}, then UPDATE_DOCS=1 cargo test -p tidegate --test cli claims");
        assert!(missing.is_empty(), "docs/claims.md has no claim of {}: {how}", missing.join(", "));
    }
}

#[test]
fn the_readme_states_the_sum_of_all_papers() {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(root().join("docs/claims.md")).unwrap();
    let lines: Vec<[Held; 2]> = text.lines().filter_map(parse_totals).collect();
    assert_eq!(lines.len(), papers().len(), "docs/claims.md has totals for each paper");
    let mut sum = Held::default();
    lines.iter().for_each(|&[claims, _]| sum += claims);
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let Held { held, judged } = sum;
    assert!(readme.contains(&format!("{held} of {judged} claims")), "README.md: {held} of {judged} claims hold");
}

#[test]
fn an_experiment_without_claims_is_found() {
    let text = "| bg/fig1.1 | a | % | 1 | 1 | holds |  |\n| bg/fig1.10 | b | % | 1 | 1 | holds |  |\n";
    assert_eq!(without_claims(text, ["bg/fig1.1", "bg/fig1.9", "bg/fig1.10"].into_iter()), ["bg/fig1.9"]);
    assert_eq!(without_claims(text, ["bg/fig1"].into_iter()), ["bg/fig1"], "a part of a name is not a name");
    let text = "| bg/fig1.1 | (a) | % | 1 | 1 | holds |  |\n| bg/fig1.2 | (2.1) and (b) c | % | 1 | 1 | holds |  |\n";
    let ids = ["bg/fig1.1", "bg/fig1.2"].into_iter();
    assert_eq!(without_claims(text, ids), ["bg/fig1.1"], "a consistency check is no claim");
}

#[test]
fn a_check_becomes_a_row() {
    let document = serde_json::json!({ "experiments": [{ "id": "pabo/drop", "checks": [
        { "name": "a | b", "kind": "claim", "unit": "%", "paper": 12.5, "relation": "=", "tolerance": 0.5,
      "ours": 12.0, "pass": true },
        { "name": "c", "kind": "claim", "unit": "", "paper": 0.0, "relation": "<", "tolerance": 0.0,
      "ours": 1234567.0, "pass": false },
        { "name": "d", "kind": "claim", "unit": "", "paper": 1.0, "relation": ">=", "tolerance": 0.0,
      "ours": 0.00012345678, "pass": null },
        { "name": "e", "kind": "consistency", "unit": "frames", "paper": 0.0, "relation": "=", "tolerance": 0.0,
      "ours": 0.0, "pass": true },
    ] }] });
    let listed = BTreeMap::from([(("pabo/drop".to_owned(), "c".to_owned()), "open choice".to_owned())]);
    let text = table(&document, &listed);
    assert!(text.starts_with("\n1 of 2 claims hold, and 1 of 1 consistency checks.\n"), "{text}");
    let counts = [Held { held: 1, judged: 2 }, Held { held: 1, judged: 1 }];
    assert_eq!(text.lines().find_map(parse_totals), Some(counts));
    assert_eq!(parse_totals(&totals([counts[0], Held::default()])), Some([counts[0], Held::default()]));
    for row in [
        "| pabo/drop | a / b | % | 12.5 ± 0.5 | 12 | holds |  |\n",
        "| pabo/drop | c |  | < 0 | 1234567 | **red** | open choice |\n",
        "| pabo/drop | d |  | >= 1 | 0.000123457 | not judged |  |\n",
        "| pabo/drop | (e) | frames | 0 | 0 | holds |  |\n",
    ] {
        assert!(text.contains(row), "{row}{text}");
    }
    assert!(table(&document, &BTreeMap::new()).contains("| **red** | unclassified |\n"));
}
