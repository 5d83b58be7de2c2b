//! Commands of a script that take interfaces with gates up or down, or change the class of frames: `ip link set`,
//! `ifconfig`, `ifdown` and `tc filter`.

use super::file::GateFileError;
use super::lists::PortGates;
use super::shell::{Word, at};
use std::collections::BTreeMap;

/// Options of `ip` that affect only its output or its namespace. The options of `WITH_VALUE` have a value.
const PRINTING: [&str; 15] = [
    "-s", "-stats", "-d", "-details", "-4", "-6", "-0", "-o", "-oneline", "-br", "-brief", "-j", "-json", "-p",
    "-force",
];
const WITH_VALUE: [&str; 8] = ["-n", "-netns", "-f", "-family", "-l", "-loops", "-rc", "-rcvbuf"];
/// Keywords of `ip link set` that are followed by a value, which may be any text.
const VALUED: [&str; 25] = [
    "alias",
    "master",
    "vrf",
    "address",
    "broadcast",
    "brd",
    "mtu",
    "txqueuelen",
    "txqlen",
    "qlen",
    "group",
    "link",
    "link-netns",
    "link-netnsid",
    "index",
    "numtxqueues",
    "numrxqueues",
    "addrgenmode",
    "promisc",
    "multicast",
    "allmulticast",
    "arp",
    "trailers",
    "mode",
    "state",
];
/// Actions of a filter that neither change nor drop frames.
const NEUTRAL: [&str; 5] = ["pass", "ok", "continue", "reclassify", "pipe"];
/// Parents of ingress filters. These filters are ignored, because the priority of received frames is an input of the
/// check.
const ARRIVAL: [&str; 4] = ["ingress", "ffff:", "ffff:fff1", "ffff:fff2"];

/// State of the interfaces after the commands applied so far.
#[derive(Debug, Default)]
pub(super) struct Interfaces {
    /// Line of the command that has taken an interface down, by interface name.
    down: BTreeMap<String, usize>,
    /// Line, interface and effect of egress filters.
    filters: Vec<(usize, String, String)>,
}

