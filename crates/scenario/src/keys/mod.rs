//! The table of all scenario keys. Parsers take defaults from it; `--explain`, the documentation, templates and error
//! messages take their texts from it. Keys of mechanism parameters come from the declaration of the mechanism.

mod fabric;
mod fluid;
mod switch;
mod top;
mod traffic;

use protocols::describe::{Family, Mechanism};
use protocols::mechanisms;
use protocols::port_mechanisms::Marking;
use protocols::transport::MECHANISMS;
use std::sync::LazyLock;

pub use protocols::describe::Default;

/// One key of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Table of the key: `""` for the top level, `"fabric"`, `"switch.flow_control"`.
    pub section: &'static str,
    /// Name of the key in that table.
    pub name: &'static str,
    /// Variants (mostly `kind`s) of the table that have the key; empty for all.
    pub variants: &'static [&'static str],
    /// Type of a value in words: "a time", "a whole number", "text".
    pub value: &'static str,
    /// Value if the key is not written.
    pub default: Default,
    /// An example value in TOML.
    pub example: &'static str,
    /// Meaning, with the range.
    pub meaning: &'static str,
    /// Source of meaning and default.
    pub source: &'static str,
}

impl Key {
    /// Returns `section.name`.
    pub fn path(&self) -> String {
        if self.section.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.section, self.name) }
    }

    /// Returns `true` if a table of these variants has the key.
    pub(crate) fn fits(&self, tags: &[&str]) -> bool {
        self.variants.is_empty() || self.variants.iter().any(|variant| tags.contains(variant))
    }
}

/// A type of value: its name, and an example in TOML.
#[derive(Clone, Copy)]
struct ValueSyntax(&'static str, &'static str);

const TIME: ValueSyntax = ValueSyntax("a time", "\"10us\"");
const SIZE: ValueSyntax = ValueSyntax("a size", "\"64KB\"");
const COUNT: ValueSyntax = ValueSyntax("a whole number", "4");
const SHARE: ValueSyntax = ValueSyntax("a share", "0.5");
const FLAG: ValueSyntax = ValueSyntax("true or false", "true");
const TEXT: ValueSyntax = ValueSyntax("text", "\"name\"");
const HOSTS: ValueSyntax = ValueSyntax("a list of hosts", "[\"H1\", 1, \"2-3\"]");
const HOST: ValueSyntax = ValueSyntax("a host", "\"H1\"");
const EVERY: ValueSyntax = ValueSyntax("a table with `every`, or false", "{ every = \"10us\" }");

const fn key(section: &'static str, name: &'static str, variants: &'static [&'static str], of: ValueSyntax) -> Key {
    Key {
        section,
        name,
        variants,
        value: of.0,
        default: Default::Required,
        example: of.1,
        meaning: "",
        source: "required",
    }
}

impl Key {
    const fn value(mut self, value: &'static str, source: &'static str) -> Key {
        (self.default, self.source) = (Default::Value(value), source);
        self
    }
    const fn absent(mut self, what: &'static str, source: &'static str) -> Key {
        (self.default, self.source) = (Default::Absent(what), source);
        self
    }
    /// Copies default, meaning and source from the parameter of `mechanism`. If several variants of the table share the
    /// parameter, `mechanism` can be any of these variants.
    const fn of(mut self, mechanism: &'static Mechanism) -> Key {
        let Some(parameter) = mechanism.parameter(self.name) else {
            panic!("the mechanism has no parameter of this name")
        };
        (self.default, self.meaning, self.source) = (parameter.default, parameter.meaning, parameter.source);
        self
    }
    const fn means(mut self, meaning: &'static str) -> Key {
        self.meaning = meaning;
        self
    }
}

/// Source of a default that this project chose, because no paper or standard states one.
const OURS: &str = "choice of this project";

