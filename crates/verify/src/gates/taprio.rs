//! Parser of `tc qdisc ... taprio` commands in shell scripts. It refuses everything that the shell, `tc` (iproute2,
//! `q_taprio.c`) or the kernel (`sch_taprio.c`) would refuse, or would execute with another meaning than this parser.

use super::disciplines::{Disciplines, Outcome, Parent, Request};
use super::file::GateFileError;
use super::interfaces::Interfaces;
use super::lists::PortGates;
use super::programs;
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
const OBJECTS: [&str; 5] = ["class", "filter", "action", "actions", "chain"];
/// Programs that print their arguments or the path of a program, so that `tc` in their arguments is not executed.
const PRINTERS: [&str; 5] = ["echo", "printf", "logger", "which", "type"];
/// Queue disciplines that send frames in FIFO order, without delay.
const QUEUES: [&str; 3] = ["pfifo", "bfifo", "pfifo_fast"];

/// Returns the gates of every interface with a taprio queue discipline. The result has one gate per priority: the gate
/// of its traffic class by the option `map`.
///
/// # Errors
/// The first text that the shell, `tc` or the kernel would refuse or execute with another meaning than this parser,
/// with its line.
pub fn parse(text: &str) -> Result<Vec<PortGates>, GateFileError> {
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
    let mut script = Script::new(&commands);
    for &(number, words) in &run {
        script.command(number, words)?;
    }
    script.interfaces.check(&script.all)?;
    script.check_namespaces(&run)?;
    match script.all.is_empty() {
        true => at(0, "the script has no command `tc qdisc replace dev ... taprio ...`"),
        false => Ok(script.all),
    }
}

/// State after the commands of a script that have run so far.
struct Script<'a> {
    commands: &'a [Command],
    /// Per command: the reason why its outcome is unknown; `None` if the outcome is known.
    unknown: Vec<Option<String>>,
    /// Per command: whether a later command runs only if this command succeeds.
    decides: Vec<bool>,
    /// Line and reason of the first command that may fail and would then end the script.
    may_end: Option<(usize, String)>,
    all: Vec<PortGates>,
    interfaces: Interfaces,
    disciplines: Disciplines,
}

