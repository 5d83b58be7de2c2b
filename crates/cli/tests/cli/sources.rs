//! Checks source files for rules that neither the compiler nor rustfmt enforces: import cycles between files, line
//! lengths, and the list of files that may contain `unsafe`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum line length: `max_width` of rustfmt.toml, which rustfmt does not apply to comments and long strings.
const WIDTH: usize = 120;

/// Maximum number of files of one crate in an import cycle, such as a parent module and a few child modules.
const MOST_IN_A_CIRCLE: usize = 4;

/// Exceptions: known larger import cycles, as "crate: files". A cycle that no longer exists must be removed from this
/// list.
const KNOWN: &[&str] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects all Rust files in a folder and its subfolders with their text, in order.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if !path.ends_with("target") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

/// Returns the code of a file without comments and without its test module, whose imports are exempt.
fn code(text: &str) -> String {
    let tests = ["mod tests {", "pub(crate) mod tests {"].map(|module| format!("#[cfg(test)]\n{module}"));
    let end = tests.iter().filter_map(|module| text.find(module)).min().unwrap_or(text.len());
    let lines = text[..end].lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Expands a `use` tree: `a::{b, c::{d, e}}` becomes `a::b`, `a::c::d` and `a::c::e`.
fn leaves(tree: &str, before: &str, found: &mut Vec<String>) {
    let (mut depth, mut from) = (0, 0);
    for (at, c) in tree.char_indices().chain([(tree.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let branch = tree[from..at].trim();
                match branch.split_once('{') {
                    Some((stem, inner)) => {
                        let inner = inner.strip_suffix('}').expect("a tree that is closed");
                        leaves(inner, &format!("{before}{stem}"), found);
                    }
                    None if branch.is_empty() => {}
                    None => found.push(format!("{before}{}", branch.split(" as ").next().unwrap_or_default())),
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns every module path in the code: the paths in `use` declarations, and `crate::...` and `super::...` elsewhere.
fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = 0;
    for line in code.split_inclusive('\n') {
        let statement = line.trim_start();
        let rest = match statement.strip_prefix("pub") {
            Some(rest) => rest.trim_start_matches(|c| c != ' ').trim_start(),
            None => statement,
        };
        if rest.starts_with("use ") {
            let tree = &code[before + line.len() - rest.len() + "use ".len()..];
            let tree = tree.split(';').next().unwrap_or_default();
            leaves(&tree.split_whitespace().collect::<Vec<_>>().join(" "), "", &mut found);
        }
        before += line.len();
    }
    for keyword in ["crate::", "super::"] {
        for (at, _) in code.match_indices(keyword) {
            if !code[..at].ends_with(is_word) && !code[..at].ends_with("::") {
                let end = code[at..].find(|c| !is_word(c) && c != ':').map_or(code.len(), |length| at + length);
                let path = code[at..end].trim_end_matches(':');
                // A brace follows: the path is the root of a `use` tree.
                if path.contains("::") {
                    found.push(path.to_owned());
                }
            }
        }
    }
    found
}

/// Returns the modules that each file of a crate imports, by module path; the path of the crate root is "".
fn imports(files: &BTreeMap<String, String>) -> BTreeMap<&str, BTreeSet<&str>> {
    let module = |parts: &[&str]| files.get_key_value(&parts.join("/")).map(|(name, _)| name.as_str());
    let mut edges = BTreeMap::new();
    for (name, text) in files {
        let own: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
        let mut seen = BTreeSet::new();
        for path in paths(&code(text)) {
            let mut parts = path.split("::").map(str::trim).peekable();
            let mut at = match parts.peek().copied() {
                Some("crate") => parts.next().map(|_| Vec::new()).unwrap_or_default(),
                Some("self") => parts.next().map(|_| own.clone()).unwrap_or_default(),
                Some("super") => {
                    let ups = std::iter::from_fn(|| parts.next_if_eq(&"super")).count();
                    own[..own.len().saturating_sub(ups)].to_vec()
                }
                // The first segment is a child module of the file; otherwise it is another crate, which is skipped.
                Some(first) if module(&[&own[..], &[first]].concat()).is_some() => own.clone(),
                _ => continue,
            };
            // Follow the path, segment by segment, as long as its prefix is a module with a file.
            for part in parts {
                at.push(part);
                if module(&at).is_none() {
                    at.pop();
                    break;
                }
            }
            seen.extend(module(&at).filter(|other| other != name));
        }
        edges.insert(name.as_str(), seen);
    }
    edges
}

/// Returns the strongly connected components of the import graph with more than one file, largest first.
fn circles<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<BTreeSet<&'a str>> {
    let reached = |from: &'a str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            open.extend(edges[at].iter().filter(|next| seen.insert(**next)));
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|&name| (name, reached(name))).collect();
    let circle = |name: &&'a str| -> BTreeSet<&'a str> {
        reach[name].iter().copied().filter(|other| reach[other].contains(name)).collect()
    };
    let mut all: Vec<_> = edges.keys().map(circle).collect::<BTreeSet<_>>().into_iter().collect();
    all.sort_by_key(|files| std::cmp::Reverse(files.len()));
    all
}

/// Returns the source files of a crate's library or binary, by module path.
fn modules(crate_folder: &Path) -> BTreeMap<String, String> {
    let (folder, mut found) = (crate_folder.join("src"), Vec::new());
    sources(&folder, &mut found);
    let name = |path: &Path| {
        let inside = path.strip_prefix(&folder).unwrap().with_extension("");
        let mut parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        parts.pop_if(|last| ["mod", "lib", "main"].contains(last));
        parts.join("/")
    };
    found.into_iter().map(|(path, text)| (name(&path), text)).collect()
}

#[test]
fn no_more_than_four_files_import_each_other_in_a_circle() {
    let (mut found, mut shown) = (Vec::new(), String::new());
    let mut crates: Vec<_> =
        std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    crates.sort();
    for folder in crates {
        let files = modules(&folder);
        let edges = imports(&files);
        for circle in circles(&edges).into_iter().filter(|circle| circle.len() > MOST_IN_A_CIRCLE) {
            let name = folder.file_name().unwrap().to_str().unwrap();
            found.push(format!("{name}: {}", circle.len()));
            for file in &circle {
                let others: Vec<_> = edges[file].intersection(&circle).collect();
                shown += &format!("{name}: {file:?} imports {others:?}\n");
            }
        }
    }
    assert_eq!(
        found, KNOWN,
        "circles of more than {MOST_IN_A_CIRCLE} files: what they share belongs into a file of its own, which they \
         import and the parent re-exports\n{shown}"
    );
}

#[test]
fn a_circle_is_found_through_trees_inline_paths_and_super_but_not_through_tests() {
    let files = |list: &[(&str, &str)]| -> BTreeMap<String, String> {
        list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    };
    let ring = files(&[
        ("", "mod a;\npub use a::{b::{self, B}, A};"),
        ("a", "use crate::{\n    a::b::B as C,\n    c,\n};"),
        ("a/b", "fn f() -> super::super::c::C {}"),
        ("c", "// use crate::d;\nuse std::fmt;\nstruct C(crate::d::D);"),
        ("d", "pub(crate) use crate::Shared;"),
        ("e", "use crate::A;\n#[cfg(test)]\nmod tests {\n    use crate::f;\n}"),
        ("f", "use crate::e::E;"),
    ]);
    let edges = imports(&ring);
    assert_eq!(edges["a"], BTreeSet::from(["a/b", "c"]));
    assert_eq!(edges["c"], BTreeSet::from(["d"]));
    assert_eq!(edges["e"], BTreeSet::from([""]));
    assert_eq!(circles(&edges)[0], BTreeSet::from(["", "a", "a/b", "c", "d"]));
    assert!(circles(&edges)[1..].iter().all(|circle| circle.len() <= 1), "e and f are in none");
}

#[test]
fn no_line_is_longer_than_rustfmt_would_have_it() {
    let config = std::fs::read_to_string(root().join("rustfmt.toml")).unwrap();
    assert!(config.contains(&format!("max_width = {WIDTH}")), "{config}");
    let mut found = Vec::new();
    ["crates", "fuzz"].iter().for_each(|folder| sources(&root().join(folder), &mut found));
    let mut long = Vec::new();
    for (path, text) in &found {
        let lines = text.lines().enumerate().filter(|(_, line)| line.chars().count() > WIDTH);
        long.extend(lines.map(|(at, line)| format!("{}:{}: {}", path.display(), at + 1, line.chars().count())));
    }
    assert!(
        long.is_empty(),
        "lines of more than {WIDTH} characters, which rustfmt leaves as they are:\n{}",
        long.join("\n")
    );
}

#[test]
fn only_the_engine_and_the_allocator_have_unsafe_code() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
    let mut found = Vec::new();
    sources(&root().join("crates"), &mut found);
    let lifts = |text: &str| text.lines().any(|line| line.contains("unsafe_code") && !line.contains('"'));
    let lifted = |text: &str| lifts(text) || text.contains("allow(unsafe_code") || text.contains("expect(unsafe_code");
    let of_test = Path::new(file!()).file_name();
    let others = found.iter().filter(|(path, text)| path.file_name() != of_test && lifted(text));
    let names: Vec<_> = others.map(|(path, _)| path.strip_prefix(root().join("crates")).unwrap()).collect();
    assert_eq!(names, [Path::new("cli/src/memory.rs"), Path::new("engine/src/lib.rs")]);
}

/// Every frame accesses these structs (switch and host), so they must stay small: mechanisms keep their state in other
/// structs.
#[test]
fn central_structs_have_fewer_than_15_fields() {
    let structs = [
        ("switch/mod", "Switch"),
        ("switch/core", "Core"),
        ("switch/buffer", "PacketBuffer"),
        ("host/mod", "Host"),
        ("network", "Network"),
        ("simulation", "Simulation"),
    ];
    for (file, name) in structs {
        let text = std::fs::read_to_string(root().join(format!("crates/model/src/{file}.rs"))).unwrap();
        let (_, rest) = text.split_once(&format!(" struct {name} {{\n")).expect("its definition");
        let (body, _) = rest.split_once("\n}\n").expect("its end");
        let is_field =
            |line: &&str| line.starts_with("    ") && !line.trim_start().starts_with("//") && line.contains(": ");
        let fields = body.lines().filter(is_field).count();
        assert!((3..15).contains(&fields), "{name} has {fields} fields");
    }
}

/// ARCHITECTURE.md is an overview: details belong in the documentation of the modules.
#[test]
fn architecture_has_at_most_12_000_characters() {
    let length = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().chars().count();
    assert!(length <= 12_000, "{length}");
}
