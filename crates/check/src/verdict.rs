//! The outcome of a check.

use std::fmt;

/// Whether one invariant held, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The check's name; stable, so that results of different versions can be compared.
    pub name: String,
    /// Whether the invariant held; true if the check does not apply to the run.
    pub pass: bool,
    /// Whether the check applies to the run.
    pub judged: bool,
    /// The numbers behind it; for a failure also where and by how much.
    pub detail: String,
}

impl Verdict {
    /// The verdict `pass` on the check `name`.
    pub fn new(name: &str, pass: bool, detail: impl Into<String>) -> Self {
        Verdict { name: name.to_owned(), pass, judged: true, detail: detail.into() }
    }

    /// The check `name` does not apply to this run, for the reason `why`. It is shown as such and not as a pass.
    pub fn not_applicable(name: &str, why: &str) -> Self {
        Verdict { name: name.to_owned(), pass: true, judged: false, detail: format!("not applicable: {why}") }
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
        assert_eq!(Verdict::not_applicable("order", "no frames").to_string(), "none order: not applicable: no frames");
    }
}