impl Interfaces {
    /// Applies a command other than `tc`. `certain`: whether the command runs unconditionally.
    ///
    /// # Errors
    /// A command that moves, renames or removes an interface of `known`, or that takes down a group of interfaces,
    /// whose members are not in the script.
    pub fn follow(&mut self, words: &[Word], certain: bool, known: &[PortGates]) -> Result<(), GateFileError> {
        let Some(((line, program), arguments)) = words.split_first() else { return Ok(()) };
        let arguments: Vec<&str> = arguments.iter().map(|(_, word)| word.as_str()).collect();
        match (program.rsplit('/').next().unwrap_or_default(), arguments.as_slice()) {
            ("ip", arguments) => self.ip(arguments, *line, certain, known),
            ("ifconfig", [device, "down", ..]) | ("ifdown", [device, ..]) => {
                self.down.insert((*device).to_owned(), *line);
                Ok(())
            }
            ("ifconfig", [device, _, ..]) | ("ifup", [device, ..]) if certain => {
                self.down.remove(*device);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn ip(
        &mut self,
        mut arguments: &[&str],
        line: usize,
        certain: bool,
        known: &[PortGates],
    ) -> Result<(), GateFileError> {
        while let [option, rest @ ..] = arguments {
            match *option {
                option if PRINTING.contains(&option) => arguments = rest,
                option if WITH_VALUE.contains(&option) => arguments = rest.get(1..).unwrap_or_default(),
                "-b" | "-batch" | "-B" => {
                    return at(line, format!("`ip {option}` is not followed: it may take an interface down"));
                }
                _ => break,
            }
        }
        // `ip` accepts abbreviations, such as `ip l s` for `ip link set`.
        let begins = |full: &str, word: &str| !word.is_empty() && full.starts_with(word);
        let [object, action, rest @ ..] = arguments else { return Ok(()) };
        if !begins("link", object) {
            return Ok(());
        }
        let gates = |device: &str| known.iter().find(|list| list.interface == device);
        if begins("delete", action) {
            let device = rest.iter().find(|word| **word != "dev").copied().unwrap_or_default();
            return match gates(device) {
                Some(list) => at(line, format!("this removes `{device}` with the gates of line {}", list.line)),
                None => Ok(()),
            };
        }
        if !begins("set", action) && !begins("change", action) {
            return Ok(());
        }
        let (mut device, mut group, mut up) = (None, false, None);
        let mut rest = rest.iter();
        while let Some(&word) = rest.next() {
            match word {
                "up" => up = Some(true),
                "down" => up = Some(false),
                "dev" => device = rest.next().copied(),
                "protodown" | "carrier" => {
                    let value = rest.next().copied().unwrap_or_default();
                    if value == if word == "protodown" { "on" } else { "off" } {
                        up = Some(false);
                    }
                }
                "netns" | "name" => {
                    let to = fabric::visible(rest.next().copied().unwrap_or_default());
                    if let Some(list) = device.and_then(gates) {
                        let (name, gates) = (&list.interface, list.line);
                        return at(line, format!("`{word} {to}` takes `{name}` with the gates of line {gates} away"));
                    }
                }
                "type" => break,
                word if VALUED.contains(&word) => {
                    group |= word == "group" && device.is_none();
                    rest.next();
                }
                word => device = device.or(Some(word)),
            }
        }
        match (device, up) {
            (Some(device), Some(false)) => _ = self.down.insert(device.to_owned(), line),
            (Some(device), Some(true)) if certain => _ = self.down.remove(device),
            (None, Some(false)) if group => {
                return at(line, "`ip link set group ... down`: the interfaces of a group are not in the script");
            }
            _ => {}
        }
        Ok(())
    }

    /// Applies a `tc filter` command; `words` are the arguments after `filter`.
    pub fn filter(&mut self, words: &[Word], line: usize) {
        let words: Vec<&str> = words.iter().map(|(_, word)| word.as_str()).collect();
        let Some((action, words)) = words.split_first() else { return };
        if !["add", "change", "replace", "append"].iter().any(|full| !action.is_empty() && full.starts_with(action)) {
            return;
        }
        let after = |word: &str| words.iter().position(|one| *one == word).and_then(|at| words.get(at + 1)).copied();
        let arrives = words.contains(&"ingress") || after("parent").is_some_and(|parent| ARRIVAL.contains(&parent));
        let Some(device) = after("dev").filter(|_| !arrives) else { return };
        let mut kinds = words.iter().enumerate().filter(|(_, word)| matches!(**word, "action" | "actions"));
        let kind = kinds.find_map(|(at, _)| words.get(at + 1).filter(|kind| !NEUTRAL.contains(kind)));
        // Filter kinds and options that affect frames without the keyword `action`.
        let own = words.iter().find(|word| matches!(**word, "bpf" | "police" | "flowid" | "classid"));
        let Some(kind) = kind.or(own) else { return };
        let effect = match (*kind, words.contains(&"priority")) {
            ("skbedit", true) => "changes the priority of frames, and so their class".to_owned(),
            (kind, _) => format!("`{}`: its effect on frames is not judged", fabric::visible(kind)),
        };
        self.filters.push((line, device.to_owned(), effect));
    }

    /// Checks the interfaces with gates at the end of a script.
    ///
    /// # Errors
    /// An interface that is down, or has a filter that changes the frames that leave by it.
    pub fn check(&self, all: &[PortGates]) -> Result<(), GateFileError> {
        for list in all {
            let device = &list.interface;
            if let Some(&line) = self.down.get(device) {
                let what = "and no later command that always runs takes it up: its gates send nothing";
                return at(line, format!("this takes `{device}` down, {what}"));
            }
            if let Some((line, _, effect)) = self.filters.iter().find(|(_, of, _)| of == device) {
                return at(*line, format!("a filter of frames that leave `{device}` {effect}"));
            }
        }
        Ok(())
    }
}
