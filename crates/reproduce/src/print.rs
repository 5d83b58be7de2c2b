//! Output of `reproduce`: text, or one JSON object.

use super::check::{Check, Kind, Outcome};
use super::red::{self, Class, Red};
use super::registry::Experiment;
use super::trial::Trial;
use serde::Serialize;
use std::fmt::Write;
use text::numbers::counted;
use text::{ColorMode, Layout, Style, table};

/// Result of one experiment.
#[derive(Debug)]
pub struct Result {
    /// Experiment that ran.
    pub experiment: &'static Experiment,
    /// Wall-clock duration, in s.
    pub seconds: f64,
    /// Checks and printed output of the experiment.
    pub trial: Trial,
    /// Results with alternative values of unspecified parameters, by `key = value`.
    pub under: Vec<(String, Result)>,
}

impl Result {
    /// Returns `true` if at least one check holds and none fails.
    pub fn passes(&self) -> bool {
        let outcomes = || self.trial.checks.iter().map(Check::outcome);
        outcomes().any(|outcome| outcome == Outcome::Holds) && outcomes().all(|outcome| outcome != Outcome::Fails)
    }

    /// Returns the entry in the list of expected failures if the check fails and the list contains it.
    fn known(&self, check: &Check) -> Option<&'static Red<'static>> {
        let fails = check.outcome() == Outcome::Fails;
        fails.then(|| red::find(self.trial.quick, self.experiment.id, &check.name)).flatten()
    }
}

#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    experiments: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    title: &'a str,
    source: &'a str,
    seconds: f64,
    pass: bool,
    checks: Vec<PrintedCheck<'a>>,
    /// Non-empty only with `--open-choices`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_choices: Vec<Alternative<'a>>,
}

/// A check, with its entry in the list of expected failures if there is one.
#[derive(Serialize)]
struct PrintedCheck<'a> {
    #[serde(flatten)]
    check: &'a Check,
    known: Option<Known>,
}

#[derive(Serialize)]
struct Known {
    class: Option<Class>,
    command: Option<&'static str>,
    /// Figure of the search from which the class follows, `not searched` for an open choice without a search.
    search: Option<&'static str>,
}

impl Known {
    fn of(red: &Red<'static>) -> Known {
        let class = red.because.map(|(class, _)| class);
        let search = red.search.or((class == Some(Class::OpenChoice)).then_some("not searched"));
        Known { class, command: red.because.map(|(_, command)| command), search }
    }
}

#[derive(Serialize)]
struct Alternative<'a> {
    choice: &'a str,
    pass: bool,
    checks: &'a [Check],
}

#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    title: &'a str,
    source: &'a str,
    seconds: u32,
    quick_seconds: u32,
}

fn pretty(value: &impl Serialize) -> String {
    // Serialisation fails only for maps whose keys are not strings.
    serde_json::to_string_pretty(value).expect("plain structs always serialise") + "\n"
}

/// Returns all results as one JSON object.
pub fn json(results: &[Result]) -> String {
    let alternative = |(choice, result): &'_ (String, Result)| -> (String, bool, Vec<Check>) {
        (choice.clone(), result.passes(), result.trial.checks.clone())
    };
    let under: Vec<Vec<(String, bool, Vec<Check>)>> =
        results.iter().map(|result| result.under.iter().map(alternative).collect()).collect();
    let experiments = results.iter().zip(&under).map(|(result, under)| Entry {
        id: result.experiment.id,
        title: result.experiment.title,
        source: result.experiment.source,
        seconds: (result.seconds * 10.0).round() / 10.0,
        pass: result.passes(),
        checks: (result.trial.checks.iter())
            .map(|check| PrintedCheck { check, known: result.known(check).map(Known::of) })
            .collect(),
        open_choices: under.iter().map(|(choice, pass, checks)| Alternative { choice, pass: *pass, checks }).collect(),
    });
    pretty(&Document { version: env!("CARGO_PKG_VERSION"), experiments: experiments.collect() })
}

/// Returns the list of experiments as JSON.
pub fn list_json(experiments: &[&Experiment]) -> String {
    let listed = |experiment: &&Experiment| Listed {
        id: experiment.id,
        title: experiment.title,
        source: experiment.source,
        seconds: experiment.seconds,
        quick_seconds: experiment.quick_seconds,
    };
    let listed: Vec<Listed> = experiments.iter().map(|experiment| listed(&{ *experiment })).collect();
    pretty(&serde_json::json!({ "version": env!("CARGO_PKG_VERSION"), "experiments": listed }))
}

