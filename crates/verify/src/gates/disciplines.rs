//! State of the queue disciplines of all interfaces while a script runs: predicts which `tc qdisc` commands the kernel
//! executes and which it refuses (`tc_modify_qdisc`, `tc_get_qdisc` of `sch_api.c`). Initially each interface has the
//! default queue discipline, whose handle is zero, as after boot. A test compares random sequences of commands with the
//! kernel.

use super::file::GateFileError;
use super::shell::{Word, at};
use std::collections::{BTreeMap, BTreeSet};

/// Outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeds,
    /// Reason of the failure.
    Fails(String),
    /// Reason why the outcome cannot be determined.
    Unknown(String),
}

/// Actions of `tc qdisc`, in the order in which `tc` matches abbreviations.
const ACTIONS: [&str; 9] = ["add", "change", "replace", "link", "delete", "list", "show", "lst", "help"];

/// Arguments of a `tc qdisc` command.
pub(super) struct Request<'a> {
    pub action: &'static str,
    pub device: Option<&'a str>,
    pub parent: Option<Parent<'a>>,
    /// Major number of the handle; `None` if the kernel chooses it.
    handle: Option<u16>,
    pub kind: Option<&'a str>,
    pub options: &'a [Word],
}

/// Parent of a queue discipline.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent<'a> {
    Root,
    /// `ingress` or `clsact`.
    Arrival,
    Class(&'a str),
}

/// Parses a handle as `tc` does: `100`, `100:` or `100:5`. The minor number, after `:`, is ignored.
fn handle_of(text: &str) -> Option<u16> {
    let major = text.split_once(':').map_or(text, |(major, _)| major);
    let good = !major.is_empty() && major.chars().all(|c| c.is_ascii_hexdigit());
    u16::from_str_radix(major, 16).ok().filter(|_| good)
}

impl<'a> Request<'a> {
    /// Parses the arguments after `tc qdisc`; `None` if the command changes nothing.
    ///
    /// # Errors
    /// Arguments that `tc` refuses, with their line.
    pub fn parse(words: &'a [Word], line: usize) -> Result<Option<Request<'a>>, GateFileError> {
        let Some((_, action)) = words.first() else { return Ok(None) };
        let action = match ACTIONS.iter().find(|known| !action.is_empty() && known.starts_with(action.as_str())) {
            Some(&("list" | "show" | "lst" | "help")) => return Ok(None),
            Some(&"link") => return at(line, "`tc qdisc link` is not followed: use add, replace or change"),
            Some(&action) => action,
            None => return at(line, format!("`tc qdisc {}` is no command of tc", fabric::visible(action))),
        };
        let mut found = Request { action, device: None, parent: None, handle: None, kind: None, options: &[] };
        let mut handles = false;
        let mut rest = &words[1..];
        while let [(line, word), after @ ..] = rest {
            let value = after.first().map(|(_, value)| value.as_str());
            let mut parent = |parent: Parent<'a>| match found.parent.replace(parent) {
                Some(_) => at(*line, format!("`{word}` gives a second parent: tc refuses it")),
                None => Ok(()),
            };
            let needed = || match value {
                Some(value) => Ok(value),
                None => at(*line, format!("`{word}` lacks a value")),
            };
            rest = after;
            match word.as_str() {
                "root" => parent(Parent::Root)?,
                "ingress" | "clsact" => {
                    parent(Parent::Arrival)?;
                    found.kind = Some(word);
                    found.options = after;
                    break;
                }
                "parent" => parent(match needed()? {
                    "root" | "ffff:ffff" => Parent::Root,
                    "ffff:fff1" | "ffff:fff2" => Parent::Arrival,
                    class => Parent::Class(class),
                })?,
                "dev" => {
                    if let Some(first) = found.device.replace(needed()?) {
                        let first = fabric::visible(first);
                        return at(*line, format!("duplicate `dev`, after `dev {first}`: tc refuses it"));
                    }
                }
                "handle" => {
                    let value = needed()?;
                    if std::mem::replace(&mut handles, true) {
                        return at(*line, "duplicate `handle`: tc refuses it");
                    }
                    let Some(handle) = handle_of(value) else {
                        return at(*line, format!("`handle {}`: expected 1 to ffff", fabric::visible(value)));
                    };
                    found.handle = Some(handle).filter(|handle| *handle != 0);
                }
                "estimator" => {
                    rest = after.get(2..).unwrap_or_default();
                    continue;
                }
                "stab" | "ingress_block" | "egress_block" => {
                    return at(*line, format!("`{word}`: its effect is not followed"));
                }
                kind => {
                    found.kind = Some(kind);
                    found.options = after;
                    break;
                }
            }
            if matches!(word.as_str(), "parent" | "dev" | "handle") {
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        Ok(Some(found))
    }

    /// Whether the options of the queue discipline are valid. Returns false for kinds whose options are not parsed.
    fn has_valid_options(&self) -> bool {
        let words: Vec<&str> = self.options.iter().map(|(_, word)| word.as_str()).collect();
        let number = |text: &str| (1..=9).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit());
        match (self.kind, words.as_slice()) {
            (Some("taprio"), _) | (Some("pfifo" | "bfifo" | "htb"), []) => true,
            (Some("pfifo" | "bfifo"), ["limit", limit]) => number(limit),
            (Some("htb"), ["default", class]) => (1..=4).contains(&class.len()) && number(class),
            _ => false,
        }
    }
}

/// Queue discipline at the root of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Root {
    Default,
    /// Kind, handle (`None` if the kernel chose it), line of the command.
    Set(String, Option<u16>, usize),
}

