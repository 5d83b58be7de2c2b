//! The errata name experiments and files that exist, and the page `docs/errata.md` equals them.

use reproduce::choose;
use reproduce::errata::errata;
use std::collections::BTreeSet;
use std::path::Path;

/// Returns an error if a `tidegate reproduce` command of an erratum names no experiment.
fn unknown_experiment(command: &str) -> Option<String> {
    let names: Vec<String> = (command.strip_prefix("tidegate reproduce ")?.split(' '))
        .filter(|name| !name.starts_with('-'))
        .map(str::to_owned)
        .collect();
    choose(&names).err().map(|error| error.to_string())
}

#[test]
fn ids_are_unique_and_commands_name_experiments_and_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut ids = BTreeSet::new();
    for erratum in errata().papers.iter().flat_map(|paper| &paper.errata) {
        assert!(ids.insert(&erratum.id), "{} stands twice", erratum.id);
        assert!(!erratum.correction.is_empty() || !erratum.evidence.is_empty() || !erratum.printed.is_empty());
        for command in &erratum.commands {
            assert_eq!(unknown_experiment(command), None, "{}", erratum.id);
            for file in command.split(' ').filter(|word| word.ends_with(".toml") || word.ends_with(".json")) {
                assert!(root.join(file).exists(), "{}: {file}", erratum.id);
            }
        }
    }
    assert!(unknown_experiment("tidegate reproduce pabo/nothing").is_some());
}

#[test]
fn the_page_equals_the_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errata.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, errata().markdown()).expect("a writable page");
    }
    let page = std::fs::read_to_string(&path).expect("a readable page");
    assert!(page == errata().markdown(), "run this test with UPDATE_DOCS=1");
}