impl<'a> Script<'a> {
    fn new(commands: &'a [Command]) -> Script<'a> {
        let mut decides = vec![false; commands.len()];
        for before in commands.iter().filter_map(|command| command.after) {
            decides[before] = true;
        }
        Script {
            commands,
            unknown: vec![None; commands.len()],
            decides,
            may_end: None,
            all: Vec::new(),
            interfaces: Interfaces::default(),
            disciplines: Disciplines::default(),
        }
    }

    fn command(&mut self, number: usize, words: &[Word]) -> Result<(), GateFileError> {
        let Some((line, program)) = words.first() else { return Ok(()) };
        let line = *line;
        if program == "false" {
            return at(line, "`false` always fails: the commands after it may never run");
        }
        if is_tc(program) {
            if programs::name(program).is_none() {
                return at(
                    line,
                    format!("`{}`: which program this is depends on the folder", fabric::visible(program)),
                );
            }
            let outcome = self.tc(number, words, line)?;
            return self.settle(number, line, outcome);
        }
        let certain = self.runs(number).is_ok();
        self.interfaces.follow(words, certain, &self.all)?;
        // Also search quoted arguments for `tc`, such as the command of `sh -c`.
        let mut parts = words.iter().flat_map(|(_, word)| word.split([' ', '\t', ';', '&', '|', '(', ')']));
        let name = programs::name(program).unwrap_or_default();
        let prints = PRINTERS.contains(&name)
            || (name == "command" && words.len() == 3 && matches!(words[1].1.as_str(), "-v" | "-V"));
        if !prints && parts.any(is_tc) {
            return at(line, format!("`{}`: its use of `tc` is not followed", fabric::visible(program)));
        }
        let moves = |(_, word): &Word| ["name", "netns", "del", "delete"].contains(&word.as_str());
        if name == "ip"
            && words.iter().any(moves)
            && let Some((_, device)) = words[1..].iter().find(|(_, word)| self.disciplines.has(word))
        {
            let device = fabric::visible(device);
            return at(line, format!("`{device}` has a queue discipline here: its move or removal is not followed"));
        }
        let outcome = match programs::fails_only_on_errors(words)? {
            true => Outcome::Succeeds,
            false => Outcome::Unknown("its exit code depends on more than the script".to_owned()),
        };
        self.settle(number, line, outcome)
    }

    /// Applies a `tc` command and returns its outcome.
    fn tc(&mut self, number: usize, words: &[Word], line: usize) -> Result<Outcome, GateFileError> {
        if let Some((_, filter)) = words.iter().position(|(_, word)| word == "filter").map(|at| words.split_at(at)) {
            self.interfaces.filter(&filter[1..], line);
        }
        let words = match of_qdisc(&words[1..])? {
            Object::Qdisc(words) => words,
            Object::Other { shows: true } => return Ok(Outcome::Succeeds),
            Object::Other { shows: false } => {
                return Ok(Outcome::Unknown("its effect is not followed".to_owned()));
            }
        };
        let Some(request) = Request::parse(words, line)? else { return Ok(Outcome::Succeeds) };
        let found = queue_discipline(&request, line, &self.all)?;
        let certain = self.runs(number);
        if found.is_some() {
            certain.clone()?;
        }
        let outcome = self.disciplines.follow(&request, line, certain.is_ok());
        match (&outcome, found) {
            (_, None) => {}
            (Outcome::Succeeds, found) => self.all.extend(found),
            (Outcome::Fails(why), _) => return at(line, format!("the kernel refuses these gates: {why}")),
            (Outcome::Unknown(why), _) => {
                return at(line, format!("whether the kernel accepts these gates is not known here: {why}"));
            }
        }
        Ok(outcome)
    }

    /// Records the outcome of a command.
    ///
    /// # Errors
    /// A command that fails, if the script then ends or if a command after `&&` then does not run.
    fn settle(&mut self, number: usize, line: usize, outcome: Outcome) -> Result<(), GateFileError> {
        let (ends, words) = (self.commands[number].ends, without_wrappers(&self.commands[number].words));
        let head: Vec<&str> = words.iter().take(if is_tc(&words[0].1) { 3 } else { 1 }).map(|word| &*word.1).collect();
        let head = fabric::visible(&head.join(" ")).to_string();
        match outcome {
            Outcome::Succeeds => {}
            Outcome::Fails(why) if ends => {
                return at(line, format!("`{head}` fails, and the script ends here: {why}"));
            }
            Outcome::Fails(why) if self.decides[number] => {
                return at(line, format!("`{head}` fails, and the command after `&&` does not run: {why}"));
            }
            Outcome::Fails(_) => {}
            Outcome::Unknown(why) => {
                if ends && self.may_end.is_none() {
                    self.may_end = Some((line, format!("`{head}` may fail, and the script end here: {why}")));
                }
                let what = "whether the gates after it are set is not known here";
                self.unknown[number] = Some(format!("`{head}` before `&&`: {what}: {why}"));
            }
        }
        Ok(())
    }

    /// Refuses a command whose execution depends on a command with an unknown outcome.
    fn runs(&self, number: usize) -> Result<(), GateFileError> {
        let mut command = &self.commands[number];
        while let Some(before) = command.after {
            command = &self.commands[before];
            if let Some(why) = &self.unknown[before] {
                let line = without_wrappers(&command.words).first().map_or(0, |(line, _)| *line);
                return at(line, why.clone());
            }
        }
        match &self.may_end {
            Some((line, why)) => at(*line, why.clone()),
            None => Ok(()),
        }
    }

    /// Refuses scripts in which an interface with gates has the same name as an interface of another network namespace.
    fn check_namespaces(&self, run: &[(usize, &[Word])]) -> Result<(), GateFileError> {
        let is_of_network = |words: &[Word]| {
            let program = words.first().map(|(_, program)| program.as_str()).and_then(programs::name);
            program.is_some_and(|program| ["tc", "ip", "ifconfig", "ifdown"].contains(&program))
        };
        for list in &self.all {
            let names = |words: &[Word]| words.iter().any(|(_, word)| *word == list.interface);
            let of = |number: usize| namespace(&self.commands[number].words);
            let mut here = run.iter().filter(|(_, words)| words.first().is_some_and(|(line, _)| *line == list.line));
            let own = here.find(|(_, words)| names(words)).and_then(|(number, _)| of(*number));
            for (number, words) in run.iter().filter(|(_, words)| is_of_network(words) && names(words)) {
                let moves = |pair: &[Word]| pair[0].1 == "netns" && Some(pair[1].1.as_str()) == own;
                if of(*number) != own && !words.windows(2).any(moves) {
                    let line = words.first().map_or(0, |(line, _)| *line);
                    let name = fabric::visible(&list.interface);
                    let why = format!("another network namespace than the gates of line {}", list.line);
                    return at(line, format!("`{name}` in {why}: which interface has the gates is not known here"));
                }
            }
        }
        Ok(())
    }
}

/// Returns the network namespace in which a command runs; `None` for the namespace of the script.
fn namespace(words: &[Word]) -> Option<&str> {
    let own = without_wrappers(words);
    let after = |option: &str| own.windows(2).find(|pair| pair[0].1 == option).map(|pair| pair[1].1.as_str());
    let executes = words.windows(4).find(|four| four[0].1 == "ip" && four[1].1 == "netns" && four[2].1 == "exec");
    executes.map(|four| four[3].1.as_str()).or_else(|| after("-n")).or_else(|| after("-netns"))
}

fn is_tc(program: &str) -> bool {
    program == "tc" || program.ends_with("/tc")
}

/// The object of a `tc` command (`qdisc`, `filter`, ...).
enum Object<'a> {
    /// Arguments after `qdisc`.
    Qdisc(&'a [Word]),
    /// Another object than `qdisc`, or none. `shows`: whether the command changes nothing.
    Other { shows: bool },
}

fn of_qdisc(words: &[Word]) -> Result<Object<'_>, GateFileError> {
    let mut rest = words;
    while let [(line, word), after @ ..] = rest {
        match word.as_str() {
            option if PRINTING.contains(&option) => rest = after,
            // `-netns NAME` has the effect of `ip netns exec NAME`.
            "-n" | "-netns" if !after.is_empty() => rest = &after[1..],
            // `tc` accepts abbreviations of `qdisc`.
            object if !object.is_empty() && "qdisc".starts_with(object) => return Ok(Object::Qdisc(after)),
            object if OBJECTS.contains(&object) => {
                let shows = after.first().is_some_and(|(_, action)| ["show", "list", "ls"].contains(&action.as_str()));
                return Ok(Object::Other { shows });
            }
            other => {
                let why = "is not followed: it may change the gates";
                return at(*line, format!("`tc {}` {why}", fabric::visible(other)));
            }
        }
    }
    Ok(Object::Other { shows: false })
}

