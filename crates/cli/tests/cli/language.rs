//! Checks for plain technical English: limits the share of words in comments, pages and commit titles that are typical
//! of paraphrases and personification. The words are a symptom, not a goal; CONTRIBUTING.md has the rules.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Marker words. In the comments of well-written code they are rare: 1 to 4 per 1,000 words.
const MARKERS: [&str; 36] = [
    "told",
    "tell",
    "tells",
    "telling",
    "stand",
    "stands",
    "stood",
    "ask",
    "asks",
    "asked",
    "asking",
    "somebody",
    "nobody",
    "whoever",
    "who",
    "whom",
    "whose",
    "way",
    "come",
    "comes",
    "came",
    "what",
    "know",
    "knows",
    "known",
    "look",
    "looks",
    "alike",
    "where",
    "everybody",
    "anybody",
    "hear",
    "hears",
    "wants",
    "wanted",
    "likes",
];
/// Maximum number of marker words per 1,000 words.
const LIMIT_PER_MILLE: usize = 8;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the number of marker words, and the number of all words with at least two letters.
fn count(text: &str) -> (usize, usize) {
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1);
    words.fold((0, 0), |(markers, all), word| {
        (markers + usize::from(MARKERS.contains(&word.to_ascii_lowercase().as_str())), all + 1)
    })
}

/// Returns the text of the comments in a source file, without code blocks and code spans.
fn comments(source: &str) -> String {
    let mut in_block = false;
    let mut text = String::new();
    for line in source.lines() {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        let comment = comment.trim_start_matches(['/', '!']);
        if comment.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            text.push_str(&without_code(comment));
            text.push('\n');
        }
    }
    text
}

/// Returns the prose of a Markdown page, without code, generated parts and link targets.
fn prose(page: &str) -> String {
    let (mut in_block, mut generated) = (false, false);
    let mut text = String::new();
    for line in page.lines() {
        if line.starts_with("<!--") && line.contains("(generated") {
            generated = true;
        } else if line.starts_with("<!--") && line.contains("end -->") {
            generated = false;
        } else if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block && !generated {
            text.push_str(&without_code(line));
            text.push('\n');
        }
    }
    text
}

/// Removes code spans, and the target of each link `[text](target)`.
fn without_code(line: &str) -> String {
    let prose = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let mut parts = prose.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(' ');
        text.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    text
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry")) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                files(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

/// Fails if a group exceeds the limit; lists all groups that do.
fn check(groups: &BTreeMap<String, (usize, usize)>) {
    let above = groups.iter().filter(|(_, (markers, all))| markers * 1000 > LIMIT_PER_MILLE * all.max(&500));
    let above: Vec<String> = above.map(|(name, (markers, all))| format!("{name}: {markers} of {all} words")).collect();
    assert!(above.is_empty(), "more than {LIMIT_PER_MILLE} marker words of 1,000:\n{}", above.join("\n"));
    assert!(!groups.is_empty());
}

#[test]
fn comments_use_plain_terms() {
    let mut sources = Vec::new();
    files(&root().join("crates"), ".rs", &mut sources);
    let mut groups: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for path in sources {
        let name = path.strip_prefix(root().join("crates")).unwrap().iter().next().unwrap();
        let (markers, all) = count(&comments(&fs::read_to_string(&path).unwrap()));
        let group = groups.entry(name.to_string_lossy().into_owned()).or_default();
        *group = (group.0 + markers, group.1 + all);
    }
    assert!(groups.len() > 20);
    check(&groups);
}

#[test]
fn pages_use_plain_terms() {
    let mut pages: Vec<PathBuf> = Vec::new();
    ["docs", "experiments", "examples", "oracle", "fuzz"].iter().for_each(|name| {
        files(&root().join(name), ".md", &mut pages);
    });
    pages.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    let of_page = |path: &PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        (name, count(&prose(&fs::read_to_string(path).unwrap())))
    };
    check(&pages.iter().map(of_page).collect());
}

/// Checks the last 100 commit titles: at most 65 characters, in the form `area: imperative`.
#[test]
fn titles_of_commits_use_plain_terms() {
    let log = Command::new("git").args(["log", "-100", "--no-merges", "--format=%s"]).current_dir(root()).output();
    let Some(log) = log.ok().filter(|log| log.status.success()) else {
        eprintln!("skipped: not a clone");
        return;
    };
    let titles = String::from_utf8(log.stdout).unwrap();
    for title in titles.lines() {
        assert!(title.chars().count() <= 65, "more than 65 characters: {title}");
        assert!(title.contains(": "), "not `area: imperative`: {title}");
    }
    check(&BTreeMap::from([("titles".to_owned(), count(&titles))]));
}

#[test]
fn markers_are_counted_in_prose_alone() {
    assert_eq!(count("The port is told what to do"), (2, 7));
    let source = "/// A `told` port.\nlet told = 1; // code\n/// ```\n/// told\n/// ```\n// where\n";
    assert_eq!(comments(source).trim(), "A   port.\n where");
    let page = "told [text](told.md) x\n```\ntold\n```\n<!-- a begin (generated) -->\ntold\n<!-- a end -->\n";
    assert_eq!(count(&prose(page)), (1, 2));
}