/// Returns the list of experiments as a text table.
pub fn list(experiments: &[&Experiment]) -> String {
    let row = |experiment: &&Experiment| {
        vec![
            experiment.id.to_owned(),
            experiment.title.to_owned(),
            experiment.seconds.to_string(),
            experiment.quick_seconds.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = experiments.iter().map(row).collect();
    table(&["experiment", "title", "seconds", "--quick"], &rows, 2, Layout::Fixed, 0)
}

/// Formats a number with about six significant digits, without trailing zeros.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "-".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let digits = (5 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn checks_table(result: &Result) -> String {
    let row = |check: &Check| {
        let relation = match check.tolerance {
            0.0 => check.relation.sign().to_owned(),
            tolerance => format!("{} (+-{})", check.relation.sign(), number(tolerance)),
        };
        let verdict = match check.outcome() {
            Outcome::Holds => "ok".to_owned(),
            Outcome::Fails => match result.known(check) {
                Some(red) => format!("FAIL known, {}", red::class_name(red)),
                None => "FAIL".to_owned(),
            },
            Outcome::NotJudged(_) if check.ours.is_nan() => "not judged".to_owned(),
            Outcome::NotJudged(_) if check.pass => "not judged, holds".to_owned(),
            Outcome::NotJudged(_) => "not judged, fails".to_owned(),
        };
        let name = match check.kind {
            Kind::Claim => check.name.clone(),
            Kind::Consistency => format!("({})", check.name),
        };
        vec![verdict, name, number(check.ours), relation, number(check.paper), check.unit.to_owned()]
    };
    let rows: Vec<Vec<String>> = result.trial.checks.iter().map(row).collect();
    table(&["", "check", "ours", "must be", "source", "unit"], &rows, 2, Layout::Fixed, 2)
}

/// Returns the text output of one experiment.
pub fn result(result: &Result, paint: ColorMode) -> String {
    let experiment = result.experiment;
    let mut text = format!("{}  {}\n", paint.styled(experiment.id, Style::Strong), experiment.title);
    let _ = writeln!(text, "  {}", paint.styled(experiment.source, Style::Faint));
    for shortened in &result.trial.shortened {
        let _ = writeln!(text, "  {}", paint.styled(&format!("shortened: {shortened}"), Style::Caution));
    }
    if !result.trial.shown.is_empty() {
        let _ = write!(text, "\n{}", result.trial.shown);
    }
    let _ = write!(text, "\n{}", checks_table(result));
    if result.trial.checks.iter().any(|check| check.kind == Kind::Consistency) {
        text.push_str("  in brackets: properties of the reproduction, not claims of the source\n");
    }
    let mut notes: Vec<&str> = Vec::new();
    for note in result.trial.checks.iter().filter_map(|check| check.note.as_deref()) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    for note in notes {
        let _ = writeln!(text, "  note: {note}");
    }
    for (choice, under) in &result.under {
        let measured = |check: &Check| {
            let (ours, paper) = (number(check.ours), number(check.paper));
            format!("{} ({ours}, must be {} {paper})", check.name, check.relation.sign())
        };
        let failed: Vec<String> =
            under.trial.checks.iter().filter(|check| check.outcome() == Outcome::Fails).map(measured).collect();
        let outcome =
            if failed.is_empty() { "every check holds".to_owned() } else { format!("fails: {}", failed.join("; ")) };
        let _ = writeln!(text, "  open choice, {choice}: {outcome}");
    }
    let verdict = if result.passes() { paint.styled("holds", Style::Good) } else { paint.styled("FAILS", Style::Bad) };
    let red = || result.trial.checks.iter().filter(|check| check.outcome() == Outcome::Fails);
    let verdict = match red().all(|check| result.known(check).is_some()) {
        true if red().count() > 0 => {
            format!("{verdict}, as is known: experiments/{}/README.md says why", paper(experiment.id))
        }
        _ => verdict,
    };
    let _ = writeln!(text, "  {verdict} ({:.1} s)\n", result.seconds);
    text
}

/// Counts equal strings, in order of first occurrence. A linear search suffices because there are few different
/// strings.
fn count_kinds<'a>(things: impl Iterator<Item = &'a str>) -> Vec<(&'a str, usize)> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for thing in things {
        match kinds.iter_mut().find(|kind| kind.0 == thing) {
            Some(kind) => kind.1 += 1,
            None => kinds.push((thing, 1)),
        }
    }
    kinds
}