/// Handles that the kernel chooses have this bit set.
const CHOSEN: u16 = 0x8000;
/// Handle of `ingress` and `clsact`.
const ARRIVAL_HANDLE: u16 = 0xffff;

#[derive(Clone, Debug)]
struct Device {
    /// Root queue disciplines that the device may have at this point of the script; several if a command may or may not
    /// have run.
    roots: Vec<Root>,
    /// Handles of queue disciplines attached below the root.
    below: BTreeSet<u16>,
    /// Whether the device has `ingress` or `clsact`; `None` if this is unknown.
    arrival: Option<bool>,
}

/// Queue disciplines of all interfaces.
#[derive(Debug, Default)]
pub(super) struct Disciplines {
    devices: BTreeMap<String, Device>,
}

impl Disciplines {
    /// Applies a command to the state and returns its outcome. `certain`: whether the command runs unconditionally.
    pub fn follow(&mut self, request: &Request<'_>, line: usize, certain: bool) -> Outcome {
        let Some(name) = request.device else { return Outcome::Unknown("it has no `dev`".to_owned()) };
        let fresh = || Device { roots: vec![Root::Default], below: BTreeSet::new(), arrival: Some(false) };
        let device = self.devices.entry(name.to_owned()).or_insert_with(fresh);
        match request.parent {
            Some(Parent::Root) => device.root(request, name, line, certain),
            Some(Parent::Arrival) => device.arrival(request, name, certain),
            Some(Parent::Class(_)) => {
                device.below.extend(request.handle);
                Outcome::Unknown("whether the class exists is not followed".to_owned())
            }
            None => {
                *device = Device { roots: Vec::new(), arrival: None, ..device.clone() };
                Outcome::Unknown("it has neither `root` nor `parent`".to_owned())
            }
        }
    }

    /// Whether the interface has a queue discipline that the script has set.
    pub fn has(&self, device: &str) -> bool {
        self.devices.get(device).is_some_and(|device| device.roots != [Root::Default])
    }
}

