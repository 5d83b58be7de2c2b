//! A check: a number from the source, the measured number, and the comparison of the two.

use serde::{Serialize, Serializer};

/// Relation that the measured number must have to the number from the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Equal, up to the tolerance.
    Equal,
    /// At most the source's number plus the tolerance.
    AtMost,
    /// At least the source's number minus the tolerance.
    AtLeast,
    /// Smaller than the source's number by more than the tolerance.
    Below,
    /// Larger than the source's number by more than the tolerance.
    Above,
}

impl Relation {
    /// Returns the relation's sign for the output.
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

/// Subject of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A claim of the source: a published number, order or bound.
    #[default]
    Claim,
    /// A property of the reproduction itself: conservation, invariants of the run, sizes of tables that we configured,
    /// negative controls. The source does not claim it, and a wrong model may satisfy it.
    Consistency,
}

/// One check with its result. JSON has the fields in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Claim or property that is checked.
    pub name: String,
    /// Claim of the source, or property of the reproduction.
    pub kind: Kind,
    /// Unit of `paper`, `tolerance` and `ours`.
    pub unit: &'static str,
    /// Number from the source, or the other measured value if two measured values are compared.
    pub paper: f64,
    /// Required relation of [`ours`](Check::ours) to [`paper`](Check::paper).
    pub relation: Relation,
    /// Permitted deviation, in `unit`.
    pub tolerance: f64,
    /// Measured number; NaN (in JSON null) if not measured.
    pub ours: f64,
    /// `true` if the relation holds; null in JSON if the check is not judged.
    pub pass: bool,
    /// Remark that is printed with the check.
    pub note: Option<String>,
    /// Reason why the check is not judged.
    pub not_judged: Option<&'static str>,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The required relation holds.
    Holds,
    /// The required relation does not hold.
    Fails,
    /// Not judged, with the reason.
    NotJudged(&'static str),
}

/// Rounds to six significant digits, so that the compared numbers equal the printed numbers.
fn tidy(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

impl Check {
    /// Creates the check `ours` `relation` `paper` without tolerance and rounding, for counts and times in picoseconds.
    pub fn exact(name: impl Into<String>, unit: &'static str, ours: f64, relation: Relation, paper: f64) -> Check {
        let pass = relation.holds(ours, paper, 0.0);
        let (name, kind) = (name.into(), Kind::Claim);
        Check { name, kind, unit, paper, relation, tolerance: 0.0, ours, pass, note: None, not_judged: None }
    }

    /// Creates the check `ours` `relation` `paper` with a tolerance; all three numbers are rounded to six digits.
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
        let (name, kind) = (name.into(), Kind::Claim);
        Check { name, kind, unit, paper, relation, tolerance, ours, pass, note: None, not_judged: None }
    }

    /// Counts the check as a property of the reproduction instead of a claim of the source.
    pub fn consistency(self) -> Check {
        Check { kind: Kind::Consistency, ..self }
    }

    /// Counts the check as a property of the reproduction if `own` is set.
    pub fn consistency_if(self, own: bool) -> Check {
        if own { self.consistency() } else { self }
    }

    /// Returns the result.
    pub fn outcome(&self) -> Outcome {
        match self.not_judged {
            Some(why) => Outcome::NotJudged(why),
            None if self.pass => Outcome::Holds,
            None => Outcome::Fails,
        }
    }

    /// Marks the check as measured but not judged, for the reason `why`.
    pub fn unjudged(self, why: &'static str) -> Check {
        Check { not_judged: Some(why), ..self }
    }

    /// Creates a check for a claim of the source that is not measured, with the reason.
    pub fn unmeasured(
        name: impl Into<String>,
        unit: &'static str,
        relation: Relation,
        paper: f64,
        why: &'static str,
    ) -> Check {
        Check::exact(name, unit, f64::NAN, relation, paper).unjudged(why)
    }

    /// Adds a remark.
    pub fn note(mut self, note: impl Into<String>) -> Check {
        self.note = Some(note.into());
        self
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Fields in the order of the JSON output.
        #[derive(Serialize)]
        struct Printed<'a> {
            name: &'a str,
            kind: Kind,
            unit: &'a str,
            paper: f64,
            relation: Relation,
            tolerance: f64,
            ours: f64,
            pass: Option<bool>,
            judged: bool,
            not_judged: Option<&'a str>,
            note: Option<&'a str>,
        }
        let Check { name, kind, unit, paper, relation, tolerance, ours, pass, note, not_judged } = self;
        let (paper, relation, tolerance, ours) = (*paper, *relation, *tolerance, *ours);
        let (note, pass) = (note.as_deref(), not_judged.is_none().then_some(*pass));
        let (judged, not_judged) = (not_judged.is_none(), *not_judged);
        let kind = *kind;
        Printed { name, kind, unit, paper, relation, tolerance, ours, pass, judged, not_judged, note }
            .serialize(serializer)
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
    fn what_is_not_judged_neither_holds_nor_fails() {
        for ours in [51.0, 82.0] {
            let check = Check::new("out of turn", "%", ours, Relation::Equal, 50.0, 5.0).unjudged("quick run");
            assert_eq!(check.outcome(), Outcome::NotJudged("quick run"));
            let printed = serde_json::to_value(&check).unwrap();
            assert_eq!(printed["pass"], serde_json::Value::Null);
            assert_eq!((&printed["judged"], &printed["not_judged"]), (&false.into(), &"quick run".into()));
        }
    }

    #[test]
    fn prints_as_promised() {
        let check = Check::new("share", "%", 56.6217, Relation::Equal, 56.55, 0.3).note("as measured");
        let expected = [
            r#"{"name":"share","kind":"claim","unit":"%","paper":56.55,"relation":"=","tolerance":0.3,"ours":56.6217,"#,
            r#""pass":true,"judged":true,"not_judged":null,"note":"as measured"}"#,
        ]
        .concat();
        assert_eq!(serde_json::to_string(&check).unwrap(), expected);
    }
}
