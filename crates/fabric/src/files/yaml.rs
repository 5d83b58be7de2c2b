//! YAML subset for topologies, with a limit for the expansion of aliases.

use super::error::FileError;
use super::plain::fail;
use std::collections::{HashMap, HashSet};
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::scanner::{Marker, ScanError};
use yaml_rust2::{Yaml, YamlLoader};

/// Maximum nesting depth; deeper nesting could overflow the stack of recursive functions.
const MAX_DEPTH: usize = 64;

/// Maximum number of values plus bytes of text after alias expansion, in addition to twice the size of the file. For
/// example, `&a [*b, *b]` nested thirty levels deep expands to a billion values.
const MAX_EXPANSION: u64 = 1 << 22;

/// Reads the first document of a text.
pub(crate) fn read(content: &str) -> Result<Yaml, FileError> {
    let content = content.trim_start_matches('\u{feff}');
    measure(content)?;
    let mut documents = YamlLoader::load_from_str(content).or_else(|error| wrong(&error))?;
    Ok(if documents.is_empty() { Yaml::BadValue } else { documents.swap_remove(0) })
}

fn wrong<T>(error: &ScanError) -> Result<T, FileError> {
    let at = error.marker();
    fail(location(at), format!("not valid YAML: {}", error.info()))
}

fn location(at: &Marker) -> String {
    format!("line {}, column {}", at.line(), at.col() + 1)
}

/// Counts the values and bytes of text, and measures the nesting depth, as if every alias were expanded. The loader
/// would expand them in memory; this function processes parser events one by one and needs neither memory nor
/// recursion.
fn measure(content: &str) -> Result<(), FileError> {
    let most = MAX_EXPANSION + 2 * content.len() as u64;
    let mut parser = Parser::new_from_str(content);
    // Size and depth of the value of each anchor.
    let mut anchors: HashMap<usize, (u64, usize)> = HashMap::new();
    // For each open list or map: its anchor, the total size before it, and the depth of its contents.
    let mut open: Vec<(usize, u64, usize)> = Vec::new();
    let mut count = 0u64;
    loop {
        let (event, at) = parser.next_token().or_else(|error| wrong(&error))?;
        let mut depth = 0;
        match event {
            Event::StreamEnd => return Ok(()),
            Event::Scalar(text, _, anchor, _) => {
                let weight = 1 + text.len() as u64;
                count += weight;
                anchors.insert(anchor, (weight, 0));
            }
            Event::Alias(anchor) => {
                let (values, inside) = anchors.get(&anchor).copied().unwrap_or((1, 0));
                count = count.saturating_add(values);
                depth = inside;
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                open.push((anchor, count, 0));
                count += 1;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (anchor, before, inside) = open.pop().unwrap_or_default();
                depth = inside + 1;
                anchors.insert(anchor, (count - before, depth));
            }
            _ => continue,
        }
        if let Some((.., inside)) = open.last_mut() {
            *inside = depth.max(*inside);
        }
        if open.len() + depth > MAX_DEPTH {
            return fail(location(&at), format!("nested deeper than {MAX_DEPTH} levels"));
        }
        if count > most {
            let message = format!("aliases (`*name`) would make more than {most} bytes of this file: write them out");
            return fail(location(&at), message);
        }
    }
}

/// Returns the value of a key, including keys merged by `<<`; [`Yaml::BadValue`] if the key is missing.
pub(crate) fn get<'y>(table: &'y Yaml, key: &str) -> &'y Yaml {
    let Yaml::Hash(_) = table else { return &Yaml::BadValue };
    match (&table[key], &table["<<"]) {
        (Yaml::BadValue, merged @ Yaml::Hash(_)) => get(merged, key),
        (Yaml::BadValue, Yaml::Array(merged)) => {
            merged.iter().map(|table| get(table, key)).find(|value| !value.is_badvalue()).unwrap_or(&Yaml::BadValue)
        }
        (value, _) => value,
    }
}

/// Returns the keys and values of a table in order, with merged (`<<`) entries at the position of the merge key. The
/// table's own keys take precedence over merged ones.
pub(crate) fn entries(table: &Yaml) -> Vec<(&Yaml, &Yaml)> {
    let Yaml::Hash(own) = table else { return Vec::new() };
    let (mut all, mut known) = (Vec::new(), HashSet::new());
    for (key, value) in own {
        if key.as_str() != Some("<<") {
            all.push((key, value));
            continue;
        }
        let merged = value.as_vec().map_or(std::slice::from_ref(value), Vec::as_slice);
        for (key, value) in merged.iter().flat_map(entries) {
            if !own.contains_key(key) && known.insert(key) {
                all.push((key, value));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// Files of 400 bytes that would expand to a billion values, with and without a blank before each alias.
    #[test]
    fn aliases_of_aliases_are_refused_before_they_are_written_out() {
        for (blank, levels) in [(" ", 9), ("", 9), ("", 30)] {
            let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
            for level in 1..levels {
                let alias = format!("{blank}*a{}", level - 1);
                text += &format!("a{level}: &a{level} [{}]\n", vec![alias; 10].join(","));
            }
            assert!(error(&text).contains("aliases (`*name`) would make more"), "{}", error(&text));
        }
        let long = "x".repeat(100_000);
        assert!(error(&format!("a: &a {long}\nb: [{}]", "*a,".repeat(1_000))).contains("aliases"));
        let merged: String = (1..40).map(|n| format!("m{n}: &m{n} {{<<: *m{}, a: *m{}}}\n", n - 1, n - 1)).collect();
        assert!(error(&format!("m0: &m0 {{x: y}}\n{merged}")).contains("aliases"));
    }

    #[test]
    fn aliases_that_name_shared_settings_are_no_bomb() {
        let nodes: String = (0..2_000).map(|n| format!("  n{n}: {{<<: *srl, x: 1}}\n")).collect();
        let document = read(&format!("d: &srl {{kind: nokia_srlinux, image: a}}\nnodes:\n{nodes}")).unwrap();
        assert_eq!(get(&document["nodes"]["n1999"], "kind").as_str(), Some("nokia_srlinux"));
        assert!(get(&document["nodes"]["n7"], "none").is_badvalue());
        let document = read("a: &a {p: 1, q: 2}\nb: {q: 3, <<: [*a, {r: 4}]}\n").unwrap();
        let keys: Vec<_> =
            entries(&document["b"]).into_iter().map(|(key, value)| (key.as_str(), value.as_i64())).collect();
        assert_eq!(keys, [(Some("q"), Some(3)), (Some("p"), Some(1)), (Some("r"), Some(4))]);
    }

    #[test]
    fn deep_nesting_is_refused_and_costs_no_stack() {
        for text in ["[".repeat(100_000), "- ".repeat(100_000) + "x", "{a: ".repeat(200) + &"}".repeat(200)] {
            let error = error(&text);
            assert!(error.contains("deeper than 64") || error.contains("not valid YAML"), "{error}");
        }
        let deep: String = (1..80).map(|n| format!("d{n}: &d{n} [*d{}]\n", n - 1)).collect();
        assert!(error(&format!("d0: &d0 [x]\n{deep}")).contains("deeper than 64"));
    }
}
