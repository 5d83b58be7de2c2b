//! Every mechanism needs a documentation page with description, usage, parameters, references and validation, and a
//! Python type. `UPDATE_DOCS=1 cargo test -p tidegate-protocols --test pages` rewrites the parameter tables and the
//! Python types.

use protocols::describe::{Default, Family, Mechanism, ValueType};
use protocols::mechanisms;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const BEGIN: &str = "<!-- parameters: begin (generated, see crates/protocols/tests/pages.rs) -->\n";
const END: &str = "<!-- parameters: end -->\n";
const SECTIONS: [&str; 5] = ["## Description", "## Usage", "## Parameters", "## References", "## Validation"];

/// Serialises the tests, because a page must not be read while another test rewrites it.
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

/// Head of the generated file with the Python types.
const PYTHON_HEAD: &str = r#""""Types of the tables of mechanisms in a scenario, for type checkers.

    transport: Dcqcn = {"kind": "dcqcn", "min_rate": "1Gbps"}

Generated from the declarations of their parameters (crates/protocols/tests/pages.rs). All keys are optional for the
checker; the reader of scenarios reports a required key that is missing.
"""

from typing import Literal, TypedDict
"#;

/// Returns the Python type of a value type.
fn python_type(value: ValueType) -> String {
    let literal = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        format!("Literal[{}]", words.join(", "))
    };
    match value {
        ValueType::Text | ValueType::File | ValueType::Size | ValueType::Time | ValueType::Rate => "str".to_owned(),
        ValueType::QueueLimit | ValueType::Reaction => "str".to_owned(),
        ValueType::Share | ValueType::Fraction | ValueType::Threshold => "float | str".to_owned(),
        ValueType::Count | ValueType::CountIn(..) | ValueType::Class => "int".to_owned(),
        ValueType::Positive | ValueType::Number => "float".to_owned(),
        ValueType::Flag => "bool".to_owned(),
        ValueType::ByClass(of, _) => {
            let of = python_type(of.value);
            format!("list[{of}] | dict[str, {of}]")
        }
        ValueType::Classes | ValueType::ClassPair => "list[int]".to_owned(),
        ValueType::Word(words) => literal(words),
        ValueType::Or(words, of) => match python_type(*of) {
            any if any.ends_with("str") => any,
            other => format!("{} | {other}", literal(words)),
        },
        ValueType::Other => "object".to_owned(),
    }
}

/// Returns the Python class name of a mechanism: `PauseAtOutput` for `pause-at-output`.
fn class_name(kind: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    kind.split('-').map(capital).collect()
}

#[test]
fn the_python_types_are_current() {
    let mut text = PYTHON_HEAD.to_owned();
    for mechanism in mechanisms::all() {
        let name = class_name(mechanism.kind);
        let _ = write!(text, "\n#: {}\n{name} = TypedDict(\n    \"{name}\",\n    {{\n", mechanism.title);
        // The scenario table of a family with a single mechanism has no key `kind`.
        let has_kind = matches!(
            mechanism.family,
            Family::FlowControl
                | Family::Overload
                | Family::Marking
                | Family::Scheduler
                | Family::Tags
                | Family::Transport
                | Family::OnBounce
        );
        if has_kind {
            let _ = writeln!(text, "        \"kind\": Literal[\"{}\"],", mechanism.kind);
        }
        for parameter in mechanism.parameters {
            let _ = writeln!(text, "        \"{}\": {},", parameter.key, python_type(parameter.syntax.value));
        }
        text.push_str("    },\n    total=False,\n)\n");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tidegate/mechanisms.py");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("a writable file");
    }
    let stored = std::fs::read_to_string(&path).expect("the Python types");
    assert!(stored == text, "{}: run this test with UPDATE_DOCS=1", path.display());
}
