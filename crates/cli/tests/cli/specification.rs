//! The labelled sentences of `docs/model.md` and `docs/mechanisms` (`**[M12]** ...`) are the specification of the
//! model. Labels must be unique. Each label must be cited by a test that fails if its sentence is false, or at the line
//! of the reference model in `oracle/` that implements it. Every cited label must exist.
//!
//! ```text
//!   // [M12] [PFC3]            in a test of Rust: a line of its own, at the test
//!   x = mix(r) % n  # [M22]    in oracle/*.py: at the end of the line, or above it
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the files in `folder` and its subfolders with this extension, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|known| known == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the text between `[` and `]` at the start of `word` if it is a label: capital letters followed by digits.
fn label(word: &str) -> Option<&str> {
    let text = word.strip_prefix('[')?.split_once(']')?.0;
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    let has_both = !digits.is_empty() && digits.len() < text.len();
    (has_both && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(text)
}

/// Returns all labels in `text`.
fn labels(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('[').filter_map(|(at, _)| label(&text[at..]))
}

fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("docs/mechanisms"), "md");
    pages.push(root().join("docs/model.md"));
    pages
}

/// Returns the labels that the documentation defines, each with its page.
fn defined() -> BTreeMap<String, PathBuf> {
    let mut defined = BTreeMap::new();
    for page in pages() {
        for line in read(&page).lines().filter_map(|line| line.strip_prefix("**")) {
            let Some(label) = label(line) else { continue };
            let before = defined.insert(label.to_owned(), page.clone());
            assert!(before.is_none(), "[{label}] is defined in {} and in {before:?}", page.display());
        }
    }
    defined
}

/// Returns the test code of a source file: all of a test file, otherwise the text from the first `#[cfg(test)]` on.
fn tests_of<'a>(path: &Path, text: &'a str) -> &'a str {
    let is_test = |part: &str| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs");
    if path.components().any(|part| is_test(&part.as_os_str().to_string_lossy())) {
        return text;
    }
    text.find("#[cfg(test)]").map_or("", |at| &text[at..])
}

/// Returns the labels that tests and the reference model cite, each with one of the citing files.
fn cited() -> BTreeMap<String, PathBuf> {
    let mut cited = BTreeMap::new();
    for path in files(&root().join("crates"), "rs") {
        let text = read(&path);
        let lines = tests_of(&path, &text).lines().filter_map(|line| line.trim_start().strip_prefix("// ["));
        for line in lines {
            labels(&format!("[{line}")).for_each(|label| _ = cited.insert(label.to_owned(), path.clone()));
        }
    }
    for path in files(&root().join("oracle"), "py") {
        for comment in read(&path).lines().filter_map(|line| line.split_once('#')).map(|(_, comment)| comment) {
            labels(comment).for_each(|label| _ = cited.insert(label.to_owned(), path.clone()));
        }
    }
    cited
}

#[test]
fn every_sentence_of_the_specification_is_tested() {
    let cited = cited();
    let defined = defined();
    assert!(defined.len() > 100, "{} labels", defined.len());
    let untested: Vec<&String> = defined.keys().filter(|label| !cited.contains_key(*label)).collect();
    assert!(untested.is_empty(), "no test and no line of oracle/ cites {untested:?}");
}

#[test]
fn every_label_that_is_cited_exists() {
    let defined = defined();
    for (label, path) in cited() {
        assert!(defined.contains_key(&label), "{}: there is no sentence [{label}]", path.display());
    }
    let prefixes: BTreeSet<&str> =
        defined.keys().map(|label| label.trim_end_matches(|digit: char| digit.is_ascii_digit())).collect();
    for page in pages() {
        let text = read(&page);
        for label in labels(&text) {
            let prefix = label.trim_end_matches(|digit: char| digit.is_ascii_digit());
            let known = !prefixes.contains(prefix) || defined.contains_key(label);
            assert!(known, "{}: there is no sentence [{label}]", page.display());
        }
    }
}

#[test]
fn labels_are_letters_and_digits() {
    assert_eq!(labels("[M12] [x] [PFC3](pfc.md) [M] [7] [12M]").collect::<Vec<_>>(), ["M12", "PFC3"]);
}