/// Removes `sudo` and `ip netns exec NAME` from the beginning of a command.
fn without_wrappers(mut words: &[Word]) -> &[Word] {
    loop {
        let heads: Vec<&str> = words.iter().take(4).map(|(_, word)| word.as_str()).collect();
        let skip = match heads[..] {
            ["sudo", "-u", "root", ..] => 3,
            ["sudo", "-n" | "-E", ..] => 2,
            ["sudo", ..] => 1,
            ["ip", "netns", "exec", _] => 4,
            _ => return words,
        };
        words = &words[skip..];
    }
}

/// Returns the gates that a `tc qdisc` command sets; `None` if the command does not set taprio.
fn queue_discipline(
    request: &Request<'_>,
    line: usize,
    known: &[PortGates],
) -> Result<Option<PortGates>, GateFileError> {
    let &Request { action, device, parent, kind, options: words, .. } = request;
    let gates = device.and_then(|device| known.iter().find(|list| list.interface == device));
    if kind != Some("taprio") || action == "delete" {
        return match (parent, gates) {
            (Some(Parent::Class(parent)), Some(list)) => match kind.filter(|kind| !QUEUES.contains(kind)) {
                Some(kind) if action != "delete" => {
                    let (kind, parent, device) = (fabric::visible(kind), fabric::visible(parent), &list.interface);
                    let what = "its delays, drops and shaping are not judged";
                    at(line, format!("`{kind}` below the gates of `{device}` (`parent {parent}`): {what}"))
                }
                _ => Ok(None),
            },
            (Some(Parent::Arrival), _) | (_, None) => Ok(None),
            (_, Some(list)) => {
                let what = format!("this takes the gates of line {} off `{}` again", list.line, list.interface);
                at(line, what)
            }
        };
    }
    if !["add", "replace"].contains(&action) {
        return at(line, format!("`tc qdisc {} ... taprio`: add or replace gives gates", fabric::visible(action)));
    }
    let Some(device) = device else { return at(line, "`dev` and an interface are missing before `taprio`") };
    if device.is_empty() || device.len() > 15 {
        return at(line, format!("`{}` is no name of an interface", fabric::visible(device)));
    }
    match parent {
        Some(Parent::Root) => {}
        Some(Parent::Class(parent)) => {
            let parent = fabric::visible(parent);
            return at(line, format!("`parent {parent}`: taprio can only be the root of an interface"));
        }
        _ => return at(line, "`root` or `parent root` is missing before `taprio`"),
    }
    options(words, line, device).map(Some)
}

#[cfg(test)]
#[path = "taprio_tests.rs"]
mod tests;
