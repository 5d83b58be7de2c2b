//! `tc qdisc ... taprio` commands of Linux, as a shell script has them. What the shell, `tc` (iproute2, `q_taprio.c`)
//! or the kernel (`sch_taprio.c`) would refuse or run otherwise is refused here.

use super::file::{GateFileError, State};
use super::lists::PortGates;
use super::shell::{ENDS, Word, at, commands};
use std::collections::BTreeSet;

/// Longest cycle that the kernel takes, in nanoseconds: `INT_MAX`.
const MOST_CYCLE_NS: u64 = i32::MAX as u64;
/// The kernel wants each state to be as long as a frame without FCS takes (`ETH_ZLEN`).
const SHORTEST_FRAME_BYTES: u64 = 60;
/// Words of taprio, which begin no command.
const WORDS: [&str; 12] = [
    "num_tc",
    "map",
    "queues",
    "base-time",
    "cycle-time",
    "cycle-time-extension",
    "flags",
    "clockid",
    "txtime-delay",
    "sched-entry",
    "max-sdu",
    "fp",
];
/// Options of `tc` that say how it prints.
const PRINTING: [&str; 18] = [
    "-s",
    "-stats",
    "-statistics",
    "-d",
    "-details",
    "-r",
    "-raw",
    "-p",
    "-pretty",
    "-i",
    "-iec",
    "-j",
    "-json",
    "-N",
    "-Numeric",
    "-g",
    "-graph",
    "-force",
];
/// Objects of `tc` that are no queue disciplines.
const OBJECTS: [&str; 6] = ["class", "filter", "action", "actions", "chain", "monitor"];
/// Actions of `tc qdisc` in the order in which `tc` takes a beginning of them for them.
const ACTIONS: [&str; 9] = ["add", "change", "replace", "link", "delete", "list", "show", "lst", "help"];
/// Programs that print their arguments, or where they are.
const PRINTERS: [&str; 5] = ["echo", "printf", "logger", "which", "type"];
const CLOCKS: [&str; 4] = ["TAI", "REALTIME", "MONOTONIC", "BOOTTIME"];

/// The gates of every interface that gets a taprio queue discipline. The traffic class of priority i is `map`'s.
///
/// # Errors
/// The first thing that the shell, `tc` or the kernel would refuse or run otherwise, with its line.
pub fn parse(text: &str) -> Result<Vec<PortGates>, GateFileError> {
    let first = text.split('\n').next().unwrap_or_default();
    if first.starts_with("#!") && first.ends_with('\r') {
        return at(1, "the line ends in a carriage return: there is no such interpreter");
    }
    if let Some(interpreter) = first.strip_prefix("#!").filter(|interpreter| !interpreter.trim_end().ends_with("sh")) {
        return at(1, format!("`{}` is no shell", fabric::visible(interpreter.trim())));
    }
    let commands = commands(text)?;
    let mut run: Vec<&[Word]> = Vec::new();
    for words in &commands {
        match words.as_slice() {
            // Its redirections are for what comes after it.
            [(_, exec)] if exec == "exec" => {}
            [(_, exec), words @ ..] if exec == "exec" => {
                run.push(without_wrappers(words));
                break;
            }
            [(_, end), ..] if ENDS.contains(&end.as_str()) => break,
            words => run.push(without_wrappers(words)),
        }
    }
    if let Some((line, word)) = run.iter().filter_map(|words| words.first()).find(|(_, word)| WORDS.contains(&&**word))
    {
        let why = "to a shell this begins a command: does the line before it not end in `\\`, or in a comment, or is \
                   there a `;`?";
        return at(*line, format!("`{word}`: {why}"));
    }
    let mut all: Vec<PortGates> = Vec::new();
    for &words in &run {
        let Some((line, program)) = words.first() else { continue };
        if is_tc(program) {
            if let Some(words) = of_qdisc(&words[1..])? {
                all.extend(queue_discipline(words, *line, &all)?);
            }
            continue;
        }
        let prints = PRINTERS.contains(&program.as_str())
            || (program == "command" && words[1..].len() == 2 && { matches!(words[1].1.as_str(), "-v" | "-V") });
        // In a quoted command of another shell as well.
        let mut parts = words.iter().flat_map(|(_, word)| word.split([' ', '\t', ';', '&', '|', '(', ')']));
        if !prints && parts.any(is_tc) {
            return at(*line, format!("`{}`: what it does with `tc` is not followed", fabric::visible(program)));
        }
    }
    match all.is_empty() {
        true => at(0, "no command `tc qdisc replace dev ... taprio ...` stands in it"),
        false => Ok(all),
    }
}

