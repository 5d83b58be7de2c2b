//! Parser of `tc qdisc ... taprio` commands in shell scripts. It refuses everything that the shell, `tc` (iproute2,
//! `q_taprio.c`) or the kernel (`sch_taprio.c`) would refuse or execute with another meaning.

use super::file::GateFileError;
use super::interfaces::Interfaces;
use super::lists::PortGates;
use super::shell::{Command, ENDS, Word, at, commands};
use super::taprio_options::{WORDS, options};

/// Options of `tc` that affect only its output.
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
/// Objects of `tc` other than queue disciplines.
const OBJECTS: [&str; 6] = ["class", "filter", "action", "actions", "chain", "monitor"];
/// Actions of `tc qdisc`, in the order in which `tc` matches abbreviations.
const ACTIONS: [&str; 9] = ["add", "change", "replace", "link", "delete", "list", "show", "lst", "help"];
/// Programs that print their arguments, or the path of a program.
const PRINTERS: [&str; 5] = ["echo", "printf", "logger", "which", "type"];
/// Programs allowed before `&&` and a command of gates: they fail only on errors. The exit code of others, such as
/// `test`, decides whether the command runs.
const BEFORE: [&str; 16] = [
    "ip", "true", ":", "echo", "printf", "logger", "ethtool", "modprobe", "sysctl", "sleep", "set", "cd", "mkdir",
    "touch", "command", "which",
];
/// Queue disciplines that send frames in order, without delay.
const QUEUES: [&str; 3] = ["pfifo", "bfifo", "pfifo_fast"];

/// Returns the gates of every interface with a taprio queue discipline. `map` gives the traffic class of each priority.
///
/// # Errors
/// The first text that the shell, `tc` or the kernel would refuse or execute with another meaning, with its line.
pub fn parse(text: &str) -> Result<Vec<PortGates>, GateFileError> {
    let first = text.split('\n').next().unwrap_or_default();
    if first.starts_with("#!") && first.ends_with('\r') {
        return at(1, "the line ends in a carriage return: there is no such interpreter");
    }
    if let Some(interpreter) = first.strip_prefix("#!").filter(|interpreter| !interpreter.trim_end().ends_with("sh")) {
        return at(1, format!("`{}` is no shell", fabric::visible(interpreter.trim())));
    }
    let commands = commands(text)?;
    let mut run: Vec<(usize, &[Word])> = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        match command.words.as_slice() {
            // `exec` without a command only redirects the rest of the script.
            [(_, exec)] if exec == "exec" => {}
            [(_, exec), words @ ..] if exec == "exec" => {
                run.push((number, without_wrappers(words)));
                break;
            }
            [(_, end), ..] if ENDS.contains(&end.as_str()) => break,
            words => run.push((number, without_wrappers(words))),
        }
    }
    let mut programs = run.iter().filter_map(|(_, words)| words.first());
    if let Some((line, word)) = programs.find(|(_, word)| WORDS.contains(&&**word)) {
        let why = "to a shell this begins a command: does the line before it not end in `\\`, or in a comment, or is \
                   there a `;`?";
        return at(*line, format!("`{word}`: {why}"));
    }
    let mut all: Vec<PortGates> = Vec::new();
    let mut interfaces = Interfaces::default();
    for &(number, words) in &run {
        let Some((line, program)) = words.first() else { continue };
        if program == "false" {
            return at(*line, "`false` always fails: the commands after it may never run");
        }
        if is_tc(program) {
            if let Some((_, filter)) = words.iter().position(|(_, word)| word == "filter").map(|at| words.split_at(at))
            {
                interfaces.filter(&filter[1..], *line);
            }
            if let Some(words) = of_qdisc(&words[1..])? {
                let found = queue_discipline(words, *line, &all)?;
                if found.is_some() {
                    runs(&commands, number)?;
                }
                all.extend(found);
            }
            continue;
        }
        interfaces.follow(words, runs(&commands, number).is_ok(), &all)?;
        let prints = PRINTERS.contains(&program.as_str())
            || (program == "command" && words[1..].len() == 2 && { matches!(words[1].1.as_str(), "-v" | "-V") });
        // Also inside a quoted command of another shell.
        let mut parts = words.iter().flat_map(|(_, word)| word.split([' ', '\t', ';', '&', '|', '(', ')']));
        if !prints && parts.any(is_tc) {
            return at(*line, format!("`{}`: its use of `tc` is not followed", fabric::visible(program)));
        }
    }
    interfaces.check(&all)?;
    match all.is_empty() {
        true => at(0, "the script has no command `tc qdisc replace dev ... taprio ...`"),
        false => Ok(all),
    }
}

