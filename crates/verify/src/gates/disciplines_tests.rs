//! Compares the predicted outcomes of random sequences of `tc qdisc` commands with the kernel, in a network namespace
//! that the test creates. If it cannot create one, the test prints the reason and passes, unless
//! `TIDEGATE_REQUIRE_NAMESPACES` is set.

use super::*;
use std::process::{Command, Stdio};
use units::random::{Stream, purpose};

const SEQUENCES: usize = 150;
const COMMANDS: usize = 6;

/// A network namespace; it is deleted when the value is dropped.
struct Namespace(String);

impl Namespace {
    fn new() -> Result<Namespace, String> {
        let namespace = Namespace(format!("tg{}qdisc", std::process::id()));
        let made = run(Command::new("ip").args(["netns", "add", &namespace.0]));
        made.map(|_| namespace)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = run(Command::new("ip").args(["netns", "del", &self.0]));
    }
}

/// Runs a command and returns its standard output, or an error if it fails.
fn run(command: &mut Command) -> Result<String, String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output().map_err(|error| format!("{shown}: {error}"))?;
    match done.status.success() {
        true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        false => Err(format!("{shown}: {}", String::from_utf8_lossy(&done.stderr))),
    }
}

/// Draws a random `tc qdisc` command for the root of `device`.
fn draw(stream: &mut Stream, device: &str) -> Vec<String> {
    let mut one = |choices: &[&str]| choices[stream.below(choices.len() as u64) as usize].to_owned();
    let action = one(&["add", "add", "replace", "replace", "change", "del"]);
    let mut words = vec![action, "dev".to_owned(), device.to_owned(), "root".to_owned()];
    let handle = one(&["", "", "1:", "2:", "100:"]);
    if !handle.is_empty() {
        words.extend(["handle".to_owned(), handle]);
    }
    let kind = one(&["pfifo", "pfifo", "bfifo", "htb"]);
    if words[0] != "del" || one(&["", "kind"]) == "kind" {
        words.push(kind.clone());
        if words[0] != "del" && kind != "htb" && one(&["", "limit"]) == "limit" {
            words.extend(["limit".to_owned(), one(&["100", "2000"])]);
        }
    }
    words
}

#[test]
fn outcomes_are_those_of_the_kernel() {
    let mut stream = Stream::new(7, 0, purpose("qdisc commands"));
    let mut script = String::new();
    let mut sequences = Vec::new();
    for number in 0..SEQUENCES {
        let device = format!("v{number}");
        script += &format!("ip link add {device} type veth peer name w{number} || exit 1\n");
        let commands: Vec<Vec<String>> = (0..COMMANDS).map(|_| draw(&mut stream, &device)).collect();
        for words in &commands {
            script += &format!("tc qdisc {} 2> /dev/null; echo $?\n", words.join(" "));
        }
        script += &format!("ip link del {device}\n");
        sequences.push(commands);
    }
    let executed = Namespace::new()
        .and_then(|namespace| run(Command::new("ip").args(["netns", "exec", &namespace.0, "sh", "-c", &script])));
    let printed = match executed {
        Ok(printed) => printed,
        Err(why) if std::env::var_os("TIDEGATE_REQUIRE_NAMESPACES").is_some() => panic!("{why}"),
        Err(why) => return println!("skipped, no command was executed: {why}"),
    };
    let mut codes = printed.lines();
    let (mut known, mut unknown, mut failing) = (0, 0, 0);
    for commands in &sequences {
        let mut disciplines = Disciplines::default();
        for (line, words) in commands.iter().enumerate() {
            let succeeded = codes.next().expect("an exit code") == "0";
            let words: Vec<Word> = words.iter().map(|word| (line + 1, word.clone())).collect();
            let request = Request::parse(&words, line + 1).expect("arguments of tc").expect("a change");
            match disciplines.follow(&request, line + 1, true) {
                Outcome::Unknown(_) => unknown += 1,
                outcome => {
                    let expected = outcome == Outcome::Succeeds;
                    assert_eq!(succeeded, expected, "command {} of {commands:#?}: {outcome:?}", line + 1);
                    known += 1;
                    failing += usize::from(!expected);
                }
            }
        }
    }
    println!("{known} outcomes equal, {failing} of them failures; {unknown} not followed");
    assert!(known > SEQUENCES && failing > SEQUENCES / 2, "{known} {failing} {unknown}");
}
