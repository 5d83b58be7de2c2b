//! Valid names of nodes and ports.
//!
//! Names come from external files and appear in terminals, tables, drawings and switch configurations. When a fabric is
//! built, names are rejected that a terminal or parser could interpret as control sequences. The writer of each format
//! checks the additional restrictions of that format.

use std::fmt;

/// Maximum length of a name in bytes, so that a file name (255 bytes) can contain the name and a suffix.
pub const MAX_NAME_BYTES: usize = 200;

/// Rule that a name violates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NameFault {
    /// The name is empty.
    Empty,
    /// The name is longer than [`MAX_NAME_BYTES`].
    TooLong {
        /// Length of the name.
        bytes: usize,
    },
    /// The name starts or ends with white space, which most formats drop.
    WhiteSpaceAround,
    /// The name contains a character that ends lines, moves the cursor, or is invisible.
    Invisible {
        /// First such character.
        character: char,
    },
    /// The name is `<<`, the merge key of YAML.
    Merge,
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameFault::Empty => write!(f, "it is empty"),
            NameFault::TooLong { bytes } => write!(f, "it has {bytes} bytes, and {MAX_NAME_BYTES} are the most"),
            NameFault::WhiteSpaceAround => write!(f, "it begins or ends with white space"),
            NameFault::Merge => write!(f, "YAML keeps `<<` for taking one table into another"),
            NameFault::Invisible { character } => write!(
                f,
                "it has the character U+{:04X}, which no screen shows: names are made of visible characters and spaces",
                u32::from(*character)
            ),
        }
    }
}

/// Returns `true` for a control character (Unicode Cc), a line or paragraph separator (Zl, Zp), an invisible character
/// that reorders or joins text, or a noncharacter.
fn invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// Checks the name of a node or port.
///
/// # Errors
/// The rule that the name violates.
pub fn check_name(name: &str) -> Result<(), NameFault> {
    if let Some(character) = name.chars().find(|&c| invisible(c)) {
        return Err(NameFault::Invisible { character });
    }
    match () {
        () if name.is_empty() => Err(NameFault::Empty),
        () if name.len() > MAX_NAME_BYTES => Err(NameFault::TooLong { bytes: name.len() }),
        () if name.trim() != name => Err(NameFault::WhiteSpaceAround),
        () if name == "<<" => Err(NameFault::Merge),
        () => Ok(()),
    }
}

