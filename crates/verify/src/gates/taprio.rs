//! `tc qdisc ... taprio` commands of Linux, as a shell script has them.

use super::file::{GateFileError, State};
use super::lists::PortGates;

fn at<T>(line: usize, message: impl Into<String>) -> Result<T, GateFileError> {
    Err(GateFileError::Line { line, message: message.into() })
}

/// A word and its line.
type Word<'a> = (usize, &'a str);

/// Commands as words; a `\` at the end of a line continues it, `#` begins a comment.
fn commands(text: &str) -> Vec<Vec<Word<'_>>> {
    let (mut all, mut command) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = if line.trim_start().starts_with('#') { "" } else { line.split(" #").next().unwrap_or("") };
        let (line, goes_on) = match line.trim_end().strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        for (part, words) in line.split(';').enumerate() {
            if part > 0 {
                all.push(std::mem::take(&mut command));
            }
            command.extend(words.split_whitespace().map(|word| (number + 1, word.trim_matches(['"', '\'']))));
        }
        if !goes_on {
            all.push(std::mem::take(&mut command));
        }
    }
    all.push(command);
    all
}

/// The gates of every interface that gets a taprio queue discipline. The traffic class of priority i is `map`'s.
///
/// # Errors
/// The first word that is none of the command's, or number that is out of range, with its line.
pub fn parse(text: &str) -> Result<Vec<PortGates>, GateFileError> {
    let mut all = Vec::new();
    for words in commands(text).iter().filter(|words| words.iter().any(|&(_, word)| word == "taprio")) {
        all.push(command(words)?);
    }
    match all.is_empty() {
        true => at(0, "no command `tc qdisc replace dev ... taprio ...` stands in it"),
        false => Ok(all),
    }
}

fn command(words: &[Word<'_>]) -> Result<PortGates, GateFileError> {
    let first = words.first().map_or(0, |&(line, _)| line);
    let Some(device) = words.iter().position(|&(_, word)| word == "dev").and_then(|dev| words.get(dev + 1)) else {
        return at(first, "no `dev` and interface stand before `taprio`");
    };
    let begin = words.iter().position(|&(_, word)| word == "taprio").map_or(words.len(), |place| place + 1);
    let mut rest = words[begin..].iter().copied().peekable();
    let (mut map, mut classes, mut base_ns, mut cycle_ns) = ([0u8; 16], 16u8, 0u64, None);
    let mut entries: Vec<(usize, u32, u64)> = Vec::new();
    while let Some((line, word)) = rest.next() {
        let mut value = |what: &str| match rest.next() {
            Some(value) => Ok(value.1),
            None => at(line, format!("`{word}` lacks {what}")),
        };
        let number = |text: &str, most: u64| match text.parse::<u64>() {
            Ok(number) if number <= most => Ok(number),
            _ => at(line, format!("`{word}` is `{text}`, expected a whole number of at most {most}")),
        };
        const MOST_NS: u64 = 16_000_000_000_000_000;
        match word {
            "num_tc" => classes = number(value("a number")?, 16)? as u8,
            "base-time" => base_ns = number(value("a time in nanoseconds")?, MOST_NS)?,
            "cycle-time" => cycle_ns = Some(number(value("a time in nanoseconds")?, MOST_NS)?),
            "cycle-time-extension" | "flags" | "clockid" | "txtime-delay" => {
                value("a value")?;
            }
            "map" => {
                for class in &mut map {
                    let Some(&(_, text)) = rest.peek() else { break };
                    let Ok(found) = text.parse::<u8>() else { break };
                    if found >= classes {
                        return at(line, format!("`map` speaks of class {found}, and `num_tc` is {classes}"));
                    }
                    (*class, _) = (found, rest.next());
                }
            }
            "queues" | "max-sdu" | "fp" => {
                let more = |&(_, text): &Word<'_>| text.starts_with(|c: char| c.is_ascii_digit()) || text.len() == 1;
                while rest.next_if(more).is_some() {}
            }
            "sched-entry" => {
                let (kind, mask, interval) = (value("S")?, value("a mask")?, value("an interval")?);
                if kind != "S" {
                    return at(line, format!("`sched-entry {kind}`: only S, set gates, is supported"));
                }
                let bits = u32::from_str_radix(mask.trim_start_matches("0x"), 16);
                let Ok(bits) = bits else {
                    return at(line, format!("`{mask}` is no mask of gates: expected hexadecimal digits"));
                };
                entries.push((line, bits, number(interval, u32::MAX.into())?));
            }
            _ => return at(line, format!("`{word}` is no word of taprio")),
        }
    }
    let state = |&(_, bits, interval): &(usize, u32, u64)| {
        let open = (0..8).filter(|&class| bits >> map[class] & 1 == 1).fold(0u8, |gates, class| gates | 1 << class);
        State { gates: open, interval_ps: interval * 1000 }
    };
    let states = entries.iter().map(state).collect();
    let list = PortGates::new(device.1.to_owned(), first, base_ns * 1000, states, cycle_ns.map(|ns| ns * 1000));
    list.or_else(|message| at(entries.first().map_or(first, |entry| entry.0), message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "#!/bin/sh\nip link set eth0 up\ntc qdisc replace dev eth0 parent root handle 100 taprio \\\n  \
        num_tc 3 map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 2@2 \\\n  base-time 1000 \\\n  \
        sched-entry S 01 300000 \\\n  sched-entry S 06 200000 clockid CLOCK_TAI # the rest\n";

    #[test]
    fn a_command_of_the_manual_reads() {
        let all = parse(GOOD).unwrap();
        let [list] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((list.interface.as_str(), list.line, list.base_ps), ("eth0", 3, 1_000_000));
        let states: Vec<(u8, u64)> = list.states.iter().map(|state| (state.gates, state.interval_ps)).collect();
        // Class 0 is priority 3's; 1 and 2 are those of all others.
        assert_eq!(states, [(0b0000_1000, 300_000_000), (0b1111_0111, 200_000_000)]);
    }

    #[test]
    fn hostile_commands_are_told_with_their_line() {
        let rows = [
            ("sched-entry S 06", "sched-entry H 06", "line 7: `sched-entry H`: only S"),
            ("sched-entry S 06", "sched-entry S zz", "line 7: `zz` is no mask"),
            ("06 200000", "06 -1", "line 7: `sched-entry` is `-1`, expected a whole number of at most 4294967295"),
            ("06 200000 clockid CLOCK_TAI", "06", "line 7: `sched-entry` lacks an interval"),
            ("num_tc 3", "num_tc 2", "line 4: `map` speaks of class 2, and `num_tc` is 2"),
            ("base-time 1000", "base-tim 1000", "line 5: `base-tim` is no word of taprio"),
            ("base-time 1000", "base-time 99999999999999999999", "line 5: `base-time` is `99999999999999999999`"),
            ("dev eth0 parent", "parent", "line 3: no `dev`"),
            ("taprio", "tbf", "line 0: no command `tc qdisc replace dev"),
            (
                "S 01 300000 \\\n  sched-entry S 06 200000",
                "S 01 0",
                "line 6: the intervals of `eth0` add up to nothing",
            ),
            ("base-time 1000", "cycle-time 0", "line 6: the cycle of `eth0` is above zero"),
        ];
        for (good, bad, said) in rows {
            let error = parse(&GOOD.replace(good, bad)).unwrap_err().to_string();
            assert!(error.starts_with(said), "{bad}: {error}");
        }
    }
}
