//! Sanitises external names for use as file names and in terminal output.

use crate::failure::Failure;
use fabric::{Fabric, NodeId, PortIndex};
use std::collections::BTreeMap;

/// Returns a file name for a switch. Characters other than letters, digits and `-_.` are replaced by `_`; so are a
/// leading `-`, which a command could interpret as an option, and a leading `.`, which hides the file.
pub fn file_name(switch: &str, suffix: &str) -> String {
    let fine = |(at, c): (usize, char)| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => c,
        '-' | '.' if at > 0 => c,
        _ => '_',
    };
    switch.chars().enumerate().map(fine).chain(suffix.chars()).collect()
}

/// Checks that the file names of switches, as (switch, file), differ even in a case-insensitive file system.
///
/// # Errors
/// The first two switches with the same file name.
pub fn distinct<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), Failure> {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    for (switch, file) in files {
        if let Some(other) = owners.insert(file.to_ascii_lowercase(), switch) {
            let message = format!("switches `{other}` and `{switch}` would both be the file {file}");
            return Err(Failure::input(message, "rename one of them, or keep them in folders of their own"));
        }
    }
    Ok(())
}

/// Returns the port as displayed: its name in the fabric's file, otherwise its number.
pub fn port_shown(fabric: &Fabric, node: NodeId, port: PortIndex) -> String {
    fabric.port_name(node, port).map_or_else(|| port.to_string(), str::to_owned)
}

/// Returns untrusted text in a form for the terminal: control characters are escaped because they could move the cursor
/// or change colours.
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
        let switches = ["../etc/passwd", "-rf", ".hidden", "a b", "leaf-1.rack", "東"];
        assert_eq!(
            switches.map(|switch| file_name(switch, ".json")),
            ["_._etc_passwd.json", "_rf.json", "_hidden.json", "a_b.json", "leaf-1.rack.json", "_.json"]
        );
        let twice = distinct([("a/b", "a_b.json"), ("a_b", "a_b.json")].into_iter()).unwrap_err();
        assert!(twice.to_string().contains("`a/b` and `a_b`"), "{twice}");
        assert!(distinct([("S1", "S1.json"), ("s1", "s1.json")].into_iter()).is_err());
        assert!(distinct([("S1", "S1.nft"), ("S1", "S1.tc")].into_iter()).is_ok());
    }

    #[test]
    fn errors_do_not_paint_the_screen() {
        assert_eq!(shown("a\u{1b}[2J\nb\u{9b}1m ä\u{202e}"), "a\\u{1b}[2J\nb\\u{9b}1m ä\\u{202e}");
    }
}