fn is_tc(program: &str) -> bool {
    program == "tc" || program.ends_with("/tc")
}

/// Arguments of `tc` after `qdisc`; `None` if they concern something else.
fn of_qdisc(words: &[Word]) -> Result<Option<&[Word]>, GateFileError> {
    let mut rest = words;
    while let [(line, word), after @ ..] = rest {
        match word.as_str() {
            option if PRINTING.contains(&option) => rest = after,
            // As `ip netns exec NAME`.
            "-n" | "-netns" if !after.is_empty() => rest = &after[1..],
            // `tc` takes a beginning of the word for it.
            object if !object.is_empty() && "qdisc".starts_with(object) => return Ok(Some(after)),
            object if OBJECTS.contains(&object) => return Ok(None),
            other => {
                let why = "is not followed: it may change the gates that stand here";
                return at(*line, format!("`tc {}` {why}", fabric::visible(other)));
            }
        }
    }
    Ok(None)
}

/// A command without `sudo` and `ip netns exec NAME` before it.
fn without_wrappers(mut words: &[Word]) -> &[Word] {
    loop {
        let heads: Vec<&str> = words.iter().take(4).map(|(_, word)| word.as_str()).collect();
        let skip = match heads[..] {
            ["sudo", "-u", _, ..] => 3,
            ["sudo", "-n" | "-E", ..] => 2,
            ["sudo", ..] => 1,
            ["ip", "netns", "exec", _] => 4,
            _ => return words,
        };
        words = &words[skip..];
    }
}

/// Parses the arguments after `tc qdisc`: the gates, if it is taprio.
fn queue_discipline(words: &[Word], line: usize, known: &[PortGates]) -> Result<Option<PortGates>, GateFileError> {
    let Some((_, action)) = words.first() else { return Ok(None) };
    let action = match ACTIONS.iter().find(|known| !action.is_empty() && known.starts_with(action.as_str())) {
        Some(&action) => action,
        None => return at(line, format!("`tc qdisc {}` is no command of tc", fabric::visible(action))),
    };
    let begin = words.iter().position(|(_, word)| word == "taprio");
    let (mut device, mut root) = (None, false);
    let mut head = words[1..begin.unwrap_or(words.len())].iter();
    while let Some((line, word)) = head.next() {
        let mut value = || head.next().map(|(_, value)| value.as_str());
        match word.as_str() {
            "dev" => device = value(),
            "root" => root = true,
            "parent" => match value() {
                Some("root" | "ffff:ffff") => root = true,
                parent if begin.is_some() => {
                    let parent = fabric::visible(parent.unwrap_or_default());
                    return at(*line, format!("`parent {parent}`: taprio can only be the root of an interface"));
                }
                _ => return Ok(None),
            },
            "handle" => _ = value(),
            // Of another queue discipline.
            _ if begin.is_none() => {}
            _ => return at(*line, format!("`{}` is no word of tc qdisc", fabric::visible(word))),
        }
    }
    let Some(begin) = begin else {
        let changes = root && ["add", "replace", "change", "link", "delete"].contains(&action);
        let known = device.and_then(|device| known.iter().find(|list| changes && list.interface == device));
        return match known {
            Some(list) => {
                let what = format!("this takes the gates of line {} off `{}` again", list.line, list.interface);
                at(line, what)
            }
            None => Ok(None),
        };
    };
    if !["add", "replace"].contains(&action) {
        return at(line, format!("`tc qdisc {} ... taprio`: add or replace gives gates", fabric::visible(action)));
    }
    let Some(device) = device else { return at(line, "no `dev` and interface stand before `taprio`") };
    if device.is_empty() || device.len() > 15 {
        return at(line, format!("`{}` is no name of an interface", fabric::visible(device)));
    }
    if !root {
        return at(line, "neither `root` nor `parent root` stands before `taprio`");
    }
    options(&words[begin + 1..], line, device).map(Some)
}

/// A whole number as `tc` reads one: decimal, hexadecimal with `0x`, octal with `0`.
fn any_base(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let octal = text.strip_prefix('0').filter(|rest| !rest.is_empty());
    match (hexadecimal, octal) {
        (Some(digits), _) => u64::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) => u64::from_str_radix(digits, 8).ok(),
        (None, None) => text.parse().ok(),
    }
}

