//! The documentation matches the code: the key table in `docs/scenario.md` equals that of the code, and every scenario
//! in `docs` lowers. `UPDATE_DOCS=1 cargo test -p tidegate-scenario --test scenario reference` rewrites the table.

use scenario::keys::{self, Default, Key};
use scenario::{Scenario, SweepFile};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- keys: begin (generated, see crates/scenario/tests/scenario/reference.rs) -->\n";
const END: &str = "<!-- keys: end -->\n";
/// Syntax of each table in a scenario.
const SECTIONS: [(&str, &str); 37] = [
    ("", "Top level"),
    ("fabric", "`[fabric]`"),
    ("fabric.link", "`[fabric.link]`"),
    ("fabric.link.tier", "`[fabric.link.host]`, `[fabric.link.edge]`, `[fabric.link.core]`"),
    ("routing", "`[routing]`"),
    ("path", "`[[path]]`"),
    ("fail", "`[[fail]]`"),
    ("route", "`[[route]]`"),
    ("committed_rate", "`[[committed_rate]]`"),
    ("gates", "`[[gates]]`"),
    ("cyclic", "`[[cyclic]]`"),
    ("shaping", "`[[shaping]]`"),
    ("switch", "`[switch]`"),
    ("switch.flow_control", "`[switch.flow_control]`"),
    ("switch.watchdog", "`[switch.watchdog]`"),
    ("switch.overload", "`[switch.overload]`"),
    ("switch.tags", "`[switch.tags]`"),
    ("switch.marking", "`[switch.marking]`"),
    ("switch.scheduler", "`[switch.scheduler]`"),
    ("switch.override", "`[[switch.override]]`"),
    ("switch.override.flow_control", "`[switch.override.flow_control]`"),
    ("switch.preemption", "`[switch.preemption]`"),
    ("switch.clock", "`[switch.clock]`"),
    ("switch.clocks", "`[[switch.clocks]]`"),
    ("host", "`[host]`"),
    ("host.transport", "`[host.transport]`"),
    ("host.on_bounce", "`[host.on_bounce]`"),
    ("host.clock", "`[host.clock]`"),
    ("host.clocks", "`[[host.clocks]]`"),
    ("host.pause_storm", "`[host.pause_storm]`"),
    ("traffic", "`[[traffic]]`"),
    ("measure", "`[measure]`"),
    ("record", "`[record]`"),
    ("record.trace", "`[record.trace]`"),
    ("record.capture", "`[[record.capture]]`"),
    ("check", "`[check]`"),
    ("check.bounce_storm", "`[check.bounce_storm]`"),
];