/// Returns the variants (`kind` values) of a table that have the parameters of `mechanism`; empty if the table has no
/// `kind`.
fn variants(mechanism: &'static Mechanism) -> Vec<&'static str> {
    match mechanism.family {
        Family::Buffer => vec!["shared"],
        // A table for one mechanism has no `kind`.
        Family::Watchdog | Family::Shaping | Family::Gates | Family::Cyclic | Family::Preemption => Vec::new(),
        _ => vec![mechanism.kind],
    }
}

/// Keys of mechanism parameters, except those of transports and those of gates, whose table has two forms. If several
/// kinds of a table have an equal parameter, they share its key.
static OF_MECHANISMS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let kinds: Vec<&str> = Marking::MECHANISMS.iter().map(|mechanism| mechanism.kind).collect();
    let meaning: &str = format!("none, {}", kinds.join(", ")).leak();
    let kind = key(Family::Marking.table(), "kind", &[], TEXT).value("none", OURS).means(meaning);
    let mut keys = vec![(kind, Vec::new())];
    let has_keys = |it: &&Mechanism| !matches!(it.family, Family::Transport | Family::Gates);
    for mechanism in mechanisms::all().filter(has_keys) {
        for parameter in mechanism.parameters {
            let own = Key {
                section: mechanism.family.table(),
                name: parameter.key,
                variants: &[],
                value: parameter.syntax.name,
                default: parameter.default,
                example: parameter.syntax.example,
                meaning: parameter.meaning,
                source: parameter.source,
            };
            match keys.iter_mut().find(|(key, _)| *key == own) {
                Some((_, all)) => all.extend(variants(mechanism)),
                None => keys.push((own, variants(mechanism))),
            }
        }
    }
    keys.into_iter().map(|(key, variants)| Key { variants: variants.leak(), ..key }).collect()
});

/// Returns every key, by section, except the parameters of transports: see [`transport`].
pub fn keys() -> impl Iterator<Item = &'static Key> {
    top::KEYS.iter().chain(fabric::KEYS).chain(switch::KEYS).chain(OF_MECHANISMS.iter()).chain(traffic::KEYS)
}

/// Returns every key of a fluid model's file; sections begin with `fluid`.
pub fn of_fluid() -> impl Iterator<Item = &'static Key> {
    fluid::KEYS.iter()
}

/// Returns every transport; its parameters are keys of `host.transport`.
pub fn transports() -> impl Iterator<Item = &'static Mechanism> {
    MECHANISMS.into_iter()
}

/// Returns the keys of one section.
pub(crate) fn of_section(section: &str) -> impl Iterator<Item = &'static Key> {
    keys().chain(of_fluid()).filter(move |key| key.section == section)
}

/// Returns the transport of this name.
pub fn transport(kind: &str) -> Option<&'static Mechanism> {
    MECHANISMS.into_iter().find(|mechanism| mechanism.kind == kind)
}

/// Returns the key of this name in a table of these variants.
pub(crate) fn find(section: &str, name: &str, tags: &[&str]) -> Option<&'static Key> {
    of_section(section).find(|key| key.name == name && key.fits(tags))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The meaning, default and source of a key equal those in the declaration of each mechanism that has the key.
    #[test]
    fn no_mechanisms_key_has_a_text_of_its_own() {
        for mechanism in mechanisms::all().filter(|mechanism| mechanism.family != Family::Transport) {
            let belongs = |key: &&Key| {
                let of_kind = match mechanism.family {
                    Family::Buffer => key.variants == ["shared"],
                    // A table for one mechanism has no `kind`.
                    Family::Watchdog | Family::Shaping | Family::Gates | Family::Cyclic | Family::Preemption => true,
                    _ => key.variants.contains(&mechanism.kind),
                };
                key.section == mechanism.family.table() && of_kind
            };
            let ours: Vec<&Key> = keys().filter(belongs).collect();
            for key in &ours {
                let parameter = mechanism.parameter(key.name);
                let parameter = parameter.unwrap_or_else(|| panic!("`{}` has no `{}`", mechanism.kind, key.name));
                assert_eq!(
                    (key.default, key.meaning, key.source),
                    (parameter.default, parameter.meaning, parameter.source),
                    "`{}` of `{}`",
                    key.name,
                    mechanism.kind
                );
            }
            assert_eq!(ours.len(), mechanism.parameters.len(), "`{}` has parameters without a key", mechanism.kind);
        }
    }

    #[test]
    fn every_key_is_reported_once_and_fully() {
        let all: Vec<&Key> = keys().chain(of_fluid()).collect();
        for (at, key) in all.iter().enumerate() {
            assert!(!key.meaning.is_empty() && !key.source.is_empty(), "{}", key.path());
            for other in &all[at + 1..] {
                let same = (key.section, key.name) == (other.section, other.name);
                let clash = key.variants.is_empty()
                    || other.variants.is_empty()
                    || key.variants.iter().any(|variant| other.variants.contains(variant));
                assert!(!(same && clash), "{} occurs twice", key.path());
            }
        }
    }
}