/// Escapes invisible characters of untrusted text for an error message, and truncates long text.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(4 * MAX_NAME_BYTES));
    for (count, c) in text.chars().enumerate() {
        match c {
            _ if count == 80 => {
                out.push_str("...");
                break;
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if invisible(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Longest name in bytes that is compared with others.
const MAX_COMPARED_BYTES: usize = 64;

/// Returns the candidate that a name is probably a typing error of: at most two edits away, one edit for a name of up
/// to five bytes, without regard to case. Of several candidates at the least distance it is the only one with the same
/// numbers; `None` if there is no such one, because the name may be an error of any of them.
pub fn nearest_name<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = name.to_ascii_lowercase();
    let edits = |candidate: &'n str| {
        let most = if name.len().min(candidate.len()) <= 5 { 1 } else { 2 };
        let compared = name.len().max(candidate.len()) <= MAX_COMPARED_BYTES;
        let edits = compared.then(|| strsim::osa_distance(&lower, &candidate.to_ascii_lowercase()))?;
        Some((edits, candidate)).filter(|(edits, candidate)| *edits <= most && *candidate != name)
    };
    let near: Vec<(usize, &str)> = candidates.into_iter().filter_map(edits).collect();
    let least = near.iter().map(|(edits, _)| *edits).min()?;
    let only = |names: &mut dyn Iterator<Item = &'n str>| names.next().filter(|_| names.next().is_none());
    let nearest = || near.iter().filter(|(edits, _)| *edits == least).map(|(_, candidate)| *candidate);
    only(&mut nearest().filter(|candidate| numbers(candidate) == numbers(name))).or_else(|| only(&mut nearest()))
}

/// Returns the candidate that the name of a port is probably a typing error of, like [`nearest_name`], with the same
/// numbers in the name. Names that differ in a number are those of two ports.
pub fn nearest_port<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    nearest_name(name, candidates.into_iter().filter(|candidate| numbers(candidate) == numbers(name)))
}

/// Returns the numbers in a name, as text.
fn numbers(name: &str) -> Vec<&str> {
    name.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, FabricError, LinkSpec};
    use units::{Rate, Time};

    #[test]
    fn names_of_the_field_are_fine() {
        for name in ["S1", "leaf 1", "Ethernet1/1", "e1-1", "Zürich", "東京-1", "a:b", "=x", "S1; reload", "\"q\"", "-"]
        {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_no_name() {
        for c in ['\n', '\r', '\0', '\t', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{2028}', '\u{202e}', '\u{200b}'] {
            let fault = check_name(&format!("S1{c}x")).unwrap_err();
            assert_eq!(fault, NameFault::Invisible { character: c });
            assert!(fault.to_string().contains(&format!("U+{:04X}", u32::from(c))), "{fault}");
        }
        assert_eq!(check_name(""), Err(NameFault::Empty));
        assert_eq!(check_name(" a"), Err(NameFault::WhiteSpaceAround));
        assert_eq!(check_name(&"x".repeat(201)), Err(NameFault::TooLong { bytes: 201 }));
        assert_eq!(visible("S1\nflush\u{1b}[2J"), "S1\\nflush\\u{1b}[2J");
        assert_eq!(visible(&"x".repeat(81)).len(), 83);
    }

    #[test]
    fn the_nearest_name_is_unique_or_none() {
        let ports = ["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet40"];
        for (name, near) in [
            ("Etherent4", Some("Ethernet4")),
            ("ethernet8", Some("Ethernet8")),
            ("Ethernet 40", Some("Ethernet40")),
            ("Ethernet48", None),
            ("Ethernet9", None),
            ("PortChannel4", None),
        ] {
            assert_eq!(nearest_name(name, ports), near, "{name}");
        }
        assert_eq!(nearest_name("AZUR", ["AZURE", "AZURE_LOSSLESS"]), Some("AZURE"));
        assert_eq!(nearest_name("Ethernet1/11", ["Ethrnet1/11", "Ethernet11/1"]), Some("Ethrnet1/11"));
        assert_eq!(nearest_name("AZ", ["AZURE"]), None);
        assert_eq!(nearest_name(&"x".repeat(65), [&*"x".repeat(64)]), None);
    }

    #[test]
    fn the_nearest_port_has_the_same_numbers() {
        for (name, near) in [
            ("Ethernet4", Some("Etherent4")),
            ("Ethernet44", None),
            ("Ethernet1/11", None),
            ("Ethernet 4", Some("Etherent4")),
            ("Ethernet5", None),
        ] {
            assert_eq!(nearest_port(name, ["Etherent4", "Ethernet45", "Ethernet11/1"]), near, "{name}");
        }
        assert_eq!(nearest_name("Ethernet44", ["Ethernet45"]), Some("Ethernet45"));
    }

    #[test]
    fn a_fabric_has_no_names_that_act() {
        let link = LinkSpec::new(Rate::from_gbps(10), Time::from_ns(500));
        let build = |node: &str, port: &str| {
            let mut builder = FabricBuilder::new("test");
            let (host, switch) = (builder.add_host("h"), builder.add_switch(node, 1));
            let link = builder.connect(host, switch, link);
            builder.name_ports(link, "", port);
            builder.build().map(|_| ())
        };
        assert_eq!(build("S1", "Ethernet0"), Ok(()));
        let error = build("S1\nflush ruleset\n#", "").unwrap_err();
        assert!(matches!(error, FabricError::Name { .. }), "{error}");
        assert!(error.to_string().contains("node `S1\\nflush ruleset\\n#`: it has the character U+000A"), "{error}");
        let error = build("S1", "p\u{1b}[2J").unwrap_err().to_string();
        assert!(error.contains("port `p\\u{1b}[2J` of `S1`: it has the character U+001B"), "{error}");
    }
}