/// Parses the arguments after `taprio`.
#[derive(Default)]
struct Options {
    classes: Option<u64>,
    map: [u8; 16],
    queues: Option<Vec<(u64, u64)>>,
    base_ns: Option<u64>,
    cycle_ns: u64,
    flags: u64,
    clock: Option<String>,
    delay: bool,
    /// Line, gates, interval in nanoseconds.
    entries: Vec<(usize, u32, u64)>,
    holds: bool,
}

fn options(words: &[Word], first: usize, device: &str) -> Result<PortGates, GateFileError> {
    let mut found = Options::default();
    let mut rest = words.iter().map(|(line, word)| (*line, word.as_str())).peekable();
    let mut seen = BTreeSet::new();
    let mut map_line = first;
    while let Some((line, word)) = rest.next() {
        if word != "sched-entry" && WORDS.contains(&word) && !seen.insert(word) {
            return at(line, format!("duplicate `{word}`"));
        }
        let mut value = |what: &str| match rest.next() {
            Some(value) => Ok(value.1),
            None => at(line, format!("`{word}` lacks {what}")),
        };
        let range = |text: &str, number: Option<u64>, most: u64| match number.filter(|&number| number <= most) {
            Some(number) => Ok(number),
            None => {
                at(line, format!("`{word}` is `{}`, expected a whole number of at most {most}", fabric::visible(text)))
            }
        };
        const MOST_NS: u64 = 16_000_000_000_000_000;
        match word {
            "num_tc" => {
                let text = value("a number")?;
                found.classes = Some(range(text, any_base(text), 16)?);
            }
            "base-time" => {
                let text = value("a time in nanoseconds")?;
                found.base_ns = Some(range(text, text.parse().ok(), MOST_NS)?);
            }
            "cycle-time" => {
                let text = value("a time in nanoseconds")?;
                found.cycle_ns = range(text, text.parse().ok(), MOST_CYCLE_NS)?;
                if found.cycle_ns == 0 {
                    return at(line, format!("the cycle of `{device}` is above zero"));
                }
            }
            "cycle-time-extension" => {
                let text = value("a time in nanoseconds")?;
                if range(text, text.parse().ok(), MOST_CYCLE_NS)? != 0 {
                    return at(line, "`cycle-time-extension`: only 0 is followed");
                }
            }
            "flags" => {
                let text = value("a number")?;
                found.flags = range(text, any_base(text), 2)?;
            }
            "txtime-delay" => {
                let text = value("a time in nanoseconds")?;
                range(text, any_base(text), i32::MAX as u64)?;
                found.delay = true;
            }
            "clockid" => {
                let name = value("a clock")?.to_ascii_uppercase();
                let name = name.strip_prefix("CLOCK_").unwrap_or(&name).to_owned();
                if !CLOCKS.contains(&name.as_str()) {
                    let name = fabric::visible(&name);
                    return at(line, format!("`clockid {name}`: expected one of CLOCK_{}", CLOCKS.join(", CLOCK_")));
                }
                found.clock = Some(name);
            }
            "map" => {
                map_line = line;
                let mut count = 0;
                while let Some((_, text)) = rest.next_if(|(_, text)| text.starts_with(|c: char| c.is_ascii_digit())) {
                    let class = any_base(text).filter(|&class| class < 16);
                    let Some(class) = class.filter(|_| count < 16) else {
                        return at(line, format!("`map` has `{}`: expected 16 classes at most", fabric::visible(text)));
                    };
                    (found.map[count], count) = (class as u8, count + 1);
                }
            }
            "queues" => {
                let mut queues = Vec::new();
                while let Some((_, text)) = rest.next_if(|(_, text)| text.starts_with(|c: char| c.is_ascii_digit())) {
                    let pair = text.split_once('@').and_then(|(count, at)| Some((any_base(count)?, any_base(at)?)));
                    let Some(pair) = pair.filter(|pair| pair.0 <= 65_535 && pair.1 <= 65_535) else {
                        return at(line, format!("`queues` has `{}`: expected COUNT@OFFSET", fabric::visible(text)));
                    };
                    queues.push(pair);
                }
                found.queues = Some(queues);
            }
            "max-sdu" => while rest.next_if(|(_, text)| any_base(text).is_some()).is_some() {},
            "fp" => while rest.next_if(|(_, text)| matches!(*text, "E" | "P")).is_some() {},
            "sched-entry" => {
                let (kind, mask, interval) = (value("S, H or R")?, value("a mask")?, value("an interval")?);
                found.holds |= match kind {
                    "S" => false,
                    "H" | "R" => true,
                    _ => {
                        let kind = fabric::visible(kind);
                        return at(line, format!("`sched-entry {kind}`: S sets gates, H and R hold and release too"));
                    }
                };
                let digits = mask.strip_prefix("0x").or_else(|| mask.strip_prefix("0X")).unwrap_or(mask);
                let bits = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
                let Some(bits) = bits else {
                    let mask = fabric::visible(mask);
                    return at(line, format!("`{mask}` is no mask of gates: expected hexadecimal digits"));
                };
                let interval = range(interval, any_base(interval), u32::MAX.into())?;
                if interval == 0 {
                    return at(line, "`sched-entry` of 0 ns: the kernel refuses a state that no frame fits in");
                }
                found.entries.push((line, bits, interval));
            }
            _ => return at(line, format!("`{}` is no word of taprio", fabric::visible(word))),
        }
    }
    found.check(first, map_line, device)?;
    found.gates(first, device)
}

