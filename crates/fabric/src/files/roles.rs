//! Name patterns with which the user ignores nodes or declares them to be hosts or switches.

use super::error::FileError;
use super::plain::fail;

/// Name pattern in which `*` matches any text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamePattern(String);

impl NamePattern {
    /// Creates a pattern from the user's text.
    pub fn new(text: impl Into<String>) -> NamePattern {
        NamePattern(text.into())
    }

    /// Returns `true` if a name matches. Case-sensitive.
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

/// The user's decisions about nodes, which override the file.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Roles {
    /// Nodes to skip together with their links.
    pub ignore: Vec<NamePattern>,
    /// Nodes that are hosts.
    pub host: Vec<NamePattern>,
    /// Nodes that are switches.
    pub switch: Vec<NamePattern>,
    /// Switches to which hosts are attached. If empty, hosts are attached to all leaves of a file without hosts.
    pub hosts_on: Vec<NamePattern>,
}

impl Roles {
    /// No patterns.
    pub const NONE: Roles = Roles { ignore: Vec::new(), host: Vec::new(), switch: Vec::new(), hosts_on: Vec::new() };

    /// Returns the patterns with their keys in `[fabric]`.
    fn by_key(&self) -> [(&'static str, &[NamePattern]); 4] {
        [("ignore", &self.ignore), ("host", &self.host), ("switch", &self.switch), ("hosts_on", &self.hosts_on)]
    }

    /// Returns the first key that has a pattern.
    pub(crate) fn first_key(&self) -> Option<&'static str> {
        self.by_key().into_iter().find(|(_, patterns)| !patterns.is_empty()).map(|(key, _)| key)
    }

    /// Checks that every pattern matches one of these names, and that no name is both host and switch.
    ///
    /// # Errors
    /// The key with a pattern that matches no name, or with a pattern for a node that is declared both host and switch.
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
    fn a_star_matches_any_text() {
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
