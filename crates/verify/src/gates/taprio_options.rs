//! Parser of the arguments of `tc qdisc ... taprio`, as `tc` (iproute2, `q_taprio.c`) and the kernel (`sch_taprio.c`)
//! accept them.

use super::file::{GateFileError, State};
use super::lists::PortGates;
use super::shell::{Word, at};
use std::collections::BTreeSet;

/// Maximum cycle time that the kernel accepts, in nanoseconds: `INT_MAX`.
const MOST_CYCLE_NS: u64 = i32::MAX as u64;
/// The kernel requires each state to last at least as long as a frame of this size without FCS (`ETH_ZLEN`).
const SHORTEST_FRAME_BYTES: u64 = 60;
/// Addresses, type and FCS of a frame, which `max-sdu` excludes (tc-taprio(8): the payload).
pub(super) const FRAMING_BYTES: u64 = 18;
/// Keywords of taprio. None of them is a program: a line that begins with a keyword follows a line without `\`.
pub(super) const WORDS: [&str; 12] = [
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
const CLOCKS: [&str; 4] = ["TAI", "REALTIME", "MONOTONIC", "BOOTTIME"];

/// Parses a whole number like `tc`: decimal, hexadecimal with `0x`, octal with `0`.
fn any_base(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let octal = text.strip_prefix('0').filter(|rest| !rest.is_empty());
    match (hexadecimal, octal) {
        (Some(digits), _) => u64::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) => u64::from_str_radix(digits, 8).ok(),
        (None, None) => text.parse().ok(),
    }
}

/// Values of the arguments after `taprio`.
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
    /// Gate states: line, gate mask, interval in nanoseconds.
    entries: Vec<(usize, u32, u64)>,
    /// Gate masks as written.
    masks: Vec<String>,
    holds: bool,
    /// `max-sdu` per traffic class: maximum payload in bytes; 0 or absent means no limit.
    max_sdu: Vec<u64>,
    /// Whether `fp` makes some class preemptable.
    preempts: bool,
}

/// Returns the gates of an interface from the arguments after `taprio`.
///
/// # Errors
/// The first argument that `tc` or the kernel would refuse, with its line.
pub(super) fn options(words: &[Word], first: usize, device: &str) -> Result<PortGates, GateFileError> {
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
        // `tc` and the kernel read a signed number of 64 bits.
        const MOST_NS: u64 = i64::MAX as u64;
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
            "max-sdu" => {
                let bytes = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
                while let Some((_, text)) = rest.next_if(|(_, text)| bytes(text).is_some()) {
                    found.max_sdu.extend(bytes(text).map(u64::from));
                }
                if !(1..=16).contains(&found.max_sdu.len()) {
                    return at(line, "`max-sdu` has 1 to 16 sizes in bytes, one for each class");
                }
            }
            "fp" => {
                let mut count = 0;
                while let Some((_, text)) = rest.next_if(|(_, text)| matches!(*text, "E" | "P")) {
                    found.preempts |= text == "P";
                    count += 1;
                }
                if !(1..=16).contains(&count) {
                    return at(line, "`fp` has 1 to 16 letters, E or P, one for each class");
                }
            }
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
                found.masks.push(mask.to_owned());
            }
            _ => return at(line, format!("`{}` is no word of taprio", fabric::visible(word))),
        }
    }
    found.check(first, map_line, device)?;
    found.gates(first, device)
}