/// Refuses a command behind `&&` whose execution depends on a test.
fn runs(commands: &[Command], number: usize) -> Result<(), GateFileError> {
    let mut command = &commands[number];
    while let Some(before) = command.after {
        command = &commands[before];
        let words = without_wrappers(&command.words);
        if let Some((line, program)) =
            words.first().filter(|(_, word)| !is_tc(word) && !BEFORE.contains(&word.as_str()))
        {
            let program = fabric::visible(program);
            return at(*line, format!("`{program}` before `&&`: whether the gates after it are set is not known here"));
        }
    }
    Ok(())
}

fn is_tc(program: &str) -> bool {
    program == "tc" || program.ends_with("/tc")
}

/// Returns the arguments of `tc` after `qdisc`; `None` if the command concerns another object.
fn of_qdisc(words: &[Word]) -> Result<Option<&[Word]>, GateFileError> {
    let mut rest = words;
    while let [(line, word), after @ ..] = rest {
        match word.as_str() {
            option if PRINTING.contains(&option) => rest = after,
            // Like `ip netns exec NAME`.
            "-n" | "-netns" if !after.is_empty() => rest = &after[1..],
            // `tc` accepts abbreviations.
            object if !object.is_empty() && "qdisc".starts_with(object) => return Ok(Some(after)),
            object if OBJECTS.contains(&object) => return Ok(None),
            other => {
                let why = "is not followed: it may change the gates";
                return at(*line, format!("`tc {}` {why}", fabric::visible(other)));
            }
        }
    }
    Ok(None)
}

/// Removes `sudo` and `ip netns exec NAME` from the beginning of a command.
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

/// Parses the arguments after `tc qdisc`. Returns the gates if it is taprio.
fn queue_discipline(words: &[Word], line: usize, known: &[PortGates]) -> Result<Option<PortGates>, GateFileError> {
    let Some((_, action)) = words.first() else { return Ok(None) };
    let action = match ACTIONS.iter().find(|known| !action.is_empty() && known.starts_with(action.as_str())) {
        Some(&action) => action,
        None => return at(line, format!("`tc qdisc {}` is no command of tc", fabric::visible(action))),
    };
    let begin = words.iter().position(|(_, word)| word == "taprio");
    let (mut device, mut root) = (None, false);
    // Parent and kind of another queue discipline.
    let (mut below, mut kind) = (None, None);
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
                parent => below = Some(parent.unwrap_or_default()),
            },
            "handle" => _ = value(),
            _ if begin.is_none() => _ = kind.get_or_insert(word.as_str()),
            _ => return at(*line, format!("`{}` is no word of tc qdisc", fabric::visible(word))),
        }
    }
    let Some(begin) = begin else {
        if let Some(parent) = below {
            let adds = ["add", "replace", "change"].contains(&action);
            let gates = device.filter(|device| adds && known.iter().any(|list| list.interface == *device));
            return match (gates, kind.filter(|kind| !QUEUES.contains(kind))) {
                (Some(device), Some(kind)) => {
                    let (kind, parent) = (fabric::visible(kind), fabric::visible(parent));
                    let what = "its delays, drops and shaping are not judged";
                    at(line, format!("`{kind}` below the gates of `{device}` (`parent {parent}`): {what}"))
                }
                _ => Ok(None),
            };
        }
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
    let Some(device) = device else { return at(line, "`dev` and an interface are missing before `taprio`") };
    if device.is_empty() || device.len() > 15 {
        return at(line, format!("`{}` is no name of an interface", fabric::visible(device)));
    }
    if !root {
        return at(line, "`root` or `parent root` is missing before `taprio`");
    }
    options(&words[begin + 1..], line, device).map(Some)
}

#[cfg(test)]
#[path = "taprio_tests.rs"]
mod tests;
