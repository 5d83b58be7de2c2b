//! Every mechanism has a page with description, usage, parameters, references and validation. `UPDATE_DOCS=1 cargo test
//! -p tidegate-protocols --test pages` rewrites the tables of parameters.

use protocols::describe::{Default, Mechanism};
use protocols::mechanisms;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const BEGIN: &str = "<!-- parameters: begin (generated, see crates/protocols/tests/pages.rs) -->\n";
const END: &str = "<!-- parameters: end -->\n";
const SECTIONS: [&str; 5] = ["## Description", "## Usage", "## Parameters", "## References", "## Validation"];

/// One test at a time: a page must not be read while it is rewritten.
fn alone() -> MutexGuard<'static, ()> {
    static PAGES: Mutex<()> = Mutex::new(());
    PAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mechanisms")
}

fn page(kind: &str) -> (PathBuf, String) {
    let path = folder().join(format!("{kind}.md"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("`{kind}` has no page: {error}"));
    (path, text)
}

fn table(mechanism: &Mechanism) -> String {
    if mechanism.parameters.is_empty() {
        return "\nNone of its own.\n\n".to_owned();
    }
    let mut text = String::from("\n| key | default | meaning | source |\n|---|---|---|---|\n");
    for parameter in mechanism.parameters {
        let default = match parameter.default {
            Default::Required => "required".to_owned(),
            Default::Value(value) => format!("`{value}`"),
            Default::Absent(what) => what.to_owned(),
        };
        let line = format!("| `{}` | {default} | {} | {} |", parameter.key, parameter.meaning, parameter.source);
        text.push_str(&line.split_whitespace().collect::<Vec<_>>().join(" "));
        text.push('\n');
    }
    text.push('\n');
    text
}

#[test]
fn every_mechanism_has_a_page_with_its_parameters() {
    let _alone = alone();
    for mechanism in mechanisms::all() {
        let (path, page) = page(mechanism.kind);
        let (before, rest) = page.split_once(BEGIN).unwrap_or_else(|| panic!("{}: no begin mark", path.display()));
        let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{}: no end mark", path.display()));
        let current = format!("{before}{BEGIN}{}{END}{after}", table(mechanism));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &current).expect("a writable page");
        } else {
            assert!(page == current, "{}: run this test with UPDATE_DOCS=1", path.display());
        }
        assert!(page.contains(mechanism.family.key()), "{} does not say its scenario key", path.display());
    }
}

#[test]
fn every_page_has_the_five_parts() {
    let _alone = alone();
    for kind in mechanisms::all().map(|mechanism| mechanism.kind) {
        let (path, page) = page(kind);
        assert!(page.starts_with("# "), "{}: no title", path.display());
        let mut from = 0;
        for section in SECTIONS {
            let at = page[from..].find(&format!("\n{section}\n"));
            from += at.unwrap_or_else(|| panic!("{}: `{section}` is missing or out of order", path.display()));
        }
    }
}

#[test]
fn no_page_is_left_behind() {
    let _alone = alone();
    let known: Vec<&str> = mechanisms::all().map(|mechanism| mechanism.kind).collect();
    for entry in std::fs::read_dir(folder()).expect("docs/mechanisms") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        assert!(stem == "index" || known.contains(&stem.as_str()), "{}: no such mechanism", path.display());
    }
}