/// Syntax of each table in a fluid model's file.
const FLUID_SECTIONS: [(&str, &str); 4] = [
    ("fluid", "Top level"),
    ("fluid.model", "`[model]`"),
    ("fluid.bottleneck", "`[bottleneck]`"),
    ("fluid.flow", "`[[flow]]`"),
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn row(key: &Key) -> String {
    let only = if key.variants.is_empty() { String::new() } else { format!("<br>{}", key.variants.join(", ")) };
    let default = match key.default {
        Default::Required => "required".to_owned(),
        Default::Value(value) => format!("`{value}`"),
        Default::Absent(what) => what.to_owned(),
    };
    let source = if key.source == "required" { "" } else { key.source };
    let cells = [format!("`{}`{only}", key.name), format!("{}, `{}`", key.value, key.example), default];
    let line = format!("| {} | {} | {source} |", cells.join(" | "), key.meaning);
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tables(sections: &[(&str, &str)], keys: &[&Key]) -> String {
    let mut text = String::new();
    let mut message = 0;
    for (section, title) in sections {
        let rows: Vec<String> = keys.iter().filter(|key| key.section == *section).map(|key| row(key)).collect();
        assert!(!rows.is_empty(), "no key in {section}");
        message += rows.len();
        let _ = write!(text, "\n### {title}\n\n| key | value | default | meaning | source of the default |\n");
        text.push_str("|---|---|---|---|---|\n");
        text.push_str(&rows.join("\n"));
        text.push('\n');
    }
    assert_eq!(message, keys.len(), "a section is missing in this test");
    text.push('\n');
    text
}

fn is_current(name: &str, tables: &str) {
    let path = docs().join(name);
    let page = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (before, rest) = page.split_once(BEGIN).expect("the begin mark");
    let (_, after) = rest.split_once(END).expect("the end mark");
    let current = format!("{before}{BEGIN}{tables}{END}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &current).expect("a writable page");
    }
    assert!(page == current || std::env::var_os("UPDATE_DOCS").is_some(), "{name}: run this test with UPDATE_DOCS=1");
}

#[test]
fn the_tables_of_keys_are_current() {
    is_current("scenario.md", &tables(&SECTIONS, &keys::keys().collect::<Vec<_>>()));
    is_current("fluid.md", &tables(&FLUID_SECTIONS, &keys::of_fluid().collect::<Vec<_>>()));
}

/// Adds required tables that a snippet of the documentation omits, so that the snippet can be lowered.
fn completed(snippet: &str) -> String {
    let has = |table: &str| snippet.lines().any(|line| line.trim_start().starts_with(table));
    let mut text = String::new();
    if !has("duration") {
        text.push_str("duration = \"1ms\"\n");
    }
    text.push_str(snippet);
    if !has("[fabric]") {
        text.push_str("\n[fabric]\nkind = \"fat-tree\"\nk = 4\nlink = { rate = \"100Gbps\", delay = \"500ns\" }\n");
    }
    if !has("[[traffic]]") {
        text.push_str("\n[[traffic]]\nkind = \"permutation\"\nsize = \"100KB\"\n");
    }
    text
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The benchmark scenarios in `benches` lower without unexpected warnings.
#[test]
fn every_measured_scenario_lowers() {
    let folder = docs().join("../benches");
    let mut tried = 0;
    for entry in std::fs::read_dir(&folder).expect("benches") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let scenario = Scenario::read(&path, &[], None).unwrap_or_else(|errors| panic!("{errors}"));
        let lowered = scenario.lower().unwrap_or_else(|errors| panic!("{errors}"));
        // Per-packet spraying gives a warning, which this benchmark accepts because spraying is the most expensive load
        // of the engine.
        let sprayed = path.ends_with("permutation-k64.toml");
        let known: &[&str] = if sprayed { &["routing.spread"] } else { &[] };
        let warned: Vec<&str> = lowered.warnings.iter().map(|warning| warning.key.as_str()).collect();
        assert_eq!(warned, known, "{}: {:?}", path.display(), lowered.warnings);
        tried += 1;
    }
    assert!(tried >= 3, "{tried}");
}

#[test]
fn every_scenario_in_the_documentation_lowers() {
    let mut found = Vec::new();
    pages(&docs(), &mut found);
    found.sort();
    let mut tried = 0;
    for page in found {
        let text = std::fs::read_to_string(&page).expect("a readable page");
        for (number, part) in text.split("```toml\n").skip(1).enumerate() {
            let snippet = part.split("```").next().unwrap_or_default();
            // The directory of files that snippets may name.
            let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/replay");
            let location = format!("{} snippet {}", page.display(), number + 1);
            // Skip pages whose snippets are not scenarios (stream lists, which the tests of their reader cover), and
            // the chapters in `start`, whose commands other tests run together with the files that they create.
            if page.ends_with("guide/schedule.md") || page.parent().is_some_and(|folder| folder.ends_with("start")) {
                continue;
            }
            if SweepFile::recognise(snippet) {
                let folder = docs().join("../examples");
                let sweep = SweepFile::parse(snippet, "sweep.toml", &folder);
                let sweep = sweep.unwrap_or_else(|errors| panic!("{location}:\n{errors}"));
                for choice in sweep.set.iter().chain(&sweep.runs).chain(&sweep.vary) {
                    let set = [(choice.key.clone(), choice.values[choice.values.len() - 1].clone())];
                    Scenario::read(&sweep.scenario, &set, None)
                        .unwrap_or_else(|errors| panic!("{location}:\n{errors}"));
                }
                continue;
            }
            let scenario = Scenario::parse(&completed(snippet), "snippet.toml", &beside, &[], None);
            let scenario = scenario.unwrap_or_else(|errors| panic!("{location}:\n{errors}"));
            let lowered = scenario.lower().unwrap_or_else(|errors| panic!("{location}:\n{errors}"));
            assert!(lowered.warnings.is_empty(), "{location}: {:?}", lowered.warnings);
            tried += 1;
        }
    }
    assert!(tried >= 12, "{tried}");
}

/// Returns the anchors of Markdown headings.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &str| -> String {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        kept.chars().filter(|&c| c.is_alphanumeric() || "_- ".contains(c)).collect::<String>().replace(' ', "-")
    };
    text.lines().filter(|line| line.starts_with('#')).map(heading).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = docs().join("..");
    let mut found = vec![root.join("fuzz/README.md")];
    found.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    pages(&docs(), &mut found);
    for page in found {
        let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() {
                page.clone()
            } else {
                page.parent().expect("a file stands in a folder").join(path)
            };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(&target).expect("a page");
                assert!(anchors(&there).iter().any(|known| known == anchor), "{}: no {link}", page.display());
            }
        }
    }
}