impl Options {
    /// Checks of the kernel on a whole command.
    fn check(&self, first: usize, map_line: usize, device: &str) -> Result<(), GateFileError> {
        let Some(classes) = self.classes.filter(|&classes| classes > 0) else {
            return at(first, "`num_tc` is missing: without classes the kernel refuses taprio");
        };
        if let Some(class) = self.map.iter().find(|&&class| u64::from(class) >= classes) {
            return at(map_line, format!("`map` speaks of class {class}, and `num_tc` is {classes}"));
        }
        let Some(queues) = &self.queues else {
            return at(first, "`queues` is missing: the kernel refuses classes without queues");
        };
        if queues.len() as u64 != classes {
            return at(first, format!("`queues` has {} classes, and `num_tc` is {classes}", queues.len()));
        }
        let mut sorted: Vec<(u64, u64)> = queues.iter().map(|&(count, offset)| (offset, offset + count)).collect();
        sorted.sort_unstable();
        let overlap = sorted.windows(2).any(|pair| pair[1].0 < pair[0].1) && self.flags != 1;
        if overlap || queues.iter().any(|&(count, _)| count == 0) {
            return at(first, "`queues`: each class needs queues, and no two may share one");
        }
        match (self.flags, &self.clock) {
            (2, Some(_)) => {
                return at(first, "`flags 0x2` and `clockid`: the kernel refuses a clock where the card runs");
            }
            (0 | 1, None) => return at(first, "`clockid` is missing: without `flags 0x2` the kernel asks for one"),
            _ => {}
        }
        if self.delay && self.flags != 1 {
            return at(first, "`txtime-delay` goes with `flags 0x1` alone");
        }
        if self.base_ns.is_none() {
            return at(first, "`base-time` is missing: when the first cycle begins is not known");
        }
        if self.entries.is_empty() {
            return at(first, format!("no `sched-entry` stands in it: the intervals of `{device}` add up to nothing"));
        }
        let sum: u64 = self.entries.iter().map(|entry| entry.2).sum();
        let (line, ..) = self.entries[0];
        if sum > MOST_CYCLE_NS && self.cycle_ns == 0 {
            return at(line, format!("the intervals add up to {sum} ns, and the kernel takes {MOST_CYCLE_NS} at most"));
        }
        if self.cycle_ns != 0 && self.cycle_ns < sum {
            let cycle = self.cycle_ns;
            return at(
                line,
                format!("`cycle-time` is {cycle} ns, and the intervals add up to {sum}: the rest never comes"),
            );
        }
        Ok(())
    }

    fn gates(&self, first: usize, device: &str) -> Result<PortGates, GateFileError> {
        let state = |&(_, bits, interval): &(usize, u32, u64)| {
            let is_open = |class: &usize| bits >> self.map[*class] & 1 == 1;
            let open = (0..8).filter(is_open).fold(0u8, |gates, class| gates | 1 << class);
            State { gates: open, interval_ps: interval * 1000 }
        };
        let states = self.entries.iter().map(state).collect();
        let cycle = (self.cycle_ns != 0).then_some(self.cycle_ns * 1000);
        let list = PortGates::new(device.to_owned(), first, self.base_ns.unwrap_or(0) * 1000, states, cycle);
        let list = list.or_else(|message| at(self.entries.first().map_or(first, |entry| entry.0), message))?;
        Ok(PortGates { shortest_frame_bytes: SHORTEST_FRAME_BYTES, holds: self.holds, ..list })
    }
}

#[cfg(test)]
#[path = "taprio_tests.rs"]
mod tests;
