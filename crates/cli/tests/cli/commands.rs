//! Checks the `cargo test` commands in README, CONTRIBUTING and docs: the package and the test target must exist, and a
//! filter must select at least one test.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Folder and test targets of a package.
struct Package {
    folder: PathBuf,
    /// Main file of each test target, by name.
    tests: BTreeMap<String, PathBuf>,
}

fn packages() -> BTreeMap<String, Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"];
    let output = Command::new(cargo).args(args).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let path = |of: &Value| PathBuf::from(of.as_str().unwrap());
    let package = |of: &Value| {
        let targets = of["targets"].as_array().unwrap().iter().filter(|target| target["kind"][0] == "test");
        let tests = targets.map(|it| (it["name"].as_str().unwrap().to_owned(), path(&it["src_path"]))).collect();
        let folder = path(&of["manifest_path"]).parent().unwrap().to_owned();
        (of["name"].as_str().unwrap().to_owned(), Package { folder, tests })
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

/// Returns all files below `folder` whose name ends with `end`.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| match path.is_dir() {
        true => files(&path, end),
        false => Some(path).filter(|path| path.to_string_lossy().ends_with(end)).into_iter().collect(),
    };
    entries.flat_map(below).collect()
}

/// Returns the `cargo test` commands on a page, each as the words after `cargo test` up to the end of the code.
fn commands(page: &str) -> Vec<Vec<&str>> {
    const NAME: &str = "cargo test";
    let command = |at: usize| {
        let rest = &page[at + NAME.len()..];
        let fenced = page[..at].matches("\n```").count() % 2 == 1;
        rest.split(if fenced { '\n' } else { '`' }).next().unwrap_or_default().split_whitespace().collect()
    };
    page.match_indices(NAME).map(|(at, _)| command(at)).collect()
}

/// Returns whether the path of a function in these files contains `filter`. The module path is derived from the file
/// name, with and without a module `tests` in the file.
fn selects(filter: &str, folder: &Path, files: &[PathBuf]) -> bool {
    files.iter().any(|file| {
        let module = file.strip_prefix(folder).unwrap().with_extension("");
        let module = module.to_str().unwrap().replace(std::path::MAIN_SEPARATOR, "::");
        let module = module.trim_end_matches("::mod");
        let source = fs::read_to_string(file).unwrap();
        source.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")).any(|rest| {
            let function = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            ["", "tests::"].iter().any(|inner| format!("{module}::{inner}{function}").contains(filter))
        })
    })
}

/// Returns the error in a command; `None` if there is none.
fn error(words: &[&str], packages: &BTreeMap<String, Package>) -> Option<String> {
    let (mut package, mut target, mut filter) = (None, None, None);
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word {
            "--" => break,
            "-p" => package = words.next(),
            "--test" => target = words.next(),
            "--lib" | "--workspace" | "--locked" | "--release" => {}
            _ if word.starts_with('-') || filter.is_some() => return Some(format!("unexpected argument {word}")),
            _ => filter = Some(word),
        }
    }
    // A command without a package tests all packages, or is only a mention of `cargo test`: it cannot be wrong.
    let &name = package?;
    let Some(package) = packages.get(name) else { return Some(format!("no package {name}")) };
    let (folder, files) = match target {
        None => (package.folder.clone(), files(&package.folder, ".rs")),
        Some(&target) => {
            let Some(file) = package.tests.get(target) else {
                return Some(format!("no test target {target} in {name}"));
            };
            let folder = file.parent().unwrap();
            let own = if file.ends_with("main.rs") { files(folder, ".rs") } else { vec![file.clone()] };
            (folder.to_owned(), own)
        }
    };
    let filter = filter.filter(|filter| !selects(filter, &folder, &files))?;
    Some(format!("no test of {name} matches {filter}"))
}

#[test]
fn commands_in_pages_name_packages_and_tests_that_exist() {
    let packages = packages();
    let mut pages = files(&root().join("docs"), ".md");
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    let mut checked = 0;
    for path in pages {
        let page = fs::read_to_string(&path).unwrap();
        for words in commands(&page) {
            let error = error(&words, &packages);
            assert_eq!(error, None, "{}: cargo test {}", path.display(), words.join(" "));
            checked += 1;
        }
    }
    assert!(checked >= 100, "{checked}");
}

#[test]
fn wrong_commands_are_found() {
    let packages = packages();
    let page = "`cargo test -p\ntidegate-lab --test ranks` and\n```\ncargo test -p tidegate-labs\n```\n\
                `cargo test -p tidegate --test cli no_such_test`, \
                `cargo test -p tidegate --test cli sweep two_hundred`, \
                `cargo test -p tidegate --test cli commands -- --nocapture`";
    let errors: Vec<_> = commands(page).iter().map(|words| error(words, &packages)).collect();
    let expected = [
        Some("no test target ranks in tidegate-lab"),
        Some("no package tidegate-labs"),
        Some("no test of tidegate matches no_such_test"),
        Some("unexpected argument two_hundred"),
        None,
    ];
    assert_eq!(errors, expected.map(|error| error.map(str::to_owned)));
}
