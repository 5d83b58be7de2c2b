//! Every documented key has an effect on results in a scenario written for it, or is refused, or is in a list of
//! exceptions with a reason.
//!
//! The keys are those of the key tables ([`locations`]), so that a key without a scenario fails. [`bases`] has a
//! scenario for each table, [`cases`] the additional keys that single keys require. [`conditions`] lists the keys that
//! are refused with certain values of other keys.

mod bases;
mod cases;
mod conditions;
mod files;
mod locations;
mod results;
mod values;

use cases::{EXCEPTIONS, Refusal};
use locations::KeyLocation;
use results::run;
use std::collections::BTreeSet;

type Set = Vec<(String, String)>;

fn pairs(list: &[(&str, &str)]) -> Set {
    list.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Result of the test of a key.
#[derive(Debug)]
enum Outcome {
    /// The key has an effect: this value changes results.
    Acts(String),
    /// The key has no effect: these values were accepted, but results are equal.
    Silent(Vec<String>),
    /// All values were refused; the last value, and its message.
    Refused(String, String),
    /// The scenario for the key does not run.
    NoBase(String),
}

/// Tries `location` in each of its cases. The key must have an effect in all of them.
fn try_key(location: &KeyLocation) -> Outcome {
    let cases = cases::cases(location);
    if cases.is_empty() {
        return try_case(location, &[], &[]);
    }
    let mut outcome = None;
    for case in cases {
        outcome = Some(try_case(location, case.set, case.values));
        if !matches!(outcome, Some(Outcome::Acts(_))) {
            break;
        }
    }
    outcome.unwrap()
}

/// Overrides the key in its scenario with one value after another, until results change.
fn try_case(location: &KeyLocation, set: &[(&str, &str)], written: &[&str]) -> Outcome {
    let (text, path) = bases::base(location);
    let set = pairs(set);
    let base = match run(&text, &set) {
        Ok(base) => base,
        Err(error) => return Outcome::NoBase(error),
    };
    let now = base.values.get(&path).cloned();
    let tried = if written.is_empty() {
        values::of(location, now.as_deref())
    } else {
        written.iter().map(|&value| value.to_owned()).collect()
    };
    let (mut silent, mut refused, mut acting) = (Vec::new(), None, None);
    for value in tried {
        // Every word of an enumeration must have an effect; of numbers, one value suffices.
        let is_word = values::is_word(&value);
        if acting.is_some() && !is_word {
            continue;
        }
        let mut changed = set.clone();
        changed.retain(|(key, _)| *key != path);
        changed.push(match value.strip_prefix('@') {
            // Override the whole table, because this kind requires other keys.
            Some(table) => (path.rsplit_once('.').unwrap().0.to_owned(), table.to_owned()),
            None => (path.clone(), value.clone()),
        });
        match run(&text, &changed) {
            Ok(results) if results.fingerprint != base.fingerprint => acting = Some(value),
            Ok(_) => silent.push(value),
            Err(error) => refused = Some((value, error)),
        }
    }
    let silent_words: Vec<String> = silent.iter().filter(|value| values::is_word(value)).cloned().collect();
    match (acting, refused) {
        (Some(value), _) if silent_words.is_empty() => Outcome::Acts(value),
        (Some(_), _) => Outcome::Silent(silent_words),
        (None, Some((value, error))) if silent.is_empty() => Outcome::Refused(value, error),
        (None, _) => Outcome::Silent(silent),
    }
}

/// Checks that the scenario runs without the value of `refusal`, and is refused with this value for the stated reason.
fn refused(location: &KeyLocation, refusal: &Refusal) -> Result<(), String> {
    let (text, path) = bases::base(location);
    let mut set = pairs(refusal.set);
    run(&text, &set).map_err(|error| format!("its scenario does not run: {error}"))?;
    set.push((path, refusal.value.to_owned()));
    match run(&text, &set) {
        Err(error) if error.contains(refusal.says) => Ok(()),
        Err(error) => Err(format!("refused otherwise: {error}")),
        Ok(_) => Err(format!("{} is not refused", refusal.value)),
    }
}

/// Tries all locations that `belongs` accepts; fails with the list of keys without effect.
fn check(belongs: impl Fn(&KeyLocation) -> bool) {
    let only = std::env::var("KEY").unwrap_or_default();
    let mut wrong = Vec::new();
    let (mut acting, mut refusals, mut excepted) = (0, 0, 0);
    for location in
        locations::all().into_iter().filter(|location| belongs(location) && location.to_string().contains(&only))
    {
        if let Some(refusal) = cases::refusal(&location) {
            match refused(&location, refusal) {
                Ok(()) => refusals += 1,
                Err(error) => wrong.push(format!("{location}: {error}")),
            }
            continue;
        }
        match (try_key(&location), cases::exception(&location)) {
            (Outcome::Acts(_), None) => acting += 1,
            (Outcome::Acts(value), Some(_)) => {
                wrong.push(format!("{location}: {value} changes results, so it is no exception"));
            }
            (Outcome::Silent(_), Some(_)) => excepted += 1,
            (Outcome::Silent(values), None) => wrong.push(format!("{location}: silent at {}", values.join(" | "))),
            (Outcome::Refused(value, error), _) => wrong.push(format!("{location}: refused at {value}: {error}")),
            (Outcome::NoBase(error), _) => wrong.push(format!("{location}: its scenario does not run: {error}")),
        }
    }
    eprintln!("{acting} change results, {refusals} are refused, {excepted} are exceptions");
    assert!(wrong.is_empty(), "{} keys are silent:\n{}", wrong.len(), wrong.join("\n"));
}

fn is_fabric(location: &KeyLocation) -> bool {
    location.path.starts_with("fabric") || location.path.starts_with("routing")
}

fn is_switch(location: &KeyLocation) -> bool {
    location.path.starts_with("switch")
}

fn is_transport(location: &KeyLocation) -> bool {
    location.path.starts_with("host.transport")
}

fn is_traffic(location: &KeyLocation) -> bool {
    location.path.starts_with("traffic")
}

#[test]
fn no_key_of_fabrics_and_routing_is_silent() {
    check(is_fabric);
}

#[test]
fn no_key_of_switches_is_silent() {
    check(is_switch);
}

#[test]
fn no_parameter_of_a_transport_is_silent() {
    check(is_transport);
}

#[test]
fn no_key_of_traffic_is_silent() {
    check(is_traffic);
}

#[test]
fn no_other_key_is_silent() {
    check(|location| !is_fabric(location) && !is_switch(location) && !is_transport(location) && !is_traffic(location));
}

/// An entry for a key that does not exist would never be tested.
#[test]
fn lists_name_keys_that_exist() {
    let locations = locations::all();
    let paths: BTreeSet<&str> = locations.iter().map(|location| location.path.as_str()).collect();
    for exception in EXCEPTIONS {
        assert!(paths.contains(exception.key), "no key {}", exception.key);
        assert!(exception.reason.len() > 20, "{}: no reason", exception.key);
        for variant in exception.of {
            let is_variant =
                |location: &KeyLocation| location.path == exception.key && location.variant == Some(variant);
            assert!(locations.iter().any(is_variant), "no key {} of {variant}", exception.key);
        }
    }
    for refusal in cases::REFUSALS {
        assert!(paths.contains(refusal.key), "no key {}", refusal.key);
    }
    for case in cases::all() {
        let fits = locations.iter().any(|location| case.fits(location));
        assert!(fits, "no key {} of {:?}", case.key, case.of);
    }
}
