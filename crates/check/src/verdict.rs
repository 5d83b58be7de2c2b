//! Result of a check.

use std::fmt;

/// Result of one check, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Name of the check; stable, so that results of different versions can be compared.
    pub name: String,
    /// Whether the invariant held; `true` if the check does not apply to the run.
    pub pass: bool,
    /// Whether the check applies to the run.
    pub applicable: bool,
    /// Measured numbers; for a failure also its location and extent.
    pub detail: String,
}

impl Verdict {
    /// Makes the verdict `pass` on the check `name`.
    pub fn new(name: &str, pass: bool, detail: impl Into<String>) -> Self {
        Verdict { name: name.to_owned(), pass, applicable: true, detail: detail.into() }
    }

    /// Makes the verdict on a check that does not apply to the run, for the reason `why`. It is not shown as a pass.
    pub fn not_applicable(name: &str, why: &str) -> Self {
        Verdict { name: name.to_owned(), pass: true, applicable: false, detail: format!("not applicable: {why}") }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match (self.pass, self.applicable) {
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
