//! Nodes by name: those that a user leaves out of a file's fabric, or calls a host or a switch.

use super::error::FileError;
use super::plain::fail;

/// A name, in which `*` stands for any text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamePattern(String);

impl NamePattern {
    /// The pattern that a user wrote.
    pub fn new(text: impl Into<String>) -> NamePattern {
        NamePattern(text.into())
    }

    /// Whether a name is of this pattern. Case matters.
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let parts: Vec<&str> = parts.collect();
        let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
        for part in middle {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}

/// The nodes that a user decides about, whatever the file says of them.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Roles {
    /// Nodes that are left out, with their links.
    pub ignore: Vec<NamePattern>,
    /// Nodes that are hosts.
    pub host: Vec<NamePattern>,
    /// Nodes that are switches.
    pub switch: Vec<NamePattern>,
    /// Switches to which hosts are attached, in place of all leaves of a file without hosts.
    pub hosts_on: Vec<NamePattern>,
}

impl Roles {
    /// No decision.
    pub const NONE: Roles = Roles { ignore: Vec::new(), host: Vec::new(), switch: Vec::new(), hosts_on: Vec::new() };

    /// The patterns by key of `[fabric]`.
    fn by_key(&self) -> [(&'static str, &[NamePattern]); 4] {
        [("ignore", &self.ignore), ("host", &self.host), ("switch", &self.switch), ("hosts_on", &self.hosts_on)]
    }

    /// The first key with a pattern.
    pub(crate) fn first_key(&self) -> Option<&'static str> {
        self.by_key().into_iter().find(|(_, patterns)| !patterns.is_empty()).map(|(key, _)| key)
    }

    /// Whether every pattern matches one of these names.
    ///
    /// # Errors
    /// The key and the pattern that matches none.
    pub(crate) fn check<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<(), FileError> {
        for (key, patterns) in self.by_key() {
            if let Some(idle) = patterns.iter().find(|pattern| !names.clone().any(|name| pattern.matches(name))) {
                return fail(key, format!("`{}` is the name of no node of the file", idle.0));
            }
        }
        let of = |patterns: &[NamePattern], name: &str| patterns.iter().any(|pattern| pattern.matches(name));
        match names.clone().find(|name| of(&self.host, name) && of(&self.switch, name)) {
            Some(both) => fail("host", format!("`{both}` is named as a host and as a switch")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let matches = |pattern: &str, name: &str| NamePattern::new(pattern).matches(name);
        for (pattern, name) in [
            ("leaf1", "leaf1"),
            ("leaf*", "leaf1"),
            ("*", ""),
            ("*1", "leaf1"),
            ("l*f*1", "leaf1"),
            ("*leaf*", "dc1-leaf-2"),
            ("a*a", "aa"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("leaf", "leaf1"), ("leaf*", "Leaf1"), ("a*a", "a"), ("*x*", "leaf1"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