impl Device {
    fn root(&mut self, request: &Request<'_>, name: &str, line: usize, certain: bool) -> Outcome {
        let mut next: Vec<Root> = Vec::new();
        let mut outcomes: Vec<Outcome> = Vec::new();
        for root in &self.roots {
            let outcome = outcome(root, request, name, &self.below, self.arrival);
            let set = match (request.action, request.kind) {
                ("delete", _) => Root::Default,
                (_, Some(kind)) => match root {
                    Root::Set(known, handle, _) if known == kind => {
                        Root::Set(kind.to_owned(), request.handle.or(*handle), line)
                    }
                    _ => Root::Set(kind.to_owned(), request.handle, line),
                },
                _ => root.clone(),
            };
            let stays = !certain || outcome != Outcome::Succeeds;
            let changes = !matches!(outcome, Outcome::Fails(_));
            for root in stays.then(|| root.clone()).into_iter().chain(changes.then_some(set)) {
                if !next.contains(&root) {
                    next.push(root);
                }
            }
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
        if next == [Root::Default] {
            self.below.clear();
        }
        self.roots = next;
        match outcomes.as_slice() {
            [one] => one.clone(),
            _ => Outcome::Unknown(format!("the queue discipline of `{}` is not known here", fabric::visible(name))),
        }
    }

    fn arrival(&mut self, request: &Request<'_>, name: &str, certain: bool) -> Outcome {
        let name = fabric::visible(name);
        let adds = request.action == "add";
        let outcome = match (request.action, self.arrival) {
            ("add", Some(false)) | ("delete", Some(true)) if request.options.is_empty() => Outcome::Succeeds,
            ("add", Some(true)) => Outcome::Fails(format!("`{name}` has ingress or clsact already")),
            ("delete", Some(false)) => Outcome::Fails(format!("`{name}` has neither ingress nor clsact")),
            _ => Outcome::Unknown("its effect on ingress and clsact is not followed".to_owned()),
        };
        match outcome {
            Outcome::Succeeds if certain => self.arrival = Some(adds),
            Outcome::Fails(_) => {}
            _ => self.arrival = None,
        }
        outcome
    }
}

/// Returns the outcome of a command that concerns the root of the interface `name`.
fn outcome(root: &Root, request: &Request<'_>, name: &str, below: &BTreeSet<u16>, arrival: Option<bool>) -> Outcome {
    let name = fabric::visible(name);
    let fails = |why: &str| match root {
        Root::Default => Outcome::Fails(format!("`{name}` has the default queue discipline: {why}")),
        Root::Set(kind, _, line) => {
            Outcome::Fails(format!("`{name}` has `{}` of line {line}: {why}", fabric::visible(kind)))
        }
    };
    let unknown = |why: &str| Outcome::Unknown(why.to_owned());
    let done = || match request.has_valid_options() {
        true => Outcome::Succeeds,
        false => Outcome::Unknown(format!(
            "the options of `{}` are not followed",
            fabric::visible(request.kind.unwrap_or_default())
        )),
    };
    let chosen = |handle: Option<u16>| handle.is_some_and(|handle| handle & CHOSEN != 0);
    let uses_taken = |handle: u16| below.contains(&handle) || (handle == ARRIVAL_HANDLE && arrival != Some(false));
    if request.action != "delete" {
        if request.kind.is_none() {
            return unknown("it names no queue discipline");
        }
        if request.handle.is_some_and(uses_taken) {
            return unknown("another queue discipline of the interface has this handle");
        }
    }
    match (request.action, root) {
        ("delete", Root::Default) => fails("`Cannot delete qdisc with handle of zero`"),
        ("delete", Root::Set(kind, handle, _)) => match request.handle {
            Some(_) if handle.is_none() && chosen(request.handle) => unknown("the kernel chose the handle"),
            Some(_) if request.handle != *handle => fails("`Invalid handle`"),
            _ if request.kind.is_some_and(|given| given != kind) => fails("`Invalid qdisc name`"),
            _ => Outcome::Succeeds,
        },
        ("change", Root::Default) => fails("`change` creates none, use replace"),
        (_, Root::Default) => done(),
        (action, Root::Set(kind, handle, _)) => {
            let same = request.kind == Some(kind);
            let is_queue = matches!(kind.as_str(), "pfifo" | "bfifo");
            let changes = || match is_queue {
                true => done(),
                false => unknown("whether this kind accepts a change is not followed"),
            };
            match request.handle {
                Some(_) if handle.is_none() && chosen(request.handle) => unknown("the kernel chose the handle"),
                Some(_) if request.handle != *handle && action != "replace" => {
                    fails("`NLM_F_REPLACE needed to override`, use replace")
                }
                Some(_) if request.handle != *handle => done(),
                _ if same && action == "add" => fails("`Exclusivity flag on, cannot modify`, use replace"),
                _ if same => changes(),
                None if action == "replace" => done(),
                None => unknown("kernels differ in whether it replaces another kind"),
                Some(_) if action == "add" => fails("`Exclusivity flag on, cannot modify`, use replace"),
                Some(_) => fails("`Invalid qdisc name: must match existing qdisc`, use another handle"),
            }
        }
    }
}

#[cfg(test)]
#[path = "disciplines_tests.rs"]
mod tests;