impl Options {
    /// Applies the checks of the kernel that concern several arguments.
    fn check(&self, first: usize, map_line: usize, device: &str) -> Result<(), GateFileError> {
        let Some(classes) = self.classes.filter(|&classes| classes > 0) else {
            return at(first, "`num_tc` is missing: without classes the kernel refuses taprio");
        };
        if let Some(class) = self.map.iter().find(|&&class| u64::from(class) >= classes) {
            return at(map_line, format!("`map` names class {class}, and `num_tc` is {classes}"));
        }
        let Some(queues) = &self.queues else {
            return at(first, "`queues` is missing: the kernel refuses classes without queues");
        };
        if queues.len() as u64 != classes {
            return at(first, format!("`queues` has {} classes, and `num_tc` is {classes}", queues.len()));
        }
        let mut sorted: Vec<(u64, u64)> = queues.iter().map(|&(count, offset)| (offset, offset + count)).collect();
        sorted.sort_unstable();
        let overlap = sorted.windows(2).any(|pair| pair[1].0 < pair[0].1);
        if overlap || queues.iter().any(|&(count, _)| count == 0) {
            return at(first, "`queues`: each class needs queues, and no two may share one");
        }
        if self.flags == 1 {
            let why = "taprio itself enforces no gates then, and the `etf` queues that would are not followed";
            return at(first, format!("`flags 0x1` (txtime-assist): {why}"));
        }
        match (self.flags, &self.clock) {
            (2, Some(_)) => {
                return at(first, "`flags 0x2` and `clockid`: the kernel refuses a clock where the card runs");
            }
            (0, None) => return at(first, "`clockid` is missing: without `flags 0x2` the kernel requires one"),
            _ => {}
        }
        if self.delay {
            return at(first, "`txtime-delay` goes with `flags 0x1` alone");
        }
        if self.base_ns.is_none() {
            return at(first, "`base-time` is missing: when the first cycle begins is not known");
        }
        if self.entries.is_empty() {
            return at(first, format!("`sched-entry` is missing: the intervals of `{device}` add up to nothing"));
        }
        // A mask that opens a gate of an undefined class was probably written in decimal: `128`, parsed as hexadecimal,
        // opens gates 3, 5 and 8.
        if let Some((entry, mask)) =
            self.entries.iter().zip(&self.masks).find(|(entry, _)| entry.1 >> classes.max(8) != 0)
        {
            let gate = 31 - entry.1.leading_zeros();
            let why = format!("masks are hexadecimal, and this one opens gate {gate}, while `num_tc` is {classes}");
            return at(entry.0, format!("`sched-entry` with the mask `{mask}`: {why} (class 7 alone is 80)"));
        }
        let sum: u64 = self.entries.iter().map(|entry| entry.2).sum();
        let (line, ..) = self.entries[0];
        if sum > MOST_CYCLE_NS && self.cycle_ns == 0 {
            return at(
                line,
                format!("the intervals of `{device}` add up to {sum} ns, and the kernel takes {MOST_CYCLE_NS} at most"),
            );
        }
        if self.cycle_ns != 0 && self.cycle_ns < sum {
            let cycle = self.cycle_ns;
            return at(
                line,
                format!(
                    "`cycle-time` of `{device}` is {cycle} ns, and the intervals add up to {sum} ns, {} ns more: the \
                     rest never comes",
                    sum - cycle
                ),
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
        let list = PortGates::new(device.to_owned(), first, self.base_ns.unwrap_or(0), states, cycle);
        let list = list.or_else(|message| at(self.entries.first().map_or(first, |entry| entry.0), message))?;
        let longest = |class: &u8| match self.max_sdu.get(usize::from(*class)) {
            None | Some(0) => u64::MAX,
            Some(&payload) => payload + FRAMING_BYTES,
        };
        let mut longest_frame_bytes = [0; 8];
        longest_frame_bytes.iter_mut().zip(&self.map).for_each(|(most, class)| *most = longest(class));
        // With `flags 0x2`, the clock is that of the network card, which PTP sets to TAI.
        let clock = CLOCKS.into_iter().find(|clock| self.clock.as_deref() == Some(clock)).unwrap_or("TAI");
        let (holds, preempts) = (self.holds, self.preempts);
        let shortest_frame_bytes = SHORTEST_FRAME_BYTES;
        Ok(PortGates { shortest_frame_bytes, longest_frame_bytes, holds, preempts, clock, ..list })
    }
}