/// Returns the last lines of the output: how many claims and how many consistency checks hold, fail or are not judged.
pub fn totals(results: &[Result]) -> String {
    let checks = || results.iter().flat_map(|result| result.trial.checks.iter().map(move |check| (result, check)));
    let count = |kind: Kind, wanted: Outcome| {
        checks().filter(|(_, check)| check.kind == kind && check.outcome() == wanted).count()
    };
    let [held, consistent] = [Kind::Claim, Kind::Consistency].map(|kind| count(kind, Outcome::Holds));
    let [failed, inconsistent] = [Kind::Claim, Kind::Consistency].map(|kind| count(kind, Outcome::Fails));
    let known: Vec<&Red> = checks().filter_map(|(result, check)| result.known(check)).collect();
    let mut text =
        format!("{held} of {} claims of {} hold", held + failed, counted(results.len() as u64, "experiment"));
    if consistent + inconsistent > 0 {
        let _ = write!(text, ", and {consistent} of {} consistency checks", consistent + inconsistent);
    }
    let failed = failed + inconsistent;
    if !known.is_empty() {
        let by_class = count_kinds(known.iter().map(|&red| red::class_name(red)));
        let by_class: Vec<String> = by_class.iter().map(|(class, number)| format!("{number} {class}")).collect();
        let _ = write!(text, "; {} of the {failed} that fail are known to: {}", known.len(), by_class.join(", "));
    }
    let not_judged = checks().filter_map(|(_, check)| match check.outcome() {
        Outcome::NotJudged(why) => Some(why),
        Outcome::Holds | Outcome::Fails => None,
    });
    for (why, number) in count_kinds(not_judged) {
        let _ = write!(text, "; {number} not judged ({why})");
    }
    text.push('\n');
    let has_claim = |result: &&Result| result.trial.checks.iter().any(|check| check.kind == Kind::Claim);
    let without: Vec<&str> =
        results.iter().filter(|result| !has_claim(result)).map(|result| result.experiment.id).collect();
    if !without.is_empty() {
        let _ = writeln!(text, "no claim is judged by {}, only consistency", without.join(", "));
    }
    text
}

fn paper(id: &str) -> &str {
    id.split('/').next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(id: &str, checks: Vec<Check>) -> Result {
        let experiment = super::super::experiments().find(|experiment| experiment.id == id).unwrap();
        let mut trial = Trial::new(true, None);
        trial.checks = checks;
        Result { experiment, seconds: 0.0, trial, under: Vec::new() }
    }

    fn check(name: &str, ours: f64) -> Check {
        Check::new(name, "s", ours, super::super::check::Relation::Equal, 1.0, 0.0)
    }

    #[test]
    fn known_and_unjudged_checks_are_reported_and_counted() {
        let red = red::known(true).iter().find(|red| red.because.is_some()).unwrap();
        let (id, known, (class, command)) = (red.experiment, red.check, red.because.unwrap());
        let all =
            vec![check("good", 1.0), check(known, 2.0), check("new", 2.0), check("long", 2.0).unjudged("quick run")];
        let measured = result(id, all);
        let text = super::result(&measured, ColorMode::Plain);
        let line =
            |name: &str| text.lines().find(|line| line.contains(&format!(" {name} "))).unwrap().trim().to_owned();
        assert!(line("good").starts_with("ok"), "{text}");
        assert!(line(known).starts_with(&format!("FAIL known, {}  ", class.name())), "{text}");
        assert!(line("new").starts_with("FAIL  "), "{text}");
        assert!(line("long").starts_with("not judged, fails"), "{text}");
        assert!(!measured.passes());
        let document: serde_json::Value =
            serde_json::from_str(&json(&[result(id, measured.trial.checks.clone())])).unwrap();
        let in_json = |index: usize| &document["experiments"][0]["checks"][index]["known"];
        let search = red.search.or((class == Class::OpenChoice).then_some("not searched"));
        let expected = serde_json::json!({ "class": class.name(), "command": command, "search": search });
        assert_eq!(*in_json(1), expected);
        assert!([0, 2, 3].into_iter().all(|index| in_json(index).is_null()), "{document}");
        let expected = format!(
            "1 of 3 claims of 1 experiment hold; 1 of the 2 that fail are known to: 1 {}; 1 not judged (quick run)\n",
            class.name()
        );
        assert_eq!(totals(&[measured]), expected);
        let consistent = totals(&[result(id, vec![check("own", 1.0).consistency()])]);
        assert!(consistent.ends_with(&format!("\nno claim is judged by {id}, only consistency\n")), "{consistent}");
        assert!(
            super::result(&result(id, vec![check(known, 2.0)]), ColorMode::Plain).contains("as is known: experiments/")
        );
        assert!(result(id, vec![check("good", 1.0), check("long", 2.0).unjudged("quick run")]).passes());
        assert!(!result(id, vec![check("long", 1.0).unjudged("quick run")]).passes(), "nothing was judged");
    }

    /// A failure that only the list for quick runs expects is unexpected in a full run.
    #[test]
    fn a_run_accepts_the_list_of_its_own_kind() {
        let only_quick = |red: &&Red| red::find(false, red.experiment, red.check).is_none();
        let Some(red) = red::known(true).iter().find(only_quick) else { return };
        let mut full = result(red.experiment, vec![check(red.check, 2.0)]);
        assert!(full.known(&full.trial.checks[0]).is_some());
        full.trial.quick = false;
        assert!(full.known(&full.trial.checks[0]).is_none());
    }

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [0.0, 5.0, 37.9, 123_456_789.0, 0.000_012_345, 2.5e-3, 99.99994].map(number).to_vec();
        assert_eq!(shown, ["0", "5", "37.9", "123456789", "0.000012345", "0.0025", "99.9999"]);
    }
}
