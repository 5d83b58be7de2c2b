//! Checks of a release: every crate can be packaged by itself, and all files that state the release version agree.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the metadata of every crate as resolved by Cargo, with the values inherited from the workspace.
fn crates() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"];
    let output = Command::new(cargo).args(args).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

#[test]
fn every_crate_has_registry_metadata_and_depends_on_others_by_version() {
    let mut descriptions = BTreeSet::new();
    for package in crates() {
        let name = package["name"].as_str().unwrap();
        let field = |key: &str| package[key].as_str().unwrap_or_else(|| panic!("{name} has no {key}")).to_owned();
        assert!(descriptions.insert(field("description")), "{name} has the description of another");
        assert_eq!(field("license"), "MIT OR Apache-2.0", "{name}");
        assert!(field("repository").starts_with("https://"), "{name}");
        assert_eq!(field("version"), env!("CARGO_PKG_VERSION"), "{name}");
        assert!(folder(&package).join(field("readme")).is_file(), "{name}");
        assert!(package["publish"].is_null(), "{name} would not be published: publish = {}", package["publish"]);
        // Limits of crates.io.
        for (key, longest) in [("keywords", 20), ("categories", 64)] {
            let words: Vec<&str> = package[key].as_array().unwrap().iter().filter_map(|word| word.as_str()).collect();
            let fit = (1..=5).contains(&words.len()) && words.iter().all(|word| word.len() <= longest);
            assert!(fit, "{name}: {key} {words:?}");
        }
        for of in package["dependencies"].as_array().unwrap().iter().filter(|of| of["path"].is_string()) {
            assert_eq!(of["req"], format!("={}", env!("CARGO_PKG_VERSION")), "{name} takes {}", of["name"]);
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = std::fs::read_to_string(folder(&package).join(licence)).unwrap_or_default();
            assert!(own == read(licence), "{name}: {licence} is not a link to ../../{licence}");
        }
    }
}

/// Collects the Rust files in a folder that are part of the package.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the number of `..` in a line that includes a file or uses the path of the crate's folder; 0 for other lines.
fn ups(line: &str) -> usize {
    let takes = ["include_str!", "include_bytes!", "concat!", "#[path", "CARGO_MANIFEST_DIR"];
    let is_comment = line.trim_start().starts_with("//");
    if is_comment || !takes.iter().any(|word| line.contains(word)) { 0 } else { line.matches("../").count() }
}

#[test]
fn what_is_packed_reads_nothing_outside_of_its_crate() {
    let mut outside = Vec::new();
    for package in crates() {
        let (folder, mut found) = (folder(&package), Vec::new());
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let excluded = manifest.lines().find(|line| line.starts_with("exclude = ")).unwrap_or_default().to_owned();
        for part in ["src", "tests", "examples"] {
            if folder.join(part).is_dir() && !excluded.contains(&format!("\"{part}\"")) {
                sources(&folder.join(part), &mut found);
            }
        }
        for path in found {
            let text = std::fs::read_to_string(&path).unwrap();
            let inside = path.parent().unwrap().strip_prefix(&folder).unwrap().components().count();
            for (at, line) in text.lines().enumerate() {
                let most = if line.contains("CARGO_MANIFEST_DIR") { 0 } else { inside };
                if ups(line) > most {
                    outside.push(format!("{}:{}: {line}", path.display(), at + 1));
                }
            }
        }
    }
    assert!(outside.is_empty(), "a package has nothing there: {outside:#?}");
}

#[test]
fn a_file_that_is_taken_in_is_found() {
    assert_eq!(ups("const A: &str = include_str!(\"../../../examples/a.toml\");"), 3);
    assert_eq!(ups("#[path = \"../tests/physics/bench.rs\"]"), 1);
    assert_eq!(ups("let names = [\"../\", \"a/b\"];"), 0);
    assert_eq!(ups("// as include_str!(\"../a\") does"), 0);
}

#[test]
fn the_files_of_a_release_state_its_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("CITATION.cff").contains(&format!("\nversion: {version}\n")), "CITATION.cff");
    let changes = read("CHANGELOG.md");
    assert!(changes.contains("\n## [Unreleased]\n") && changes.contains(&format!("\n## [{version}]")), "CHANGELOG.md");
    let container = read("Containerfile");
    assert!(container.contains(&format!("/rust:{}-", env!("CARGO_PKG_RUST_VERSION"))), "Containerfile: {container}");
}

/// Returns the elements of an array in a shell script, without quotes.
fn entries(script: &str, array: &str) -> Vec<String> {
    let body = script.split(&format!("\n{array}=(\n")).nth(1).and_then(|rest| rest.split("\n)").next()).unwrap();
    body.lines().map(|line| line.trim().trim_matches('"').to_owned()).collect()
}

#[test]
fn a_release_is_trained_on_existing_scenarios_outside_the_benchmarks() {
    let counted = entries(&read("benches/instructions.sh"), "scenarios");
    let measured: BTreeSet<&str> = counted.iter().filter_map(|entry| entry.split('|').nth(1)).collect();
    assert!(measured.len() >= 5 && measured.contains("benches/sparse-tree.toml"), "{measured:?}");
    let training = entries(&read("scripts/release.sh"), "training");
    assert!(training.len() > 20, "{training:?}");
    for entry in &training {
        let (scenario, changes) = entry.split_once(' ').unwrap_or((entry, ""));
        assert!(!measured.contains(scenario) && !scenario.starts_with("benches/"), "{scenario} is measured");
        let set = changes.split_whitespace().map(|change| {
            let (key, value) = change.split_once('=').unwrap_or_else(|| panic!("{entry}"));
            (key.to_owned(), value.to_owned())
        });
        let read = scenario::Scenario::read(&root().join(scenario), &set.collect::<Vec<_>>(), None);
        read.unwrap_or_else(|errors| panic!("{entry}: {errors}"));
    }
}
