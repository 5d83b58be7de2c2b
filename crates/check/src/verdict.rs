//! The outcome of a check.

use std::fmt;

/// Whether one invariant held, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The check's name; stable, so that results of different versions can be compared.
    pub name: String,
    /// Whether the invariant held; true where there was nothing to judge.
    pub pass: bool,
    /// Whether there was anything to judge.
    pub judged: bool,
    /// The numbers behind it; for a failure also where and by how much.
    pub detail: String,
}

impl Verdict {
    /// The verdict `pass` on the check `name`.
    pub fn new(name: &str, pass: bool, detail: impl Into<String>) -> Self {
        Verdict { name: name.to_owned(), pass, judged: true, detail: detail.into() }
    }

    /// The check `name` had nothing to look at, for this reason: nobody may take that for an invariant that held.
    pub fn nothing(name: &str, why: &str) -> Self {
        Verdict { name: name.to_owned(), pass: true, judged: false, detail: format!("nothing to check: {why}") }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match (self.pass, self.judged) {
            (false, _) => "FAIL",
            (true, true) => "pass",
            (true, false) => "none",
        };
        write!(f, "{outcome} {}: {}", self.name, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_cannot_be_overlooked() {
        assert_eq!(Verdict::new("order", false, "seq 3 after 4").to_string(), "FAIL order: seq 3 after 4");
        assert_eq!(Verdict::new("order", true, "9 frames").to_string(), "pass order: 9 frames");
        assert_eq!(Verdict::nothing("order", "no frames").to_string(), "none order: nothing to check: no frames");
    }
}
