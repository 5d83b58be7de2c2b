//! Checks that every scenario key and result column to which the glossary refers exists.

use std::collections::BTreeSet;
use std::path::Path;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the lines of the section whose heading has this anchor, up to the next heading of any level.
fn section<'a>(page: &'a str, anchor: &str) -> Vec<&'a str> {
    let is_it = |line: &&str| {
        let letters = line.trim_start_matches('#').trim().to_lowercase();
        let kept: String = letters.chars().filter(|&c| c.is_alphanumeric() || "_- ".contains(c)).collect();
        line.starts_with('#') && kept.replace(' ', "-") == anchor
    };
    page.lines().skip_while(|line| !is_it(line)).skip(1).take_while(|line| !line.starts_with('#')).collect()
}

/// Returns the rows of the glossary: term, meaning, and references.
fn rows(glossary: &str) -> Vec<Vec<&str>> {
    let rows = glossary.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| term "));
    rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// Returns the links that follow a word in backticks, as in "`xoff` of [...](scenario.md#switch)", as (word, link
/// target).
fn named_links(text: &str) -> Vec<(&str, &str)> {
    let links = text.match_indices("](").filter_map(|(at, _)| {
        let open = text[..at].rfind('[')?;
        let before = text[..open].strip_suffix(" of ").or(text[..open].strip_suffix(" in "))?;
        let word = before.strip_suffix('`')?;
        let word = &word[word.rfind('`')? + 1..];
        Some((word, text[at + 2..].split(')').next()?))
    });
    links.collect()
}

#[test]
fn every_key_and_column_of_the_glossary_exists() {
    let (glossary, scenario, results) = (page("glossary.md"), page("scenario.md"), page("results.md"));
    let (mut keys, mut columns) = (0, 0);
    for row in rows(&glossary) {
        for (word, target) in named_links(row[2]) {
            match target.split_once('#') {
                Some(("scenario.md", anchor)) => {
                    let lines = section(&scenario, anchor);
                    let there = lines.iter().any(|line| line.starts_with(&format!("| `{word}`")));
                    assert!(there, "`{word}` is no key of {target}: {}", row[0]);
                    keys += 1;
                }
                Some(("results.md", _)) => {
                    for part in word.split('.') {
                        assert!(results.contains(&format!("`{part}`")), "`{part}` is not in {target}: {}", row[0]);
                    }
                    columns += 1;
                }
                _ => {}
            }
        }
    }
    assert!(keys >= 10 && columns >= 10, "{keys} keys, {columns} columns");
}

#[test]
fn the_glossary_defines_each_term_once_and_links_its_uses() {
    let glossary = page("glossary.md");
    let mut terms = BTreeSet::new();
    for row in rows(&glossary) {
        assert_eq!(row.len(), 3, "{row:?}");
        assert!(terms.insert(row[0]), "{} twice", row[0]);
        assert!(row[1].ends_with('.') && row[2].contains("]("), "{row:?}");
    }
    assert!(terms.len() >= 40 && page("index.md").contains("(glossary.md)"));
    for term in ["XOFF", "XON", "headroom", "ingress account", "packet-hop", "bounce", "detour", "trim", "lookahead"] {
        assert!(terms.contains(term), "{term}");
    }
}
