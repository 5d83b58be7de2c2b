//! One claim: what the source says, what we measured, and whether they agree.

use serde::{Serialize, Serializer};

/// How our number must stand to the source's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Equal, within the tolerance.
    Equal,
    /// At most, the tolerance allowed on top.
    AtMost,
    /// At least, the tolerance allowed below.
    AtLeast,
    /// Below by more than the tolerance.
    Below,
    /// Above by more than the tolerance.
    Above,
}

impl Relation {
    /// As it is printed.
    pub const fn sign(self) -> &'static str {
        match self {
            Relation::Equal => "=",
            Relation::AtMost => "<=",
            Relation::AtLeast => ">=",
            Relation::Below => "<",
            Relation::Above => ">",
        }
    }

    fn holds(self, ours: f64, paper: f64, tolerance: f64) -> bool {
        match self {
            Relation::Equal => (ours - paper).abs() <= tolerance,
            Relation::AtMost => ours <= paper + tolerance,
            Relation::AtLeast => ours >= paper - tolerance,
            Relation::Below => ours < paper - tolerance,
            Relation::Above => ours > paper + tolerance,
        }
    }
}

impl Serialize for Relation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.sign())
    }
}

/// One claim and its outcome; the fields in the order in which they are printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What is claimed.
    pub name: String,
    /// Unit of the three numbers.
    pub unit: &'static str,
    /// The source's number, or the other side of a comparison.
    pub paper: f64,
    /// How ours must stand to it.
    pub relation: Relation,
    /// How far off ours may be, in the same unit.
    pub tolerance: f64,
    /// What we measured.
    pub ours: f64,
    /// Whether it holds.
    pub pass: bool,
    /// What the reader should know.
    pub note: Option<String>,
}

/// Six significant digits: what is shown is what is compared.
fn tidy(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

impl Check {
    /// `ours` `relation` `paper`, exactly. Counts and times in picoseconds are compared as they are.
    pub fn exact(name: impl Into<String>, unit: &'static str, ours: f64, relation: Relation, paper: f64) -> Check {
        let pass = relation.holds(ours, paper, 0.0);
        Check { name: name.into(), unit, paper, relation, tolerance: 0.0, ours, pass, note: None }
    }

    /// `ours` `relation` `paper`, to six digits and with a tolerance.
    pub fn new(
        name: impl Into<String>,
        unit: &'static str,
        ours: f64,
        relation: Relation,
        paper: f64,
        tolerance: f64,
    ) -> Check {
        let (ours, paper, tolerance) = (tidy(ours), tidy(paper), tidy(tolerance));
        let pass = relation.holds(ours, paper, tolerance);
        Check { name: name.into(), unit, paper, relation, tolerance, ours, pass, note: None }
    }

    /// What is said of a claim that is measured and not judged.
    pub fn unjudged(&self) -> String {
        let outcome = if self.pass { "holds" } else { "fails" };
        let (sign, unit) = (self.relation.sign(), self.unit);
        let tolerance = if self.tolerance > 0.0 { format!(" +-{}", self.tolerance) } else { String::new() };
        let (ours, paper) = (tidy(self.ours), tidy(self.paper));
        format!("not judged: {}: {ours} {unit} must be {sign} {paper}{tolerance}: {outcome} here", self.name)
    }

    /// With a remark.
    pub fn note(mut self, note: impl Into<String>) -> Check {
        self.note = Some(note.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_can_fail_on_either_side() {
        use Relation::{Above, AtLeast, AtMost, Below, Equal};
        let pass = |relation, ours, tolerance| Check::new("", "", ours, relation, 10.0, tolerance).pass;
        assert!(pass(Equal, 10.2, 0.2) && !pass(Equal, 10.3, 0.2) && !pass(Equal, 9.7, 0.2));
        assert!(pass(AtMost, 10.0, 0.0) && !pass(AtMost, 10.1, 0.0) && pass(AtMost, 10.1, 0.2));
        assert!(pass(AtLeast, 10.0, 0.0) && !pass(AtLeast, 9.9, 0.0) && pass(AtLeast, 9.9, 0.2));
        assert!(pass(Below, 9.9, 0.0) && !pass(Below, 10.0, 0.0) && !pass(Below, 9.9, 0.5));
        assert!(pass(Above, 10.1, 0.0) && !pass(Above, 10.0, 0.0) && !pass(Above, 10.1, 0.5));
        assert!(!pass(Equal, f64::NAN, 1.0) && !pass(AtMost, f64::NAN, 1.0) && !pass(Above, f64::NAN, 1.0));
    }

    #[test]
    fn what_is_not_judged_tells_whether_it_would_fail() {
        let check = |ours| Check::new("out of turn", "%", ours, Relation::Equal, 50.0, 5.0).unjudged();
        assert_eq!(check(82.0), "not judged: out of turn: 82 % must be = 50 +-5: fails here");
        assert!(check(51.0).ends_with("holds here"));
    }

    #[test]
    fn prints_as_promised() {
        let check = Check::new("share", "%", 56.6217, Relation::Equal, 56.55, 0.3).note("as measured");
        let expected = r#"{"name":"share","unit":"%","paper":56.55,"relation":"=","tolerance":0.3,"ours":56.6217,"pass":true,"note":"as measured"}"#;
        assert_eq!(serde_json::to_string(&check).unwrap(), expected);
    }
}
