//! Names of others where they leave this program: as names of files, in tables, on the screen.

use crate::failure::Failure;
use std::collections::BTreeMap;

/// Names of files for switches, in their order: other characters than letters, digits and `-_.` become `_`, and so does
/// one at the beginning that a shell or a file system takes for more than a letter.
///
/// # Errors
/// Two switches whose files would have one name, were it on a file system that does not tell `a` from `A`.
pub fn file_names<'a>(switches: impl Iterator<Item = &'a str>, suffix: &str) -> Result<Vec<String>, Failure> {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    let name = |switch: &'a str| {
        let file = format!("{}{suffix}", plain(switch));
        match owners.insert(file.to_ascii_lowercase(), switch) {
            None => Ok(file),
            Some(other) => {
                let message = format!("switches `{other}` and `{switch}` would both be the file {file}");
                Err(Failure::input(message, "rename one of them, or write them one at a time with --switch"))
            }
        }
    };
    switches.map(name).collect()
}

fn plain(switch: &str) -> String {
    let fine = |(at, c): (usize, char)| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => c,
        '-' | '.' if at > 0 => c,
        _ => '_',
    };
    switch.chars().enumerate().map(fine).collect()
}

/// A cell of a CSV table (RFC 4180): in quotes where it must be, and with `'` before what a spreadsheet takes for a
/// formula.
pub fn csv_cell(text: &str) -> String {
    let formula = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{formula}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{formula}{text}")
    }
}

/// A text for the terminal, of whatever origin: what would move the cursor or change colours is written as an escape.
pub fn shown(text: &str) -> String {
    let lines = text.chars().map(|c| match c {
        '\n' | '\t' => c.to_string(),
        c if c.is_control() || fabric::check_name(&format!("x{c}x")).is_err() => c.escape_unicode().to_string(),
        c => c.to_string(),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_switches_stay_in_their_folder_and_apart() {
        let names = |switches: &[&str]| file_names(switches.iter().copied(), ".json");
        let found = names(&["../etc/passwd", "-rf", ".hidden", "a b", "leaf-1.rack", "東"]).unwrap();
        assert_eq!(found, ["_._etc_passwd.json", "_rf.json", "_hidden.json", "a_b.json", "leaf-1.rack.json", "_.json"]);
        assert!(names(&["a/b", "a_b"]).unwrap_err().to_string().contains("`a/b` and `a_b`"));
        assert!(names(&["S1", "s1"]).unwrap_err().to_string().contains("`S1` and `s1`"));
    }

    #[test]
    fn cells_are_no_formulas() {
        for (text, cell) in
            [("S1", "S1"), ("a,b", "\"a,b\""), ("=1+1", "'=1+1"), ("@x\"", "\"'@x\"\"\""), ("-1", "'-1")]
        {
            assert_eq!(csv_cell(text), cell);
        }
    }

    #[test]
    fn errors_do_not_paint_the_screen() {
        assert_eq!(shown("a\u{1b}[2J\nb\u{9b}1m ä\u{202e}"), "a\\u{1b}[2J\nb\\u{9b}1m ä\\u{202e}");
    }
}
