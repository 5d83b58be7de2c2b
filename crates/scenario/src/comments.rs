//! Annotates a scenario from the key tables: the meaning of each key, and the keys that a table leaves out.

use crate::keys::{Default, Key, keys};

/// Comments end before this column.
const WIDTH: usize = 110;
/// Tables that a scenario may leave out.
const TABLES: [&str; 5] = ["routing", "host", "measure", "record", "check"];

/// Returns the scenario `text` with the meaning of each key above it, and below each table the omitted keys.
pub fn commented(text: &str) -> String {
    let mut page = Page::default();
    let mut section = Section::default();
    // Comments and blank lines may belong to the next table: buffer them until its first line.
    let mut held: Vec<&str> = Vec::new();
    for line in text.lines() {
        let is_header = line.starts_with('[');
        if is_header {
            page.close(&section);
            section = Section::of(line);
        }
        if line.trim().is_empty() || line.starts_with('#') {
            held.push(line);
            continue;
        }
        let has_comment = held.last().is_some_and(|line| line.starts_with('#'));
        held.drain(..).for_each(|line| page.line(line));
        if !is_header {
            section.read(line, has_comment, &mut page);
        }
        page.line(line);
    }
    page.close(&section);
    held.into_iter().for_each(|line| page.line(line));
    for table in TABLES.into_iter().filter(|table| !text.contains(&format!("[{table}]"))) {
        page.line("");
        page.line(&format!("# [{table}]"));
        page.others(table, &[], &[]);
    }
    page.0
}

/// A table of the scenario, with the keys read so far.
#[derive(Default)]
struct Section {
    name: String,
    kind: Vec<String>,
    written: Vec<String>,
    /// Inline tables in this table: name, kind, keys.
    inner: Vec<(String, Vec<String>, Vec<String>)>,
}

impl Section {
    fn of(header: &str) -> Section {
        let name = header.trim_matches(|c| "[] ".contains(c)).to_owned();
        Section { name, ..Section::default() }
    }

    fn read(&mut self, line: &str, has_comment: bool, page: &mut Page) {
        let Some((key, value)) = line.split_once('=') else { return };
        let (key, value) = (key.trim(), value.trim());
        if key.contains(' ') || key.contains('"') {
            return;
        }
        if key == "kind" {
            self.kind.push(value.trim_matches('"').to_owned());
        }
        self.written.push(key.to_owned());
        if let Some(inside) = value.strip_prefix('{') {
            let parts = inside.split([',', '}', '{']).filter_map(|part| part.split_once('='));
            let parts: Vec<(&str, &str)> = parts.map(|(key, value)| (key.trim(), value.trim())).collect();
            let kind = parts.iter().filter(|(key, _)| *key == "kind");
            let kind = kind.map(|(_, value)| value.trim_matches('"').to_owned()).collect();
            let written = parts.iter().map(|(key, _)| (*key).to_owned()).collect();
            let name = if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) };
            self.inner.push((name, kind, written));
        }
        let known = keys().find(|known| known.section == self.name && known.name == key && fits(known, &self.kind));
        if let Some(known) = known.filter(|_| !has_comment) {
            page.comment(known.meaning, "# ", "# ");
        }
    }
}

/// Returns `true` if a table whose `kind` values are `kind` can have the key: a key without variants, or with one of
/// these kinds as variant.
fn fits(key: &Key, kind: &[String]) -> bool {
    key.variants.is_empty() || kind.iter().any(|kind| key.variants.contains(&kind.as_str()))
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Writes `text`, wrapped. The first line begins with `first`, the following lines with `next`.
    fn comment(&mut self, text: &str, first: &str, next: &str) {
        let mut margin = first;
        let mut line = margin.trim_end().to_owned();
        for word in text.split_whitespace() {
            if line.len() + word.len() + 1 > WIDTH {
                self.line(&line);
                margin = next;
                line = margin.trim_end().to_owned();
            }
            if line.len() < margin.len() {
                line.push_str(&margin[line.len()..])
            } else {
                line.push(' ')
            }
            line.push_str(word);
        }
        self.line(&line);
    }

    fn close(&mut self, section: &Section) {
        if section.name.is_empty() {
            // Omitted top-level keys are not listed, because most of them are tables.
            return;
        }
        self.others(&section.name, &section.kind, &section.written);
        for (name, kind, written) in &section.inner {
            let others: Vec<&'static Key> = others(name, kind, written).collect();
            if !others.is_empty() {
                self.line(&format!("# {name} also accepts"));
                others.into_iter().for_each(|key| self.other(key, "#     "));
            }
        }
    }

    fn others(&mut self, section: &str, kind: &[String], written: &[String]) {
        others(section, kind, written).for_each(|key| self.other(key, "# "));
    }

    fn other(&mut self, key: &Key, margin: &str) {
        let (value, without) = match key.default {
            Default::Value(value) => (literal(value), String::new()),
            Default::Absent(what) => (key.example.to_owned(), format!(" (without: {what})")),
            Default::Required => return,
        };
        self.comment(&format!("{} = {value} # {}{without}", key.name, key.meaning), margin, &format!("{margin}  # "));
    }
}

fn others(section: &str, kind: &[String], written: &[String]) -> impl Iterator<Item = &'static Key> {
    keys().filter(move |key| {
        key.section == section
            && fits(key, kind)
            && key.name != "kind"
            && key.default != Default::Required
            && !written.iter().any(|name| name == key.name)
    })
}

/// Writes a default as TOML.
fn literal(value: &str) -> String {
    let bare = matches!(value, "true" | "false") || value.parse::<f64>().is_ok();
    if bare { value.to_owned() } else { format!("\"{value}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_listed_and_omitted_ones_follow() {
        let text = "# What for.\nname = \"x\"\n\n[switch]\n# Mine.\nbuffer = \"1MB\"\nflow_control = { kind = \"pfc\", \
            xoff = \"1KB\" }\n\n[[fail]]\nlink = [\"a\", \"b\"]\n";
        let text = commented(text);
        assert!(text.starts_with("# What for.\nname = \"x\"\n"), "{text}");
        assert!(text.contains("# Mine.\nbuffer = \"1MB\"\n# flow control between neighbours\nflow_control"), "{text}");
        assert!(text.contains("# overload = \"drop\" # action for a frame"), "{text}");
        assert!(text.contains("# switch.flow_control also accepts\n#     xon = \"3KB\" # "), "{text}");
        assert!(!text.contains("xoff = \"auto\"") && text.contains("# at = \"0s\" # start of the failure"), "{text}");
        assert!(text.contains("# [routing]\n# mode = \"shortest\""), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH + 10), "{text}");
    }
}
