//! The chapters of the book show the actual output of their commands, and the table of contents lists every page.
//! `UPDATE_DOCS=1 cargo test -p tidegate --test cli book` rewrites the chapters.

use crate::common::pages::{PageRunner, numbers_not_shown, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

#[test]
fn every_command_of_the_first_chapter_runs_as_it_is_written() {
    chapter("start/five-minutes.md", 8);
}

/// Executes the commands of a page in a folder with the sources. `tidegate` is installed already, except on the page
/// start/five-minutes.md, which installs it.
fn chapter(page: &str, least_commands: usize) -> PageRunner {
    let installed = page != "start/five-minutes.md";
    let mut desk = PageRunner::with_sources(&format!("book-{}", page.replace(['/', '.'], "-")), installed);
    desk.holds(page, least_commands);
    let text = fs::read_to_string(root().join("docs").join(page)).expect("a page");
    let missing = numbers_not_shown(&text);
    assert!(missing.is_empty(), "{page} says what none of its commands prints: {missing:?}");
    desk
}

#[test]
fn the_hour_runs_as_it_is_written() {
    assert_eq!(chapter("start/hour.md", 15).draws("start/hour.md"), 1);
}

#[test]
fn the_concepts_show_what_their_commands_print_and_draw() {
    for (page, commands, pictures) in [
        ("index", 1, 1),
        ("pauses", 3, 1),
        ("deadlock", 4, 1),
        ("marks", 2, 1),
        ("trimming", 2, 1),
        ("time-slots", 3, 1),
    ] {
        let page = format!("concepts/{page}.md");
        assert_eq!(chapter(&page, commands).draws(&page), pictures, "{page}");
    }
}

#[test]
fn the_case_of_an_ai_cluster_shows_what_its_commands_print() {
    chapter("cases/ai-cluster.md", 4);
}

#[test]
fn the_case_of_a_sonic_fabric_shows_what_its_commands_print() {
    chapter("cases/sonic-fabric.md", 8);
}

#[test]
fn the_case_of_a_tcp_incast_shows_what_its_commands_print() {
    chapter("cases/tcp-incast.md", 2);
}

/// The code that the page on adding a mechanism quotes occurs in the files that it names.
#[test]
fn excerpts_stand_in_the_files_that_they_name() {
    let page = "extend/mechanism.md";
    chapter(page, 2);
    let text = fs::read_to_string(root().join("docs").join(page)).expect("a page");
    let excerpts: Vec<&str> = text.split("<!-- excerpt: ").skip(1).collect();
    assert!(excerpts.len() > 4, "{} excerpts", excerpts.len());
    for excerpt in excerpts {
        let (file, rest) = excerpt.split_once(" -->").expect("the end of the mark");
        let code = rest.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("code");
        let source = fs::read_to_string(root().join(file)).expect("a source");
        assert!(source.contains(code), "{page}: this is not in {file}:\n{code}");
    }
}

#[test]
fn a_number_that_no_block_shows_is_found() {
    let page = "It took 4.86 ms, not 1,234 or 3.5KB.\n```\ntook 4.86ms\n```\n4.87 ms";
    assert_eq!(numbers_not_shown(page), ["1,234", "3.5KB", "4.87ms"]);
}

/// Collects all pages in a folder, as paths relative to `docs`.
fn pages(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let docs = root().join("docs");
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.insert(path.strip_prefix(&docs).expect("below docs").to_owned());
        }
    }
}

/// Returns the targets of the links on a page, except text in code.
fn links(text: &str) -> Vec<String> {
    let (mut found, mut in_code) = (Vec::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        // Text between backticks is code and contains no links.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for (at, _) in prose.match_indices("](") {
            let target = prose[at + 2..].split(')').next().unwrap_or_default();
            found.push(target.to_owned());
        }
    }
    found
}

