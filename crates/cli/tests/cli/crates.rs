//! Checks the dependencies between crates: they equal those in the table of ARCHITECTURE.md, each leads to a crate in a
//! row above, and each is used in the code.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A dependency of a crate, by the name of the other crate in the code.
struct Dependency {
    name: String,
    /// Whether the other crate is in this workspace.
    ours: bool,
    /// Whether only tests and examples have the dependency.
    dev: bool,
}

struct Package {
    folder: PathBuf,
    dependencies: Vec<Dependency>,
}

/// Returns the crates by their names in ARCHITECTURE.md.
fn packages() -> BTreeMap<String, Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"];
    let output = Command::new(cargo).args(args).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let dependency = |of: &Value| Dependency {
        name: of["rename"].as_str().or(of["name"].as_str()).unwrap().replace('-', "_"),
        ours: of["path"].is_string(),
        dev: of["kind"] == "dev",
    };
    let package = |of: &Value| {
        let folder = Path::new(of["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        (
            name,
            Package { folder, dependencies: of["dependencies"].as_array().unwrap().iter().map(dependency).collect() },
        )
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

/// Returns the rows of the crate table in ARCHITECTURE.md: crate name, and names of its dependencies.
fn rooms() -> Vec<(String, BTreeSet<String>)> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = text.split("| crate | content | depends on |").nth(1).expect("a table of rooms");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let seen = cells[2].split(", ").filter(|name| *name != "nothing").map(str::to_owned);
        (cells[0].trim_matches('`').to_owned(), seen.collect())
    };
    rows.map(row).collect()
}

#[test]
fn every_crate_has_the_dependencies_of_the_architecture_and_none_above_it() {
    let (packages, rooms) = (packages(), rooms());
    let named: BTreeSet<&String> = rooms.iter().map(|(name, _)| name).collect();
    assert_eq!(packages.keys().collect::<BTreeSet<_>>(), named, "crates and rows of the table in ARCHITECTURE.md");
    let mut below: BTreeSet<&str> = BTreeSet::new();
    for (name, sees) in &rooms {
        let seen = packages[name].dependencies.iter().filter(|of| of.ours && !of.dev).map(|of| of.name.clone());
        assert_eq!(&seen.collect::<BTreeSet<_>>(), sees, "what `{name}` depends on, and its row in ARCHITECTURE.md");
        for other in sees {
            assert!(
                below.contains(other.as_str()),
                "`{name}` sees `{other}`, which does not stand above it in the table"
            );
        }
        below.insert(name);
    }
}

/// Appends the text of all Rust files in `folder` and its subfolders, and of files included by `#[path]`.
fn code(folder: &Path, text: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            code(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let own = std::fs::read_to_string(&path).unwrap();
            for taken_in in own.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"))
            {
                text.push_str(&std::fs::read_to_string(folder.join(taken_in)).unwrap_or_default());
                text.push('\n');
            }
            text.push_str(&own);
            text.push('\n');
        }
    }
}

/// Returns whether the code refers to the crate by `name::`, `use name;` or `extern crate name`.
fn names(code: &str, name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let whole = !before.ends_with(inside) && !before.ends_with("::") && !after.starts_with(inside);
        let used = before.ends_with("use ") || before.ends_with("extern crate ");
        whole && (after.starts_with("::") || (used && after.starts_with([';', ' '])))
    })
}

#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    for (package, Package { folder, dependencies }) in packages() {
        let (mut own, mut tests) = (String::new(), String::new());
        code(&folder.join("src"), &mut own);
        ["tests", "examples", "benches"].iter().for_each(|name| code(&folder.join(name), &mut tests));
        for Dependency { name, dev, .. } in &dependencies {
            let used = names(&own, name) || (*dev && names(&tests, name));
            if !used {
                unused.push(format!("{package}: {name}"));
            }
        }
    }
    assert!(unused.is_empty(), "dependencies that no code names, to be taken out of Cargo.toml: {unused:#?}");
}

#[test]
fn a_crate_is_named_as_a_path_or_by_use() {
    for used in ["use serde::Serialize;", "#[derive(serde::Serialize)]", "extern crate serde;", "use serde;"] {
        assert!(names(used, "serde"), "{used}");
    }
    for other in ["use serde_json::Value;", "// serde is good", "crate::serde::x()", "let serde = 1;"] {
        assert!(!names(other, "serde"), "{other}");
    }
}