/// Returns the anchors of a page's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut found, mut in_code) = (BTreeSet::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        if in_code || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let name: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = (1..).find(|count| !found.contains(&format!("{name}-{count}"))).unwrap_or(1);
        found.insert(if found.contains(&name) { format!("{name}-{count}") } else { name });
    }
    found
}

/// Resolves `..` in a path without accessing the file system.
fn plain(path: &Path) -> PathBuf {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts.iter().collect()
}

#[test]
fn the_book_has_every_page_once() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("docs/SUMMARY.md");
    let entries: Vec<PathBuf> = links(&summary).into_iter().map(PathBuf::from).collect();
    let listed: BTreeSet<PathBuf> = entries.iter().cloned().collect();
    assert_eq!(entries.len(), listed.len(), "docs/SUMMARY.md has an entry twice");
    let mut there = BTreeSet::new();
    pages(&docs, &mut there);
    there.remove(Path::new("SUMMARY.md"));
    let missing: Vec<_> = there.difference(&listed).collect();
    let dangling: Vec<_> = listed.difference(&there).collect();
    assert!(missing.is_empty(), "pages that docs/SUMMARY.md does not list: {missing:?}");
    assert!(dangling.is_empty(), "entries of docs/SUMMARY.md without a page: {dangling:?}");
}

#[test]
fn links_of_the_pages_lead_somewhere() {
    let root = root();
    let mut all = BTreeSet::new();
    pages(&root.join("docs"), &mut all);
    let mut all: Vec<PathBuf> = all.into_iter().map(|page| Path::new("docs").join(page)).collect();
    all.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(PathBuf::from));
    let (mut dead, mut count) = (Vec::new(), 0);
    for page in &all {
        let text = fs::read_to_string(root.join(page)).expect("a page");
        for target in links(&text) {
            if target.contains("://") {
                continue;
            }
            count += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = match file {
                "" => page.clone(),
                file => plain(&page.parent().unwrap_or(Path::new("")).join(file)),
            };
            let path = root.join(&to);
            let has_anchor = || anchors(&fs::read_to_string(&path).unwrap_or_default()).contains(anchor);
            if !path.exists() || !anchor.is_empty() && !has_anchor() {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "links that lead nowhere: {dead:#?}");
    assert!(count > 500, "{count} links");
}

/// The page of every mechanism has a command that runs the mechanism's tests, and the command selects existing tests.
#[test]
fn every_mechanism_names_the_command_that_runs_its_tests() {
    let mut all = BTreeSet::new();
    pages(&root().join("docs/mechanisms"), &mut all);
    for page in &all {
        let text = fs::read_to_string(root().join("docs").join(page)).expect("a page");
        let (_, validation) = text.split_once("\n## Validation\n").expect("a section");
        let commands: Vec<&str> =
            validation.split('`').filter(|code| code.starts_with("cargo test -p tidegate")).collect();
        assert!(!commands.is_empty(), "{}: no command runs its tests", page.display());
        for command in commands {
            let words: Vec<&str> = command.split_whitespace().skip(3).take_while(|word| *word != "--").collect();
            let name = words[0].strip_prefix("tidegate-").unwrap_or("cli");
            let folder = root().join("crates").join(name);
            let (tests, filter) = match words[1..] {
                [] => (folder.join("src"), None),
                [module] => (folder.join("src"), Some(module)),
                ["--test", binary @ ("physics" | "cli")] => (folder.join("tests").join(binary), None),
                ["--test", binary @ ("physics" | "cli"), module] => (folder.join("tests").join(binary), Some(module)),
                ["--test", file] => (folder.join("tests"), Some(file)),
                _ => panic!("{}: {command}", page.display()),
            };
            // The filter of the command is the path of a test module, which must exist as a file or a folder.
            let module = filter.map(|filter| tests.join(filter.replace("::", "/")));
            let there = module.is_none_or(|module| module.is_dir() || module.with_extension("rs").is_file());
            assert!(tests.is_dir() && there, "{}: `{command}` runs nothing", page.display());
        }
    }
    assert!(all.len() > 35, "{} pages", all.len());
}
